"""The records that the referee reads and writes: their topics, whom they belong to, their limits."""

from __future__ import annotations

from typing import NamedTuple

from caipan.eventlog import NewRecord, Record, partition_of
from caipan.v1.operation_service_pb2 import Quarantined

EVENTS = "game-events"
OUTCOMES = "game-outcomes"
STATE = "game-state"
QUARANTINE = "quarantine"

EVENT_BYTES = 1_000_000  # a longer record is no event; with its reason it still fits into a record of Kafka
GAME_ID_LENGTH = 128  # characters, as in event.proto


class Address(NamedTuple):
    """The game a record belongs to, or why it belongs to none: one of the two is empty."""

    game_id: str
    reason: str


def address_of(record: Record, partitions: int) -> Address:
    """Whom a record of game-events belongs to. `partitions`: of the topic."""
    if not record.key:
        return Address("", "the record has no key, so it belongs to no game")
    try:
        game_id = record.key.decode()
    except UnicodeDecodeError:
        return Address("", "the key of the record is no text in UTF-8, so it names no game")
    if len(game_id) > GAME_ID_LENGTH:
        return Address("", f"the key of the record has {len(game_id)} characters, a game_id at most {GAME_ID_LENGTH}")
    own = partition_of(record.key, partitions)
    if record.partition != own:
        return Address("", f"the game {game_id!r} belongs to partition {own}, the record stands in {record.partition}")
    if len(record.value) > EVENT_BYTES:
        return Address("", f"the record has {len(record.value)} bytes, an event at most {EVENT_BYTES}")
    return Address(game_id, "")


def quarantined(record: Record, reason: str) -> NewRecord:
    """The record for the topic `quarantine`; of an overlong value the first EVENT_BYTES. The same bytes each time."""
    record_id = f"{record.topic}-{record.partition}-{record.offset}"
    value = Quarantined(
        record_id=record_id,
        key=record.key or b"",
        value=record.value[:EVENT_BYTES],
        reason=reason,
        recorded_at_ms=record.timestamp_ms,
    )
    return NewRecord(record_id.encode(), value.SerializeToString(deterministic=True))
