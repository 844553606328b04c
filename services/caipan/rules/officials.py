"""Who holds which role in a game (CN2002 29.1)."""

from __future__ import annotations

from caipan.rules.act import Act
from caipan.rules.points import BLACK, WHITE, Colour
from caipan.rules.table import Table
from caipan.v1.common_pb2 import ROLE_ARBITER, ROLE_CHIEF, ROLE_DEPUTY, Actor

ARBITERS = (ROLE_ARBITER, ROLE_DEPUTY, ROLE_CHIEF)
_RANK = {ROLE_ARBITER: 0, ROLE_DEPUTY: 0, ROLE_CHIEF: 1}  # a deputy is an arbiter (rules 0.4)


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
