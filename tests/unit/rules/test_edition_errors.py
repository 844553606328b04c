"""An edition that cannot be used says where its file is wrong and what to do; one that differs is a new file alone."""

from __future__ import annotations

import re
from contextlib import suppress
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caipan.rules import edition as editions
from caipan.rules.clauses import Anchor
from caipan.rules.edition import edition, edition_ids, read_edition
from caipan.rules.edition_checks import CITED
from caipan.rules.effects import Reading, SetClock
from caipan.rules.forms import EditionError
from caipan.rules.pins import pin
from caipan.v1 import regulations_pb2 as reg
from caipan.v1.facts_pb2 import GameOpened

FOLDER = resources.files("caipan.rules.editions")
CN2002 = (FOLDER / "cn2002.toml").read_text("utf-8")
NUMBERS = re.findall(r'\[clauses\."([^"]+)"\]', CN2002)
RULED = [number for number in NUMBERS if edition("CN2002").clause(number).is_ruled]
OPTIONS = re.findall(r"\n\[options\.(\w+)\]", CN2002)

# Another club: three warnings lose, the second and third cost, two own moves to claim, Fischer time, time penalties.
CLUB = """
id = "CLUB2030"
base = "CN2002"
title_zh = "俱乐部规则"
title_en = "Rules of a club"
clocks = { FISCHER = { clause = "CN2002 regime", overtime = "CN2002 regime" } }

[regulations]
regime = "FISCHER"
basic_time_s = 600
increment_s = 20
warnings_to_lose = 3
superko_mode = "SITUATIONAL"

[windows.AT_ONCE]
zh = "申诉方自己下两着之前"
en = "before the claimant's second own move"
ends = "OWN_MOVE"
count = 2

[ladder]
span = "EVENT"
steps = [
  { warnings = 1, clause = "9", costs_qz = 0 },
  { warnings = 2, clause = "9", costs_qz = 2 },
  { warnings = 3, clause = "9", loses = true },
]

[options.ADD_TWO_MINUTES]
zh = "加计两分钟"
en = "Two minutes are added to the time used"
effects = [{ effect = "SET_CLOCK", how = "ADD", seconds = 120 }]

[clauses.4]
zh = "先按钟"
en = "An early press"
text_zh = "先按钟，加计两分钟。"
text_en = "An early press costs two minutes."
ruling = "FIXED"
raised_by = ["OPPONENT", "ARBITER"]
until = "AT_ONCE"
decides = "ARBITER"
options = ["ADD_TWO_MINUTES"]
opened_by = { findings = ["EARLY_PRESS"] }
auto_fixed = true
replaces = ["CN2002 17.4"]

[clauses.9]
zh = "警告"
en = "Warnings"
text_zh = "三次判负。"
text_en = "Three lose."
ruling = "DERIVED"
replaces = ["CN2002 24.1", "CN2002 24.2"]
"""


def refused(text: str, file: str = "club2030.toml") -> EditionError:
    with pytest.raises(EditionError) as told:
        read_edition(text.encode(), file)
    error = told.value
    assert error.file == file
    assert str(error).startswith(file)
    assert error.problem
    assert error.remedy
    return error


def changed(old: str, new: str) -> EditionError:
    """What is said of the club's file with one thing changed."""
    assert CLUB.count(old) == 1, f"{old!r} stands {CLUB.count(old)} times"
    return refused(CLUB.replace(old, new))


def test_an_invented_edition_is_a_file_and_no_code() -> None:
    club = read_edition(CLUB.encode(), "club2030.toml")
    pinned = reg.Regulations(warning_qz=4, warnings_to_lose=3)
    assert [club.ladder.costs_qz(warnings, pinned) for warnings in range(4)] == [0, 0, 2, 6]
    losing = club.ladder.losing()
    assert losing is not None
    assert (losing.warnings, losing.clause, club.ladder.span) == (3, "CLUB2030 9", "EVENT")
    window = club.window("CN2002 17.2")
    assert window is not None
    assert (window.ends, window.count) == (Anchor.OWN_MOVE, 2)
    assert list(club.clocks) == ["FISCHER"]
    assert club.about("17.4").options[0].option.effects == (SetClock(Reading.ADD, seconds=120),)
    assert club.about("17.2") == edition("CN2002").about("17.2")
    assert (club.defaults["increment_s"], club.defaults["komi_qz"]) == (20, 15)


def test_a_game_pins_a_new_edition_whose_file_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(editions._files(), "CLUB2030", ("club2030.toml", CLUB.encode()))
    assert "CLUB2030" in edition_ids()
    pins = pin(GameOpened(regulations=reg.Regulations(edition="CLUB2030")))
    assert (pins.regulations.regime, pins.regulations.increment_s) == (reg.REGIME_FISCHER, 20)
    assert pins.regulations.superko_mode == reg.SUPERKO_MODE_SITUATIONAL
    assert pins.edition_digest == edition("CLUB2030").digest


def test_a_variant_of_a_variant_inherits_through_both() -> None:
    text = 'id = "CLUB"\nbase = "KBA2024"\ntitle_zh = "x"\ntitle_en = "x"\n'
    club = read_edition(text.encode(), "club.toml")
    assert club.cite("24.2") == "KBA2024 19"
    assert club.cite("11") == "TERR65 komi"
    assert club.clauses == edition("KBA2024").clauses
    assert club.digest != edition("KBA2024").digest


@pytest.mark.parametrize(
    ("old", "new", "place", "field", "remedy"),
    [
        ('id = "CLUB2030"', 'id = "CLUB"', "", "id", 'id = "CLUB2030"'),
        ('base = "CN2002"', 'base = "CN2003"', "", "base", "did you mean CN2002?"),
        ('base = "CN2002"\n', "", "", "base", "CN2002"),
        ('base = "CN2002"', 'base = "CLUB2030"', "", "base", "use one of"),
        ('title_zh = "俱乐部规则"\n', "", "", "title_zh", "a string"),
        ('title_en = "Rules of a club"', "title_en = 3", "", "title_en", "a string"),
        ("[regulations]", "[regulation]", "", "regulation", "did you mean regulations?"),
        ("increment_s = 20", "increments_s = 20", "regulations", "increments_s", "did you mean increment_s?"),
        ("increment_s = 20", 'increment_s = "20"', "regulations", "increment_s", "int"),
        ("increment_s = 20", "increment_s = true", "regulations", "increment_s", "int"),
        ("increment_s = 20", "announce = [10]", "regulations", "announce", "leave it to the event"),
        ("increment_s = 20", 'edition = "X"', "regulations", "edition", "leave it to the event"),
        ('"SITUATIONAL"', '"SITUATIVE"', "regulations", "superko_mode", "did you mean SITUATIONAL?"),
        ('regime = "FISCHER"', 'regime = "FISHER"', "regulations", "regime", "did you mean FISCHER?"),
        ("{ FISCHER =", "{ FISHER =", "clocks", "FISHER", "did you mean FISCHER?"),
        ('overtime = "CN2002 regime"', 'overtime = "CN2002 99"', "clocks.FISCHER", "overtime", "CN2002 9"),
        ('ends = "OWN_MOVE"', 'ends = "NEXT_MOVE"', "windows.AT_ONCE", "ends", "OWN_MOVE"),
        ("count = 2", "count = 0", "windows.AT_ONCE", "count", "from 1"),
        ("count = 2", 'lifted = "NO"', "windows.AT_ONCE", "lifted", "use one of"),
        ("{ warnings = 2,", "{ warnings = 1,", "ladder", "steps", "above the one before"),
        ("{ warnings = 2,", "{ warnings = 4,", "ladder", "steps", "above the one before"),
        ("{ warnings = 1,", "{ warnings = 0,", "ladder", "steps", "from 1"),
        ('"9", costs_qz = 2', '"9", loses = true', "ladder", "steps", "last"),
        ('"9", costs_qz = 2', '"7", costs_qz = 2', "ladder", "steps", "use one of"),
        ("warnings_to_lose = 3", "warnings_to_lose = 2", "ladder", "steps", "one number"),
        ("warnings_to_lose = 3", "caution_conversion = true\nwarnings_to_lose = 3", "ladder", "cautions", "how many"),
        ('effect = "SET_CLOCK"', 'effect = "SET_CLOKC"', "options.ADD_TWO_MINUTES.effects[0]", "effect", "SET_CLOCK?"),
        ('effect = "SET_CLOCK", ', "", "options.ADD_TWO_MINUTES.effects[0]", "effect", "WARN"),
        ('how = "ADD"', 'how = "LESS"', "options.ADD_TWO_MINUTES.effects[0]", "how", "ADD"),
        (", seconds = 120", "", "options.ADD_TWO_MINUTES.effects[0]", "seconds", "above 0"),
        ("seconds = 120", "minutes = 2", "options.ADD_TWO_MINUTES.effects[0]", "minutes", "seconds"),
        ("seconds = 120", "seconds = 120.0", "options.ADD_TWO_MINUTES.effects[0]", "seconds", "whole number"),
        (
            'effects = [{ effect = "SET_CLOCK", how = "ADD", seconds = 120 }]',
            "effects = 120",
            "options.ADD_TWO_MINUTES",
            "effects",
            "list",
        ),
        ("options.ADD_TWO_MINUTES]", "options.WARN]", "options", "WARN", "another name"),
        ('["ADD_TWO_MINUTES"]', '["ADD_TWO_MINUTE"]', "clauses.4", "options[0]", "did you mean ADD_TWO_MINUTES?"),
        ('["ADD_TWO_MINUTES"]', '["WARN"]', "options", "ADD_TWO_MINUTES", "offer it"),
        ('["ADD_TWO_MINUTES"]', '["ADD_TWO_MINUTES", "WARN"]', "clauses.4", "options", "`when`"),
        ('["ADD_TWO_MINUTES"]', "[]", "clauses.4", "options", "what may be ruled"),
        ('["EARLY_PRESS"]', '["EARLY"]', "clauses.4.opened_by", "findings", "EARLY_PRESS"),
        ('until = "AT_ONCE"', 'until = "ONCE"', "clauses.4", "until", "AT_ONCE"),
        ('until = "AT_ONCE"\n', "", "clauses.4", "until", "window"),
        ('["OPPONENT", "ARBITER"]', '["OPONENT"]', "clauses.4", "raised_by[0]", "did you mean OPPONENT?"),
        ('decides = "ARBITER"', 'decides = "REFEREE"', "clauses.4", "decides", "ARBITER"),
        ('ruling = "FIXED"', 'ruling = "CHOSEN"', "clauses.4", "auto_fixed", "fixed"),
        ('ruling = "FIXED"', 'ruling = "NONE"', "clauses.4", "options", "leave them out"),
        ("auto_fixed = true", 'auto_fixed = "yes"', "clauses.4", "auto_fixed", "true or false"),
        ("auto_fixed = true", "limit = { times = 1, seconds = 2 }", "clauses.4.limit", "limit", "one of"),
        ("auto_fixed = true", 'limit = { key = "late_limit" }', "clauses.4.limit", "key", "late_limit_s"),
        ('["CN2002 17.4"]', '["CN2002 17.7"]', "clauses.4", "replaces", "CN2002 17"),
        ('["CN2002 17.4"]', '["CN2002 24.1"]', "", "clauses", "one clause"),
        ("[clauses.4]", '[clauses."4 press"]', 'clauses."4 press"', "", "add the clause '4'"),
        ("[clauses.4]", "[[clauses.4]]", "clauses.4", "", "keys and values"),
        ('title_en = "Rules', 'without = ["CN2002 7.9"]\ntitle_en = "Rules', "", "without", "CN2002 7"),
        ('title_en = "Rules', 'by_event = ["regime"]\ntitle_en = "Rules', "", "by_event", "leave one"),
        ('title_en = "Rules', 'by_event = ["regim"]\ntitle_en = "Rules', "", "by_event", "regime"),
        ("[clauses.9]", '[gaps]\nclause = "3"\ncovers = []\n[clauses.9]', "gaps", "clause", "use one of"),
        ("[clauses.9]", '[gaps]\nclause = "9"\ncovers = ["9"]\n[clauses.9]', "gaps", "covers", "CN2002 9"),
        (
            "[clauses.9]",
            "[counting_by_submode]\nQING = 'AREA'\n[clauses.9]",
            "counting_by_submode",
            "QING",
            "MING_QING",
        ),
        ('ruling = "DERIVED"', 'ruling = "DERIVED"\nsee = ["10"]', "clauses.9", "see", "use one of"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place_and_a_remedy(
    old: str, new: str, place: str, field: str, remedy: str
) -> None:
    error = changed(old, new)
    assert (error.place, error.field) == (place, field)
    assert remedy in error.remedy


def test_an_option_that_needs_consent_or_a_limit_wants_its_clause_to_have_it() -> None:
    asked = '[{ name = "ADD_TWO_MINUTES", when = ["%s"] }]'
    assert changed('["ADD_TWO_MINUTES"]', asked % "AGREED").field == "consent"
    assert changed('["ADD_TWO_MINUTES"]', asked % "OVER_LIMIT").field == "limit"
    assert changed('["ADD_TWO_MINUTES"]', asked % "SOMETIMES").field == "when[0]"
    wrong = '[{ name = "ADD_TWO_MINUTES", regulation = { regime = "SLOW" } }]'
    assert changed('["ADD_TWO_MINUTES"]', wrong).place == "clauses.4.options[0].regulation"


def test_what_is_no_toml_or_no_text_is_told_so() -> None:
    assert "line 3" in refused('id = "CLUB2030"\nbase = "CN2002"\ntitle_zh = x\n').problem
    with pytest.raises(EditionError, match="UTF-8"):
        read_edition(b"\xff", "club2030.toml")


def test_bases_that_lead_back_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, base in (("THERE", "BACK"), ("BACK", "THERE")):
        text = f'id = "{name}"\nbase = "{base}"\ntitle_zh = "x"\ntitle_en = "x"\n'
        monkeypatch.setitem(editions._files(), name, (f"{name.lower()}.toml", text.encode()))
    with pytest.raises(EditionError, match="leads back: THERE from BACK from THERE"):
        edition("THERE")
    assert refused(f'base = "CN2002"\n{CN2002}', "cn2002.toml").field == "base"


def test_a_loss_names_who_has_lost() -> None:
    error = changed('[{ effect = "SET_CLOCK", how = "ADD", seconds = 120 }]', '[{ effect = "RESULT", kind = "LOSS" }]')
    assert (error.place, error.field) == ("options.ADD_TWO_MINUTES.effects[0]", "whom")


def block(number: str) -> tuple[int, int]:
    """Where a clause of CN2002 stands in its file."""
    start = CN2002.index(f'[clauses."{number}"]\n')
    end = CN2002.find("\n[", start + 1)
    return start, end if end > 0 else len(CN2002)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(NUMBERS), st.sampled_from(["zh", "en", "text_zh", "text_en", "ruling"]))
def test_every_clause_needs_its_titles_texts_and_kind(number: str, key: str) -> None:
    start, end = block(number)
    without = re.sub(rf"\n{key} = .*", "", CN2002[start:end], count=1)
    error = refused(CN2002[:start] + without + CN2002[end:], "cn2002.toml")
    assert number in error.place
    assert error.field == key


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(RULED), st.sampled_from(["raised_by", "until", "decides"]), st.booleans())
def test_every_clause_that_a_person_decides_needs_who_may_raise_it_and_who_decides(
    number: str, key: str, misspelt: bool
) -> None:
    start, end = block(number)
    old = re.search(rf"\n{key} = .*", CN2002[start:end])
    assert old
    wrong = old[0].replace('"', '"X', 1) if misspelt else ""
    error = refused(CN2002[:start] + CN2002[start:end].replace(old[0], wrong, 1) + CN2002[end:], "cn2002.toml")
    assert number in error.place
    assert error.field.split("[")[0] == key


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(set(OPTIONS) - {"OTHER"})), st.sampled_from(["misspelt", "none", "more"]))
def test_every_option_needs_effects_of_the_closed_set(name: str, how: str) -> None:
    start = CN2002.index(f"[options.{name}]\n")
    end = CN2002.index("\n[", start)
    body = CN2002[start:end]
    if how == "misspelt":
        wrong = body.replace('effect = "', 'effect = "NO_', 1)
    elif how == "none":
        wrong = body[: body.index("effects =")]
    else:
        wrong = body.replace('effect = "', 'hard = true, effect = "', 1)
    error = refused(CN2002[:start] + wrong + CN2002[end:], "cn2002.toml")
    assert error.place.startswith(f"options.{name}")
    assert error.field == {"misspelt": "effect", "none": "effects", "more": "hard"}[how]


KEYED = [match.span(1) for match in re.finditer(r"^[a-z_]+ = (.*[^\[{])$", CLUB, re.MULTILINE)]
VALUES = ["3", "-1", "1.5", "true", '""', '"X"', "[]", "{}", "[3]", '["X"]', "[[]]", "[{}]", "{ x = 1 }", "2030-01-01"]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(KEYED), st.sampled_from(VALUES))
def test_a_value_of_any_type_loads_or_is_an_edition_error(span: tuple[int, int], value: str) -> None:
    text = CLUB[: span[0]] + value + CLUB[span[1] :]
    with suppress(EditionError):
        read_edition(text.encode(), "club2030.toml")


# What the fold needs


def cited_in_the_code() -> set[str]:
    """Numbers of clauses that the fold names."""
    source = "".join(file.read_text("utf-8") for file in Path(editions.__file__).parent.glob("*.py"))
    return set(re.findall(r'(?:cite|about)\("([^"]+)"\)', source))


def test_every_clause_that_the_fold_names_is_one_that_an_edition_must_have() -> None:
    assert cited_in_the_code() <= {*CITED}


@pytest.mark.parametrize("number", CITED)
def test_an_edition_without_a_clause_that_games_are_judged_by_is_refused(number: str) -> None:
    error = refused(f'{HEAD}without = ["CN2002 {number}"]\n')
    assert number in str(error)


HEAD = 'id = "CLUB2030"\nbase = "CN2002"\ntitle_zh = "x"\ntitle_en = "x"\n'


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[regulations]\nkomi_qz = 99999999999\n", "komi_qz"),
        ("[regulations]\nmax_step_s = -1\n", "max_step_s"),
        ("[regulations]\nlate_limit_s = -1\n", "late_limit_s"),
        ("[regulations]\nlate_factor = 3000000000\n", "late_factor"),
        ('[regulations]\nzuozi = "B Z99"\n', "zuozi"),
        ('[regulations]\nzuozi = "B D4 W D4"\n', "zuozi"),
        ('[ladder]\nsteps = [{ warnings = 2, clause = "CN2002 24.2", loses = true, costs_qz = -4 }]\n', "costs_qz"),
        ('[ladder]\ncautions = -1\nsteps = [{ warnings = 2, clause = "CN2002 24.2", loses = true }]\n', "cautions"),
        ('[options.X]\nzh = "x"\nen = "x"\neffects = [{ effect = "DISMISS" }, { effect = "WARN" }]\n', "effects"),
        (
            '[options.X]\nzh = "x"\nen = "x"\neffects = [{ effect = "RESULT", kind = "DRAW" },'
            ' { effect = "RESULT", kind = "REPLAY" }]\n',
            "effects",
        ),
        ("[[announcements]]\nunit_s = 60\nearly = [30]\nlast = [30]\ncount_from = 61\n", "count_from"),
        (2 * "[[announcements]]\nunit_s = 60\nearly = [30]\nlast = [30]\ncount_from = 51\n", "announcements"),
    ],
)
def test_a_value_by_which_no_game_can_be_judged_is_refused_when_the_edition_is_loaded(text: str, field: str) -> None:
    assert field in str(refused(HEAD + text))
