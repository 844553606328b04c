"""A small playing hall: events for the log, what the rules make of them, and what the referee wrote."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

from caipan.eventlog import EventLog, NewRecord, Record, partition_of
from caipan.referee import Referee
from caipan.rules.game import Game, Past, read_event
from caipan.rules.pins import pin
from caipan.v1.common_pb2 import COLOR_BLACK, COLOR_WHITE, ROLE_RECORDER, Actor, Source
from caipan.v1.event_pb2 import Event
from caipan.v1.facts_pb2 import CorrectedFact, GameOpened, PassDeclared, RecordCorrected, StonePlaced
from caipan.v1.operation_service_pb2 import Quarantined
from caipan.v1.outcome_pb2 import Outcome
from caipan.v1.regulations_pb2 import Regulations

EVENTS, OUTCOMES, STATE, QUARANTINE = "game-events", "game-outcomes", "game-state", "quarantine"
PARTITIONS = 3
START_MS = 1_700_000_000_000
POINTS = [f"{column}{row}" for column in "ABCDEFGHJ" for row in range(1, 10)]
UNKNOWN_TYPE = b"\xda\x3e\x02\x08\x01"  # field 1003, a message: a type that a later version may know


def event(game_id: str, number: int, **fact: Any) -> Event:
    """The event with this number (0 = not counted) of the recorder of a game, a second after the one before."""
    return Event(
        event_id=fact.pop("event_id", f"{game_id}-{number}"),
        game_id=game_id,
        at_ms=START_MS + 1000 * number,
        source=Source(id=fact.pop("source", "recorder"), boot="1"),
        source_seq=number,
        by=Actor(person="p9", role=ROLE_RECORDER),
        **fact,
    )


def opened(game_id: str, number: int = 1) -> Event:
    game = GameOpened(size=9, players=["p1", "p2"], regulations=Regulations(edition="CN2002", untimed=True))
    game.pins.CopyFrom(pin(game))
    return event(game_id, number, game_opened=game)


def stone(game_id: str, number: int, point: str, **extra: Any) -> Event:
    """The stone with an even number is Black's."""
    player = COLOR_WHITE if number % 2 else COLOR_BLACK
    return event(game_id, number, player=player, stone_placed=StonePlaced(point=point, color=player), **extra)


def retracted(game_id: str, number: int, ref: str) -> Event:
    return event(
        game_id, number, record_corrected=RecordCorrected(ref=ref, kind=RecordCorrected.KIND_RETRACT, reason="slip")
    )


def replaced(game_id: str, number: int, ref: str, point: str) -> Event:
    fact = CorrectedFact(stone_placed=StonePlaced(point=point))
    said = RecordCorrected(ref=ref, kind=RecordCorrected.KIND_REPLACE, fact=fact)
    return event(game_id, number, record_corrected=said)


def record(said: Event) -> NewRecord:
    return NewRecord(said.game_id.encode(), said.SerializeToString(deterministic=True))


def play(game_id: str, moves: int, chance: random.Random) -> list[Event]:
    """A game of random points, in order, from its opening on."""
    points = chance.choices(POINTS, k=moves)
    return [opened(game_id), *(stone(game_id, number, point) for number, point in enumerate(points, start=2))]


def passes(game_id: str, number: int) -> list[Event]:
    players = [COLOR_WHITE if n % 2 else COLOR_BLACK for n in (number, number + 1)]
    return [
        event(game_id, n, player=player, pass_declared=PassDeclared()) for n, player in enumerate(players, start=number)
    ]


def incidents(chance: random.Random) -> list[list[NewRecord]]:
    """Games with all that happens in a hall, each in its order."""
    plain = [*play("plain", 30, chance), *passes("plain", 32)]
    slips = play("slips", 20, chance)
    slips += [retracted("slips", 22, "slips-9"), stone("slips", 23, "J9"), replaced("slips", 24, "slips-5", "J1")]
    slips += [stone("slips", 25, "H8"), retracted("slips", 26, "never"), stone("slips", 27, "H7")]
    early = play("early", 20, chance)
    early[5], early[8] = early[8], early[5]
    early[12:12] = [early[3], early[12]]
    other_value = stone("early", 7, "A9")
    missing = [said for said in play("missing", 40, chance) if said.source_seq != 9]
    orphans = play("orphans", 12, chance)
    orphans = [*orphans[1:7], retracted("orphans", 14, "orphans-4"), orphans[0], *orphans[7:]]
    return [
        [record(said) for said in plain],
        [record(said) for said in slips],
        [record(said) for said in [*early, other_value]],
        [record(said) for said in missing],
        [record(said) for said in orphans],
        [record(said) for said in play("never-opened", 5, chance)[1:]],
        [*map(record, play("noise", 3, chance)), *noise(), record(retracted("noise", 6, "noise-3"))],
        [NewRecord(None, b"?", partition=1), NewRecord(b"\xff\xfe", b"?"), NewRecord(b"", b"?")],
    ]


def overlong(game_id: str, number: int) -> NewRecord:
    """A stone with a megabyte of something else behind it."""
    size = 1 << 20
    length = bytes((size & 127 | 128, size >> 7 & 127 | 128, size >> 14))
    value = stone(game_id, number, "A1").SerializeToString() + b"\xda\x3e" + length + b"\0" * size
    return NewRecord(game_id.encode(), value)


def noise() -> list[NewRecord]:
    """Records with the key of the game `noise` that are none of its events."""
    return [
        NewRecord(b"noise", b"\xff" * 30),
        NewRecord(b"noise", Event(event_id="n", game_id="noise").SerializeToString() + UNKNOWN_TYPE),
        NewRecord(b"noise", stone("plain", 40, "A1").SerializeToString()),
        NewRecord(b"noise", b""),
        record(stone("noise", 5, "B2")),
    ]


def interleaved(games: list[list[NewRecord]], chance: random.Random) -> list[NewRecord]:
    """All records, those of each game in their order."""
    order = [number for number, game in enumerate(games) for _ in game]
    chance.shuffle(order)
    rest = [iter(game) for game in games]
    return [next(rest[number]) for number in order]


async def write(log: EventLog, seed: int = 1) -> None:
    """Events of a hall day, with all incidents."""
    chance = random.Random(seed)
    await log.append(EVENTS, interleaved(incidents(chance), chance))


async def read_all(log: EventLog, topic: str, partition: int) -> list[Record]:
    records: list[Record] = []
    while batch := await log.read(topic, partition, len(records)):
        records += batch
    return records


async def everything(log: EventLog, topic: str) -> list[Record]:
    return [found for partition in range(log.partitions(topic)) for found in await read_all(log, topic, partition)]


async def judged_alone(log: EventLog) -> dict[bytes, list[bytes]]:
    """The outcomes of each game as its rules give them, without any referee: one fold of its events by key."""
    outcomes: dict[bytes, list[bytes]] = {}
    games: dict[bytes, Game] = {}
    pasts: dict[bytes, list[Past]] = {}
    for found in await everything(log, EVENTS):
        key, value, offset = found.key, found.value, found.offset
        if not key or key == b"\xff\xfe" or len(value) > 1_000_000:
            continue
        assert found.partition == partition_of(key, log.partitions(EVENTS))
        game = games.setdefault(key, Game(key.decode(), found.partition))
        past = pasts.setdefault(key, [])
        said = read_event(value, game.game_id)
        if isinstance(said, str):
            judged = [game.quarantine(value, offset, said)]
        else:
            judged = game.apply(said, value, offset, past)
        past.append(Past(value, offset))
        outcomes.setdefault(key, []).extend(outcome.record for outcome in judged)
    return outcomes


async def written(log: EventLog) -> dict[bytes, list[bytes]]:
    """The outcomes of each game as they stand in the log, repeats included."""
    outcomes: dict[bytes, list[bytes]] = {}
    for found in await everything(log, OUTCOMES):
        assert found.key is not None
        assert found.partition == partition_of(found.key, log.partitions(OUTCOMES))
        outcomes.setdefault(found.key, []).append(found.value)
    return outcomes


def without_repeats(outcomes: dict[bytes, list[bytes]]) -> dict[bytes, list[bytes]]:
    return {key: list(dict.fromkeys(values)) for key, values in outcomes.items()}


async def assert_judged_once(log: EventLog) -> None:
    """Each outcome stands as the rules give it, and no more often; of two equal notices one may be missing."""
    stands, expected = await written(log), await judged_alone(log)
    assert without_repeats(stands) == without_repeats(expected)
    for key, values in stands.items():
        assert Counter(values) <= Counter(expected[key]), key


def numbers(values: list[bytes]) -> list[int]:
    """The seqs of outcomes, notices left out."""
    seqs = [Outcome.FromString(value).verdict.seq for value in values]
    return [seq for seq in seqs if seq]


async def quarantine_of(log: EventLog) -> list[Quarantined]:
    return [Quarantined.FromString(found.value) for found in await everything(log, QUARANTINE)]


async def referee_of(log: EventLog, partition: int, **settings: int) -> Referee:
    """A referee that has recovered."""
    referee = Referee(log, partition, **settings)
    await referee.recover()
    return referee


async def judge_all(log: EventLog, **settings: int) -> list[Referee]:
    """All that stands in the log, judged and checkpointed."""
    referees = [await referee_of(log, partition, **settings) for partition in range(log.partitions(EVENTS))]
    for referee in referees:
        await referee.close()
    return referees


def slices(records: list[Record], chance: random.Random) -> Iterator[list[Record]]:
    """The records in pieces of random size."""
    while records:
        size = chance.randrange(1, 12)
        yield records[:size]
        records = records[size:]
