"""Setting clocks: by hand, for lateness, after a fault (rules 3.7, 3.11, CN2002 16.2)."""

from __future__ import annotations

import pytest
from support.events import t
from support.timing import NEVER, at, byoyomi, play, timed

from caipan.rules.edition import edition
from caipan.rules.readings import in_proportion, is_admitted, is_faulty, lateness_cost, split_evenly
from caipan.rules.timesystems import LONGEST_MS

# 3.7 lateness


@pytest.mark.parametrize(
    ("late", "limit_s", "inclusive", "admitted"),
    [
        ("59:59.999", 3600, True, True),
        ("1:00:00", 3600, True, True),
        ("1:00:00.001", 3600, True, False),
        ("1:00:01", 3600, True, False),
        ("1:05:00", 3600, True, False),
        ("59:59.999", 3600, False, True),
        ("1:00:00", 3600, False, False),
        ("14:59.999", 900, True, True),
        ("15:00", 900, True, True),
        ("15:00.001", 900, True, False),
        ("15:01", 900, True, False),
    ],
)
def test_cn2002_22_1_22_2_who_is_so_late_may_play(late: str, limit_s: int, inclusive: bool, admitted: bool) -> None:
    assert is_admitted(t(late), limit_s, is_inclusive=inclusive) is admitted


@pytest.mark.parametrize(
    ("basic", "late", "used"),
    [
        ("2:00:00", "20:00", "40:00"),
        ("2:00:00", "15:00", "30:00"),
        ("2:00:00", "10:00", "20:00"),
        ("2:00:00", "25:00", "50:00"),
        ("2:40:00", "18:00", "36:00"),
        ("2:40:00", "10:00", "20:00"),
        ("2:40:00", "20:00", "40:00"),
        ("2:00:00", "57:30", "1:55:00"),  # the main part exactly
        ("2:00:00", "57:59.999", "1:55:00"),
        ("2:00:00", "58:00", "1:56:00"),
        ("2:00:00", "58:45", "1:57:00"),  # what is left of a minute is not taken
        ("2:00:00", "59:59.999", "1:59:00"),
    ],
)
@pytest.mark.parametrize("ran", [False, True], ids=["clock stood", "clock ran meanwhile"])
def test_cn2002_22_1_lateness_costs_twice_in_all(basic: str, late: str, used: str, ran: bool) -> None:
    system = byoyomi(basic)
    clock = system.start()
    ran_ms = t(late) if ran else 0
    system.spend(clock, ran_ms)
    assert system.deduct(clock, lateness_cost(t(late), 2, ran_ms))
    assert (clock.used_ms, system.left_ms(clock)) == (t(used), t(basic) - t(used))


def test_cn2002_22_1_a_clock_that_was_started_late_is_charged_the_rest() -> None:
    system = byoyomi("2:00:00")
    clock = system.start()
    system.spend(clock, t("12:00") + t("3:00"))  # 12 of 20 minutes late, then thinking
    assert system.deduct(clock, lateness_cost(t("20:00"), 2, t("12:00")))
    assert clock.used_ms == t("43:00")


@pytest.mark.parametrize(("factor", "used"), [(0, "0"), (1, "20:00"), (2, "40:00"), (3, "1:00:00")])
def test_the_factor_is_the_whole_cost_also_where_it_is_less_than_what_ran(factor: int, used: str) -> None:
    system = byoyomi("2:00:00")
    clock = system.start()
    system.spend(clock, t("20:00"))
    assert system.deduct(clock, lateness_cost(t("20:00"), factor, t("20:00")))
    assert clock.used_ms == t(used)


@pytest.mark.parametrize(
    ("regime", "basic", "late", "fits"),
    [
        ("ABSOLUTE", "30:00", "14:59.999", True),
        ("ABSOLUTE", "30:00", "15:00", True),  # used up exactly
        ("ABSOLUTE", "30:00", "15:00.001", False),
        ("ABSOLUTE", "30:00", "20:00", False),
        ("BYOYOMI", "2:00:00", "59:59.999", True),
        ("BYOYOMI", "2:00:00", "1:00:00", False),
        ("STAGE", "30:00", "15:00", True),
        ("STAGE", "30:00", "15:00.001", False),
    ],
)
def test_cn2002_22_1_excess_a_deduction_above_the_limit_is_refused_whole(
    regime: str, basic: str, late: str, fits: bool
) -> None:
    system = timed(regime, basic, stage_moves=15, stage_s=600)
    clock = system.start()
    assert system.deduct(clock, lateness_cost(t(late), 2, 0)) is fits
    assert (clock == system.start()) is not fits
    assert not system.is_over(clock)


def test_cn2002_22_1_excess_leaves_the_last_minute_if_the_chief_says_so() -> None:
    system = byoyomi("2:00:00")
    clock = system.start()
    assert not system.deduct(clock, t("2:00:00"))
    assert system.set_units_left(clock, 1)
    assert (clock.used_ms, system.face(clock).count_ms, system.until_overtime_ms(clock)) == (t("1:59:00"), 0, 60_000)


def test_cn2002_22_1_late_after_a_pause_the_clock_only_runs() -> None:
    system = byoyomi("2:00:00")
    clock = system.start()
    assert play(system, clock, t("12:00")) == NEVER
    assert clock.used_ms == t("12:00")


# SET_CLOCK


@pytest.mark.parametrize(
    ("used", "kept", "left"),
    [
        ("0", "0", 5),
        ("1:54:59.999", "1:54:59.999", 5),
        ("1:55:00", "1:55:00", 5),
        ("1:55:59.999", "1:55:00", 5),
        ("1:56:00", "1:56:00", 4),
        ("1:57:30", "1:57:00", 3),
        ("1:59:59.999", "1:59:00", 1),
        ("2:00:00", "2:00:00", 0),
        ("3:00:00", "2:00:00", 0),
    ],
)
def test_a_time_used_is_main_part_and_whole_minutes(used: str, kept: str, left: int) -> None:
    system = byoyomi("2:00:00")
    clock = at(system, used)
    assert (clock.used_ms, system.units_left(clock), system.is_over(clock)) == (t(kept), left, left == 0)
    clock = at(system, "1:57:00")
    system.spend(clock, 30_000)
    assert system.set_used(clock, t(used))
    assert clock == at(system, used)  # nothing of the count before is left


@pytest.mark.parametrize("regime", ["ABSOLUTE", "BYOYOMI", "FISCHER", "STAGE", "CANADIAN"])
def test_no_time_below_zero_and_none_beyond_all_bounds_is_set(regime: str) -> None:
    system = timed(regime, "30:00", stage_moves=15, stage_s=600)
    clock = at(system, "10:00")
    packed = clock.pack()
    assert not system.set_used(clock, -1)
    assert not system.set_used(clock, LONGEST_MS + 1)
    assert clock.pack() == packed
    assert system.set_used(clock, LONGEST_MS)
    assert (system.is_over(clock), system.left_ms(clock)) == (True, 0)
    assert len(clock.pack()) == 48


@pytest.mark.parametrize(("minutes", "is_set"), [(0, False), (1, True), (3, True), (5, True), (6, False), (-1, False)])
def test_minutes_left_are_set_if_the_game_has_as_many(minutes: int, is_set: bool) -> None:
    system = byoyomi("2:00:00")
    clock = at(system, "10:00")
    assert system.set_units_left(clock, minutes) is is_set
    assert system.units_left(clock) == (minutes if is_set else 5)
    assert clock.used_ms == (t("2:00:00") - minutes * 60_000 if is_set else t("10:00"))


def test_cn2002_16_2_the_count_is_read_again_from_where_it_went_wrong() -> None:
    system = byoyomi("2:00:00")
    clock = at(system, "1:59:00")
    system.spend(clock, 56_000)  # nothing was said at 50, and "5" at 55
    assert system.set_count(clock, 50_000)
    assert system.until_overtime_ms(clock) == 10_000
    assert system.face(clock, 9_000).is_over is False
    assert system.spend(clock, 10_000) == 10_000


def test_cn2002_16_2_it_is_the_last_minute_again_if_that_has_been_exceeded_since() -> None:
    system = byoyomi("2:00:00")
    clock = at(system, "1:59:00")
    system.spend(clock, 61_000)
    assert system.set_count(clock, 50_000)
    assert (system.is_over(clock), system.units_left(clock), system.until_overtime_ms(clock)) == (False, 1, 10_000)


def test_cn2002_16_2_a_minute_used_since_is_given_back_with_the_minutes_left() -> None:
    system = byoyomi("2:00:00")
    clock = at(system, "1:58:00")
    system.spend(clock, 65_000)
    assert system.set_units_left(clock, 2)
    assert system.set_count(clock, 50_000)
    assert (clock.used_ms, system.face(clock).count_ms) == (t("1:58:00"), 50_000)


@pytest.mark.parametrize(
    ("used", "count_ms", "is_set"),
    [
        ("1:54:59.999", 0, False),
        ("1:55:00", 0, True),
        ("1:55:00", 59_999, True),
        ("1:55:00", 60_000, False),
        ("1:55:00", -1, False),
    ],
)
def test_a_count_is_set_only_where_something_is_counted(used: str, count_ms: int, is_set: bool) -> None:
    system = byoyomi("2:00:00")
    clock = at(system, used)
    assert system.set_count(clock, count_ms) is is_set
    assert clock.count_ms == (count_ms if is_set else 0)


@pytest.mark.parametrize("regime", ["BASIC", "ABSOLUTE", "FISCHER", "STAGE", "CANADIAN"])
def test_other_systems_have_neither_minutes_nor_a_count(regime: str) -> None:
    system = timed(regime, "30:00", stage_moves=15, stage_s=600)
    clock = at(system, "30:00")
    packed = clock.pack()
    assert (system.set_units_left(clock, 1), system.set_count(clock, 0), clock.pack()) == (False, False, packed)


def test_a_time_used_beyond_the_basic_time_is_in_the_stages() -> None:
    system = timed("STAGE", "30:00", stage_moves=2, stage_s=600)
    clock = at(system, "34:00")
    assert (clock.stage, system.left_ms(clock)) == (1, t("6:00"))
    assert system.set_used(clock, t("29:00"))
    assert (clock == at(system, "29:00"), clock.stage, system.left_ms(clock)) == (True, 0, t("1:00"))


@pytest.mark.parametrize(
    ("regime", "used", "left", "budget"),
    [
        ("STAGE", "33:00", "17:00", "18:00"),  # within the second stage
        ("STAGE", "31:00", "19:00", "19:00"),  # before it: more was saved in the first
        ("CANADIAN", "33:00", "9:00", "10:00"),
        ("CANADIAN", "31:00", "10:00", "10:00"),
    ],
)
def test_a_time_used_that_is_set_back_stays_in_its_stage(regime: str, used: str, left: str, budget: str) -> None:
    system = timed(regime, "30:00", stage_moves=2, stage_s=600)
    clock = at(system, "30:00")
    for ms in (t("1:00"), t("1:00"), t("5:00")):
        play(system, clock, ms)
    assert (clock.stage, clock.moves) == (2, 1)
    assert system.set_used(clock, t(used))
    assert (clock.stage, clock.moves, system.left_ms(clock), clock.budget_ms) == (2, 1, t(left), t(budget))


def test_what_was_granted_stays_when_the_time_used_is_set() -> None:
    system = timed("FISCHER", "5:00", increment_s=10)
    clock = system.start()
    play(system, clock, t("1:00"))
    assert system.set_used(clock, t("0:30"))
    assert system.left_ms(clock) == t("4:40")


# 3.11 clock faults


@pytest.mark.parametrize(
    ("elapsed", "shown", "faulty"),
    [
        ("1:40:00", "1:45:00", True),
        ("1:00:00", "1:02:00", True),  # exactly 2 minutes an hour
        ("1:00:00", "1:02:00.001", True),
        ("1:00:00", "1:01:59.999", False),
        ("1:00:00", "1:01:59", False),
        ("1:00:00", "58:00", True),
        ("1:00:00", "58:00.001", False),
        ("1:00:00", "1:00:00", False),
        ("2:30:00", "2:35:00", True),
        ("2:30:00", "2:34:59.999", False),
        ("0", "0", False),
        ("0", "0:01", True),
    ],
)
def test_cn2002_22_8_a_sum_wrong_by_two_minutes_an_hour_is_faulty(elapsed: str, shown: str, faulty: bool) -> None:
    limit_s = edition("CN2002").defaults["clock_error_s_per_h"]
    assert is_faulty(t(elapsed), t(shown) // 3, t(shown) - t(shown) // 3, limit_s) is faulty


@pytest.mark.parametrize(
    ("elapsed", "black", "white", "corrected"),
    [
        ("1:40:00", "48:00", "57:00", ("45:43", "54:17")),
        ("1:00:00", "31:00", "31:00", ("30:00", "30:00")),
        ("1:00:00", "29:00", "29:00", ("30:00", "30:00")),
        ("1:00:00", "1:02:00", "0", ("1:00:00", "0")),
        ("1:00:00", "0", "58:00", ("0", "1:00:00")),
        ("0:01", "0:30", "0:30", ("0:01", "0")),  # halves of a second: Black's up
        ("0:00.700", "1:00", "0", ("0:00.700", "0")),  # never more than all
        ("3:00:00", "0", "0", ("1:30:00", "1:30:00")),
        ("0", "0:01", "0:02", ("0", "0")),
    ],
)
def test_cn2002_22_8_times_are_corrected_in_proportion_and_add_up(
    elapsed: str, black: str, white: str, corrected: tuple[str, str]
) -> None:
    assert in_proportion(t(elapsed), t(black), t(white)) == tuple(map(t, corrected))


@pytest.mark.parametrize(("session_ms", "each"), [(t("3:00:00"), (t("1:30:00"),) * 2), (3, (1, 2)), (0, (0, 0))])
def test_cn2002_22_9_a_session_without_a_record_is_split_evenly(session_ms: int, each: tuple[int, int]) -> None:
    assert split_evenly(session_ms) == each
