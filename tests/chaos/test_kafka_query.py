"""A replica of the reading side killed and its read model deleted: it comes back to what one tells that never broke."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support.fleet import Fleet
from support.reading import take, until

from caipan.eventlog.kafka import KafkaSettings, create_topics
from caipan.v1.game_service_pb2 import GetGameRequest, ListGamesRequest, WatchGameRequest
from caipan.v1.operation_service_pb2 import GetStatusRequest, GetStatusResponse
from caipan.v1.state_pb2 import GameState

from .games import Sent, games
from .hall import spread
from .load import CALL_S, Client, Load, Seen
from .proof import Chains, assert_nothing_lost, assert_served, assert_watched_once_in_order, link_of, outcomes_of
from .test_kill import chance

PARTITIONS = 4
ENOUGH = 400  # events, to call it load
DELETIONS = 3
PAGE = 7  # games


async def test_a_replica_whose_read_model_is_deleted_under_load_tells_the_same_as_one_that_never_broke(
    kafka: KafkaSettings, tmp_path: Path
) -> None:
    random = chance()
    await create_topics(kafka, PARTITIONS, 1)
    with Fleet(kafka, tmp_path) as fleet:
        _, _, whole, broken = fleet.start("gateway", "referee", "query", "query")
        connect = spread(fleet)
        async with (
            connect(Seen(), random) as at_whole,
            connect(Seen(), random) as at_broken,
            Load(connect, games(random, moves=(15, 70)), random) as load,
        ):
            tokens: dict[str, list[str]] = {}
            for _ in range(DELETIONS):
                await further(load.seen)
                for client in (at_whole, at_broken):
                    game_id, token = await token_of(client, load.seen.games)
                    tokens.setdefault(game_id, []).append(token)
                broken.kill()
                delete_read_model(tmp_path / "query-2")
                load.check()
                broken = await asyncio.to_thread(fleet.again, broken)
            seen = await load.finish()
            chains = await assert_nothing_lost(kafka, seen)
            assert_watched_once_in_order(seen, chains)
            for client in (at_whole, at_broken):
                await assert_served(client, chains)
                for game_id, of_game in tokens.items():
                    for token in of_game:
                        await assert_goes_on(client, game_id, token, chains)
            assert await answers_of(at_broken, seen.games) == await answers_of(at_whole, seen.games)
        for member in (whole, broken):
            member.stop()
    print(f"{len(chains)} games, {seen.resumed} streams were taken up again")
    assert seen.resumed, "nobody watched the replica that was killed"


async def further(seen: Seen) -> None:
    """Waits until enough more events are acknowledged."""
    stood = len(seen.acknowledged)
    await until(lambda: len(seen.acknowledged) > stood + ENOUGH)


def delete_read_model(folder: Path) -> None:
    files = list(folder.glob("games.db*"))
    assert files
    for file in files:
        file.unlink()


async def token_of(client: Client, sent: Sequence[Sent]) -> tuple[str, str]:
    """A token for a game that goes on, if one does."""
    for game in reversed(sent):
        request = WatchGameRequest(game_id=game.game_id, min_seq=1)
        watching = client.games.WatchGame(request, timeout=CALL_S)
        update = await watching.read()
        watching.cancel()
        if update.snapshot.seq < len(game.events):
            break
    return game.game_id, update.resume_token


async def assert_goes_on(client: Client, game_id: str, token: str, chains: Chains) -> None:
    """The outcomes after those that the token had seen, in order."""
    at = int(token.split(".")[1])
    watching = client.games.WatchGame(WatchGameRequest(game_id=game_id, resume_token=token), timeout=CALL_S)
    rest = chains[game_id][at:]
    assert [link_of(update.outcome) for update in await take(watching, len(rest))] == rest
    watching.cancel()


async def answers_of(client: Client, sent: Sequence[Sent]) -> list[Any]:
    """All that a replica tells of these games."""
    status: GetStatusResponse = await client.operations.GetStatus(GetStatusRequest(), timeout=CALL_S)
    for partition in status.partitions:
        assert partition.served == partition.outcomes_end
        partition.ClearField("folded")  # told by the referee from time to time
        for field in ("worker", "phase", "since_ms", "refilled", "takeover_ms"):
            partition.ClearField(field)
    answers: list[Any] = [status, await listed(client)]
    for game in sent:
        answers.append((await client.games.GetGame(GetGameRequest(game_id=game.game_id), timeout=CALL_S)).game)
        answers.append(await outcomes_of(client, game.game_id))
    return answers


async def listed(client: Client) -> list[GameState]:
    """All pages of the list of games."""
    found: list[GameState] = []
    token = ""
    while True:
        request = ListGamesRequest(page_size=PAGE, page_token=token)
        page = await client.games.ListGames(request, timeout=CALL_S)
        found += page.games
        token = page.next_page_token
        if not token:
            return found
