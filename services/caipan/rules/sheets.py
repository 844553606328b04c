"""The file of an edition as it is written: what it leaves out is None or empty here."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from caipan.rules.clauses import Announcement, Clause, Clock, Counting, Option, Window
from caipan.rules.ladders import Ladder


class Side(StrEnum):
    """A colour."""

    BLACK = "BLACK"
    WHITE = "WHITE"


@dataclass(frozen=True, slots=True)
class Gaps:
    """What the text does not cover: ``clause`` is cited there, with the base's clause (one of ``covers``) as reason."""

    clause: str
    covers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The keys of a file. ``by_event``: keys of regulations without a default here. ``without``: clauses of the base
    that do not apply. References name a clause of this file by its number, one of the base by its key."""

    id: str
    title_zh: str
    title_en: str
    base: str = ""
    first_to_move: Side | None = None
    two_passes_end: bool | None = None
    captures_timed: bool | None = None
    counting: Counting | None = None
    counting_by_submode: dict[str, Counting] = field(default_factory=dict)
    regulations: dict[str, Any] = field(default_factory=dict)
    by_event: tuple[str, ...] = ()
    windows: dict[str, Window] = field(default_factory=dict)
    options: dict[str, Option] = field(default_factory=dict)
    clocks: dict[str, Clock] = field(default_factory=dict)
    announcements: tuple[Announcement, ...] = ()
    ladder: Ladder | None = None
    clauses: dict[str, Clause] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    gaps: Gaps | None = None
