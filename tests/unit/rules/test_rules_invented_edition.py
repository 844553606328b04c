"""An edition that nobody wrote a line of code for: another ladder, claim window and clock, other options, counting."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.boards import wall
from support.editions import invented
from support.events import actor, t
from support.play import Play, refereed, timed

from caipan.rules.checkpoint import load, save
from caipan.rules.edition import edition_ids
from caipan.rules.pins import RegulationsError
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.facts_pb2 import RegulationsAdopted
from caipan.v1.regulations_pb2 import REGIME_BASIC, Regulations

HALL = """
id = "HALL"
base = "CN2002"
title_zh = "馆规"
title_en = "Rules of the hall"
without = ["CN2002 24.2 both"]

[regulations]
komi_qz = 0
warnings_to_lose = 3
basic_time_s = 60
increment_s = 20

# The first warning costs half a zi, the second two zi, the third the game.
[ladder]
cautions = 0
steps = [
  { warnings = 1, clause = "24.1", costs_qz = 2 },
  { warnings = 2, clause = "24.1", costs_qz = 8 },
  { warnings = 3, clause = "24.2", loses = true },
]

# A claim is timely until the claimant has moved twice.
[windows.TWO_MOVES]
zh = "申诉方自己下两着之前"
en = "before the claimant's second move"
ends = "OWN_MOVE"
count = 2

# Time is Fischer time here; who runs out of it is warned and plays on with half a minute.
[clocks]
FISCHER = { clause = "5", overtime = "5 over" }

[options.HALF_A_MINUTE]
zh = "警告一次，余三十秒"
en = "One warning; half a minute is left"
effects = [{ effect = "WARN" }, { effect = "SET_CLOCK", how = "GIVEN" }]

[options.MINUTE_OFF]
zh = "扣一分钟"
en = "A minute is taken off"
effects = [{ effect = "SET_CLOCK", how = "ADD", seconds = 60 }]

[options.VOID_ONLY]
zh = "该着无效"
en = "The move is void"
effects = [{ effect = "VOID_MOVE" }]

[clauses."2"]
zh = "连下两着"
en = "Two moves in a row"
text_zh = "第二着无效；裁判员可加警告。"
text_en = "The second move is void; the chief may add a warning."
ruling = "CHOSEN"
raised_by = ["OPPONENT", "ARBITER"]
until = "TWO_MOVES"
decides = "ARBITER"
options = ["VOID_ONLY", { name = "VOID_AND_WARN", decides = "CHIEF" }]
opened_by = { findings = ["OUT_OF_TURN"] }
replaces = ["CN2002 17.2"]

[clauses."5"]
zh = "加秒"
en = "Time that is added"
text_zh = "每方六十秒，每着加二十秒。"
text_en = "Sixty seconds each, and twenty for each move."
ruling = "DERIVED"

[clauses."5 over"]
zh = "超时"
en = "Out of time"
text_zh = "超时警告一次，余三十秒续弈。"
text_en = "Who runs out of time is warned and plays on with half a minute."
ruling = "FIXED"
raised_by = ["OPPONENT", "ARBITER"]
until = "GAME"
decides = "ARBITER"
options = ["HALF_A_MINUTE"]
opened_by = { findings = ["OVERTIME"] }
replaces = ["CN2002 regime"]

[clauses."5 noise"]
zh = "按钟出声"
en = "The clock struck hard"
text_zh = "用力拍钟，扣一分钟。"
text_en = "Who strikes the clock hard loses a minute."
ruling = "CHOSEN"
raised_by = ["OPPONENT", "ARBITER"]
until = "GAME"
decides = "ARBITER"
options = ["MINUTE_OFF"]

[clauses."24.1"]
zh = "警告"
en = "What warnings cost"
text_zh = "第一次半子，第二次两子。"
text_en = "The first half a zi, the second two."
ruling = "DERIVED"
replaces = ["CN2002 24.1"]

[clauses."24.2"]
zh = "三次警告"
en = "Three warnings"
text_zh = "三次警告判负。"
text_en = "Three warnings lose the game."
ruling = "DERIVED"
replaces = ["CN2002 24.2"]
"""

DOUBLE = "B Q16, W D4, B Q3, B D17"


@pytest.fixture(autouse=True)
def hall() -> Iterator[None]:
    with invented("HALL", HALL):
        yield
    assert "HALL" not in edition_ids()


def opened(**how: object) -> Play:
    return refereed(**{"edition": "HALL", **how})


def warned(play: Play, times: int, side: int = 1) -> Play:
    for _ in range(times):
        play.rule("WARN", "CN2002 17.4", case="", against=side)
    return play


def test_its_own_clause_is_found_and_lists_its_own_options() -> None:
    play = opened().moves(DOUBLE)
    assert play.found == ["HALL 2 OUT_OF_TURN"]
    assert play.options == {"HALL 2": ["VOID_ONLY", "VOID_AND_WARN", "DISMISS"]}


def test_its_own_option_is_applied_by_an_arbiter_and_the_other_needs_the_chief() -> None:
    play = opened().moves(DOUBLE)
    assert play.rule("VOID_AND_WARN").reason.startswith("role: needs CHIEF")
    play.rule("VOID_ONLY")
    assert (play.at("D17"), play.turn, play.warnings) == (".", "W", (0, 0))


@pytest.mark.parametrize(
    ("moves", "late"), [("", False), ("W C14", False), ("W C14, B C3", False), ("W C14, B C3, W C4", True)]
)
def test_its_claim_window_ends_with_the_second_move_of_the_claimant(moves: str, late: bool) -> None:
    play = opened().moves(DOUBLE)
    if moves:
        play.moves(moves)
    play.claim("W", "HALL 2")
    assert play.found == (["CN2002 16.3 LATE_CLAIM"] if late else [])
    assert ("VOID_ONLY" in play.options["HALL 2"]) is not late


@pytest.mark.parametrize(("warnings", "penalty_qz"), [(0, 0), (1, 2), (2, 10)])
def test_its_ladder_costs_at_the_count_what_each_step_says(warnings: int, penalty_qz: int) -> None:
    play = warned(opened(**wall(10), to_move="B"), warnings).end()
    assert (play.result.penalty_qz, play.result.margin_qz) == (penalty_qz, 2 - penalty_qz)


def test_its_third_warning_loses_the_game() -> None:
    play = warned(opened(), 2)
    assert (play.phase, play.warnings) == ("PLAY", (2, 0))
    warned(play, 1)
    assert (play.phase, play.result.kind, play.result.clause) == ("ENDED", 2, "HALL 24.2")


def fischer() -> Play:
    """Black has used 50 of 60 s, and has 20 more."""
    return timed("FISCHER", "1:00", edition="HALL").stone("B", "E5", at=t("0:50")).stone("W", "C3", at=t("0:50"))


def test_its_clock_adds_what_it_says() -> None:
    assert (fischer().face("B").left_ms, fischer().face("W").left_ms) == (t("0:30"), t("1:20"))


def test_out_of_its_time_a_player_is_warned_and_plays_on() -> None:
    play = fischer().stone("B", "G7", at=t("1:21"))
    assert (play.found, play.finding.over_ms) == (["HALL 5 OVERTIME"], t("0:01"))
    assert play.options == {"HALL 5 over": ["HALF_A_MINUTE", "DISMISS"]}
    left = rl.Effect(set_clock=rl.SetClock(black_ms=t("0:50")))
    play.rule("HALF_A_MINUTE", effects=[left], at=t("1:21"))
    assert (play.face("B").left_ms, play.warnings, play.turn, play.phase) == (t("0:30"), (1, 0), "W", "PLAY")
    play.stone("W", "C5", at=t("1:21")).stone("B", "G5", at=t("1:52"))
    assert play.found == ["HALL 5 OVERTIME"]


def test_its_clause_on_the_clock_takes_time_off() -> None:
    play = fischer().rule("MINUTE_OFF", "HALL 5 noise", case="", against=2, at=t("0:50"))
    assert (play.status, play.face("W").left_ms) == ("FOLDED", t("0:20"))


def test_a_clock_that_it_does_not_name_is_not_pinned_and_not_adopted() -> None:
    with pytest.raises(
        RegulationsError, match=r"regulations\.regime: HALL has no clause for BASIC; use one of: FISCHER"
    ):
        timed("BASIC", "1:00", edition="HALL")
    adopted = RegulationsAdopted(changes=Regulations(regime=REGIME_BASIC))
    play = fischer().say(adopted, source="office", by=actor("COMMITTEE"), at=t("0:50"))
    assert (play.status, play.face("B").left_ms) == ("REFUSED", t("0:30"))


@pytest.mark.parametrize("timed_game", [False, True])
def test_it_can_be_restored_and_judged_again(timed_game: bool) -> None:
    play = warned(fischer().stone("B", "G7", at=t("1:21")) if timed_game else opened().moves(DOUBLE), 1)
    assert save(load(save(play.game))) == save(play.game)
    assert play.again()[1] == play.outcomes


def test_a_game_that_adopts_another_edition_keeps_what_it_was_judged_by() -> None:
    play = warned(opened().moves(DOUBLE), 2)
    adopted = RegulationsAdopted(changes=Regulations(edition="CN2002"))
    play.say(adopted, source="office", by=actor("COMMITTEE"))
    assert play.status == "FOLDED"
    play.stone("W", "C14").claim("W", "HALL 2")
    assert play.options == {"HALL 2": ["VOID_ONLY", "VOID_AND_WARN", "DISMISS"]}
    play.rule("VOID_ONLY").moves("B C3, B C5")
    assert (play.status, play.found) == ("FOLDED", ["CN2002 17.2 OUT_OF_TURN"])
    assert save(load(save(play.game))) == save(play.game)
