"""Every clause has its row, every row its entry in an edition, its code and its tests; docs/clauses.md says so."""

from __future__ import annotations

from importlib import import_module

import pytest
from make_document import DOCUMENT, Row, document, named, rows
from support.play import Play

from caipan.rules.clauses import Level, RulingKind
from caipan.rules.edition import edition, edition_ids

ROWS = rows()
BY_OTHER_FOLDS = ("tournament", "appeal")


def of(row: Row) -> str:
    return row.id


@pytest.mark.parametrize("row", ROWS, ids=of)
def test_a_row_has_tests_that_exist(row: Row) -> None:
    assert row.tests or row.level in BY_OTHER_FOLDS
    assert [pattern for pattern in row.tests if not named(pattern)] == []


@pytest.mark.parametrize("row", ROWS, ids=of)
def test_a_row_has_an_entry_in_an_edition_and_code_that_exists(row: Row) -> None:
    assert row.clauses
    for name in row.code:
        module, _, path = name.partition(".")
        found = import_module(f"caipan.rules.{module}")
        for attribute in path.split(".") if path else ():
            found = getattr(found, attribute)


@pytest.mark.parametrize("edition_id", edition_ids())
def test_every_clause_of_an_edition_has_a_row(edition_id: str) -> None:
    keys = {key for row in ROWS for key in row.keys}
    assert {key for key in edition(edition_id).clauses if key.startswith(f"{edition_id} ")} <= keys


@pytest.mark.parametrize("row", ROWS, ids=of)
def test_only_what_a_game_does_not_decide_is_left_to_other_folds(row: Row) -> None:
    levels = {clause.level for clause in row.clauses}
    assert (row.level in BY_OTHER_FOLDS) <= (Level.GAME not in levels)


def test_an_equipment_row_has_no_effect() -> None:
    """CN2002 12.4(1), 32: nothing can be ruled under them, and no fact touches them."""
    text = edition("CN2002")
    for number in ("12.4(1)", "32"):
        assert (text.clause(number).ruling, text.clause(number).options) == (RulingKind.NONE, ())
    play = Play(officials=[("arbiter", "ARBITER")]).rule("WARN", "CN2002 32", case="", against=1)
    assert play.reason.startswith("clause: under CN2002 32 nothing is ruled")


def test_the_document_is_that_of_the_rows() -> None:
    assert DOCUMENT.read_text() == document(), "stale: run make clauses-doc"
