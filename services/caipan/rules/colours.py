"""Who has which colour: the lot of a game (CN2002 10.2)."""

from __future__ import annotations

from caipan.rules.act import Act
from caipan.rules.table import Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.facts_pb2 import Colours, LotDrawn


def lot_drawn(table: Table, act: Act) -> None:
    """Guessing: the guesser is Black if the hidden number is odd and one stone was shown, or even and two were."""
    lot = act.fact
    if lot.purpose != LotDrawn.PURPOSE_COLOUR:
        return  # pairing slots and places are the tournament's
    players = list(table.opened.players)
    if table.colours is not None or lot.holder not in players or len(players) != 2 or lot.shown not in (1, 2):
        act.find(table.cite("10.2"), pb.FINDING_KIND_INVALID_LOT)
        return
    players.remove(lot.holder)
    guesser, guessed_right = players[0], lot.held % 2 == lot.shown % 2
    black, white = (guesser, lot.holder) if guessed_right else (lot.holder, guesser)
    given = Colours(black=black, white=white)
    table.name(table.officials, given)
    act.tell(colours=given)
