"""What has been derived and not yet been acknowledged by the log."""

from __future__ import annotations

import asyncio

import structlog

from caipan.eventlog import EventLog, NewRecord, Record
from caipan.referee.records import OUTCOMES, QUARANTINE, quarantined

logger = structlog.get_logger()


class Outbox:
    """Outcomes of one partition and quarantined records, kept until the log has them.

    `outcomes_end` is the offset after the last outcome that the log acknowledged, `quarantined` how many records it has
    put in quarantine.
    """

    def __init__(self, log: EventLog, partition: int, outcomes_end: int = 0) -> None:
        self._log = log
        self._partition = partition
        self._outcomes: list[NewRecord] = []
        self._quarantined: list[NewRecord] = []
        self._sending: asyncio.Task[None] | None = None
        self.outcomes_end = outcomes_end
        self.quarantined = 0

    def add_outcome(self, key: bytes, value: bytes) -> None:
        """`value`: an OutcomeRecord in bytes; it goes into the partition of its event."""
        self._outcomes.append(NewRecord(key, value, partition=self._partition))

    def add_quarantined(self, record: Record, reason: str) -> None:
        logger.warning("quarantined", partition=self._partition, offset=record.offset, reason=reason)
        self._quarantined.append(quarantined(record, reason))

    async def flush(self) -> None:
        """Returns when the log has everything; after a LogError all that it has not acknowledged is kept.

        An append outlives the cancellation of its caller, and the next call waits for it: so a stop repeats nothing.
        """
        if self._sending is None:
            if not self._outcomes and not self._quarantined:
                return
            self._sending = asyncio.create_task(self._send())
            self._sending.add_done_callback(_told)
        sending = self._sending
        try:
            await asyncio.shield(sending)
        finally:
            if sending.done():
                self._sending = None

    async def _send(self) -> None:
        if self._quarantined:
            await self._log.append(QUARANTINE, self._quarantined)
            self.quarantined += len(self._quarantined)
            self._quarantined = []
        if self._outcomes:
            placed = await self._log.append(OUTCOMES, self._outcomes)
            self._outcomes = []
            self.outcomes_end = placed[-1][1] + 1


def _told(sending: asyncio.Task[None]) -> None:
    """Takes note of the end, since nobody may wait for it any more."""
    if not sending.cancelled():
        sending.exception()
