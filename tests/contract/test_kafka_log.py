"""The log on Kafka keeps the contract, whichever way it appends, and stands what a cluster does to it."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from kafka import KafkaProducer
from support.kafka import Broker

from caipan.eventlog import Fenced, LogUnavailable, WrongLog
from caipan.eventlog.kafka import KafkaLog, KafkaSettings, create_topics
from caipan.eventlog.kafka import reading as reading_module

from .eventlog_contract import (
    GAMES,
    PARTITIONS,
    PEOPLE,
    STATE,
    Connect,
    EventLogContract,
    numbered,
    read_all,
    take,
    values,
)


class OnKafka(EventLogContract):
    batches: bool

    @pytest.fixture
    def connect(self, kafka: KafkaSettings) -> Connect:
        asyncio.run(create_topics(kafka, PARTITIONS, 1))
        return lambda: KafkaLog(kafka, batches=self.batches)


class TestKafkaLogOfAGateway(OnKafka):
    batches = False


class TestKafkaLogOfAFold(OnKafka):
    batches = True


@pytest.fixture
async def log(kafka: KafkaSettings) -> AsyncIterator[KafkaLog]:
    await create_topics(kafka, PARTITIONS, 1)
    async with KafkaLog(kafka, batches=True) as log:
        yield log


@pytest.fixture
def own_broker(java: None, tmp_path: Path) -> Iterator[Broker]:
    """A broker that this test may stop."""
    with Broker(tmp_path) as broker:
        yield broker


async def insisted(append: Callable[[], Awaitable[object]]) -> int:
    """Appends until the log takes it; how often it did not."""
    failed = 0
    async with asyncio.timeout(120):
        while True:
            try:
                await append()
                return failed
            except LogUnavailable:
                failed += 1


# Who writes checkpoints


async def test_whoever_takes_a_partition_over_fences_the_one_before(log: KafkaLog, kafka: KafkaSettings) -> None:
    await log.take_over(STATE, 0)
    await log.checkpoint(STATE, 0, 5, {b"g": b"old"})
    async with KafkaLog(kafka, batches=True) as successor:
        await successor.take_over(STATE, 0)
        with pytest.raises(Fenced, match="another worker has taken over"):
            await log.checkpoint(STATE, 0, 6, {b"g": b"too late"})
        with pytest.raises(Fenced):
            await log.checkpoint(STATE, 0, 6, {b"g": b"too late"})
        assert await successor.restore(STATE, 0) == (5, {b"g": b"old"})
        await successor.checkpoint(STATE, 0, 7, {b"g": b"new"})
        assert await log.restore(STATE, 0) == (7, {b"g": b"new"})
        await log.take_over(STATE, 0)
        await log.checkpoint(STATE, 0, 8, {b"g": b"again"})
        with pytest.raises(Fenced):
            await successor.checkpoint(STATE, 0, 9, {})


async def test_a_partition_must_be_taken_over_before_its_checkpoints(log: KafkaLog) -> None:
    await log.take_over(STATE, 0)
    with pytest.raises(Fenced, match="game-state-1 is not taken over"):
        await log.checkpoint(STATE, 1, 6, {})


async def test_a_transaction_that_was_cut_is_not_seen_and_holds_up_nobody(log: KafkaLog, kafka: KafkaSettings) -> None:
    await log.take_over(STATE, 0)
    await log.checkpoint(STATE, 0, 5, {b"g": b"whole"})
    (producer,) = log._checkpoints._producers.values()
    await producer.begin_transaction()
    await producer.send_and_wait(kafka.topic(STATE), b"cut", b"g", partition=0)
    async with KafkaLog(kafka, batches=True) as successor:
        await successor.take_over(STATE, 0)
        assert await successor.restore(STATE, 0) == (5, {b"g": b"whole"})
        assert await successor.get(STATE, b"g", 0) == b"whole"


async def test_a_partition_that_has_a_hole_for_each_transaction_is_read_to_its_end(log: KafkaLog) -> None:
    await log.take_over(STATE, 0)
    for number in range(30):
        await log.checkpoint(STATE, 0, number, {b"%d" % (number % 7): b"%d" % number})
    next_offset, states = await log.restore(STATE, 0)
    assert next_offset == 29
    assert states == {b"%d" % (number % 7): b"%d" % number for number in range(30)}


# What is in the topics already


async def test_records_of_others_come_as_they_are(log: KafkaLog, kafka: KafkaSettings, broker: Broker) -> None:
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap, max_request_size=2 << 20)
    for key, value in ((None, b"no key"), (b"g", None), (b"g", b"x" * 1_900_000)):
        producer.send(kafka.topic(GAMES), key=key, value=value, partition=0).get(30)
    producer.close()
    records = await read_all(log, GAMES, 0)
    assert [(record.key, len(record.value)) for record in records] == [(None, 6), (b"g", 0), (b"g", 1_900_000)]


async def test_topics_that_are_missing_or_wrong_are_named_when_the_log_is_opened(kafka: KafkaSettings) -> None:
    with pytest.raises(WrongLog, match="topics create") as caught:
        await KafkaLog(kafka).open()
    for name in (GAMES, STATE, PEOPLE):
        assert f"{kafka.topic(name)}: there is no such topic" in str(caught.value)


# A cluster that is away


@pytest.mark.parametrize("batches", [False, True])
async def test_appends_go_on_after_the_broker_was_killed_and_nothing_acknowledged_is_lost(
    own_broker: Broker, batches: bool
) -> None:
    settings = KafkaSettings.of_url(own_broker.url)
    await create_topics(settings, PARTITIONS, 1)
    acknowledged: list[int] = []
    async with KafkaLog(settings, batches=batches) as log:
        follower = log.follow(GAMES, 0, 0)

        async def append() -> None:
            number = len(acknowledged)
            await insisted(lambda: log.append(GAMES, numbered(1, start=number)))
            acknowledged.append(number)

        for _ in range(20):
            await append()
        writing = asyncio.create_task(append())
        await asyncio.to_thread(own_broker.kill)
        await asyncio.sleep(12)  # longer than an append is waited for
        await asyncio.to_thread(own_broker.start)
        await writing
        for _ in range(20):
            await append()
        stored = values(await read_all(log, GAMES, 0))
        assert sorted(set(stored)) == acknowledged
        assert stored == sorted(stored)  # repeated perhaps, never out of order
        assert values(await take(follower, len(stored))) == stored


async def test_a_log_that_is_away_says_so_and_what_to_look_at(own_broker: Broker) -> None:
    settings = KafkaSettings.of_url(own_broker.url)
    await create_topics(settings, PARTITIONS, 1)
    async with KafkaLog(settings, batches=True) as log:
        await log.append(GAMES, numbered(1))
        await log.take_over(STATE, 0)
        await asyncio.to_thread(own_broker.pause)
        tries = [
            log.append(GAMES, numbered(1)),
            log.end(GAMES, 0),
            log.read(GAMES, 0, 0),
            log.checkpoint(STATE, 0, 1, {}),
            log.restore(STATE, 0),
        ]
        for outcome in await asyncio.gather(*tries, return_exceptions=True):
            assert isinstance(outcome, LogUnavailable), outcome
            assert own_broker.bootstrap in str(outcome)
            assert "is the broker up" in str(outcome)
        await asyncio.to_thread(own_broker.resume)
        await insisted(lambda: log.append(GAMES, numbered(1)))
        assert set(values(await read_all(log, GAMES, 0))) == {0}
    await asyncio.to_thread(own_broker.kill)
    with pytest.raises(LogUnavailable, match="no broker answers"):
        await KafkaLog(settings).open()


# What is left behind


async def test_a_follower_that_is_dropped_lets_go_of_its_connection(log: KafkaLog) -> None:
    await log.append(GAMES, numbered(3))
    for _ in range(20):
        follower = log.follow(GAMES, 0, 0)
        assert values(await take(follower, 3)) == [0, 1, 2]
    del follower
    gc.collect()
    await asyncio.sleep(1)
    assert not log._followers
    assert "_fetch" not in " ".join(str(task.get_coro()) for task in asyncio.all_tasks())


async def test_more_readers_than_consumers_each_get_their_range(log: KafkaLog) -> None:
    for partition in range(PARTITIONS):
        await log.append(GAMES, numbered(500, partition))
    ranges = [(n % PARTITIONS, 7 * n % 400) for n in range(12 * reading_module._READERS)]
    found = await asyncio.gather(*(log.read(GAMES, partition, start, 50) for partition, start in ranges))
    for (_, start), records in zip(ranges, found, strict=True):
        assert values(records) == list(range(start, start + 50))


async def test_a_cancelled_read_leaves_the_next_one_whole(log: KafkaLog) -> None:
    await log.append(GAMES, numbered(3000))
    for wait_ms in range(20):
        reading = asyncio.create_task(log.read(GAMES, 0, 0, 3000))
        await asyncio.sleep(wait_ms / 1000)
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading
    assert values(await log.read(GAMES, 0, 0, 3000))[:5] == [0, 1, 2, 3, 4]
    assert len(await read_all(log, GAMES, 0)) == 3000
