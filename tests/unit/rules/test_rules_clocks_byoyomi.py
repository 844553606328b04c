"""Byoyomi against every table and example of the rules (rules 3.2 to 3.4, 3.8 to 3.10)."""

from __future__ import annotations

import pytest
from support.events import t
from support.timing import NEVER, at, byoyomi, play

from caipan.rules.clocks import ClockFace, SideClock
from caipan.v1.facts_pb2 import ClockExpired

# 3.2 byoyomi with retained minutes


def test_cn2002_12_3_retained_minutes_are_part_of_the_limit() -> None:
    system = byoyomi("2:00:00")
    assert (system.whole_ms, system.main_ms, system.units) == (t("2:00:00"), t("1:55:00"), 5)
    assert system.face(system.start()) == ClockFace(0, t("2:00:00"), False, False, None, 5)


def test_cn2002_12_3_example_of_two_hours_with_five_retained_minutes() -> None:
    system = byoyomi("2:00:00")
    clock = at(system, "1:54:30")
    assert system.spend(clock, 30_000) == NEVER
    assert system.face(clock).count_ms == 0  # the count starts at once, in the middle of the move
    assert system.spend(clock, 20_000) == NEVER
    assert (system.face(clock).count_ms, system.units_left(clock)) == (20_000, 5)
    system.complete_move(clock)
    left = []
    for seconds in ("59.9", "60.0", "150", "60", "59", "60"):
        over_after = system.spend(clock, t(seconds))
        left.append((system.units_left(clock), clock.used_ms, over_after))
        system.complete_move(clock)
    assert left == [
        (5, t("1:55:00"), NEVER),
        (4, t("1:56:00"), NEVER),
        (2, t("1:58:00"), NEVER),
        (1, t("1:59:00"), NEVER),
        (1, t("1:59:00"), NEVER),
        (0, t("2:00:00"), 60_000),
    ]
    assert system.set_units_left(clock, 1)  # 22.5 PASS
    assert system.face(clock) == ClockFace(t("1:59:00"), 60_000, False, False, 0, 1)


def test_cn2002_12_3_the_last_minute_begins_within_the_move_that_used_the_one_before() -> None:
    system = byoyomi("2:00:00")
    clock = at(system, "1:58:00")
    system.spend(clock, 60_000)
    assert (system.units_left(clock), system.until_overtime_ms(clock)) == (1, 60_000)
    assert system.spend(clock, 59_999) == NEVER
    assert system.spend(clock, 1) == 1


def test_cn2002_12_3_a_think_of_4_10_leaves_50_seconds_of_the_last_minute() -> None:
    system = byoyomi("2:00:00")
    clock = at(system, "1:55:00")
    assert system.spend(clock, t("4:10")) == NEVER
    assert (system.units_left(clock), system.until_overtime_ms(clock)) == (1, 50_000)


@pytest.mark.parametrize(("ms", "over_after"), [(59_999, NEVER), (60_000, 60_000), (60_001, 60_000)])
def test_cn2002_12_3_one_retained_minute_is_the_last_from_the_start_of_the_count(ms: int, over_after: int) -> None:
    system = byoyomi("1:00", retained_minutes=1)
    clock = system.start()
    assert system.spend(clock, ms) == over_after


@pytest.mark.parametrize(
    ("thinks", "left", "last_over_after"),
    [
        ([59_999, 60_000, 119_999, 59_999, 60_000], [3, 2, 1, 1, 0], 60_000),
        ([180_000], [0], 180_000),
        ([179_999], [1], NEVER),
        ([180_001], [0], 180_000),
    ],
)
def test_s08_a_minute_not_filled_is_free_and_the_last_ends_at_60_000(
    thinks: list[int], left: list[int], last_over_after: int
) -> None:
    system = byoyomi("3:00", retained_minutes=3)
    clock = system.start()
    over_after, units = NEVER, []
    for ms in thinks:
        assert over_after == NEVER
        over_after = play(system, clock, ms)
        units.append(system.units_left(clock))
    assert (units, over_after) == (left, last_over_after)


@pytest.mark.parametrize("inclusive", [False, True])
def test_cn2002_12_3_byoyomi_is_inclusive_whatever_the_key_says(inclusive: bool) -> None:
    system = byoyomi("1:00", retained_minutes=1, limit_inclusive=inclusive)
    assert system.until_overtime_ms(system.start()) == 60_000
    assert not system.face(system.start(), 59_999).is_boundary


def test_cn2002_12_3_from_the_main_part_to_overtime_in_one_think() -> None:
    system = byoyomi("10:00", retained_minutes=3)
    clock = at(system, "6:59")
    assert system.spend(clock, t("10:00")) == t("3:01")
    assert system.face(clock) == ClockFace(t("10:00"), 0, True, False, 60_000, 0)
    assert system.limit == ClockExpired.LIMIT_BYOYOMI


@pytest.mark.parametrize("is_spoken", [False, True])
def test_after_overtime_a_move_and_more_time_change_nothing(is_spoken: bool) -> None:
    system = byoyomi("2:00", retained_minutes=1, is_spoken=is_spoken)
    ran = at(system, "1:00")
    system.spend(ran, 60_000)
    if is_spoken:
        system.read_out(ran)
    was_set = at(system, "2:00")
    for clock in (ran, was_set):
        assert system.is_over(clock)
        assert play(system, clock, 90_000) == NEVER
        assert clock == at(system, "2:00")


# 3.3 quick byoyomi


@pytest.mark.parametrize(
    ("seconds", "left", "until", "over_after"),
    [
        ("29.9", 3, 60_100, NEVER),
        ("30", 2, 60_000, NEVER),
        ("65", 1, 25_000, NEVER),
        ("89.999", 1, 1, NEVER),
        ("90", 0, 0, 90_000),
    ],
)
def test_cn2002_12_3_quick_30_seconds_three_times(seconds: str, left: int, until: int, over_after: int) -> None:
    system = byoyomi(unit_s=30, periods=3)
    clock = system.start()
    assert system.spend(clock, t(seconds)) == over_after
    assert (system.units_left(clock), system.until_overtime_ms(clock)) == (left, until)


def test_cn2002_12_3_quick_periods_come_in_addition_to_the_basic_time() -> None:
    system = byoyomi("10:00", unit_s=30, periods=3)
    assert (system.main_ms, system.whole_ms) == (t("10:00"), t("11:30"))
    assert system.spend(system.start(), t("11:30")) == t("11:30")


# 3.4 exceeding the last minute


@pytest.mark.parametrize(("ms", "is_over"), [(59_999, False), (60_000, True), (60_001, True)])
def test_r16_the_last_minute_passes_without_a_move(ms: int, is_over: bool) -> None:
    system = byoyomi("1:00", retained_minutes=1)
    assert system.face(system.start(), ms).is_over is is_over


def test_cn2002_22_5_after_a_pass_the_last_minute_goes_on_as_often_as_it_is_granted() -> None:
    system = byoyomi("1:00", retained_minutes=1)
    clock = system.start()
    for _ in range(3):
        assert system.spend(clock, 90_000) == 60_000
        assert system.set_units_left(clock, 1)
        assert (clock, system.until_overtime_ms(clock)) == (system.start(), 60_000)


# The reader ends a period (key count_source)


def test_where_the_reader_ends_a_period_the_clock_does_not() -> None:
    system = byoyomi("2:00", retained_minutes=2, is_spoken=True)
    clock = system.start()
    assert system.spend(clock, 60_400) == NEVER
    assert (system.units_left(clock), system.face(clock).count_ms) == (2, 60_400)
    system.read_out(clock)
    assert (system.units_left(clock), system.face(clock).count_ms, clock.used_ms) == (1, 0, 60_000)
    system.spend(clock, 59_800)
    system.read_out(clock)
    assert (system.is_over(clock), system.until_overtime_ms(clock)) == (True, 0)


def test_where_the_reader_ends_a_period_a_stone_before_the_word_is_in_time() -> None:
    system = byoyomi("1:00", retained_minutes=1, is_spoken=True)
    clock = system.start()
    play(system, clock, 60_300)
    assert (clock, system.until_overtime_ms(clock)) == (system.start(), None)


@pytest.mark.parametrize("used", ["0:59.999", "2:00"])
def test_there_is_nothing_to_read_out_in_the_main_part_and_after_overtime(used: str) -> None:
    system = byoyomi("2:00", retained_minutes=1, is_spoken=True)
    clock = at(system, used)
    packed = clock.pack()
    system.read_out(clock)
    assert clock.pack() == packed


def test_the_main_part_ends_by_the_clock_also_where_the_reader_counts() -> None:
    system = byoyomi("2:00", retained_minutes=1, is_spoken=True)
    assert system.face(system.start(), 70_000) == ClockFace(60_000, 60_000, False, False, 10_000, 1)


# 3.8 to 3.10


@pytest.mark.parametrize(
    ("retained", "lifted_by", "left", "is_over"),
    [(1, "59.5", 1, False), (1, "59.999", 1, False), (1, "60.0", 0, True), (5, "61", 4, False)],
)
def test_cn2002_22_6_captures_are_part_of_a_counted_move(
    retained: int, lifted_by: str, left: int, is_over: bool
) -> None:
    system = byoyomi("5:00", retained_minutes=retained)
    clock = at(system, f"{5 - retained}:00")
    system.spend(clock, t("52"))  # the stone
    system.spend(clock, t(lifted_by) - t("52"))
    system.complete_move(clock)
    assert (system.units_left(clock), system.is_over(clock)) == (left, is_over)


@pytest.mark.parametrize(("instant", "left"), [("14:01:59.999", 5), ("14:02:00", 4), ("14:03:00", 3)])
def test_cn2002_22_7_an_absence_without_permission_is_counted(instant: str, left: int) -> None:
    system = byoyomi("5:00")
    assert system.face(system.start(), t(instant) - t("14:01:00")).units_left == left


def test_cn2002_14_1_a_clock_goes_on_after_a_pause_in_the_middle_of_a_count() -> None:
    system = byoyomi("2:00:00")
    clock = at(system, "1:58:00")
    system.spend(clock, 25_000)
    resumed = SideClock.unpack(clock.pack())
    assert resumed == clock
    assert system.spend(resumed, 34_999) == NEVER
    assert (system.units_left(resumed), resumed == clock) == (2, False)
