"""The service stopped with SIGTERM while a hall sends its games: nobody is left without an answer or a way to go on."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import grpc
import pytest
from support.command import Service

from caipan.v1.errors_pb2 import ERROR_CODE_SHUTTING_DOWN
from caipan.v1.game_service_pb2 import WatchGameRequest

from .games import games
from .load import CALL_S, Client, Load, Seen, told
from .proof import assert_nothing_lost, assert_served, assert_watched_once_in_order
from .test_kill import chance

STOPS = 8
UPTIME_S = (0.2, 0.6)
WITHIN_S = 20.0  # a stop takes a fraction of a second
QUIET = 3  # watchers of a game in which nothing happens


async def test_stops_under_load_are_orderly_and_lose_nothing(tmp_path: Path) -> None:
    random = chance()
    source = games(random, moves=(15, 70))
    quiet = next(source)
    with Service(tmp_path) as service:
        async with Client(service.address, tmp_path, Seen(), random) as client:
            await client.append(quiet.events)
        assert service.end() == (0, "")
    async with Load(partial(Client, service.address, tmp_path), source, random) as load:
        for _ in range(STOPS):
            with await asyncio.to_thread(Service, tmp_path, service.port) as again:
                async with Client(again.address, tmp_path, Seen(), random) as client:
                    farewells = [asyncio.create_task(farewell(client, quiet.game_id)) for _ in range(QUIET)]
                    await asyncio.sleep(random.uniform(*UPTIME_S))
                    async with asyncio.timeout(WITHIN_S):
                        assert await asyncio.to_thread(again.end) == (0, "")
                        await asyncio.gather(*farewells)
            load.check()
        with await asyncio.to_thread(Service, tmp_path, service.port) as last:
            seen = await load.finish()
            seen.games.append(quiet)
            chains = await assert_nothing_lost(tmp_path, seen)
            assert_watched_once_in_order(seen, chains)
            async with Client(last.address, tmp_path, seen, random) as client:
                await assert_served(client, chains)
            assert last.end() == (0, "")
    print(f"{seen.broken} calls and {seen.resumed} streams ended, {seen.farewells} with a farewell and a token")
    assert seen.farewells


async def farewell(client: Client, game_id: str) -> None:
    """A watcher who is told at the end where to go on."""
    watching = client.games.WatchGame(WatchGameRequest(game_id=game_id), timeout=CALL_S, wait_for_ready=True)
    update = await watching.read()
    assert update.HasField("snapshot")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await watching.read()
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    detail = told(caught.value)
    assert detail.code == ERROR_CODE_SHUTTING_DOWN
    assert detail.resume_token == update.resume_token
