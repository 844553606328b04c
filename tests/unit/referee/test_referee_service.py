"""The runner: judges what is there and what comes, says when it is ready, and stops cleanly."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from support.hall import (
    EVENTS,
    PARTITIONS,
    STATE,
    assert_judged_once,
    incidents,
    interleaved,
    opened,
    record,
    stone,
    write,
)

from caipan.eventlog import EventLog, WrongLog
from caipan.eventlog.embedded import EmbeddedLog
from caipan.referee import RefereeService
from caipan.referee.mark import MARK_KEY

from .faults import FaultyLog

TIMEOUT_S = 60  # only so that a test which would wait for ever ends


@asynccontextmanager
async def running(service: RefereeService) -> AsyncIterator[asyncio.Task[None]]:
    """The service at work; on leaving it is stopped, and ends as cancelled."""
    task = asyncio.create_task(service.run())
    try:
        yield task
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.wait([task])
    assert task.cancelled()


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while not reached():  # noqa: ASYNC110 - nothing says when
            await asyncio.sleep(0.01)


async def ends(log: EventLog) -> list[int]:
    return [await log.end(EVENTS, partition) for partition in range(PARTITIONS)]


def judged_up_to(service: RefereeService, offsets: list[int]) -> bool:
    return [progress.next_offset for progress in service.status()] == offsets


async def test_it_is_ready_when_all_that_was_there_is_judged(log: EventLog) -> None:
    await write(log)
    service = RefereeService(log)
    assert not service.ready.is_set()
    async with running(service):
        await asyncio.wait_for(service.ready.wait(), TIMEOUT_S)
        assert judged_up_to(service, await ends(log))
        await assert_judged_once(log)


async def test_it_judges_what_comes_and_stops_with_a_checkpoint_of_everything(log: EventLog) -> None:
    chance = random.Random(2)
    records = interleaved(incidents(chance), chance)
    service = RefereeService(log)
    async with running(service):
        while records:
            await log.append(EVENTS, records[:5])
            records = records[5:]
            await asyncio.sleep(0)
        await until(lambda: sum(progress.next_offset for progress in service.status()) > 50)
    stopped_at = [progress.next_offset for progress in service.status()]
    assert [(await log.restore(STATE, partition))[0] for partition in range(PARTITIONS)] == stopped_at
    again = RefereeService(log)
    async with running(again):
        await asyncio.wait_for(again.ready.wait(), TIMEOUT_S)
        assert judged_up_to(again, await ends(log))
    await assert_judged_once(log)


async def test_a_checkpoint_follows_a_change_though_events_keep_coming(log: EventLog) -> None:
    watched = FaultyLog(log)
    service = RefereeService(watched, checkpoint_s=0.05)
    async with running(service):
        await service.ready.wait()
        await log.append(EVENTS, [record(opened("g"))])
        for number in range(2, 1000):
            await log.append(EVENTS, [record(stone("g", number, "C3"))])
            await asyncio.sleep(0.01)
            if len(watched.stored) >= 2:
                break
        assert len(watched.stored) >= 2


async def test_idle_it_writes_nothing_but_who_judges(log: EventLog) -> None:
    await write(log)
    async with running(RefereeService(log, checkpoint_s=0.01)):
        await asyncio.sleep(0.3)
    watched = FaultyLog(log)
    async with running(RefereeService(watched, checkpoint_s=0.01)):
        await asyncio.sleep(0.3)
    assert all(set(states) == {MARK_KEY} for states in watched.stored)
    assert watched.writes == [STATE] * 3 * PARTITIONS


async def test_a_stop_under_load_and_another_start_repeat_nothing(log: EventLog) -> None:
    chance = random.Random(8)
    for round_ in range(15):
        service = RefereeService(log, checkpoint_events=20)
        async with running(service):
            await write(log, round_)
            for _ in range(chance.randrange(60)):
                await asyncio.sleep(0)
    service = RefereeService(log)
    async with running(service):
        await asyncio.wait_for(service.ready.wait(), TIMEOUT_S)
    await assert_judged_once(log)


async def test_a_locked_file_delays_the_verdicts_and_loses_none(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    async with EmbeddedLog(path, PARTITIONS, busy_timeout_s=0.02) as log:
        await write(log)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            service = RefereeService(log)
            with capture_logs() as logs:
                async with running(service):
                    await until(lambda: len(logs) >= 5)
                    assert {said["event"] for said in logs} == {"log_unavailable"}
                    assert "another program has locked the file" in logs[0]["error"]
                    assert not service.ready.is_set()
                    other.execute("ROLLBACK")
                    await asyncio.wait_for(service.ready.wait(), TIMEOUT_S)
        await assert_judged_once(log)


async def test_a_log_that_cannot_be_mended_ends_it(log: EventLog) -> None:
    await write(log)
    broken = FaultyLog(log, WrongLog("the log is damaged; put back a copy of it"))
    broken.before = {3}
    service = RefereeService(broken)
    with pytest.raises(WrongLog, match="put back a copy"):
        await asyncio.wait_for(service.run(), TIMEOUT_S)
