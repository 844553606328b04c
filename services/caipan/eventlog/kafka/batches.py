"""Record batches by aiokafka: made by the caller, so that what belongs together stands in the log together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from aiokafka import AIOKafkaProducer

from caipan.eventlog.kafka.settings import KafkaSettings
from caipan.eventlog.kafka.topics import RECORD_BYTES
from caipan.eventlog.port import Headers

TIMEOUT_S = 10  # until an append that is not acknowledged is given up
BATCH_BYTES = 1 << 20
_GRACE_S = 1.0

Row = tuple[bytes | None, bytes | None, Headers]  # key, value (None erases the key of a compacted topic), headers


async def started_producer(settings: KafkaSettings, **options: Any) -> AIOKafkaProducer:
    """A producer that is connected. Raises what aiokafka raises."""
    producer = AIOKafkaProducer(
        **settings.client(),
        client_id="caipan",
        acks="all",
        max_batch_size=BATCH_BYTES,
        max_request_size=RECORD_BYTES,
        request_timeout_ms=int(TIMEOUT_S * 1000),
        **options,
    )
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await producer.start()
    except BaseException:
        await abandoned(producer)
        raise
    return producer


async def abandoned(producer: AIOKafkaProducer) -> None:
    """Stops a producer that cannot be used any more, without waiting for what it has not sent."""
    # Of these the first alone is enough, unless the broker does not answer.
    for stop in (producer.stop, producer._sender.close, producer.client.close):
        with suppress(Exception):
            async with asyncio.timeout(_GRACE_S):
                await stop()


async def send_batches(producer: AIOKafkaProducer, topic: str, partition: int, rows: Iterable[Row]) -> list[int]:
    """Sends the rows of one partition in their order and returns their offsets. Raises what aiokafka raises."""
    offsets: list[int] = []
    for batch in _batches(producer, rows):
        count = batch.record_count()
        acknowledged = await (await producer.send_batch(batch, topic, partition=partition))
        offsets += range(acknowledged.offset, acknowledged.offset + count)
    return offsets


def _batches(producer: AIOKafkaProducer, rows: Iterable[Row]) -> Iterator[Any]:
    batch = producer.create_batch()
    for key, value, headers in rows:
        record = {"key": key, "value": value, "headers": list(headers), "timestamp": None}
        if batch.append(**record) is None:  # full
            batch.close()
            yield batch
            batch = producer.create_batch()
            batch.append(**record)
    batch.close()
    yield batch
