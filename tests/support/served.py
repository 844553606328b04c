"""Games of the fold as clients send them to the services, each act by its own person, and what must come of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from caipan.v1.common_pb2 import ROLE_ARBITER, ROLE_CHIEF, ROLE_RECORDER, Actor
from caipan.v1.event_pb2 import Event
from caipan.v1.outcome_pb2 import Verdict
from support.play import Play

# What a script lets anybody try, and the services only in such a role; the fold wants it to be held in the game.
IN_A_ROLE = {
    "session_marked": ROLE_ARBITER,
    "ruling_decided": ROLE_ARBITER,
    "official_appointed": ROLE_CHIEF,
    "regulations_adopted": ROLE_CHIEF,
}


def as_sent(play: Play, game_id: str) -> Iterator[tuple[Event, Actor]]:
    """Each event of the game as a client sends it under this name, and who does."""
    for record in play.log:
        event = Event.FromString(record.value)
        by = Actor(person=event.by.person, role=event.by.role)
        event.game_id = game_id
        event.ClearField("by")
        if event.HasField("game_opened"):
            event.game_opened.ClearField("pins")
        elif by.role == ROLE_RECORDER and (role := IN_A_ROLE.get(event.WhichOneof("fact") or "")):
            by.role = role
        yield event, by


def told(verdict: Verdict) -> tuple[Any, ...]:
    """What a verdict says, the state that follows it, and the cases as they stand."""
    found = [(finding.clause, finding.kind, finding.side) for finding in verdict.findings]
    cases = [(case.case_id, case.status, case.option) for case in verdict.cases]
    return verdict.seq, verdict.event_id, verdict.status, verdict.reason, found, cases, verdict.state_digest
