"""The delivery guard: what is repeated is skipped, what is missing is read from the log."""

from __future__ import annotations

import random

import pytest
from support.hall import EVENTS, PARTITIONS, judged_alone, read_all, referee_of, write, written

from caipan.eventlog import DeliveryGuard, EventLog, LogUnavailable, NewRecord, Record


async def stored(log: EventLog, count: int) -> list[Record]:
    await log.append(EVENTS, [NewRecord(b"k", b"%d" % n, partition=0) for n in range(count)])
    return await read_all(log, EVENTS, 0)


async def taken(guard: DeliveryGuard, records: list[Record]) -> list[int]:
    """The offsets that are taken when these records are delivered."""
    offsets = []
    while due := await guard.admit(records):
        offsets += [record.offset for record in due]
        guard.next_offset = due[-1].offset + 1
    return offsets


async def test_a_hole_is_filled_from_the_log_and_counted(log: EventLog) -> None:
    records = await stored(log, 20)
    guard = DeliveryGuard(log, EVENTS, 0)
    assert await taken(guard, records[:3]) == [0, 1, 2]
    assert await taken(guard, records[7:9]) == [3, 4, 5, 6, 7, 8]
    assert guard.refilled == 4
    assert await taken(guard, [records[9], records[12], records[15]]) == [9, 10, 11, 12, 13, 14, 15]
    assert guard.refilled == 8


async def test_a_repeated_range_is_skipped(log: EventLog) -> None:
    records = await stored(log, 10)
    guard = DeliveryGuard(log, EVENTS, 0, next_offset=2)
    assert await taken(guard, records[:5]) == [2, 3, 4]
    assert await taken(guard, records[:5]) == []
    assert await taken(guard, [*records[3:7], *records[3:8]]) == [5, 6, 7]
    assert guard.refilled == 0


async def test_what_was_admitted_and_not_taken_is_admitted_again(log: EventLog) -> None:
    records = await stored(log, 5)
    guard = DeliveryGuard(log, EVENTS, 0)
    assert await guard.admit(records) == await guard.admit(records) == records


async def test_a_long_hole_is_filled_in_pieces(log: EventLog) -> None:
    records = await stored(log, 2500)
    guard = DeliveryGuard(log, EVENTS, 0)
    assert len(await guard.admit(records[-1:])) < 2499
    guard = DeliveryGuard(log, EVENTS, 0)
    assert await taken(guard, records[-1:]) == list(range(2500))
    assert guard.refilled == 2499


async def test_a_hole_in_the_log_itself_is_an_error_that_names_it(log: EventLog) -> None:
    records = await stored(log, 3)
    never = Record(EVENTS, 0, 7, b"k", b"7", (), 0)
    guard = DeliveryGuard(log, EVENTS, 0)
    assert await taken(guard, records) == [0, 1, 2]
    with pytest.raises(LogUnavailable, match=r"game-events-0: no record at offset 3, .* 7"):
        await guard.admit([never])
    assert guard.next_offset == 3


@pytest.mark.parametrize("seed", range(10))
async def test_any_delivery_gives_each_record_once_and_in_order(log: EventLog, seed: int) -> None:
    records = await stored(log, 60)
    chance = random.Random(seed)
    guard = DeliveryGuard(log, EVENTS, 0)
    offsets: list[int] = []
    for _ in range(40):
        start = chance.randrange(60)
        batch = [record for record in records[start : start + 12] if chance.random() < 0.8]
        if chance.random() < 0.2:
            chance.shuffle(batch)
        offsets += await taken(guard, batch)
    offsets += await taken(guard, records[-1:])
    assert offsets == list(range(60))


@pytest.mark.parametrize("seed", range(3))
async def test_a_referee_judges_the_same_whatever_is_delivered(log: EventLog, seed: int) -> None:
    referees = [await referee_of(log, partition) for partition in range(PARTITIONS)]
    await write(log, seed)
    chance = random.Random(seed)
    for partition, referee in enumerate(referees):
        records = await read_all(log, EVENTS, partition)
        for _ in range(10):
            start = chance.randrange(len(records))
            await referee.feed([record for record in records[start : start + 9] if chance.random() < 0.8])
        await referee.feed(records[-1:])
        assert referee.guard.refilled > 0
    assert await written(log) == await judged_alone(log)
