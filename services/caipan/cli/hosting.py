"""One process that runs some of the services on one log: all of them, or a single one of many on Kafka."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Protocol

import structlog
from prometheus_client.core import Metric

from caipan.cli.console import CommandError
from caipan.cli.options import Bound, Hosted, Place, is_on_kafka
from caipan.eventlog import EventLog, LogError, LogUnavailable
from caipan.eventlog.opening import open_log
from caipan.gateway import Gateway
from caipan.query import Query, ReadModelError
from caipan.referee import RefereeService
from caipan.serving.metrics import log_metrics, serve_metrics
from caipan.serving.server import CannotListen, Server
from caipan.serving.tokens import KeyFileError, Verifier, load_public_keys

GAME_EVENTS = "game-events"
REFEREES = "referee"  # the group of those who share the partitions

_GRACE_S = 2.0  # for calls under way when the process stops
_FIRST_WAIT_S = 0.5  # before a cluster that is away is tried again; doubled each time
_LONGEST_WAIT_S = 10.0

_log = structlog.get_logger()


class _Part(Protocol):
    """A service: it runs until it is cancelled."""

    @property
    def ready(self) -> asyncio.Event: ...

    async def run(self) -> None: ...

    async def metrics(self) -> Iterable[Metric]: ...


def host(hosted: Hosted, ready: Callable[[Bound], None]) -> None:
    """Serves until SIGTERM or SIGINT. ``ready`` is told where once every part has recovered.

    A cluster that is away is waited for. Raises CommandError for what keeps the services from running.
    """
    try:
        asyncio.run(_until_signalled(_host(hosted, ready)))
    except Exception as error:
        first = _first(error)
        if isinstance(first, (LogError, ReadModelError, KeyFileError, CannotListen)):
            raise CommandError(*str(first).splitlines()) from error
        raise first from None


def _first(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


async def _until_signalled(work: Coroutine[Any, Any, None]) -> None:
    """Does the work until it ends, or the first signal cancels it; later ones must not break off an orderly stop."""
    working = asyncio.create_task(work)
    stopping = asyncio.Event()

    def stop() -> None:
        if not stopping.is_set():
            stopping.set()
            working.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    try:
        await working
    except asyncio.CancelledError:
        if not stopping.is_set():
            raise


async def _host(hosted: Hosted, ready: Callable[[Bound], None]) -> None:
    # What is entered first ends last: callers that wait are told before the server hangs up, the referee judges to the
    # end what they have sent, and then the log is closed.
    async with AsyncExitStack() as entered:
        log, judging_log = _logs(hosted)
        for each in {log, judging_log}:
            entered.push_async_callback(each.close)
        on_kafka = is_on_kafka(hosted.log)
        if not on_kafka:  # a file is there or it is not; for a cluster that is away all the rest waits
            await log.open()
        judging = await entered.enter_async_context(asyncio.TaskGroup())
        facing = await _facing(hosted, log, entered)
        parts: list[_Part] = [*facing]
        metrics = await _metrics(hosted, log, parts, entered)
        server, port = None, 0
        if hosted.listen is not None:
            server, port = await entered.enter_async_context(_listening(hosted.listen, facing))
        answering = await entered.enter_async_context(asyncio.TaskGroup())
        for each in {log, judging_log} if on_kafka else ():
            await _open(each)
        for service in facing:
            answering.create_task(service.run())
        if hosted.referee:
            parts.append(referee := _referee(hosted, judging_log))
            judging.create_task(referee.run())
        for part in parts:
            await part.ready.wait()
        if server is not None:
            await server.serving()
        ready(Bound(port, metrics))
        await asyncio.get_running_loop().create_future()  # until cancelled


def _logs(hosted: Hosted) -> tuple[EventLog, EventLog]:
    """The log for the services that callers face, and the one for the referee; two where each writes in its own way."""
    judging = open_log(hosted.log, batches=hosted.referee)
    two = is_on_kafka(hosted.log) and hosted.referee and hosted.listen is not None
    return open_log(hosted.log) if two else judging, judging


def _referee(hosted: Hosted, log: EventLog) -> RefereeService:
    """On a file it judges all there is, on Kafka the share of one of many workers."""
    if not is_on_kafka(hosted.log):
        return RefereeService(log)
    from caipan.eventlog.kafka import KafkaSettings
    from caipan.eventlog.kafka.streams import GroupDelivery

    return RefereeService(log, GroupDelivery(KafkaSettings.of_url(hosted.log), GAME_EVENTS, REFEREES))


async def _metrics(hosted: Hosted, log: EventLog, parts: Sequence[_Part], entered: AsyncExitStack) -> str | None:
    """Serves the metrics of the parts, also of those to come; their URL, None where nobody asked for them."""
    if hosted.metrics is None:
        return None

    async def of_parts() -> Iterable[Metric]:
        return [metric for part in parts for metric in await part.metrics()]

    serving = serve_metrics(*hosted.metrics, log_metrics(log), of_parts)
    port = await entered.enter_async_context(serving)
    host = hosted.metrics.host
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/metrics"


async def _facing(hosted: Hosted, log: EventLog, entered: AsyncExitStack) -> list[Gateway | Query]:
    """The services that callers talk to."""
    facing: list[Gateway | Query] = []
    if hosted.token_keys is not None:
        facing.append(Gateway(log, Verifier(load_public_keys(hosted.token_keys))))
    if hosted.read_model is not None:
        facing.append(await entered.enter_async_context(Query(log, hosted.read_model)))
    return facing


@asynccontextmanager
async def _listening(place: Place, facing: list[Gateway | Query]) -> AsyncIterator[tuple[Server, int]]:
    """A server with these services, and its port; it is not SERVING yet."""
    server = Server()
    for part in facing:
        part.register(server)
    bound = await server.start(*place)
    try:
        yield server, bound
    finally:
        await server.stop(_GRACE_S)


async def _open(log: EventLog) -> None:
    """Opens a log as soon as it is there."""
    wait_s = _FIRST_WAIT_S
    while True:
        try:
            return await log.open()
        except LogUnavailable as error:
            _log.warning("waiting for the log", error=str(error), again_in_s=wait_s)
        await asyncio.sleep(wait_s)
        wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
