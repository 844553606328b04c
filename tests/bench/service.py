"""Append by gRPC until a watcher has the verdict, against a bare gRPC echo, at 200 events/s."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

import grpc
from support.command import Service

from bench.games import START_MS
from bench.report import Figure
from caipan.serving.tokens import load_private_key, make_token
from caipan.v1.common_pb2 import COLOR_BLACK, COLOR_WHITE
from caipan.v1.event_pb2 import Event
from caipan.v1.game_service_pb2 import WatchGameRequest
from caipan.v1.game_service_pb2_grpc import GameServiceStub
from caipan.v1.intake_service_pb2 import WAIT_LOG, AppendEventsRequest
from caipan.v1.intake_service_pb2_grpc import IntakeServiceStub

RATE = 200
SECONDS = 5
GAME = "bench"


def figures() -> list[Figure]:
    """All figures of the service."""
    echo, appended = asyncio.run(_measure())
    p50, p99 = (statistics.quantiles(appended, n=100)[at] * 1000 for at in (49, 98))
    bare = statistics.median(echo) * 1000
    yardstick = f"bare gRPC echo {bare:.2f} ms"
    return [
        Figure("append to watcher at 200/s, p50", f"{p50:.1f} ms", yardstick, p50 / bare, 8, True),
        Figure("append to watcher at 200/s, p99", f"{p99:.1f} ms", "-", p99, 100, True),
    ]


async def _measure() -> tuple[list[float], list[float]]:
    with tempfile.TemporaryDirectory() as folder, Service(Path(folder)) as service:
        async with grpc.aio.insecure_channel(service.address) as channel:
            return await _echo(), await asyncio.wait_for(_append(channel, Path(folder)), 60)


async def _echo() -> list[float]:
    """Round trips of a bare server that sends back what it gets."""

    async def answer(request: bytes, _: grpc.aio.ServicerContext) -> bytes:
        return request

    server = grpc.aio.server()
    handler = grpc.unary_unary_rpc_method_handler(answer)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("bench.Echo", {"Echo": handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    took = []
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        call = channel.unary_unary("/bench.Echo/Echo")
        for _ in range(RATE * SECONDS):
            start = time.perf_counter()
            await call(b"x" * 150)
            took.append(time.perf_counter() - start)
            await asyncio.sleep(1 / RATE)
    await server.stop(None)
    return took[RATE:]


async def _append(channel: grpc.aio.Channel, folder: Path) -> list[float]:
    token = make_token(load_private_key(folder / "token-key.pem"), "bench", ["RECORDER"], ["*"], ["*"], 3600)
    metadata = (("authorization", f"Bearer {token}"),)
    intake = IntakeServiceStub(channel)
    await intake.AppendEvents(AppendEventsRequest(events=[_opening()]), metadata=metadata)
    sent: dict[str, float] = {}
    took: list[float] = []
    watch = GameServiceStub(channel).WatchGame(WatchGameRequest(game_id=GAME, min_seq=1))
    await watch.read()

    async def follow() -> None:
        while len(took) < RATE * SECONDS:
            update = await watch.read()
            if update.HasField("outcome"):
                took.append(time.perf_counter() - sent[update.outcome.verdict.event_id])

    following = asyncio.create_task(follow())
    calls = []
    for number in range(RATE * SECONDS):
        event = _move(number)
        sent[event.event_id] = time.perf_counter()
        calls.append(intake.AppendEvents(AppendEventsRequest(events=[event], wait=WAIT_LOG), metadata=metadata))
        await asyncio.sleep(1 / RATE)
    await asyncio.gather(*calls)
    await asyncio.wait_for(following, 30)
    watch.cancel()
    return took[RATE:]


def _opening() -> Event:
    opening = Event(event_id="opening", game_id=GAME, at_ms=START_MS)
    opening.game_opened.regulations.edition = "CN2002"
    opening.game_opened.regulations.untimed = True
    return opening


def _move(number: int) -> Event:
    """Stones that are set and presses that follow them."""
    player = COLOR_WHITE if number // 2 % 2 else COLOR_BLACK
    event = Event(event_id=f"e{number}", game_id=GAME, at_ms=START_MS + number * 1000, player=player)
    event.source.id, event.source_seq = "board", number + 1
    if number % 2:
        event.clock_pressed.SetInParent()
    else:
        index = number // 2 % 361
        event.stone_placed.point = f"{'ABCDEFGHJKLMNOPQRST'[index % 19]}{index // 19 + 1}"
    return event
