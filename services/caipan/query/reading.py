"""From the tables to the answers. Each function reads within the transaction of its connection."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, TypeVar

from sqlalchemy import Connection, func, select, tuple_

from caipan.query.clocks import state_then
from caipan.query.schema import cursors, games, outcomes, parked, quarantined, retried
from caipan.query.writing import Served
from caipan.rules.game import ORPHANS_MOST
from caipan.v1.outcome_pb2 import PHASE_PAUSED, PHASE_PLAY, PHASE_UNSPECIFIED, Outcome
from caipan.v1.state_pb2 import GameState

PAGE_BYTES = 2 << 20  # a page ends early here: an answer of grpc may have 4 MB
NAMES_MOST = 1000  # of the lists in a status

_is_open = games.c.phase != PHASE_UNSPECIFIED

Item = TypeVar("Item")


class Cursor(NamedTuple):
    """How far a partition is in the tables; offsets of its topic, ``events_folded`` of game-events."""

    topic: str
    partition: int
    next_offset: int
    last_digest: bytes
    events_folded: int


class GameRow(NamedTuple):
    """A game; ``state`` is its GameState in bytes."""

    game_id: str
    seq: int
    diverged: bool
    is_open: bool
    state: bytes


class QuarantineRow(NamedTuple):
    """A record in quarantine; ``record`` is its Quarantined in bytes, the rest what came of its retry, if anything."""

    recorded_at_ms: int
    record_id: str
    record: bytes
    game_id: str | None
    event_id: str | None
    seq: int | None


class Counts(NamedTuple):
    """What the tables hold; names are cut at NAMES_MOST."""

    games: int
    games_in_play: int
    parked: int
    quarantined: int
    retried: int
    orphans: Sequence[str]
    diverged: Sequence[str]


def all_cursors(connection: Connection) -> list[Cursor]:
    """How far the read model is in each partition that it reads."""
    return [Cursor(*row) for row in connection.execute(select(*cursors.c))]


def next_offset(topic: str, partition: int, connection: Connection) -> int:
    """The offset at which the read model goes on."""
    query = select(cursors.c.next_offset).where(cursors.c.topic == topic, cursors.c.partition == partition)
    return connection.scalar(query) or 0


def game(game_id: str, connection: Connection) -> GameRow | None:
    """The row of a game; None where nothing is known of it."""
    row = connection.execute(_game_rows.where(games.c.game_id == game_id)).one_or_none()
    return GameRow(*row) if row else None


def games_after(
    game_id: str, tournament_id: str, phases: Collection[int], limit: int, connection: Connection
) -> tuple[list[GameRow], bool]:
    """Opened games in the order of their ids, from the one after ``game_id`` on; whether there are more."""
    query = _game_rows.where(_is_open, games.c.game_id > game_id).order_by(games.c.game_id).limit(limit + 1)
    if tournament_id:
        query = query.where(games.c.tournament_id == tournament_id)
    if phases:
        query = query.where(games.c.phase.in_(phases))
    return page_of(((GameRow(*row), len(row.state)) for row in connection.execute(query)), limit)


def outcomes_after(game_id: str, seq: int, limit: int, connection: Connection) -> tuple[list[Served], bool]:
    """Outcomes of a game from ``seq`` + 1 on; whether there are more."""
    query = (
        select(outcomes.c.game_id, outcomes.c.seq, outcomes.c.head, outcomes.c.record)
        .where(outcomes.c.game_id == game_id, outcomes.c.seq > seq)
        .order_by(outcomes.c.seq)
        .limit(limit + 1)
    )
    return page_of(((Served(*row), len(row.record)) for row in connection.execute(query)), limit)


def clocks_then(state: GameState, at_ms: int, connection: Connection) -> GameState:
    """The game, as far as its clocks go, as it stood at an earlier instant: see ``clocks.state_then``."""
    last_first = select(outcomes.c.record).where(outcomes.c.game_id == state.game_id).order_by(outcomes.c.seq.desc())
    return state_then(state, at_ms, map(Outcome.FromString, connection.scalars(last_first)))


def opening(game_id: str, connection: Connection) -> Outcome:
    """The outcome by which a game that is open was opened."""
    records = connection.scalars(
        select(outcomes.c.record).where(outcomes.c.game_id == game_id).order_by(outcomes.c.seq)
    )
    return next(outcome for outcome in map(Outcome.FromString, records) if outcome.verdict.HasField("opened"))


def first_offset(game_id: str, connection: Connection) -> int:
    """The offset in game-events from which on all events of a game stand: facts may stand before its opening."""
    query = select(outcomes.c.record).where(outcomes.c.game_id == game_id).order_by(outcomes.c.seq)
    records = connection.scalars(query.limit(ORPHANS_MOST + 1))
    return min((Outcome.FromString(record).offset for record in records), default=0)


def head(game_id: str, seq: int, connection: Connection) -> bytes | None:
    """The head of an outcome, None if it is not here."""
    return connection.scalar(select(outcomes.c.head).where(outcomes.c.game_id == game_id, outcomes.c.seq == seq))


def quarantined_after(
    recorded_at_ms: int, record_id: str, limit: int, connection: Connection
) -> tuple[list[QuarantineRow], bool]:
    """Records in quarantine, oldest first, from the one after the one named on; whether there are more."""
    age = tuple_(quarantined.c.recorded_at_ms, quarantined.c.record_id)
    query = (
        _quarantine_rows.where(age > (recorded_at_ms, record_id))
        .order_by(quarantined.c.recorded_at_ms, quarantined.c.record_id)
        .limit(limit + 1)
    )
    return page_of(((QuarantineRow(*row), len(row.record)) for row in connection.execute(query)), limit)


def quarantined_record(record_id: str, connection: Connection) -> QuarantineRow | None:
    """One record in quarantine; None where there is none."""
    row = connection.execute(_quarantine_rows.where(quarantined.c.record_id == record_id)).one_or_none()
    return QuarantineRow(*row) if row else None


def counts(connection: Connection) -> Counts:
    """What an operator asks: how many games, and what waits."""
    phases = select(games.c.phase, func.count()).where(_is_open).group_by(games.c.phase)
    by_phase: dict[int, int] = dict(connection.execute(phases).all())
    opened = select(games.c.game_id).where(_is_open)
    orphans = select(parked.c.game_id).distinct().where(parked.c.game_id.not_in(opened))
    diverged = select(games.c.game_id).where(games.c.diverged)
    return Counts(
        games=sum(by_phase.values()),
        games_in_play=by_phase.get(PHASE_PLAY, 0) + by_phase.get(PHASE_PAUSED, 0),
        parked=connection.execute(select(func.count()).select_from(parked)).scalar_one(),
        quarantined=connection.execute(select(func.count()).select_from(quarantined)).scalar_one(),
        retried=connection.execute(
            select(func.count()).select_from(quarantined.join(retried, _same_record))
        ).scalar_one(),
        orphans=connection.scalars(orphans.order_by(parked.c.game_id).limit(NAMES_MOST)).all(),
        diverged=connection.scalars(diverged.order_by(games.c.game_id).limit(NAMES_MOST)).all(),
    )


_same_record = quarantined.c.record_id == retried.c.record_id
_quarantine_rows = select(
    quarantined.c.recorded_at_ms,
    quarantined.c.record_id,
    quarantined.c.record,
    retried.c.game_id,
    retried.c.event_id,
    retried.c.seq,
).outerjoin(retried, _same_record)
_game_rows = select(games.c.game_id, games.c.seq, games.c.diverged, _is_open.label("is_open"), games.c.state)


def page_of(sized: Iterable[tuple[Item, int]], limit: int) -> tuple[list[Item], bool]:
    """At most ``limit`` items and PAGE_BYTES bytes, but one if there is any; whether any are left."""
    page: list[Item] = []
    total = 0
    for item, size in sized:
        total += size
        if len(page) == limit or (page and total > PAGE_BYTES):
            return page, True
        page.append(item)
    return page, False
