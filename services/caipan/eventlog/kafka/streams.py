"""faust, and nothing else that knows it: which partitions of a topic are this worker's, and what comes in them.

Out of the box faust 0.15.3 loses records when partitions move: it resumes them, then seeks to what was committed, then
resumes flow control, and that empties the queues of all streams; what was fetched in between is gone. The remedy has
two halves: flow control that empties nothing while it flows, and seeking and resuming it while the partitions are still
paused. Whoever receives is not to trust it all the same (DeliveryGuard).
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any

import faust
import structlog
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from faust.app.base import BootStrategy
from faust.auth import Credentials, SASLCredentials, SSLCredentials
from faust.types import TP
from mode.threads import WorkerThread
from mode.utils.queues import FlowControlEvent

from caipan.eventlog.delivery import Delivery, Receiver
from caipan.eventlog.errors import LogError, LogUnavailable
from caipan.eventlog.kafka.faults import CLIENT_ERRORS, as_log_error
from caipan.eventlog.kafka.settings import KafkaSettings
from caipan.eventlog.port import Record

SESSION_S = 6.0  # after which the partitions of a worker that says nothing go to others; the least a broker allows
HEARTBEAT_S = 1.0
REBALANCE_S = 15.0  # for all workers of the group to let go of their partitions
COMMIT_S = 3.0
LAST_COMMIT_S = 1.0
STOP_S = 10.0
FETCH_BYTES = 128 << 10  # of one partition, so that none waits long for the backlog of another

for _library in ("faust", "mode"):
    logging.getLogger(_library).setLevel(logging.WARNING)  # what they say below that costs time
logger = structlog.get_logger()


class GroupDelivery(Delivery):
    """The topic `topic` for one worker of the consumer group `group`, by their bare names.

    Each worker of the group has some of the partitions; those of one that is gone go to the others. What the group has
    committed are the positions of the receiver: others watch them, and faust delivers from there after a rebalance.
    """

    def __init__(self, settings: KafkaSettings, topic: str, group: str) -> None:
        self._settings = settings
        self._topic = topic
        self._group = settings.topic(group)

    async def run(self, receiver: Receiver) -> None:
        app = self._app(receiver)
        try:
            await app.start()
            await app.wait_until_stopped()
        except Exception as error:
            raise self._error(error) from error
        finally:
            await receiver.revoked()
            await asyncio.wait([asyncio.create_task(app.stop())], timeout=STOP_S)  # cancelling it is of no use
        raise self._error(app.crash_reason)

    def _app(self, receiver: Receiver) -> Any:
        settings = self._settings
        app: Any = _App(
            self._group,
            broker=[f"kafka://{server}" for server in settings.servers],
            broker_credentials=_credentials(settings),
            broker_client_id="caipan",
            broker_session_timeout=SESSION_S,
            broker_heartbeat_interval=HEARTBEAT_S,
            broker_rebalance_timeout=REBALANCE_S,
            broker_request_timeout=2 * REBALANCE_S,  # a worker that joins waits for the others in one request
            broker_max_poll_interval=10 * 365 * 86400.0,  # after which a worker without partitions leaves the group
            consumer_max_fetch_size=FETCH_BYTES,
            consumer_auto_offset_reset="latest",  # the fold reads what stood before it came
            processing_guarantee="at_least_once",
            stream_wait_empty=False,
            topic_allow_declare=False,
            topic_disable_leader=True,
        )
        app.boot_strategy = BootStrategy(app, enable_web=False, enable_kafka_producer=False)
        app.flow_control = PatientFlow()
        app.assignor = type("Assignor", (Assignor,), {})  # it keeps its memory in the class
        topic = app.topic(settings.topic(self._topic), key_serializer="raw", value_serializer="raw", acks=False)

        async def hand_over(stream: Any) -> None:
            async for event in stream.events():
                await receiver.deliver([self._record(event.message)])

        app.agent(topic, name=self._topic)(hand_over)
        self._tell_of_partitions(app, receiver)
        app.on_rebalance_complete.connect(seek_then_flow)
        thread = app.consumer._thread
        thread.Worker = _QuietThread
        thread.on_crash = lambda *_, **__: None  # it would print to the terminal; `run` raises
        return app

    def _tell_of_partitions(self, app: Any, receiver: Receiver) -> None:
        generation = -2

        async def assigned(_: Any, assigned: set[TP], **__: Any) -> None:
            # Each rebalance makes a generation: unless we have missed one, nobody else had our partitions in between.
            nonlocal generation
            last, generation = generation, app.consumer_generation_id
            partitions = {each.partition for each in assigned}
            logger.info("assigned", group=self._group, partitions=sorted(partitions), generation=generation)
            receiver.assigned(partitions, kept=generation == last + 1)

        async def revoked(*_: Any, **__: Any) -> None:
            await receiver.revoked()
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_COMMIT_S):
                    await self._commit(app, receiver)

        async def commit() -> None:
            if not app.rebalancing:
                await self._commit(app, receiver)

        app.on_partitions_assigned.connect(assigned)
        app.on_partitions_revoked.connect(revoked)
        app.timer(COMMIT_S)(commit)

    async def _commit(self, app: Any, receiver: Receiver) -> None:
        """The positions of the receiver; faust's own way knows only what it has delivered."""
        positions = receiver.positions()
        offsets = {each: positions[each.partition] for each in app.consumer.assignment() if each.partition in positions}
        if offsets:
            await app.consumer._commit(offsets)

    def _record(self, said: Any) -> Record:
        headers = tuple((name, value or b"") for name, value in said.headers or ())
        received_ms = round(said.timestamp * 1000)
        return Record(self._topic, said.partition, said.offset, said.key, said.value or b"", headers, received_ms)

    def _error(self, error: BaseException | None) -> LogError:
        what = f"taking part in the group {self._group}"
        if isinstance(error, CLIENT_ERRORS):
            return as_log_error(self._settings, what, error)
        return LogUnavailable(f"{self._settings.name}: {what}: {error!r}; is the broker up?")


class PatientFlow(FlowControlEvent):
    """Flow control that leaves the queues alone when what is resumed was not suspended."""

    def resume(self) -> None:
        if not self.is_active():
            super().resume()


async def seek_then_flow(app: Any, **_: Any) -> None:
    """The other half of the remedy: for `on_rebalance_complete`, while the partitions are paused."""
    if app.consumer.assignment():
        await app.consumer.perform_seek()
    app.flow_control.resume()


class Assignor(StickyPartitionAssignor):  # type: ignore[misc]
    """As even as can be, and few partitions move; faust's own leaves workers idle. Tables it need not know."""

    @classmethod
    def assigned_actives(cls) -> set[TP]:
        return set()

    assigned_standbys = assigned_actives


class _App(faust.App):
    async def on_first_start(self) -> None:
        """Without tables no folders are made for them."""


class _QuietThread(WorkerThread):
    """A thread that keeps no process alive; `crash_reason` of the app tells what ended it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.daemon = True

    def run(self) -> None:
        with suppress(Exception, asyncio.CancelledError):
            super().run()


def _credentials(settings: KafkaSettings) -> Credentials | None:
    context = settings.ssl_context()
    if settings.uses_sasl:
        user, password = settings.sasl_username, settings.sasl_password.get_secret_value()
        mechanism = settings.sasl_mechanism.value
        return SASLCredentials(username=user, password=password, ssl_context=context, mechanism=mechanism)
    return SSLCredentials(context) if context else None
