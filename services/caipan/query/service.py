"""The reading side: follows the log into the read model and answers from it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Self

import structlog
from prometheus_client.core import Metric
from sqlalchemy import Connection

from caipan.eventlog import EventLog, LogUnavailable, Record
from caipan.query import acts, reading, writing
from caipan.query.cases import Cases
from caipan.query.database import Database, ReadModelError
from caipan.query.games import Games
from caipan.query.metrics import query_metrics
from caipan.query.operations import OUTCOMES, Operations, Persons
from caipan.query.penalties import Penalties
from caipan.query.watchers import Watchers
from caipan.serving.server import Server
from caipan.v1 import case_service_pb2, game_service_pb2, operation_service_pb2
from caipan.v1.case_service_pb2_grpc import add_CaseServiceServicer_to_server, add_PenaltyServiceServicer_to_server
from caipan.v1.game_service_pb2_grpc import add_GameServiceServicer_to_server, add_PersonServiceServicer_to_server
from caipan.v1.operation_service_pb2_grpc import add_OperationServiceServicer_to_server

QUARANTINE = "quarantine"

Apply = Callable[[Sequence[Record], Connection], writing.Applied]

_APPLY: dict[str, Apply] = {OUTCOMES: writing.apply_outcomes, QUARANTINE: writing.apply_quarantined}
_RETRY_S = 1.0

_log = structlog.get_logger()


def _take(
    topic: str, records: Sequence[Record], said: Mapping[acts.Place, case_service_pb2.Act], connection: Connection
) -> writing.Applied:
    """Into the tables, with what was said in the events of these outcomes."""
    applied = _APPLY[topic](records, connection)
    acts.store(said, connection)
    return applied


class Query:
    """The reading services over a read model that is built from ``log`` alone.

    ``database``: a SQLite file, or a SQLAlchemy URL; it may be deleted while nobody uses it. ``heartbeat_s``: after how
    many quiet seconds a watcher gets a heartbeat. ``lag_most``: how many outcomes a watcher may fall behind.
    An async context: within it the services answer; while ``run`` runs, they keep up with the log.
    """

    def __init__(self, log: EventLog, database: Path | str, *, heartbeat_s: float = 15.0, lag_most: int = 1000) -> None:
        self.ready = asyncio.Event()
        self._log = log
        self._database = Database(database)
        self._watchers = Watchers(lag_most)
        self._games = Games(self._database, self._watchers, heartbeat_s, self.ready)
        self._cases = Cases(log, self._database, self._watchers, self._games, heartbeat_s, self.ready)
        self._behind: dict[tuple[str, int], int] = {}  # partitions that have not reached their end at the start

    async def __aenter__(self) -> Self:
        """Opens the read model. Raises ReadModelError."""
        async with AsyncExitStack() as opened:
            await opened.enter_async_context(self._database)
            self._opened = opened.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._opened.aclose()

    def register(self, server: Server) -> None:
        """Puts the services on a server that is not started yet."""
        named = game_service_pb2.DESCRIPTOR.services_by_name
        persons, operations = Persons(self._log), Operations(self._log, self._database)
        server.add(named["GameService"], partial(add_GameServiceServicer_to_server, self._games))
        server.add(named["PersonService"], partial(add_PersonServiceServicer_to_server, persons))
        named = case_service_pb2.DESCRIPTOR.services_by_name
        penalties = Penalties(self._database, self._games, self.ready)
        server.add(named["CaseService"], partial(add_CaseServiceServicer_to_server, self._cases))
        server.add(named["PenaltyService"], partial(add_PenaltyServiceServicer_to_server, penalties))
        named = operation_service_pb2.DESCRIPTOR.services_by_name
        server.add(named["OperationService"], partial(add_OperationServiceServicer_to_server, operations))

    async def run(self) -> None:
        """Catches up with the log, sets ``ready``, and follows it until it is cancelled.

        When it ends, every watcher is told SHUTTING_DOWN with its token: cancel it before the server is stopped. A log
        or a database that is away for a while is waited for. Raises LogError or ReadModelError at the start.
        """
        try:
            if reason := await self._why_other_log():
                await self._database.rebuild(reason)
            streams = [(topic, partition) for topic in _APPLY for partition in range(self._log.partitions(topic))]
            self._behind = {stream: await self._log.end(*stream) for stream in streams}
            async with asyncio.TaskGroup() as followers:
                for stream in streams:
                    followers.create_task(self._follow(*stream))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        finally:
            self._watchers.close()

    async def metrics(self) -> Iterable[Metric]:
        """How far it is, what it holds, and who reads. Raises ReadModelError."""
        return await query_metrics(self._log, self._database, self._watchers, _APPLY)

    async def _why_other_log(self) -> str:
        """Why the read model was not built from this log; empty if it was."""
        for cursor in await self._database.read(reading.all_cursors):
            if cursor.partition < self._log.partitions(cursor.topic):
                last = await self._log.read(cursor.topic, cursor.partition, cursor.next_offset - 1, 1)
                if last and sha256(last[0].value).digest() == cursor.last_digest:
                    continue
            return f"{cursor.topic} {cursor.partition} of the log is not the one it was built from"
        return ""

    async def _follow(self, topic: str, partition: int) -> None:
        while True:
            try:
                position = await self._database.read(partial(reading.next_offset, topic, partition))
                self._reached(topic, partition, position)
                async for records in self._log.follow(topic, partition, position):
                    said = await acts.said_in(self._log, records) if topic == OUTCOMES else {}
                    self._tell(await self._database.write(partial(_take, topic, records, said)))
                    self._reached(topic, partition, records[-1].offset + 1)
            except (LogUnavailable, ReadModelError, writing.WrongPosition) as error:
                _log.error("cannot follow now, trying again", topic=topic, partition=partition, error=str(error))
                await asyncio.sleep(_RETRY_S)

    def _tell(self, applied: writing.Applied) -> None:
        self._watchers.publish(applied.served)
        self._watchers.diverge(applied.diverged)
        if applied.has_cases:
            self._watchers.tell_hall()

    def _reached(self, topic: str, partition: int, position: int) -> None:
        stream = (topic, partition)
        if stream in self._behind and position >= self._behind[stream]:
            del self._behind[stream]
            if not self._behind:
                self.ready.set()
