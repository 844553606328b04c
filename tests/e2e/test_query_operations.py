"""What an operator is told, and the names of persons."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import pytest
from support.play import Play
from support.reading import Reader, Written, code, refused

from caipan.eventlog import EventLog, NewRecord, partition_of
from caipan.eventlog.embedded import EmbeddedLog
from caipan.referee import RefereeService
from caipan.v1 import game_service_pb2
from caipan.v1 import operation_service_pb2 as pb
from caipan.v1.intake_service_pb2 import Person


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
    judging = asyncio.create_task(RefereeService(log).run())
    for play in plays:
        await reader.game(play.game_id, min_seq=3)
    status = await reader.settled()
    for partition, each in enumerate(status.partitions):
        assert each == pb.PartitionStatus(
            partition=partition,
            events_end=ends[partition],
            folded=ends[partition],
            outcomes_end=ends[partition],
            served=ends[partition],
        )
    assert status.games_in_play == 8
    assert (await reader.game("g3")).head == plays[3].game.head
    judging.cancel()
    with suppress(asyncio.CancelledError):
        await judging


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
