"""What the reader of a count says, against the clock and the manner prescribed (CN2002 12.3, 16.2)."""

from __future__ import annotations

from caipan.rules import absence, docket, timing
from caipan.rules.act import Act
from caipan.rules.clockwork import Clockwork
from caipan.rules.points import SEATS, Colour
from caipan.rules.table import Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.facts_pb2 import CountAnnounced

_SAID_MOST = 64  # words remembered of one period
_ON_TIME_MS = 1000  # words less than a second off are right: they are a second apart at the least


def count_announced(table: Table, act: Act) -> None:
    """A word of the reader. Where the word decides, the end of a period is when it is said (reading R22)."""
    side, works = act.fact.to, table.clockwork
    if act.fact.purpose == CountAnnounced.PURPOSE_ABSENCE:
        absence.count_over(table, act, side)
    elif works is not None and side in SEATS and works.is_counted(side) and table.phase <= pb.PHASE_PAUSED:
        if side in (works.running, works.mover):
            _hear(table, works, act, side)
        elif works.byoyomi is not None and works.byoyomi.is_spoken and _ends_last_period(works, act, side):
            _compare_with_stone(table, works, act, side)


def _hear(table: Table, works: Clockwork, act: Act, side: Colour) -> None:
    clock, memory = works.clocks[side], works.memory
    second = _second(works, side, act.fact.label, clock.count_ms)
    if second is None:
        return
    if memory.said and memory.said[-1].count_ms > clock.count_ms:
        del memory.said[:]  # another period has begun
    if len(memory.said) < _SAID_MOST:
        memory.said.add(label=act.fact.label, count_ms=clock.count_ms)
    byoyomi = works.byoyomi
    if byoyomi is not None and byoyomi.is_spoken and second * 1000 == byoyomi.unit_ms:
        is_last = byoyomi.units_left(clock) == 1
        works.read_out(side)
        if is_last:
            timing.find_overtime(table, works, act, side, 0)
        else:
            del memory.said[:]


def _words(works: Clockwork, side: Colour) -> tuple[tuple[int, str], ...]:
    """Second and words of what is said in the period of a side that runs."""
    byoyomi, reader = works.byoyomi, works.reader
    if byoyomi is None or reader is None:
        return ()
    return reader.last if byoyomi.units_left(works.clocks[side]) <= 1 else reader.early


def _second(works: Clockwork, side: Colour, label: str, count_ms: int) -> int | None:
    """The second of the period at which these words are due: of several, the one nearest to the clock."""
    due = [second for second, words in _words(works, side) if words == label]
    return min(due, key=lambda second: (abs(second * 1000 - count_ms), -second), default=None)


def _ends_last_period(works: Clockwork, act: Act, side: Colour) -> bool:
    words = _words(works, side)
    byoyomi = works.byoyomi
    return byoyomi is not None and byoyomi.units_left(works.clocks[side]) == 1 and words[-1][1] == act.fact.label


def _compare_with_stone(table: Table, works: Clockwork, act: Act, side: Colour) -> None:
    """The end of the last period is said of a side that has moved by now: by their times the stone came with it or
    after it, and so too late; or nobody can tell (R56)."""
    after_ms = act.at_ms - table.moved_at_ms
    if table.turn == side:
        return
    if abs(after_ms) < table.skew_ms:
        docket.leave_undecided(table, act, side, works.overtime.id, works.overtime.key)
    elif after_ms <= 0:
        works.read_out(side)
        timing.find_overtime(table, works, act, side, 0)
        timing.leave_open(table, works, side)


def first_wrong_s(works: Clockwork, side: Colour) -> int | None:
    """The second of the running count at which the reading first went wrong or something was not said, to which it is
    set back (CN2002 16.2); None where nothing is wrong."""
    count_ms = works.clocks[side].count_ms
    said = list(works.memory.said)
    wrong = []
    for second, words in _words(works, side):
        due_ms = second * 1000
        heard = next((each for each in said if each.label == words and abs(each.count_ms - due_ms) < _ON_TIME_MS), None)
        if heard is not None:
            said.remove(heard)
        elif due_ms <= count_ms - _ON_TIME_MS:
            wrong.append(due_ms)
    wrong += [each.count_ms for each in said]
    return min(wrong) // 1000 if wrong else None
