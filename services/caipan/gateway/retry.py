"""A record in quarantine on its way into the log again, as an event that somebody answers for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from google.protobuf.message import DecodeError

from caipan.eventlog import Record
from caipan.gateway.admission import EVENT_BYTES, Admitted, admit_event, clear_written
from caipan.serving.errors import ServiceError
from caipan.serving.tokens import Identity
from caipan.serving.validation import check
from caipan.v1.common_pb2 import Actor
from caipan.v1.errors_pb2 import (
    ERROR_CODE_MALFORMED,
    ERROR_CODE_QUARANTINE_UNKNOWN,
    ERROR_CODE_STILL_UNREADABLE,
    ERROR_CODE_TOO_LARGE,
)
from caipan.v1.event_pb2 import Event
from caipan.v1.operation_service_pb2 import Quarantined

QUARANTINE = "quarantine"

_UNREADABLE = (ERROR_CODE_MALFORMED, ERROR_CODE_TOO_LARGE)


def admit_again(record_id: str, found: Sequence[Record], identity: Identity, by: Actor) -> Admitted:
    """The event as which a record in quarantine can be read by now, reported by ``by``, for the log that it names.

    ``found``: what stands in quarantine under ``record_id``. The event keeps its event_id: who sends it once more, or
    retries it twice, changes nothing. Raises ServiceError QUARANTINE_UNKNOWN, STILL_UNREADABLE or NOT_PERMITTED.
    """
    if not found:
        raise ServiceError(
            ERROR_CODE_QUARANTINE_UNKNOWN,
            f"no record {record_id!r} is in quarantine",
            "list the records for their ids",
            "record_id",
        )
    event = _read(Quarantined.FromString(found[0].value).value)
    clear_written(event)
    event.caused_by = record_id
    try:
        check(event)
        return admit_event(event, identity, by, "event")
    except ServiceError as error:
        if error.detail.code not in _UNREADABLE:
            raise
        field = error.detail.field.removeprefix("event.")
        _refuse(f"{field}: {error.detail.reason}" if field else error.detail.reason)


def _read(value: bytes) -> Event:
    """Raises ServiceError STILL_UNREADABLE."""
    if len(value) > EVENT_BYTES:
        _refuse(f"the record has {len(value)} bytes or more, an event at most {EVENT_BYTES}")
    try:
        event = Event.FromString(value)
    except DecodeError:
        _refuse("its bytes are no event")
    size = event.ByteSize()
    event.DiscardUnknownFields()
    if event.ByteSize() != size:
        _refuse("it is of a type, or has fields, that this version does not know")
    return event


def _refuse(reason: str) -> NoReturn:
    raise ServiceError(
        ERROR_CODE_STILL_UNREADABLE,
        f"the record cannot be read as an event: {reason}",
        "leave it where it is, or send what it should have said as a new event",
        "record_id",
    )
