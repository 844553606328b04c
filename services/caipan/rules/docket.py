"""The cases of a game (rules 0.6): what is found or claimed opens one, what is one act joins it, its clauses say what
it lists. A case decides nothing and holds nothing up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import count, product
from typing import Any

from caipan.rules.act import Act
from caipan.rules.clauses import Anchor, Clause, Consent, Offer, Option, Raiser, When
from caipan.rules.edition import Edition
from caipan.rules.keys import names_of
from caipan.rules.points import SEATS, Colour, other
from caipan.rules.table import Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.checkpoint_pb2 import CaseMemory
from caipan.v1.common_pb2 import COLOR_UNSPECIFIED
from caipan.v1.regulations_pb2 import REPEAT_SCOPE_GAME
from caipan.v1.rulings_pb2 import Interruption

OPEN_MOST = 64  # cases at once; what comes then is on record without a case of its own
CLAIMED_MOST = 48  # of them by claims, so that nobody's claims leave no room for what is found
TOLD_MOST = 32  # refs, findings and claims of a case

_SUFFIXES = "bcdefghijklmnopqrstuvwxyz"  # of the second and later cases of one event
_LASTING = (pb.FINDING_KIND_OVERTIME, pb.FINDING_KIND_FAULTY_CLOCK)
_CLOCK_ERROR = "clock_error_s_per_h"  # a limit against the arbiter's watch (CN2002 22.8)

_BY_ARBITER = frozenset((Raiser.ARBITER, Raiser.ANYONE))
_FINDINGS = names_of(pb.FindingKind.DESCRIPTOR)


def opened_by_finding(edition: Edition, kind: pb.FindingKind.ValueType) -> tuple[str, ...]:
    """Of which clauses a finding opens a case, by key."""
    return edition.opened_by("findings", _FINDINGS.get(kind, ""))


def standing(table: Table) -> tuple[Any, ...]:
    """What cases are about: board, turn, stage, ledger, result. Another value makes a ruling on an older one STALE."""
    refs = tuple(stone.ref for stone in table.provisional)
    return (table.history.digest, table.turn, refs, table.phase, len(table.ledger.penalties), str(table.result))


def settle(table: Table, act: Act, before: tuple[Any, ...] | None) -> None:
    """Opens cases by what was found, and notes where something has changed that cases are about.

    ``before``: ``standing`` before the act, None where no case was open. Cases that list something else once a player
    has moved are told again, the others are not: play goes on, and their revision is known to whoever follows it.
    """
    for case in open_by_findings(table, act):
        act.touch(case)
    if before is not None and before != standing(table):
        table.changed_seq = act.seq
        by_moves = _listing_by_moves(table.edition)
        for case in table.cases.values():
            if not by_moves.isdisjoint(case.keys):
                act.touch(case)
    for case in act.cases:
        case.told.revision = act.seq


@cache
def _listing_by_moves(edition: Edition) -> frozenset[str]:
    """The clauses that list other options once the opponent has moved."""
    by_moves = {When.ANSWERED, When.UNANSWERED}
    return frozenset(
        key for key, clause in edition.clauses.items() if any(offer.when & by_moves for offer in clause.options)
    )


def is_stale(table: Table, case: CaseMemory, seen_seq: int) -> bool:
    """Whether the case, or what it is about, has changed since the outcome ``seen_seq``."""
    return max(case.told.revision, table.changed_seq) > seen_seq


def tell_changes(before: Table, after: Table, act: Act) -> None:
    """What became of the cases in ``after``, a history judged again: those that read otherwise are told.

    One that is gone rested on a slip of the record alone (rules 0.6).
    """
    was = {case.told.case_id: case for case in (*before.closed, *before.cases.values())}
    now = {case.told.case_id: case for case in (*after.closed, *after.cases.values())}
    if standing(before) != standing(after):
        after.changed_seq = act.seq
    for case_id, case in was.items():
        if case_id not in now:
            gone = CaseMemory(told=case.told)
            gone.told.status, gone.told.revision = pb.CASE_STATUS_RECORD_ERROR, act.seq
            act.touch(gone)
    for case_id, case in now.items():
        if case != was.get(case_id):
            case.told.revision = act.seq
            act.touch(case)


def open_by_findings(table: Table, act: Act) -> list[CaseMemory]:
    """The cases that this event's findings open or join."""
    touched = []
    for finding in act.findings:
        keys = _keys(table, finding)
        if keys and not any(finding in case.told.findings for case in act.cases):
            case = _claimed(table, act, finding, keys) or find_or_open(table, act, finding, keys)
            if case is not None:
                if len(case.told.findings) < TOLD_MOST:
                    case.told.findings.append(finding)
                    case.black_ms, case.white_ms = _amounts(case, finding)
                touched.append(case)
    return touched


def _keys(table: Table, finding: pb.Finding) -> Sequence[str]:
    """The clauses of a finding; overtime is that of the game's time system alone."""
    if finding.kind == pb.FINDING_KIND_OVERTIME and table.clockwork is not None:
        return (table.clockwork.overtime.key,)
    return opened_by_finding(table.edition, finding.kind)


def _claimed(table: Table, act: Act, finding: pb.Finding, keys: Sequence[str]) -> CaseMemory | None:
    """The open case of what lasts: overtime that was claimed before it was found, a clock that is still faulty."""
    if finding.kind not in _LASTING:
        return None
    for case in table.cases.values():
        found = any(each.kind == pb.FINDING_KIND_OVERTIME for each in case.told.findings)
        if case.told.side == finding.side and {*keys} & {*case.keys} and not found:
            extend(case, act, ())
            return case
    return None


def _amounts(case: CaseMemory, finding: pb.Finding) -> tuple[int, int]:
    if not finding.over_ms or finding.side not in SEATS:
        return case.black_ms, case.white_ms
    return (finding.over_ms, case.white_ms) if finding.side == SEATS[0] else (case.black_ms, finding.over_ms)


def find_or_open(table: Table, act: Act, finding: pb.Finding, keys: Sequence[str]) -> CaseMemory | None:
    """The case of this act, which is one side's doing at one move: one act, one case, and so one warning (R9). What is
    found once that is decided is another act. None where too many cases are open."""
    side, move = finding.side, finding.move
    for case in table.cases.values():
        if move and case.told.side == side and case.move == move:
            extend(case, act, keys)
            return case
    return open_if_room(table, act, side, move, keys)


def open_if_room(table: Table, act: Act, side: Colour, move: int, keys: Sequence[str]) -> CaseMemory | None:
    """A new case, told by the act; None where there is no clause for it, or too many are open (finding)."""
    if not keys:
        return None
    if len(table.cases) >= (CLAIMED_MOST if act.kind == "claim_raised" else OPEN_MOST):
        act.find("REG order", pb.FINDING_KIND_TOO_MANY_CASES, side=side)
        return None
    case = open_case(table, act, side, move, keys)
    act.touch(case)
    return case


def open_case(table: Table, act: Act, side: Colour, move: int, keys: Sequence[str]) -> CaseMemory:
    """A new case; ``move``: the number of the move it is about, 0 for none."""
    case = CaseMemory(keys=keys, move=move)
    told = case.told
    told.case_id = _case_id(table, act.seq)
    told.status = pb.CASE_STATUS_OPEN
    told.side = side if side in SEATS else COLOR_UNSPECIFIED
    told.refs.append(act.event_id)
    told.move = table.history.length
    told.opened_at_ms = act.at_ms
    told.interrupted.CopyFrom(interruption(table))
    stone = next((stone for stone in table.provisional if stone.ref == act.event_id), None)
    if stone is not None:
        case.stone, case.point, case.instead_of = stone.ref, stone.index + 1, stone.instead_of + 1
        case.instead_captured = b"".join(index.to_bytes(2, "big") for index in stone.instead_captured)
    table.cases[told.case_id] = case
    return case


def leave_undecided(table: Table, act: Act, side: Colour, clause: str, key: str) -> None:
    """Two sources are too close together to tell (R56): a finding under ``clause``, a case of ``key``, nothing more."""
    finding = pb.Finding(clause=clause, kind=pb.FINDING_KIND_UNDECIDABLE_ORDER, side=side)
    act.findings = [*act.findings, finding]
    case = open_if_room(table, act, side, 0, [key])
    if case is not None:
        case.told.findings.append(finding)


def interruption(table: Table) -> Interruption:
    """Whose turn it is, and the times used."""
    if table.clockwork is None:
        return Interruption(turn=table.turn)
    _, black, white = table.clockwork.clocks
    return Interruption(turn=table.turn, black_ms=black.used_ms, white_ms=white.used_ms)


def _case_id(table: Table, seq: int) -> str:
    """The number of the event; where several cases come from one, letters after it, as many as it takes."""
    taken = table.cases.keys() | {case.told.case_id for case in table.closed}
    suffixes = (letters for length in count() for letters in product(_SUFFIXES, repeat=length))
    return next(name for name in (f"{seq}{''.join(letters)}" for letters in suffixes) if name not in taken)


def extend(case: CaseMemory, act: Act, keys: Iterable[str]) -> None:
    """The act belongs to the case, which may be decided by these clauses too."""
    case.keys.extend(key for key in keys if key not in case.keys)
    if act.event_id not in case.told.refs and len(case.told.refs) < TOLD_MOST:
        case.told.refs.append(act.event_id)


def keep_decisive(table: Table, case: CaseMemory) -> None:
    """Clauses under which the case can only be dismissed say nothing where another one decides it."""
    keys = [key for key in case.keys if any(not offer.option.dismisses for offer in listed(table, case, key))]
    if keys:
        case.keys[:] = keys


# What a case lists


def listed(
    table: Table, case: CaseMemory, key: str, refs: Sequence[str] = (), own_motion: bool = False
) -> tuple[Offer, ...]:
    """What a case lists under one of its clauses. ``refs``: earlier rulings of the event that a ruling names.
    ``own_motion``: an arbiter acts, where he may, whatever was claimed too late (rules 0.7).

    Where only the opponent may raise a clause, nothing but a dismissal is listed before he does (CN2002 17.3), or where
    it was claimed at the wrong moment.
    """
    clause = table.edition.clause(key)
    by_arbiter = not _BY_ARBITER.isdisjoint(clause.raised_by)
    offers = clause.listed(holding(table, case, clause, refs, own_motion and by_arbiter), table.regulations)
    may_be_raised = by_arbiter or case.told.claims
    if may_be_raised and When.OUTSIDE_MOMENT not in case.facts:
        return offers
    return tuple(offer for offer in offers if offer.option.dismisses)


def holding(
    table: Table, case: CaseMemory, clause: Clause, refs: Sequence[str] = (), own_motion: bool = False
) -> set[str]:
    """What holds of a case under a clause, as values of When."""
    told, opponent = case.told, other(case.told.side)
    facts: set[str] = set(case.facts)
    claims = [] if own_motion else told.claims
    if all(claim.late for claim in claims) and (claims or _is_out_of_time(table, case, clause)):
        facts.add(When.LATE)
    facts.add(When.ANSWERED if table.history.moves_of(opponent, told.move) else When.UNANSWERED)
    facts.add(When.AGREED if is_agreed(case, clause) else When.NOT_AGREED)
    facts.add(_offence(table, case, clause, refs))
    facts.update((When.RECONSTRUCTED, When.LOST))  # which of them is the arbiter's finding
    if table.clockwork is not None:
        facts.add(When.RECORDED if table.clockwork.is_recorded else When.NOT_RECORDED)
    return facts | _against_limit(table, case, clause)


def _offence(table: Table, case: CaseMemory, clause: Clause, refs: Sequence[str]) -> When:
    """The how-manieth offence it is under a clause. A ruling names earlier ones of the event; the acts of this game are
    none, and the event does not count where the regulations say so (key repeat_scope)."""
    decided = [each for each in table.closed if seat_of(each) == case.told.side and each.key == clause.key]
    if any(not option_of(table, each).dismisses for each in decided if each.told.option):
        return When.AGAIN_IN_GAME
    own = {*case.told.refs, *(each.told.decided_by for each in table.closed)}
    is_counted = table.regulations.repeat_scope != REPEAT_SCOPE_GAME
    return When.AGAIN_IN_EVENT if is_counted and {*refs} - own else When.FIRST


def _is_out_of_time(table: Table, case: CaseMemory, clause: Clause) -> bool:
    """Whether even an arbiter comes too late: a window that ends with a move of the game is one of the correction
    (CN2002 17.1)."""
    window = table.edition.window(clause.key, table.regulations)
    return window is not None and window.ends == Anchor.MOVE_NUMBER and case.told.move > window.count


def _against_limit(table: Table, case: CaseMemory, clause: Clause) -> set[str]:
    """How a case stands to the limit of its clause; where nothing was measured, or the event has set no limit, whoever
    decides finds it."""
    limit, amounts = clause.limit, [ms for ms in (case.black_ms, case.white_ms) if ms]
    if limit is None:
        return set()
    if limit.key == _CLOCK_ERROR and table.clockwork is not None and (wrong := table.clockwork.is_faulty()) is not None:
        return {When.OVER_LIMIT if wrong else When.WITHIN_LIMIT}
    if limit.times:
        granted = [past for past in table.closed if past.key == clause.key and seat_of(past) == case.told.side]
        used = sum(not option_of(table, past).dismisses for past in granted if past.told.option)
        return {When.OVER_LIMIT if used >= limit.times else When.WITHIN_LIMIT}
    if not amounts or (limit.key and not table.regulations.HasField(limit.key)):  # type: ignore[arg-type]  # its field
        return {When.WITHIN_LIMIT, When.OVER_LIMIT}
    limit_ms = 1000 * (limit.seconds or getattr(table.regulations, limit.key))
    inclusive = table.regulations.late_limit_inclusive
    is_over = [ms > limit_ms or (ms == limit_ms and not inclusive) for ms in amounts]
    return {When.OVER_LIMIT if all(is_over) else When.WITHIN_LIMIT}


def seat_of(closed: CaseMemory) -> Colour:
    """Which side the person whom a closed case was about has now."""
    return other(closed.told.side) if closed.told.seats_changed and closed.told.side in SEATS else closed.told.side


def option_of(table: Table, case: CaseMemory) -> Option:
    """The option that decided a closed case."""
    offers = table.edition.clause(case.key).options
    return next(offer.option for offer in offers if offer.name == case.told.option)


def is_agreed(case: CaseMemory, clause: Clause) -> bool:
    """Whether those whose consent the clause asks for have given it, to the same proposal."""
    accepted = {consent.by: consent.proposal for consent in case.told.consents if consent.accept}
    if clause.consent == Consent.OPPONENT:
        return other(case.told.side) in accepted
    return clause.consent == Consent.BOTH and len(accepted) == len(SEATS) and len(set(accepted.values())) == 1


def is_late(table: Table, clause: Clause, claimant: Colour, move: int) -> bool:
    """Whether a claim that a side raises now, on what happened when ``move`` moves had been made, comes too late."""
    window = table.edition.window(clause.key, table.regulations)
    if window is None or window.ends == Anchor.NEVER:
        return False
    if window.ends == Anchor.BOTH_SIGNED:
        return table.signed >= frozenset(SEATS)
    if window.ends == Anchor.FIRST_SIGNATURE:
        return bool(table.signed)
    if table.phase > pb.PHASE_PAUSED:
        return True
    if window.ends == Anchor.MOVE_NUMBER:
        return table.history.length > window.count
    if window.ends in (Anchor.OWN_MOVE, Anchor.OWN_STONE) and claimant:
        return table.history.moves_of(claimant, move, window.ends == Anchor.OWN_STONE) >= window.count
    return False


def tell(table: Table, case: CaseMemory) -> pb.Case:
    """The case as a verdict tells it: with what it lists now, while it is open."""
    told = pb.Case()
    told.CopyFrom(case.told)
    told.key = case.key
    if told.status == pb.CASE_STATUS_OPEN:
        for key in case.keys:
            told.candidates.append(candidate(table, case, key))
        told.window = table.edition.clause(case.keys[0]).until if case.keys else ""
    return told


def candidate(table: Table, case: CaseMemory, key: str) -> pb.Candidate:
    """A clause of the case with what it lists."""
    edition, regulations = table.edition, table.regulations
    options = [
        pb.ListedOption(name=offer.name, required_role=edition.required_role(key, offer, regulations))
        for offer in listed(table, case, key)
    ]
    return pb.Candidate(clause=edition.clause(key).id, key=key, options=options)


def close(table: Table, case: CaseMemory, status: pb.CaseStatus.ValueType, decided_by: str = "") -> None:
    """The case is open no longer."""
    case.told.status = status
    case.told.decided_by = decided_by
    table.cases.pop(case.told.case_id, None)
    table.keep_closed([*table.closed, case])
