"""What a ruling sets the clocks to, filled in from the case and the clocks (rules 3.7 to 3.11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from caipan.rules.clockwork import Clockwork
from caipan.rules.effects import Reading, Run, SetRunning
from caipan.rules.points import BLACK, WHITE, Colour
from caipan.rules.reading_aloud import first_wrong_s
from caipan.rules.readings import in_proportion, lateness_cost, split_evenly
from caipan.rules.table import Table
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.checkpoint_pb2 import CaseMemory
from caipan.v1.facts_pb2 import OBSERVED_ANNOUNCEMENTS


class Setting(NamedTuple):
    """A clock effect that is being filled in: for these sides, by this case; ``seconds``: how many more are used."""

    table: Table
    works: Clockwork
    case: CaseMemory
    sides: Sequence[Colour]
    seconds: int


def reading_of(how: Reading, setting: Setting) -> rl.SetClock | None:
    """What the clocks are set to; None where it is not known here, and the ruling has to give it."""
    return _READINGS[how](setting) if how in _READINGS else None


def running_of(table: Table, effect: SetRunning) -> rl.SetRunning:
    """Which clock runs then."""
    on_turn = rl.SetRunning.RUN_BLACK if table.turn == BLACK else rl.SetRunning.RUN_WHITE
    run = on_turn if effect.run == Run.ON_TURN else rl.SetRunning.RUN_STOPPED
    return rl.SetRunning(run=run, replaced=effect.replaced)


def _used(setting: Setting, used: dict[Colour, int]) -> rl.SetClock:
    said = rl.SetClock()
    for side in setting.sides:
        if side == BLACK:
            said.black_ms = used[side]
        else:
            said.white_ms = used[side]
    return said


def _start(setting: Setting) -> rl.SetClock:
    return _used(setting, {BLACK: 0, WHITE: 0})


def _deducted(setting: Setting, costs: dict[Colour, int]) -> rl.SetClock | None:
    """As if so much more had been used; None if there is not so much."""
    used = {}
    for side in setting.sides:
        clock = setting.works.clocks[side].copy()
        if not setting.works.system.deduct(clock, costs[side]):
            return None
        used[side] = clock.used_ms
    return _used(setting, used)


def _lateness(setting: Setting) -> rl.SetClock | None:
    """All of it comes to ``late_factor`` times the lateness (readings R15, R16), where the event says how many."""
    if not setting.table.regulations.HasField("late_factor"):
        return None
    case, factor = setting.case, setting.table.regulations.late_factor
    costs = {
        BLACK: lateness_cost(case.black_ms, factor, case.black_ran_ms),
        WHITE: lateness_cost(case.white_ms, factor, case.white_ran_ms),
    }
    return _deducted(setting, costs)


def _more(setting: Setting) -> rl.SetClock | None:
    return _deducted(setting, dict.fromkeys((BLACK, WHITE), setting.seconds * 1000))


def _last_minute(setting: Setting) -> rl.SetClock:
    return rl.SetClock(side=setting.sides[0], minutes_left=1)


def _reread(setting: Setting) -> rl.SetClock | None:
    """Back to where the reading first went wrong (CN2002 16.2)."""
    if OBSERVED_ANNOUNCEMENTS not in setting.table.opened.observed:
        return None
    second = first_wrong_s(setting.works, setting.sides[0])
    return rl.SetClock(side=setting.sides[0], count_s=second) if second is not None else None


def _proportion(setting: Setting) -> rl.SetClock | None:
    """By the last reading with the arbiter's watch (CN2002 22.8)."""
    memory = setting.works.memory
    if not memory.HasField("reading"):
        return None
    shown = memory.reading
    black_ms, white_ms = in_proportion(shown.watch_ms, shown.black_ms, shown.white_ms)
    return _used(setting, {BLACK: black_ms, WHITE: white_ms})


def _record(setting: Setting) -> rl.SetClock | None:
    """By the written record of the pause (CN2002 22.9)."""
    memory = setting.works.memory
    if not setting.works.is_recorded:
        return None
    return _used(setting, {BLACK: memory.record.black_ms, WHITE: memory.record.white_ms})


def _even(setting: Setting) -> rl.SetClock | None:
    """Half of the session before the pause to each (CN2002 22.9)."""
    memory = setting.works.memory
    if not memory.HasField("last_session"):
        return None
    session = memory.last_session
    black_ms, white_ms = split_evenly(session.watch_ms)
    return _used(setting, {BLACK: session.black_ms + black_ms, WHITE: session.white_ms + white_ms})


_READINGS: dict[Reading, Callable[[Setting], rl.SetClock | None]] = {
    Reading.START: _start,
    Reading.LATENESS: _lateness,
    Reading.ADD: _more,
    Reading.LAST_MINUTE: _last_minute,
    Reading.REREAD: _reread,
    Reading.PROPORTION: _proportion,
    Reading.RECORD: _record,
    Reading.EVEN: _even,
}
