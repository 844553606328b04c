"""A log that another program holds: callers are told so, nothing is half done, and afterwards everything goes on."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random

import grpc
import pytest
from support.command import Service, caipan

from caipan.v1.errors_pb2 import ERROR_CODE_LOG_UNAVAILABLE
from caipan.v1.game_service_pb2 import GetGameRequest

from .games import games
from .load import Client, Load, Seen, told
from .proof import assert_nothing_lost, assert_served, assert_watched_once_in_order, place, records_of
from .test_kill import chance

LOCKED = "another program has locked the file; close that program and try again"
LOCKED_S = 7.0  # longer than the service waits for the file, and than it waits until it tries again


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
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await client.append(meanwhile.events)
                assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
                detail = told(caught.value)
                assert detail.code == ERROR_CODE_LOG_UNAVAILABLE
                assert detail.reason == f"{tmp_path / 'log.db'}: {LOCKED}"
                assert detail.remedy.startswith("repeat with the same event_ids")
                state = (await client.games.GetGame(GetGameRequest(game_id=before.game_id))).game
                assert state.seq == len(before.events)  # reading goes on
                assert {place(each) for each in await records_of(tmp_path, "game-events")} == set(seen.acknowledged)
            await client.append(meanwhile.events)
            await assert_served(client, await assert_nothing_lost(tmp_path, seen))
        assert service.end()[0] == 0


async def test_a_log_locked_under_load_loses_nothing(tmp_path: Path) -> None:
    random = chance()
    with Service(tmp_path) as service:
        async with Load(partial(Client, service.address, tmp_path), games(random, moves=(15, 40)), random) as load:
            await asyncio.sleep(0.5)
            with locked(tmp_path / "log.db"):
                await asyncio.sleep(LOCKED_S)
            load.check()
            seen = await load.finish()
            chains = await assert_nothing_lost(tmp_path, seen)
            assert_watched_once_in_order(seen, chains)
            async with Client(service.address, tmp_path, seen, random) as client:
                await assert_served(client, chains)
        code, warnings = service.end()
        assert code == 0
        assert seen.broken or LOCKED in warnings, "the lock was never noticed"


def test_a_second_service_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        refused = caipan("up", "--data", tmp_path, "--listen", "127.0.0.1:0", ok=1)
        assert refused.stdout == ""
        assert re.fullmatch(
            rf"caipan: {re.escape(str(tmp_path / 'log.db'))}: process [0-9]+ writes to this log already; "
            "stop it, or choose another file\n",
            refused.stderr,
        )
        assert service.end() == (0, "")


def test_a_port_in_use_is_told_in_a_line(tmp_path: Path) -> None:
    with Service(tmp_path / "one") as service:
        refused = caipan("up", "--data", tmp_path / "two", "--listen", service.address, ok=1)
        assert refused.stderr == (
            f"caipan: {service.address}: the port is in use; stop the program that has it, or choose another port\n"
        )
        assert service.end() == (0, "")
