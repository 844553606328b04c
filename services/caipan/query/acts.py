"""What persons have said: who, when and why. That stands in the events alone, which verdicts do not repeat."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from google.protobuf.message import DecodeError
from sqlalchemy import Connection, select, tuple_

from caipan.eventlog import EventLog, Record
from caipan.query.schema import acts
from caipan.v1.case_service_pb2 import Act, HallCase
from caipan.v1.event_pb2 import (
    EVENT_TYPE_APPEAL_DECIDED,
    EVENT_TYPE_CLAIM_RAISED,
    EVENT_TYPE_CONDUCT_OBSERVED,
    EVENT_TYPE_RULING_DECIDED,
    Event,
)
from caipan.v1.outcome_pb2 import FINDING_KIND_ID_CONFLICT, STATUS_FOLDED, Outcome

Place = tuple[str, str]  # game and event_id

_EVENTS = "game-events"
_TOLD = (
    EVENT_TYPE_APPEAL_DECIDED,
    EVENT_TYPE_CLAIM_RAISED,
    EVENT_TYPE_CONDUCT_OBSERVED,
    EVENT_TYPE_RULING_DECIDED,
)
_ASKED_MOST = 400  # places in one select


async def said_in(log: EventLog, outcomes: Sequence[Record]) -> dict[Place, Act]:
    """What was said in the events of these outcomes. Raises LogError."""
    said: dict[Place, Act] = {}
    for outcome in _telling(outcomes):
        place = (outcome.verdict.game_id, outcome.verdict.event_id)
        for record in await log.read(_EVENTS, outcome.partition, outcome.offset, 1):
            event = Event.FromString(record.value)  # it was judged, so it can be read
            if (event.game_id, event.event_id) == place:
                said[place] = _act(event)
    return said


def _telling(outcomes: Iterable[Record]) -> Iterator[Outcome]:
    """Those of acts that count, each of which is the only one of its event_id."""
    for record in outcomes:
        try:
            outcome = Outcome.FromString(record.value)
        except DecodeError:
            continue  # whoever takes it into the tables tells the operator
        verdict = outcome.verdict
        conflicts = any(finding.kind == FINDING_KIND_ID_CONFLICT for finding in verdict.findings)
        if verdict.seq and verdict.status == STATUS_FOLDED and verdict.event_type in _TOLD and not conflicts:
            yield outcome


def _act(event: Event) -> Act:
    said = event.claim_raised.note or event.conduct_observed.note
    why = event.ruling_decided.reason or event.appeal_decided.reason
    return Act(event_id=event.event_id, at_ms=event.at_ms, by=event.by, said=said or why)


def store(said: Mapping[Place, Act], connection: Connection) -> None:
    """Writes what is not there yet: outcomes may stand twice in their topic."""
    known = of(said, connection)
    rows = [
        {"game_id": game_id, "event_id": event_id, "record": act.SerializeToString()}
        for (game_id, event_id), act in said.items()
        if (game_id, event_id) not in known
    ]
    if rows:
        connection.execute(acts.insert(), rows)


def add_to(cases: Sequence[HallCase], connection: Connection) -> None:
    """Puts into cases who raised their claims, reported and decided them."""
    known = of({(told.game_id, ref) for told in cases for ref in _refs(told)}, connection)
    for told in cases:
        told.acts.extend(known[told.game_id, ref] for ref in _refs(told) if (told.game_id, ref) in known)


def of(places: Collection[Place], connection: Connection) -> dict[Place, Act]:
    """What was said in these events, as far as it is known."""
    wanted, found = list(places), {}
    for start in range(0, len(wanted), _ASKED_MOST):
        query = select(acts).where(tuple_(acts.c.game_id, acts.c.event_id).in_(wanted[start : start + _ASKED_MOST]))
        found.update({(game, event): Act.FromString(record) for game, event, record in connection.execute(query)})
    return found


def _refs(told: HallCase) -> list[str]:
    refs = [*(claim.ref for claim in told.case.claims), told.case.decided_by]
    return [ref for ref in dict.fromkeys(refs) if ref]
