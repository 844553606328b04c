"""What is read in byoyomi, to the second (rules 3.2, 3.3)."""

from __future__ import annotations

import pytest
from support.events import t
from support.timing import at, byoyomi, regulations

from caipan.rules.announcing import Call, Reader, reader
from caipan.rules.edition import edition
from caipan.rules.timesystems import Byoyomi

TO_TEN = [str(number) for number in range(1, 11)]


def reading(system: Byoyomi, *announce: int) -> Reader:
    return reader(system, regulations("BYOYOMI", announce=announce), edition("CN2002").announcements)


def said(calls: list[Call]) -> str:
    return " ".join(f"{call.label} 还剩{call.units_left}分" if call.units_left else call.label for call in calls)


@pytest.mark.parametrize(
    ("minutes", "seconds", "words"),
    [
        (5, "59.9", "30 40 50 55 58"),
        (5, "60.0", "30 40 50 55 58 1分 还剩4分"),
        (4, "150", "30 40 50 55 58 1分 还剩3分 30 40 50 55 58 1分 还剩2分 30"),
        (2, "60", "30 40 50 55 58 1分 还剩1分"),
        (1, "59", "30 40 50 1 2 3 4 5 6 7 8 9"),
        (1, "60", "30 40 50 1 2 3 4 5 6 7 8 9 10"),
        (1, "29.999", ""),
        (1, "30", "30"),
        (2, "5:00", "30 40 50 55 58 1分 还剩1分 30 40 50 1 2 3 4 5 6 7 8 9 10"),
    ],
)
def test_cn2002_12_3_words_of_a_move(minutes: int, seconds: str, words: str) -> None:
    system = byoyomi("2:00:00")
    clock = system.start()
    system.set_units_left(clock, minutes)
    assert said(list(reading(system).calls(clock, t(seconds)))) == words


def test_cn2002_12_3_each_word_has_its_second_one_per_second_at_the_end() -> None:
    system = byoyomi("1:00", retained_minutes=1)
    calls = list(reading(system).calls(system.start(), 60_000))
    assert [call.second for call in calls] == [30, 40, 50, *range(51, 61)]
    assert [call.after_ms for call in calls] == [1000 * call.second for call in calls]


def test_cn2002_12_3_the_count_begins_where_the_main_part_ends() -> None:
    system = byoyomi("2:00:00")
    clock = at(system, "1:54:45.500")
    assert list(reading(system).calls(clock, t("0:45"))) == [Call(44_500, 30, "30", None)]


def test_a_span_begins_after_its_first_instant_and_has_its_last() -> None:
    system = byoyomi("1:00", retained_minutes=1)
    clock = system.start()
    system.spend(clock, 30_000)
    read = reading(system)
    assert said(list(read.calls(clock, 10_000))) == "40"
    assert said(list(read.calls(clock, 20_000, after_ms=10_000))) == "50"


def test_cn2002_16_2_a_count_read_again_begins_with_the_word_that_went_wrong() -> None:
    system = byoyomi("1:00", retained_minutes=1)
    clock = system.start()
    system.spend(clock, 56_000)
    system.set_count(clock, 50_000)
    assert said(list(reading(system).calls(clock, t("1:00"), after_ms=-1))) == "50 1 2 3 4 5 6 7 8 9 10"


def test_after_overtime_nothing_is_read() -> None:
    system = byoyomi("1:00", retained_minutes=1)
    clock = system.start()
    system.spend(clock, 60_000)
    assert list(reading(system).calls(clock, t("1:00:00"), after_ms=-1)) == []


def test_where_the_reader_ends_the_periods_nothing_is_due_beyond_the_running_one() -> None:
    system = byoyomi("2:00", retained_minutes=2, is_spoken=True)
    clock = system.start()
    read = reading(system)
    assert said(list(read.calls(clock, t("2:00")))) == "30 40 50 55 58 1分 还剩1分"
    system.spend(clock, 60_001)
    assert list(read.calls(clock, t("2:00"))) == []
    system.read_out(clock)
    assert said(list(read.calls(clock, 51_000))) == "30 40 50 1"


@pytest.mark.parametrize(
    ("unit_s", "early", "last"),
    [
        (30, ["10", "20", "30"], ["10", "20", *TO_TEN]),
        (20, ["10", "20"], ["10", *TO_TEN]),
        (10, ["10"], TO_TEN),
        (15, ["15"], TO_TEN),  # the edition has no table
        (5, ["5"], ["1", "2", "3", "4", "5"]),
    ],
)
def test_cn2002_12_3_quick_words_by_the_length_of_a_period(unit_s: int, early: list[str], last: list[str]) -> None:
    system = byoyomi(unit_s=unit_s, periods=2)
    calls = list(reading(system).calls(system.start(), 2000 * unit_s))
    assert [call.label for call in calls] == early + last
    assert [call.second for call in calls if call.units_left is not None] == [unit_s]
    assert calls[-1].after_ms == 2000 * unit_s


def test_the_regulations_may_lay_down_the_seconds() -> None:
    system = byoyomi(unit_s=30, periods=2)
    calls = list(reading(system, 0, 15, 25, 29, 30, 45).calls(system.start(), 60_000))
    assert [call.label for call in calls] == ["15", "25", "29", "30", "15", "5", "9", "10"]
    assert [call.after_ms // 1000 for call in calls] == [15, 25, 29, 30, 45, 55, 59, 60]


def test_ten_thousand_periods_are_read_as_they_are_asked_for() -> None:
    system = byoyomi(unit_s=30, periods=10_000_000)
    calls = reading(system).calls(system.start(), t("99999:00:00"))
    assert [next(calls).label for _ in range(4)] == ["10", "20", "30", "10"]
