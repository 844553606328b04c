"""Cases and penalties from the tables to the answers. Games that are served no further are left out.

Each function reads within the transaction of its connection.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, or_, select, tuple_

from caipan.query import acts
from caipan.query.reading import page_of
from caipan.query.schema import cases, cursors, games, penalties
from caipan.query.tokens import HallPlaces
from caipan.v1.case_service_pb2 import HallCase, HallPenalty
from caipan.v1.outcome_pb2 import CASE_STATUS_DECIDED, CASE_STATUS_OPEN

EARLIER_MOST = 50
COMPARED_MOST = 200
DIGEST = 16  # hex digits of a record's digest in a token

OUTCOMES = "game-outcomes"

_AGE = tuple_(cases.c.closed, cases.c.opened_at_ms, cases.c.game_id, cases.c.case_id)
_AGE_COLUMNS = (cases.c.closed, cases.c.opened_at_ms, cases.c.game_id, cases.c.case_id)
_ENTRY = tuple_(penalties.c.game_id, penalties.c.number)


class Place(NamedTuple):
    """Where a case stands in lists: open ones first, those that wait longest first."""

    closed: int = -1
    opened_at_ms: int = -1
    game_id: str = ""
    case_id: str = ""


class Entry(NamedTuple):
    """Where a penalty stands in lists."""

    game_id: str = ""
    number: int = -1


def cases_after(
    place: Place, game_id: str, tournament_id: str, open_only: bool, limit: int, connection: Connection
) -> tuple[list[tuple[Place, HallCase]], bool]:
    """Cases behind ``place`` in their order; whether there are more."""
    query = _of(game_id, tournament_id).where(tuple(place) < _AGE).order_by(*_AGE_COLUMNS).limit(limit + 1)
    if open_only:
        query = query.where(cases.c.closed == 0)
    rows = connection.execute(query)
    page, more = page_of((((Place(*row[:4]), _case(row)), len(row.record)) for row in rows), limit)
    acts.add_to([told for _, told in page], connection)
    return page, more


def case(game_id: str, case_id: str, connection: Connection) -> HallCase | None:
    """One case; None where the game has none of this id."""
    return next(iter(_told(_of(game_id, "").where(cases.c.case_id == case_id), connection)), None)


def earlier(told: HallCase, connection: Connection) -> list[HallCase]:
    """What was decided against the same person in the event before, dismissals left out, latest first."""
    if not told.person:
        return []
    query = _same_event(told).where(
        cases.c.person == told.person,
        cases.c.sanctioned,
        cases.c.opened_at_ms <= told.case.opened_at_ms,
        or_(cases.c.game_id != told.game_id, cases.c.case_id != told.case.case_id),
    )
    return _told(query.order_by(cases.c.opened_at_ms.desc(), cases.c.game_id).limit(EARLIER_MOST), connection)


def rulings(tournament_id: str, game_id: str, clause: str, connection: Connection) -> list[HallCase]:
    """What was decided under a clause, by key or id, in a tournament, else in a game; by age, the last ones."""
    query = _of("" if tournament_id else game_id, tournament_id).where(
        cases.c.closed == 1, or_(cases.c.clause == clause, cases.c.key == clause)
    )
    latest = query.order_by(*(column.desc() for column in _AGE_COLUMNS)).limit(COMPARED_MOST)
    found = _told(latest, connection)
    return [each for each in reversed(found) if each.case.status == CASE_STATUS_DECIDED]


def open_cases(tournament_id: str, connection: Connection) -> tuple[list[HallCase], HallPlaces]:
    """All open cases, and how far the tables are."""
    query = _of("", tournament_id).where(cases.c.closed == 0).order_by(*_AGE_COLUMNS)
    return _told(query, connection), _places(connection)


def changed_since(places: HallPlaces, tournament_id: str, connection: Connection) -> tuple[list[HallCase], HallPlaces]:
    """The cases that changed since, as they stand now, and how far the tables are."""
    here = _places(connection)
    newer = {partition: place for partition, place in here.items() if place[0] > places.get(partition, (0, ""))[0]}
    since = [
        and_(cases.c.partition == partition, cases.c.offset >= places.get(partition, (0, ""))[0]) for partition in newer
    ]
    if not since:
        return [], places
    query = _of("", tournament_id).where(or_(*since)).order_by(cases.c.partition, cases.c.offset, cases.c.case_id)
    return _told(query, connection), {**places, **newer}


def penalties_after(
    entry: Entry, game_id: str, tournament_id: str, person: str, limit: int, connection: Connection
) -> tuple[list[tuple[Entry, HallPenalty]], bool]:
    """Entries of ledgers behind ``entry`` in their order; whether there are more."""
    query = (
        select(penalties.c.game_id, penalties.c.number, penalties.c.person, penalties.c.record)
        .join(games, games.c.game_id == penalties.c.game_id)
        .where(~games.c.diverged, tuple(entry) < _ENTRY)
        .order_by(penalties.c.game_id, penalties.c.number)
        .limit(limit + 1)
    )
    asked = {penalties.c.game_id: game_id, penalties.c.tournament_id: tournament_id, penalties.c.person: person}
    for column, value in asked.items():
        if value:
            query = query.where(column == value)
    rows = connection.execute(query)
    page, more = page_of((((Entry(*row[:2]), _penalty(row)), len(row.record)) for row in rows), limit)
    ruled = acts.of({(told.game_id, told.penalty.ruling) for _, told in page}, connection)
    for _, told in page:
        if (act := ruled.get((told.game_id, told.penalty.ruling))) is not None:
            told.ruled.CopyFrom(act)
    return page, more


def _of(game_id: str, tournament_id: str) -> Select[Any]:
    """Cases of a game, of a tournament, of all."""
    wanted: list[ColumnElement[bool]] = [~games.c.diverged]
    if game_id:
        wanted.append(cases.c.game_id == game_id)
    if tournament_id:
        wanted.append(cases.c.tournament_id == tournament_id)
    columns = (*_AGE_COLUMNS, cases.c.person, cases.c.record, games.c.seq)
    return select(*columns).join(games, games.c.game_id == cases.c.game_id).where(*wanted)


def _same_event(told: HallCase) -> Select[Any]:
    """Cases of the tournament; of the game alone where it belongs to none."""
    return _of("" if told.tournament_id else told.game_id, told.tournament_id)


def _told(query: Select[Any], connection: Connection) -> list[HallCase]:
    """The cases that a query finds, with what was said in them."""
    found = [_case(row) for row in connection.execute(query)]
    acts.add_to(found, connection)
    return found


def _case(row: Any) -> HallCase:
    """As of the last outcome of its game: whoever rules now has seen that."""
    told = HallCase.FromString(row.record)
    told.person = row.person
    if told.case.status == CASE_STATUS_OPEN:
        told.case.revision = row.seq
    return told


def _penalty(row: Any) -> HallPenalty:
    told = HallPenalty.FromString(row.record)
    told.person = row.person
    return told


def _places(connection: Connection) -> HallPlaces:
    query = select(cursors.c.partition, cursors.c.next_offset, cursors.c.last_digest).where(cursors.c.topic == OUTCOMES)
    return {partition: (offset, digest.hex()[:DIGEST]) for partition, offset, digest in connection.execute(query)}
