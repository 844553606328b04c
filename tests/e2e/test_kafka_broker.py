"""The Kafka of the tests and of `make kafka-up`: real, the same from start to start, gone when its time is over."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.errors import KafkaTimeoutError
from support.kafka import Broker, BrokerFailed, Cluster

ROOT = Path(__file__).parents[2]
WAIT_S = 60  # only so that a test which would wait for ever ends

pytestmark = pytest.mark.kafka


def make_topic(bootstrap: str, topic: str, replication: int = 1) -> None:
    with closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        one = {"num_partitions": 1, "replication_factor": replication}
        admin.create_topics({topic: one}, wait_for_metadata=True)


def put(bootstrap: str, topic: str, value: bytes) -> None:
    with closing(KafkaProducer(bootstrap_servers=bootstrap, acks="all")) as producer:
        producer.send(topic, value).get(WAIT_S)


def taken(bootstrap: str, topic: str, count: int) -> list[bytes]:
    with closing(
        KafkaConsumer(
            topic, bootstrap_servers=bootstrap, auto_offset_reset="earliest", consumer_timeout_ms=WAIT_S * 1000
        )
    ) as consumer:
        return [record.value for _, record in zip(range(count), consumer, strict=False)]


def ends(broker: Broker) -> bool:
    end = time.monotonic() + WAIT_S
    while broker.running and time.monotonic() < end:
        time.sleep(0.05)
    return not broker.running


def test_the_shared_broker_takes_a_record(broker: Broker) -> None:
    topic = f"one-{os.getpid()}"
    make_topic(broker.bootstrap, topic)
    put(broker.bootstrap, topic, b"stone")
    assert taken(broker.bootstrap, topic, 1) == [b"stone"]
    broker.delete_topics(topic)
    with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap)) as admin:
        assert topic not in admin.list_topics()


def test_records_outlive_a_kill_and_a_stop_at_the_same_address(tmp_path: Path) -> None:
    with Broker(tmp_path) as broker:
        address = broker.bootstrap
        make_topic(address, "one")
        put(address, "one", b"before")
        broker.kill()
        broker.kill()
        assert not broker.running
        broker.start()
        put(address, "one", b"between")
        broker.stop()
        broker.stop()
        assert not broker.running
        again = Broker(tmp_path)
        assert again.bootstrap == address
        with again:
            assert taken(address, "one", 2) == [b"before", b"between"]
            with pytest.raises(BrokerFailed, match=f"running already in .*, process {again.pid}"):
                broker.start()


def test_a_paused_broker_is_silent_and_goes_on(tmp_path: Path) -> None:
    with Broker(tmp_path) as broker:
        make_topic(broker.bootstrap, "one")
        with closing(KafkaProducer(bootstrap_servers=broker.bootstrap, acks="all")) as producer:
            producer.send("one", b"before").get(WAIT_S)
            broker.pause()
            sent = producer.send("one", b"meanwhile")
            with pytest.raises(KafkaTimeoutError):
                sent.get(2)
            broker.resume()
            sent.get(WAIT_S)


def test_a_start_that_fails_shows_the_errors_of_its_log(broker: Broker, tmp_path: Path) -> None:
    with pytest.raises(BrokerFailed, match="Kafka ended at its start") as failure:
        Broker(tmp_path, port=broker.port).start()
    assert "Address already in use" in str(failure.value)


def test_a_broker_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib, support.kafka as k; b = k.Broker(pathlib.Path(sys.argv[1])); b.start(); print(1); input()"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=ROOT / "tests",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"1\n"
        assert Broker(tmp_path).running
    finally:
        owner.kill()
        owner.communicate()
    assert ends(Broker(tmp_path))


def test_a_cluster_goes_on_without_one_of_three(tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
        make_topic(cluster.bootstrap, "one", replication=3)
        put(cluster.bootstrap, "one", b"before")
        with closing(KafkaAdminClient(bootstrap_servers=cluster.bootstrap)) as admin:
            (topic,) = admin.describe_topics(["one"])
        leader = topic["partitions"][0]["leader_id"]
        next(broker for broker in cluster.brokers if broker.node == leader).kill()
        put(cluster.bootstrap, "one", b"after")
        assert taken(cluster.bootstrap, "one", 2) == [b"before", b"after"]


@contextmanager
def kept_from_start_to_start(folder: Path) -> Iterator[None]:
    """Whatever happens, nothing stays behind."""
    try:
        yield
    finally:
        Broker(folder).kill()


def make(target: str, folder: Path) -> str:
    """What `make` tells on its output; it takes the environment as set up."""
    command = ["make", "--no-print-directory", "-o", ".venv/ready", target, f"KAFKA_DIR={folder}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=WAIT_S * 2)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_make_starts_a_kafka_that_stays_and_stops_it(tmp_path: Path) -> None:
    folder = tmp_path / "node"
    with kept_from_start_to_start(folder):
        assert make("kafka-down", folder) == ""
        told = make("kafka-up", folder)
        url = told.split()[0]
        assert f"caipan up --log {url}" in told
        assert "make kafka-down" in told
        address = url.removeprefix("kafka://")
        make_topic(address, "one")
        put(address, "one", b"stone")
        assert make("kafka-up", folder) == told
        make("kafka-down", folder)
        assert make("kafka-down", folder) == ""
        assert not Broker(folder).running
        assert make("kafka-up", folder) == told
        assert taken(address, "one", 1) == [b"stone"]
