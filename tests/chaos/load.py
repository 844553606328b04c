"""Clients that send games to a service which goes away and comes back, and watchers that follow those games."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Self

import grpc

from caipan.serving.errors import detail_of
from caipan.serving.tokens import generate_keys, load_private_key, make_token
from caipan.v1.case_service_pb2_grpc import CaseServiceStub
from caipan.v1.errors_pb2 import ERROR_CODE_CATCHING_UP, ERROR_CODE_SHUTTING_DOWN, ErrorDetail
from caipan.v1.event_pb2 import Event
from caipan.v1.game_service_pb2 import WatchGameRequest
from caipan.v1.game_service_pb2_grpc import GameServiceStub
from caipan.v1.intake_service_pb2 import (
    WAIT_LOG,
    WAIT_VERDICT,
    Appended,
    AppendEventsRequest,
    AppendEventsResponse,
    Wait,
)
from caipan.v1.intake_service_pb2_grpc import IntakeServiceStub
from caipan.v1.operation_service_pb2_grpc import OperationServiceStub
from caipan.v1.outcome_pb2 import STATUS_PARKED, Outcome

from .games import CHIEF, Sent

CALL_S = 30.0  # only so that a test which would wait for ever ends
_PAUSE_S = 0.02

_OPTIONS = (
    ("grpc.use_local_subchannel_pool", 1),  # a connection of its own
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 100),
)

# Said of a service that is away; CANCELLED to calls that had come and were not yet taken up when it stopped.
_AWAY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
_CUT_OFF = "Cancelling all calls"  # what grpc says to whoever was not told in time that the server stops

Place = tuple[int, int]  # partition and offset of an event


@dataclass
class Seen:
    """What the clients were told."""

    games: list[Sent] = field(default_factory=list)
    acknowledged: dict[Place, tuple[str, str]] = field(default_factory=dict)  # the game and the event that stand there
    judged: list[Outcome] = field(default_factory=list)  # in answers, repeats among them
    watched: dict[str, list[Outcome]] = field(default_factory=dict)
    snapshots: dict[str, int] = field(default_factory=dict)  # seq with which a watcher began
    broken: int = 0  # calls that ended without an answer
    resumed: int = 0  # streams that were taken up again
    farewells: int = 0  # streams that ended with SHUTTING_DOWN and the token to go on with


class Client:
    """Connections with the rights of a ``role``: to a service, or to a gateway and, ``reading``, to a query."""

    patience_s = CALL_S  # of an append

    def __init__(
        self,
        address: str,
        data: Path,
        seen: Seen,
        random: Random,
        *,
        reading: str = "",
        person: str = CHIEF.person,
        role: str = "CHIEF",
    ) -> None:
        key = load_private_key(generate_keys(data).private)
        token = make_token(key, person, [role], ["*"], ["*"], 3600)
        self._metadata = [("authorization", f"Bearer {token}")]
        self._seen = seen
        self._random = random
        self.channel = grpc.aio.insecure_channel(address, options=_OPTIONS)
        self._reading = grpc.aio.insecure_channel(reading, options=_OPTIONS) if reading else self.channel
        self.intake = IntakeServiceStub(self.channel)
        self.games = GameServiceStub(self._reading)
        self.cases = CaseServiceStub(self._reading)
        self.operations = OperationServiceStub(self._reading)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.channel.close()
        await self._reading.close()

    async def append(self, events: Sequence[Event], wait: Wait.ValueType = WAIT_VERDICT) -> Sequence[Appended]:
        """One call. Raises AioRpcError."""
        response: AppendEventsResponse = await self.intake.AppendEvents(
            AppendEventsRequest(events=events, wait=wait),
            timeout=self.patience_s,
            metadata=self._metadata,
            wait_for_ready=True,
        )
        for event, result in zip(events, response.results, strict=True):
            assert result.event_id == event.event_id
            assert wait == WAIT_LOG or result.outcome.verdict.seq or result.status == STATUS_PARKED
            self._seen.acknowledged[result.partition, result.offset] = (event.game_id, event.event_id)
            if result.outcome.verdict.seq:
                self._seen.judged.append(result.outcome)
        return response.results

    async def insist(self, events: Sequence[Event]) -> None:
        """Sends the same events until they are acknowledged."""
        wait = self._random.choice([WAIT_LOG, WAIT_VERDICT])
        while True:
            try:
                await self.append(events, wait)
            except grpc.aio.AioRpcError as error:
                if error.code() not in _AWAY or error.details() == _CUT_OFF:
                    raise
                self._seen.broken += 1
                await asyncio.sleep(_PAUSE_S)
            else:
                return

    async def send(self, game: Sent) -> None:
        """A whole game, in requests of a few events; now and then one of them again."""
        if game.alone:
            await self._send_in_order(game.events)
            return
        clock = [event for event in game.events if event.source.id == "clock"]
        others = [event for event in game.events if event.source.id != "clock"]
        async with asyncio.TaskGroup() as both:
            both.create_task(self._send_in_order(others))
            both.create_task(self._send_in_order(self._jumbled(clock)))

    async def _send_in_order(self, events: Sequence[Event]) -> None:
        requests = list(self._requests(events))
        for number, request in enumerate(requests, 1):
            await self.insist(request)
            if self._random.random() < 0.05:
                await self.insist(self._random.choice(requests[:number]))

    def _jumbled(self, events: Sequence[Event]) -> list[Event]:
        """Some of them come before earlier ones of their source."""
        parts = list(self._requests(events))
        for number in range(1, len(parts)):
            if self._random.random() < 0.1:
                parts[number - 1 : number + 1] = parts[number], parts[number - 1]
        return [event for part in parts for event in part]

    def _requests(self, events: Sequence[Event]) -> Iterator[Sequence[Event]]:
        start = 0
        while start < len(events):
            end = start + self._random.randint(1, 6)
            yield events[start:end]
            start = end

    async def watch(self, game: Sent) -> None:
        """Follows a game to its last outcome, over all that happens to the service."""
        outcomes = self._seen.watched[game.game_id] = []
        token, seq = "", 0
        while seq < len(game.events):
            request = WatchGameRequest(game_id=game.game_id, resume_token=token)
            stream = self.games.WatchGame(request, wait_for_ready=True)
            try:
                while seq < len(game.events):
                    update = await stream.read()
                    token = update.resume_token
                    if update.HasField("snapshot"):
                        assert game.game_id not in self._seen.snapshots, "a watcher that resumed began anew"
                        seq = self._seen.snapshots[game.game_id] = update.snapshot.seq
                    elif update.HasField("outcome"):
                        outcomes.append(update.outcome)
                        seq = update.outcome.verdict.seq
            except grpc.aio.AioRpcError as error:
                token = self._told_at_the_end(error, token)
                await asyncio.sleep(_PAUSE_S)
            finally:
                stream.cancel()

    def _told_at_the_end(self, error: grpc.aio.AioRpcError, token: str) -> str:
        """The token to go on with after a stream has broken."""
        if error.code() is grpc.StatusCode.NOT_FOUND and not token:
            return ""  # the game is not open yet
        if error.code() not in _AWAY or error.details() == _CUT_OFF:
            raise error
        self._seen.resumed += bool(token)
        farewell = detail_of(error)
        if farewell is None or farewell.code == ERROR_CODE_CATCHING_UP:
            return token
        assert farewell.code == ERROR_CODE_SHUTTING_DOWN
        self._seen.farewells += bool(farewell.resume_token)
        return farewell.resume_token or token


class Load:
    """Some clients, each sending one game after the other and watching it, until ``finish``."""

    def __init__(
        self, connect: Callable[[Seen, Random], Client], games: Iterator[Sent], random: Random, clients: int = 4
    ) -> None:
        self.seen = Seen()
        self._games = games
        self._clients = [connect(self.seen, Random(random.random())) for _ in range(clients)]
        self._opened = AsyncExitStack()
        self._tasks: list[asyncio.Task[None]] = []
        self._watches: list[asyncio.Task[None]] = []
        self._finishing = False

    async def __aenter__(self) -> Self:
        for client in self._clients:
            await self._opened.enter_async_context(client)
        self._tasks = [asyncio.create_task(self._work(client)) for client in self._clients]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in [*self._tasks, *self._watches]:
            task.cancel()
        await asyncio.gather(*self._tasks, *self._watches, return_exceptions=True)
        await self._opened.aclose()

    async def finish(self) -> Seen:
        """Begins no more games; returns once those begun are in the log and watched to their ends."""
        self._finishing = True
        async with asyncio.timeout(CALL_S):
            await asyncio.gather(*self._tasks)
            await asyncio.gather(*self._watches)
        return self.seen

    def check(self) -> None:
        """Raises what has gone wrong in a client so far."""
        for task in [*self._tasks, *self._watches]:
            if task.done():
                task.result()

    async def _work(self, client: Client) -> None:
        while not self._finishing:
            game = next(self._games)
            self.seen.games.append(game)
            self._watches.append(asyncio.create_task(client.watch(game)))
            await client.send(game)


def told(error: grpc.aio.AioRpcError) -> ErrorDetail:
    """What a caller is told; each such answer has a reason and a remedy."""
    detail = detail_of(error)
    assert detail is not None, f"no detail: {error}"
    assert detail.reason
    assert detail.remedy
    return detail
