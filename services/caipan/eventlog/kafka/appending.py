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
from typing import Any, TypeVar

from aiokafka import AIOKafkaProducer
from kafka import KafkaProducer

from caipan.eventlog.kafka.batches import BATCH_BYTES, TIMEOUT_S, Row, abandoned, send_batches, started_producer
from caipan.eventlog.kafka.faults import CLIENT_ERRORS
from caipan.eventlog.kafka.settings import KafkaSettings
from caipan.eventlog.kafka.topics import RECORD_BYTES

T = TypeVar("T")
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
        self._thread = ThreadPoolExecutor(1, "caipan-kafka")  # to connect and to send may block
        self._producer: Any = None

    async def close(self) -> None:
        if self._producer is not None:
            await self._on_thread(_close, self._producer, TIMEOUT_S)
        self._thread.shutdown(wait=False)

    async def append(self, topic: str, rows: Rows) -> Offsets:
        acknowledged = _Acknowledged(sum(map(len, rows.values())))
        producer = None
        try:
            async with asyncio.timeout(TIMEOUT_S):  # others may be before it on the thread
                producer, sent = await self._on_thread(self._send, topic, rows, acknowledged)
                await acknowledged.wait()
        except (*CLIENT_ERRORS, TimeoutError):
            # An idempotent producer of kafka-python 3.0.12 may send nothing any more once a batch has expired under
            # way, as it does when a broker is away for longer than TIMEOUT_S: so the next append gets a new one.
            if producer is not None and self._producer is producer:
                self._producer = None
                asyncio.get_running_loop().run_in_executor(None, _abandon, producer)
            raise
        return {partition: [future.value.offset for future in futures] for partition, futures in sent.items()}

    async def _on_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    def _send(self, topic: str, rows: Rows, acknowledged: _Acknowledged) -> tuple[Any, dict[int, list[Any]]]:
        if self._producer is None:
            self._producer = self._connected()
        sent: dict[int, list[Any]] = {}
        for partition, each in rows.items():
            sent[partition] = futures = []
            for key, value, headers in each:
                future = self._producer.send(topic, value, key, list(headers), partition)
                future.add_callback(acknowledged.one)
                future.add_errback(acknowledged.fail)
                futures.append(future)
        return self._producer, sent

    def _connected(self) -> Any:
        timeout_ms = TIMEOUT_S * 1000
        return KafkaProducer(
            **self._settings.client(),
            client_id="caipan",
            acks="all",
            enable_idempotence=True,
            batch_size=BATCH_BYTES,
            max_request_size=RECORD_BYTES,
            bootstrap_timeout_ms=timeout_ms,
            delivery_timeout_ms=timeout_ms,
            request_timeout_ms=timeout_ms // 2,
            max_block_ms=timeout_ms // 2,
            reconnect_backoff_max_ms=1000,
            allow_auto_create_topics=False,
        )


def _close(producer: Any, timeout_s: int) -> None:
    with suppress(*CLIENT_ERRORS):  # what was not sent in time has been reported already
        producer.close(timeout=timeout_s)


def _abandon(producer: Any) -> None:
    """Fails all that it has not sent, and ends it. `close` alone would wait for that, and give up."""
    producer._sender.force_close()
    producer._sender.join()
    _close(producer, 0)


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
