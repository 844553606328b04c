"""Rule texts as data: one file for each edition, read once."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from caipan.rules.points import BLACK, WHITE, Colour


@dataclass(frozen=True)
class Clause:
    """A clause of an edition: its full id ("CN2002 17.2") and its titles."""

    id: str
    zh: str
    en: str


@dataclass(frozen=True)
class Edition:
    """A rule text: its parameters, the values its regulations have by default, its clauses by number."""

    id: str
    title_zh: str
    title_en: str
    first_to_move: Colour
    two_passes_end: bool
    defaults: dict[str, Any]
    clauses: dict[str, Clause]
    digest: bytes

    def cite(self, number: str) -> str:
        """The full id of a clause, as it stands in findings and results."""
        return self.clauses[number].id


@cache
def edition_ids() -> tuple[str, ...]:
    """The ids of all editions, sorted."""
    return tuple(sorted(_files()))


@cache
def edition(edition_id: str) -> Edition:
    """The edition of this id. Raises KeyError for an unknown one."""
    text = _files()[edition_id]
    data = tomllib.loads(text.decode())
    return Edition(
        id=data["id"],
        title_zh=data["title_zh"],
        title_en=data["title_en"],
        first_to_move={"BLACK": BLACK, "WHITE": WHITE}[data["first_to_move"]],
        two_passes_end=data["two_passes_end"],
        defaults=data["regulations"],
        clauses={number: Clause(f"{data['id']} {number}", **titles) for number, titles in data["clauses"].items()},
        digest=hashlib.sha256(text).digest(),
    )


@cache
def _files() -> dict[str, bytes]:
    folder = resources.files(__name__)
    files = [file for file in folder.iterdir() if file.name.endswith(".toml")]
    return {file.name.removesuffix(".toml").upper(): file.read_bytes() for file in files}
