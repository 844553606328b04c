"""The subcommands that need no service: adjudicate, sgf2events, replay."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress

from caipan.cli import adjudicate as report
from caipan.cli.console import CommandError, print_json, say_error, stderr, stdout
from caipan.cli.lines import read_lines
from caipan.cli.options import KAFKA, AsJson, log_target
from caipan.cli.replay import Replay
from caipan.cli.synthetic import Played, Terms, play
from caipan.cli.views import game_view
from caipan.cli.words import details_of, outcome_of
from caipan.rules.edition import edition_ids
from caipan.v1.game_service_pb2 import WatchGameResponse
from caipan.v1.state_pb2 import GameState

if TYPE_CHECKING:
    from caipan.eventlog import Record

_EVENTS = "game-events"


def _edition(value: str) -> str:
    if value not in edition_ids():
        raise typer.BadParameter(f"unknown edition {value!r}; use one of: {', '.join(edition_ids())}")
    return value


def _points(value: str | None) -> tuple[str, ...] | None:
    """ "D18, e17" as points; "" is the empty set, None no set."""
    if value is None:
        return None
    points = tuple(value.upper().replace(",", " ").split())
    for point in points:
        if not re.fullmatch("[A-HJ-Z](2[0-5]|1[0-9]|[1-9])", point):
            raise typer.BadParameter(f"{point!r} is no point; write a column letter without I and a row: D18,E17")
    return points


Dead = Annotated[
    str | None,
    typer.Option(help="Dead stones, e.g. D18,E17; the game is ended and counted without them. '' = none is dead."),
]
EditionId = Annotated[str, typer.Option("--edition", help="Edition to judge by.", callback=_edition)]
KomiQz = Annotated[
    int | None, typer.Option(help="Komi in quarter-zi instead of the file's; 15 = 3 3/4 zi.", min=-4000, max=4000)
]


def adjudicate(
    files: Annotated[list[Path], typer.Argument(help="Game records (SGF).", metavar="FILE.sgf...")],
    dead: Dead = None,
    edition: EditionId = "CN2002",
    komi_qz: KomiQz = None,
    json: AsJson = False,
) -> None:
    """Judge game records: final board, every finding with its clause, the result, the heads.

    A game is counted after two passes (all stones alive) or with --dead; a resignation or a loss on time is taken from
    the record. Damaged files are read as far as they go. Ends with 1 if a file could not be read.
    """
    if dead is not None and len(files) > 1:
        raise typer.BadParameter("--dead names the stones of one game: give one file")
    terms = Terms(edition, komi_qz, _points(dead))
    console, failed = stdout(), []
    for file in _with_progress(files):
        try:
            played = _play_file(file, terms)
        except CommandError as error:
            failed.append(str(error))
            if json:
                print_json({"file": str(file), "error": str(error)})
            continue
        if json:
            print_json(report.report_of(str(file), played))
        else:
            console.print(report.drawn(str(file), played), "")
    for message in failed:
        say_error(message)
    if failed:
        say_error(f"{len(failed)} of {len(files)} files could not be read")
        raise typer.Exit(1)


def _with_progress(files: list[Path]) -> Iterator[Path]:
    """The files, with a bar on the error output where that is a terminal; the output itself is left alone."""
    console = stderr()
    hidden = len(files) == 1 or not console.is_terminal
    # On one terminal the reports must go above the bar; anywhere else they are none of its business.
    with Progress(console=console, transient=True, disable=hidden, redirect_stdout=sys.stdout.isatty()) as progress:
        yield from progress.track(files, description="Judging")


def sgf2events(
    file: Annotated[Path, typer.Argument(help="A game record (SGF).", metavar="FILE.sgf")],
    game_id: Annotated[str, typer.Option(help="Id of the game; without it one that derives from the file.")] = "",
    dead: Dead = None,
    edition: EditionId = "CN2002",
    komi_qz: KomiQz = None,
) -> None:
    """Turn a game record into events, one in protobuf JSON on each line, as caipan send and caipan replay read them.

    The same events that caipan adjudicate judges, so the heads are the same if the same person reports them.
    """
    played = _play_file(file, Terms(edition, komi_qz, _points(dead)), game_id)
    for step in played.steps:
        print_json(step.event)
    for problem in (*played.record.problems, *played.notes):
        say_error(f"{file}: {problem}")


def replay(
    file: Annotated[
        Path | None, typer.Argument(help="Events, one in protobuf JSON on each line.", metavar="EVENTS.jsonl")
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(help=f"A log in their place: {KAFKA}HOST:PORT[,HOST:PORT] or a file.", callback=log_target),
    ] = None,
    games: Annotated[list[str] | None, typer.Option("--game", help="A game in the log; several times.")] = None,
    until: Annotated[int, typer.Option(help="Stop each game after the outcome of this number.", min=0)] = 0,
    json: AsJson = False,
) -> None:
    """Fold events offline: every outcome, and the state in which they leave each game.

    With --json each line is an outcome or at the end a snapshot, as a watcher receives them. A line or record that
    cannot be read is left out and named; then the command ends with 1.
    """
    from caipan.cli.follow import follow  # loads the database library, which the other commands do not need

    if (file is None) == (log is None) or (log is None) != (not games):
        raise typer.BadParameter("name a file of events, or a log by --log and games in it by --game")
    console, states = stdout(), dict[str, GameState]()
    run = Replay(until)
    for outcome in run.run(read_lines(file)) if file else run.run_log(*_records(str(log), games or [])):
        verdict = outcome.verdict
        follow(states.setdefault(verdict.game_id, GameState(game_id=verdict.game_id)), outcome)
        if json:
            print_json(WatchGameResponse(outcome=outcome))
        else:
            console.print(outcome_of(verdict), *(f"      {line}" for line in details_of(verdict)), sep="\n")
    for state in states.values():
        if json:
            print_json(WatchGameResponse(snapshot=state))
        else:
            console.print("", game_view(state), sep="\n")
    for message in run.errors:
        say_error(f"{file or log}: {message}")
    if run.errors:
        say_error(f"{len(run.errors)} {'lines' if file else 'records'} were left out")
        raise typer.Exit(1)


def _records(log: str, games: list[str]) -> tuple[list[Record], int]:
    """The events of games in a log, game after game, and its partition count. Raises CommandError."""
    from caipan.eventlog import LogError

    try:
        return asyncio.run(_read(log, games))
    except LogError as error:
        raise CommandError(*str(error).splitlines()) from error


async def _read(log: str, games: list[str]) -> tuple[list[Record], int]:
    from caipan.eventlog.opening import open_log

    records: list[Record] = []
    async with open_log(log, read_only=True) as opened:
        for game in dict.fromkeys(games):
            found = await opened.read_key(_EVENTS, game.encode())
            if not found:
                raise CommandError(f"{log}: it has no events of a game {game!r}; check the id")
            records += found
        return records, opened.partitions(_EVENTS)


def _play_file(file: Path, terms: Terms, game_id: str = "") -> Played:
    """Raises CommandError if there is no file, or no game in it."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from error
    played = play(data, terms, game_id)
    record = played.record
    if record.problems and not (record.moves or record.setup_black or record.setup_white):
        raise CommandError(f"{file}: nothing to judge: {record.problems[0]}")
    return played
