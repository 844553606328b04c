"""Editions as data: every clause is there, with who may raise it, who decides, and effects from the closed set."""

from __future__ import annotations

import hashlib
from importlib import resources
from typing import get_args

import pytest

from caipan.rules.clauses import Anchor, Clause, Counting, Level, RulingKind
from caipan.rules.edition import Edition, edition, edition_ids
from caipan.rules.effects import Effect, SetResult, Warn
from caipan.v1 import regulations_pb2 as reg
from caipan.v1.common_pb2 import ROLE_ARBITER, ROLE_CHIEF
from caipan.v1.rulings_pb2 import Effect as EffectMessage

ALL = ("ANCIENT", "CN1988S", "CN2002", "KBA2024", "KBA2025_DOM", "KBA2025_INTL", "TERR65")

# The rows of the clause table (rules 7.5) of CN2002, as the keys under which the edition has them.
ROWS = """
1|2.1|2.2|2.3|2.4|2.5|3|4.1|4.2|5|6|7.1|7.2|7.3|8|9.1|9.2|9.3|9.4|10.1|10.2|10.3|11|handicap|12.0|12.1|12.2|12.3|
12.3 quick|12.4|12.4(1)|12.4(2)|12.4(3)|12.4(4)|12.4(5)|12.4(6)|12.4(7)|12.5|regime|13.1|13.2|14.1|14.2|15.1|15.2|15.3|
15.4|15.5|15.6|15.7|15.8|16.1|16.2|16.2 query|16.3|16.4|16.5|16.6|16.7|17.1|17.2|17.3|17.3 drop|17.4|17.5|
17.5 deliberate|17.5 lot|17.6|17.6 own|18.1|18.2|18.3|19|20.0|20.1|20.2|20.3|21.1|21.2|21.3|21.4|22.1|22.1 resume|22.2|
22.3|22.4|22.5|22.6|22.7|22.8|22.8 one-sided|22.9|22.9 arbiter|23.1|23.2|23.3|23.4|23.5|23.6|23.7|23.7 look|23.7 others|
23.8|24.1|24.2|25.1|25.2|25.3|26.1|26.2|26.3|26.4|26.5|26.6|27.0|27.1|27.2|28.1|28.2|28.3|28.4|29.1|29.2|29.3|30.1|30.2|
30.3|30.4|30.5|30.6|30.7|30.8|30.9|31.1|31.2|31.3|31.4|31.5|32|33
""".replace("\n", "").split("|")
OLDER = (
    "7|8|12|13|14|15.4|16.2|16.3|16.4|17.1|17.2|17.3|17.4|18|19|20.1|20.2|20.3|20.4|21|22|23.1|23.2|23.3|23.4|23.5|23.6"
)
OTHERS = [
    *(f"CN1988S {number}" for number in f"{OLDER}|24.1|24.2|24.3|25.1|25.2".split("|")),
    *(f"KBA2024 {number}" for number in ("17", "18.1", "18.2", "19")),
    *("TERR65 count", "TERR65 komi", "ANCIENT setup", "ANCIENT order", "ANCIENT tax", "ANCIENT roads"),
]


def options(text: Edition, key: str, *facts: str, **regulations: str) -> list[str]:
    """The names of what a case lists, a plain dismissal aside."""
    asked = reg.Regulations(**regulations) if regulations else None  # type: ignore[arg-type]
    return [offer.name for offer in text.options(key, facts, asked) if offer.name != "DISMISS"]


def every_clause() -> list[tuple[Edition, Clause]]:
    return [(edition(name), clause) for name in edition_ids() for clause in edition(name).clauses.values()]


def test_the_seven_editions_are_there() -> None:
    assert edition_ids() == ALL


def test_an_unknown_edition_or_clause_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        edition("CN1949")
    with pytest.raises(KeyError):
        edition("CN2002").clause("99")
    with pytest.raises(KeyError):
        edition("CN1988S").about("7.3")


@pytest.mark.parametrize("row", ROWS)
def test_cn2002_has_the_clause_of_every_row(row: str) -> None:
    clause = edition("CN2002").clause(row)
    assert clause.key == f"CN2002 {row}"
    assert clause.id == {"handicap": "S0 H", "regime": "REG regime"}.get(row, f"CN2002 {row.split(' ')[0]}")


@pytest.mark.parametrize("key", OTHERS)
def test_the_other_editions_have_their_own_clauses(key: str) -> None:
    assert edition(key.split(" ")[0]).clause(key).id == key


@pytest.mark.parametrize("edition_id", ALL)
def test_every_clause_has_titles_and_a_text_in_both_languages(edition_id: str) -> None:
    for clause in edition(edition_id).clauses.values():
        assert all((clause.zh, clause.en, clause.text_zh, clause.text_en)), clause.key


@pytest.mark.parametrize("edition_id", ALL)
def test_every_option_that_a_person_may_choose_has_effects_of_the_closed_set(edition_id: str) -> None:
    closed = set(get_args(Effect))
    for clause in edition(edition_id).clauses.values():
        if clause.is_ruled:
            assert clause.raised_by
            assert clause.decides
            assert any(offer.option.dismisses for offer in clause.options), clause.key
        for offer in clause.options:
            assert offer.option.free or {type(effect) for effect in offer.option.effects} <= closed
            assert offer.option.free or offer.option.effects, (clause.key, offer.name)


def test_the_closed_set_is_that_of_the_published_effects() -> None:
    published = {field.name.upper() for field in EffectMessage.DESCRIPTOR.fields}
    assert {effect.tag for effect in get_args(Effect)} == published


def test_cn2002_is_digested_as_its_file_and_a_variant_with_its_base() -> None:
    folder = resources.files("caipan.rules.editions")
    assert edition("CN2002").digest == hashlib.sha256((folder / "cn2002.toml").read_bytes()).digest()
    base, own = edition("TERR65").digest, (folder / "kba2024.toml").read_bytes()
    assert edition("KBA2024").digest == hashlib.sha256(base + own).digest()
    assert len({edition(name).digest for name in ALL}) == len(ALL)


def test_the_fold_cites_each_edition_by_its_own_clause_or_by_the_one_it_keeps() -> None:
    cites = {name: edition(name).cite for name in ALL}
    assert cites["CN2002"]("17.2") == cites["TERR65"]("17.2") == cites["KBA2024"]("17.2") == "CN2002 17.2"
    assert cites["CN1988S"]("17.2") == "CN1988S 17.1"
    assert cites["CN1988S"]("22.5") == cites["CN1988S"]("12.4") == "CN1988S 23.5"
    assert cites["KBA2024"]("24.2") == "KBA2024 19"
    assert cites["KBA2025_DOM"]("24.2") == "KBA2025_DOM 19"
    assert cites["KBA2025_INTL"]("22.6") == "KBA2025_INTL 18.1"
    assert cites["KBA2024"]("24.1") == "KBA2024 18.2"
    assert cites["ANCIENT"]("11") == "ANCIENT komi"


def test_what_the_older_text_leaves_open_is_cited_as_25_1_with_the_ruling_of_cn2002() -> None:
    text = edition("CN1988S")
    press = text.about("17.4")
    assert (press.id, press.reason, press.key) == ("CN1988S 25.1", "CN2002 17.4", "CN2002 17.4")
    assert options(text, press.key) == ["WARN"]
    assert press in text.cited("CN1988S 25.1")
    assert text.about("2.3").id == "CN2002 2.3"


@pytest.mark.parametrize(
    ("clause", "first", "rest"),
    [
        ("17.2", "VOID_MOVE", ["WARN"]),
        ("17.3", "SET_POINTS", ["WARN"]),
        ("17.4", "WARN", []),
        ("18.1", "SET_POINTS", ["WARN"]),
        ("18.2", "SET_POINTS", ["WARN"]),
        ("18.3", "VOID_MOVE", ["PASS", "WARN"]),
        ("19", "VOID_MOVE", ["PASS"]),
        ("22.6", "WARN", []),
        ("12.4", "RESULT", []),
        ("12.4(4)", "ASSIGN_POINTS", []),
        ("16.2", "SET_CLOCK", []),
    ],
)
def test_a_fixed_ruling_is_the_one_thing_listed(clause: str, first: str, rest: list[str]) -> None:
    text = edition("CN2002")
    assert text.clause(clause).ruling == RulingKind.FIXED
    ruled, dismissed = text.options(clause)
    assert [effect.tag for effect in ruled.option.effects] == [first, *rest]
    assert dismissed.option.dismisses


def test_a_restart_sets_persons_stones_turn_and_clocks() -> None:
    assert options(edition("CN2002"), "17.1") == ["SWAP_PLAYERS", "RESTART", "KEEP"]
    restart = edition("CN2002").clause("17.1").options[1].option
    assert [effect.tag for effect in restart.effects] == ["SET_COLOURS", "SET_POINTS", "SET_TURN", "SET_CLOCK"]


def test_a_late_claim_leaves_a_dismissal_or_the_position_set_right() -> None:
    text = edition("CN2002")
    assert options(text, "17.1", "LATE") == ["KEEP"]
    assert options(text, "17.2", "LATE") == []
    assert options(text, "18.1", "LATE") == options(text, "18.2", "LATE") == ["CORRECT_POSITION"]
    assert options(text, "18.1") == ["CORRECT_AND_WARN"]
    assert options(text, "20.3", "LATE", repetition_policy="REPETITION_POLICY_DRAW") == []


def test_consent_opens_one_option_and_its_want_those_of_the_chief() -> None:
    text = edition("CN2002")
    assert options(text, "17.5", "AGREED") == ["AGREED_POINT"]
    five = ["MOVE_TO_REASONABLE_POINT", "MOVED_STONE_VALID", "DRAW", "REPLAY", "BOTH_LOSE"]
    assert options(text, "17.5", "NOT_AGREED") == five
    assert options(text, "17.6", "NOT_AGREED") == ["DRAW", "REPLAY", "BOTH_LOSE"]
    four = ["ORIGINAL_POINT", "MOVED_STONE_VALID", "DRAW", "REPLAY"]
    assert options(edition("CN1988S"), "17.3", "NOT_AGREED") == four
    (agreed, *_), (alone, *_) = text.options("17.3 drop", ["AGREED"]), text.options("17.3 drop", ["NOT_AGREED"])
    assert agreed.name == alone.name == "PICK_UP_FREE"
    assert text.required_role("17.3 drop", agreed) == ROLE_ARBITER
    assert text.required_role("17.3 drop", alone) == ROLE_CHIEF


@pytest.mark.parametrize(
    ("policy", "listed"),
    [
        ("FORBID", ["VOID_AND_TURN", "VOID_TURN_AND_WARN"]),
        ("NO_RESULT", ["NO_RESULT"]),
        ("DRAW", ["DRAW"]),
        ("EXTRA_GAME", ["REPLAY"]),
    ],
)
def test_a_long_cycle_is_ruled_as_the_regulations_say(policy: str, listed: list[str]) -> None:
    assert options(edition("CN2002"), "20.3", repetition_policy=f"REPETITION_POLICY_{policy}") == listed


def test_a_phone_warns_once_then_loses_and_in_a_later_game_either() -> None:
    text = edition("CN2002")
    assert options(text, "23.7", "FIRST") == ["WARN"]
    assert options(text, "23.7", "AGAIN_IN_GAME") == ["LOSS"]
    assert options(text, "23.7", "AGAIN_IN_EVENT") == ["LOSS", "WARN"]
    assert options(text, "23.7 look") == ["LOSS"]


def test_overtime_in_the_last_minute_is_a_pass_only_on_application_and_never_by_the_older_text() -> None:
    assert options(edition("CN2002"), "22.5") == ["LOSS"]
    assert options(edition("CN2002"), "22.5", "APPLIED") == ["LOSS", "PASS"]
    assert options(edition("CN1988S"), "23.5", "APPLIED") == ["LOSS"]


def test_a_permission_to_leave_is_listed_once_a_game() -> None:
    assert options(edition("CN2002"), "22.7", "WITHIN_LIMIT") == ["PERMIT_LEAVE", "REFUSE"]
    assert options(edition("CN2002"), "22.7", "OVER_LIMIT") == ["REFUSE"]


def test_a_takeback_under_the_older_text_has_two_rulings_once_the_opponent_has_moved() -> None:
    text = edition("CN1988S")
    assert options(text, "17.2", "UNANSWERED") == ["RESTORE_AND_WARN"]
    assert options(text, "17.2", "ANSWERED") == ["WARN", "RESTORE_AND_WARN"]


CHIEFS = "12.4(4)|12.4(6)|12.4(7)|15.5|17.3 drop|17.5|17.5 deliberate|17.6|22.8 one-sided|22.9 arbiter|30.3|30.6|23.1"


@pytest.mark.parametrize("clause", CHIEFS.split("|"))
def test_the_powers_of_the_chief_are_the_chiefs(clause: str) -> None:
    text = edition("CN2002")
    last = text.clause(clause).options[-2]
    assert text.required_role(clause, last) == ROLE_CHIEF


def test_regulations_may_give_a_power_of_the_chief_to_another_role() -> None:
    text = edition("CN2002")
    delegated = reg.Regulations(required_role=[reg.ClauseRole(clause="CN2002 17.5", role=ROLE_ARBITER)])
    offer = text.options("17.5", ["NOT_AGREED"])[0]
    assert text.required_role("17.5", offer, delegated) == ROLE_ARBITER
    assert text.required_role("17.5", offer) == ROLE_CHIEF


def test_only_an_opponent_reports_a_takeback_and_only_before_the_own_next_stone() -> None:
    clause, window = edition("CN2002").clause("17.3"), edition("CN2002").window("17.3")
    assert clause.raised_by == ("OPPONENT",)
    assert window is not None
    assert (window.ends, window.count) == (Anchor.OWN_STONE, 1)


def test_windows_end_where_the_clauses_say_and_regulations_may_lift_the_general_one() -> None:
    text = edition("CN2002")
    ends = {key: text.window(key) for key in ("16.3", "17.1", "17.5", "16.4 recheck", "23.1")}
    assert {key: (w.ends, w.count) for key, w in ends.items() if w} == {
        "16.3": (Anchor.OWN_MOVE, 1),
        "17.1": (Anchor.MOVE_NUMBER, 10),
        "17.5": (Anchor.GAME_END, 1),
        "16.4 recheck": (Anchor.BOTH_SIGNED, 1),
        "23.1": (Anchor.NEVER, 1),
    }
    lifted = text.window("16.3", reg.Regulations(claim_window=reg.CLAIM_WINDOW_NONE))
    assert lifted is not None
    assert lifted.ends == Anchor.GAME_END
    assert text.window("2.2") is None


def test_warnings_are_given_by_the_clauses_of_the_table_and_no_others() -> None:
    table = [
        "17.2",
        "17.3",
        "17.4",
        "18.1",
        "18.2",
        "18.3",
        "22.6",
        "23.3",
        "23.4",
        "23.5",
        "23.7",
        "23.8",
    ]  # rules 4.1
    optional = ["12.4(2)", "12.4(7)", "20.2", "20.3", "conduct"]
    warning = {
        clause.key.removeprefix("CN2002 ")
        for clause in edition("CN2002").clauses.values()
        if any(isinstance(effect, Warn) for offer in clause.options for effect in offer.option.effects)
    }
    assert warning == {*table, *optional}


def test_both_lose_under_the_clauses_that_say_so() -> None:
    both = {
        clause.id
        for clause in edition("CN2002").clauses.values()
        for offer in clause.options
        if SetResult("BOTH_LOSE") in offer.option.effects  # type: ignore[arg-type]
    }
    assert both == {f"CN2002 {number}" for number in ("17.5", "17.6", "22.3", "23.1", "24.2")}
    assert not any(offer.name == "BOTH_LOSE" for offer in edition("CN1988S").clause("17.3").options)


def test_what_the_service_may_apply_by_itself_is_one_fixed_ruling_for_each_case() -> None:
    for text, clause in every_clause():
        if clause.auto_fixed:
            assert clause.ruling == RulingKind.FIXED
            for facts in (["WITHIN_LIMIT"], ["OVER_LIMIT"]):
                assert len(options(text, clause.key, *facts)) <= 1


@pytest.mark.parametrize(
    ("edition_id", "counting", "komi", "first", "cost", "points", "lose", "captures_timed", "passes"),
    [
        ("CN2002", "AREA", 15, 1, 4, 0, 2, True, True),
        ("CN1988S", "AREA", 15, 1, 0, 0, 2, False, False),
        ("TERR65", "TERRITORY", 13, 1, 0, 0, 2, True, True),
        ("ANCIENT", "GROUP_TAX", 0, 2, 0, 0, 2, True, True),
        ("KBA2024", "TERRITORY", 13, 1, 0, 2, 2, True, True),
        ("KBA2025_DOM", "TERRITORY", 13, 1, 0, 2, 2, True, True),
        ("KBA2025_INTL", "TERRITORY", 13, 1, 0, 0, 0, True, True),
    ],
)
def test_the_parameters_of_each_edition(
    edition_id: str,
    counting: str,
    komi: int,
    first: int,
    cost: int,
    points: int,
    lose: int,
    captures_timed: bool,
    passes: bool,
) -> None:
    text = edition(edition_id)
    keys = ("komi_qz", "warning_qz", "warning_points", "warnings_to_lose")
    assert text.counting == counting
    assert [text.defaults[key] for key in keys] == [komi, cost, points, lose]
    assert (text.first_to_move, text.captures_timed, text.two_passes_end) == (first, captures_timed, passes)


def test_what_differs_between_editions_beyond_the_table() -> None:
    assert edition("CN1988S").defaults["late_factor"] == 1
    assert "late_factor" not in edition("TERR65").defaults
    assert edition("KBA2024").defaults["caution_conversion"]
    assert not edition("KBA2025_INTL").defaults["caution_conversion"]
    assert edition("KBA2025_DOM").defaults["caution_conversion"]
    assert not edition("KBA2025_DOM").defaults["offboard_accumulation"]
    lid = "KBA2024 18.1 prisoners"
    assert [name for name in ALL if lid in edition(name).clauses] == ["KBA2024", "KBA2025_DOM"]
    assert edition("KBA2024").clause(lid).offboard
    assert options(edition("KBA2025_INTL"), "18.1 prisoners") == ["ADMONISH"]


def test_the_older_game_is_counted_by_its_submode() -> None:
    text = edition("ANCIENT")
    assert text.counting_for(reg.Regulations(ancient_submode=reg.ANCIENT_SUBMODE_MING_QING)) == Counting.GROUP_TAX
    assert text.counting_for(reg.Regulations(ancient_submode=reg.ANCIENT_SUBMODE_TANG_SONG)) == Counting.ROADS
    assert text.counting_for(reg.Regulations()) == Counting.GROUP_TAX
    assert edition("CN2002").counting_for(reg.Regulations()) == Counting.AREA


def test_a_ladder_says_what_warnings_cost_and_when_they_lose() -> None:
    zi, two_mu = reg.Regulations(warning_qz=4), reg.Regulations(warning_points=2)
    ladder = edition("CN2002").ladder
    assert [ladder.costs_qz(warnings, zi) for warnings in range(4)] == [0, 4, 8, 12]
    assert edition("KBA2024").ladder.costs_points(2, two_mu) == 4
    losing = {name: edition(name).ladder.losing() for name in ALL}
    assert {name: step.clause for name, step in losing.items() if step} == {
        "CN2002": "CN2002 24.2",
        "TERR65": "CN2002 24.2",
        "ANCIENT": "CN2002 24.2",
        "CN1988S": "CN1988S 25.2",
        "KBA2024": "KBA2024 19",
        "KBA2025_DOM": "KBA2025_DOM 19",
    }
    assert edition("KBA2024").ladder.cautions == 2


def test_each_time_system_has_its_clause_and_the_one_on_overtime() -> None:
    clocks = edition("CN2002").clocks
    assert (clocks["BYOYOMI"].clause, clocks["BYOYOMI"].overtime) == ("CN2002 12.3", "CN2002 22.5")
    assert {edition("CN2002").clause(clocks[name].clause).id for name in ("FISCHER", "CANADIAN")} == {"REG regime"}
    older = edition("CN1988S").clocks
    assert {older[name].overtime for name in ("BYOYOMI", "ABSOLUTE", "STAGE", "BASIC")} == {"CN1988S 23.5"}


def test_clauses_of_a_tournament_and_of_appeals_are_marked() -> None:
    text = edition("CN2002")
    marked = {key: text.clause(key).level for key in ("17.2", "23.6", "27.1", "28.2", "33")}
    assert list(marked.values()) == [Level.GAME, Level.TOURNAMENT, Level.TOURNAMENT, Level.TOURNAMENT, Level.APPEAL]


def test_consequences_are_found_in_the_edition_itself() -> None:
    assert [clause.key for clause in edition("CN2002").see("2.4")] == ["CN2002 17.3", "CN2002 17.5"]
    assert [clause.key for clause in edition("CN1988S").see("CN2002 2.4")] == ["CN1988S 17.2", "CN1988S 17.3"]
