"""The referee on a real Kafka: partitions move while events flow, and every event is judged once in effect."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from kafka import KafkaProducer
from mode.utils.queues import FlowControlEvent
from structlog.testing import capture_logs
from support.command import Running
from support.hall import (
    EVENTS,
    PARTITIONS,
    STATE,
    assert_judged_once,
    incidents,
    interleaved,
    judged_alone,
    opened,
    play,
    quarantine_of,
    record,
    stone,
    without_repeats,
    written,
)

from caipan.eventlog import NewRecord, partition_of
from caipan.eventlog.kafka import KafkaLog, KafkaSettings, create_topics, streams
from caipan.eventlog.kafka.streams import GroupDelivery
from caipan.referee import RefereeService
from caipan.referee.mark import MARK_KEY, read_mark
from caipan.v1.mark_pb2 import REFEREE_PHASE_JUDGING, REFEREE_PHASE_STOPPED, RefereeMark

TIMEOUT_S = 90  # only so that a test which would wait for ever ends
ALL = list(range(PARTITIONS))


@pytest.fixture
async def log(kafka: KafkaSettings) -> AsyncIterator[KafkaLog]:
    """A log with its topics, for the one who writes events and looks at what came of them."""
    await create_topics(kafka, PARTITIONS, 1)
    async with KafkaLog(kafka, batches=True) as log:
        yield log


class Worker:
    """A worker as a process has it, with a log and a delivery of its own; the task ends when it is stopped."""

    def __init__(self, kafka: KafkaSettings) -> None:
        self.delivery = GroupDelivery(kafka, EVENTS, "referee")
        self._log = KafkaLog(kafka, batches=True)

    async def __aenter__(self) -> Worker:
        await self._log.open()
        self.service = RefereeService(self._log, self.delivery, checkpoint_s=0.2)
        self.task = asyncio.create_task(self.service.run())
        await asyncio.wait_for(self.service.ready.wait(), TIMEOUT_S)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])
        await self._log.close()
        assert self.task.cancelled()

    @property
    def partitions(self) -> list[int]:
        return [each.partition for each in self.service.status() if each.phase == REFEREE_PHASE_JUDGING]


async def until(reached: Callable[[], bool] | Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while not (done := reached()) or (not isinstance(done, bool) and not await done):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def judged(log: KafkaLog) -> None:
    """All that stands in the log has its outcome; what it is may be asked then."""

    async def reached() -> bool:
        return without_repeats(await written(log)) == without_repeats(expected)

    expected = await judged_alone(log)
    await until(reached)


@asynccontextmanager
async def flowing(log: KafkaLog, seed: int) -> AsyncIterator[None]:
    """Events of a day in the hall come all the while, and to their end."""

    async def flow() -> None:
        for day in range(100):
            chance = random.Random(seed + day)
            renamed = interleaved(incidents(chance), chance) if day == 0 else games(day, chance)
            for first in range(0, len(renamed), 3):
                await log.append(EVENTS, renamed[first : first + 3])
                await asyncio.sleep(0.01)
                if stop.is_set() and day:
                    return

    stop = asyncio.Event()
    task = asyncio.create_task(flow())
    yield
    stop.set()
    await asyncio.wait_for(task, TIMEOUT_S)


def games(day: int, chance: random.Random) -> list[NewRecord]:
    made = [[record(said) for said in play(f"d{day}-{number}", 30, chance)] for number in range(6)]
    return interleaved(made, chance)


async def test_partitions_move_while_events_flow_and_each_is_judged_once(kafka: KafkaSettings, log: KafkaLog) -> None:
    async with Worker(kafka) as first:
        async with flowing(log, 1):
            assert first.partitions == ALL
            async with Worker(kafka) as second:
                await until(lambda: len(first.partitions) + len(second.partitions) == PARTITIONS)
                assert second.partitions
                async with Worker(kafka) as third:
                    await until(lambda: [len(each.partitions) for each in (first, second, third)] == [1, 1, 1])
                await until(lambda: sorted(first.partitions + second.partitions) == ALL)
            await until(lambda: first.partitions == ALL)
        await judged(log)
    await assert_judged_once(log)
    marks = [await mark_of(log, partition) for partition in ALL]
    assert {mark.phase for mark in marks} == {REFEREE_PHASE_STOPPED}
    assert [mark.next_offset for mark in marks] == [await log.end(EVENTS, partition) for partition in ALL]


async def mark_of(log: KafkaLog, partition: int) -> RefereeMark:
    return read_mark(await log.get(STATE, MARK_KEY, partition))


@contextmanager
def referee(kafka: KafkaSettings) -> Iterator[Running]:
    """`caipan referee` in a process of its own, ready."""
    at = {"CAIPAN_LOG": kafka.name, "CAIPAN_KAFKA_TOPIC_PREFIX": kafka.topic_prefix}
    with Running("referee", "--json", **at) as process:
        assert json.loads(process.line())
        yield process


async def test_a_paused_worker_is_fenced_and_changes_no_verdict(kafka: KafkaSettings, log: KafkaLog) -> None:
    with referee(kafka) as paused, referee(kafka) as other:
        async with flowing(log, 7):
            await until(lambda: shared_by(log, paused, other))
            theirs = [each for each in ALL if (await mark_of(log, each)).worker.endswith(f":{paused.pid}")]
            assert theirs
            os.kill(paused.pid, signal.SIGSTOP)
            for partition in theirs:  # past its session they are the other's
                await until(lambda partition=partition: judged_by(log, partition, other))
            os.kill(paused.pid, signal.SIGCONT)
            await until(lambda: shared_by(log, paused, other))  # it comes again
        await judged(log)
        assert other.end()[0] == 0
        code, said = paused.end()
        assert code == 0
        assert "another worker has taken over" in said


async def judged_by(log: KafkaLog, partition: int, process: Running) -> bool:
    mark = await mark_of(log, partition)
    return mark.worker.endswith(f":{process.pid}") and mark.phase == REFEREE_PHASE_JUDGING


async def shared_by(log: KafkaLog, *processes: Running) -> bool:
    """Whether each of them judges some partition, and one of them each partition."""
    marks = [await mark_of(log, partition) for partition in ALL]
    workers = {mark.worker.rpartition(":")[2] for mark in marks if mark.phase == REFEREE_PHASE_JUDGING}
    return workers == {str(process.pid) for process in processes}


async def test_a_takeover_needs_no_reads_of_single_games(
    kafka: KafkaSettings, log: KafkaLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Worker(kafka):
        for number in range(20):
            await log.append(EVENTS, [record(opened(f"g{number}"))])
        await judged(log)
    async with Worker(kafka):
        reads: list[bytes] = []
        get = KafkaLog.get

        async def noted(self: KafkaLog, topic: str, key: bytes, partition: int | None = None) -> bytes | None:
            if self is not log:
                reads.append(key)
            return await get(self, topic, key, partition)

        monkeypatch.setattr(KafkaLog, "get", noted)
        for number in range(20):
            await log.append(EVENTS, [record(stone(f"g{number}", 2, "C3"))])
        await judged(log)
        assert reads == []


async def test_the_group_is_told_how_far_the_judgement_is(
    kafka: KafkaSettings, log: KafkaLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "COMMIT_S", 0.2)
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka.servers)
    await admin.start()

    async def committed() -> dict[int, int]:
        offsets = await admin.list_consumer_group_offsets(kafka.topic("referee"))
        return {place.partition: told.offset for place, told in offsets.items() if place.topic == kafka.topic(EVENTS)}

    async def reached() -> bool:
        return await committed() == ends

    async with Worker(kafka), flowing(log, 3):
        pass
    async with Worker(kafka):
        await judged(log)
        ends = {partition: await log.end(EVENTS, partition) for partition in ALL}
        await until(reached)
    await admin.close()


async def test_records_without_a_key_or_a_value_pass(kafka: KafkaSettings, log: KafkaLog) -> None:
    async with Worker(kafka):
        here = partition_of(b"g", PARTITIONS)
        await log.append(EVENTS, [record(opened("g"))])
        producer = KafkaProducer(**kafka.client())
        for key, value in ((b"g", None), (None, b"?")):
            producer.send(kafka.topic(EVENTS), value, key, partition=here).get(TIMEOUT_S)
        producer.close()
        await log.append(EVENTS, [record(stone("g", 2, "C3"))])
        await judged(log)
        assert len(await quarantine_of(log)) == 2
    await assert_judged_once(log)


async def test_a_faust_that_breaks_is_started_again(
    kafka: KafkaSettings, log: KafkaLog, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    apps: list[Any] = []
    build = GroupDelivery._app

    def noted(self: GroupDelivery, *arguments: Any) -> Any:
        apps.append(build(self, *arguments))
        return apps[-1]

    monkeypatch.setattr(GroupDelivery, "_app", noted)
    with capture_logs() as logs:
        async with Worker(kafka) as worker:
            await log.append(EVENTS, games(1, random.Random(1)))
            await judged(log)
            await apps[0].crash(RuntimeError("a fault"))
            await until(lambda: len(apps) == 2 and worker.partitions == ALL)
            await log.append(EVENTS, games(2, random.Random(2)))
            await judged(log)
    (told,) = [said for said in logs if said["event"] == "delivery_failed"]
    assert "a fault" in told["error"]
    await assert_judged_once(log)
    assert "Traceback" not in "".join(capfd.readouterr())


class Held(RefereeService):
    """Takes the first record and no further one until it is let go; notes what is delivered."""

    def __init__(self, log: KafkaLog, delivery: GroupDelivery) -> None:
        super().__init__(log, delivery)
        self.offsets: list[int] = []
        self.let_go = asyncio.Event()

    async def deliver(self, records: Any) -> None:
        self.offsets += [each.offset for each in records]
        await self.let_go.wait()
        await super().deliver(records)


@pytest.mark.parametrize(("flow", "lost"), [(streams.PatientFlow, 0), (FlowControlEvent, 9)])
async def test_the_end_of_a_rebalance_with_a_filled_queue(
    kafka: KafkaSettings, log: KafkaLog, flow: type[FlowControlEvent], lost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The very steps that faust takes when partitions have moved, at the moment when they do harm.

    Nothing is lost by the remedy; with the stock class faust loses what it has in its queue, and the guard finds it.
    """
    monkeypatch.setattr(streams, "COMMIT_S", TIMEOUT_S)  # nothing that faust could go back to
    apps: list[Any] = []
    build = GroupDelivery._app

    def altered(self: GroupDelivery, *arguments: Any) -> Any:
        app = build(self, *arguments)
        app.flow_control = flow()
        apps.append(app)
        return app

    monkeypatch.setattr(GroupDelivery, "_app", altered)
    service = Held(log, GroupDelivery(kafka, EVENTS, "referee"))
    task = asyncio.create_task(service.run())
    await asyncio.wait_for(service.ready.wait(), TIMEOUT_S)
    (app,) = apps
    await until(lambda: not app.rebalancing)
    here = partition_of(b"g", PARTITIONS)
    await log.append(EVENTS, [record(said) for said in play("g", 9, random.Random(1))])
    (channel,) = app.topics._tp_index[(kafka.topic(EVENTS), here)]
    await until(lambda: service.offsets == [0] and channel.queue.qsize() == 9)
    await app.tables.recovery._resume_streams(app.consumer_generation_id)
    service.let_go.set()
    await judged(log)
    assert service.offsets == list(range(10 - lost))
    assert service.status()[here].refilled == lost
    task.cancel()
    await asyncio.wait([task])
