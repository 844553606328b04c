"""Following a partition: a consumer of its own, whose delivery is not trusted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from aiokafka import AIOKafkaConsumer, TopicPartition

from caipan.eventlog.errors import LogUnavailable
from caipan.eventlog.guard import DeliveryGuard
from caipan.eventlog.kafka.faults import translated
from caipan.eventlog.kafka.reading import as_record, started_consumer, stopped
from caipan.eventlog.kafka.settings import KafkaSettings
from caipan.eventlog.port import EventLog, Record

_WAIT_MS = 500  # how long a broker holds a fetch that finds nothing
_POLL_MS = 1000


class Follower(AsyncIterator[list[Record]]):
    """The batches of one partition from offset `start` on: each record once, none lost, whatever is delivered.

    Not a generator, because a generator that is cancelled while it waits is over; this one goes on.
    """

    def __init__(self, log: EventLog, settings: KafkaSettings, topic: str, partition: int, start: int) -> None:
        self._log = log
        self._settings = settings
        self._topic = topic
        self._stream = TopicPartition(settings.topic(topic), partition)
        self._guard = DeliveryGuard(log, topic, partition, start)
        self._consumer: AIOKafkaConsumer | None = None
        self._delivered: list[Record] = []
        self._closed = asyncio.Event()

    async def __anext__(self) -> list[Record]:
        while True:
            if due := await self._guard.admit(self._delivered):
                self._guard.next_offset = due[-1].offset + 1
                return due
            with translated(self._settings, f"following {self._topic}"):
                self._delivered = await self._fetched()

    async def _fetched(self) -> list[Record]:
        if self._closed.is_set():
            raise LogUnavailable(f"{self._settings.name}: the log is not open; open it first")
        if self._consumer is None:
            consumer = await started_consumer(self._settings, _WAIT_MS)
            consumer.assign([self._stream])
            consumer.seek(self._stream, self._guard.next_offset)
            self._consumer = consumer
        fetched = await self._consumer.getmany(self._stream, timeout_ms=_POLL_MS)
        return [as_record(self._topic, each) for each in fetched.get(self._stream, ())]

    async def close(self) -> None:
        """Whoever waits for the next batch, or asks for one, learns that the log is closed."""
        self._closed.set()
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            await stopped(consumer)

    def __del__(self) -> None:
        consumer = self._consumer
        if consumer is not None:
            loop = consumer._loop
            if not loop.is_closed():
                loop.call_soon_threadsafe(lambda: loop.create_task(stopped(consumer)))
