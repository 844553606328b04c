"""The handlers of CaseService."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import Any

from caipan.eventlog import EventLog, LogError
from caipan.query import halls, reading, tokens
from caipan.query.clocks import clocks_at
from caipan.query.database import Database
from caipan.query.games import Games, catching_up
from caipan.query.operations import EVENTS, log_unavailable
from caipan.query.tokens import HallPlaces
from caipan.query.watchers import HALL, Watcher, Watchers
from caipan.rules.game import Past
from caipan.rules.preview import preview
from caipan.serving.errors import ServiceError
from caipan.serving.validation import check
from caipan.v1 import case_service_pb2 as pb
from caipan.v1.case_service_pb2_grpc import CaseServiceServicer
from caipan.v1.errors_pb2 import ERROR_CODE_CASE_UNKNOWN, ERROR_CODE_MALFORMED, ERROR_CODE_TOKEN_STALE
from caipan.v1.event_pb2 import Event
from caipan.v1.game_service_pb2 import Heartbeat
from caipan.v1.state_pb2 import GameState

CASES_PAGE = 50

_SNAPSHOT_BYTES = 1 << 20  # of one message with open cases


class Cases(CaseServiceServicer):
    """Answers from the tables, and previews from the events of the log. ``heartbeat_s`` and ``ready`` as in Games."""

    def __init__(
        self,
        log: EventLog,
        database: Database,
        watchers: Watchers,
        games: Games,
        heartbeat_s: float,
        ready: asyncio.Event,
    ) -> None:
        self._log = log
        self._database = database
        self._watchers = watchers
        self._games = games
        self._heartbeat_s = heartbeat_s
        self._ready = ready

    async def ListCases(self, request: pb.ListCasesRequest, context: Any) -> pb.ListCasesResponse:  # noqa: N802
        check(request)
        await self._games.asked_of(request, context)
        about = ("cases", request.game_id, request.tournament_id, str(request.open_only))
        place = _place(tokens.page_place(request.page_token, *about)) if request.page_token else halls.Place()
        found, more = await self._database.read(
            partial(
                halls.cases_after,
                place,
                request.game_id,
                request.tournament_id,
                request.open_only,
                request.page_size or CASES_PAGE,
            )
        )
        last = "/".join(map(str, found[-1][0])) if more else ""
        return pb.ListCasesResponse(
            cases=[case for _, case in found], next_page_token=tokens.page_token(last, *about) if more else ""
        )

    async def GetCase(self, request: pb.GetCaseRequest, context: Any) -> pb.GetCaseResponse:  # noqa: N802
        check(request)
        await self._games.asked(request.game_id, context, request.min_seq)
        case = await known_case(self._database, request.game_id, request.case_id)
        return pb.GetCaseResponse(case=case, earlier=await self._database.read(partial(halls.earlier, case)))

    async def PreviewRuling(  # noqa: N802
        self, request: pb.PreviewRulingRequest, context: Any
    ) -> pb.PreviewRulingResponse:
        check(request)
        game_id = request.game_id
        await self._games.asked(game_id, context)
        start = await self._database.read(partial(reading.first_offset, game_id))
        try:
            records = await self._log.read_key(EVENTS, game_id.encode(), start)
        except LogError as error:
            raise log_unavailable() from error
        past = [Past(record.value, record.offset) for record in records]
        # A long game takes a while: others are answered meanwhile.
        verdict = await asyncio.to_thread(preview, game_id, past, request.ruling, request.person, request.at_ms)
        return pb.PreviewRulingResponse(verdict=verdict)

    async def GetClocks(self, request: pb.GetClocksRequest, context: Any) -> pb.GetClocksResponse:  # noqa: N802
        check(request)
        row = await self._games.asked(request.game_id, context, request.min_seq)
        state = GameState.FromString(row.state)
        at_ms = request.at_ms if request.HasField("at_ms") else time.time_ns() // 1_000_000
        if state.HasField("clocks") and at_ms < state.clocks.since_ms:
            state = await self._database.read(partial(reading.clocks_then, state, at_ms))
        if request.HasField("at_ms") and not state.clocks.since_ms:  # the opening is the last that there was then
            await self._check_opened(request.game_id, at_ms)
        return clocks_at(state, at_ms)

    async def _check_opened(self, game_id: str, at_ms: int) -> None:
        """Raises ServiceError MALFORMED for an instant before the game was opened, LOG_UNAVAILABLE."""
        opening = await self._database.read(partial(reading.opening, game_id))
        try:
            events = await self._log.read(EVENTS, opening.partition, opening.offset, 1)
        except LogError as error:
            raise log_unavailable() from error
        opened_ms = Event.FromString(events[0].value).at_ms if events else 0
        if at_ms < opened_ms:
            opened = datetime.fromtimestamp(opened_ms / 1000, UTC).isoformat(timespec="seconds")
            raise ServiceError(
                ERROR_CODE_MALFORMED,
                f"the game was opened later, at {opened} ({opened_ms} ms)",
                "ask for that instant or a later one",
                "at_ms",
            )

    async def WatchCases(  # noqa: N802
        self, request: pb.WatchCasesRequest, context: Any
    ) -> AsyncIterator[pb.WatchCasesResponse]:
        """As WatchGame it writes itself, so that a reader that takes nothing any more can be cut within a write."""
        check(request)
        await context.send_initial_metadata(())
        async with (
            self._watchers.watching(HALL) as watcher,
            aclosing(self._updates(request, watcher)) as updates,
        ):
            async for update in updates:
                watcher.token = update.resume_token or watcher.token
                await context.write(update)
        return
        yield  # makes this the async generator that the server expects

    async def _updates(
        self, request: pb.WatchCasesRequest, watcher: Watcher
    ) -> AsyncGenerator[pb.WatchCasesResponse, None]:
        """The open cases unless there is a token, then those that change, heartbeats in between.

        What is sent is read from the tables when it is sent: a slow reader gets fewer states of a case, and nothing is
        kept for it.
        """
        tournament_id = request.tournament_id
        if request.resume_token:
            places = tokens.hall_places(request.resume_token, tournament_id)
            await self._check_same_log(places)
            watcher.token = request.resume_token
        else:
            if not self._ready.is_set():
                raise catching_up()
            cases, places = await self._database.read(partial(halls.open_cases, tournament_id))
            for message in _snapshot(cases, tokens.hall_token(places, tournament_id)):
                yield message
        clock = asyncio.get_running_loop()
        said_s = clock.time()
        while True:
            changed, places = await self._database.read(partial(halls.changed_since, places, tournament_id))
            token = tokens.hall_token(places, tournament_id)
            for number, case in enumerate(changed, 1):
                yield pb.WatchCasesResponse(changed=case, resume_token=token if number == len(changed) else "")
                said_s = clock.time()
            if not await watcher.news(max(0.0, said_s + self._heartbeat_s - clock.time())):
                yield pb.WatchCasesResponse(heartbeat=Heartbeat(), resume_token=token)
                said_s = clock.time()

    async def _check_same_log(self, places: HallPlaces) -> None:
        """Raises ServiceError TOKEN_STALE if the token comes from another log than this one."""
        for partition, (offset, digest) in places.items():
            if await self._digest_before(partition, offset) != digest:
                raise ServiceError(
                    ERROR_CODE_TOKEN_STALE,
                    "the token belongs to another log",
                    "watch without a token, to begin with the open cases",
                    "resume_token",
                )

    async def _digest_before(self, partition: int, offset: int) -> str:
        """Of the outcome before ``offset``; "" where this log has none. Raises ServiceError LOG_UNAVAILABLE."""
        try:
            if partition >= self._log.partitions(halls.OUTCOMES):
                return ""
            last = await self._log.read(halls.OUTCOMES, partition, offset - 1, 1)
        except LogError as error:
            raise log_unavailable() from error
        return sha256(last[0].value).hexdigest()[: halls.DIGEST] if last else ""


async def known_case(database: Database, game_id: str, case_id: str) -> pb.HallCase:
    """A case. Raises ServiceError CASE_UNKNOWN."""
    case = await database.read(partial(halls.case, game_id, case_id))
    if case is None:
        raise ServiceError(
            ERROR_CODE_CASE_UNKNOWN, f"the game {game_id!r} has no case {case_id!r}", "list its cases", "case_id"
        )
    return case


def _snapshot(cases: list[pb.HallCase], token: str) -> list[pb.WatchCasesResponse]:
    """The open cases, in as few messages as their size allows; the token comes with the last."""
    messages = [pb.WatchCasesResponse(open=pb.OpenCases())]
    size = 0
    for case in cases:
        size += case.ByteSize()
        if size > _SNAPSHOT_BYTES and messages[-1].open.cases:
            messages[-1].open.more = True
            messages.append(pb.WatchCasesResponse(open=pb.OpenCases()))
            size = case.ByteSize()
        messages[-1].open.cases.append(case)
    messages[-1].resume_token = token
    return messages


def _place(text: str) -> halls.Place:
    """The place in a page token, which was checked. A game's id may have slashes, the other parts have none."""
    closed, opened_at_ms, rest = text.split("/", 2)
    game_id, _, case_id = rest.rpartition("/")
    return halls.Place(int(closed), int(opened_at_ms), game_id, case_id)
