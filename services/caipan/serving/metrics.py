"""Metrics for Prometheus: an endpoint over HTTP, and snapshots of the parts of a process, taken when it is asked.

What a part is now (positions, games, waiting callers) is read at each scrape, so nothing is counted where events go by.
Only calls and appends are counted as they happen.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version

import structlog
from prometheus_client import REGISTRY, disable_created_metrics, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from caipan.eventlog import EventLog, LogError
from caipan.serving.server import CannotListen

# The metrics of one part as they are at this moment. Called on the event loop.
Source = Callable[[], Awaitable[Iterable[Metric]]]
Labels = tuple[str, ...]

_SNAPSHOT_S = 5.0  # of a part; Prometheus itself waits 10 s
_LOG_S = 2.0  # what the log has to say comes with the rest, or not at all
_EVENTS = "game-events"

_log = structlog.get_logger()


@asynccontextmanager
async def serve_metrics(host: str, port: int, *sources: Source) -> AsyncIterator[int]:
    """Within the context http://host:port/metrics tells the metrics of this process; yields the port, a free one for 0.

    Whoever reaches the port can read them: they name no games and no persons. Raises CannotListen.
    """
    try:
        server, thread = start_http_server(port, host)
    except (OSError, OverflowError) as error:
        raise CannotListen(f"{host}:{port}: metrics: {error}; choose another host or port") from error
    disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each, which nobody asks for
    snapshots = _Snapshots(asyncio.get_running_loop(), sources)
    REGISTRY.register(snapshots)
    try:
        yield server.server_port
    finally:
        REGISTRY.unregister(snapshots)
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        await asyncio.to_thread(thread.join)


def log_metrics(log: EventLog) -> Source:
    """Whether the log answers."""

    async def snapshot() -> Iterable[Metric]:
        answers = await lags(log, {(_EVENTS, 0): 0})
        return [gauge("caipan_log_available", "Whether the log answers: 1 or 0.", 1 if answers else 0)]

    return snapshot


async def lags(log: EventLog, positions: Mapping[tuple[str, int], int]) -> dict[tuple[str, int], int]:
    """How many records stand from each position on; by topic and partition. Empty where the log does not answer."""
    try:
        async with asyncio.timeout(_LOG_S):
            return {place: await log.end(*place) - position for place, position in positions.items()}
    except (LogError, TimeoutError):
        return {}


def gauge(name: str, about: str, value: float) -> Metric:
    """One number that goes up and down."""
    return GaugeMetricFamily(name, about, value=value)


def gauges(name: str, about: str, labels: Labels, values: Iterable[tuple[Labels, float]]) -> Metric:
    """The same by labels: ``labels`` are their names, ``values`` what stands for them with its number."""
    family = GaugeMetricFamily(name, about, labels=labels)
    for given, value in values:
        family.add_metric(given, value)
    return family


def counters(name: str, about: str, labels: Labels, values: Iterable[tuple[Labels, float]]) -> Metric:
    """As ``gauges``, for numbers that only grow; ``name`` without "_total"."""
    family = CounterMetricFamily(name, about, labels=labels)
    for given, value in values:
        family.add_metric(given, value)
    return family


class _Snapshots(Collector):
    """Asks the parts, on their own event loop, whenever the endpoint is asked. A part that fails is left out."""

    def __init__(self, loop: asyncio.AbstractEventLoop, sources: Iterable[Source]) -> None:
        self._loop = loop
        self._sources = tuple(sources)

    def collect(self) -> Iterator[Metric]:
        yield gauges("caipan_build_info", "The version.", ("version",), [((version("caipan"),), 1)])
        asked = asyncio.run_coroutine_threadsafe(self._ask(), self._loop)
        try:
            yield from asked.result(2 * _SNAPSHOT_S)
        except TimeoutError:
            asked.cancel()
            _log.warning("no metrics, the service is too busy", waited_s=2 * _SNAPSHOT_S)

    def describe(self) -> Iterator[Metric]:
        """Nothing is asked when the collector is registered."""
        return iter(())

    async def _ask(self) -> list[Metric]:
        return [metric for part in await asyncio.gather(*map(_asked, self._sources)) for metric in part]


async def _asked(source: Source) -> Iterable[Metric]:
    try:
        async with asyncio.timeout(_SNAPSHOT_S):
            return await source()
    except Exception as error:
        _log.warning("metrics of a part are left out", error=f"{type(error).__name__}: {error}")
        return ()
