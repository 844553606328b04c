"""Rulings (rules 0.6, 7.3): one decision of a person in a role, checked, then applied whole or not at all.

A ruling that cannot be applied is REFUSED with what would be allowed; it changes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from caipan.rules import docket
from caipan.rules.act import Act
from caipan.rules.clauses import Clause, Offer
from caipan.rules.enact import CannotApplyError, Enactment, run_clock
from caipan.rules.ending import count_board
from caipan.rules.losing import derive_loss
from caipan.rules.officials import decides_as
from caipan.rules.points import BLACK, SEATS, WHITE, Colour
from caipan.rules.ruling_effects import IncompleteError, effects_of
from caipan.rules.table import Table
from caipan.rules.table_memory import copy_table
from caipan.rules.taking_back import decided_by, take_back
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.checkpoint_pb2 import CaseMemory
from caipan.v1.common_pb2 import COLOR_UNSPECIFIED, ROLE_ARBITER, ROLE_CHIEF, ROLE_COMMITTEE
from caipan.v1.regulations_pb2 import WHEN_TO_INTERVENE_OFFENDER_ON_TURN
from caipan.v1.rulings_pb2 import RESULT_KIND_B_WIN, RESULT_KIND_W_WIN, AppealDecided, Effect, RulingDecided

_SIDES = {BLACK: "Black", WHITE: "White"}
_OF_CHIEF = {"sanction", "assign_points"}  # whatever the option (rules 0.5)
_EVENT_LEVEL = {"sanction", "dismiss"}  # what may reach a final game, in the standings only (CN2002 16.4, 23.1)


class RefusedError(Exception):
    """A ruling that is not applied: status STALE or REFUSED, and what would be allowed; ``decided_by``: the ruling that
    has decided the same act before."""

    def __init__(self, reason: str, status: pb.Status.ValueType = pb.STATUS_REFUSED, decided_by: str = "") -> None:
        super().__init__(reason)
        self.status = status
        self.decided_by = decided_by


class Decision(NamedTuple):
    """A ruling that may be applied: the case, the clause and option it decides it by, all that follows."""

    case: CaseMemory
    clause: Clause
    offer: Offer
    effects: list[Effect]


def ruling_decided(table: Table, act: Act) -> Table:
    """The table after a ruling; the same one where it is refused."""
    try:
        if _is_clock_alone(act.fact):
            return _set_clock_running(table, act)
        with act.whole():
            base = _reopened(table, act) if act.fact.supersedes and act.fact.from_here else table
            ruled = enact(base, decide(base, act), act)
        if base is not table:
            act.tell(ledger=pb.Ledger(penalties=ruled.ledger.penalties))
    except RefusedError as error:
        act.refuse(error.status, str(error))
        if error.decided_by:
            act.tell(decided_by=error.decided_by)
        return table
    except (CannotApplyError, IncompleteError) as error:
        act.refuse(pb.STATUS_REFUSED, str(error))
        return table
    return ruled


def appeal_decided(table: Table, act: Act) -> None:
    """CONFIRM leaves the ruling as it is; what another decision of the committee does to a game is not judged here yet
    (CN2002 33)."""
    if act.event.by.role != ROLE_COMMITTEE:
        act.refuse(pb.STATUS_REFUSED, f"the committee decides appeals ({table.cite('33')})")
    elif act.fact.option != AppealDecided.OPTION_CONFIRM:
        act.refuse(
            pb.STATUS_REFUSED,
            "option: anything but CONFIRM is on record without effect on this game; let the chief supersede the ruling"
            " by what the committee decided, before the result is final",
        )


def _is_clock_alone(said: RulingDecided) -> bool:
    """Whether an arbiter stops or starts a clock and does nothing else (rules 3.12)."""
    names = [effect.WhichOneof("effect") for effect in said.effects]
    return names == ["clock"] and not (said.case_id or said.clause or said.option)


def _set_clock_running(table: Table, act: Act) -> Table:
    """It needs no case, clause or option. Raises RefusedError, CannotApplyError."""
    if (why := decides_as(table, act.event.by, act.fact.role, ROLE_ARBITER)) is not None:
        raise RefusedError(why)
    effects = list(act.fact.effects)
    run_clock(table, effects[0].clock)
    act.tell(effects=effects)
    return table


def decide(table: Table, act: Act) -> Decision:
    """What a ruling decides, checked. Raises RefusedError, IncompleteError."""
    said: RulingDecided = act.fact
    case = _superseded_case(table, act) if said.supersedes else _find_case(table, act, said)
    is_seen = said.HasField("case_revision") and said.case_id and not said.supersedes
    if is_seen and said.case_revision >= act.seq:
        raise RefusedError(
            f"case_revision: there is no outcome {said.case_revision} yet; name the last one you have seen"
        )
    if is_seen and docket.is_stale(table, case, said.case_revision):
        raise RefusedError(
            f"case_revision: case {case.told.case_id}, or what it is about, has changed since; look at it again",
            pb.STATUS_STALE,
        )
    key, offer = _offer(table, case, said)
    clause = table.edition.clause(key)
    if not act.in_place and (why := _why_not_role(table, act, clause, offer)) is not None:
        raise RefusedError(why)
    if case.told.side in SEATS and said.against in SEATS and said.against != case.told.side:
        raise RefusedError(f"against: case {case.told.case_id} is about {_SIDES[case.told.side]}, leave it out")
    if case.told.side not in SEATS and said.against in SEATS:
        found = CaseMemory()
        found.CopyFrom(case)
        found.told.side, case = said.against, found
    effects = effects_of(table, case, offer.option, said.effects)
    if table.phase == pb.PHASE_FINAL and any(effect.WhichOneof("effect") not in _EVENT_LEVEL for effect in effects):
        raise RefusedError(f"the result is final and cannot be changed ({table.cite('16.4')})")
    return Decision(case, clause, offer, effects)


def _why_not_role(table: Table, act: Act, clause: Clause, offer: Offer) -> str | None:
    """Why the person may not take this option; None where nothing is wrong."""
    needed = table.edition.required_role(clause.key, offer, table.regulations)
    if offer.option.free and any(effect.WhichOneof("effect") in _OF_CHIEF for effect in act.fact.effects):
        needed = ROLE_CHIEF
    why = decides_as(table, act.event.by, act.fact.role, needed)
    return f"{why} ({clause.id}, {offer.name})" if why is not None else None


def why_not_decide(table: Table, act: Act, judged: pb.Verdict) -> str | None:
    """Why the person may not decide what ``judged``, the verdict on the ruling in the place of another, says: the roles
    are those held now, not those of that time."""
    for told in judged.cases:
        if told.option and told.decided_by == act.event_id:
            clause = table.edition.clause(told.key)
            offer = next(each for each in clause.options if each.name == told.option)
            return _why_not_role(table, act, clause, offer)
    return None


def _reopened(table: Table, act: Act) -> Table:
    """A copy of the table without what the superseded ruling left in ledger and result; the board stays as it is.

    Raises RefusedError.
    """
    if not act.in_place and (why := why_not_supersede(table, act)) is not None:
        raise RefusedError(why)
    named, copy = act.fact.supersedes, copy_table(table)
    case = decided_by(copy, named, act.fact.case_id)
    if case is None:
        raise RefusedError(f"supersedes: no ruling {named!r} is in force in this game")
    take_back(copy, case, act)
    return copy


def is_superseding(act: Act) -> bool:
    """Whether a ruling has the game judged again with it in the place of another; not once it is there."""
    said: RulingDecided = act.fact
    return bool(said.supersedes) and not said.from_here and not act.in_place


def why_not_supersede(table: Table, act: Act) -> str | None:
    """Why a person may not supersede a ruling: that is the chief's, before the result is final (CN2002 16.4)."""
    if table.phase == pb.PHASE_FINAL:
        return f"the result is final and cannot be changed ({table.cite('16.4')})"
    return decides_as(table, act.event.by, act.fact.role, ROLE_CHIEF)


def _find_case(table: Table, act: Act, said: RulingDecided) -> CaseMemory:
    """The case that is decided; without one named, that of the same clause and side, or one of the arbiter's own."""
    if said.case_id:
        case = table.cases.get(said.case_id)
        if case is not None:
            return case
        closed = next((case for case in table.closed if case.told.case_id == said.case_id), None)
        if closed is not None:
            ruling = closed.told.decided_by
            by = f"by ruling {ruling!r}: supersede that" if ruling else "without one"
            raise RefusedError(f"case_id: case {said.case_id} is closed {by}", decided_by=ruling)
        known = ", ".join(table.cases) or "none is open"
        raise RefusedError(f"case_id: this game has no case {said.case_id!r} ({known})")
    clauses = _named(table, said.clause)
    side = _side(said)
    keys = {clause.key for clause in clauses}
    for decided in table.closed:
        is_same = decided.key and docket.seat_of(decided) == side and {*said.refs} & {*decided.told.refs}
        if is_same and keys & {*decided.keys, decided.key}:
            by = decided.told.decided_by
            raise RefusedError(f"refs: that act was decided by ruling {by!r}: one act, one ruling", decided_by=by)
    for case in table.cases.values():
        if case.told.side == side and keys & {*case.keys} and (not said.refs or {*said.refs} & {*case.told.refs}):
            return case
    case = CaseMemory(keys=[clause.key for clause in clauses])
    case.told.side = side
    case.told.move = table.history.length
    case.told.refs.extend(said.refs)
    case.told.opened_at_ms = act.at_ms
    return case


def _superseded_case(table: Table, act: Act) -> CaseMemory:
    """The case of a superseding ruling: the one reopened for it, or open where it stands in the place of another."""
    said: RulingDecided = act.fact
    for case in table.cases.values():
        if said.case_id == case.told.case_id or (said.from_here and case.told.decided_by == said.supersedes):
            return case
    own = RulingDecided()
    own.CopyFrom(said)
    own.supersedes = ""
    return _find_case(table, act, own)


def _side(said: RulingDecided) -> Colour:
    """Whom a ruling without a case is about: as it says, else as its effects do; 0 = nobody alone."""
    if said.against in SEATS:
        return said.against
    sides: set[Colour] = set()
    for effect in said.effects:
        name = effect.WhichOneof("effect") or ""
        if name in ("warn", "admonish", "pass"):
            sides.add(getattr(effect, name).player)
        elif name == "result" and effect.result.kind in (RESULT_KIND_B_WIN, RESULT_KIND_W_WIN):
            sides.add(WHITE if effect.result.kind == RESULT_KIND_B_WIN else BLACK)
    return sides.pop() if len(sides) == 1 else COLOR_UNSPECIFIED


def _named(table: Table, clause: str) -> tuple[Clause, ...]:
    """The clauses a ruling may mean: by key, or by id all its matters. Raises RefusedError."""
    edition = table.edition
    if not clause:
        raise RefusedError("clause: missing; name one, e.g. " + edition.cite("17.2"))
    found = (edition.clauses[clause],) if clause in edition.clauses else edition.cited(clause)
    ruled = tuple(each for each in found if each.options)
    if not found:
        raise RefusedError(f"clause: {edition.id} has no clause {clause!r}")
    if not ruled:
        raise RefusedError(f"clause: under {clause} nothing is ruled; see {', '.join(found[0].see) or 'another one'}")
    return ruled


def _offer(table: Table, case: CaseMemory, said: RulingDecided) -> tuple[str, Offer]:
    """The clause, by key, and the option that the ruling takes. Raises RefusedError with what is listed."""
    edition = table.edition
    clauses = [edition.clause(key) for key in case.keys]
    keys = [clause.key for clause in clauses if said.clause in ("", clause.key, clause.id)]
    if not keys:  # what the person finds may bring another matter of it: on purpose, or by a player (CN2002 17.5, 17.6)
        others = [edition.topics[key] for clause in clauses for key in clause.see if key in edition.topics]
        keys = [key for key in others if said.clause == key and edition.clauses[key].options]
    if not keys:
        allowed = ", ".join(dict.fromkeys(clause.id for clause in clauses))
        raise RefusedError(f"clause: case {case.told.case_id} is about {allowed}, not {said.clause!r}")
    offers = [(key, offer) for key in keys for offer in docket.listed(table, case, key, said.refs, not said.case_id)]
    for key, offer in offers:
        if offer.name == said.option:
            return key, offer
    names = ", ".join(dict.fromkeys(offer.name for _, offer in offers))
    raise RefusedError(f"option: {said.option!r} is not listed here; {names}")


def enact(table: Table, decision: Decision, act: Act) -> Table:
    """A copy of the table with all effects applied, the case closed, and what follows by itself derived.

    Raises CannotApplyError.
    """
    case, clause, offer, effects = decision
    ruled = copy_table(table)
    if case.told.case_id:
        side, case = case.told.side, ruled.cases[case.told.case_id]
        case.told.side = side
    else:
        own = docket.open_case(ruled, act, case.told.side, 0, case.keys)
        own.told.refs.extend(ref for ref in case.told.refs if ref not in own.told.refs)
        case = own
    Enactment(ruled, case, clause, act.ruling_id, act).apply(effects)
    case.key, case.told.clause, case.told.option = clause.key, clause.id, offer.name
    del case.told.effects[:]
    case.told.effects.extend(effects)
    docket.close(ruled, case, pb.CASE_STATUS_DECIDED, act.ruling_id)
    act.touch(case)
    act.tell(effects=[*(act.extra or {}).get("effects", ()), *effects])  # the service may rule twice in one act
    _find_outside_moment(table, decision, act)
    if ruled.result is not None and ruled.result.how == pb.RESULT_HOW_COUNT and ruled.phase != pb.PHASE_FINAL:
        count_board(ruled)
    if ruled.ledger.penalties != table.ledger.penalties:
        act.tell(ledger=pb.Ledger(penalties=ruled.ledger.penalties))
    derive_loss(ruled, table.ledger, act)
    return ruled


def _find_outside_moment(table: Table, decision: Decision, act: Act) -> None:
    """Some events let the arbiter step in only while the offender is on turn; another ruling stands, flagged."""
    side = decision.case.told.side
    if table.regulations.when_to_intervene == WHEN_TO_INTERVENE_OFFENDER_ON_TURN and side not in (0, table.turn):
        act.find("REG when_to_intervene", pb.FINDING_KIND_OUTSIDE_MOMENT, side=side)
