"""Who holds which role in a game (CN2002 29.1)."""

from __future__ import annotations

from caipan.rules.act import Act
from caipan.rules.table import Table
from caipan.v1.common_pb2 import ROLE_ARBITER, ROLE_CHIEF, ROLE_DEPUTY, Actor

ARBITERS = (ROLE_ARBITER, ROLE_DEPUTY, ROLE_CHIEF)


def official_appointed(table: Table, act: Act) -> None:
    """From here on the person holds the role in this game."""
    table.name(table.officials | {(act.fact.person, act.fact.role)}, table.colours)


def is_arbiter(table: Table, by: Actor) -> bool:
    """Whether the reporting person acts as an arbiter of this game."""
    return by.role in ARBITERS and (by.person, by.role) in table.officials
