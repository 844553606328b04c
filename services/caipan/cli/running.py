"""The subcommands that run the service and give tokens for it. What they load is loaded when they run."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from typing import Annotated

import typer

from caipan.cli.console import CommandError, print_json, stdout
from caipan.cli.options import ADDRESS, DATA, AsJson, Data

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def up(
    data: Data = DATA,
    listen: Annotated[str, typer.Option(help="HOST:PORT to listen on; port 0 is a free one.")] = ADDRESS,
    token_keys: Annotated[
        Path | None,
        typer.Option(
            help="Public keys of accepted tokens (PEM); without it a development key is made in --data.",
            envvar="CAIPAN_TOKEN_KEYS",
        ),
    ] = None,
    json: AsJson = False,
) -> None:
    """Run everything in one process: gRPC on one port, the log in one file. Ctrl-C stops it.

    It goes on where it was stopped or killed. Once its address is printed it is ready.
    """
    from caipan.cli.up import log_to_stderr, serve

    host, port = _host_and_port(listen)
    private_key = None
    if token_keys is None:
        private_key, token_keys = _development_keys(data)

    def ready(bound: int) -> None:
        address = f"{listen.rpartition(':')[0]}:{bound}"
        if json:
            print_json({"address": address, "data": str(data), "token_key": private_key and str(private_key)})
            return
        console = stdout()
        console.print(f"caipan is ready on {address}; Ctrl-C stops it")
        console.print(f"  data    {data.absolute()}")
        if private_key:
            console.print(f"  tokens  by {private_key.absolute()}: caipan token --person me --role RECORDER")
        if not json and host not in ("127.0.0.1", "::1", "localhost"):
            console.print("  note    this port is not encrypted; outside a trusted network put a TLS proxy before it")

    log_to_stderr()
    asyncio.run(serve(data, host, port, token_keys, ready))


def _host_and_port(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    if not host or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        raise typer.BadParameter(f"--listen needs HOST:PORT, e.g. {ADDRESS}; it is {listen!r}")
    return host.strip("[]"), int(port)


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

    everything = [] if games or tournaments else [ALL]
    valid_for_s = _seconds(valid_for)
    try:
        private_key = load_private_key(_development_keys(data)[0])
        made = make_token(
            private_key,
            person,
            [name.upper() for name in role],
            games or everything,
            tournaments or everything,
            valid_for_s,
        )
    except KeyFileError as error:
        raise CommandError(str(error)) from error
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if json:
        print_json({"token": made, "person": person, "expires_at_ms": (int(time.time()) + valid_for_s) * 1000})
    else:
        print(made)


def demo() -> None:
    """Start a service of its own, send it a real game with three incidents, show the verdicts, stop it."""
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
