"""What holds of the clocks of every log: time is conserved, and whoever reads the outcomes knows it."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.events import SEATS, actor
from support.play import Play
from support.streams import Act, acts, make_clock_ruling, seeds, timed_openings

from caipan.rules.checkpoint import load, save
from caipan.rules.clockwork import faces, system_of
from caipan.rules.timing import faces_at
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.event_pb2 import (
    EVENT_TYPE_RULING_DECIDED,
    EVENT_TYPE_SESSION_MARKED,
)
from caipan.v1.regulations_pb2 import (
    REGIME_ABSOLUTE,
    REGIME_BASIC,
    REGIME_BYOYOMI,
    REGIME_FISCHER,
)


def played(line: list[Act], how: dict[str, Any], steps: list[int]) -> Play:
    """A game of one source; ``steps``: ms between the facts, again and again."""
    play = Play(4, **how)
    for number, (fact, player) in enumerate(line):
        play.say(fact, player, at=play.now + steps[number % len(steps)])
    return play


steps = st.lists(st.sampled_from([0, 1, 400, 999, 1000, 2000, 4000, 59_999, 60_000]), min_size=1, max_size=9)


def left(play: Play, clocks: pb.Clocks) -> dict[int, int]:
    system = system_of(play.game.table.regulations, play.game.table.opened.observed)
    return {side: face.left_ms for side, face in faces(clocks, system, clocks.since_ms).items()}


def pairs(play: Play) -> list[tuple[pb.Verdict, pb.Verdict]]:
    told = [verdict for verdict in play.verdicts if verdict.HasField("clocks")]
    return list(pairwise(told))


@given(acts(), timed_openings(), steps)
def test_time_left_grows_by_nothing_but_increments_periods_and_stages(
    line: list[Act], how: dict[str, Any], steps: list[int]
) -> None:
    play = played(line, how, steps)
    regulations = play.game.table.regulations
    for before, after in pairs(play):
        if after.event_type == EVENT_TYPE_SESSION_MARKED and not before.move_number:
            continue  # the start of the game sets both clocks to it
        was, now = left(play, before.clocks), left(play, after.clocks)
        for side in (1, 2):
            grown = now[side] - was[side]
            if regulations.regime in (REGIME_BASIC, REGIME_ABSOLUTE):
                assert grown <= 0
            elif regulations.regime == REGIME_FISCHER:
                assert grown <= 2 * 1000 * regulations.increment_s
            elif regulations.regime == REGIME_BYOYOMI and grown > 0:
                assert (was[side], now[side]) == (0, 1000 * regulations.unit_s)
            elif grown > 0:
                details = after.clocks.black if side == 1 else after.clocks.white
                assert details.stage


@given(acts(), timed_openings(), steps)
def test_what_both_use_is_what_has_passed_while_a_clock_ran(
    line: list[Act], how: dict[str, Any], steps: list[int]
) -> None:
    play = played(line, {**how, "regime": REGIME_BASIC, "basic_time_s": 60, "absent_count_s": 0}, steps)
    for before, after in pairs(play):
        passed = after.clocks.since_ms - before.clocks.since_ms
        assert passed >= 0
        if after.event_type == EVENT_TYPE_SESSION_MARKED:
            continue
        used = [each.clocks.black_used_ms + each.clocks.white_used_ms for each in (before, after)]
        assert used[1] - used[0] == (passed if before.clocks.running else 0)


@given(acts(), timed_openings(), steps)
def test_the_clocks_of_a_verdict_tell_those_of_the_next_one(
    line: list[Act], how: dict[str, Any], steps: list[int]
) -> None:
    """What a reader works out from one verdict for the time of the next fact is what the fold has then, less what the
    fact itself does: nobody has used less, and who used more gave the clock away."""
    play = played(line, how, steps)
    system = system_of(play.game.table.regulations, play.game.table.opened.observed)
    for before, after in pairs(play):
        if after.event_type == EVENT_TYPE_SESSION_MARKED:
            continue
        foretold = faces(before.clocks, system, after.clocks.since_ms)
        now = faces(after.clocks, system, after.clocks.since_ms)
        for side in SEATS.values():
            if side and not (
                foretold[side].is_over or foretold[side].stage or now[side].units_left != foretold[side].units_left
            ):
                assert now[side].used_ms == foretold[side].used_ms


@given(acts(), timed_openings(), steps)
def test_the_stored_bytes_of_a_verdict_are_those_of_the_message(
    line: list[Act], how: dict[str, Any], steps: list[int]
) -> None:
    """Most verdicts are written without it."""
    play = Play(4, **how)
    for number, (fact, player) in enumerate(line):
        play.say(fact, player, at=play.now + steps[number % len(steps)])
        for judged in play.judged:
            body = pb.OutcomeRecord.FromString(judged.record).verdict
            assert pb.Verdict.FromString(body).SerializeToString(deterministic=True) == body


@given(acts(), timed_openings(), steps, seeds)
def test_a_restart_at_any_point_gives_the_same(
    line: list[Act], how: dict[str, Any], steps: list[int], seed: int
) -> None:
    play = played(line, how, steps)
    if play.verdict.HasField("clocks"):
        table, at_ms = play.game.table, play.verdict.clocks.since_ms + 70_000
        assert faces_at(table, at_ms) == faces(play.verdict.clocks, table.clockwork.system, at_ms)
    other = Play(4, opening=False)
    for number, (value, _) in enumerate(play.log):
        if (seed >> number % 16) & 1 and number:
            other.game = load(save(other.game))
        other.send_bytes(value)
    assert other.outcomes == play.outcomes
    assert play.again()[1] == play.outcomes


@given(acts(), timed_openings(), steps, seeds)
def test_rulings_on_clocks_never_raise_and_are_whole_or_not_at_all(
    line: list[Act], how: dict[str, Any], steps: list[int], seed: int
) -> None:
    play, random = played(line, how, steps), Random(seed)
    for _ in range(4):
        before = play.verdict.clocks
        ruling = make_clock_ruling(random)
        role = "ARBITER" if ruling.role == 2 else "CHIEF"
        play.say(ruling, source="tablet", by=actor(role, "zhao"), at=play.now)
        assert play.verdict.event_type == EVENT_TYPE_RULING_DECIDED
        if play.status == "REFUSED":
            assert play.verdict.clocks == before
    assert play.again()[1] == play.outcomes
