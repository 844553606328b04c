"""What a ruling would change, if it came now: the game's own fold, one event further, and nothing kept of it."""

from __future__ import annotations

from collections.abc import Sequence

from caipan.rules.game import Game, Past, read_event
from caipan.rules.officials import decides_as
from caipan.rules.table import Table
from caipan.v1.common_pb2 import Actor, Role
from caipan.v1.event_pb2 import Event
from caipan.v1.outcome_pb2 import Outcome, Verdict
from caipan.v1.rulings_pb2 import RulingDecided


def preview(game_id: str, past: Sequence[Past], ruling: RulingDecided, person: str = "", at_ms: int = 0) -> Verdict:
    """The verdict that ``ruling`` would get after ``past``, all events of the game in the order of the log.

    ``person``: who decides, "" for an official who may decide in that role. ``at_ms``: when; 0 = at the game time. The
    ruling has no event_id, and where it refers to itself it is named "". A game that is not open has no verdict: the
    empty one.
    """
    game = _folded(game_id, past)
    if game.table is None:
        return Verdict()
    by = Actor(person=person or _official(game.table, ruling.role), role=ruling.role)
    event = Event(game_id=game_id, at_ms=at_ms or game.clock.now_ms, ruling_decided=ruling, by=by)
    value = event.SerializeToString(deterministic=True)
    offset = past[-1].offset + 1
    judged = game.apply(event, value, offset, past if game.wants_history(event) else ())
    return Outcome.FromString(judged[0].record).verdict


def _folded(game_id: str, past: Sequence[Past]) -> Game:
    game = Game(game_id)
    for number, (value, offset) in enumerate(past):
        event = read_event(value, game_id)
        if isinstance(event, str):
            game.quarantine(value, offset, event)
        else:
            game.apply(event, value, offset, past[:number] if game.wants_history(event) else ())
    return game


def _official(table: Table, role: Role.ValueType) -> str:
    """Somebody who may decide in this role; "" where nobody is appointed."""
    persons = sorted({person for person, _ in table.officials})
    return next((each for each in persons if decides_as(table, Actor(person=each), role, role) is None), "")
