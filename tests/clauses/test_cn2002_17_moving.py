"""CN2002 17: two moves in a row, takeback, dropped stones, the early press, moved stones. Findings alone."""

from __future__ import annotations

import pytest
from support.boards import filled
from support.events import t
from support.play import Play

from caipan.rules.board import Board
from caipan.v1.facts_pb2 import OBSERVED_PRESSES

DOUBLE = "B Q16, W D4, B Q3, B D17"


def test_cn2002_17_2_the_second_move_lies_provisionally_and_the_turn_is_the_opponents() -> None:
    play = Play().moves(DOUBLE)
    assert play.found == ["CN2002 17.2 OUT_OF_TURN"]
    assert (play.turn, play.number, play.provisional) == ("W", 3, ["D17"])
    assert (play.finding.move, play.finding.side, list(play.finding.points)) == (4, 1, ["D17"])


def test_cn2002_17_2_with_a_pass_between_nothing_is_wrong() -> None:
    assert Play().moves("B Q16, W D4, B Q3, W pass, B D17").all_found == []


def test_cn2002_17_2_without_a_claim_the_stone_stands_as_move_4_and_the_next_is_move_5() -> None:
    play = Play().moves(DOUBLE).stone("W", "C14")
    assert (play.found, play.number, play.turn, play.provisional) == ([], 5, "B", [])
    assert play.stones() == {"Q16": "X", "D4": "O", "Q3": "X", "D17": "X", "C14": "O"}


def test_cn2002_17_2_a_pass_of_the_opponent_moves_on_too() -> None:
    play = Play().moves(DOUBLE).pass_("W")
    assert (play.number, play.turn, play.provisional) == (5, "B", [])


def test_cn2002_17_2_a_first_move_by_white_in_an_even_game_is_out_of_turn() -> None:
    play = Play().stone("W", "Q16")
    assert (play.found, play.turn, play.number) == (["CN2002 17.2 OUT_OF_TURN"], "B", 0)
    play.stone("B", "D4")
    assert (play.found, play.turn, play.number) == ([], "W", 2)


def test_cn2002_17_2_captures_of_the_second_move_are_made_provisionally() -> None:
    play = Play(9).moves("B A2, W A1, B E5, B B1")
    assert (play.found, list(play.verdict.removed), play.taken) == (["CN2002 17.2 OUT_OF_TURN"], ["A1"], (0, 1))


@pytest.mark.parametrize("color", ["W", "B"])
def test_cn2002_17_2_a_captured_stone_put_back_after_the_second_move_was_lifted_lies_there_once(color: str) -> None:
    play = Play(9).moves("B A2, W A1, B J9, B B1").lifted("B", "B1").stone("W", "A1", color=color)
    board = play.game.table.board
    assert play.at("A1") == "O"
    assert board.key == Board.from_cells(9, board.cells()).key
    assert play.drawn() == play.stones()


def test_cn2002_17_2_a_stone_on_a_point_that_a_lifted_stone_had_freed_leaves_one_stone_there() -> None:
    play = Play(9).moves("B A2, W A1, B J9, B B1, B A1").lifted("B", "B1").stone("W", "E5")
    board = play.game.table.board
    assert board.key == Board.from_cells(9, board.cells()).key
    assert play.drawn() == play.stones()


def test_cn2002_17_2_every_further_move_in_a_row_is_found() -> None:
    play = Play().moves("B Q16, B D17, B K10")
    assert play.all_found == ["CN2002 17.2 OUT_OF_TURN"] * 2
    assert play.stone("W", "C14").number == 4


def test_cn2002_17_3_a_stone_set_elsewhere_after_it_left_the_hand_is_a_takeback() -> None:
    play = filled(19).stone("W", "R4").lifted("W", "R4").stone("W", "R5")
    assert play.found == ["CN2002 17.3 TAKEBACK"]
    assert (play.finding.move, play.finding.side, list(play.finding.points)) == (20, 2, ["R4"])
    assert (play.turn, play.at("R4"), play.at("R5"), play.provisional) == ("B", ".", "O", ["R5"])


def test_cn2002_17_3_if_black_moves_first_the_stone_stands_where_it_was_set_again() -> None:
    play = filled(19).stone("W", "R4").lifted("W", "R4").stone("W", "R5").stone("B", "K10")
    assert (play.found, play.number, play.turn, play.provisional) == ([], 21, "W", [])
    assert (play.at("R4"), play.at("R5")) == (".", "O")


def test_cn2002_17_3_the_captures_of_the_first_stone_are_restored() -> None:
    play = Play(9).moves("B A1, W A2, B E5, W B1").lifted("W", "B1").stone("W", "G7")
    assert play.found == ["CN2002 17.3 TAKEBACK"]
    assert (play.at("A1"), play.at("B1"), play.taken) == ("X", ".", (0, 0))
    assert play.drawn() == play.stones()


def test_cn2002_17_3_captures_of_the_stone_set_again_are_made_provisionally() -> None:
    play = Play(9).moves("B A1, W A2, B E5, W G7").lifted("W", "G7").stone("W", "B1")
    assert (play.at("A1"), play.taken, play.provisional) == (".", (1, 0), ["B1"])
    assert play.stone("B", "C3").taken == (1, 0)


def test_cn2002_17_3_lifting_and_returning_to_the_same_point_is_no_takeback() -> None:
    play = Play().moves("B Q16, W R4").lifted("W", "R4").stone("W", "R4")
    assert (play.all_found, play.turn, play.number, play.provisional) == ([], "B", 2, [])


def test_cn2002_17_3_a_forbidden_stone_moved_to_another_point_is_a_takeback() -> None:
    play = Play(9).moves("B E5, W A2, B J9, W B1, B A1").lifted("B", "A1").stone("B", "D5")
    assert (play.found, play.turn, play.provisional) == (["CN2002 17.3 TAKEBACK"], "B", ["D5"])


def test_cn2002_17_3_a_second_move_set_elsewhere_is_still_a_second_move_and_no_takeback() -> None:
    play = Play().moves("B Q16, B D17").lifted("B", "D17").stone("B", "D16")
    assert (play.found, play.turn, play.provisional) == (["CN2002 17.2 OUT_OF_TURN"], "W", ["D16"])


def test_cn2002_17_3_the_move_before_a_second_one_is_not_taken_back_but_moved() -> None:
    play = Play().moves("B Q16, B D17").lifted("B", "Q16").stone("B", "Q17")
    assert play.found == ["CN2002 17.5 MOVED_STONE", "CN2002 17.2 OUT_OF_TURN"]
    assert (play.at("Q16"), play.provisional) == ("X", ["D17", "Q17"])


def test_cn2002_17_3_a_stone_only_lifted_stays_in_force() -> None:
    play = Play().moves("B Q16, W R4").lifted("W", "R4")
    assert (play.found, play.at("R4"), play.turn) == ([], "O", "B")


def test_cn2002_17_3_a_dropped_stone_is_found_and_lies_provisionally() -> None:
    play = Play().stone("B", "E7", manner="DROPPED")
    assert (play.found, play.provisional, play.turn) == (["CN2002 17.3 DROPPED_STONE"], ["E7"], "B")


def test_cn2002_17_3_a_dropped_stone_is_the_move_if_the_opponent_moves_on() -> None:
    play = Play().stone("B", "E7", manner="DROPPED").stone("W", "D4")
    assert (play.number, play.turn, play.at("E7"), play.provisional) == (2, "B", "X", [])


@pytest.mark.parametrize("manner", ["UNSPECIFIED", "PLACED", "SLID"])
def test_cn2002_17_3_a_stone_that_was_not_dropped_is_a_move(manner: str) -> None:
    assert Play().stone("B", "E7", manner=manner).turn == "W"


def test_cn2002_17_3_a_dropped_stone_picked_up_and_set_elsewhere_leaves_one_stone_once_the_opponent_moved_on() -> None:
    play = Play().stone("B", "E7", manner="DROPPED").lifted("B", "E7").stone("B", "D5").stone("W", "C3")
    assert (play.stones(), play.number) == ({"D5": "X", "C3": "O"}, 2)


def test_cn2002_17_3_a_dropped_stone_picked_up_is_no_takeback_and_its_player_still_on_turn() -> None:
    play = Play().stone("B", "E7", manner="DROPPED").lifted("B", "E7").stone("B", "D5")
    assert (play.found, play.stones(), play.turn) == ([], {"D5": "X"}, "W")


def test_cn2002_17_2_a_second_move_lifted_again_before_the_opponent_moves_leaves_no_trace() -> None:
    play = Play().moves("B Q16, B D17").lifted("B", "D17").stone("W", "C14").stone("B", "D16")
    assert (play.found, play.number) == ([], 3)
    assert play.stones() == {"Q16": "X", "C14": "O", "D16": "X"}


# The press (17.4)


def timed(**how: object) -> Play:
    return Play(observed=["PRESSES"], **how)


def test_cn2002_17_4_a_press_before_the_stone_is_found_when_the_stone_lands() -> None:
    play = timed().press("B", at=t("10:00.0"))
    assert play.found == []
    play.stone("B", "Q16", at=t("10:00.4"))
    assert play.found == ["CN2002 17.4 EARLY_PRESS"]
    assert (play.finding.side, play.finding.move) == (1, 1)
    assert (play.turn, play.number, play.provisional) == ("W", 1, [])


def test_cn2002_17_4_pressing_at_the_same_instant_counts_as_simultaneous() -> None:
    play = timed().stone("B", "Q16", at=t("10:00")).press("B", at=t("10:00"))
    assert play.found == ["CN2002 17.4 SIMULTANEOUS_PRESS"]


def test_cn2002_17_4_the_same_instant_is_simultaneous_whichever_record_comes_first() -> None:
    play = timed().press("B", at=t("10:00")).stone("B", "Q16", at=t("10:00"))
    assert play.found == ["CN2002 17.4 SIMULTANEOUS_PRESS"]


def test_cn2002_17_4_a_press_after_the_stone_is_regular() -> None:
    play = timed().stone("B", "Q16").press("B").stone("W", "D4").press("W")
    assert play.all_found == []


def test_cn2002_17_4_what_came_first_is_decided_by_the_times_not_by_the_order_of_the_log() -> None:
    play = timed().press("B", at=t("10:01")).stone("B", "Q16", at=t("10:00"), source="camera")
    assert "CN2002 17.4 EARLY_PRESS" not in play.all_found
    play = timed().stone("B", "Q16", at=t("10:01")).press("B", at=t("10:00"))
    assert "CN2002 17.4 EARLY_PRESS" in play.all_found


@pytest.mark.parametrize("press_ms", [-999, -1, 0, 1, 999])
def test_cn2002_17_4_two_sources_closer_than_the_skew_are_undecidable(press_ms: int) -> None:
    play = timed(clock_skew_ms=1000).stone("B", "Q16", at=t("10:00")).press("B", at=t("10:00") + press_ms)
    assert play.found == ["CN2002 17.4 UNDECIDABLE_ORDER"]


@pytest.mark.parametrize(("press_ms", "kinds"), [(-1000, ["CN2002 17.4 EARLY_PRESS"]), (1000, [])])
def test_cn2002_17_4_at_the_skew_two_sources_are_decidable(press_ms: int, kinds: list[str]) -> None:
    play = timed(clock_skew_ms=1000).stone("B", "Q16", at=t("10:00")).press("B", at=t("10:00") + press_ms)
    assert play.found == kinds


def test_cn2002_17_4_at_the_skew_a_press_that_came_first_in_the_log_is_decidable_too() -> None:
    play = timed(clock_skew_ms=1000).press("B", at=t("10:01")).stone("B", "Q16", at=t("10:00"))
    assert not [kind for kind in play.all_found if "17.4" in kind]


def test_cn2002_17_4_one_source_knows_its_own_order_whatever_the_skew() -> None:
    play = timed(clock_skew_ms=1000).stone("B", "Q16", at=t("10:00")).press("B", at=t("10:00.3"), source="board")
    assert play.found == []
    play = timed(clock_skew_ms=1000).press("B", at=t("10:00"), source="board").stone("B", "Q16", at=t("10:00.3"))
    assert play.found == ["CN2002 17.4 EARLY_PRESS"]


def test_cn2002_17_4_a_press_of_the_side_not_on_turn_accuses_nobody() -> None:
    play = timed().press("W").stone("B", "Q16").press("B").press("B").stone("W", "D4").press("W")
    assert play.all_found == []


def test_cn2002_17_4_a_press_that_arrives_after_the_opponents_stone_belongs_to_the_move_before_it() -> None:
    play = timed().stone("B", "E5", at=0).stone("W", "C3", at=t("0:10")).press("B", at=t("0:01"))
    play.stone("B", "G7", at=t("0:20"))
    assert "CN2002 17.4 EARLY_PRESS" not in play.all_found


def test_cn2002_17_4_a_press_that_arrives_after_the_opponents_pass_belongs_to_the_move_before_it() -> None:
    play = timed().stone("B", "E5", at=0).pass_("W", at=t("0:10")).press("B", at=t("0:01"))
    play.stone("B", "G7", at=t("0:20"))
    assert "CN2002 17.4 EARLY_PRESS" not in play.all_found


def test_cn2002_17_4_a_press_after_a_pass_is_regular() -> None:
    play = timed().pass_("B").press("B").stone("W", "D4").press("W").stone("B", "Q16")
    assert play.all_found == []


def test_cn2002_17_4_a_board_that_observes_no_presses_finds_none_missing() -> None:
    play = Play().moves("B Q16, W D4, B Q4")
    assert OBSERVED_PRESSES not in play.opening.observed
    assert play.all_found == []


# Moved stones (17.5)


def test_cn2002_17_5_an_earlier_stone_lifted_and_set_elsewhere_is_found_moved() -> None:
    play = Play().moves("B D10, W Q4, B Q16, W D4").lifted("B", "D10").stone("B", "D11")
    assert play.found == ["CN2002 17.5 MOVED_STONE"]
    assert (play.finding.side, list(play.finding.points)) == (1, ["D10"])


def test_cn2002_17_5_the_board_in_force_keeps_the_moved_stone() -> None:
    play = Play().moves("B D10, W Q4, B Q16, W D4").lifted("B", "D10").stone("B", "D11")
    assert (play.at("D10"), play.at("D11")) == ("X", "X")


def test_cn2002_17_5_an_opponents_stone_lifted_is_found_moved() -> None:
    play = Play().moves("B D10, W Q4").lifted("B", "Q4").stone("B", "D11")
    assert (play.found, list(play.finding.points)) == (["CN2002 17.5 MOVED_STONE"], ["Q4"])


def test_cn2002_17_5_the_own_last_stone_is_no_takeback_once_the_opponent_moved() -> None:
    play = Play().moves("B D10, W Q4, B Q16").lifted("B", "Q16").stone("W", "D4").stone("B", "R16")
    assert play.found == ["CN2002 17.5 MOVED_STONE"]


def test_cn2002_17_5_a_stone_put_back_has_not_moved() -> None:
    play = Play().moves("B D10, W Q4, B Q16, W D4").lifted("B", "D10").stone("B", "D10").stone("B", "R3")
    assert (play.all_found, play.number, play.turn) == ([], 5, "W")


def test_cn2002_17_5_a_lifted_stone_that_is_then_captured_has_not_moved() -> None:
    play = Play(9).moves("B A1, W A2, B E5").lifted("B", "A1").moves("W B1, B G7")
    assert (play.all_found, play.taken) == ([], (1, 0))


def test_cn2002_17_5_lifting_from_an_empty_point_changes_nothing() -> None:
    play = Play().stone("B", "D10")
    before = play.digest
    play.lifted("W", "Q4")
    assert (play.found, play.digest) == ([], before)


def test_cn2002_17_3_a_stone_moved_again_and_again_is_a_takeback_each_time() -> None:
    play = Play(9).stone("B", "E5").lifted("B", "E5").stone("B", "E6").lifted("B", "E6").stone("B", "E7")
    assert play.found == ["CN2002 17.3 TAKEBACK"]
    assert (play.stones(), play.turn) == ({"E7": "X"}, "W")
