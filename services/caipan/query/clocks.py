"""What is on the clocks of a game at an instant, from its state alone."""

from __future__ import annotations

from caipan.rules.clockwork import faces, system_of
from caipan.rules.points import BLACK, WHITE
from caipan.v1.case_service_pb2 import ClockFace, GetClocksResponse
from caipan.v1.state_pb2 import GameState


def clocks_at(state: GameState, at_ms: int) -> GetClocksResponse:
    """The faces of both clocks if nothing happens until ``at_ms``; none where the game has no clocks."""
    answer = GetClocksResponse(seq=state.seq, at_ms=at_ms)
    regulations = state.adopted if state.HasField("adopted") else state.opened.pins.regulations
    system = system_of(regulations, state.opened.observed)
    if system is None or not state.HasField("clocks"):
        return answer
    shown = faces(state.clocks, system, at_ms)
    answer.running = state.clocks.running
    answer.black.CopyFrom(ClockFace(**shown[BLACK]._asdict()))
    answer.white.CopyFrom(ClockFace(**shown[WHITE]._asdict()))
    return answer
