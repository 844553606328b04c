"""The port: all that caipan asks of a log, whichever store is behind it.

Topics are either logs of records, kept for ever with offsets from 0 and no holes, or states, of which only the latest
value of a key is kept. All adapters inherit one contract suite (tests/contract).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from caipan.eventlog.errors import UnknownTopic


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic and its kind: compacted topics keep the latest state of a key, the others every record."""

    name: str
    compacted: bool


TOPICS: Mapping[str, TopicSpec] = {
    spec.name: spec
    for spec in (
        TopicSpec("game-events", compacted=False),
        TopicSpec("tournament-events", compacted=False),
        TopicSpec("game-outcomes", compacted=False),
        TopicSpec("tournament-outcomes", compacted=False),
        TopicSpec("game-state", compacted=True),
        TopicSpec("standings", compacted=True),
        TopicSpec("quarantine", compacted=False),
        TopicSpec("people", compacted=True),
    )
}

Headers = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record to append. Without a partition it goes where `partition_of` puts its key."""

    key: bytes | None
    value: bytes
    headers: Headers = ()
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A record of the log. `timestamp_ms` is when the log received it (ms UTC): metadata, no fold may use it."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes
    headers: Headers
    timestamp_ms: int


class EventLog(ABC):
    """A partitioned, durable log. Every method may raise LogUnavailable, and UnknownTopic for what it does not have."""

    @abstractmethod
    async def open(self) -> None:
        """Opens, or creates, the log. Raises WrongLog if what is there is something else."""

    @abstractmethod
    async def close(self) -> None:
        """Finishes the writes under way and lets go of the log. Followers end with LogUnavailable."""

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    @abstractmethod
    def partitions(self, topic: str) -> int:
        """How many partitions the topic has; the same for all topics of a log, for ever."""

    @abstractmethod
    async def append(self, topic: str, records: Sequence[NewRecord]) -> list[tuple[int, int]]:
        """Appends the records; durable when it returns. Within a partition the given order is kept.

        Returns (partition, offset) of each record, in the order given. After LogUnavailable, or if the caller is
        cancelled meanwhile, they may be stored all the same; in part only where the log is on Kafka. Raises LogFull;
        ValueError for a record with neither key nor partition: nothing is stored then.
        """

    @abstractmethod
    async def read(self, topic: str, partition: int, start: int, limit: int = 1000) -> list[Record]:
        """At most `limit` records (>= 1) from offset `start` (>= 0) on. May be fewer, but empty only at the end."""

    @abstractmethod
    async def read_key(self, topic: str, key: bytes, start: int = 0, end: int | None = None) -> list[Record]:
        """All records of `key` in the partition of that key with start <= offset (< end)."""

    @abstractmethod
    async def end(self, topic: str, partition: int) -> int:
        """The offset that the next record will have."""

    @abstractmethod
    def follow(self, topic: str, partition: int, start: int) -> AsyncIterator[list[Record]]:
        """All records from offset `start` on, in batches, for ever: each once, none lost. Waits at the end.

        A cancelled wait takes nothing: the same iterator goes on where it was.
        """

    @abstractmethod
    async def checkpoint(
        self, topic: str, partition: int, next_offset: int, states: Mapping[bytes, bytes | None]
    ) -> None:
        """Stores, in one transaction, the states (None deletes) of a compacted topic and the next offset to fold.

        The partition must have been taken over. Raises Fenced, with nothing stored, if another writer has done so
        since, or if the last checkpoint failed: then it must be taken over again.
        """

    @abstractmethod
    async def restore(self, topic: str, partition: int) -> tuple[int, dict[bytes, bytes]]:
        """The next offset (0 if there was no checkpoint) and the states of one and the same checkpoint."""

    @abstractmethod
    async def take_over(self, topic: str, partition: int) -> None:
        """From now on this log alone checkpoints the partition: every other one that did so is fenced."""

    @abstractmethod
    async def release(self, topic: str, partition: int) -> None:
        """Lets go of a partition that was taken over, for whoever takes it over next. May be repeated."""

    @abstractmethod
    async def put(self, topic: str, key: bytes, value: bytes | None) -> None:
        """Stores the latest value of `key` in a compacted topic; None erases it. Durable when it returns."""

    @abstractmethod
    async def get(self, topic: str, key: bytes, partition: int | None = None) -> bytes | None:
        """The latest value of `key` in a compacted topic, None if there is none; in `partition`, else in the key's own.

        It sees all that was put or checkpointed, by anybody, before it was called.
        """


def check_topic(topic: str, *, compacted: bool | None = None) -> None:
    """Raises UnknownTopic unless `topic` is declared and, where `compacted` is given, of that kind."""
    spec = TOPICS.get(topic)
    if spec is None:
        raise UnknownTopic(f"there is no topic {topic!r}; the topics are {', '.join(TOPICS)}")
    if compacted is None or spec.compacted == compacted:
        return
    if spec.compacted:
        raise UnknownTopic(f"{topic} keeps states, not records: use checkpoint and restore, or put and get")
    raise UnknownTopic(f"{topic} keeps records, not states: use append and read")


def check_range(start: int, limit: int = 1) -> None:
    """Raises ValueError unless start >= 0 and limit >= 1."""
    if start < 0:
        raise ValueError(f"start is {start}: offsets begin at 0")
    if limit < 1:
        raise ValueError(f"limit is {limit}: ask for at least 1 record")
