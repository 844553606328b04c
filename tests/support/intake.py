"""A gateway on a free loopback port, over a real log and a real referee, and a client for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any, Self

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from caipan.eventlog import EventLog, Record
from caipan.eventlog.embedded import EmbeddedLog
from caipan.gateway import Gateway
from caipan.referee import RefereeService
from caipan.serving.errors import detail_of
from caipan.serving.server import Server
from caipan.serving.tokens import Verifier, make_token
from caipan.v1 import errors_pb2, event_pb2, facts_pb2
from caipan.v1 import intake_service_pb2 as pb
from caipan.v1.intake_service_pb2_grpc import IntakeServiceStub
from caipan.v1.ruling_service_pb2_grpc import RulingServiceStub
from support.events import START_MS, field_of

KEY = Ed25519PrivateKey.generate()
TIMEOUT_S = 60  # only so that a test which would wait for ever ends
LOG, VERDICT = pb.WAIT_LOG, pb.WAIT_VERDICT


def token(
    *roles: str,
    person: str = "p-wang",
    games: Sequence[str] = ("*",),
    tournaments: Sequence[str] = ("*",),
    valid_for_s: int = 600,
    key: Ed25519PrivateKey = KEY,
) -> str:
    return make_token(key, person, roles or ("RECORDER",), games, tournaments, valid_for_s)


def opening(game_id: str = "g1", event_id: str = "open", **fields: Any) -> event_pb2.Event:
    """The first event of an untimed game by CN2002; ``fields`` of GameOpened."""
    fact = facts_pb2.GameOpened(players=["p-li", "p-xu"], **fields)
    fact.regulations.edition = fact.regulations.edition or "CN2002"
    fact.regulations.untimed = True
    return fact_event(fact, event_id, game_id=game_id)


def stone(number: int, point: str = "Q16", game_id: str = "g1", **fields: Any) -> event_pb2.Event:
    """The stone of move ``number``: odd ones are Black's."""
    fact = facts_pb2.StonePlaced(point=point)
    about = {"event_id": f"m{number}", "player": 2 - number % 2, "at_ms": START_MS + number, **fields}
    return fact_event(fact, game_id=game_id, **about)


def fact_event(fact: Any, event_id: str = "e", **fields: Any) -> event_pb2.Event:
    event = event_pb2.Event(event_id=event_id, **{"at_ms": START_MS, **fields})
    getattr(event, field_of(fact)).CopyFrom(fact)
    getattr(event, field_of(fact)).SetInParent()
    return event


class House:
    """The service as it stands in a hall. ``judging``: whether a referee is at work from the start.

    The log is a file in ``folder`` unless another one is given, not open yet.
    """

    def __init__(
        self, folder: Path, *, judging: bool = True, verdict_wait_s: float = 30.0, log: EventLog | None = None
    ) -> None:
        self.path = folder / "caipan.db"
        self.log = log or EmbeddedLog(self.path, busy_timeout_s=0.2)
        self.gateway = Gateway(self.log, Verifier([KEY.public_key()]), verdict_wait_s)
        self.server = Server()
        self.port = 0
        self._judging = judging
        self._tasks: list[asyncio.Task[None]] = []
        self._opened = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._opened.enter_async_context(self.log)
        self._opened.push_async_callback(self.stop)
        self.gateway.register(self.server)
        self.port = await self.server.start("127.0.0.1", 0)
        self.following = self._start(self.gateway.run())
        if self._judging:
            self.judge()
        await self.gateway.ready.wait()
        await self.server.serving()
        self.channel = await self._opened.enter_async_context(grpc.aio.insecure_channel(f"127.0.0.1:{self.port}"))
        self.stub = IntakeServiceStub(self.channel)
        self.rulings = RulingServiceStub(self.channel)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._opened.aclose()

    def judge(self) -> None:
        """A referee begins its work."""
        self._start(RefereeService(self.log).run())

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await self.server.stop(None)
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task

    def _start(self, work: Any) -> asyncio.Task[None]:
        self._tasks.append(asyncio.create_task(work))
        return self._tasks[-1]

    async def append(
        self,
        *events: event_pb2.Event,
        wait: pb.Wait = pb.WAIT_UNSPECIFIED,
        deadline_s: float | None = TIMEOUT_S,
        **caller: Any,
    ) -> list[pb.Appended]:
        """``caller`` as in ``metadata``."""
        request = pb.AppendEventsRequest(events=events, wait=wait)
        response = await self.stub.AppendEvents(request, timeout=deadline_s, metadata=metadata(**caller))
        return list(response.results)

    async def records(self, topic: str = "game-events") -> list[Record]:
        """All records of a topic."""
        records: list[Record] = []
        for partition in range(self.log.partitions(topic)):
            start = 0
            while batch := await self.log.read(topic, partition, start):
                records += batch
                start = batch[-1].offset + 1
        return records


def metadata(bearer: str = "", acting: str = "", **about: Any) -> list[tuple[str, str]]:
    """``bearer`` is a token, or one made from ``about`` (as in ``token``, ``roles`` aside); ``acting`` the role."""
    roles = about.pop("roles", ())
    entries = [("authorization", f"Bearer {bearer or token(*roles, **about)}")]
    return [*entries, ("caipan-role", acting)] if acting else entries


class Refused:
    """What the caller of a call that failed is told; ``code`` without ERROR_CODE_."""

    def __init__(self, error: grpc.aio.AioRpcError) -> None:
        self.status = error.code()
        detail = detail_of(error)
        assert detail is not None, f"no detail: {error}"
        self.code = errors_pb2.ErrorCode.Name(detail.code).removeprefix("ERROR_CODE_")
        self.field, self.reason, self.remedy = detail.field, detail.reason, detail.remedy


async def refused(call: Any) -> Refused:
    """The answer to a call that must fail; every such answer has a reason and a remedy."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    told = Refused(caught.value)
    assert told.reason
    assert told.remedy
    return told
