"""The clocks of a game as they run: whose, since when, and what the end of a move waits for (CN2002 12, 22.6).

Time is game time, ms, and passes at facts alone; `timing` says what a fact does to the clocks. A game without clocks
has no clockwork.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable
from typing import Final

from caipan.rules.announcing import Reader, reader
from caipan.rules.clauses import Clause
from caipan.rules.clocks import ClockFace, SideClock
from caipan.rules.edition import Edition
from caipan.rules.effects import Move, VoidMove
from caipan.rules.gametime import bounded
from caipan.rules.points import BLACK, SEATS, WHITE, Colour, other
from caipan.rules.readings import is_faulty
from caipan.rules.regimes import time_system
from caipan.rules.timesystems import LONGEST_MS, NEVER, Byoyomi, TimeSystem
from caipan.v1.checkpoint_pb2 import ClockworkMemory, ReadingMemory, TimeMemory
from caipan.v1.common_pb2 import COLOR_UNSPECIFIED
from caipan.v1.facts_pb2 import OBSERVED_ANNOUNCEMENTS, OBSERVED_CAPTURES, OBSERVED_PRESSES, GameOpened, Observed
from caipan.v1.outcome_pb2 import ClockDetails, Clocks
from caipan.v1.regulations_pb2 import (
    BYOYOMI_STOP_PRESS,
    COUNT_SOURCE_ANNOUNCED,
    REGIME_UNSPECIFIED,
    Regime,
    Regulations,
)

_PACKED: Final = struct.Struct(">BBBq48s48s")
_STARTED, _STOPPED, _PLAYING, _DONE = 1, 2, 4, 8
_NOBODY = COLOR_UNSPECIFIED


def system_of(regulations: Regulations, observed: Collection[Observed.ValueType]) -> TimeSystem | None:
    """The time system of a game; None where it has no clocks. The reader's word ends a period where it is observed and
    the regulations let it (key count_source)."""
    is_spoken = regulations.count_source == COUNT_SOURCE_ANNOUNCED and OBSERVED_ANNOUNCEMENTS in observed
    return time_system(regulations, is_spoken=is_spoken)


class Clockwork:
    """Two clocks and what makes them run.

    ``running``: the side whose clock runs, 0 = none. ``mover``: the side that has made its move while its time is not
    over yet, 0 = none; its clock runs until the press or until its captures are off, or its count goes on beside the
    other clock after a press that came too early (22.6). ``is_done``: the mover's count is over, its main part alone
    runs on until the press. ``is_stopped``: by an arbiter. ``is_playing``: play goes on, so that a clock may run.
    ``turn`` and ``length``: side on turn and number of moves that the clocks have followed so far. ``stone``: event_id
    of the last stone. ``memory``: what is seldom there.
    """

    __slots__ = (
        "_edition",
        "_reader",
        "_regulations",
        "byoyomi",
        "clocks",
        "ends_at_press",
        "is_done",
        "is_playing",
        "is_started",
        "is_stopped",
        "length",
        "memory",
        "mover",
        "overtime",
        "presses",
        "running",
        "since_ms",
        "stone",
        "system",
        "takes_stone_off",
        "times_captures",
        "turn",
    )

    def __init__(self, system: TimeSystem, opened: GameOpened, regulations: Regulations, edition: Edition) -> None:
        self.system = system
        self.byoyomi = system if isinstance(system, Byoyomi) else None
        self.presses = OBSERVED_PRESSES in opened.observed
        # A count ends with the move itself, unless the clock makes it end with the press (22.6, key byoyomi_stop).
        at_completion = self.byoyomi is not None and regulations.byoyomi_stop != BYOYOMI_STOP_PRESS
        self.ends_at_press = self.presses and not at_completion
        self.times_captures = OBSERVED_CAPTURES in opened.observed and edition.captures_timed
        self.overtime: Clause = overtime_clause(edition, regulations.regime)
        # Whether overtime leaves it open what becomes of a stone set too late (22.5).
        effects = (effect for offer in self.overtime.options for effect in offer.option.effects)
        self.takes_stone_off = VoidMove(Move.AFTER_TIME) in effects
        self.clocks: list[SideClock] = [system.start() for _ in range(3)]  # by colour; the first stands for nobody
        self.running: Colour = _NOBODY
        self.mover: Colour = _NOBODY
        self.is_done = self.is_started = self.is_stopped = self.is_playing = False
        self.since_ms = 0
        self.turn: Colour = _NOBODY
        self.length = 0
        self.stone = ""
        self.memory = TimeMemory()
        self._edition = edition
        self._regulations = regulations
        self._reader: Reader | None = None

    def take_over(self, earlier: Clockwork) -> None:
        """Goes on from other regulations: the times used stay."""
        self.load(earlier.save())
        if self.system != earlier.system:
            for side in SEATS:
                self.clocks[side] = self.system.start()
                self.system.set_used(self.clocks[side], earlier.clocks[side].used_ms)
            self._forget_overtime()

    @property
    def reader(self) -> Reader | None:
        """How the count is read; None where nothing is counted."""
        if self._reader is None and self.byoyomi is not None:
            self._reader = reader(self.byoyomi, self._regulations, self._edition.announcements)
        return self._reader

    # Time passes

    def advance(self, now_ms: int, is_charged: bool) -> None:
        """Game time is ``now_ms`` now; ``is_charged``: whose clock runs has used what has passed."""
        ms, side = now_ms - self.since_ms, self.running
        self.since_ms = now_ms
        if side and is_charged and ms > 0:
            ms = min(ms, LONGEST_MS)
            self._spend(side, ms)
            if self.mover and self.mover != side:
                self._spend(self.mover, ms)

    def _spend(self, side: Colour, ms: int) -> None:
        clock = self.clocks[side]
        if self.is_done and side == self.mover:
            ms = _main_part(self.byoyomi, clock, ms)
        over_in = self.system.spend(clock, ms)
        if over_in != NEVER:
            self._note_limit(side, self.since_ms - ms + over_in - self.system.over_from_ms + self.system.whole_ms)

    def run(self, side: Colour, away: Collection[Colour] = ()) -> None:
        """The clock of this side starts for a new move. What it exceeded before and nobody ruled is past: the last
        minute is counted anew. The count of a player who left with permission waits (22.7)."""
        memory, clock = self.memory, self.clocks[side]
        if memory.said:
            del memory.said[:]
        if self.byoyomi is not None and self.byoyomi.is_over(clock):
            self.byoyomi.set_units_left(clock, 1)
        if memory.found:
            self._forget_overtime(side)
        waits = side in memory.leave and side in away and self.is_counted(side)
        memory.held = side if waits else _NOBODY
        self.running = _NOBODY if waits else side

    def complete(self, side: Colour) -> None:
        """A move of this side is done."""
        self.system.complete_move(self.clocks[side])

    def drop_move(self) -> None:
        """No move waits for its end any more."""
        self.mover, self.is_done, self.memory.captures = _NOBODY, False, b""

    def await_captures(self, points: Iterable[int]) -> None:
        """These stones must come off before the move is complete."""
        self.memory.captures = b"".join(point.to_bytes(2, "big") for point in sorted(points))

    def captures_left(self, on_board: Collection[int]) -> bool:
        """Whether the move waits for captures still, now that ``on_board`` are what is left of them."""
        packed = self.memory.captures
        points = [point for (point,) in struct.iter_unpack(">H", packed) if point in on_board]
        self.await_captures(points)
        return bool(points)

    # What the clocks stand at

    def is_over(self, side: Colour) -> bool:
        """Whether the side has exceeded its limit."""
        return self.system.is_over(self.clocks[side])

    def is_counted(self, side: Colour) -> bool:
        """Whether the side is in byoyomi."""
        return self.byoyomi is not None and self.byoyomi.is_counted(self.clocks[side])

    def over_ms(self, side: Colour) -> int:
        """How long ago the limit of this side was used up; 0 if it is not exceeded."""
        limit_ms = self.memory.black_limit_ms if side == BLACK else self.memory.white_limit_ms
        return bounded(self.since_ms - limit_ms) if limit_ms and self.is_over(side) else 0

    def set_used(self, side: Colour, used_ms: int) -> bool:
        """Sets the time used; False if it cannot be. A clock set to 0 stands as at the start."""
        clock, before_ms = self.clocks[side], self.clocks[side].used_ms
        if not self.system.set_used(clock, used_ms):
            return False
        if not used_ms:
            self.clocks[side] = clock = self.system.start()
        session = self.memory.session if self.memory.HasField("session") else ReadingMemory()
        if side == BLACK:
            session.black_ms += clock.used_ms - before_ms
        else:
            session.white_ms += clock.used_ms - before_ms
        self._forget_overtime(side)
        return True

    def set_units_left(self, side: Colour, units: int) -> bool:
        """Sets the minutes or periods left; False if it cannot be."""
        was_set = self.system.set_units_left(self.clocks[side], units)
        self._forget_overtime(side)
        return was_set

    def set_count(self, side: Colour, count_ms: int) -> bool:
        """Sets the running count back; False if it cannot be."""
        was_set = self.system.set_count(self.clocks[side], count_ms)
        said = [spoken for spoken in self.memory.said if spoken.count_ms < count_ms]
        del self.memory.said[:]
        self.memory.said.extend(said)
        self._forget_overtime(side)
        return was_set

    def renew(self, side: Colour) -> None:
        """The overtime of this side is taken as a pass: it keeps its last minute (22.5)."""
        if self.byoyomi is not None and self.byoyomi.is_over(self.clocks[side]):
            self.byoyomi.set_units_left(self.clocks[side], 1)
        self._forget_overtime(side)

    def read_out(self, side: Colour) -> None:
        """The reader has said the end of the running period of this side."""
        if self.byoyomi is not None:
            self.byoyomi.read_out(self.clocks[side])
            if self.byoyomi.is_over(self.clocks[side]):
                self._note_limit(side, self.since_ms)

    def find_overtime(self, side: Colour) -> bool:
        """Overtime of this side was found; whether for the first time."""
        if side in self.memory.found:
            return False
        self.memory.found = bytes(sorted({*self.memory.found, side}))
        return True

    def _note_limit(self, side: Colour, limit_ms: int) -> None:
        if side == BLACK:
            self.memory.black_limit_ms = limit_ms
        else:
            self.memory.white_limit_ms = limit_ms

    def _forget_overtime(self, *sides: Colour) -> None:
        """What was found of these sides is past, unless they are over the limit still."""
        past = [side for side in sides or SEATS if not self.is_over(side)]
        for side in past:
            self._note_limit(side, 0)
        self.memory.found = bytes(side for side in self.memory.found if side not in past)

    def change_sides(self) -> None:
        """The persons have changed colours: the time used stays with the person (CN2002 17.1)."""
        nobody, black, white = self.clocks
        self.clocks = [nobody, white, black]
        memory = self.memory
        memory.black_limit_ms, memory.white_limit_ms = memory.white_limit_ms, memory.black_limit_ms
        memory.found = bytes(other(side) for side in SEATS if side in memory.found)
        memory.leave = bytes(other(side) for side in SEATS if side in memory.leave)
        if memory.held:  # who has that side now is at the table
            self.run(memory.held)
        memory.agreed = bytes(other(side) for side in SEATS if side in memory.agreed)
        for name in ("session", "last_session", "record", "reading"):
            if memory.HasField(name):
                shown = getattr(memory, name)
                shown.black_ms, shown.white_ms = shown.white_ms, shown.black_ms

    # Sessions and readings (22.8, 22.9)

    def begin_session(self) -> None:
        """Play begins or goes on after a pause."""
        black_ms, white_ms = (self.clocks[side].used_ms for side in SEATS)
        self.memory.session.CopyFrom(ReadingMemory(black_ms=black_ms, white_ms=white_ms, watch_ms=self.since_ms))

    def end_session(self) -> None:
        """A pause begins: nothing is recorded of it yet."""
        memory = self.memory
        if memory.HasField("session"):
            memory.last_session.CopyFrom(memory.session)
            memory.last_session.watch_ms = bounded(self.since_ms - memory.session.watch_ms)
        memory.ClearField("record")
        memory.agreed = b""

    def is_faulty(self) -> bool | None:
        """Whether the last readings, added up, are too far from the arbiter's watch (22.8); None without one."""
        if not self.memory.HasField("reading"):
            return None
        shown = self.memory.reading
        limit_s = self._regulations.clock_error_s_per_h
        return is_faulty(shown.watch_ms, shown.black_ms, shown.white_ms, limit_s)

    @property
    def is_recorded(self) -> bool:
        """Whether there is a written record of the last pause that both players have confirmed."""
        return self.memory.HasField("record") and len(self.memory.agreed) == len(SEATS)

    # As bytes and messages

    def digest_part(self, told: bytes) -> bytes:
        """The clocks as the state digest has them: docs/chain.md. ``told``: see ``encode``."""
        standing = b"%c%c%b" % (self.mover, self._flags(), len(told).to_bytes(4, "big"))
        return standing + told + self.memory.SerializeToString(deterministic=True)

    def _flags(self) -> int:
        playing = self.is_started * _STARTED + self.is_stopped * _STOPPED + self.is_playing * _PLAYING
        return playing + self.is_done * _DONE

    def save(self) -> ClockworkMemory:
        """The clocks as a checkpoint keeps them."""
        _, black, white = self.clocks
        packed = _PACKED.pack(self.running, self.mover, self._flags(), self.since_ms, black.pack(), white.pack())
        return ClockworkMemory(packed=packed, stone=self.stone, seldom=self.memory)

    def load(self, saved: ClockworkMemory) -> None:
        """Stands as ``save`` wrote it."""
        self.running, self.mover, flags, self.since_ms, black, white = _PACKED.unpack(saved.packed)
        self.is_started, self.is_stopped = bool(flags & _STARTED), bool(flags & _STOPPED)
        self.is_playing, self.is_done = bool(flags & _PLAYING), bool(flags & _DONE)
        self.clocks[BLACK], self.clocks[WHITE] = SideClock.unpack(black), SideClock.unpack(white)
        self.stone = saved.stone
        self.memory.CopyFrom(saved.seldom)

    def encode(self) -> bytes:
        """The clocks as a verdict tells them, in bytes."""
        return self.message().SerializeToString(deterministic=True)

    def message(self) -> Clocks:
        """The clocks as a verdict tells them."""
        _, black, white = self.clocks
        told = Clocks(
            black_used_ms=black.used_ms,
            white_used_ms=white.used_ms,
            running=self.running,
            since_ms=self.since_ms,
            move_made=self.is_done,
        )
        if self.mover and self.running and self.mover != self.running:
            told.counted_on = self.mover
        if black.count_ms or black.granted_ms or black.stage:
            told.black.CopyFrom(_details(black))
        if white.count_ms or white.granted_ms or white.stage:
            told.white.CopyFrom(_details(white))
        return told


def clockwork_for(
    opened: GameOpened, regulations: Regulations, edition: Edition, earlier: Clockwork | None = None
) -> Clockwork | None:
    """The clockwork of a game by these regulations, None without clocks; it goes on from an ``earlier`` one."""
    system = system_of(regulations, opened.observed)
    if system is None:
        return None
    made = Clockwork(system, opened, regulations, edition)
    if earlier is not None:
        made.take_over(earlier)
    return made


def overtime_clause(edition: Edition, regime: Regime.ValueType) -> Clause:
    """The clause on overtime under a time system."""
    name = Regime.Name(regime or REGIME_UNSPECIFIED).removeprefix("REGIME_")
    return edition.clauses[edition.clocks[name].overtime]


def faces(clocks: Clocks, system: TimeSystem, at_ms: int) -> dict[Colour, ClockFace]:
    """What is on the clocks at an instant from ``since_ms`` on if nothing happens until then, by side.

    ``clocks``: those of the last verdict before; ``system``: that of the game, see `system_of`.
    """
    byoyomi = system if isinstance(system, Byoyomi) else None
    passed_ms = max(0, at_ms - clocks.since_ms)
    shown = {}
    for side, used_ms, more in (
        (BLACK, clocks.black_used_ms, clocks.black),
        (WHITE, clocks.white_used_ms, clocks.white),
    ):
        clock = SideClock(used_ms, more.count_ms, more.granted_ms, more.stage, more.moves, more.budget_ms)
        ms = passed_ms if side in (clocks.running, clocks.counted_on) else 0
        if side == clocks.running and clocks.move_made:
            ms = _main_part(byoyomi, clock, ms)
        shown[side] = system.face(clock, ms)
    return shown


def _main_part(byoyomi: Byoyomi | None, clock: SideClock, ms: int) -> int:
    """How much of ``ms`` still runs where only the main part of the limit does."""
    return ms if byoyomi is None else max(0, min(ms, byoyomi.main_ms - clock.used_ms))


def _details(clock: SideClock) -> ClockDetails:
    return ClockDetails(
        count_ms=clock.count_ms,
        granted_ms=clock.granted_ms,
        stage=clock.stage,
        moves=clock.moves,
        budget_ms=clock.budget_ms,
    )
