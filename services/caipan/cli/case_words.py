"""Cases, rulings and penalties in words, with the titles of their clauses and options in Chinese and English."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from caipan.cli.console import printable
from caipan.cli.effects import effect_of
from caipan.cli.words import SIDES, amount_of, date_of, listed_of, name_of, result_of, sentence_of, title_of
from caipan.rules.edition import edition, edition_ids
from caipan.v1.case_service_pb2 import Act, ComparedRuling, HallCase, HallPenalty
from caipan.v1.common_pb2 import Role
from caipan.v1.outcome_pb2 import (
    CASE_STATUS_OPEN,
    Case,
    CaseClaim,
    CaseConsent,
    CaseStatus,
    Penalty,
    PenaltyCount,
    Verdict,
)

_PENALTIES = {
    Penalty.KIND_WARNING: "a warning",
    Penalty.KIND_ADMONITION: "an admonition",
    Penalty.KIND_TURN_LOST: "a turn lost",
}


def option_title(key: str, name: str) -> str:
    """The titles of an option of the edition that a clause belongs to; "" where it has none."""
    edition_id = key.partition(" ")[0]
    option = edition(edition_id).catalogue.get(name) if edition_id in edition_ids() else None
    return f"{option.zh}  {option.en}" if option else ""


def role_of(role: Role.ValueType) -> str:
    """ "arbiter", "chief"."""
    return name_of(Role.Name(role), "ROLE_")


def case_lines(told: HallCase, earlier: Iterable[HallCase] = (), *, with_options: bool = True) -> list[str]:
    """All that an arbiter has to know of a case; ``earlier``: what was decided against the same person before."""
    return [printable(line) for line in _case_lines(told, earlier, with_options)]


def next_step(told: HallCase) -> str:
    """The command that decides a case."""
    return printable(f"  decide: caipan rule {told.game_id} {told.case.case_id}")


def _case_lines(told: HallCase, earlier: Iterable[HallCase], with_options: bool) -> Iterator[str]:
    case = told.case
    yield f"{told.game_id}  case {case.case_id}  {_about(told)}"
    if case.status != CASE_STATUS_OPEN:
        yield f"  {closed_of(told)}"
        yield from (f"    {said_by(act)}" for act in told.acts if act.event_id == case.decided_by)
        yield from _claim_lines(told, case.claims)
        return
    for candidate in case.candidates:
        yield f"  {candidate.key}  {title_of(candidate.key)}"
        width = max((len(option.name) for option in candidate.options), default=0)
        for option in candidate.options if with_options else ():
            title = option_title(candidate.key, option.name)
            yield f"    {option.name:<{width}}  {title}  ({role_of(option.required_role)})"
    for finding in case.findings:
        yield f"  ! {sentence_of(finding)}"
    yield from _claim_lines(told, case.claims)
    yield from (f"  {_consent(consent)}" for consent in case.consents)
    for before in earlier:
        yield f"  before: {before.game_id}, {closed_of(before)}"


def _claim_lines(told: HallCase, claims: Iterable[CaseClaim]) -> Iterator[str]:
    acts = {act.event_id: act for act in told.acts}
    for claim in claims:
        who = SIDES.get(claim.by, "reported, by no player")
        late = ", too late" if claim.late else ""
        said = f"; {said_by(acts[claim.ref])}" if claim.ref in acts else ""
        yield f"  claimed: {who} ({claim.ref}){late}{said}"


def _consent(consent: CaseConsent) -> str:
    proposal = f": {consent.proposal}" if consent.proposal else ""
    return f"{SIDES[consent.by]} {'agrees' if consent.accept else 'does not agree'}{proposal}"


def said_by(act: Act) -> str:
    """Who said something, when and what: "zhao as arbiter, 2026-05-04 10:31:05: two stones seen"."""
    said = f": {act.said}" if act.said else ""
    return f"{act.by.person} as {role_of(act.by.role)}, {date_of(act.at_ms)}{said}"


def _about(told: HallCase) -> str:
    case = told.case
    whom = f"about {SIDES[case.side]}" if case.side in SIDES else "about no one side"
    person = f" ({told.person})" if told.person else ""
    turn = f", {SIDES[case.interrupted.turn]} to move" if case.interrupted.turn in SIDES else ""
    return f"{whom}{person}, after move {case.move}{turn}"


def closed_of(told: HallCase) -> str:
    """How a case was closed."""
    case = told.case
    status = name_of(CaseStatus.Name(case.status), "CASE_STATUS_").replace("_", " ")
    if not case.option:
        return status
    by = "by the service itself" if case.automatic else f"by {case.decided_by}"
    effects = f": {', '.join(map(effect_of, case.effects))}" if case.effects else ""
    key = case.key or case.clause
    return f"{status} {by}: {case.option} under {key} {title_of(key)}{effects}"


def change_of(told: HallCase, before: HallCase | None) -> list[str]:
    """What is new in a case, for whoever follows the hall: the whole of it when it opens, else a line for each thing
    that was said, found or is listed otherwise since ``before``, or that it is closed."""
    head = f"{told.game_id}  case {told.case.case_id}"
    if told.case.status != CASE_STATUS_OPEN:
        is_news = before is None or before.case.status == CASE_STATUS_OPEN or closed_of(told) != closed_of(before)
        return [printable(f"{head}  {closed_of(told)}")] if is_news else []
    if before is None or before.case.status != CASE_STATUS_OPEN:
        return case_lines(told)
    return [printable(f"{head}  {line.strip()}") for line in _news(told, before.case)]


def _news(told: HallCase, before: Case) -> Iterator[str]:
    case = told.case
    yield from _claim_lines(told, [claim for claim in case.claims if claim not in before.claims])
    yield from (_consent(consent) for consent in case.consents if consent not in before.consents)
    yield from (f"! {sentence_of(finding)}" for finding in case.findings if finding not in before.findings)
    if list(case.candidates) != list(before.candidates):
        yield f"now listed: {'; '.join(map(listed_of, case.candidates))}"


def preview_lines(verdict: Verdict, before: Sequence[PenaltyCount]) -> list[str]:
    """What a ruling would change; ``before``: what stood against each side."""
    return [printable(line) for line in _preview(verdict, before)]


def _preview(verdict: Verdict, before: Sequence[PenaltyCount]) -> Iterator[str]:
    yield from (f"  {effect}" for effect in map(effect_of, verdict.effects))
    stones = (("off the board", verdict.removed), ("black stones", verdict.added_black), ("white", verdict.added_white))
    changes = [f"{what} {' '.join(points)}" for what, points in stones if points]
    yield f"  board: {'; '.join(changes) or 'as it is'}"
    if verdict.turn in SIDES and not verdict.HasField("result"):
        yield f"  then: {SIDES[verdict.turn]} to move, move {verdict.move_number} made"
    earlier = {count.side: count for count in before}
    for count in verdict.penalties:
        if count != earlier.get(count.side):
            yield f"  against {SIDES[count.side]}: {counts_of(count)}"
    if verdict.HasField("result"):
        yield f"  result: {result_of(verdict.result)}{f' ({verdict.result.clause})' if verdict.result.clause else ''}"
    yield from (f"  ! {sentence_of(finding)}" for finding in verdict.findings)
    opened = [case for case in verdict.cases if case.status == CASE_STATUS_OPEN]
    yield from (f"  still open: case {case.case_id}, {case.candidates[0].key}" for case in opened if case.candidates)


def counts_of(count: PenaltyCount) -> str:
    """What stands against a side, and what it costs at the count."""
    said = [
        f"{number} {word}{'s' if number > 1 else ''}"
        for number, word in ((count.warnings, "warning"), (count.admonitions, "admonition"))
        if number
    ]
    said += [f"{count.turns_lost} turn{'s' if count.turns_lost > 1 else ''} lost"] if count.turns_lost else []
    cost = [f"{amount_of(count.cost_qz)} zi"] if count.cost_qz else []
    cost += [f"{count.cost_points} points"] if count.cost_points else []
    return ", ".join(said) + (f" ({' or '.join(cost)} at the count)" if cost else "")


def penalty_of(told: HallPenalty) -> str:
    """A penalty in one line."""
    penalty = told.penalty
    who = f"{SIDES[penalty.side]}{f' ({told.person})' if told.person else ''}"
    key = penalty.key or penalty.clause
    what = f"{_PENALTIES[penalty.kind]} under {key} {title_of(key)}"
    ruled = f" ({said_by(told.ruled)})" if told.HasField("ruled") else ""
    by = f"{penalty.ruling or 'the service'}{ruled}"
    return printable(f"{told.game_id}  {who}  {what}, after move {penalty.move}, by {by}")


def compared_of(compared: ComparedRuling) -> str:
    """A ruling beside others of its clause; `≠` marks one that stands apart."""
    told = compared.case
    case = told.case
    who = f"{SIDES.get(case.side, 'no one side')}{f' ({told.person})' if told.person else ''}"
    effects = ", ".join(map(effect_of, case.effects))
    before = f"; {compared.earlier_of_person} before" if compared.earlier_of_person else ""
    mark = "≠" if compared.stands_apart else " "
    return printable(f"{mark} {told.game_id}  case {case.case_id}  {who}  {case.option}: {effects}{before}")
