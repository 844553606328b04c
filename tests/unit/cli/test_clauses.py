"""What `caipan clauses` shows of an edition."""

from __future__ import annotations

from enum import StrEnum

import pytest
from support.command import caipan, objects
from typer.testing import CliRunner

from caipan.cli.app import app
from caipan.cli.clauses import _WORDS
from caipan.rules.clauses import Decider, Level, Moment, Raiser, RulingKind, When
from caipan.rules.edition import edition, edition_ids


def shown(*arguments: str, ends: int = 0) -> str:
    """What the command prints, errors included, as one text without the frames of a terminal."""
    done = CliRunner().invoke(app, ["clauses", *arguments], env={"COLUMNS": "200"})
    assert done.exit_code == ends, done.output
    return done.output


def example() -> list[str]:
    command = next(each for each in app.registered_commands if each.callback and each.callback.__name__ == "clauses")
    return (command.epilog or "").removeprefix("Example: caipan clauses ").split()


@pytest.mark.parametrize("edition_id", edition_ids())
def test_the_list_has_every_clause_of_the_edition(edition_id: str) -> None:
    title, *lines = shown("--edition", edition_id).splitlines()
    assert title.startswith(edition_id)
    assert len(lines) == len(edition(edition_id).clauses)
    for line, clause in zip(lines, edition(edition_id).clauses.values(), strict=True):
        assert line.startswith(clause.key)
        assert line.endswith(f"{clause.zh}  {clause.en}")


def test_the_example_of_the_help_shows_a_clause_with_all_that_an_arbiter_needs() -> None:
    assert example() == ["17.3", "--lang", "en"]
    page = caipan("clauses", *example()).stdout
    for said in (
        "CN2002 17.3  Takeback and dropped stone",
        "Reported by the opponent",
        "raised by   the opponent",
        "until       before the claimant's own next stone",
        "decided by  an arbiter",
        "RESTORE_AND_WARN  The stone goes back; one warning",
        "SET_POINTS how=ORIGINAL, WARN whom=OFFENDER",
        "CN2002 17.3 drop  A dropped stone",
        "if those asked have agreed",
        "decided by an arbiter",
        "see         CN2002 23.3",
    ):
        assert said in page
    assert "悔棋" not in page


def test_a_page_is_chinese_alone_where_that_is_asked() -> None:
    page = shown("17.4", "--lang", "zh")
    assert "先按钟" in page
    assert "警告一次" in page
    assert "裁判员" in page
    assert "one warning" not in page


def test_both_languages_stand_together_without_a_choice() -> None:
    assert "先按钟  The clock pressed before the stone is set" in shown("17.4")


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (["17.3", "drop"], "CN2002 17.3 drop  棋子掉落"),
        (["17.3 drop"], "CN2002 17.3 drop  棋子掉落"),
        (["CN2002", "17.3", "drop"], "CN2002 17.3 drop  棋子掉落"),
        (["CN2002 17.2"], "CN2002 17.2  连下两着"),
        (["17.1", "--edition", "CN1988S"], "CN1988S 17.1  连走二步"),
        (["CN1988S", "17.1"], "CN1988S 17.1  连走二步"),
        (["CN1988S 17.1"], "CN1988S 17.1  连走二步"),
        (["CN2002 17.2", "--edition", "CN1988S"], "CN1988S 17.1  连走二步"),
        (["17.4", "--edition", "KBA2024"], "CN2002 17.4  先按钟"),
        (["S0", "H"], "CN2002 handicap"),
        (["REG regime"], "CN2002 regime"),
        (["conduct"], "CN2002 conduct"),
        (["KBA2024 17.4"], "CN2002 17.4  先按钟"),
    ],
)
def test_an_id_may_be_a_number_or_name_its_matter_and_its_edition(arguments: list[str], first: str) -> None:
    assert shown(*arguments).startswith(first)


def test_several_clauses_are_shown_one_after_the_other() -> None:
    page = shown("24.1", "17.3", "drop", "--lang", "en")
    assert page.index("CN2002 24.1  What a warning costs") < page.index("CN2002 17.3 drop  A dropped stone")


def test_an_article_lists_its_clauses() -> None:
    title, *lines = shown("22", "--lang", "en").splitlines()
    assert title == "CN2002 22  Chinese competition rules of 2002"
    assert lines
    assert all(line.startswith("CN2002 22.") for line in lines)
    assert shown("17", "--edition", "CN1988S").splitlines()[1].startswith("CN1988S 17.1")


def test_a_clause_taken_over_for_what_the_text_leaves_open_says_how_it_is_cited() -> None:
    page = shown("CN2002 17.4", "--edition", "CN1988S", "--lang", "en")
    assert page.startswith("CN2002 17.4")
    assert "cited as    CN1988S 25.1" in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["17.9"], "the nearest are: 17.6, 17.5, 17.4"),
        (["CN2002", "17.9"], "the nearest are: 17.6, 17.5, 17.4"),
        (["17.3 dorp"], "17.3 drop"),
        (["18.9", "--edition", "KBA2024"], "18.2"),
        (["nonsense"], "caipan clauses --edition CN2002"),
        (["17.3", "--edition", "CN1949"], "use one of: ANCIENT, CN1988S"),
    ],
)
def test_an_unknown_id_is_wrong_usage_and_names_the_nearest(arguments: list[str], said: str) -> None:
    assert said in shown(*arguments, ends=2)


def test_json_has_all_that_the_page_has() -> None:
    takeback, dropped = objects(shown("17.3", "--json"))
    assert (takeback["key"], takeback["ruling"], takeback["decides"]) == ("CN2002 17.3", "FIXED", "ARBITER")
    assert takeback["until"] == {"window": "OWN_STONE", "ends": "OWN_STONE", "count": 1}
    assert [option["option"] for option in takeback["options"]] == ["RESTORE_AND_WARN", "DISMISS"]
    assert takeback["options"][0]["effects"] == [
        {"effect": "SET_POINTS", "how": "ORIGINAL"},
        {"effect": "WARN", "whom": "OFFENDER"},
    ]
    assert dropped["consent"] == "OPPONENT"
    assert dropped["options"][0]["when"] == ["AGREED"]
    (english,) = objects(shown("17.4", "--json", "--lang", "en"))
    assert "title_en" in english
    assert "title_zh" not in english


def test_json_lists_every_clause() -> None:
    assert [each["key"] for each in objects(shown("--json"))] == list(edition("CN2002").clauses)


@pytest.mark.parametrize("edition_id", edition_ids())
def test_every_clause_that_an_edition_brings_has_a_page(edition_id: str) -> None:
    for key, clause in edition(edition_id).clauses.items():
        if key.startswith(f"{edition_id} "):
            page = shown(key, "--edition", edition_id)
            assert clause.text_zh in page
            assert clause.text_en in page


@pytest.mark.parametrize("kind", [RulingKind, Raiser, Decider, Moment, When, Level])
def test_every_value_that_a_page_may_show_has_words(kind: type[StrEnum]) -> None:
    assert {str(value) for value in kind} - {Moment.ANY, Level.GAME} <= set(_WORDS)
