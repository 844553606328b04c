"""The log on Kafka: the adapter of the port."""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack

from caipan.eventlog.errors import LogUnavailable
from caipan.eventlog.kafka.appending import Appender, BatchAppender, GatheringAppender
from caipan.eventlog.kafka.batches import Row
from caipan.eventlog.kafka.faults import translated
from caipan.eventlog.kafka.following import Follower
from caipan.eventlog.kafka.reading import Reading, as_record
from caipan.eventlog.kafka.settings import KafkaSettings
from caipan.eventlog.kafka.states import Checkpoints, StateReader, position_of
from caipan.eventlog.kafka.topics import verify_topics
from caipan.eventlog.partition import check_partition, partition_of, place
from caipan.eventlog.port import EventLog, NewRecord, Record, check_range, check_topic

_SCAN = 2000  # records read at once in search of a key


class KafkaLog(EventLog):
    """The log in the topics of a cluster. Opening verifies them: WrongLog names all that is wrong with them.

    `batches`: each append is one record batch for each partition, as a fold wants it; otherwise kafka-python's producer
    gathers what many callers send, as a gateway wants it. Of an append that fails with LogUnavailable a part, or all,
    may stand in the log.
    """

    def __init__(self, settings: KafkaSettings, *, batches: bool = False) -> None:
        self.settings = settings
        self._appender: Appender = (BatchAppender if batches else GatheringAppender)(settings)
        self._reading = Reading(settings)
        self._checkpoints = Checkpoints(settings)
        self._states: dict[tuple[str, int], StateReader] = {}
        self._followers: weakref.WeakSet[Follower] = weakref.WeakSet()
        self._partitions = 0
        self._opened = AsyncExitStack()

    async def open(self) -> None:
        self._partitions = await verify_topics(self.settings)

    async def close(self) -> None:
        self._partitions = 0
        for follower in list(self._followers):
            await follower.close()
        await self._appender.close()
        await self._checkpoints.close()
        await self._reading.close()

    def partitions(self, topic: str) -> int:
        check_topic(topic)
        return self._count()

    async def append(self, topic: str, records: Sequence[NewRecord]) -> list[tuple[int, int]]:
        check_topic(topic, compacted=False)
        count = self._count()
        if not records:
            return []
        places = [place(topic, record, count) for record in records]
        rows: defaultdict[int, list[Row]] = defaultdict(list)
        for partition, record in zip(places, records, strict=True):
            rows[partition].append((record.key, record.value, record.headers))
        with translated(self.settings, f"appending to {topic}"):
            offsets = await self._appender.append(self.settings.topic(topic), rows)
        left = {partition: iter(each) for partition, each in offsets.items()}
        return [(partition, next(left[partition])) for partition in places]

    async def read(self, topic: str, partition: int, start: int, limit: int = 1000) -> list[Record]:
        check_topic(topic, compacted=False)
        check_range(start, limit)
        check_partition(topic, partition, self._count())
        end = await self._reading.end(topic, partition)
        records, _ = await self._reading.read(topic, partition, start, end, limit)
        return [as_record(topic, record) for record in records]

    async def read_key(self, topic: str, key: bytes, start: int = 0, end: int | None = None) -> list[Record]:
        """Kafka has no index of keys: the range is read, and what is of other keys left out."""
        check_topic(topic, compacted=False)
        check_range(start)
        partition = partition_of(key, self._count())
        last = await self._reading.end(topic, partition)
        end = last if end is None else min(end, last)
        found: list[Record] = []
        while start < end:
            records, start = await self._reading.read(topic, partition, start, end, _SCAN)
            found += [as_record(topic, record) for record in records if record.key == key]
        return found

    async def end(self, topic: str, partition: int) -> int:
        check_topic(topic, compacted=False)
        check_partition(topic, partition, self._count())
        return await self._reading.end(topic, partition)

    def follow(self, topic: str, partition: int, start: int) -> AsyncIterator[list[Record]]:
        check_topic(topic, compacted=False)
        check_range(start)
        check_partition(topic, partition, self._count())
        follower = Follower(self, self.settings, topic, partition, start)
        self._followers.add(follower)
        return follower

    async def checkpoint(
        self, topic: str, partition: int, next_offset: int, states: Mapping[bytes, bytes | None]
    ) -> None:
        check_topic(topic, compacted=True)
        check_partition(topic, partition, self._count())
        await self._checkpoints.store(topic, partition, next_offset, states)

    async def restore(self, topic: str, partition: int) -> tuple[int, dict[bytes, bytes]]:
        states = await self._state(topic, partition).all()
        return position_of(states), states

    async def take_over(self, topic: str, partition: int) -> None:
        check_topic(topic, compacted=True)
        check_partition(topic, partition, self._count())
        await self._checkpoints.take_over(topic, partition)

    async def release(self, topic: str, partition: int) -> None:
        await self._checkpoints.release(topic, partition)

    async def put(self, topic: str, key: bytes, value: bytes | None) -> None:
        check_topic(topic, compacted=True)
        rows: dict[int, list[Row]] = {partition_of(key, self._count()): [(key, value, ())]}
        with translated(self.settings, f"writing to {topic}"):
            await self._appender.append(self.settings.topic(topic), rows)

    async def get(self, topic: str, key: bytes, partition: int | None = None) -> bytes | None:
        check_topic(topic, compacted=True)
        return await self._state(topic, partition_of(key, self._count()) if partition is None else partition).get(key)

    def _state(self, topic: str, partition: int) -> StateReader:
        check_topic(topic, compacted=True)
        check_partition(topic, partition, self._count())
        stream = (topic, partition)
        if stream not in self._states:
            self._states[stream] = StateReader(self._reading, topic, partition)
        return self._states[stream]

    def _count(self) -> int:
        if not self._partitions:
            raise LogUnavailable(f"{self.settings.name}: the log is not open; open it first")
        return self._partitions
