"""Append by gRPC until a watcher has the verdict, at 200 events/s: gateway, referee and query in a process each.

The yardstick, in turn with it: from a bare producer of kafka-python with acks=all to a bare consumer of aiokafka, on as
many partitions.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from itertools import islice
from pathlib import Path
from typing import Any, Self

import grpc
from aiokafka import AIOKafkaConsumer, TopicPartition
from kafka import KafkaProducer
from support.fleet import Fleet
from support.kafka import Broker

from bench.kafka_site import EVENTS, new_log, real_events
from bench.report import Figure
from caipan.eventlog.kafka import KafkaSettings
from caipan.serving.tokens import generate_keys, load_private_key, make_token
from caipan.v1.event_pb2 import Event
from caipan.v1.game_service_pb2 import WatchGameRequest
from caipan.v1.game_service_pb2_grpc import GameServiceStub
from caipan.v1.intake_service_pb2 import WAIT_LOG, AppendEventsRequest
from caipan.v1.intake_service_pb2_grpc import IntakeServiceStub

RATE = 200
GAMES = 20  # as many watchers
PARTITIONS = 12  # as `caipan topics create` makes them
ROUNDS = 4
BARE, SERVED = 2 * RATE, 4 * RATE  # events in each round
WARM = RATE  # not counted
_END_S = 60  # only so that a verdict which never comes ends the run

Ms = list[float]


async def figures(broker: Broker, folder: Path) -> list[Figure]:
    """The figures of the way from append to watcher."""
    served, yardstick = await measured(broker, folder)
    p50, p99 = _quantiles(served)
    bare_p50, bare_p99 = _quantiles(yardstick)
    name = f"append to watcher on Kafka, {RATE}/s"
    return [
        Figure(f"{name}, p50", f"{p50:.1f} ms", f"bare to consumer {bare_p50:.2f} ms", p50 / bare_p50, 8, True),
        Figure(f"{name}, p99", f"{p99:.1f} ms", f"bare to consumer {bare_p99:.1f} ms", p99, 100, True),
    ]


async def measured(broker: Broker, folder: Path) -> tuple[Ms, Ms]:
    """How long each took, with caipan and bare."""
    site, bare = [await new_log(broker, name, PARTITIONS) for name in ("line", "bare")]
    served, yardstick = Ms(), Ms()
    with Fleet(site, folder / "line") as fleet:
        await asyncio.to_thread(fleet.start, "gateway", "referee", "query")
        async with asyncio.timeout(_END_S * ROUNDS), _Bare(bare) as records, _Line(fleet) as line:
            await records.times(WARM)
            await line.times(WARM)
            for _ in range(ROUNDS):
                yardstick += await records.times(BARE)
                served += await line.times(SERVED)
    return served, yardstick


def _quantiles(times: Ms) -> tuple[float, float]:
    quantiles = statistics.quantiles(times, n=100)
    return quantiles[49], quantiles[98]


class _Bare:
    """Records that nobody judges."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._topic = settings.topic(EVENTS)
        self._producer = KafkaProducer(bootstrap_servers=settings.servers, acks="all")
        self._consumer = AIOKafkaConsumer(bootstrap_servers=settings.servers)

    async def __aenter__(self) -> Self:
        await self._consumer.start()
        partitions = [TopicPartition(self._topic, each) for each in range(PARTITIONS)]
        self._consumer.assign(partitions)
        await self._consumer.seek_to_end(*partitions)
        for each in partitions:
            await self._consumer.position(each)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._consumer.stop()
        await asyncio.to_thread(self._producer.close)

    async def times(self, count: int) -> Ms:
        sending = asyncio.create_task(asyncio.to_thread(self._send, count))
        times = Ms()
        while len(times) < count:
            record = await self._consumer.getone()
            times.append((time.perf_counter() - float(record.value)) * 1000)
        await sending
        return times

    def _send(self, count: int) -> None:
        began = time.perf_counter()
        for number in range(count):
            time.sleep(max(0.0, began + number / RATE - time.perf_counter()))
            value = b"%.9f" % time.perf_counter()
            self._producer.send(self._topic, value.ljust(200), partition=number % PARTITIONS)


class _Line:
    """The services, one client that sends the events of real games, one watcher of each game."""

    def __init__(self, fleet: Fleet) -> None:
        (gateway,), (query,) = fleet.running("gateway"), fleet.running("query")
        self._in = grpc.aio.insecure_channel(gateway.address)
        self._out = grpc.aio.insecure_channel(query.address)
        key = load_private_key(generate_keys(fleet.folder).private)
        token = make_token(key, "bench", ["RECORDER"], ["*"], ["*"], 3600)
        self._metadata = (("authorization", f"Bearer {token}"),)
        self._intake = IntakeServiceStub(self._in)
        self._events = (Event.FromString(record.value) for record in real_events("live", GAMES))
        self._sent: dict[tuple[str, str], float] = {}
        self._times = Ms()
        self._seen = asyncio.Event()
        self._watching: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        openings = list(islice(self._events, GAMES))
        await self._intake.AppendEvents(AppendEventsRequest(events=openings), metadata=self._metadata)
        games = GameServiceStub(self._out)
        streams = [games.WatchGame(WatchGameRequest(game_id=opening.game_id, min_seq=1)) for opening in openings]
        await asyncio.gather(*(stream.read() for stream in streams))  # the snapshots
        self._watching = [asyncio.create_task(self._watch(stream)) for stream in streams]
        for watching in self._watching:
            watching.add_done_callback(lambda _: self._seen.set())
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._watching:
            task.cancel()
        await asyncio.gather(*self._watching, return_exceptions=True)
        await self._in.close()
        await self._out.close()

    async def times(self, count: int) -> Ms:
        began = time.perf_counter()
        calls = []
        for number, event in enumerate(islice(self._events, count)):
            await asyncio.sleep(began + number / RATE - time.perf_counter())
            request = AppendEventsRequest(events=[event], wait=WAIT_LOG)
            self._sent[event.game_id, event.event_id] = time.perf_counter()
            calls.append(self._intake.AppendEvents(request, metadata=self._metadata))
        await asyncio.gather(*calls)
        while self._sent:
            self._seen.clear()
            await self._seen.wait()
            assert not any(watching.done() for watching in self._watching), "a watcher was cut off"
        times, self._times = self._times, Ms()
        return times

    async def _watch(self, stream: Any) -> None:
        while update := await stream.read():  # EOF is false
            if update.HasField("outcome"):
                verdict = update.outcome.verdict
                sent = self._sent.pop((verdict.game_id, verdict.event_id))
                self._times.append((time.perf_counter() - sent) * 1000)
                self._seen.set()
