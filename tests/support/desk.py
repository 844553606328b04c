"""Games with officials at a time of today, as lines for `caipan send`."""

from __future__ import annotations

import time
from typing import Any

from caipan.cli.console import json_of
from caipan.v1 import facts_pb2 as facts
from caipan.v1.common_pb2 import ROLE_ARBITER, ROLE_CHIEF
from caipan.v1.event_pb2 import Event
from caipan.v1.regulations_pb2 import Regulations

DOUBLE = "B Q16, W D4, B Q3, B D17"
_SEATS = {"B": 1, "W": 2}


def game(game_id: str, moves: str = "", **opened: Any) -> str:
    """A game of the tournament and round that its id names ("T1/r2/b3"), zhao its arbiter, qian its chief.

    ``moves``: "B Q16, W D4"; "B press" is a press of the clock. The stones have the ids e1, e2, ...
    """
    tournament, round_number, board = game_id.split("/")
    opening = facts.GameOpened(
        tournament_id=tournament,
        round=int(round_number[1:]),
        board=int(board[1:]),
        players=["li", "wang"],
        colours=facts.Colours(black="li", white="wang"),
        officials=[
            facts.Official(person="zhao", role=ROLE_ARBITER),
            facts.Official(person="qian", role=ROLE_CHIEF),
        ],
        regulations=Regulations(edition="CN2002", **opened.pop("regulations", {"untimed": True})),
        **opened,
    )
    now_ms = int(time.time() * 1000) - 600_000
    events = [Event(event_id="open", game_id=game_id, at_ms=now_ms, game_opened=opening)]
    for number, move in enumerate(moves.split(",") if moves else (), 1):
        player, what = move.split()
        event = Event(event_id=f"e{number}", game_id=game_id, at_ms=now_ms + 1000 * number, player=_SEATS[player])
        if what == "press":
            event.clock_pressed.SetInParent()
        else:
            event.stone_placed.point = what
        events.append(event)
    return "\n".join(map(json_of, events))
