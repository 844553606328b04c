"""The tables of the read model. All of it is derived from the log: another version is dropped and built again."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    inspect,
    select,
)

VERSION = 4

_tables = MetaData()
# Ordered by bytes everywhere, so that pages have one order on SQLite and on PostgreSQL.
_Text = String().with_variant(String(collation="C"), "postgresql")

# Its one row says which version of the tables these are.
read_model = Table("read_model", _tables, Column("version", Integer, primary_key=True, autoincrement=False))

games = Table(
    "games",
    _tables,
    Column("game_id", _Text, primary_key=True),
    Column("tournament_id", _Text, nullable=False),
    Column("phase", Integer, nullable=False),  # 0 = outcomes came, but no game.opened was folded
    Column("seq", BigInteger, nullable=False),
    Column("head", LargeBinary, nullable=False),
    Column("diverged", Boolean, nullable=False),
    Column("state", LargeBinary, nullable=False),  # GameState
    Index("games_by_tournament", "tournament_id", "game_id"),
)

outcomes = Table(
    "outcomes",
    _tables,
    Column("game_id", _Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("head", LargeBinary, nullable=False),
    Column("record", LargeBinary, nullable=False),  # Outcome, as it stands in the log
)

# Every case, open or not, as the last outcome that told of it left it.
cases = Table(
    "cases",
    _tables,
    Column("game_id", _Text, primary_key=True),
    Column("case_id", _Text, primary_key=True),
    Column("tournament_id", _Text, nullable=False),
    Column("side", Integer, nullable=False),
    Column("person", _Text, nullable=False),  # who has the side now
    Column("closed", Integer, nullable=False),  # 0 or 1: open ones come first
    Column("opened_at_ms", BigInteger, nullable=False),
    Column("clause", _Text, nullable=False),  # by which it was decided, and the key of that matter
    Column("key", _Text, nullable=False),
    Column("sanctioned", Boolean, nullable=False),  # decided, and not dismissed
    Column("partition", Integer, nullable=False),  # where in game-outcomes that outcome stands
    Column("offset", BigInteger, nullable=False),
    Column("record", LargeBinary, nullable=False),  # HallCase without the person
    Index("cases_by_age", "closed", "opened_at_ms", "game_id", "case_id"),
    Index("cases_by_tournament", "tournament_id", "closed", "opened_at_ms", "game_id", "case_id"),
    Index("cases_by_change", "partition", "offset"),
)

# The ledgers.
penalties = Table(
    "penalties",
    _tables,
    Column("game_id", _Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("tournament_id", _Text, nullable=False),
    Column("side", Integer, nullable=False),
    Column("person", _Text, nullable=False),
    Column("record", LargeBinary, nullable=False),  # HallPenalty without the person
    Index("penalties_by_tournament", "tournament_id", "game_id", "number"),
    Index("penalties_by_person", "person", "game_id", "number"),
)

# What persons have said in the events of these ids.
acts = Table(
    "acts",
    _tables,
    Column("game_id", _Text, primary_key=True),
    Column("event_id", _Text, primary_key=True),
    Column("record", LargeBinary, nullable=False),  # Act
)

# Events that wait for earlier ones of their source, or for the opening of their game.
parked = Table(
    "parked",
    _tables,
    Column("game_id", _Text, primary_key=True),
    Column("event_id", _Text, primary_key=True),
)

quarantined = Table(
    "quarantined",
    _tables,
    Column("record_id", _Text, primary_key=True),
    Column("recorded_at_ms", BigInteger, nullable=False),
    Column("record", LargeBinary, nullable=False),  # Quarantined
    Index("quarantined_by_age", "recorded_at_ms", "record_id"),
)

# Records in quarantine that were read again as an event, and where its outcome stands.
retried = Table(
    "retried",
    _tables,
    Column("record_id", _Text, primary_key=True),
    Column("game_id", _Text, nullable=False),
    Column("event_id", _Text, nullable=False),
    Column("seq", BigInteger, nullable=False),
)

# How far each partition of a topic is in these tables.
cursors = Table(
    "cursors",
    _tables,
    Column("topic", _Text, primary_key=True),
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("next_offset", BigInteger, nullable=False),
    Column("last_digest", LargeBinary, nullable=False),  # SHA-256 of the record before: tells one log from another
    Column("events_folded", BigInteger, nullable=False),  # next offset of game-events, as far as the outcomes show
)


class ForeignDatabase(Exception):  # noqa: N818 - named after what is found
    """The database holds something else."""


def found_version(connection: Connection) -> int | None:
    """The version of the read model in the database; None if the database is empty. Raises ForeignDatabase."""
    names = inspect(connection).get_table_names()
    if read_model.name in names:
        return connection.scalar(select(read_model.c.version)) or 0
    if names:
        raise ForeignDatabase
    return None


def rebuild(connection: Connection) -> None:
    """Drops all tables, of whichever version, and makes them anew."""
    old = MetaData()
    old.reflect(connection)
    old.drop_all(connection)
    _tables.create_all(connection)
    connection.execute(read_model.insert().values(version=VERSION))
