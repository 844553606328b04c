"""Checkpoints: only what changed is stored, little stays in memory, and recovery reads what lies behind them."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from support.hall import (
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

from caipan.eventlog import EventLog
from caipan.eventlog.embedded import EmbeddedLog
from caipan.referee import Referee
from caipan.referee.mark import FORMAT, MARK_KEY, read_mark, this_worker
from caipan.v1.mark_pb2 import REFEREE_PHASE_JUDGING, REFEREE_PHASE_RECOVERING, REFEREE_PHASE_STOPPED, RefereeMark

from .faults import Crash, FaultyLog


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[FaultyLog]:
    """A log of one partition that notes what is asked of it."""
    async with EmbeddedLog(tmp_path / "log.db", 1) as log:
        yield FaultyLog(log)


async def mark_of(log: EventLog) -> RefereeMark:
    return read_mark(await log.get(STATE, MARK_KEY, 0))


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
    assert [set(states) for states in log.stored[1:]] == [{b"a", b"b", b""}, {b"b", b""}]
    next_offset, states = await log.restore(STATE, 0)
    assert (next_offset, set(states)) == (13, {b"a", b"b", b""})


async def test_without_a_change_there_is_no_checkpoint(log: FaultyLog) -> None:
    referee = await referee_of(log, 0)
    await referee.checkpoint()  # it judges now
    assert not referee.changed
    await put(log, "a", 1, 5)
    await referee.catch_up()
    assert referee.changed
    await referee.checkpoint()
    await referee.checkpoint()
    assert [set(states) for states in log.stored] == [{b""}, {b""}, {b"a", b""}]


async def test_the_mark_says_who_judges_and_how_far(log: FaultyLog) -> None:
    await put(log, "a", 1, 5)
    referee = await referee_of(log, 0)
    began = await mark_of(log)
    assert (began.phase, began.next_offset, began.worker) == (REFEREE_PHASE_RECOVERING, 0, this_worker())
    await referee.checkpoint()
    judging = await mark_of(log)
    assert (judging.phase, judging.next_offset, judging.outcomes_end) == (REFEREE_PHASE_JUDGING, 5, 5)
    assert judging.since_ms >= began.since_ms > 0
    await put(log, "a", 6, 9)
    await referee.refill(9)
    await referee.close()
    stopped = await mark_of(log)
    assert (stopped.phase, stopped.next_offset, stopped.refilled) == (REFEREE_PHASE_STOPPED, 9, 4)
    again = await referee_of(log, 0)
    await again.checkpoint()
    assert (await mark_of(log)).refilled == 4


async def test_a_referee_that_rested_goes_on_where_it_was(log: FaultyLog) -> None:
    await put(log, "a", 1, 5)
    referee = await referee_of(log, 0)
    await referee.rest()
    await put(log, "a", 6, 9)
    referee.resume()
    log.reads.clear()
    await referee.catch_up()
    await referee.checkpoint()
    assert log.reads == [(EVENTS, 5)]
    assert (await mark_of(log)).phase == REFEREE_PHASE_JUDGING
    assert await written(log) == await judged_alone(log)


async def test_after_a_recovery_games_are_not_asked_of_the_log_for_a_while(log: FaultyLog) -> None:
    games = [f"g{number}" for number in range(6)]
    for game_id in games:
        await put(log, game_id, 1, 4)
    await judge_all(log)
    referee = await referee_of(log, 0, games_kept=2)
    log.gets.clear()
    for game_id in [*games[:3], "new"]:
        await put(log, game_id, 5, 5)
    await referee.catch_up()
    assert log.gets == []
    await referee.checkpoint()
    await put(log, "new", 6, 6)
    await put(log, "g0", 6, 6)  # it has left memory; what was restored is older than its checkpoint
    await put(log, "g4", 5, 5)
    await referee.catch_up()
    assert log.gets == [b"g0"]
    await referee.checkpoint()
    await put(log, "g5", 5, 5)
    await referee.catch_up()
    assert log.gets == [b"g0", b"g5"]
    assert await written(log) == await judged_alone(log)


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
    mark = await mark_of(log)
    assert (mark.format, mark.next_offset, mark.outcomes_end, list(mark.stopped)) == (FORMAT, 60, 60, [])


async def test_a_recovery_cut_short_after_a_checkpoint_of_its_own_is_taken_up(log: FaultyLog) -> None:
    for number in range(12):
        await log.append(EVENTS, [record(said) for said in play(f"g{number}", 99, random.Random(number))])
    await referee_of(log, 0)  # all judged, no checkpoint
    log.after = {len(log.writes) + 1}  # behind the mark
    with pytest.raises(Crash):
        await referee_of(log, 0, checkpoint_events=500)
    next_offset, states = await log.restore(STATE, 0)
    assert 0 < next_offset < 1200
    assert read_mark(states[MARK_KEY]).outcomes_end == 0
    (again,) = await judge_all(log)
    assert not again.stopped
    assert (await mark_of(log)).outcomes_end == 1200
    assert await written(log) == await judged_alone(log)


@pytest.mark.parametrize("mark", [None, b'{"format": "x", "outcomes_end": 9, "stopped": {}}', b"", b"\xff"])
async def test_checkpoints_of_another_format_are_dropped_and_all_is_folded_again(
    log: FaultyLog, mark: bytes | None
) -> None:
    await put(log, "a", 1, 9)
    await judge_all(log)
    await log.checkpoint(STATE, 0, 9, {b"a": b"of other protos", MARK_KEY: mark})
    with capture_logs() as logs:
        (again,) = await judge_all(log)
    assert [said["event"] for said in logs] == ["checkpoints_dropped"]
    assert again.guard.next_offset == 9
    assert await written(log) == await judged_alone(log)
    assert (await mark_of(log)).format == FORMAT
