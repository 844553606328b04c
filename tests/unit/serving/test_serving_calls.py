"""Calls are counted once, when they end, under the code that the caller sees."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import grpc
import pytest
from prometheus_client import REGISTRY

from caipan.serving.errors import ServiceError
from caipan.serving.server import Server
from caipan.v1 import errors_pb2
from caipan.v1 import game_service_pb2 as games_pb
from caipan.v1 import intake_service_pb2 as pb
from caipan.v1.game_service_pb2_grpc import (
    GameServiceServicer,
    GameServiceStub,
    add_GameServiceServicer_to_server,
)
from caipan.v1.intake_service_pb2_grpc import (
    IntakeServiceServicer,
    IntakeServiceStub,
    add_IntakeServiceServicer_to_server,
)

TIMEOUT_S = 60  # only so that a test which would wait for ever ends


class Games(GameServiceServicer):
    async def GetGame(self, request: Any, context: Any) -> Any:  # noqa: N802
        if request.game_id == "unknown":
            raise ServiceError(errors_pb2.ERROR_CODE_GAME_UNKNOWN, "no such game", "check the id")
        if request.game_id == "fault":
            raise ZeroDivisionError
        if request.game_id == "slow":
            await asyncio.Event().wait()
        return games_pb.GetGameResponse()

    async def WatchGame(self, request: Any, context: Any) -> AsyncIterator[Any]:  # noqa: N802
        yield games_pb.WatchGameResponse()
        if request.game_id == "slow":
            raise ServiceError(errors_pb2.ERROR_CODE_SLOW_READER, "slow", "resume")
        await asyncio.Event().wait()


class Intake(IntakeServiceServicer):
    async def StreamEvents(self, requests: Any, context: Any) -> AsyncIterator[Any]:  # noqa: N802
        async for _ in requests:
            yield pb.StreamEventsResponse()


class Counts:
    """What was counted since this was made."""

    def __init__(self) -> None:
        self._before = {metric: self._all(metric) for metric in ("calls_total", "call_seconds_count")}

    def __getitem__(self, name: str) -> dict[str, float]:
        """By labels: method and code."""
        now, before = self._all(name), self._before.get(name, {})
        return {
            labels: value - before.get(labels, 0) for labels, value in now.items() if value != before.get(labels, 0)
        }

    @staticmethod
    def _all(name: str) -> dict[str, float]:
        return {
            " ".join(
                value for label, value in sorted(sample.labels.items(), reverse=True) if label != "service"
            ): sample.value
            for family in REGISTRY.collect()
            for sample in family.samples
            if sample.name == f"caipan_grpc_{name}"
        }


@pytest.fixture
async def channel() -> AsyncIterator[grpc.aio.Channel]:
    server = Server()
    server.add(games_pb.DESCRIPTOR.services_by_name["GameService"], partial(add_GameServiceServicer_to_server, Games()))
    server.add(pb.DESCRIPTOR.services_by_name["IntakeService"], partial(add_IntakeServiceServicer_to_server, Intake()))
    port = await server.start("127.0.0.1", 0)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield channel
    await server.stop(None)


async def until_ended(counts: Counts, calls: int) -> None:
    """A call is counted just after the caller has its answer."""
    async with asyncio.timeout(TIMEOUT_S):
        while sum(counts["calls_total"].values()) < calls:  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def test_calls_are_counted_by_the_code_of_their_status(channel: grpc.aio.Channel) -> None:
    counts, games = Counts(), GameServiceStub(channel)
    for game_id in ("known", "known", "unknown", "fault"):
        await games.GetGame(games_pb.GetGameRequest(game_id=game_id), timeout=TIMEOUT_S).code()
    await until_ended(counts, 4)
    assert counts["calls_total"] == {"GetGame OK": 2, "GetGame NOT_FOUND": 1, "GetGame INTERNAL": 1}
    assert counts["call_seconds_count"] == {"GetGame": 4}


async def test_a_call_that_the_caller_gives_up_is_cancelled(channel: grpc.aio.Channel) -> None:
    counts, games = Counts(), GameServiceStub(channel)
    call = games.GetGame(games_pb.GetGameRequest(game_id="slow"))
    async with asyncio.timeout(TIMEOUT_S):
        while counts["open_calls"].get("GetGame") != 1:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    call.cancel()
    await until_ended(counts, 1)
    assert counts["calls_total"] == {"GetGame CANCELLED": 1}
    assert counts["open_calls"] == {}


async def test_streams_are_open_until_they_end_and_then_counted(channel: grpc.aio.Channel) -> None:
    counts, games, intake = Counts(), GameServiceStub(channel), IntakeServiceStub(channel)
    watches = [games.WatchGame(games_pb.WatchGameRequest(game_id="g"), timeout=TIMEOUT_S) for _ in range(3)]
    device = intake.StreamEvents(timeout=TIMEOUT_S)
    for watch in watches:
        await watch.read()
    await device.write(pb.StreamEventsRequest())
    await device.read()
    assert counts["open_calls"] == {"WatchGame": 3, "StreamEvents": 1}
    assert counts["calls_total"] == {}
    for watch in watches:
        watch.cancel()
    await device.done_writing()
    assert await device.code() == grpc.StatusCode.OK
    slow = games.WatchGame(games_pb.WatchGameRequest(game_id="slow"), timeout=TIMEOUT_S)
    await slow.read()
    assert await slow.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    await until_ended(counts, 5)
    assert counts["calls_total"] == {
        "WatchGame CANCELLED": 3,
        "StreamEvents OK": 1,
        "WatchGame RESOURCE_EXHAUSTED": 1,
    }
    assert counts["open_calls"] == {}
