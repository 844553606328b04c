"""The handlers of GameService."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from functools import partial
from typing import Any

from caipan.query import reading, tokens
from caipan.query.database import Database
from caipan.query.watchers import Watcher, Watchers, diverged, update_of
from caipan.serving.errors import ServiceError
from caipan.serving.validation import check
from caipan.v1 import game_service_pb2 as pb
from caipan.v1.errors_pb2 import (
    ERROR_CODE_CATCHING_UP,
    ERROR_CODE_GAME_UNKNOWN,
    ERROR_CODE_NOT_YET,
    ERROR_CODE_TOKEN_STALE,
)
from caipan.v1.game_service_pb2_grpc import GameServiceServicer
from caipan.v1.outcome_pb2 import Outcome
from caipan.v1.state_pb2 import GameState

GAMES_PAGE = 50
OUTCOMES_PAGE = 100

_CHUNK = 64  # outcomes that a watcher reads at once
_PATIENCE_S = 10.0  # of a call without deadline
_ANSWER_S = 0.25  # kept of a deadline, so that the answer arrives before it


class Games(GameServiceServicer):
    """Answers from the tables; ``heartbeat_s``: how long a watched game may be quiet until a heartbeat is sent.

    Until ``ready`` is set games may be missing that the log has: nothing is said of what is not there.
    """

    def __init__(self, database: Database, watchers: Watchers, heartbeat_s: float, ready: asyncio.Event) -> None:
        self._database = database
        self._watchers = watchers
        self._heartbeat_s = heartbeat_s
        self._ready = ready

    async def GetGame(self, request: pb.GetGameRequest, context: Any) -> pb.GetGameResponse:  # noqa: N802
        check(request)
        row = await self.asked(request.game_id, context, request.min_seq)
        return pb.GetGameResponse(game=GameState.FromString(row.state))

    async def ListGames(self, request: pb.ListGamesRequest, _: Any) -> pb.ListGamesResponse:  # noqa: N802
        check(request)
        if not self._ready.is_set():
            raise catching_up()
        about = ("games", request.tournament_id, *map(str, sorted(set(request.phases))))
        after = tokens.page_place(request.page_token, *about) if request.page_token else ""
        limit = request.page_size or GAMES_PAGE
        rows, more = await self._database.read(
            partial(reading.games_after, after, request.tournament_id, request.phases, limit)
        )
        return pb.ListGamesResponse(
            games=[_listed(row) for row in rows],
            next_page_token=tokens.page_token(rows[-1].game_id, *about) if more else "",
        )

    async def ListOutcomes(  # noqa: N802
        self, request: pb.ListOutcomesRequest, context: Any
    ) -> pb.ListOutcomesResponse:
        check(request)
        about = ("outcomes", request.game_id)
        after = tokens.page_seq(request.page_token, *about) if request.page_token else 0
        await self.asked(request.game_id, context, request.min_seq)
        limit = request.page_size or OUTCOMES_PAGE
        rows, more = await self._database.read(partial(reading.outcomes_after, request.game_id, after, limit))
        return pb.ListOutcomesResponse(
            outcomes=[Outcome.FromString(row.record) for row in rows],
            next_page_token=tokens.page_token(str(rows[-1].seq), *about) if more else "",
        )

    async def WatchGame(  # noqa: N802
        self, request: pb.WatchGameRequest, context: Any
    ) -> AsyncIterator[pb.WatchGameResponse]:
        """Writes itself instead of yielding: so a reader that takes nothing any more can be cut within a write."""
        check(request)
        # It may be quiet for a while. And a call that is cut while its headers are on the way cannot be ended by grpc.
        await context.send_initial_metadata(())
        async with (
            self._watchers.watching(request.game_id) as watcher,
            aclosing(self._updates(request, context, watcher)) as updates,
        ):
            async for update in updates:
                watcher.token = update.resume_token  # whatever ends the call from here on, this update comes first
                await context.write(update)
        return
        yield  # makes this the async generator that the server expects

    async def _updates(
        self, request: pb.WatchGameRequest, context: Any, watcher: Watcher
    ) -> AsyncGenerator[pb.WatchGameResponse, None]:
        """What the watcher is sent: a snapshot unless there is a token, then outcomes, heartbeats in between."""
        game_id, feed = request.game_id, watcher.feed
        position = tokens.resume_position(request.resume_token) if request.resume_token else None
        if position is not None and position.game != tokens.game_digest(game_id):
            raise _stale("the token belongs to another game")
        row = await self.asked(game_id, context, request.min_seq or int(position is not None))
        feed.seen(row.seq)
        if position is None:
            watcher.seq = row.seq
            state = GameState.FromString(row.state)
            yield pb.WatchGameResponse(snapshot=state, resume_token=tokens.resume_token(game_id, row.seq, state.head))
        else:
            watcher.seq, watcher.token = position.seq, request.resume_token
            while feed.seq < position.seq:  # this replica is behind the one that gave the token
                if not await watcher.news(self._heartbeat_s):
                    yield _heartbeat(watcher)
            head = await self._database.read(partial(reading.head, game_id, position.seq))
            if head != position.head:
                raise _stale(f"the token belongs to another history of {game_id!r}")
        while True:
            if watcher.seq < feed.seq:
                for seq, update in feed.recent_after(watcher.seq) or await self._chunk(game_id, watcher.seq):
                    yield update
                    watcher.seq = seq
            else:
                watcher.caught_up = True
                if not await watcher.news(self._heartbeat_s):
                    yield _heartbeat(watcher)

    async def _chunk(self, game_id: str, seq: int) -> list[tuple[int, pb.WatchGameResponse]]:
        rows, _ = await self._database.read(partial(reading.outcomes_after, game_id, seq, _CHUNK))
        return [(row.seq, update_of(row)) for row in rows]

    async def asked(self, game_id: str, context: Any, min_seq: int = 0) -> reading.GameRow:
        """The row of a game, once ``min_seq`` is in it: 1 where another replica at least knows the game.

        Raises ServiceError NOT_YET, CATCHING_UP, GAME_UNKNOWN or GAME_DIVERGED.
        """
        row = await self._row(game_id)
        if min_seq and not _has_reached(row, min_seq):
            row = await self._row_at(game_id, min_seq, _patience_s(context))
        if (row is None or not row.is_open) and not self._ready.is_set():
            raise catching_up()
        return _served(game_id, row)

    async def asked_of(self, request: Any, context: Any) -> None:
        """Returns once a list may be read; ``request`` has min_seq and game_id, which is empty for a list of all games.

        Raises ServiceError as ``asked``.
        """
        if request.game_id:
            await self.asked(request.game_id, context, request.min_seq)
        elif not self._ready.is_set():
            raise catching_up()

    async def _row(self, game_id: str) -> reading.GameRow | None:
        return await self._database.read(partial(reading.game, game_id))

    async def _row_at(self, game_id: str, seq: int, within_s: float) -> reading.GameRow | None:
        """The game once it has reached ``seq``. Raises ServiceError NOT_YET, CATCHING_UP."""
        async with self._watchers.watching(game_id) as watcher:
            row = await self._row(game_id)
            try:
                async with asyncio.timeout(within_s):
                    while not _has_reached(row, seq):
                        await watcher.news(within_s)
                        row = await self._row(game_id)
            except TimeoutError:
                if not self._ready.is_set():
                    raise catching_up() from None
                reached = f"the game is at {row.seq}" if row else "no game of this id was opened"
                raise ServiceError(
                    ERROR_CODE_NOT_YET, f"min_seq {seq} was not reached in time, {reached} here", "ask again", "min_seq"
                ) from None
        return row


def _served(game_id: str, row: reading.GameRow | None) -> reading.GameRow:
    """Raises ServiceError GAME_UNKNOWN or GAME_DIVERGED."""
    if row is None or not row.is_open:
        raise ServiceError(
            ERROR_CODE_GAME_UNKNOWN,
            f"no game {game_id!r} was opened here",
            "check the id, or open the game; right after it was opened ask with min_seq, the seq of your verdict",
            "game_id",
        )
    if row.diverged:
        raise diverged(game_id)
    return row


def catching_up() -> ServiceError:
    """What a replica answers that does not know all games yet."""
    return ServiceError(
        ERROR_CODE_CATCHING_UP,
        "this replica still catches up with the log, and does not know all games yet",
        "ask again in a while, or ask another one",
    )


def _has_reached(row: reading.GameRow | None, seq: int) -> bool:
    """Whether nothing is to be waited for: a game that diverged stays where it is."""
    return row is not None and (row.seq >= seq or row.diverged)


def _listed(row: reading.GameRow) -> GameState:
    """A game of a list; of one that is served no further only what it is called and how it was opened."""
    state = GameState.FromString(row.state)
    return GameState(game_id=row.game_id, opened=state.opened, diverged=True) if row.diverged else state


def _stale(reason: str) -> ServiceError:
    return ServiceError(
        ERROR_CODE_TOKEN_STALE, reason, "watch without a token, to begin with a snapshot", "resume_token"
    )


def _heartbeat(watcher: Watcher) -> pb.WatchGameResponse:
    return pb.WatchGameResponse(heartbeat=pb.Heartbeat(), resume_token=watcher.token)


def _patience_s(context: Any) -> float:
    """How long a call may wait for something."""
    remaining_s = context.time_remaining()
    if remaining_s is None:
        return _PATIENCE_S
    return float(remaining_s - min(_ANSWER_S, remaining_s / 4))
