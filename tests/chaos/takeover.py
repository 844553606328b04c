"""A worker killed amid live games: how long they stand still, by the clock of the log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from statistics import median

from support.fleet import Fleet

from caipan.eventlog import Record, partition_of
from caipan.v1.event_pb2 import Event
from caipan.v1.game_service_pb2 import GetGameRequest
from caipan.v1.intake_service_pb2 import WAIT_LOG
from caipan.v1.outcome_pb2 import Outcome

from .games import Sent, games
from .hall import Pace, spread, until_shared
from .load import CALL_S, Client, Seen
from .proof import records_of

RATE = 200  # events a second, by turns of all games
REQUEST = 10
BEFORE, AFTER = 1, 4  # events of each game that come at this rate before the kill and after it
WATCHED = 10  # one game of so many
_BULK = 500
_SENDERS = 4
_SOON_MS = 1000  # what a worker had sent when it died is appended by then; nobody steps in for it so soon


@dataclass(frozen=True, slots=True)
class Takeover:
    """``seconds``: of each game of the worker that was killed, from the kill to its next new outcome."""

    games: int  # live ones, of all workers
    stood: int  # of them, of the one that was killed
    seconds: Sequence[float]

    def __str__(self) -> str:
        return f"takeover: {of(self.seconds)}, {self.stood} of {self.games} live games"


async def take_over(fleet: Fleet, live: int, moves: int, random: Random) -> tuple[Takeover, Seen]:
    """Kills one of the referees of a fleet amid ``live`` games, each with some ``moves`` stones and as many presses.

    Returns when all events are judged and served; what clients and watchers were told is in Seen.
    """
    seen = Seen(games=list(islice(games(random, moves=(moves, moves + AFTER)), live)))
    connect = spread(fleet)
    senders = [connect(seen, random) for _ in range(_SENDERS)]
    sender = senders[0]
    try:
        await _send_beforehand(seen.games, senders)
        judges = await until_shared(sender, fleet.running("referee"))
        async with asyncio.TaskGroup() as watchers:
            for number, game in enumerate(seen.games[::WATCHED]):
                watchers.create_task(senders[number % _SENDERS].watch(game))
            pace = Pace(RATE)
            await _send_by_turns(seen.games, range(-BEFORE - AFTER, -AFTER), sender, pace)
            victim, *_ = fleet.running("referee")
            killed_ms = time.time_ns() // 1_000_000
            victim.kill()
            await _send_by_turns(seen.games, range(-AFTER, 0), sender, pace)
            await _until_served(seen.games, sender)
    finally:
        for client in senders:
            await client.__aexit__()
    lost = {partition for partition, pid in judges.items() if pid == victim.pid}
    stood = sum(partition_of(game.game_id.encode(), len(judges)) in lost for game in seen.games)
    seconds = gone_on(await records_of(fleet.log, "game-outcomes"), killed_ms, lost)
    return Takeover(live, stood, list(seconds.values())), seen


def of(seconds: Collection[float]) -> str:
    """The longest and the median."""
    return f"{max(seconds):.1f} s (median {median(seconds):.1f} s)" if seconds else "-"


def gone_on(outcomes: Iterable[Record], killed_ms: int, partitions: Collection[int]) -> dict[str, float]:
    """When the games of these partitions had new outcomes again, in seconds after the kill.

    Games that had none before it, or none after it, are left out.
    """
    seqs: dict[str, int] = {}
    seconds: dict[str, float] = {}
    for record in outcomes:
        verdict = Outcome.FromString(record.value).verdict
        game_id = verdict.game_id
        if record.partition not in partitions or not verdict.seq:
            continue
        if record.timestamp_ms < killed_ms + _SOON_MS:
            seqs[game_id] = max(verdict.seq, seqs.get(game_id, 0))
        elif game_id in seqs and verdict.seq > seqs[game_id]:
            seconds.setdefault(game_id, (record.timestamp_ms - killed_ms) / 1000)
    return seconds


async def _send_beforehand(live: Sequence[Sent], senders: Sequence[Client]) -> None:
    """All events but the last ones, as fast as it goes; they are judged and served when it returns."""

    async def send(share: Sequence[Sent], sender: Client) -> None:
        events = [event for game in share for event in game.events[: -BEFORE - AFTER]]
        for start in range(0, len(events), _BULK):
            await sender.append(events[start : start + _BULK], WAIT_LOG)

    await asyncio.gather(*(send(live[number :: len(senders)], each) for number, each in enumerate(senders)))
    await _until_served(live, senders[0], BEFORE + AFTER)


async def _send_by_turns(live: Sequence[Sent], turns: range, sender: Client, pace: Pace) -> None:
    """One event of each game after the other."""
    events: list[Event] = [game.events[turn] for turn in turns for game in live]
    for start in range(0, len(events), REQUEST):
        request = events[start : start + REQUEST]
        await pace.wait(len(request))
        await sender.append(request, WAIT_LOG)


async def _until_served(live: Sequence[Sent], reader: Client, but: int = 0) -> None:
    """All events of each game, but the last so many, are judged and can be read."""
    for game in live:
        request = GetGameRequest(game_id=game.game_id, min_seq=len(game.events) - but)
        await reader.games.GetGame(request, timeout=CALL_S)
