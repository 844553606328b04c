"""Waiting for verdicts: the gateway follows game-outcomes and tells each caller what became of the caller's events."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

import structlog

from caipan.eventlog import EventLog, LogUnavailable, Record
from caipan.serving.errors import ServiceError
from caipan.v1.errors_pb2 import ERROR_CODE_SHUTTING_DOWN
from caipan.v1.outcome_pb2 import STATUS_PARKED, Outcome

OUTCOMES = "game-outcomes"

Position = tuple[int, int]  # partition and offset of an event

_RETRY_S = 1.0

_log = structlog.get_logger()


class Watch:
    """One caller's interest in the outcomes of some games. Begins before the events are appended, so none is missed."""

    def __init__(self) -> None:
        self._told: dict[Position, Outcome] = {}
        self._missing: set[Position] | None = None  # not known before the append has returned
        self._complete = asyncio.Event()
        self._stopped = False

    async def outcomes(self, positions: Collection[Position]) -> Mapping[Position, Outcome]:
        """Waits for the first outcome or notice of each event. Raises ServiceError SHUTTING_DOWN."""
        self._told = {position: told for position, told in self._told.items() if position in positions}
        self._missing = set(positions) - self._told.keys()
        if self._missing and not self._stopped:
            await self._complete.wait()
        if self._missing:
            raise stopping("all events are stored, not all are judged yet")
        return self._told

    def tell(self, position: Position, outcome: Outcome) -> None:
        """An outcome of one of the games has come."""
        if self._missing is None:
            self._told.setdefault(position, outcome)
        elif position in self._missing:
            self._missing.remove(position)
            self._told[position] = outcome
            if not self._missing:
                self._complete.set()

    def stop(self) -> None:
        """Nothing more will come."""
        self._stopped = True
        self._complete.set()


class Tail:
    """Follows game-outcomes from its end at the start, while it runs."""

    def __init__(self, log: EventLog) -> None:
        self.ready = asyncio.Event()
        self._log = log
        self._stopped = False
        self._watches: dict[bytes, set[Watch]] = {}  # by game

    async def run(self) -> None:
        """Runs until it is cancelled, or with the LogError that no repetition can mend; ``ready`` once it follows."""
        try:
            partitions = range(self._log.partitions(OUTCOMES))
            ends = [await self._log.end(OUTCOMES, partition) for partition in partitions]
            self.ready.set()
            async with asyncio.TaskGroup() as group:
                for partition, end in enumerate(ends):
                    group.create_task(self._follow(partition, end))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        finally:
            self._stopped = True
            self.ready.set()  # whoever waits for it learns that it is over
            for watch in self._all():
                watch.stop()

    @property
    def watching(self) -> int:
        """How many watches there are now."""
        return len(self._all())

    @contextmanager
    def watch(self, games: Iterable[bytes]) -> Iterator[Watch]:
        """A watch on these games, for the time of the context. Raises ServiceError SHUTTING_DOWN."""
        if self._stopped:
            raise stopping("nothing was stored")
        games, watch = set(games), Watch()
        for game in games:
            self._watches.setdefault(game, set()).add(watch)
        try:
            yield watch
        finally:
            for game in games:
                self._watches[game].remove(watch)
                if not self._watches[game]:
                    del self._watches[game]

    def _all(self) -> set[Watch]:
        return {watch for watches in self._watches.values() for watch in watches}

    async def _follow(self, partition: int, position: int) -> None:
        while True:
            try:
                async for batch in self._log.follow(OUTCOMES, partition, position):
                    position = batch[-1].offset + 1
                    for record in batch:
                        self._tell(record)
            except LogUnavailable as error:
                _log.warning("outcomes cannot be followed, trying again", partition=partition, error=str(error))
                await asyncio.sleep(_RETRY_S)

    def _tell(self, record: Record) -> None:
        watches = self._watches.get(record.key or b"")
        if watches:
            outcome = Outcome.FromString(record.value)
            for watch in watches:
                watch.tell((outcome.partition, outcome.offset), outcome)


class Originals:
    """The outcomes of one game so far: where a repeated event finds what it was answered the first time."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._by_seq: dict[int, Outcome] = {}
        self._by_event: dict[str, Outcome] = {}
        self._parked: dict[str, Outcome] = {}
        for record in records:
            outcome = Outcome.FromString(record.value)
            verdict = outcome.verdict
            if verdict.seq:
                self._by_seq.setdefault(verdict.seq, outcome)
                self._by_event.setdefault(verdict.event_id, outcome)
            elif verdict.status == STATUS_PARKED:
                self._parked.setdefault(verdict.event_id, outcome)

    def outcome(self, notice: Outcome) -> Outcome | None:
        """The outcome that a DUPLICATE points to. Where the fold remembers the event no longer, its id finds it."""
        seq = notice.verdict.original.seq
        return self._by_seq.get(seq) if seq else self._by_event.get(notice.verdict.event_id)

    def parked(self, notice: Outcome) -> Outcome | None:
        """The notice of the event of a DUPLICATE that waits still."""
        return self._parked.get(notice.verdict.event_id)


def stopping(state: str) -> ServiceError:
    """The service is stopping, and what that means for the events of the call."""
    return ServiceError(
        ERROR_CODE_SHUTTING_DOWN, f"the service is stopping; {state}", "repeat with the same event_ids in a while"
    )
