"""A real log whose writes can be made to fail, before they are done or after."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import TypeVar

from caipan.eventlog import EventLog, NewRecord, Record

T = TypeVar("T")


class Crash(Exception):  # noqa: N818 - it is none of the program's errors
    """The process is gone: whoever sees this must be abandoned."""


class FaultyLog(EventLog):
    """Passes everything on to an open log, and notes it.

    `before` and `after`: numbers of writes (appends and checkpoints, from 0) that raise `error` without being done, or
    once they are.
    """

    def __init__(self, log: EventLog, error: Exception | None = None) -> None:
        self._log = log
        self.error = error or Crash()
        self.before: set[int] = set()
        self.after: set[int] = set()
        self.writes: list[str] = []
        self.appended: list[tuple[str, list[NewRecord]]] = []
        self.stored: list[dict[bytes, bytes | None]] = []
        self.reads: list[tuple[str, int]] = []
        self.gets: list[bytes] = []

    async def _write(self, topic: str, call: Awaitable[T]) -> T:
        number = len(self.writes)
        self.writes.append(topic)
        if number in self.before:
            call.close()  # type: ignore[attr-defined]
            raise self.error
        done = await call
        if number in self.after:
            raise self.error
        return done

    async def open(self) -> None:
        await self._log.open()

    async def close(self) -> None:
        await self._log.close()

    def partitions(self, topic: str) -> int:
        return self._log.partitions(topic)

    async def append(self, topic: str, records: Sequence[NewRecord]) -> list[tuple[int, int]]:
        self.appended.append((topic, list(records)))
        return await self._write(topic, self._log.append(topic, records))

    async def read(self, topic: str, partition: int, start: int, limit: int = 1000) -> list[Record]:
        self.reads.append((topic, start))
        return await self._log.read(topic, partition, start, limit)

    async def read_key(self, topic: str, key: bytes, start: int = 0, end: int | None = None) -> list[Record]:
        return await self._log.read_key(topic, key, start, end)

    async def end(self, topic: str, partition: int) -> int:
        return await self._log.end(topic, partition)

    def follow(self, topic: str, partition: int, start: int) -> AsyncIterator[list[Record]]:
        return self._log.follow(topic, partition, start)

    async def checkpoint(
        self, topic: str, partition: int, next_offset: int, states: Mapping[bytes, bytes | None]
    ) -> None:
        self.stored.append(dict(states))
        await self._write(topic, self._log.checkpoint(topic, partition, next_offset, states))

    async def restore(self, topic: str, partition: int) -> tuple[int, dict[bytes, bytes]]:
        return await self._log.restore(topic, partition)

    async def take_over(self, topic: str, partition: int) -> None:
        await self._log.take_over(topic, partition)

    async def release(self, topic: str, partition: int) -> None:
        await self._log.release(topic, partition)

    async def put(self, topic: str, key: bytes, value: bytes | None) -> None:
        await self._log.put(topic, key, value)

    async def get(self, topic: str, key: bytes, partition: int | None = None) -> bytes | None:
        self.gets.append(key)
        return await self._log.get(topic, key, partition)
