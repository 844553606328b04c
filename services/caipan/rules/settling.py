"""Cases that settle without a person's ruling: by what the players agree on, or by the service where the regulations
say AUTO_FIXED (reading R55)."""

from __future__ import annotations

from typing import Any

from caipan.rules import docket
from caipan.rules.act import Act
from caipan.rules.clauses import Clause, Offer, Option, When
from caipan.rules.enact import CannotApplyError
from caipan.rules.points import SEATS, other
from caipan.rules.ruling_effects import IncompleteError, effects_of
from caipan.rules.rulings import Decision, enact
from caipan.rules.table import Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.checkpoint_pb2 import CaseMemory

# What a person has to look at before anything follows (R56).
_UNCERTAIN = (pb.FINDING_KIND_UNDECIDABLE_ORDER, pb.FINDING_KIND_BOUNDARY)


def settle_by_agreement(table: Table, case: CaseMemory, clause: Clause, act: Act) -> Table:
    """What the players agreed to, where the clause asks for no more (CN2002 17.3); the same table if it cannot be."""
    rulings = _rulings(table, case, clause)
    is_lapsed = When.ANSWERED in docket.holding(table, case, clause)  # the stone stands, unless an arbiter acts
    return _enact_offer(table, case, clause, rulings[0], act) if rulings and not is_lapsed else table


def _rulings(table: Table, case: CaseMemory, clause: Clause) -> list[Offer]:
    """What a case lists that is no dismissal."""
    return [offer for offer in docket.listed(table, case, clause.key) if not offer.option.dismisses]


def _enact_offer(table: Table, case: CaseMemory, clause: Clause, offer: Offer, act: Act) -> Table:
    """An option applied with what follows from the case alone; the same table where it needs a person after all."""
    try:
        with act.whole():
            return enact(table, Decision(case, clause, offer, effects_of(table, case, offer.option, ())), act)
    except (CannotApplyError, IncompleteError):
        return table


def settle(table: Table, act: Act, before: tuple[Any, ...] | None) -> Table:
    """Opens the cases of what was found, and where the regulations say AUTO_FIXED decides what needs no person.

    ``before``: ``docket.standing`` before the act, None where no case was open.
    """
    docket.settle(table, act, before)
    return table if act.by_hand else decide_fixed(table, act)


def decide_fixed(table: Table, act: Act) -> Table:
    """Where the regulations say AUTO_FIXED, the cases that an act opened are decided as far as they need no person."""
    for case in act.cases if table.is_auto else ():
        table = _decide_fixed(table, case, act)
    return table


def _decide_fixed(table: Table, case: CaseMemory, act: Act) -> Table:
    """Applies the one ruling of a case that asks no person to find anything (R55); it can be superseded."""
    if case.told.case_id not in table.cases or len(case.keys) != 1:
        return table
    clause = table.edition.clause(case.keys[0])
    rulings = _rulings(table, case, clause)
    if not clause.auto_fixed or len(rulings) != 1 or _needs_person(table, case, rulings[0].option):
        return table
    ruled = _enact_offer(table, case, clause, rulings[0], act)
    if ruled is not table:
        ruled.closed[-1].told.automatic = True
    return ruled


def _needs_person(table: Table, case: CaseMemory, option: Option) -> bool:
    """Whether a person has to find something first: what is claimed alone, what is uncertain, overtime that the clocks
    of the record do not show, a loss for coming late while the opponent has not come either (CN2002 22.3), and a result
    where there is one."""
    kinds = {finding.kind for finding in case.told.findings}
    works, side = table.clockwork, case.told.side
    if pb.FINDING_KIND_OVERTIME in kinds and works is not None and not (side in SEATS and works.is_over(side)):
        return True
    if option.ends_game and table.result is not None:
        return True
    if pb.FINDING_KIND_LATE_ARRIVAL in kinds and side in SEATS and other(side) not in table.came and option.ends_game:
        return True
    return not kinds or not kinds.isdisjoint(_UNCERTAIN)
