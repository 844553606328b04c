"""The handlers of OperationService and PersonService."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from typing import Any

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
from caipan.v1.operation_service_pb2_grpc import OperationServiceServicer

EVENTS = "game-events"
OUTCOMES = "game-outcomes"
PEOPLE = "people"

QUARANTINE_PAGE = 100


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
        try:
            partitions = [
                await self._partition(partition, here.get(partition))
                for partition in range(self._log.partitions(OUTCOMES))
            ]
        except LogError as error:
            raise _log_unavailable() from error
        return pb.GetStatusResponse(partitions=partitions, version=version("caipan"), **counts._asdict())

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
            records=[pb.Quarantined.FromString(row.record) for row in rows],
            next_page_token=tokens.page_token(place, "quarantined") if more else "",
        )

    async def GetQuarantined(  # noqa: N802
        self, request: pb.GetQuarantinedRequest, _: Any
    ) -> pb.GetQuarantinedResponse:
        check(request)
        record = await self._database.read(partial(reading.quarantined_record, request.record_id))
        if record is None:
            raise ServiceError(
                ERROR_CODE_QUARANTINE_UNKNOWN,
                f"no record {request.record_id!r} is in quarantine",
                "list the records for their ids",
                "record_id",
            )
        return pb.GetQuarantinedResponse(record=pb.Quarantined.FromString(record))

    async def _partition(self, partition: int, cursor: reading.Cursor | None) -> pb.PartitionStatus:
        return pb.PartitionStatus(
            partition=partition,
            events_end=await self._log.end(EVENTS, partition),
            folded=cursor.events_folded if cursor else 0,
            outcomes_end=await self._log.end(OUTCOMES, partition),
            served=cursor.next_offset if cursor else 0,
        )


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
            raise _log_unavailable() from error
        if value is None:
            raise ServiceError(
                ERROR_CODE_PERSON_UNKNOWN,
                f"no names are kept for {request.person_id!r}",
                "check the id; names that were erased stay erased",
                "person_id",
            )
        return games_pb.GetPersonResponse(person=Person.FromString(value))


def _log_unavailable() -> ServiceError:
    return ServiceError(ERROR_CODE_LOG_UNAVAILABLE, "the log cannot be read now", "ask again")
