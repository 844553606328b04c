"""The runner on the embedded log: one referee for each partition, all in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial

import structlog

from caipan.eventlog import EventLog, LogFull, LogUnavailable, Record
from caipan.referee.processor import CHECKPOINT_EVENTS, GAMES_KEPT, Referee
from caipan.referee.records import EVENTS

CHECKPOINT_S = 2.0
FIRST_WAIT_S = 0.1  # before a failed step is tried again; doubled each time
LONGEST_WAIT_S = 5.0

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a partition is: its next offset, the records the guard had to read itself, games stopped and why."""

    partition: int
    next_offset: int
    refilled: int
    stopped: dict[str, str]


class RefereeService:
    """Judges all partitions of an open log until `run` is cancelled. `ready` is set once all have recovered."""

    def __init__(
        self,
        log: EventLog,
        *,
        checkpoint_s: float = CHECKPOINT_S,
        checkpoint_events: int = CHECKPOINT_EVENTS,
        games_kept: int = GAMES_KEPT,
    ) -> None:
        self.ready = asyncio.Event()
        self._log = log
        self._checkpoint_s = checkpoint_s
        self._referees = [
            Referee(log, partition, checkpoint_events=checkpoint_events, games_kept=games_kept)
            for partition in range(log.partitions(EVENTS))
        ]
        self._recovering = len(self._referees)

    def status(self) -> list[Progress]:
        """One for each partition, in order."""
        return [
            Progress(referee.partition, referee.guard.next_offset, referee.guard.refilled, dict(referee.stopped))
            for referee in self._referees
        ]

    async def run(self) -> None:
        """Ends by cancellation, after a last checkpoint, or with the LogError that no repetition can mend."""
        try:
            async with asyncio.TaskGroup() as group:
                for referee in self._referees:
                    group.create_task(self._work(referee), name=f"referee-{referee.partition}")
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors

    async def _work(self, referee: Referee) -> None:
        try:
            await self._insist(referee.partition, referee.recover)
            self._recovering -= 1
            if not self._recovering:
                self.ready.set()
            await self._insist(referee.partition, partial(self._follow, referee))
        finally:
            await referee.close()

    async def _insist(self, partition: int, step: Callable[[], Awaitable[None]]) -> None:
        """Repeats a step until the log lets it through."""
        clock = asyncio.get_running_loop().time
        wait_s = FIRST_WAIT_S
        while True:
            began_s = clock()
            try:
                return await step()
            except (LogUnavailable, LogFull) as error:
                if clock() - began_s > 2 * LONGEST_WAIT_S:  # it went well for a while
                    wait_s = FIRST_WAIT_S
                logger.warning("log_unavailable", partition=partition, error=str(error), again_in_s=wait_s)
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)

    async def _follow(self, referee: Referee) -> None:
        """Feeds what the log has and what comes; a checkpoint at most `checkpoint_s` after a change."""
        clock = asyncio.get_running_loop().time
        await referee.catch_up()
        follower = self._log.follow(EVENTS, referee.partition, referee.guard.next_offset)
        due_s = None
        while True:
            if not referee.changed:
                due_s = None
            elif due_s is None:
                due_s = clock() + self._checkpoint_s
            elif clock() >= due_s:
                await referee.checkpoint()
                due_s = None
            await referee.feed(await _next_batch(follower, due_s))


async def _next_batch(follower: AsyncIterator[list[Record]], due_s: float | None) -> list[Record]:
    """The next batch, or nothing if none has come by `due_s`, in the event loop's time."""
    try:
        async with asyncio.timeout_at(due_s):
            return await anext(follower)
    except TimeoutError:
        return []
