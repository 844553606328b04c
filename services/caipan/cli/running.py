"""The subcommands that run the service and give tokens for it. What they load is loaded when they run."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from caipan.cli.console import CommandError, print_json, say_error, stdout
from caipan.cli.options import (
    ADDRESS,
    DATA,
    LOG_FILE,
    PRIVATE_KEY_FILE,
    PUBLIC_KEY_FILE,
    QUERY_ADDRESS,
    READ_MODEL_FILE,
    AsJson,
    Bound,
    Cluster,
    Data,
    Database,
    Hosted,
    Listen,
    Log,
    LogLines,
    Metrics,
    Place,
    place,
)
from caipan.serving.logging import LogFormat

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_CLAIMS = {"sub": "--person", "roles": "--role", "games": "--games", "tournaments": "--tournaments"}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def up(
    data: Data = DATA,
    log: Log = None,
    listen: Listen = ADDRESS,
    token_keys: Annotated[
        Path | None,
        typer.Option(
            help="Public keys of accepted tokens (PEM); without it a development key is made in --data.",
            envvar="CAIPAN_TOKEN_KEYS",
        ),
    ] = None,
    metrics: Metrics = None,
    log_format: LogLines = LogFormat.CONSOLE,
    json: AsJson = False,
) -> None:
    """Run everything in one process: gRPC on one port, the log in one file or on Kafka. Ctrl-C stops it.

    It goes on where it was stopped or killed. Once its address is printed it is ready.
    """
    at, metrics_at = place("--listen", listen), _metrics_place(metrics)
    private_key = None
    if token_keys is None:
        private_key, token_keys = _development_keys(data)
    target = log or str(data / LOG_FILE)
    signed = f"by {private_key.absolute()}: caipan token --person me --role RECORDER" if private_key else None
    ready = _Ready(
        "caipan",
        listen,
        {"data": str(data), "token_key": str(private_key) if private_key else None, "log": target},
        {"data": str(data.absolute()), "log": log, "tokens": signed},
    )
    _run(
        Hosted(target, at, token_keys, data / READ_MODEL_FILE, referee=True, metrics=metrics_at),
        ready,
        log_format,
        json,
    )


def gateway(
    log: Cluster,
    token_keys: Annotated[
        Path,
        typer.Option(
            help=f"Public keys of accepted tokens (PEM); caipan token makes {DATA / PUBLIC_KEY_FILE} for development.",
            envvar="CAIPAN_TOKEN_KEYS",
        ),
    ],
    listen: Listen = ADDRESS,
    metrics: Metrics = None,
    log_format: LogLines = LogFormat.CONSOLE,
    json: AsJson = False,
) -> None:
    """Run a gateway, the way in: it checks who calls and what is sent, and appends it to the log on Kafka.

    Any number of them may run at once. Ctrl-C stops it.
    """
    hosted = Hosted(log, place("--listen", listen), token_keys, metrics=_metrics_place(metrics))
    _run(hosted, _Ready("gateway", listen, {"log": log}, {"log": log}), log_format, json)


def referee(
    log: Cluster, metrics: Metrics = None, log_format: LogLines = LogFormat.CONSOLE, json: AsJson = False
) -> None:
    """Run a referee, a worker that judges the games of its share of the partitions on Kafka.

    As many may work at once as there are partitions; of one that dies the others take the share. Ctrl-C stops it.
    """
    hosted = Hosted(log, referee=True, metrics=_metrics_place(metrics))
    _run(hosted, _Ready("referee", "", {"log": log}, {"log": log}), log_format, json)


def query(
    log: Cluster,
    data: Annotated[Path, typer.Option(help="Folder of the read model.", envvar="CAIPAN_DATA")] = DATA,
    database: Database = None,
    listen: Listen = QUERY_ADDRESS,
    metrics: Metrics = None,
    log_format: LogLines = LogFormat.CONSOLE,
    json: AsJson = False,
) -> None:
    """Run a query, the reading side: games, watchers, status, from a read model that it builds from the log on Kafka.

    Any number of them may run at once, each with a read model of its own, which may be deleted. Ctrl-C stops it.
    """
    read_model = database or data / READ_MODEL_FILE
    hosted = Hosted(log, place("--listen", listen), read_model=read_model, metrics=_metrics_place(metrics))
    where = {"log": log, "data": None if database else str(data.absolute())}
    _run(hosted, _Ready("query", listen, where, where), log_format, json)


@dataclass(frozen=True, slots=True)
class _Ready:
    """What is printed once the services are ready: where they are, in JSON with ``facts``, for a person ``lines``."""

    name: str
    listen: str  # as it was given; "" where nothing listens
    facts: Mapping[str, str | None]
    lines: Mapping[str, str | None]

    def as_json(self, bound: Bound) -> None:
        print_json({"address": self._address(bound), **self.facts, "metrics": bound.metrics})

    def as_text(self, bound: Bound) -> None:
        console, address = stdout(), self._address(bound)
        name = self.name if self.name == "caipan" else f"caipan {self.name}"
        console.print(f"{name} is ready{f' on {address}' if address else ''}; Ctrl-C stops it")
        for what, line in {**self.lines, "metrics": bound.metrics}.items():
            if line:
                console.print(f"  {what:<7} {line}")
        if address and place("--listen", self.listen).host not in _LOOPBACK:
            console.print("  note    this port is not encrypted; outside a trusted network put a TLS proxy before it")

    def _address(self, bound: Bound) -> str | None:
        return f"{self.listen.rpartition(':')[0]}:{bound.port}" if self.listen else None


def _run(hosted: Hosted, ready: _Ready, log_format: LogFormat, json: bool) -> None:
    from caipan.cli.hosting import host
    from caipan.serving.logging import log_to_stderr

    log_to_stderr(ready.name, log_format)
    host(hosted, ready.as_json if json else ready.as_text)


def _metrics_place(metrics: str | None) -> Place | None:
    return None if metrics is None else place("--metrics", metrics)


def token(
    person: Annotated[str, typer.Option(help="Id of the person.")],
    role: Annotated[list[str], typer.Option(help="A role, e.g. RECORDER or ARBITER; may be given several times.")],
    games: Annotated[list[str] | None, typer.Option(help="A game the token is good for; several times.")] = None,
    tournaments: Annotated[
        list[str] | None, typer.Option(help="A tournament the token is good for; several times.")
    ] = None,
    valid_for: Annotated[str, typer.Option(help="How long, e.g. 90s, 30m, 12h or 7d.")] = "12h",
    data: Data = DATA,
    json: AsJson = False,
) -> None:
    """Make a token with the development key in the data folder.

    Without --games and --tournaments it is good for all of them.
    """
    from caipan.serving.tokens import ALL, KeyFileError, load_private_key, make_token

    if not (data / PRIVATE_KEY_FILE).exists():
        say_error(
            f"{data / PRIVATE_KEY_FILE} was not there and is made now: its tokens are good only for a service that is "
            "started with it; name the folder of a service that runs with --data"
        )
    everything = [] if games or tournaments else [ALL]
    valid_for_s = _seconds(valid_for)
    try:
        private_key = load_private_key(_development_keys(data)[0])
        made = make_token(
            private_key,
            person,
            [name.upper().removeprefix("ROLE_") for name in role],
            games or everything,
            tournaments or everything,
            valid_for_s,
        )
    except KeyFileError as error:
        raise CommandError(str(error)) from error
    except ValueError as error:
        claim, _, wrong = str(error).partition(": ")
        raise typer.BadParameter(wrong, param_hint=_CLAIMS[claim]) from error
    if json:
        print_json({"token": made, "person": person, "expires_at_ms": (int(time.time()) + valid_for_s) * 1000})
    else:
        print(made)


def demo() -> None:
    """Start a service of its own, send it a real game with four incidents, show the verdicts, stop it."""
    from caipan.cli.demo import show

    show()


def _seconds(text: str) -> int:
    parts = re.fullmatch("([1-9][0-9]{0,6})([smhd])", text)
    if parts is None:
        raise typer.BadParameter(f"--valid-for needs a number and a unit, e.g. 90s, 30m, 12h or 7d; it is {text!r}")
    return int(parts[1]) * _SECONDS[parts[2]]


def _development_keys(data: Path) -> tuple[Path, Path]:
    """The private and the public key in the data folder, made if they are not there. Raises CommandError."""
    from caipan.serving.tokens import KeyFileError, generate_keys

    try:
        return generate_keys(data)
    except KeyFileError as error:
        raise CommandError(str(error)) from error
