"""What holds on every clock, whatever is spent, moved and set."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.timing import NEVER, byoyomi, timed

from caipan.rules.clocks import SideClock
from caipan.rules.readings import in_proportion, is_faulty
from caipan.rules.timesystems import TimeSystem

SYSTEMS = [
    timed("BASIC", "3:00"),
    timed("ABSOLUTE", "3:00", limit_inclusive=True),
    byoyomi("5:00", retained_minutes=3),
    byoyomi("3:00", retained_minutes=3),
    byoyomi("1:00", unit_s=10, periods=4),
    timed("STAGE", "2:00", stage_moves=3, stage_s=30),
    timed("STAGE", "2:00", stage_moves=1, stage_s=30, limit_inclusive=True),
    timed("STAGE", stage_moves=3, stage_s=30),
    timed("CANADIAN", "2:00", stage_moves=3, stage_s=30),
    timed("FISCHER", "2:00", increment_s=5),
    timed("FISCHER", "2:00", increment_s=30, cap_s=150, limit_inclusive=True),
]
SPOKEN = byoyomi("3:00", retained_minutes=2, is_spoken=True)

spans = st.one_of(
    st.integers(0, 80_000), st.sampled_from([0, 1, 9_999, 10_000, 29_999, 30_000, 30_001, 59_999, 60_000, 60_001])
)
Line = list[tuple[int, bool]]
lines: st.SearchStrategy[Line] = st.lists(st.tuples(spans, st.booleans()), max_size=25)  # time spent; the move done


def after(system: TimeSystem, line: Line) -> SideClock:
    clock = system.start()
    for ms, is_done in line:
        system.spend(clock, ms)
        if is_done:
            system.complete_move(clock)
    return clock


@pytest.mark.parametrize("system", [*SYSTEMS, SPOKEN], ids=lambda system: type(system).__name__)
@given(line=lines, slices=st.lists(spans, min_size=1, max_size=8))
def test_time_in_slices_is_time_at_once(system: TimeSystem, line: Line, slices: list[int]) -> None:
    whole, sliced = after(system, line), after(system, line)
    at_once = system.spend(whole, sum(slices))
    told = [(sum(slices[:place]) + ms) for place, each in enumerate(slices) if (ms := system.spend(sliced, each)) >= 0]
    assert whole == sliced
    assert told == ([at_once] if at_once != NEVER else [])


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: type(system).__name__)
@given(line=lines, ms=spans)
def test_asked_at_any_instant_the_time_until_overtime_is_exact(system: TimeSystem, line: Line, ms: int) -> None:
    clock = after(system, line)
    until = system.until_overtime_ms(clock)
    assert until is not None
    assert (until == 0) == system.is_over(clock)
    if until:
        assert not system.face(clock, until - 1).is_over
        assert system.face(clock, until).is_over
    later = clock.copy()
    assert (system.spend(later, ms) != NEVER) == (0 < until <= ms)
    assert system.until_overtime_ms(later) == max(0, until - ms)


@pytest.mark.parametrize("system", [*SYSTEMS, SPOKEN], ids=lambda system: type(system).__name__)
@given(line=lines)
def test_time_used_never_falls_and_time_left_is_never_negative(system: TimeSystem, line: Line) -> None:
    clock, used_ms = system.start(), 0
    for ms, is_done in line:
        spent = system.face(clock, ms)
        system.spend(clock, ms)
        assert system.face(clock) == spent
        if is_done:
            system.complete_move(clock)
        for face in (spent, system.face(clock)):
            assert face.used_ms >= used_ms
            assert face.left_ms >= 0
            assert min(face.count_ms or 0, face.units_left or 0, face.budget_ms or 0) >= 0
            assert (face.left_ms == 0) == (face.is_over or face.is_boundary)
            used_ms = face.used_ms


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: type(system).__name__)
@given(line=lines, ms=spans)
def test_what_is_left_grows_only_with_an_increment_or_a_stage(system: TimeSystem, line: Line, ms: int) -> None:
    clock = after(system, line)
    left_ms, granted_ms = system.left_ms(clock), clock.granted_ms
    system.spend(clock, ms)
    system.complete_move(clock)
    assert system.left_ms(clock) - left_ms <= clock.granted_ms - granted_ms
    assert clock.granted_ms == granted_ms or type(system).__name__ in ("Fischer", "Stages")


@pytest.mark.parametrize("system", [*SYSTEMS, SPOKEN], ids=lambda system: type(system).__name__)
@given(line=lines, used_ms=st.integers(0, 400_000), rest=lines)
def test_any_setting_leaves_a_clock_that_goes_on(system: TimeSystem, line: Line, used_ms: int, rest: Line) -> None:
    clock = after(system, line)
    assert system.set_used(clock, used_ms)
    for ms, is_done in rest:
        resumed = SideClock.unpack(clock.pack())
        assert resumed == clock
        assert system.spend(clock, ms) == system.spend(resumed, ms)
        if is_done:
            system.complete_move(clock)
        face = system.face(clock)
        assert face.left_ms >= 0
        assert face.budget_ms is None or face.left_ms <= face.budget_ms


@given(line=lines, ms=st.integers(-200_000, 400_000))
def test_a_deduction_takes_at_most_what_it_says_and_less_than_a_minute_less(line: Line, ms: int) -> None:
    system = byoyomi("5:00", retained_minutes=3)
    clock = after(system, line)
    before = clock.copy()
    if system.deduct(clock, ms):
        raw_ms = max(0, before.used_ms + before.count_ms + ms)
        assert raw_ms - 60_000 < clock.used_ms <= raw_ms
        assert not system.is_over(clock)
    else:
        assert clock == before
        assert before.used_ms + before.count_ms + ms >= system.whole_ms


times = st.integers(0, 10**8)


@given(elapsed=times, black=times, white=times, limit_s=st.integers(0, 600))
def test_corrected_times_are_in_proportion_add_up_and_are_not_faulty(
    elapsed: int, black: int, white: int, limit_s: int
) -> None:
    corrected = in_proportion(elapsed, black, white)
    assert sum(corrected) == elapsed
    assert min(corrected) >= 0
    assert not is_faulty(elapsed, *corrected, limit_s)
    assert abs(corrected[0] * (black + white) - elapsed * black) <= 500 * (black + white)
