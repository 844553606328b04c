"""A referee that dies or is stopped anywhere, or whose log fails, changes nothing: same bytes, no gaps, no repeats."""

from __future__ import annotations

import asyncio
import random
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from support.hall import (
    EVENTS,
    PARTITIONS,
    STATE,
    assert_judged_once,
    judge_all,
    judged_alone,
    quarantine_of,
    read_all,
    referee_of,
    slices,
    without_repeats,
    write,
    written,
)

from caipan.eventlog import EventLog, LogError, LogFull, LogUnavailable, guard
from caipan.eventlog.embedded import EmbeddedLog
from caipan.referee import Referee

from .faults import Crash, FaultyLog

SETTINGS = {"checkpoint_events": 12, "games_kept": 1}


@pytest.fixture
async def day(tmp_path: Path) -> Path:
    """A log with the events of a day and nothing judged."""
    path = tmp_path / "day.db"
    async with EmbeddedLog(path, PARTITIONS) as log:
        await write(log)
    return path


def copied(day: Path, number: int) -> EmbeddedLog:
    return EmbeddedLog(shutil.copy(day, day.with_name(f"day-{number}.db")))


async def deliver(log: EventLog, partition: int) -> None:
    """A referee that is fed all events in small batches: many writes, so many moments to die in between."""
    referee = Referee(log, partition, **SETTINGS)
    for batch in slices(await read_all(log, EVENTS, partition), random.Random(7)):
        await referee.feed(batch)
    await referee.checkpoint()


async def writes_of(day: Path, partition: int) -> list[str]:
    async with copied(day, 999) as log:
        faulty = FaultyLog(log)
        await deliver(faulty, partition)
        return faulty.writes


@pytest.mark.parametrize("partition", range(PARTITIONS))
async def test_a_crash_at_any_write_repeats_nothing_and_leaves_no_gap(day: Path, partition: int) -> None:
    writes = await writes_of(day, partition)
    assert {"game-outcomes", "game-state", "quarantine"} == set(writes)
    for number in range(len(writes)):
        for when in ("before", "after"):
            async with copied(day, number) as log:
                faulty = FaultyLog(log)
                setattr(faulty, when, {number})
                with pytest.raises(Crash):
                    await deliver(faulty, partition)
                await judge_all(log)
                await assert_judged_once(log)


async def test_a_crash_of_the_recovery_itself_repeats_nothing_either(
    day: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "_READ", 7)  # so that a recovery has many writes
    chance = random.Random(5)
    for number in range(25):
        async with copied(day, number) as log:
            for number in (0, *chance.sample(range(1, 7), 3)):
                faulty = FaultyLog(log)
                getattr(faulty, chance.choice(["before", "after"])).add(number)
                with suppress(Crash):
                    await referee_of(faulty, 2, **SETTINGS)
            assert (await log.restore(STATE, 2))[0] > 0
            await judge_all(log)
            await assert_judged_once(log)


async def test_what_is_quarantined_twice_has_the_same_bytes(day: Path) -> None:
    async with copied(day, 0) as log, copied(day, 1) as undisturbed:
        faulty = FaultyLog(log)
        faulty.after = {(await writes_of(day, 2)).index("quarantine")}
        with pytest.raises(Crash):
            await deliver(faulty, 2)
        await judge_all(log)
        await judge_all(undisturbed)
        records = await quarantine_of(log)
        expected = {record.record_id: record for record in await quarantine_of(undisturbed)}
        assert len(records) > len(expected)
        assert all(record == expected[record.record_id] for record in records)


@pytest.mark.parametrize("error", [LogUnavailable("locked"), LogFull("full")])
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_log_that_fails_and_works_again_gets_the_same_bytes(day: Path, when: str, error: LogError) -> None:
    """Called again with the same records or the next ones, the referee goes on where it was."""
    chance = random.Random(when)
    for number in range(12):
        async with copied(day, number) as log:
            faulty = FaultyLog(log, error)
            setattr(faulty, when, set(chance.sample(range(20), 8)))
            referee = Referee(faulty, 2, **SETTINGS)
            failures = 0
            for batch in slices(await read_all(log, EVENTS, 2), random.Random(7)):
                while True:
                    try:
                        await referee.feed(batch)
                        break
                    except LogError:
                        failures += 1
                        if chance.random() < 0.5:
                            break  # dropped: the guard reads it from the log
            setattr(faulty, when, set())
            await referee.catch_up()
            await referee.checkpoint()
            assert failures
            outcomes = await written(log)
            if when == "before":
                assert all(len(values) == len(set(values)) for values in outcomes.values())
            await judge_all(log)
            assert without_repeats(await written(log)) == without_repeats(await judged_alone(log))


async def test_the_same_records_again_after_a_failure_are_enough(day: Path) -> None:
    async with copied(day, 0) as log:
        faulty = FaultyLog(log, LogFull("full"))
        faulty.before = {0, 2}
        referee = Referee(faulty, 2)
        records = await read_all(log, EVENTS, 2)
        for _ in range(2):  # the quarantine fails, then the outcomes
            with pytest.raises(LogFull):
                await referee.feed(records)
            assert await written(log) == {}
        await referee.feed(records)
        assert sum(map(len, (await written(log)).values())) >= len(records) - len(await quarantine_of(log))


async def test_a_stop_at_any_moment_repeats_nothing(day: Path) -> None:
    for steps in range(1, 120, 3):
        async with copied(day, steps) as log:
            referee = Referee(log, 2, **SETTINGS)
            feeding = asyncio.create_task(referee.feed(await read_all(log, EVENTS, 2)))
            for _ in range(steps):
                await asyncio.sleep(0)
            stopped = feeding.cancel()
            await asyncio.wait([feeding])
            assert feeding.cancelled() == stopped
            await referee.close()
            next_offset, _ = await log.restore(STATE, 2)
            assert next_offset == referee.guard.next_offset
            await judge_all(log)
            await assert_judged_once(log)


async def test_a_stop_while_the_log_fails_keeps_the_earlier_checkpoint(day: Path) -> None:
    async with copied(day, 0) as log:
        faulty = FaultyLog(log, LogUnavailable("locked"))
        referee = Referee(faulty, 2, checkpoint_events=10)
        records = await read_all(log, EVENTS, 2)
        await referee.feed(records[:10])
        before = await log.restore(STATE, 2)
        assert before[0] == 10
        faulty.before = set(range(100))
        with pytest.raises(LogUnavailable):
            await referee.feed(records[10:])
        await referee.close()
        assert await log.restore(STATE, 2) == before
        await judge_all(log)
        await assert_judged_once(log)
