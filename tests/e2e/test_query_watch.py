"""Watching a game: a snapshot, then every outcome once and in order, whatever happens to the reader or the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from support.boards import filled
from support.play import Play
from support.reading import NARROW, TIMEOUT_S, Reader, Written, code, heads, rest, take, until, write

from caipan.eventlog import EventLog
from caipan.eventlog.embedded import EmbeddedLog
from caipan.query.state import advance
from caipan.query.tokens import resume_token
from caipan.v1 import game_service_pb2 as pb
from caipan.v1.game_service_pb2_grpc import GameServiceStub

MOVES = [("BW"[number % 2], f"{'ABCDEFGHJ'[number // 9]}{number % 9 + 1}") for number in range(60)]


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[EventLog]:
    async with EmbeddedLog(tmp_path / "log.db") as log:
        yield log


@pytest.fixture
async def reader(log: EventLog, tmp_path: Path) -> AsyncIterator[Reader]:
    async with Reader(log, tmp_path / "read.db") as reader:
        yield reader


@pytest.fixture
def written(log: EventLog) -> Written:
    return Written(log)


async def test_a_watcher_gets_a_snapshot_and_then_each_outcome_in_order(reader: Reader, written: Written) -> None:
    play = Play(9)
    for player, point in MOVES[:5]:
        play.stone(player, point)
    await written(play)
    await reader.settled()
    call = reader.watch("game")
    [first] = await take(call, 1)
    assert first.snapshot == await reader.game("game")
    assert first.snapshot.seq == 6
    for player, point in MOVES[5:20]:
        await written(play.stone(player, point))
    updates = await take(call, 15)
    assert [update.outcome for update in updates] == play.outcomes[6:]
    state = first.snapshot
    for update in updates:
        advance(state, update.outcome.verdict)
        state.head = update.outcome.head
    assert state == await reader.game("game")


async def test_a_game_that_was_just_opened_can_be_watched_with_min_seq(reader: Reader, written: Written) -> None:
    call = reader.games.WatchGame(pb.WatchGameRequest(game_id="game", min_seq=2), timeout=TIMEOUT_S)
    await reader.status()
    await written(Play().stone("B", "Q16"))
    [first] = await take(call, 1)
    assert first.snapshot.seq == 2


async def test_there_is_no_hole_and_no_repeat_wherever_a_watcher_comes_in(reader: Reader, written: Written) -> None:
    """Watchers begin at every moment of a game that goes on meanwhile."""
    play = Play(9)
    await written(play)
    await reader.settled()

    async def watch() -> list[int]:
        call = reader.watch("game")
        [first] = await take(call, 1)
        seqs = [first.snapshot.seq]
        while seqs[-1] < len(MOVES) + 1:
            [update] = await take(call, 1)
            seqs.append(update.outcome.verdict.seq)
        call.cancel()
        return seqs

    watching = []
    for player, point in MOVES:
        watching.append(asyncio.create_task(watch()))
        await written(play.stone(player, point))
        await asyncio.sleep(0.002)
    starts = set()
    for seqs in await asyncio.gather(*watching):
        assert seqs == list(range(seqs[0], len(MOVES) + 2))
        starts.add(seqs[0])
    assert len(starts) > 10


async def test_a_watcher_goes_on_with_its_token_after_each_outcome(reader: Reader, written: Written) -> None:
    play = Play(9)
    for player, point in MOVES[:10]:
        play.stone(player, point)
    await written(play)
    await reader.settled()
    for seq, outcome in enumerate(play.outcomes, start=1):
        call = reader.watch("game", resume_token("game", seq, outcome.head))
        updates = await take(call, len(play.outcomes) - seq)
        assert [update.outcome for update in updates] == play.outcomes[seq:]
        call.cancel()


async def test_the_token_of_every_update_leads_to_the_next_one(reader: Reader, written: Written) -> None:
    play = Play(9)
    await written(play)
    await reader.settled()
    call = reader.watch("game")
    [update] = await take(call, 1)
    for player, point in MOVES[:10]:
        call.cancel()
        await written(play.stone(player, point))
        call = reader.watch("game", update.resume_token)
        [update] = await take(call, 1)
        assert update.outcome == play.outcomes[-1]


async def test_more_outcomes_than_are_kept_ready_come_from_the_tables(reader: Reader, written: Written) -> None:
    play = filled(200)
    await written(play)
    await reader.settled()
    call = reader.watch("game", resume_token("game", 1, play.outcomes[0].head))
    other = reader.watch("game")  # its feed is shared
    assert (await take(other, 1))[0].snapshot.seq == 201
    assert heads([update.outcome for update in await take(call, 200)]) == heads(play.outcomes[1:])


async def test_a_token_ahead_of_this_replica_waits_until_it_is_there(
    log: EventLog, written: Written, tmp_path: Path
) -> None:
    play = Play().moves("B Q16, W D4, B Q4")
    later = play.outcomes[2]
    await write(log, play.outcomes[:1])
    async with Reader(log, tmp_path / "read.db", heartbeat_s=0.05) as reader:
        call = reader.watch("game", token := resume_token("game", 3, later.head))
        update = await call.read()
        assert update == pb.WatchGameResponse(heartbeat=pb.Heartbeat(), resume_token=token)
        await write(log, play.outcomes[1:])
        assert (await take(call, 1))[0].outcome == play.outcomes[3]


async def test_a_quiet_game_sends_heartbeats_with_the_last_token(
    log: EventLog, written: Written, tmp_path: Path
) -> None:
    play = Play()
    await written(play)
    async with Reader(log, tmp_path / "read.db", heartbeat_s=0.02) as reader:
        call = reader.watch("game")
        first = await call.read()
        for _ in range(3):
            assert await call.read() == pb.WatchGameResponse(heartbeat=pb.Heartbeat(), resume_token=first.resume_token)
        await written(play.stone("B", "Q16"))
        [update] = await take(call, 1)
        assert await call.read() == pb.WatchGameResponse(heartbeat=pb.Heartbeat(), resume_token=update.resume_token)
        resumed = reader.watch("game", update.resume_token)
        assert (await resumed.read()).resume_token == update.resume_token


async def test_a_resumed_watcher_of_a_quiet_game_knows_at_once_that_it_is_connected(
    reader: Reader, written: Written
) -> None:
    play = Play()
    await written(play)
    await reader.settled()
    call = reader.watch("game", resume_token("game", 1, play.outcomes[0].head))
    async with asyncio.timeout(5):  # a heartbeat would come after 15 s
        await call.initial_metadata()


# What a watcher is told instead


async def test_a_game_that_was_not_opened_cannot_be_watched(reader: Reader, written: Written) -> None:
    await written(Play(game_id="orphan", opening=False).stone("B", "Q16"))
    await reader.settled()
    for game_id in ("orphan", "none"):
        assert code((await rest(reader.watch(game_id)))[1]) == "GAME_UNKNOWN"


async def test_a_token_of_another_game_or_another_history_is_stale(reader: Reader, written: Written) -> None:
    play, other = Play().moves("B Q16, W D4"), Play(game_id="other").moves("B Q16, W D4, B Q4, W D16, B C3")
    await written(play, other)
    await reader.settled()
    for token in (
        resume_token("game", 2, play.outcomes[2].head),
        resume_token("other", 2, other.outcomes[1].head),
        resume_token("other", 6, other.outcomes[5].head),
    ):
        updates, told = await rest(reader.watch("game", token))
        assert not updates
        assert (code(told), told.field) == ("TOKEN_STALE", "resume_token")


async def test_a_damaged_token_is_malformed(reader: Reader, written: Written) -> None:
    play = Play()
    await written(play)
    await reader.settled()
    token = resume_token("game", 1, play.outcomes[0].head)
    for damaged in (token[1:], token[:-1], token.upper(), "hello", "é" * 512):
        _, told = await rest(reader.watch("game", damaged))
        assert (code(told), told.field) == ("MALFORMED", "resume_token")
    _, told = await rest(reader.watch(""))
    assert (code(told), told.field) == ("MALFORMED", "game_id")


async def test_watchers_are_told_when_the_server_stops_and_go_on_at_the_next_one(
    log: EventLog, written: Written, tmp_path: Path
) -> None:
    play = Play().moves("B Q16, W D4")
    await written(play)
    async with Reader(log, tmp_path / "read.db") as reader:
        new, resumed = reader.watch("game"), reader.watch("game", resume_token("game", 2, play.outcomes[1].head))
        await take(new, 1)
        await take(resumed, 1)
        waiting = asyncio.ensure_future(reader.game("game", min_seq=99))
        await until(lambda: len(reader.query._watchers) == 3)
        await reader.stop_following()
        tokens = set()
        for call in (new, resumed):
            updates, told = await rest(call)
            assert not updates
            assert code(told) == "SHUTTING_DOWN"
            tokens.add(told.resume_token)
        assert code((await rest(reader.watch("game")))[1]) == "SHUTTING_DOWN"
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await waiting
        assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
        assert not len(reader.query._watchers)
    await written(play.stone("B", "Q4"))
    async with Reader(log, tmp_path / "read.db") as reader:
        (token,) = tokens
        assert (await take(reader.watch("game", token), 1))[0].outcome == play.outcomes[-1]


async def test_the_server_stops_at_once_though_games_are_watched(
    log: EventLog, written: Written, tmp_path: Path
) -> None:
    await written(Play())
    async with Reader(log, tmp_path / "read.db") as reader:
        call = reader.watch("game")
        await take(call, 1)
        await reader.stop_following()
        async with asyncio.timeout(TIMEOUT_S):
            await reader.server.stop(10 * TIMEOUT_S)
        assert code((await rest(call))[1]) == "SHUTTING_DOWN"


# Slow readers


async def test_a_reader_that_stops_is_cut_and_goes_on_without_hole_or_repeat(
    log: EventLog, written: Written, tmp_path: Path
) -> None:
    play = filled(0)
    await written(play)
    async with Reader(log, tmp_path / "read.db", lag_most=50) as reader, reader.connect(*NARROW) as channel:
        stub = GameServiceStub(channel)
        call, quick = reader.watch("game", stub=stub), reader.watch("game")
        [first] = await take(call, 1)
        await take(quick, 1)
        while len(reader.query._watchers) == 2:
            assert len(play.outcomes) < 4000
            for _ in range(40):
                play.press("B").press("W")
            await written(play)
            await reader.game("game", min_seq=len(play.outcomes))
            await asyncio.sleep(0)
        updates, told = await rest(call)
        assert code(told) == "SLOW_READER"
        assert updates[-1].resume_token == told.resume_token
        assert len(updates) < len(play.outcomes) - 50
        resumed = reader.watch("game", told.resume_token, stub)
        updates += await take(resumed, len(play.outcomes) - len(updates) - 1)
        assert first.snapshot.seq == 1
        assert [update.outcome for update in updates] == play.outcomes[1:]


async def test_a_resumed_reader_may_be_far_behind_until_it_has_caught_up(
    log: EventLog, written: Written, tmp_path: Path
) -> None:
    play = Play()
    for _ in range(3000):
        play.press("B")
    await written(play)
    async with Reader(log, tmp_path / "read.db", lag_most=10) as reader, reader.connect(*NARROW) as channel:
        call = reader.watch("game", resume_token("game", 1, play.outcomes[0].head), GameServiceStub(channel))
        [first] = await take(call, 1)
        for _ in range(20):
            await written(play.press("B"))
            await reader.game("game", min_seq=len(play.outcomes))
        updates = [first, *await take(call, len(play.outcomes) - 2)]
        assert [update.outcome for update in updates] == play.outcomes[1:]


async def test_one_large_batch_cuts_nobody_who_had_caught_up(log: EventLog, written: Written, tmp_path: Path) -> None:
    play = Play()
    await written(play)
    async with Reader(log, tmp_path / "read.db", lag_most=10) as reader:
        call = reader.watch("game")
        await take(call, 1)
        for _ in range(200):
            play.press("B")
        await written(play)
        assert heads([update.outcome for update in await take(call, 200)]) == heads(play.outcomes[1:])


async def test_a_thousand_watchers_that_leave_leave_nothing_behind(
    log: EventLog, written: Written, tmp_path: Path
) -> None:
    plays = [Play(2, game_id=f"g{number}") for number in range(10)]
    await written(*plays)
    async with Reader(log, tmp_path / "read.db") as reader:
        before = len(asyncio.all_tasks())
        async with reader.connect() as channel:
            stub = GameServiceStub(channel)
            for batch in range(10):
                calls = [reader.watch(f"g{number % 10}", stub=stub) for number in range(100)]
                await asyncio.gather(*(take(call, 1) for call in calls[batch:]))  # some leave before their snapshot
                for call in calls:
                    call.cancel()
                await written(*(play.press("B") for play in plays))
        await until(lambda: not len(reader.query._watchers))
        assert not reader.query._watchers._feeds
        await until(lambda: len(asyncio.all_tasks()) <= before)
        assert (await reader.game("g0", min_seq=11)).seq == 11
