"""Time systems against every table and example of the rules on clocks (rules 3.1, 3.5, 3.6), and what
holds of a clock in any of them."""

from __future__ import annotations

import pytest
from support.events import t
from support.timing import NEVER, at, byoyomi, play, regulations, timed

from caipan.rules.clocks import ClockFace, SideClock
from caipan.rules.regimes import time_problem, time_system
from caipan.v1.facts_pb2 import ClockExpired
from caipan.v1.regulations_pb2 import Regulations

# 3.1 basic time, 3.5 absolute time


def test_cn2002_12_2_a_move_uses_what_it_took() -> None:
    system = timed("BASIC", "2:00:00")
    clock = system.start()
    play(system, clock, t("12:30"))
    assert system.face(clock) == ClockFace(t("12:30"), t("1:47:30"), False, False)


@pytest.mark.parametrize("regime", ["BASIC", "ABSOLUTE", "FISCHER"])
@pytest.mark.parametrize(
    ("used", "inclusive", "over_after", "left_ms", "is_boundary"),
    [
        ("44:59.999", False, NEVER, 1, False),
        ("45:00", False, NEVER, 0, True),
        ("45:00.001", False, t("45:00.001"), 0, False),
        ("46:00", False, t("45:00.001"), 0, False),
        ("44:59.999", True, NEVER, 1, False),
        ("45:00", True, t("45:00"), 0, False),
    ],
)
def test_cn2002_12_4_a_limit_used_up_exactly_is_a_boundary_and_more_is_overtime(
    regime: str, used: str, inclusive: bool, over_after: int, left_ms: int, is_boundary: bool
) -> None:
    system = timed(regime, "45:00", limit_inclusive=inclusive)
    clock = system.start()
    assert system.spend(clock, t(used)) == over_after
    assert system.face(clock) == ClockFace(t(used), left_ms, over_after != NEVER, is_boundary)
    assert system.limit == ClockExpired.LIMIT_BASIC


def test_cn2002_12_4_3_dame_are_timed_too() -> None:
    system = timed("ABSOLUTE", "45:00")
    clock = at(system, "44:57")
    assert [play(system, clock, 2000) for _ in range(3)] == [NEVER, 1001, NEVER]
    assert (system.is_over(clock), clock.used_ms, system.left_ms(clock)) == (True, t("45:03"), 0)


def test_overtime_is_told_once() -> None:
    system = timed("ABSOLUTE", "45:00")
    clock = at(system, "45:00")
    assert (system.spend(clock, 0), system.spend(clock, 1), system.spend(clock, 1)) == (NEVER, 1, NEVER)


# 3.6 stage time, Canadian time


def test_cn2002_12_5_table_of_three_stages() -> None:
    system = timed("STAGE", "1:00:00", stage_moves=15, stage_s=600)
    clock = at(system, "59:50")
    rows, over = [], NEVER
    for last_move_at in ("8:30", "11:30"):
        first = t("0:10") if clock.stage == 0 else 0  # the basic time runs out during move 1 of stage 1
        budget = system.face(clock, first + 1).budget_ms
        assert play(system, clock, first + t(last_move_at)) == NEVER
        assert system.face(clock).moves_left == 14
        assert [play(system, clock, 0) for _ in range(14)] == [NEVER] * 14
        rows.append((clock.stage - 1, budget, clock.budget_ms - t("10:00")))
    assert rows == [(1, t("10:00"), t("1:30")), (2, t("11:30"), 0)]
    assert clock.used_ms == t("1:20:00")
    for _ in range(14):
        assert play(system, clock, t("0:42")) == NEVER
    assert system.face(clock) == ClockFace(t("1:29:48"), 12_000, False, False, None, None, 3, 1, t("10:00"))
    assert system.face(clock, 12_000).is_boundary
    over = system.spend(clock, 12_001)
    assert (over, system.left_ms(clock), system.limit) == (12_001, 0, ClockExpired.LIMIT_STAGE)
    system.complete_move(clock)
    assert (clock.stage, clock.moves) == (3, 14)


@pytest.mark.parametrize(
    ("inclusive", "over_after"), [(False, t("10:00.001")), (True, t("10:00"))], ids=["exceeding", "reaching"]
)
def test_cn2002_12_5_the_key_decides_whether_reaching_a_stage_is_overtime(inclusive: bool, over_after: int) -> None:
    system = timed("STAGE", "1:00:00", stage_moves=15, stage_s=600, limit_inclusive=inclusive)
    clock = at(system, "1:00:00")
    assert (system.is_over(clock), system.until_overtime_ms(clock)) == (False, over_after)
    assert system.spend(clock, t("11:00")) == over_after


def test_cn2002_12_5_the_move_that_uses_up_the_basic_time_is_the_first_of_stage_1() -> None:
    system = timed("STAGE", "1:00:00", stage_moves=15, stage_s=600)
    for used, stage, moves_left in (("59:59.999", None, None), ("1:00:00", 1, 14), ("1:00:00.001", 1, 14)):
        clock = system.start()
        play(system, clock, t(used))
        assert system.face(clock)[6:8] == (stage, moves_left)


def test_cn2002_12_5_before_the_first_stage_its_time_is_still_to_come() -> None:
    system = timed("STAGE", "1:00:00", stage_moves=15, stage_s=600)
    clock = system.start()
    assert (system.left_ms(clock), system.until_overtime_ms(clock)) == (t("1:00:00"), t("1:10:00.001"))
    assert system.spend(clock, t("1:10:00.001")) == t("1:10:00.001")


def test_reg_canadian_carries_nothing_over() -> None:
    system = timed("CANADIAN", "1:00:00", stage_moves=2, stage_s=600)
    clock = at(system, "1:00:00")
    play(system, clock, t("1:00"))
    play(system, clock, t("1:00"))
    assert system.face(clock) == ClockFace(t("1:02:00"), t("10:00"), False, False, None, None, 2, 2, t("10:00"))
    assert system.spend(clock, t("10:00.001")) == t("10:00.001")


def test_reg_canadian_without_basic_time_is_in_its_first_stage_from_the_start() -> None:
    system = timed("CANADIAN", stage_moves=2, stage_s=600)
    clock = system.start()
    play(system, clock, 0)
    assert system.face(clock) == ClockFace(0, t("10:00"), False, False, None, None, 1, 1, t("10:00"))


# Fischer time


def test_reg_fischer_a_move_is_granted_time_and_time_used_does_not_fall() -> None:
    system = timed("FISCHER", "5:00", increment_s=10)
    clock = system.start()
    play(system, clock, t("0:30"))
    assert (clock.used_ms, system.left_ms(clock)) == (t("0:30"), t("4:40"))
    assert system.until_overtime_ms(clock) == t("4:40.001")


@pytest.mark.parametrize(
    ("spent", "left"), [("0", "5:00"), ("0:04", "5:00"), ("0:10", "5:00"), ("0:11", "4:59")], ids=str
)
def test_reg_fischer_an_increment_lifts_no_clock_above_the_cap(spent: str, left: str) -> None:
    system = timed("FISCHER", "5:00", increment_s=10, cap_s=300)
    clock = system.start()
    play(system, clock, t(spent))
    assert system.left_ms(clock) == t(left)


def test_reg_fischer_what_was_above_the_cap_at_the_start_stays() -> None:
    system = timed("FISCHER", "5:00", increment_s=10, cap_s=60)
    clock = system.start()
    play(system, clock, t("0:01"))
    assert system.left_ms(clock) == t("4:59")


@pytest.mark.parametrize(("spent", "left"), [("5:00", 10_000), ("5:00.001", 0)])
def test_reg_fischer_only_a_move_in_time_is_granted_any(spent: str, left: int) -> None:
    system = timed("FISCHER", "5:00", increment_s=10)
    clock = system.start()
    play(system, clock, t(spent))
    assert system.left_ms(clock) == left


# Asking, packing


def test_e06_asking_changes_nothing_and_takes_the_instant() -> None:
    system = byoyomi("1:00", retained_minutes=1)
    clock = system.start()
    packed = clock.pack()
    assert [system.face(clock, ms).count_ms for ms in (41_000, 0, 41_000)] == [41_000, 0, 41_000]
    assert clock.pack() == packed


def test_the_packed_form_is_as_written_down() -> None:
    clock = SideClock(used_ms=1, count_ms=2, granted_ms=3, stage=4, moves=5, budget_ms=6)
    assert clock.pack() == b"".join(number.to_bytes(8, "big") for number in range(1, 7))


def test_a_clock_is_itself_and_not_what_it_is_a_copy_of() -> None:
    clock = SideClock(used_ms=1)
    copy = clock.copy()
    copy.used_ms = 2
    assert (clock.used_ms, repr(copy)) == (1, "SideClock(used_ms=2)")
    assert clock != clock.pack()
    with pytest.raises(TypeError):
        hash(clock)


# Regulations


def test_untimed_games_have_no_system() -> None:
    untimed = Regulations(untimed=True)
    assert (time_system(untimed), time_problem(untimed)) == (None, None)


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        (regulations("UNSPECIFIED"), "regime"),
        (regulations("BASIC"), "basic_time_s"),
        (regulations("ABSOLUTE"), "basic_time_s"),
        (regulations("FISCHER", increment_s=10), "basic_time_s"),
        (regulations("BYOYOMI"), "basic_time_s"),
        (regulations("BYOYOMI", "4:59"), "basic_time_s"),
        (regulations("BYOYOMI", "2:00:00", retained_minutes=0), "retained_minutes"),
        (regulations("BYOYOMI", "2:00:00", unit_s=30), "unit_s"),
        (regulations("BYOYOMI", "2:00:00", periods=3, unit_s=0), "unit_s"),
        (regulations("STAGE", "2:00:00", stage_s=600), "stage_moves"),
        (regulations("CANADIAN", "2:00:00", stage_moves=15), "stage_s"),
        (regulations("BYOYOMI", unit_s=2**31 - 1, periods=2**31 - 1), "basic_time_s"),
        (regulations("FISCHER", "5:00", increment_s=2**31 - 1), "increment_s"),
        (regulations("STAGE", "5:00", stage_moves=1, stage_s=2**31 - 1), "stage_s"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_regulations_that_make_no_system_say_which_key_is_wrong(asked: Regulations, key: str) -> None:
    problem = time_problem(asked)
    assert problem is not None
    assert problem[0] == key
    assert time_system(asked) is None


@pytest.mark.parametrize(
    "asked",
    [
        regulations("BYOYOMI", "5:00"),
        regulations("BYOYOMI", unit_s=30, periods=3),
        regulations("BYOYOMI", periods=3, retained_minutes=0),
        regulations("STAGE", stage_moves=15, stage_s=600),
        regulations("FISCHER", "0:01"),
    ],
    ids=["all of it retained", "quick", "periods alone", "no basic time", "no increment"],
)
def test_regulations_that_just_suffice(asked: Regulations) -> None:
    assert time_problem(asked) is None
    assert time_system(asked) is not None
