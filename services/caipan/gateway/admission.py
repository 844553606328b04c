"""From a request to the records of the log: all its events, or an error that names the first thing wrong."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from urllib.parse import quote

from caipan.eventlog import NewRecord
from caipan.eventlog.port import Headers
from caipan.gateway.permission import check_event
from caipan.rules.pins import RegulationsError
from caipan.serving.errors import ServiceError
from caipan.serving.tokens import Identity
from caipan.serving.validation import check
from caipan.stamp import stamped
from caipan.v1.common_pb2 import Actor
from caipan.v1.errors_pb2 import ERROR_CODE_MALFORMED, ERROR_CODE_TOO_LARGE
from caipan.v1.event_pb2 import Event
from caipan.v1.intake_service_pb2 import AppendEventsRequest

GAME_EVENTS = "game-events"
TOURNAMENT_EVENTS = "tournament-events"
EVENT_BYTES = 64 << 10

_IN_BOTH_LOGS = frozenset(
    {"appeal_raised", "ruling_decided", "appeal_decided", "official_appointed", "lot_drawn", "regulations_adopted"}
)
_FIRST_OF_TOURNAMENTS = 60  # number of the field; those below are of games
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Admitted(NamedTuple):
    """An event on its way into the log."""

    event_id: str
    topic: str
    record: NewRecord


def admit(request: AppendEventsRequest, identity: Identity, by: Actor) -> list[Admitted]:
    """The events of a request as they go into the log, in its order, reported by ``by``.

    Raises ServiceError MALFORMED, TOO_LARGE or NOT_PERMITTED, naming the field.
    """
    for event in request.events:
        clear_written(event)
    check(request)
    admitted = [admit_event(event, identity, by, f"events[{number}]") for number, event in enumerate(request.events)]
    _check_repeats(admitted)
    return admitted


def clear_written(event: Event) -> None:
    """Clears what the gateway alone writes: what the caller may not say is not looked at either."""
    event.ClearField("by")
    event.ClearField("caused_by")
    if event.HasField("game_opened"):
        event.game_opened.ClearField("pins")


def admit_event(event: Event, identity: Identity, by: Actor, field: str) -> Admitted:
    """One event, whose fields were checked, as it goes into the log; ``field`` is where it stands for the caller.

    Raises ServiceError MALFORMED, TOO_LARGE or NOT_PERMITTED.
    """
    _check_place(event, field)
    check_event(identity, by.role, event, field)
    try:
        value = stamped(event, by)
    except RegulationsError as error:
        raise ServiceError(
            ERROR_CODE_MALFORMED, error.reason, error.remedy, f"{field}.game_opened.{error.field}"
        ) from None
    if len(value) > EVENT_BYTES:
        raise ServiceError(
            ERROR_CODE_TOO_LARGE,
            f"the event has {len(value)} bytes, {EVENT_BYTES} are the most",
            "shorten its texts, and refer to long ones by their digest",
            field,
        )
    topic = GAME_EVENTS if event.HasField("game_id") else TOURNAMENT_EVENTS
    key = event.game_id or event.tournament_id
    return Admitted(event.event_id, topic, NewRecord(key.encode(), value, _headers(event, key)))


def _headers(event: Event, key: str) -> Headers:
    """The attributes of CloudEvents 1.0 in its Kafka binding, binary mode.

    ``ce_type`` is e.g. "caipan.v1.stone_placed". Together with ``ce_id`` (event_id, unique in its game) ``ce_source``
    tells events apart, so it names the game or tournament, e.g. "/games/T1%2Fr3%2Fb2"; ``ce_subject`` is the bare id.
    """
    kind = "games" if event.HasField("game_id") else "tournaments"
    at = _EPOCH + timedelta(milliseconds=event.at_ms)
    attributes = {
        "ce_specversion": "1.0",
        "ce_id": event.event_id,
        "ce_source": f"/{kind}/{quote(key, safe='')}",
        "ce_type": f"caipan.v1.{event.WhichOneof('fact')}",
        "ce_time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "ce_subject": key,
        "content-type": "application/protobuf",
    }
    return tuple((name, value.encode()) for name, value in attributes.items())


def _check_place(event: Event, field: str) -> None:
    """Raises ServiceError MALFORMED if the event stands in the other kind of log."""
    fact = event.WhichOneof("fact") or ""
    if fact in _IN_BOTH_LOGS:
        return
    of_game = Event.DESCRIPTOR.fields_by_name[fact].number < _FIRST_OF_TOURNAMENTS
    if of_game != event.HasField("game_id"):
        wanted, given = ("game_id", "tournament_id") if of_game else ("tournament_id", "game_id")
        raise ServiceError(
            ERROR_CODE_MALFORMED, f"{fact} stands in the log of its {wanted[:-3]}", f"give {wanted}", f"{field}.{given}"
        )


def _check_repeats(admitted: Sequence[Admitted]) -> None:
    """Raises ServiceError MALFORMED if an event_id stands for two values."""
    seen: dict[tuple[str, bytes | None, str], bytes] = {}
    for number, (event_id, topic, record) in enumerate(admitted):
        if seen.setdefault((topic, record.key, event_id), record.value) != record.value:
            raise ServiceError(
                ERROR_CODE_MALFORMED,
                f"two different events of the request have the event_id {event_id!r}",
                "give each event an id of its own",
                f"events[{number}].event_id",
            )
