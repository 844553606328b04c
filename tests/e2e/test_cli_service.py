"""The commands that run a service and talk to it, each in a process of its own on a free loopback port."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import shlex
import signal
import socket
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.command import COMMAND, Running, Service, caipan, environment, objects
from support.desk import DOUBLE, game
from support.intake import stone

from caipan.cli.app import app
from caipan.cli.console import json_of
from caipan.cli.synthetic import Terms, play
from caipan.eventlog import NewRecord
from caipan.eventlog.embedded import EmbeddedLog
from caipan.rules.edition import edition_ids

GAMES = Path(__file__).parents[2].parent / "shared" / "games"
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


def events_of(record: Path, game_id: str) -> str:
    return caipan("sgf2events", record, "--game-id", game_id).stdout


def seqs(lines: list[dict[str, Any]]) -> list[int]:
    return [int(line["outcome"]["verdict"]["seq"]) for line in lines if "outcome" in line]


# The same heads


def test_a_game_has_the_same_head_in_the_service_and_offline(service: Service, record: Path) -> None:
    (told,) = objects(caipan("adjudicate", record, "--json").stdout)
    sent = objects(caipan("send", "-", "--json", text=caipan("sgf2events", record).stdout, **service.at).stdout)
    assert b64decode(sent[-1]["outcome"]["head"]).hex() == told["head"]
    assert b64decode(sent[-1]["outcome"]["verdict"]["state_digest"]).hex() == told["state_digest"]
    (state,) = objects(caipan("show", sent[0]["outcome"]["verdict"]["game_id"], "--json", **service.at).stdout)
    assert b64decode(state["head"]).hex() == told["head"]
    assert state["board"] == told["board"]
    assert state["result"]["margin_qz"] == told["margin_qz"]


def test_every_edition_has_the_same_result_in_the_service_and_offline(service: Service, tmp_path: Path) -> None:
    black, white = ("".join(f"[{column}{row}]" for row in "abcdefghi") for column in "ef")
    file = tmp_path / "walls.sgf"
    file.write_text(f"(;GM[1]SZ[9]KM[7.5]AB{black}AW[cg]{white}PL[B])", "utf-8")
    offline, lines = {}, []
    for edition_id in edition_ids():
        (told,) = objects(caipan("adjudicate", file, "--dead", "C3", "--edition", edition_id, "--json").stdout)
        played = play(file.read_bytes(), Terms(edition_id, dead=("C3",)), f"counted-{edition_id}")
        lines += [json_of(step.event) for step in played.steps]
        offline[played.game.game_id] = told["margin_qz"]
    assert set(offline.values()) == {3, 5}
    sent = objects(caipan("send", "-", "--json", text="\n".join(lines), **service.at).stdout)
    verdicts = [line["outcome"]["verdict"] for line in sent]
    assert {told["game_id"]: told["result"]["margin_qz"] for told in verdicts if "result" in told} == offline
    shown = caipan("show", "counted-KBA2024", **service.at).stdout
    assert "result: Black wins by 2.5 mu (Black 37 mu, White 27, komi 7.5)" in shown
    assert (
        "Result: B+2.5 (mu): Black wins by 2.5 mu"
        in caipan("adjudicate", file, "--dead", "C3", "--edition", "TERR65").stdout
    )


@pytest.mark.skipif(not GAMES.is_dir(), reason=f"the shared games are not here ({GAMES})")
def test_every_real_game_has_the_same_head_in_the_service_and_offline(service: Service) -> None:
    counted = {game["file"]: game["dead"] for game in json.loads((GAMES / "counted.json").read_text("utf-8"))["games"]}
    uncounted = [file for file in sorted(GAMES.glob("*.sgf")) if file.name not in counted]
    told = objects(caipan("adjudicate", *uncounted, "--json").stdout)
    for name, dead in counted.items():
        told += objects(caipan("adjudicate", GAMES / name, "--dead", ",".join(dead), "--json").stdout)
    heads, lines = {}, []
    for report in told:
        file = Path(report["file"])
        played = play(file.read_bytes(), Terms(dead=counted.get(file.name)))
        heads[played.game.game_id] = report["head"]
        lines += [json_of(step.event) for step in played.steps]
    sent = objects(caipan("send", "-", "--json", text="\n".join(lines), **service.at).stdout)
    last = {line["outcome"]["verdict"]["game_id"]: b64decode(line["outcome"]["head"]).hex() for line in sent}
    assert last == heads


# send


def test_each_event_comes_back_as_a_line_with_its_verdict(service: Service, record: Path) -> None:
    told = caipan("send", "-", text=events_of(record, "lines"), **service.at).stdout.splitlines()
    assert told[0] == "   1  game_opened      9 lines          move 0, Black to move"
    assert told[1] == "   2  stone_placed     X E5             move 1, White to move"
    assert told[-1].startswith("  10  dead_answered                     ")


def test_a_file_sent_again_has_one_effect_and_the_same_answers(service: Service, record: Path) -> None:
    events = events_of(record, "again")
    first = objects(caipan("send", "-", "--json", text=events, **service.at).stdout)
    again = objects(caipan("send", "-", "--json", text=events, **service.at).stdout)
    assert [line["outcome"]["head"] for line in again] == [line["outcome"]["head"] for line in first]
    assert {line["status"] for line in again} == {"STATUS_DUPLICATE"}
    assert "was judged before:" in caipan("send", "-", text=events, **service.at).stdout


def test_without_waiting_each_event_has_its_place_in_the_log(service: Service, record: Path) -> None:
    told = caipan("send", "-", "--wait", "log", text=events_of(record, "places"), **service.at).stdout.splitlines()
    assert len(told) == 10
    assert all(" is in the log: partition " in line for line in told)


def test_an_event_of_a_game_that_is_not_open_waits(service: Service, record: Path) -> None:
    stone = events_of(record, "orphan").splitlines()[1]
    assert "waits for game.opened" in caipan("send", "-", text=stone, **service.at).stdout
    assert "without game_opened: " in caipan("status", **service.at).stdout


def test_a_line_that_cannot_be_read_is_named_and_nothing_is_sent(service: Service, record: Path) -> None:
    lines = [
        *events_of(record, "unread").splitlines(),
        '{"event_id": "x", "game_id": "unread", "stone_placed": {"p": 1}}',
    ]
    done = caipan("send", "-", text="\n".join(lines), ok=1, **service.at)
    assert 'line 11: Message type "caipan.v1.StonePlaced" has no field named "p"' in done.stderr
    assert "no game 'unread'" in caipan("show", "unread", ok=1, **service.at).stderr


def test_a_field_that_breaks_its_rule_is_named_by_line_and_nothing_is_stored(service: Service, record: Path) -> None:
    lines = events_of(record, "broken").splitlines()
    lines[3] = lines[3].replace('"point": "G3"', '"point": "G33"')
    done = caipan("send", "-", text="\n".join(["", *lines]), ok=1, **service.at)
    assert "-: line 5: stone_placed.point: 'G33' is no point" in done.stderr
    assert "no game 'broken'" in caipan("show", "broken", ok=1, **service.at).stderr


def test_a_service_that_comes_later_is_waited_for(record: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    data = tmp_path / "data"
    caipan("token", "--person", "x", "--role", "RECORDER", "--data", data)  # so that there is a key to sign with
    events = tmp_path / "events.jsonl"
    events.write_text(events_of(record, "late"), "utf-8")
    with Running("send", events, "--address", f"127.0.0.1:{port}", "--data", data, "--json") as sending:
        with Service(data, port):
            assert sending.object()["outcome"]["verdict"]["seq"] == "1"
            code, errors = sending.end(None)
        assert code == 0
        assert errors.count("(trying again)") == 1


# token


def test_a_token_is_good_for_what_it_names(service: Service, record: Path) -> None:
    data = service.at["CAIPAN_DATA"]
    made = caipan("token", "--person", "anna", "--role", "arbiter", "--games", "mine", "--data", data).stdout.strip()
    text = events_of(record, "mine")
    sent = objects(caipan("send", "-", "--json", "--token", made, text=text, **service.at).stdout)
    assert len(sent) == 10
    other = caipan("send", "-", "--token", made, text=events_of(record, "yours"), ok=1, **service.at)
    assert "the token is not good for the game 'yours'; use one that lists it" in other.stderr


def test_a_token_of_nobody_is_refused_in_one_line(service: Service, record: Path, tmp_path: Path) -> None:
    text = events_of(record, "strange")
    strange = caipan("token", "--person", "x", "--role", "CHIEF", "--data", tmp_path).stdout.strip()
    refused = caipan("send", "-", text=text, ok=1, CAIPAN_TOKEN=strange, **service.at).stderr
    assert "signed by a key that this service does not know" in refused
    without = caipan("send", "-", text=text, ok=1, **{**service.at, "CAIPAN_DATA": str(tmp_path / "empty")}).stderr
    assert without.startswith("caipan: no token: give one with --token")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--person", "x", "--role", "KING"], "'KING' is no role of a caller"),
        (["--person", "x", "--role", "CHIEF", "--valid-for", "soon"], "e.g. 90s, 30m, 12h or 7d"),
        (["--role", "CHIEF"], "Missing option '--person'"),
    ],
)
def test_a_token_that_cannot_be_made_says_why(arguments: list[str], said: str, tmp_path: Path) -> None:
    done = caipan("token", *arguments, "--data", tmp_path, ok=2)
    assert said in " ".join(done.stderr.replace("│", "").split())


def test_a_token_says_when_it_ends(tmp_path: Path) -> None:
    arguments = ["--person", "x", "--role", "CHIEF", "--data", tmp_path, "--json"]
    made = [objects(caipan("token", *arguments, "--valid-for", span).stdout)[0] for span in ("1s", "7d")]
    assert made[1]["expires_at_ms"] - made[0]["expires_at_ms"] >= 7 * 86_400_000 - 1000


# show, watch, status


def test_a_game_is_shown_with_its_board_and_where_it_stands(service: Service, record: Path) -> None:
    caipan("send", "-", text="\n".join(events_of(record, "shown").splitlines()[:4]), **service.at)
    told = caipan("show", "shown", **service.at).stdout
    assert " 3  . . + . . .(X). .  3" in told
    assert "move 3, White to move; play; captured: 0 black, 0 white" in told


def test_a_watcher_gets_every_outcome_once_across_a_restart(record: Path, tmp_path: Path) -> None:
    lines = events_of(record, "watched").splitlines()
    data = tmp_path / "data"
    with Service(data) as service:
        caipan("send", "-", text="\n".join(lines[:3]), **service.at)
        watching = Running("watch", "watched", "--from-start", "--json", **service.at)
        with watching:
            told = [watching.object() for _ in range(3)]
            caipan("send", "-", text="\n".join(lines[3:5]), **service.at)
            told += [watching.object() for _ in range(2)]
            service.end()
            with Service(data, service.port):
                caipan("send", "-", text="\n".join(lines[5:]), **service.at)
                while len(seqs(told)) < 10:
                    told.append(watching.object())
                assert seqs(told) == list(range(1, 11))
                code, errors = watching.end(signal.SIGINT)
    assert code == 0
    assert errors.count("(taking it up again)") == 1


def test_a_watcher_without_a_terminal_gets_the_board_once_and_then_lines(service: Service, record: Path) -> None:
    lines = events_of(record, "lined").splitlines()
    caipan("send", "-", text="\n".join(lines[:2]), **service.at)
    with Running("watch", "lined", **service.at) as watching:
        while not (line := watching.line()).startswith("2 outcomes; head"):
            assert line
        caipan("send", "-", text=lines[2], **service.at)
        assert watching.line().rstrip() == "   3  stone_placed     O C7             move 2, Black to move"


def test_on_a_terminal_the_board_is_drawn_again(service: Service, record: Path) -> None:
    lines = events_of(record, "drawn").splitlines()
    caipan("send", "-", text="\n".join(lines[:2]), **service.at)
    ours, theirs = pty.openpty()
    command = [*COMMAND, "watch", "drawn"]
    variables = environment(TERM="xterm", NO_COLOR="1", **service.at)
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=variables) as watching:
        os.close(theirs)
        seen = _read_until(ours, b"move 1, White to move")
        caipan("send", "-", text=lines[2], **service.at)
        seen += _read_until(ours, b"move 2, Black to move")
        assert b" 7  . .(O)" in seen
        watching.send_signal(signal.SIGINT)
        assert watching.wait(60) == 0
    os.close(ours)


def _read_until(terminal: int, wanted: bytes) -> bytes:
    seen = b""
    while wanted not in seen:
        seen += os.read(terminal, 4096)
    return seen


@pytest.mark.parametrize("command", [["show"], ["watch"], ["watch", "--from-start"]])
def test_an_unknown_game_is_one_line_of_error(command: list[str], service: Service) -> None:
    done = caipan(*command, "nobody-opened-this", ok=1, **service.at)
    assert done.stderr == (
        "caipan: game_id: no game 'nobody-opened-this' was opened here; check the id, or open the game\n"
    )


@pytest.mark.parametrize("command", [["status"], ["show", "g"], ["watch", "g"], ["quarantine", "list"]])
def test_no_service_is_one_line_of_error(command: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    done = caipan(*command, "--address", address, ok=1)
    said = f"caipan: {address}: no service answers; start one with caipan up, or name another with --address\n"
    assert done.stderr == said


def test_the_status_tells_how_far_the_service_is(service: Service, record: Path) -> None:
    caipan("send", "-", text=events_of(record, "counted"), **service.at)
    told = caipan("status", **service.at).stdout
    assert told.startswith(f"{service.address}  SERVING  caipan ")
    (status,) = objects(caipan("status", "--json", **service.at).stdout)
    assert sum(int(each.get("folded", 0)) for each in status["partitions"]) >= 10


# up


def ended_quietly(service: Service, number: int) -> bool:
    """In order, and without anything that somebody would have to look after."""
    code, log = service.end(number)
    return code == 0 and all("[info" in line for line in log.splitlines())


def test_a_service_goes_on_where_it_was_stopped(record: Path, tmp_path: Path) -> None:
    lines = events_of(record, "stopped").splitlines()
    with Service(tmp_path / "data") as service:
        caipan("send", "-", text="\n".join(lines[:5]), **service.at)
        assert ended_quietly(service, signal.SIGTERM)
    with Service(tmp_path / "data") as service:
        caipan("send", "-", text="\n".join(lines[5:]), **service.at)
        (state,) = objects(caipan("show", "stopped", "--json", **service.at).stdout)
        (told,) = objects(caipan("replay", "-", "--json", text="\n".join(lines)).stdout)[-1:]
        assert state["head"] == told["snapshot"]["head"]
        assert ended_quietly(service, signal.SIGINT)


def test_a_person_is_told_the_address_the_data_and_the_key(tmp_path: Path) -> None:
    with Running("up", "--listen", "127.0.0.1:0", cwd=tmp_path) as service:
        lines = [service.line() for _ in range(3)]
        assert lines[0].startswith("caipan is ready on 127.0.0.1:")
        assert lines[1] == f"  data    {tmp_path / 'data'}\n"
        assert lines[2].startswith(f"  tokens  by {tmp_path / 'data' / 'token-key.pem'}: caipan token ")


def test_what_keeps_a_service_from_running_is_one_line(service: Service, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "log.db").write_text("no log")
    cases = {
        "the port is in use": ["--listen", service.address, "--data", tmp_path / "new"],
        "writes to this log already": ["--listen", "127.0.0.1:0", "--data", service.at["CAIPAN_DATA"]],
        "this is no caipan log": ["--listen", "127.0.0.1:0", "--data", foreign],
        "the key cannot be read": [
            "--listen",
            "127.0.0.1:0",
            "--data",
            tmp_path / "new",
            "--token-keys",
            tmp_path / "k",
        ],
        "keys cannot be written": ["--listen", "127.0.0.1:0", "--data", foreign / "log.db" / "x"],
    }
    for said, arguments in cases.items():
        done = caipan("up", *arguments, ok=1)
        assert said in done.stderr
        assert done.stderr.startswith("caipan: ")
        assert len(done.stderr.splitlines()) == 1
        assert not done.stdout


@pytest.mark.parametrize("listen", ["50051", "localhost", ":50051", "h:99999", "h:x"])
def test_an_address_that_is_none_is_wrong_usage(listen: str, tmp_path: Path) -> None:
    assert "--listen needs HOST:PORT" in caipan("up", "--listen", listen, "--data", tmp_path, ok=2).stderr


# quarantine


@pytest.fixture(scope="module")
def unread(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose log holds a record that is no event, and an event in a wrong place."""
    data = tmp_path_factory.mktemp("unread")

    async def write() -> None:
        async with EmbeddedLog(data / "log.db") as log:
            await log.append("game-events", [NewRecord(b"a-game", b"\xff\xff no event", partition=0)])
            await log.append("game-events", [NewRecord(None, stone(1).SerializeToString(), partition=1)])

    asyncio.run(write())
    with Service(data) as service:
        yield service


def test_a_record_that_cannot_be_read_is_listed_and_shown(unread: Service) -> None:
    listed, _ = objects(caipan("quarantine", "list", "--json", **unread.at).stdout)
    assert listed["record_id"] == "game-events-0-0"
    assert b64decode(listed["value"]) == b"\xff\xff no event"
    assert "game-events-0-0" in caipan("quarantine", "list", **unread.at).stdout
    shown = caipan("quarantine", "show", "game-events-0-0", **unread.at).stdout
    assert "ff ff20 6e6f" in shown
    assert "these bytes are no event" in shown
    assert objects(caipan("quarantine", "show", "game-events-0-0", "--json", **unread.at).stdout) == [listed]
    assert "no record 'x' is in quarantine" in caipan("quarantine", "show", "x", ok=1, **unread.at).stderr


# demo, and the examples of the help


def test_the_demonstration_ends_well_and_leaves_nothing_behind() -> None:
    told = caipan("demo").stdout
    for incident in ("CN2002 17.4", "CN2002 18.3", "CN2002 19", "~ 198 now reads: move 98", "~ 223 did not happen"):
        assert incident in told
    assert "? case 122 against White: CN2002 17.2: VOID_AND_WARN (arbiter), DISMISS (arbiter)" in told
    assert "? case 122 decided: VOID_AND_WARN under CN2002 17.2 连下两着 Two moves in a row" in told
    assert "against White: 1 warning (1 zi at the count)" in told
    assert "result: Black wins by resignation" in told
    assert ": the same\n" in told
    first = told.splitlines()[0].removesuffix(".").split()
    address, folder = first[4].rstrip(","), first[-1]
    assert not Path(folder).exists()
    host, port = address.split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)))


def _examples() -> list[str]:
    groups = [app, *(group.typer_instance for group in app.registered_groups if group.typer_instance)]
    commands = [command for group in groups for command in group.registered_commands]
    examples = [(command.epilog or "").removeprefix("Example: caipan ") for command in commands]
    return [example for example in examples if "kafka://" not in example]  # those are for test_cli_kafka


@pytest.fixture(scope="module")
def examples(unread: Service, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the examples name, their game sent to the service."""
    folder = tmp_path_factory.mktemp("examples")
    record, events = folder / "game.sgf", folder / "events.jsonl"
    record.write_text(SHORT, "utf-8")
    events.write_text(events_of(record, "T1/r1/b1"), "utf-8")
    caipan("send", events, **unread.at)
    caipan("send", "-", text=game("T1/r1/b2", DOUBLE), **unread.at)
    record.write_text(SHORT.replace("KM[7.5]", "KM[7.5]RE[B+R]").replace(";W[];B[]", ""), "utf-8")
    caipan("send", "-", text=events_of(record, "T1/r1/b3"), **unread.at)
    record.write_text(SHORT, "utf-8")
    caipan("log", "copy", Path(unread.at["CAIPAN_DATA"]) / "log.db", folder / "data" / "log.db")
    return folder


@pytest.mark.parametrize("example", _examples())
def test_the_example_of_every_help_text_works(example: str, unread: Service, examples: Path) -> None:
    assert example
    arguments = shlex.split(example.replace(":50051", ":0"))
    with Running(*arguments, cwd=examples, **unread.at) as running:
        if arguments[0] in ("up", "watch"):
            assert running.line()
            assert running.end(signal.SIGINT)[0] == 0
        else:
            assert running.end(None)[0] == 0
