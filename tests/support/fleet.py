"""caipan on Kafka as a federation runs it: gateways, referees and queries, each a process of its own."""

from __future__ import annotations

import json
import os
import signal
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from caipan.serving.tokens import generate_keys
from support.command import Running

if TYPE_CHECKING:
    from caipan.eventlog.kafka import KafkaSettings

Kind = Literal["gateway", "referee", "query"]

_LAST_LINES = 15


class Member(Running):
    """A service. ``address`` and ``metrics``: where callers and Prometheus find it, if they do, once it is ready.

    ``told``: its own log, once it has ended.
    """

    def __init__(self, kind: Kind, number: int, *arguments: object, **environment: str) -> None:
        super().__init__(kind, "--json", "--log-format", "json", *arguments, **environment)
        self.kind = kind
        self.number = number
        self.name = f"{kind} {number}"
        self.address = self.metrics = ""
        self.told: list[dict[str, Any]] = []
        self.ended = False

    def wait(self) -> None:
        """Until it is ready."""
        line = self.line()
        assert line, f"{self.name} has ended: {self.end(None)}"
        ready = json.loads(line)
        self.address, self.metrics = ready["address"] or "", ready["metrics"] or ""

    def pause(self) -> None:
        """SIGSTOP: its connections stay open, it does nothing."""
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """SIGCONT."""
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL."""
        assert self.end(signal.SIGKILL)[0] == -signal.SIGKILL

    def stop(self) -> None:
        """SIGTERM; it must end in order."""
        code, errors = self.end(signal.SIGTERM)
        assert code == 0, errors

    def end(self, number: int | None = signal.SIGTERM) -> tuple[int, str]:
        self.ended = True
        try:
            return super().end(number)
        finally:
            self._errors.seek(0)
            self.told = [_entry(line) for line in self._errors.read().splitlines()]


def _entry(line: str) -> dict[str, Any]:
    """A line of its log; what is no JSON (an interpreter that dies) comes as a message."""
    try:
        entry: dict[str, Any] = json.loads(line)
    except ValueError:
        return {"event": line}
    return entry


class Fleet:
    """Services on the log ``log``, whose topics are there, with their keys and read models in ``folder``.

    ``options`` are given to each. At the end of the context whatever still runs is killed; if a test has failed, what
    they said last is printed.
    """

    def __init__(self, log: KafkaSettings, folder: Path, *options: str) -> None:
        self.log = log
        self.folder = folder
        self.members: list[Member] = []
        self._options = options
        self._keys = generate_keys(folder).public
        self._environment = {"CAIPAN_LOG": log.name, "CAIPAN_KAFKA_TOPIC_PREFIX": log.topic_prefix}
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._opened:
            if kind is not None:
                for member in self.members:
                    self._show(member)

    def start(self, *kinds: Kind) -> list[Member]:
        """Starts services of these kinds, all at once, and returns when they are ready."""
        started = [self._launch(kind) for kind in kinds]
        for member in started:
            member.wait()
        return started

    def again(self, member: Member) -> Member:
        """Starts a service in the place of one that has ended, at the same address and on the same read model."""
        successor = self._launch(member.kind, member.number, member.address)
        successor.wait()
        return successor

    def stop(self) -> None:
        """Stops all that have not ended, at once; each must end in order."""
        stopping = [member for member in self.members if not member.ended]
        for member in stopping:
            os.kill(member.pid, signal.SIGTERM)
        for member in stopping:
            code, errors = member.end(None)
            assert code == 0, f"{member.name}: {errors}"

    def running(self, kind: Kind) -> list[Member]:
        """Those of a kind that have not ended; paused ones too."""
        return [member for member in self.members if member.kind == kind and not member.ended]

    def _launch(self, kind: Kind, number: int = 0, address: str = "127.0.0.1:0") -> Member:
        number = number or 1 + sum(member.kind == kind for member in self.members)
        listen = ("--listen", address)
        arguments: dict[Kind, tuple[object, ...]] = {
            "gateway": (*listen, "--token-keys", self._keys),
            "query": (*listen, "--data", self.folder / f"query-{number}"),
            "referee": (),
        }
        member = Member(kind, number, *arguments[kind], *self._options, **self._environment)
        self.members.append(self._opened.enter_context(member))
        return member

    def _show(self, member: Member) -> None:
        if not member.ended:
            with suppress(AssertionError):
                member.end(signal.SIGKILL)
        print(f"{member.name} (process {member.pid}) said last:")
        for entry in member.told[-_LAST_LINES:]:
            print(f"  {json.dumps(entry, ensure_ascii=False)}")
