"""The database under the read model: one thread that writes, a few that read; the event loop never waits for it."""

from __future__ import annotations

import asyncio
import errno
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, Self, TypeVar

import structlog
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import SQLAlchemyError

from caipan.only_writer import HeldError, hold
from caipan.query import schema

_READERS = 4
_BUSY_TIMEOUT_S = 5.0

T = TypeVar("T")
_log = structlog.get_logger()


class ReadModelError(Exception):
    """The read model cannot be used; the message names it and says what to do. It may be deleted at any time."""


class Database:
    """The tables of `schema` in the SQLite file ``database``, or behind a SQLAlchemy URL (a str with "://")."""

    def __init__(self, database: Path | str) -> None:
        is_url = isinstance(database, str) and "://" in database
        file = Path(database).absolute()
        self._url = make_url(str(database)) if is_url else URL.create("sqlite", database=str(file))
        self._name = self._url.render_as_string() if is_url else str(file)
        self._file = None if is_url else file
        self._lock: IO[str] | None = None
        self._engine: Engine
        self._writer: ThreadPoolExecutor
        self._readers: ThreadPoolExecutor

    async def __aenter__(self) -> Self:
        """Opens the database and makes its tables, unless they are there in this version. Raises ReadModelError."""
        self._writer = ThreadPoolExecutor(1, "caipan-query-writer")
        self._readers = ThreadPoolExecutor(_READERS, "caipan-query-reader")
        try:
            await self._on(self._writer, self._open)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._shut_down)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Does the work in one transaction, after all that was asked before. Raises ReadModelError, nothing written."""
        return await self._on(self._writer, lambda: self._transact(work))

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Does the work in one transaction, so that all it reads stood there at one moment. Raises ReadModelError."""
        return await self._on(self._readers, lambda: self._transact(work))

    async def rebuild(self, reason: str) -> None:
        """Empties the read model; it is filled again from the beginning of the log."""
        self._log_rebuild(reason)
        await self.write(schema.rebuild)

    def _log_rebuild(self, reason: str) -> None:
        _log.warning("read model is built again from the log", database=self._name, reason=reason)

    def _transact(self, work: Callable[[Connection], T]) -> T:
        with self._engine.begin() as connection:
            return work(connection)

    async def _on(self, threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(threads, work)
        except HeldError as held:
            reason = (
                f"process {held.holder} keeps this read model already; name another folder, or a database, "
                "for each query (--data, --database)"
            )
        except schema.ForeignDatabase:
            reason = "this is no read model of caipan; choose another name"
        except (SQLAlchemyError, OSError) as error:
            reason = _why(getattr(error, "orig", None) or error)
        raise ReadModelError(f"{self._name}: {reason}")

    def _open(self) -> None:
        if self._file is not None:
            self._lock = hold(self._file)
        self._engine = create_engine(self._url, pool_size=_READERS + 1)
        with self._engine.connect() as connection:  # looks before anything is changed
            found = schema.found_version(connection)
        if self._engine.dialect.name == "sqlite":
            self._engine.dispose()
            event.listen(self._engine, "connect", _prepare_sqlite)
            event.listen(self._engine, "begin", _begin_sqlite)
        if found not in (None, schema.VERSION):
            self._log_rebuild(f"its tables have version {found}, not {schema.VERSION}")
        if found != schema.VERSION:
            self._transact(schema.rebuild)

    def _shut_down(self) -> None:
        self._readers.shutdown()
        self._writer.shutdown()
        if hasattr(self, "_engine"):
            self._engine.dispose()
        if self._lock is not None:
            self._lock.close()


def _why(error: BaseException) -> str:
    """What a driver or the system raised, and what to do about it."""
    # IOERR_SHMSIZE: no room for the index of the write-ahead log
    no_room = getattr(error, "sqlite_errorcode", 0) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)
    if no_room or getattr(error, "errno", 0) == errno.ENOSPC:
        return "the disk is full; free some space and try again"
    return f"{error}; check the disk, the permissions, and the name"


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where SQLAlchemy says, reads included
    connection.execute(f"PRAGMA busy_timeout = {int(_BUSY_TIMEOUT_S * 1000)}")
    connection.execute("PRAGMA journal_mode = WAL")  # readers go on while the writer commits
    connection.execute("PRAGMA synchronous = NORMAL")  # a power cut may take the last rows, and their cursor with them


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")
