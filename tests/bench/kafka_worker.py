"""Events a second through one worker, against a plain faust agent: the same events on the same broker, in turn.

Both times are from the first answer to the last one, as the broker writes them down: no start of a process is in them.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from support.fleet import Fleet
from support.kafka import Broker

from bench.kafka_site import EVENTS, OUTCOMES, append_all, growing_s, grown, new_log, real_events
from bench.report import Figure
from caipan.eventlog import NewRecord
from caipan.eventlog.kafka import KafkaLog, KafkaSettings

PARTITIONS = 4
GAMES = 40  # in each round, some 20,000 events
ROUNDS = 2
_ANSWERS = "tournament-outcomes"  # of the plain agent: a topic like game-outcomes, which nobody else needs here


async def figures(broker: Broker, folder: Path) -> list[Figure]:
    """The figure of a worker."""
    judged, plain = [], []
    for number in range(ROUNDS):
        name = f"worker-{number}"
        events = real_events(name, GAMES)
        async with KafkaLog(await new_log(broker, name, PARTITIONS), batches=True) as log:
            judged.append(await _judged(log, folder / name, events))
            plain.append(await _answered(log, folder / f"{name}-plain", len(events)))
    best, yardstick = max(judged), max(plain)
    name = "one worker on Kafka, events/s"
    return [Figure(name, f"{best:,.0f}", f"plain faust {yardstick:,.0f}/s", best / yardstick, 2.5, False)]


async def _judged(log: KafkaLog, folder: Path, events: Sequence[NewRecord]) -> float:
    """Events a second by a worker that finds them all there when it is ready: they come as to one that is overrun."""
    with Fleet(log.settings, folder) as fleet:
        (worker,) = await asyncio.to_thread(fleet.start, "referee")
        worker.pause()
        await append_all(log, EVENTS, events)
        worker.go_on()
        await grown(log, OUTCOMES, len(events))
        await asyncio.to_thread(worker.stop)
    return len(events) / await growing_s(log, OUTCOMES)


async def _answered(log: KafkaLog, folder: Path, events: int) -> float:
    """Events a second by the plain agent, that finds them there too."""
    with _plain(log.settings, folder):
        await grown(log, _ANSWERS, events)
    return events / await growing_s(log, _ANSWERS)


@contextmanager
def _plain(settings: KafkaSettings, folder: Path) -> Iterator[None]:
    topics = (settings.topic(EVENTS), settings.topic(_ANSWERS))
    command = (sys.executable, "-m", "bench.kafka_plain", settings.bootstrap, *topics, str(PARTITIONS), str(folder))
    with folder.with_suffix(".log").open("w") as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
    try:
        yield
        process.terminate()
        process.wait(30)
    finally:
        process.kill()
        process.wait()
