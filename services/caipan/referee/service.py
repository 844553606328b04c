"""The referee of one process: a worker for each partition that is its own, whoever says which these are."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

import structlog
from prometheus_client.core import Metric

from caipan.eventlog import EventLog, LogUnavailable, Record
from caipan.eventlog.delivery import Delivery, FollowedLog, Receiver
from caipan.referee.metrics import referee_metrics
from caipan.referee.processor import CHECKPOINT_EVENTS, GAMES_KEPT, Referee
from caipan.referee.records import EVENTS
from caipan.referee.worker import CHECKPOINT_S, FIRST_WAIT_S, LONGEST_WAIT_S, PartitionWorker, Progress
from caipan.v1.mark_pb2 import REFEREE_PHASE_JUDGING, REFEREE_PHASE_STOPPED

RECOVERED = (REFEREE_PHASE_JUDGING, REFEREE_PHASE_STOPPED)

logger = structlog.get_logger()


class RefereeService(Receiver):
    """Judges the partitions of an open log until `run` is cancelled. `ready` is set once all assigned have recovered.

    `delivery` says which partitions are assigned; without it all are, and nobody else may judge this log.
    """

    def __init__(
        self,
        log: EventLog,
        delivery: Delivery | None = None,
        *,
        checkpoint_s: float = CHECKPOINT_S,
        checkpoint_events: int = CHECKPOINT_EVENTS,
        games_kept: int = GAMES_KEPT,
    ) -> None:
        self.ready = asyncio.Event()
        self._log = log
        self._delivery = delivery or FollowedLog(log, EVENTS)
        self._assigned: Collection[int] = ()
        self._failed = asyncio.Event()
        self._workers = [
            PartitionWorker(
                log,
                partition,
                partial(Referee, log, partition, checkpoint_events=checkpoint_events, games_kept=games_kept),
                checkpoint_s,
                self._told,
                shared=delivery is not None,
            )
            for partition in range(log.partitions(EVENTS))
        ]

    def status(self) -> list[Progress]:
        """One for each partition, in order."""
        return [worker.progress() for worker in self._workers]

    async def metrics(self) -> Iterable[Metric]:
        """The same for Prometheus."""
        return await referee_metrics(self._log, self.status())

    async def run(self) -> None:
        """Ends by cancellation, after a last checkpoint, or with the LogError that no repetition can mend."""
        delivering = asyncio.create_task(self._deliver())
        failed = asyncio.create_task(self._failed.wait())
        try:
            await asyncio.wait([delivering, failed], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (delivering, failed):
                task.cancel()
            await asyncio.wait([delivering])
            await asyncio.gather(*(worker.close() for worker in self._workers))
        for worker in self._workers:
            if worker.error is not None:
                raise worker.error
        await delivering

    async def _deliver(self) -> None:
        """Lets itself be told again and again, whatever becomes of the connection."""
        clock = asyncio.get_running_loop().time
        wait_s = FIRST_WAIT_S
        while True:
            began_s = clock()
            try:
                return await self._delivery.run(self)
            except LogUnavailable as error:
                if clock() - began_s > 2 * LONGEST_WAIT_S:  # it went well for a while
                    wait_s = FIRST_WAIT_S
                logger.warning("delivery_failed", error=str(error), again_in_s=wait_s)
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)

    def assigned(self, partitions: Collection[int], *, kept: bool) -> None:
        self._assigned = partitions
        for worker in self._workers:
            if worker.partition in partitions:
                worker.begin(kept=kept)
            else:
                worker.end()
        self._told()

    async def deliver(self, records: Sequence[Record]) -> None:
        await self._workers[records[0].partition].deliver(records)

    async def revoked(self) -> None:
        await asyncio.gather(*(worker.rest() for worker in self._workers))

    def positions(self) -> Mapping[int, int]:
        return {each.partition: each.next_offset for each in self.status() if each.phase in RECOVERED}

    def _told(self) -> None:
        if any(worker.error is not None for worker in self._workers):
            self._failed.set()
        elif all(self._workers[partition].judging for partition in self._assigned):
            self.ready.set()
