"""The yardstick of a worker: a plain faust agent with faust's defaults, one send and one table write for each event.

Run as ``python -m bench.kafka_plain BOOTSTRAP SOURCE TARGET PARTITIONS FOLDER``; it reads SOURCE from its beginning.
"""

from __future__ import annotations

import sys
from typing import Any

import faust


def main(bootstrap: str, source: str, target: str, partitions: str, folder: str) -> None:
    """Runs until it is stopped."""
    app = faust.App(f"{target}-agent", broker=f"kafka://{bootstrap}", topic_partitions=int(partitions), datadir=folder)
    events = app.topic(source, key_serializer="raw", value_serializer="raw")
    answers = app.topic(target, key_serializer="raw", value_serializer="raw")
    seen = app.Table("seen", key_type=bytes, default=int)

    @app.agent(events)
    async def answer(stream: Any) -> None:
        async for event in stream.events():
            await answers.send(key=event.key, value=event.value)
            seen[event.key] += 1

    sys.argv[1:] = ["worker", "--without-web"]
    app.main()


main(*sys.argv[1:])
