"""The handlers of IntakeService, and the gateway as a whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from functools import partial
from typing import Any

from prometheus_client.core import Metric

from caipan.eventlog import EventLog
from caipan.gateway.admission import admit
from caipan.gateway.intake import Intake, fit, log_errors
from caipan.gateway.permission import ERASE_PERSON, PUT_PERSON, RETRY_QUARANTINED, Roles, check_role
from caipan.gateway.retry import QUARANTINE, admit_again
from caipan.gateway.rulings import Rulings
from caipan.gateway.stream import Stream
from caipan.serving.metrics import gauge
from caipan.serving.server import Server
from caipan.serving.tokens import Verifier
from caipan.serving.validation import check
from caipan.v1 import intake_service_pb2 as pb
from caipan.v1 import ruling_service_pb2
from caipan.v1.event_pb2 import Event
from caipan.v1.intake_service_pb2_grpc import IntakeServiceServicer, add_IntakeServiceServicer_to_server
from caipan.v1.ruling_service_pb2_grpc import add_RulingServiceServicer_to_server

PEOPLE = "people"


class Gateway(IntakeServiceServicer):
    """IntakeService, and RulingService beside it. Events are taken once it is ``ready``, and verdicts come as long as
    ``run`` runs.

    Events of a tournament have no verdicts in this version: their results have no status and return with the log.
    """

    def __init__(self, log: EventLog, verifier: Verifier, verdict_wait_s: float = 30.0) -> None:
        """``verdict_wait_s``: how long a call without a deadline waits for its verdicts."""
        self._intake = Intake(log, verifier, verdict_wait_s)
        self._log = log
        self._tail = self._intake.tail

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
        """Puts both services on a server."""
        server.add(pb.DESCRIPTOR.services_by_name["IntakeService"], partial(add_IntakeServiceServicer_to_server, self))
        named, rulings = ruling_service_pb2.DESCRIPTOR.services_by_name, Rulings(self._intake)
        server.add(named["RulingService"], partial(add_RulingServiceServicer_to_server, rulings))

    async def run(self) -> None:
        """Follows the outcomes until cancelled, and tells callers that wait then: cancel it before the server stops."""
        await self._tail.run()

    async def AppendEvents(self, request: pb.AppendEventsRequest, context: Any) -> pb.AppendEventsResponse:  # noqa: N802
        identity, by = self._intake.caller(context)
        results, missing = await self._intake.results(admit(request, identity, by), request.wait, context)
        if missing is not None:
            raise missing
        response = pb.AppendEventsResponse(results=results)
        fit(response, response.results)
        return response

    async def StreamEvents(  # noqa: N802
        self, requests: AsyncIterator[pb.StreamEventsRequest], context: Any
    ) -> AsyncIterator[pb.StreamEventsResponse]:
        intake = self._intake
        caller = partial(intake.caller, context)
        caller()
        await intake.following(context)
        with self._tail.watch() as watch:
            stream = Stream(caller, intake.append, intake.originals, watch, partial(intake.patience_s, context))
            async with aclosing(stream.answers(requests)) as answers:
                async for each in answers:
                    yield each

    async def RetryQuarantined(  # noqa: N802
        self, request: pb.RetryQuarantinedRequest, context: Any
    ) -> pb.RetryQuarantinedResponse:
        identity, by = self._intake.caller(context)
        check_role(by.role, RETRY_QUARANTINED, "RetryQuarantined", field="")
        check(request)
        with log_errors("repeat the call"):
            records = await self._log.read_key(QUARANTINE, request.record_id.encode())
        admitted = admit_again(request.record_id, records, identity, by)
        results, missing = await self._intake.results([admitted], request.wait, context)
        if missing is not None:
            raise missing
        response = pb.RetryQuarantinedResponse(event=Event.FromString(admitted.record.value), result=results[0])
        fit(response, [response.result])
        return response

    async def PutPerson(self, request: pb.PutPersonRequest, context: Any) -> pb.PutPersonResponse:  # noqa: N802
        self._check_person_call(request, context, PUT_PERSON)
        person = request.person
        person.DiscardUnknownFields()
        with log_errors("repeat the call"):
            await self._log.put(PEOPLE, person.person_id.encode(), person.SerializeToString(deterministic=True))
        return pb.PutPersonResponse()

    async def ErasePerson(self, request: pb.ErasePersonRequest, context: Any) -> pb.ErasePersonResponse:  # noqa: N802
        self._check_person_call(request, context, ERASE_PERSON)
        with log_errors("repeat the call"):
            await self._log.put(PEOPLE, request.person_id.encode(), None)
        return pb.ErasePersonResponse()

    def _check_person_call(
        self, request: pb.PutPersonRequest | pb.ErasePersonRequest, context: Any, needed: Roles
    ) -> None:
        _, by = self._intake.caller(context)
        check_role(by.role, needed, request.DESCRIPTOR.name.removesuffix("Request"), field="")
        check(request)
