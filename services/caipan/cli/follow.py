"""The state of a game as its outcomes tell it, one after the other."""

from __future__ import annotations

from caipan.query.state import advance
from caipan.v1.outcome_pb2 import Outcome
from caipan.v1.state_pb2 import GameState


def follow(state: GameState, outcome: Outcome) -> bool:
    """Brings ``state`` to where the game stands after ``outcome``; False for a notice and for what it has already."""
    if outcome.verdict.seq <= state.seq:
        return False
    advance(state, outcome.verdict)
    state.game_id, state.head = outcome.verdict.game_id, outcome.head
    return True
