"""Compacted topics: the latest value of each key, read by an index of offsets; checkpoints in transactions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from aiokafka import AIOKafkaProducer

from caipan.eventlog.errors import Fenced, LogUnavailable
from caipan.eventlog.kafka.batches import TIMEOUT_S, Row, abandoned, send_batches, started_producer
from caipan.eventlog.kafka.faults import translated
from caipan.eventlog.kafka.reading import Reading
from caipan.eventlog.kafka.settings import KafkaSettings

# The row of a partition that holds the next offset to fold, in decimal digits. No text in UTF-8 has this byte.
POSITION_KEY = b"\xffnext-offset"
_OWNERS = {"game-state": "referee", "standings": "standings"}
_READ = 500


class StateReader:
    """One partition of a compacted topic. It remembers where the latest value of each key stands, not the values."""

    def __init__(self, reading: Reading, topic: str, partition: int) -> None:
        self._reading = reading
        self._topic = topic
        self._partition = partition
        self._offsets: dict[bytes, int] = {}
        self._next = 0
        self._busy = asyncio.Lock()

    async def all(self) -> dict[bytes, bytes]:
        """Every key with its value, all as of one moment."""
        async with self._busy:
            self._offsets, self._next = {}, 0
            values: dict[bytes, bytes] = {}
            await self._catch_up(values)
            return values

    async def get(self, key: bytes) -> bytes | None:
        """The value of a key, None if it has none."""
        async with self._busy:
            values: dict[bytes, bytes] = {}
            await self._catch_up(values)
            if key in values or key not in self._offsets:
                return values.get(key)
            offset = self._offsets[key]
            records, _ = await self._reading.read(self._topic, self._partition, offset, offset + 1, 1)
        if not records:
            raise LogUnavailable(f"{self._topic}-{self._partition}: no record at offset {offset}; try again")
        return bytes(records[0].value)

    async def _catch_up(self, values: dict[bytes, bytes]) -> None:
        """Reads on to the end; `values` gets what is new."""
        end = await self._reading.end(self._topic, self._partition)
        while self._next < end:
            records, self._next = await self._reading.read(self._topic, self._partition, self._next, end, _READ)
            for record in records:
                if record.key is None:
                    continue
                if record.value is None:
                    self._offsets.pop(record.key, None)
                    values.pop(record.key, None)
                else:
                    self._offsets[record.key] = record.offset
                    values[record.key] = record.value


class Checkpoints:
    """The partitions of compacted topics that this process has taken over, each with its transactional producer.

    The broker fences: of all producers with one transactional id only the one connected last can commit.
    """

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._producers: dict[tuple[str, int], AIOKafkaProducer] = {}

    async def take_over(self, topic: str, partition: int) -> None:
        """Fences whoever had the partition. Raises LogUnavailable."""
        await self.release(topic, partition)
        transactional_id = self._settings.topic(f"{_OWNERS.get(topic, topic)}-{partition}")
        with translated(self._settings, f"taking over {topic}-{partition}"):
            self._producers[topic, partition] = await started_producer(
                self._settings, transactional_id=transactional_id, transaction_timeout_ms=int(TIMEOUT_S * 1000)
            )

    async def release(self, topic: str, partition: int) -> None:
        producer = self._producers.pop((topic, partition), None)
        if producer is not None:
            await abandoned(producer)

    async def close(self) -> None:
        for topic, partition in list(self._producers):
            await self.release(topic, partition)

    async def store(self, topic: str, partition: int, next_offset: int, states: Mapping[bytes, bytes | None]) -> None:
        """One transaction. After any failure the partition must be taken over again: the next call raises Fenced.

        Raises Fenced, LogUnavailable.
        """
        producer = self._producers.get((topic, partition))
        if producer is None:
            raise Fenced(f"{self._settings.name}: {topic}-{partition} is not taken over; take it over first")
        rows = [(key, value, ()) for key, value in states.items()]
        rows.append((POSITION_KEY, b"%d" % next_offset, ()))
        try:
            with translated(self._settings, f"a checkpoint of {topic}-{partition}"):
                async with asyncio.timeout(TIMEOUT_S):
                    await _commit(producer, self._settings.topic(topic), partition, rows)
        except BaseException:
            await self.release(topic, partition)
            raise


async def _commit(producer: AIOKafkaProducer, topic: str, partition: int, rows: Iterable[Row]) -> None:
    await producer.begin_transaction()
    await send_batches(producer, topic, partition, rows)
    await producer.commit_transaction()


def position_of(states: dict[bytes, bytes]) -> int:
    """Takes the next offset out of the states of a checkpoint; 0 where there was none."""
    return int(states.pop(POSITION_KEY, b"0"))
