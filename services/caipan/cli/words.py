"""Verdicts in words: findings as sentences with their clause and its titles, outcomes as one line each."""

from __future__ import annotations

from datetime import datetime, timedelta

from caipan.cli.console import printable
from caipan.rules.edition import edition, edition_ids
from caipan.rules.points import DEFAULT_SIZE
from caipan.v1.common_pb2 import COLOR_BLACK, COLOR_WHITE, Role
from caipan.v1.event_pb2 import EVENT_TYPE_CONSENT_GIVEN, EventType
from caipan.v1.outcome_pb2 import (
    CASE_STATUS_OPEN,
    PHASE_FINAL,
    RESULT_HOW_COUNT,
    STATUS_DUPLICATE,
    STATUS_FOLDED,
    STATUS_PARKED,
    Candidate,
    Case,
    CaseStatus,
    Finding,
    FindingKind,
    Phase,
    Result,
    ResultHow,
    Signatures,
    Status,
    Verdict,
)
from caipan.v1.rulings_pb2 import RESULT_KIND_B_WIN, RESULT_KIND_DRAW, RESULT_KIND_W_WIN, ResultKind

SIGNERS = ("black", "white", "arbiter")
SIDES = {COLOR_BLACK: "Black", COLOR_WHITE: "White"}

_SENTENCES = {
    "off_board": "{points} is not on this board",
    "wrong_colour": "the stone on {points} has not {side}'s colour",
    "occupied": "{side} sets a stone on {points}, where one lies",
    "out_of_turn": "{side} moves out of turn at {points}",
    "not_on_turn": "{side} is not on turn; no effect",
    "forbidden_point": "{side}'s stone on {points} has no liberty and captures nothing",
    "repetition": "{side}'s {points} makes the position after {of_move} again",
    "ko_retake": "{side} retakes the ko at {points} without a threat",
    "repetition_cycle": "{side}'s {points} closes a cycle of {cycle} moves",
    "takeback": "{side} takes the stone from {points} back",
    "dropped_stone": "{side}'s stone fell on {points}",
    "moved_stone": "{side} moved the stones {points}",
    "early_press": "{side} pressed the clock before the stone was set",
    "simultaneous_press": "{side} pressed the clock and set the stone at the same instant",
    "undecidable_order": "which came first cannot be told",
    "wrong_removal": "{points} lifted, though not captured",
    "captures_left": "captured stones left on the board: {points}",
    "no_proposal": "{side} answers, but nothing was proposed",
    "no_stone": "named dead, but no stone lies there: {points}",
    "unit_completed": "of the same unit and taken with it: {points}",
    "after_end": "{side} acts after the end; no effect",
    "count_differs": "the count for {side} differs from the derived one",
    "invalid_lot": "the lot cannot be read, or the colours were given before",
    "time_backwards": "the time lies before the game time",
    "time_jump": "the time lies too far ahead; game time does not move",
    "source_gap": "numbers {gap} of this source are missing",
    "late_in_source": "a number of this source that was given up came after all",
    "id_conflict": "the event_id {ref} stands for another event; no effect",
    "already_opened": "the game was opened before; no effect",
    "passes_do_not_end": "two passes do not end a game here",
    "invalid_setup": "set-up stones that cannot stand were left out: {points}",
    "not_ended": "{side} names dead stones before the end",
    "scattered_board": "the stones lie scattered",
    "late_arrival": "{side} is late by {over}",
    "boundary": "{side} has reached the limit exactly and not exceeded it",
    "other_hand": "{side} pressed the clock with the other hand",
    "press_before_removal": "{side} pressed the clock before all captures were off",
    "talk_too_long": "{side}'s talk was {over} longer than normally permitted",
    "late_claim": "{side}'s claim under {ref} comes too late",
    "wait_for_own_turn": "{side}'s complaint waits for the own thinking time",
    "clause_unknown": "the edition of this game has no clause {ref}; nothing follows",
    "not_entitled": "{side} may not raise that, or names nothing open ({ref}); nothing follows",
    "seal_occupied": "{side}'s sealed point {points} is occupied",
    "seal_mismatch": "what was opened, {points}, is not what was sealed",
    "prisoners_astray": "{side} did not keep captured stones in the lid",
    "slid_stone": "{side}'s stone slid to {points}",
    "nothing_to_sign": "there is no result to sign or to check again",
    "outside_moment": "the ruling was given while {side} was not on turn; it stands",
    "overtime": "{side} has exceeded the time limit, by {over}",
    "already_decided": "a claim on what ruling {ref} has decided; the chief may supersede that",
    "too_many_cases": "too many cases are open for another one; decide some, then report this again",
    "faulty_clock": "the times used, added up, are {over} off the arbiter's watch",
    "both_at_limit": "the warning that loses the game came to both at once",
}


def time_of(at_ms: int) -> str:
    """The time of day on this machine: 10:31:05."""
    return f"{datetime.fromtimestamp(at_ms / 1000).astimezone():%H:%M:%S}"


def date_of(at_ms: int) -> str:
    """The same with its day: 2026-05-04 10:31:05."""
    return f"{datetime.fromtimestamp(at_ms / 1000).astimezone():%Y-%m-%d %H:%M:%S}"


def name_of(enum: str, prefix: str) -> str:
    """A value of a proto enum in snake_case without its prefix: ``("STATUS_FOLDED", "STATUS_")`` is "folded"."""
    return enum.removeprefix(prefix).lower()


def kind_of(finding: Finding) -> str:
    """The kind of a finding in snake_case, e.g. "ko_retake"; a kind this version does not know by its number."""
    if finding.kind not in FindingKind.values():
        return f"kind_{finding.kind}"
    return name_of(FindingKind.Name(finding.kind), "FINDING_KIND_")


def title_of(clause: str) -> str:
    """The titles of a clause, Chinese and English; "" for what stands in no edition (`REG ...`, `S0 H`)."""
    edition_id = clause.partition(" ")[0]
    if edition_id not in edition_ids():
        return ""
    found = edition(edition_id).clauses.get(clause)
    return f"{found.zh} {found.en}" if found else ""


def sentence_of(finding: Finding, of_move: int | None = None) -> str:
    """What was found, with its clause: "White's D5 makes ... again (CN2002 6 禁止全局同形 ...)".

    ``of_move``: the number to say for the first occurrence of a position, if not the fold's own.
    """
    first = finding.of_move if of_move is None else of_move
    kind = kind_of(finding)
    said = _SENTENCES.get(kind, kind.replace("_", " ")).format(
        side=SIDES.get(finding.side, "a player"),
        points=" ".join(finding.points),
        of_move=f"move {first}" if first else "the set-up",
        cycle=finding.cycle,
        gap=f"{finding.gap_from} to {finding.gap_to}",
        ref=finding.ref,
        over=timedelta(milliseconds=finding.over_ms),
    )
    return printable(f"{said} ({f'{finding.clause} {title_of(finding.clause)}'.strip()})")


def amount_of(qz: int, unit: str = "zi") -> str:
    """Quarter-zi as a decimal number of ``unit``: "zi", or "mu" (two to the zi)."""
    return f"{qz / (2 if unit == 'mu' else 4):.2f}".rstrip("0").rstrip(".")


def unit_of(result: Result) -> str:
    """In what a count is told: zi, or mu where points were counted."""
    return "mu" if result.in_mu else "zi"


def result_of(result: Result) -> str:
    """A result in words, a count in the unit of its edition."""
    if result.kind == RESULT_KIND_DRAW:
        said = "a draw"
    elif result.kind in (RESULT_KIND_B_WIN, RESULT_KIND_W_WIN):
        winner = "Black" if result.kind == RESULT_KIND_B_WIN else "White"
        unit = unit_of(result)
        by = f"{amount_of(abs(result.margin_qz), unit)} {unit}" if result.how == RESULT_HOW_COUNT else _how(result)
        said = f"{winner} wins by {by}"
    else:
        said = name_of(ResultKind.Name(result.kind), "RESULT_KIND_").replace("_", " ")
    return f"{said} ({_count_of(result)})" if result.how == RESULT_HOW_COUNT else said


def _count_of(result: Result) -> str:
    """What was counted, and what else the margin is made of."""
    unit = unit_of(result)
    parts = [f"Black {amount_of(result.black_qz, unit)} {unit}", f"White {amount_of(result.white_qz, unit)}"]
    if result.black_groups or result.white_groups:
        parts.append(f"groups {result.black_groups} to {result.white_groups}")
    if result.komi_qz:
        parts.append(f"komi {amount_of(result.komi_qz, unit)}")
    if result.penalty_qz:
        giver = "Black" if result.penalty_qz > 0 else "White"
        parts.append(f"{giver} gives {amount_of(abs(result.penalty_qz), unit)} for warnings")
    return ", ".join(parts)


def _how(result: Result) -> str:
    return name_of(ResultHow.Name(result.how), "RESULT_HOW_")


def outcome_of(verdict: Verdict) -> str:
    """One line on an outcome: its number, the event, what changed on the board, and where the game stands."""
    event = name_of(EventType.Name(verdict.event_type), "EVENT_TYPE_")
    if verdict.status in (STATUS_DUPLICATE, STATUS_PARKED):
        return f"   -  {event:<16} {_notice_of(verdict)}"
    if verdict.status != STATUS_FOLDED:
        status = name_of(Status.Name(verdict.status), "STATUS_")
        return f"{verdict.seq:>4}  {event:<16} {status}: {printable(verdict.reason)}"
    return f"{verdict.seq:>4}  {event:<16} {_changes_of(verdict):<16} {standing_of(verdict)}".rstrip()


def _notice_of(verdict: Verdict) -> str:
    if verdict.status == STATUS_PARKED:
        return f"parked: {printable(verdict.reason)}"
    return f"duplicate of {verdict.original.seq}" if verdict.original.seq else "duplicate"


def _changes_of(verdict: Verdict) -> str:
    if verdict.HasField("opened"):
        return f"{verdict.opened.size or DEFAULT_SIZE} lines"
    stones = [(verdict.added_black, "X "), (verdict.added_white, "O "), (verdict.removed, "- ")]
    return "  ".join(mark + " ".join(points) for points, mark in stones if points)


def signers_of(signed: Signatures) -> list[str]:
    """Who has signed a result."""
    return [who for who in SIGNERS if getattr(signed, who)]


def standing_of(verdict: Verdict) -> str:
    """Where the game stands after a verdict: move number and turn, or phase and result."""
    if verdict.HasField("result"):
        signed = ", ".join(signers_of(verdict.signed))
        final = "final" if verdict.phase == PHASE_FINAL else ""
        return "; ".join(filter(None, (result_of(verdict.result), signed and f"signed by {signed}", final)))
    phase = name_of(Phase.Name(verdict.phase), "PHASE_").replace("_", " ")
    if verdict.dead:
        said = [f"{SIDES[one.side]} says dead: {' '.join(one.points) or 'none'}" for one in verdict.dead]
        return "; ".join([phase, *said])
    if phase != "play":
        return phase
    if verdict.proposer:
        return f"move {verdict.move_number}, {SIDES[verdict.proposer]} proposes the end"
    open_stones = f", provisional: {' '.join(verdict.provisional)}" if verdict.provisional else ""
    return f"move {verdict.move_number}, {SIDES.get(verdict.turn, 'nobody')} to move{open_stones}"


def _is_news(verdict: Verdict, case: Case) -> bool:
    """Whether a verdict says more of a case than that play has gone on."""
    opened = case.case_id.rstrip("bcdefghijklmnopqrstuvwxyz") == str(verdict.seq)
    consents = verdict.event_type == EVENT_TYPE_CONSENT_GIVEN
    return opened or consents or case.status != CASE_STATUS_OPEN or verdict.event_id in _said_to(case)


def _said_to(case: Case) -> set[str]:
    return {*case.refs, *(claim.ref for claim in case.claims)}


def case_of(case: Case) -> str:
    """A case in one line: what it is about and what it lists, or how it was closed."""
    about = f"case {case.case_id}"
    if case.status != CASE_STATUS_OPEN:
        key = case.key or case.clause
        how = f": {printable(case.option)} under {printable(f'{key} {title_of(key)}'.strip())}" if case.option else ""
        return f"{about} {name_of(CaseStatus.Name(case.status), 'CASE_STATUS_').replace('_', ' ')}{how}"
    side = f" against {SIDES[case.side]}" if case.side in SIDES else ""
    return f"{about}{side}: {'; '.join(map(listed_of, case.candidates))}"


def listed_of(candidate: Candidate) -> str:
    """A clause of a case with what it lists, and for whom: "CN2002 17.4: WARN (arbiter), DISMISS (arbiter)"."""
    options = ", ".join(
        f"{option.name} ({name_of(Role.Name(option.required_role), 'ROLE_')})" for option in candidate.options
    )
    return f"{candidate.key}: {options}"


def details_of(verdict: Verdict) -> list[str]:
    """The further lines on an outcome: its findings, and what it changed in earlier verdicts."""
    lines = [f"! {sentence_of(finding)}" for finding in verdict.findings]
    lines += [f"? {case_of(case)}" for case in verdict.cases if _is_news(verdict, case)]
    for revision in verdict.revised:
        if not revision.HasField("after"):
            lines.append(f"~ {revision.seq} did not happen")
            continue
        found = "; ".join(sentence_of(finding) for finding in revision.after.findings)
        lines.append(f"~ {revision.seq} now reads: {found or standing_of(revision.after)}")
    return lines
