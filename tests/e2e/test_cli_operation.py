"""What an operator does at a terminal: how the service is, records in quarantine, metrics."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from support.command import TIMEOUT_S, Service, caipan, objects
from support.intake import opening, stone
from support.play import Play

from caipan.cli.console import json_of
from caipan.eventlog import NewRecord, partition_of
from caipan.eventlog.embedded import EmbeddedLog
from caipan.v1.mark_pb2 import REFEREE_PHASE_JUDGING
from caipan.v1.operation_service_pb2 import GetStatusRequest, GetStatusResponse
from caipan.v1.operation_service_pb2_grpc import OperationServiceStub

HOME = partition_of(b"g1", 4)
ASTRAY = (HOME + 1) % 4
LOST, GARBAGE = f"game-events-{ASTRAY}-0", f"game-events-{ASTRAY}-1"


def write(data: Path, topic: str, *records: NewRecord) -> None:
    """Puts records into the log past the gateway, before the service runs."""

    async def append() -> None:
        async with EmbeddedLog(data / "log.db") as log:
            await log.append(topic, records)

    asyncio.run(append())


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service whose log holds a stone of g1 in a wrong place, and garbage; then g1 is opened."""
    data = tmp_path / "data"
    astray = NewRecord(b"g1", stone(1).SerializeToString(), partition=ASTRAY)
    write(data, "game-events", astray, NewRecord(None, b"\xff\xff no event", partition=ASTRAY))
    with Service(data) as service:
        caipan("send", "-", text=json_of(opening()), **service.at)
        yield service


# The status


def until(service: Service, holds: Callable[[GetStatusResponse], bool]) -> None:
    """Waits for a status: a referee tells of itself with its checkpoints."""
    give_up_s = time.monotonic() + TIMEOUT_S
    with grpc.insecure_channel(service.address) as channel:
        while not holds(status := OperationServiceStub(channel).GetStatus(GetStatusRequest(), timeout=TIMEOUT_S)):
            assert time.monotonic() < give_up_s, status
            time.sleep(0.05)


def test_the_status_of_a_sound_service_tells_its_referee_and_ends_with_0(service: Service) -> None:
    until(service, lambda status: all(each.phase == REFEREE_PHASE_JUDGING for each in status.partitions))
    told = caipan("status", **service.at)
    assert "events parked 0, in quarantine 2\n" in told.stdout
    assert re.search(rf"^referee   \S+:{service.pid} judging partition 0, 1, 2, 3 since 2\d\d\d-", told.stdout, re.M)
    assert not told.stderr
    (status,) = objects(caipan("status", "--json", **service.at).stdout)
    assert {each["worker"].rpartition(":")[2] for each in status["partitions"]} == {str(service.pid)}


def test_a_game_that_is_judged_no_further_is_named_and_the_status_ends_with_1(tmp_path: Path) -> None:
    play, foreign = Play(9, game_id="g1").moves("B E5"), Play(9, game_id="g1", komi_qz=0).moves("B E4")
    write(tmp_path, "game-events", *(NewRecord(b"g1", past.value) for past in play.log))
    write(tmp_path, "game-outcomes", *(NewRecord(b"g1", each.SerializeToString()) for each in foreign.outcomes))
    with Service(tmp_path) as service:
        until(service, lambda status: bool(status.stopped))
        for arguments in ([], ["--json"]):
            told = caipan("status", *arguments, ok=1, **service.at)
            assert told.stderr == f"caipan: {service.address}: games that are judged no further: 1\n"
        (status,) = objects(told.stdout)
        (stopped,) = status["stopped"]
        assert f"JUDGED NO FURTHER: g1: {stopped['reason']}\n" in caipan("status", ok=1, **service.at).stdout


# Quarantine


def test_a_record_in_a_wrong_place_is_retried_into_its_game_and_marked(service: Service) -> None:
    told = caipan("quarantine", "retry", LOST, **service.at).stdout.splitlines()
    assert told[0] == f"{LOST} is the event m1 of the game g1 now:"
    assert "Q16" in told[1]
    again = caipan("quarantine", "retry", LOST, **service.at).stdout.splitlines()
    assert again[1] == "m1 was judged before:"
    (answer,) = objects(caipan("quarantine", "retry", LOST, "--json", **service.at).stdout)
    assert answer["event"]["caused_by"] == answer["result"]["outcome"]["caused_by"] == LOST
    assert answer["event"]["by"] == {"person": "caipan-operator", "role": "ROLE_CHIEF"}
    assert "move 1, White to move" in caipan("show", "g1", **service.at).stdout
    listed = caipan("quarantine", "list", **service.at).stdout.splitlines()
    assert listed[0].endswith("  [retried: event m1 of g1, outcome 2]")
    assert "retried" not in listed[1]
    assert "in quarantine 2, retried 1\n" in caipan("status", **service.at).stdout
    assert "[retried: " in caipan("quarantine", "show", LOST, **service.at).stdout


def test_who_does_not_wait_is_told_the_place_in_the_log(service: Service) -> None:
    told = caipan("quarantine", "retry", LOST, "--wait", "log", **service.at).stdout.splitlines()
    assert told[1] == f"m1 is in the log: partition {HOME}, offset 1"


@pytest.mark.parametrize(
    ("record_id", "said"),
    [
        (GARBAGE, "record_id: the record cannot be read as an event: its bytes are no event; leave it where it is, "),
        ("game-events-0-99", "record_id: no record 'game-events-0-99' is in quarantine; list the records "),
    ],
)
def test_what_cannot_be_retried_is_one_line_of_error(service: Service, record_id: str, said: str) -> None:
    done = caipan("quarantine", "retry", record_id, ok=1, **service.at)
    assert done.stderr.startswith(f"caipan: {said}")
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout


def test_a_retry_with_a_token_of_another_role_is_refused(service: Service) -> None:
    token = caipan("token", "--person", "r", "--role", "RECORDER", **service.at).stdout.strip()
    done = caipan("quarantine", "retry", LOST, ok=1, CAIPAN_TOKEN=token, **service.at)
    assert "RetryQuarantined needs one of the roles" in done.stderr
