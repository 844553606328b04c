"""Who waits for news of which game. A reader holds a number and a wake-up, never a queue of what it has not read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager

from caipan.query.tokens import resume_token
from caipan.query.writing import Served
from caipan.serving.errors import ServiceError
from caipan.v1.errors_pb2 import ERROR_CODE_GAME_DIVERGED, ERROR_CODE_SHUTTING_DOWN, ERROR_CODE_SLOW_READER
from caipan.v1.game_service_pb2 import WatchGameResponse
from caipan.v1.outcome_pb2 import Outcome

HALL = ""  # in the place of a game: who watches the cases of all
_RECENT = 64  # outcomes of a watched game that are kept ready for all its readers


class Feed:
    """What is new in one game, for as long as somebody reads it."""

    def __init__(self, game_id: str) -> None:
        self.game_id = game_id
        self.watchers: set[Watcher] = set()
        self.seq = 0  # the last outcome known to be in the tables
        self._recent: deque[tuple[int, WatchGameResponse]] = deque(maxlen=_RECENT)

    def seen(self, seq: int) -> None:
        """This outcome stands in the tables."""
        self.seq = max(self.seq, seq)

    def publish(self, served: Sequence[Served]) -> None:
        """Takes the next outcomes in, which stand in the tables by now."""
        if self._recent and served[0].seq != self._recent[-1][0] + 1:
            self._recent.clear()  # no hole: what is missing here is read from the tables
        self._recent.extend((outcome.seq, update_of(outcome)) for outcome in served[-_RECENT:])
        self.seen(served[-1].seq)

    def recent_after(self, seq: int) -> list[tuple[int, WatchGameResponse]]:
        """The outcomes after ``seq``, if all of them are still kept."""
        if not self._recent or self._recent[0][0] > seq + 1:
            return []
        return [kept for kept in self._recent if kept[0] > seq]


class Watcher:
    """One reader of a game: the outcome it has read last, whether it ever caught up, and the token to go on with."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.seq = 0
        self.caught_up = False
        self.token = ""
        self.scope = asyncio.timeout(None)
        self._woken = asyncio.Event()
        self._why: Callable[[Watcher], ServiceError] | None = None

    async def news(self, within_s: float) -> bool:
        """Waits for news; False if there was none in this time."""
        try:
            async with asyncio.timeout(within_s):
                await self._woken.wait()
        except TimeoutError:
            return False
        self._woken.clear()
        return True

    def wake(self) -> None:
        self._woken.set()

    def cut(self, why: Callable[[Watcher], ServiceError]) -> None:
        """Ends the reader, wherever it is, with the error that ``why`` makes once it has ended."""
        if self._why is None:
            self._why = why
            self.scope.reschedule(0)

    def why_cut(self) -> ServiceError | None:
        """Asked when nothing more is written: only now it is known with which token to go on."""
        return self._why(self) if self._why else None


class Watchers:
    """All readers. One that caught up once and then lags more than ``lag_most`` outcomes behind is cut."""

    def __init__(self, lag_most: int) -> None:
        self._lag_most = lag_most
        self._feeds: dict[str, Feed] = {}
        self._is_closed = False

    def __len__(self) -> int:
        return sum(len(feed.watchers) for feed in self._feeds.values())

    @asynccontextmanager
    async def watching(self, game_id: str) -> AsyncIterator[Watcher]:
        """A reader for the time of the context. Raises the ServiceError with which it is cut."""
        if self._is_closed:
            raise _shutting_down()
        feed = self._feeds.setdefault(game_id, Feed(game_id))
        watcher = Watcher(feed)
        feed.watchers.add(watcher)
        try:
            async with watcher.scope:
                yield watcher
        except TimeoutError:
            if error := watcher.why_cut():
                raise error from None
            raise
        finally:
            feed.watchers.remove(watcher)
            if not feed.watchers:
                del self._feeds[game_id]

    def publish(self, served: Iterable[Served]) -> None:
        """New outcomes, in order; they stand in the tables by now."""
        by_game: dict[str, list[Served]] = {}
        for outcome in served:
            if outcome.game_id in self._feeds:
                by_game.setdefault(outcome.game_id, []).append(outcome)
        for game_id, news in by_game.items():
            feed = self._feeds[game_id]
            # Only against what was there to be read before: one large batch makes nobody slow.
            slow = [one for one in feed.watchers if one.caught_up and feed.seq - one.seq > self._lag_most]
            for watcher in slow:
                watcher.cut(_slow)
            feed.publish(news)
            for watcher in feed.watchers:
                watcher.wake()

    def tell_hall(self) -> None:
        """Cases have changed; they stand in the tables by now."""
        for watcher in self._feeds[HALL].watchers if HALL in self._feeds else ():
            watcher.wake()

    def diverge(self, game_ids: Iterable[str]) -> None:
        """These games are served no further."""
        for game_id in game_ids:
            for watcher in self._feeds[game_id].watchers if game_id in self._feeds else ():
                watcher.cut(lambda watcher: diverged(watcher.feed.game_id))

    def close(self) -> None:
        """Ends all readers, and every one that still comes."""
        self._is_closed = True
        for feed in self._feeds.values():
            for watcher in feed.watchers:
                watcher.cut(lambda watcher: _shutting_down(watcher.token))


def update_of(served: Served) -> WatchGameResponse:
    """An outcome as a watcher gets it."""
    token = resume_token(served.game_id, served.seq, served.head)
    return WatchGameResponse(outcome=Outcome.FromString(served.record), resume_token=token)


def diverged(game_id: str) -> ServiceError:
    """The error by which a game whose outcomes contradict each other is no longer served."""
    return ServiceError(
        ERROR_CODE_GAME_DIVERGED,
        f"the outcomes of the game {game_id!r} contradict each other; it is served no further",
        "call the operator",
        "game_id",
    )


def _slow(watcher: Watcher) -> ServiceError:
    return ServiceError(
        ERROR_CODE_SLOW_READER,
        f"the reader is {watcher.feed.seq - watcher.seq} outcomes behind",
        "read faster, and go on from resume_token",
        resume_token=watcher.token,
    )


def _shutting_down(token: str = "") -> ServiceError:
    return ServiceError(
        ERROR_CODE_SHUTTING_DOWN,
        "the server is stopping",
        "go on from the last token, at another server if there is one",
        resume_token=token,
    )
