"""What a repeated event was answered the first time: found wherever it stands, and no further back than needed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from caipan.eventlog import NewRecord, Record, partition_of
from caipan.eventlog.embedded import EmbeddedLog
from caipan.gateway.originals import OUTCOMES, Recent, answer, originals
from caipan.v1.intake_service_pb2 import Appended
from caipan.v1.outcome_pb2 import (
    FINDING_KIND_ID_CONFLICT,
    STATUS_DUPLICATE,
    STATUS_FOLDED,
    STATUS_PARKED,
    Outcome,
    Status,
)

PARTITION = partition_of(b"g1", 1)


class CountedLog(EmbeddedLog):
    """A log that remembers which ranges were searched for a key."""

    ranges: list[tuple[int, int | None]]

    async def read_key(self, topic: str, key: bytes, start: int = 0, end: int | None = None) -> list[Record]:
        self.ranges.append((start, end))
        return await super().read_key(topic, key, start, end)


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[CountedLog]:
    log = CountedLog(tmp_path / "log.db", partitions=1)
    log.ranges = []
    async with log:
        yield log


def outcome(seq: int, event_id: str, status: Status = STATUS_FOLDED, **verdict: Any) -> Outcome:
    made = Outcome(partition=PARTITION, offset=100 + seq)
    made.verdict.game_id, made.verdict.seq, made.verdict.event_id = "g1", seq, event_id
    made.verdict.status = status
    if verdict.get("opened"):
        made.verdict.opened.SetInParent()
    if verdict.get("conflict"):
        made.verdict.findings.add(kind=FINDING_KIND_ID_CONFLICT)
    return made


def parked(event_id: str) -> Outcome:
    return outcome(0, event_id, STATUS_PARKED)


def notice(event_id: str, seq: int = 0, offset: int = 9) -> Outcome:
    made = outcome(0, event_id, STATUS_DUPLICATE)
    made.verdict.original.seq, made.offset = seq, offset
    return made


async def write(log: EmbeddedLog, outcomes: Sequence[Outcome], game: bytes = b"g1") -> None:
    await log.append(OUTCOMES, [NewRecord(game, each.SerializeToString(), partition=PARTITION) for each in outcomes])


async def remembered(log: EmbeddedLog, start: int = 0, **room: int) -> Recent:
    recent = Recent(**room)
    while batch := await log.read(OUTCOMES, PARTITION, start):
        for record in batch:
            recent.add(record)
        start = batch[-1].offset + 1
    return recent


GAME = [outcome(1, "open", opened=True), *(outcome(number, f"m{number}") for number in range(2, 50))]


@pytest.mark.parametrize("kept_from", [0, 20, 49])
async def test_an_original_is_found_by_seq_or_by_the_id_of_the_event(log: CountedLog, kept_from: int) -> None:
    await write(log, [parked("m7"), *GAME, parked("late")])
    recent = await remembered(log, kept_from)
    wanted = {"m7": GAME[6], "m30": GAME[29], "open": GAME[0], "late": parked("late")}
    by_id = [notice(event_id, offset=900 + number) for number, event_id in enumerate(wanted)]
    found = await originals(log, recent, by_id)
    assert found == {(PARTITION, 900 + number): each for number, each in enumerate(wanted.values())}
    assert await originals(log, recent, [notice("other", seq=7)]) == {(PARTITION, 9): GAME[6]}


async def test_what_came_lately_is_not_read_again(log: CountedLog) -> None:
    await write(log, GAME)
    recent = await remembered(log)
    assert len(await originals(log, recent, [notice("m49"), notice("m2", offset=10)])) == 2
    assert await originals(log, recent, []) == {}
    assert log.ranges == []


async def test_a_long_log_is_read_no_further_back_than_needed(log: CountedLog) -> None:
    await write(log, GAME[:-1])
    await write(log, GAME * 60, game=b"g2")  # some 3,000 outcomes of another game
    await write(log, GAME[-1:])
    recent = await remembered(log, 2950)
    found = await originals(log, recent, [notice("m48")])
    assert found == {(PARTITION, 9): GAME[-2]}
    end = len(GAME) - 1 + len(GAME) * 60
    assert log.ranges == [(end - 1000, end), (0, end - 1000)]
    log.ranges.clear()
    assert await originals(log, recent, [notice("m49")]) == {(PARTITION, 9): GAME[-1]}
    assert log.ranges == []


async def test_before_the_opening_of_the_game_nothing_is_looked_for(log: CountedLog) -> None:
    await write(log, GAME * 60, game=b"g2")
    await write(log, GAME)
    recent = await remembered(log)
    assert await originals(log, recent, [notice("unheard of")]) == {}
    assert log.ranges == []


async def test_of_a_game_that_is_not_open_all_is_looked_through(log: CountedLog) -> None:
    await write(log, [parked("early")])
    await write(log, GAME * 30, game=b"g2")
    found = await originals(log, Recent(), [notice("early"), notice("x", offset=10)])
    assert found == {(PARTITION, 9): parked("early")}


async def test_the_outcome_of_another_event_with_the_same_id_is_not_the_original(log: CountedLog) -> None:
    await write(log, [*GAME, outcome(50, "m7", conflict=True)])
    recent = await remembered(log)
    assert await originals(log, recent, [notice("m7")]) == {(PARTITION, 9): GAME[6]}
    assert await originals(log, recent, [notice("m7", seq=50)]) == {(PARTITION, 9): outcome(50, "m7", conflict=True)}


async def test_an_event_that_waited_is_answered_with_its_verdict(log: CountedLog) -> None:
    await write(log, [GAME[0], parked("m3"), *GAME[1:]])
    assert await originals(log, await remembered(log), [notice("m3")]) == {(PARTITION, 9): GAME[2]}


async def test_each_game_is_searched_for_itself(log: CountedLog) -> None:
    other = outcome(2, "m2")
    other.verdict.game_id = "g2"
    await write(log, [other], game=b"g2")
    await write(log, GAME)
    about_other = notice("m2", offset=10)
    about_other.verdict.game_id = "g2"
    found = await originals(log, await remembered(log), [notice("m2"), about_other])
    assert found == {(PARTITION, 9): GAME[1], (PARTITION, 10): other}


async def test_what_is_remembered_is_bounded_and_of_each_game_without_a_gap(log: CountedLog) -> None:
    await write(log, GAME)
    await write(log, [GAME[0]], game=b"g2")
    await write(log, GAME)
    recent = await remembered(log, room_bytes=10_000)
    kept = list(recent.latest_first(b"g1"))
    assert 20 < len(kept) < len(GAME)
    assert kept == [each.SerializeToString() for each in reversed(GAME[-len(kept) :])]
    assert recent.since(b"g1") == 2 * len(GAME) + 1 - len(kept)
    assert recent.since(b"g2") is None
    assert len(recent._games) == 1
    assert len(recent._order) == len(kept)


def test_a_record_larger_than_the_room_is_not_remembered() -> None:
    recent = Recent(room_bytes=1000)
    for offset, size in enumerate((10, 2000, 10)):
        recent.add(Record(OUTCOMES, 0, offset, b"g1", b"x" * size, (), 0))
    assert recent.since(b"g1") == 2


@pytest.mark.parametrize(
    ("told", "found", "status", "first"),
    [
        (GAME[2], None, STATUS_FOLDED, GAME[2]),
        (parked("m3"), None, STATUS_PARKED, parked("m3")),
        (notice("m3"), GAME[2], STATUS_DUPLICATE, GAME[2]),
        (notice("m3"), parked("m3"), STATUS_PARKED, parked("m3")),
        (notice("m3"), None, STATUS_DUPLICATE, None),
    ],
)
def test_an_event_that_came_again_gets_the_answer_of_the_first_time(
    told: Outcome, found: Outcome | None, status: int, first: Outcome | None
) -> None:
    result = Appended()
    answer(result, told, {(PARTITION, 9): found} if found else {})
    assert result == Appended(status=status, outcome=first)
