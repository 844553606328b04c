"""Losses by warnings (CN2002 24.2)."""

from __future__ import annotations

from caipan.rules import docket
from caipan.rules.act import Act
from caipan.rules.ledger import Ledger
from caipan.rules.points import SEATS, Colour
from caipan.rules.results import loss_of
from caipan.rules.table import Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.common_pb2 import COLOR_UNSPECIFIED


def derive_loss(table: Table, before: Ledger, act: Act) -> None:
    """The game is lost at the warning that the regulations name (CN2002 24.2); both at once is a case (R34).

    ``before``: the ledger before the act.
    """
    losers = [side for side in lost(table) if table.ledger.adding_up(side) > before.adding_up(side)]
    result = table.result
    if not losers or table.phase == pb.PHASE_FINAL:
        return
    if result is not None and result.how not in (pb.RESULT_HOW_COUNT, pb.RESULT_HOW_UNSPECIFIED):
        return  # a game resigned or lost before stays so (CN2002 7.2)
    if len(losers) == len(SEATS):
        key = table.edition.topics.get("CN2002 24.2 both", "")
        if key and not any(key in case.keys for case in table.cases.values()):
            case = docket.open_case(table, act, COLOR_UNSPECIFIED, 0, [key])
            case.told.findings.add(clause=table.cite("24.2"), kind=pb.FINDING_KIND_BOTH_AT_LIMIT)
            act.findings = [*act.findings, *case.told.findings]
            act.touch(case)
        return
    _lose(table, losers[0], act.ruling_id)


def lost(table: Table) -> list[Colour]:
    """The sides whose warnings have reached the number that loses."""
    limit = table.regulations.warnings_to_lose
    return [side for side in SEATS if limit and table.ledger.adding_up(side) >= limit]


def lose_by_what_is_left(table: Table) -> None:
    """One side has reached the number still: the other result, by which that did not matter, was taken back (24.2)."""
    result, losers = table.result, lost(table)
    if len(losers) != 1 or (result is not None and result.how != pb.RESULT_HOW_COUNT):
        return
    (side,) = losers
    warnings = [each for each in table.ledger.penalties if each.side == side and each.kind == pb.Penalty.KIND_WARNING]
    _lose(table, side, warnings[-1].ruling)


def _lose(table: Table, side: Colour, ruling: str) -> None:
    lost_by = pb.Result(kind=loss_of(side), how=pb.RESULT_HOW_WARNINGS, clause=table.cite("24.2"))
    table.set_result(lost_by, pb.PHASE_ENDED, ruling)
