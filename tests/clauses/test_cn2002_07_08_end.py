"""CN2002 7 and 8: how a game ends, and which stones are dead."""

from __future__ import annotations

import pytest
from support.boards import filled, play_on_wall
from support.play import Play

from caipan.v1.outcome_pb2 import RESULT_HOW_RESIGNATION
from caipan.v1.rulings_pb2 import RESULT_KIND_B_WIN, RESULT_KIND_W_WIN


def test_cn2002_7_1_a_proposal_and_its_acceptance_end_the_game() -> None:
    play = Play().stone("B", "Q16").propose_end("W").answer_end("B")
    assert (play.phase, play.all_found) == ("DEAD_STONES", [])


def test_cn2002_7_1_two_proposals_are_the_confirmation_of_both() -> None:
    assert Play().stone("B", "Q16").propose_end("W").propose_end("B").phase == "DEAD_STONES"


def test_cn2002_7_2_white_resigns_at_move_60_and_black_wins() -> None:
    play = filled(59).resign("W")
    assert (play.result.kind, play.result.how) == (RESULT_KIND_B_WIN, RESULT_HOW_RESIGNATION)
    assert (play.result.clause, play.phase, play.all_found) == ("CN2002 7.2", "ENDED", [])


def test_cn2002_7_2_resigning_out_of_turn_is_valid() -> None:
    play = Play().stone("B", "Q16").resign("B")
    assert (play.result.kind, play.phase, play.all_found) == (RESULT_KIND_W_WIN, "ENDED", [])


def test_cn2002_7_2_resigning_while_dead_stones_are_talked_about_is_valid() -> None:
    play = play_on_wall(14).pass_("B").pass_("W").resign("W")
    assert (play.result.kind, play.found) == (RESULT_KIND_B_WIN, [])


def test_cn2002_7_2_resigning_a_game_that_has_a_result_changes_nothing() -> None:
    play = Play().resign("B").resign("W")
    assert (play.found, play.result.kind) == (["CN2002 21.3 AFTER_END"], RESULT_KIND_W_WIN)


def test_cn2002_7_3_two_passes_in_a_row_end_the_game() -> None:
    play = filled(200).pass_("B").pass_("W")
    assert (play.number, play.phase, play.all_found) == (202, "DEAD_STONES", [])


def test_cn2002_7_3_a_stone_between_two_passes_keeps_the_game_going() -> None:
    play = Play().moves("B pass, W Q16, B pass")
    assert play.phase == "PLAY"


def test_cn2002_7_3_two_passes_of_one_side_do_not_end_the_game() -> None:
    assert Play().moves("B pass, W Q16, B pass, W D4").phase == "PLAY"


def test_cn2002_8_white_agrees_that_c3_is_dead() -> None:
    play = play_on_wall(14, "DEAD").pass_("B").pass_("W").dead("B", "C3").answer_dead("W")
    assert (play.result.black_qz, play.result.white_qz, play.phase) == (740, 704, "ENDED")
    assert play.all_found == []


def test_cn2002_8_the_same_set_from_both_sides_is_an_agreement() -> None:
    play = play_on_wall(14, "DEAD").pass_("B").pass_("W").dead("B", "C3").dead("W", "C3")
    assert (play.result.black_qz, play.phase) == (740, "ENDED")


def test_cn2002_8_different_sets_are_no_agreement() -> None:
    play = play_on_wall(14, "DEAD").pass_("B").pass_("W").dead("B", "C3").dead("W")
    assert (play.phase, play.verdict.HasField("result")) == ("DEAD_STONES", False)


def test_cn2002_8_an_empty_dead_set_is_a_proposal_like_any_other() -> None:
    play = play_on_wall(14, "DEAD").pass_("B").pass_("W").dead("B").answer_dead("W")
    assert (play.result.black_qz, play.result.white_qz) == (406, 1038)


def test_cn2002_8_a_refusal_without_a_dispute_leaves_the_stage_open() -> None:
    play = play_on_wall(14, "DEAD").pass_("B").pass_("W").dead("B", "C3").answer_dead("W", accept=False)
    assert (play.phase, play.found) == ("DEAD_STONES", [])
    assert play.answer_dead("W").found == ["CN2002 8 NO_PROPOSAL"]


def test_cn2002_8_a_proposal_before_the_end_is_found() -> None:
    play = Play().stone("B", "Q16").dead("B", "Q16")
    assert (play.found, play.phase) == (["CN2002 8 NOT_ENDED"], "PLAY")


def test_cn2002_8_an_answer_before_the_end_is_found() -> None:
    assert Play().answer_dead("B").found == ["CN2002 8 NOT_ENDED"]


def test_cn2002_8_nobody_answers_the_own_proposal() -> None:
    play = play_on_wall(14, "DEAD").pass_("B").pass_("W").dead("B", "C3").answer_dead("B")
    assert (play.found, play.phase) == (["CN2002 8 NO_PROPOSAL"], "DEAD_STONES")


def test_cn2002_8_an_empty_point_holds_no_stone_to_be_dead() -> None:
    play = play_on_wall(14, "DEAD").pass_("B").pass_("W").dead("B", "C3", "C4", "T20")
    assert (play.found, list(play.finding.points)) == (["CN2002 8 NO_STONE"], ["C4", "T20"])
    assert play.answer_dead("W").result.black_qz == 740


def test_cn2002_8_a_unit_named_in_part_is_dead_whole() -> None:
    play = play_on_wall(14).pass_("B").pass_("W").dead("B", "L1").answer_dead("W")
    completed = play.verdicts[-2].findings[0]
    assert completed.clause == "CN2002 3"
    assert list(completed.points) == [f"L{row}" for row in range(2, 15)]


@pytest.mark.parametrize("after", ["dead", "answer_dead"])
def test_cn2002_8_dead_stones_after_the_result_change_nothing(after: str) -> None:
    play = play_on_wall(14).end()
    getattr(play, after)("B")
    assert (play.found, play.result.black_qz) == (["CN2002 21.3 AFTER_END"], 740)
