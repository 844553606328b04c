"""The handlers of IntakeService."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from caipan.eventlog import EventLog, LogError
from caipan.gateway.admission import GAME_EVENTS, TOURNAMENT_EVENTS, Admitted, admit
from caipan.gateway.permission import ERASE_PERSON, PUT_PERSON, Roles, acting_role, check_role
from caipan.gateway.verdicts import OUTCOMES, Originals, Position, Tail
from caipan.serving.errors import ServiceError
from caipan.serving.server import Server
from caipan.serving.tokens import Verifier
from caipan.serving.validation import check
from caipan.v1 import intake_service_pb2 as pb
from caipan.v1.common_pb2 import Actor
from caipan.v1.errors_pb2 import ERROR_CODE_LOG_UNAVAILABLE, ERROR_CODE_VERDICT_PENDING
from caipan.v1.intake_service_pb2_grpc import IntakeServiceServicer, add_IntakeServiceServicer_to_server
from caipan.v1.outcome_pb2 import STATUS_DUPLICATE, STATUS_PARKED, Outcome

PEOPLE = "people"

_ANSWER_BYTES = 3_500_000  # below what a gRPC client takes by default
_ANSWER_S = 0.25  # kept of a deadline, or a quarter of it, so that the answer is there in time


class Gateway(IntakeServiceServicer):
    """IntakeService. Verdicts come as long as ``run`` runs; a call that waits for one waits for ``ready`` first.

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

    def register(self, server: Server) -> None:
        """Puts the service on a server."""
        server.add(pb.DESCRIPTOR.services_by_name["IntakeService"], partial(add_IntakeServiceServicer_to_server, self))

    async def run(self) -> None:
        """Follows the outcomes until cancelled, and tells callers that wait then: cancel it before the server stops."""
        await self._tail.run()

    async def AppendEvents(self, request: pb.AppendEventsRequest, context: Any) -> pb.AppendEventsResponse:  # noqa: N802
        metadata = context.invocation_metadata()
        identity = self._verifier.identify(metadata)
        by = Actor(person=identity.person, role=acting_role(identity, metadata))
        admitted = admit(request, identity, by)
        if request.wait == pb.WAIT_LOG:
            return _response(admitted, await self._append(admitted))
        await self.ready.wait()
        with self._tail.watch(_game_of(event) for event in admitted if event.topic == GAME_EVENTS) as watch:
            positions = await self._append(admitted)
            of_games = {place for event, place in zip(admitted, positions, strict=True) if event.topic == GAME_EVENTS}
            try:
                async with asyncio.timeout(self._patience_s(context)):
                    outcomes = await watch.outcomes(of_games)
                    originals = await self._originals(outcomes.values())
            except TimeoutError:
                raise ServiceError(
                    ERROR_CODE_VERDICT_PENDING,
                    "all events are stored, not all are judged yet",
                    "repeat with the same event_ids to wait again",
                ) from None
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
        metadata = context.invocation_metadata()
        identity = self._verifier.identify(metadata)
        what = request.DESCRIPTOR.name.removesuffix("Request")
        check_role(acting_role(identity, metadata), needed, what, field="")
        check(request)

    async def _append(self, admitted: Sequence[Admitted]) -> list[Position]:
        """Where each event stands in its topic."""
        placed: dict[str, Iterator[Position]] = {}
        with _log_errors("repeat with the same event_ids; perhaps some of the events are stored"):
            for topic in (GAME_EVENTS, TOURNAMENT_EVENTS):
                records = [event.record for event in admitted if event.topic == topic]
                if records:
                    placed[topic] = iter(await self._log.append(topic, records))
        return [next(placed[event.topic]) for event in admitted]

    async def _originals(self, outcomes: Iterable[Outcome]) -> dict[str, Originals]:
        """By game, for the games in which some event came again."""
        games = {outcome.verdict.game_id for outcome in outcomes if outcome.verdict.status == STATUS_DUPLICATE}
        with _log_errors("repeat with the same event_ids; the events are stored"):
            return {game: Originals(await self._log.read_key(OUTCOMES, game.encode())) for game in games}

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
    originals: Mapping[str, Originals] | None = None,
) -> pb.AppendEventsResponse:
    """``outcomes`` by the position of a game's event, ``originals`` by game; None where nobody waited for them."""
    response = pb.AppendEventsResponse()
    for event, position in zip(admitted, positions, strict=True):
        partition, offset = position
        result = response.results.add(event_id=event.event_id, partition=partition, offset=offset)
        if event.topic == GAME_EVENTS and outcomes is not None:
            _tell(result, outcomes[position], originals or {})
    for result in response.results:
        if response.ByteSize() <= _ANSWER_BYTES:
            break
        result.ClearField("outcome")
    return response


def _tell(result: pb.Appended, outcome: Outcome, originals: Mapping[str, Originals]) -> None:
    """What became of an event: an event that came again gets the answer that it got the first time."""
    result.status = outcome.verdict.status
    if result.status != STATUS_DUPLICATE:
        result.outcome.CopyFrom(outcome)
        return
    of_game = originals[outcome.verdict.game_id]
    original = of_game.outcome(outcome)
    if original is None and (original := of_game.parked(outcome)) is not None:
        result.status = STATUS_PARKED
    if original is not None:
        result.outcome.CopyFrom(original)


def _game_of(event: Admitted) -> bytes:
    assert event.record.key is not None  # admission gives every record its key
    return event.record.key


@contextmanager
def _log_errors(remedy: str) -> Iterator[None]:
    """Errors of the log as the caller is told them."""
    try:
        yield
    except LogError as error:
        raise ServiceError(ERROR_CODE_LOG_UNAVAILABLE, str(error), remedy) from error
