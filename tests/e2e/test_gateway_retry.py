"""A record in quarantine that is retried: a new event that somebody answers for, once, or a reason why not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from support.intake import LOG, TIMEOUT_S, VERDICT, House, Refused, metadata, opening, refused, stone

from caipan.eventlog import NewRecord, partition_of
from caipan.v1 import intake_service_pb2 as pb
from caipan.v1.common_pb2 import ROLE_BACKEND, ROLE_CHIEF, Actor
from caipan.v1.event_pb2 import Event
from caipan.v1.facts_pb2 import SessionMarked
from caipan.v1.operation_service_pb2 import Quarantined
from caipan.v1.outcome_pb2 import STATUS_DUPLICATE, STATUS_FOLDED, Outcome

HOME = partition_of(b"g1", 4)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """A service with the game g1."""
    async with House(tmp_path) as house:
        await house.append(opening(), roles=["CHIEF"])
        yield house


async def quarantined(house: House, value: bytes, key: bytes | None = None, partition: int = (HOME + 1) % 4) -> str:
    """Writes a record past the gateway; its id once the referee has put it in quarantine."""
    ((_, offset),) = await house.log.append("game-events", [NewRecord(key, value, partition=partition)])
    record_id = f"game-events-{partition}-{offset}"
    async with asyncio.timeout(TIMEOUT_S):
        while not await house.log.read_key("quarantine", record_id.encode()):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    return record_id


async def put(house: House, value: bytes) -> str:
    """A record that an earlier version put in quarantine."""
    record = Quarantined(record_id="game-events-0-7", key=b"g1", value=value, reason="not known then")
    await house.log.append("quarantine", [NewRecord(record.record_id.encode(), record.SerializeToString())])
    return record.record_id


async def retry(house: House, record_id: str, wait: pb.Wait = VERDICT, **caller: Any) -> pb.RetryQuarantinedResponse:
    request = pb.RetryQuarantinedRequest(record_id=record_id, wait=wait)
    caller = {"roles": ["CHIEF"], **caller}
    return await house.stub.RetryQuarantined(request, metadata=metadata(**caller), timeout=TIMEOUT_S)


async def not_retried(house: House, record_id: str, **caller: Any) -> Refused:
    """The answer to a retry that must fail; nothing is appended."""
    before = await house.records()
    told = await refused(retry(house, record_id, **caller))
    assert await house.records() == before
    return told


async def judged(house: House) -> list[Outcome]:
    outcomes = [Outcome.FromString(record.value) for record in await house.records("game-outcomes")]
    return [outcome for outcome in outcomes if outcome.verdict.seq]


@pytest.mark.parametrize("key", [None, b"g1", b"\xff", b"another game"])
async def test_an_event_that_stood_in_a_wrong_place_is_moved_to_its_game(house: House, key: bytes | None) -> None:
    made = stone(1)
    made.by.CopyFrom(Actor(person="whoever wrote this", role=ROLE_BACKEND))
    partition = partition_of(key, 4) if key == b"another game" else (HOME + 1) % 4
    record_id = await quarantined(house, made.SerializeToString(), key, partition)
    told = await retry(house, record_id, person="p-chief")
    expected = stone(1)
    expected.caused_by = record_id
    expected.by.CopyFrom(Actor(person="p-chief", role=ROLE_CHIEF))
    assert told.event == expected
    (stored,) = await house.log.read("game-events", told.result.partition, told.result.offset)
    assert (stored.partition, stored.key, Event.FromString(stored.value)) == (HOME, b"g1", expected)
    assert dict(stored.headers)["ce_id"] == b"m1"
    outcome = told.result.outcome
    assert (told.result.status, outcome.verdict.seq, outcome.verdict.added_black) == (STATUS_FOLDED, 2, ["Q16"])
    assert outcome.caused_by == record_id


async def test_a_retry_that_is_repeated_has_one_effect_and_the_same_answer(house: House) -> None:
    record_id = await quarantined(house, stone(1).SerializeToString())
    first = await retry(house, record_id)
    for caller in ({}, {"person": "p-other"}, {"roles": ["BACKEND"]}):
        again = await retry(house, record_id, **caller)
        assert again.result.status == STATUS_DUPLICATE
        assert again.result.outcome == first.result.outcome
    assert len(await judged(house)) == 2


@pytest.mark.parametrize("retried_first", [True, False])
async def test_the_sender_who_mends_it_too_makes_no_second_event(house: House, retried_first: bool) -> None:
    record_id = await quarantined(house, stone(1).SerializeToString())
    if retried_first:
        first = (await retry(house, record_id)).result
        (second,) = await house.append(stone(1))
    else:
        (first,) = await house.append(stone(1))
        second = (await retry(house, record_id)).result
    assert (first.status, second.status) == (STATUS_FOLDED, STATUS_DUPLICATE)
    assert second.outcome == first.outcome
    assert len(await judged(house)) == 2
    assert not first.outcome.verdict.findings


async def test_what_an_earlier_version_did_not_know_is_read_by_one_that_does(house: House) -> None:
    told = await retry(house, await put(house, stone(1).SerializeToString()))
    assert told.result.status == STATUS_FOLDED
    assert told.event.caused_by == told.result.outcome.caused_by == "game-events-0-7"


async def test_garbage_stays_where_it_is_and_the_game_goes_on(house: House) -> None:
    record_id = await quarantined(house, b"\xff\xff no event", b"g1", HOME)
    told = await not_retried(house, record_id)
    assert (told.status, told.code, told.field) == (
        grpc.StatusCode.FAILED_PRECONDITION,
        "STILL_UNREADABLE",
        "record_id",
    )
    assert "its bytes are no event" in told.reason
    (after,) = await house.append(stone(1))
    assert (after.status, after.outcome.verdict.seq) == (STATUS_FOLDED, 3)


UNKNOWN_TYPE = Event(event_id="e", game_id="g1", at_ms=1).SerializeToString() + b"\xda\x05\x02\x08\x01"  # field 91
UNKNOWN_FIELD = stone(1).SerializeToString() + b"\xda\x05\x02\x08\x01"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (UNKNOWN_TYPE, "it is of a type, or has fields, that this version does not know"),
        (UNKNOWN_FIELD, "it is of a type, or has fields, that this version does not know"),
        (b"", "log: exactly one field is required"),
        (stone(1, event_id="").SerializeToString(), "event_id: "),
        (stone(1, point="Z99").SerializeToString(), "stone_placed.point: 'Z99' is no point"),
        (stone(1, game_id="").SerializeToString(), "game_id: "),
        (opening(event_id="o2", size=18, tournament_id="T" * 200).SerializeToString(), "game_opened."),
        (bytes(2_000_000), "the record has 1000000 bytes or more, an event at most 65536"),
        (stone(1, event_id="e" * 70_000).SerializeToString(), "bytes or more, an event at most 65536"),
    ],
    ids=["type", "field", "empty", "no-id", "point", "no-game", "opening", "oversized", "large"],
)
async def test_what_is_no_event_is_told_with_the_reason(house: House, value: bytes, reason: str) -> None:
    told = await not_retried(house, await quarantined(house, value))
    assert told.code == "STILL_UNREADABLE"
    assert told.reason.startswith("the record cannot be read as an event: ")
    assert reason in told.reason


async def test_a_retry_needs_a_role_and_a_token_that_is_good_for_the_game(house: House) -> None:
    record_id = await quarantined(house, stone(1).SerializeToString())
    for role in ("RECORDER", "DEVICE", "PLAYER", "COMMITTEE"):
        told = await not_retried(house, record_id, roles=[role])
        assert (told.code, told.status) == ("NOT_PERMITTED", grpc.StatusCode.PERMISSION_DENIED)
        assert "RetryQuarantined needs one of the roles ARBITER, DEPUTY, CHIEF, BACKEND" in told.reason
    told = await not_retried(house, record_id, games=["g2"], tournaments=["T1"])
    assert (told.code, told.field) == ("NOT_PERMITTED", "event.game_id")
    assert (await not_retried(house, record_id, bearer="none")).code == "TOKEN_INVALID"
    assert (await retry(house, record_id, roles=["RECORDER", "ARBITER"], acting="ARBITER")).result.status


async def test_a_retry_permits_no_more_than_sending_does(house: House) -> None:
    mark = Event(event_id="r", game_id="g1", at_ms=1, session_marked=SessionMarked(mark=SessionMarked.MARK_START))
    record_id = await quarantined(house, mark.SerializeToString())
    told = await not_retried(house, record_id, roles=["BACKEND"])
    assert (told.code, told.field) == ("NOT_PERMITTED", "event.session_marked")


async def test_what_is_not_in_quarantine_cannot_be_retried(house: House) -> None:
    for record_id in (f"game-events-{HOME}-0", "game-events-0-99", "x"):
        told = await not_retried(house, record_id)
        assert (told.code, told.status) == ("QUARANTINE_UNKNOWN", grpc.StatusCode.NOT_FOUND)
        assert told.field == "record_id"
        assert repr(record_id) in told.reason
    told = await not_retried(house, "")
    assert (told.code, told.field) == ("MALFORMED", "record_id")


async def test_who_does_not_wait_is_told_where_it_stands(tmp_path: Path) -> None:
    async with House(tmp_path, judging=False, verdict_wait_s=0.2) as house:
        record_id = await put(house, stone(1).SerializeToString())
        told = await retry(house, record_id, LOG)
        assert (told.result.partition, told.result.offset, told.result.status) == (HOME, 0, 0)
        assert told.event.event_id == "m1"
        request = pb.RetryQuarantinedRequest(record_id=record_id)
        pending = await refused(house.stub.RetryQuarantined(request, metadata=metadata(roles=["CHIEF"])))
        assert pending.code == "VERDICT_PENDING"
        await house.log.close()
        assert (await refused(retry(house, record_id))).code == "LOG_UNAVAILABLE"


async def test_nobody_but_the_gateway_writes_what_caused_an_event(house: House) -> None:
    (appended,) = await house.append(stone(1, caused_by="game-events-0-0"))
    assert not appended.outcome.caused_by
    (stored,) = await house.log.read("game-events", appended.partition, appended.offset)
    assert not Event.FromString(stored.value).caused_by
