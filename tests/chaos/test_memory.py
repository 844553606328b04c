"""A service that has judged a whole tournament needs hardly more memory than after its first games."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from support.command import Service

from .games import Sent, games
from .load import Client, Seen

BEFORE, AFTER = 8_000, 32_000  # events
GROWTH_MB = 20  # beside some 120; 5 were measured
TOGETHER = 4  # games
REQUEST = 100  # events


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not tell the memory of a process")
async def test_memory_stays_bounded_over_many_finished_games(tmp_path: Path) -> None:
    source = games(Random(7), moves=(100, 300), finished=True)
    with Service(tmp_path) as service:
        process = Path("/proc", (tmp_path / "log.db.lock").read_text("ascii"), "status")
        async with Client(service.address, tmp_path, Seen(), Random(7)) as client:
            await play(client, source, BEFORE)
            before = memory_mb(process)
            await play(client, source, AFTER - BEFORE)
            after = memory_mb(process)
        print(f"{before:.0f} MB after {BEFORE} events, {after:.0f} MB after {AFTER}")
        assert after - before < GROWTH_MB
        assert service.end() == (0, "")


async def play(client: Client, source: Iterator[Sent], events: int) -> None:
    """Sends whole games with at least so many events in all, each watched to its end."""
    sent = 0

    async def one_after_the_other() -> None:
        nonlocal sent
        while sent < events:
            game = next(source)
            sent += len(game.events)
            watching = asyncio.create_task(client.watch(game))
            for start in range(0, len(game.events), REQUEST):
                await client.append(game.events[start : start + REQUEST])
            await watching

    await asyncio.gather(*(one_after_the_other() for _ in range(TOGETHER)))


def memory_mb(process: Path) -> float:
    """What a process has in memory."""
    kilobytes = re.search(r"VmRSS:\s+(\d+) kB", process.read_text("ascii"))
    assert kilobytes
    return int(kilobytes[1]) / 1024
