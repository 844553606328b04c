"""From the log into the tables: each batch of records and its cursor in one transaction, so repeating is harmless."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

import structlog
from google.protobuf.message import DecodeError
from sqlalchemy import Connection, Delete, Table, bindparam, select

from caipan.eventlog import Record
from caipan.query.docket import Docket
from caipan.query.schema import cursors, games, outcomes, parked, quarantined, retried
from caipan.query.state import CannotDraw, advance
from caipan.v1.operation_service_pb2 import Quarantined
from caipan.v1.outcome_pb2 import STATUS_PARKED, Outcome
from caipan.v1.state_pb2 import GameState

# Made once: an outcome that comes alone must not wait for statements to be put together.
_SELECT_GAMES = select(games.c.game_id, games.c.state).where(games.c.game_id.in_(bindparam("game_ids", expanding=True)))
_SELECT_PARKED = select(parked.c.game_id, parked.c.event_id).where(
    parked.c.game_id.in_(bindparam("game_ids", expanding=True))
)
_SELECT_KNOWN = select(quarantined.c.record_id).where(
    quarantined.c.record_id.in_(bindparam("record_ids", expanding=True))
)
_SELECT_HEAD = select(outcomes.c.head).where(
    outcomes.c.game_id == bindparam("game_id"), outcomes.c.seq == bindparam("seq")
)
_SELECT_CURSOR = select(cursors.c.next_offset, cursors.c.events_folded).where(
    cursors.c.topic == bindparam("topic"), cursors.c.partition == bindparam("partition")
)

_log = structlog.get_logger()


class WrongPosition(Exception):  # noqa: N818 - named after what is found
    """The records do not begin at the cursor of their partition: follow it again from there."""


class Served(NamedTuple):
    """A new outcome of a game; ``record`` is the Outcome in bytes."""

    game_id: str
    seq: int
    head: bytes
    record: bytes


class Applied(NamedTuple):
    """What a batch brought: new outcomes in order, games that are not to be trusted any longer, news of cases."""

    served: Sequence[Served] = ()
    diverged: Collection[str] = ()
    has_cases: bool = False


def apply_outcomes(records: Sequence[Record], connection: Connection) -> Applied:
    """Takes records of one partition of game-outcomes into the tables. Raises WrongPosition, nothing changed."""
    folded = _folded_before(connection, records)
    batch = _Batch(connection, [(outcome, record) for record in records if (outcome := _read_outcome(record))])
    batch.store()
    _move_cursor(connection, records, max(folded, batch.folded))
    return Applied(list(batch.served.values()), batch.diverged, batch.docket.is_touched or bool(batch.diverged))


def apply_quarantined(records: Sequence[Record], connection: Connection) -> Applied:
    """The same for the topic quarantine. A record that came in twice is kept as it came first."""
    _folded_before(connection, records)
    rows = {row["record_id"]: row for record in reversed(records) if (row := _quarantined_row(record))}
    known = set(connection.scalars(_SELECT_KNOWN, {"record_ids": list(rows)}))
    new = [row for record_id, row in rows.items() if record_id not in known]
    if new:
        connection.execute(quarantined.insert(), new)
    _move_cursor(connection, records, 0)
    return Applied()


class _Batch:
    """Outcomes of one partition on their way into the tables."""

    def __init__(self, connection: Connection, found: Sequence[tuple[Outcome, Record]]) -> None:
        self.docket = Docket(connection)
        self.served: dict[tuple[str, int], Served] = {}
        self.diverged: list[str] = []
        self.folded = 0
        self._connection = connection
        self._waits: dict[tuple[str, str], bool] = {}  # (game, event) -> whether it is parked
        self._retried: dict[str, Outcome] = {}  # by the record in quarantine
        self._games = _load_games(connection, {outcome.verdict.game_id for outcome, _ in found})
        for outcome, record in found:
            self._take(outcome, record)

    def store(self) -> None:
        connection = self._connection
        rows = [served._asdict() for served in self.served.values()]
        if rows:
            connection.execute(outcomes.insert(), rows)
        _replace(connection, games, [_game_row(state) for state in self._games.values()])
        _replace(connection, retried, [_retried_row(outcome) for outcome in self._retried.values()])
        self._store_parked()
        self.docket.store()

    def _store_parked(self) -> None:
        """What waits from now on, and what does no longer."""
        rows = select(parked.c.game_id, parked.c.event_id).where(
            parked.c.game_id.in_({game for game, _ in self._waits})
        )
        known = {(game_id, event_id) for game_id, event_id in self._connection.execute(rows)}
        _delete(self._connection, parked, [_parked_row(place) for place in known if not self._waits.get(place, True)])
        new = [_parked_row(place) for place, waits in self._waits.items() if waits and place not in known]
        if new:
            self._connection.execute(parked.insert(), new)

    def _take(self, outcome: Outcome, record: Record) -> None:
        verdict = outcome.verdict
        self.folded = max(self.folded, outcome.offset + 1)
        if outcome.caused_by:
            self._retried[outcome.caused_by] = outcome
        if verdict.seq or verdict.status == STATUS_PARKED:  # a DUPLICATE tells nothing new
            self._waits[verdict.game_id, verdict.event_id] = not verdict.seq
        if not verdict.seq:
            return
        state = self._games.setdefault(verdict.game_id, GameState(game_id=verdict.game_id))
        if state.diverged:
            return
        if verdict.seq <= state.seq:
            reason = self._why_not_same(outcome)
        else:
            reason = _why_not_next(state, outcome) or self._serve(state, outcome, record)
        if reason:
            state.diverged = True
            self.diverged.append(state.game_id)
            _log.critical(
                "GAME DIVERGED, it is served no further", game_id=state.game_id, seq=verdict.seq, reason=reason,
                partition=outcome.partition, event_offset=outcome.offset,
            )  # fmt: skip

    def _serve(self, state: GameState, outcome: Outcome, record: Record) -> str:
        """Takes the next outcome of the game in; says why not if its board cannot be drawn."""
        try:
            advance(state, outcome.verdict)
        except CannotDraw as error:
            return str(error)
        state.head = outcome.head
        place = (state.game_id, state.seq)
        self.served[place] = Served(*place, outcome.head, record.value)
        self.docket.take(state, outcome.verdict, (record.partition, record.offset))
        return ""

    def _why_not_same(self, outcome: Outcome) -> str:
        """An outcome may stand twice in its topic, but only with the same head."""
        place = (outcome.verdict.game_id, outcome.verdict.seq)
        head = self.served[place].head if place in self.served else _head(self._connection, *place)
        if head == outcome.head:
            return ""
        return f"it has two heads: {head.hex()} came first, then {outcome.head.hex()}"


def _why_not_next(state: GameState, outcome: Outcome) -> str:
    if outcome.verdict.seq != state.seq + 1:
        return f"it comes right after {state.seq}"
    if state.seq and outcome.prev_head != state.head:
        return f"it follows the head {outcome.prev_head.hex()}, but that of {state.seq} is {state.head.hex()}"
    return ""


def _read_outcome(record: Record) -> Outcome | None:
    """The outcome of a record; the log has only such as the referee wrote, so anything else is an alarm."""
    try:
        outcome = Outcome.FromString(record.value)
    except DecodeError:
        outcome = Outcome()
    if outcome.verdict.game_id.encode() == (record.key or b"") != b"":
        return outcome
    _log.critical("not an outcome of the game that its key names; left out", **_place(record))
    return None


def _quarantined_row(record: Record) -> dict[str, Any] | None:
    try:
        read = Quarantined.FromString(record.value)
    except DecodeError:
        _log.critical("not a quarantined record; left out", **_place(record))
        return None
    return {"record_id": read.record_id, "recorded_at_ms": read.recorded_at_ms, "record": record.value}


def _place(record: Record) -> dict[str, Any]:
    return {"topic": record.topic, "partition": record.partition, "offset": record.offset}


def _load_games(connection: Connection, game_ids: Collection[str]) -> dict[str, GameState]:
    found = connection.execute(_SELECT_GAMES, {"game_ids": list(game_ids)})
    return {game_id: GameState.FromString(state) for game_id, state in found}


def _game_row(state: GameState) -> dict[str, Any]:
    return {
        "game_id": state.game_id,
        "tournament_id": state.opened.tournament_id,
        "phase": state.phase,
        "seq": state.seq,
        "head": state.head,
        "diverged": state.diverged,
        "state": state.SerializeToString(),
    }


def _parked_row(place: tuple[str, str]) -> dict[str, str]:
    game_id, event_id = place
    return {"game_id": game_id, "event_id": event_id}


def _retried_row(outcome: Outcome) -> dict[str, Any]:
    verdict = outcome.verdict
    return {
        "record_id": outcome.caused_by,
        "game_id": verdict.game_id,
        "event_id": verdict.event_id,
        "seq": verdict.seq or verdict.original.seq,
    }


def _head(connection: Connection, game_id: str, seq: int) -> bytes:
    return bytes(connection.execute(_SELECT_HEAD, {"game_id": game_id, "seq": seq}).scalar_one())


def _folded_before(connection: Connection, records: Sequence[Record]) -> int:
    """events_folded of the cursor at which the records begin; raises WrongPosition if they do not."""
    first = records[0]
    stream = {"topic": first.topic, "partition": first.partition}
    next_offset, folded = connection.execute(_SELECT_CURSOR, stream).one_or_none() or (0, 0)
    if first.offset != next_offset:
        raise WrongPosition(f"{first.topic} {first.partition}: records from {first.offset} on, not {next_offset}")
    return int(folded)


def _move_cursor(connection: Connection, records: Sequence[Record], folded: int) -> None:
    last = records[-1]
    row = {
        "topic": last.topic,
        "partition": last.partition,
        "next_offset": last.offset + 1,
        "last_digest": sha256(last.value).digest(),
        "events_folded": folded,
    }
    _replace(connection, cursors, [row])


def _replace(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Inserts rows in the place of those with the same key."""
    _delete(connection, table, rows)
    if rows:
        connection.execute(table.insert(), rows)


def _delete(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Deletes the rows with the keys of these."""
    if rows:
        keys = [column.name for column in table.primary_key]
        connection.execute(_delete_by_key(table), [{f"old_{key}": row[key] for key in keys} for row in rows])


@cache
def _delete_by_key(table: Table) -> Delete:
    return table.delete().where(*(column == bindparam(f"old_{column.name}") for column in table.primary_key))
