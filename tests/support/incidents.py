"""Games of a tournament in which something has happened, with an arbiter and a chief."""

from __future__ import annotations

from typing import Any

from caipan.v1.case_service_pb2 import HallCase
from support.play import Play

DOUBLE = "B Q16, W D4, B Q3, B D17"


def table(game_id: str = "T/b1", *, black: str = "li", white: str = "xu", later_ms: int = 0, **how: Any) -> Play:
    """A game of the tournament that its id names, with an arbiter and a chief."""
    officials = [("arbiter", "ARBITER"), ("chief", "CHIEF")]
    play = Play(game_id=game_id, opening=False, officials=officials, colours=(black, white), **how)
    play.opening.tournament_id, play.opening.round = game_id.rpartition("/")[0], 3
    play.now = later_ms
    return play.open()


def doubled(game_id: str = "T/b1", **how: Any) -> Play:
    """Black has moved twice running: case 5."""
    return table(game_id, **how).moves(DOUBLE)


def ids(cases: list[HallCase]) -> list[str]:
    return [f"{each.game_id} {each.case.case_id}" for each in cases]


def dropped(game_id: str, option: str, later_ms: int = 0, **how: Any) -> Play:
    play = table(game_id, later_ms=later_ms, **how).stone("B", "E7", manner="DROPPED").consent("W", accept=False)
    return play.rule(option, role="CHIEF")
