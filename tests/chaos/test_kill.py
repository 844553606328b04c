"""The service killed with SIGKILL again and again, at moments that nobody chose, while a hall sends its games."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from functools import partial
from pathlib import Path
from random import Random

from support.command import Running, Service

from caipan.eventlog.embedded import EmbeddedLog

from .games import games
from .load import Client, Load
from .proof import assert_nothing_lost, assert_served, assert_watched_once_in_order, place, records_of

KILLS = 50
UPTIME_S = (0.05, 0.45)  # from the moment it is ready
LONG_UPTIME_S = (2.0, 2.4)  # long enough for a checkpoint
RECOVERY_S = (0.4, 0.9)  # from its start on: before it is ready, or just then
SEED = "CAIPAN_CHAOS_SEED"


async def test_fifty_kills_under_load_lose_nothing_and_change_no_verdict(tmp_path: Path) -> None:
    random = chance()
    with Service(tmp_path) as first:
        assert first.end() == (0, "")
    async with Load(partial(Client, first.address, tmp_path), games(random, moves=(15, 70)), random) as load:
        for number in range(KILLS):
            await asyncio.to_thread(start_and_kill, tmp_path, first.port, number, random)
            load.check()
        assert await checkpointed(tmp_path), "no kill came after a checkpoint"
        with await asyncio.to_thread(Service, tmp_path, first.port) as service:
            seen = await load.finish()
            chains = await assert_nothing_lost(tmp_path, seen)
            assert_watched_once_in_order(seen, chains)
            async with Client(service.address, tmp_path, seen, random) as client:
                await assert_served(client, chains)
            assert service.end() == (0, "")
    stored = {place(record) for record in await records_of(tmp_path, "game-events")}
    unanswered = len(stored - seen.acknowledged.keys())
    print(f"{len(chains)} games, {len(stored)} records, {unanswered} of them never answered for;")
    print(f"{seen.broken} calls and {seen.resumed} streams were broken")
    assert unanswered, "no kill came between append and answer"
    assert seen.resumed, "no kill broke a stream"


def chance() -> Random:
    """Another seed each time, unless one is given; it is printed, so that a failure can be looked into."""
    seed = os.environ.get(SEED) or str(time.time_ns())
    print(f"{SEED}={seed}")
    return Random(seed)


def start_and_kill(data: Path, port: int, number: int, random: Random) -> None:
    """Every fifth kill comes while the service still recovers, every tenth after a checkpoint."""
    if number % 5 == 0:
        with Running("up", "--json", "--data", data, "--listen", f"127.0.0.1:{port}") as service:
            time.sleep(random.uniform(*RECOVERY_S))
            assert service.end(signal.SIGKILL) == (-signal.SIGKILL, "")
    else:
        with Service(data, port) as service:
            time.sleep(random.uniform(*LONG_UPTIME_S if number % 10 == 3 else UPTIME_S))
            assert service.end(signal.SIGKILL) == (-signal.SIGKILL, "")


async def checkpointed(data: Path) -> int:
    """How many events the checkpoints say are done."""
    async with EmbeddedLog(data / "log.db", read_only=True) as log:
        return sum([(await log.restore("game-state", each))[0] for each in range(log.partitions("game-events"))])
