"""Workers on Kafka that are killed, paused, stopped and joined while games go on: each event has one verdict."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from support.fleet import Fleet, Member

from caipan.eventlog.kafka import KafkaSettings, create_topics
from caipan.v1.outcome_pb2 import Outcome

from .games import games
from .hall import Pace, PacedClient, spread, until_shared
from .load import Client, Load, Place, Seen
from .proof import (
    assert_all_judged,
    assert_nothing_lost,
    assert_served,
    assert_watched_once_in_order,
    place,
    records_of,
)
from .takeover import gone_on, of, take_over
from .test_kill import chance

PARTITIONS = 8
CLIENTS = 30  # each with one game at a time
RATE = 120  # events a second
REFUSED = "another worker has taken over"  # says a worker of a checkpoint of a partition
LIVE_PARTITIONS, LIVE_GAMES, LIVE_MOVES = 12, 500, 10


@dataclass(frozen=True)
class Change:
    """What befell a worker, when (ms UTC), and the partitions it judged then."""

    what: str
    at_ms: int
    partitions: frozenset[int]


class Changes:
    """Changes among the workers; after each the partitions are shared by those that are left."""

    def __init__(self, fleet: Fleet, client: Client) -> None:
        self.made: list[Change] = []
        self._fleet = fleet
        self._client = client

    async def kill(self, worker: Member) -> None:
        await self._make("killed", worker)
        worker.kill()
        await self._shared()

    async def stop(self, worker: Member) -> None:
        await self._make("stopped", worker)
        await asyncio.to_thread(worker.stop)
        await self._shared()

    async def pause(self, worker: Member) -> None:
        """Until others judge all that it had; then it goes on."""
        await self._make("paused", worker)
        worker.pause()
        await self._shared(without=worker)
        self.made.append(Change("goes on", _now_ms(), frozenset()))
        worker.go_on()
        await self._shared()

    async def join(self) -> Member:
        self.made.append(Change("joins", _now_ms(), frozenset()))
        (worker,) = await asyncio.to_thread(self._fleet.start, "referee")
        await self._shared()
        return worker

    async def _make(self, what: str, worker: Member) -> None:
        judges = await self._shared()
        had = frozenset(partition for partition, pid in judges.items() if pid == worker.pid)
        self.made.append(Change(what, _now_ms(), had))

    async def _shared(self, without: Member | None = None) -> dict[int, int]:
        return await until_shared(
            self._client, [worker for worker in self._fleet.running("referee") if worker is not without]
        )


async def test_workers_killed_paused_stopped_and_joined_under_load_judge_each_event_once(
    kafka: KafkaSettings, tmp_path: Path
) -> None:
    random = chance()
    await create_topics(kafka, PARTITIONS, 1)
    pace = Pace(RATE)
    with Fleet(kafka, tmp_path) as fleet:
        fleet.start("gateway", "gateway", "query", "query")
        first, paused, stopped = fleet.start("referee", "referee", "referee")
        connect = spread(fleet, partial(PacedClient, pace=pace))
        async with (
            connect(Seen(), random) as onlooker,
            connect(Seen(), random) as other,
            Load(connect, games(random, moves=(15, 40)), random, CLIENTS) as load,
        ):
            changes = Changes(fleet, onlooker)
            await changes.kill(first)
            again = await changes.join()
            await changes.kill(again)
            await changes.pause(paused)
            await changes.stop(stopped)
            await changes.join()
            load.check()
            pace.let_go()
            seen = await load.finish()
            chains = await assert_nothing_lost(kafka, seen)
            await assert_all_judged(kafka)
            assert_watched_once_in_order(seen, chains)
            assert not seen.resumed, "a watcher was cut"
            for client in (onlooker, other):
                await assert_served(client, chains)
        fleet.stop()
    await report(kafka, changes.made)
    (had,) = (change.partitions for change in changes.made if change.what == "paused")
    refused = {entry["partition"] for entry in paused.told if REFUSED in entry.get("error", "")} & had
    print(f"the paused worker had {len(had)} partitions; its checkpoints were refused in {len(refused)}")
    assert refused


async def report(log: KafkaSettings, changes: Sequence[Change]) -> None:
    """Prints what each change cost."""
    events, outcomes = await records_of(log, "game-events"), await records_of(log, "game-outcomes")
    judged_ms: dict[Place, int] = {}
    for record in outcomes:
        outcome = Outcome.FromString(record.value)
        judged_ms.setdefault((outcome.partition, outcome.offset), record.timestamp_ms)
    print(f"{len(events)} events, {len(outcomes)} outcomes and notices")
    for change, until_ms in zip(changes, [*(change.at_ms for change in changes[1:]), math.inf], strict=True):
        waits = [
            judged_ms[place(record)] - record.timestamp_ms
            for record in events
            if change.at_ms <= judged_ms[place(record)] < until_ms
        ]
        told = f"{change.what}: of {len(waits)} events one waited {max(waits, default=0) / 1000:.1f} s"
        if change.what in ("killed", "paused"):
            seconds = gone_on(outcomes, change.at_ms, change.partitions).values()
            told += f"; {len(seconds)} games of {len(change.partitions)} partitions go on after {of(seconds)}"
        print(told)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


async def test_a_worker_killed_amid_500_live_games_costs_no_event_and_all_games_go_on(
    kafka: KafkaSettings, tmp_path: Path
) -> None:
    await create_topics(kafka, LIVE_PARTITIONS, 1)
    with Fleet(kafka, tmp_path) as fleet:
        fleet.start("gateway", "referee", "referee", "query")
        random = chance()
        takeover, seen = await take_over(fleet, LIVE_GAMES, LIVE_MOVES, random)
        print(takeover)
        assert len(takeover.seconds) == takeover.stood > 0
        chains = await assert_nothing_lost(kafka, seen)
        await assert_all_judged(kafka)
        assert_watched_once_in_order(seen, chains)
        async with spread(fleet)(seen, random) as client:
            await assert_served(client, chains)
        fleet.stop()
