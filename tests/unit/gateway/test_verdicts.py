"""The tail of the outcomes: who is told what, and what is kept no longer than needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from caipan.eventlog import LogUnavailable, NewRecord
from caipan.eventlog.embedded import EmbeddedLog
from caipan.gateway import verdicts
from caipan.gateway.verdicts import PARKED_KEPT, Expected, Tail, Watch
from caipan.serving.errors import ServiceError
from caipan.v1.outcome_pb2 import STATUS_DUPLICATE, STATUS_FOLDED, STATUS_PARKED, STATUS_QUARANTINED, Outcome, Status

OUTCOMES = "game-outcomes"
TIMEOUT_S = 60


def outcome(
    offset: int,
    seq: int = 0,
    event_id: str = "",
    status: Status = STATUS_FOLDED,
    *,
    original: int = 0,
    partition: int = 0,
    game: str = "g1",
) -> Outcome:
    made = Outcome(partition=partition, offset=offset)
    made.verdict.game_id, made.verdict.seq, made.verdict.event_id = game, seq, event_id
    made.verdict.status, made.verdict.original.seq = status, original
    return made


def events(*event_ids: str, game: str = "g1") -> list[Expected]:
    return [Expected(game.encode(), event_id) for event_id in event_ids]


class Hall:
    """A log, and the tail of its outcomes at work."""

    def __init__(self, folder: Path) -> None:
        self.log = EmbeddedLog(folder / "log.db", partitions=2)
        self.tail = Tail(self.log)
        self._markers = 0

    async def write(self, *outcomes: Outcome) -> None:
        records = [
            NewRecord(each.verdict.game_id.encode(), each.SerializeToString(), partition=each.partition)
            for each in outcomes
        ]
        await self.log.append(OUTCOMES, records)

    async def seen(self) -> None:
        """Returns once the tail has seen what is in the log now: a marker of its own comes back in each partition."""
        self._markers += 1
        with self.tail.watch() as watch:
            watch.expect(events("m", "m", game="marker"))
            places = [(partition, self._markers) for partition in (0, 1)]
            watch.placed(places)
            markers = [outcome(at, 1, "m", partition=partition, game="marker") for partition, at in places]
            await self.write(*markers)
            await watch.outcomes()

    async def told(self, watch: Watch) -> list[tuple[str, int, bool]]:
        """Id of the event, offset of the outcome, and whether it had waited, of all that is told by now."""
        await self.seen()
        return [(each.event.event_id, each.outcome.offset, each.waited) for each in watch.take()]


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    hall = Hall(tmp_path)
    async with asyncio.timeout(TIMEOUT_S), hall.log:
        await hall.write(outcome(0, 1, "a"))
        running = asyncio.create_task(hall.tail.run())
        await hall.tail.ready.wait()
        yield hall
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_an_outcome_that_comes_before_the_append_has_returned_is_not_missed(hall: Hall) -> None:
    with hall.tail.watch() as watch:
        watch.expect(events("mine"))
        await hall.write(outcome(3, 7, "mine"), outcome(4, 8, "of somebody else"))
        await hall.seen()
        watch.placed([(0, 3)])
        assert await watch.outcomes() == {(0, 3): outcome(3, 7, "mine")}


async def test_an_outcome_that_comes_later_is_waited_for(hall: Hall) -> None:
    with hall.tail.watch() as watch:
        watch.expect(events("a", "b"))
        watch.placed([(0, 3), (1, 3)])
        waiting = asyncio.create_task(watch.outcomes())
        await hall.write(outcome(3, 7, "a"))
        await hall.seen()
        assert not waiting.done()
        await hall.write(outcome(3, 8, "b", partition=1))
        assert await waiting == {(0, 3): outcome(3, 7, "a"), (1, 3): outcome(3, 8, "b", partition=1)}


async def test_a_record_that_nobody_can_read_is_told_by_its_position_alone(hall: Hall) -> None:
    """A gateway of a later version may send what the referee does not know."""
    unread = outcome(3, 7, "", STATUS_QUARANTINED)
    with hall.tail.watch() as watch:
        watch.expect(events("a"))
        await hall.write(unread)
        await hall.seen()
        watch.placed([(0, 3)])
        assert await watch.outcomes() == {(0, 3): unread}


async def test_the_first_of_two_outcomes_of_an_event_counts_for_who_waits_for_one(hall: Hall) -> None:
    """A parked event is answered with its notice, and an outcome written again is no second answer."""
    parked, judged = outcome(3, event_id="a", status=STATUS_PARKED), outcome(3, 9, "a")
    with hall.tail.watch() as early, hall.tail.watch() as late:
        for watch in (early, late):
            watch.expect(events("a", "b"))
        late.placed([(0, 3), (0, 9)])
        waiting = asyncio.create_task(late.outcomes())
        await hall.write(parked, judged, judged, outcome(9, 10, "b"))
        await hall.seen()
        early.placed([(0, 3), (0, 9)])
        assert await early.outcomes() == await waiting == {(0, 3): parked, (0, 9): outcome(9, 10, "b")}


async def test_a_watch_goes_on_over_many_appends_and_keeps_nothing_of_what_it_told(hall: Hall) -> None:
    with hall.tail.watch() as watch:
        for number in range(1, 6):
            game = f"g{number % 2}"
            watch.expect(events("a", "b", game=game))
            await hall.write(outcome(2 * number, number, "a", game=game))
            await hall.seen()
            watch.placed([(0, 2 * number), (0, 2 * number + 1)])
            await hall.write(outcome(2 * number + 1, number + 1, "b", game=game))
            assert await hall.told(watch) == [("a", 2 * number, False), ("b", 2 * number + 1, False)]
            assert_nothing_kept(watch)
            assert hall.tail._by_game == {}


def assert_nothing_kept(watch: Watch) -> None:
    held: list[Any] = [watch._games, watch._appending, watch._ids, watch._early, watch._missing, watch._parked]
    assert not any(held)
    assert watch.take() == []


async def test_what_others_send_meanwhile_is_not_kept(hall: Hall) -> None:
    with hall.tail.watch() as watch:
        watch.expect(events("mine"))
        await hall.write(*(outcome(number, number, f"other-{number}") for number in range(1, 200)))
        await hall.seen()
        assert watch._early == []
        watch.placed([(0, 200)])
        await hall.write(outcome(199, 300, "mine"), outcome(200, 301, "mine"))
        assert await hall.told(watch) == [("mine", 200, False)]


async def test_an_event_that_waits_is_told_again_when_it_is_judged(hall: Hall) -> None:
    with hall.tail.watch() as watch:
        watch.expect(events("a", "b"))
        watch.placed([(0, 3), (0, 4)])
        await hall.write(outcome(3, event_id="a", status=STATUS_PARKED), outcome(4, 9, "b"))
        assert await hall.told(watch) == [("a", 3, False), ("b", 4, False)]
        await hall.write(outcome(3, event_id="a", status=STATUS_PARKED))  # said again after a crash
        assert await hall.told(watch) == []
        await hall.write(outcome(3, 10, "a"), outcome(3, 10, "a"))
        assert await hall.told(watch) == [("a", 3, True)]
        assert_nothing_kept(watch)


async def test_an_event_that_is_judged_before_the_append_of_its_notice_has_returned_is_told_twice_in_order(
    hall: Hall,
) -> None:
    with hall.tail.watch() as watch:
        watch.expect(events("a"))
        await hall.write(outcome(3, event_id="a", status=STATUS_PARKED), outcome(3, 10, "a"))
        await hall.seen()
        watch.placed([(0, 3)])
        assert await hall.told(watch) == [("a", 3, False), ("a", 3, True)]


async def test_an_event_that_waited_does_not_overtake_the_one_it_waited_for(hall: Hall) -> None:
    with hall.tail.watch() as watch:
        watch.expect(events("second"))
        watch.placed([(0, 3)])
        await hall.write(outcome(3, event_id="second", status=STATUS_PARKED))
        assert await hall.told(watch) == [("second", 3, False)]
        watch.expect(events("first"))
        await hall.write(outcome(4, 9, "first"), outcome(3, 10, "second"))
        assert await hall.told(watch) == []
        watch.placed([(0, 4)])
        assert await hall.told(watch) == [("first", 4, False), ("second", 3, True)]
        assert_nothing_kept(watch)


async def test_a_copy_of_an_event_that_waits_is_told_when_the_first_one_is_judged(hall: Hall) -> None:
    with hall.tail.watch() as watch:
        for at in (5, 6):
            watch.expect(events("a"))
            watch.placed([(0, at)])
        await hall.write(outcome(5, event_id="a", status=STATUS_DUPLICATE))
        await hall.write(outcome(6, event_id="a", status=STATUS_DUPLICATE), outcome(3, 10, "a"))
        assert await hall.told(watch) == [("a", 5, False), ("a", 6, False), ("a", 3, True)]
        assert_nothing_kept(watch)


async def test_a_copy_of_an_event_judged_long_ago_is_waited_for_no_longer(hall: Hall) -> None:
    with hall.tail.watch() as watch:
        watch.expect(events("a", "b"))
        watch.placed([(0, 5), (0, 6)])
        await hall.write(outcome(5, event_id="a", status=STATUS_DUPLICATE))
        await hall.write(outcome(6, event_id="b", status=STATUS_DUPLICATE, original=2))
        await hall.told(watch)
        watch.forget(Expected(b"g1", "a"))
        watch.forget(Expected(b"g1", "b"))
        assert_nothing_kept(watch)


async def test_of_events_that_wait_only_so_many_are_remembered(hall: Hall) -> None:
    ids = [f"e{number}" for number in range(PARKED_KEPT + 1)]
    with hall.tail.watch() as watch:
        watch.expect(events(*ids))
        watch.placed((0, at) for at in range(len(ids)))
        await hall.write(*(outcome(at, event_id=each, status=STATUS_PARKED) for at, each in enumerate(ids)))
        await hall.told(watch)
        await hall.write(*(outcome(at, at + 1, each) for at, each in enumerate(ids)))
        assert [each for each, _, _ in await hall.told(watch)] == ids[1:]
        assert_nothing_kept(watch)


async def test_what_stood_before_the_start_and_what_belongs_to_other_games_is_not_told(hall: Hall) -> None:
    with hall.tail.watch() as watch:
        watch.expect(events("a"))
        watch.placed([(0, 0)])
        await hall.write(outcome(0, 5, "a", partition=1, game="g2"))
        assert await hall.told(watch) == []


async def test_nothing_is_watched_once_the_context_is_left(hall: Hall) -> None:
    with hall.tail.watch() as one, hall.tail.watch() as other:
        one.expect(events("a", "b"))
        one.placed([(0, 1), (0, 2)])
        other.expect(events("a") + events("c", game="g2"))
        assert hall.tail.watching == 2
    assert hall.tail.watching == 0
    assert hall.tail._by_game == {}
    with pytest.raises(ZeroDivisionError), hall.tail.watch():
        raise ZeroDivisionError
    assert hall.tail.watching == 0


async def test_who_waits_for_nothing_does_not_wait(hall: Hall) -> None:
    with hall.tail.watch() as watch:
        watch.expect([])
        watch.placed([])
        assert await watch.outcomes() == {}


async def test_after_the_end_nobody_is_kept_waiting(tmp_path: Path) -> None:
    hall = Hall(tmp_path)
    async with asyncio.timeout(TIMEOUT_S), hall.log:
        running = asyncio.create_task(hall.tail.run())
        await hall.tail.ready.wait()
        with hall.tail.watch() as watch, hall.tail.watch() as answered:
            watch.expect(events("a", "b"))
            watch.placed([(0, 0), (0, 1)])
            answered.expect(events("a"))
            answered.placed([(0, 0)])
            await hall.write(outcome(0, 1, "a"))
            await hall.seen()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert watch.stopped
            assert watch.news.is_set()
            assert await watch.outcomes() == {(0, 0): outcome(0, 1, "a")}
            assert "all events are stored" in str(watch.missing)
            assert await answered.outcomes() == {(0, 0): outcome(0, 1, "a")}
            assert answered.missing is None
        with pytest.raises(ServiceError, match="nothing was stored"), hall.tail.watch():
            pass


class HesitantLog(EmbeddedLog):
    """A log that is away when it is asked for the first time."""

    away = True

    async def end(self, topic: str, partition: int) -> int:
        if self.away:
            self.away = False
            raise LogUnavailable("the log is away")
        return await super().end(topic, partition)


async def test_a_log_that_is_away_at_the_start_is_followed_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdicts, "_RETRY_S", 0.01)
    hall = Hall(tmp_path)
    hall.log = log = HesitantLog(tmp_path / "log.db", partitions=2)
    hall.tail = Tail(log)
    async with asyncio.timeout(TIMEOUT_S), hall.log:
        running = asyncio.create_task(hall.tail.run())
        await hall.tail.ready.wait()
        assert not log.away
        await hall.seen()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_outcomes_go_on_after_the_log_was_away(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "_RETRY_S", 0.01)
    with hall.tail.watch() as watch:
        watch.expect(events("a"))
        watch.placed([(0, 3)])
        await hall.log.close()
        await hall.log.open()
        await hall.write(outcome(3, 2, "a"))
        assert await watch.outcomes() == {(0, 3): outcome(3, 2, "a")}
