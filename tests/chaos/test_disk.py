"""A disk that is full: callers are told so, nothing is half done, and with room again everything goes on."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random

import grpc
import pytest
from support.command import Service, caipan

from caipan.query import ReadModelError
from caipan.query.database import Database
from caipan.v1.errors_pb2 import ERROR_CODE_LOG_UNAVAILABLE
from caipan.v1.game_service_pb2 import GetGameRequest
from caipan.v1.intake_service_pb2 import WAIT_LOG, WAIT_VERDICT

from .games import games
from .load import Client, Load, Seen, told
from .proof import assert_nothing_lost, assert_served, assert_watched_once_in_order, place, records_of
from .test_kill import chance

DISK_BYTES = 24 << 20
FULL = "the disk is full; free some space and try again"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command here")
    if done.returncode:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """A file that takes all the room there is."""
    ballast = disk / "ballast"
    with ballast.open("ab", buffering=0) as file:
        for size in (1 << 16, 1):
            with suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass
    return ballast


async def test_a_full_disk_is_told_and_what_was_refused_goes_through_with_room_again(disk: Path) -> None:
    seen = Seen(games=list(islice(games(Random(7), moves=(60, 60)), 2)))
    before, meanwhile = seen.games
    with Service(disk) as service:
        async with Client(service.address, disk, seen, Random(7)) as client:
            await client.append(before.events)
            await client.games.GetGame(GetGameRequest(game_id=before.game_id, min_seq=len(before.events)))
            ballast = fill(disk)
            for wait in (WAIT_LOG, WAIT_VERDICT):
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await client.append(meanwhile.events, wait)
                assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
                detail = told(caught.value)
                assert detail.code == ERROR_CODE_LOG_UNAVAILABLE
                assert detail.reason == f"{disk / 'log.db'}: {FULL}"
                assert detail.remedy.startswith("repeat with the same event_ids")
            state = (await client.games.GetGame(GetGameRequest(game_id=before.game_id))).game
            assert state.seq == len(before.events)  # reading needs no room
            assert {place(each) for each in await records_of(disk, "game-events")} == set(seen.acknowledged)
            ballast.unlink()
            results = await client.append(meanwhile.events)
            assert [result.outcome.verdict.seq for result in results] == list(range(1, len(meanwhile.events) + 1))
            await assert_served(client, await assert_nothing_lost(disk, seen))
            assert service.end() == (0, "")


async def test_a_disk_that_fills_up_again_and_again_under_load_loses_nothing(disk: Path) -> None:
    random = chance()
    with Service(disk) as service:
        async with Load(partial(Client, service.address, disk), games(random, moves=(15, 40)), random) as load:
            for _ in range(8):
                await asyncio.sleep(random.uniform(0.1, 0.3))
                ballast = fill(disk)
                await asyncio.sleep(random.uniform(0.1, 0.4))
                load.check()
                ballast.unlink()
            seen = await load.finish()
            assert seen.broken, "the disk was never full"
            chains = await assert_nothing_lost(disk, seen)
            assert_watched_once_in_order(seen, chains)
            async with Client(service.address, disk, seen, random) as client:
                await assert_served(client, chains)
        assert service.end()[0] == 0


async def test_a_stop_on_a_full_disk_loses_nothing(disk: Path) -> None:
    seen = Seen(games=list(islice(games(Random(7), moves=(60, 60)), 1)))
    with Service(disk) as service:
        async with Client(service.address, disk, seen, Random(7)) as client:
            await client.append(seen.games[0].events)
        ballast = fill(disk)
        code, errors = service.end()
        assert code == 0
        assert FULL in errors
    ballast.unlink()
    with Service(disk) as service:
        async with Client(service.address, disk, seen, Random(7)) as client:
            await assert_served(client, await assert_nothing_lost(disk, seen))
        assert service.end() == (0, "")


def test_a_start_on_a_full_disk_says_so(disk: Path) -> None:
    with Service(disk) as service:
        assert service.end() == (0, "")
    ballast = fill(disk)
    refused = caipan("up", "--data", disk, "--listen", "127.0.0.1:0", ok=1)
    assert refused.stderr == f"caipan: {disk / 'log.db'}: {FULL}\n"
    ballast.unlink()
    with Service(disk) as service:
        assert service.end() == (0, "")


async def test_a_read_model_on_a_full_disk_says_so(disk: Path) -> None:
    fill(disk)
    with pytest.raises(ReadModelError) as caught:
        async with Database(disk / "games.db"):
            pass
    assert str(caught.value) == f"{disk / 'games.db'}: {FULL}"
