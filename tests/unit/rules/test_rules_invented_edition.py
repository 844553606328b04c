"""An edition that nobody wrote a line of code for: another ladder, another claim window, other options and counting."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.boards import wall
from support.editions import invented
from support.events import actor
from support.play import Play, refereed

from caipan.rules.checkpoint import load, save
from caipan.rules.edition import edition_ids
from caipan.v1.facts_pb2 import RegulationsAdopted
from caipan.v1.regulations_pb2 import Regulations

HALL = """
id = "HALL"
base = "CN2002"
title_zh = "馆规"
title_en = "Rules of the hall"
without = ["CN2002 24.2 both"]

[regulations]
komi_qz = 0
warnings_to_lose = 3

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


def test_it_can_be_restored_and_judged_again() -> None:
    play = warned(opened().moves(DOUBLE), 1)
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
