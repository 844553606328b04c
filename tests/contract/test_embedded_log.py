"""The embedded log keeps the contract, and stands what a laptop does to a file."""

# ruff: noqa: ASYNC240 - a test may wait for the disk

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from caipan.eventlog import LogFull, LogUnavailable, NewRecord, Record, WrongLog
from caipan.eventlog import embedded as adapter
from caipan.eventlog.embedded import EmbeddedLog

from .eventlog_contract import (
    GAMES,
    PARTITIONS,
    PEOPLE,
    STATE,
    Connect,
    EventLogContract,
    numbered,
    read_all,
    take,
    values,
)


class TestEmbeddedLog(EventLogContract):
    @pytest.fixture
    def connect(self, tmp_path: Path) -> Connect:
        return lambda: EmbeddedLog(tmp_path / "log.db", PARTITIONS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hall" / "no such folder yet" / "log?#%20.db"


async def fails(log: EmbeddedLog, error: type[Exception], *needles: str) -> None:
    """Opening gives this error, with these words in its message."""
    with pytest.raises(error) as caught:
        await log.open()
    for needle in needles:
        assert needle in str(caught.value)


# The file


async def test_a_missing_folder_is_made_and_any_file_name_works(path: Path) -> None:
    async with EmbeddedLog(path) as log:
        await log.append(GAMES, numbered(1))
    assert path.is_file()


async def test_the_partition_count_is_that_of_the_file(path: Path) -> None:
    async with EmbeddedLog(path, 7) as log:
        assert log.partitions(GAMES) == 7
    async with EmbeddedLog(path) as log:
        assert log.partitions(GAMES) == 7
    for read_only in (False, True):
        await fails(EmbeddedLog(path, 4, read_only=read_only), WrongLog, str(path), "7 partitions, not 4")


@pytest.mark.parametrize("content", [b"(;GM[1])", b"notes " * 2000])
async def test_a_file_that_is_no_log_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes(content)
    for read_only in (False, True):
        await fails(EmbeddedLog(path, read_only=read_only), WrongLog, str(path), "no caipan log", "choose another file")
    assert path.read_bytes() == content


async def test_another_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "members.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE member (name TEXT)")
    before = path.read_bytes()
    for read_only in (False, True):
        await fails(EmbeddedLog(path, read_only=read_only), WrongLog, str(path), "no caipan log")
    assert path.read_bytes() == before


async def test_a_log_of_another_schema_version_is_refused(path: Path) -> None:
    async with EmbeddedLog(path):
        pass
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 99")
    await fails(EmbeddedLog(path), WrongLog, str(path), "schema version 99")


async def test_a_damaged_log_is_named_as_such(path: Path) -> None:
    async with EmbeddedLog(path) as log:
        await log.append(GAMES, numbered(500))
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    await fails(EmbeddedLog(path), WrongLog, str(path), "damaged")


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    await fails(EmbeddedLog(tmp_path / "file" / "log.db"), LogUnavailable, str(tmp_path / "file"))
    await fails(EmbeddedLog(tmp_path), LogUnavailable, str(tmp_path))


async def test_a_creation_cut_short_is_taken_up_again(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database:  # as far as a kill before the schema's commit gets
        database.execute("PRAGMA journal_mode = WAL")
    await fails(EmbeddedLog(path, read_only=True), LogUnavailable, str(path), "empty")
    async with EmbeddedLog(path) as log:
        assert await log.append(GAMES, numbered(1)) == [(0, 0)]


async def test_every_commit_is_synced_to_the_disk(path: Path) -> None:
    async with EmbeddedLog(path) as log:
        settings = await log._writing().submit(
            lambda connection: [
                connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("journal_mode", "synchronous", "fullfsync")
            ]
        )
    assert settings == ["wal", 2, 1]  # 2 is FULL


async def test_an_erased_name_is_in_no_file_after_the_log_is_closed(path: Path) -> None:
    name = b"a name that somebody wants to be forgotten"
    async with EmbeddedLog(path) as log:
        await log.put(PEOPLE, b"p1", name)
        await log.put(PEOPLE, b"p2", b"someone else")
    assert name in path.read_bytes()
    async with EmbeddedLog(path) as log:
        await log.put(PEOPLE, b"p1", None)
    assert not any(name in file.read_bytes() for file in path.parent.iterdir())


# Other processes


async def test_a_second_writer_is_refused_until_the_first_is_gone(path: Path) -> None:
    async with EmbeddedLog(path) as log:
        await log.append(GAMES, numbered(1))
        await fails(EmbeddedLog(path), LogUnavailable, str(path), f"process {os.getpid()} writes", "stop it")
        assert await log.append(GAMES, numbered(1)) == [(0, 1)]
    async with EmbeddedLog(path) as log:
        assert await log.append(GAMES, numbered(1)) == [(0, 2)]


async def test_a_failed_opening_leaves_nothing_locked(path: Path) -> None:
    async with EmbeddedLog(path, 3):
        pass
    await fails(EmbeddedLog(path, 4), WrongLog)
    async with EmbeddedLog(path, 3) as log:
        await log.append(GAMES, numbered(1))


async def test_a_reader_beside_the_writer_sees_its_appends_and_cannot_write(path: Path) -> None:
    async with EmbeddedLog(path) as writer, EmbeddedLog(path, read_only=True) as reader:
        await writer.append(GAMES, numbered(2))
        assert values(await reader.read(GAMES, 0, 0)) == [0, 1]
        follower = reader.follow(GAMES, 0, 0)  # nothing in its own log object wakes it
        assert values(await take(follower, 2)) == [0, 1]
        waiting = asyncio.create_task(take(follower, 1))
        await asyncio.sleep(0.05)
        await writer.append(GAMES, numbered(1, start=2))
        assert values(await waiting) == [2]
        for write in (
            reader.append(GAMES, numbered(1)),
            reader.checkpoint(STATE, 0, 1, {}),
            reader.put(PEOPLE, b"p", b""),
        ):
            with pytest.raises(LogUnavailable, match="reading only"):
                await write


async def test_a_reader_works_without_a_writer_and_makes_no_log(path: Path) -> None:
    await fails(EmbeddedLog(path, read_only=True), LogUnavailable, str(path), "no log here")
    assert not path.exists()
    async with EmbeddedLog(path) as writer:
        await writer.append(GAMES, numbered(2))
    async with EmbeddedLog(path, read_only=True) as reader:
        assert values(await reader.read(GAMES, 0, 0)) == [0, 1]


@pytest.fixture
def no_polling(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that only an append, or the end, of their own log object wakes its followers."""
    monkeypatch.setattr(adapter, "POLL_S", 1e6)


@pytest.mark.usefixtures("no_polling")
async def test_an_append_wakes_the_followers_of_its_process(path: Path) -> None:
    async with EmbeddedLog(path) as log:
        waiting = [asyncio.create_task(take(log.follow(GAMES, 0, 0), 3)) for _ in range(3)]
        for n in range(3):
            await asyncio.sleep(0.02)
            await log.append(GAMES, numbered(1, start=n))
        for follower in waiting:
            assert values(await follower) == [0, 1, 2]


@pytest.mark.usefixtures("no_polling")
async def test_an_append_while_a_follower_looks_is_not_missed(path: Path) -> None:
    async with EmbeddedLog(path) as log:
        follower = log.follow(GAMES, 0, 0)
        read = log.read

        async def overtaken(topic: str, partition: int, start: int, limit: int = 1000) -> list[Record]:
            batch = await read(topic, partition, start, limit)
            if start == 0 and not batch:
                await log.append(GAMES, numbered(1))
            return batch

        log.read = overtaken  # type: ignore[method-assign]
        assert values(await take(follower, 1)) == [0]


@pytest.mark.usefixtures("no_polling")
async def test_closing_wakes_the_followers(path: Path) -> None:
    async with EmbeddedLog(path) as log:
        waiting = asyncio.create_task(take(log.follow(GAMES, 0, 0), 1))
        await asyncio.sleep(0.05)
    with pytest.raises(LogUnavailable, match="not open"):
        await waiting


async def test_a_read_gives_at_least_one_record_however_large(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "READ_BYTES", 2)
    async with EmbeddedLog(path) as log:
        await log.append(GAMES, [NewRecord(b"k", value, partition=0) for value in (b"1", b"2", b"333", b"4")])
        assert values(await log.read(GAMES, 0, 0)) == [1, 2]
        assert values(await log.read(GAMES, 0, 2)) == [333]
        assert values(await read_all(log, GAMES, 0)) == [1, 2, 333, 4]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another program in the middle of a write to the file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def test_a_locked_file_fails_every_waiting_append_whole_and_works_again_afterwards(path: Path) -> None:
    async with EmbeddedLog(path, busy_timeout_s=0.2) as log:
        await log.append(GAMES, numbered(1))
        with locked(path):
            answers = await asyncio.gather(
                *(log.append(GAMES, numbered(2, start=n)) for n in range(20)),
                log.checkpoint(STATE, 0, 9, {b"k": b"v"}),
                return_exceptions=True,
            )
            assert values(await log.read(GAMES, 0, 0)) == [0]  # readers do not care
        assert {type(answer) for answer in answers} == {LogUnavailable}
        assert f"{path}: another program has locked the file" in str(answers[0])
        assert await log.end(GAMES, 0) == 1
        assert await log.restore(STATE, 0) == (0, {})
        assert await log.append(GAMES, numbered(1, start=1)) == [(0, 1)]


async def test_a_lock_that_goes_in_time_is_waited_for(path: Path) -> None:
    async with EmbeddedLog(path, busy_timeout_s=60) as log:
        with locked(path):
            append = asyncio.create_task(log.append(GAMES, numbered(1)))
            await asyncio.sleep(0.1)
            assert not append.done()
        assert await append == [(0, 0)]


# A full disk


async def fill(log: EmbeddedLog) -> int:
    """Appends until the log is full; the number of records stored."""
    for count in range(0, 20_000, 2):
        batch = [NewRecord(b"k", b"%d" % n + b" " * 5000, partition=0) for n in (count, count + 1)]
        try:
            await log.append(GAMES, batch)
        except LogFull:
            return count
    raise AssertionError("it never got full")


async def test_when_no_page_is_left_nothing_half_is_stored_and_the_log_goes_on_when_there_is_room(path: Path) -> None:
    async with EmbeddedLog(path) as log:
        writer = log._writing()
        await writer.submit(lambda connection: connection.execute("PRAGMA max_page_count = 60").fetchall())
        count = await fill(log)
        assert count > 0
        assert values(await read_all(log, GAMES, 0)) == list(range(count))
        await writer.submit(lambda connection: connection.execute("PRAGMA max_page_count = 1000").fetchall())
        assert await log.append(GAMES, numbered(1, start=count)) == [(0, count)]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], capture_output=True, text=True, check=False
    )
    if mount.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mount.stderr.strip()}")
    yield disk
    subprocess.run(["umount", disk], check=True)


async def test_on_a_full_disk_nothing_half_is_stored_and_the_log_goes_on_when_there_is_room(small_disk: Path) -> None:
    path, ballast = small_disk / "log.db", small_disk / "ballast"
    ballast.write_bytes(b"\0" * 800_000)
    async with EmbeddedLog(path) as log:
        count = await fill(log)
        assert count > 0
        assert values(await read_all(log, GAMES, 0)) == list(range(count))
        ballast.unlink()
        assert await log.append(GAMES, numbered(1, start=count)) == [(0, count)]
    async with EmbeddedLog(path) as log:
        assert values(await read_all(log, GAMES, 0)) == list(range(count + 1))


async def test_a_log_that_cannot_be_made_on_a_full_disk_says_so(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        file.writelines([b"\0" * 4096] * 1000)
    for _ in range(12):  # each with one more free page, so it fails at another step
        await fails(EmbeddedLog(small_disk / "log.db"), LogFull, "disk is full")
        os.truncate(ballast, ballast.stat().st_size - 4096)
    ballast.unlink()
    async with EmbeddedLog(small_disk / "log.db") as log:
        await log.append(GAMES, numbered(1))


# Kills

APPENDER = """
import asyncio, sys
from caipan.eventlog import NewRecord
from caipan.eventlog.embedded import EmbeddedLog

async def append_for_ever(log, task):
    n = 0
    while True:
        batch = [b"%s.%d.%d.%d" % (sys.argv[2].encode(), task, n, part) for part in range(3)]
        records = [NewRecord(b"key %d" % (part + task), value) for part, value in enumerate(batch)]
        placed = await log.append("game-events", records)
        for (partition, offset), value in zip(placed, batch):
            print(partition, offset, value.decode(), flush=True)
        n += 1

async def main():
    async with EmbeddedLog(sys.argv[1]) as log:
        await asyncio.gather(*(append_for_ever(log, task) for task in range(5)))

asyncio.run(main())
"""


def append_until_killed(path: Path, run: int, lines: int) -> set[tuple[int, int, bytes]]:
    """Kills an appending process after so many answers; the (partition, offset, value) it was answered."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", APPENDER, str(path), str(run)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as child:
        assert child.stdout
        answered = [child.stdout.readline() for _ in range(lines)]
        child.send_signal(signal.SIGKILL)
        answered += child.stdout.readlines()
    assert child.returncode == -signal.SIGKILL
    whole = [line.split() for line in answered if line.endswith("\n")]
    return {(int(partition), int(offset), value.encode()) for partition, offset, value in whole}


async def test_no_acknowledged_append_is_lost_by_a_kill_and_none_is_half_there(path: Path) -> None:
    answered: set[tuple[int, int, bytes]] = set()
    chance = random.Random(11)
    for run in range(5):
        answered |= append_until_killed(path, run, chance.randrange(3, 400))
        async with EmbeddedLog(path) as log:
            stored = [await read_all(log, GAMES, partition) for partition in range(PARTITIONS)]
        for records in stored:
            assert [record.offset for record in records] == list(range(len(records)))
        assert answered <= {(r.partition, r.offset, r.value) for records in stored for r in records}
        parts = [record.value.rsplit(b".", 1)[0] for records in stored for record in records]
        assert {parts.count(batch) for batch in set(parts)} == {3}


async def test_a_log_whose_writer_was_killed_can_be_read_beside_none(path: Path) -> None:
    answered = append_until_killed(path, 0, 30)
    async with EmbeddedLog(path, read_only=True) as log:
        stored = [await read_all(log, GAMES, partition) for partition in range(PARTITIONS)]
    assert answered <= {(r.partition, r.offset, r.value) for records in stored for r in records}
