"""CN2002 6: no whole-board position comes again; the positional reading and its alternatives."""

from __future__ import annotations

from typing import Any

import pytest
from support.play import Play

KO = "B D5, W E5, B D3, W E3, B C4, W F4, B Q16, W D4, B E4"
# Black sends a second stone, White takes both, Black takes one back: three moves, so the other side is to move.
SEND_TWO: dict[str, Any] = {"size": 5, "black": ["B1", "C2", "D1"], "white": ["A2", "B2"], "to_move": "B"}
RETURN_ONE = "B A1, W C1, B B1"


def test_cn2002_6_the_ko_retaken_at_once_repeats_the_position_after_move_8() -> None:
    play = Play().moves(KO).stone("W", "D4")
    assert play.found == ["CN2002 6 REPETITION", "CN2002 18.3 KO_RETAKE"]
    first = play.verdict.findings[0]
    assert (first.move, first.of_move, first.same_side_to_move, first.cycle) == (10, 8, True, 2)
    assert list(first.points) == ["D4"]


def test_cn2002_6_a_repeating_stone_lies_provisionally_with_its_capture_and_the_turn_stays() -> None:
    play = Play().moves(KO).stone("W", "D4")
    assert (play.at("D4"), play.at("E4"), play.provisional) == ("O", ".", ["D4"])
    assert (play.turn, play.number) == ("W", 9)


def test_cn2002_6_the_position_before_the_first_move_has_occurred() -> None:
    play = Play(5, black=["B3", "A2", "B1"], white=["C3", "D2", "C1", "B2"], to_move="B").moves("B C2, W B2")
    first = play.verdict.findings[0]
    assert (first.move, first.of_move, first.same_side_to_move) == (2, 0, True)


def test_cn2002_6_a_position_is_looked_up_over_the_whole_game() -> None:
    play = Play(black=KOS_BLACK, white=KOS_WHITE, to_move="B")
    play.moves(TRIPLE)
    first = play.verdict.findings[0]
    assert (first.of_move, first.cycle) == (0, 6)


def test_cn2002_6_a_pass_never_repeats() -> None:
    play = Play().moves("B Q16, W pass, B D4, W pass, B pass")
    assert play.all_found == []


def test_cn2002_6_the_reading_is_the_arrangement_of_stones_alone() -> None:
    play = Play(**SEND_TWO).moves(RETURN_ONE)
    assert play.found == ["CN2002 6 REPETITION", "CN2002 20.3 REPETITION_CYCLE"]
    first = play.verdict.findings[0]
    assert (first.of_move, first.same_side_to_move, first.cycle) == (0, False, 3)


def test_cn2002_6_situational_a_position_with_the_other_side_to_move_is_another() -> None:
    play = Play(**SEND_TWO, superko_mode="SITUATIONAL").moves(RETURN_ONE)
    assert play.all_found == []
    assert (play.number, play.turn) == (3, "W")


def test_cn2002_6_situational_the_same_side_to_move_repeats() -> None:
    play = Play(superko_mode="SITUATIONAL").moves(KO).stone("W", "D4")
    assert play.found == ["CN2002 6 REPETITION", "CN2002 18.3 KO_RETAKE"]


def test_cn2002_6_simple_only_the_immediate_retake_breaks_the_article() -> None:
    play = Play(superko_mode="SIMPLE").moves(KO).stone("W", "D4")
    assert play.found == ["CN2002 6 REPETITION", "CN2002 18.3 KO_RETAKE"]


def test_cn2002_6_simple_a_longer_cycle_is_reported_for_article_20_and_is_a_move() -> None:
    play = Play(**SEND_TWO, superko_mode="SIMPLE").moves(RETURN_ONE)
    assert play.found == ["CN2002 20.3 REPETITION_CYCLE"]
    assert (play.provisional, play.number, play.turn) == ([], 3, "W")


@pytest.mark.parametrize("mode", ["POSITIONAL", "SITUATIONAL", "SIMPLE"])
def test_cn2002_6_of_move_is_the_first_occurrence_and_cycle_counts_from_the_last(mode: str) -> None:
    play = Play(black=KOS_BLACK, white=KOS_WHITE, to_move="B", superko_mode=mode)
    play.moves(TRIPLE + "," + TRIPLE)
    last = play.verdict.findings[-1]
    assert (last.move, last.of_move, last.cycle) == (12, 0, 6)


def test_cn2002_6_every_later_move_of_a_cycle_that_goes_on_is_found() -> None:
    play = Play(black=KOS_BLACK, white=KOS_WHITE, to_move="B").moves(TRIPLE).moves("B C17, W B13")
    repeats = [finding for verdict in play.verdicts for finding in verdict.findings if finding.clause == "CN2002 6"]
    assert [(finding.move, finding.of_move) for finding in repeats] == [(6, 0), (7, 1), (8, 2)]


def _ko(row: int, white_holds: bool) -> tuple[list[str], list[str]]:
    """A ko in the columns A to D around a row, held by White (a stone on B) or Black (a stone on C)."""
    black = [f"B{row + 1}", f"A{row}", f"B{row - 1}"]
    white = [f"C{row + 1}", f"D{row}", f"C{row - 1}"]
    (white if white_holds else black).append(f"B{row}" if white_holds else f"C{row}")
    return black, white


_KOS = [_ko(17, True), _ko(13, False), _ko(9, True)]
KOS_BLACK = [point for black, _ in _KOS for point in black]
KOS_WHITE = [point for _, white in _KOS for point in white]
TRIPLE = "B C17, W B13, B C9, W B17, B C13, W B9"  # takes the three kos in turn; the sixth move is the start again
