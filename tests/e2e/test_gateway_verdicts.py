"""Waiting for verdicts: repeats, early events, deadlines, callers that go away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import grpc
import pytest
from support.intake import LOG, TIMEOUT_S, House, metadata, opening, refused, stone

from caipan.eventlog import partition_of
from caipan.v1 import intake_service_pb2 as pb
from caipan.v1.event_pb2 import Event
from caipan.v1.outcome_pb2 import STATUS_DUPLICATE, STATUS_FOLDED, STATUS_PARKED

POINTS = [f"{column}{row}" for column in "ABCDEFGHJKLMNOPQRST" for row in range(1, 20)]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with House(tmp_path) as house:
        yield house


@pytest.fixture
async def empty_house(tmp_path: Path) -> AsyncIterator[House]:
    """Nobody judges there until the test says so."""
    async with House(tmp_path, judging=False, verdict_wait_s=0.3) as house:
        yield house


def game(moves: int, *, numbered: bool) -> list[Event]:
    """The opening and a stone on every point in turn."""
    events = [opening()]
    for number in range(1, moves + 1):
        event = stone(number, POINTS[number - 1])
        if numbered:
            event.source.id, event.source_seq = "board", number
        events.append(event)
    return events


async def eventually(value: Callable[[], object], wanted: object) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while value() != wanted:  # noqa: ASYNC110 - nothing tells when
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("numbered", [False, True])
async def test_a_repeated_request_has_one_effect_and_the_same_answers(house: House, numbered: bool) -> None:
    sent = game(80, numbered=numbered)  # more than the fold keeps in its window of ids
    first = await house.append(*sent)
    again = await house.append(*sent)
    assert [result.status for result in first] == [STATUS_FOLDED] * 81
    assert [result.status for result in again] == [STATUS_DUPLICATE] * 81
    assert [result.outcome for result in again] == [result.outcome for result in first]
    (after,) = await house.append(stone(81, "T19"))
    assert after.outcome.verdict.seq == 82
    assert after.outcome.verdict.move_number == 81


async def test_another_caller_who_repeats_gets_the_same_answer(house: House) -> None:
    first = await house.append(opening(), stone(1), person="p-wang", roles=["RECORDER"])
    again = await house.append(opening(), stone(1), person="p-zhou", roles=["ARBITER"])
    assert [result.outcome for result in again] == [result.outcome for result in first]


async def test_a_request_that_was_answered_with_the_log_is_completed_by_a_repeat(house: House) -> None:
    await house.append(opening(), stone(1), wait=LOG)
    results = await house.append(opening(), stone(1), stone(2, "D4"))
    assert [result.outcome.verdict.seq for result in results] == [1, 2, 3]
    assert [result.status for result in results] == [STATUS_DUPLICATE, STATUS_DUPLICATE, STATUS_FOLDED]


async def test_an_early_event_is_answered_at_once_and_the_same_again(house: House) -> None:
    early = stone(2, "D4", source_seq=2)
    early.source.id = "board"
    await house.append(opening())
    (result,) = await house.append(early)
    assert (result.status, result.HasField("outcome")) == (STATUS_PARKED, True)
    (result,) = await house.append(early)
    assert (result.status, result.HasField("outcome")) == (STATUS_PARKED, True)
    late = stone(1, "Q16", source_seq=1)
    late.source.id = "board"
    (result,) = await house.append(late)
    assert (result.status, result.outcome.verdict.seq) == (STATUS_FOLDED, 2)
    (result,) = await house.append(early)
    assert (result.status, result.outcome.verdict.seq) == (STATUS_DUPLICATE, 3)
    assert result.outcome.verdict.added_white == ["D4"]


async def test_a_fact_before_the_opening_waits_and_is_found_after_it(house: House) -> None:
    for _ in range(2):
        (result,) = await house.append(stone(1))
        assert (result.status, result.HasField("outcome")) == (STATUS_PARKED, True)
    opened_now, again = await house.append(opening(), stone(1))
    assert opened_now.outcome.verdict.seq == 1
    assert (again.status, again.outcome.verdict.seq) == (STATUS_DUPLICATE, 2)


async def test_a_call_whose_deadline_comes_is_told_so_before_it(empty_house: House) -> None:
    house = empty_house
    error = await refused(house.append(opening(), stone(1), deadline_s=2))
    assert error.status == grpc.StatusCode.DEADLINE_EXCEEDED
    assert error.code == "VERDICT_PENDING"
    assert len(await house.records()) == 2
    house.judge()
    results = await house.append(opening(), stone(1))
    assert [result.outcome.verdict.seq for result in results] == [1, 2]


async def test_a_call_without_a_deadline_has_one_all_the_same(empty_house: House) -> None:
    error = await refused(empty_house.append(opening(), deadline_s=None))
    assert error.code == "VERDICT_PENDING"
    assert len(await empty_house.records()) == 1


async def test_a_call_that_waits_for_the_log_needs_no_referee(empty_house: House) -> None:
    (result,) = await empty_house.append(opening(), wait=LOG)
    assert (result.event_id, result.offset, result.status) == ("open", 0, 0)


async def test_a_thousand_calls_that_are_cancelled_leave_nothing_behind(empty_house: House) -> None:
    house = empty_house
    await eventually(lambda: house.gateway.waiting, 0)
    tasks = len(asyncio.all_tasks())
    calls = []
    for number in range(1000):
        request = pb.AppendEventsRequest(events=[opening(f"g{number}")])
        calls.append(house.stub.AppendEvents(request, metadata=metadata(), timeout=TIMEOUT_S))
    await eventually(lambda: house.gateway.waiting, 1000)
    for call in calls:
        call.cancel()
    await eventually(lambda: house.gateway.waiting, 0)
    assert all(call.cancelled() for call in calls)
    del calls
    await eventually(lambda: len(asyncio.all_tasks()), tasks)
    house.judge()
    (result,) = await house.append(opening("g999"))
    assert (result.status, result.outcome.verdict.seq) == (STATUS_DUPLICATE, 1)


async def test_a_caller_that_goes_away_loses_no_event(house: House) -> None:
    calls = [
        asyncio.create_task(house.append(opening(f"g{number}"), stone(1, "D4", f"g{number}"))) for number in range(50)
    ]
    await asyncio.sleep(0.02)
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    stored: dict[bytes | None, int] = {}
    for record in await house.records():
        stored[record.key] = stored.get(record.key, 0) + 1
    assert set(stored.values()) <= {2}  # whole requests
    for number in range(50):
        results = await house.append(opening(f"g{number}"), stone(1, "D4", f"g{number}"))
        assert [result.outcome.verdict.seq for result in results] == [1, 2]


async def test_callers_that_wait_are_told_when_the_service_stops(empty_house: House) -> None:
    house = empty_house
    call = asyncio.create_task(refused(house.append(opening(), stone(1))))
    partition = partition_of(b"g1", house.log.partitions("game-events"))
    stored = await anext(house.log.follow("game-events", partition, 0))
    assert len(stored) == 2
    house.following.cancel()
    error = await call
    assert (error.status, error.code) == (grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN")
    error = await refused(house.append(stone(2)))
    assert error.code == "SHUTTING_DOWN"
    assert len(await house.records()) == 2


async def test_verdicts_of_a_log_that_is_already_long_are_found(tmp_path: Path) -> None:
    sent = game(60, numbered=True)
    async with House(tmp_path) as house:
        first = await house.append(*sent)
    async with House(tmp_path) as house:
        again = await house.append(*sent, stone(61, "T19"))
        assert [result.outcome for result in again[:-1]] == [result.outcome for result in first]
        assert again[-1].status == STATUS_FOLDED


async def test_a_log_that_was_away_for_a_while_is_followed_again(house: House) -> None:
    await house.append(opening())
    await house.log.close()
    error = await refused(house.append(stone(1)))
    assert error.code == "LOG_UNAVAILABLE"
    await house.log.open()
    (result,) = await house.append(stone(1))
    assert (result.status, result.outcome.verdict.seq) == (STATUS_FOLDED, 2)
