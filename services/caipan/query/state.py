"""A game as it stands, drawn from its verdicts alone: no rule of the game is applied here."""

from __future__ import annotations

from collections.abc import Iterable

from caipan.rules.points import DEFAULT_SIZE, indices
from caipan.v1.event_pb2 import EVENT_TYPE_END_PROPOSED, EVENT_TYPE_PASS_DECLARED, EVENT_TYPE_STONE_PLACED
from caipan.v1.outcome_pb2 import CASE_STATUS_OPEN, Case, Verdict
from caipan.v1.state_pb2 import GameState

_EMPTY, _BLACK, _WHITE = ".", "X", "O"
_EMPTY_MOVES = (EVENT_TYPE_PASS_DECLARED, EVENT_TYPE_END_PROPOSED)


class CannotDraw(ValueError):  # noqa: N818 - named after what is found
    """A verdict that names a point its board does not have."""


def advance(state: GameState, verdict: Verdict) -> None:
    """Takes the next verdict into ``state``; the head is the caller's. Raises CannotDraw, ``state`` half changed."""
    if verdict.HasField("opened"):
        _open(state, verdict)
    # A point that changes its colour stands in both lists, so what is removed goes first.
    _draw(state, verdict.removed, _EMPTY)
    _draw(state, verdict.added_black, _BLACK)
    _draw(state, verdict.added_white, _WHITE)
    state.last_point = _last_point(state, verdict)
    _settle_colours(state, verdict)
    if verdict.cases:
        _settle_cases(state, verdict.cases)
    _copy(state, verdict)


def _open(state: GameState, verdict: Verdict) -> None:
    size = verdict.opened.size or DEFAULT_SIZE
    state.opened.CopyFrom(verdict.opened)
    state.board[:] = [_EMPTY * size] * size
    _give_colours_of_opening(state)


def _draw(state: GameState, points: Iterable[str], sign: str) -> None:
    board = state.board
    size = len(board)
    for point in points:
        index = indices(size).get(point)
        if index is None:
            raise CannotDraw(f"there is no point {point!r} on a board of {size} lines")
        row, column = size - 1 - index // size, index % size
        board[row] = f"{board[row][:column]}{sign}{board[row][column + 1 :]}"


def _last_point(state: GameState, verdict: Verdict) -> str:
    """The point of the last stone as ``verdict`` leaves it; of a history that was corrected it is not known."""
    if verdict.revised:
        return ""
    if verdict.event_type in _EMPTY_MOVES and verdict.move_number > state.move_number:
        return ""
    if verdict.event_type != EVENT_TYPE_STONE_PLACED:
        return state.last_point
    added = [*verdict.added_black, *verdict.added_white]
    if len(added) > 1:  # a takeback also puts back what the first stone had taken; the second one lies provisionally
        added = [point for point in added if point in verdict.provisional]
    return added[0] if added else state.last_point


def _settle_colours(state: GameState, verdict: Verdict) -> None:
    """Who has which colour: as a lot or its correction settles it."""
    if verdict.HasField("colours"):
        state.colours.CopyFrom(verdict.colours)
    for revision in verdict.revised:
        if revision.before.HasField("colours"):
            _give_colours_of_opening(state)
    for revision in verdict.revised:
        if revision.after.HasField("colours"):
            state.colours.CopyFrom(revision.after.colours)


def _give_colours_of_opening(state: GameState) -> None:
    state.ClearField("colours")
    if state.opened.HasField("colours"):
        state.colours.CopyFrom(state.opened.colours)


def _settle_cases(state: GameState, told: Iterable[Case]) -> None:
    """The cases that are open, in the order in which they were opened."""
    by_id = {case.case_id: case for case in [*state.cases, *told]}
    del state.cases[:]
    state.cases.extend(case for case in by_id.values() if case.status == CASE_STATUS_OPEN)


def _copy(state: GameState, verdict: Verdict) -> None:
    """What every verdict says in full."""
    state.seq = verdict.seq
    for case in state.cases:
        case.revision = verdict.seq  # they are told as of now
    state.state_digest = verdict.state_digest
    state.captured_black = verdict.captured_black
    state.captured_white = verdict.captured_white
    state.move_number = verdict.move_number
    state.turn = verdict.turn
    state.phase = verdict.phase
    state.provisional[:] = verdict.provisional
    state.proposer = verdict.proposer
    del state.dead[:]
    state.dead.extend(verdict.dead)
    del state.penalties[:]
    state.penalties.extend(verdict.penalties)
    state.must_point_out = verdict.must_point_out
    state.ClearField("signed")
    if verdict.HasField("signed"):
        state.signed.CopyFrom(verdict.signed)
    if verdict.HasField("adopted"):
        state.adopted.CopyFrom(verdict.adopted)
    state.ClearField("clocks")
    if verdict.HasField("clocks"):
        state.clocks.CopyFrom(verdict.clocks)
    state.ClearField("result")
    if verdict.HasField("result"):
        state.result.CopyFrom(verdict.result)
