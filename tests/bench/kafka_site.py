"""A log of caipan's on a Kafka, under a prefix of its own, and real games for it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from support.kafka import Broker

from bench.games import events_of, records
from caipan.eventlog import NewRecord
from caipan.eventlog.kafka import KafkaLog, KafkaSettings, create_topics

EVENTS, OUTCOMES = "game-events", "game-outcomes"

_LOOK_S = 0.1
_AT_ONCE = 4000  # records appended at once
_END_S = 120  # only so that what never comes ends the run


async def new_log(broker: Broker, name: str, partitions: int) -> KafkaSettings:
    """A log with its topics."""
    settings = KafkaSettings.of_url(broker.url).model_copy(update={"topic_prefix": f"{name}."})
    await create_topics(settings, partitions, replication=1)
    return settings


def real_events(name: str, games: int) -> list[NewRecord]:
    """The events of so many games, the 25 real ones again and again: one of each game, then the next of each."""
    real = records()
    ids = [f"{name}-{number}" for number in range(games)]
    logs = [events_of(real[number % len(real)], game_id) for number, game_id in enumerate(ids)]
    return list(_in_turn(ids, logs))


def _in_turn(ids: Sequence[str], logs: Sequence[Sequence[bytes]]) -> Iterator[NewRecord]:
    step: tuple[Any, ...]
    for step in zip_longest(*logs):
        for game_id, value in zip(ids, step, strict=True):
            if value is not None:
                yield NewRecord(game_id.encode(), value)


async def append_all(log: KafkaLog, topic: str, records: Sequence[NewRecord]) -> None:
    """Appends records as fast as the log takes them."""
    for start in range(0, len(records), _AT_ONCE):
        await log.append(topic, records[start : start + _AT_ONCE])


async def grown(log: KafkaLog, topic: str, count: int) -> None:
    """Waits until so many records stand in a topic."""
    async with asyncio.timeout(_END_S):
        while sum(await _ends(log, topic)) < count:  # noqa: ASYNC110 - Kafka tells nobody
            await asyncio.sleep(_LOOK_S)


async def growing_s(log: KafkaLog, topic: str) -> float:
    """The time from the first record of a topic to the last one, by the clock of the broker."""
    places = [(at, offset) for at, end in enumerate(await _ends(log, topic)) if end for offset in (0, end - 1)]
    times_ms = [(await log.read(topic, partition, offset, 1))[0].timestamp_ms for partition, offset in places]
    return (max(times_ms) - min(times_ms)) / 1000


async def _ends(log: KafkaLog, topic: str) -> list[int]:
    return [await log.end(topic, partition) for partition in range(log.partitions(topic))]
