"""Checkpoints: only what changed is stored, little stays in memory, and recovery reads what lies behind them."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from caipan.eventlog import EventLog
from caipan.eventlog.embedded import EmbeddedLog
from caipan.referee import Referee
from caipan.referee.processor import FORMAT

from .faults import Crash, FaultyLog
from .hall import (
    EVENTS,
    OUTCOMES,
    STATE,
    judge_all,
    judged_alone,
    opened,
    play,
    read_all,
    record,
    referee_of,
    stone,
    written,
)


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[FaultyLog]:
    """A log of one partition that notes what is asked of it."""
    async with EmbeddedLog(tmp_path / "log.db", 1) as log:
        yield FaultyLog(log)


async def put(log: EventLog, game_id: str, first: int, last: int) -> None:
    """The events of a game with these numbers."""
    events = [opened(game_id), *(stone(game_id, number, f"C{number % 9 + 1}") for number in range(2, last + 1))]
    await log.append(EVENTS, [record(said) for said in events[first - 1 :]])


async def test_a_checkpoint_stores_the_games_that_changed_since_the_last_one(log: FaultyLog) -> None:
    referee = await referee_of(log, 0)
    await put(log, "a", 1, 5)
    await put(log, "b", 1, 5)
    await referee.catch_up()
    await referee.checkpoint()
    await put(log, "b", 6, 8)
    await referee.catch_up()
    await referee.checkpoint()
    assert [set(states) for states in log.stored] == [{b"a", b"b", b""}, {b"b", b""}]
    next_offset, states = await log.restore(STATE, 0)
    assert (next_offset, set(states)) == (13, {b"a", b"b", b""})


async def test_without_a_change_there_is_no_checkpoint(log: FaultyLog) -> None:
    referee = await referee_of(log, 0)
    await referee.checkpoint()
    await put(log, "a", 1, 5)
    await referee.catch_up()
    assert referee.changed
    await referee.checkpoint()
    await referee.checkpoint()
    await referee.close()
    again = await referee_of(log, 0)
    assert not again.changed
    await again.close()
    assert len(log.stored) == 1


async def test_every_so_many_events_there_is_a_checkpoint_behind_their_outcomes(log: FaultyLog) -> None:
    await put(log, "a", 1, 100)
    referee = Referee(log, 0, checkpoint_events=30)
    records = await read_all(log, EVENTS, 0)
    for first in range(0, 100, 10):
        await referee.feed(records[first : first + 10])
        next_offset, _ = await log.restore(STATE, 0)
        assert next_offset == (first + 10) // 30 * 30
    assert log.writes == ([EVENTS] + ([OUTCOMES] * 3 + [STATE]) * 4)[:14]


async def test_games_not_used_lately_leave_memory_and_come_back_as_they_were(log: FaultyLog) -> None:
    games = [f"g{number}" for number in range(20)]
    referee = Referee(log, 0, games_kept=3, checkpoint_events=20)
    sizes = []
    for last in (4, 8, 12):
        for game_id in games:
            await put(log, game_id, last - 3, last)
            await referee.catch_up()
            sizes.append(len(referee.games))
    assert max(sizes) <= 3 + 20 // 4
    assert await written(log) == await judged_alone(log)
    await referee.checkpoint()
    assert len(referee.games) == 3
    log.gets.clear()
    for game_id in ("g0", *games[-2:]):  # only the first is not in memory
        await put(log, game_id, 13, 13)
    await referee.catch_up()
    assert log.gets == [b"g0"]


async def test_recovery_reads_what_lies_behind_the_checkpoint_and_no_more(log: FaultyLog) -> None:
    await put(log, "a", 1, 50)
    referee = await referee_of(log, 0)
    await referee.checkpoint()
    await put(log, "a", 51, 60)
    await referee.catch_up()  # and no checkpoint
    log.reads.clear()
    again = await referee_of(log, 0)
    assert sorted(log.reads) == [(EVENTS, 50), (OUTCOMES, 50), (OUTCOMES, 60)]
    assert again.guard.next_offset == 60
    await again.checkpoint()
    assert len((await written(log))[b"a"]) == 60
    log.reads.clear()
    await referee_of(log, 0)
    assert log.reads == [(OUTCOMES, 60)]
    mark = json.loads((await log.restore(STATE, 0))[1][b""])
    assert mark == {"format": FORMAT, "outcomes_end": 60, "stopped": {}}


async def test_a_recovery_cut_short_after_a_checkpoint_of_its_own_is_taken_up(log: FaultyLog) -> None:
    for number in range(12):
        await log.append(EVENTS, [record(said) for said in play(f"g{number}", 99, random.Random(number))])
    await referee_of(log, 0)  # all judged, no checkpoint
    log.after = {len(log.writes)}
    with pytest.raises(Crash):
        await referee_of(log, 0, checkpoint_events=500)
    next_offset, states = await log.restore(STATE, 0)
    assert 0 < next_offset < 1200
    assert json.loads(states[b""])["outcomes_end"] == 0
    (again,) = await judge_all(log)
    assert not again.stopped
    assert json.loads((await log.restore(STATE, 0))[1][b""])["outcomes_end"] == 1200
    assert await written(log) == await judged_alone(log)
