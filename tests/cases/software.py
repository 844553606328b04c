"""Incidents of Go and tournament software, by CN2002."""

from __future__ import annotations

from support.boards import wall
from support.play import Play, refereed

from caipan.v1 import facts_pb2 as facts
from caipan.v1 import rulings_pb2 as rl
from cases.positions import position
from cases.real_games import area_of

ONE_BACK = "B A3, W A5, B A4, W pass, B A3"


def s02_sent_two_and_one_back_repeats_by_side_to_move_under_situational() -> Play:
    """A library and an app disagreed with others on whether the side to move belongs to a position: it is a key (6)."""
    play = refereed(**position("SEND2"), superko_mode="SITUATIONAL").moves(ONE_BACK)
    assert play.all_found == play.found == ["CN2002 6 REPETITION", "CN2002 20.3 REPETITION_CYCLE"]
    assert (play.verdict.findings[0].of_move, play.verdict.findings[0].same_side_to_move) == (1, True)
    play.rule("VOID_AND_TURN")
    assert (play.at("A3"), play.turn, play.warnings) == (".", "W", (0, 0))
    return play


def s02_under_positional_the_first_return_of_the_board_repeats() -> Play:
    play = refereed(**position("SEND2"), superko_mode="POSITIONAL").moves("B A3, W A5, B A4")
    assert play.found == ["CN2002 6 REPETITION", "CN2002 20.3 REPETITION_CYCLE"]
    return play


def s02_under_simple_it_is_reported_and_stands() -> Play:
    play = refereed(**position("SEND2"), superko_mode="SIMPLE").moves(ONE_BACK)
    assert "CN2002 6 REPETITION" not in play.all_found
    assert (play.provisional, play.turn, play.number) == ([], "W", 5)
    return play


def s04_nothing_but_the_players_and_the_arbiter_finalises_a_result() -> Play:
    """A server marked dead stones by itself and closed the game within seconds. By 8, 13.2 and 16.4 nobody but the
    players and the arbiter can."""
    play = refereed(**position("DEAD")).moves("B pass, W pass")
    assert (play.phase, play.verdict.HasField("result")) == ("DEAD_STONES", False)
    play.say(facts.SourceSynced(offset_ms=1), at=24 * 3_600_000)
    assert (play.phase, play.verdict.HasField("result")) == ("DEAD_STONES", False)
    play.dead("B", "B5")
    assert not play.verdict.HasField("result")
    play.answer_dead("W")
    assert (area_of(play), play.phase) == ((180, 144, 3), "ENDED")
    assert [play.sign(signer).phase for signer in ("B", "W", "")] == ["ENDED", "ENDED", "FINAL"]
    return play


def handicap(rows: int, extra: str = "", warning: bool = False) -> Play:
    """Four handicap stones, set freely on a board that is finished."""
    board = wall(rows, extra)
    play = refereed(**board, to_move="B", handicap=4, handicap_placement=2)
    return (play.rule("WARN", "CN2002 17.4", case="", against=1) if warning else play).end()


def s06_four_handicap_stones_give_back_two_zi() -> Play:
    """One program left the stones out of the count, another mixed two rule sets."""
    assert area_of(handicap(12))[2] == 2
    assert area_of(handicap(12, "DAME")) == (730, 714, 0)
    assert area_of(handicap(11))[2] == -2
    assert area_of(refereed(**wall(14, "DAME"), to_move="B").end())[2] == 1
    play = handicap(12, warning=True)
    assert (area_of(play), play.result.clause) == ((732, 712, -2), "S0 H")
    return play


def s14_a_forbidden_point_is_no_ko() -> Play:
    """A library answered "ko" for a move without liberties: with penalties that is one zi."""
    play = refereed().moves("B A2, W A1, B B1, W A1")
    assert play.found == ["CN2002 19 FORBIDDEN_POINT"]
    assert play.options == {"CN2002 19": ["VOID_AND_TURN", "DISMISS"]}
    play.rule("VOID_AND_TURN")
    assert (play.at("A1"), play.turn, play.warnings) == (".", "B", (0, 0))
    return play


def s15_equal_is_a_draw_and_no_win_by_zero() -> Play:
    """A server recorded "Black wins by 0"."""
    play = refereed(**position("DRAW"), komi_qz=0).end()
    assert (area_of(play), play.result.kind) == ((162, 162, 0), rl.RESULT_KIND_DRAW)
    return play


def s15_a_warning_of_white_makes_it_a_win_by_one_zi() -> Play:
    play = refereed(**position("DRAW"), komi_qz=0).rule("WARN", "CN2002 17.4", case="", against=2).end()
    assert (area_of(play), play.result.kind) == ((162, 162, 4), rl.RESULT_KIND_B_WIN)
    return play


def s15_with_komi_white_wins() -> Play:
    play = refereed(**position("DRAW")).end()
    assert (area_of(play)[2], play.result.kind) == (-15, rl.RESULT_KIND_W_WIN)
    return play


def s24_what_comes_after_the_end_is_kept_and_changes_nothing() -> Play:
    """An engine went on producing moves after a resignation."""
    play = refereed(5).stone("B", "C3").resign("W")
    before = play.digest
    play.stone("B", "D4")
    assert play.found == ["CN2002 21.3 AFTER_END"]
    play.say(facts.ClockExpired(side=1, limit=facts.ClockExpired.LIMIT_BASIC), source="timekeeper")
    play.resign("B")
    assert (play.found, play.status) == (["CN2002 21.3 AFTER_END"], "FOLDED")
    assert (play.digest, play.stones(), play.result.kind) == (before, {"C3": "X"}, rl.RESULT_KIND_B_WIN)
    return play


INCIDENTS = [
    s02_sent_two_and_one_back_repeats_by_side_to_move_under_situational,
    s02_under_positional_the_first_return_of_the_board_repeats,
    s02_under_simple_it_is_reported_and_stands,
    s04_nothing_but_the_players_and_the_arbiter_finalises_a_result,
    s06_four_handicap_stones_give_back_two_zi,
    s14_a_forbidden_point_is_no_ko,
    s15_equal_is_a_draw_and_no_win_by_zero,
    s15_a_warning_of_white_makes_it_a_win_by_one_zi,
    s15_with_komi_white_wins,
    s24_what_comes_after_the_end_is_kept_and_changes_nothing,
]
