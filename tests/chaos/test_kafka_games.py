"""Real games through several processes of each kind on Kafka: the heads, the watchers and the tokens are the same."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
from bench.games import Record, records
from support.command import caipan, objects
from support.fleet import Fleet
from support.reading import take

from caipan.cli.synthetic import RECORDER, Terms, play
from caipan.eventlog.kafka import KafkaSettings, create_topics
from caipan.v1.game_service_pb2 import GetGameRequest, WatchGameRequest

from .games import Sent, games
from .hall import spread, until_shared
from .load import CALL_S, Client, Seen
from .proof import assert_nothing_lost, assert_served, assert_watched_once_in_order
from .test_kill import chance

PARTITIONS = 4
SENDERS = 4  # two for each game, and two games at a time
REQUEST = (1, 40)  # events


@pytest.fixture
async def log(kafka: KafkaSettings) -> KafkaSettings:
    """A log with its topics."""
    await create_topics(kafka, PARTITIONS, 1)
    return kafka


async def test_the_real_games_sent_by_several_clients_at_once_have_the_heads_they_have_offline(
    log: KafkaSettings, tmp_path: Path
) -> None:
    random = chance()
    sent, heads = real_games(tmp_path)
    assert len(sent) == len(heads) == 25
    seen = Seen(games=sent)
    with Fleet(log, tmp_path) as fleet:
        fleet.start("gateway", "gateway", "referee", "referee", "query", "query")
        async with AsyncExitStack() as opened:
            connect = spread(fleet, person=RECORDER.person, role="RECORDER")
            senders = [await opened.enter_async_context(connect(seen, random)) for _ in range(SENDERS)]
            replicas = [Seen() for _ in fleet.running("query")]
            watchers = [await opened.enter_async_context(connect(each, random)) for each in replicas]
            await until_shared(watchers[0], fleet.running("referee"))
            async with asyncio.TaskGroup() as hall:
                for number in range(0, SENDERS, 2):
                    pair, share = senders[number : number + 2], sent[number // 2 :: SENDERS // 2]
                    hall.create_task(send_twice(share, pair, watchers, random))
            chains = await assert_nothing_lost(log, seen)
            assert {game_id: chain[-1][2].hex() for game_id, chain in chains.items()} == heads
            for replica, client in zip(replicas, watchers, strict=True):
                assert set(replica.watched) == set(chains)
                assert_watched_once_in_order(replica, chains)
                await assert_served(client, chains)
        fleet.stop()


async def send_twice(share: list[Sent], senders: list[Client], watchers: list[Client], random: Random) -> None:
    """One game after the other, by each of these senders at the same time, and watched by each of the watchers."""
    for game in share:
        async with asyncio.TaskGroup() as together:
            for sender in senders:
                together.create_task(send(game, sender, random))
            for watcher in watchers:
                together.create_task(watcher.watch(game))


async def send(game: Sent, client: Client, random: Random) -> None:
    """Reads at a query what was written at a gateway right before."""
    start = 0
    while start < len(game.events):
        request = game.events[start : start + random.randint(*REQUEST)]
        await client.append(request)
        start += len(request)
        read = await client.games.GetGame(GetGameRequest(game_id=game.game_id, min_seq=start), timeout=CALL_S)
        assert read.game.seq >= start


def real_games(folder: Path) -> tuple[list[Sent], dict[str, str]]:
    """The events of each real game, and the head that `caipan adjudicate` tells of it."""
    files = []
    for record in records():
        files.append(folder / f"{record.name}.sgf")
        files[-1].write_text(sgf_of(record), "utf-8")
    told = objects(caipan("adjudicate", "--json", *files).stdout)
    played = [play(file.read_bytes(), Terms()) for file in files]
    sent = [Sent(each.game.game_id, [step.event for step in each.steps], alone=False) for each in played]
    return sent, {game.game_id: report["head"] for game, report in zip(sent, told, strict=True)}


def sgf_of(record: Record) -> str:
    """A game as a file, the stones of a handicap set up."""
    set_up = {name: [point for colour, point in record.set_up if f"A{colour}" == name] for name in ("AB", "AW")}
    stones = "".join(
        name + "".join(f"[{sgf_point(point, record.size)}]" for point in points)
        for name, points in set_up.items()
        if points
    )
    moves = "".join(f";{colour}[{sgf_point(point, record.size)}]" for colour, point in record.moves)
    return f"(;GM[1]SZ[{record.size}]GN[{record.name}]{stones}{moves})"


def sgf_point(point: str, size: int) -> str:
    if point == "-":
        return ""
    return chr(97 + "ABCDEFGHJKLMNOPQRST".index(point[0])) + chr(97 + size - int(point[1:]))


async def test_a_token_of_one_replica_is_good_at_another_even_at_one_that_is_behind(
    log: KafkaSettings, tmp_path: Path
) -> None:
    (game,) = islice(games(Random(7), moves=(40, 40)), 1)
    first, rest = game.events[:30], game.events[30:]
    with Fleet(log, tmp_path) as fleet:
        way_in, _, here, there = fleet.start("gateway", "referee", "query", "query")
        seen = Seen(games=[game])
        async with (
            Client(way_in.address, tmp_path, seen, Random(7), reading=here.address) as at_here,
            Client(way_in.address, tmp_path, seen, Random(7), reading=there.address) as at_there,
        ):
            await at_here.append(first)
            watching = watch(at_here, game, min_seq=len(first))
            (snapshot,) = await take(watching, 1)
            there.pause()
            await at_here.append(rest)
            updates = await take(watching, len(rest))
            resumed = watch(at_there, game, token=snapshot.resume_token)
            from_the_middle = watch(at_there, game, token=updates[20].resume_token)
            request = GetGameRequest(game_id=game.game_id, min_seq=len(game.events))
            read = at_there.games.GetGame(request, timeout=CALL_S, wait_for_ready=True)
            there.go_on()
            assert await take(resumed, len(rest)) == updates
            assert await take(from_the_middle, len(rest) - 21) == updates[21:]
            assert (await read).game.head == updates[-1].outcome.head
            chains = await assert_nothing_lost(log, seen)
            for client in (at_here, at_there):
                await assert_served(client, chains)


def watch(client: Client, game: Sent, token: str = "", min_seq: int = 0) -> Any:
    request = WatchGameRequest(game_id=game.game_id, resume_token=token, min_seq=min_seq)
    return client.games.WatchGame(request, timeout=CALL_S, wait_for_ready=True)
