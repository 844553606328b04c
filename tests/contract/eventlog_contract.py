"""What every log must do, whichever store is behind it. An adapter's test inherits EventLogContract."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import pytest

from caipan.eventlog import TOPICS, EventLog, LogUnavailable, NewRecord, Record, UnknownTopic, partition_of

GAMES = "game-events"
STATE = "game-state"
PEOPLE = "people"
PARTITIONS = 4
TIMEOUT_S = 60  # only so that a test which would wait for ever ends

Connect = Callable[[], EventLog]


def numbered(count: int, partition: int = 0, start: int = 0) -> list[NewRecord]:
    return [NewRecord(b"k", b"%d" % n, partition=partition) for n in range(start, start + count)]


def values(records: list[Record]) -> list[int]:
    return [int(record.value) for record in records]


async def take(follower: AsyncIterator[list[Record]], count: int) -> list[Record]:
    """The next records of a follower, at least `count` of them."""
    taken: list[Record] = []
    async with asyncio.timeout(TIMEOUT_S):
        while len(taken) < count:
            taken += await anext(follower)
    return taken


async def read_all(log: EventLog, topic: str, partition: int) -> list[Record]:
    records: list[Record] = []
    while batch := await log.read(topic, partition, len(records)):
        records += batch
    return records


class EventLogContract:
    """The subclass supplies `connect`: a function that gives a log, not yet open, of PARTITIONS partitions.

    All logs of one test have the same data, empty at first; logs of different tests have nothing in common.
    """

    @pytest.fixture
    def connect(self) -> Connect:
        raise NotImplementedError

    @pytest.fixture
    async def log(self, connect: Connect) -> AsyncIterator[EventLog]:
        async with connect() as log:
            yield log

    # Appending and reading

    async def test_a_new_log_is_empty(self, log: EventLog) -> None:
        for topic, spec in TOPICS.items():
            assert log.partitions(topic) == PARTITIONS
            for partition in range(PARTITIONS):
                if spec.compacted:
                    assert await log.restore(topic, partition) == (0, {})
                else:
                    assert await log.end(topic, partition) == 0
                    assert await log.read(topic, partition, 0) == []

    async def test_offsets_begin_at_0_and_have_no_holes_in_each_partition(self, log: EventLog) -> None:
        order = [0, 1, 0, 3, 3, 0]
        placed = await log.append(GAMES, [NewRecord(b"k", b"v", partition=p) for p in order])
        assert placed == [(0, 0), (1, 0), (0, 1), (3, 0), (3, 1), (0, 2)]
        assert await log.append(GAMES, numbered(1)) == [(0, 3)]
        assert [await log.end(GAMES, p) for p in range(PARTITIONS)] == [4, 1, 0, 2]

    async def test_topics_have_offsets_of_their_own(self, log: EventLog) -> None:
        await log.append(GAMES, numbered(3))
        assert await log.append("game-outcomes", numbered(1)) == [(0, 0)]
        assert await log.end(GAMES, 0) == 3

    async def test_records_come_back_in_the_order_given(self, log: EventLog) -> None:
        for start in range(0, 50, 5):
            await log.append(GAMES, numbered(5, start=start))
        records = await log.read(GAMES, 0, 0)
        assert values(records) == list(range(50))
        assert [record.offset for record in records] == list(range(50))

    @pytest.mark.parametrize(
        ("key", "hashed"),
        [  # signed murmur2, from Kafka's own test of it (UtilsTest.testMurmur2)
            (b"21", -973932308),
            (b"foobar", -790332482),
            (b"a-little-bit-long-string", -985981536),
            (b"a-little-bit-longer-string", -1486304829),
            (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
            (b"abc", 479470107),
        ],
    )
    async def test_a_key_has_the_partition_that_kafka_gives_it(self, log: EventLog, key: bytes, hashed: int) -> None:
        assert partition_of(key, 1_000_003) == (hashed & 0x7FFFFFFF) % 1_000_003
        expected = (hashed & 0x7FFFFFFF) % PARTITIONS
        assert await log.append(GAMES, [NewRecord(key, b"v")]) == [(expected, 0)]

    async def test_a_named_partition_goes_before_that_of_the_key(self, log: EventLog) -> None:
        other = (partition_of(b"abc", PARTITIONS) + 1) % PARTITIONS
        assert await log.append(GAMES, [NewRecord(b"abc", b"v", partition=other)]) == [(other, 0)]

    async def test_nothing_to_append_is_nothing(self, log: EventLog) -> None:
        assert await log.append(GAMES, []) == []

    @pytest.mark.parametrize(
        ("bad", "error"),
        [
            (NewRecord(b"k", b"v", partition=PARTITIONS), UnknownTopic),
            (NewRecord(b"k", b"v", partition=-1), UnknownTopic),
            (NewRecord(None, b"v"), ValueError),
        ],
    )
    async def test_an_append_with_one_bad_record_stores_none(
        self, log: EventLog, bad: NewRecord, error: type[Exception]
    ) -> None:
        with pytest.raises(error):
            await log.append(GAMES, [*numbered(2), bad, *numbered(2, partition=1)])
        assert [await log.end(GAMES, p) for p in range(PARTITIONS)] == [0] * PARTITIONS
        assert await log.append(GAMES, numbered(1)) == [(0, 0)]

    @pytest.mark.parametrize(
        ("start", "limit", "expected"),
        [
            (0, 1, [0]),
            (0, 10, list(range(10))),
            (3, 4, [3, 4, 5, 6]),
            (8, 5, [8, 9]),
            (9, 1, [9]),
            (10, 5, []),
            (99, 5, []),
        ],
    )
    async def test_a_range_begins_at_start_and_ends_at_the_limit_or_the_end(
        self, log: EventLog, start: int, limit: int, expected: list[int]
    ) -> None:
        await log.append(GAMES, numbered(10))
        read: list[int] = []
        while len(read) < len(expected):  # a read may return fewer than it could
            batch = await log.read(GAMES, 0, start + len(read), limit - len(read))
            assert batch, f"nothing from {start + len(read)} on"
            read += values(batch)
        assert read == expected
        assert expected or await log.read(GAMES, 0, start, limit) == []

    @pytest.mark.parametrize(("start", "limit"), [(-1, 1), (0, 0), (0, -1)])
    async def test_a_range_that_cannot_be_is_refused(self, log: EventLog, start: int, limit: int) -> None:
        await log.append(GAMES, numbered(1))
        with pytest.raises(ValueError, match=r"(start|limit) is"):
            await log.read(GAMES, 0, start, limit)

    @pytest.mark.parametrize("key", [b"", b"game", b"\x00\xff\n'\"", "棋局".encode(), bytes(range(256))])
    async def test_keys_and_values_keep_every_byte(self, log: EventLog, key: bytes) -> None:
        for value in (key, b"", bytes(range(256)) * 3):
            ((partition, offset),) = await log.append(GAMES, [NewRecord(key, value)])
            (record,) = await log.read(GAMES, partition, offset)
            assert (record.topic, record.partition, record.offset) == (GAMES, partition, offset)
            assert (record.key, record.value) == (key, value)

    async def test_no_key_is_not_the_empty_key(self, log: EventLog) -> None:
        empty = partition_of(b"", PARTITIONS)
        await log.append(GAMES, [NewRecord(None, b"0", partition=empty), NewRecord(b"", b"1")])
        assert [record.key for record in await log.read(GAMES, empty, 0)] == [None, b""]
        assert values(await log.read_key(GAMES, b"")) == [1]

    async def test_headers_are_kept_in_order_with_every_byte_and_repeated_names(self, log: EventLog) -> None:
        headers = (("ce_id", b"1"), ("裁判", "判".encode()), ("ce_id", b""), ("bytes", bytes(range(256))), ("", b'"\\'))
        await log.append(GAMES, [NewRecord(b"k", b"v", headers, 0), NewRecord(b"k", b"v", (), 0)])
        assert [record.headers for record in await log.read(GAMES, 0, 0)] == [headers, ()]

    async def test_a_record_says_when_it_was_received(self, log: EventLog) -> None:
        before = time.time_ns() // 1_000_000
        await log.append(GAMES, numbered(1))
        (record,) = await log.read(GAMES, 0, 0)
        assert before <= record.timestamp_ms <= time.time_ns() // 1_000_000

    async def test_values_of_a_megabyte_are_kept_and_read_to_the_end(self, log: EventLog) -> None:
        big = [bytes([n]) * 1_000_000 for n in range(20)]
        for value in big:
            await log.append(GAMES, [NewRecord(b"k", value, partition=0)])
        assert [record.value for record in await read_all(log, GAMES, 0)] == big

    async def test_appends_of_many_tasks_have_one_offset_each_and_stay_whole_and_in_order(self, log: EventLog) -> None:
        async def appender(task: int) -> list[tuple[int, int, bytes]]:
            mine = []
            for n in range(10):
                batch = [b"%d.%d.%d" % (task, n, part) for part in range(3)]
                placed = await log.append(GAMES, [NewRecord(b"k", value, partition=task % 2) for value in batch])
                mine += [(*place, value) for place, value in zip(placed, batch, strict=True)]
            return mine

        answers = await asyncio.gather(*map(appender, range(40)))
        answered = sorted(place for mine in answers for place in mine)
        stored = [await read_all(log, GAMES, partition) for partition in (0, 1)]
        assert answered == [(r.partition, r.offset, r.value) for records in stored for r in records]
        for records in stored:
            assert [record.offset for record in records] == list(range(600))
            numbers = [tuple(map(int, record.value.split(b"."))) for record in records]
            for first in range(0, 600, 3):  # an append's records are neighbours, in their order
                task, n, _ = numbers[first]
                assert numbers[first : first + 3] == [(task, n, 0), (task, n, 1), (task, n, 2)]
            for task in {number[0] for number in numbers}:  # and a task's appends in the order it made them
                assert [number[1:] for number in numbers if number[0] == task] == sorted(
                    number[1:] for number in numbers if number[0] == task
                )

    async def test_a_cancelled_append_is_stored_whole_or_not_at_all_and_leaves_no_hole(self, log: EventLog) -> None:
        tasks = [asyncio.create_task(log.append(GAMES, numbered(2, start=2 * n))) for n in range(20)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        assert any(isinstance(answer, asyncio.CancelledError) for answer in answers)
        await log.append(GAMES, numbered(2, start=40))
        records = await log.read(GAMES, 0, 0)
        assert [record.offset for record in records] == list(range(len(records)))
        stored = values(records)
        assert stored[-2:] == [40, 41]
        assert all((n in stored) == (n + 1 in stored) for n in range(0, 40, 2))
        for n, answer in enumerate(answers):
            if not isinstance(answer, BaseException):
                assert [stored[offset] for _, offset in answer] == [2 * n, 2 * n + 1]

    # Reading by key

    async def test_a_key_is_read_with_all_its_records_and_no_others(self, log: EventLog) -> None:
        keys = [b"a", b"b", b"c", b"a\x00", b"aa"]
        for n in range(30):
            await log.append(GAMES, [NewRecord(keys[n % 5], b"%d" % n)])
        for index, key in enumerate(keys):
            records = await log.read_key(GAMES, key)
            assert values(records) == list(range(index, 30, 5))
            assert {(r.topic, r.partition, r.key) for r in records} == {(GAMES, partition_of(key, PARTITIONS), key)}
        assert await log.read_key(GAMES, b"never") == []
        assert await log.read_key("game-outcomes", b"a") == []

    async def test_a_key_is_read_from_start_until_before_end(self, log: EventLog) -> None:
        partition = partition_of(b"k", PARTITIONS)
        await log.append(GAMES, [NewRecord(b"k" if n % 2 else b"x", b"%d" % n, partition=partition) for n in range(10)])
        assert values(await log.read_key(GAMES, b"k", 3)) == [3, 5, 7, 9]
        assert values(await log.read_key(GAMES, b"k", 2, 7)) == [3, 5]
        assert values(await log.read_key(GAMES, b"k", 2, 8)) == [3, 5, 7]
        assert await log.read_key(GAMES, b"k", 4, 5) == []
        assert await log.read_key(GAMES, b"k", 0, 0) == []

    async def test_a_key_is_read_whole_however_long_its_history(self, log: EventLog) -> None:
        await log.append(GAMES, [NewRecord(b"k", b"%d" % n) for n in range(3000)])
        assert values(await log.read_key(GAMES, b"k")) == list(range(3000))

    # Following

    async def test_a_follower_gets_what_is_there_and_what_comes(self, log: EventLog) -> None:
        await log.append(GAMES, numbered(5))
        follower = log.follow(GAMES, 0, 0)
        assert values(await take(follower, 5)) == [0, 1, 2, 3, 4]
        waiting = asyncio.create_task(take(follower, 2))
        await log.append(GAMES, numbered(2, start=5))
        assert values(await waiting) == [5, 6]

    @pytest.mark.parametrize("start", [0, 3, 5])
    async def test_a_follower_begins_where_it_was_told(self, log: EventLog, start: int) -> None:
        await log.append(GAMES, numbered(5))
        follower = log.follow(GAMES, 0, start)
        await log.append(GAMES, numbered(1, start=5))
        assert values(await take(follower, 6 - start)) == list(range(start, 6))

    async def test_a_follower_sees_only_its_partition_and_topic(self, log: EventLog) -> None:
        follower = log.follow(GAMES, 1, 0)
        await log.append(GAMES, numbered(3, partition=0))
        await log.append("game-outcomes", numbered(3, partition=1))
        await log.append(GAMES, numbered(1, partition=1, start=7))
        assert values(await take(follower, 1)) == [7]

    async def test_many_followers_while_many_append_lose_nothing_and_repeat_nothing(self, log: EventLog) -> None:
        followers = [asyncio.create_task(take(log.follow(GAMES, n % 2, 0), 300)) for n in range(20)]

        async def appender(partition: int) -> None:
            for _ in range(50):
                await log.append(GAMES, [NewRecord(b"k", b"v", partition=partition) for _ in range(2)])

        await asyncio.gather(*(appender(n % 2) for n in range(6)))
        for follower in followers:
            assert [record.offset for record in await follower] == list(range(300))

    async def test_a_follower_catches_up_over_more_than_one_batch(self, log: EventLog) -> None:
        await log.append(GAMES, numbered(2500))
        assert values(await take(log.follow(GAMES, 0, 0), 2500)) == list(range(2500))

    async def test_a_cancelled_wait_takes_nothing_and_the_follower_goes_on(self, log: EventLog) -> None:
        follower = log.follow(GAMES, 0, 0)
        taken: list[int] = []
        for n in range(30):
            waiting = asyncio.create_task(take(follower, 1))
            for _ in range(n % 4):  # cancelled at another point of its way each time
                await asyncio.sleep(0)
            append = asyncio.create_task(log.append(GAMES, numbered(1, start=n)))
            if n % 3 == 0:
                await append
            waiting.cancel()
            with suppress(asyncio.CancelledError):
                taken += values(await waiting)
            await append
        taken += values(await take(follower, 30 - len(taken)))
        assert taken == list(range(30))

    async def test_a_follower_ends_with_an_error_when_the_log_is_closed(self, connect: Connect) -> None:
        async with connect() as log:
            waiting = asyncio.create_task(take(log.follow(GAMES, 0, 0), 1))
            await asyncio.sleep(0.05)
            assert not waiting.done()
        with pytest.raises(LogUnavailable):
            await waiting

    # States

    async def test_a_checkpoint_is_restored_as_it_was_stored(self, log: EventLog) -> None:
        states = {b"a": b"1", b"": b"", bytes(range(256)): bytes(range(256)) * 1000}
        await log.take_over(STATE, 1)
        await log.checkpoint(STATE, 1, 17, states)
        assert await log.restore(STATE, 1) == (17, states)
        assert await log.restore(STATE, 0) == (0, {})
        assert await log.restore("standings", 1) == (0, {})

    async def test_a_checkpoint_changes_what_it_names_and_keeps_the_rest(self, log: EventLog) -> None:
        await log.take_over(STATE, 0)
        await log.checkpoint(STATE, 0, 10, {b"a": b"1", b"b": b"1", b"c": b"1"})
        await log.checkpoint(STATE, 0, 20, {b"a": b"2", b"b": None, b"d": b"2", b"never": None})
        assert await log.restore(STATE, 0) == (20, {b"a": b"2", b"c": b"1", b"d": b"2"})
        await log.checkpoint(STATE, 0, 30, {})
        assert await log.restore(STATE, 0) == (30, {b"a": b"2", b"c": b"1", b"d": b"2"})

    async def test_states_and_position_are_always_of_the_same_checkpoint(self, log: EventLog) -> None:
        async def write() -> None:
            for n in range(1, 60):
                await log.take_over(STATE, 0)
                await log.checkpoint(STATE, 0, n, {b"%d" % key: b"%d" % n for key in range(20)})

        writing = asyncio.create_task(write())
        seen = set()
        while not writing.done():
            position, states = await log.restore(STATE, 0)
            seen.add(position)
            assert set(states.values()) <= {b"%d" % position}
            assert len(states) == (20 if position else 0)
        await writing
        assert (await log.restore(STATE, 0))[0] == 59
        assert len(seen) > 1, "no restore ran beside the checkpoints"

    async def test_a_value_is_found_in_the_partition_where_a_checkpoint_put_it(self, log: EventLog) -> None:
        partition = (partition_of(b"g", PARTITIONS) + 1) % PARTITIONS
        await log.take_over(STATE, partition)
        await log.checkpoint(STATE, partition, 7, {b"g": b"1", b"": b"mark"})
        await log.checkpoint(STATE, partition, 9, {b"g": b"2"})
        assert await log.get(STATE, b"g", partition) == b"2"
        assert await log.get(STATE, b"", partition) == b"mark"
        assert await log.get(STATE, b"g") is None
        await log.checkpoint(STATE, partition, 9, {b"g": None})
        assert await log.get(STATE, b"g", partition) is None

    async def test_a_partition_is_taken_over_and_released_any_number_of_times(self, log: EventLog) -> None:
        for number in range(3):
            await log.take_over(STATE, 1)
            await log.take_over(STATE, 1)
            assert (await log.restore(STATE, 1))[0] == number
            await log.checkpoint(STATE, 1, number + 1, {b"g": b"%d" % number})
            await log.release(STATE, 1)
            await log.release(STATE, 1)

    async def test_of_a_compacted_topic_only_the_latest_value_is_there(self, log: EventLog) -> None:
        assert await log.get(PEOPLE, b"p1") is None
        await log.put(PEOPLE, b"p1", "古力".encode())
        await log.put(PEOPLE, b"p2", b"")
        await log.put(PEOPLE, b"p1", "柯洁".encode())
        assert await log.get(PEOPLE, b"p1") == "柯洁".encode()
        assert await log.get(PEOPLE, b"p2") == b""
        await log.put(PEOPLE, b"p1", None)
        assert await log.get(PEOPLE, b"p1") is None
        await log.put(PEOPLE, b"p1", None)

    # Errors

    async def test_an_unknown_topic_is_named_in_the_error(self, log: EventLog) -> None:
        for call in (
            lambda: log.append("moves", numbered(1)),
            lambda: log.read("moves", 0, 0),
            lambda: log.read_key("moves", b"k"),
            lambda: log.end("moves", 0),
            lambda: log.checkpoint("moves", 0, 0, {}),
            lambda: log.restore("moves", 0),
            lambda: log.put("moves", b"k", b"v"),
            lambda: log.get("moves", b"k"),
        ):
            with pytest.raises(UnknownTopic, match=r"moves.*game-events"):
                await call()
        with pytest.raises(UnknownTopic, match="moves"):
            log.partitions("moves")
        with pytest.raises(UnknownTopic, match="moves"):
            log.follow("moves", 0, 0)

    async def test_records_and_states_do_not_mix(self, log: EventLog) -> None:
        with pytest.raises(UnknownTopic, match="game-state keeps states"):
            await log.append(STATE, numbered(1))
        with pytest.raises(UnknownTopic, match="game-state keeps states"):
            await log.read(STATE, 0, 0)
        with pytest.raises(UnknownTopic, match="game-events keeps records"):
            await log.checkpoint(GAMES, 0, 0, {})
        with pytest.raises(UnknownTopic, match="game-events keeps records"):
            await log.get(GAMES, b"k")

    @pytest.mark.parametrize("partition", [-1, PARTITIONS])
    async def test_an_unknown_partition_is_named_in_the_error(self, log: EventLog, partition: int) -> None:
        for call in (
            lambda: log.read(GAMES, partition, 0),
            lambda: log.end(GAMES, partition),
            lambda: log.checkpoint(STATE, partition, 0, {}),
            lambda: log.restore(STATE, partition),
        ):
            with pytest.raises(UnknownTopic, match=f"no partition {partition}"):
                await call()
        with pytest.raises(UnknownTopic, match=f"no partition {partition}"):
            log.follow(GAMES, partition, 0)

    async def test_a_log_that_is_not_open_says_so(self, connect: Connect) -> None:
        log = connect()
        with pytest.raises(LogUnavailable, match="not open"):
            await log.read(GAMES, 0, 0)
        async with log:
            await log.append(GAMES, numbered(1))
        with pytest.raises(LogUnavailable, match="not open"):
            await log.append(GAMES, numbered(1))

    # Opening again

    async def test_everything_is_there_when_the_log_is_opened_again(self, connect: Connect) -> None:
        async with connect() as log:
            await log.append(GAMES, numbered(3))
            await log.append("quarantine", [NewRecord(b"game-events-0-1", b"?", (("why", b"\xff"),))])
            await log.take_over(STATE, 0)
            await log.checkpoint(STATE, 0, 3, {b"k": b"s"})
            await log.put(PEOPLE, b"p1", b"name")
            before = await log.read(GAMES, 0, 0)
        async with connect() as log:
            assert await log.read(GAMES, 0, 0) == before
            assert [r.headers for r in await log.read_key("quarantine", b"game-events-0-1")] == [(("why", b"\xff"),)]
            assert await log.restore(STATE, 0) == (3, {b"k": b"s"})
            assert await log.get(PEOPLE, b"p1") == b"name"
            assert await log.append(GAMES, numbered(1)) == [(0, 3)]

    async def test_closing_finishes_the_appends_under_way(self, connect: Connect) -> None:
        async with connect() as log:
            appends = [asyncio.create_task(log.append(GAMES, numbered(1, start=n))) for n in range(50)]
            await asyncio.sleep(0)
        placed = await asyncio.gather(*appends)
        async with connect() as log:
            records = await log.read(GAMES, 0, 0)
        assert [(r.partition, r.offset) for r in records] == [place for (place,) in placed]
        assert values(records) == list(range(50))
