"""CN2002 9 and 11, S0 H: area, the base number, komi, handicap, shared points (rules 2)."""

from __future__ import annotations

from typing import Any

import pytest
from support.boards import play_on_wall
from support.play import Play

from caipan.v1.rulings_pb2 import RESULT_KIND_B_WIN, RESULT_KIND_DRAW, RESULT_KIND_W_WIN

KINDS = {1: RESULT_KIND_B_WIN, 0: RESULT_KIND_DRAW, -1: RESULT_KIND_W_WIN}
HALF_BOARD = 722  # 180 1/2 zi in quarter-zi


def counted(rows: int, extra: str = "", dead: tuple[str, ...] = (), **regulations: Any) -> tuple[int, int, int, int]:
    """Areas, margin of Black and winner of a standard board after two passes."""
    result = play_on_wall(rows, extra, **regulations).end(*dead).result
    assert result.margin_qz == result.black_qz - result.komi_qz - HALF_BOARD
    return result.black_qz, result.white_qz, result.margin_qz, result.kind


@pytest.mark.parametrize(
    ("rows", "extra", "black", "margin"),
    [
        (14, "", 740, 3),
        (13, "", 736, -1),
        (14, "DAME", 738, 1),
        (19, "", 760, 23),
        (15, "SEKI", 736, -1),
        (10, "", 724, -13),
    ],
)
def test_cn2002_11_an_even_game_with_komi(rows: int, extra: str, black: int, margin: int) -> None:
    assert counted(rows, extra) == (black, 1444 - black, margin, KINDS[1 if margin > 0 else -1])


@pytest.mark.parametrize(
    ("rows", "extra", "margin"), [(14, "", 3), (13, "", -1), (14, "DAME", 1)], ids=["185", "184", "184.5"]
)
def test_cn2002_11_black_gives_three_and_three_quarter_zi(rows: int, extra: str, margin: int) -> None:
    result = play_on_wall(rows, extra).end().result
    assert (result.komi_qz, result.margin_qz, result.clause) == (15, margin, "CN2002 11")


def test_cn2002_11_counting_white_instead_gives_the_same_result() -> None:
    black, white, margin, _ = counted(14, "DAME")
    assert (white + 15 - HALF_BOARD, margin) == (-1, 1)
    assert black + white == 4 * 361


def test_cn2002_9_1_without_komi_181_wins_by_half_a_zi() -> None:
    assert counted(10, komi_qz=0) == (724, 720, 2, RESULT_KIND_B_WIN)


def test_cn2002_9_3_without_komi_180_and_a_half_is_a_draw() -> None:
    assert counted(10, "DAME", komi_qz=0) == (722, 722, 0, RESULT_KIND_DRAW)


def test_cn2002_9_3_without_komi_180_loses_by_half_a_zi() -> None:
    black, _, margin, kind = counted(9, komi_qz=0)
    assert (black, margin, kind) == (720, -2, RESULT_KIND_W_WIN)


def test_cn2002_9_3_is_cited_where_there_is_no_komi() -> None:
    assert play_on_wall(10, komi_qz=0).end().result.clause == "CN2002 9.3"


def test_cn2002_9_1_dead_stones_are_taken_off_before_the_count() -> None:
    assert counted(14, "DEAD", ("C3",))[:2] == (740, 704)


def test_cn2002_9_1_a_dead_stone_left_on_the_board_shares_what_it_touches() -> None:
    assert counted(14, "DEAD")[:2] == (406, 1038)


def test_cn2002_9_2_points_between_both_sides_are_shared_half_and_half() -> None:
    assert counted(14, "DAME")[:2] == (738, 706)


def test_cn2002_9_2_a_seki_shares_its_common_liberties() -> None:
    assert counted(15, "SEKI")[:2] == (736, 708)


@pytest.mark.parametrize(("filled_by", "lost"), [("B", 4), ("W", 5)])
def test_cn2002_9_2_whoever_fills_a_seki_is_captured(filled_by: str, lost: int) -> None:
    play = play_on_wall(15, "SEKI")
    if filled_by == "W":
        play.pass_("B")
    other = "W" if filled_by == "B" else "B"
    play.stone(filled_by, "K1").stone(other, "K2")
    assert len(play.verdict.removed) == lost
    assert play.all_found == []


@pytest.mark.parametrize(
    ("handicap", "rows", "extra", "margin"),
    [(2, 11, "", 2), (3, 11, "", 0), (4, 12, "", 2), (9, 14, "", 0), (9, 14, "DAME", -2)],
    ids=["2: 182", "3: 182", "4: 183", "9: 185", "9: 184.5"],
)
def test_s0_h_n_handicap_stones_return_half_of_n(handicap: int, rows: int, extra: str, margin: int) -> None:
    play = play_on_wall(rows, extra, handicap=handicap, handicap_placement=2)
    result = play.end().result
    assert (result.komi_qz, result.margin_qz, result.clause) == (2 * handicap, margin, "S0 H")
    assert result.kind == KINDS[(margin > 0) - (margin < 0)]


@pytest.mark.parametrize(("rows", "extra", "margin"), [(10, "", 2), (10, "DAME", 0), (9, "", -2)])
def test_s0_h_black_first_without_komi(rows: int, extra: str, margin: int) -> None:
    assert counted(rows, extra, komi_qz=0)[2] == margin


def test_s0_h_a_komi_of_the_regulations_stands_beside_a_handicap() -> None:
    play = play_on_wall(14, handicap=2, handicap_placement=2, komi_qz=6)
    assert play.end().result.komi_qz == 6


def test_s0_h_white_moves_first_after_the_set_up() -> None:
    assert Play(black=["D4", "Q16"], handicap=2).turn == "W"


def test_s0_h_free_handicap_stones_are_the_set_up_until_whites_first_move() -> None:
    play = Play(handicap=3, handicap_placement=2).stone("B", "D4").stone("B", "Q16").stone("B", "K10")
    assert (play.number, play.turn, play.all_found) == (0, "W", [])
    play.stone("W", "D16").stone("B", "C3")
    assert (play.number, play.turn, play.all_found) == (2, "W", [])


def test_s0_h_a_pass_of_white_closes_the_set_up_like_a_stone() -> None:
    play = Play(handicap=3, handicap_placement=2).stone("B", "D4").pass_("W").stone("B", "Q16")
    assert (play.number, play.turn, play.all_found) == (2, "W", [])


def test_s0_h_black_stones_beyond_a_closed_set_up_are_moves_out_of_turn() -> None:
    play = Play(handicap=2, handicap_placement=2).stone("B", "D4").stone("W", "D16").stone("B", "Q16").stone("B", "K10")
    assert play.all_found == ["CN2002 17.2 OUT_OF_TURN"]


def test_s0_h_the_position_with_all_handicap_stones_is_position_0() -> None:
    play = Play(5, white=["C3", "D2", "C1", "B2"], handicap=3, handicap_placement=2)
    play.stone("B", "B3").stone("B", "A2").stone("B", "B1").moves("W pass, B C2, W B2")
    repeat = next(finding for finding in play.verdict.findings if finding.clause == "CN2002 6")
    assert (repeat.of_move, repeat.same_side_to_move) == (0, False)


def test_cn2002_9_a_count_that_agrees_with_the_derived_one_is_silent() -> None:
    play = play_on_wall(14).end().count("B", 740).count("W", 704, 740)
    assert play.all_found == []


@pytest.mark.parametrize(("side", "own", "other"), [("B", 736, None), ("W", 740, None), ("B", 740, 700)])
def test_cn2002_9_a_count_that_differs_is_found_and_the_result_stands(side: str, own: int, other: int | None) -> None:
    play = play_on_wall(14).end().count(side, own, other)
    assert (play.found, play.result.margin_qz) == (["CN2002 9.1 COUNT_DIFFERS"], 3)
