"""The read model is derived: deleted, out of date or cut short, it comes back from the log with the same answers."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from support.play import Play
from support.reading import OUTCOMES, Reader, Written, code, refused, rest, take, until, write

from caipan.eventlog import EventLog, NewRecord
from caipan.eventlog.embedded import EmbeddedLog
from caipan.query import Query, ReadModelError, schema
from caipan.v1 import operation_service_pb2 as pb
from caipan.v1.facts_pb2 import StonePlaced
from caipan.v1.game_service_pb2 import GetGameRequest, ListGamesRequest, ListOutcomesRequest, WatchGameRequest
from caipan.v1.game_service_pb2_grpc import GameServiceStub


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[EventLog]:
    async with EmbeddedLog(tmp_path / "log.db") as log:
        yield log


@pytest.fixture
def written(log: EventLog) -> Written:
    return Written(log)


def hall() -> list[Play]:
    """Games in every condition."""
    played = Play(9, game_id="played").moves("B E5, W E4, B D4, W D3, B F4, W F3, B E3, W pass, B pass")
    corrected = Play(9, game_id="corrected").moves("B E5, W E4")
    corrected.replace("e2", StonePlaced(point="A1"), "B")
    parked = Play(9, game_id="parked").stone("B", "E5", seq=2)
    orphan = Play(9, game_id="orphan", opening=False).stone("B", "E5")
    return [played, corrected, parked, orphan, *(Play(2, game_id=f"g{number}") for number in range(20))]


async def everything(reader: Reader) -> list[object]:
    """All answers a reader gives."""
    status = await reader.settled()
    games = await reader.list()
    outcomes = [await reader.outcomes(game.game_id, 1000) for game in games if not game.diverged]
    quarantined = await reader.operations.ListQuarantined(pb.ListQuarantinedRequest())
    return [games, outcomes, quarantined, status]


async def quarantine(log: EventLog, *records: pb.Quarantined) -> None:
    await log.append(
        "quarantine", [NewRecord(record.record_id.encode(), record.SerializeToString()) for record in records]
    )


def delete(database: Path) -> None:
    for file in database.parent.glob(f"{database.name}*"):
        file.unlink()


async def test_a_deleted_read_model_is_built_again_with_the_same_answers(
    log: EventLog, written: Written, tmp_path: Path
) -> None:
    database = tmp_path / "read.db"
    first, *others = hall()
    async with Reader(log, database) as reader:
        await written(first)
        await reader.settled()
        await written(*others)
        await quarantine(log, pb.Quarantined(record_id="game-events-0-7", reason="no event", recorded_at_ms=5))
        await reader.settled(quarantined=1)
        before = await everything(reader)
    async with Reader(log, database) as reader:
        assert await everything(reader) == before
    delete(database)
    async with Reader(log, database) as reader:
        assert await everything(reader) == before
    assert len(before[0]) == 23


async def test_a_replica_that_has_not_caught_up_denies_no_game(log: EventLog, written: Written, tmp_path: Path) -> None:
    play = Play(9).moves("B E5, W E4")
    async with Reader(log, tmp_path / "first.db") as first:
        await written(play)
        await first.settled()
        (snapshot,) = await take(first.watch("game"), 1)
    await written(play.moves("B D4"))
    late = Reader(log, tmp_path / "late.db")
    async with late.query:  # which does not follow the log yet
        late.query.register(late.server)
        late.port = await late.server.start("127.0.0.1", 0)
        async with late.connect() as channel:
            stub = GameServiceStub(channel)
            resumed = WatchGameRequest(game_id="game", resume_token=snapshot.resume_token)
            for call in (
                stub.GetGame(GetGameRequest(game_id="game")),
                stub.GetGame(GetGameRequest(game_id="game", min_seq=1), timeout=0.5),
                stub.ListOutcomes(ListOutcomesRequest(game_id="game")),
                stub.ListGames(ListGamesRequest()),
                stub.WatchGame(WatchGameRequest(game_id="game")).read(),
                stub.WatchGame(resumed, timeout=0.5).read(),
            ):
                assert code(await refused(call)) == "CATCHING_UP"
            waiting = stub.WatchGame(resumed)
            late.following = asyncio.create_task(late.query.run())
            assert [update.outcome for update in await take(waiting, 1)] == play.outcomes[-1:]
            await late.query.ready.wait()
            assert len((await stub.ListGames(ListGamesRequest())).games) == 1
            assert code(await refused(stub.GetGame(GetGameRequest(game_id="no-such")))) == "GAME_UNKNOWN"
            await late.stop_following()
        await late.server.stop(None)


async def test_another_schema_version_is_built_again_and_says_so(
    log: EventLog, written: Written, tmp_path: Path
) -> None:
    database = tmp_path / "read.db"
    await written(*hall())
    async with Reader(log, database) as reader:
        before = await everything(reader)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE read_model SET version = 999")
        connection.execute("DROP TABLE games")
        connection.execute("CREATE TABLE of_another_version (id TEXT)")
    with capture_logs() as lines:
        async with Reader(log, database) as reader:
            assert await everything(reader) == before
    assert [line["reason"] for line in lines if "built again" in line["event"]] == [
        f"its tables have version 999, not {schema.VERSION}"
    ]
    with closing(sqlite3.connect(database)) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert "of_another_version" not in names


@pytest.mark.parametrize("longer", [False, True])
async def test_a_read_model_of_another_log_is_built_again_and_says_so(tmp_path: Path, longer: bool) -> None:
    database = tmp_path / "read.db"
    async with EmbeddedLog(tmp_path / "old.db", 1) as old:
        await write(old, Play(game_id="old").moves("B Q16, W D4").outcomes)
        async with Reader(old, database) as reader:
            await reader.settled()
    new = Play(game_id="new")
    if longer:
        new.moves("B Q16, W D4, B Q4, W D16")
    async with EmbeddedLog(tmp_path / "new.db", 1) as log:
        await write(log, new.outcomes)
        with capture_logs() as lines:
            async with Reader(log, database) as reader:
                assert [game.game_id for game in await reader.list()] == ["new"]
                assert await reader.outcomes("new") == new.outcomes
    assert any("built again" in line["event"] for line in lines)


async def test_a_log_with_fewer_partitions_is_another_log(tmp_path: Path) -> None:
    database = tmp_path / "read.db"
    plays = [Play(2, game_id=f"g{number}") for number in range(20)]
    for partitions in (4, 2):
        async with EmbeddedLog(tmp_path / f"log{partitions}.db", partitions) as log:
            await Written(log)(*plays)
            async with Reader(log, database) as reader:
                assert len(await reader.list()) == 20


async def test_a_file_that_is_something_else_is_refused_and_left_alone(log: EventLog, tmp_path: Path) -> None:
    text, database = tmp_path / "game.sgf", tmp_path / "members.db"
    text.write_bytes(b"(;GM[1])" * 1000)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE member (name TEXT)")
    for file in (text, database, tmp_path):
        before = file.read_bytes() if file.is_file() else b""
        with pytest.raises(ReadModelError) as caught:
            async with Query(log, file):
                pass
        assert str(file) in str(caught.value)
        assert not before or file.read_bytes() == before


async def test_a_missing_folder_is_made_and_any_file_name_works(
    log: EventLog, written: Written, tmp_path: Path
) -> None:
    await written(Play())
    async with Reader(log, tmp_path / "no such folder" / "read?#%20.db") as reader:
        assert (await reader.game("game")).seq == 1
    assert (tmp_path / "no such folder" / "read?#%20.db").is_file()


async def test_a_url_names_the_database_too(log: EventLog, written: Written, tmp_path: Path) -> None:
    await written(Play())
    async with Reader(log, f"sqlite:///{tmp_path / 'by-url.db'}") as reader:
        assert (await reader.game("game")).seq == 1
    assert (tmp_path / "by-url.db").is_file()


async def test_a_password_of_a_url_is_in_no_message(log: EventLog) -> None:
    with pytest.raises(ReadModelError) as caught:
        async with Query(log, "sqlite://user:geheim@host/nowhere.db"):
            pass
    assert "geheim" not in str(caught.value)
    assert "nowhere.db" in str(caught.value)


async def test_what_came_while_nobody_followed_is_taken_up(log: EventLog, written: Written, tmp_path: Path) -> None:
    play = Play().moves("B Q16")
    for player, point in (("W", "D4"), ("B", "Q4"), ("W", "D16")):
        await written(play)
        async with Reader(log, tmp_path / "read.db") as reader:
            assert await reader.outcomes("game") == play.outcomes  # ready means caught up
        play.stone(player, point)


_KILLED = """
import asyncio, os, signal, sys
from caipan.eventlog.embedded import EmbeddedLog
from caipan.query import Query
from sqlalchemy import Engine, event

batches = 0

@event.listens_for(Engine, "after_cursor_execute")
def kill(connection, cursor, statement, *_):
    global batches
    batches += statement.startswith("INSERT INTO cursors")
    if batches == 3:
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    async with EmbeddedLog(sys.argv[1], read_only=True) as log, Query(log, sys.argv[2]) as query:
        await query.run()

asyncio.run(main())
"""


async def test_a_kill_within_a_transaction_leaves_rows_and_cursor_at_one_point(
    log: EventLog, written: Written, tmp_path: Path
) -> None:
    """Each process stores two batches and is killed in its third; the next one goes on from there."""
    database = tmp_path / "read.db"
    plays = [Play(9, game_id=f"g{number:02}").moves("B E5, W E4, B D4, W D3") for number in range(40)]
    for play in plays:
        for _ in range(300):
            play.press("B")
    await written(*plays)
    for _ in range(3):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", _KILLED, str(tmp_path / "log.db"), str(database))
        )
        assert await process.wait() == -signal.SIGKILL
    with closing(sqlite3.connect(database)) as connection:
        (stored,) = connection.execute("SELECT count(*) FROM outcomes").fetchone()
        (served,) = connection.execute("SELECT sum(next_offset) FROM cursors").fetchone()
    assert 0 < stored == served < 40 * 305  # these games have no notices
    async with Reader(log, database) as reader:
        assert not (await reader.status()).diverged
        for play in plays[:3]:
            assert await reader.outcomes(play.game_id, 1000) == play.outcomes
        after = await everything(reader)
    delete(database)
    async with Reader(log, database) as reader:
        assert await everything(reader) == after


# What must not happen in a log


@pytest.fixture
async def reader(log: EventLog, tmp_path: Path) -> AsyncIterator[Reader]:
    async with Reader(log, tmp_path / "read.db") as reader:
        yield reader


async def test_an_outcome_that_stands_twice_is_served_once(reader: Reader, log: EventLog) -> None:
    play = Play().moves("B Q16, W D4, B Q4")
    await write(log, [*play.outcomes[:3], *play.outcomes[1:3], *play.outcomes])
    await reader.settled()
    await write(log, play.outcomes)  # and once more, in a batch of its own
    assert not (await reader.settled()).diverged
    assert await reader.outcomes("game") == play.outcomes


@pytest.mark.parametrize("at_once", [True, False])
async def test_another_outcome_of_one_seq_is_never_taken_and_the_game_is_served_no_further(
    reader: Reader, log: EventLog, at_once: bool
) -> None:
    play, other = Play().moves("B Q16, W D4"), Play().moves("B Q16, W C3, B D4")
    call = None
    with capture_logs() as lines:
        if at_once:
            await write(log, [*play.outcomes, *other.outcomes[2:]])
        else:
            await write(log, play.outcomes)
            await reader.settled()
            call = reader.watch("game")
            await take(call, 1)
            await write(log, other.outcomes[2:])
        assert (await reader.settled()).diverged == ["game"]
    assert [(line["log_level"], line["game_id"], line["seq"]) for line in lines] == [("critical", "game", 3)]
    for answer in (reader.game("game"), reader.game("game", min_seq=9), reader.outcomes("game")):
        assert code(await refused(answer)) == "GAME_DIVERGED"
    for watch in (call, reader.watch("game")):
        if watch is not None:
            updates, told = await rest(watch)
            assert not updates
            assert code(told) == "GAME_DIVERGED"
    [listed] = await reader.list()
    assert (listed.game_id, listed.diverged, list(listed.board)) == ("game", True, [])


@pytest.mark.parametrize("missing", [1, 2])
async def test_a_hole_in_a_game_is_a_divergence(reader: Reader, log: EventLog, missing: int) -> None:
    play = Play().moves("B Q16, W D4, B Q4")
    await write(log, [outcome for outcome in play.outcomes if outcome.verdict.seq != missing])
    await write(log, Play(game_id="sound").outcomes)
    assert (await reader.settled()).diverged == ["game"]
    assert (await reader.game("sound", min_seq=1)).seq == 1


async def test_an_outcome_of_another_chain_is_a_divergence(reader: Reader, log: EventLog) -> None:
    play, other = Play().moves("B Q16, W D4"), Play().moves("B Q16, W C3, B D4")
    await write(log, [*play.outcomes, other.outcomes[3]])
    assert (await reader.settled()).diverged == ["game"]


async def test_a_diverged_game_stays_so_when_the_read_model_is_built_again(log: EventLog, tmp_path: Path) -> None:
    play, other = Play().moves("B Q16, W D4"), Play().moves("B Q16, W C3, B D4")
    await write(log, [*play.outcomes, *other.outcomes, *play.outcomes])
    async with Reader(log, tmp_path / "read.db") as reader:
        before = await everything(reader)
    delete(tmp_path / "read.db")
    async with Reader(log, tmp_path / "read.db") as reader:
        assert await everything(reader) == before
        assert (await reader.status()).diverged == ["game"]


async def test_an_outcome_that_no_board_can_show_stops_its_game_and_no_other(reader: Reader, log: EventLog) -> None:
    play = Play(5).moves("B A1")
    play.outcomes[1].verdict.added_black[:] = ["Q16"]
    await write(log, [*play.outcomes, *Play(game_id="sound").outcomes])
    assert (await reader.settled()).diverged == ["game"]
    assert (await reader.game("sound")).seq == 1


async def test_a_record_that_is_no_outcome_is_left_out_with_an_alarm(reader: Reader, log: EventLog) -> None:
    stranger = Play(game_id="stranger").outcomes[0].SerializeToString()
    sound = Play().outcomes[0].SerializeToString()
    bad = [NewRecord(b"game", b"\xff"), NewRecord(b"game", b""), NewRecord(b"game", stranger)]
    with capture_logs() as lines:
        await log.append(OUTCOMES, [*bad, NewRecord(b"", b"", partition=0), NewRecord(b"game", sound)])
        await log.append("quarantine", [NewRecord(b"r", b"\xff")])
        assert not (await reader.settled()).diverged
        await until(lambda: len(lines) == 5)
    assert {line["log_level"] for line in lines} == {"critical"}
    assert [game.game_id for game in await reader.list()] == ["game"]


async def test_a_database_that_fails_for_a_while_is_waited_for(
    reader: Reader, log: EventLog, written: Written, tmp_path: Path
) -> None:
    """Another program holds the file for longer than a writer waits: nothing is lost, and reading goes on."""
    play = Play().moves("B Q16")
    await written(play)
    await reader.settled()
    call = reader.watch("game")
    await take(call, 1)
    with capture_logs() as lines, closing(sqlite3.connect(tmp_path / "read.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        await written(play.stone("W", "D4"))
        await until(lambda: any(line["log_level"] == "error" for line in lines))
        assert (await reader.game("game")).seq == 2
        other.execute("ROLLBACK")
    assert (await take(call, 1))[0].outcome == play.outcomes[-1]
    assert (await reader.game("game", min_seq=3)).seq == 3
