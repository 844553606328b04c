"""Records that are no events, put on the topic by somebody else: each is quarantined, and every game goes on."""

from __future__ import annotations

import re
import subprocess
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
from kafka import KafkaProducer
from support.command import caipan, objects
from support.events import START_MS
from support.fleet import Fleet
from support.hall import UNKNOWN_TYPE
from support.kafka import tools

from caipan.eventlog import partition_of
from caipan.eventlog.kafka import KafkaSettings, create_topics
from caipan.rules.game import Past
from caipan.stamp import stamped
from caipan.v1.event_pb2 import Event
from caipan.v1.game_service_pb2 import GetGameRequest
from caipan.v1.outcome_pb2 import STATUS_FOLDED, STATUS_QUARANTINED, Outcome

from .games import CHIEF, Sent, games
from .load import CALL_S, Client, Place, Seen
from .proof import Link, folded, link_of, place, records_of

PARTITIONS = 2
KEPT_BYTES = 1_000_000  # of a value, in quarantine
CODECS = ("gzip", "snappy", "lz4", "zstd")


@dataclass(frozen=True)
class Poison:
    """``reason``: what is said of it. ``of_game``: its key names the game, so it takes a seq there."""

    key: bytes | None
    value: bytes | None
    partition: int
    reason: str
    of_game: bool = False

    @property
    def kept(self) -> bytes:
        return (self.value or b"")[:KEPT_BYTES]


def poisons(game: Sent, home: int) -> list[Poison]:
    """All there are, for a game of the partition ``home``."""
    key, stone = game.game_id.encode(), game.events[1]
    elsewhere = Event(event_id=stone.event_id, game_id="elsewhere", at_ms=START_MS)
    elsewhere.pass_declared.SetInParent()
    unknown = Event(event_id="of-a-later-version", game_id=game.game_id, at_ms=START_MS)
    return [
        Poison(key, b"\xff\x00 garbage", home, "the record is no event", of_game=True),
        Poison(
            key, unknown.SerializeToString() + UNKNOWN_TYPE, home, "the type of the event is not known", of_game=True
        ),
        Poison(key, stamped(elsewhere, CHIEF), home, f"the game 'elsewhere', its key '{game.game_id}'", of_game=True),
        Poison(key, None, home, f"the game '', its key '{game.game_id}'", of_game=True),
        Poison(key, b"x" * 1_500_000, home, "1500000 bytes, an event at most 1000000"),
        Poison(None, stamped(stone, CHIEF), home, "no key"),
        Poison(b"", stamped(stone, CHIEF), home, "no key"),
        Poison(b"\xff\xfe", stamped(stone, CHIEF), home, "no text in UTF-8"),
        Poison(key, stamped(stone, CHIEF), 1 - home, f"belongs to partition {home}, the record stands in {1 - home}"),
    ]


class Poisoner:
    """Somebody else's producer. ``placed`` is where its records stand."""

    def __init__(self, log: KafkaSettings) -> None:
        self.placed: dict[Place, Poison] = {}
        self._topic = log.topic("game-events")
        self._producer = KafkaProducer(bootstrap_servers=log.servers, max_request_size=2 << 20)

    def close(self) -> None:
        self._producer.close()

    def put(self, poison: Poison) -> None:
        sent = self._producer.send(self._topic, poison.value, poison.key, partition=poison.partition).get(CALL_S)
        self.placed[poison.partition, sent.offset] = poison


@pytest.fixture
async def log(kafka: KafkaSettings) -> KafkaSettings:
    """A log with its topics."""
    await create_topics(kafka, PARTITIONS, 1)
    return kafka


async def test_each_record_that_is_no_event_is_quarantined_and_the_games_go_on(
    log: KafkaSettings, tmp_path: Path
) -> None:
    """Both where it is delivered to a worker and where a worker finds it as it takes over."""
    game, neighbour, other = chosen()
    home = partition_of(game.game_id.encode(), PARTITIONS)
    events = {each.game_id: iter(each.events) for each in (game, neighbour, other)}
    with closing(Poisoner(log)) as poisoner, Fleet(log, tmp_path) as fleet:
        way_in, worker, reader = fleet.start("gateway", "referee", "query")
        async with Client(way_in.address, tmp_path, Seen(), Random(7), reading=reader.address) as client:
            await goes_on(client, events)
            for poison in poisons(game, home):
                poisoner.put(poison)
                await goes_on(client, events)
            worker.kill()
            for poison in poisons(game, home):
                poisoner.put(poison)
            fleet.start("referee")
            await goes_on(client, events)
            chains = await assert_judged_as_offline(log, [game, neighbour, other], poisoner.placed)
            for game_id, chain in chains.items():
                request = GetGameRequest(game_id=game_id, min_seq=len(chain))
                assert (await client.games.GetGame(request, timeout=CALL_S)).game.head == chain[-1][2]
        assert_listed(quarantine_of(reader.address), poisoner.placed)
        for member in (way_in, reader):
            member.stop()


async def test_events_that_other_clients_have_compressed_are_judged(log: KafkaSettings, tmp_path: Path) -> None:
    """By each codec that Kafka knows; here in the form of records that the worker can read, and that are no events."""
    game, *_ = chosen()
    events = {game.game_id: iter(game.events)}
    with Fleet(log, tmp_path) as fleet:
        way_in, _, reader = fleet.start("gateway", "referee", "query")
        async with Client(way_in.address, tmp_path, Seen(), Random(7), reading=reader.address) as client:
            for codec in CODECS:
                await goes_on(client, events)
                put_compressed(log, codec, game.game_id, f"by {codec}")
            await goes_on(client, events)
        assert [b64decode(each["value"]).decode() for each in quarantine_of(reader.address)] == [
            f"by {codec}" for codec in CODECS
        ]


def chosen() -> tuple[Sent, Sent, Sent]:
    """A game, another one of its partition, and one of the other partition."""
    found: dict[int, list[Sent]] = {partition: [] for partition in range(PARTITIONS)}
    for sent in islice(games(Random(7), moves=(30, 30)), 20):
        found[partition_of(sent.game_id.encode(), PARTITIONS)].append(sent)
    return found[0][0], found[0][1], found[1][0]


async def goes_on(client: Client, events: dict[str, Iterator[Event]]) -> None:
    """The next event of each game is judged."""
    results = await client.append([next(of_game) for of_game in events.values()])
    assert [result.status for result in results] == [STATUS_FOLDED] * len(events)


async def assert_judged_as_offline(
    log: KafkaSettings, sent: Sequence[Sent], placed: dict[Place, Poison]
) -> dict[str, list[Link]]:
    """The chain of each game is that of an offline fold of what stands under its key, poison included."""
    logs: dict[str, list[Past]] = {game.game_id: [] for game in sent}
    for record in await records_of(log, "game-events"):
        poison = placed.get(place(record))
        if poison is None or poison.of_game:
            assert record.key is not None
            logs[record.key.decode()].append(Past(record.value, record.offset))
    chains: dict[str, list[Link]] = {game.game_id: [] for game in sent}
    quarantined = set()
    for record in await records_of(log, "game-outcomes"):
        outcome = Outcome.FromString(record.value)
        chain = chains[outcome.verdict.game_id]
        if outcome.verdict.seq > len(chain):
            chain.append(link_of(outcome))
        assert chain[outcome.verdict.seq - 1] == link_of(outcome)
        if outcome.verdict.status == STATUS_QUARANTINED:
            quarantined.add((outcome.partition, outcome.offset))
    assert chains == {game_id: folded(game_id, past) for game_id, past in logs.items()}
    assert quarantined == {at for at, poison in placed.items() if poison.of_game}
    return chains


def quarantine_of(address: str) -> list[dict[str, Any]]:
    return objects(caipan("quarantine", "list", "--json", "--address", address).stdout)


def assert_listed(listed: list[dict[str, Any]], placed: dict[Place, Poison]) -> None:
    """An operator finds each of them, with its bytes and the reason."""
    assert len(listed) == len(placed)
    found = {each["record_id"]: each for each in listed}
    for (partition, offset), poison in placed.items():
        record = found[f"game-events-{partition}-{offset}"]
        assert b64decode(record.get("key", "")) == (poison.key or b"")
        assert b64decode(record.get("value", "")) == poison.kept
        assert re.search(re.escape(poison.reason), record["reason"])


def put_compressed(log: KafkaSettings, codec: str, key: str, value: str) -> None:
    """By Kafka's own producer, since it has all the codecs."""
    command = [tools.java(), "-cp", f"{tools.fetch()}/*", "org.apache.kafka.tools.ConsoleProducer"]
    command += ["--bootstrap-server", log.bootstrap, "--topic", log.topic("game-events"), "--compression-codec", codec]
    command += ["--reader-property", "parse.key=true", "--reader-property", "key.separator=:"]
    done = subprocess.run(command, input=f"{key}:{value}\n", capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
