"""A query that builds its read model from a log of many outcomes, against reading them and no more."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from aiokafka import AIOKafkaConsumer, TopicPartition
from support.fleet import Fleet
from support.kafka import Broker

from bench.kafka_site import OUTCOMES, append_all, new_log, real_events
from bench.report import Figure
from caipan.eventlog import NewRecord, partition_of
from caipan.eventlog.kafka import KafkaLog, KafkaSettings
from caipan.rules.game import Game, read_event

PARTITIONS = 12
EVENTS = 100_000
_GAMES = 200  # enough for so many events


async def figures(broker: Broker, folder: Path) -> list[Figure]:
    """The figure of a rebuild, from the start of the process until it serves."""
    settings = await new_log(broker, "rebuild", PARTITIONS)
    async with KafkaLog(settings, batches=True) as log:
        await append_all(log, OUTCOMES, _outcomes(real_events("rebuilt", _GAMES)[:EVENTS]))
    bare = EVENTS / await _read_s(settings)
    with Fleet(settings, folder / "rebuild") as fleet:
        began = time.perf_counter()
        (query,) = await asyncio.to_thread(fleet.start, "query")
        took_s = time.perf_counter() - began
        await asyncio.to_thread(query.stop)
    rate = EVENTS / took_s
    value = f"{took_s:.1f} s, {rate:,.0f}/s"
    return [Figure(f"query rebuilt from {EVENTS:,} events", value, f"aiokafka reads {bare:,.0f}/s", rate / bare)]


def _outcomes(events: Sequence[NewRecord]) -> list[NewRecord]:
    """What a referee writes."""
    games: dict[bytes, Game] = {}
    offsets: Counter[int] = Counter()
    outcomes = []
    for event in events:
        assert event.key is not None
        game_id, partition = event.key.decode(), partition_of(event.key, PARTITIONS)
        game = games.setdefault(event.key, Game(game_id, partition))
        said = read_event(event.value, game_id)
        assert not isinstance(said, str)
        judged = game.apply(said, event.value, offsets[partition])
        outcomes += [NewRecord(event.key, each.record, partition=partition) for each in judged]
        offsets[partition] += 1
    return outcomes


async def _read_s(settings: KafkaSettings) -> float:
    """How long a consumer of aiokafka takes to read them, seconds."""
    began = time.perf_counter()
    async with AIOKafkaConsumer(bootstrap_servers=settings.servers) as consumer:
        streams = [TopicPartition(settings.topic(OUTCOMES), partition) for partition in range(PARTITIONS)]
        consumer.assign(streams)
        await consumer.seek_to_beginning(*streams)
        left = EVENTS
        while left:
            left -= sum(map(len, (await consumer.getmany(timeout_ms=1000)).values()))
    return time.perf_counter() - began
