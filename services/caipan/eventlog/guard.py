"""The delivery guard: each record of a partition once and in order, however it is delivered.

Whoever delivers is not trusted to repeat nothing and to skip nothing; the log itself is asked.
"""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from caipan.eventlog.errors import LogUnavailable
from caipan.eventlog.port import EventLog, Record

_READ = 1000  # records read at once


logger = structlog.get_logger()


class DeliveryGuard:
    """Knows the next offset of one partition. Whoever takes a record moves `next_offset` past it.

    `refilled` counts the records that were not delivered and had to be read from the log.
    """

    def __init__(self, log: EventLog, topic: str, partition: int, next_offset: int = 0) -> None:
        self._log = log
        self._topic = topic
        self._partition = partition
        self.next_offset = next_offset
        self.refilled = 0

    async def admit(self, records: Sequence[Record]) -> list[Record]:
        """The records that are to be taken next, without a hole; empty when all of `records` have been taken.

        Take them and ask again with the same `records`: a range that is missing comes in pieces, so that memory stays
        bounded. Raises LogUnavailable where the log lacks what must stand before a record that was delivered.
        """
        expected = self.next_offset
        due = []
        for record in records:
            if record.offset == expected:
                due.append(record)
                expected += 1
            elif record.offset > expected:
                if not due:
                    due = await self.read_until(record.offset)
                    self.refilled += len(due)
                    place = {"topic": self._topic, "partition": self._partition, "offset": expected}
                    logger.warning("refilled", records=len(due), **place)
                break
        return due

    async def read_until(self, end: int) -> list[Record]:
        """The next records of the log itself, at least one as long as `end` is not reached.

        Raises LogUnavailable where the log has a hole.
        """
        start = self.next_offset
        if start >= end:
            return []
        records = await self._log.read(self._topic, self._partition, start, min(end - start, _READ))
        if not records or records[0].offset != start:
            raise LogUnavailable(
                f"{self._topic}-{self._partition}: no record at offset {start}, though the topic reaches {end}; "
                "the topic must keep all its records: check its settings"
            )
        return records
