"""The referee writes what the rules make of each game, and nothing else."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from support.hall import (
    EVENTS,
    OUTCOMES,
    PARTITIONS,
    QUARANTINE,
    everything,
    incidents,
    interleaved,
    judge_all,
    judged_alone,
    numbers,
    opened,
    passes,
    play,
    read_all,
    record,
    referee_of,
    replaced,
    retracted,
    slices,
    stone,
    write,
    written,
)

from caipan.eventlog import EventLog, partition_of
from caipan.eventlog.embedded import EmbeddedLog
from caipan.referee import Referee
from caipan.v1.outcome_pb2 import STATUS_DUPLICATE, STATUS_FOLDED, STATUS_PARKED, STATUS_REFUSED, Outcome, Verdict

from .faults import FaultyLog


async def heads(log: EventLog) -> dict[tuple[str, int], bytes]:
    outcomes = [Outcome.FromString(found.value) for found in await everything(log, OUTCOMES)]
    return {(outcome.verdict.game_id, outcome.verdict.seq): outcome.head for outcome in outcomes}


async def verdicts(log: EventLog, game_id: str) -> list[Verdict]:
    return [Outcome.FromString(found.value).verdict for found in await log.read_key(OUTCOMES, game_id.encode())]


@pytest.mark.parametrize("seed", range(5))
async def test_the_outcomes_of_interleaved_games_are_those_of_each_game_alone(log: EventLog, seed: int) -> None:
    await write(log, seed)
    await judge_all(log)
    outcomes = await written(log)
    assert outcomes == await judged_alone(log)
    assert {partition_of(key, PARTITIONS) for key in outcomes} == set(range(PARTITIONS))
    for values in outcomes.values():
        assert numbers(values) == list(range(1, len(numbers(values)) + 1))


@pytest.mark.parametrize("seed", range(5))
async def test_the_size_of_batches_changes_no_byte(log: EventLog, seed: int) -> None:
    await write(log, seed)
    for partition in range(PARTITIONS):
        referee = Referee(log, partition, checkpoint_events=25, games_kept=1)
        await referee.recover()
        records = await read_all(log, EVENTS, partition)
        for batch in slices(records, random.Random(seed)):
            await referee.feed(batch)
    assert await written(log) == await judged_alone(log)


async def test_the_order_between_games_changes_no_head(log: EventLog, tmp_path: Path) -> None:
    games = incidents(random.Random(3))[:-1]
    async with EmbeddedLog(tmp_path / "other.db", PARTITIONS) as other:
        for game in games:  # one after the other
            await log.append(EVENTS, game)
        await other.append(EVENTS, interleaved(games, random.Random(4)))
        await judge_all(log)
        await judge_all(other)
        assert await heads(log) == await heads(other)


async def test_a_batch_is_one_append_in_the_partition_of_its_events(log: EventLog) -> None:
    await write(log)
    watched = FaultyLog(log)
    records = await read_all(log, EVENTS, 2)
    referee = Referee(watched, 2)
    await referee.feed(records)
    assert watched.writes == [QUARANTINE, OUTCOMES]
    _, outcomes = watched.appended[1]
    assert {new.partition for new in outcomes} == {2}
    assert [Outcome.FromString(new.value).verdict.game_id.encode() for new in outcomes] == [new.key for new in outcomes]


async def test_a_retracted_and_a_replaced_stone_revise_what_was_judged(log: EventLog) -> None:
    game = [opened("g"), stone("g", 2, "C3"), stone("g", 3, "C3"), retracted("g", 4, "g-3"), stone("g", 5, "D4")]
    game += [replaced("g", 6, "g-2", "E5"), stone("g", 7, "C3")]
    await log.append(EVENTS, [record(said) for said in game])
    await judge_all(log)
    judged = await verdicts(log, "g")
    assert [verdict.status for verdict in judged] == [STATUS_FOLDED] * 7
    assert judged[2].findings
    assert [revision.seq for revision in judged[3].revised] == [3]
    assert not judged[3].revised[0].HasField("after")
    assert (list(judged[5].removed), list(judged[5].added_black)) == (["C3"], ["E5"])
    assert await written(log) == await judged_alone(log)


async def test_a_correction_after_a_restart_knows_the_whole_game(log: EventLog) -> None:
    await log.append(EVENTS, [record(said) for said in play("other", 10, random.Random(1))])
    await log.append(EVENTS, [record(said) for said in [opened("g"), stone("g", 2, "C3")]])
    await judge_all(log)
    await log.append(EVENTS, [record(replaced("g", 3, "g-2", "E5"))])
    await judge_all(log)
    assert list((await verdicts(log, "g"))[-1].added_black) == ["E5"]
    assert await written(log) == await judged_alone(log)


async def test_facts_before_the_opening_wait_for_it(log: EventLog) -> None:
    await log.append(EVENTS, [record(stone("g", 2, "C3")), record(stone("g", 3, "D4"))])
    await judge_all(log)
    assert [verdict.status for verdict in await verdicts(log, "g")] == [STATUS_PARKED] * 2
    await log.append(EVENTS, [record(opened("g"))])
    await judge_all(log)
    judged = await verdicts(log, "g")
    assert [(verdict.seq, verdict.event_id) for verdict in judged[2:]] == [(1, "g-1"), (2, "g-2"), (3, "g-3")]


async def test_a_correction_that_waited_for_the_opening_is_refused_or_judged_with_the_history(log: EventLog) -> None:
    waiting = [stone("g", 2, "C3"), retracted("g", 3, "g-2"), retracted("g", 4, "never")]
    await log.append(EVENTS, [record(said) for said in [*waiting, opened("g")]])
    await judge_all(log)
    judged = [verdict for verdict in await verdicts(log, "g") if verdict.seq]
    assert [verdict.event_id for verdict in judged] == ["g-1", "g-2", "g-3", "g-4"]
    assert list(judged[2].removed) == ["C3"]
    assert judged[3].status == STATUS_REFUSED


async def test_a_finished_game_is_judged_to_its_end_and_a_repeated_event_points_to_its_outcome(log: EventLog) -> None:
    game = [opened("g"), stone("g", 2, "C3"), *passes("g", 3)]
    await log.append(EVENTS, [record(said) for said in [*game, game[1]]])
    await judge_all(log)
    *judged, again = await verdicts(log, "g")
    assert [verdict.seq for verdict in judged] == [1, 2, 3, 4]
    assert (again.status, again.original.seq) == (STATUS_DUPLICATE, 2)


async def test_other_tasks_have_their_turn_while_a_large_batch_is_judged(log: EventLog) -> None:
    partition = partition_of(b"g", PARTITIONS)
    referee = await referee_of(log, partition)
    game = [opened("g"), *(stone("g", number, "C3") for number in range(2, 1001))]
    await log.append(EVENTS, [record(said) for said in game])
    steps = [0]

    async def look() -> None:
        while True:
            steps.append(referee.guard.next_offset)
            await asyncio.sleep(0)

    looking = asyncio.create_task(look())
    await referee.feed(await log.read(EVENTS, partition, 0))
    looking.cancel()
    assert referee.guard.next_offset == 1000
    assert max(after - before for before, after in zip(steps, [*steps[1:], 1000], strict=True)) <= 200
