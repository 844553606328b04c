"""Reading ranges and following, by consumers of aiokafka without a group: each reader says where it reads."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from caipan.eventlog.kafka.faults import translated
from caipan.eventlog.kafka.settings import KafkaSettings
from caipan.eventlog.port import Record

TIMEOUT_S = 10.0
_FETCH_BYTES = 4 << 20
_RANGE_WAIT_MS = 20  # how long a broker holds a fetch that finds nothing; a range is known to have something
_READERS = 4  # ranges read at a time; as many consumers stay connected


async def started_consumer(settings: KafkaSettings, wait_ms: int, *, committed: bool = True) -> AIOKafkaConsumer:
    """A consumer of what is committed, or of all; it is assigned by its user. Raises what aiokafka raises."""
    consumer = AIOKafkaConsumer(
        **settings.client(),
        client_id="caipan",
        group_id=None,
        enable_auto_commit=False,
        auto_offset_reset="none",
        isolation_level="read_committed" if committed else "read_uncommitted",
        max_partition_fetch_bytes=_FETCH_BYTES,
        fetch_max_wait_ms=wait_ms,
        request_timeout_ms=int(TIMEOUT_S * 1000),
    )
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await consumer.start()
    except BaseException:
        await stopped(consumer)
        raise
    return consumer


async def stopped(consumer: AIOKafkaConsumer) -> None:
    """Stops a consumer, whatever state it is in."""
    with suppress(Exception):
        async with asyncio.timeout(1):
            await consumer.stop()


def as_record(topic: str, record: ConsumerRecord) -> Record:
    """The record of the port; `topic`: its bare name. A value that Kafka calls null has no bytes."""
    return Record(
        topic, record.partition, record.offset, record.key, record.value or b"", record.headers, record.timestamp
    )


class RangeReader:
    """Reads ranges of one partition at a time; between the calls it asks the broker for nothing."""

    def __init__(self, consumer: AIOKafkaConsumer) -> None:
        self._consumer = consumer
        self.stream: TopicPartition | None = None
        self._position = -1

    async def read(self, stream: TopicPartition, start: int, end: int, limit: int) -> tuple[list[ConsumerRecord], int]:
        """At most `limit` records with start <= offset < end, at least one if there is any, and where to go on.

        Raises what aiokafka raises, and must be closed then.
        """
        consumer = self._consumer
        if self.stream != stream:
            consumer.assign([stream])
            self.stream, self._position = stream, -1
        if start != self._position:
            consumer.seek(stream, start)
        consumer.resume(stream)
        records: list[ConsumerRecord] = []
        while not records and start < end:
            fetched = await consumer.getmany(stream, timeout_ms=_RANGE_WAIT_MS, max_records=limit)
            records = [record for record in fetched.get(stream, ()) if record.offset < end]
            start = await consumer.position(stream)
        consumer.pause(stream)
        self._position = start
        return records, start

    async def close(self) -> None:
        await stopped(self._consumer)


class Reading:
    """Reads ends and ranges of the topics of a log, by their bare names. The methods raise LogErrors."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._ends: AIOKafkaConsumer | None = None
        self._free: list[RangeReader] = []
        self._connected = 0
        self._turns = asyncio.Semaphore(_READERS)
        self._connecting = asyncio.Lock()

    async def close(self) -> None:
        for reader in self._free:
            await reader.close()
        if self._ends is not None:
            await stopped(self._ends)

    async def end(self, topic: str, partition: int) -> int:
        """The offset behind the last record, committed or not.

        What was committed just now is not marked as such at once: who reads up to here waits for it.
        """
        stream = TopicPartition(self._settings.topic(topic), partition)
        with translated(self._settings, f"asking for the end of {topic}"):
            async with asyncio.timeout(TIMEOUT_S):
                async with self._connecting:
                    if self._ends is None:
                        self._ends = await started_consumer(self._settings, _RANGE_WAIT_MS, committed=False)
                return int((await self._ends.end_offsets([stream]))[stream])

    async def read(
        self, topic: str, partition: int, start: int, end: int, limit: int
    ) -> tuple[list[ConsumerRecord], int]:
        """As RangeReader.read."""
        stream = TopicPartition(self._settings.topic(topic), partition)
        with translated(self._settings, f"reading {topic}"):
            async with self._turns, asyncio.timeout(TIMEOUT_S):
                reader = await self._reader(stream)
                try:
                    answer = await reader.read(stream, start, end, limit)
                except BaseException:
                    self._connected -= 1
                    await reader.close()
                    raise
                self._free.append(reader)
                return answer

    async def _reader(self, stream: TopicPartition) -> RangeReader:
        """A free reader, best the one that has read this partition before: it may have more of it already."""
        for reader in self._free:
            if reader.stream == stream:
                self._free.remove(reader)
                return reader
        if self._connected == _READERS:
            return self._free.pop(0)
        reader = RangeReader(await started_consumer(self._settings, _RANGE_WAIT_MS))
        self._connected += 1
        return reader
