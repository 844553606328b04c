"""A log that another program holds: callers are told so, nothing is half done, and afterwards everything goes on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from random import Random

import grpc
import pytest
from support.command import Service, caipan

from caipan.v1.errors_pb2 import ERROR_CODE_LOG_UNAVAILABLE
from caipan.v1.game_service_pb2 import GetGameRequest
from caipan.v1.intake_service_pb2 import WAIT_LOG, WAIT_VERDICT

from .games import games
from .load import Client, Seen, told
from .proof import assert_nothing_lost, assert_served, place, records_of


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Another program writes to the file, and takes its time."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


async def test_a_locked_log_is_told_and_what_was_refused_goes_through_afterwards(tmp_path: Path) -> None:
    seen = Seen(games=list(islice(games(Random(7), moves=(60, 60)), 2)))
    before, meanwhile = seen.games
    with Service(tmp_path) as service:
        async with Client(service.address, tmp_path, seen, Random(7)) as client:
            await client.append(before.events)
            await client.games.GetGame(GetGameRequest(game_id=before.game_id, min_seq=len(before.events)))
            with locked(tmp_path / "log.db"):
                for wait in (WAIT_LOG, WAIT_VERDICT):  # each longer than the service waits for the file
                    with pytest.raises(grpc.aio.AioRpcError) as caught:
                        await client.append(meanwhile.events, wait)
                    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
                    detail = told(caught.value)
                    assert detail.code == ERROR_CODE_LOG_UNAVAILABLE
                    assert detail.reason == (
                        f"{tmp_path / 'log.db'}: another program has locked the file; close that program and try again"
                    )
                    assert detail.remedy.startswith("repeat with the same event_ids")
                state = (await client.games.GetGame(GetGameRequest(game_id=before.game_id))).game
                assert state.seq == len(before.events)  # reading goes on
                assert {place(each) for each in await records_of(tmp_path, "game-events")} == set(seen.acknowledged)
            results = await client.append(meanwhile.events)
            assert [result.outcome.verdict.seq for result in results] == list(range(1, len(meanwhile.events) + 1))
            await assert_served(client, await assert_nothing_lost(tmp_path, seen))
        assert service.end()[0] == 0


async def test_verdicts_that_a_locked_log_kept_back_come_afterwards(tmp_path: Path) -> None: ...


def test_a_second_service_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        refused = caipan("up", "--data", tmp_path, "--listen", "127.0.0.1:0", ok=1)
        assert refused.stdout == ""
        (line,) = refused.stderr.splitlines()
        assert line == (
            f"caipan: {tmp_path / 'log.db'}: process {service.pid} writes to this log already; "
            "stop it, or choose another file"
        )
        assert service.end() == (0, "")
