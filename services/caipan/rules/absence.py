"""The absence count of quick games: at its end the game is lost by itself (CN2002 22.4)."""

from __future__ import annotations

from caipan.rules import docket
from caipan.rules.act import Act
from caipan.rules.points import SEATS, Colour, other
from caipan.rules.results import loss_of
from caipan.rules.table import Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.rulings_pb2 import RESULT_KIND_BOTH_LOSE


def is_counted(table: Table) -> bool:
    """Whether the event reads an absence count, from the start on: nothing is deducted then."""
    return table.regulations.absent_count_s > 0 and table.began_ms != 0


def count_over(table: Table, act: Act, side: Colour) -> None:
    """Somebody reports the end of the count for a side, or that it came only then."""
    if not is_counted(table) or side not in SEATS or side in table.came or table.history.moves_of(side, 0):
        return
    beyond_ms = _beyond_ms(table, act)
    if abs(beyond_ms) < table.skew_ms:
        docket.leave_undecided(table, act, side, table.cite("22.4"), table.edition.about("13.1").key)
    elif beyond_ms >= 0:
        _lose(table, side)


def arrived(table: Table, act: Act) -> None:
    """A player comes for the first time. By an earlier time than a loss that stands, it is the chief's."""
    side = act.player
    if not is_counted(table):
        return
    if _is_lost(table, side):
        if _beyond_ms(table, act) < 0:
            docket.open_if_room(table, act, side, 0, [table.edition.about("30.6").key])
    else:
        count_over(table, act, side)


def _beyond_ms(table: Table, act: Act) -> int:
    """How long after the end of the count, ms."""
    return act.at_ms - table.began_ms - table.regulations.absent_count_s * 1000


def _lose(table: Table, side: Colour) -> None:
    """The side has lost; both have where both stayed away (reading R44)."""
    clause = table.edition.about("22.4")
    if table.result is None:
        kind = loss_of(side)
    elif _is_lost(table, other(side)) and table.phase == pb.PHASE_ENDED:
        kind = RESULT_KIND_BOTH_LOSE
    else:
        return
    table.set_result(pb.Result(kind=kind, how=clause.how.number, clause=clause.id), pb.PHASE_ENDED)


def _is_lost(table: Table, side: Colour) -> bool:
    """Whether the side has lost by the absence count."""
    result, clause = table.result, table.edition.about("22.4")
    if result is None or (result.how, result.clause) != (clause.how.number, clause.id):
        return False
    return result.kind in (loss_of(side), RESULT_KIND_BOTH_LOSE)
