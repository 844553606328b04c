"""The embedded log: one SQLite file, for a laptop in the playing hall and for `make run`.

Durable against a kill and a power cut (write-ahead log, synchronous FULL). One process writes, any number read beside
it. SQLite is called on two threads, one that writes and one that reads, so the event loop never waits for the disk and
readers never wait for a sync. Writes that arrive during a commit share the next one; each is answered after its own.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, closing, suppress
from functools import partial
from pathlib import Path
from sqlite3 import Connection

from caipan.eventlog.errors import LogUnavailable
from caipan.eventlog.partition import check_partition, partition_of, place
from caipan.eventlog.port import EventLog, Headers, NewRecord, Record, check_range, check_topic
from caipan.eventlog.sqlite import Session, Stream, Writer, lock_writer, partitions_of, prepare_reader, prepare_writer

POLL_S = 1.0  # how often a follower at the end looks for the appends of another process
READ_BYTES = 8 << 20  # a read ends early once its values are this large, so that memory stays bounded

Row = tuple[int, bytes | None, bytes, str]  # partition, key, value, headers


class EmbeddedLog(EventLog):
    """The log in the SQLite file `path`, made with `partitions` (default 4) unless the file holds a log already.

    Asked for explicitly, a count other than the file's is WrongLog. With `read_only` it reads an existing log, beside
    its writer if there is one. `busy_timeout_s` bounds the wait for a program that has locked the file.
    """

    def __init__(
        self, path: Path | str, partitions: int | None = None, *, read_only: bool = False, busy_timeout_s: float = 5.0
    ) -> None:
        if partitions is not None and partitions < 1:
            raise ValueError(f"partitions is {partitions}: a log has at least 1")
        self._path = Path(path).absolute()
        self._wanted_partitions = partitions
        self._read_only = read_only
        self._busy_timeout_s = busy_timeout_s
        self._partitions = 0
        self._reader: Session | None = None
        self._writer: Writer | None = None
        self._opened = AsyncExitStack()
        self._appends: dict[Stream, asyncio.Event] = {}

    async def open(self) -> None:
        path, wanted, timeout_s = self._path, self._wanted_partitions, self._busy_timeout_s
        if self._read_only and not path.exists():
            raise LogUnavailable(f"{path}: there is no log here; start its writer first, or name another file")
        async with AsyncExitStack() as opened:
            writer = None
            if not self._read_only:
                lock = await asyncio.to_thread(lock_writer, path)
                opened.callback(lock.close)
                writer = Writer(path, timeout_s, partial(prepare_writer, path, wanted), self._wake)
                await opened.enter_async_context(writer)
            reader = Session(path, "ro", timeout_s, partial(prepare_reader, path, wanted))
            await opened.enter_async_context(reader)
            self._partitions = await reader.run(partitions_of)
            self._reader, self._writer, self._opened = reader, writer, opened.pop_all()

    async def close(self) -> None:
        self._reader = self._writer = None
        for stream in list(self._appends):
            self._wake(stream)
        await self._opened.aclose()

    def partitions(self, topic: str) -> int:
        check_topic(topic)
        self._reading()
        return self._partitions

    async def append(self, topic: str, records: Sequence[NewRecord]) -> list[tuple[int, int]]:
        check_topic(topic, compacted=False)
        writer = self._writing()
        rows = [(place(topic, r, self._partitions), r.key, r.value, _dump(r.headers)) for r in records]
        if not rows:
            return []
        received_ms = time.time_ns() // 1_000_000
        streams = {(topic, partition) for partition, *_ in rows}
        return await writer.submit(partial(_insert, topic, rows, received_ms), streams)

    async def read(self, topic: str, partition: int, start: int, limit: int = 1000) -> list[Record]:
        check_topic(topic, compacted=False)
        check_range(start, limit)
        reader = self._reading()
        check_partition(topic, partition, self._partitions)
        return await reader.run(partial(_select, topic, partition, start, limit))

    async def read_key(self, topic: str, key: bytes, start: int = 0, end: int | None = None) -> list[Record]:
        check_topic(topic, compacted=False)
        check_range(start)
        reader = self._reading()
        return await reader.run(partial(_select_key, topic, partition_of(key, self._partitions), key, start, end))

    async def end(self, topic: str, partition: int) -> int:
        check_topic(topic, compacted=False)
        reader = self._reading()
        check_partition(topic, partition, self._partitions)
        return await reader.run(partial(_end, topic, partition))

    def follow(self, topic: str, partition: int, start: int) -> AsyncIterator[list[Record]]:
        check_topic(topic, compacted=False)
        check_range(start)
        self._reading()
        check_partition(topic, partition, self._partitions)
        return _Follower(self, topic, partition, start)

    async def checkpoint(
        self, topic: str, partition: int, next_offset: int, states: Mapping[bytes, bytes | None]
    ) -> None:
        check_topic(topic, compacted=True)
        writer = self._writing()
        check_partition(topic, partition, self._partitions)
        await writer.submit(partial(_checkpoint, topic, partition, next_offset, dict(states)))

    async def restore(self, topic: str, partition: int) -> tuple[int, dict[bytes, bytes]]:
        check_topic(topic, compacted=True)
        reader = self._reading()
        check_partition(topic, partition, self._partitions)
        return await reader.run(partial(_restore, topic, partition))

    async def take_over(self, topic: str, partition: int) -> None:
        """The lock on the file has fenced everybody else already."""
        check_topic(topic, compacted=True)
        self._writing()
        check_partition(topic, partition, self._partitions)

    async def release(self, topic: str, partition: int) -> None:
        """Closing the file does that."""

    async def put(self, topic: str, key: bytes, value: bytes | None) -> None:
        check_topic(topic, compacted=True)
        writer = self._writing()
        await writer.submit(partial(_store, topic, partition_of(key, self._partitions), {key: value}))

    async def get(self, topic: str, key: bytes, partition: int | None = None) -> bytes | None:
        check_topic(topic, compacted=True)
        reader = self._reading()
        if partition is None:
            partition = partition_of(key, self._partitions)
        check_partition(topic, partition, self._partitions)
        return await reader.run(partial(_state, topic, partition, key))

    def next_append(self, stream: Stream) -> asyncio.Event:
        """Is set by the next append of this process to the stream, and when the log is closed."""
        return self._appends.setdefault(stream, asyncio.Event())

    def _wake(self, stream: Stream) -> None:
        if waiting := self._appends.pop(stream, None):
            waiting.set()

    def _reading(self) -> Session:
        if self._reader is None:
            raise LogUnavailable(f"{self._path}: the log is not open; open it first")
        return self._reader

    def _writing(self) -> Writer:
        self._reading()
        if self._writer is None:
            raise LogUnavailable(
                f"{self._path}: the log was opened for reading only; write in the process that owns it"
            )
        return self._writer


class _Follower(AsyncIterator[list[Record]]):
    """Not a generator, because a generator that is cancelled while it waits is over; this one goes on."""

    def __init__(self, log: EmbeddedLog, topic: str, partition: int, start: int) -> None:
        self._log = log
        self._stream = topic, partition
        self._next = start

    async def __anext__(self) -> list[Record]:
        while True:
            appended = self._log.next_append(self._stream)  # before the read: no append between the two is missed
            if batch := await self._log.read(*self._stream, self._next):
                self._next = batch[-1].offset + 1
                return batch
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_S):
                    await appended.wait()


def _insert(topic: str, rows: list[Row], received_ms: int, connection: Connection) -> list[tuple[int, int]]:
    # The end is asked of the file each time: an offset remembered from a transaction that failed would be a hole.
    ends = {partition: _end(topic, partition, connection) for partition in {row[0] for row in rows}}
    placed = []
    for partition, *_ in rows:
        placed.append((partition, ends[partition]))
        ends[partition] += 1
    connection.executemany(
        "INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?)",
        ((topic, *place, *row[1:], received_ms) for place, row in zip(placed, rows, strict=True)),
    )
    return placed


def _end(topic: str, partition: int, connection: Connection) -> int:
    query = "SELECT coalesce(max(offset) + 1, 0) FROM record WHERE topic = ? AND partition = ?"
    return int(connection.execute(query, (topic, partition)).fetchone()[0])


def _select(topic: str, partition: int, start: int, limit: int, connection: Connection) -> list[Record]:
    query = """SELECT offset, key, value, headers, timestamp_ms FROM record
        WHERE topic = ? AND partition = ? AND offset >= ? ORDER BY offset LIMIT ?"""
    records: list[Record] = []
    size = 0
    with closing(connection.execute(query, (topic, partition, start, limit))) as rows:
        for row in rows:
            records.append(_record(topic, partition, *row))
            size += len(records[-1].value)
            if size >= READ_BYTES:
                break
    return records


def _select_key(
    topic: str, partition: int, key: bytes, start: int, end: int | None, connection: Connection
) -> list[Record]:
    query = """SELECT offset, key, value, headers, timestamp_ms FROM record
        WHERE topic = ? AND partition = ? AND key = ? AND offset >= ? AND (? IS NULL OR offset < ?) ORDER BY offset"""
    rows = connection.execute(query, (topic, partition, key, start, end, end))
    return [_record(topic, partition, *row) for row in rows]


def _record(
    topic: str, partition: int, offset: int, key: bytes | None, value: bytes, headers: str, timestamp_ms: int
) -> Record:
    return Record(topic, partition, offset, key, value, _load(headers), timestamp_ms)


def _dump(headers: Headers) -> str:
    return json.dumps([(name, value.decode("latin-1")) for name, value in headers], separators=(",", ":"))


def _load(headers: str) -> Headers:
    return tuple((name, value.encode("latin-1")) for name, value in json.loads(headers))


def _checkpoint(
    topic: str, partition: int, next_offset: int, states: dict[bytes, bytes | None], connection: Connection
) -> None:
    _store(topic, partition, states, connection)
    connection.execute("REPLACE INTO position VALUES (?, ?, ?)", (topic, partition, next_offset))


def _store(topic: str, partition: int, states: dict[bytes, bytes | None], connection: Connection) -> None:
    gone = [(topic, partition, key) for key, value in states.items() if value is None]
    kept = [(topic, partition, key, value) for key, value in states.items() if value is not None]
    connection.executemany("DELETE FROM state WHERE topic = ? AND partition = ? AND key = ?", gone)
    connection.executemany("REPLACE INTO state VALUES (?, ?, ?, ?)", kept)


def _restore(topic: str, partition: int, connection: Connection) -> tuple[int, dict[bytes, bytes]]:
    stream = (topic, partition)
    with connection:
        connection.execute("BEGIN")  # both queries see the same checkpoint
        query = "SELECT next_offset FROM position WHERE topic = ? AND partition = ?"
        position = connection.execute(query, stream).fetchone()
        states = dict(connection.execute("SELECT key, value FROM state WHERE topic = ? AND partition = ?", stream))
    return (position[0] if position else 0), states


def _state(topic: str, partition: int, key: bytes, connection: Connection) -> bytes | None:
    query = "SELECT value FROM state WHERE topic = ? AND partition = ? AND key = ?"
    row = connection.execute(query, (topic, partition, key)).fetchone()
    return row[0] if row else None
