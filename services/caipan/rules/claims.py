"""Claims of players and arbiters, and what the players agree to (CN2002 16.3, rules 0.7).

A claim joins the case it is about, or opens one. One that comes too late is kept as late.
"""

from __future__ import annotations

from collections.abc import Sequence

from caipan.rules import docket, signing, timing
from caipan.rules.act import Act
from caipan.rules.clauses import Clause, Consent, Moment, Raiser, RulingKind, When
from caipan.rules.keys import names_of
from caipan.rules.points import SEATS, Colour, other
from caipan.rules.settling import settle_by_agreement
from caipan.rules.table import Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.checkpoint_pb2 import CaseMemory
from caipan.v1.facts_pb2 import ClaimRaised

_KINDS = names_of(ClaimRaised.Kind.DESCRIPTOR)
_ANYBODY = frozenset((Raiser.ANYONE, Raiser.PLAYER))


def claim_raised(table: Table, act: Act) -> Table | None:
    """A claim joins the open case that it names, by its events or its clause, or opens one."""
    kind = act.fact.kind
    if kind == ClaimRaised.KIND_TIME_QUERY:
        return None  # answered from the state
    if kind == ClaimRaised.KIND_RECHECK and signing.check_again(table, act):
        return None
    if kind == ClaimRaised.KIND_COMPLAINT:
        keys = _complained(table, act)
    else:
        keys = table.edition.opened_by("claims", _KINDS.get(kind, ""))
    if keys is not None:
        _join(table, act, keys)
    return None


def _complained(table: Table, act: Act) -> Sequence[str] | None:
    """The clauses of a complaint, () where it names none; None where the edition has no such clause (finding)."""
    _find_wrong_moment(table, act)
    named = act.fact.clause
    if not named:
        return ()
    clauses = table.edition.named(named)
    if not clauses:
        act.find(table.cite("16.3"), pb.FINDING_KIND_CLAUSE_UNKNOWN, side=act.player, ref=named)
        return None
    return table.edition.deciding(clauses)


def _find_wrong_moment(table: Table, act: Act) -> None:
    """Some texts want complaints in the own thinking time (CN1988S 16.2)."""
    if act.player not in SEATS or act.player == table.turn or table.phase > pb.PHASE_PAUSED:
        return
    for clause in table.edition.clauses.values():
        if clause.during == Moment.OWN_TIME and clause.ruling == RulingKind.DERIVED:
            act.find(clause.id, pb.FINDING_KIND_WAIT_FOR_OWN_TURN, side=act.player)


def _join(table: Table, act: Act, keys: Sequence[str]) -> None:
    case = _about(table, act, keys)
    side = case.told.side if case is not None else _whom(table, act, keys)
    allowed = [key for key in keys or (case.keys if case else ()) if may_raise(table.edition.clause(key), act, side)]
    if not allowed and keys:
        act.find(
            table.cite("16.3"), pb.FINDING_KIND_NOT_ENTITLED, side=act.player, ref=table.edition.clauses[keys[0]].id
        )
        return
    if case is None and (decided := _decided(table, act, side, allowed)) is not None:
        told = decided.told
        act.find(told.clause, pb.FINDING_KIND_ALREADY_DECIDED, side=act.player, ref=told.decided_by)
        return
    if case is None:
        case = docket.open_if_room(table, act, side, 0, allowed or _special(table))
        if case is None:
            return
        case.told.refs.extend(ref for ref in act.fact.refs[: docket.TOLD_MOST] if ref not in case.told.refs)
    else:
        docket.extend(case, act, allowed)
    _add_claim(table, act, case)
    act.touch(case)


def _about(table: Table, act: Act, keys: Sequence[str]) -> CaseMemory | None:
    """The open case that a claim is about: the last one that rests on an event it names, else one of its clause."""
    refs, against = {*act.fact.refs}, act.fact.against
    for case in reversed(table.cases.values()):
        same_side = against in (0, case.told.side)
        if refs & {*case.told.refs} and same_side:
            return case
    for case in reversed(table.cases.values()):
        if not refs and against in (0, case.told.side) and {*keys} & {*case.keys}:
            return case
    return None


def _decided(table: Table, act: Act, side: Colour, keys: Sequence[str]) -> CaseMemory | None:
    """The closed case of the act that a claim names, decided under one of these clauses: one act, one ruling."""
    for case in table.closed:
        is_same = case.told.option and docket.seat_of(case) == side and {*act.fact.refs} & {*case.told.refs}
        if is_same and {*keys} & {*case.keys, case.key}:
            return case
    return None


def _whom(table: Table, act: Act, keys: Sequence[str]) -> Colour:
    against: Colour = act.fact.against
    if against in SEATS or act.player not in SEATS:
        return against
    about_oneself = _is_application(act) or any(_is_own(table.edition.clauses[key]) for key in keys)
    return act.player if about_oneself else other(act.player)


def _is_application(act: Act) -> bool:
    """Whether a player asks for something of his own; a complaint is about the opponent."""
    return bool(act.fact.kind != ClaimRaised.KIND_COMPLAINT)


def _is_own(clause: Clause) -> bool:
    return Raiser.OPPONENT not in clause.raised_by and (
        Raiser.COUNTED in clause.raised_by or bool(clause.opened_by.claims)
    )


def may_raise(clause: Clause, act: Act, side: Colour) -> bool:
    """Whether who raises a clause on ``side`` may: a player's claim carries the player, an arbiter's none."""
    by, allowed = act.player, clause.raised_by
    if not _ANYBODY.isdisjoint(allowed) or side not in SEATS:
        return True
    if _is_application(act) and Raiser.COUNTED in allowed:
        return by == side  # only the player under the count applies (CN2002 22.5)
    if by not in SEATS:
        return Raiser.ARBITER in allowed
    return (by == side and Raiser.COUNTED in allowed) or (by != side and Raiser.OPPONENT in allowed)


def _special(table: Table) -> Sequence[str]:
    """What no article covers is referred (CN2002 30.6)."""
    return (table.edition.about("30.6").key,)


def _add_claim(table: Table, act: Act, case: CaseMemory) -> None:
    """Notes the claim, and whether it is late; a timely application of the counted player is a fact of the case."""
    clause = table.edition.clause(case.keys[0])
    late = docket.is_late(table, clause, act.player, case.told.move)
    if late:
        act.find(table.cite("16.3"), pb.FINDING_KIND_LATE_CLAIM, side=act.player, ref=clause.id)
    _note_moment(table, act, case, clause)
    if len(case.told.claims) < docket.TOLD_MOST:
        case.told.claims.add(ref=act.event_id, by=act.player, late=late)
    if act.fact.kind == ClaimRaised.KIND_OVERTIME_PASS and not late and When.APPLIED not in case.facts:
        case.facts.append(When.APPLIED)


def _note_moment(table: Table, act: Act, case: CaseMemory, clause: Clause) -> None:
    """A player who claims at another moment than the clause gives for it finds nothing but a dismissal listed, unless
    somebody has claimed in time, or the case was found without it (CN2002 16.2, 22.5, 22.7)."""
    if act.player not in SEATS or _is_moment(table, clause.during, act.player, case.told.side):
        if When.OUTSIDE_MOMENT in case.facts:
            case.facts.remove(When.OUTSIDE_MOMENT)
        return
    act.find(clause.id, pb.FINDING_KIND_OUTSIDE_MOMENT, side=act.player)
    if not (case.told.claims or case.told.findings):
        case.facts.append(When.OUTSIDE_MOMENT)


def _is_moment(table: Table, moment: Moment, claimant: Colour, side: Colour) -> bool:
    """Whether it is the moment for a claim on ``side``."""
    works = table.clockwork
    if moment == Moment.OWN_TIME:
        return table.turn == claimant
    if moment == Moment.OPPONENT_TIME:
        return table.turn != claimant
    if moment == Moment.COUNT:
        return works is None or side not in SEATS or works.is_counted(side)
    return moment == Moment.ANY or table.phase == pb.PHASE_DEAD_STONES


def consent_given(table: Table, act: Act) -> Table | None:
    """A player's word to a proposal in a case; where the opponent's consent settles the clause, it does at once."""
    if not act.fact.case_id and timing.confirm_record(table, act):
        return None
    case = table.cases.get(act.fact.case_id)
    if case is None or act.player not in SEATS:
        act.find(table.cite("16.3"), pb.FINDING_KIND_NOT_ENTITLED, side=act.player, ref=act.fact.case_id)
        return None
    before = [consent for consent in case.told.consents if consent.by != act.player]
    del case.told.consents[:]
    case.told.consents.extend(before)
    case.told.consents.add(by=act.player, proposal=act.fact.proposal, accept=act.fact.accept)
    act.touch(case)
    for key in case.keys if not act.by_hand else ():
        clause = table.edition.clause(key)
        if clause.consent == Consent.OPPONENT and docket.is_agreed(case, clause):
            return settle_by_agreement(table, case, clause, act)
    return None
