"""The one way into the log, whichever service takes an event in: who calls, append, wait for the verdicts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from google.protobuf.message import Message

from caipan.eventlog import EventLog, LogError
from caipan.gateway.admission import GAME_EVENTS, TOURNAMENT_EVENTS, Admitted
from caipan.gateway.metrics import appending
from caipan.gateway.originals import ANSWER_BYTES, Position, answer, originals
from caipan.gateway.permission import acting_role
from caipan.gateway.verdicts import Expected, Tail, pending
from caipan.serving.errors import ServiceError
from caipan.serving.tokens import Identity, Verifier
from caipan.v1.common_pb2 import Actor
from caipan.v1.errors_pb2 import ERROR_CODE_LOG_UNAVAILABLE
from caipan.v1.intake_service_pb2 import WAIT_LOG, Appended, Wait
from caipan.v1.outcome_pb2 import STATUS_DUPLICATE, Outcome

_START_S = 5.0  # how long a call waits for a service that starts
_ANSWER_S = 0.25  # kept of a deadline, or a quarter of it, so that the answer is there in time


class Results(NamedTuple):
    """What became of events, in their order. ``missing``: why some of them have no verdict; None where all have one."""

    each: list[Appended]
    missing: ServiceError | None


class Intake:
    """Takes events in once ``tail`` is ready, and tells their verdicts as long as it runs.

    Events for both kinds of logs are two appends: if the second one fails the caller is told to repeat.
    """

    def __init__(self, log: EventLog, verifier: Verifier, verdict_wait_s: float) -> None:
        """``verdict_wait_s``: how long a call without a deadline waits for its verdicts."""
        self.log = log
        self.tail = Tail(log)
        self._verifier = verifier
        self._verdict_wait_s = verdict_wait_s

    def caller(self, context: Any) -> tuple[Identity, Actor]:
        """Who calls, and as whom the caller reports. Raises ServiceError."""
        metadata = context.invocation_metadata()
        identity = self._verifier.identify(metadata)
        return identity, Actor(person=identity.person, role=acting_role(identity, metadata))

    async def following(self, context: Any) -> None:
        """Returns once the log is there and its outcomes are followed. Raises ServiceError if that takes too long."""
        try:
            async with asyncio.timeout(min(_START_S, self.patience_s(context))):
                await self.tail.ready.wait()
        except TimeoutError:
            raise ServiceError(
                ERROR_CODE_LOG_UNAVAILABLE, "the service is starting; nothing was stored", "repeat the call in a while"
            ) from None

    async def results(self, admitted: Sequence[Admitted], wait: Wait.ValueType, context: Any) -> Results:
        """Appends the events and waits as ``wait`` says, within the deadline of the call. Raises ServiceError."""
        await self.following(context)
        if wait == WAIT_LOG:
            return Results(_results(admitted, await self.append(admitted), {}, {}), None)
        with self.tail.watch() as watch:
            watch.expect(_expected(event) for event in admitted if event.topic == GAME_EVENTS)
            positions = await self.append(admitted)
            watch.placed(at for event, at in zip(admitted, positions, strict=True) if event.topic == GAME_EVENTS)
            give_up_s = asyncio.get_running_loop().time() + self.patience_s(context)
            outcomes = await watch.outcomes(give_up_s)
            try:
                async with asyncio.timeout_at(give_up_s):
                    first = await self.originals(outcomes.values())
            except TimeoutError:
                raise pending() from None
            return Results(_results(admitted, positions, outcomes, first), watch.missing)

    async def append(self, admitted: Sequence[Admitted]) -> list[Position]:
        """Where each event stands in its topic. Raises ServiceError."""
        placed: dict[str, Iterator[Position]] = {}
        with log_errors("repeat with the same event_ids; perhaps some of the events are stored"):
            for topic in (GAME_EVENTS, TOURNAMENT_EVENTS):
                records = [event.record for event in admitted if event.topic == topic]
                if records:
                    with appending(topic, len(records)):
                        placed[topic] = iter(await self.log.append(topic, records))
        return [next(placed[event.topic]) for event in admitted]

    async def originals(self, outcomes: Iterable[Outcome]) -> Mapping[Position, Outcome]:
        """For the events that came again, by position: what each was answered the first time. Raises ServiceError."""
        notices = [outcome for outcome in outcomes if outcome.verdict.status == STATUS_DUPLICATE]
        with log_errors("repeat with the same event_ids; the events are stored"):
            return await originals(self.log, self.tail.recent, notices)

    def patience_s(self, context: Any) -> float:
        """How long the caller may be kept waiting, seconds."""
        remaining_s: float | None = context.time_remaining()
        if remaining_s is None:
            return self._verdict_wait_s
        return remaining_s - min(_ANSWER_S, remaining_s / 4)


def fit(response: Message, results: Iterable[Appended]) -> None:
    """Leaves the outcomes of the first results out until the response is one that callers take."""
    for result in results:
        if response.ByteSize() <= ANSWER_BYTES:
            return
        result.ClearField("outcome")


def _results(
    admitted: Sequence[Admitted],
    positions: Sequence[Position],
    outcomes: Mapping[Position, Outcome],
    originals: Mapping[Position, Outcome],
) -> list[Appended]:
    """``outcomes`` and ``originals`` by the position of a game's event, as far as they came."""
    results = []
    for event, position in zip(admitted, positions, strict=True):
        partition, offset = position
        result = Appended(event_id=event.event_id, partition=partition, offset=offset)
        if event.topic == GAME_EVENTS and position in outcomes:
            answer(result, outcomes[position], originals)
        results.append(result)
    return results


def _expected(event: Admitted) -> Expected:
    assert event.record.key is not None  # admission gives every record its key
    return Expected(event.record.key, event.event_id)


@contextmanager
def log_errors(remedy: str) -> Iterator[None]:
    """Errors of the log as the caller is told them."""
    try:
        yield
    except LogError as error:
        raise ServiceError(ERROR_CODE_LOG_UNAVAILABLE, str(error), remedy) from error
