"""What an operator is told, and the names of persons."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from pathlib import Path

import pytest
from support.play import Play
from support.reading import TIMEOUT_S, Reader, Written, code, refused, write

from caipan.eventlog import EventLog, NewRecord, partition_of
from caipan.eventlog.embedded import EmbeddedLog
from caipan.referee import RefereeService
from caipan.v1 import game_service_pb2
from caipan.v1 import operation_service_pb2 as pb
from caipan.v1.facts_pb2 import StonePlaced
from caipan.v1.intake_service_pb2 import Person
from caipan.v1.mark_pb2 import REFEREE_PHASE_JUDGING, REFEREE_PHASE_STOPPED


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[EventLog]:
    async with EmbeddedLog(tmp_path / "log.db") as log:
        yield log


@pytest.fixture
async def reader(log: EventLog, tmp_path: Path) -> AsyncIterator[Reader]:
    async with Reader(log, tmp_path / "read.db") as reader:
        yield reader


@pytest.fixture
def written(log: EventLog) -> Written:
    return Written(log)


async def quarantine(log: EventLog, *records: pb.Quarantined) -> None:
    values = [NewRecord(record.record_id.encode(), record.SerializeToString()) for record in records]
    await log.append("quarantine", values)


async def quarantined(reader: Reader, **request: int) -> list[pb.Quarantined]:
    found: list[pb.Quarantined] = []
    token = ""
    while True:
        page = await reader.operations.ListQuarantined(pb.ListQuarantinedRequest(page_token=token, **request))
        found += page.records
        token = page.next_page_token
        if not token:
            return found


@asynccontextmanager
async def judging(log: EventLog) -> AsyncIterator[None]:
    """A referee is at work."""
    referee = asyncio.create_task(RefereeService(log, checkpoint_s=0.05).run())
    try:
        yield
    finally:
        referee.cancel()
        with suppress(asyncio.CancelledError):
            await referee


async def told(reader: Reader, of_each: Callable[[pb.PartitionStatus], bool]) -> pb.GetStatusResponse:
    """The status once this holds for every partition."""
    async with asyncio.timeout(TIMEOUT_S):
        while not all(map(of_each, (status := await reader.status()).partitions)):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    return status


# The status


async def test_the_status_of_an_empty_hall_is_zero(reader: Reader) -> None:
    assert await reader.status() == pb.GetStatusResponse(
        partitions=[pb.PartitionStatus(partition=partition) for partition in range(4)], version=version("caipan")
    )


async def test_games_are_counted_by_what_they_are_in(reader: Reader, written: Written) -> None:
    ended, paused, dead = Play(game_id="ended").resign("B"), Play(game_id="paused"), Play(game_id="dead")
    dead.pass_("B").pass_("W")
    unopened = Play(game_id="unopened", opening=False)
    unopened.send_bytes(b"\xff")
    await written(ended, paused, dead, Play(game_id="play"), unopened)
    status = await reader.settled()
    assert (status.games, status.games_in_play) == (4, 2)
    assert not status.orphans


async def test_an_event_is_counted_as_parked_until_its_outcome_comes(reader: Reader, written: Written) -> None:
    play = Play()
    await written(play.stone("B", "Q16", seq=2))
    assert (await reader.settled()).parked == 1
    assert not (await reader.status()).orphans
    await written(play.stone("W", "D4", seq=3))
    assert (await reader.settled()).parked == 2
    await written(play.stone("B", "C3", seq=1))
    assert (await reader.settled()).parked == 0
    await written(Play(game_id="other").stone("B", "Q16", seq=2))
    assert (await reader.settled()).parked == 1


async def test_a_notice_that_is_repeated_with_its_outcome_leaves_nothing_parked(
    reader: Reader, log: EventLog, written: Written
) -> None:
    play = Play().stone("B", "Q16", seq=2).stone("W", "D4", seq=1)
    again = Play().stone("B", "Q16", seq=2).stone("W", "D4", seq=1)
    await written(play)
    await reader.settled()
    await Written(log)(again)
    assert (await reader.settled()).parked == 0


async def test_facts_of_a_game_without_an_opening_are_orphans_until_it_is_opened(
    reader: Reader, written: Written
) -> None:
    lost, opened = Play(game_id="lost", opening=False), Play(game_id="found", opening=False)
    await written(lost.stone("B", "Q16", seq=0).stone("W", "D4", seq=0), opened.stone("B", "Q16", seq=0))
    status = await reader.settled()
    assert (list(status.orphans), status.parked, status.games) == (["found", "lost"], 3, 0)
    await written(opened.open())
    status = await reader.settled()
    assert (list(status.orphans), status.parked, status.games) == (["lost"], 2, 1)


async def test_a_duplicate_is_not_counted(reader: Reader, written: Written) -> None:
    play = Play().moves("B Q16")
    play.send_bytes(play.log[1].value)
    assert play.status == "DUPLICATE"
    await written(play)
    status = await reader.settled()
    assert (status.parked, (await reader.game("game")).seq) == (0, 2)


async def test_partitions_tell_how_far_events_outcomes_and_answers_are(
    reader: Reader, log: EventLog, tmp_path: Path
) -> None:
    """A real referee judges what stands in game-events; before it comes, nothing is folded."""
    plays = [Play(9, game_id=f"g{number}").moves("B E5, W E4") for number in range(8)]
    events = [NewRecord(play.game_id.encode(), past.value) for play in plays for past in play.log]
    await log.append("game-events", events)
    ends = [0] * 4
    for record in events:
        ends[partition_of(record.key or b"", 4)] += 1
    status = await reader.settled()
    assert [each.events_end for each in status.partitions] == ends
    assert not any(each.folded or each.outcomes_end or each.served for each in status.partitions)
    async with judging(log):
        for play in plays:
            await reader.game(play.game_id, min_seq=3)
        status = await reader.settled()
    for partition, each in enumerate(status.partitions):
        assert (each.partition, each.events_end, each.folded) == (partition, ends[partition], ends[partition])
        assert (each.outcomes_end, each.served) == (ends[partition], ends[partition])
    assert status.games_in_play == 8
    assert (await reader.game("g3")).head == plays[3].game.head


async def test_the_referee_of_each_partition_tells_who_it_is_and_what_it_does(reader: Reader, log: EventLog) -> None:
    began_ms = time.time_ns() // 1_000_000
    assert not any(each.worker or each.phase or each.since_ms for each in (await reader.status()).partitions)
    async with judging(log):
        status = await told(reader, lambda each: each.phase == REFEREE_PHASE_JUDGING)
    for each in status.partitions:
        assert each.worker == f"{socket.gethostname()}:{os.getpid()}"
        assert began_ms <= each.since_ms <= time.time_ns() // 1_000_000
        assert each.refilled == 0
    await told(reader, lambda each: each.phase == REFEREE_PHASE_STOPPED)


async def test_a_record_of_no_game_is_judged_too(reader: Reader, log: EventLog) -> None:
    await log.append("game-events", [NewRecord(None, b"?", partition=partition) for partition in range(4)])
    async with judging(log):
        await told(reader, lambda each: each.folded == each.events_end == 1 and not each.outcomes_end)


async def test_games_that_are_judged_no_further_are_named_with_the_reason(reader: Reader, log: EventLog) -> None:
    play = Play(9, game_id="g1").moves("B E5")
    await log.append("game-events", [NewRecord(b"g1", past.value) for past in play.log])
    foreign = Play(9, game_id="g1", komi_qz=0).moves("B E4")
    assert foreign.outcomes[-1].head != play.outcomes[-1].head
    await write(log, foreign.outcomes)
    async with judging(log):
        await told(reader, lambda each: each.phase == REFEREE_PHASE_JUDGING)
        (stopped,) = (await reader.status()).stopped
    assert stopped.game_id == "g1"
    assert stopped.reason.startswith("diverged: ")


async def test_what_another_version_wrote_of_the_referee_is_left_out(reader: Reader, log: EventLog) -> None:
    await log.take_over("game-state", 1)
    await log.checkpoint("game-state", 1, 0, {b"": b'{"format": "x"}'})
    assert not (await reader.status()).partitions[1].worker


# Quarantine


async def test_records_in_quarantine_are_listed_oldest_first_and_shown_with_their_bytes(
    reader: Reader, log: EventLog
) -> None:
    records = [
        pb.Quarantined(
            record_id=f"game-events-{number % 4}-{number}",
            key=b"game",
            value=bytes([255, number]),
            reason="no event",
            recorded_at_ms=1000 - number // 2,
        )
        for number in range(9)
    ]
    await quarantine(log, *records)
    await quarantine(log, records[3], pb.Quarantined(record_id=records[4].record_id, reason="again"))
    assert (await reader.settled(quarantined=9)).quarantined == 9
    oldest_first = sorted(records, key=lambda record: (record.recorded_at_ms, record.record_id))
    for size in (0, 1, 4):
        assert await quarantined(reader, page_size=size) == oldest_first
    shown = await reader.operations.GetQuarantined(pb.GetQuarantinedRequest(record_id="game-events-0-4"))
    assert shown.record == records[4]


async def test_a_record_that_was_retried_is_marked_with_the_event_it_became(
    reader: Reader, log: EventLog, written: Written
) -> None:
    records = [pb.Quarantined(record_id=f"game-events-{number}-5", value=b"?", reason="?") for number in range(3)]
    await quarantine(log, *records)
    play = Play()
    again = play.make(StonePlaced(point="Q16"), "B", seq=2)
    again.caused_by = records[1].record_id
    await written(play.send(again))
    await reader.settled(quarantined=3)
    parked = pb.Retried(game_id="game", event_id=again.event_id)
    assert [record.retried for record in await quarantined(reader)] == [pb.Retried(), parked, pb.Retried()]
    await written(play.stone("W", "D4", seq=1))
    judged = pb.Retried(game_id="game", event_id=again.event_id, seq=3)
    await written(play.send(again))
    assert play.status == "DUPLICATE"
    status = await reader.settled()
    assert (status.quarantined, status.retried) == (3, 1)
    assert [record.retried for record in await quarantined(reader)] == [pb.Retried(), judged, pb.Retried()]
    for record, retried in zip(records, (False, True, False), strict=True):
        shown = await reader.operations.GetQuarantined(pb.GetQuarantinedRequest(record_id=record.record_id))
        assert shown.record.HasField("retried") == retried


async def test_what_is_not_in_quarantine_is_told_as_such(reader: Reader) -> None:
    assert await quarantined(reader) == []
    told = await refused(reader.operations.GetQuarantined(pb.GetQuarantinedRequest(record_id="game-events-0-4")))
    assert (code(told), told.field) == ("QUARANTINE_UNKNOWN", "record_id")
    told = await refused(reader.operations.GetQuarantined(pb.GetQuarantinedRequest()))
    assert (code(told), told.field) == ("MALFORMED", "record_id")
    told = await refused(reader.operations.ListQuarantined(pb.ListQuarantinedRequest(page_token="5.x")))
    assert (code(told), told.field) == ("MALFORMED", "page_token")


# Persons


async def test_the_names_of_a_person_are_answered_until_they_are_erased(reader: Reader, log: EventLog) -> None:
    person = Person(person_id="p-棋", name="李世石", name_latin="Lee Sedol")
    request = game_service_pb2.GetPersonRequest(person_id="p-棋")
    assert code(await refused(reader.persons.GetPerson(request))) == "PERSON_UNKNOWN"
    await log.put("people", "p-棋".encode(), person.SerializeToString())
    assert (await reader.persons.GetPerson(request)).person == person
    await log.put("people", "p-棋".encode(), None)
    told = await refused(reader.persons.GetPerson(request))
    assert (code(told), told.field) == ("PERSON_UNKNOWN", "person_id")


async def test_a_log_that_is_away_is_told_to_the_caller(reader: Reader, log: EventLog) -> None:
    await log.close()
    for call in (
        reader.persons.GetPerson(game_service_pb2.GetPersonRequest(person_id="p")),
        reader.operations.GetStatus(pb.GetStatusRequest()),
    ):
        assert code(await refused(call)) == "LOG_UNAVAILABLE"
