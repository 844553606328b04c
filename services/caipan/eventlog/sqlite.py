"""The SQLite file under the embedded log: its lock, its schema, its connections and their threads, its errors."""

from __future__ import annotations

import asyncio
import errno
import sqlite3
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from typing import IO, Any, Self, TypeVar

from caipan.eventlog.errors import LogError, LogFull, LogUnavailable, WrongLog
from caipan.only_writer import HeldError, hold

DEFAULT_PARTITIONS = 4

_APPLICATION_ID = 0x63706C67  # "cplg" in the file's header tells a log from any other SQLite file
_SCHEMA_VERSION = 1
_SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE log (partitions INTEGER NOT NULL);
CREATE TABLE record (
  topic TEXT NOT NULL, partition INTEGER NOT NULL, offset INTEGER NOT NULL,
  key BLOB, value BLOB NOT NULL,
  headers TEXT NOT NULL, -- JSON [[name, value], ...]; each character of a value stands for one byte
  timestamp_ms INTEGER NOT NULL,
  PRIMARY KEY (topic, partition, offset)
);
CREATE INDEX record_by_key ON record (topic, partition, key, offset);
CREATE TABLE state (
  topic TEXT NOT NULL, partition INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL,
  PRIMARY KEY (topic, partition, key)
);
CREATE TABLE position (
  topic TEXT NOT NULL, partition INTEGER NOT NULL, next_offset INTEGER NOT NULL,
  PRIMARY KEY (topic, partition)
);
PRAGMA application_id = %(application_id)d;
PRAGMA user_version = %(version)d;
INSERT INTO log VALUES (%(partitions)d);
COMMIT;
"""

T = TypeVar("T")
Stream = tuple[str, int]  # topic and partition


class Session:
    """One SQLite connection on a thread of its own. What SQLite or the system refuse comes out as a LogError."""

    def __init__(self, path: Path, mode: str, busy_timeout_s: float, prepare: Callable[[Connection], None]) -> None:
        """`mode` as in SQLite's URIs (rwc, ro); `prepare` is the first work on the connection."""
        self._path = path
        self._uri = f"{path.as_uri()}?mode={mode}"
        self._busy_timeout_s = busy_timeout_s
        self._prepare = prepare
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="caipan-log")
        self._connection: Connection

    async def __aenter__(self) -> Self:
        try:
            self._connection = await self._call(self._connect)
        except BaseException:
            self._thread.shutdown(wait=False)
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.run(Connection.close)
        self._thread.shutdown(wait=False)

    def run(self, work: Callable[[Connection], T]) -> asyncio.Future[T]:
        return self._call(lambda: work(self._connection))

    def _call(self, work: Callable[[], T]) -> asyncio.Future[T]:
        def translated() -> T:
            with _translated(self._path):
                return work()

        return asyncio.get_running_loop().run_in_executor(self._thread, translated)

    def _connect(self) -> Connection:
        connection = sqlite3.connect(self._uri, uri=True, timeout=self._busy_timeout_s, isolation_level=None)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection


@dataclass(frozen=True, slots=True)
class _Write:
    work: Callable[[Connection], Any]
    streams: Collection[Stream]
    done: asyncio.Future[Any]


class Writer(Session):
    """Commits what was submitted, in that order, as many writes together as have gathered during the last commit.

    The queue lives on the event loop and is driven by callbacks rather than a task, so no cancellation can stop it
    between a commit and its answers.
    """

    def __init__(
        self, path: Path, busy_timeout_s: float, prepare: Callable[[Connection], None], wake: Callable[[Stream], None]
    ) -> None:
        super().__init__(path, "rwc", busy_timeout_s, prepare)
        self._wake = wake
        self._queue: list[_Write] = []
        self._committing = False

    def submit(self, work: Callable[[Connection], T], streams: Collection[Stream] = ()) -> asyncio.Future[T]:
        """The answer of `work`, once it is durable; those who follow `streams` are woken then."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.append(_Write(work, streams, done))
        self._commit_queue()
        return done

    async def __aexit__(self, *_: object) -> None:
        with suppress(LogError):
            await self.submit(lambda _: None)  # answered after all that was submitted before it
        await super().__aexit__()

    def _commit_queue(self) -> None:
        if self._queue and not self._committing:
            group, self._queue = self._queue, []
            self._committing = True
            commit = self.run(partial(_commit, [write.work for write in group]))
            commit.add_done_callback(partial(self._answer, group))

    def _answer(self, group: list[_Write], commit: asyncio.Future[list[Any]]) -> None:
        self._committing = False
        error = commit.exception()
        answers = [None] * len(group) if error else commit.result()
        for write, answer in zip(group, answers, strict=True):
            if write.done.done():  # its caller was cancelled
                pass
            elif error:
                write.done.set_exception(error)
            else:
                write.done.set_result(answer)
        if not error:
            for stream in {stream for write in group for stream in write.streams}:
                self._wake(stream)
        # Not at once: those just answered may have more to write, and it belongs into the same commit.
        asyncio.get_running_loop().call_soon(self._commit_queue)


def _commit(works: list[Callable[[Connection], Any]], connection: Connection) -> list[Any]:
    with connection:  # commits, or rolls back on any error, that of the commit included
        connection.execute("BEGIN IMMEDIATE")
        return [work(connection) for work in works]


def lock_writer(path: Path) -> IO[str]:
    """Makes this process the file's only writer until what is returned is closed."""
    with _translated(path):
        try:
            return hold(path)
        except HeldError as error:
            raise LogUnavailable(
                f"{path}: process {error.holder} writes to this log already; stop it, or choose another file"
            ) from None


def prepare_writer(path: Path, wanted_partitions: int | None, connection: Connection) -> None:
    """Makes the connection a durable writer of the log in `path`, and the log itself if the file is new.

    Raises WrongLog, before anything is changed, if the file holds anything but a log as wanted.
    """
    is_new = not _holds_log(path, wanted_partitions, connection)
    if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
        raise LogUnavailable(f"{path}: this disk cannot hold a write-ahead log; put the file on a local disk")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # on macOS a plain fsync leaves the data in the drive's cache
    connection.execute("PRAGMA secure_delete = ON")  # what is erased is overwritten, not only unlinked
    if is_new:
        partitions = wanted_partitions or DEFAULT_PARTITIONS
        values = {"application_id": _APPLICATION_ID, "version": _SCHEMA_VERSION, "partitions": partitions}
        connection.executescript(_SCHEMA % values)


def prepare_reader(path: Path, wanted_partitions: int | None, connection: Connection) -> None:
    """Raises WrongLog if the file holds anything but a log as wanted, LogUnavailable if it is still empty."""
    if not _holds_log(path, wanted_partitions, connection):
        raise LogUnavailable(f"{path}: the file is empty; start its writer first, or name another file")


def _holds_log(path: Path, wanted_partitions: int | None, connection: Connection) -> bool:
    """False if the file is empty. Raises WrongLog if it holds anything but a log as wanted. Changes nothing."""
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not application_id and not tables:
        return False
    if application_id != _APPLICATION_ID:
        raise WrongLog(f"{path}: this is a database, but no caipan log; choose another file")
    if version != _SCHEMA_VERSION:
        raise WrongLog(
            f"{path}: the log has schema version {version}, this caipan reads {_SCHEMA_VERSION}; "
            "use the version of caipan that wrote it"
        )
    found = partitions_of(connection)
    if wanted_partitions not in (None, found):
        raise WrongLog(
            f"{path}: the log has {found} partitions, not {wanted_partitions}, and the count never changes; "
            f"ask for {found}, or choose another file"
        )
    return True


def partitions_of(connection: Connection) -> int:
    """The partition count the log was made with."""
    return int(connection.execute("SELECT partitions FROM log").fetchone()[0])


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise _log_error(path, error) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise LogFull(f"{path}: the disk is full; free some space and try again") from error
        raise LogUnavailable(f"{path}: {error}; check the disk and the permissions of the folder") from error


def _log_error(path: Path, error: sqlite3.Error) -> LogError:
    code = getattr(error, "sqlite_errorcode", 0)
    if code == sqlite3.SQLITE_IOERR_SHMSIZE:  # no room for the index of the write-ahead log
        code = sqlite3.SQLITE_FULL
    match code & 0xFF:  # the low byte is the kind, the rest says where
        case sqlite3.SQLITE_FULL:
            return LogFull(f"{path}: the disk is full; free some space and try again")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return LogUnavailable(f"{path}: another program has locked the file; close that program and try again")
        case sqlite3.SQLITE_NOTADB:
            return WrongLog(f"{path}: this is no caipan log; choose another file")
        case sqlite3.SQLITE_CORRUPT:
            return WrongLog(f"{path}: the log is damaged ({error}); put back a copy of it")
        case _:
            return LogUnavailable(f"{path}: {error}; check the disk and the permissions of the file and its folder")
