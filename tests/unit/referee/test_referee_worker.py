"""Partitions that come and go, deliveries that cannot be trusted, a log that fails for one of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from support.hall import EVENTS, OUTCOMES, PARTITIONS, STATE, assert_judged_once, opened, read_all, record, stone, write

from caipan.eventlog import EventLog, Fenced, LogFull, LogUnavailable, NewRecord, Record, partition_of
from caipan.eventlog.delivery import Delivery, Receiver
from caipan.eventlog.embedded import EmbeddedLog
from caipan.referee import Progress, RefereeService, worker
from caipan.v1.mark_pb2 import REFEREE_PHASE_JUDGING, REFEREE_PHASE_STOPPED, REFEREE_PHASE_UNSPECIFIED

from .faults import FaultyLog

TIMEOUT_S = 60  # only so that a test which would wait for ever ends
GAMES = {partition_of(f"g{number}".encode(), PARTITIONS): f"g{number}" for number in range(20)}  # one of each partition


class ByHand(Delivery):
    """Says nothing by itself: the test does."""

    async def run(self, receiver: Receiver) -> None:
        await asyncio.get_running_loop().create_future()


class PartlyFaultyLog(FaultyLog):
    """Appends outcomes for one partition alone fail, as long as `error` is set; `hang` instead keeps them waiting."""

    def __init__(self, log: EventLog, partition: int) -> None:
        super().__init__(log)
        self._partition = partition
        self.failing: Exception | None = None
        self.hang = False

    async def append(self, topic: str, records: list[NewRecord]) -> list[tuple[int, int]]:  # type: ignore[override]
        if topic == OUTCOMES and records[0].partition == self._partition:
            if self.hang:
                await asyncio.get_running_loop().create_future()
            if self.failing:
                raise self.failing
        return await super().append(topic, records)


@asynccontextmanager
async def running(service: RefereeService) -> AsyncIterator[None]:
    task = asyncio.create_task(service.run())
    try:
        yield
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.wait([task])


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while not reached():  # noqa: ASYNC110 - nothing says when
            await asyncio.sleep(0.01)


async def put(log: EventLog, partition: int, first: int, last: int) -> list[Record]:
    """Events of the game of a partition with these numbers; how they stand in the log."""
    game_id = GAMES[partition]
    events = [opened(game_id), *(stone(game_id, number, f"C{number % 9 + 1}") for number in range(2, last + 1))]
    await log.append(EVENTS, [record(said) for said in events[first - 1 :]])
    return (await read_all(log, EVENTS, partition))[first - 1 :]


def of(service: RefereeService, partition: int) -> Progress:
    return service.status()[partition]


async def judged(service: RefereeService, partition: int, end: int) -> None:
    await until(lambda: of(service, partition).next_offset == end)


async def began(service: RefereeService, *partitions: int) -> None:
    service.assigned(partitions, kept=False)
    await until(lambda: all(of(service, each).phase == REFEREE_PHASE_JUDGING for each in partitions))


async def test_only_what_is_assigned_is_judged(log: EventLog) -> None:
    for partition in range(PARTITIONS):
        await put(log, partition, 1, 5)
    service = RefereeService(log, ByHand())
    async with running(service):
        await began(service, 0, 2)
        assert service.ready.is_set()
        assert [each.next_offset for each in service.status()] == [5, 0, 5]
        assert of(service, 1).phase == REFEREE_PHASE_UNSPECIFIED
        await service.revoked()
        await began(service, 1)
        assert [each.phase for each in service.status()] == [0, REFEREE_PHASE_JUDGING, 0]
        assert service.positions() == {1: 5}
    assert len(await read_all(log, OUTCOMES, 1)) == 5


async def test_what_is_assigned_to_nobody_here_is_no_reason_to_wait(log: EventLog) -> None:
    service = RefereeService(log, ByHand())
    async with running(service):
        service.assigned([], kept=False)
        assert service.ready.is_set()


async def test_a_partition_that_was_kept_goes_on_without_a_recovery(log: EventLog) -> None:
    watched = FaultyLog(log)
    await put(log, 0, 1, 5)
    service = RefereeService(watched, ByHand())
    async with running(service):
        await began(service, 0)
        await service.revoked()
        assert of(service, 0).phase == REFEREE_PHASE_STOPPED
        late = await put(log, 0, 6, 8)
        await service.deliver(late)  # nobody's now
        watched.reads.clear()
        service.assigned([0], kept=True)
        await judged(service, 0, 8)
        assert (OUTCOMES, 5) not in watched.reads  # as a recovery begins
        assert of(service, 0).refilled == 0
    await assert_judged_once(log)


async def test_a_partition_that_others_had_in_between_is_recovered(log: EventLog) -> None:
    watched = FaultyLog(log)
    service = RefereeService(watched, ByHand())
    async with running(service):
        await began(service, 0)
        await put(log, 0, 1, 5)
        await service.revoked()
        other = RefereeService(log, ByHand())
        async with running(other):
            await began(other, 0)
        await put(log, 0, 6, 8)
        service.assigned([0], kept=False)
        await judged(service, 0, 8)
    await assert_judged_once(log)
    assert len(await read_all(log, OUTCOMES, 0)) == 8


async def test_what_is_delivered_during_a_recovery_is_lost_to_nobody(log: EventLog) -> None:
    service = RefereeService(log, ByHand())
    async with running(service):
        for round_ in range(20):
            service.assigned([0], kept=False)
            records = await put(log, 0, 10 * round_ + 1, 10 * round_ + 10)
            for each in records:
                await service.deliver([each])
                await asyncio.sleep(0)
            await judged(service, 0, 10 * round_ + 10)
            await service.revoked()
        assert of(service, 0).refilled == 0
    await assert_judged_once(log)


async def test_a_hole_and_a_lost_tail_are_read_from_the_log_and_counted(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "TAIL_S", 0.05)
    service = RefereeService(log, ByHand())
    async with running(service):
        await began(service, 0)
        records = await put(log, 0, 1, 10)
        await service.deliver(records[:3])
        await service.deliver(records[6:])
        await judged(service, 0, 10)
        assert of(service, 0).refilled == 3
        await service.deliver(records[5:])  # again
        await put(log, 0, 11, 12)  # and not delivered
        await judged(service, 0, 12)
        assert of(service, 0).refilled == 5
    await assert_judged_once(log)


async def test_a_tail_that_has_just_come_is_waited_for(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "TAIL_S", 0.2)
    service = RefereeService(log, ByHand())
    async with running(service):
        await began(service, 0)
        for number in range(1, 8):
            records = await put(log, 0, number, number)
            await asyncio.sleep(0.05)  # on its way
            await service.deliver(records)
        await judged(service, 0, 7)
        assert of(service, 0).refilled == 0


async def test_more_than_the_inbox_takes_is_read_from_the_log(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "INBOX", 10)
    monkeypatch.setattr(worker, "ROOM_S", 0.01)
    failing = PartlyFaultyLog(log, 0)
    service = RefereeService(failing, ByHand())
    async with running(service):
        await began(service, 0)
        failing.failing = LogFull("full")
        for each in await put(log, 0, 1, 50):
            await service.deliver([each])
        failing.failing = None
        await judged(service, 0, 50)
        assert of(service, 0).refilled == 0
    await assert_judged_once(log)


async def test_a_partition_that_is_stuck_holds_up_no_other(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "INBOX", 10)
    monkeypatch.setattr(worker, "ROOM_S", 0.01)
    failing = PartlyFaultyLog(log, 0)
    service = RefereeService(failing, ByHand())
    async with running(service):
        await began(service, 0, 1)
        failing.failing = LogUnavailable("no leader")
        stuck, free = await put(log, 0, 1, 50), await put(log, 1, 1, 50)
        for pair in zip(stuck, free, strict=True):
            for each in pair:
                await service.deliver([each])
        await judged(service, 1, 50)
        assert not await read_all(log, OUTCOMES, 0)
        failing.failing = None
        await judged(service, 0, 50)
    await assert_judged_once(log)


async def test_a_log_that_hangs_does_not_hold_up_a_revocation(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "LAST_S", 0.2)
    hanging = PartlyFaultyLog(log, 0)
    service = RefereeService(hanging, ByHand())
    async with running(service):
        await began(service, 0, 1)
        hanging.hang = True
        await service.deliver(await put(log, 0, 1, 5))
        await until(lambda: of(service, 0).next_offset == 5)
        await asyncio.wait_for(service.revoked(), TIMEOUT_S)
        hanging.hang = False
        service.assigned([0, 1], kept=True)  # but it was not left in order
        await until(lambda: all(of(service, each).phase == REFEREE_PHASE_JUDGING for each in (0, 1)))
        assert service.positions() == {0: 5, 1: 0}
    await assert_judged_once(log)


async def test_a_fenced_partition_is_dropped_and_taken_over_again_if_it_stays(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "FENCED_S", 0.1)
    fenced = FaultyLog(log, Fenced("another worker has taken over"))
    service = RefereeService(fenced, ByHand(), checkpoint_s=0.01)
    async with running(service):
        await began(service, 0)
        await until(lambda: len(fenced.writes) == 2)  # who judges
        fenced.before = {3}  # behind the outcomes
        with capture_logs() as logs:
            await service.deliver(await put(log, 0, 1, 5))
            await until(lambda: of(service, 0).fenced == 1)
            assert of(service, 0).phase == REFEREE_PHASE_UNSPECIFIED
            await put(log, 0, 6, 8)
            await until(lambda: service.positions() == {0: 8})
    assert [said["event"] for said in logs] == ["fenced", "took_over"]
    await assert_judged_once(log)


async def test_a_fenced_partition_that_is_revoked_is_left_alone(log: EventLog) -> None:
    fenced = FaultyLog(log, Fenced("another worker has taken over"))
    service = RefereeService(fenced, ByHand(), checkpoint_s=0.01)
    async with running(service):
        await began(service, 0)
        await until(lambda: len(fenced.writes) == 2)
        fenced.before = {3}
        await service.deliver(await put(log, 0, 1, 5))
        await until(lambda: of(service, 0).fenced == 1)
        await service.revoked()
        service.assigned([1], kept=True)
        await until(lambda: service.positions() == {1: 0})
        assert of(service, 0).phase == REFEREE_PHASE_UNSPECIFIED
        assert (await log.restore(STATE, 0))[0] == 0


class LapsingLog(FaultyLog):
    """After a checkpoint that failed the partition must be taken over again, as Kafka wants it."""

    lapsed = False

    async def checkpoint(self, *arguments: object) -> None:  # type: ignore[override]
        if self.lapsed:
            raise Fenced("the partition is not taken over")
        try:
            await super().checkpoint(*arguments)  # type: ignore[arg-type]
        except LogUnavailable:
            self.lapsed = True
            raise

    async def take_over(self, topic: str, partition: int) -> None:
        self.lapsed = False
        await super().take_over(topic, partition)


async def test_a_checkpoint_that_failed_is_no_fencing(log: EventLog) -> None:
    lapsing = LapsingLog(log, LogUnavailable("away"))
    service = RefereeService(lapsing, ByHand(), checkpoint_s=0.01)
    async with running(service):
        await began(service, 0)
        await until(lambda: len(lapsing.writes) == 2)
        lapsing.before = {3}
        await service.deliver(await put(log, 0, 1, 5))
        await until(lambda: len(lapsing.writes) > 4 and service.positions() == {0: 5})
        assert of(service, 0).fenced == 0
    await assert_judged_once(log)
    assert (await log.restore(STATE, 0))[0] == 5


async def test_deliveries_in_any_order_are_judged_as_the_log_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "TAIL_S", 0.05)
    async with EmbeddedLog(tmp_path / "day.db", PARTITIONS) as log:
        service = RefereeService(log, ByHand(), checkpoint_s=0.02)
        async with running(service):
            await began(service, *range(PARTITIONS))
            await write(log)
            for partition in range(PARTITIONS):
                records = await read_all(log, EVENTS, partition)
                third = len(records) // 3
                for batch in (records[third:], records[:third], records[2 * third : -2], records[third : third + 1]):
                    await service.deliver(batch)
                await judged(service, partition, len(records))
        await assert_judged_once(log)


async def test_a_last_checkpoint_that_failed_is_no_fencing_either(log: EventLog) -> None:
    lapsing = LapsingLog(log, LogUnavailable("away"))
    service = RefereeService(lapsing, ByHand())
    async with running(service):
        await began(service, 0)
        await service.deliver(await put(log, 0, 1, 5))
        await judged(service, 0, 5)
        lapsing.before = {len(lapsing.writes)}
        await service.revoked()
        assert (await log.restore(STATE, 0))[0] == 0
        service.assigned([0], kept=True)
        await until(lambda: of(service, 0).phase == REFEREE_PHASE_JUDGING)
        assert of(service, 0).fenced == 0
    assert (await log.restore(STATE, 0))[0] == 5
    await assert_judged_once(log)


async def test_it_is_ready_though_a_part_was_kept_and_the_rest_went_to_others(log: EventLog) -> None:
    slow = PartlyFaultyLog(log, 1)
    await put(log, 1, 1, 5)
    slow.failing = LogUnavailable("no leader")
    service = RefereeService(slow, ByHand())
    async with running(service):
        await began_but(service, 0, other=1)
        assert not service.ready.is_set()
        await service.revoked()
        service.assigned([0], kept=True)
        await asyncio.wait_for(service.ready.wait(), TIMEOUT_S)


async def began_but(service: RefereeService, partition: int, other: int) -> None:
    service.assigned([partition, other], kept=False)
    await until(lambda: of(service, partition).phase == REFEREE_PHASE_JUDGING)


async def test_a_revocation_during_another_waits_for_its_last_checkpoint(log: EventLog) -> None:
    service = RefereeService(log, ByHand())
    async with running(service):
        await began(service, 0)
        await service.deliver(await put(log, 0, 1, 5))
        await asyncio.gather(service.revoked(), service.revoked(), service.revoked())
        assert (await log.restore(STATE, 0))[0] == of(service, 0).next_offset
        service.assigned([0], kept=True)
        await until(lambda: of(service, 0).phase == REFEREE_PHASE_JUDGING)
        await judged(service, 0, 5)
    await assert_judged_once(log)
