"""Game time: it never goes back, and a jump moves nothing (design 4: time)."""

from __future__ import annotations

from support.events import t
from support.play import Play

BACK, JUMP = "REG clock_skew_ms TIME_BACKWARDS", "REG max_step_s TIME_JUMP"


def test_a_lower_time_is_a_finding_and_nothing_else() -> None:
    play = Play(9).stone("B", "E5", at=t("1:00")).stone("W", "C3", at=t("0:59"))
    assert (play.found, play.number, play.turn, play.status) == ([BACK], 2, "B", "FOLDED")


def test_game_time_stays_where_it_was() -> None:
    play = Play(9).stone("B", "E5", at=t("1:00")).stone("W", "C3", at=t("0:30")).stone("B", "G7", at=t("0:45"))
    assert play.found == [BACK]


def test_the_same_time_is_not_backwards() -> None:
    assert Play(9).stone("B", "E5", at=5).stone("W", "C3", at=5).all_found == []


def test_within_the_skew_a_lower_time_is_no_finding_and_moves_nothing_back() -> None:
    play = Play(9, clock_skew_ms=500).stone("B", "E5", at=1000).stone("W", "C3", at=500)
    assert play.found == []
    assert play.stone("B", "G7", at=499).found == [BACK]


def test_a_step_of_exactly_the_longest_is_none_too_long() -> None:
    play = Play(9).stone("B", "E5", at=0).stone("W", "C3", at=t("6:00:00"))
    assert play.all_found == []


def test_a_longer_step_is_a_jump_and_moves_no_game_time() -> None:
    play = Play(9).stone("B", "E5", at=0).stone("W", "C3", at=t("6:00:00.001"))
    assert (play.found, play.at("C3")) == ([JUMP], "O")
    assert play.stone("B", "G7", at=t("0:01")).found == []


def test_the_longest_step_is_the_regulations() -> None:
    play = Play(9, max_step_s=60).stone("B", "E5", at=0)
    assert play.stone("W", "C3", at=t("1:00.001")).found == [JUMP]
    assert play.stone("B", "G7", at=t("1:00")).found == []


def test_the_first_fact_after_the_opening_is_never_a_jump() -> None:
    play = Play(9).stone("B", "E5", at=t("999:00:00"))
    assert play.found == []
    assert play.stone("W", "C3", at=t("998:59:59")).found == [BACK]


def test_start_and_resume_are_never_jumps_and_set_game_time() -> None:
    play = Play(9).stone("B", "E5", at=0).mark("PAUSE").mark("RESUME", at=t("20:00:00"))
    assert play.all_found == []
    assert play.stone("W", "C3", at=t("20:01:00")).found == []
    assert Play(9).stone("B", "E5", at=0).mark("START", at=t("20:00:00")).all_found == []


def test_a_pause_or_close_may_be_a_jump() -> None:
    for mark in ("PAUSE", "CLOSE"):
        assert Play(9).stone("B", "E5", at=0).mark(mark, at=t("20:00:00")).found == [JUMP]


def test_a_resume_that_lies_back_is_found_like_any_other_fact() -> None:
    play = Play(9).stone("B", "E5", at=t("1:00")).mark("RESUME", at=t("0:10"))
    assert play.found == [BACK]


def test_what_is_written_about_a_game_moves_no_game_time() -> None:
    play = Play(9).stone("B", "E5", at=0).retract("e2", at=t("999:00:00"))
    assert play.found == []
    assert play.stone("B", "G7", at=t("0:01")).found == []


def test_the_time_of_the_opening_is_no_time_at_the_table() -> None:
    play = Play(9, opening=False).open(at=t("99:00:00"))
    assert play.stone("B", "E5", at=0).found == []


def test_facts_that_jump_go_on_being_judged() -> None:
    play = Play(9).stone("B", "E5", at=0).stone("W", "C3", at=t("10:00:00")).stone("B", "C3", at=t("10:00:01"))
    assert sorted(play.found) == sorted([JUMP, "CN2002 2.3 OCCUPIED"])
