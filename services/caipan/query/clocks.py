"""What is on the clocks of a game at an instant, from its state then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from caipan.rules.clockwork import faces, system_of
from caipan.rules.points import BLACK, WHITE
from caipan.v1.case_service_pb2 import ClockFace, GetClocksResponse
from caipan.v1.outcome_pb2 import Outcome, Verdict
from caipan.v1.state_pb2 import GameState


def clocks_at(state: GameState, at_ms: int) -> GetClocksResponse:
    """The faces of both clocks if nothing happens until ``at_ms``; none where the game has no clocks."""
    answer = GetClocksResponse(seq=state.seq, at_ms=at_ms, phase=state.phase)
    regulations = state.adopted if state.HasField("adopted") else state.opened.pins.regulations
    system = system_of(regulations, state.opened.observed)
    if system is None or not state.HasField("clocks"):
        return answer
    shown = faces(state.clocks, system, at_ms)
    answer.running = state.clocks.running
    answer.black.CopyFrom(ClockFace(**shown[BLACK]._asdict()))
    answer.white.CopyFrom(ClockFace(**shown[WHITE]._asdict()))
    return answer


def state_then(state: GameState, at_ms: int, outcomes: Iterable[Outcome]) -> GameState:
    """A game as far as its clocks go, as it stood at an instant before ``state``; as it was opened if that came later.

    ``outcomes``: those of the game, the last one first. What a correction or another ruling has changed in earlier
    verdicts counts as it reads now.
    """
    last_first = iter(outcomes)
    last = _last_before(last_first, at_ms)
    then = GameState(game_id=state.game_id, opened=state.opened, seq=last.seq, phase=last.phase, clocks=last.clocks)
    if state.HasField("adopted"):
        verdicts = chain((last,), (outcome.verdict for outcome in last_first))
        adopting = next((verdict for verdict in verdicts if verdict.HasField("adopted")), None)
        if adopting is not None:
            then.adopted.CopyFrom(adopting.adopted)
    return then


def _last_before(outcomes: Iterator[Outcome], at_ms: int) -> Verdict:
    """The verdict by which the clocks stood at the instant; takes no more outcomes than it needs."""
    now: dict[int, Verdict] = {}  # verdicts that read otherwise now; without clocks what did not happen
    inserted: list[Verdict] = []
    last = Verdict()
    for outcome in outcomes:
        told = outcome.verdict
        for revision in told.revised:
            if revision.HasField("before"):
                now.setdefault(revision.seq, revision.after)
            else:
                inserted.append(revision.after)
        read = now.get(told.seq, told)
        if not read.HasField("clocks"):
            continue
        last = read
        if last.clocks.since_ms <= at_ms:
            break
    since_ms = last.clocks.since_ms
    later = (each for each in inserted if since_ms < each.clocks.since_ms <= at_ms)
    return max(later, key=lambda each: each.clocks.since_ms, default=last)
