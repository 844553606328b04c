"""The server under the gateway: health, reflection, faults, stopping, its port."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
import structlog
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from support.intake import TIMEOUT_S, House, metadata, opening, refused, token

from caipan.serving.errors import ServiceError
from caipan.serving.server import CannotListen, Server
from caipan.v1 import errors_pb2, game_service_pb2, game_service_pb2_grpc
from caipan.v1 import intake_service_pb2 as pb
from caipan.v1.intake_service_pb2_grpc import (
    IntakeServiceServicer,
    IntakeServiceStub,
    add_IntakeServiceServicer_to_server,
)

INTAKE = "caipan.v1.IntakeService"
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class Work(IntakeServiceServicer):
    """A service whose calls end as the test says."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.ended = asyncio.Event()
        self.saw: BaseException | None = None

    async def AppendEvents(self, request: pb.AppendEventsRequest, context: Any) -> pb.AppendEventsResponse:  # noqa: N802
        try:
            self.begun.set()
            await self.go_on.wait()
            return pb.AppendEventsResponse()
        except BaseException as error:
            self.saw = error
            raise
        finally:
            self.ended.set()

    async def PutPerson(self, request: pb.PutPersonRequest, context: Any) -> pb.PutPersonResponse:  # noqa: N802
        raise ZeroDivisionError("inner matter")

    async def ErasePerson(self, request: pb.ErasePersonRequest, context: Any) -> pb.ErasePersonResponse:  # noqa: N802
        raise ServiceError(errors_pb2.ERROR_CODE_PERSON_UNKNOWN, "nobody", "ask again", "person_id", "tok")


class Stream(game_service_pb2_grpc.GameServiceServicer):
    """A service that streams, and fails as the test says."""

    def __init__(self) -> None:
        self.closed = asyncio.Event()

    async def WatchGame(self, request: Any, context: Any) -> AsyncIterator[Any]:  # noqa: N802
        try:
            yield game_service_pb2.WatchGameResponse()
            if request.game_id == "told":
                raise ServiceError(errors_pb2.ERROR_CODE_SLOW_READER, "slow", "resume", resume_token="t1")
            if request.game_id == "fault":
                raise ZeroDivisionError("inner matter")
            await asyncio.Event().wait()
        finally:
            self.closed.set()


class Running:
    """A server with both services on a free port."""

    def __init__(self) -> None:
        self.work, self.streams, self.server = Work(), Stream(), Server()

    async def start(self) -> None:
        intake = pb.DESCRIPTOR.services_by_name["IntakeService"]
        self.server.add(intake, partial(add_IntakeServiceServicer_to_server, self.work))
        games = game_service_pb2.DESCRIPTOR.services_by_name["GameService"]
        self.server.add(games, partial(game_service_pb2_grpc.add_GameServiceServicer_to_server, self.streams))
        self.port = await self.server.start("127.0.0.1", 0)
        self.channel = grpc.aio.insecure_channel(f"127.0.0.1:{self.port}")
        self.stub = IntakeServiceStub(self.channel)
        self.games = game_service_pb2_grpc.GameServiceStub(self.channel)
        self.health = health_pb2_grpc.HealthStub(self.channel)

    async def status(self, service: str) -> int:
        return (await self.health.Check(health_pb2.HealthCheckRequest(service=service), timeout=TIMEOUT_S)).status


@pytest.fixture
async def running() -> AsyncIterator[Running]:
    running = Running()
    await running.start()
    yield running
    await running.channel.close()
    await running.server.stop(None)


async def test_health_says_serving_only_between_recovery_and_stop(running: Running) -> None:
    names = ["", INTAKE, "caipan.v1.GameService"]
    assert [await running.status(name) for name in names] == [NOT_SERVING] * 3
    await running.server.serving()
    assert [await running.status(name) for name in names] == [SERVING] * 3
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await running.status("caipan.v1.Unknown")
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND
    watch = running.health.Watch(health_pb2.HealthCheckRequest(service=INTAKE), timeout=TIMEOUT_S)
    assert (await watch.read()).status == SERVING
    stopping = asyncio.create_task(running.server.stop(1))
    assert (await watch.read()).status == NOT_SERVING
    watch.cancel()
    await stopping


async def test_a_generic_client_learns_the_service_by_reflection(tmp_path: Path) -> None:
    def generic_client(port: int) -> tuple[set[str], Any]:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            database = ProtoReflectionDescriptorDatabase(channel)
            pool = DescriptorPool(database)
            method = pool.FindServiceByName(INTAKE).FindMethodByName("AppendEvents")
            request = GetMessageClass(method.input_type)()
            request.ParseFromString(pb.AppendEventsRequest(events=[opening()]).SerializeToString())
            answer = GetMessageClass(method.output_type)
            call = channel.unary_unary(f"/{INTAKE}/AppendEvents", type(request).SerializeToString, answer.FromString)
            return set(database.get_services()), call(request, metadata=metadata(), timeout=TIMEOUT_S)

    async with House(tmp_path) as house:
        services, response = await asyncio.to_thread(generic_client, house.port)
    others = {"grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}
    assert services == {INTAKE, "caipan.v1.RulingService", *others}
    assert response.results[0].outcome.verdict.seq == 1


async def test_a_fault_reaches_the_caller_as_a_number_and_the_log_with_its_traceback(running: Running) -> None:
    person = pb.PutPersonRequest(person=pb.Person(person_id="p", name="n"))
    secret = token()
    with structlog.testing.capture_logs() as logged:
        error = await refused(running.stub.PutPerson(person, metadata=metadata(bearer=secret), timeout=TIMEOUT_S))
    assert (error.status, error.code) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    (entry,) = logged
    assert entry["number"] in error.reason
    assert entry["method"] == f"/{INTAKE}/PutPerson"
    assert "inner matter" in entry["exception"]
    assert secret not in str(entry)
    assert "matter" not in error.reason + error.remedy


async def test_an_error_that_is_meant_for_the_caller_arrives_whole(running: Running) -> None:
    error = await refused(running.stub.ErasePerson(pb.ErasePersonRequest(person_id="p"), timeout=TIMEOUT_S))
    assert (error.status, error.code) == (grpc.StatusCode.NOT_FOUND, "PERSON_UNKNOWN")
    assert (error.field, error.reason, error.remedy) == ("person_id", "nobody", "ask again")


@pytest.mark.parametrize(("game_id", "code"), [("told", "SLOW_READER"), ("fault", "INTERNAL")])
async def test_a_stream_ends_with_a_typed_error(running: Running, game_id: str, code: str) -> None:
    watch = running.games.WatchGame(game_service_pb2.WatchGameRequest(game_id=game_id), timeout=TIMEOUT_S)
    assert await watch.read() == game_service_pb2.WatchGameResponse()
    error = await refused(watch.read())
    assert error.code == code
    assert running.streams.closed.is_set()


async def test_a_stream_whose_reader_goes_away_is_closed(running: Running) -> None:
    watch = running.games.WatchGame(game_service_pb2.WatchGameRequest(game_id="g"), timeout=TIMEOUT_S)
    await watch.read()
    watch.cancel()
    async with asyncio.timeout(TIMEOUT_S):
        await running.streams.closed.wait()


async def test_cancellation_reaches_the_handler_and_is_no_fault(running: Running) -> None:
    with structlog.testing.capture_logs() as logged:
        call = running.stub.AppendEvents(pb.AppendEventsRequest(), timeout=TIMEOUT_S)
        async with asyncio.timeout(TIMEOUT_S):
            await running.work.begun.wait()
            call.cancel()
            await running.work.ended.wait()
    assert isinstance(running.work.saw, asyncio.CancelledError)
    assert logged == []


async def test_a_stop_lets_calls_end_and_takes_no_new_ones(running: Running) -> None:
    call = running.stub.AppendEvents(pb.AppendEventsRequest(), timeout=TIMEOUT_S)
    await running.work.begun.wait()
    stopping = asyncio.create_task(running.server.stop(TIMEOUT_S))
    await asyncio.sleep(0.05)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{running.port}") as late:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await IntakeServiceStub(late).AppendEvents(pb.AppendEventsRequest(), timeout=TIMEOUT_S)
    assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
    running.work.go_on.set()
    assert await call == pb.AppendEventsResponse()
    await stopping


async def test_a_stop_cancels_what_does_not_end_in_time(running: Running) -> None:
    call = running.stub.AppendEvents(pb.AppendEventsRequest(), timeout=TIMEOUT_S)
    await running.work.begun.wait()
    await running.server.stop(0.05)
    async with asyncio.timeout(TIMEOUT_S):
        await running.work.ended.wait()
    assert isinstance(running.work.saw, asyncio.CancelledError)
    with pytest.raises(grpc.aio.AioRpcError):
        await call


@pytest.mark.parametrize(
    ("host", "reason"), [("127.0.0.1", "the port is in use"), ("192.0.2.1", "choose another host")]
)
async def test_an_address_that_cannot_be_had_is_a_clear_error(running: Running, host: str, reason: str) -> None:
    with pytest.raises(CannotListen, match=reason) as caught:
        await Server().start(host, running.port)
    assert f"{host}:{running.port}" in str(caught.value)
