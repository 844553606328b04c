"""Writes docs/clauses.md from rows.toml: from a clause to its entry in an edition, its code and its tests."""

from __future__ import annotations

import ast
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from caipan.rules.clauses import Clause, Level
from caipan.rules.edition import edition

TESTS = Path(__file__).parents[1]
DOCUMENT = TESTS.parent / "docs" / "clauses.md"
ROWS = tomllib.loads((Path(__file__).parent / "rows.toml").read_text())

_HEAD = """# From a clause to its test

Written by `make clauses-doc` from `tests/clauses/rows.toml`; a test holds it against the editions, the code and the
tests. Rows marked *tournament* and *appeal* are decided by folds of their own; their events are kept in the right log.

| clause | what the edition says | code (`caipan.rules`) | tests |
|---|---|---|---|
"""


@dataclass(frozen=True)
class Row:
    """A row of the clause table, see rows.toml."""

    id: str
    code: tuple[str, ...]
    tests: tuple[str, ...]
    keys: tuple[str, ...]
    level: str

    @property
    def clauses(self) -> list[Clause]:
        return [edition(key.split(" ")[0]).clauses[key] for key in self.keys]


def rows() -> list[Row]:
    return [
        Row(
            id=row["id"],
            code=tuple(row["code"]),
            tests=tuple(row["tests"]),
            keys=tuple(row.get("keys", [row["id"]])),
            level=row.get("level", "game"),
        )
        for row in ROWS["rows"]
    ]


@cache
def tests() -> dict[str, str]:
    """All test functions, and the file each stands in."""
    found = {}
    for file in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                found[node.name] = str(file.relative_to(TESTS))
    return found


def named(pattern: str) -> list[str]:
    """The tests of this name, or that begin so."""
    return [name for name in tests() if fnmatchcase(name, pattern)]


def document() -> str:
    return _HEAD + "".join(_line(row) for row in rows())


def _line(row: Row) -> str:
    entries = "<br>".join(f"{clause.zh} · {clause.en}: {_ruling(clause)}" for clause in row.clauses)
    code = ", ".join(f"`{name}`" for name in row.code)
    level = f" *{row.level}*" if row.level != "game" else ""
    return f"| {row.id}{level} | {entries} | {code} | {'<br>'.join(map(_proof, row.tests))} |\n"


def _ruling(clause: Clause) -> str:
    if not clause.options or clause.level != Level.GAME:
        return {"NONE": "no effect", "DERIVED": "derived"}.get(clause.ruling, "decided by the event")
    offered = dict.fromkeys(offer.name for offer in clause.options)
    return f"{clause.ruling.lower()} by {clause.decides}: {', '.join(offered)}"


def _proof(pattern: str) -> str:
    found = named(pattern)
    files = ", ".join(dict.fromkeys(tests()[name] for name in found))
    return f"`{pattern}` ({len(found)}) in {files}" if "*" in pattern else f"`{pattern}` in {files}"


if __name__ == "__main__":
    DOCUMENT.write_text(document())
