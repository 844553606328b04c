"""CN2002 3, 4 and 5: liberties, capture, the forbidden point."""

from __future__ import annotations

from support.play import Play


def liberties(play: Play, point: str) -> int:
    return play.game.table.board.liberties(play.game.table.indices[point])


def test_cn2002_3_a_lone_stone_has_four_liberties() -> None:
    assert liberties(Play().stone("B", "D4"), "D4") == 4


def test_cn2002_3_an_opposing_neighbour_takes_a_liberty() -> None:
    play = Play().moves("B D4, W D5")
    assert (liberties(play, "D4"), liberties(play, "D5")) == (3, 3)


def test_cn2002_3_an_edge_stone_has_three_and_a_corner_stone_two() -> None:
    play = Play().moves("B K1, W A19")
    assert (liberties(play, "K1"), liberties(play, "A19")) == (3, 2)


def test_cn2002_3_adjacent_stones_of_a_colour_are_one_unit_that_shares_liberties() -> None:
    play = Play().moves("B D4, W Q4, B D5, W Q16, B E5")
    assert {liberties(play, point) for point in ("D4", "D5", "E5")} == {7}


def test_cn2002_3_diagonal_stones_are_two_units() -> None:
    play = Play().moves("B D4, W Q4, B E5")
    assert (liberties(play, "D4"), liberties(play, "E5")) == (4, 4)


def test_cn2002_4_1_fourth_liberty_taken_captures_d4() -> None:
    play = Play().moves("B D3, W D4, B C4, W Q4, B E4, W Q16, B D5")
    assert list(play.verdict.removed) == ["D4"]
    assert (play.taken, play.number, play.turn) == ((0, 1), 7, "W")
    assert play.at("D4") == "."
    assert play.all_found == []


def test_cn2002_4_1_a_unit_is_taken_whole() -> None:
    play = Play(9).moves("B A1, W A2, B B1, W B2, B J9, W C1")
    assert sorted(play.verdict.removed) == ["A1", "B1"]
    assert play.taken == (2, 0)


def test_cn2002_4_1_several_units_are_taken_by_one_move() -> None:
    play = Play(9, black=["A2", "B3", "C3", "D1", "C2"], white=["A1", "B2"], to_move="B").stone("B", "B1")
    assert sorted(play.verdict.removed) == ["A1", "B2"]
    assert play.taken == (0, 2)


def test_cn2002_4_2_the_opponents_stones_are_taken_before_the_own_are_looked_at() -> None:
    play = Play().moves("B A3, W A2, B B2, W B1, B C1, W Q16, B A1")
    assert sorted(play.verdict.removed) == ["A2", "B1"]
    assert (play.at("A1"), play.all_found) == ("X", [])
    assert play.taken == (0, 2)


def test_cn2002_5_a_point_without_a_liberty_that_captures_nothing_is_forbidden() -> None:
    play = Play().moves("B Q16, W A2, B Q4, W B1, B A1")
    assert play.found == ["CN2002 19 FORBIDDEN_POINT"]


def test_cn2002_5_the_same_point_is_free_to_the_other_side() -> None:
    play = Play().moves("B Q16, W A2, B Q4, W B1, B Q10, W A1")
    assert play.all_found == []


def test_cn2002_5_a_unit_without_liberties_is_forbidden_whole() -> None:
    play = Play(9, black=["A1"], white=["A3", "B2", "B1"], to_move="B").stone("B", "A2")
    assert play.found == ["CN2002 19 FORBIDDEN_POINT"]
    assert (play.at("A1"), play.at("A2")) == ("X", "X")


def test_cn2002_5_joining_a_unit_that_keeps_a_liberty_is_allowed() -> None:
    play = Play(9, black=["A1"], white=["B2", "B1"], to_move="B").stone("B", "A2")
    assert play.found == []
