"""Options that several subcommands have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

DATA = Path("data")
ADDRESS = "127.0.0.1:50051"


class WaitFor(StrEnum):
    """When a call returns."""

    LOG = "log"
    VERDICT = "verdict"


AsJson = Annotated[bool, typer.Option("--json", help="JSON, one object on each line.")]
Address = Annotated[str, typer.Option(help="HOST:PORT of the service.", envvar="CAIPAN_ADDRESS")]
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
