"""The service stopped with SIGTERM while a hall sends its games: nobody is left without an answer or a way to go on."""

from __future__ import annotations

import asyncio
from pathlib import Path

from support.command import Service

from .games import games
from .load import Client, Load
from .proof import assert_nothing_lost, assert_served, assert_watched_once_in_order
from .test_kill import chance

STOPS = 5
WITHIN_S = 20.0  # an orderly stop takes a few seconds


async def test_a_stop_under_load_is_orderly_and_loses_nothing(tmp_path: Path) -> None:
    random = chance()
    port = 0
    with Service(tmp_path) as first:
        port = first.port
        assert first.end() == (0, "")
    async with Load(first.address, tmp_path, games(random, moves=(15, 70)), random) as load:
        for _ in range(STOPS):
            with await asyncio.to_thread(Service, tmp_path, port) as service:
                await asyncio.sleep(random.uniform(0.3, 0.8))
                async with asyncio.timeout(WITHIN_S):
                    assert await asyncio.to_thread(service.end) == (0, "")
            load.check()
        with await asyncio.to_thread(Service, tmp_path, port) as service:
            seen = await load.finish()
            chains = await assert_nothing_lost(tmp_path, seen)
            assert_watched_once_in_order(seen, chains)
            async with Client(service.address, tmp_path, seen, random) as client:
                await assert_served(client, chains)
            assert service.end() == (0, "")
    print(f"{seen.broken} calls and {seen.resumed} streams ended, {seen.farewells} of them with a token")
    assert seen.farewells
