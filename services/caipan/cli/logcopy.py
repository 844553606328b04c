"""The subcommand that copies a log. What it loads is loaded when it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from caipan.cli.console import CommandError, print_json, stderr, stdout
from caipan.cli.options import AsJson, is_on_kafka, log_target

if TYPE_CHECKING:
    from caipan.eventlog import EventLog
    from caipan.eventlog.copying import LogCopy

_DIGITS = 16  # of a digest, for the eye


def copy(
    source: Annotated[
        str, typer.Argument(help="The log to copy; it is only read.", metavar="FROM", callback=log_target)
    ],
    target: Annotated[
        str, typer.Argument(help="The log to copy into, an empty one.", metavar="TO", callback=log_target)
    ],
    json: AsJson = False,
) -> None:
    """Copy a whole log, between a file and Kafka or from file to file: every head stays as it is.

    Both have equal partition counts: a new file gets the source's, on Kafka create the topics so. A copy that broke
    off, or is older than the source, goes on where it ended. At the end both logs are read and compared.
    """
    from caipan.eventlog import LogError, LogUnavailable

    if _place(source) == _place(target):
        raise typer.BadParameter("FROM and TO are the same log; name another one to copy into")
    try:
        done = asyncio.run(_copy(source, target))
    except LogUnavailable as error:
        raise CommandError(f"{error}; the copy is not complete: run the command again, it goes on") from error
    except LogError as error:
        raise CommandError(*str(error).splitlines()) from error
    if json:
        print_json(_report(done))
    else:
        stdout().print(_view(done))


def _place(target: str) -> str | Path:
    return target if is_on_kafka(target) else Path(target).resolve()


async def _copy(source: str, target: str) -> LogCopy:
    from caipan.eventlog.copying import LogCopy
    from caipan.eventlog.opening import open_log

    async with open_log(source, read_only=True) as read, _target(target, read) as written:
        copying = LogCopy(read, written)
        await copying.plan()
        with _progress("Copying", sum(stream.end - stream.start for stream in copying.streams)) as counted:
            await copying.run(counted)
        with _progress("Comparing", 2 * sum(stream.end for stream in copying.streams)) as counted:
            await copying.verify(counted)
    return copying


def _target(target: str, source: EventLog) -> EventLog:
    from caipan.eventlog.embedded import EmbeddedLog
    from caipan.eventlog.opening import open_log

    if is_on_kafka(target):
        return open_log(target, batches=True)
    return EmbeddedLog(target, source.partitions("game-events"))


@contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on the error output where that is a terminal; it is told how many records more are done."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    console = stderr()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=total)
        yield lambda count: progress.advance(task, count)


def _report(done: LogCopy) -> dict[str, object]:
    return {
        "copied": sum(stream.end - stream.start for stream in done.streams),
        "people": done.people,
        "heads": {key.decode("utf-8", "backslashreplace"): head.hex() for key, head in sorted(done.heads.items())},
        "partitions": [
            {"topic": stream.topic, "partition": stream.partition, "records": stream.end, "sha256": stream.digest.hex()}
            for stream in done.streams
        ],
    }


def _view(done: LogCopy) -> RenderableType:
    table = Table("topic", "partition", "records", "copied now", "sha256", box=None, pad_edge=False)
    for stream in filter(lambda stream: stream.end, done.streams):
        numbers = (stream.partition, stream.end, stream.end - stream.start)
        table.add_row(stream.topic, *map(str, numbers), stream.digest.hex()[:_DIGITS])
    return Group(
        table, f"both logs are equal: {len(done.heads)} games, each with its head unchanged; {done.people} persons"
    )
