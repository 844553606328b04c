"""`caipan stream`: events to a running service as they happen, over cuts, restarts and errors."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import grpc
import pytest
from support.command import Running, Service, caipan, environment, objects
from support.wire import Wire

from caipan.serving.tokens import load_private_key, make_token
from caipan.v1.game_service_pb2 import GetGameRequest
from caipan.v1.game_service_pb2_grpc import GameServiceStub

SERVICES = Path(__file__).parents[2] / "docs" / "services.md"
SHORT = "(;GM[1]SZ[9]KM[7.5];B[ee];W[cc];B[gg];W[gc];B[cg];W[];B[])"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("service")) as service:
        yield service


@pytest.fixture
def record(tmp_path: Path) -> Path:
    file = tmp_path / "game.sgf"
    file.write_text(SHORT, "utf-8")
    return file


def events_of(record: Path, game_id: str) -> list[str]:
    return caipan("sgf2events", record, "--game-id", game_id).stdout.splitlines()


def head_of(lines: list[dict[str, Any]]) -> str:
    return b64decode(lines[-1]["outcome"]["head"]).hex()


def offline_head(events: list[str]) -> str:
    told = objects(caipan("replay", "-", "--json", text="\n".join(events)).stdout)
    return b64decode(told[-1]["snapshot"]["head"]).hex()


def test_events_of_a_file_come_back_with_their_verdicts_as_from_send(service: Service, record: Path) -> None:
    events = events_of(record, "whole")
    told = objects(caipan("stream", "--json", text="\n".join(events), **service.at).stdout)
    assert [line["event_id"] for line in told] == [json.loads(event)["event_id"] for event in events]
    assert head_of(told) == offline_head(events)
    again = objects(caipan("send", "-", "--json", text="\n".join(events), **service.at).stdout)
    assert [line["outcome"] for line in again] == [line["outcome"] for line in told]
    lines = caipan("stream", "-", text="\n".join(events), **service.at).stdout.splitlines()
    assert lines[0].endswith("was judged before:")
    assert lines[1] == "   1  game_opened      9 lines          move 0, Black to move"


def test_a_line_is_sent_as_soon_as_it_is_there(service: Service, record: Path) -> None:
    with Running("stream", "--json", **service.at) as streaming:
        for seq, event in enumerate(events_of(record, "live"), 1):
            streaming.write(event)
            assert streaming.object()["outcome"]["verdict"]["seq"] == str(seq)
        streaming.close_input()
        assert streaming.end(None) == (0, "")


def test_without_waiting_each_event_has_its_place_in_the_log(service: Service, record: Path) -> None:
    text = "\n".join(events_of(record, "placed"))
    told = caipan("stream", "-", "--wait", "log", text=text, **service.at).stdout.splitlines()
    assert len(told) == 10
    assert all(" is in the log: partition " in line for line in told)


def test_an_event_that_waits_is_told_so_and_judged_when_its_turn_comes(service: Service, record: Path) -> None:
    opening, first, *_ = events_of(record, "early")
    with Running("stream", "--json", **service.at) as streaming:
        streaming.write(first)
        assert streaming.object()["status"] == "STATUS_PARKED"
        streaming.write(opening)
        told = [streaming.object(), streaming.object()]
        assert [line["outcome"]["verdict"]["seq"] for line in told] == ["1", "2"]
        streaming.close_input()
        assert streaming.end(None) == (0, "")


def test_an_event_twice_in_a_file_is_answered_twice(service: Service, record: Path) -> None:
    opening, first, *_ = events_of(record, "twice")
    told = objects(caipan("stream", "--json", text="\n".join([opening, first, first]), **service.at).stdout)
    assert [line["status"] for line in told] == ["STATUS_FOLDED", "STATUS_FOLDED", "STATUS_DUPLICATE"]
    assert told[1]["outcome"] == told[2]["outcome"]


def test_nothing_to_send_is_no_error(service: Service) -> None:
    assert caipan("stream", "-", text="\n\n", **service.at).stdout == ""


# What cannot be sent


def test_a_line_that_cannot_be_read_ends_it_when_all_before_it_are_judged(service: Service, record: Path) -> None:
    events = events_of(record, "unread")
    text = "\n".join([*events[:3], '{"event_id": "x", "game_id": "unread", "stone_placed": {"p": 1}}', *events[3:]])
    done = caipan("stream", "-", "--json", text=text, ok=1, **service.at)
    assert [line["outcome"]["verdict"]["seq"] for line in objects(done.stdout)] == ["1", "2", "3"]
    assert '-: line 4: Message type "caipan.v1.StonePlaced" has no field named "p"' in done.stderr


def test_a_line_that_may_not_be_stored_ends_it_when_all_before_it_are_judged(service: Service, record: Path) -> None:
    events = events_of(record, "broken")
    events[3] = events[3].replace('"point": "G3"', '"point": "G33"')
    done = caipan("stream", "-", "--json", text="\n".join(["", *events]), ok=1, **service.at)
    assert [line["outcome"]["verdict"]["seq"] for line in objects(done.stdout)] == ["1", "2", "3"]
    assert re.fullmatch(
        r"caipan: -: line 5: stone_placed\.point: event '[^']+' \(source_seq 4\): 'G33' is no point: .*; "
        r"correct it and send it again; go on from this event, on another stream\n",
        done.stderr,
    )


def test_a_token_that_is_not_good_is_one_line_of_error(service: Service, record: Path) -> None:
    text = "\n".join(events_of(record, "strange"))
    done = caipan("stream", "-", "--token", "no.token", text=text, ok=1, **service.at)
    assert done.stderr.startswith("caipan: authorization: the token cannot be read")
    assert len(done.stderr.splitlines()) == 1
    data = service.at["CAIPAN_DATA"]
    made = caipan("token", "--person", "anna", "--role", "arbiter", "--games", "mine", "--data", data).stdout.strip()
    done = caipan("stream", "-", "--token", made, text=text, ok=1, **service.at)
    assert "-: line 1: game_id: event " in done.stderr
    assert "the token is not good for the game 'strange'" in done.stderr


def test_a_token_that_expires_ends_it_behind_what_was_sent(service: Service, record: Path) -> None:
    key = load_private_key(Path(service.at["CAIPAN_DATA"]) / "token-key.pem")
    short = make_token(key, "anna", ["RECORDER"], ["*"], ["*"], -22)  # 30 s are forgiven
    expired_s = time.monotonic() + 10
    events = events_of(record, "expired")
    with Running("stream", "--json", "--token", short, **service.at) as streaming:
        streaming.write(events[0])
        assert streaming.object()["outcome"]["verdict"]["seq"] == "1"
        time.sleep(max(0.0, expired_s - time.monotonic()))
        streaming.write(events[1])
        code, errors = streaming.end(None)
    assert code == 1
    assert "the token expired at 20" in errors


def test_ctrl_c_says_what_is_not_known_to_be_stored(record: Path, tmp_path: Path) -> None:
    events = events_of(record, "interrupted")
    with Service(tmp_path / "data") as service:
        with Running("stream", "--json", **service.at) as streaming:
            streaming.write(*events[:2])
            assert [streaming.object()["outcome"]["verdict"]["seq"] for _ in range(2)] == ["1", "2"]
            assert streaming.end(signal.SIGINT) == (0, "")
        with Running("stream", "--json", **service.at) as streaming:
            streaming.write(*events[:2])
            streaming.object()
            streaming.object()
            service.end()
            streaming.write(*events[2:5])
            time.sleep(1.0)  # so that they are read
            code, errors = streaming.end(signal.SIGINT)
    assert code == 1
    assert "-: interrupted; 3 events are without their answer, from line 3 on" in errors


# Cuts


def test_a_stream_is_taken_up_again_when_the_service_comes_back(record: Path, tmp_path: Path) -> None:
    events = events_of(record, "restarted")
    data = tmp_path / "data"
    with Service(data) as service, Running("stream", "--json", **service.at) as streaming:
        streaming.write(*events[:4])
        told = [streaming.object() for _ in range(4)]
        assert service.end()[0] == 0
        streaming.write(*events[4:7])
        with Service(data, service.port) as again:
            told += [streaming.object() for _ in range(3)]
            again.end(signal.SIGKILL)
            streaming.write(*events[7:])
            with Service(data, service.port):
                told += [streaming.object() for _ in range(3)]
                streaming.close_input()
                code, errors = streaming.end(None)
    assert code == 0
    assert errors.count("(taking it up again)") == 2
    assert [line["outcome"]["verdict"]["seq"] for line in told] == [str(seq) for seq in range(1, 11)]
    assert head_of(told) == offline_head(events)


def test_a_service_that_comes_later_is_waited_for(record: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    events = events_of(record, "late")
    with Service(data) as service:
        service.end()
    with Running("stream", "--json", **service.at) as streaming:
        streaming.write(*events)
        streaming.close_input()
        with Service(data, service.port):
            told = [streaming.object() for _ in events]
            code, errors = streaming.end(None)
    assert code == 0
    assert head_of(told) == offline_head(events)
    assert errors.count("(taking it up again)") == 1


@pytest.mark.parametrize("wait", ["verdict", "log"])
def test_a_network_that_is_cut_again_and_again_loses_nothing(service: Service, record: Path, wait: str) -> None:
    one = events_of(record, "cut-00")
    events = [event.replace("cut-00", f"cut-{wait}-{number}") for number in range(40) for event in one]
    told: list[dict[str, Any]] = []

    def play(port: int) -> tuple[int, str]:
        at = {**service.at, "CAIPAN_ADDRESS": f"127.0.0.1:{port}"}
        with Running("stream", "--json", "--wait", wait, **at) as streaming:
            writing = Thread(target=streaming.write, args=events)
            writing.start()
            for _ in events:
                told.append(streaming.object())  # noqa: PERF401 - the test looks at it meanwhile
            writing.join()
            streaming.close_input()
            return streaming.end(None)

    async def main() -> tuple[int, str]:
        async with Wire(service.port) as wire:
            playing = asyncio.create_task(asyncio.to_thread(play, wire.port))
            for _ in range(4):
                seen = len(told)
                while not playing.done() and len(told) == seen:  # noqa: ASYNC110 - nothing tells
                    await asyncio.sleep(0.001)
                wire.cut()
            return await playing

    code, errors = asyncio.run(main())
    assert code == 0
    assert "(taking it up again)" in errors
    assert sorted(line["event_id"] for line in told) == sorted(json.loads(event)["event_id"] for event in events)
    with grpc.insecure_channel(service.address) as channel:
        games = GameServiceStub(channel)
        requests = [GetGameRequest(game_id=f"cut-{wait}-{n}", min_seq=len(one)) for n in range(40)]
        heads = {request.game_id: games.GetGame(request, timeout=60).game.head for request in requests}
    replayed = objects(caipan("replay", "-", "--json", text="\n".join(events)).stdout)
    states = [line["snapshot"] for line in replayed if "snapshot" in line]
    assert heads == {state["game_id"]: b64decode(state["head"]) for state in states}


def test_the_device_of_docs_services_runs_as_printed(service: Service, tmp_path: Path) -> None:
    text = SERVICES.read_text("utf-8")
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found
    (tmp_path / "device.py").write_text(found.group(1).replace("127.0.0.1:50051", service.address), "utf-8")
    made = caipan("token", "--person", "board-7", "--role", "RECORDER", "--data", service.at["CAIPAN_DATA"]).stdout
    done = subprocess.run(
        [sys.executable, tmp_path / "device.py"],
        env=environment(CAIPAN_TOKEN=made.strip()),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].split()[0] == "3"
