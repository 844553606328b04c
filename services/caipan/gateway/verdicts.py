"""Waiting for verdicts: the gateway follows game-outcomes and tells each caller what became of the caller's events."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple

import structlog

from caipan.eventlog import EventLog, LogUnavailable, Record
from caipan.gateway.originals import OUTCOMES, Position, Recent
from caipan.serving.errors import ServiceError
from caipan.v1.errors_pb2 import ERROR_CODE_SHUTTING_DOWN, ERROR_CODE_VERDICT_PENDING
from caipan.v1.outcome_pb2 import STATUS_DUPLICATE, STATUS_PARKED, Outcome

PARKED_KEPT = 256  # events of one caller that wait: as many facts of a game wait for its opening

_RETRY_S = 1.0
_STORED = "all events are stored, not all are judged yet"

_log = structlog.get_logger()


class Expected(NamedTuple):
    """An event of a game that somebody sends, as its source numbers it (0 = not)."""

    game: bytes
    event_id: str
    source_seq: int = 0


class Told(NamedTuple):
    """What became of an event: ``position`` is that of this copy; where it ``waited`` until now, of the one judged."""

    event: Expected
    position: Position
    outcome: Outcome
    waited: bool


class Watch:
    """One caller's wait for the verdicts on its own events, of any number of games, for as long as it likes.

    Where an event will stand is known when its append has returned, and its verdict may be there before that. So the
    caller says what it ``expects``, appends, and says where that was ``placed``; what comes for these ids in between is
    kept. Once told nothing is kept of an event, unless it was PARKED: then its verdict is told as well.
    """

    def __init__(self, tail: Tail) -> None:
        self.news = asyncio.Event()  # set when there is something to take, or nothing more comes
        self.stopped = False
        self._tail = tail
        self._games: Counter[bytes] = Counter()  # how many events of each are waited for
        self._appending: list[Expected] = []
        self._ids: set[tuple[bytes, str]] = set()  # of those
        self._early: list[Outcome] = []  # came while the append was under way
        self._missing: dict[Position, Expected] = {}
        self._parked: dict[tuple[bytes, str], Expected] = {}
        self._told: list[Told] = []

    def expect(self, events: Iterable[Expected]) -> None:
        """These events are about to be appended. No others are, until they are ``placed``."""
        self._appending = list(events)
        self._ids = {(event.game, event.event_id) for event in self._appending}
        for event in self._appending:
            self._games[event.game] += 1
            self._tail.join(event.game, self)

    def placed(self, positions: Iterable[Position]) -> None:
        """The events that were expected stand at these positions, in their order."""
        self._missing |= zip(positions, self._appending, strict=True)
        early, self._early = self._early, []
        self._appending, self._ids = [], set()
        for outcome in early:
            self.tell(outcome)

    def take(self) -> list[Told]:
        """What was told since the last time, those of one game in the order of its outcomes."""
        told, self._told = self._told, []
        return told

    async def outcomes(self, give_up_s: float | None = None) -> Mapping[Position, Outcome]:
        """The first outcome or notice of each event, as far as they come until then (a time of the event loop)."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(give_up_s):
                while self._missing and not self.stopped:
                    self.news.clear()
                    await self.news.wait()
        return {told.position: told.outcome for told in reversed(self.take())}

    @property
    def missing(self) -> ServiceError | None:
        """Why some events have no verdict yet; None where all have one."""
        if not self._missing:
            return None
        return stopping(_STORED) if self.stopped else pending()

    def forget(self, event: Expected) -> None:
        """No verdict will come of an event that came again; it waits no longer."""
        if self._parked.pop((event.game, event.event_id), None):
            self._leave(event.game)

    def tell(self, outcome: Outcome) -> None:
        """An outcome or notice of one of the games has come."""
        position, verdict = (outcome.partition, outcome.offset), outcome.verdict
        key = (verdict.game_id.encode(), verdict.event_id)
        known = position in self._missing or (verdict.seq > 0 and key in self._parked)
        perhaps = key in self._ids or (self._ids and not verdict.event_id)  # what cannot be read has no id
        if known and not self._early:
            self._match(position, key, outcome)
        elif known or perhaps:  # nothing overtakes what has to wait
            self._early.append(outcome)

    def _match(self, position: Position, key: tuple[bytes, str], outcome: Outcome) -> None:
        """Notes the answer to an event that is missing, or was parked."""
        waited = position not in self._missing
        event = self._parked.pop(key) if waited else self._missing.pop(position)
        if not waited and _may_be_judged_later(outcome):
            self._park(event)
        else:
            self._leave(event.game)
        self._told.append(Told(event, position, outcome, waited))
        self.news.set()

    def stop(self) -> None:
        """Nothing more will come."""
        self.stopped = True
        self.news.set()

    def close(self) -> None:
        """Nothing more is wanted."""
        for game in self._games:
            self._tail.leave(game, self)

    def _park(self, event: Expected) -> None:
        key = (event.game, event.event_id)
        if key in self._parked:
            self._leave(event.game)
        self._parked[key] = event
        if len(self._parked) > PARKED_KEPT:
            self.forget(next(iter(self._parked.values())))

    def _leave(self, game: bytes) -> None:
        """One event less is waited for."""
        self._games[game] -= 1
        if not self._games[game]:
            del self._games[game]
            self._tail.leave(game, self)


class Tail:
    """Follows game-outcomes from its end at the start, while it runs. ``recent`` has what came last."""

    def __init__(self, log: EventLog) -> None:
        self.ready = asyncio.Event()
        self.recent = Recent()
        self._log = log
        self._stopped = False
        self._watches: set[Watch] = set()
        self._by_game: dict[bytes, set[Watch]] = {}

    async def run(self) -> None:
        """Runs until it is cancelled, or with the LogError that no repetition can mend; ``ready`` once it follows."""
        try:
            partitions = range(self._log.partitions(OUTCOMES))
            ends = [await self._end(partition) for partition in partitions]
            self.ready.set()
            async with asyncio.TaskGroup() as group:
                for partition, end in enumerate(ends):
                    group.create_task(self._follow(partition, end))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        finally:
            self._stopped = True
            self.ready.set()  # whoever waits for it learns that it is over
            for watch in self._watches:
                watch.stop()

    @property
    def watching(self) -> int:
        """How many watches there are now."""
        return len(self._watches)

    @contextmanager
    def watch(self) -> Iterator[Watch]:
        """A watch, for the time of the context. Raises ServiceError SHUTTING_DOWN."""
        if self._stopped:
            raise stopping("nothing was stored")
        watch = Watch(self)
        self._watches.add(watch)
        try:
            yield watch
        finally:
            self._watches.remove(watch)
            watch.close()

    def join(self, game: bytes, watch: Watch) -> None:
        """The watch is told of this game from now on."""
        self._by_game.setdefault(game, set()).add(watch)

    def leave(self, game: bytes, watch: Watch) -> None:
        """The watch is told of this game no longer."""
        watches = self._by_game[game]
        watches.remove(watch)
        if not watches:
            del self._by_game[game]

    async def _end(self, partition: int) -> int:
        while True:
            try:
                return await self._log.end(OUTCOMES, partition)
            except LogUnavailable as error:
                await _wait(partition, error)

    async def _follow(self, partition: int, position: int) -> None:
        while True:
            try:
                async for batch in self._log.follow(OUTCOMES, partition, position):
                    position = batch[-1].offset + 1
                    for record in batch:
                        self._take(record)
            except LogUnavailable as error:
                await _wait(partition, error)

    def _take(self, record: Record) -> None:
        self.recent.add(record)
        watches = self._by_game.get(record.key or b"")
        if watches:
            outcome = Outcome.FromString(record.value)
            for watch in tuple(watches):
                watch.tell(outcome)


async def _wait(partition: int, error: LogUnavailable) -> None:
    _log.warning("outcomes cannot be followed, trying again", partition=partition, error=str(error))
    await asyncio.sleep(_RETRY_S)


def _may_be_judged_later(outcome: Outcome) -> bool:
    """Whether the event of a notice waits, or came again while it waits perhaps."""
    verdict = outcome.verdict
    return verdict.status == STATUS_PARKED or (verdict.status == STATUS_DUPLICATE and not verdict.original.seq)


def stopping(state: str) -> ServiceError:
    """The service is stopping, and what that means for the events of the call."""
    return ServiceError(
        ERROR_CODE_SHUTTING_DOWN, f"the service is stopping; {state}", "repeat with the same event_ids in a while"
    )


def pending() -> ServiceError:
    """The verdicts did not come in time."""
    return ServiceError(ERROR_CODE_VERDICT_PENDING, _STORED, "repeat with the same event_ids to wait again")
