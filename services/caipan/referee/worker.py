"""The work at one partition: what is judged and when, and what becomes of it when the log fails or others take over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import structlog

from caipan.eventlog import EventLog, Fenced, LogError, LogFull, LogUnavailable, Record
from caipan.referee.processor import Referee
from caipan.referee.records import EVENTS, STATE
from caipan.v1.mark_pb2 import REFEREE_PHASE_JUDGING, REFEREE_PHASE_RECOVERING, REFEREE_PHASE_UNSPECIFIED, RefereePhase

CHECKPOINT_S = 2.0
TAIL_S = 1.0  # after which a partition where nothing comes is compared with the end of the log
SETTLED_S = 60.0  # after which a takeover is over, where no checkpoint was needed before
FENCED_S = 3.0  # after which a partition is taken over again, if it has not been revoked by then
LAST_S = 5.0  # for the last checkpoint
ROOM_S = 1.0  # for judging to come after what is delivered
PULSE_S = 0.008  # while events keep coming, all partitions take them in step: fewer, larger appends
INBOX = 2000  # records delivered and not yet judged
FIRST_WAIT_S = 0.1  # before a failed step is tried again; doubled each time
LONGEST_WAIT_S = 2.0

logger = structlog.get_logger()


class _Lapsed(Exception):  # noqa: N818 - no error: it is to be taken over again
    """A checkpoint has failed, and with it the hold on the partition."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a partition is: its next offset, games stopped and why.

    `phase`: unspecified while others judge it, and after it was fenced; `since_ms` (UTC): when it began. Since the
    process began, `refilled` events had to be read from the log because they were not delivered, and `fenced` times
    another worker took over unannounced. `takeover_ms`: how long the last takeover took. Of the partition in this
    worker's hands: the end of its outcomes, the records put in quarantine, the checkpoints, and the seconds they took.
    """

    partition: int
    phase: RefereePhase.ValueType
    since_ms: int
    next_offset: int
    refilled: int
    fenced: int
    takeover_ms: int
    stopped: dict[str, str]
    outcomes_end: int = 0
    quarantined: int = 0
    checkpoints: int = 0
    checkpoints_s: float = 0.0


class PartitionWorker:
    """Judges one partition between `begin` and `end`. Before either, and before the process ends, it must `rest`.

    One task at a time does all there is to do. `told` is called when a recovery is done, and when the work ends with an
    error that no repetition mends; `error` is that one then. With others to judge the partition (`shared`) it is news
    when this one does.
    """

    def __init__(
        self,
        log: EventLog,
        partition: int,
        new_referee: Callable[[], Referee],
        checkpoint_s: float,
        told: Callable[[], None],
        *,
        shared: bool,
    ) -> None:
        self.partition = partition
        self.referee: Referee | None = None
        self.error: BaseException | None = None
        self._log = log
        self._new_referee = new_referee
        self._checkpoint_s = checkpoint_s
        self._told = told
        self._shared = shared
        self._task: asyncio.Task[None] | None = None
        self._rest = asyncio.Event()
        self._rested = False  # whether the last rest has left everything in order
        self._refilled = self._fenced = 0  # by referees that are gone; times
        self._inbox: list[Record] = []
        self._open = self._missed = False  # whether the inbox takes records; whether it had to leave some out
        self._wake, self._room = asyncio.Event(), asyncio.Event()

    @property
    def judging(self) -> bool:
        return self.referee is not None and self.referee.phase == REFEREE_PHASE_JUDGING

    def progress(self) -> Progress:
        referee = self.referee
        if referee is None:
            return Progress(self.partition, REFEREE_PHASE_UNSPECIFIED, 0, 0, self._refilled, self._fenced, 0, {})
        return Progress(
            self.partition,
            referee.phase,
            referee.since_ms,
            referee.guard.next_offset,
            self._refilled + referee.guard.refilled,
            self._fenced,
            referee.takeover_ms,
            dict(referee.stopped),
            referee.outbox.outcomes_end,
            referee.outbox.quarantined,
            referee.checkpoints,
            referee.checkpoints_s,
        )

    def begin(self, *, kept: bool) -> None:
        """Judges on if it was `kept` since the last rest, else recovers first."""
        self._rest.clear()
        self._start(partial(self._work, kept and self._rested))

    def end(self) -> None:
        """Others judge the partition: lets go of it and forgets all of it."""
        self._start(self._drop)

    async def rest(self) -> None:
        """Finishes what is under way and stores a last checkpoint, within LAST_S; what takes longer is broken off."""
        task = self._task
        if task is None:
            return
        if not self.judging and not self._rest.is_set():
            task.cancel()  # there is nothing to store
        self._open = False
        self._rest.set()
        self._wake.set()
        self._room.set()
        await asyncio.wait([task], timeout=LAST_S)
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
        in_order = not task.cancelled() and task.exception() is None
        self._rested = in_order and self.referee is not None and not self.referee.changed

    async def close(self) -> None:
        await self.rest()
        with suppress(LogError):
            await self._log.release(STATE, self.partition)

    async def deliver(self, records: Sequence[Record]) -> None:
        """Takes records to be judged. A recovery reads what has come before its end from the log itself.

        Where the judgement does not come after, the deliverer waits for a moment; then the records are left to be read
        from the log, so that a partition that is stuck does not hold up the others.
        """
        if self._open and len(self._inbox) >= INBOX:
            self._room.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(ROOM_S):
                    await self._room.wait()
        if not self._open or self._missed:
            return
        if len(self._inbox) >= INBOX:
            self._missed = True
            self._inbox = []
        else:
            self._inbox += records
        self._wake.set()

    def _start(self, work: Callable[[], Awaitable[None]]) -> None:
        async def after(earlier: asyncio.Task[None] | None) -> None:
            if earlier is not None:
                await asyncio.wait([earlier])
            await work()

        self._task = asyncio.create_task(after(self._task), name=f"referee-{self.partition}")
        self._task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self.error = task.exception()
            self._told()

    async def _work(self, kept: bool) -> None:
        if kept and self.referee is not None:
            self.referee.resume()
            self._told()
        else:
            await self._drop()
        while not self._rest.is_set():
            try:
                await self._recover_and_judge()
            except _Lapsed:
                await self._drop()
            except Fenced as error:
                self._fenced += 1
                logger.warning("fenced", partition=self.partition, error=str(error))
                await self._drop()
                await self._pause(FENCED_S)

    async def _recover_and_judge(self) -> None:
        if self.referee is None:
            self.referee = self._new_referee()
        referee = self.referee
        if referee.phase == REFEREE_PHASE_RECOVERING:
            await self._insist(referee.recover)
            if not self.judging:
                return
            if self._shared:
                logger.info("took_over", partition=self.partition, took_ms=referee.takeover_ms)
            self._told()
        try:
            await self._judge(referee)
        finally:
            self._open = False
        await referee.rest()

    async def _judge(self, referee: Referee) -> None:
        """Judges what the log has and what comes; a checkpoint at most `checkpoint_s` after a change."""
        clock = asyncio.get_running_loop().time
        self._open = self._missed = True  # before the end is asked for: what comes after it is delivered
        settled_s, tail, tail_s = clock() + SETTLED_S, 0, clock() + TAIL_S
        due_s = None
        while not self._rest.is_set():
            if self._missed:
                self._inbox, self._missed = [], False
                await self._insist(referee.catch_up)
            if due_s is None and referee.changed:
                due_s = clock() + self._checkpoint_s
            if due_s is not None and clock() >= due_s:
                await self._insist(referee.checkpoint)
                due_s = None
            if records := await self._delivered(min(due_s or tail_s, tail_s)):
                await self._insist(partial(referee.feed, records))
                tail, tail_s = 0, clock() + TAIL_S
            elif clock() >= tail_s:
                # What was there a while ago and has not come since will not come.
                await self._insist(partial(referee.refill, tail))
                tail, tail_s = await self._end(), clock() + TAIL_S
                if clock() >= settled_s:
                    referee.games.settled()

    async def _end(self) -> int:
        try:
            return await self._log.end(EVENTS, self.partition)
        except LogUnavailable:
            return 0

    async def _delivered(self, until_s: float) -> list[Record]:
        """What has been delivered, or nothing if nothing has by then, in the event loop's time."""
        if self._rest.is_set():
            return []
        if not self._inbox:
            self._wake.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until_s):
                    await self._wake.wait()
        else:
            await asyncio.sleep(PULSE_S - asyncio.get_running_loop().time() % PULSE_S)
        records, self._inbox = self._inbox, []
        self._room.set()
        return records

    async def _insist(self, step: Callable[[], Awaitable[None]]) -> None:
        """Repeats a step until the log lets it through, or it is time to rest."""
        wait_s = FIRST_WAIT_S
        failures = 0
        while not self._rest.is_set():
            try:
                return await step()
            except Fenced as error:
                if failures:
                    raise _Lapsed from error
                raise
            except (LogUnavailable, LogFull) as error:
                failures += 1
                if failures.bit_count() == 1:  # less and less often
                    logger.warning("log_unavailable", partition=self.partition, error=str(error), failures=failures)
            await self._pause(wait_s)
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)
        return None

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._rest.wait()

    async def _drop(self) -> None:
        referee, self.referee = self.referee, None
        if referee is not None:
            self._refilled += referee.guard.refilled
        with suppress(LogError):
            await self._log.release(STATE, self.partition)
