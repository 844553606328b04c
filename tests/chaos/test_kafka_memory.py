"""Memory on Kafka: of a worker that judges one game after the other, of a replica whose watchers come and go."""

from __future__ import annotations

import asyncio
import os
import urllib.request
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path
from random import Random
from statistics import mean
from typing import NamedTuple

import grpc
import pytest
from bench.games import events_of, records
from prometheus_client.parser import text_string_to_metric_families
from support.fleet import Fleet, Member

from caipan.eventlog import NewRecord
from caipan.eventlog.kafka import KafkaLog, KafkaSettings, create_topics
from caipan.v1.common_pb2 import COLOR_BLACK
from caipan.v1.event_pb2 import Event
from caipan.v1.game_service_pb2 import WatchGameRequest
from caipan.v1.game_service_pb2_grpc import GameServiceStub

from .games import Sent, games
from .load import CALL_S, Client, Seen
from .test_memory import memory_mb

PARTITIONS = 2
EVENTS = 200_000
STEP = 2_000  # events between two looks at the memory
BEFORE = 60_000  # events, until as many games are in memory as ever
TOGETHER = 20  # looks
KB_A_GAME = 2.5  # of which 0.3 are what a worker needs to find the game again
SHORT, LONG = (3, 8), (100, 300)  # events of a game
LONG_ONES = 200  # one game of so many
GO_ON, LATER = 10, 1500  # one game of so many goes on, so many games later: by then it has left memory
ID = b"game-00000"

WAVES_BEFORE, WAVES_AFTER = 10, 60
WATCHERS = 40  # in a wave
LEAVE = ("cancel", "hang up", "deadline")
DEADLINE_S = 0.2
KB_A_WATCHER = 2.0

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not tell of processes")


@pytest.fixture
async def log(kafka: KafkaSettings) -> KafkaSettings:
    """A log with its topics."""
    await create_topics(kafka, PARTITIONS, 1)
    return kafka


@pytest.mark.timeout(900)
async def test_the_memory_of_a_worker_is_flat_over_finished_and_new_games(log: KafkaSettings, tmp_path: Path) -> None:
    hall = Hall(Random(7))
    samples: list[Sample] = []
    with Fleet(log, tmp_path) as fleet:
        (worker,) = fleet.start("referee")
        async with KafkaLog(log, batches=True) as topics:
            for events in range(STEP, EVENTS + 1, STEP):
                await topics.append("game-events", list(islice(hall.records, STEP)))
                await until_judged(topics, events - STEP)
                samples.append(Sample(hall.opened, memory_mb(Path("/proc", str(worker.pid), "status"))))
            await until_judged(topics, EVENTS)
        worker.stop()
    before, after = mean_of(samples[BEFORE // STEP :][:TOGETHER]), mean_of(samples[-TOGETHER:])
    kb = (after.mb - before.mb) * 1024 / (after.games - before.games)
    print(f"{before.mb:.0f} MB by {before.games:.0f} games, {after.mb:.0f} by {after.games:.0f}: {kb:.2f} KB a game")
    assert kb < KB_A_GAME


class Sample(NamedTuple):
    """How many games were opened, and what the worker had in memory then."""

    games: float
    mb: float


def mean_of(samples: Sequence[Sample]) -> Sample:
    """One sample says little: what a worker has in hand makes 25 MB at times, and nothing a moment later."""
    return Sample(mean(each.games for each in samples), mean(each.mb for each in samples))


class Hall:
    """Games without end, as they stand in the log: most are short; half of them end, some others go on much later."""

    def __init__(self, random: Random) -> None:
        self.opened = 0
        self._random = random
        self._real = cycle([events_of(record, ID.decode()) for record in records()])
        self.records = self._records()

    def _records(self) -> Iterator[NewRecord]:
        unfinished: deque[tuple[bytes, Sequence[bytes]]] = deque()
        while True:
            game_id = b"game-%05d" % self.opened
            real = next(self._real)
            count = self._random.randint(*(LONG if self.opened % LONG_ONES == 0 else SHORT))
            begun, rest = real[:count], real[count : count + 3]
            if self.opened % 2:
                begun.append(resigned(begun))
            elif self.opened % GO_ON == 0:
                unfinished.append((game_id, rest))
            self.opened += 1
            yield from records_of(game_id, begun)
            if len(unfinished) > LATER // GO_ON:
                yield from records_of(*unfinished.popleft())


def records_of(game_id: bytes, values: Sequence[bytes]) -> Iterator[NewRecord]:
    return (NewRecord(game_id, value.replace(ID, game_id)) for value in values)


def resigned(begun: Sequence[bytes]) -> bytes:
    """Black resigns after these events of a game."""
    last = Event.FromString(begun[-1])
    told = Event(event_id="resigned", game_id=last.game_id, at_ms=last.at_ms + 1000, player=COLOR_BLACK, by=last.by)
    told.source.id, told.source_seq = "arbiter", 1
    told.game_resigned.SetInParent()
    return told.SerializeToString(deterministic=True)


async def until_judged(topics: KafkaLog, events: int) -> None:
    """Waits until so many outcomes are in the log: each of these events gives one."""
    judged = 0
    while judged < events:
        await asyncio.sleep(0.02)
        judged = sum([await topics.end("game-outcomes", partition) for partition in range(PARTITIONS)])


class Footprint(NamedTuple):
    """Of a process: what it has in memory, its open files and connections."""

    mb: float
    files: int


async def test_watchers_that_come_and_go_by_the_thousand_leave_nothing_behind(
    log: KafkaSettings, tmp_path: Path
) -> None:
    sent = list(islice(games(Random(7), moves=(60, 60)), 4))
    with Fleet(log, tmp_path, "--metrics", "127.0.0.1:0") as fleet:
        way_in, _, reader = fleet.start("gateway", "referee", "query")
        async with Client(way_in.address, tmp_path, Seen(), Random(7), reading=reader.address) as client:
            for wave in range(WAVES_BEFORE + WAVES_AFTER):
                await come_and_go(client, reader, sent, wave)
                if wave == WAVES_BEFORE - 1:
                    before = await footprint(reader)
            after = await footprint(reader)
        for member in fleet.members:
            member.stop()
    kb = (after.mb - before.mb) * 1024 / (WAVES_AFTER * WATCHERS)
    print(f"{before}, and after {WAVES_AFTER * WATCHERS} more watchers {after}: {kb:.2f} KB for each")
    assert after.files <= before.files + 5
    assert kb < KB_A_WATCHER


async def come_and_go(client: Client, reader: Member, sent: Sequence[Sent], wave: int) -> None:
    """Some watchers: most see the next event of their game and leave, a third stays until its deadline."""
    came = asyncio.Semaphore(0)
    async with asyncio.TaskGroup() as watchers:
        for number in range(WATCHERS):
            watchers.create_task(watch(reader.address, sent[number % len(sent)], came, LEAVE[number % len(LEAVE)]))
        if wave == 0:
            await client.append([game.events[0] for game in sent])
        for _ in range(WATCHERS):
            await came.acquire()
        await client.append([game.events[wave + 1] for game in sent])


async def watch(address: str, game: Sent, came: asyncio.Semaphore, leave: str) -> None:
    """A watcher with a connection of its own. It says when it has come."""
    deadline_s = DEADLINE_S if leave == "deadline" else CALL_S
    async with grpc.aio.insecure_channel(address, options=(("grpc.use_local_subchannel_pool", 1),)) as channel:
        request = WatchGameRequest(game_id=game.game_id, min_seq=1)
        watching = GameServiceStub(channel).WatchGame(request, timeout=deadline_s, wait_for_ready=True)
        if leave == "deadline":
            came.release()
            with suppress(grpc.aio.AioRpcError):
                async for _ in watching:
                    pass
            return
        assert (await watching.read()).HasField("snapshot")
        came.release()
        assert (await watching.read()).HasField("outcome")
        if leave == "cancel":
            watching.cancel()


async def footprint(member: Member) -> Footprint:
    """Once nobody watches any more."""
    async with asyncio.timeout(CALL_S):
        while any(await asyncio.to_thread(watchers_of, member)):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.05)
    process = Path("/proc", str(member.pid))
    return Footprint(memory_mb(process / "status"), len(os.listdir(process / "fd")))


def watchers_of(member: Member) -> tuple[float, float]:
    """How many watchers the process says it has, and how many of their calls."""
    with urllib.request.urlopen(member.metrics, timeout=CALL_S) as answer:
        families = list(text_string_to_metric_families(answer.read().decode()))
    samples = [sample for family in families for sample in family.samples]
    (watchers,) = [sample.value for sample in samples if sample.name == "caipan_query_watchers"]
    (calls,) = [
        sample.value
        for sample in samples
        if sample.name == "caipan_grpc_open_calls" and sample.labels["method"] == "WatchGame"
    ]
    return watchers, calls
