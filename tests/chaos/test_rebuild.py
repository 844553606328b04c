"""What is derived from the log is deleted while the service is stopped: it comes back to the same answers."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from support.command import Service, caipan

from caipan.v1.game_service_pb2 import GetGameRequest, ListGamesRequest, WatchGameRequest
from caipan.v1.mark_pb2 import RefereeMark
from caipan.v1.operation_service_pb2 import GetStatusRequest

from .games import Sent, games
from .load import CALL_S, Client, Seen
from .proof import Chains, assert_nothing_lost, assert_served, outcomes_of

GAMES = 6


def delete_read_model(data: Path) -> None:
    files = list(data.glob("games.db*"))
    assert files
    for file in files:
        file.unlink()


def delete_checkpoints(data: Path) -> None:
    with closing(sqlite3.connect(data / "log.db")) as log, log:
        assert log.execute("DELETE FROM state WHERE topic = 'game-state'").rowcount
        assert log.execute("DELETE FROM position WHERE topic = 'game-state'").rowcount


def delete_outcomes(data: Path) -> None:
    """Then the checkpoints are of no use either: they say that these outcomes are written."""
    with closing(sqlite3.connect(data / "log.db")) as log, log:
        assert log.execute("DELETE FROM record WHERE topic = 'game-outcomes' AND offset >= 10").rowcount


def write_checkpoints_as_another_version(data: Path) -> None:
    """What they say could be read by this one, and would be wrong."""
    with closing(sqlite3.connect(data / "log.db")) as log, log:
        marks = log.execute("SELECT rowid, value FROM state WHERE topic = 'game-state' AND key = x''").fetchall()
        assert marks
        for rowid, value in marks:
            mark = RefereeMark.FromString(value)
            mark.format = "other"
            log.execute("UPDATE state SET value = ? WHERE rowid = ?", (mark.SerializeToString(), rowid))
        assert log.execute("UPDATE state SET value = x'' WHERE topic = 'game-state' AND key != x''").rowcount


@pytest.mark.parametrize(
    "hurt", [delete_read_model, delete_checkpoints, delete_outcomes, write_checkpoints_as_another_version]
)
async def test_what_is_derived_comes_back_the_same(tmp_path: Path, hurt: Callable[[Path], None]) -> None:
    random = Random(7)
    seen = Seen(games=list(islice(games(random, moves=(20, 60)), GAMES)))
    halves = [(game.events[: len(game.events) // 2], game.events[len(game.events) // 2 :]) for game in seen.games]
    with Service(tmp_path) as service:
        async with Client(service.address, tmp_path, seen, random) as client:
            for first, _ in halves:
                await client.append(first)
            answers, token = await answers_of(client, seen.games), await token_of(client, seen.games[0])
        assert service.end() == (0, "")
    hurt(tmp_path)
    with Service(tmp_path) as service:
        async with Client(service.address, tmp_path, seen, random) as client:
            assert await answers_of(client, seen.games) == answers
            for _, second in halves:
                await client.append(second)
            chains = await assert_nothing_lost(tmp_path, seen)
            await assert_served(client, chains)
            await assert_goes_on(client, seen.games[0], token, chains)
        assert service.end()[0] == 0


async def test_a_log_that_has_lost_events_is_refused(tmp_path: Path) -> None:
    """An older copy of the events beside newer checkpoints: what comes next would never be judged."""
    (game,) = islice(games(Random(7), moves=(20, 20)), 1)
    with Service(tmp_path) as service:
        async with Client(service.address, tmp_path, Seen(), Random(7)) as client:
            await client.append(game.events)
        assert service.end() == (0, "")
    with closing(sqlite3.connect(tmp_path / "log.db")) as log, log:
        assert log.execute("DELETE FROM record WHERE topic = 'game-events' AND offset >= 30").rowcount
    refused = caipan("up", "--data", tmp_path, "--listen", "127.0.0.1:0", ok=1)
    assert re.fullmatch(
        rf"caipan: game-events-[0-3]: {len(game.events)} events were judged, but the log has 30: it has lost some; "
        "put back a whole copy of it\n",
        refused.stderr,
    )


async def answers_of(client: Client, sent: list[Sent]) -> list[bytes]:
    """All that the reading side tells of these games, and its counts."""
    answers: list[bytes] = []
    for game in sent:
        request = GetGameRequest(game_id=game.game_id, min_seq=len(game.events) // 2)
        answers.append((await client.games.GetGame(request, timeout=CALL_S)).SerializeToString())
        answers += [outcome.SerializeToString() for outcome in await outcomes_of(client, game.game_id)]
    answers.append((await client.games.ListGames(ListGamesRequest(), timeout=CALL_S)).SerializeToString())
    status = await client.operations.GetStatus(GetStatusRequest(), timeout=CALL_S)
    for partition in status.partitions:
        assert partition.folded == partition.events_end
        assert partition.served == partition.outcomes_end
        for told_of_the_worker in ("worker", "since_ms", "takeover_ms"):
            partition.ClearField(told_of_the_worker)
    return [*answers, status.SerializeToString()]


async def token_of(client: Client, game: Sent) -> str:
    watching = client.games.WatchGame(WatchGameRequest(game_id=game.game_id), timeout=CALL_S)
    update = await watching.read()
    watching.cancel()
    return str(update.resume_token)


async def assert_goes_on(client: Client, game: Sent, token: str, chains: Chains) -> None:
    """The token from before is still good: the outcomes since then follow."""
    request = WatchGameRequest(game_id=game.game_id, resume_token=token)
    watching = client.games.WatchGame(request, timeout=CALL_S)
    for seq, event_id, head in chains[game.game_id][len(game.events) // 2 :]:
        outcome = (await watching.read()).outcome
        assert (outcome.verdict.seq, outcome.verdict.event_id, outcome.head) == (seq, event_id, head)
    watching.cancel()
