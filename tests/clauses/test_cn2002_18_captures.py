"""CN2002 18: what was lifted against what the rules take; the ko without a threat."""

from __future__ import annotations

from support.boards import play_on_wall
from support.play import Play

D5_TAKES_D4 = "B D3, W D4, B C4, W E6, B E4, W Q16, B D5"
E4_TAKES_D3_AND_D4 = "B C4, W D4, B D5, W D3, B C3, W Q16, B D2, W Q4, B E3, W Q10, B E4"
KO = "B D5, W E5, B D3, W E3, B C4, W F4, B Q16, W D4, B E4"


def watched() -> Play:
    return Play(observed=["CAPTURES", "PRESSES"])


def test_cn2002_18_1_a_stone_with_liberties_lifted_as_captured_is_found() -> None:
    play = watched().moves(D5_TAKES_D4).captured("B", "D4", "E6")
    assert play.found == ["CN2002 18.1 WRONG_REMOVAL"]
    assert (play.finding.side, list(play.finding.points), play.finding.move) == (1, ["E6"], 7)


def test_cn2002_18_1_the_stone_stays_in_force_and_the_turn_is_unchanged() -> None:
    play = watched().moves(D5_TAKES_D4).captured("B", "D4", "E6")
    assert (play.at("E6"), play.at("D4"), play.turn, play.taken) == ("O", ".", "W", (0, 1))


def test_cn2002_18_1_the_right_stones_lifted_are_silent() -> None:
    assert watched().moves(D5_TAKES_D4).captured("B", "D4").press("B").all_found == []


def test_cn2002_18_1_one_act_is_found_once() -> None:
    play = watched().moves(D5_TAKES_D4).captured("B", "D4", "E6").press("B").stone("W", "Q4").press("W")
    play.stone("B", "C16").press("B")
    assert play.all_found == ["CN2002 18.1 WRONG_REMOVAL"]


def test_cn2002_18_1_the_stone_put_back_needs_no_further_word() -> None:
    play = watched().moves(D5_TAKES_D4).captured("B", "D4", "E6").stone("B", "E6", color="W")
    assert (play.found, play.turn, play.provisional) == ([], "W", [])


def test_cn2002_18_1_is_judged_though_captures_are_not_observed() -> None:
    assert Play().moves(D5_TAKES_D4).captured("B", "E6").found == ["CN2002 18.1 WRONG_REMOVAL"]


def test_cn2002_18_1_taking_dead_stones_off_for_the_count_is_no_wrong_removal() -> None:
    play = play_on_wall(14, "DEAD", observed=["CAPTURES"]).pass_("B").pass_("W").dead("B", "C3").answer_dead("W")
    play.captured("B", "C3").lifted("W", "K1")
    assert (play.all_found, play.result.black_qz) == ([], 740)


def test_cn2002_18_2_a_stone_that_was_off_already_is_not_left_when_it_is_taken() -> None:
    play = Play(9, observed=["CAPTURES", "PRESSES"], black=["E4"], white=["E5"], to_move="B")
    play.stone("B", "D5").captured("B", "E5").press("B")
    assert play.all_found == ["CN2002 18.1 WRONG_REMOVAL"]
    play.stone("W", "A1").press("W").stone("B", "F5").press("B").stone("W", "A2").press("W").stone("B", "E6").press("B")
    assert play.all_found == ["CN2002 18.1 WRONG_REMOVAL"]
    assert play.at("E5") == "."


def test_cn2002_18_2_a_captured_stone_left_at_the_press_is_found() -> None:
    play = watched().moves(E4_TAKES_D3_AND_D4)
    assert sorted(play.verdict.removed) == ["D3", "D4"]
    play.captured("B", "D4").press("B")
    assert play.found == ["CN2002 18.2 CAPTURES_LEFT", "CN2002 22.6 PRESS_BEFORE_REMOVAL"]
    left = play.verdict.findings[0]
    assert (left.side, list(left.points), left.move) == (1, ["D3"], 11)


def test_cn2002_18_2_a_captured_stone_left_at_the_next_stone_is_found() -> None:
    play = watched().moves(E4_TAKES_D3_AND_D4).captured("B", "D4").stone("W", "K10")
    assert (play.found, play.turn, play.number) == (["CN2002 18.2 CAPTURES_LEFT"], "B", 12)


def test_cn2002_18_2_a_captured_stone_left_at_the_next_pass_is_found() -> None:
    assert watched().moves(E4_TAKES_D3_AND_D4).pass_("W").found == ["CN2002 18.2 CAPTURES_LEFT"]


def test_cn2002_18_2_stones_left_lying_are_no_part_of_the_board_in_force() -> None:
    play = watched().moves(E4_TAKES_D3_AND_D4).captured("B", "D4").press("B")
    assert (play.at("D3"), play.taken) == (".", (0, 2))


def test_cn2002_18_2_is_found_once() -> None:
    play = watched().moves(E4_TAKES_D3_AND_D4).captured("B", "D4").press("B").stone("W", "K10").press("W")
    play.stone("B", "K16").press("B")
    assert play.all_found == ["CN2002 18.2 CAPTURES_LEFT", "CN2002 22.6 PRESS_BEFORE_REMOVAL"]


def test_cn2002_18_2_stones_may_be_lifted_in_parts_and_by_plain_lifting() -> None:
    play = watched().moves(E4_TAKES_D3_AND_D4).captured("B", "D4").lifted("B", "D3").press("B")
    assert play.all_found == []


def test_cn2002_18_2_the_press_of_the_opponent_judges_nothing() -> None:
    play = watched().moves(E4_TAKES_D3_AND_D4).press("W").captured("B", "D3", "D4").press("B")
    assert play.all_found == []


def test_cn2002_18_2_what_is_not_observed_is_derived() -> None:
    play = Play().moves(E4_TAKES_D3_AND_D4).press("B").stone("W", "K10")
    assert play.all_found == []


def test_cn2002_18_3_a_ko_retaken_without_a_threat_is_found() -> None:
    play = Play().moves(KO).stone("W", "D4")
    assert play.found == ["CN2002 6 REPETITION", "CN2002 18.3 KO_RETAKE"]
    assert (play.verdict.findings[1].side, play.verdict.findings[1].move) == (2, 10)


def test_cn2002_18_3_after_a_threat_and_its_answer_the_retake_is_legal() -> None:
    play = Play().moves(KO).moves("W K10, B K11, W D4")
    assert (play.all_found, play.number, play.turn) == ([], 12, "B")
    assert list(play.verdict.removed) == ["E4"]


def test_cn2002_18_3_an_unclaimed_retake_stands_once_the_opponent_moves_on() -> None:
    play = Play().moves(KO).moves("W D4, B K10")
    assert (play.number, play.turn, play.at("D4"), play.at("E4")) == (11, "W", "O", ".")


def test_cn2002_18_3_a_snapback_is_no_ko() -> None:
    play = Play(9, black=["A3", "B3", "C2"], white=["A2", "B2", "C1"], to_move="B").moves("B B1, W A1, B B1")
    assert (play.all_found, play.taken) == ([], (1, 3))
