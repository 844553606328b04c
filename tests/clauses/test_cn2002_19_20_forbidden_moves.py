"""CN2002 19 and 20: the forbidden point, and repetitions beyond the single ko."""

from __future__ import annotations

from support.boards import CYCLE, three_kos
from support.play import Play

SUICIDE = "B Q16, W A2, B Q4, W B1, B A1"


def test_cn2002_19_a_stone_on_a_forbidden_point_is_found_and_lies_provisionally() -> None:
    play = Play().moves(SUICIDE)
    assert play.found == ["CN2002 19 FORBIDDEN_POINT"]
    assert (play.at("A1"), play.provisional, play.turn, play.number) == ("X", ["A1"], "B", 4)
    assert (play.finding.side, play.finding.move, list(play.finding.points)) == (1, 5, ["A1"])


def test_cn2002_19_an_unclaimed_stone_stands_without_liberties_once_white_moves_on() -> None:
    play = Play().moves(SUICIDE).stone("W", "K10")
    assert (play.number, play.turn, play.at("A1"), play.provisional, play.taken) == (6, "B", "X", [], (0, 0))


def test_cn2002_19_a_move_elsewhere_does_not_sweep_a_standing_stone_away() -> None:
    play = Play().moves(SUICIDE).moves("W K10, B K11, W B2, B K12")
    assert (play.at("A1"), play.taken) == ("X", (0, 0))


def test_cn2002_19_a_standing_stone_has_liberties_again_once_its_captors_are_taken() -> None:
    play = Play(5, black=["A3", "B2"], white=["A2", "B1"], to_move="B").moves("B A1")
    assert play.found == []
    assert sorted(play.verdict.removed) == ["A2"]


def test_cn2002_19_a_forbidden_stone_of_the_side_off_turn_breaks_both_clauses() -> None:
    play = Play().moves("B Q16, W A2, B Q4, W B1, B Q10, B A1")
    assert play.found == ["CN2002 17.2 OUT_OF_TURN", "CN2002 19 FORBIDDEN_POINT"]


def test_cn2002_19_a_forbidden_stone_lifted_and_another_set_leaves_only_the_other() -> None:
    play = Play(9).moves("B E5, W A2, B J9, W B1, B A1").lifted("B", "A1").moves("B D5, W G7")
    assert (play.at("A1"), play.at("D5"), play.number) == (".", "X", 6)


def test_cn2002_20_3_a_triple_ko_recreates_at_move_206_the_position_after_move_200() -> None:
    play = three_kos(200).moves(CYCLE)
    assert play.found == ["CN2002 6 REPETITION", "CN2002 20.3 REPETITION_CYCLE"]
    last = play.verdict.findings[1]
    assert (last.move, last.of_move, last.cycle, last.same_side_to_move) == (206, 200, 6, True)
    assert play.all_found == play.found


def test_cn2002_20_1_the_immediate_retake_of_a_single_ko_is_18_3_and_no_cycle() -> None:
    play = three_kos(200).moves("B K16, W J16")
    assert play.found == ["CN2002 6 REPETITION", "CN2002 18.3 KO_RETAKE"]


def test_cn2002_20_2_a_cycle_of_two_kos_and_a_pass_is_found_with_its_length() -> None:
    play = three_kos(0).moves("B K16, W J10, B pass, W J16, B K10")
    assert play.found == ["CN2002 6 REPETITION", "CN2002 20.3 REPETITION_CYCLE"]
    last = play.verdict.findings[1]
    assert (last.of_move, last.cycle, last.same_side_to_move) == (0, 5, False)


def test_cn2002_20_0_a_repetition_keeps_no_game_from_ending() -> None:
    play = three_kos(0).moves(CYCLE).moves("B Q16, W pass, B pass")
    assert play.phase == "DEAD_STONES"


def test_cn2002_20_3_the_name_of_a_cycle_is_left_to_the_arbiter() -> None:
    assert three_kos(2).moves(CYCLE).verdict.findings[1].clause == "CN2002 20.3"
