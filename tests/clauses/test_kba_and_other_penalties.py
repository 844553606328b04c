"""Penalties under the Korean editions, TERR65 and ANCIENT (rules 6.2 to 6.5)."""

from __future__ import annotations

from typing import Any

import pytest
from support.boards import play_on_wall, wall
from support.play import Play, refereed

from caipan.v1 import facts_pb2 as facts
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.regulations_pb2 import WHEN_TO_INTERVENE_OFFENDER_ON_TURN

OFFICIALS = [("arbiter", "ARBITER"), ("chief", "CHIEF")]


def other_hand(play: Play) -> Play:
    return play.say(facts.ClockPressed(hand="HAND_OTHER"), "W", source="clock")


def astray(play: Play, stored: str = "STORED_TABLE") -> Play:
    """White keeps a captured stone elsewhere than in the lid."""
    return play.say(facts.StonesCaptured(stored=stored), "W")


def korean(edition: str, **how: Any) -> Play:
    return refereed(**{"edition": edition, **how}).moves("B Q16, W D4")


def test_kba2024_17_two_cautions_make_a_warning_and_two_points() -> None:
    play = other_hand(korean("KBA2024"))
    assert play.options == {"KBA2024 17": ["ADMONISH", "DISMISS"]}
    play.rule("ADMONISH")
    assert play.warnings == (0, 0)
    play.moves("B C3, W R4")
    other_hand(play).rule("ADMONISH")
    assert play.warnings == (0, 1)
    assert [(count.admonitions, count.cost_points) for count in play.verdict.penalties] == [(2, 2)]


@pytest.mark.parametrize("stored", ["STORED_TABLE", "STORED_OPPONENT_BOWL", "STORED_HAND"])
def test_kba2024_18_1_captured_stones_outside_the_lid_are_a_warning(stored: str) -> None:
    play = astray(korean("KBA2024"), stored)
    assert (play.found, play.options) == (
        ["KBA2024 18.1 PRISONERS_ASTRAY"],
        {"KBA2024 18.1 prisoners": ["WARN", "DISMISS"]},
    )


@pytest.mark.parametrize("stored", ["STORED_LID", "STORED_UNKNOWN", "STORED_UNSPECIFIED"])
def test_kba2024_18_1_captured_stones_in_the_lid_are_nothing(stored: str) -> None:
    assert astray(korean("KBA2024"), stored).found == []


def test_kba2024_18_1_two_points_turn_the_result() -> None:
    """75 against 70: 68.5 < 70; with a warning of White 77 - 6.5 = 70.5."""
    board = wall(9, size=13, column="G")
    plain = Play(13, **board, to_move="B", edition="KBA2024").end().result
    warned = refereed(13, **board, to_move="B", edition="KBA2024")
    warned.rule("WARN", "KBA2024 18.1 prisoners", case="", against=2).end()
    assert (plain.margin_qz, warned.result.margin_qz - plain.margin_qz) == (-3, 4)
    assert (plain.kind, warned.result.kind) == (rl.RESULT_KIND_W_WIN, rl.RESULT_KIND_B_WIN)


def test_kba2024_18_2_the_referee_adds_two_prisoners() -> None:
    play = astray(korean("KBA2024")).rule("WARN")
    assert [(count.side, count.cost_points, count.cost_qz) for count in play.verdict.penalties] == [(2, 2, 0)]


def test_kba2024_18_1_a_stone_slid_over_lines_is_a_warning() -> None:
    play = korean("KBA2024").stone("B", "C3", manner="SLID").rule("WARN")
    assert (play.warnings, play.at("C3")) == ((1, 0), "X")


def test_kba2024_19_the_second_warning_loses_at_that_time() -> None:
    play = astray(korean("KBA2024")).rule("WARN").moves("B C3, W R4")
    astray(play).rule("WARN")
    assert (play.phase, play.result.kind, play.result.clause) == ("ENDED", rl.RESULT_KIND_B_WIN, "KBA2024 19")


def test_kba2025_dom_off_board_warnings_cost_two_points_each_and_add_up_to_no_loss() -> None:
    play = astray(korean("KBA2025_DOM")).rule("WARN").moves("B C3, W R4")
    astray(play).rule("WARN")
    assert (play.phase, play.warnings) == ("PLAY", (0, 2))
    assert [count.cost_points for count in play.verdict.penalties] == [4]


def test_kba2025_dom_other_warnings_still_lose() -> None:
    play = astray(korean("KBA2025_DOM")).rule("WARN")
    for _ in range(2):
        play.rule("WARN", "CN2002 17.4", case="", against=2)
    assert (play.result.kind, play.result.clause) == (rl.RESULT_KIND_B_WIN, "KBA2025_DOM 19")


def test_kba2025_intl_there_are_cautions_alone_and_they_add_up_to_nothing() -> None:
    play = korean("KBA2025_INTL")
    for move in ("B C3, W R4", "B C4, W R5"):
        astray(play)
        assert play.options == {"KBA2025_INTL 18.1 prisoners": ["ADMONISH", "DISMISS"]}
        play.rule("ADMONISH").moves(move)
    assert (play.phase, play.warnings) == ("PLAY", (0, 0))
    assert [(count.admonitions, count.cost_points) for count in play.verdict.penalties] == [(2, 0)]


def test_kba2025_intl_a_caution_outside_the_offenders_turn_stands_and_is_flagged() -> None:
    how = {"when_to_intervene": WHEN_TO_INTERVENE_OFFENDER_ON_TURN}
    play = astray(korean("KBA2025_INTL", **how)).rule("ADMONISH")
    assert (play.status, play.found) == ("FOLDED", ["REG when_to_intervene OUTSIDE_MOMENT"])
    again = astray(korean("KBA2025_INTL", **how).stone("B", "C3")).rule("ADMONISH")
    assert again.found == []


def test_cn2002_where_captured_stones_lie_is_nobodys_business() -> None:
    assert astray(korean("CN2002")).found == []


@pytest.mark.parametrize("edition_id", ["TERR65", "ANCIENT"])
def test_terr65_and_ancient_a_warning_costs_nothing_and_two_lose(edition_id: str) -> None:
    play = play_on_wall(14, edition=edition_id, officials=OFFICIALS).rule("WARN", "CN2002 17.4", case="", against=1)
    assert [(count.cost_qz, count.cost_points) for count in play.verdict.penalties] == [(0, 0)]
    play.rule("WARN", "CN2002 23.3", case="", against=1)
    assert (play.result.kind, play.result.clause) == (rl.RESULT_KIND_W_WIN, "CN2002 24.2")


def test_terr65_the_regulations_may_give_points_for_a_warning() -> None:
    play = play_on_wall(14, edition="TERR65", warning_points=2, officials=OFFICIALS)
    play.rule("WARN", "CN2002 17.4", case="", against=1).end()
    assert (play.result.penalty_qz, play.result.margin_qz) == (4, 1)
