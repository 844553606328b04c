"""The only broker stopped for a while, or killed, while a hall sends its games: everybody catches up, unaided."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path

import grpc
import pytest
from support.device import Device
from support.fleet import Fleet
from support.kafka import Broker
from support.reading import until

from caipan.eventlog.kafka import KafkaSettings, create_topics
from caipan.serving.errors import retry_delay_s
from caipan.serving.tokens import generate_keys, load_private_key, make_token
from caipan.v1.errors_pb2 import ERROR_CODE_LOG_UNAVAILABLE, ERROR_CODE_VERDICT_PENDING
from caipan.v1.event_pb2 import Event
from caipan.v1.game_service_pb2 import GetGameRequest
from caipan.v1.intake_service_pb2 import WAIT_LOG, WAIT_VERDICT
from caipan.v1.operation_service_pb2 import GetStatusRequest

from .games import CHIEF, Sent, games
from .hall import spread
from .load import CALL_S, Client, Load, Seen, told
from .proof import assert_nothing_lost, assert_served, assert_watched_once_in_order
from .test_kill import chance

PARTITIONS = 4
CLIENTS = 6
AWAY_S = 20.0
ENOUGH = 300  # events, to call it load


class PatientClient(Client):
    """Does what it is told by a gateway that has lost its broker: waits as long as the hint says, and repeats."""

    patience_s = 60.0  # longer than all are away together: every call is answered

    def __init__(self, *arguments: object, hints: list[float], **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self._hints = hints

    async def insist(self, events: Sequence[Event]) -> None:
        wait = self._random.choice([WAIT_LOG, WAIT_VERDICT])
        while True:
            try:
                await self.append(events, wait)
            except grpc.aio.AioRpcError as error:
                await asyncio.sleep(self._pause_s(error))
            else:
                return

    def _pause_s(self, error: grpc.aio.AioRpcError) -> float:
        detail = told(error)
        if detail.code == ERROR_CODE_VERDICT_PENDING:
            return 0.0
        hint_s = assert_away(error)
        self._hints.append(hint_s)
        return hint_s


def assert_away(error: grpc.aio.AioRpcError) -> float:
    """The caller is told that the log cannot be reached, and when to ask again; that many seconds."""
    assert error.code() is grpc.StatusCode.UNAVAILABLE
    assert told(error).code == ERROR_CODE_LOG_UNAVAILABLE
    hint_s = retry_delay_s(error)
    assert hint_s
    return hint_s


@pytest.fixture
async def broker(java: None, tmp_path: Path) -> AsyncIterator[Broker]:
    """One of its own, which may be stopped."""
    with Broker(tmp_path / "kafka") as own:
        yield own


@pytest.mark.parametrize(("end", "away_s"), [(Broker.stop, AWAY_S), (Broker.kill, 0.0)], ids=["stopped", "killed"])
async def test_all_catch_up_by_themselves_after_the_broker_was_away(
    broker: Broker, tmp_path: Path, end: Callable[[Broker], None], away_s: float
) -> None:
    random = chance()
    log = KafkaSettings.of_url(broker.url)
    await create_topics(log, PARTITIONS, 1)
    hints: list[float] = []
    back = asyncio.Event()
    game = next(games(random, moves=(200, 200)))
    others = islice(games(random, moves=(15, 70)), 1, None)
    board = Device(game.events, partial(in_its_time, back))
    with Fleet(log, tmp_path) as fleet:
        fleet.start("gateway", "gateway", "referee", "referee", "query")
        connect = spread(fleet, PatientClient, hints=hints)
        async with (
            Load(connect, others, random, CLIENTS) as load,
            connect(Seen(), random) as onlooker,
        ):
            streaming = asyncio.create_task(stream(board, onlooker, fleet.folder))
            await until(lambda: len(load.seen.acknowledged) > ENOUGH)
            await asyncio.to_thread(end, broker)
            away = asyncio.create_task(asyncio.sleep(away_s))
            stood = len(load.seen.acknowledged)
            await assert_reads_go_on(onlooker, load.seen)
            await away
            load.check()
            await asyncio.to_thread(broker.start)
            back.set()
            began_s = asyncio.get_running_loop().time()
            await until(lambda: len(load.seen.acknowledged) > stood + ENOUGH)
            took_s = asyncio.get_running_loop().time() - began_s
            await streaming
            seen = await load.finish()
            take_in(seen, game, board)
            chains = await assert_nothing_lost(log, seen)
            assert_watched_once_in_order(seen, chains)
            await assert_served(onlooker, chains)
        for member in fleet.members:
            member.stop()
    print(f"{len(seen.acknowledged)} events of {len(chains)} games, {stood} before, {len(hints)} calls were put off;")
    print(f"{ENOUGH} more were acknowledged {took_s:.1f} s after the broker was back")
    assert hints or not away_s, "no caller noticed"
    assert board.streams > 1 or not away_s, "the board did not notice"
    assert not seen.resumed, "a watcher was cut"


async def assert_reads_go_on(client: Client, seen: Seen) -> None:
    """What is served needs no broker; what needs one says so."""
    known = next(game_id for game_id, outcomes in seen.watched.items() if outcomes)
    assert (await client.games.GetGame(GetGameRequest(game_id=known), timeout=CALL_S)).game.seq
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await client.operations.GetStatus(GetStatusRequest(), timeout=CALL_S)
    assert_away(caught.value)


async def in_its_time(back: asyncio.Event) -> None:
    """Ten events a second; no waiting once the broker is back."""
    with suppress(TimeoutError):
        async with asyncio.timeout(0.1):
            await back.wait()


async def stream(board: Device, client: Client, folder: Path) -> None:
    """A board on the stream of a gateway, as long as it has events."""
    key = load_private_key(generate_keys(folder).private)
    await board.run(client.intake, bearer=make_token(key, CHIEF.person, ["CHIEF"], ["*"], ["*"], 3600))


def take_in(seen: Seen, game: Sent, board: Device) -> None:
    """What the board was told, with what the others were."""
    seen.games.append(game)
    for each in board.acknowledged:
        seen.acknowledged[each.partition, each.offset] = (each.game_id, each.event_id)
    assert [each.source_seq for each in board.acknowledged] == [event.source_seq for event in game.events]
    seen.judged += [each.outcome for each in board.judged if each.outcome.verdict.seq]
