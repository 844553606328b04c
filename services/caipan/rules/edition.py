"""Editions: rule texts as data, one TOML file each in ``rules/editions``, read once and checked on the way.

An edition may have a base. Then its file says what differs: values of regulations, windows, clocks, ladder, and clauses
with what they replace; everything else is as in the base, and keeps the id of the text it stands in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from caipan.rules.binding import Binding
from caipan.rules.clauses import (
    Announcement,
    Clause,
    Clock,
    Counting,
    Decider,
    Offer,
    Option,
    Window,
)
from caipan.rules.edition_checks import check_edition, check_sheet
from caipan.rules.forms import Place, one_of, parse, read
from caipan.rules.keys import value_of
from caipan.rules.ladders import Ladder
from caipan.rules.points import BLACK, WHITE, Colour
from caipan.rules.sheets import Sheet, Side
from caipan.v1.common_pb2 import Role
from caipan.v1.regulations_pb2 import CLAIM_WINDOW_NONE, Regulations

ROOT = "CN2002"  # the fold names clauses by the numbers of this edition
_COLOURS: dict[Side, Colour] = {Side.BLACK: BLACK, Side.WHITE: WHITE}


@dataclass(frozen=True, slots=True, eq=False)
class Edition:
    """A rule text, expanded: what its file leaves out is that of its base.

    ``defaults``: what applies where an event says nothing, by key of Regulations, enums by name. ``clauses``: by key
    (``CN2002 17.3 drop``), its own first. ``topics``: which clause stands here for a clause of a base. ``digest``:
    SHA-256 of the file; with a base, of the digest of the base and the file.
    """

    id: str
    title_zh: str
    title_en: str
    base: str
    first_to_move: Colour
    two_passes_end: bool
    captures_timed: bool
    counting: Counting
    counting_by_submode: Mapping[str, Counting]
    defaults: Mapping[str, Any]
    windows: Mapping[str, Window]
    catalogue: Mapping[str, Option]
    clocks: Mapping[str, Clock]
    announcements: tuple[Announcement, ...]
    ladder: Ladder
    clauses: Mapping[str, Clause]
    topics: Mapping[str, str]
    digest: bytes

    def clause(self, key: str) -> Clause:
        """The clause of this key; the edition's own may be named by the number alone. One that it lacks is as its own
        text has it: what a game was judged by before it adopted this edition stays so. Raises KeyError."""
        if key in self.clauses:
            return self.clauses[key]
        text = key.split(" ")[0]
        return edition(text).clauses[key] if text in _files() and text != self.id else self.clauses[f"{self.id} {key}"]

    def about(self, number: str) -> Clause:
        """The clause of this edition on what CN2002 says under ``number``. Raises KeyError if it has none."""
        return self.clauses[self.topics[number if number in self.topics else f"{ROOT} {number}"]]

    def cite(self, number: str) -> str:
        """The id of that clause, as it stands in findings and results."""
        return self.about(number).id

    def cited(self, clause_id: str) -> tuple[Clause, ...]:
        """All that goes by this id: a clause and its matters, or all that the text leaves open."""
        return tuple(clause for clause in self.clauses.values() if clause.id == clause_id)

    def named(self, name: str) -> tuple[Clause, ...]:
        """The clauses that somebody means by a name: a key, a number of this edition or of CN2002, or an id with all
        its matters; () where there is none."""
        for key in (name, f"{self.id} {name}", self.topics.get(name, ""), self.topics.get(f"{ROOT} {name}", "")):
            if key in self.clauses:
                return (self.clauses[key],)
        return self.cited(name) or self.cited(f"{self.id} {name}")

    def deciding(self, clauses: Collection[Clause]) -> list[str]:
        """By what a case about these may be decided, by key: by them, or where their consequences stand."""
        own = [clause.key for clause in clauses if clause.opens_cases]
        return own or [each.key for clause in clauses for each in self.see(clause.key) if each.opens_cases]

    def opened_by(self, what: str, kind: str) -> tuple[str, ...]:
        """Of which clauses this kind of "findings", "claims" or "conduct" opens a case, by key."""
        return _openers(self).get((what, kind), ())

    def see(self, key: str) -> tuple[Clause, ...]:
        """Where the consequences of a clause stand in this edition."""
        return tuple(self.clauses[self.topics[other]] for other in self.clause(key).see)

    def options(
        self, key: str, facts: Collection[str] = (), regulations: Regulations | None = None
    ) -> tuple[Offer, ...]:
        """What a case of the clause lists, the default first; ``facts``: what holds of it, values of When."""
        return self.clause(key).listed(facts, regulations)

    def window(self, key: str, regulations: Regulations | None = None) -> Window | None:
        """Until when the clause may be raised; None where nobody raises it."""
        until = self.clause(key).until
        if not until:
            return None
        windows = self.windows if until in self.windows else edition(key.split(" ")[0]).windows
        window = windows[until]
        is_lifted = regulations is not None and regulations.claim_window == CLAIM_WINDOW_NONE
        return windows[window.lifted] if window.lifted and is_lifted else window

    def required_role(self, key: str, offer: Offer, regulations: Regulations | None = None) -> Role.ValueType:
        """The lowest role that may record this option: as the regulations say, else as the clause does."""
        clause = self.clause(key)
        for said in regulations.required_role if regulations is not None else ():
            if said.clause in (clause.key, clause.id):
                return said.role
        return (offer.decides or clause.decides or Decider.ARBITER).role

    def counting_for(self, regulations: Regulations) -> Counting:
        """What is counted in a game of these regulations."""
        if not self.counting_by_submode:
            return self.counting
        return self.counting_by_submode.get(value_of(regulations, "ancient_submode"), self.counting)


def edition_ids() -> tuple[str, ...]:
    """The ids of all editions, sorted."""
    return tuple(sorted(_files()))


@cache
def edition(edition_id: str) -> Edition:
    """The edition of this id. Raises KeyError for an unknown one, EditionError for one that cannot be used."""
    file, text = _files()[edition_id]
    return read_edition(text, file)


def read_edition(text: bytes, file: str) -> Edition:
    """An edition from the text of its file; ``file`` is its name. Raises EditionError."""
    place = Place(file)
    sheet = read(Sheet, parse(text, file), place)
    base = _base(sheet, place)
    check_sheet(sheet, base, place)
    bound = Binding(sheet, base, place)

    def given(name: str) -> Any:
        """What the file says; else what the base does."""
        value = getattr(sheet, name)
        return getattr(base, name) if base is not None and value in (None, (), {}) else value

    first = given("first_to_move")
    defaults = {**(base.defaults if base else {}), **sheet.regulations}
    made = Edition(
        id=sheet.id,
        title_zh=sheet.title_zh,
        title_en=sheet.title_en,
        base=sheet.base,
        first_to_move=_COLOURS[first] if isinstance(first, Side) else first,
        two_passes_end=given("two_passes_end"),
        captures_timed=given("captures_timed"),
        counting=given("counting"),
        counting_by_submode=given("counting_by_submode"),
        defaults={key: value for key, value in defaults.items() if key not in sheet.by_event},
        windows=bound.windows,
        catalogue=bound.catalogue,
        clocks=bound.clocks(),
        announcements=given("announcements"),
        ladder=bound.ladder(),
        clauses=bound.clauses,
        topics=bound.topics,
        digest=hashlib.sha256((base.digest if base else b"") + text).digest(),
    )
    check_edition(made, sheet, place)
    return made


@cache
def _openers(text: Edition) -> dict[tuple[str, str], tuple[str, ...]]:
    """Which clauses are opened by what, by key."""
    opened: dict[tuple[str, str], tuple[str, ...]] = {}
    for clause in text.clauses.values():
        for what in ("findings", "claims", "conduct"):
            for kind in getattr(clause.opened_by, what):
                opened[what, kind] = (*opened.get((what, kind), ()), clause.key)
    return opened


def _base(sheet: Sheet, place: Place) -> Edition | None:
    """The edition from which this one differs; only the root has none."""
    if sheet.id == ROOT:
        if sheet.base:
            raise place.error("base", f"{sheet.base!r}, though all others begin at {ROOT}", "leave it out")
        return None
    if not sheet.base:
        raise place.error("base", "missing", f'name the edition this one differs from, e.g. base = "{ROOT}"')
    chain = [sheet.id, sheet.base]
    while chain[-1] != ROOT:
        if chain[-1] not in _files():
            raise place.error("base", f"unknown edition {chain[-1]!r}", one_of(_files(), chain[-1]))
        if chain[-1] in chain[:-1]:
            raise place.error("base", f"it leads back: {' from '.join(chain)}", f"let one of them begin at {ROOT}")
        chain.append(_base_name(chain[-1]))
    return edition(sheet.base)


@cache
def _base_name(edition_id: str) -> str:
    file, text = _files()[edition_id]
    return str(parse(text, file).get("base", ROOT))


@cache
def _files() -> dict[str, tuple[str, bytes]]:
    """The editions of the package: file name and text by id."""
    folder = resources.files("caipan.rules.editions")
    files = [file for file in folder.iterdir() if file.name.endswith(".toml")]
    return {file.name.removesuffix(".toml").upper(): (file.name, file.read_bytes()) for file in files}
