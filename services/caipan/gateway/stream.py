"""The stream of a device: events in, acknowledgements and verdicts out.

Three steps at the same time: ``receive`` admits events as they come, ``store`` appends all that has arrived meanwhile
at once, ``answers`` sends what is to be said. What is on its way is bounded: a device that does not read its answers is
not read from any further, and HTTP/2 holds it back. An error goes the same way, behind all that came before it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from caipan.gateway.admission import GAME_EVENTS, Admitted, admit_event, clear_written
from caipan.gateway.originals import ANSWER_BYTES, Position, answer
from caipan.gateway.verdicts import Expected, Told, Watch, pending, stopping
from caipan.serving.errors import RETRY_DELAYS_MS, ServiceError
from caipan.serving.tokens import Identity
from caipan.serving.validation import check, shown
from caipan.v1.common_pb2 import Actor
from caipan.v1.event_pb2 import Event
from caipan.v1.intake_service_pb2 import (
    WAIT_LOG,
    Acknowledged,
    Judged,
    StreamEventsRequest,
    StreamEventsResponse,
)
from caipan.v1.outcome_pb2 import STATUS_DUPLICATE, STATUS_PARKED, Outcome

EVENTS_MOST = 1000  # of a stream that are without their answers
BYTES_MOST = 4 << 20  # of its events that are not stored yet

_CHECK_S = 1.0  # how long a token that was good is not looked at again

Caller = Callable[[], tuple[Identity, Actor]]
Append = Callable[[Sequence[Admitted]], Awaitable[list[Position]]]
FindOriginals = Callable[[Iterable[Outcome]], Awaitable[Mapping[Position, Outcome]]]


class _Sent(NamedTuple):
    """An event on its way into the log, and whether its verdict is wanted."""

    admitted: Admitted
    source_seq: int
    judged: bool


class Stream:
    """One stream of one caller."""

    def __init__(
        self, caller: Caller, append: Append, originals: FindOriginals, watch: Watch, patience_s: Callable[[], float]
    ) -> None:
        """``caller`` raises ServiceError where the token is not good, or not any more. ``patience_s`` says how many
        seconds the verdicts are waited for once the last event is stored.
        """
        self._caller = caller
        self._append = append
        self._originals = originals
        self._watch = watch
        self._patience_s = patience_s
        self._known: tuple[Identity, Actor] = caller()
        self._known_until_s = _now_s() + _CHECK_S
        self._arrived: list[_Sent] = []
        self._arrival = asyncio.Event()
        self._stored: deque[tuple[Acknowledged, bool]] = deque()  # and whether a verdict is to follow
        self._open = 0  # events without all of their answers
        self._bytes = 0  # of events that are not stored
        self._room = asyncio.Event()  # set when something has left
        self._last = ""  # the event acknowledged last
        self._give_up_s: float | None = None

    async def answers(self, requests: AsyncIterator[StreamEventsRequest]) -> AsyncGenerator[StreamEventsResponse, None]:
        """All that the device is told, until it has closed its side and everything is answered. Raises ServiceError."""
        receiving = asyncio.create_task(self._receive(requests))
        storing = asyncio.create_task(self._store(receiving))
        receiving.add_done_callback(lambda _: self._arrival.set())
        storing.add_done_callback(lambda _: self._watch.news.set())
        try:
            while True:
                self._watch.news.clear()
                while self._stored:
                    acknowledged, judged = self._stored.popleft()
                    yield StreamEventsResponse(acknowledged=acknowledged)
                    self._last = _name(acknowledged)
                    if not judged:
                        self._close()
                told = self._watch.take()
                for judgement in await self._judgements(told):
                    yield StreamEventsResponse(judged=judgement)
                for each in told:
                    if not each.waited:
                        self._close()
                if not told and not self._stored:
                    if self._is_over(receiving, storing):
                        return
                    await self._wait()
        except ServiceError as error:
            raise self._ending(error) from None
        finally:
            receiving.cancel()
            storing.cancel()
            await asyncio.gather(receiving, storing, return_exceptions=True)

    async def _receive(self, requests: AsyncIterator[StreamEventsRequest]) -> None:
        """Takes events in while there is room. Raises ServiceError for the first one that may not be stored."""
        async for request in requests:
            sent = self._admit(request)
            while self._open >= EVENTS_MOST or self._bytes >= BYTES_MOST:
                self._room.clear()
                await self._room.wait()
            self._open += 1
            self._bytes += len(sent.admitted.record.value)
            self._arrived.append(sent)
            self._arrival.set()

    def _admit(self, request: StreamEventsRequest) -> _Sent:
        event = request.event
        try:
            if _now_s() >= self._known_until_s:
                self._known, self._known_until_s = self._caller(), _now_s() + _CHECK_S
            clear_written(event)
            check(request)
            admitted = admit_event(event, *self._known, field="event")
        except ServiceError as error:
            raise _about(event, error) from None
        return _Sent(admitted, event.source_seq, admitted.topic == GAME_EVENTS and request.wait != WAIT_LOG)

    async def _store(self, receiving: asyncio.Task[None]) -> None:
        """Appends what arrives, until nothing more does. Raises ServiceError."""
        while True:
            while not self._arrived and not receiving.done():
                self._arrival.clear()
                await self._arrival.wait()
            if not self._arrived:
                return
            batch, self._arrived = self._arrived, []
            await self._store_batch(batch)

    async def _store_batch(self, batch: Sequence[_Sent]) -> None:
        self._watch.expect(_expected(sent) for sent in batch if sent.judged)
        positions = await self._append([sent.admitted for sent in batch])
        for sent, position in zip(batch, positions, strict=True):
            self._stored.append((_acknowledged(sent, position), sent.judged))
            self._bytes -= len(sent.admitted.record.value)
        self._watch.placed(position for sent, position in zip(batch, positions, strict=True) if sent.judged)
        self._watch.news.set()
        self._room.set()

    async def _judgements(self, told: Sequence[Told]) -> list[Judged]:
        notices = [each.outcome for each in told if each.outcome.verdict.status == STATUS_DUPLICATE]
        originals = await self._originals(notices)
        judgements = []
        for each in told:
            judged = Judged(
                event_id=each.event.event_id, game_id=each.event.game.decode(), source_seq=each.event.source_seq
            )
            answer(judged, each.outcome, originals)
            if judged.status != STATUS_PARKED:
                self._watch.forget(each.event)
            if judged.ByteSize() > ANSWER_BYTES:
                judged.ClearField("outcome")
            judgements.append(judged)
        return judgements

    def _is_over(self, receiving: asyncio.Task[None], storing: asyncio.Task[None]) -> bool:
        """Whether all is answered, once all that is stored is acknowledged. Raises ServiceError for another end."""
        if self._watch.stopped:
            receiving.cancel()
        if not storing.done():
            return False
        storing.result()
        if self._watch.stopped and (receiving.cancelled() or self._open):
            raise stopping("this stream ends here")
        receiving.result()
        if self._give_up_s is None:
            self._give_up_s = _now_s() + self._patience_s()
        return not self._open

    async def _wait(self) -> None:
        """Waits for something to say. Raises ServiceError VERDICT_PENDING."""
        try:
            async with asyncio.timeout_at(self._give_up_s):
                await self._watch.news.wait()
        except TimeoutError:
            raise pending() from None

    def _close(self) -> None:
        """An event has all of its answers."""
        self._open -= 1
        self._room.set()

    def _ending(self, error: ServiceError) -> ServiceError:
        """The error, with what is acknowledged where the device is to go on with another stream by itself."""
        detail = error.detail
        if detail.code not in RETRY_DELAYS_MS:
            return error
        acknowledged = f"acknowledged up to {self._last}" if self._last else "nothing is acknowledged"
        remedy = "open another stream and send again what is not acknowledged"
        return ServiceError(detail.code, f"{detail.reason}; {acknowledged}", remedy)


def _expected(sent: _Sent) -> Expected:
    event_id, _, record = sent.admitted
    assert record.key is not None  # admission gives every record its key
    return Expected(record.key, event_id, sent.source_seq)


def _acknowledged(sent: _Sent, position: Position) -> Acknowledged:
    event_id, topic, record = sent.admitted
    assert record.key is not None
    partition, offset = position
    acknowledged = Acknowledged(event_id=event_id, source_seq=sent.source_seq, partition=partition, offset=offset)
    setattr(acknowledged, "game_id" if topic == GAME_EVENTS else "tournament_id", record.key.decode())
    return acknowledged


def _about(event: Event, error: ServiceError) -> ServiceError:
    """The error of an event, naming it."""
    detail = error.detail
    remedy = f"{detail.remedy}; go on from this event, on another stream"
    return ServiceError(detail.code, f"{_name(event)}: {detail.reason}", remedy, detail.field)


def _name(event: Event | Acknowledged) -> str:
    counted = f" (source_seq {event.source_seq})" if event.source_seq else ""
    return f"event {shown(event.event_id) if event.event_id else 'without event_id'}{counted}"


def _now_s() -> float:
    """The event loop's time."""
    return asyncio.get_running_loop().time()
