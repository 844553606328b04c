"""Overtime in the last minute, and captures under the count (CN2002 22.5, 22.6)."""

from __future__ import annotations

from typing import Any

import pytest
from support.events import t
from support.play import Play, timed

OVERTIME, LATE_STONE = "CN2002 22.5 OVERTIME", ["LOSS", "DISMISS"]


def counted(minutes: int = 5, main: str = "0", **how: Any) -> Play:
    """Byoyomi with so many retained minutes, after a main part of ``main``."""
    return timed("BYOYOMI", f"0:00:{t(main) // 1000 + minutes * 60}", retained_minutes=minutes, **how)


def think(play: Play, player: str, seconds: str, point: str) -> Play:
    """A move after so long a think."""
    return play.stone(player, point, at=play.now + t(seconds))


def spoken(minutes: int = 1, **how: Any) -> Play:
    return counted(minutes, observed=["ANNOUNCEMENTS"], **how)


# 22.5


def over(**how: Any) -> Play:
    return spoken(**how).announced("B", "10", at=t("1:00"))


def test_cn2002_22_5_without_application_only_the_loss_is_listed() -> None:
    play = over().rule("PASS")
    assert (play.status, play.options) == ("REFUSED", {"CN2002 22.5": LATE_STONE})
    play.rule("LOSS")
    assert (play.result.kind, play.result.clause, play.result.how, play.running) == (2, "CN2002 22.5", 3, "")


def test_cn2002_22_5_applied_for_at_once_it_may_be_a_pass_and_the_stone_comes_off() -> None:
    play = over().claim("B", kind="OVERTIME_PASS", at=t("1:02")).stone("B", "E5", at=t("1:05"))
    assert (play.provisional, play.options) == (["E5"], {"CN2002 22.5": ["LOSS", "PASS", "DISMISS"]})
    play.rule("PASS")
    assert (play.at("E5"), play.turn, play.running, play.warnings, play.number) == (".", "W", "W", (0, 0), 1)
    assert (play.face("B").units_left, play.face("B").count_ms, play.face("B").is_over) == (1, 0, False)
    assert play.drawn() == play.stones()


def test_cn2002_22_5_the_opponent_may_not_apply() -> None:
    play = over().claim("W", kind="OVERTIME_PASS")
    assert (play.found, play.options) == (["CN2002 16.3 NOT_ENTITLED"], {"CN2002 22.5": LATE_STONE})


def test_cn2002_22_5_the_pass_counts_where_two_passes_end_the_game() -> None:
    play = over().claim("B", kind="OVERTIME_PASS").rule("PASS").pass_("W")
    assert play.phase == "DEAD_STONES"


def test_cn2002_22_5_after_the_pass_the_last_minute_can_be_exceeded_again() -> None:
    play = over().claim("B", kind="OVERTIME_PASS").rule("PASS").stone("W", "C3")
    play.announced("B", "10", at=play.now + t("1:00"))
    assert (play.found, len(play.game.table.cases)) == ([OVERTIME], 1)


def test_cn2002_22_5_one_overtime_is_one_case() -> None:
    play = over().expired("B", "BYOYOMI").reading("1:00", "0").stone("B", "E5")
    assert (play.all_found, len(play.game.table.cases)) == ([OVERTIME], 1)


def test_cn2002_22_5_a_claim_before_the_finding_is_the_same_case() -> None:
    play = counted(1).claim("W", "CN2002 22.5", at=t("0:59")).stone("B", "E5", at=t("1:00"))
    assert (play.found, len(play.game.table.cases)) == ([OVERTIME], 1)


def test_cn2002_22_5_who_plays_on_accepts_the_stone_and_the_last_minute_goes_on() -> None:
    play = over().stone("B", "E5").stone("W", "C3")
    assert (play.provisional, play.turn, play.number) == ([], "B", 2)
    assert (play.face("B").units_left, play.face("B").is_over) == (1, False)
    assert play.stone("B", "G7").provisional == []


def test_cn2002_22_5_a_later_overtime_is_a_case_of_its_own() -> None:
    play = over().stone("B", "E5").stone("W", "C3")
    play.announced("B", "10", at=play.now + t("1:00"))
    assert (play.found, len(play.game.table.cases)) == ([OVERTIME], 2)


def test_cn2002_22_5_a_timekeepers_word_leaves_the_next_stone_open_whatever_the_clock_shows() -> None:
    play = counted(1).expired("B", "BYOYOMI", at=t("0:50")).stone("B", "E5", at=t("0:55"))
    assert (play.all_found, play.provisional, play.turn) == ([OVERTIME], ["E5"], "B")
    play = counted(1).stone("B", "E5", at=t("0:55")).expired("B", "BYOYOMI", at=t("0:55"))
    assert (play.found, play.provisional, play.turn) == ([OVERTIME], ["E5"], "B")
    play = counted(1).stone("B", "E5", at=t("0:55")).expired("B", "BYOYOMI", at=t("0:56"))
    assert (play.found, play.provisional, play.turn) == ([OVERTIME], [], "W")


def test_cn2002_22_5_dismissed_the_next_stone_is_a_move() -> None:
    play = over().rule("DISMISS").stone("B", "E5")
    assert (play.found, play.provisional, play.turn) == ([], [], "W")


# 22.6 captures


def capturing(minutes: int = 1, *, observed: tuple[str, ...] = ("CAPTURES",), **how: Any) -> Play:
    """Black on turn with B1, which takes A1; the count of White's moves has not begun to matter."""
    play = counted(minutes, observed=list(observed), **how)
    return play.stone("B", "A2", at=0).stone("W", "A1", at=0)


def test_cn2002_22_6_captures_are_part_of_the_move_in_the_last_minute() -> None:
    play = capturing().stone("B", "B1", at=t("0:52")).captured("B", "A1", at=t("0:59.5"))
    assert (play.all_found, play.running) == ([], "W")
    play = capturing().stone("B", "B1", at=t("0:52")).captured("B", "A1", at=t("1:00"))
    assert (play.found, play.provisional, play.turn) == ([OVERTIME], ["B1"], "B")


def test_cn2002_22_6_lifting_at_61_s_uses_a_minute() -> None:
    play = capturing(5).stone("B", "B1", at=t("0:55")).captured("B", "A1", at=t("1:01"))
    assert (play.found, play.face("B").units_left) == ([], 4)


def test_cn2002_22_6_a_pass_for_overtime_puts_the_captured_stones_back() -> None:
    play = capturing().stone("B", "B1", at=t("0:52")).captured("B", "A1", at=t("1:00"))
    play.claim("B", kind="OVERTIME_PASS").rule("PASS")
    assert (play.status, play.at("A1"), play.at("B1"), play.turn) == ("FOLDED", "O", ".", "W")
    assert play.drawn() == play.stones()


def test_cn2002_22_6_pressed_before_all_are_off_the_count_goes_on_and_the_opponents_clock_starts() -> None:
    both = ("CAPTURES", "PRESSES")
    play = capturing(observed=both).press("B", at=0).press("W", at=0)
    play.stone("B", "B1", at=t("0:20")).press("B", at=t("0:27"))
    assert play.running == "W"
    assert play.face("B", t("0:58")).count_ms == t("0:58")
    play.captured("B", "A1", at=t("0:59"))
    assert ("CN2002 22.5 OVERTIME" in play.all_found, play.face("B").count_ms) == (False, 0)
    assert play.face("W").count_ms == t("0:32")


def test_cn2002_22_6_the_count_that_goes_on_after_a_press_can_be_exceeded() -> None:
    play = capturing(observed=("CAPTURES", "PRESSES")).press("B", at=0).press("W", at=0)
    play.stone("B", "B1", at=t("0:20")).press("B", at=t("0:27")).captured("B", "A1", at=t("1:00"))
    assert (play.found, play.provisional, play.turn) == ([OVERTIME], ["B1"], "B")


def test_cn2002_22_6_captures_that_nobody_lifts_are_waited_for_until_the_opponent_moves() -> None:
    play = timed("BASIC", "1:00:00", observed=["CAPTURES"]).moves("B A2, W A1").stone("B", "B1", at=t("1:00"))
    play.stone("W", "E5", at=t("3:00"))
    assert (play.running, play.used) == ("B", (t("2:59"), 1000))


def test_cn2002_22_6_captures_left_lying_run_out_the_last_minute() -> None:
    play = capturing().stone("B", "B1", at=t("0:52")).stone("W", "E5", at=t("1:01"))
    assert (OVERTIME in play.found, play.provisional, play.turn, play.running) == (True, [], "B", "B")


def test_cn2002_22_6_one_warning_and_the_readings_stay() -> None:
    play = (
        timed("BASIC", "1:00:00", observed=["CAPTURES", "PRESSES"]).moves("B A2, W A1").stone("B", "B1", at=t("1:00"))
    )
    play.press("B", at=t("1:05"))
    used = play.used
    play.captured("B", "A1", at=t("1:06")).rule("WARN", "CN2002 22.6", at=t("1:06"))
    assert (play.warnings, play.used[0]) == ((1, 0), used[0])


def test_cn1988s_23_4_captures_are_not_timed_in_byoyomi() -> None:
    play = capturing(edition="CN1988S").stone("B", "B1", at=t("0:58")).captured("B", "A1", at=t("1:10"))
    assert (play.all_found, play.running) == ([], "W")


def test_cn1988s_23_5_overtime_always_loses() -> None:
    play = think(counted(1, edition="CN1988S"), "B", "60", "E5")
    assert (play.found, play.options) == (["CN1988S 23.5 OVERTIME"], {"CN1988S 23.5": ["LOSS", "DISMISS"]})


@pytest.mark.parametrize(("second", "left"), [("59.999", 5), ("60", 4)])
def test_cn1988s_12_each_full_minute_is_used(second: str, left: int) -> None:
    play = think(counted(5, edition="CN1988S"), "B", second, "E5")
    assert (play.all_found, play.face("B").units_left) == ([], left)


def test_cn1988s_12_ten_in_the_last_minute_is_overtime() -> None:
    assert over(edition="CN1988S").found == ["CN1988S 23.5 OVERTIME"]
