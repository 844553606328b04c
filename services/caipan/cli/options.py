"""Options that several subcommands have."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from caipan.serving.logging import LogFormat

DATA = Path("data")
ADDRESS = "127.0.0.1:50051"
KAFKA = "kafka://"
QUERY_ADDRESS = "127.0.0.1:50052"  # where it runs alone, beside a gateway
# In the folder of the service.
LOG_FILE, READ_MODEL_FILE, PUBLIC_KEY_FILE, PRIVATE_KEY_FILE = (
    "log.db",
    "games.db",
    "token-keys.pub.pem",
    "token-key.pem",
)


class WaitFor(StrEnum):
    """When a call returns."""

    LOG = "log"
    VERDICT = "verdict"


class Place(NamedTuple):
    """Where to listen; port 0 is a free one."""

    host: str
    port: int


class Bound(NamedTuple):
    """Where a process listens: its port, 0 where nothing does; the URL of its metrics, if it has any."""

    port: int
    metrics: str | None


@dataclass(frozen=True, slots=True)
class Hosted:
    """What a process runs on ``log``, a file or kafka://...; what is None is left out.

    ``token_keys``: the gateway, with the public keys of the tokens it takes (PEM). ``read_model``: the query, with the
    file or the database of its tables. ``listen``: where callers find these two. ``metrics``: where Prometheus does.
    """

    log: str
    listen: Place | None = None
    token_keys: Path | None = None
    read_model: Path | str | None = None
    referee: bool = False
    metrics: Place | None = None


def place(option: str, text: str) -> Place:
    """The HOST:PORT that was given for an option. Raises BadParameter."""
    host, _, port = text.rpartition(":")
    if not host or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        raise typer.BadParameter(f"{option} needs HOST:PORT, e.g. {ADDRESS}; it is {text!r}")
    return Place(host.strip("[]"), int(port))


def log_target(target: str | None) -> str | None:
    """Checks the name of a log: a file, or kafka://... with its settings in the environment. Raises BadParameter."""
    if target is None:
        return None
    scheme, separator, _ = target.partition("://")
    if separator and f"{scheme}://" != KAFKA:
        raise typer.BadParameter(f"{target!r} names no log; write {KAFKA}HOST:PORT[,HOST:PORT], or a file")
    if separator:
        from caipan.eventlog.kafka.settings import KafkaSettings

        try:
            KafkaSettings.of_url(target).ssl_context()
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
    elif Path(target).is_dir():
        raise typer.BadParameter(f"{target} is a folder; name the file of the log, e.g. {Path(target) / LOG_FILE}")
    return target


def database_url(url: str | None) -> str | None:
    """Checks the URL of a database, and that its driver is installed. Raises BadParameter, without the password."""
    if url is None:
        return None
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        make_url(url).get_dialect().import_dbapi()
    except ArgumentError:
        raise typer.BadParameter("this is no URL of a database, e.g. postgresql+psycopg://HOST/NAME") from None
    except ImportError as error:
        raise typer.BadParameter(f"the driver of this database, {error.name}, is not installed; install it") from None
    return url


def cluster_target(target: str) -> str:
    """Checks the name of a log on Kafka. Raises BadParameter."""
    log_target(target)
    if not is_on_kafka(target):
        raise typer.BadParameter(
            f"{target} is a file, which one process alone writes, with all services in it: caipan up; name a log on "
            f"Kafka here, {KAFKA}HOST:PORT"
        )
    return target


def is_on_kafka(target: str) -> bool:
    """Whether a log is a cluster, not a file."""
    return target.startswith(KAFKA)


AsJson = Annotated[bool, typer.Option("--json", help="JSON, one object on each line.")]
Address = Annotated[str, typer.Option(help="HOST:PORT of the service.", envvar="CAIPAN_ADDRESS")]
Query = Annotated[
    str | None,
    typer.Option(
        help="HOST:PORT of the query, where it runs apart from the gateway.", envvar="CAIPAN_QUERY", show_default=False
    ),
]
Data = Annotated[
    Path, typer.Option(help="Folder of the service: its log, its read model, its keys.", envvar="CAIPAN_DATA")
]
Token = Annotated[
    str | None,
    typer.Option(
        help="Token of the caller; without it one of a recorder, by the development key in --data.",
        envvar="CAIPAN_TOKEN",
    ),
]
Listen = Annotated[str, typer.Option(help="HOST:PORT to listen on; port 0 is a free one.")]
Metrics = Annotated[
    str | None, typer.Option(help="HOST:PORT where Prometheus finds the metrics; without it there are none.")
]
LogLines = Annotated[
    LogFormat,
    typer.Option(
        help="How it logs to standard error: for a person, or one JSON object a line.",
        envvar="CAIPAN_LOG_FORMAT",
    ),
]
Database = Annotated[
    str | None,
    typer.Option(
        help="SQLAlchemy URL of the database for the read model, instead of a file in --data.",
        envvar="CAIPAN_DATABASE",
        callback=database_url,
    ),
]
Log = Annotated[
    str | None,
    typer.Option(
        help=f"The log: {KAFKA}HOST:PORT[,HOST:PORT] or a file; without it {LOG_FILE} in --data.",
        envvar="CAIPAN_LOG",
        metavar="LOG",
        callback=log_target,
    ),
]
Cluster = Annotated[
    str,
    typer.Option(
        "--log",
        help=f"The log: {KAFKA}HOST:PORT[,HOST:PORT]; its further settings are in CAIPAN_KAFKA_...",
        envvar="CAIPAN_LOG",
        metavar="LOG",
        callback=cluster_target,
    ),
]
