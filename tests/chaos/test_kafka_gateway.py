"""A gateway on Kafka killed between append and answer: the same events sent again have one effect and one answer."""

from __future__ import annotations

import asyncio
from itertools import islice
from pathlib import Path
from random import Random

import grpc
import pytest
from support.fleet import Fleet

from caipan.eventlog.kafka import KafkaSettings, create_topics
from caipan.v1.outcome_pb2 import STATUS_DUPLICATE, STATUS_FOLDED

from .games import games
from .hall import spread
from .load import Client, Load, Seen
from .proof import (
    assert_all_judged,
    assert_nothing_lost,
    assert_served,
    assert_watched_once_in_order,
    place,
    records_of,
)
from .test_kill import chance

PARTITIONS = 4
KILLS = 12
UPTIME_S = (0.05, 0.8)  # from the moment it is ready


@pytest.fixture
async def log(kafka: KafkaSettings) -> KafkaSettings:
    """A log with its topics."""
    await create_topics(kafka, PARTITIONS, 1)
    return kafka


async def test_what_was_stored_when_the_gateway_died_is_answered_on_repeat_as_if_nothing_had_happened(
    log: KafkaSettings, tmp_path: Path
) -> None:
    (game,) = islice(games(Random(7), moves=(30, 30)), 1)
    count = len(game.events)
    seen = Seen(games=[game])
    with Fleet(log, tmp_path) as fleet:
        way_in, reader = fleet.start("gateway", "query")  # and nobody who judges
        async with Client(way_in.address, tmp_path, seen, Random(7), reading=reader.address) as client:
            waiting = asyncio.create_task(client.append(game.events))
            await until_stored(log, count)
            way_in.kill()
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await waiting
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
            fleet.start("referee")
            fleet.again(way_in)
            first = await client.append(game.events)
            assert [result.status for result in first] == [STATUS_DUPLICATE] * count
            assert [result.outcome.verdict.status for result in first] == [STATUS_FOLDED] * count
            assert [result.outcome.verdict.seq for result in first] == list(range(1, count + 1))
            assert [result.outcome.offset for result in first] == list(range(count))
            second = await client.append(game.events)
            assert [result.outcome for result in second] == [result.outcome for result in first]
            await assert_served(client, await assert_nothing_lost(log, seen))


async def test_kills_of_the_gateway_under_load_lose_nothing_and_repeat_no_effect(
    log: KafkaSettings, tmp_path: Path
) -> None:
    random = chance()
    with Fleet(log, tmp_path) as fleet:
        way_in, *_ = fleet.start("gateway", "referee", "query")
        connect = spread(fleet)
        async with (
            connect(Seen(), random) as onlooker,
            Load(connect, games(random, moves=(15, 70)), random) as load,
        ):
            for _ in range(KILLS):
                await asyncio.sleep(random.uniform(*UPTIME_S))
                way_in.kill()
                load.check()
                way_in = await asyncio.to_thread(fleet.again, way_in)
            seen = await load.finish()
            chains = await assert_nothing_lost(log, seen)
            await assert_all_judged(log)
            assert_watched_once_in_order(seen, chains)
            await assert_served(onlooker, chains)
        for member in fleet.running("gateway") + fleet.running("referee") + fleet.running("query"):
            member.stop()
    stored = {place(record) for record in await records_of(log, "game-events")}
    unanswered = len(stored - seen.acknowledged.keys())
    print(f"{len(chains)} games, {len(stored)} records, {unanswered} of them never answered for; {seen.broken} calls")
    assert unanswered, "no kill came between append and answer"
    assert not seen.resumed, "a watcher noticed"


async def until_stored(log: KafkaSettings, count: int) -> None:
    """Waits until so many events are in the log."""
    stored = 0
    while stored < count:
        stored = len(await records_of(log, "game-events"))
