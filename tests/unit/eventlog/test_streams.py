"""The remedy for what faust loses, on its own classes, and what of faust it counts on."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import faust
import pytest
from aiokafka.cluster import ClusterMetadata
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment
from aiokafka.protocol.metadata import MetadataResponse_v0
from faust.tables.recovery import Recovery
from faust.types import TP
from faust.types.tuples import ConsumerMessage
from mode.utils.queues import FlowControlEvent

from caipan.eventlog import LogUnavailable, Record
from caipan.eventlog.delivery import Receiver
from caipan.eventlog.kafka import KafkaSettings
from caipan.eventlog.kafka.streams import GroupDelivery

TOPIC = "p.game-events"
HERE = TP(TOPIC, 0)


class Kept(Receiver):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[set[int], bool] | str] = []

    def assigned(self, partitions: Collection[int], *, kept: bool) -> None:
        self.told.append((set(partitions), kept))

    async def deliver(self, records: Sequence[Record]) -> None:
        raise AssertionError("nothing runs here")

    async def revoked(self) -> None:
        self.told.append("revoked")

    def positions(self) -> Mapping[int, int]:
        return {}


def delivery(**about: Any) -> GroupDelivery:
    settings = KafkaSettings(**{"bootstrap": "127.0.0.1:1,127.0.0.1:2", "topic_prefix": "p.", **about})
    return GroupDelivery(settings, "game-events", "referee")


@pytest.fixture
def receiver() -> Kept:
    return Kept()


@pytest.fixture
async def app(receiver: Kept) -> AsyncIterator[Any]:
    """An app as it would be started, with a consumer that is not connected."""
    made = delivery()._app(receiver)
    made.consumer._thread._consumer = made.consumer._thread._create_consumer(made.loop)
    yield made
    made.consumer._thread.thread_loop.close()


def message(offset: int, **about: Any) -> ConsumerMessage:
    said = {"headers": (), "key": b"g", "value": b"%d" % offset, "timestamp": 1.5, **about}
    return ConsumerMessage(TOPIC, 0, offset, timestamp_type=1, checksum=None, tp=HERE, generation_id=1, **said)


async def filled_queue(app: Any, *messages: ConsumerMessage) -> Any:
    """The queue of a stream into which faust's conductor has put these messages."""
    channel = aiter(app.agents["game-events"].channel)
    put = app.topics._build_handler(HERE, {channel})
    for each in messages:
        await put(each)
    assert channel.queue.qsize() == len(messages)
    return channel.queue


def offsets(queue: Any) -> list[int]:
    return [queue.get_nowait().message.offset for _ in range(queue.qsize())]


TEN = [message(offset) for offset in range(10)]


async def test_a_resume_with_a_filled_queue_loses_nothing(app: Any) -> None:
    app.flow_control.resume()
    queue = await filled_queue(app, *TEN)
    app.flow_control.resume()
    assert offsets(queue) == list(range(10))


async def test_with_the_stock_flow_control_it_loses_all(app: Any) -> None:
    app.flow_control = FlowControlEvent()
    app.flow_control.resume()
    queue = await filled_queue(app, *TEN)
    app.flow_control.resume()
    assert offsets(queue) == []


async def test_what_was_there_when_flow_was_suspended_is_still_thrown_away(app: Any) -> None:
    app.flow_control.resume()
    queue = await filled_queue(app, *TEN)
    app.flow_control.suspend()
    assert not app.flow_control.is_active()
    app.flow_control.resume()
    assert app.flow_control.is_active()
    assert offsets(queue) == []


def test_faust_is_the_one_whose_faults_are_known() -> None:
    assert faust.__version__ == "0.15.3"


def test_faust_tells_of_a_rebalance_before_it_resumes_anything() -> None:
    steps = ("on_rebalance_complete.send()", "resume_partitions(", "perform_seek()", "flow_control.resume()")
    source = inspect.getsource(Recovery._resume_streams)
    assert [source.count(step) for step in steps] == [1] * 4
    assert sorted(steps, key=source.index) == list(steps)


async def test_without_an_assignment_there_is_nothing_to_seek(app: Any) -> None:
    assert not app.consumer.assignment()
    await app.on_rebalance_complete.send()
    assert app.flow_control.is_active()


async def test_bytes_pass_as_they_are(app: Any) -> None:
    app.flow_control.resume()
    headers = (("ce_id", b"1"), ("empty", b""), ("null", None), ("ce_id", b"2"))
    full = message(7, key=b"\xff\x00", value=b"\x00\xff", headers=headers, timestamp=1_700_000_000.123)
    queue = await filled_queue(app, full, message(8, key=None, value=None), message(9, key=b"", value=b""))
    records = [delivery()._record(queue.get_nowait().message) for _ in range(3)]
    kept = (("ce_id", b"1"), ("empty", b""), ("null", b""), ("ce_id", b"2"))
    assert records == [
        Record("game-events", 0, 7, b"\xff\x00", b"\x00\xff", kept, 1_700_000_000_123),
        Record("game-events", 0, 8, None, b"", (), 1500),
        Record("game-events", 0, 9, b"", b"", (), 1500),
    ]


async def test_partitions_are_kept_unless_a_generation_was_missed(app: Any, receiver: Kept) -> None:
    for generation, partitions in ((1, {0, 1}), (2, {0}), (4, {0, 2}), (5, set()), (1, {0})):
        await app.on_partitions_revoked.send(set())
        app.consumer_generation_id = generation
        await app.on_partitions_assigned.send({TP(TOPIC, partition) for partition in partitions})
    assert receiver.told[1::2] == [({0, 1}, False), ({0}, True), ({0, 2}, False), (set(), True), ({0}, False)]
    assert receiver.told[::2] == ["revoked"] * 5


async def test_the_consumer_has_the_settings_of_the_house(app: Any) -> None:
    consumer = app.consumer._thread._consumer
    assert consumer._group_id == "p.referee"
    assert consumer._client._bootstrap_servers == ["127.0.0.1:1", "127.0.0.1:2"]
    assert consumer._client._security_protocol == "PLAINTEXT"
    assert (consumer._session_timeout_ms, consumer._heartbeat_interval_ms) == (6000, 1000)
    assert consumer._rebalance_timeout_ms < consumer._request_timeout_ms
    assert consumer._max_poll_interval_ms > 365 * 86_400_000
    assert consumer._partition_assignment_strategy == [app.assignor]
    assert consumer._enable_auto_commit is False
    assert (app.conf.web_enabled, app.boot_strategy.enable_web) == (True, False)
    assert list(app.boot_strategy.web_server()) == list(app.boot_strategy.kafka_producer()) == []
    assert not app.tables


async def test_the_user_and_the_password_are_passed_on_and_shown_nowhere(receiver: Kept) -> None:
    secret = {"sasl_username": "ann", "sasl_password": "hunter2", "sasl_mechanism": "SCRAM-SHA-256"}
    app = delivery(security_protocol="SASL_PLAINTEXT", **secret)._app(receiver)
    thread = app.consumer._thread
    client = thread._create_consumer(app.loop)._client
    assert (client._security_protocol, client._sasl_mechanism) == ("SASL_PLAINTEXT", "SCRAM-SHA-256")
    assert (client._sasl_plain_username, client._sasl_plain_password) == ("ann", "hunter2")
    assert "hunter2" not in f"{app!r} {app.conf.broker_credentials!r} {app.consumer!r}"
    thread.thread_loop.close()


async def test_tls_is_passed_on(receiver: Kept) -> None:
    app = delivery(security_protocol="SSL")._app(receiver)
    thread = app.consumer._thread
    client = thread._create_consumer(app.loop)._client
    assert client._security_protocol == "SSL"
    assert client._ssl_context is not None
    assert client._ssl_context.check_hostname
    thread.thread_loop.close()


async def test_without_a_broker_it_ends_with_a_clear_error_and_leaves_nothing(
    receiver: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    threads = threading.active_count()
    for _ in range(2):
        with pytest.raises(LogUnavailable, match=r"kafka://127.0.0.1:1,127.0.0.1:2: .*group p.referee"):
            await delivery().run(receiver)
    assert receiver.told == ["revoked"] * 2
    assert threading.active_count() == threads
    assert os.listdir() == []
    assert "Traceback" not in "".join(capfd.readouterr())


def cluster(partitions: int) -> ClusterMetadata:
    known = ClusterMetadata()
    topics = [(0, TOPIC, [(0, partition, 1, [1], [1]) for partition in range(partitions)])]
    known.update_metadata(MetadataResponse_v0([(1, "localhost", 1)], topics))
    return known


async def test_partitions_are_shared_evenly_and_few_of_them_move() -> None:
    workers = {name: delivery()._app(Kept()) for name in "abcde"}
    for each in workers.values():
        each.consumer._thread.thread_loop.close()
    known = cluster(12)
    last: dict[str, set[int]] = {}
    for present, fewest, most in (("ab", 6, 6), ("abc", 4, 4), ("abcde", 2, 3), ("bcde", 3, 3), ("b", 12, 12)):
        metadata = {name: workers[name].assignor.metadata([TOPIC]) for name in present}
        shares: dict[str, ConsumerProtocolMemberAssignment] = workers["b"].assignor.assign(known, metadata)
        for name, share in shares.items():
            workers[name].assignor.on_assignment(share)
        now = {
            name: {partition for _, each in share.assignment for partition in each} for name, share in shares.items()
        }
        assert sorted(partition for share in now.values() for partition in share) == list(range(12))
        assert {len(share) for share in now.values()} <= {fewest, most}
        kept = sum(len(now[name] & last.get(name, set())) for name in present)
        assert kept >= sum(min(len(last.get(name, ())), len(now[name])) for name in present)
        last = now
