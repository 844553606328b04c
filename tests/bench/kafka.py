"""caipan on Kafka, on a broker of its own, the services in processes of their own."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from support.kafka import Broker

from bench import kafka_latency, kafka_rebuild, kafka_takeover, kafka_worker
from bench.report import Figure

PARTS = {
    "append to watcher": kafka_latency.figures,
    "events through one worker": kafka_worker.figures,
    "takeover": kafka_takeover.figures,
    "rebuild of a query": kafka_rebuild.figures,
}


def figures() -> Iterator[list[Figure]]:
    """All figures on Kafka, part by part. Raises KafkaMissing where there is no Java, or no Maven to fetch Kafka."""
    for name in [name for name in os.environ if name.startswith("CAIPAN_")]:
        del os.environ[name]  # they are for the user's own cluster
    with tempfile.TemporaryDirectory() as folder, Broker(Path(folder, "broker")) as broker:
        for measure in PARTS.values():
            yield asyncio.run(measure(broker, Path(folder)))
