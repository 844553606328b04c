"""ANCIENT through the fold: opening stones, White first, group tax and roads (rules 6.3)."""

from __future__ import annotations

from typing import Any

import pytest
from support.boards import play_on_wall, wall
from support.events import actor
from support.play import Play

from caipan.rules.checkpoint import load, save
from caipan.rules.pins import RegulationsError
from caipan.v1.rulings_pb2 import RESULT_KIND_B_WIN, RESULT_KIND_W_WIN

OPENING = {"D4": "X", "Q16": "X", "D16": "O", "Q4": "O"}
TANG_SONG = 2
DIFFERS = ["CN2002 9.1 COUNT_DIFFERS"]


# Opening stones


def test_ancient_setup_two_stones_of_each_side_lie_on_the_board_and_white_moves_first() -> None:
    play = Play(edition="ANCIENT")
    assert (play.stones(), play.drawn(), play.turn, play.number) == (OPENING, OPENING, "W", 0)
    play.moves("W R10, B K10")
    assert (play.number, play.all_found) == (2, [])


def test_ancient_setup_black_first_is_out_of_turn() -> None:
    assert Play(edition="ANCIENT").stone("B", "K10").found == ["CN2002 17.2 OUT_OF_TURN"]


def test_ancient_setup_the_regulations_may_name_the_other_diagonal() -> None:
    play = Play(edition="ANCIENT", zuozi="W D4 Q16 B D16 Q4")
    assert play.stones() == {"D4": "O", "Q16": "O", "D16": "X", "Q4": "X"}


def test_ancient_setup_stones_of_the_opening_stand_in_their_place() -> None:
    assert Play(edition="ANCIENT", white=["K10"]).stones() == {"K10": "O"}


@pytest.mark.parametrize("how", [{"zuozi": ""}, {"size": 13}, {"edition": "CN2002"}], ids=str)
def test_ancient_setup_may_be_empty(how: dict[str, Any]) -> None:
    play = Play(**{"edition": "ANCIENT", **how})
    assert (play.stones(), play.all_found) == ({}, [])


def test_ancient_setup_of_another_size_is_what_the_regulations_say() -> None:
    play = Play(9, edition="ANCIENT", zuozi="B C3 G7 W C7 G3")
    assert play.stones() == {"C3": "X", "G7": "X", "C7": "O", "G3": "O"}


@pytest.mark.parametrize(
    ("zuozi", "reason"),
    [("B D4 Q16 W D4", "two stones on D4"), ("D4 B Q16", "D4 has no colour"), ("B D4 W Z99", "'Z99' is no point")],
)
def test_ancient_setup_that_cannot_stand_is_refused(zuozi: str, reason: str) -> None:
    with pytest.raises(RegulationsError, match=reason) as refused:
        Play(edition="ANCIENT", zuozi=zuozi)
    assert refused.value.field == "regulations.zuozi"


def test_ancient_setup_in_pins_that_no_gateway_writes_is_found() -> None:
    play = Play(edition="ANCIENT", opening=False)
    play.opening.pins.regulations.zuozi = "A1 B D4 B W D4 zz9 C3"
    play.open()
    assert (play.found, list(play.finding.points)) == (["ANCIENT setup INVALID_SETUP"], ["A1", "D4", "zz9"])
    assert play.stones() == {"D4": "X", "C3": "O"}


def test_ancient_setup_is_position_0_and_counts_in_repetitions() -> None:
    play = Play(edition="ANCIENT")
    assert play.game.table.history.cells(0) == play.game.table.board.cells()
    assert load(save(play.game)).table.board.cells() == play.game.table.board.cells()


# Group tax


def counted(rows: int, **regulations: Any) -> Play:
    return play_on_wall(rows, edition="ANCIENT", **regulations).end()


@pytest.mark.parametrize(("rows", "margin"), [(10, 2), (9, -2)])
def test_ancient_komi_there_is_none_and_181_wins(rows: int, margin: int) -> None:
    result = counted(rows).result
    assert (result.margin_qz, result.komi_qz, result.clause) == (margin, 0, "ANCIENT komi")


@pytest.mark.parametrize(
    ("groups", "margin", "kind"), [((4, 2), 2, RESULT_KIND_B_WIN), ((5, 2), -2, RESULT_KIND_W_WIN)]
)
def test_ancient_tax_both_confirm_the_groups_and_the_difference_is_returned(
    groups: tuple[int, int], margin: int, kind: int
) -> None:
    play = counted(12)
    assert (play.result.margin_qz, play.result.black_groups, play.result.white_groups) == (10, 1, 1)
    play.count("B", 732, groups=groups)
    assert (play.found, play.result.margin_qz, play.result.kind) == (DIFFERS, margin, kind)
    assert (play.result.black_groups, play.result.white_groups, play.result.black_qz) == (*groups, 732)
    assert play.count("W", 712, groups=groups).found == []


def test_ancient_tax_the_word_of_one_player_is_not_enough() -> None:
    play = counted(12).count("B", 732, groups=(1, 3), player="B")
    assert (play.found, play.result.margin_qz) == (DIFFERS, 10)
    play.count("W", 712, groups=(2, 3), player="W")
    assert (play.found, play.result.margin_qz) == (DIFFERS, 10)
    play.count("B", 732, groups=(2, 3), player="B")
    assert (play.found, play.result.margin_qz) == (DIFFERS, 14)
    play.count("W", 712, groups=(2, 4), player="W")
    assert (play.found, play.result.margin_qz) == (DIFFERS, 10)


def test_ancient_tax_a_player_who_names_no_seat_confirms_for_nobody() -> None:
    play = play_on_wall(12, edition="ANCIENT", players=["li", "xu"]).end()
    play.count("B", 732, groups=(1, 9), by=actor("PLAYER", "li"))
    assert (play.found, play.result.margin_qz) == (DIFFERS, 10)


@pytest.mark.parametrize(
    ("groups", "found"),
    [((1, 1), []), ((1, None), []), ((2, None), DIFFERS), ((None, 0), DIFFERS), ((10_000, 1), DIFFERS)],
)
def test_ancient_tax_groups_of_one_side_or_beyond_the_board_are_compared_only(
    groups: tuple[int, int], found: list[str]
) -> None:
    play = counted(12).count("B", 732, groups=groups)
    assert (play.found, play.result.margin_qz) == (found, 10)


def test_cn2002_9_the_number_of_groups_changes_nothing_and_is_no_finding() -> None:
    play = play_on_wall(14).end().count("B", 740, groups=(9, 1))
    assert (play.all_found, play.result.margin_qz) == ([], 3)


def test_ancient_tax_groups_as_one_side_confirmed_them_are_part_of_the_state_and_kept() -> None:
    play = counted(12)
    before = play.digest
    play.count("B", 732, groups=(4, 2), player="B")
    assert play.digest != before
    restored = load(save(play.game))
    assert save(restored) == save(play.game)
    assert restored.table.groups == {1: (4, 2)}
    play.game = restored
    assert play.count("W", 712, groups=(4, 2), player="W").result.margin_qz == 2


def test_ancient_tax_groups_are_told_apart_by_the_board() -> None:
    walls = wall(12, size=12, column="F")
    # A white group of two eyes in the upper left corner, inside Black's area.
    walls["white"] += ["A11", "B11", "B12", "C11", "D11", "D12"]
    walls["black"] += ["A10", "B10", "C10", "D10", "E11", "E12"]
    result = Play(12, **walls, edition="ANCIENT").end().result
    assert (result.black_groups, result.white_groups) == (1, 2)


# Roads


def test_ancient_roads_are_surrounded_points_less_two_for_each_group() -> None:
    board = wall(12, size=12, column="F")
    board["white"] += ["J3", "J6"]
    play = Play(12, **board, edition="ANCIENT", ancient_submode=TANG_SONG).end()
    assert (play.result.black_qz, play.result.white_qz, play.result.margin_qz) == (120, 116, 4)
    play.count("B", 120, 116, groups=(3, 1))
    assert (play.found, play.result.margin_qz, play.result.kind) == (DIFFERS, -4, RESULT_KIND_W_WIN)


def test_ancient_roads_common_liberties_do_not_count() -> None:
    play = play_on_wall(14, "DAME", edition="ANCIENT", ancient_submode=TANG_SONG).end()
    assert (play.result.black_qz, play.result.white_qz) == (330, 314)
