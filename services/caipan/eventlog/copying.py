"""A whole log copied into another one: the same records at the same offsets, so that every head stays as it is.

Copied are the records and the people. The other states are derived: the services on the copy fold them again. The time
at which a record was received is that of the log it stands in: the copy has its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from google.protobuf.message import DecodeError

from caipan.eventlog.errors import WrongLog
from caipan.eventlog.guard import DeliveryGuard
from caipan.eventlog.port import EventLog, NewRecord, Record
from caipan.v1.outcome_pb2 import Outcome

# What follows from a record is copied after it: a copy that breaks off holds nothing that its events do not give.
COPIED = ("game-events", "tournament-events", "game-outcomes", "tournament-outcomes", "quarantine")
OUTCOMES = "game-outcomes"
PEOPLE = "people"

_APPEND_BYTES = 1 << 20  # what is appended at once; a longer record goes alone
_PUTS = 100  # states stored at once

Counted = Callable[[int], None]  # is told how many records more are done


@dataclass(slots=True)
class Stream:
    """A partition of a topic, copied from offset ``start`` up to ``end``; ``digest``: SHA-256 over all its records."""

    topic: str
    partition: int
    start: int
    end: int
    digest: bytes = b""

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class LogCopy:
    """From one open log into another one. `plan`, then `run`, then `verify`; each may raise any LogError.

    What the source receives after `plan` is left for another copy into the same target: it goes on where this one ends,
    as it does after one that broke off.
    """

    def __init__(self, source: EventLog, target: EventLog) -> None:
        self._source = source
        self._target = target
        self.streams: list[Stream] = []
        self.people = 0  # how many persons there are
        self.heads: dict[bytes, bytes] = {}  # the last head of each game, by the key of the game

    async def plan(self) -> None:
        """Finds out what is to be copied; nothing is written. Raises WrongLog if the target cannot become the copy."""
        partitions, there = self._source.partitions(OUTCOMES), self._target.partitions(OUTCOMES)
        if there != partitions:
            raise WrongLog(
                f"the target has {there} partitions, the source {partitions}, and the count never changes; copy into "
                f"a target with {partitions}"
            )
        # The ends of what follows first: its events are then within theirs, though others write to the source.
        for topic in reversed(COPIED):
            ends = [await self._source.end(topic, partition) for partition in range(partitions)]
            starts = [await self._target.end(topic, partition) for partition in range(partitions)]
            places = enumerate(zip(starts, ends, strict=True))
            self.streams[:0] = [Stream(topic, partition, *place) for partition, place in places]
        for stream in self.streams:
            await self._check_beginning(stream)
        if not any(stream.start for stream in self.streams):
            await self._check_no_strangers(partitions)

    async def _check_beginning(self, stream: Stream) -> None:
        """What the target has already must be the beginning of the source."""
        if stream.start > stream.end:
            raise _not_a_copy(stream, f"it has {stream.start} records, the source {stream.end}")
        if stream.start:
            last = [
                await log.read(stream.topic, stream.partition, stream.start - 1, 1)
                for log in (self._source, self._target)
            ]
            if _content(last[0]) != _content(last[1]):
                raise _not_a_copy(stream, f"the record at offset {stream.start - 1} is another one")

    async def _check_no_strangers(self, partitions: int) -> None:
        """Persons of an older copy may be erased, those of another log not."""
        for partition in range(partitions):
            _, there = await self._target.restore(PEOPLE, partition)
            if there.keys() - (await self._source.restore(PEOPLE, partition))[1].keys():
                raise WrongLog("the target has people that the source does not have; copy into an empty target")

    async def run(self, counted: Counted) -> None:
        """Copies what is missing."""
        for stream in self.streams:
            async for records in _read(self._source, stream, stream.start):
                for batch in _batches(records):
                    await self._append(stream, batch)
                    counted(len(batch))
        for partition in range(self._source.partitions(PEOPLE)):
            await self._copy_people(partition)

    async def _append(self, stream: Stream, records: Sequence[Record]) -> None:
        new = [NewRecord(record.key, record.value, record.headers, stream.partition) for record in records]
        placed = await self._target.append(stream.topic, new)
        if placed != [(stream.partition, record.offset) for record in records]:
            raise WrongLog(
                f"{stream} of the target: somebody else writes to it, so it is no copy; stop that, and copy into an "
                "empty target"
            )

    async def _copy_people(self, partition: int) -> None:
        """Also erases who was erased since an earlier copy."""
        _, wanted = await self._source.restore(PEOPLE, partition)
        _, there = await self._target.restore(PEOPLE, partition)
        changes = [(key, wanted.get(key)) for key in {**there, **wanted} if there.get(key) != wanted.get(key)]
        for number in range(0, len(changes), _PUTS):
            await asyncio.gather(*(self._target.put(PEOPLE, *change) for change in changes[number : number + _PUTS]))
        self.people += len(wanted)

    async def verify(self, counted: Counted) -> None:
        """Reads both logs and compares the digests of each partition; finds the ``heads``. Raises WrongLog."""
        for stream in self.streams:
            stream.digest = await self._digest(self._source, stream, counted)
            if await self._digest(self._target, stream, counted) != stream.digest:
                raise _not_a_copy(stream, "the records are others, though as many")

    async def _digest(self, log: EventLog, stream: Stream, counted: Counted) -> bytes:
        digest = sha256()
        async for records in _read(log, stream, 0):
            digest.update(b"".join(map(_framed, records)))
            if stream.topic == OUTCOMES and log is self._target:
                self._find_heads(records)
            counted(len(records))
            await asyncio.sleep(0)
        return digest.digest()

    def _find_heads(self, records: Sequence[Record]) -> None:
        for record in records:
            try:
                outcome = Outcome.FromString(record.value)
            except DecodeError:  # whoever reads it will say so; it is copied as it is
                continue
            if outcome.verdict.seq:
                self.heads[record.key or b""] = outcome.head


async def _read(log: EventLog, stream: Stream, start: int) -> AsyncIterator[list[Record]]:
    """The records from ``start`` to the end of the stream, in batches. Raises LogUnavailable where one is missing."""
    guard = DeliveryGuard(log, stream.topic, stream.partition, start)
    while records := await guard.read_until(stream.end):
        yield records
        guard.next_offset = records[-1].offset + 1


def _batches(records: Sequence[Record]) -> list[list[Record]]:
    batches: list[list[Record]] = []
    room = 0
    for record in records:
        size = len(_framed(record))
        if size > room:
            batches.append([])
            room = _APPEND_BYTES
        batches[-1].append(record)
        room -= size
    return batches


def _content(records: Sequence[Record]) -> list[bytes]:
    return [_framed(record) for record in records]


def _framed(record: Record) -> bytes:
    """Key, value and headers as bytes that no other record has: each part after its length, a missing key as such."""
    parts = [record.value, *(part for name, value in record.headers for part in (name.encode(), value))]
    if record.key is not None:
        parts.append(record.key)
    lengths = [len(parts), record.key is not None, *map(len, parts)]
    return b"".join([*(int(length).to_bytes(8, "big") for length in lengths), *parts])


def _not_a_copy(stream: Stream, why: str) -> WrongLog:
    return WrongLog(f"{stream} of the target is not the beginning of the source: {why}; copy into an empty target")
