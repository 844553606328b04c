"""The stream of a device: what it sends, what it is told, and how it goes on after a cut."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from random import Random

import grpc
import pytest
from chaos.proof import Chains, chains_of, folded, name
from support.device import Call, Device
from support.intake import LOG, TIMEOUT_S, House, Refused, fact_event, metadata, opening, refused, stone
from support.wire import Wire

from caipan.eventlog import EventLog, NewRecord
from caipan.eventlog.embedded import EmbeddedLog
from caipan.eventlog.kafka import KafkaLog, create_topics
from caipan.gateway import stream as stream_module
from caipan.gateway.stream import EVENTS_MOST
from caipan.rules.game import Past
from caipan.serving import server, tokens
from caipan.serving.errors import retry_delay_s
from caipan.v1 import common_pb2, facts_pb2, rulings_pb2, tournament_pb2
from caipan.v1.event_pb2 import Event
from caipan.v1.intake_service_pb2 import StreamEventsRequest, StreamEventsResponse
from caipan.v1.intake_service_pb2_grpc import IntakeServiceStub
from caipan.v1.outcome_pb2 import STATUS_DUPLICATE, STATUS_FOLDED, STATUS_PARKED

POINTS = [f"{column}{row}" for column in "ABCDEFGHJKLMNOPQRST" for row in range(1, 20)]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with asyncio.timeout(TIMEOUT_S), House(tmp_path) as house:
        yield house


@pytest.fixture(params=["embedded", pytest.param("kafka", marks=pytest.mark.kafka)])
async def new_log(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], EventLog]:
    """Another view of one and the same log, not open, on each of the stores."""
    if request.param == "embedded":
        return lambda: EmbeddedLog(tmp_path / "log.db")
    settings = request.getfixturevalue("kafka")
    await create_topics(settings, partitions=3, replication=1)
    return lambda: KafkaLog(settings)


@pytest.fixture
async def any_house(new_log: Callable[[], EventLog], tmp_path: Path) -> AsyncIterator[House]:
    async with asyncio.timeout(2 * TIMEOUT_S), House(tmp_path, log=new_log()) as house:
        yield house


@pytest.fixture
async def empty_house(tmp_path: Path) -> AsyncIterator[House]:
    """Nobody judges there until the test says so."""
    async with asyncio.timeout(TIMEOUT_S), House(tmp_path, judging=False, verdict_wait_s=0.3) as house:
        yield house


def game(moves: int, game_id: str = "g1", source: str = "board") -> list[Event]:
    """The opening, and stones of a source that counts them."""
    stones = [stone(number, POINTS[number - 1], game_id, source_seq=number) for number in range(1, moves + 1)]
    for each in stones:
        each.source.id = source
    return [opening(game_id), *stones]


def ids(answers: Sequence[object]) -> list[str]:
    return [answer.event_id for answer in answers]  # type: ignore[attr-defined]


async def stored(house: House) -> list[str]:
    """Ids of the events of games, in the order of the log."""
    return [dict(record.headers)["ce_id"].decode() for record in await house.records()]


async def eventually(value: Callable[[], object], wanted: object) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while value() != wanted:  # noqa: ASYNC110 - nothing tells when
            await asyncio.sleep(0.01)


async def judged(house: House, events: int) -> Chains:
    """The outcomes by game, once there are so many."""
    while sum(map(len, (chains := chains_of(await house.records("game-outcomes"))).values())) < events:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return chains


async def assert_judged_as_offline(house: House, sent: Sequence[Event]) -> None:
    """Each event sent has one effect, in the order of its source, and every head is that of the offline fold."""
    chains = await judged(house, len(sent))
    logs: dict[str, list[Past]] = {}
    for record in await house.records():
        logs.setdefault(name(record)[0], []).append(Past(record.value, record.offset))
    assert chains == {game_id: folded(game_id, log) for game_id, log in logs.items()}
    by_game: dict[str, list[str]] = {}
    for event in sent:
        by_game.setdefault(event.game_id, []).append(event.event_id)
    assert {game_id: [event_id for _, event_id, _ in chain] for game_id, chain in chains.items()} == by_game


# What it is told


async def test_each_event_is_acknowledged_in_order_and_then_judged(any_house: House) -> None:
    house = any_house
    sent = game(20)
    call = Call(house.stub)
    await call.send(*sent)
    await call.rest()
    assert ids(call.acknowledged) == ids(call.judged) == ids(sent) == await stored(house)
    assert [each.source_seq for each in call.acknowledged] == [event.source_seq for event in sent]
    assert [each.source_seq for each in call.judged] == [event.source_seq for event in sent]
    records = await house.records()
    assert [(each.partition, each.offset) for each in call.acknowledged] == [(r.partition, r.offset) for r in records]
    assert {each.game_id for each in [*call.acknowledged, *call.judged]} == {"g1"}
    assert [each.outcome.verdict.seq for each in call.judged] == list(range(1, 22))
    assert {each.status for each in call.judged} == {STATUS_FOLDED}
    assert [each.outcome.offset for each in call.judged] == [each.offset for each in call.acknowledged]
    await assert_judged_as_offline(house, sent)


async def test_answers_come_while_the_device_has_more_to_say(house: House) -> None:
    call = Call(house.stub)
    for number, event in enumerate(game(5), 1):
        await call.send(event)
        await call.read_until(number, number)
        assert call.judged[-1].event_id == event.event_id
    await call.rest()


async def test_games_share_a_stream_and_each_keeps_its_order(any_house: House) -> None:
    house = any_house
    games = [game(8, f"g{number}") for number in range(10)]
    sent = [event for together in zip(*games, strict=True) for event in together]
    call = Call(house.stub)
    await call.send(*sent)
    await call.rest()
    assert [(each.game_id, each.event_id) for each in call.acknowledged] == [(e.game_id, e.event_id) for e in sent]
    for each in games:
        of_game = [told for told in call.judged if told.game_id == each[0].game_id]
        assert [told.outcome.verdict.seq for told in of_game] == list(range(1, 10))


async def test_events_whose_verdicts_nobody_reads_are_acknowledged_only(empty_house: House) -> None:
    house = empty_house
    call = Call(house.stub)
    await call.send(*game(3), wait=LOG)
    await call.rest()
    assert len(call.acknowledged) == 4
    house.judge()
    call = Call(house.stub)
    await call.send(stone(4, "T1", source_seq=0), wait=LOG)
    await call.send(stone(5, "T2", source_seq=0))
    await call.rest()
    assert ids(call.acknowledged) == ["m4", "m5"]
    assert ids(call.judged) == ["m5"]


async def test_events_of_a_tournament_are_acknowledged_and_not_judged(house: House) -> None:
    entrant = fact_event(tournament_pb2.EntrantRegistered(entrant="p-li", rank=7), "e1", tournament_id="T1")
    call = Call(house.stub)
    await call.send(entrant, opening("T1/b1", tournament_id="T1"), entrant)
    await call.rest()
    assert [(each.tournament_id, each.game_id, each.offset) for each in call.acknowledged] == [
        ("T1", "", 0),
        ("", "T1/b1", 0),
        ("T1", "", 1),
    ]
    assert ids(call.judged) == ["open"]


async def test_what_arrives_during_an_append_goes_into_the_next_one_together(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, go_on, append = list[int](), asyncio.Event(), house.log.append

    async def held(topic: str, records: Sequence[NewRecord]) -> list[tuple[int, int]]:
        if topic == "game-events":
            sizes.append(len(records))
            await go_on.wait()
        return await append(topic, records)

    monkeypatch.setattr(house.log, "append", held)
    call = Call(house.stub)
    await call.send(opening())
    await eventually(lambda: sizes, [1])
    await call.send(*game(9)[1:])
    await eventually(lambda: house.gateway.waiting, 1)
    await asyncio.sleep(0.1)  # they are on their way; were they not there yet, there would be more appends than two
    go_on.set()
    await call.rest()
    assert sizes == [1, 9]
    assert ids(call.judged) == ids(game(9))


async def test_the_reporter_and_the_pins_are_written_by_the_gateway(house: House) -> None:
    event = opening()
    event.by.person, event.by.role = "somebody else" * 20, 99
    event.game_opened.pins.fold_version = 77
    call = Call(house.stub, roles=["RECORDER", "ARBITER"], person="p-wang", acting="ARBITER")
    await call.send(event)
    await call.rest()
    (record,) = await house.records()
    said = Event.FromString(record.value)
    assert said.by == common_pb2.Actor(person="p-wang", role=common_pb2.ROLE_ARBITER)
    assert said.game_opened.pins.fold_version == 0


# Events that came before, events that wait


async def test_an_event_sent_twice_on_a_stream_counts_once(house: House) -> None:
    call = Call(house.stub)
    await call.send(opening(), stone(1), stone(1))
    await call.rest()
    assert [each.status for each in call.judged] == [STATUS_FOLDED, STATUS_FOLDED, STATUS_DUPLICATE]
    assert call.judged[2].outcome == call.judged[1].outcome


async def test_a_whole_game_sent_again_gets_the_verdicts_of_the_first_time(
    new_log: Callable[[], EventLog], tmp_path: Path
) -> None:
    """More events than the fold keeps in its window of ids, and on a gateway that was not there the first time."""
    sent = game(60)
    async with House(tmp_path, log=new_log()) as house:
        first = Call(house.stub)
        await first.send(*sent)
        await first.rest()
    async with House(tmp_path, log=new_log()) as house:
        again = Call(house.stub)
        await again.send(*sent)
        await again.rest()
        assert {each.status for each in again.judged} == {STATUS_DUPLICATE}
        assert [each.outcome for each in again.judged] == [each.outcome for each in first.judged]
        await assert_judged_as_offline(house, sent)


async def test_an_event_that_waits_is_told_so_and_judged_on_the_same_stream(any_house: House) -> None:
    house = any_house
    _, first, second = game(2)
    call = Call(house.stub)
    await call.send(second)
    await call.read_until(1, 1)
    assert call.judged[-1].status == STATUS_PARKED
    assert call.judged[-1].outcome.verdict.reason == "it waits for game.opened"
    await call.send(opening(), first)
    await call.read_until(3, 4)
    await call.rest()
    assert sorted((each.event_id, each.status) for each in call.judged[1:]) == [
        ("m1", STATUS_FOLDED),
        ("m2", STATUS_FOLDED),
        ("open", STATUS_FOLDED),
    ]
    assert call.judged[-1].event_id == "m2"
    assert call.judged[-1].source_seq == 2


async def test_an_event_that_waits_since_an_earlier_stream_is_judged_on_the_one_that_sent_it_again(
    house: House,
) -> None:
    opened, first, second = game(2)
    await house.append(opened, second)
    call = Call(house.stub)
    await call.send(second)
    await call.read_until(1, 1)
    assert call.judged[0].status == STATUS_PARKED
    assert call.judged[0].outcome.verdict.reason
    await house.append(first)
    await call.read_until(1, 2)
    assert (call.judged[1].event_id, call.judged[1].outcome.verdict.seq) == ("m2", 3)
    await call.rest()


async def test_a_stream_does_not_wait_at_its_end_for_events_that_wait(house: House) -> None:
    call = Call(house.stub)
    await call.send(stone(1))
    await call.rest()
    assert [each.status for each in call.judged] == [STATUS_PARKED]


# What may not be stored


WHOLE_BOARD = rulings_pb2.SetPoints(remove=["Q16"] * 625, add_black=["Q16"] * 625, add_white=["Q16"] * 625)
LARGE = rulings_pb2.RulingDecided(role=common_pb2.ROLE_CHIEF)
LARGE.effects.extend(rulings_pb2.Effect(set_points=WHOLE_BOARD) for _ in range(8))


@pytest.mark.parametrize(
    ("bad", "code", "field"),
    [
        (stone(3, "I9", source_seq=3, source=common_pb2.Source(id="b")), "MALFORMED", "event.stone_placed.point"),
        (opening("g2", regulations={"edition": "XX1900"}), "MALFORMED", "event.game_opened.regulations.edition"),
        (fact_event(facts_pb2.SourceSynced(), "x", tournament_id="T1"), "MALFORMED", "event.tournament_id"),
        (fact_event(facts_pb2.SourceSynced(), "y" * 65, game_id="g1"), "MALFORMED", "event.event_id"),
        (Event(), "MALFORMED", "event.log"),
        (stone(3, game_id="T2/b1"), "NOT_PERMITTED", "event.game_id"),
        (fact_event(LARGE, "large", game_id="g1"), "TOO_LARGE", "event"),
    ],
)
async def test_an_event_that_may_not_be_stored_ends_the_stream_behind_what_came_before_it(
    house: House, bad: Event, code: str, field: str
) -> None:
    call = Call(house.stub, games=["g1", "g2"], tournaments=["T1"], roles=["CHIEF"])
    await call.send(*game(2), bad, stone(4))
    error = await refused(call.end())
    assert (error.code, error.field) == (code, field)
    told = {"": "event without event_id", "y" * 65: f"event '{'y' * 63}... (65 characters)"}
    counted = " (source_seq 3)" if bad.source_seq else ""
    assert error.reason.startswith(f"{told.get(bad.event_id, f'event {bad.event_id!r}')}{counted}: ")
    assert "another stream" in error.remedy
    assert ids(call.acknowledged) == await stored(house) == ["open", "m1", "m2"]


@pytest.mark.parametrize(
    ("raw", "code", "status"),
    [
        (b"\xff\xff", "MALFORMED", grpc.StatusCode.INVALID_ARGUMENT),
        (b"\x0a" * (5 << 20), "TOO_LARGE", grpc.StatusCode.RESOURCE_EXHAUSTED),
    ],
)
async def test_bytes_that_are_no_event_end_the_stream_behind_what_came_before_them(
    house: House, raw: bytes, code: str, status: grpc.StatusCode
) -> None:
    call = house.channel.stream_stream("/caipan.v1.IntakeService/StreamEvents")(metadata=metadata())
    for event in game(2):
        await call.write(StreamEventsRequest(event=event).SerializeToString())
    await call.write(raw)
    acknowledged = []

    async def read() -> None:
        while True:
            answer = StreamEventsResponse.FromString(await call.read())
            if answer.HasField("acknowledged"):
                acknowledged.append(answer.acknowledged)

    error = await refused(read())
    assert (error.status, error.code) == (status, code)
    assert ids(acknowledged) == await stored(house) == ["open", "m1", "m2"]


@pytest.mark.parametrize(
    ("caller", "code"),
    [
        ({"bearer": "no.token"}, "TOKEN_INVALID"),
        ({"roles": ["RECORDER"], "acting": "CHIEF"}, "NOT_PERMITTED"),
    ],
)
async def test_a_stranger_is_told_so_before_anything_is_sent(
    house: House, caller: dict[str, object], code: str
) -> None:
    error = await refused(Call(house.stub, **caller).end())
    assert error.code == code
    assert house.gateway.waiting == 0


async def test_a_token_that_expires_ends_the_stream_at_the_next_event(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "_CHECK_S", 0.0)
    monkeypatch.setattr(tokens, "_LEEWAY_S", 3600)
    call = Call(house.stub, valid_for_s=-600)
    await call.send(opening())
    await call.read_until(1, 1)
    monkeypatch.setattr(tokens, "_LEEWAY_S", 30)  # as if an hour had gone by
    await call.send(stone(1))
    error = await refused(call.end())
    assert (error.status, error.code) == (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_INVALID")
    assert "event 'm1': the token expired at 20" in error.reason
    assert await stored(house) == ["open"]


# Where it ends


async def test_a_stream_without_events_ends_well(house: House) -> None:
    call = Call(house.stub)
    await call.rest()
    assert (call.acknowledged, call.judged) == ([], [])


async def test_who_has_sent_all_is_told_when_the_verdicts_do_not_come(empty_house: House) -> None:
    house = empty_house
    call = Call(house.stub)
    await call.send(*game(3))
    await call.grpc.done_writing()
    error = await refused(call.end())
    assert (error.status, error.code) == (grpc.StatusCode.DEADLINE_EXCEEDED, "VERDICT_PENDING")
    assert len(call.acknowledged) == 4
    house.judge()
    call = Call(house.stub)
    await call.send(*game(3))
    await call.rest()
    assert [each.outcome.verdict.seq for each in call.judged] == [1, 2, 3, 4]


async def refusal(call: Call) -> tuple[Refused, float | None]:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call.end()
    return Refused(caught.value), retry_delay_s(caught.value)


async def test_an_error_that_does_not_pass_has_no_hint_when_to_repeat(house: House) -> None:
    call = Call(house.stub)
    await call.send(stone(1, "I9"))
    error, delay_s = await refusal(call)
    assert (error.code, delay_s) == ("MALFORMED", None)


async def test_a_log_that_cannot_be_written_ends_the_stream_and_says_what_is_acknowledged(house: House) -> None:
    sent = game(4)
    call = Call(house.stub)
    await call.send(*sent[:3])
    await call.read_until(3, 3)
    other = sqlite3.connect(house.path, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        await call.send(*sent[3:])
        error, delay_s = await refusal(call)
        assert (error.status, error.code) == (grpc.StatusCode.UNAVAILABLE, "LOG_UNAVAILABLE")
        assert delay_s
        assert "acknowledged up to event 'm2' (source_seq 2)" in error.reason
        nothing = Call(house.stub)
        await nothing.send(*sent)
        error, _ = await refusal(nothing)
        assert "nothing is acknowledged" in error.reason
        other.execute("ROLLBACK")
    finally:
        other.close()
    assert house.gateway.waiting == 0
    again = Call(house.stub)
    await again.send(*sent[3:])
    await again.rest()
    assert ids(again.judged) == ids(sent[3:])
    await assert_judged_as_offline(house, sent)


@pytest.mark.parametrize("wait", [LOG, 0])
async def test_a_service_that_stops_says_farewell_and_what_is_acknowledged(house: House, wait: int) -> None:
    calls = [Call(house.stub) for _ in range(3)]
    await calls[0].send(*game(3), wait=wait)
    await calls[0].read_until(4, 0 if wait == LOG else 4)
    house.following.cancel()
    for call, said in zip(calls, ("acknowledged up to event 'm3'", *["nothing is acknowledged"] * 2), strict=True):
        error, delay_s = await refusal(call)
        assert (error.status, error.code) == (grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN")
        assert said in error.reason
        assert delay_s
    error, _ = await refusal(Call(house.stub))
    assert error.code == "SHUTTING_DOWN"
    assert house.gateway.waiting == 0


async def test_what_has_arrived_when_the_service_stops_is_stored_and_acknowledged(empty_house: House) -> None:
    house = empty_house
    call = Call(house.stub)
    await call.send(*game(3))
    await call.read_until(4, 0)
    half_closed = Call(house.stub)
    await half_closed.send(*game(3, "g2"))
    await half_closed.read_until(4, 0)
    await half_closed.grpc.done_writing()
    house.following.cancel()
    for each in (call, half_closed):
        error, _ = await refusal(each)
        assert error.code == "SHUTTING_DOWN"
        assert "acknowledged up to event 'm3' (source_seq 3)" in error.reason
    assert len(await house.records()) == 8


# After a cut


@pytest.mark.parametrize("read", [0, 1, 3, 6, 9, 12])
async def test_a_device_goes_on_after_a_cut_at_any_point(any_house: House, read: int) -> None:
    house = any_house
    for cut in range(1, 7):
        sent = game(5, f"g{cut}")
        call = Call(house.stub)
        await call.send(*sent[:cut])
        await call.read(min(read, 2 * cut))
        call.grpc.cancel()
        again = Call(house.stub)
        await again.send(*sent[len(call.acknowledged) :])
        await again.rest()
        assert ids(call.acknowledged) + ids(again.acknowledged) == ids(sent)
        assert ids(again.judged) == ids(again.acknowledged)
        assert all(each.outcome.verdict.event_id == each.event_id for each in again.judged)
    await assert_judged_as_offline(house, [event for cut in range(1, 7) for event in game(5, f"g{cut}")])


@pytest.mark.parametrize("seed", range(3))
async def test_connections_cut_at_random_lose_nothing_and_double_nothing(any_house: House, seed: int) -> None:
    """A board and a clock for each of some games, each on a stream of its own, over one network that is cut again and
    again."""
    house = any_house
    random = Random(seed)
    games = 4

    async def pause() -> None:
        if random.random() < 0.3:
            await asyncio.sleep(random.random() * 0.02)

    boards = [Device(game(40, f"g{number}"), pause) for number in range(games)]
    clocks = [Device(presses(40, f"g{number}"), pause) for number in range(games)]
    async with Wire(house.port) as wire:
        working = asyncio.gather(*(run(device, wire.port) for device in [*boards, *clocks]))
        while not working.done():
            await asyncio.sleep(random.random() * 0.08)
            wire.cut()
        await working
    assert sum(device.streams for device in [*boards, *clocks]) > 2 * len([*boards, *clocks])
    for device in [*boards, *clocks]:
        assert ids(device.acknowledged) == ids(device.events)
    chains = await judged(house, sum(len(device.events) for device in [*boards, *clocks]))
    for number, (board, clock) in enumerate(zip(boards, clocks, strict=True)):
        log = [Past(r.value, r.offset) for r in await house.records() if name(r)[0] == f"g{number}"]
        assert chains[f"g{number}"] == folded(f"g{number}", log)
        told = [event_id for _, event_id, _ in chains[f"g{number}"]]
        for device in (board, clock):  # each once, in the order of its source
            assert [each for each in told if each in ids(device.events)] == ids(device.events)
        assert len(told) == len(board.events) + len(clock.events)
    heads = {(game_id, seq): head for game_id, chain in chains.items() for seq, _, head in chain}
    for device in [*boards, *clocks]:
        for each in device.judged:
            verdict = each.outcome.verdict
            if verdict.seq:
                assert heads[each.game_id, verdict.seq] == each.outcome.head
                assert verdict.event_id == each.event_id


def presses(count: int, game_id: str) -> list[Event]:
    events = [
        fact_event(facts_pb2.SourceSynced(offset_ms=number), f"c{number}", game_id=game_id, source_seq=number)
        for number in range(1, count + 1)
    ]
    for event in events:
        event.source.id = "clock"
    return events


async def run(device: Device, port: int) -> None:
    options = [
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.initial_reconnect_backoff_ms", 10),
        ("grpc.min_reconnect_backoff_ms", 10),
        ("grpc.max_reconnect_backoff_ms", 20),
    ]
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
        await device.run(IntakeServiceStub(channel))


# Bounds


# A client that takes little more than it reads.
SMALL = [
    ("grpc.http2.bdp_probe", 0),
    ("grpc.http2.lookahead_bytes", 1 << 16),
    ("grpc.use_local_subchannel_pool", 1),
]


async def held_back(house: House, call: Call, sent: Sequence[Event]) -> asyncio.Task[None]:
    """Sends without reading until nothing more is stored; the sending goes on."""
    sending = asyncio.create_task(call.send(*sent))
    seen, before = 0, -1
    while seen < EVENTS_MOST or seen != before:
        await asyncio.sleep(0.5)
        seen, before = len(await house.records()), seen
    assert seen < len(sent)
    return sending


def synced(count: int) -> list[Event]:
    return [opening(), *(fact_event(facts_pb2.SourceSynced(), f"s{n}", game_id="g1") for n in range(1, count))]


async def test_a_device_that_reads_nothing_is_held_back(house: House) -> None:
    """What it is to read must not gather in the service: it is not read from any more."""
    sent = synced(6 * EVENTS_MOST)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{house.port}", options=SMALL) as channel:
        call = Call(IntakeServiceStub(channel))
        sending = await held_back(house, call, sent)
        reading = asyncio.create_task(call.read_until(len(sent), len(sent)))
        await sending
        await reading
        await call.rest()
    assert ids(call.judged) == ids(call.acknowledged) == ids(sent)


async def test_a_device_that_goes_away_without_reading_is_forgotten_and_no_error_of_the_service(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{house.port}", options=SMALL) as channel:
        sending = await held_back(house, Call(IntakeServiceStub(channel)), synced(6 * EVENTS_MOST))
    await asyncio.gather(sending, return_exceptions=True)
    await eventually(lambda: house.gateway.waiting, 0)
    await house.append(opening())  # the server has had the time to complain
    assert [entry.message for entry in caplog.records if entry.levelno >= logging.ERROR] == []


async def test_events_without_verdicts_are_so_many_at_most(empty_house: House) -> None:
    house = empty_house
    sent = synced(1500)
    call = Call(house.stub)
    sending = asyncio.create_task(call.send(*sent))
    await call.read_until(EVENTS_MOST, 0)
    await asyncio.sleep(0.2)
    assert len(await house.records()) == EVENTS_MOST
    assert house.gateway.waiting == 1
    house.judge()
    await sending
    await call.rest()
    assert ids(call.judged) == ids(call.acknowledged) == ids(sent)


async def test_many_streams_at_the_same_time_get_their_own_answers(house: House) -> None:
    async def play(number: int) -> Call:
        call = Call(house.stub)
        await call.send(*game(10, f"g{number}"))
        await call.rest()
        return call

    calls = await asyncio.gather(*(play(number) for number in range(60)))
    for number, call in enumerate(calls):
        assert {each.game_id for each in [*call.acknowledged, *call.judged]} == {f"g{number}"}
        assert ids(call.judged) == ids(call.acknowledged) == ids(game(10))
    assert house.gateway.waiting == 0


async def test_a_device_whose_network_is_gone_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says no farewell, and nobody resets its connection."""
    for option in ("grpc.keepalive_time_ms", "grpc.http2.ping_timeout_ms"):
        assert dict(server._KEEPALIVE)[option] <= 30_000
    soon = {"grpc.keepalive_time_ms": 1000, "grpc.http2.ping_timeout_ms": 500}
    monkeypatch.setattr(server, "_KEEPALIVE", list({**dict(server._KEEPALIVE), **soon}.items()))
    async with (
        asyncio.timeout(TIMEOUT_S),
        House(tmp_path) as house,
        Wire(house.port) as wire,
        grpc.aio.insecure_channel(f"127.0.0.1:{wire.port}") as channel,
    ):
        call = Call(IntakeServiceStub(channel))
        await call.send(opening())
        await call.read_until(1, 1)
        wire.freeze()
        await eventually(lambda: house.gateway.waiting, 0)


async def test_thousands_of_streams_that_come_and_go_leave_nothing_behind(empty_house: House) -> None:
    house = empty_house
    await house.append(opening(), wait=LOG)
    await eventually(lambda: house.gateway.waiting, 0)
    tasks = len(asyncio.all_tasks())
    for together in range(4):
        calls = [Call(house.stub) for _ in range(500)]
        for number, call in enumerate(calls):
            if number % 5:
                await call.send(stone(1, game_id=f"g{together}"))
            if number % 5 == 2:
                await call.grpc.done_writing()
            if number % 5 == 3:
                await call.read(1)
            if number % 5 == 4:
                await call.send(stone(1, "I9"))
        await eventually(lambda: house.gateway.waiting >= 300, True)
        for call in calls:
            call.grpc.cancel()
        await eventually(lambda: house.gateway.waiting, 0)
    del calls, call
    await eventually(lambda: len(asyncio.all_tasks()) <= tasks, True)
    assert house.gateway._tail._by_game == {}
    house.judge()
    last = Call(house.stub)
    await last.send(opening(), stone(1))
    await last.rest()
    assert [each.outcome.verdict.seq for each in last.judged] == [1, 2]
