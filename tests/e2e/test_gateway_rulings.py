"""What players and arbiters say through RulingService: one event each, refusals as errors, a round in one call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from support.intake import START_MS, TIMEOUT_S, House, Refused, metadata, opening, refused, stone

from caipan.v1 import facts_pb2 as facts
from caipan.v1 import outcome_pb2
from caipan.v1 import ruling_service_pb2 as pb
from caipan.v1.common_pb2 import COLOR_BLACK, COLOR_WHITE, ROLE_ARBITER, ROLE_CHIEF, Source
from caipan.v1.event_pb2 import Event
from caipan.v1.facts_pb2 import ClaimRaised, ConductObserved, ConsentGiven, CorrectedFact, RecordCorrected, StonePlaced
from caipan.v1.outcome_pb2 import Verdict
from caipan.v1.rulings_pb2 import Effect, RulingDecided, Warn

ARBITER = {"roles": ["ARBITER"], "person": "zhao"}
CHIEF = {"roles": ["CHIEF"], "person": "qian"}
PLAYER = {"roles": ["PLAYER"], "person": "p-xu"}
OFFICIALS = [facts.Official(person="zhao", role=ROLE_ARBITER), facts.Official(person="qian", role=ROLE_CHIEF)]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with House(tmp_path) as house:
        yield house


async def double_move(house: House, game_id: str = "g1") -> Verdict:
    """A game in which Black has moved twice running; the verdict that opens case 5."""
    await house.append(opening(game_id, officials=OFFICIALS, colours=facts.Colours(black="p-li", white="p-xu")))
    points = zip((1, 2, 3, 5), ("Q16", "D4", "Q3", "D17"), strict=True)
    results = await house.append(*(stone(number, point, game_id) for number, point in points))
    return results[-1].outcome.verdict


def entry(event_id: str = "act", game_id: str = "g1", **about: Any) -> pb.Entry:
    return pb.Entry(event_id=event_id, game_id=game_id, **{"at_ms": START_MS + 100, **about})


async def call(house: House, name: str, request: Any, deadline_s: float = TIMEOUT_S, **caller: Any) -> Any:
    """The answer to one call of RulingService."""
    return await getattr(house.rulings, name)(request, timeout=deadline_s, metadata=metadata(**caller))


async def decide(house: House, option: str, event_id: str = "act", game_id: str = "g1", **said: Any) -> Verdict:
    caller = said.pop("caller", ARBITER)
    ruling = RulingDecided(option=option, reason="seen", **{"case_id": "5", **said})
    return (
        await call(house, "Decide", pb.DecideRequest(entry=entry(event_id, game_id), ruling=ruling), **caller)
    ).result.outcome.verdict


async def refused_decision(house: House, option: str, **said: Any) -> Refused:
    return await refused(decide(house, option, **said))


# Decide


async def test_a_decision_is_one_event_in_the_role_of_the_call_and_answered_with_its_verdict(house: House) -> None:
    opened = await double_move(house)
    verdict = await decide(house, "VOID_AND_WARN", case_revision=opened.cases[0].revision)
    assert (verdict.status, verdict.removed, verdict.turn) == (outcome_pb2.STATUS_FOLDED, ["D17"], COLOR_WHITE)
    assert [penalty.clause for penalty in verdict.ledger.penalties] == ["CN2002 17.2"]
    stored = Event.FromString((await house.records())[-1].value)
    assert (stored.event_id, stored.by.person, stored.ruling_decided.role) == ("act", "zhao", ROLE_ARBITER)


async def test_bad_rulings_are_answered_with_what_would_be_allowed_and_change_nothing(house: House) -> None:
    await double_move(house)
    wrong: list[tuple[dict[str, Any], str, str]] = [
        ({"option": "LOSS"}, "ruling.option", "'LOSS' is not listed here; VOID_AND_WARN, DISMISS"),
        (
            {"option": "WARN", "clause": "KBA2024 18.1"},
            "ruling.clause",
            "case 5 is about CN2002 17.2, not 'KBA2024 18.1'",
        ),
        ({"option": "WARN", "clause": "99", "case_id": ""}, "ruling.clause", "CN2002 has no clause '99'"),
        ({"option": "WARN", "case_id": "7"}, "ruling.case_id", "this game has no case '7' (5)"),
        ({"option": "WARN", "case_id": ""}, "ruling.clause", "missing; name one, e.g. CN2002 17.2"),
        (
            {"option": "VOID_AND_WARN", "caller": {"roles": ["ARBITER"], "person": "nobody"}},
            "ruling.role",
            "'nobody' is not ARBITER in this game; appoint the person, or decide in a role held "
            "(CN2002 17.2, VOID_AND_WARN)",
        ),
        (
            {"option": "VOID_AND_WARN", "effects": [Effect(dismiss={})]},
            "ruling.effects",
            "dismiss does not belong to this option; it does ['void_move', 'warn']",
        ),
    ]
    for number, (said, field, reason) in enumerate(wrong):
        told = await refused_decision(house, event_id=f"wrong-{number}", **said)
        assert (told.code, told.status.name, told.field, told.reason) == (
            "REFUSED",
            "FAILED_PRECONDITION",
            field,
            reason,
        )
        assert "another event_id" in told.remedy
    verdict = await decide(house, "VOID_AND_WARN")
    assert len(verdict.ledger.penalties) == 1
    assert verdict.seq == 6 + len(wrong)


async def test_a_ruling_repeated_after_a_refusal_gets_the_same_refusal(house: House) -> None:
    await double_move(house)
    first, again = [await refused_decision(house, "LOSS") for _ in range(2)]
    assert (first.code, first.reason) == (again.code, again.reason)


async def test_a_decision_on_what_has_changed_since_is_stale(house: House) -> None:
    opened = await double_move(house)
    await house.append(stone(6, "C14"))
    told = await refused_decision(house, "VOID_AND_WARN", case_revision=opened.cases[0].revision)
    assert (told.code, told.status.name, told.field) == ("STALE", "ABORTED", "ruling.case_revision")


async def test_a_ruling_for_a_game_that_is_not_open_says_so(house: House) -> None:
    told = await refused_decision(house, "VOID_AND_WARN", game_id="g9")
    assert (told.code, told.status.name, told.field) == ("GAME_UNKNOWN", "NOT_FOUND", "entry.game_id")


@pytest.mark.parametrize(
    ("caller", "needed"), [(PLAYER, "ruling_decided needs"), ({"roles": ["RECORDER"]}, "ruling_decided needs")]
)
async def test_who_may_not_rule_is_told_at_the_door(house: House, caller: dict[str, Any], needed: str) -> None:
    await double_move(house)
    before = len(await house.records())
    told = await refused_decision(house, "VOID_AND_WARN", caller=caller)
    assert (told.code, told.field) == ("NOT_PERMITTED", "entry.ruling_decided")
    assert needed in told.reason
    assert len(await house.records()) == before


async def test_a_token_of_another_game_rules_nothing_here(house: House) -> None:
    await double_move(house)
    elsewhere = {**ARBITER, "games": ["g2"], "tournaments": []}
    told = await refused_decision(house, "VOID_AND_WARN", caller=elsewhere)
    assert (told.code, told.field) == ("NOT_PERMITTED", "entry.game_id")


async def test_malformed_fields_are_named_as_the_request_has_them(house: House) -> None:
    for request, field in (
        (pb.DecideRequest(ruling=RulingDecided(option="WARN")), "entry"),
        (pb.DecideRequest(entry=entry()), "ruling"),
        (pb.DecideRequest(entry=entry(""), ruling=RulingDecided(option="WARN")), "entry.event_id"),
        (pb.DecideRequest(entry=entry(), ruling=RulingDecided(option="x" * 99)), "ruling.option"),
        (pb.DecideRequest(entry=entry(), ruling=RulingDecided(supersedes="e1")), "ruling.supersedes"),
    ):
        told = await refused(call(house, "Decide", request, **ARBITER))
        assert (told.code, told.field) == ("MALFORMED", field)
    told = await refused(call(house, "Supersede", pb.SupersedeRequest(entry=entry(), ruling=RulingDecided()), **CHIEF))
    assert (told.code, told.field) == ("MALFORMED", "ruling.supersedes")
    consent = pb.GiveConsentRequest(entry=entry(), consent=ConsentGiven(case_id="5"))
    told = await refused(call(house, "GiveConsent", consent, **ARBITER))
    assert (told.code, told.field) == ("MALFORMED", "entry.player")
    assert await house.records() == []


async def test_a_call_without_a_token_is_refused(house: House) -> None:
    told = await refused(house.rulings.Decide(pb.DecideRequest(), timeout=TIMEOUT_S))
    assert told.code == "TOKEN_MISSING"


# A call that failed on the wire and was carried out (cases.md E12)


def warned(player: int = COLOR_BLACK) -> dict[str, Any]:
    """A warning of the arbiter's own motion about the stone m1."""
    return {"case_id": "", "clause": "CN2002 17.4", "refs": ["m1"], "effects": [Effect(warn=Warn(player=player))]}


async def test_e12_the_same_key_again_is_the_same_verdict_and_one_warning(house: House) -> None:
    await double_move(house)
    first = await decide(house, "WARN", "k1", **warned())
    again = await decide(house, "WARN", "k1", **warned())
    assert again == first
    assert [count.warnings for count in again.penalties] == [1]


async def test_e12_another_key_for_the_same_act_is_told_that_it_was_decided(house: House) -> None:
    await double_move(house)
    await decide(house, "WARN", "k1", **warned())
    told = await refused_decision(house, "WARN", event_id="k2", **warned())
    assert (told.code, told.status.name, told.field) == ("ALREADY_DECIDED", "ALREADY_EXISTS", "ruling.refs")
    assert told.reason == "that act was decided by ruling 'k1': one act, one ruling"
    verdict = await decide(house, "VOID_AND_WARN", "k3")
    assert [count.warnings for count in verdict.penalties] == [2]
    told = await refused_decision(house, "VOID_AND_WARN", event_id="k4")
    assert (told.code, told.field) == ("ALREADY_DECIDED", "ruling.case_id")
    assert "closed by ruling 'k3'" in told.reason


async def test_e12_a_key_for_another_ruling_is_refused_and_nothing_follows(house: House) -> None:
    await double_move(house)
    first = await decide(house, "WARN", "k1", **warned())
    told = await refused_decision(house, "WARN", event_id="k1", **warned(COLOR_WHITE))
    assert (told.code, told.status.name, told.field) == ("EVENT_ID_TAKEN", "INVALID_ARGUMENT", "entry.event_id")
    assert await decide(house, "WARN", "k1", **warned()) == first


# Claims, conduct, consents, corrections


async def test_a_claim_of_a_player_joins_the_case(house: House) -> None:
    await double_move(house)
    claim = ClaimRaised(kind=ClaimRaised.KIND_COMPLAINT, clause="CN2002 17.2", against=COLOR_BLACK)
    request = pb.RaiseClaimRequest(entry=entry(player=COLOR_WHITE), claim=claim)
    verdict = (await call(house, "RaiseClaim", request, **PLAYER)).result.outcome.verdict
    (case,) = verdict.cases
    assert [(said.ref, said.by) for said in case.claims] == [("act", COLOR_WHITE)]


async def test_a_claim_for_the_seat_of_the_other_player_is_refused(house: House) -> None:
    await double_move(house)
    claim = ClaimRaised(kind=ClaimRaised.KIND_COMPLAINT, clause="CN2002 17.2")
    told = await refused(
        call(house, "RaiseClaim", pb.RaiseClaimRequest(entry=entry(player=COLOR_BLACK), claim=claim), **PLAYER)
    )
    assert told.code == "REFUSED"
    assert "does not hold this seat" in told.reason


async def test_conduct_opens_a_case_and_a_player_reports_none(house: House) -> None:
    await double_move(house)
    said = ConductObserved(kind=ConductObserved.KIND_PHONE_LOOK, against=COLOR_WHITE)
    request = pb.ReportConductRequest(entry=entry(), conduct=said)
    told = await refused(call(house, "ReportConduct", request, **PLAYER))
    assert told.code == "NOT_PERMITTED"
    verdict = (await call(house, "ReportConduct", request, **ARBITER)).result.outcome.verdict
    assert [candidate.clause for candidate in verdict.cases[0].candidates] == ["CN2002 23.7"]


async def test_a_consent_settles_what_the_opponent_may_allow(house: House) -> None:
    await house.append(opening(officials=OFFICIALS, colours=facts.Colours(black="p-li", white="p-xu")))
    dropped = stone(1, "E7")
    dropped.stone_placed.manner = facts.MANNER_DROPPED
    (result,) = await house.append(dropped)
    (case,) = result.outcome.verdict.cases
    consent = ConsentGiven(case_id=case.case_id, proposal="pick it up", accept=True)
    request = pb.GiveConsentRequest(entry=entry(player=COLOR_WHITE), consent=consent)
    verdict = (await call(house, "GiveConsent", request, **PLAYER)).result.outcome.verdict
    assert (verdict.removed, verdict.cases[0].decided_by, verdict.cases[0].option) == (["E7"], "act", "PICK_UP_FREE")
    assert verdict.cases[0].key == "CN2002 17.3 drop"


async def test_a_correction_is_for_the_source_of_the_record_or_an_arbiter(house: House) -> None:
    await double_move(house)
    fact = CorrectedFact(player=COLOR_WHITE, stone_placed=StonePlaced(point="C14"))
    said = RecordCorrected(ref="m5", kind=RecordCorrected.KIND_REPLACE, fact=fact, reason="typed D17")
    request = pb.CorrectRecordRequest(entry=entry(source=Source(id="tablet")), correction=said)
    told = await refused(call(house, "CorrectRecord", request, roles=["RECORDER"]))
    assert (told.code, told.status.name) == ("REFUSED", "FAILED_PRECONDITION")
    request.entry.event_id = "second"
    verdict = (await call(house, "CorrectRecord", request, **ARBITER)).result.outcome.verdict
    assert verdict.revised[0].seq == 5
    assert (verdict.removed, verdict.added_white) == (["D17"], ["C14"])


# A whole round


def marking(games: list[str], mark: str = "PAUSE", request_id: str = "pause-1") -> pb.MarkRoundRequest:
    value = facts.SessionMarked.Mark.Value(f"MARK_{mark}")
    return pb.MarkRoundRequest(request_id=request_id, mark=value, at_ms=START_MS + 500, game_ids=games)


async def test_a_round_is_marked_game_by_game_and_the_call_repeated_has_one_effect(house: House) -> None:
    games = [f"T/r1/b{number}" for number in range(40)]
    await house.append(*(opening(game) for game in games))
    first = await call(house, "MarkRound", marking(games), **ARBITER)
    assert [game.game_id for game in first.games] == games
    assert {game.result.outcome.verdict.phase for game in first.games} == {outcome_pb2.PHASE_PAUSED}
    again = await call(house, "MarkRound", marking(games), **ARBITER)
    assert [game.result.outcome for game in again.games] == [game.result.outcome for game in first.games]
    resumed = await call(house, "MarkRound", marking(games, "RESUME", "resume-1"), **ARBITER)
    assert {game.result.outcome.verdict.phase for game in resumed.games} == {outcome_pb2.PHASE_PLAY}


async def test_what_fails_in_one_game_is_told_of_that_game_and_the_others_are_marked(house: House) -> None:
    await house.append(opening("T/r1/b1"), opening("T/r1/b2"), opening("U/r1/b1"))
    games = ["T/r1/b1", "U/r1/b1", "T/r1/never", "T/r1/b2"]
    here = {**ARBITER, "games": [], "tournaments": ["T"]}
    told = (await call(house, "MarkRound", marking(games), **here)).games
    assert [game.WhichOneof("became") for game in told] == ["result", "error", "error", "result"]
    assert "not good for the game 'U/r1/b1'" in told[1].error.reason
    assert "no game of this id is open" in told[2].error.reason
    clash = (await call(house, "MarkRound", marking(games[:1], "RESUME"), **here)).games
    assert "stands for another event" in clash[0].error.reason
    assert clash[0].error.field == "request_id"


async def test_only_arbiters_mark_a_round(house: House) -> None:
    await house.append(opening())
    (game,) = (await call(house, "MarkRound", marking(["g1"]), roles=["RECORDER"])).games
    assert "session_marked needs one of the roles" in game.error.reason
    assert len(await house.records()) == 1


async def test_games_that_are_not_judged_in_time_are_told_so_and_a_repeated_call_completes_them(tmp_path: Path) -> None:
    async with House(tmp_path, judging=False) as house:
        games = [f"g{number}" for number in range(3)]
        await house.append(*(opening(game) for game in games), wait=1)
        told = (await call(house, "MarkRound", marking(games), deadline_s=1, **ARBITER)).games
        assert {game.error.reason for game in told} == {"all events are stored, not all are judged yet"}
        house.judge()
        told = (await call(house, "MarkRound", marking(games), **ARBITER)).games
        assert {game.result.outcome.verdict.phase for game in told} == {outcome_pb2.PHASE_PAUSED}
        marks = [
            record for record in await house.records() if Event.FromString(record.value).HasField("session_marked")
        ]
        assert len(marks) == 2 * len(games)


async def test_many_callers_at_once_get_their_own_answers(house: House) -> None:
    games = [f"h{number}" for number in range(12)]
    await asyncio.gather(*(double_move(house, game) for game in games))
    verdicts = await asyncio.gather(*(decide(house, "VOID_AND_WARN", game_id=game) for game in games))
    assert [verdict.game_id for verdict in verdicts] == games
