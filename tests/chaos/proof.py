"""What must hold of a log once the hall is quiet, whatever happened before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from support.play import replay

from caipan.eventlog import EventLog, Record
from caipan.eventlog.embedded import EmbeddedLog
from caipan.eventlog.kafka import KafkaLog, KafkaSettings
from caipan.rules.game import Past
from caipan.v1.event_pb2 import EVENT_TYPE_RULING_DECIDED
from caipan.v1.game_service_pb2 import GetGameRequest, ListOutcomesRequest
from caipan.v1.operation_service_pb2 import GetStatusRequest
from caipan.v1.outcome_pb2 import STATUS_FOLDED, Outcome

from .games import Sent
from .load import CALL_S, Client, Place, Seen

Link = tuple[int, str, bytes]  # seq, event and head
Chains = dict[str, list[Link]]
Where = Path | KafkaSettings  # a log: in a data folder, or on Kafka

_PAGE = 1000


async def records_of(where: Where, topic: str) -> list[Record]:
    """All records of a topic, read beside the service."""
    records: list[Record] = []
    log: EventLog = EmbeddedLog(where / "log.db", read_only=True) if isinstance(where, Path) else KafkaLog(where)
    async with log:
        for partition in range(log.partitions(topic)):
            start = 0
            while batch := await log.read(topic, partition, start):
                records += batch
                start = batch[-1].offset + 1
    return records


async def assert_nothing_lost(where: Where, seen: Seen) -> Chains:
    """Each acknowledged event is in the log and has one effect, and its verdicts are those of an undisturbed run."""
    events = await records_of(where, "game-events")
    assert seen.acknowledged.items() <= {place(each): name(each) for each in events}.items()
    assert await records_of(where, "quarantine") == []
    logs: dict[str, list[Past]] = defaultdict(list)
    for record in events:
        logs[name(record)[0]].append(Past(record.value, record.offset))
    chains = chains_of(await records_of(where, "game-outcomes"))
    assert set(chains) == set(logs) == {game.game_id for game in seen.games}
    for game in seen.games:
        assert chains[game.game_id] == folded(game.game_id, logs[game.game_id])
        assert_one_effect_each(game, chains[game.game_id])
        if game.alone:
            assert chains[game.game_id] == folded(game.game_id, game.undisturbed())
    links = {(game_id, *link) for game_id, chain in chains.items() for link in chain}
    assert {(told.verdict.game_id, *link_of(told)) for told in seen.judged} <= links
    return chains


async def assert_all_judged(where: Where) -> None:
    """Each event in the log has its outcome or notice; an outcome that stands several times is the same to the byte.

    Of one event there may be several notices: it waits for game.opened at first, then for earlier ones of its source.
    """
    judged: dict[Place, dict[int, bytes]] = defaultdict(dict)
    for record in await records_of(where, "game-outcomes"):
        outcome = Outcome.FromString(record.value)
        about = judged[outcome.partition, outcome.offset]
        assert about.setdefault(outcome.verdict.seq, record.value) == record.value or not outcome.verdict.seq
    assert judged.keys() == {place(record) for record in await records_of(where, "game-events")}


def assert_one_effect_each(game: Sent, chain: list[Link]) -> None:
    assert [seq for seq, _, _ in chain] == list(range(1, len(game.events) + 1))
    assert sorted(event_id for _, event_id, _ in chain) == game.event_ids


def assert_watched_once_in_order(seen: Seen, chains: Chains) -> None:
    """Every watcher got each outcome after its snapshot once."""
    assert seen.watched
    for game_id, outcomes in seen.watched.items():
        assert [link_of(outcome) for outcome in outcomes] == chains[game_id][seen.snapshots[game_id] :]


async def assert_served(client: Client, chains: Chains) -> None:
    """The reading side tells the same outcomes, and knows of no trouble."""
    for game_id, chain in chains.items():
        request = GetGameRequest(game_id=game_id, min_seq=len(chain))
        state = (await client.games.GetGame(request, timeout=CALL_S, wait_for_ready=True)).game
        assert (state.seq, state.head, state.diverged) == (len(chain), chain[-1][2], False)
        assert [link_of(outcome) for outcome in await outcomes_of(client, game_id)] == chain
    status = await client.operations.GetStatus(GetStatusRequest(), timeout=CALL_S)
    assert (status.games, status.parked, status.quarantined) == (len(chains), 0, 0)
    assert not status.orphans
    assert not status.diverged


async def outcomes_of(client: Client, game_id: str) -> list[Outcome]:
    outcomes: list[Outcome] = []
    token = ""
    while True:
        request = ListOutcomesRequest(game_id=game_id, page_size=_PAGE, page_token=token)
        page = await client.games.ListOutcomes(request, timeout=CALL_S)
        outcomes += page.outcomes
        token = page.next_page_token
        if not token:
            return outcomes


def chains_of(records: Iterable[Record]) -> Chains:
    """By game; an outcome may stand twice, but then it is the same."""
    links: dict[str, dict[int, Link]] = defaultdict(dict)
    for record in records:
        outcome = Outcome.FromString(record.value)
        seq, game_id = outcome.verdict.seq, outcome.verdict.game_id
        if seq:
            ruled = outcome.verdict.event_type == EVENT_TYPE_RULING_DECIDED  # which may be refused
            assert ruled or outcome.verdict.status == STATUS_FOLDED
            assert links[game_id].setdefault(seq, link_of(outcome)) == link_of(outcome)
    return {game_id: list(by_seq.values()) for game_id, by_seq in links.items()}


def folded(game_id: str, log: list[Past]) -> list[Link]:
    """The chain of a log, folded offline."""
    _, outcomes = replay(log, game_id)
    return [link_of(outcome) for outcome in outcomes if outcome.verdict.seq]


def link_of(outcome: Outcome) -> Link:
    return outcome.verdict.seq, outcome.verdict.event_id, outcome.head


def place(record: Record) -> Place:
    return record.partition, record.offset


def name(record: Record) -> tuple[str, str]:
    """The game and the event of a record."""
    headers = dict(record.headers)
    return (record.key or b"").decode(), headers["ce_id"].decode()
