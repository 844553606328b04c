"""The `caipan` command: its subcommands, and the last place an error can reach."""

from __future__ import annotations

import logging
import os
import sys
from typing import NoReturn

import typer

from caipan.cli import acts, clauses, hall, logcopy, offline, online, operation, ruling, running, signing, topics
from caipan.cli.console import CommandError, say_error

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Arbitration for Go: judge records, run the service, send it events, watch games.",
    epilog="Exit codes: 0 done, 1 not done or not all of it, 2 wrong usage.",
)


def main() -> None:
    """The entry point."""
    run(app)


def run(command: typer.Typer) -> NoReturn:
    """Runs a command to the end of the process; no traceback is shown unless CAIPAN_DEBUG is set."""
    logging.getLogger().addHandler(logging.NullHandler())  # libraries speak in the log of a service, and nowhere else
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a terminal may lack a character
    try:
        try:
            command()
        finally:
            sys.stdout.flush()
    except CommandError as error:
        for message in error.args:
            say_error(message)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left of the output goes nowhere
        if not isinstance(error, BrokenPipeError):  # whoever read the output has seen enough
            say_error(f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror))
    except Exception as error:
        if os.environ.get("CAIPAN_DEBUG"):
            raise
        say_error(f"unexpected {type(error).__name__}: {error}; run with CAIPAN_DEBUG=1 for details")
    sys.exit(1)


app.command(epilog="Example: caipan up --data data --listen 127.0.0.1:50051")(running.up)
app.command(epilog="Example: caipan gateway --log kafka://127.0.0.1:9092 --token-keys data/token-keys.pub.pem")(
    running.gateway
)
app.command(epilog="Example: caipan referee --log kafka://127.0.0.1:9092")(running.referee)
app.command(epilog="Example: caipan query --log kafka://127.0.0.1:9092 --data replica-1")(running.query)
app.command(epilog="Example: caipan demo")(running.demo)
app.command(epilog="Example: caipan status --json")(operation.status)
app.command(epilog="Example: caipan token --person anna --role ARBITER --valid-for 7d")(running.token)
app.command(epilog="Example: caipan send events.jsonl --wait log")(online.send)
app.command(epilog="Example: caipan stream events.jsonl --wait log")(online.stream)
app.command(epilog="Example: caipan show T1/r1/b1")(online.show)
app.command(epilog="Example: caipan watch T1/r1/b1 --from-start")(online.watch)
app.command(epilog="Example: caipan cases --tournament T1")(hall.cases)
app.command(epilog="Example: caipan clock T1/r1/b1 --at 09:48")(hall.clock)
app.command(epilog="Example: caipan claim T1/r1/b2 --clause 17.2 --by W --against B")(acts.claim)
app.command(epilog="Example: caipan conduct T1/r1/b2 phone-sound --against W")(acts.conduct)
app.command(epilog="Example: caipan consent T1/r1/b2 5 --by W --refuse")(acts.consent)
app.command(epilog='Example: caipan rule T1/r1/b2 5 --option VOID_AND_WARN --reason "two stones seen" --yes')(
    ruling.rule
)
app.command("round", epilog="Example: caipan round pause T1 1")(acts.mark_round)
app.command(epilog="Example: caipan sign T1/r1/b3 --by B")(signing.sign)
app.command(epilog="Example: caipan penalties --tournament T1 --compare 17.2")(hall.penalties)
app.command(epilog="Example: caipan adjudicate game.sgf --dead D18,E17")(offline.adjudicate)
app.command(epilog="Example: caipan sgf2events game.sgf --game-id T1/r1/b1")(offline.sgf2events)
app.command(epilog="Example: caipan replay events.jsonl --until 40")(offline.replay)
app.command(epilog="Example: caipan clauses 17.3 --lang en")(clauses.clauses)

_quarantine = typer.Typer(no_args_is_help=True, help="Records that no fold could read.")
_quarantine.command("list", epilog="Example: caipan quarantine list")(operation.list_quarantined)
_quarantine.command("show", epilog="Example: caipan quarantine show game-events-0-0")(operation.show_quarantined)
_quarantine.command("retry", epilog="Example: caipan quarantine retry game-events-1-0")(operation.retry_quarantined)
app.add_typer(_quarantine, name="quarantine")

_topics = typer.Typer(no_args_is_help=True, help="The topics of a log on Kafka.")
_topics.command("create", epilog="Example: caipan topics create --log kafka://127.0.0.1:9092 --partitions 12")(
    topics.create
)
_topics.command("verify", epilog="Example: caipan topics verify --log kafka://127.0.0.1:9092")(topics.verify)
app.add_typer(_topics, name="topics")

_log = typer.Typer(no_args_is_help=True, help="Logs as a whole.")
_log.command("copy", epilog="Example: caipan log copy data/log.db copy.db")(logcopy.copy)
app.add_typer(_log, name="log")
