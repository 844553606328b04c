"""The commands on Kafka, each in a process of its own: topics, services one by one and all in one, errors as lines."""

from __future__ import annotations

import json
import re
import shlex
import signal
import urllib.request
from base64 import b64decode
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.json_format import Parse
from grpc_health.v1 import health_pb2, health_pb2_grpc
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType
from support.command import Running, caipan, objects
from support.kafka import Broker
from support.kafka.broker import free_port

from caipan.cli.app import app
from caipan.eventlog import TOPICS
from caipan.eventlog.kafka import KafkaSettings
from caipan.serving.errors import detail_of
from caipan.v1.event_pb2 import Event
from caipan.v1.game_service_pb2 import GetGameRequest
from caipan.v1.game_service_pb2_grpc import GameServiceStub
from caipan.v1.intake_service_pb2 import AppendEventsRequest
from caipan.v1.intake_service_pb2_grpc import IntakeServiceStub

KO = "(;GM[1]SZ[9]KM[7.5];B[bb];W[cb];B[ac];W[dc];B[bd];W[cd];B[cc];W[bc];B[cc])"
PARTITIONS = 3
PASSWORD = "correct-horse"


def at(kafka: KafkaSettings) -> dict[str, str]:
    """The variables by which the commands find this log."""
    return {"CAIPAN_LOG": kafka.name, "CAIPAN_KAFKA_TOPIC_PREFIX": kafka.topic_prefix}


@pytest.fixture
def topics(kafka: KafkaSettings) -> KafkaSettings:
    """A log with its topics."""
    caipan("topics", "create", "--partitions", PARTITIONS, **at(kafka))
    return kafka


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a development key."""
    caipan("token", "--person", "x", "--role", "RECORDER", "--data", tmp_path / "data")
    return tmp_path / "data"


class On(Running):
    """Services on a log, ready; ``ready`` is what they print then."""

    def __init__(self, log: KafkaSettings, *arguments: object) -> None:
        super().__init__(*arguments, "--json", **at(log))

    def __enter__(self) -> On:
        line = self.line()
        assert line, self.end(None)
        self.ready: dict[str, Any] = json.loads(line)
        return self

    @property
    def address(self) -> str:
        return str(self.ready["address"])


def gateway(log: KafkaSettings, data: Path, *more: object) -> On:
    return On(log, "gateway", "--listen", "127.0.0.1:0", "--token-keys", data / "token-keys.pub.pem", *more)


def query(log: KafkaSettings, data: Path, *more: object) -> On:
    return On(log, "query", "--listen", "127.0.0.1:0", "--data", data, *more)


def events_of(game_id: str, folder: Path) -> str:
    file = folder / "game.sgf"
    file.write_text(KO, "utf-8")
    return caipan("sgf2events", file, "--game-id", game_id).stdout


def offline_head(events: str) -> str:
    """In hexadecimal digits."""
    *_, last = objects(caipan("replay", "-", "--json", text=events).stdout)
    return b64decode(last["snapshot"]["head"]).hex()


def shown_head(game_id: str, address: str) -> str:
    (state,) = objects(caipan("show", game_id, "--address", address, "--json").stdout)
    return b64decode(state["head"]).hex()


# topics


def test_topics_are_created_once_and_verified(kafka: KafkaSettings) -> None:
    names = {kafka.topic(name) for name in TOPICS}
    assert set(objects(caipan("topics", "create", "--json", **at(kafka)).stdout)[0]["created"]) == names
    assert objects(caipan("topics", "create", "--json", **at(kafka)).stdout) == [{"created": []}]
    assert caipan("topics", "create", **at(kafka)).stdout == "all topics are there, and as they must be\n"
    told = objects(caipan("topics", "verify", "--json", **at(kafka)).stdout)
    assert {topic["name"] for topic in told} == names
    assert {(topic["partitions"], topic["replication"], tuple(topic["wrong"])) for topic in told} == {(12, 1, ())}
    assert all(
        topic["settings"]["retention.ms"] == "-1" for topic in told if topic["name"] == kafka.topic("game-events")
    )


def test_a_person_sees_a_table_of_the_topics(topics: KafkaSettings) -> None:
    lines = caipan("topics", "verify", **at(topics)).stdout.splitlines()
    names = {topics.topic(name) for name in TOPICS}
    rows = {words[0]: words[1:4] for words in map(str.split, lines) if words[0] in names}
    assert rows == {name: [str(PARTITIONS), "1", "ok"] for name in names}
    assert "retention.ms=-1" in caipan("topics", "verify", **at(topics)).stdout


def test_what_is_wrong_with_the_topics_is_a_line_each_and_changed_by_nobody(topics: KafkaSettings, data: Path) -> None:
    with closing(KafkaAdminClient(bootstrap_servers=topics.bootstrap)) as admin:
        wrong = {"retention.ms": "1000", "cleanup.policy": "compact"}
        admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topics.topic("game-events"), wrong)])
        admin.delete_topics([topics.topic("people")])
        name = topics.topic("game-events")
        said = [f"{name}: retention.ms is 1000, must be -1", f"{name}: cleanup.policy is compact, must be"]
        missing = f"{topics.topic('people')}: there is no such topic; create it: caipan topics create"
        for command in (
            ["topics", "verify"],
            ["gateway", "--token-keys", data / "token-keys.pub.pem", "--listen", "127.0.0.1:0"],
            ["query", "--data", data, "--listen", "127.0.0.1:0"],
            ["referee"],
        ):
            done = caipan(*command, ok=1, **at(topics))
            assert all(f"caipan: {line}" in done.stderr for line in [*said, missing])
        assert all(f"caipan: {line}" in caipan("topics", "create", ok=1, **at(topics)).stderr for line in said)
        assert topics.topic("people") not in admin.list_topics()


def test_another_partition_count_is_an_error(topics: KafkaSettings) -> None:
    done = caipan("topics", "create", "--partitions", PARTITIONS + 1, ok=1, **at(topics))
    assert f"{topics.topic('game-events')}: it has 3 partitions, not 4, and the count never changes" in done.stderr


def test_the_one_topic_with_another_partition_count_is_blamed(topics: KafkaSettings) -> None:
    odd = topics.topic("people")
    with closing(KafkaAdminClient(bootstrap_servers=topics.bootstrap)) as admin:
        admin.create_partitions({odd: PARTITIONS + 2})
    done = caipan("topics", "verify", ok=1, **at(topics))
    assert done.stderr == f"caipan: {odd}: it has 5 partitions, most have 3; all must have as many\n"


# services


def test_a_query_on_the_folder_of_another_is_refused_and_harms_nobody(topics: KafkaSettings, data: Path) -> None:
    events = events_of("kept", data)
    with gateway(topics, data) as way_in, On(topics, "referee"), query(topics, data / "one") as reader:
        caipan("send", "-", "--address", way_in.address, "--data", data, text=events)
        refused = caipan("query", "--data", data / "one", "--listen", "127.0.0.1:0", ok=1, **at(topics))
        assert f"process {reader.pid} keeps this read model already; name another folder" in refused.stderr
        assert "name the right one with --address" in caipan("status", "--address", way_in.address, ok=1).stderr
        assert "kept" in caipan("show", "kept", "--address", reader.address).stdout


def test_one_of_each_judges_a_game_to_the_head_it_has_offline(topics: KafkaSettings, data: Path) -> None:
    events = events_of("alone", data)
    with gateway(topics, data) as way_in, On(topics, "referee") as worker, query(topics, data) as reader:
        assert worker.ready == {"address": None, "log": topics.name, "metrics": None}
        sent = objects(caipan("send", "-", "--json", "--address", way_in.address, "--data", data, text=events).stdout)
        assert b64decode(sent[-1]["outcome"]["head"]).hex() == offline_head(events)
        with Running("watch", "alone", "--json", "--address", reader.address) as watching:
            snapshot = watching.object()["snapshot"]
            assert b64decode(snapshot["head"]).hex() == offline_head(events)
        for each in (way_in, worker, reader):
            code, errors = each.end(signal.SIGTERM)
            assert code == 0, errors


def test_several_of_each_share_the_work_and_go_on_when_some_are_stopped(topics: KafkaSettings, data: Path) -> None:
    games = {f"hall/{n}": events_of(f"hall/{n}", data) for n in range(6)}
    halves = [{game: text.splitlines()[part] for game, text in games.items()} for part in (slice(5), slice(5, None))]
    with ExitStack() as running:
        ways_in = [running.enter_context(gateway(topics, data)) for _ in range(2)]
        workers = [running.enter_context(On(topics, "referee")) for _ in range(2)]
        readers = [running.enter_context(query(topics, data / f"replica-{n}")) for n in range(2)]
        for half in halves:
            for number, lines in enumerate(half.values()):
                address = ways_in[number % len(ways_in)].address
                caipan("send", "-", "--address", address, "--data", data, text="\n".join(lines))
            for each in (ways_in, workers):
                if len(each) > 1:
                    code, errors = each.pop().end(signal.SIGTERM)
                    assert code == 0, errors
        for game, text in games.items():
            # the last one is there by then: reads of a replica accept min_seq
            assert {shown(game, reader.address, len(text.splitlines())) for reader in readers} == {offline_head(text)}


def shown(game_id: str, address: str, min_seq: int) -> str:
    with grpc.insecure_channel(address) as channel:
        answer = GameServiceStub(channel).GetGame(GetGameRequest(game_id=game_id, min_seq=min_seq), timeout=60)
    return bytes(answer.game.head).hex()


def test_all_in_one_process_and_the_game_is_replayed_from_the_topics(topics: KafkaSettings, data: Path) -> None:
    events = events_of("one/process", data)
    with On(topics, "up", "--listen", "127.0.0.1:0", "--data", data) as service:
        assert service.ready["log"] == topics.name
        caipan("send", "-", "--address", service.address, "--data", data, text=events)
        (status,) = objects(caipan("status", "--address", service.address, "--json").stdout)
        assert len(status["partitions"]) == PARTITIONS
        code, errors = service.end(signal.SIGINT)
        assert code == 0, errors
    *_, last = objects(caipan("replay", "--game", "one/process", "--log", topics.name, "--json", **at(topics)).stdout)
    assert b64decode(last["snapshot"]["head"]).hex() == offline_head(events)


def test_the_metrics_are_where_they_were_asked_for(topics: KafkaSettings, data: Path) -> None:
    with query(topics, data, "--metrics", "127.0.0.1:0") as reader:
        with urllib.request.urlopen(reader.ready["metrics"], timeout=60) as answer:
            told = answer.read().decode()
        assert "caipan_log_available 1.0" in told
        assert re.search(r"^caipan_query_games 0.0$", told, re.MULTILINE)


def test_the_log_of_a_service_is_json_where_it_was_asked_for(topics: KafkaSettings, data: Path) -> None:
    with gateway(topics, data, "--metrics", "127.0.0.1:0", "--log-format", "json") as way_in:
        code, errors = way_in.end(signal.SIGTERM)
        assert code == 0
        assert all(json.loads(line)["service"] == "gateway" for line in errors.splitlines())


def test_the_read_model_may_be_in_any_database(topics: KafkaSettings, tmp_path: Path) -> None:
    with On(topics, "query", "--listen", "127.0.0.1:0", "--database", f"sqlite:///{tmp_path / 'any.db'}") as reader:
        assert objects(caipan("status", "--address", reader.address, "--json").stdout)
        assert (tmp_path / "any.db").exists()


@pytest.mark.parametrize("command", [["gateway", "--token-keys", "k"], ["referee"], ["query"], ["topics", "verify"]])
def test_a_single_service_on_a_file_is_wrong_usage(command: list[str]) -> None:
    done = caipan(*command, "--log", "data/log.db", ok=2)
    said = " ".join(done.stderr.replace("│", "").split())
    assert "data/log.db is a file, which one process alone writes, with all services in it: caipan up" in said


# Kafka away


def health(address: str) -> int:
    with grpc.insecure_channel(address) as channel:
        request = health_pb2.HealthCheckRequest()
        answer = health_pb2_grpc.HealthStub(channel).Check(request, timeout=60, wait_for_ready=True)
    return int(answer.status)


def test_services_wait_for_a_cluster_that_is_away_and_say_so(java: None, data: Path, tmp_path: Path) -> None:
    broker = Broker(tmp_path / "node")
    log = KafkaSettings.of_url(broker.url)
    with broker:
        caipan("topics", "create", "--partitions", PARTITIONS, **at(log))
        broker.stop()
        port = free_port()
        arguments = ["--listen", f"127.0.0.1:{port}", "--data", data, "--log-format", "json", "--json"]
        with Running("up", *arguments, **at(log)) as service, Running("referee", "--json", **at(log)) as worker:
            assert health(f"127.0.0.1:{port}") == health_pb2.HealthCheckResponse.NOT_SERVING
            broker.start()
            assert service.object()["address"] == f"127.0.0.1:{port}"
            assert worker.object()["log"] == log.name
            assert health(f"127.0.0.1:{port}") == health_pb2.HealthCheckResponse.SERVING
            code, errors = service.end(signal.SIGTERM)
            assert code == 0
            entries = [json.loads(line) for line in errors.splitlines()]
            waited = [entry for entry in entries if entry["event"] == "waiting for the log"]
            assert waited
            assert all(entry["level"] == "warning" and log.name in entry["error"] for entry in waited)
            code, errors = worker.end(signal.SIGTERM)
            assert code == 0
            assert "waiting for the log" in errors


def test_a_gateway_that_waits_for_its_cluster_says_so_and_can_be_stopped(data: Path) -> None:
    keys, log = data / "token-keys.pub.pem", f"kafka://127.0.0.1:{free_port()}"
    address = f"127.0.0.1:{free_port()}"
    token = caipan("token", "--person", "x", "--role", "RECORDER", "--data", data).stdout.strip()
    event = Parse(events_of("early", data).splitlines()[0], Event())
    with Running("gateway", "--log", log, "--token-keys", keys, "--listen", address) as service:
        assert health(address) == health_pb2.HealthCheckResponse.NOT_SERVING
        with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as caught:
            IntakeServiceStub(channel).AppendEvents(
                AppendEventsRequest(events=[event]), metadata=[("authorization", f"Bearer {token}")], timeout=60
            )
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        detail = detail_of(caught.value)
        assert detail is not None
        assert detail.reason == "the service is starting; nothing was stored"
        assert service.end(signal.SIGTERM)[0] == 0


@pytest.mark.parametrize(
    "command",
    ["topics verify --log LOG", "topics create --log LOG", "log copy LOG new.db", "replay --game g --log LOG"],
)
def test_no_broker_is_one_line_of_error(command: str, tmp_path: Path) -> None:
    log = f"kafka://127.0.0.1:{free_port()}"
    words = command.replace("LOG", log).replace("new.db", str(tmp_path / "new.db")).split()
    done = caipan(*words, ok=1)
    assert done.stderr.startswith(f"caipan: {log}: ")
    assert len(done.stderr.splitlines()) == 1


# SASL


@pytest.fixture(scope="module")
def guarded(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a broker that asks for a password."""
    port, controller, own = free_port(), free_port(), free_port()
    jaas = f'org.apache.kafka.common.security.plain.PlainLoginModule required user_anna="{PASSWORD}";'
    settings = {
        "listeners": f"SASL_PLAINTEXT://127.0.0.1:{own},PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": jaas,
    }
    folder = tmp_path_factory.mktemp("guarded")
    with Broker(folder, port=port, voters={1: controller}, settings=settings):
        yield f"kafka://127.0.0.1:{own}"


def signed_in(password: str) -> dict[str, str]:
    return {
        "CAIPAN_KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT",
        "CAIPAN_KAFKA_SASL_MECHANISM": "PLAIN",
        "CAIPAN_KAFKA_SASL_USERNAME": "anna",
        "CAIPAN_KAFKA_SASL_PASSWORD": password,
    }


def test_with_the_password_everything_works(guarded: str, data: Path) -> None:
    variables = {"CAIPAN_LOG": guarded, **signed_in(PASSWORD)}
    caipan("topics", "create", "--partitions", 1, **variables)
    with Running("up", "--listen", "127.0.0.1:0", "--data", data, "--json", **variables) as service:
        address = service.object()["address"]
        told = caipan("send", "-", "--address", address, "--data", data, text=events_of("guarded", data))
        assert "move 1, White to move" in told.stdout
        code, errors = service.end(signal.SIGTERM)
        assert code == 0
        assert PASSWORD not in errors


def test_a_wrong_password_is_one_line_that_does_not_show_it(guarded: str, data: Path, tmp_path: Path) -> None:
    variables = {"CAIPAN_LOG": guarded, **signed_in("wrong-horse")}
    keys = data / "token-keys.pub.pem"
    for command in (
        ["topics", "verify"],
        ["up", "--listen", "127.0.0.1:0", "--data", data],
        ["gateway", "--listen", "127.0.0.1:0", "--token-keys", keys],
        ["referee"],
        ["query", "--listen", "127.0.0.1:0", "--data", data],
        ["log", "copy", guarded, tmp_path / "copy.db"],
    ):
        done = caipan(*command, ok=1, **variables)
        (said,) = [line for line in done.stderr.splitlines() if line.startswith("caipan: ")]
        assert "does not let the user 'anna' in: correct CAIPAN_KAFKA_SASL_USERNAME" in said
        assert "horse" not in done.stderr


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"CAIPAN_KAFKA_SECURITY_PROTOCOL": "SASL"}, "CAIPAN_KAFKA_SECURITY_PROTOCOL"),
        ({"CAIPAN_KAFKA_SECURITY_PROTOCOL": "SASL_SSL", "CAIPAN_KAFKA_SASL_PASSWORD": "horse"}, "SASL_USERNAME"),
        ({"CAIPAN_KAFKA_SECURITY_PROTOCOL": "SSL", "CAIPAN_KAFKA_SSL_CAFILE": "missing.pem"}, "there is no file"),
        ({"CAIPAN_KAFKA_SECURITY_PROTOCOL": "SSL", "CAIPAN_KAFKA_SSL_CAFILE": __file__}, "must be PEM"),
        ({"CAIPAN_KAFKA_TOPIC_PREFIX": "a b"}, "CAIPAN_KAFKA_TOPIC_PREFIX"),
    ],
)
def test_a_wrong_setting_is_named(variables: dict[str, str], said: str) -> None:
    done = caipan("referee", "--log", "kafka://127.0.0.1:9092", ok=2, **variables)
    assert said in " ".join(done.stderr.replace("│", "").split())
    assert "horse" not in done.stderr


# The examples of the help


def _examples() -> list[str]:
    groups = [app, *(group.typer_instance for group in app.registered_groups if group.typer_instance)]
    epilogs = [command.epilog or "" for group in groups for command in group.registered_commands]
    return [epilog.removeprefix("Example: caipan ") for epilog in epilogs if "kafka://" in epilog]


@pytest.mark.parametrize("example", _examples())
def test_the_example_of_every_help_text_works(example: str, topics: KafkaSettings, data: Path) -> None:
    words = shlex.split(example.replace("kafka://127.0.0.1:9092", topics.name))
    words = [str(PARTITIONS) if word == "12" else word for word in words]
    ports = ["--listen", "127.0.0.1:0"] if words[0] in ("gateway", "query") else []
    with Running(*words, *ports, cwd=data.parent, **at(topics)) as running:
        if words[0] == "topics":
            assert running.end(None)[0] == 0
        else:
            assert running.line().startswith(f"caipan {words[0]} is ready")
            assert running.end(signal.SIGINT)[0] == 0


# What docs/start.md tells


def test_the_services_of_docs_start_judge_a_game(topics: KafkaSettings, tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "start.md").read_text("utf-8").partition("## 6. On Kafka")[2]
    lines = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)).splitlines()
    commands = [shlex.split(line, comments=True)[1:] for line in lines if line.startswith(".venv/bin/caipan")]
    assert [words[0] for words in commands] == ["topics", "topics", "token", "gateway", "referee", "referee", "query"]
    addresses: dict[str, str] = {}
    with ExitStack() as running:
        for words in commands:
            words = [str(PARTITIONS) if word == "12" else word for word in words]
            ports = ["--listen", "127.0.0.1:0"] if words[0] in ("gateway", "query") else []
            service = running.enter_context(Running(*words, *ports, cwd=tmp_path, **at(topics)))
            if words[0] in ("topics", "token"):
                assert service.end(None)[0] == 0
                continue
            line = service.line()
            assert line.startswith(f"caipan {words[0]} is ready"), service.end(None)
            addresses[words[0]] = line.partition(" on ")[2].partition(";")[0]
        events = events_of("final", tmp_path)
        caipan("send", "-", "--address", addresses["gateway"], "--data", tmp_path / "data", text=events)
        assert shown("final", addresses["query"], len(events.splitlines())) == offline_head(events)
