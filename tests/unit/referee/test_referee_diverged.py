"""Outcomes that contradict the events: nothing is overwritten, that game stops, the others go on."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs
from support.hall import (
    EVENTS,
    OUTCOMES,
    STATE,
    judge_all,
    judged_alone,
    numbers,
    play,
    record,
    referee_of,
    stone,
    written,
)

from caipan.eventlog import EventLog, NewRecord, guard
from caipan.eventlog.embedded import EmbeddedLog
from caipan.referee.mark import MARK_KEY
from caipan.rules.game import Game, Judged
from caipan.v1.event_pb2 import Event
from caipan.v1.outcome_pb2 import Outcome, OutcomeRecord

from .faults import Crash, FaultyLog


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[EventLog]:
    """A log of one partition with two games of 11 events, nothing judged."""
    async with EmbeddedLog(tmp_path / "log.db", 1) as log:
        games = [play(game_id, 10, random.Random(1)) for game_id in ("good", "bad")]
        await log.append(EVENTS, [record(said) for pair in zip(*games, strict=True) for said in pair])
        yield log


async def judged_without_checkpoint(log: EventLog) -> None:
    """As a referee that is killed leaves it."""
    await referee_of(log, 0)
    next_offset, states = await log.restore(STATE, 0)
    assert (next_offset, set(states)) == (0, {MARK_KEY})


def forged(value: bytes, seq: int = 0) -> bytes:
    """This outcome with another head, and for another seq if one is given."""
    outcome = Outcome.FromString(value)
    outcome.verdict.seq = seq or outcome.verdict.seq
    body = outcome.verdict.SerializeToString()
    return OutcomeRecord(verdict=body, prev_head=outcome.prev_head, head=bytes(32)).SerializeToString()


async def put(log: EventLog, *values: bytes) -> None:
    await log.append(OUTCOMES, [NewRecord(b"bad", value) for value in values])


async def more_of_both(log: EventLog) -> None:
    await log.append(EVENTS, [record(stone(game_id, 12, "C3")) for game_id in ("good", "bad")])


async def assert_only_bad_stops(log: EventLog, reason: str) -> None:
    """The next referee, and those after it, write nothing for `bad`, say so once, and judge `good` to its end."""
    with capture_logs() as logs:
        (referee,) = await judge_all(log)
    assert [(said["event"], said["game_id"]) for said in logs if said["log_level"] == "error"] == [("diverged", "bad")]
    assert list(referee.stopped) == ["bad"]
    assert reason in referee.stopped["bad"]
    before = (await written(log))[b"bad"]
    for number in (12, 13):
        await log.append(EVENTS, [record(stone(game_id, number, "J9")) for game_id in ("good", "bad")])
        with capture_logs() as logs:
            (referee,) = await judge_all(log)
        assert list(referee.stopped) == ["bad"]
        outcomes = await written(log)
        assert outcomes[b"good"] == (await judged_alone(log))[b"good"]
        assert outcomes[b"bad"] == before


@pytest.mark.parametrize("seq", [1, 5, 11])
async def test_another_outcome_stands_for_an_event_that_is_yet_to_be_judged(log: EventLog, seq: int) -> None:
    poison = forged((await judged_alone(log))[b"bad"][seq - 1])
    await put(log, poison)
    await assert_only_bad_stops(log, f"another outcome stands for seq {seq}")
    outcomes = (await written(log))[b"bad"]
    assert outcomes[0] == poison
    assert numbers(outcomes[1:]) == list(range(1, seq))


async def test_a_recovery_cut_short_forgets_no_contradiction(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    await put(log, forged((await judged_alone(log))[b"bad"][10]))
    monkeypatch.setattr(guard, "_READ", 5)
    faulty = FaultyLog(log)
    faulty.after = {5}
    with pytest.raises(Crash):
        await referee_of(faulty, 0, checkpoint_events=5)
    next_offset, _ = await log.restore(STATE, 0)
    assert 0 < next_offset < 22
    await assert_only_bad_stops(log, "another outcome stands for seq 11")


async def test_a_second_outcome_was_written_behind_the_first(log: EventLog) -> None:
    await judged_without_checkpoint(log)
    await put(log, forged((await written(log))[b"bad"][4]))
    await assert_only_bad_stops(log, "two outcomes of one seq")


@pytest.mark.parametrize("checkpointed", [False, True])
async def test_an_outcome_stands_that_no_event_gives(log: EventLog, checkpointed: bool) -> None:
    await (judge_all(log) if checkpointed else judged_without_checkpoint(log))
    await put(log, forged((await written(log))[b"bad"][0], seq=12))
    await assert_only_bad_stops(log, "an outcome of seq 12 stands that no event gives")


async def test_an_outcome_stands_of_a_game_without_events(log: EventLog) -> None:
    judged = await judged_alone(log)
    stranger = Outcome.FromString(judged[b"bad"][0])
    stranger.verdict.game_id = "stranger"
    await log.append(OUTCOMES, [NewRecord(b"stranger", stranger.SerializeToString())])
    (referee,) = await judge_all(log)
    assert list(referee.stopped) == ["stranger"]
    outcomes = await written(log)
    assert {key: outcomes[key] for key in judged} == judged


async def test_the_last_outcome_of_a_game_at_rest_was_written_otherwise(log: EventLog) -> None:
    await judge_all(log)
    await put(log, forged((await written(log))[b"bad"][10]))
    await assert_only_bad_stops(log, "another outcome stands for seq 11")


async def test_outcomes_that_are_repeated_contradict_nothing(log: EventLog) -> None:
    await judged_without_checkpoint(log)
    outcomes = (await written(log))[b"bad"]
    await put(log, *outcomes[3:7], *outcomes)
    (referee,) = await judge_all(log)
    assert not referee.stopped
    await put(log, *outcomes[2:])  # behind the checkpoint
    await more_of_both(log)
    (referee,) = await judge_all(log)
    assert not referee.stopped
    assert len((await written(log))[b"bad"]) == 11 + 4 + 11 + 9 + 1
    assert (await written(log))[b"good"] == (await judged_alone(log))[b"good"]


async def test_a_record_that_is_no_outcome_is_passed_over_and_named(log: EventLog) -> None:
    await judged_without_checkpoint(log)
    end = await log.end(OUTCOMES, 0)
    await put(log, b"\xff\xff")
    with capture_logs() as logs:
        (referee,) = await judge_all(log)
    assert not referee.stopped
    assert [(said["event"], said["offset"]) for said in logs] == [("unreadable_outcome", end)]
    assert (await written(log))[b"bad"][:-1] == (await judged_alone(log))[b"bad"]


async def test_a_fault_in_the_fold_of_one_game_does_not_stop_the_others(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(game: Game, event: Event, *rest: Any) -> list[Judged]:
        if event.event_id == "bad-5":
            raise RuntimeError("a fault")
        return apply(game, event, *rest)

    apply = Game.apply
    expected = await judged_alone(log)
    monkeypatch.setattr(Game, "apply", faulty)
    with capture_logs() as logs:
        (referee,) = await judge_all(log)
    assert [(said["event"], said["game_id"], said["offset"]) for said in logs] == [("fold_failed", "bad", 9)]
    outcomes = await written(log)
    assert outcomes[b"good"] == expected[b"good"]
    assert outcomes[b"bad"] == expected[b"bad"][:4]
    assert "fold failed at offset 9" in referee.stopped["bad"]
