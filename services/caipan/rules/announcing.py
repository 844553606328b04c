"""What the reader of a byoyomi says, and when (CN2002 12.3, rules 3.2 and 3.3)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from caipan.rules.clauses import Announcement
from caipan.rules.clocks import SideClock
from caipan.rules.timesystems import Byoyomi
from caipan.v1.regulations_pb2 import Regulations

MINUTE_ZH: Final = "1分"
COUNTED_S: Final = 10  # so many seconds of the last period are counted one by one where no table says otherwise


class Call(NamedTuple):
    """``after_ms``: how much must run on the clock until it is due. ``second``: of the count. ``label``: the words.
    ``units_left``: the minutes or periods left that are said with it [还剩x分]; None where none are."""

    after_ms: int
    second: int
    label: str
    units_left: int | None


@dataclass(frozen=True, slots=True)
class Reader:
    """The manner of reading one game's byoyomi: second and label of what is said in a period, in order; ``early``
    while more than one is left, ``last`` in the last."""

    system: Byoyomi
    early: tuple[tuple[int, str], ...]
    last: tuple[tuple[int, str], ...]

    def calls(self, clock: SideClock, until_ms: int, after_ms: int = 0) -> Iterator[Call]:
        """What is due on a running clock while its move lasts, after ``after_ms`` (-1: also at this instant) and up to
        ``until_ms`` from now. Where the reader ends the periods, no further than the one now counted."""
        system = self.system
        start_ms = system.main_ms - clock.used_ms if not system.is_counted(clock) else -clock.count_ms
        for units_left in range(system.units_left(clock), 0, -1):
            for second, label in self.last if units_left == 1 else self.early:
                due_ms = start_ms + second * 1000
                if due_ms > until_ms:
                    return
                if due_ms > after_ms:
                    ends_minute = units_left > 1 and second * 1000 == system.unit_ms
                    yield Call(due_ms, second, label, units_left - 1 if ends_minute else None)
            if system.is_spoken:
                return
            start_ms += system.unit_ms


def reader(system: Byoyomi, regulations: Regulations, tables: Collection[Announcement]) -> Reader:
    """The manner that applies: ``announce`` of the regulations if it is given, else the edition's table for periods of
    this length, else the last ten seconds of the last period alone. The end of a period is always said."""
    unit_s = system.unit_ms // 1000
    table = next((each for each in tables if each.unit_s == unit_s), None)
    count_from = table.count_from if table is not None else max(1, unit_s - COUNTED_S + 1)
    if regulations.announce:
        early = last = {second for second in regulations.announce if 0 < second < unit_s}
    else:
        early = set(table.early) if table is not None else set()
        last = (set(table.last) if table is not None else set()) | set(range(count_from, unit_s))
    end_of_early = MINUTE_ZH if unit_s == 60 else str(unit_s)
    return Reader(
        system,
        early=(*((second, str(second)) for second in sorted(early)), (unit_s, end_of_early)),
        last=tuple(
            (second, str(second if second < count_from else second - count_from + 1))
            for second in (*sorted(last), unit_s)
        ),
    )
