"""The open cases of a hall, listed while its games go on: 500 games with a case each."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
from support.command import Service

from bench.games import START_MS
from bench.report import Figure
from caipan.serving.tokens import load_private_key, make_token
from caipan.v1.case_service_pb2 import ListCasesRequest
from caipan.v1.case_service_pb2_grpc import CaseServiceStub
from caipan.v1.common_pb2 import COLOR_BLACK, COLOR_WHITE
from caipan.v1.event_pb2 import Event
from caipan.v1.intake_service_pb2 import WAIT_LOG, AppendEventsRequest
from caipan.v1.intake_service_pb2_grpc import IntakeServiceStub

GAMES = 500
CALLS = 400
RATE = 50  # stones a second meanwhile
HALL = "hall"


def figures() -> list[Figure]:
    """All figures of the chief's screen."""
    page, whole = asyncio.run(_measure())
    return [
        _figure(f"first 50 of {GAMES} open cases at {RATE} stones/s, p99", page, 50),
        _figure(f"all {GAMES} open cases at {RATE} stones/s, p99", whole, 50),
    ]


def _figure(name: str, took: list[float], goal_ms: float) -> Figure:
    p50, p99 = (statistics.quantiles(took, n=100)[at] * 1000 for at in (49, 98))
    return Figure(name, f"{p99:.1f} ms", f"p50 {p50:.1f} ms", p99, goal_ms, True)


async def _measure() -> tuple[list[float], list[float]]:
    with tempfile.TemporaryDirectory() as folder, Service(Path(folder)) as service:
        token = make_token(load_private_key(Path(folder) / "token-key.pem"), "bench", ["RECORDER"], ["*"], ["*"], 3600)
        metadata = (("authorization", f"Bearer {token}"),)
        async with grpc.aio.insecure_channel(service.address) as channel:
            intake, cases = IntakeServiceStub(channel), CaseServiceStub(channel)
            for number in range(GAMES):
                await intake.AppendEvents(AppendEventsRequest(events=_double_move(number)), metadata=metadata)
            await _until_all_are_listed(cases)
            playing = asyncio.create_task(_play(intake, metadata))
            page = await _calls(cases, 50)
            whole = await _calls(cases, 1000)
            playing.cancel()
            return page, whole


async def _until_all_are_listed(cases: CaseServiceStub) -> None:
    async with asyncio.timeout(60):
        while len((await cases.ListCases(_request(1000))).cases) < GAMES:  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(0.1)


async def _calls(cases: CaseServiceStub, page_size: int) -> list[float]:
    took = []
    for _ in range(CALLS):
        start = time.perf_counter()
        response = await cases.ListCases(_request(page_size))
        took.append(time.perf_counter() - start)
        assert len(response.cases) == min(page_size, GAMES)
        await asyncio.sleep(0.005)
    return took


async def _play(intake: IntakeServiceStub, metadata: tuple[tuple[str, str], ...]) -> None:
    """The opponents go on, game after game: each stone is news of its case too."""
    for event in _stones():
        await intake.AppendEvents(AppendEventsRequest(events=[event], wait=WAIT_LOG), metadata=metadata)
        await asyncio.sleep(1 / RATE)


def _request(page_size: int) -> ListCasesRequest:
    return ListCasesRequest(tournament_id=HALL, open_only=True, page_size=page_size)


def _double_move(number: int) -> list[Event]:
    """A game in which Black has moved twice running."""
    opening = _event(number, 0, 0)
    opening.game_opened.tournament_id = HALL
    opening.game_opened.regulations.edition, opening.game_opened.regulations.untimed = "CN2002", True
    seats = ((COLOR_BLACK, "Q16"), (COLOR_WHITE, "D4"), (COLOR_BLACK, "Q3"), (COLOR_BLACK, "D17"))
    return [opening, *(_stone(number, at, seat, point) for at, (seat, point) in enumerate(seats, 1))]


def _stones() -> Iterator[Event]:
    move = 4
    while True:
        move += 1
        for number in range(GAMES):
            seat = COLOR_WHITE if move % 2 else COLOR_BLACK
            yield _stone(number, move, seat, f"{'ABCDEFGHJKLMNOPQRST'[move % 19]}{10 + move // 19}")


def _stone(number: int, at: int, seat: int, point: str) -> Event:
    event = _event(number, at, seat)
    event.stone_placed.point = point
    return event


def _event(number: int, at: int, seat: int) -> Event:
    event_id, game_id = f"e{at}", f"{HALL}/r1/b{number}"
    return Event(event_id=event_id, game_id=game_id, at_ms=START_MS + 1000 * at, player=seat)  # type: ignore[arg-type]
