"""The handlers of RulingService: each request is one event on the way of IntakeService, each refusal an error."""

from __future__ import annotations

from typing import Any

from caipan.gateway.admission import Admitted, admit_event
from caipan.gateway.intake import Intake, fit
from caipan.serving.errors import ServiceError
from caipan.serving.tokens import Identity
from caipan.serving.validation import check
from caipan.v1 import outcome_pb2
from caipan.v1 import ruling_service_pb2 as pb
from caipan.v1.common_pb2 import Actor
from caipan.v1.errors_pb2 import (
    ERROR_CODE_ALREADY_DECIDED,
    ERROR_CODE_EVENT_ID_TAKEN,
    ERROR_CODE_GAME_UNKNOWN,
    ERROR_CODE_MALFORMED,
    ERROR_CODE_REFUSED,
    ERROR_CODE_STALE,
)
from caipan.v1.event_pb2 import Event
from caipan.v1.facts_pb2 import SessionMarked
from caipan.v1.intake_service_pb2 import WAIT_VERDICT, Appended
from caipan.v1.ruling_service_pb2_grpc import RulingServiceServicer
from caipan.v1.rulings_pb2 import RulingDecided


class Rulings(RulingServiceServicer):
    """RulingService over the way in that the whole gateway shares."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake

    async def RaiseClaim(self, request: pb.RaiseClaimRequest, context: Any) -> pb.RaiseClaimResponse:  # noqa: N802
        return pb.RaiseClaimResponse(result=await self._act(request, "claim", "claim_raised", context))

    async def ReportConduct(  # noqa: N802
        self, request: pb.ReportConductRequest, context: Any
    ) -> pb.ReportConductResponse:
        return pb.ReportConductResponse(result=await self._act(request, "conduct", "conduct_observed", context))

    async def GiveConsent(self, request: pb.GiveConsentRequest, context: Any) -> pb.GiveConsentResponse:  # noqa: N802
        return pb.GiveConsentResponse(result=await self._act(request, "consent", "consent_given", context))

    async def Decide(self, request: pb.DecideRequest, context: Any) -> pb.DecideResponse:  # noqa: N802
        return pb.DecideResponse(result=await self._decide(request, context, supersedes=False))

    async def Supersede(self, request: pb.SupersedeRequest, context: Any) -> pb.SupersedeResponse:  # noqa: N802
        return pb.SupersedeResponse(result=await self._decide(request, context, supersedes=True))

    async def CorrectRecord(  # noqa: N802
        self, request: pb.CorrectRecordRequest, context: Any
    ) -> pb.CorrectRecordResponse:
        return pb.CorrectRecordResponse(result=await self._act(request, "correction", "record_corrected", context))

    async def MarkRound(self, request: pb.MarkRoundRequest, context: Any) -> pb.MarkRoundResponse:  # noqa: N802
        identity, by = self._intake.caller(context)
        check(request)
        response = pb.MarkRoundResponse(games=[pb.GameMarked(game_id=game_id) for game_id in request.game_ids])
        admitted, marked = [], []
        for number, game in enumerate(response.games):
            try:
                admitted.append(_mark(request, game.game_id, identity, by, f"game_ids[{number}]"))
                marked.append(game)
            except ServiceError as error:
                game.error.CopyFrom(error.detail)
        results, missing = await self._intake.results(admitted, WAIT_VERDICT, context)
        for game, result in zip(marked, results, strict=True):
            refusal = _refusal(result, "mark", SessionMarked.DESCRIPTOR) if result.status else missing
            if refusal is None:
                game.result.CopyFrom(result)
            else:
                game.error.CopyFrom(refusal.detail)
        fit(response, (game.result for game in marked if game.HasField("result")))
        return response

    async def _decide(
        self, request: pb.DecideRequest | pb.SupersedeRequest, context: Any, supersedes: bool
    ) -> Appended:
        """A ruling, in the role that it names or else in that of the call."""
        _, by = self._intake.caller(context)
        if request.HasField("ruling"):
            ruling = request.ruling
            ruling.role = ruling.role or by.role
            if supersedes != bool(ruling.supersedes):
                raise _misplaced(ruling)
        return await self._act(request, "ruling", "ruling_decided", context)

    async def _act(self, request: Any, said: str, fact: str, context: Any) -> Appended:
        """One event: what stands in the field ``said`` of the request, as its ``fact``. Raises ServiceError."""
        identity, by = self._intake.caller(context)
        check(request)
        entry, message = request.entry, getattr(request, said)
        event = Event(
            event_id=entry.event_id, game_id=entry.game_id, at_ms=entry.at_ms, player=entry.player, **{fact: message}
        )
        if entry.HasField("source"):
            event.source.CopyFrom(entry.source)
        try:
            check(event)
        except ServiceError as error:  # what holds between the parts of an event
            detail = error.detail
            raise ServiceError(detail.code, detail.reason, detail.remedy, f"entry.{detail.field}") from None
        results, missing = await self._intake.results(
            [admit_event(event, identity, by, "entry")], WAIT_VERDICT, context
        )
        if missing is not None:
            raise missing
        refusal = _refusal(results[0], said, message.DESCRIPTOR)
        if refusal is not None:
            raise refusal
        fit(results[0], results)
        return results[0]


def _mark(request: pb.MarkRoundRequest, game_id: str, identity: Identity, by: Actor, field: str) -> Admitted:
    """The event of one game. Raises ServiceError NOT_PERMITTED."""
    marked = SessionMarked(mark=request.mark)
    event = Event(event_id=request.request_id, game_id=game_id, at_ms=request.at_ms, session_marked=marked)
    return admit_event(event, identity, by, field)


def _misplaced(ruling: RulingDecided) -> ServiceError:
    if ruling.supersedes:
        return ServiceError(
            ERROR_CODE_MALFORMED, "this takes the place of another ruling", "call Supersede", "ruling.supersedes"
        )
    return ServiceError(
        ERROR_CODE_MALFORMED, "no ruling is named", "name the event_id of the ruling it replaces", "ruling.supersedes"
    )


def _refusal(result: Appended, said: str, descriptor: Any) -> ServiceError | None:
    """What the verdict on an event that was not applied says, as an error; None where it was applied.

    A reason that begins with a field of the message names ``said`` and that field.
    """
    verdict = result.outcome.verdict
    if result.status == outcome_pb2.STATUS_PARKED:
        return ServiceError(
            ERROR_CODE_GAME_UNKNOWN,
            "no game of this id is open; this is on record, and counts should one be opened",
            "check the id, or open the game",
            "game_id" if said == "mark" else "entry.game_id",
        )
    if any(finding.kind == outcome_pb2.FINDING_KIND_ID_CONFLICT for finding in verdict.findings):
        return ServiceError(
            ERROR_CODE_EVENT_ID_TAKEN,
            f"{result.event_id!r} stands for another event of this game; nothing follows",
            "choose a new one for every act, and keep it for repeating that act",
            "request_id" if said == "mark" else "entry.event_id",
        )
    if verdict.status in (outcome_pb2.STATUS_REFUSED, outcome_pb2.STATUS_STALE, outcome_pb2.STATUS_QUARANTINED):
        return _told(verdict, said, descriptor)
    return None


def _told(verdict: outcome_pb2.Verdict, said: str, descriptor: Any) -> ServiceError:
    name, colon, rest = verdict.reason.partition(": ")
    known = bool(colon) and name in descriptor.fields_by_name
    field, reason = (f"{said}.{name}", rest) if known else ("", verdict.reason)
    if verdict.decided_by:
        return ServiceError(
            ERROR_CODE_ALREADY_DECIDED, reason, "nothing is to be done, unless that ruling is to be superseded", field
        )
    if verdict.status == outcome_pb2.STATUS_STALE:
        return ServiceError(ERROR_CODE_STALE, reason, "look at the case, and decide again with another event_id", field)
    return ServiceError(ERROR_CODE_REFUSED, reason, "look at the game, and act again with another event_id", field)
