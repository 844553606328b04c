"""Kafka nodes, one or a cluster of them: each a process with its data and its log in a folder of its own."""

from __future__ import annotations

import base64
import fcntl
import os
import re
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

from support.kafka import tools

if TYPE_CHECKING:
    from kafka import KafkaAdminClient

START_S = 120  # only so that a start that hangs ends; it takes 3 s
STOP_S = 60
# Ready soon and small: no second compiler, no parallel collector.
JVM = ("-Xms64m", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
LOG = tuple(
    f"-Dorg.slf4j.simpleLogger.{option}"
    for option in ("showDateTime=true", "dateTimeFormat=HH:mm:ss.SSS", "showShortLogName=true")
)
# Below 32768, where the kernel picks the ports of outgoing connections: a client that tries again and again to reach a
# stopped broker up there would one day be connected to itself, and hold the port the broker wants back.
PORTS = range(20_000, 32_000)

# What suits tests: nothing is made or removed unasked, consumers need not wait for more of their group, a node that was
# killed is let in again soon, and the topics that Kafka keeps for itself are small.
SUITED = {
    "auto.create.topics.enable": "false",
    "log.retention.ms": "-1",
    "group.initial.rebalance.delay.ms": "0",
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    "offsets.topic.num.partitions": "4",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "log.cleaner.dedupe.buffer.size": str(16 << 20),
}


class BrokerFailed(Exception):  # noqa: N818
    """A node did not start or stop; holds the last lines of its log."""


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on, below those of outgoing connections."""
    while True:
        port = secrets.choice(PORTS)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


def _new_id() -> str:
    """A cluster's, as Kafka writes it."""
    return base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")


def _until(true: Callable[[], bool], within_s: float) -> bool:
    end = time.monotonic() + within_s
    while not (done := true()) and time.monotonic() < end:
        time.sleep(0.05)
    return done


class Broker:
    """A KRaft node on loopback, broker and controller in one process.

    Ports and data stay the same from start to start, also with another object for the same folder, in another process.
    ``port``: 0 for the one kept in the folder, or else a free one. ``voters``: all controllers' ports by node, if this
    is one of several. ``settings`` of Kafka come on top of those that suit tests.
    """

    def __init__(
        self,
        folder: Path,
        *,
        node: int = 1,
        port: int = 0,
        voters: Mapping[int, int] | None = None,
        cluster_id: str = "",
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder.absolute()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.node = node
        self._properties = self.folder / "server.properties"
        self._meta = self.folder / "data" / "meta.properties"
        self._pid = self.folder / "pid"
        self._log = self.folder / "kafka.log"
        kept = self._kept_ports()
        self.port = port or kept[0] or free_port()
        self._voters = voters or {node: kept[1] or free_port()}
        self._cluster_id = cluster_id or _new_id()
        self._settings = settings or {}
        self._keeper: subprocess.Popen[bytes] | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def bootstrap(self) -> str:
        """host:port."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """As `--log` takes it."""
        return f"kafka://{self.bootstrap}"

    @property
    def pid(self) -> int:
        """Of the process started last."""
        return int(self._pid.read_text())

    @property
    def running(self) -> bool:
        """Whether the process is there, whoever started it. It holds the lock of its pid file until its very end."""
        with self._pid.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def start(self, lifeline: int | IO[bytes] | None = subprocess.PIPE) -> None:
        """Returns once it answers. Raises BrokerFailed, and KafkaMissing without Java or the jars.

        The node ends with this process, even if that is killed. With another ``lifeline``, the reading end of a pipe,
        it ends when nobody holds the writing end any more; with None it goes on until somebody stops it.
        """
        self.launch(lifeline)
        try:
            self.wait()
        except BaseException:
            self.kill()
            raise

    def launch(self, lifeline: int | IO[bytes] | None = subprocess.PIPE) -> None:
        """Like ``start``, but does not wait for it."""
        libs = tools.fetch()
        with self._pid.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BrokerFailed(f"Kafka is running already in {self.folder}, process {self.pid}") from None
            self._write_properties()
            self._format(libs)
            if self._log.exists():
                self._log.replace(self._log.with_suffix(".log.before"))
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(
                    self._java(libs, "kafka.Kafka", str(self._properties)),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=[file.fileno()],  # with the lock
                    start_new_session=True,  # Ctrl-C is for who started it
                )
            file.truncate(0)
            file.write(str(self._process.pid))
        if lifeline is not None:
            self._keeper = subprocess.Popen(
                ["sh", "-c", 'read -r _; kill -9 "$1"', "sh", str(self._process.pid)],
                stdin=lifeline,
                start_new_session=True,
            )

    def wait(self, within_s: float = START_S) -> None:
        """Until it answers clients. Raises BrokerFailed."""
        if not _until(lambda: not self.running or self._answers(), within_s):
            raise BrokerFailed(f"Kafka does not answer after {within_s:g} s. {self._last_lines()}")
        if not self.running:
            raise BrokerFailed(f"Kafka ended at its start. {self._last_lines()}")

    def stop(self) -> None:
        """SIGTERM. Nothing happens if it is not running. Raises BrokerFailed if it had to be killed after all."""
        self.resume()
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL. Nothing happens if it is not running."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """SIGSTOP: connections stay open, nobody answers. Returns once all its threads have stopped, if it is ours."""
        self._signal(signal.SIGSTOP)
        if self._process is not None:
            os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WNOWAIT)

    def resume(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)

    def delete_topics(self, prefix: str) -> None:
        """Those whose names begin so."""
        with self._admin() as admin:
            names = [name for name in admin.list_topics() if name.startswith(prefix)]
            if names:
                admin.delete_topics(names, raise_errors=False)

    @contextmanager
    def _admin(self) -> Iterator[KafkaAdminClient]:
        from kafka import KafkaAdminClient  # its import takes a while, and `kafka-down` does without

        admin = KafkaAdminClient(bootstrap_servers=self.bootstrap, request_timeout_ms=5_000)
        try:
            yield admin
        finally:
            admin.close()

    def _signal(self, number: int) -> None:
        if self.running:
            os.kill(self.pid, number)

    def _end(self, number: int) -> None:
        self._signal(number)
        ended = _until(lambda: not self.running, STOP_S)
        if not ended:
            self._signal(signal.SIGKILL)
        if self._keeper is not None:
            self._keeper.kill()
            self._keeper.communicate()
            self._keeper = None
        if self._process is not None:
            self._process.wait(STOP_S)
            self._process = None
        if not ended:
            raise BrokerFailed(f"Kafka has not stopped after {STOP_S} s. {self._last_lines()}")

    def _answers(self) -> bool:
        from kafka.errors import KafkaError

        try:  # the client would log each refusal
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            with self._admin() as admin:
                cluster = admin.describe_cluster()
        except (OSError, KafkaError):
            return False
        # It could be another one at the same port: then this one is about to end.
        own = f"cluster.id={cluster['cluster_id']}" in self._meta.read_text().splitlines()
        return own and {int(node["broker_id"]) for node in cluster["brokers"]} >= set(self._voters)

    def _last_lines(self, count: int = 15) -> str:
        lines = self._log.read_text(errors="replace").splitlines()
        telling = [line for line in lines if " INFO " not in line and not line.startswith("\t")]
        return "\n".join([f"The end of {self._log}:", *(telling or lines)[-count:]])

    def _java(self, libs: Path, *arguments: str) -> list[str]:
        return [tools.java(), *JVM, *LOG, "-cp", f"{libs}/*", *arguments]

    def _format(self, libs: Path) -> None:
        if self._meta.exists():
            return
        options = (f"--cluster-id={self._cluster_id}", f"--config={self._properties}")
        done = subprocess.run(
            self._java(libs, "kafka.tools.StorageTool", "format", *options),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=START_S,
        )
        if done.returncode:
            raise BrokerFailed(f"Kafka cannot format {self.folder / 'data'}:\n{done.stdout}{done.stderr}")

    def _kept_ports(self) -> tuple[int, int]:
        text = self._properties.read_text() if self._properties.exists() else ""
        found = re.search(r"^listeners=.*:(\d+),.*:(\d+)$", text, re.MULTILINE)
        return (int(found[1]), int(found[2])) if found else (0, 0)

    def _write_properties(self) -> None:
        voters = ",".join(f"{node}@127.0.0.1:{port}" for node, port in self._voters.items())
        settings = {
            "process.roles": "broker,controller",
            "node.id": str(self.node),
            "controller.quorum.voters": voters,
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://{self.bootstrap},CONTROLLER://127.0.0.1:{self._voters[self.node]}",
            "log.dirs": str(self.folder / "data"),
            **SUITED,
            **self._settings,
        }
        self._properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))


class Cluster:
    """Nodes that are all broker and controller. All keep every topic; it goes on when one is gone."""

    def __init__(self, folder: Path, nodes: int = 3) -> None:
        voters = {node: free_port() for node in range(1, nodes + 1)}
        cluster_id = _new_id()
        settings = {
            "default.replication.factor": str(nodes),
            "min.insync.replicas": str(nodes - 1),
            "offsets.topic.replication.factor": str(nodes),
            "transaction.state.log.replication.factor": str(nodes),
            "transaction.state.log.min.isr": str(nodes - 1),
        }
        self.brokers = [
            Broker(folder / f"node-{node}", node=node, voters=voters, cluster_id=cluster_id, settings=settings)
            for node in voters
        ]

    def __enter__(self) -> Self:
        try:
            for broker in self.brokers:
                broker.launch()
            for broker in self.brokers:
                broker.wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for broker in self.brokers:
            broker.kill()

    @property
    def bootstrap(self) -> str:
        """host:port,host:port,..."""
        return ",".join(broker.bootstrap for broker in self.brokers)

    @property
    def url(self) -> str:
        """As `--log` takes it."""
        return f"kafka://{self.bootstrap}"
