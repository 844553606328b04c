"""What a gateway puts into the log, and what it answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from support.intake import LOG, TIMEOUT_S, VERDICT, House, fact_event, metadata, opening, refused, stone

from caipan.rules.pins import pin
from caipan.v1 import common_pb2, facts_pb2, outcome_pb2, rulings_pb2, tournament_pb2
from caipan.v1 import intake_service_pb2 as pb
from caipan.v1.event_pb2 import Event


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with House(tmp_path) as house:
        yield house


async def test_events_stand_in_the_log_in_the_order_of_the_request(house: House) -> None:
    sent = [opening(), stone(1, "Q16"), stone(2, "D4"), stone(3, "Q4")]
    results = await house.append(*sent, wait=LOG)
    records = await house.records()
    assert [Event.FromString(record.value).event_id for record in records] == ["open", "m1", "m2", "m3"]
    assert [(result.event_id, result.partition, result.offset) for result in results] == [
        (Event.FromString(record.value).event_id, record.partition, record.offset) for record in records
    ]
    assert {record.key for record in records} == {b"g1"}
    assert all(not result.status and not result.HasField("outcome") for result in results)


@pytest.mark.parametrize("wait", [VERDICT, pb.WAIT_UNSPECIFIED])
async def test_each_event_comes_back_with_its_own_verdict(house: House, wait: pb.Wait) -> None:
    results = await house.append(opening(), stone(1, "Q16"), stone(2, "Q16"), stone(2, "D4", event_id="m2b"), wait=wait)
    assert [result.status for result in results] == [outcome_pb2.STATUS_FOLDED] * 4
    assert [result.outcome.verdict.event_id for result in results] == ["open", "m1", "m2", "m2b"]
    assert [result.outcome.verdict.seq for result in results] == [1, 2, 3, 4]
    assert results[1].outcome.verdict.added_black == ["Q16"]
    assert [finding.kind for finding in results[2].outcome.verdict.findings] == [outcome_pb2.FINDING_KIND_OCCUPIED]
    assert [(each.outcome.partition, each.outcome.offset) for each in results] == [
        (each.partition, each.offset) for each in results
    ]


async def test_games_of_one_request_are_judged_each_for_itself(house: House) -> None:
    games = [f"g{number}" for number in range(12)]
    results = await house.append(
        *(opening(game) for game in games), *(stone(1, "Q16", game) for game in games), wait=VERDICT
    )
    assert [result.outcome.verdict.game_id for result in results] == games * 2
    assert [result.outcome.verdict.seq for result in results] == [1] * 12 + [2] * 12


async def test_calls_at_the_same_time_get_their_own_answers(house: House) -> None:
    games = [f"g{number}" for number in range(40)]
    answers = await asyncio.gather(*(house.append(opening(game), stone(1, "D4", game)) for game in games))
    assert [[result.outcome.verdict.game_id for result in results] for results in answers] == [[g, g] for g in games]


async def test_the_reporter_is_the_one_of_the_token_whatever_the_caller_writes(house: House) -> None:
    event = stone(1)
    event.by.person, event.by.role = "somebody else" * 20, 99  # would break the rules of their fields
    await house.append(event, wait=LOG, roles=["RECORDER"], person="p-wang")
    (record,) = await house.records()
    assert Event.FromString(record.value).by == common_pb2.Actor(person="p-wang", role=common_pb2.ROLE_RECORDER)
    by = Event(by=common_pb2.Actor(person="p-wang", role=common_pb2.ROLE_RECORDER)).SerializeToString()
    assert record.value.endswith(by)


async def test_a_caller_with_several_roles_acts_in_the_first_or_the_one_named(house: House) -> None:
    roles = ["RECORDER", "ARBITER", "CHIEF"]
    await house.append(stone(1), wait=LOG, roles=roles)
    await house.append(stone(2), wait=LOG, roles=roles, acting="CHIEF")
    events = [Event.FromString(record.value) for record in await house.records()]
    assert [event.by.role for event in events] == [common_pb2.ROLE_RECORDER, common_pb2.ROLE_CHIEF]


async def test_pins_are_written_and_those_of_the_caller_ignored(house: House) -> None:
    event = opening()
    event.game_opened.pins.fold_version = 77
    event.game_opened.pins.regulations.edition = "x" * 100  # would break the rule of its field
    (result,) = await house.append(event)
    (record,) = await house.records()
    assert Event.FromString(record.value).game_opened.pins == pin(opening().game_opened)
    assert result.outcome.verdict.opened.pins == pin(opening().game_opened)


async def test_unknown_fields_are_left_out(house: House) -> None:
    plain = stone(1)
    request = pb.AppendEventsRequest(events=[plain], wait=LOG).SerializeToString()
    await house.append(plain, wait=LOG)
    unknown = b"\x9a\x3f\x03abc"  # field 1011
    sent = plain.SerializeToString() + unknown
    request = b"\x0a" + bytes([len(sent)]) + sent + b"\x10\x01" + unknown
    call = house.channel.unary_unary(
        "/caipan.v1.IntakeService/AppendEvents", response_deserializer=pb.AppendEventsResponse.FromString
    )
    await call(request, metadata=metadata(), timeout=TIMEOUT_S)
    first, second = await house.records()
    assert first.value == second.value


async def test_records_read_as_cloud_events(house: House) -> None:
    await house.append(stone(7, game_id="T1/r3/b2"), wait=LOG)
    regulated = tournament_pb2.EventRegulated()
    regulated.regulations.edition = "CN2002"
    await house.append(fact_event(regulated, "t1", tournament_id="T1"), wait=LOG, roles=["CHIEF"])
    (of_game,) = await house.records()
    (of_tournament,) = await house.records("tournament-events")
    assert dict(of_game.headers) == {
        "ce_specversion": b"1.0",
        "ce_id": b"m7",
        "ce_source": b"/games/T1%2Fr3%2Fb2",
        "ce_type": b"caipan.v1.stone_placed",
        "ce_time": b"2023-11-14T22:13:20.007Z",
        "ce_subject": b"T1/r3/b2",
        "content-type": b"application/protobuf",
    }
    assert dict(of_tournament.headers)["ce_source"] == b"/tournaments/T1"
    assert of_tournament.key == b"T1"


@pytest.mark.parametrize("at_ms", [0, 253402300799999])
async def test_the_first_and_the_last_time_of_the_calendar_can_be_sent(house: House, at_ms: int) -> None:
    await house.append(fact_event(facts_pb2.SourceSynced(), game_id="g1", at_ms=at_ms), wait=LOG)
    (record,) = await house.records()
    assert Event.FromString(record.value).at_ms == at_ms
    assert dict(record.headers)["ce_time"] in (b"1970-01-01T00:00:00.000Z", b"9999-12-31T23:59:59.999Z")


async def test_events_of_a_tournament_return_with_the_log_and_without_a_status(house: House) -> None:
    entrant = tournament_pb2.EntrantRegistered(entrant="p-li", rank=7)
    results = await house.append(
        fact_event(entrant, "e1", tournament_id="T1"),
        opening("T1/b1", tournament_id="T1"),
        fact_event(entrant, "e2", tournament_id="T1"),
        wait=VERDICT,
    )
    assert [result.event_id for result in results] == ["e1", "open", "e2"]
    assert [result.offset for result in results] == [0, 0, 1]
    assert [result.status for result in results] == [0, outcome_pb2.STATUS_FOLDED, 0]
    assert [record.key for record in await house.records("tournament-events")] == [b"T1", b"T1"]


async def test_a_ruling_is_stored_and_answered_as_the_fold_judges_it(house: House) -> None:
    ruling = rulings_pb2.RulingDecided(role=common_pb2.ROLE_ARBITER, clause="CN2002 17.2", option="WARN")
    _, result = await house.append(opening(), fact_event(ruling, game_id="g1"), roles=["ARBITER"])
    assert result.status == outcome_pb2.STATUS_REFUSED
    assert result.outcome.verdict.reason


async def test_nothing_is_stored_if_any_event_is_bad(house: House) -> None:
    bad = stone(3, "I9")
    error = await refused(house.append(opening(), stone(1), stone(2), bad))
    assert error.code == "MALFORMED"
    assert error.field == "events[3].stone_placed.point"
    assert await house.records() == []
    error = await refused(house.append(opening(), stone(1), stone(2, game_id="T2/b1"), games=["g1"], tournaments=[]))
    assert error.code == "NOT_PERMITTED"
    assert await house.records() == []


async def test_a_thousand_events_fit_into_one_request(house: House) -> None:
    results = await house.append(
        opening(), *(fact_event(facts_pb2.SourceSynced(offset_ms=n), f"s{n}", game_id="g1") for n in range(999))
    )
    assert [result.outcome.verdict.seq for result in results] == list(range(1, 1001))
    error = await refused(house.append(*(stone(number) for number in range(1001)), wait=LOG))
    assert (error.code, error.field) == ("MALFORMED", "events")


async def test_an_event_sent_twice_in_one_request_counts_once(house: House) -> None:
    _, first, second = await house.append(opening(), stone(1), stone(1))
    assert (first.status, second.status) == (outcome_pb2.STATUS_FOLDED, outcome_pb2.STATUS_DUPLICATE)
    assert second.outcome == first.outcome


async def test_one_id_for_two_events_of_a_request_is_an_error(house: House) -> None:
    error = await refused(house.append(opening(), stone(1, "Q16"), stone(1, "D4")))
    assert (error.code, error.field) == ("MALFORMED", "events[2].event_id")
    assert await house.records() == []
    both = await house.append(opening("g1"), opening("g2"), stone(1, "Q16", "g1"), stone(1, "D4", "g2"))
    assert [result.status for result in both] == [outcome_pb2.STATUS_FOLDED] * 4


async def test_the_status_of_a_failed_call_carries_the_detail(house: House) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await house.append(stone(1, "Z0"))
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert "events[0].stone_placed.point" in caught.value.details()
    assert "e.g. Q16" in caught.value.details()
