"""What an operator sees of separate processes on Kafka, and the records that other clients write and read there."""

from __future__ import annotations

import os
import re
import secrets
import signal
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Self

import grpc
import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from prometheus_client.parser import text_string_to_metric_families
from support.command import TIMEOUT_S, Running, caipan
from support.intake import opening, stone
from support.kafka import Broker

from caipan.cli.console import json_of
from caipan.eventlog import partition_of
from caipan.eventlog.kafka import KafkaSettings
from caipan.v1.mark_pb2 import REFEREE_PHASE_JUDGING
from caipan.v1.operation_service_pb2 import GetStatusRequest, GetStatusResponse
from caipan.v1.operation_service_pb2_grpc import OperationServiceStub

PARTITIONS = 3
HOME = partition_of(b"g1", PARTITIONS)
ASTRAY = (HOME + 1) % PARTITIONS


def at(kafka: KafkaSettings) -> dict[str, str]:
    """The variables by which the commands find this log."""
    return {"CAIPAN_LOG": kafka.name, "CAIPAN_KAFKA_TOPIC_PREFIX": kafka.topic_prefix}


class Hall:
    """A gateway, a referee and a query in processes of their own, with metrics. ``ready`` is what each printed."""

    def __init__(self, kafka: KafkaSettings, folder: Path) -> None:
        self.data = folder / "data"
        caipan("topics", "create", "--partitions", PARTITIONS, **at(kafka))
        caipan("token", "--person", "x", "--role", "RECORDER", "--data", self.data)
        listen = ("--listen", "127.0.0.1:0")
        commands: dict[str, Sequence[object]] = {
            "gateway": (*listen, "--token-keys", self.data / "token-keys.pub.pem"),
            "referee": (),
            "query": (*listen, "--data", self.data),
        }
        metrics = ("--json", "--metrics", "127.0.0.1:0")
        self.processes = {name: Running(name, *metrics, *options, **at(kafka)) for name, options in commands.items()}
        self.ready = {name: process.object() for name, process in self.processes.items()}
        self.gateway = {"CAIPAN_ADDRESS": self.ready["gateway"]["address"], "CAIPAN_DATA": str(self.data)}
        self.query = {"CAIPAN_ADDRESS": self.ready["query"]["address"]}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes.values():
            process.__exit__()

    def until(self, holds: Callable[[GetStatusResponse], bool]) -> GetStatusResponse:
        """The status once this holds."""
        with grpc.insecure_channel(self.query["CAIPAN_ADDRESS"]) as channel:
            stub, give_up_s = OperationServiceStub(channel), time.monotonic() + TIMEOUT_S
            while not holds(status := stub.GetStatus(GetStatusRequest(), timeout=TIMEOUT_S)):
                assert time.monotonic() < give_up_s, status
                time.sleep(0.05)
        return status

    def metrics(self, name: str) -> dict[str, float]:
        """Samples of caipan, over all partitions and codes."""
        with urllib.request.urlopen(self.ready[name]["metrics"], timeout=60) as answer:
            families = text_string_to_metric_families(answer.read().decode())
        found: dict[str, float] = {}
        for sample in (sample for family in families for sample in family.samples):
            found[sample.name] = found.get(sample.name, 0) + sample.value
        return found


@pytest.fixture(scope="module")
def kafka(broker: Broker) -> Iterator[KafkaSettings]:
    """A log for all tests of this file, each with games of its own."""
    prefix = f"t{secrets.token_hex(4)}."
    yield KafkaSettings.of_url(broker.url).model_copy(update={"topic_prefix": prefix})
    broker.delete_topics(prefix)


@pytest.fixture(scope="module")
def hall(kafka: KafkaSettings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    with Hall(kafka, tmp_path_factory.mktemp("hall")) as hall:
        yield hall


def produce(kafka: KafkaSettings, *records: tuple[bytes | None, bytes, int]) -> list[str]:
    """Writes past the gateway, as another client of Kafka would: key, value, partition. Returns their ids."""
    with closing(KafkaProducer(bootstrap_servers=kafka.servers)) as producer:
        futures = [
            producer.send(kafka.topic("game-events"), key=key, value=value, partition=partition)
            for key, value, partition in records
        ]
        placed = [future.get(timeout=60) for future in futures]
    return [f"game-events-{each.partition}-{each.offset}" for each in placed]


def test_poison_on_the_topic_is_quarantined_and_what_can_be_read_is_retried(hall: Hall, kafka: KafkaSettings) -> None:
    caipan("send", "-", text=json_of(opening()), **hall.gateway)
    unknown = opening().SerializeToString() + b"\xda\x05\x02\x08\x01"
    astray, garbage, keyless, unread = produce(
        kafka,
        (b"g1", stone(1).SerializeToString(), ASTRAY),
        (b"g1", b"\xff\xff no event", HOME),
        (None, unknown, HOME),
        (b"g1", bytes(1_010_000), HOME),
    )
    hall.until(lambda status: status.quarantined == 4)
    told = caipan("quarantine", "retry", astray, **hall.gateway).stdout
    assert told.startswith(f"{astray} is the event m1 of the game g1 now:\n")
    for record_id in (garbage, keyless, unread):
        refused = caipan("quarantine", "retry", record_id, ok=1, **hall.gateway)
        assert "cannot be read as an event" in refused.stderr
    caipan("send", "-", text=json_of(stone(2, "D4")), **hall.gateway)
    status = hall.until(lambda status: status.retried == 1)
    assert status.quarantined == 4
    marked = [line for line in caipan("quarantine", "list", **hall.query).stdout.splitlines() if "[retried: " in line]
    assert [line.split()[0] for line in marked] == [astray]
    assert "move 2, Black to move" in caipan("show", "g1", **hall.query).stdout


def test_another_client_reads_the_events_as_cloudevents(hall: Hall, kafka: KafkaSettings) -> None:
    caipan("send", "-", text=json_of(opening("T1/g2")), **hall.gateway)
    with closing(KafkaConsumer(bootstrap_servers=kafka.servers, auto_offset_reset="earliest")) as consumer:
        consumer.assign([TopicPartition(kafka.topic("game-events"), partition_of(b"T1/g2", PARTITIONS))])
        record = next(record for record in consumer if record.key == b"T1/g2")
    headers = {name: value.decode() for name, value in record.headers}
    assert headers.pop("ce_time").endswith("Z")
    assert headers == {
        "ce_specversion": "1.0",
        "ce_id": "open",
        "ce_source": "/games/T1%2Fg2",
        "ce_type": "caipan.v1.game_opened",
        "ce_subject": "T1/g2",
        "content-type": "application/protobuf",
    }


def test_each_process_tells_its_own_metrics(hall: Hall) -> None:
    hall.until(lambda status: all(each.served == each.outcomes_end for each in status.partitions))
    before = {name: hall.metrics(name) for name in hall.ready}
    stones = [stone(number, f"{'ABCDEFGH'[number]}4", "g3") for number in range(1, 6)]
    caipan("send", "-", text="\n".join(map(json_of, [opening("g3"), *stones])), **hall.gateway)
    hall.until(lambda status: all(each.served == each.outcomes_end for each in status.partitions))
    gateway, referee, query = (Counter(hall.metrics(name)) - Counter(before[name]) for name in hall.ready)
    assert gateway["caipan_gateway_appended_events_total"] == referee["caipan_referee_judged_events_total"] == 6
    assert gateway["caipan_gateway_append_seconds_count"] == gateway["caipan_grpc_calls_total"] == 1
    assert query["caipan_query_games_in_play"] == 1
    now = hall.metrics("referee")
    assert now["caipan_referee_partitions"] == PARTITIONS
    assert now["caipan_referee_lag_events"] == hall.metrics("query")["caipan_query_lag_records"] == 0
    assert {told["caipan_log_available"] for told in before.values()} == {1}


def test_the_status_tells_of_a_referee_in_another_process_and_what_it_left_undone(hall: Hall) -> None:
    referee, home = hall.processes["referee"], partition_of(b"g4", PARTITIONS)
    caipan("send", "-", text=json_of(opening("g4")), **hall.gateway)
    status = hall.until(lambda status: all(each.phase == REFEREE_PHASE_JUDGING for each in status.partitions))
    assert {each.worker.rpartition(":")[2] for each in status.partitions} == {str(referee.pid)}
    assert all(each.takeover_ms for each in status.partitions)
    told = caipan("status", **hall.query).stdout
    assert re.search(rf":{referee.pid} judging partition 0, 1, 2 since 2.*, taken over in ", told)
    judged = status.partitions[home].folded
    os.kill(referee.pid, signal.SIGKILL)
    caipan("send", "-", "--wait", "log", text=json_of(stone(1, "D4", "g4")), **hall.gateway)
    left = hall.until(lambda status: status.partitions[home].events_end == judged + 1).partitions[home]
    assert (left.folded, left.worker) == (judged, status.partitions[home].worker)
    caipan("status", **hall.query)


def test_a_cluster_that_is_away_is_told_and_does_not_keep_the_metrics_from_being_read(
    java: None, tmp_path: Path
) -> None:
    with Broker(tmp_path / "kafka") as broker, Hall(KafkaSettings.of_url(broker.url), tmp_path) as hall:
        broker.pause()
        for name in hall.ready:
            assert hall.metrics(name)["caipan_log_available"] == 0
        assert hall.metrics("query")["caipan_query_games"] == 0
        told = caipan("status", ok=1, **hall.query)
        assert told.stderr.startswith("caipan: the log cannot be read now; ")
        broker.resume()
        hall.until(lambda status: len(status.partitions) == PARTITIONS)
        assert hall.metrics("query")["caipan_log_available"] == 1
