"""The end of a game: resignation, agreement, dead stones, the count (CN2002 7, 8, 13.2, 21)."""

from __future__ import annotations

from caipan.rules import docket
from caipan.rules.act import Act
from caipan.rules.clauses import Counting
from caipan.rules.edition import edition
from caipan.rules.hands import drop_seal, judge_due
from caipan.rules.history import PASS
from caipan.rules.points import BLACK, SEATS, WHITE, Colour, other
from caipan.rules.results import BY_GROUPS, loss_of, result_of
from caipan.rules.table import Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.common_pb2 import COLOR_UNSPECIFIED, ROLE_PLAYER
from caipan.v1.facts_pb2 import CountTaken

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

    It stays open until it is answered; a proposal from both sides is the confirmation of both (7.1). Where the proposer
    gives up contesting, the chief fixes the boundary (12.4).
    """
    player = act.player or table.turn
    if not _may_give_up_move(table, act, player, table.cite("13.2")):
        return
    if table.proposer == other(player):
        end_play(table, act)
        return
    _make_empty_move(table, act, player)
    table.proposer = player
    if act.fact.concede_rest:
        docket.open_if_room(table, act, player, table.history.length, [table.edition.about("12.4(4)").key])


def _may_give_up_move(table: Table, act: Act, player: Colour, clause: str) -> bool:
    """Whether the player is on turn in a game that goes on; says so if not."""
    if table.phase not in _PLAYING:
        act.find(table.cite("21.3"), pb.FINDING_KIND_AFTER_END, side=player)
        return False
    if table.sealed_by == player:
        drop_seal(table, act)
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
    result = pb.Result(kind=loss_of(player), how=pb.RESULT_HOW_RESIGNATION, clause=table.cite("7.2"))
    table.set_result(result, pb.PHASE_ENDED)


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
    elif act.fact.disputed and table.is_recount:
        act.find(table.cite("21.3"), pb.FINDING_KIND_AFTER_END, side=player)
        del table.dead[other(player)]
    elif act.fact.disputed:
        table.phase = pb.PHASE_PLAY
        table.set_turn(other(player))
        table.passes = 0
        table.dead = {}
    else:
        del table.dead[other(player)]


def count_taken(table: Table, act: Act) -> None:
    """A count by hand or program is compared with the derived one, which stands (CN2002 9); living groups stand as both
    players confirm them (rules 6.3)."""
    result = table.result
    is_counted = result is not None and result.how == pb.RESULT_HOW_COUNT
    if not is_counted or _differs(table, act.fact):
        act.find(table.cite("9.1"), pb.FINDING_KIND_COUNT_DIFFERS, side=act.fact.side)
    if is_counted and table.phase == pb.PHASE_ENDED and _confirm_groups(table, act):
        count_board(table)


def _differs(table: Table, said: CountTaken) -> bool:
    """Whether a count says anything else than what stands; what does not count here is not compared."""
    counting, result = table.counting, table.result or pb.Result()
    known = {"quarters": result.black_qz, "other_quarters": result.white_qz}
    if said.side != BLACK:
        known = {"quarters": result.white_qz, "other_quarters": result.black_qz}
    if counting in BY_GROUPS:
        known |= {"groups_b": result.black_groups, "groups_w": result.white_groups}
    if counting is Counting.TERRITORY:
        known |= {"prisoners_b": table.captured[WHITE], "prisoners_w": table.captured[BLACK]}
    given = {field.name: number for field, number in said.ListFields()} | {"quarters": said.quarters}
    return any(given.get(name, number) != number for name, number in known.items())


def _confirm_groups(table: Table, act: Act) -> bool:
    """Takes down the living groups that a count gives for both sides, if they can be; the word of a player, or of both
    where somebody else reports it in nobody's name."""
    said = act.fact
    numbers = (said.groups_b, said.groups_w)
    if not (table.counting in BY_GROUPS and said.HasField("groups_b") and said.HasField("groups_w")):
        return False
    if not all(0 <= number <= table.size**2 for number in numbers):
        return False
    for_both = SEATS if act.event.by.role != ROLE_PLAYER else ()
    for side in (act.player,) if act.player else for_both:
        table.groups[side] = numbers
    return True


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
    """Both agree on the dead stones: the board is counted and the result stands (CN2002 9)."""
    table.dead = {BLACK: dead, WHITE: dead}
    table.counted_by = table.regulations
    count_board(table)


def count_board(table: Table) -> None:
    """The result of a game whose dead stones are agreed, from all that bears on it now; signatures under another one
    are void."""
    regulations = table.counted_by or table.regulations
    black_says, white_says = table.groups.get(BLACK), table.groups.get(WHITE)
    result = result_of(
        edition(regulations.edition),
        regulations,
        table.board,
        dead=table.dead[BLACK],
        captured=table.captured,
        warnings={side: table.ledger.warnings(side) for side in SEATS},
        assigned=table.assigned,
        groups=black_says if black_says == white_says else None,
    )
    if result != table.result or table.phase != pb.PHASE_ENDED:
        table.set_result(result, pb.PHASE_ENDED)
