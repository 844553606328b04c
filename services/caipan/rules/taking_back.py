"""A ruling taken back from here on: what it left in ledger and result goes, the board stays as it is (CN2002 16.4)."""

from __future__ import annotations

from collections.abc import Collection

from caipan.rules import docket
from caipan.rules.act import Act
from caipan.rules.ending import count_board
from caipan.rules.losing import lose_by_what_is_left, lost
from caipan.rules.points import SEATS, Colour
from caipan.rules.results import loss_of
from caipan.rules.table import Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.checkpoint_pb2 import CaseMemory


def take_back(table: Table, case: CaseMemory, act: Act) -> None:
    """The closed case is open again, as if nothing had been ruled on it."""
    table.keep_closed([each for each in table.closed if each is not case])
    table.cases[case.told.case_id] = case
    case.told.status = pb.CASE_STATUS_OPEN
    if case.told.seats_changed:  # it is about the person, who has the other side now
        case.told.side, case.told.seats_changed = docket.seat_of(case), False
    if any(effect.set_colours.change_seats for effect in case.told.effects):
        for changed in table.change_seats():  # back: what stands in its place may change them again
            act.touch(changed)
    touched = {penalty.side for penalty in table.ledger.penalties if _is_of(penalty, case)}
    table.ledger.drop(lambda penalty: _is_of(penalty, case))
    table.assigned = _assigned(table)
    _take_result_back(table, case, touched)
    _drop_both_at_limit(table, act)
    lose_by_what_is_left(table)
    case.told.automatic = False


def _assigned(table: Table) -> dict[int, Colour]:
    """The points that the rulings on closed cases have given to a side, the last one counts (CN2002 12.4)."""
    effects = [effect for case in table.closed for effect in case.told.effects if effect.HasField("assign_points")]
    return {table.indices[name]: said.side for said in (each.assign_points for each in effects) for name in said.points}


def _drop_both_at_limit(table: Table, act: Act) -> None:
    """The case of two players at the limit has no ground once one of them is below it (CN2002 24.2, reading R34)."""
    if len(lost(table)) == len(SEATS):
        return
    for case in [*table.closed, *table.cases.values()]:
        if pb.FINDING_KIND_BOTH_AT_LIMIT not in {finding.kind for finding in case.told.findings}:
            continue
        if case.told.option:
            _take_result_back(table, case, set(SEATS))
        table.cases.pop(case.told.case_id, None)
        case.told.status = pb.CASE_STATUS_RECORD_ERROR
        table.keep_closed([*(each for each in table.closed if each is not case), case])
        act.touch(case)


def decided_by(table: Table, ruling: str, case_id: str = "") -> CaseMemory | None:
    """The case that a ruling has decided: this one, if it did, else its own before what the service ruled with it."""
    decided = [case for case in table.closed if case.told.decided_by == ruling]
    decided.sort(key=lambda case: (case.told.case_id != case_id, case.told.automatic))
    return decided[0] if decided else None


def _is_of(penalty: pb.Penalty, case: CaseMemory) -> bool:
    """Whether the ruling on a case has imposed this; the service can have ruled on several at one event."""
    is_own = penalty.key == case.key and penalty.side == case.told.side
    return penalty.ruling == case.told.decided_by and (is_own or not case.told.automatic)


def _take_result_back(table: Table, case: CaseMemory, touched: Collection[Colour]) -> None:
    """The ruling on a case stands no more: nor does the result that it set, nor the loss of a side whose warnings it
    ``touched``, where they are too few now."""
    named = case.told.decided_by
    groundless = [loss_of(side) for side in touched if side not in lost(table)]
    table.overruled = [
        (each, by)
        for each, by in table.overruled
        if by != named and (each.how != pb.RESULT_HOW_WARNINGS or each.kind not in groundless)
    ]
    result = table.result
    if result is None:
        return
    by_warnings = result.how == pb.RESULT_HOW_WARNINGS
    by_case = table.result_by == named and result.clause == case.told.clause and not by_warnings
    if by_case or (by_warnings and result.kind in groundless):
        table.take_result_back()
        if table.result is None and table.dead_are_agreed():
            count_board(table)
