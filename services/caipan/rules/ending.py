"""The end of a game: resignation, agreement, dead stones, the count (CN2002 7, 8, 13.2, 21)."""

from __future__ import annotations

from caipan.rules.act import Act
from caipan.rules.hands import judge_due
from caipan.rules.history import PASS
from caipan.rules.points import BLACK, WHITE, Colour, other
from caipan.rules.scoring import count
from caipan.rules.table import Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.common_pb2 import COLOR_UNSPECIFIED
from caipan.v1.rulings_pb2 import RESULT_KIND_B_WIN, RESULT_KIND_DRAW, RESULT_KIND_W_WIN

_PLAYING = (pb.PHASE_PLAY, pb.PHASE_PAUSED)


def pass_declared(table: Table, act: Act) -> None:
    """An empty move (CN2002 2.5); the second in a row ends the game, and so does one after a proposal (7.3, 21.1)."""
    player = act.player or table.turn
    if not _may_give_up_move(table, act, player, table.cite("2.5")):
        return
    _make_empty_move(table, act, player)
    table.proposer = COLOR_UNSPECIFIED
    if table.passes >= 2:
        if table.edition.two_passes_end:
            end_play(table, act)
        else:
            act.find(table.cite("13.2"), pb.FINDING_KIND_PASSES_DO_NOT_END, side=player)


def end_proposed(table: Table, act: Act) -> None:
    """The side on turn says that the game is over and so gives up this move (CN2002 13.2, 21.1).

    It stays open until it is answered; a proposal from both sides is the confirmation of both (7.1).
    """
    player = act.player or table.turn
    if not _may_give_up_move(table, act, player, table.cite("13.2")):
        return
    if table.proposer == other(player):
        end_play(table, act)
        return
    _make_empty_move(table, act, player)
    table.proposer = player


def _may_give_up_move(table: Table, act: Act, player: Colour, clause: str) -> bool:
    """Whether the player is on turn in a game that goes on; says so if not."""
    if table.phase not in _PLAYING:
        act.find(table.cite("21.3"), pb.FINDING_KIND_AFTER_END, side=player)
        return False
    if table.due:
        judge_due(table, act)
    if table.provisional and table.provisional[-1].player != player:
        table.accept_provisional(act)
    if player != table.turn or table.provisional:
        act.find(clause, pb.FINDING_KIND_NOT_ON_TURN, side=player)
        return False
    return True


def _make_empty_move(table: Table, act: Act, player: Colour) -> None:
    """The turn passes without a stone; a move number is used up. White's first move closes a free handicap."""
    if player == WHITE:
        table.handicap_left = 0
    table.unpressed = None
    table.moved_at_ms = act.at_ms
    table.early.pop(player, None)
    table.turn = other(player)
    table.passes += 1
    table.history.push(table.board.key, PASS, player, (), table.turn)


def end_play(table: Table, act: Act) -> None:
    """The end is established: from here on only dead stones are talked about."""
    table.accept_provisional(act)
    table.phase = pb.PHASE_DEAD_STONES
    table.proposer = COLOR_UNSPECIFIED
    table.dead = {}


def game_resigned(table: Table, act: Act) -> None:
    """The other side wins; valid at any time before there is a result, also out of turn (CN2002 7.2, reading R61)."""
    player = act.player or table.turn
    if table.result is not None:
        act.find(table.cite("21.3"), pb.FINDING_KIND_AFTER_END, side=player)
        return
    kind = RESULT_KIND_W_WIN if player == BLACK else RESULT_KIND_B_WIN
    table.result = pb.Result(kind=kind, how=pb.RESULT_HOW_RESIGNATION, clause=table.cite("7.2"))
    table.phase = pb.PHASE_ENDED


def end_answered(table: Table, act: Act) -> None:
    """Agreement ends the game; after a refusal the turn stays with the refuser (CN2002 13.2, 21.1)."""
    player = act.player or table.turn
    if table.phase not in _PLAYING or not table.proposer or player == table.proposer:
        act.find(table.cite("13.2"), pb.FINDING_KIND_NO_PROPOSAL, side=player)
    elif act.fact.accept:
        end_play(table, act)
    else:
        table.proposer = COLOR_UNSPECIFIED


def dead_proposed(table: Table, act: Act) -> None:
    """A side names the dead stones; the same set from both is an agreement (CN2002 8)."""
    player = act.player or BLACK
    if table.phase != pb.PHASE_DEAD_STONES:
        _find_out_of_stage(table, act, player)
        return
    table.dead[player] = _whole_units(table, act, player)
    if table.dead.get(other(player)) == table.dead[player]:
        _agree(table, table.dead[player])


def dead_answered(table: Table, act: Act) -> None:
    """Agreement brings the count; in a dispute play decides, and the claimant moves first (CN2002 8, 21.4)."""
    player = act.player or BLACK
    if table.phase != pb.PHASE_DEAD_STONES:
        _find_out_of_stage(table, act, player)
        return
    proposed = table.dead.get(other(player))
    if proposed is None:
        act.find(table.cite("8"), pb.FINDING_KIND_NO_PROPOSAL, side=player)
    elif act.fact.accept:
        _agree(table, proposed)
    elif act.fact.disputed:
        table.phase = pb.PHASE_PLAY
        table.turn = other(player)
        table.passes = 0
        table.dead = {}
    else:
        del table.dead[other(player)]


def count_taken(table: Table, act: Act) -> None:
    """A count by hand or program is compared with the derived one, which stands (CN2002 9)."""
    result = table.result
    if result is None or result.how != pb.RESULT_HOW_COUNT:
        act.find(table.cite("9.1"), pb.FINDING_KIND_COUNT_DIFFERS, side=act.fact.side)
        return
    sides = (result.black_qz, result.white_qz)
    own, opposite = sides if act.fact.side == BLACK else reversed(sides)
    counted_other = act.fact.other_quarters if act.fact.HasField("other_quarters") else opposite
    if (act.fact.quarters, counted_other) != (own, opposite):
        act.find(table.cite("9.1"), pb.FINDING_KIND_COUNT_DIFFERS, side=act.fact.side)


def _find_out_of_stage(table: Table, act: Act, player: Colour) -> None:
    if table.phase in _PLAYING:
        act.find(table.cite("8"), pb.FINDING_KIND_NOT_ENDED, side=player)
    else:
        act.find(table.cite("21.3"), pb.FINDING_KIND_AFTER_END, side=player)


def _whole_units(table: Table, act: Act, player: Colour) -> frozenset[int]:
    """The stones named, each with its whole unit (CN2002 3); says where a name holds no stone or a unit was cut."""
    named = [(name, table.indices.get(name)) for name in act.fact.points]
    units = [table.board.units[index] if index is not None else None for _, index in named]
    nothing = [name for (name, _), unit in zip(named, units, strict=True) if unit is None]
    whole = frozenset(stone for unit in units if unit is not None for stone in unit.stones)
    added = whole - {index for _, index in named if index is not None}
    if nothing:
        act.find(table.cite("8"), pb.FINDING_KIND_NO_STONE, side=player, points=nothing)
    if added:
        act.find(table.cite("3"), pb.FINDING_KIND_UNIT_COMPLETED, side=player, points=table.point_names(added))
    return whole


def _agree(table: Table, dead: frozenset[int]) -> None:
    """Both agree on the dead stones: the board is counted and the result stands (CN2002 9, 11, `S0 H`)."""
    table.dead = {BLACK: dead, other(BLACK): dead}
    regulations = table.opened.pins.regulations
    black_qz, white_qz = count(table.size, table.board.cells(), dead)
    margin = black_qz - regulations.komi_qz - 2 * table.size * table.size
    kind = RESULT_KIND_B_WIN if margin > 0 else RESULT_KIND_W_WIN if margin < 0 else RESULT_KIND_DRAW
    clause = table.cite("11") if regulations.komi_qz else table.cite("9.3")
    table.result = pb.Result(
        kind=kind,
        how=pb.RESULT_HOW_COUNT,
        clause="S0 H" if regulations.handicap else clause,
        black_qz=black_qz,
        white_qz=white_qz,
        komi_qz=regulations.komi_qz,
        margin_qz=margin,
    )
    table.phase = pb.PHASE_ENDED
