"""Who holds which role in a game (CN2002 29.1)."""

from __future__ import annotations

from caipan.rules.act import Act
from caipan.rules.points import BLACK, WHITE, Colour
from caipan.rules.table import Table
from caipan.v1.common_pb2 import (
    ROLE_ARBITER,
    ROLE_CHIEF,
    ROLE_COMMITTEE,
    ROLE_DEPUTY,
    ROLE_PLAYER,
    Actor,
    Role,
)

ARBITERS = (ROLE_ARBITER, ROLE_DEPUTY, ROLE_CHIEF)
# A deputy may do what an arbiter may (rules 0.4), and what the regulations delegate to DEPUTY.
_RANK = {ROLE_ARBITER: 0, ROLE_DEPUTY: 1, ROLE_CHIEF: 2, ROLE_COMMITTEE: 3}


def official_appointed(table: Table, act: Act) -> None:
    """From here on the person holds the role in this game."""
    table.name(table.officials | {(act.fact.person, act.fact.role)}, table.colours)


def why_not_seat(table: Table, by: Actor, player: Colour) -> str:
    """Why a person in the role PLAYER may not act for this seat; empty where it is the own one (rules 7.1).

    Until colours are given, each of the two players may hold either seat.
    """
    colours = table.colours
    if colours is None:
        persons = set(table.opened.players)
    else:
        persons = {person for person, seat in ((colours.black, BLACK), (colours.white, WHITE)) if player in (0, seat)}
    if by.person in persons:
        return ""
    return f"{by.person!r} does not hold this seat: a PLAYER acts for the own one, others report in their own role"


def is_arbiter(table: Table, by: Actor) -> bool:
    """Whether the reporting person acts as an arbiter of this game; who holds a higher role may act in a lower one."""
    held = [role for role in ARBITERS if (by.person, role) in table.officials]
    return by.role in ARBITERS and any(_RANK[role] >= _RANK[by.role] for role in held)


def may_mark(table: Table, by: Actor) -> bool:
    """Whether the reporting person may mark the parts of a session: not as a player (CN2002 14.1)."""
    return by.role != ROLE_PLAYER or is_arbiter(table, by)


def decides_as(table: Table, by: Actor, role: Role.ValueType, needed: Role.ValueType) -> str | None:
    """Why a person may not decide in this role what needs another; None where nothing is wrong (rules 0.5)."""
    held = [each for person, each in table.officials if person == by.person and each in _RANK]
    if role not in _RANK or not any(_RANK[each] >= _RANK[role] for each in held):
        return f"role: {by.person!r} is not {_name(role)} in this game; appoint the person, or decide in a role held"
    if role == ROLE_COMMITTEE and needed != ROLE_COMMITTEE:
        return "role: the committee decides appeals, not games"
    if _RANK[role] < _RANK.get(needed, _RANK[ROLE_COMMITTEE]):
        return f"role: needs {_name(needed)}, not {_name(role)}"
    return None


def _name(role: Role.ValueType) -> str:
    return Role.Name(role).removeprefix("ROLE_") if role in Role.values() else f"role {role}"
