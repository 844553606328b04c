"""TERR65 and the Korean editions through the fold: territory, prisoners, 6 1/2 points (rules 6.2, 6.4)."""

from __future__ import annotations

import pytest
from support.boards import play_on_wall, wall
from support.play import Play

from caipan.v1.rulings_pb2 import RESULT_KIND_B_WIN, RESULT_KIND_DRAW

EDITIONS = ("TERR65", "KBA2024", "KBA2025_DOM", "KBA2025_INTL")
# Black takes two stones, White one; the moves stand on a board of 9 lines.
EXCHANGE = "B A2, W A1, B B1, W J9, B J8, W E5, B H9"


@pytest.mark.parametrize("edition_id", EDITIONS)
def test_terr65_a_game_is_won_by_half_points(edition_id: str) -> None:
    result = play_on_wall(14, edition=edition_id).end().result
    assert (result.black_qz, result.white_qz, result.komi_qz, result.margin_qz) == (332, 314, 13, 5)
    assert (result.kind, result.clause, result.in_mu) == (RESULT_KIND_B_WIN, "TERR65 komi", True)


def test_terr65_75_against_68_is_won_by_half_a_point() -> None:
    play = Play(13, **wall(10, size=13, column="G"), edition="TERR65").end()
    assert (play.result.margin_qz, play.result.clause) == (1, "TERR65 komi")


def test_terr65_without_komi_the_count_itself_is_cited() -> None:
    result = play_on_wall(10, "DAME", edition="TERR65", komi_qz=0).end().result
    assert (result.black_qz, result.white_qz, result.kind) == (322, 322, RESULT_KIND_DRAW)
    assert result.clause == "TERR65 count"


def test_terr65_stones_taken_by_moves_and_dead_ones_are_points() -> None:
    play = Play(9, edition="TERR65").moves(EXCHANGE)
    assert play.taken == (0, 2)
    play.end("E5")
    # Black has all the board but its five stones, and three of White's.
    assert (play.result.black_qz, play.result.white_qz) == (2 * (81 - 4 + 3), 0)


def test_terr65_a_dead_stone_of_black_is_a_point_of_white() -> None:
    board = wall(14)
    board["black"].append("Q3")
    play = Play(**board, to_move="B", edition="TERR65").end("Q3")
    assert (play.result.black_qz, play.result.white_qz) == (332, 314 + 2)


def test_terr65_shared_points_and_seki_are_nobodys() -> None:
    result = play_on_wall(15, "SEKI", edition="TERR65").end().result
    assert (result.black_qz, result.white_qz, result.margin_qz) == (320, 306, 1)


def test_terr65_a_count_of_points_is_compared_and_the_derived_one_stands() -> None:
    play = play_on_wall(14, edition="TERR65").end().count("B", 332, 314).count("W", 314)
    assert play.all_found == []
    play.count("W", 316)
    assert (play.found, play.result.margin_qz) == (["TERR65 count COUNT_DIFFERS"], 5)


@pytest.mark.parametrize(
    ("prisoners", "found"),
    [
        ((2, 0), []),
        ((2, None), []),
        ((None, 0), []),
        ((1, 0), ["TERR65 count COUNT_DIFFERS"]),
        ((2, 3), ["TERR65 count COUNT_DIFFERS"]),
        ((None, 1), ["TERR65 count COUNT_DIFFERS"]),
    ],
)
def test_terr65_prisoners_are_those_that_moves_took(prisoners: tuple[int, int], found: list[str]) -> None:
    play = Play(9, edition="TERR65").moves(EXCHANGE).end("E5")
    before = play.result.margin_qz
    play.count("B", play.result.black_qz, prisoners=prisoners)
    assert (play.found, play.result.margin_qz) == (found, before)


def test_cn2002_9_the_number_of_prisoners_changes_nothing_and_is_no_finding() -> None:
    play = Play(9).moves(EXCHANGE).end("E5")
    assert play.count("B", play.result.black_qz, prisoners=(7, 7)).all_found == []


def test_terr65_the_margin_of_area_differs_by_the_komi_alone() -> None:
    by_area, by_points = (play_on_wall(14, edition=each).end().result for each in ("CN2002", "TERR65"))
    assert by_points.margin_qz - by_area.margin_qz == 15 - 13


def test_terr65_handicap_stones_bring_no_komi_back() -> None:
    result = play_on_wall(14, edition="TERR65", handicap=3, handicap_placement=2).end().result
    assert (result.komi_qz, result.margin_qz, result.clause) == (0, 18, "TERR65 count")
