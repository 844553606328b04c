"""Clocks in words."""

from __future__ import annotations

from datetime import timedelta

from caipan.cli.words import SIDES
from caipan.v1.case_service_pb2 import ClockFace, GetClocksResponse
from caipan.v1.common_pb2 import COLOR_BLACK, COLOR_WHITE
from caipan.v1.outcome_pb2 import PHASE_DEAD_STONES, PHASE_ENDED, PHASE_FINAL, PHASE_PAUSED, PHASE_PLAY

_PHASES = {
    PHASE_PAUSED: "paused",
    PHASE_DEAD_STONES: "at its end, the dead stones are to be agreed",
    PHASE_ENDED: "over",
    PHASE_FINAL: "over, the result final",
}


def clock_lines(answer: GetClocksResponse) -> list[str]:
    """A line for each side: time left and used, the count, the stage; "a game without clocks" for an untimed one.

    Another line where the game is not in play, or no clock runs.
    """
    standing = [] if answer.phase == PHASE_PLAY else [f"the game is {_PHASES[answer.phase]}"]
    if not answer.HasField("black"):
        return ["a game without clocks", *standing]
    sides = ((COLOR_BLACK, answer.black), (COLOR_WHITE, answer.white))
    faces = [f"{SIDES[side]}  {_face(face)}{'  runs' if side == answer.running else ''}" for side, face in sides]
    nobodys = [] if standing or answer.running in SIDES else ["no clock runs"]
    return [*faces, *standing, *nobodys]


def _face(face: ClockFace) -> str:
    said = [f"{_time(face.left_ms)} left, {_time(face.used_ms)} used"]
    if face.HasField("count_ms"):
        said.append(f"the count is at {face.count_ms / 1000:.1f} s")
    if face.HasField("units_left"):
        said.append(f"{face.units_left} periods left")
    if face.HasField("stage"):
        said.append(f"stage {face.stage}, {face.moves_left} moves in {_time(face.budget_ms)}")
    if face.is_over:
        said.append("the time is over")
    if face.is_boundary:
        said.append("the limit is used up exactly")
    return ", ".join(said)


def _time(ms: int) -> str:
    """1:05:20, with the fraction where there is one."""
    whole, rest = divmod(ms, 1000)
    return f"{timedelta(seconds=whole)}{f'.{rest:03d}' if rest else ''}"
