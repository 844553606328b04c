"""Tables of a TOML file as frozen dataclasses: a field is a key, its type what the key takes, its default what is meant
where the key is left out. Whatever does not fit is an EditionError that names the place and the remedy.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from difflib import get_close_matches
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

DERIVED = {"derived": True}  # metadata of a field that is no key: the loader fills it in

_NAMES: dict[Any, str] = {str: "a string", int: "a whole number", bool: "true or false"}

T = TypeVar("T")


class EditionError(ValueError):
    """An edition that cannot be used: its file, the place in it (`clauses."17.2"`), field, problem and remedy."""

    def __init__(self, file: str, place: str, field: str, problem: str, remedy: str) -> None:
        where = ", ".join(part for part in (file, place, field) if part)
        super().__init__(f"{where}: {problem}; {remedy}")
        self.file = file
        self.place = place
        self.field = field
        self.problem = problem
        self.remedy = remedy


class FieldError(ValueError):
    """What a dataclass finds wrong with the values of its own fields."""

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.field = field
        self.problem = problem
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Place:
    """A table in a file, by its path as TOML writes it."""

    file: str
    path: str = ""

    def at(self, name: str) -> Place:
        """A table or element in this one."""
        quoted = name if re.fullmatch(r"[A-Za-z0-9_-]+(\[[0-9]+])?", name) else f'"{name}"'
        return Place(self.file, f"{self.path}.{quoted}" if self.path else quoted)

    def error(self, field: str, problem: str, remedy: str) -> EditionError:
        """What is wrong with a field of this table."""
        return EditionError(self.file, self.path, field, problem, remedy)


def parse(text: bytes, file: str) -> dict[str, Any]:
    """The tables of a TOML file. Raises EditionError."""
    try:
        return tomllib.loads(text.decode())
    except UnicodeDecodeError as error:
        raise EditionError(file, "", "", f"byte {error.start} is no UTF-8", "save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise EditionError(file, "", "", f"this is no TOML: {error}", "mend the file there") from error


def one_of(names: Iterable[str], wrong: str = "") -> str:
    """The remedy for a name that is not known: the nearest one, and all of them."""
    known = sorted(names)
    near = get_close_matches(wrong.upper(), known, 1) or get_close_matches(wrong, known, 1)
    return f"{f'did you mean {near[0]}? ' if near else ''}use one of: {', '.join(known)}"


def read(kind: Callable[..., T], table: object, place: Place) -> T:
    """The dataclass ``kind`` from a table. Raises EditionError for an unknown, missing or wrong key."""
    if not isinstance(table, dict):
        raise place.error("", f"{table!r} is no table", "write keys and values")
    keys = _keys(kind)
    for name in table:
        if name not in keys:
            raise place.error(name, "unknown key", one_of(keys, name))
    values = {}
    for name, (field, hint) in keys.items():
        if name in table:
            values[name] = _value(hint, table[name], place, name)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise place.error(name, "missing", f"give it {_expected(hint)}")
    try:
        return kind(**values)
    except FieldError as error:
        raise place.error(error.field, error.problem, error.remedy) from None


@cache
def _keys(kind: Any) -> Mapping[str, tuple[Field[Any], Any]]:
    """The keys of a table: its fields with their types."""
    hints = get_type_hints(kind)
    return {field.name: (field, hints[field.name]) for field in fields(kind) if "derived" not in field.metadata}


def _value(hint: Any, value: Any, place: Place, field: str) -> Any:
    """A value as ``hint`` wants it."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if origin in (Union, UnionType):
        kinds = [kind for kind in inner if kind is not type(None)]
        return _tagged(kinds, value, place, field) if len(kinds) > 1 else _value(kinds[0], value, place, field)
    if origin in (tuple, frozenset):
        if not isinstance(value, list):
            raise place.error(field, f"{value!r} is no list", f"give {_expected(hint)}")
        return origin(_value(inner[0], each, place, f"{field}[{number}]") for number, each in enumerate(value))
    if origin is dict:
        if not isinstance(value, dict):
            raise place.error(field, f"{value!r} is no table", "write keys and values")
        return {
            _value(inner[0], key, place.at(field), key): _value(inner[1], each, place.at(field), key)
            for key, each in value.items()
        }
    if is_dataclass(hint):
        short = getattr(hint, "short", None)  # the field that a bare string stands for
        return read(hint, {short: value} if short and isinstance(value, str) else value, place.at(field))  # type: ignore[arg-type]
    if issubclass(hint, StrEnum):
        if value not in list(hint):
            raise place.error(field, f"{value!r} is not known here", one_of(hint, str(value)))
        return hint(value)
    if type(value) is not hint:
        raise place.error(field, f"{value!r} is not {_NAMES[hint]}", f"give {_NAMES[hint]}")
    return value


def _tagged(kinds: list[Any], value: Any, place: Place, field: str) -> Any:
    """One of several dataclasses: the key ``effect`` names it by its tag."""
    by_tag = {kind.tag: kind for kind in kinds}
    if not isinstance(value, dict) or "effect" not in value:
        raise place.at(field).error("effect", "missing", f"name the effect: {one_of(by_tag)}")
    rest = dict(value)
    tag = rest.pop("effect")
    if tag not in by_tag:
        raise place.at(field).error("effect", f"unknown effect {tag!r}", one_of(by_tag, str(tag)))
    return read(by_tag[tag], rest, place.at(field))


def _expected(hint: Any) -> str:
    """What a key takes, in words."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (tuple, frozenset):
        return f"a list, each {_expected(inner[0])}"
    if origin in (Union, UnionType):
        return _expected(inner[0])
    if hint in _NAMES:
        return _NAMES[hint]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return one_of(hint)
    return "a table"
