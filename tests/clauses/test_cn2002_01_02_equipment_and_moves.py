"""CN2002 1 and 2: the board, the colours, the empty start, alternation, the pass."""

from __future__ import annotations

import pytest
from support.play import Play

from caipan.v1.facts_pb2 import StonePlaced


def test_cn2002_1_move_400_is_accepted_though_no_set_holds_as_many_stones_of_a_colour() -> None:
    play = Play()
    for number in range(200):
        column, row = divmod(number, 19)
        play.stone("B", f"{'ABCDEFGHJKL'[column]}{row + 1}")
        if number < 199:
            play.pass_("W")
    play.stone("W", "T19")
    assert (play.number, play.turn, len(play.stones()), play.all_found) == (400, "B", 201, [])


def test_cn2002_1_a_point_off_the_board_is_found_and_changes_nothing() -> None:
    play = Play(9).stone("B", "K10")
    assert play.found == ["CN2002 1 OFF_BOARD"]
    assert (play.stones(), play.turn, play.number) == ({}, "B", 0)
    assert list(play.finding.points) == ["K10"]


@pytest.mark.parametrize("point", ["", "I5", "Q0", "q16", "A20", "Z1", "Q016", "16Q", " Q16", "QQ"])
def test_cn2002_1_what_is_no_point_of_the_board_is_off_board(point: str) -> None:
    assert Play().stone("B", point).found == ["CN2002 1 OFF_BOARD"]


def test_cn2002_2_1_a_white_stone_set_by_black_is_recorded_as_observed() -> None:
    play = Play().stone("B", "D4", color="W")
    assert play.found == ["CN2002 2.1 WRONG_COLOUR"]
    assert (play.at("D4"), play.provisional, play.status) == ("O", ["D4"], "FOLDED")
    assert (play.turn, play.number) == ("B", 0)


def test_cn2002_2_1_a_wrong_coloured_stone_counts_as_a_move_once_the_opponent_moved_on() -> None:
    play = Play().stone("B", "D4", color="W").stone("W", "Q16")
    assert play.found == []
    assert (play.stones(), play.provisional) == ({"D4": "O", "Q16": "O"}, [])
    assert (play.number, play.turn) == (2, "B")


def test_cn2002_2_1_a_stone_without_a_colour_is_the_players() -> None:
    assert Play().say(StonePlaced(point="D4"), "B").at("D4") == "X"


def test_cn2002_2_2_the_first_state_has_no_stones() -> None:
    play = Play()
    assert (play.stones(), play.number, play.turn, play.phase) == ({}, 0, "B", "PLAY")


def test_cn2002_2_2_a_set_up_is_the_initial_stones_of_the_opening() -> None:
    play = Play(black=["D4", "Q16"], white=["D16", "Q4"], to_move="W")
    assert play.stones() == {"D4": "X", "Q16": "X", "D16": "O", "Q4": "O"}
    assert (play.number, play.turn) == (0, "W")
    assert play.drawn() == play.stones()


def test_cn2002_2_2_a_set_up_stone_that_cannot_stand_is_left_out_with_a_finding() -> None:
    play = Play(9, black=["D4", "T19", "D4"], white=["D4", "E5"])
    assert play.found == ["CN2002 2.2 INVALID_SETUP"]
    assert list(play.finding.points) == ["T19", "D4", "D4"]
    assert play.stones() == {"D4": "X", "E5": "O"}


def test_cn2002_2_3_the_turn_alternates() -> None:
    play = Play().stone("B", "Q16")
    assert (play.turn, play.number) == ("W", 1)
    assert play.stone("W", "D4").turn == "B"


def test_cn2002_2_3_an_occupied_point_changes_neither_board_nor_turn_nor_number() -> None:
    play = Play().stone("B", "Q16").stone("W", "Q16")
    assert play.found == ["CN2002 2.3 OCCUPIED"]
    assert (play.stones(), play.turn, play.number, play.provisional) == ({"Q16": "X"}, "W", 1, [])


def test_cn2002_2_3_a_stone_on_an_own_stone_is_occupied_too() -> None:
    play = Play().moves("B Q16, W D4, B Q16")
    assert play.found == ["CN2002 2.3 OCCUPIED"]
    assert (play.turn, play.number, play.finding.move) == ("B", 2, 3)


def test_cn2002_2_4_a_stone_lifted_and_set_elsewhere_is_a_takeback() -> None:
    play = Play().stone("B", "D4").lifted("B", "D4").stone("B", "D5")
    assert play.found == ["CN2002 17.3 TAKEBACK"]


def test_cn2002_2_5_a_pass_gives_up_the_move_and_leaves_the_board() -> None:
    play = Play().stone("B", "Q16").pass_("W")
    assert (play.stones(), play.turn, play.number, play.taken) == ({"Q16": "X"}, "B", 2, (0, 0))


def test_cn2002_2_5_a_move_after_the_opponents_pass_is_no_double_move() -> None:
    play = Play().moves("B Q16, W pass, B D4")
    assert play.all_found == []
    assert (play.number, play.turn, play.provisional) == (3, "W", [])


def test_cn2002_2_5_a_pass_off_turn_has_no_effect() -> None:
    play = Play().stone("B", "Q16").pass_("B")
    assert play.found == ["CN2002 2.5 NOT_ON_TURN"]
    assert (play.turn, play.number) == ("W", 1)


def test_cn2002_2_5_a_pass_off_turn_and_the_next_pass_do_not_end_the_game() -> None:
    assert Play().moves("B Q16, B pass, W pass").phase == "PLAY"
