"""Everything in one process: gateway, referee and query on one embedded log and one port."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import structlog

from caipan.cli.console import CommandError
from caipan.eventlog import LogError
from caipan.eventlog.embedded import EmbeddedLog
from caipan.gateway import Gateway
from caipan.query import Query, ReadModelError
from caipan.referee import RefereeService
from caipan.serving.server import CannotListen, Server
from caipan.serving.tokens import KeyFileError, Verifier, load_public_keys

LOG_FILE = "log.db"
READ_MODEL_FILE = "games.db"
_GRACE_S = 2.0  # for calls under way when the service stops


async def serve(data: Path, host: str, port: int, token_keys: Path, ready: Callable[[int], None]) -> None:
    """Serves until SIGTERM or SIGINT. ``ready`` is called with the port once every part has recovered.

    ``data``: the folder of the log and the read model; ``token_keys``: public keys of accepted tokens (PEM). Raises
    CommandError for what keeps the service from running.
    """
    try:
        await _serve(data, host, port, token_keys, ready)
    except (LogError, ReadModelError, KeyFileError, CannotListen) as error:
        raise CommandError(str(error)) from error


async def _serve(data: Path, host: str, port: int, token_keys: Path, ready: Callable[[int], None]) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    verifier = Verifier(load_public_keys(token_keys))
    async with EmbeddedLog(data / LOG_FILE) as log, Query(log, data / READ_MODEL_FILE) as query:
        gateway, referee, server = Gateway(log, verifier), RefereeService(log), Server()
        gateway.register(server)
        query.register(server)
        bound = await server.start(host, port)
        stop = asyncio.create_task(stopped.wait())
        facing = [asyncio.create_task(gateway.run()), asyncio.create_task(query.run())]
        judging = asyncio.create_task(referee.run())
        recovered = asyncio.create_task(_all_set(gateway.ready, query.ready, referee.ready))
        await _first_of(recovered, stop, judging, *facing)
        if recovered.done():
            await server.serving()
            ready(bound)
            await _first_of(stop, judging, *facing)
        # Callers that wait are told before the server hangs up; the referee judges to the end what they have sent.
        ended = await _end(*facing)
        await server.stop(_GRACE_S)
        ended += await _end(judging, recovered, stop)
    for error in ended:
        raise error


async def _all_set(*events: asyncio.Event) -> None:
    for event in events:
        await event.wait()


async def _first_of(*tasks: asyncio.Task[Any]) -> None:
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)


async def _end(*tasks: asyncio.Task[Any]) -> list[Exception]:
    """Cancels the tasks; returns the errors of those that had ended by themselves."""
    for task in tasks:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    return [each for each in results if isinstance(each, Exception)]


def log_to_stderr() -> None:
    """The log of the service, one line an entry, from INFO on."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
