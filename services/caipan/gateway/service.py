"""The handlers of IntakeService."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from functools import partial
from typing import Any

from prometheus_client.core import Metric

from caipan.eventlog import EventLog, LogError
from caipan.gateway.admission import GAME_EVENTS, TOURNAMENT_EVENTS, Admitted, admit
from caipan.gateway.metrics import appending
from caipan.gateway.originals import ANSWER_BYTES, Position, answer, originals
from caipan.gateway.permission import ERASE_PERSON, PUT_PERSON, RETRY_QUARANTINED, Roles, acting_role, check_role
from caipan.gateway.retry import QUARANTINE, admit_again
from caipan.gateway.stream import Stream
from caipan.gateway.verdicts import Expected, Tail, pending
from caipan.serving.errors import ServiceError
from caipan.serving.metrics import gauge
from caipan.serving.server import Server
from caipan.serving.tokens import Identity, Verifier
from caipan.serving.validation import check
from caipan.v1 import intake_service_pb2 as pb
from caipan.v1.common_pb2 import Actor
from caipan.v1.errors_pb2 import ERROR_CODE_LOG_UNAVAILABLE
from caipan.v1.event_pb2 import Event
from caipan.v1.intake_service_pb2_grpc import IntakeServiceServicer, add_IntakeServiceServicer_to_server
from caipan.v1.outcome_pb2 import STATUS_DUPLICATE, Outcome

PEOPLE = "people"

_START_S = 5.0  # how long a call waits for a service that starts
_ANSWER_S = 0.25  # kept of a deadline, or a quarter of it, so that the answer is there in time


class Gateway(IntakeServiceServicer):
    """IntakeService. Events are taken once it is ``ready``, and verdicts come as long as ``run`` runs.

    Events of a tournament have no verdicts in this version: their results have no status and return with the log.
    A request for both kinds of logs is two appends: if the second one fails the caller is told to repeat.
    """

    def __init__(self, log: EventLog, verifier: Verifier, verdict_wait_s: float = 30.0) -> None:
        """``verdict_wait_s``: how long a call without a deadline waits for its verdicts."""
        self._log = log
        self._verifier = verifier
        self._verdict_wait_s = verdict_wait_s
        self._tail = Tail(log)

    @property
    def ready(self) -> asyncio.Event:
        """Set once ``run`` follows the outcomes."""
        return self._tail.ready

    @property
    def waiting(self) -> int:
        """How many calls wait for verdicts now."""
        return self._tail.watching

    async def metrics(self) -> Iterable[Metric]:
        """What is not counted as it happens: who waits."""
        return [gauge("caipan_gateway_waiting_calls", "Calls and streams that wait for verdicts.", self.waiting)]

    def register(self, server: Server) -> None:
        """Puts the service on a server."""
        server.add(pb.DESCRIPTOR.services_by_name["IntakeService"], partial(add_IntakeServiceServicer_to_server, self))

    async def run(self) -> None:
        """Follows the outcomes until cancelled, and tells callers that wait then: cancel it before the server stops."""
        await self._tail.run()

    async def AppendEvents(self, request: pb.AppendEventsRequest, context: Any) -> pb.AppendEventsResponse:  # noqa: N802
        identity, by = self._caller(context)
        return await self._append_and_wait(admit(request, identity, by), request.wait, context)

    async def StreamEvents(  # noqa: N802
        self, requests: AsyncIterator[pb.StreamEventsRequest], context: Any
    ) -> AsyncIterator[pb.StreamEventsResponse]:
        caller = partial(self._caller, context)
        caller()
        await self._following(context)
        with self._tail.watch() as watch:
            stream = Stream(caller, self._append, self._originals, watch, partial(self._patience_s, context))
            async with aclosing(stream.answers(requests)) as answers:
                async for each in answers:
                    yield each

    async def RetryQuarantined(  # noqa: N802
        self, request: pb.RetryQuarantinedRequest, context: Any
    ) -> pb.RetryQuarantinedResponse:
        identity, by = self._caller(context)
        check_role(by.role, RETRY_QUARANTINED, "RetryQuarantined", field="")
        check(request)
        with _log_errors("repeat the call"):
            records = await self._log.read_key(QUARANTINE, request.record_id.encode())
        admitted = admit_again(request.record_id, records, identity, by)
        appended = await self._append_and_wait([admitted], request.wait, context)
        return pb.RetryQuarantinedResponse(event=Event.FromString(admitted.record.value), result=appended.results[0])

    async def _append_and_wait(
        self, admitted: Sequence[Admitted], wait: pb.Wait.ValueType, context: Any
    ) -> pb.AppendEventsResponse:
        await self._following(context)
        if wait == pb.WAIT_LOG:
            return _response(admitted, await self._append(admitted))
        with self._tail.watch() as watch:
            watch.expect(_expected(event) for event in admitted if event.topic == GAME_EVENTS)
            positions = await self._append(admitted)
            watch.placed(at for event, at in zip(admitted, positions, strict=True) if event.topic == GAME_EVENTS)
            try:
                async with asyncio.timeout(self._patience_s(context)):
                    outcomes = await watch.outcomes()
                    originals = await self._originals(outcomes.values())
            except TimeoutError:
                raise pending() from None
        return _response(admitted, positions, outcomes, originals)

    async def PutPerson(self, request: pb.PutPersonRequest, context: Any) -> pb.PutPersonResponse:  # noqa: N802
        self._check_person_call(request, context, PUT_PERSON)
        person = request.person
        person.DiscardUnknownFields()
        with _log_errors("repeat the call"):
            await self._log.put(PEOPLE, person.person_id.encode(), person.SerializeToString(deterministic=True))
        return pb.PutPersonResponse()

    async def ErasePerson(self, request: pb.ErasePersonRequest, context: Any) -> pb.ErasePersonResponse:  # noqa: N802
        self._check_person_call(request, context, ERASE_PERSON)
        with _log_errors("repeat the call"):
            await self._log.put(PEOPLE, request.person_id.encode(), None)
        return pb.ErasePersonResponse()

    def _check_person_call(
        self, request: pb.PutPersonRequest | pb.ErasePersonRequest, context: Any, needed: Roles
    ) -> None:
        _, by = self._caller(context)
        check_role(by.role, needed, request.DESCRIPTOR.name.removesuffix("Request"), field="")
        check(request)

    def _caller(self, context: Any) -> tuple[Identity, Actor]:
        """Who calls, and as whom the caller reports. Raises ServiceError."""
        metadata = context.invocation_metadata()
        identity = self._verifier.identify(metadata)
        return identity, Actor(person=identity.person, role=acting_role(identity, metadata))

    async def _following(self, context: Any) -> None:
        """Returns once the log is there and its outcomes are followed. Raises ServiceError if that takes too long."""
        try:
            async with asyncio.timeout(min(_START_S, self._patience_s(context))):
                await self.ready.wait()
        except TimeoutError:
            raise ServiceError(
                ERROR_CODE_LOG_UNAVAILABLE, "the service is starting; nothing was stored", "repeat the call in a while"
            ) from None

    async def _append(self, admitted: Sequence[Admitted]) -> list[Position]:
        """Where each event stands in its topic."""
        placed: dict[str, Iterator[Position]] = {}
        with _log_errors("repeat with the same event_ids; perhaps some of the events are stored"):
            for topic in (GAME_EVENTS, TOURNAMENT_EVENTS):
                records = [event.record for event in admitted if event.topic == topic]
                if records:
                    with appending(topic, len(records)):
                        placed[topic] = iter(await self._log.append(topic, records))
        return [next(placed[event.topic]) for event in admitted]

    async def _originals(self, outcomes: Iterable[Outcome]) -> Mapping[Position, Outcome]:
        """For the events that came again, by position: what each was answered the first time."""
        notices = [outcome for outcome in outcomes if outcome.verdict.status == STATUS_DUPLICATE]
        with _log_errors("repeat with the same event_ids; the events are stored"):
            return await originals(self._log, self._tail.recent, notices)

    def _patience_s(self, context: Any) -> float:
        """How long the caller may be kept waiting, seconds."""
        remaining_s: float | None = context.time_remaining()
        if remaining_s is None:
            return self._verdict_wait_s
        return remaining_s - min(_ANSWER_S, remaining_s / 4)


def _response(
    admitted: Sequence[Admitted],
    positions: Sequence[Position],
    outcomes: Mapping[Position, Outcome] | None = None,
    originals: Mapping[Position, Outcome] | None = None,
) -> pb.AppendEventsResponse:
    """``outcomes`` and ``originals`` by the position of a game's event; None where nobody waited for them."""
    response = pb.AppendEventsResponse()
    for event, position in zip(admitted, positions, strict=True):
        partition, offset = position
        result = response.results.add(event_id=event.event_id, partition=partition, offset=offset)
        if event.topic == GAME_EVENTS and outcomes is not None:
            answer(result, outcomes[position], originals or {})
    for result in response.results:
        if response.ByteSize() <= ANSWER_BYTES:
            break
        result.ClearField("outcome")
    return response


def _expected(event: Admitted) -> Expected:
    assert event.record.key is not None  # admission gives every record its key
    return Expected(event.record.key, event.event_id)


@contextmanager
def _log_errors(remedy: str) -> Iterator[None]:
    """Errors of the log as the caller is told them."""
    try:
        yield
    except LogError as error:
        raise ServiceError(ERROR_CODE_LOG_UNAVAILABLE, str(error), remedy) from error
