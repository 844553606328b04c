"""Stones (CN2002 2 to 6, 17.2, 17.3, 18.3, 19, 20)."""

from __future__ import annotations

from caipan.rules.act import Act
from caipan.rules.hands import drop_seal, find_where_known, judge_due, judge_press_before
from caipan.rules.history import FILTER
from caipan.rules.points import BLACK, SEATS, Colour, other
from caipan.rules.table import Provisional, Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.common_pb2 import COLOR_UNSPECIFIED
from caipan.v1.facts_pb2 import MANNER_DROPPED, MANNER_SLID
from caipan.v1.regulations_pb2 import SUPERKO_MODE_SIMPLE, SUPERKO_MODE_SITUATIONAL

_PAUSED = pb.PHASE_PAUSED

TakenBack = tuple[int, tuple[int, ...]]  # where a stone was before it was taken back, and what it had captured


def stone_placed(table: Table, act: Act) -> None:
    """A stone left the hand: a regular one is a move; an irregular one lies provisionally and the turn stays."""
    fact = act.fact
    name, colour = fact.point, fact.color
    if colour not in SEATS:
        colour = act.player or table.turn
    player = act.player or colour
    index = table.indices.get(name)
    if index is None:
        act.find(table.cite("1"), pb.FINDING_KIND_OFF_BOARD, side=player, points=[name])
        return
    if table.phase > _PAUSED:
        act.find(table.cite("21.3"), pb.FINDING_KIND_AFTER_END, side=player, points=[name])
        return
    if table.board.units[index] is not None and not _is_set_elsewhere(table, index, colour):
        _put_back(table, act, index, colour, player)
        return
    if table.sealed_by == player:
        drop_seal(table, act)
    if table.due:
        judge_due(table, act)
    if table.provisional and table.provisional[-1].player != player:
        table.accept_provisional(act)
    takeback = _take_back(table, act, index, player) if table.lifted else None
    if act.before is not None and table.board.units[index] is not None:
        _put_back(table, act, index, colour, player)  # a captured stone came back there
        return
    if table.handicap_left and _set_handicap(table, act, index, colour, player):
        return
    breach = takeback is not None or player != table.turn or colour != player or fact.manner == MANNER_DROPPED
    if breach or table.provisional:
        breach = True
        _find_breaches(table, act, index, colour, player, takeback is not None)
    _set_stone(table, act, index, colour, player, breach, takeback)


def _is_set_elsewhere(table: Table, index: int, colour: Colour) -> bool:
    """Whether a provisional stone of another colour was lifted from this very point: it is free for a new one."""
    return index in table.lifted and any(stone.index == index and stone.colour != colour for stone in table.provisional)


def _put_back(table: Table, act: Act, index: int, colour: Colour, player: Colour) -> None:
    """A stone on a point that is taken: one that was off comes back (no takeback, 17.3), any other is impossible."""
    off = index in table.lifted or index in table.missing or act.before is not None
    if off and table.board.colour_at(index) == colour:
        table.lifted.pop(index, None)
        table.missing -= {index}
        return
    number, points = table.history.length + 1, [table.names[index]]
    act.find(table.cite("2.3"), pb.FINDING_KIND_OCCUPIED, side=player, points=points, move=number)


def _set_stone(
    table: Table, act: Act, index: int, colour: Colour, player: Colour, breach: bool, takeback: TakenBack | None
) -> None:
    """Sets the stone, takes what it captures, and makes it a move if nothing is wrong with it."""
    board, history = table.board, table.history
    on_turn = takeback is not None or player == table.turn
    captured = board.play(index, colour)
    name = table.names[index]
    if colour == BLACK:
        act.added_black = (name,)
    else:
        act.added_white = (name,)
    if captured:
        act.take([table.names[stone] for stone in captured])
        table.captured[other(colour)] += len(captured)
        off = table.missing | table.lifted.keys()
        if table.watches_captures:
            table.due, table.due_from = frozenset(captured) - off, player
        for taken in off.intersection(captured):
            table.lifted.pop(taken, None)
            table.missing -= {taken}
    elif not board.units[index].liberties:  # type: ignore[union-attr]  # the stone stands there
        act.find(table.cite("19"), pb.FINDING_KIND_FORBIDDEN_POINT, side=player, points=[name], move=history.length + 1)
        breach = True
    if board.key & FILTER in history.keys and _find_repetition(table, act, index, player):
        breach = True
    if act.fact.manner == MANNER_SLID:
        find_where_known(table, act, pb.FINDING_KIND_SLID_STONE, history.length + 1, name)
    table.moved_at_ms = act.at_ms
    table.left -= {index}
    if player in table.early:
        judge_press_before(table, act, player)
    else:
        table.unpressed = (player, act.at_ms, act.source)
    if breach:
        moving_is_takeback = on_turn and act.fact.manner != MANNER_DROPPED
        stone = Provisional(
            index, colour, player, captured, board.key, moving_is_takeback, act.event_id, *(takeback or ())
        )
        table.provisional = (*table.provisional, stone)
        return
    table.turn = turn = other(player)
    table.passes = table.handicap_left = 0
    table.proposer = COLOR_UNSPECIFIED
    history.push(board.key, index, colour, captured, turn)
    if turn in table.away:
        table.must_point_out = turn  # on return (CN2002 16.5)


def _find_breaches(table: Table, act: Act, index: int, colour: Colour, player: Colour, takeback: bool) -> None:
    """Says what is irregular in a stone before it is set."""
    about = {"side": player, "points": [table.names[index]], "move": table.history.length + 1}
    if not takeback and (player != table.turn or table.provisional):
        act.find(table.cite("17.2"), pb.FINDING_KIND_OUT_OF_TURN, **about)
    if colour != player:
        act.find(table.cite("2.1"), pb.FINDING_KIND_WRONG_COLOUR, **about)
    if act.fact.manner == MANNER_DROPPED:
        act.find(table.cite("17.3"), pb.FINDING_KIND_DROPPED_STONE, **about)


def _find_repetition(table: Table, act: Act, index: int, player: Colour) -> bool:
    """Says whether the position on the board stood before (CN2002 6, 20), and whether that breaks article 6.

    A ko retaken at once is also 18.3, a longer cycle 20.3. What the regulations allow is no breach: under SITUATIONAL a
    position with the other side to move, under SIMPLE every longer cycle (reported all the same, under 20.3 alone).
    """
    stands = table.history.stands(table.board)
    number, turn = table.history.length + 1, other(player)
    if table.superko_mode == SUPERKO_MODE_SITUATIONAL:
        stands = [stand for stand in stands if stand.turn == turn]
    if not stands:
        return False
    first, cycle = stands[0], number - stands[-1].number
    about = {
        "side": player,
        "points": [table.names[index]],
        "move": number,
        "of_move": first.number,
        "same_side_to_move": first.turn == turn,
        "cycle": cycle,
    }
    retake = cycle == 2
    forbidden = retake or table.superko_mode != SUPERKO_MODE_SIMPLE
    if forbidden:
        act.find(table.cite("6"), pb.FINDING_KIND_REPETITION, **about)
    if retake:
        act.find(table.cite("18.3"), pb.FINDING_KIND_KO_RETAKE, **about)
    else:
        act.find(table.cite("20.3"), pb.FINDING_KIND_REPETITION_CYCLE, **about)
    return forbidden


def _take_back(table: Table, act: Act, index: int, player: Colour) -> TakenBack | None:
    """Judges stones that were lifted and not put back, now that the player sets one (CN2002 17.3, 17.5).

    A provisional stone is gone, and the own last stone, before the opponent moved, is undone; set elsewhere, that is a
    takeback, and the new stone lies in its place provisionally. Any other stone is found moved, and stays in force.
    """
    gone = [stone for stone in table.drop_lifted(act) if stone.player == player]
    taken_back = [(stone.index, stone.captured) for stone in gone if stone.moving_is_takeback and stone.index != index]
    mine = {point for point, side in table.lifted.items() if side == player}
    last, colour = table.history.last()
    undone = last in mine and colour == player and not table.provisional
    if undone and not (shorter := table.history.undone()).cells(shorter.length)[index]:  # its captures may lie there
        mine.remove(last)
        del table.lifted[last]
        taken_back.append((last, table.history.captures.get(table.history.length, ())))
        table.history = shorter
        table.set_again([], act)
    if mine:
        act.find(table.cite("17.5"), pb.FINDING_KIND_MOVED_STONE, side=player, points=table.point_names(mine))
        table.missing |= mine
        for point in mine:
            del table.lifted[point]
    if taken_back:
        number, points = table.history.length + 1, table.point_names(point for point, _ in taken_back)
        act.find(table.cite("17.3"), pb.FINDING_KIND_TAKEBACK, side=player, points=points, move=number)
    return taken_back[-1] if taken_back else None


def _set_handicap(table: Table, act: Act, index: int, colour: Colour, player: Colour) -> bool:
    """A black stone of a free handicap belongs to the set-up, which White's first move closes (rules 2.3); a white one
    that Black sets is a slip of Black's."""
    if colour != BLACK:
        table.handicap_left = table.handicap_left if player == BLACK else 0
        return False
    table.handicap_left -= 1
    lying = list(table.provisional)
    if lying:  # they are no part of the set-up
        table.set_again([], act)
    act.set(table.names[index], colour)
    act.take([table.names[stone] for stone in table.board.play(index, colour)])
    table.history = table.history.set_up(table.board)
    if lying:
        table.set_again(lying, act)
    return True
