"""The handlers of OperationService and PersonService."""

from __future__ import annotations

import asyncio
from functools import partial
from importlib.metadata import version
from typing import Any

from google.protobuf.message import DecodeError

from caipan.eventlog import EventLog, LogError
from caipan.query import reading, tokens
from caipan.query.database import Database
from caipan.serving.errors import ServiceError
from caipan.serving.validation import check
from caipan.v1 import game_service_pb2 as games_pb
from caipan.v1 import operation_service_pb2 as pb
from caipan.v1.errors_pb2 import (
    ERROR_CODE_LOG_UNAVAILABLE,
    ERROR_CODE_PERSON_UNKNOWN,
    ERROR_CODE_QUARANTINE_UNKNOWN,
)
from caipan.v1.game_service_pb2_grpc import PersonServiceServicer
from caipan.v1.intake_service_pb2 import Person
from caipan.v1.mark_pb2 import RefereeMark
from caipan.v1.operation_service_pb2_grpc import OperationServiceServicer

EVENTS = "game-events"
OUTCOMES = "game-outcomes"
STATE = "game-state"
MARK_KEY = b""  # the referee's row of game-state in each partition
PEOPLE = "people"

QUARANTINE_PAGE = 100
_LOG_S = 10.0  # a cluster that is away is told before the operator's patience ends
_MARK_S = 2.0  # a worker that died within a checkpoint keeps its mark from readers for a while


class Operations(OperationServiceServicer):
    """What an operator asks."""

    def __init__(self, log: EventLog, database: Database) -> None:
        self._log = log
        self._database = database

    async def GetStatus(self, *_: Any) -> pb.GetStatusResponse:  # noqa: N802
        cursors, counts = await self._database.read(
            lambda connection: (reading.all_cursors(connection), reading.counts(connection))
        )
        here = {cursor.partition: cursor for cursor in cursors if cursor.topic == OUTCOMES}
        status = pb.GetStatusResponse(version=version("caipan"), **counts._asdict())
        try:
            async with asyncio.timeout(_LOG_S):
                partitions = range(self._log.partitions(OUTCOMES))
                for partition, mark in enumerate(await asyncio.gather(*map(self._mark, partitions))):
                    status.partitions.append(await self._partition(partition, here.get(partition), mark))
                    status.stopped.extend(mark.stopped)
        except (LogError, TimeoutError) as error:
            raise log_unavailable() from error
        return status

    async def ListQuarantined(  # noqa: N802
        self, request: pb.ListQuarantinedRequest, _: Any
    ) -> pb.ListQuarantinedResponse:
        check(request)
        at_ms, _, record_id = (
            tokens.page_place(request.page_token, "quarantined") if request.page_token else "-1."
        ).partition(".")
        limit = request.page_size or QUARANTINE_PAGE
        rows, more = await self._database.read(partial(reading.quarantined_after, int(at_ms), record_id, limit))
        place = f"{rows[-1].recorded_at_ms}.{rows[-1].record_id}" if more else ""
        return pb.ListQuarantinedResponse(
            records=[_quarantined(row) for row in rows],
            next_page_token=tokens.page_token(place, "quarantined") if more else "",
        )

    async def GetQuarantined(  # noqa: N802
        self, request: pb.GetQuarantinedRequest, _: Any
    ) -> pb.GetQuarantinedResponse:
        check(request)
        row = await self._database.read(partial(reading.quarantined_record, request.record_id))
        if row is None:
            raise ServiceError(
                ERROR_CODE_QUARANTINE_UNKNOWN,
                f"no record {request.record_id!r} is in quarantine",
                "list the records for their ids",
                "record_id",
            )
        return pb.GetQuarantinedResponse(record=_quarantined(row))

    async def _mark(self, partition: int) -> RefereeMark:
        """What the referee of a partition tells with its checkpoints; empty where nothing is known here."""
        try:
            async with asyncio.timeout(_MARK_S):
                return RefereeMark.FromString(await self._log.get(STATE, MARK_KEY, partition) or b"")
        except (TimeoutError, DecodeError):
            return RefereeMark()

    async def _partition(self, partition: int, cursor: reading.Cursor | None, mark: RefereeMark) -> pb.PartitionStatus:
        # A record of no game has no outcome: only the mark tells that it is done.
        folded = max(cursor.events_folded if cursor else 0, mark.next_offset)
        return pb.PartitionStatus(
            partition=partition,
            events_end=await self._log.end(EVENTS, partition),
            folded=folded,
            outcomes_end=await self._log.end(OUTCOMES, partition),
            served=cursor.next_offset if cursor else 0,
            worker=mark.worker,
            phase=mark.phase,
            since_ms=mark.since_ms,
            refilled=mark.refilled,
            takeover_ms=mark.takeover_ms,
        )


def _quarantined(row: reading.QuarantineRow) -> pb.Quarantined:
    """A record in quarantine, and what it was read as later."""
    record = pb.Quarantined.FromString(row.record)
    if row.game_id is not None:
        record.retried.CopyFrom(pb.Retried(game_id=row.game_id, event_id=row.event_id or "", seq=row.seq or 0))
    return record


class Persons(PersonServiceServicer):
    """Names stand in the topic people alone, so that what is erased there is gone."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    async def GetPerson(  # noqa: N802
        self, request: games_pb.GetPersonRequest, _: Any
    ) -> games_pb.GetPersonResponse:
        check(request)
        try:
            value = await self._log.get(PEOPLE, request.person_id.encode())
        except LogError as error:
            raise log_unavailable() from error
        if value is None:
            raise ServiceError(
                ERROR_CODE_PERSON_UNKNOWN,
                f"no names are kept for {request.person_id!r}",
                "check the id; names that were erased stay erased",
                "person_id",
            )
        return games_pb.GetPersonResponse(person=Person.FromString(value))


def log_unavailable() -> ServiceError:
    """The error where the log does not answer."""
    return ServiceError(ERROR_CODE_LOG_UNAVAILABLE, "the log cannot be read now", "ask again")
