"""A worker killed amid live games: how long it takes until the last of its games goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

from chaos.takeover import take_over
from support.fleet import Fleet
from support.kafka import Broker

from bench.kafka_site import new_log
from bench.report import Figure

PARTITIONS = 12
LIVE, MOVES = 500, 10


async def figures(broker: Broker, folder: Path) -> list[Figure]:
    """The figure of a takeover. That nothing is lost is what the tests show."""
    with Fleet(await new_log(broker, "takeover", PARTITIONS), folder / "takeover") as fleet:
        await asyncio.to_thread(fleet.start, "gateway", "referee", "referee", "query")
        takeover, _ = await take_over(fleet, LIVE, MOVES, Random(1))
        for member in fleet.running("gateway") + fleet.running("referee") + fleet.running("query"):
            await asyncio.to_thread(member.stop)
    assert len(takeover.seconds) == takeover.stood, "some games do not go on"
    longest_s = max(takeover.seconds)
    name = f"worker of {takeover.stood} of {LIVE} live games killed"
    return [Figure(name, f"{longest_s:.1f} s", "Kafka Streams 7.5 s", longest_s, 10, True)]
