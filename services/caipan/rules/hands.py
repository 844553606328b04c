"""What hands do beside setting stones: lifting, removing captures, pressing (CN2002 17.4, 18.1, 18.2).

The board in force is the derived one. What lies on the table otherwise is kept beside it and judged at the press or at
the next stone.
"""

from __future__ import annotations

from caipan.rules.act import Act
from caipan.rules.docket import opened_by_finding
from caipan.rules.points import Colour
from caipan.rules.table import Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.common_pb2 import COLOR_UNSPECIFIED
from caipan.v1.facts_pb2 import HAND_OTHER, STORED_HAND, STORED_OPPONENT_BOWL, STORED_TABLE

_ASTRAY = (STORED_TABLE, STORED_OPPONENT_BOWL, STORED_HAND)  # not in the lid of the own bowl (KBA2024 18.1)


def stone_lifted(table: Table, act: Act) -> None:
    """A stone was taken off, not as a capture: remembered until it is put back or the player sets one elsewhere."""
    if table.phase > pb.PHASE_PAUSED:
        return  # the board is cleared
    index = table.indices.get(act.fact.point)
    if index is None:
        act.find(table.cite("1"), pb.FINDING_KIND_OFF_BOARD, side=act.player, points=[act.fact.point])
    elif table.board.units[index] is not None:
        table.lifted[index] = act.player
    else:
        table.due -= {index}
        table.left -= {index}


def stones_captured(table: Table, act: Act) -> None:
    """Stones were taken off as captured: compared with what the last stone took (CN2002 18.1)."""
    if table.phase > pb.PHASE_PAUSED:
        return  # dead stones are taken off for the count
    wrong = []
    for name in act.fact.points:
        index = table.indices.get(name)
        if index is None:
            act.find(table.cite("1"), pb.FINDING_KIND_OFF_BOARD, side=act.player, points=[name])
        elif table.board.units[index] is not None:
            wrong.append(index)
        else:
            table.due -= {index}
            table.left -= {index}
    if act.fact.stored in _ASTRAY:
        find_where_known(table, act, pb.FINDING_KIND_PRISONERS_ASTRAY, table.history.length)
    if wrong:
        table.missing |= frozenset(wrong)
        points = table.point_names(wrong)
        number = table.history.length
        act.find(table.cite("18.1"), pb.FINDING_KIND_WRONG_REMOVAL, side=act.player, points=points, move=number)


def clock_pressed(table: Table, act: Act) -> None:
    """A press closes the move: what was taken must be off by now (18.2), and the stone must have come first (17.4)."""
    player, stone = act.player, table.unpressed
    if table.due and player == table.due_from:
        judge_due(table, act)
        act.find(table.cite("22.6"), pb.FINDING_KIND_PRESS_BEFORE_REMOVAL, side=player, move=table.history.length)
    if act.fact.hand == HAND_OTHER:
        act.find(table.cite("12.4(2)"), pb.FINDING_KIND_OTHER_HAND, side=player, move=table.history.length)
    if stone is not None and stone[0] == player:
        table.unpressed = None
        after_ms = act.at_ms - stone[1]
        if after_ms <= 0 or after_ms < table.skew_ms:
            number = table.history.length + len(table.provisional)
            _judge_order(table, act, player, number, after_ms, act.source != stone[2])
    elif player == table.turn and act.at_ms > table.moved_at_ms:
        table.early[player] = (player, act.at_ms, act.source)


def find_where_known(table: Table, act: Act, kind: pb.FindingKind.ValueType, move: int, *points: str) -> None:
    """Finds what only some editions know, under the clause that says so."""
    keys = opened_by_finding(table.edition, kind)
    if keys:
        act.find(table.edition.clauses[keys[0]].id, kind, side=act.player, move=move, points=points)


def judge_press_before(table: Table, act: Act, player: Colour) -> None:
    """A stone comes after a press of its player: which of the two happened first is decided by their times."""
    _, press_at_ms, press_source = table.early.pop(player)
    table.unpressed = None
    number = table.history.length + len(table.provisional) + 1
    _judge_order(table, act, player, number, press_at_ms - act.at_ms, act.source != press_source)


def drop_seal(table: Table, act: Act) -> None:
    """The side whose move waits sealed makes another one: the seal is void, and play goes on (CN2002 14.2)."""
    act.find(table.cite("14.2"), pb.FINDING_KIND_SEAL_MISMATCH, side=table.sealed_by)
    table.sealed_by, table.seal = COLOR_UNSPECIFIED, b""


def judge_due(table: Table, act: Act) -> None:
    """Captured stones still lie on the board (CN2002 18.2); they are no part of the board in force."""
    points = table.point_names(table.due)
    number = table.history.length
    act.find(table.cite("18.2"), pb.FINDING_KIND_CAPTURES_LEFT, side=table.due_from, points=points, move=number)
    table.left |= table.due
    table.due = frozenset()


def _judge_order(table: Table, act: Act, player: Colour, number: int, press_after_ms: int, two_sources: bool) -> None:
    """Judges a press ``press_after_ms`` after stone ``number``; two sources too close decide nothing (R56)."""
    if press_after_ms > 0 and (not two_sources or press_after_ms >= table.skew_ms):
        return
    if two_sources and abs(press_after_ms) < table.skew_ms:
        kind = pb.FINDING_KIND_UNDECIDABLE_ORDER
    elif press_after_ms < 0:
        kind = pb.FINDING_KIND_EARLY_PRESS
    else:
        kind = pb.FINDING_KIND_SIMULTANEOUS_PRESS
    act.find(table.cite("17.4"), kind, side=player, move=number)
