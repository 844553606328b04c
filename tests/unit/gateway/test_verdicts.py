"""The tail of the outcomes: who is told what, and what is kept no longer than needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from caipan.eventlog import NewRecord
from caipan.eventlog.embedded import EmbeddedLog
from caipan.gateway.verdicts import Originals, Tail
from caipan.serving.errors import ServiceError
from caipan.v1.outcome_pb2 import STATUS_DUPLICATE, STATUS_FOLDED, STATUS_PARKED, Outcome, Status

OUTCOMES = "game-outcomes"
TIMEOUT_S = 60


def outcome(
    offset: int, seq: int = 0, event_id: str = "", status: Status = STATUS_FOLDED, original: int = 0, partition: int = 0
) -> Outcome:
    made = Outcome(partition=partition, offset=offset)
    made.verdict.game_id, made.verdict.seq, made.verdict.event_id = "g1", seq, event_id
    made.verdict.status, made.verdict.original.seq = status, original
    return made


class Hall:
    """A log, and the tail of its outcomes at work."""

    def __init__(self, folder: Path) -> None:
        self.log = EmbeddedLog(folder / "log.db", partitions=2)
        self.tail = Tail(self.log)

    async def write(self, *outcomes: Outcome, game: bytes = b"g1") -> None:
        records = [NewRecord(game, each.SerializeToString(), partition=each.partition) for each in outcomes]
        await self.log.append(OUTCOMES, records)

    async def seen(self) -> None:
        """Returns once the tail has seen what is in the log now: a marker of its own comes back in each partition."""
        with self.tail.watch([b"marker"]) as watch:
            markers = [outcome(1_000_000, partition=partition) for partition in (0, 1)]
            await self.write(*markers, game=b"marker")
            await watch.outcomes([(marker.partition, marker.offset) for marker in markers])


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    hall = Hall(tmp_path)
    async with asyncio.timeout(TIMEOUT_S), hall.log:
        await hall.write(outcome(0, 1, "before the start"))
        running = asyncio.create_task(hall.tail.run())
        await hall.tail.ready.wait()
        yield hall
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_an_outcome_that_comes_before_the_append_has_returned_is_not_missed(hall: Hall) -> None:
    with hall.tail.watch([b"g1"]) as watch:
        await hall.write(outcome(3, 7, "mine"), outcome(4, 8, "of somebody else"))
        await hall.seen()
        assert await watch.outcomes([(0, 3)]) == {(0, 3): outcome(3, 7, "mine")}


async def test_an_outcome_that_comes_later_is_waited_for(hall: Hall) -> None:
    with hall.tail.watch([b"g1"]) as watch:
        waiting = asyncio.create_task(watch.outcomes([(0, 3), (1, 3)]))
        await hall.write(outcome(3, 7, "a"))
        await hall.seen()
        assert not waiting.done()
        await hall.write(outcome(3, 8, "b", partition=1))
        assert await waiting == {(0, 3): outcome(3, 7, "a"), (1, 3): outcome(3, 8, "b", partition=1)}


async def test_the_first_of_two_outcomes_of_an_event_counts(hall: Hall) -> None:
    """A parked event is answered with its notice, and an outcome written again is no second answer."""
    parked, judged = outcome(3, event_id="a", status=STATUS_PARKED), outcome(3, 9, "a")
    with hall.tail.watch([b"g1"]) as early, hall.tail.watch([b"g1"]) as late:
        waiting = asyncio.create_task(late.outcomes([(0, 3), (0, 9)]))
        await hall.write(parked, judged)
        await hall.seen()
        assert await early.outcomes([(0, 3)]) == {(0, 3): parked}
        await hall.write(outcome(9))
        assert (await waiting)[0, 3] == parked


async def test_what_stood_before_the_start_and_what_belongs_to_others_is_not_told(hall: Hall) -> None:
    with hall.tail.watch([b"g1"]) as watch:
        await hall.write(outcome(0, 5, "elsewhere"), game=b"g2")
        await hall.seen()
        waiting = asyncio.create_task(watch.outcomes([(0, 0)]))
        await hall.seen()
        assert not waiting.done()
        waiting.cancel()


async def test_nothing_is_watched_once_the_context_is_left(hall: Hall) -> None:
    with hall.tail.watch([b"g1", b"g2", b"g1"]), hall.tail.watch([b"g1"]):
        assert hall.tail.watching == 2
    assert hall.tail.watching == 0
    with pytest.raises(ZeroDivisionError), hall.tail.watch([b"g1"]):
        raise ZeroDivisionError
    assert hall.tail.watching == 0
    assert hall.tail._watches == {}  # no game is remembered either


async def test_who_waits_for_nothing_does_not_wait(hall: Hall) -> None:
    with hall.tail.watch([]) as watch:
        assert await watch.outcomes([]) == {}


async def test_after_the_end_nobody_is_kept_waiting(tmp_path: Path) -> None:
    hall = Hall(tmp_path)
    async with asyncio.timeout(TIMEOUT_S), hall.log:
        running = asyncio.create_task(hall.tail.run())
        await hall.tail.ready.wait()
        with hall.tail.watch([b"g1"]) as watch, hall.tail.watch([b"g1"]) as answered:
            await hall.write(outcome(0, 1, "a"))
            await hall.seen()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            with pytest.raises(ServiceError, match="all events are stored"):
                await watch.outcomes([(0, 0), (0, 1)])
            assert await answered.outcomes([(0, 0)]) == {(0, 0): outcome(0, 1, "a")}
        with pytest.raises(ServiceError, match="nothing was stored"), hall.tail.watch([b"g1"]):
            pass


async def test_originals_are_found_by_seq_or_by_the_id_of_the_event(tmp_path: Path) -> None:
    hall = Hall(tmp_path)
    first = [outcome(0, 1, "a"), outcome(1, event_id="b", status=STATUS_PARKED), outcome(2, 2, "c")]
    repeated = [outcome(0, 1, "a"), outcome(5, 3, "a")]  # written again, and a conflict of ids
    async with hall.log:
        await hall.write(*first, *repeated)
        originals = Originals(await hall.log.read(OUTCOMES, 0, 0))

    def notice(event_id: str, seq: int) -> Outcome:
        return outcome(9, event_id=event_id, status=STATUS_DUPLICATE, original=seq)

    assert originals.outcome(notice("a", 1)) == first[0]
    assert originals.outcome(notice("a", 3)) == repeated[1]
    assert originals.outcome(notice("a", 0)) == first[0]
    assert originals.outcome(notice("c", 2)) == first[2]
    assert originals.outcome(notice("b", 0)) is None
    assert originals.outcome(notice("x", 0)) is None
    assert [originals.parked(notice(event_id, 0)) is not None for event_id in ("a", "b", "x")] == [False, True, False]
