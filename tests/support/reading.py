"""A query on a free loopback port over a real log, a client for it, and games in outcomes as the fold makes them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any, Self

import grpc
import pytest

from caipan.eventlog import EventLog, NewRecord
from caipan.query import Query
from caipan.serving.errors import detail_of
from caipan.serving.server import Server
from caipan.v1 import case_service_pb2 as cases_pb
from caipan.v1 import errors_pb2, outcome_pb2
from caipan.v1 import game_service_pb2 as pb
from caipan.v1.case_service_pb2_grpc import CaseServiceStub, PenaltyServiceStub
from caipan.v1.game_service_pb2_grpc import GameServiceStub, PersonServiceStub
from caipan.v1.operation_service_pb2 import GetStatusRequest, GetStatusResponse
from caipan.v1.operation_service_pb2_grpc import OperationServiceStub
from caipan.v1.state_pb2 import GameState
from support.play import Play

OUTCOMES = "game-outcomes"
TIMEOUT_S = 60  # only so that a test which would wait for ever ends

# A client that takes little beyond what it reads, so that a reader who stops is noticed soon.
NARROW = (("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 1024))


class Reader:
    """A query over ``log``, following it, and its stubs. ``options`` as in Query."""

    def __init__(self, log: EventLog, database: Path | str, **options: Any) -> None:
        self.query = Query(log, database, **options)
        self.server = Server()
        self._opened = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as opened:
            await opened.enter_async_context(self.query)
            self.query.register(self.server)
            self.port = await self.server.start("127.0.0.1", 0)
            opened.push_async_callback(self.server.stop, None)
            self.following = asyncio.create_task(self.query.run())
            opened.push_async_callback(self.stop_following)
            self.channel = await opened.enter_async_context(self.connect())
            self.games = GameServiceStub(self.channel)
            self.persons = PersonServiceStub(self.channel)
            self.operations = OperationServiceStub(self.channel)
            self.cases = CaseServiceStub(self.channel)
            self.penalties = PenaltyServiceStub(self.channel)
            async with asyncio.timeout(TIMEOUT_S):
                await self.query.ready.wait()
            self._opened = opened.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._opened.aclose()

    def connect(self, *options: tuple[str, int]) -> grpc.aio.Channel:
        return grpc.aio.insecure_channel(f"127.0.0.1:{self.port}", options=options)

    async def stop_following(self) -> None:
        self.following.cancel()
        with suppress(asyncio.CancelledError):
            await self.following

    async def status(self) -> GetStatusResponse:
        return await self.operations.GetStatus(GetStatusRequest(), timeout=TIMEOUT_S)

    async def settled(self, quarantined: int = 0) -> GetStatusResponse:
        """The status once all outcomes of the log are served, and as many records are in quarantine."""
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                status = await self.status()
                served = all(each.served == each.outcomes_end for each in status.partitions)
                if served and status.quarantined >= quarantined:
                    return status
                await asyncio.sleep(0.005)

    async def game(self, game_id: str, min_seq: int = 0) -> GameState:
        request = pb.GetGameRequest(game_id=game_id, min_seq=min_seq)
        return (await self.games.GetGame(request, timeout=TIMEOUT_S)).game

    async def list(self, **request: Any) -> list[GameState]:
        """All pages of a list of games."""
        found: list[GameState] = []
        token = ""
        while True:
            page = await self.games.ListGames(pb.ListGamesRequest(page_token=token, **request), timeout=TIMEOUT_S)
            found += page.games
            token = page.next_page_token
            if not token:
                return found

    async def outcomes(self, game_id: str, page_size: int = 0) -> list[outcome_pb2.Outcome]:
        """All pages of a list of outcomes."""
        found: list[outcome_pb2.Outcome] = []
        token = ""
        while True:
            request = pb.ListOutcomesRequest(game_id=game_id, page_size=page_size, page_token=token)
            page = await self.games.ListOutcomes(request, timeout=TIMEOUT_S)
            found += page.outcomes
            token = page.next_page_token
            if not token:
                return found

    async def list_cases(self, **request: Any) -> list[cases_pb.HallCase]:
        """All pages of a list of cases."""
        found: list[cases_pb.HallCase] = []
        token = ""
        while True:
            asked = cases_pb.ListCasesRequest(page_token=token, **request)
            page = await self.cases.ListCases(asked, timeout=TIMEOUT_S)
            found += page.cases
            token = page.next_page_token
            if not token:
                return found

    async def list_penalties(self, **request: Any) -> list[cases_pb.HallPenalty]:
        """All pages of a list of penalties."""
        found: list[cases_pb.HallPenalty] = []
        token = ""
        while True:
            asked = cases_pb.ListPenaltiesRequest(page_token=token, **request)
            page = await self.penalties.ListPenalties(asked, timeout=TIMEOUT_S)
            found += page.penalties
            token = page.next_page_token
            if not token:
                return found

    def watch_cases(self, tournament_id: str = "", token: str = "") -> Any:
        asked = cases_pb.WatchCasesRequest(tournament_id=tournament_id, resume_token=token)
        return self.cases.WatchCases(asked, timeout=TIMEOUT_S)

    def watch(self, game_id: str, token: str = "", stub: GameServiceStub | None = None) -> Any:
        return (stub or self.games).WatchGame(
            pb.WatchGameRequest(game_id=game_id, resume_token=token), timeout=TIMEOUT_S
        )


async def take(call: Any, count: int) -> list[pb.WatchGameResponse]:
    """The next updates of a watched game, heartbeats left out."""
    taken: list[pb.WatchGameResponse] = []
    while len(taken) < count:
        update = await call.read()
        assert update is not grpc.aio.EOF
        if not update.HasField("heartbeat"):
            taken.append(update)
    return taken


async def rest(call: Any) -> tuple[list[pb.WatchGameResponse], errors_pb2.ErrorDetail]:
    """What a watched game still brings until it ends, and the error with which it does."""
    taken: list[pb.WatchGameResponse] = []

    async def read_on() -> None:
        while (update := await call.read()) is not grpc.aio.EOF:
            taken.append(update)

    return taken, await refused(read_on())


async def refused(call: Any) -> errors_pb2.ErrorDetail:
    """What the caller of a call that must fail is told; it always has a reason and a remedy."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    detail = detail_of(caught.value)
    assert detail is not None, f"no detail: {caught.value}"
    assert detail.reason
    assert detail.remedy
    return detail


def code(detail: errors_pb2.ErrorDetail) -> str:
    return errors_pb2.ErrorCode.Name(detail.code).removeprefix("ERROR_CODE_")


async def write(log: EventLog, outcomes: Iterable[outcome_pb2.Outcome]) -> None:
    """Puts outcomes into the log as a referee does."""
    records = [NewRecord(outcome.verdict.game_id.encode(), outcome.SerializeToString()) for outcome in outcomes]
    await log.append(OUTCOMES, records)


class Written:
    """A game whose outcomes come into the log as it is played: ``await written(play.stone(...))``."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._written: dict[str, int] = {}

    async def __call__(self, *plays: Play) -> None:
        for play in plays:
            before = self._written.get(play.game_id, 0)
            await write(self._log, play.outcomes[before:])
            self._written[play.game_id] = len(play.outcomes)


def heads(outcomes: Sequence[outcome_pb2.Outcome]) -> list[bytes]:
    return [outcome.head for outcome in outcomes]


async def until(done: Callable[[], object]) -> None:
    """Waits for a condition that nobody announces."""
    async with asyncio.timeout(TIMEOUT_S):
        while not done():  # noqa: ASYNC110
            await asyncio.sleep(0.005)
