"""Time systems (CN2002 12): how time spent, moves made and settings change the clock of a side. All times are ms.

A system is made once a game from its regulations and knows limits alone; each side has a `SideClock`. Overtime is what
a clock stands at, not an event of its own: the clock is over from ``over_from_ms`` of time used, time granted added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from caipan.rules.clocks import ClockFace, SideClock
from caipan.v1.facts_pb2 import ClockExpired

NEVER: Final = -1
LONGEST_MS: Final = 10**12  # some 30 years: no limit and no setting is longer, so that all sums fit 64 bits


@dataclass(frozen=True)
class TimeSystem:
    """BASIC and ABSOLUTE: one limit, and nothing after it (CN2002 12.2, 12.4).

    ``whole_ms``: the whole limit T. ``over_from_ms``: the time used at which it is exceeded; 1 ms above T, or T itself
    where reaching it is overtime (key limit_inclusive). ``limit``: the limit whose end is overtime.
    """

    whole_ms: int
    over_from_ms: int
    limit: ClassVar[ClockExpired.Limit.ValueType] = ClockExpired.LIMIT_BASIC

    def start(self) -> SideClock:
        """The clock of a side at the start of the game."""
        clock = SideClock()
        self._use(clock, 0)
        return clock

    def spend(self, clock: SideClock, ms: int) -> int:
        """``ms`` (0 or more) run on this side while it is on move. Returns after how many of them the limit was
        exceeded, NEVER if it was not, or had been before."""
        over_in = self.over_from_ms + clock.granted_ms - clock.used_ms
        clock.used_ms += ms
        return over_in if 0 < over_in <= ms else NEVER

    def complete_move(self, clock: SideClock) -> None:
        """The move of this side is done. After overtime it changes nothing."""

    def face(self, clock: SideClock, after_ms: int = 0) -> ClockFace:
        """What is on the clock, or would be if ``after_ms`` more ran on it; nothing changes."""
        if after_ms:
            clock = clock.copy()
            self.spend(clock, after_ms)
        return self._shown(clock)

    def is_over(self, clock: SideClock) -> bool:
        """Whether the limit is exceeded."""
        return clock.used_ms >= self.over_from_ms + clock.granted_ms

    def left_ms(self, clock: SideClock) -> int:
        """The limit, with what was granted, less the time used; 0 once it is exceeded."""
        return max(0, self.whole_ms + clock.granted_ms - clock.used_ms)

    def until_overtime_ms(self, clock: SideClock) -> int | None:
        """The least that ``spend`` needs for overtime; 0 if it is over; None where the reader decides it."""
        return max(0, self.over_from_ms + clock.granted_ms - clock.used_ms)

    def set_used(self, clock: SideClock, used_ms: int) -> bool:
        """Sets the time used (effect SET_CLOCK); it may be over then. False: no such time, nothing changed."""
        if not 0 <= used_ms <= LONGEST_MS:
            return False
        self._use(clock, used_ms)
        return True

    def deduct(self, clock: SideClock, ms: int) -> bool:
        """Takes ``ms`` off as if they had been spent, but what is left of a minute is not taken (CN2002 22.1, reading
        R39); below 0 it gives back. False: more than there is (reading R16), nothing changed."""
        used_ms = max(0, clock.used_ms + clock.count_ms + ms)
        return used_ms < self.over_from_ms + clock.granted_ms and self.set_used(clock, used_ms)

    def set_units_left(self, _clock: SideClock, _units: int) -> bool:
        """Sets the minutes or periods left; the count is at 0. 1: the last minute alone (CN2002 22.1 excess), or a
        fresh one after overtime that is taken as a pass (22.5). False: there is no such number, nothing changed."""
        return False

    def set_count(self, _clock: SideClock, _count_ms: int) -> bool:
        """Sets the running count back to this time (CN2002 16.2), that of the last minute if it has been exceeded.
        False: nothing is counted, or no period is that long; nothing changed."""
        return False

    def _use(self, clock: SideClock, used_ms: int) -> None:
        clock.used_ms = used_ms

    def _shown(self, clock: SideClock) -> ClockFace:
        is_over = self.is_over(clock)
        left_ms = self.left_ms(clock)
        return ClockFace(clock.used_ms, left_ms, is_over, left_ms == 0 and not is_over)


@dataclass(frozen=True)
class Fischer(TimeSystem):
    """Each completed move is granted ``increment_ms``; what is left never rises above ``cap_ms`` by it (0 = no cap)."""

    increment_ms: int
    cap_ms: int

    def complete_move(self, clock: SideClock) -> None:
        """The increment comes to the limit."""
        if self.is_over(clock):
            return
        granted_ms = self.increment_ms
        if self.cap_ms:
            granted_ms = max(0, min(granted_ms, self.cap_ms - self.left_ms(clock)))
        clock.granted_ms += granted_ms


@dataclass(frozen=True)
class Stages(TimeSystem):
    """STAGE and CANADIAN: when the limit is used up, ``moves`` are due in ``stage_ms``, again and again (CN2002 12.5).

    The move during which it ran out is the first of them (reading R24). ``carries``: what is saved comes to the next
    stage. Time used runs on beyond the limit.
    """

    moves: int
    stage_ms: int
    carries: bool
    limit: ClassVar[ClockExpired.Limit.ValueType] = ClockExpired.LIMIT_STAGE

    def spend(self, clock: SideClock, ms: int) -> int:
        """As for any system; on the way the first stage begins."""
        used_ms = clock.used_ms
        clock.used_ms = used_ms + ms
        if not clock.stage:
            if used_ms + ms < self.whole_ms:
                return NEVER
            self._begin(clock)
        over_in = self.over_from_ms + clock.granted_ms - used_ms
        return over_in if 0 < over_in <= ms else NEVER

    def complete_move(self, clock: SideClock) -> None:
        """The move counts in its stage; the last one opens the next stage."""
        if not clock.stage or self.is_over(clock):
            return
        clock.moves += 1
        if clock.moves == self.moves:
            left_ms = self.left_ms(clock)
            clock.budget_ms = self.stage_ms + left_ms if self.carries else self.stage_ms
            clock.granted_ms += clock.budget_ms - left_ms
            clock.stage += 1
            clock.moves = 0

    def until_overtime_ms(self, clock: SideClock) -> int | None:
        """As for any system; before the first stage all of that is to come."""
        first_ms = 0 if clock.stage else self.stage_ms
        return max(0, self.over_from_ms + clock.granted_ms + first_ms - clock.used_ms)

    def _begin(self, clock: SideClock) -> None:
        clock.stage, clock.moves = 1, 0
        clock.budget_ms = clock.granted_ms = self.stage_ms

    def _use(self, clock: SideClock, used_ms: int) -> None:
        clock.used_ms = used_ms
        if used_ms < self.whole_ms:
            clock.stage = clock.moves = clock.budget_ms = clock.granted_ms = 0
        elif not clock.stage:
            self._begin(clock)
        elif (saved_ms := self.left_ms(clock) - clock.budget_ms) > 0:  # set back to before this stage
            if self.carries:
                clock.budget_ms += saved_ms
            else:
                clock.granted_ms -= saved_ms

    def _shown(self, clock: SideClock) -> ClockFace:
        shown = super()._shown(clock)
        if not clock.stage:
            return shown
        return shown._replace(stage=clock.stage, moves_left=self.moves - clock.moves, budget_ms=clock.budget_ms)


@dataclass(frozen=True)
class Byoyomi(TimeSystem):
    """The last ``units`` periods of ``unit_ms`` of the whole limit are counted, move by move (CN2002 12.3).

    When the main part is used up the count starts, mid-move if need be. A move in less than a period costs nothing,
    each full one costs it, and reaching the end of the last is overtime. ``is_spoken``: a period ends when the reader
    says so and not by the clock (key count_source = ANNOUNCED, where announcements are observed).

    On the clock the count stands at ``unit_ms`` once it is over, and nothing runs any more.
    """

    main_ms: int
    unit_ms: int
    units: int
    is_spoken: bool
    limit: ClassVar[ClockExpired.Limit.ValueType] = ClockExpired.LIMIT_BYOYOMI

    def spend(self, clock: SideClock, ms: int) -> int:
        """As for any system: first the main part, then the count."""
        used_ms, counted_ms = clock.used_ms, ms
        if used_ms < self.main_ms:
            counted_ms = ms - (self.main_ms - used_ms)
            if counted_ms < 0:
                clock.used_ms = used_ms + ms
                return NEVER
            clock.used_ms = used_ms = self.main_ms
        before_ms = clock.count_ms
        count_ms = before_ms + counted_ms
        if count_ms < self.unit_ms or (self.is_spoken and used_ms < self.whole_ms):
            clock.count_ms = count_ms
            return NEVER
        full_ms = count_ms - count_ms % self.unit_ms
        left_ms = self.whole_ms - used_ms
        if full_ms < left_ms:
            clock.used_ms, clock.count_ms = used_ms + full_ms, count_ms - full_ms
            return NEVER
        clock.used_ms, clock.count_ms = self.whole_ms, self.unit_ms
        return ms - counted_ms + left_ms - before_ms if left_ms else NEVER

    def complete_move(self, clock: SideClock) -> None:
        """What has run of the period is free."""
        if clock.used_ms < self.whole_ms:
            clock.count_ms = 0

    def read_out(self, clock: SideClock) -> None:
        """The reader has said the end of the running period ("1分", "10"): it is used, whatever the clock says."""
        if self.is_counted(clock):
            self._use(clock, clock.used_ms + self.unit_ms)

    def until_overtime_ms(self, clock: SideClock) -> int | None:
        """As for any system."""
        if self.is_spoken and clock.used_ms < self.whole_ms:
            return None
        return max(0, self.whole_ms - clock.used_ms - clock.count_ms)

    def units_left(self, clock: SideClock) -> int:
        """The minutes or periods left, the one now counted included."""
        return min(self.units, (self.whole_ms - clock.used_ms) // self.unit_ms)

    def is_counted(self, clock: SideClock) -> bool:
        """Whether the main part is used up."""
        return clock.used_ms >= self.main_ms

    def set_units_left(self, clock: SideClock, units: int) -> bool:
        """As for any system; the main part is used then."""
        if not 1 <= units <= self.units:
            return False
        self._use(clock, self.whole_ms - units * self.unit_ms)
        return True

    def set_count(self, clock: SideClock, count_ms: int) -> bool:
        """As for any system."""
        if not self.is_counted(clock) or not 0 <= count_ms < self.unit_ms:
            return False
        clock.used_ms = min(clock.used_ms, self.whole_ms - self.unit_ms)
        clock.count_ms = count_ms
        return True

    def _use(self, clock: SideClock, used_ms: int) -> None:
        beyond_ms = min(used_ms, self.whole_ms) - self.main_ms
        clock.used_ms = self.main_ms + beyond_ms - beyond_ms % self.unit_ms if beyond_ms > 0 else used_ms
        clock.count_ms = self.unit_ms if clock.used_ms == self.whole_ms else 0

    def _shown(self, clock: SideClock) -> ClockFace:
        count_ms = clock.count_ms if self.is_counted(clock) else None
        return super()._shown(clock)._replace(count_ms=count_ms, units_left=self.units_left(clock))
