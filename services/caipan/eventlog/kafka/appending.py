"""Appending to Kafka, in one of two ways.

A gateway takes events from many callers at once: kafka-python's producer gathers what they send, on a thread of its
own, so that no pause of the event loop holds up a record on its way. A fold has all its outcomes in hand: one record
batch of aiokafka for each partition costs a third of the time, and stands in the log whole or not at all.

Both are idempotent and wait for all replicas in sync. What is not acknowledged within TIMEOUT_S is reported as
unavailable; it may stand in the log all the same.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

from aiokafka import AIOKafkaProducer
from kafka import KafkaProducer

from caipan.eventlog.kafka.batches import BATCH_BYTES, TIMEOUT_S, Row, abandoned, send_batches, started_producer
from caipan.eventlog.kafka.settings import KafkaSettings
from caipan.eventlog.kafka.topics import RECORD_BYTES

Rows = Mapping[int, Sequence[Row]]  # by partition
Offsets = Mapping[int, Sequence[int]]  # of the rows


class Appender(ABC):
    """Appends rows to a topic of the cluster; connects when first used. Raises what the clients raise, TimeoutError."""

    @abstractmethod
    async def close(self) -> None:
        """Finishes what is under way."""

    @abstractmethod
    async def append(self, topic: str, rows: Rows) -> Offsets: ...


class GatheringAppender(Appender):
    """kafka-python's producer: whatever was sent while a request was under way goes into the next one."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._thread = ThreadPoolExecutor(1, "caipan-kafka")  # to send may block
        self._producer: Any = None

    async def close(self) -> None:
        if self._producer is not None:
            await self._on_thread(partial(self._producer.close, timeout=TIMEOUT_S))
        self._thread.shutdown(wait=False)

    async def append(self, topic: str, rows: Rows) -> Offsets:
        acknowledged = _Acknowledged(sum(map(len, rows.values())))
        sent = await self._on_thread(partial(self._send, topic, rows, acknowledged))
        await acknowledged.wait()
        return {partition: [future.value.offset for future in futures] for partition, futures in sent.items()}

    async def _on_thread(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _connect(self) -> Any:
        return KafkaProducer(
            **self._settings.client(),
            client_id="caipan",
            acks="all",
            enable_idempotence=True,
            batch_size=BATCH_BYTES,
            max_request_size=RECORD_BYTES,
            bootstrap_timeout_ms=TIMEOUT_S * 1000,
            delivery_timeout_ms=TIMEOUT_S * 1000,
            request_timeout_ms=TIMEOUT_S * 500,
            max_block_ms=TIMEOUT_S * 500,
            reconnect_backoff_max_ms=1000,
            allow_auto_create_topics=False,
        )

    def _send(self, topic: str, rows: Rows, acknowledged: _Acknowledged) -> Mapping[int, list[Any]]:
        if self._producer is None:
            self._producer = self._connect()
        sent: dict[int, list[Any]] = {}
        for partition, each in rows.items():
            sent[partition] = futures = []
            for key, value, headers in each:
                future = self._producer.send(topic, value, key, list(headers), partition)
                future.add_callback(acknowledged.one)
                future.add_errback(acknowledged.fail)
                futures.append(future)
        return sent


class _Acknowledged:
    """Counts the acknowledgements that come on the producer's thread; the event loop is woken once, for the last."""

    def __init__(self, count: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._left = count
        self._done: asyncio.Future[None] = self._loop.create_future()

    async def wait(self) -> None:
        await self._done

    def one(self, _: object) -> None:
        self._left -= 1
        if not self._left:
            self._loop.call_soon_threadsafe(self._finish, None)

    def fail(self, error: BaseException) -> None:
        with suppress(RuntimeError):  # the loop may be closed by now
            self._loop.call_soon_threadsafe(self._finish, error)

    def _finish(self, error: BaseException | None) -> None:
        if self._done.done():
            return
        if error is None:
            self._done.set_result(None)
        else:
            self._done.set_exception(error)


class BatchAppender(Appender):
    """aiokafka's batches: the rows of a partition are one record batch, unless they are larger than a megabyte."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._producer: AIOKafkaProducer | None = None
        self._connecting = asyncio.Lock()
        self._busy: defaultdict[tuple[str, int], asyncio.Lock] = defaultdict(asyncio.Lock)

    async def close(self) -> None:
        if self._producer is not None:
            await self._producer.stop()

    async def append(self, topic: str, rows: Rows) -> Offsets:
        sending = [self._append(topic, partition, each) for partition, each in rows.items()]
        answers = await asyncio.gather(*sending, return_exceptions=True)
        failed = [answer for answer in answers if isinstance(answer, BaseException)]
        if failed:
            raise failed[0]
        return dict(zip(rows, answers, strict=True))  # type: ignore[arg-type]

    async def _append(self, topic: str, partition: int, rows: Sequence[Row]) -> list[int]:
        async with self._busy[topic, partition]:  # a producer takes one batch of a partition at a time
            producer = await self._connected()
            try:
                async with asyncio.timeout(TIMEOUT_S):
                    return await send_batches(producer, topic, partition, rows)
            except BaseException:
                # Its sequence numbers may have a hole now, and the broker would refuse whatever it sent next.
                self._producer = None
                await abandoned(producer)
                raise

    async def _connected(self) -> AIOKafkaProducer:
        async with self._connecting:
            if self._producer is None:
                self._producer = await started_producer(self._settings, enable_idempotence=True)
            return self._producer
