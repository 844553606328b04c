"""Time in the fold: basic time, byoyomi, absolute and stage time, overtime, captures (CN2002 12, 22.5, 22.6)."""

from __future__ import annotations

from typing import Any

import pytest
from support.events import t
from support.play import Play, timed

from caipan.v1 import facts_pb2 as facts
from caipan.v1.regulations_pb2 import (
    BYOYOMI_STOP_PRESS,
    COUNT_SOURCE_CLOCK,
    RULING_MODE_AUTO_FIXED,
)

PRESSES = {"observed": ["PRESSES"]}
OVERTIME, LATE_STONE = "CN2002 22.5 OVERTIME", ["LOSS", "DISMISS"]
HOUR = t("1:00:00")


def counted(minutes: int = 5, main: str = "0", **how: Any) -> Play:
    """Byoyomi with so many retained minutes, after a main part of ``main``."""
    return timed("BYOYOMI", f"0:00:{t(main) // 1000 + minutes * 60}", retained_minutes=minutes, **how)


def think(play: Play, player: str, seconds: str, point: str) -> Play:
    """A move after so long a think."""
    return play.stone(player, point, at=play.now + t(seconds))


# 12.2 basic time; who is charged


def test_cn2002_12_2_two_hours_less_12_30_leave_1_47_30() -> None:
    play = timed("BASIC", "2:00:00", **PRESSES).stone("B", "E5", at=t("12:00")).press("B", at=t("12:30"))
    assert (play.used, play.face("B").left_ms, play.running) == ((t("12:30"), 0), t("1:47:30"), "W")


def test_cn2002_12_2_without_presses_the_clock_is_handed_over_with_the_stone() -> None:
    play = timed("BASIC", "2:00:00").stone("B", "E5", at=t("12:00")).stone("W", "C3", at=t("12:10"))
    assert (play.used, play.running) == ((t("12:00"), t("0:10")), "B")


def test_cn2002_12_2_the_main_run_is_from_press_to_press() -> None:
    play = timed("BASIC", "2:00:00", **PRESSES).stone("B", "E5", at=t("10:00"))
    assert (play.running, play.used) == ("B", (t("10:00"), 0))
    play.press("B", at=t("10:05")).stone("W", "C3", at=t("11:00")).press("W", at=t("11:02"))
    assert (play.running, play.used) == ("B", (t("10:05"), t("0:57")))


def test_cn2002_12_2_with_captures_watched_a_move_is_complete_when_they_are_off() -> None:
    play = timed("BASIC", "2:00:00", observed=["CAPTURES"]).moves("B A2, W A1").stone("B", "B1", at=t("1:00"))
    assert play.running == "B"
    play.captured("B", "A1", at=t("1:07"))
    assert (play.running, play.used) == ("W", (1000 + t("1:05"), 1000))


def test_cn2002_12_0_a_game_without_start_begins_with_the_first_fact_of_play() -> None:
    play = timed("BASIC", "2:00:00", started=False).presence("B", True, at=0).stone("B", "E5", at=t("5:00"))
    assert (play.used, play.running) == ((0, 0), "W")
    assert play.stone("W", "C3", at=t("5:30")).used == (0, t("0:30"))


def test_cn2002_12_0_the_start_runs_the_clock_of_the_side_to_move() -> None:
    assert timed("BASIC", "2:00:00", to_move="W").running == "W"
    assert timed("BASIC", "2:00:00", started=False).presence("B", True).running == ""


def test_cn2002_12_0_an_untimed_game_has_no_clocks() -> None:
    assert not Play(9).stone("B", "E5").verdict.HasField("clocks")


@pytest.mark.parametrize("handed", ["pass", "propose"])
def test_a_pass_and_a_proposal_hand_the_clock_over_at_once(handed: str) -> None:
    play = timed("BASIC", "2:00:00", **PRESSES)
    play = play.pass_("B", at=t("0:30")) if handed == "pass" else play.propose_end("B", at=t("0:30"))
    assert (play.running, play.used) == ("W", (t("0:30"), 0))
    assert play.press("B", at=t("0:31")).running == "W"


def test_a_lost_turn_hands_the_clock_over() -> None:
    play = timed("BASIC", "2:00:00").moves("B G7, W A2, B G3, W B1").stone("B", "A1", at=t("1:00"))
    assert play.running == "B"  # the stone lies provisionally: it is Black's turn still
    play.rule("VOID_AND_TURN", at=t("1:30"))
    assert (play.running, play.used) == ("W", (t("1:30") - 2000, 2000))


def test_a_fallen_stone_that_was_pressed_for_gives_the_clock_back_when_it_is_picked_up() -> None:
    play = (
        timed("BASIC", "2:00:00", **PRESSES).stone("B", "E5", manner="DROPPED", at=t("1:00")).press("B", at=t("1:01"))
    )
    assert (play.running, play.turn) == ("W", "B")
    play.rule("PICK_UP_FREE", role="CHIEF", at=t("2:00"))
    assert (play.running, play.used) == ("B", (t("1:01"), t("0:59")))


def test_a_ruling_that_sets_nothing_leaves_the_clocks_alone() -> None:
    play = timed("BASIC", "2:00:00", **PRESSES).stone("B", "E5", at=t("1:00")).conduct("W", "SMOKING").rule("WARN")
    assert (play.running, play.turn) == ("B", "W")


def test_cn2002_17_4_an_early_press_leaves_the_reading_unchanged() -> None:
    play = timed("BASIC", "20:10", **PRESSES).press("B", at=t("0:10")).stone("B", "E5", at=t("0:10.4"))
    play.claim("W", "CN2002 17.4").rule("WARN")
    assert (play.warnings, play.face("B").left_ms, play.running) == ((1, 0), t("20:00"), "W")


def test_a_jump_charges_nothing_and_neither_does_time_that_goes_back() -> None:
    play = timed("BASIC", "2:00:00", max_step_s=600).stone("B", "E5", at=t("10:00")).stone("W", "C3", at=t("50:00"))
    assert (play.found, play.used) == (["REG max_step_s TIME_JUMP"], (t("10:00"), 0))
    assert play.stone("B", "G7", at=t("9:00")).used == (t("10:00"), 0)
    assert play.stone("W", "G3", at=t("10:20")).used == (t("10:00"), t("0:20"))


# 12.3 byoyomi: the table of rules 3.2


def test_cn2002_12_3_the_table_of_moves() -> None:
    play = counted(5, "1:55:00").stone("B", "A1", at=t("1:55:20"))  # the count began in the middle of the move
    assert (play.used, play.face("B").units_left) == ((t("1:55:00"), 0), 5)
    for white, black, seconds, left, used in [
        ("A9", "B1", "59.9", 5, "1:55:00"),
        ("B9", "C1", "60.0", 4, "1:56:00"),
        ("C9", "D1", "150", 2, "1:58:00"),
        ("D9", "E1", "60", 1, "1:59:00"),
        ("E9", "F1", "59", 1, "1:59:00"),
    ]:
        play.stone("W", white, at=play.now)
        think(play, "B", seconds, black)
        assert (play.face("B").units_left, play.used[0], play.found) == (left, t(used), [])
    play.stone("W", "F9", at=play.now)
    think(play, "B", "60", "G1")
    assert (play.found, play.options["CN2002 22.5"], play.provisional) == ([OVERTIME], LATE_STONE, ["G1"])


@pytest.mark.parametrize(("seconds", "left"), [("59.9", 5), ("59.999", 5), ("60.0", 4), ("119.999", 4), ("120", 3)])
def test_cn2002_12_3_a_full_minute_is_used_and_anything_less_is_free(seconds: str, left: int) -> None:
    assert think(counted(5), "B", seconds, "E5").face("B").units_left == left


def test_cn2002_12_3_one_think_of_4_10_leaves_the_last_minute_with_50_s() -> None:
    play = counted(5).reading("0", "0", at=t("4:10"))
    shown = play.face("B")
    assert (shown.units_left, shown.count_ms, play.face("B", t("4:59.999")).is_over) == (1, t("0:10"), False)
    assert play.face("B", t("5:00")).is_over


def test_cn2002_12_3_five_retained_minutes_allow_four_overruns() -> None:
    play = counted(5)
    for point, reply in zip(["A1", "B1", "C1", "D1"], ["A9", "B9", "C9", "D9"], strict=True):
        assert think(play, "B", "60", point).found == []
        play.stone("W", reply, at=play.now)
    assert think(play, "B", "60", "E1").found == [OVERTIME]


@pytest.mark.parametrize(("seconds", "left", "is_found"), [("29.9", 3, False), ("65", 1, False), ("90", 0, True)])
def test_cn2002_12_3_quick_periods_of_30_s(seconds: str, left: int, is_found: bool) -> None:
    play = think(timed("BYOYOMI", "0", unit_s=30, periods=3), "B", seconds, "E5")
    assert (play.face("B").units_left, play.found == [OVERTIME]) == (left, is_found)


@pytest.mark.parametrize(
    ("stop", "pressed", "found"), [(0, "58", []), (0, "70", []), (BYOYOMI_STOP_PRESS, "70", [OVERTIME])]
)
def test_cn2002_22_6_the_count_ends_with_the_move_or_with_the_press(stop: int, pressed: str, found: list[str]) -> None:
    stops = {"byoyomi_stop": stop} if stop else {}
    play = counted(1, **PRESSES, **stops).stone("B", "E5", at=t("0:57")).press("B", at=t(pressed))
    assert (play.found, play.running) == (found, "W")


def test_cn2002_12_3_between_move_and_press_the_main_part_alone_runs_on() -> None:
    play = counted(1, "0:10", **PRESSES).stone("B", "E5", at=t("0:05"))
    assert play.face("B", t("0:08")).left_ms == t("1:02")
    play.press("B", at=t("5:00"))
    assert (play.found, play.used[0], play.face("B").units_left) == ([], t("0:10"), 1)


# 12.3: the spoken word


def spoken(minutes: int = 1, **how: Any) -> Play:
    return counted(minutes, observed=["ANNOUNCEMENTS"], **how)


def test_cn2002_12_3_ten_and_a_stone_at_the_same_instant_is_exceeded() -> None:
    play = spoken().announced("B", "10", at=t("1:00"))
    assert (play.found, play.options["CN2002 22.5"]) == ([OVERTIME], LATE_STONE)
    assert play.stone("B", "E5", at=t("1:00")).provisional == ["E5"]


def test_cn2002_12_3_the_same_where_the_stone_stands_first_in_the_log() -> None:
    play = spoken().stone("B", "E5", at=t("1:00"))
    assert (play.found, play.turn) == ([], "W")
    play.announced("B", "10", at=t("1:00"))
    assert (play.found, play.provisional, play.turn, play.number) == ([OVERTIME], ["E5"], "B", 0)


def test_cn2002_12_3_a_stone_before_ten_is_in_time_whatever_the_clock_says() -> None:
    assert spoken().stone("B", "E5", at=t("1:05")).announced("B", "10", at=t("1:06")).all_found == []


def test_cn2002_12_3_within_the_skew_stone_and_ten_are_undecidable() -> None:
    play = spoken(clock_skew_ms=300).stone("B", "E5", at=t("1:00")).announced("B", "10", at=t("1:00.299"))
    assert (play.found, play.options) == (["CN2002 22.5 UNDECIDABLE_ORDER"], {"CN2002 22.5": LATE_STONE})
    assert spoken(clock_skew_ms=300).stone("B", "E5", at=t("1:00")).announced("B", "10", at=t("1:00.3")).found == []


def test_cn2002_12_3_a_minute_is_used_when_the_reader_says_it() -> None:
    play = spoken(2).announced("B", "58", at=t("0:58")).announced("B", "1分", at=t("1:01"))
    assert (play.face("B").units_left, play.face("B").count_ms) == (1, 0)
    assert play.stone("B", "E5", at=t("1:59")).all_found == []


def test_cn2002_12_3_ten_while_more_than_one_minute_is_left_ends_nothing() -> None:
    assert spoken(2).announced("B", "10", at=t("0:10")).all_found == []


def test_cn2002_12_3_ten_of_a_short_period_is_its_tenth_second_or_its_end() -> None:
    play = timed("BYOYOMI", "0", unit_s=30, periods=1, observed=["ANNOUNCEMENTS"])
    assert play.announced("B", "10", at=t("0:10")).found == []
    assert play.announced("B", "10", at=t("0:30")).found == [OVERTIME]


def test_cn2002_12_3_by_the_clock_the_word_decides_nothing() -> None:
    play = spoken(count_source=COUNT_SOURCE_CLOCK).announced("B", "10", at=t("0:59"))
    assert play.stone("B", "E5", at=t("0:59.9")).all_found == []


# 12.4 absolute time


@pytest.mark.parametrize(
    ("used", "found"),
    [("44:59.999", []), ("45:00", ["CN2002 12.4 BOUNDARY"]), ("45:00.001", ["CN2002 12.4 OVERTIME"])],
)
def test_cn2002_12_4_a_limit_used_up_exactly_is_not_exceeded(used: str, found: list[str]) -> None:
    play = timed("ABSOLUTE", "45:00").stone("B", "E5", at=t(used))
    assert (play.found, play.provisional, play.turn) == (found, [], "W")


def test_cn2002_12_4_by_regulation_reaching_the_limit_is_overtime() -> None:
    play = timed("ABSOLUTE", "45:00", limit_inclusive=True).stone("B", "E5", at=t("45:00"))
    assert play.found == ["CN2002 12.4 OVERTIME"]


def test_cn2002_12_4_overtime_is_a_loss_that_an_arbiter_records() -> None:
    play = timed("ABSOLUTE", "45:00", **PRESSES).stone("B", "E5", at=t("44:59")).press("B", at=t("45:00.5"))
    assert (play.finding.over_ms, play.options) == (500, {"CN2002 12.4": ["LOSS", "DISMISS"]})
    play.rule("LOSS")
    assert (play.result.kind, play.result.clause, play.result.how) == (2, "CN2002 12.4", 3)


def test_cn2002_12_4_unattended_play_ends_by_itself() -> None:
    play = timed("ABSOLUTE", "45:00", ruling_mode=RULING_MODE_AUTO_FIXED).stone("B", "E5", at=t("45:01"))
    assert (play.result.kind, play.phase, play.running) == (2, "ENDED", "")


@pytest.mark.parametrize(
    ("used", "found"),
    [("44:59", []), ("45:00", ["CN2002 12.4 BOUNDARY"]), ("45:01", ["CN2002 12.4 OVERTIME"])],
)
def test_cn2002_12_4_a_reading_shows_it(used: str, found: list[str]) -> None:
    play = timed("ABSOLUTE", "45:00").reading("0", used, at=t("1:00"))
    assert (play.found, play.used) == (found, (t("1:00"), 0))


def test_cn2002_12_4_a_timekeeper_shows_it() -> None:
    play = timed("ABSOLUTE", "45:00").expired("B", "BASIC", at=t("45:00.2"))
    assert (play.found, play.finding.over_ms) == (["CN2002 12.4 OVERTIME"], 200)
    assert timed("ABSOLUTE", "45:00").expired("B", "BYOYOMI").found == []
    assert counted(5).expired("B", "BASIC").found == []


def test_cn2002_12_4_2_the_hand_that_plays_also_presses() -> None:
    pressed = facts.ClockPressed(hand="HAND_OTHER")
    play = timed("ABSOLUTE", "45:00", **PRESSES).stone("B", "E5").say(pressed, "B", source="clock")
    assert play.options == {"CN2002 12.4(2)": ["ADMONISH", "WARN", "DISMISS"]}


def test_cn2002_12_4_3_three_neutral_points_at_2_s_each_in_3_s() -> None:
    play = timed("ABSOLUTE", "0:03")
    for number, (black, white) in enumerate([("A1", "A9"), ("B1", "B9"), ("C1", "C9")], start=1):
        think(play, "B", "2", black)
        assert play.found == (["CN2002 12.4 OVERTIME"] if number == 2 else [])
        play.stone("W", white, at=play.now)


@pytest.mark.parametrize(
    ("minute", "second", "found"), [(True, False, []), (False, True, []), (True, True, ["CN2002 12.4 OVERTIME"])]
)
def test_cn2002_12_4_5_flag_minute_and_second_hand_must_all_say_so(
    minute: bool, second: bool, found: list[str]
) -> None:
    play = timed("ABSOLUTE", "45:00")
    play.reading("45:30", "0", flag_down=True, minute_past_12=minute, second_past_12=second, at=t("44:00"))
    assert play.found == found


def test_cn2002_12_4_6_a_clock_failure_is_the_chiefs() -> None:
    play = timed("ABSOLUTE", "45:00").claim("W", "CN2002 12.4(6)")
    assert play.options == {"CN2002 12.4(6)": ["REPLACE_CLOCK", "INTERPRET_READING", "LOSS_ON_TIME", "DISMISS"]}
    assert play.rule("REPLACE_CLOCK").reason.startswith("role: needs CHIEF")
    play.rule("REPLACE_CLOCK", role="CHIEF")
    assert (play.status, play.running, play.verdict.effects[0].clock.replaced) == ("FOLDED", "B", True)


def test_cn2002_12_4_7_only_the_chief_stops_moves_that_burn_time() -> None:
    play = timed("ABSOLUTE", "45:00").stone("B", "E5").claim("W", "CN2002 12.4(7)")
    assert play.rule("ADMONISH").status == "REFUSED"
    assert play.rule("ADMONISH", role="CHIEF").status == "FOLDED"


# 12.5 stage time


def staged(**how: Any) -> Play:
    return timed("STAGE", "1:00", stage_moves=3, stage_s=600, **how)


def test_cn2002_12_5_what_a_stage_saves_goes_to_the_next_one() -> None:
    play = staged()
    for black, white, seconds in [("A1", "A9", "180"), ("B1", "B9", "180"), ("C1", "C9", "210")]:
        think(play, "B", seconds, black).stone("W", white, at=play.now)
    shown = play.face("B")  # 1:00 of the first move was basic time: 8:30 in the stage
    assert (shown.stage, shown.moves_left, shown.budget_ms) == (2, 3, t("11:30"))
    for black, white, seconds in [("D1", "D9", "300"), ("E1", "E9", "300"), ("F1", "F9", "90")]:
        think(play, "B", seconds, black)
        found = play.found
        play.stone("W", white, at=play.now)
    assert (found, play.face("B").budget_ms) == (["CN2002 12.5 BOUNDARY"], t("10:00"))  # exactly on time is in time


def test_cn2002_12_5_a_stage_exceeded_is_a_loss_for_an_arbiter_to_record() -> None:
    play = staged()
    think(play, "B", "1:00", "A1").stone("W", "A9", at=play.now)
    think(play, "B", "10:00.001", "B1")
    assert (play.found, play.options) == (["CN2002 12.5 OVERTIME"], {"CN2002 12.5": ["LOSS", "DISMISS"]})


def test_reg_regime_fischer_adds_at_the_end_of_the_move() -> None:
    play = timed("FISCHER", "1:00", increment_s=20, **PRESSES).stone("B", "E5", at=t("0:30"))
    assert play.face("B").left_ms == t("0:30")
    assert play.press("B", at=t("0:31")).face("B").left_ms == t("0:49")
    play.stone("W", "C3", at=t("1:30")).press("W", at=t("1:31"))
    assert (play.found, play.face("W").left_ms) == (["REG regime BOUNDARY"], t("0:20"))
    assert play.stone("B", "G7", at=t("2:20")).press("B", at=t("2:21")).found == ["REG regime OVERTIME"]


def test_reg_regime_who_plays_on_over_a_provisional_stone_has_made_a_move_too() -> None:
    play = timed("FISCHER", "1:00", increment_s=20).moves("B G7, W A2, B G3, W B1, B A1").stone("W", "E5")
    assert (play.face("B").left_ms, play.face("W").left_ms) == (
        t("1:00") + 3 * 20_000 - 4_000,
        t("1:00") + 60_000 - 2_000,
    )
