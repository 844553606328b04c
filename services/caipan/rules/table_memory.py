"""The state in force as bytes and back, for checkpoints and for whoever tries something on a copy of it.

The board is not stored: it is the set-up and the moves. Keys of positions are computed again; units are joined again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from caipan.rules.board import Board
from caipan.rules.history import History
from caipan.rules.points import BLACK, DEFAULT_SIZE, SEATS, WHITE, other
from caipan.rules.table import Hand, Provisional, Table
from caipan.v1 import checkpoint_pb2 as pb
from caipan.v1.facts_pb2 import Official


def copy_table(table: Table) -> Table:
    """Another table in the same state."""
    return load_table(save_table(table))


def save_table(table: Table) -> pb.TableCheckpoint:
    """The state in force as a checkpoint keeps it."""
    history = table.history
    return pb.TableCheckpoint(
        opened=table.opened,
        setup=history.setup,
        setup_turn=history.setup_turn,
        moves=bytes(history.moves),
        captures=[pb.Captures(move=move, points=_pack(points)) for move, points in history.captures.items()],
        history_digest=history.digest,
        turn=table.turn,
        phase=table.phase,
        passes=table.passes,
        proposer=table.proposer,
        handicap_left=table.handicap_left,
        provisional=[
            pb.ProvisionalStone(
                point=stone.index,
                colour=stone.colour,
                player=stone.player,
                captured=_pack(stone.captured),
                moving_is_takeback=stone.moving_is_takeback,
                ref=stone.ref,
                instead_of=stone.instead_of + 1,
                instead_captured=_pack(stone.instead_captured),
            )
            for stone in table.provisional
        ],
        due=_pack(sorted(table.due)),
        due_from=table.due_from,
        left=_pack(sorted(table.left)),
        lifted_black=_pack(sorted(point for point, side in table.lifted.items() if side == BLACK)),
        lifted_white=_pack(sorted(point for point, side in table.lifted.items() if side != BLACK)),
        missing=_pack(sorted(table.missing)),
        moved_at_ms=table.moved_at_ms,
        unpressed=_save_hand(table.unpressed) if table.unpressed is not None else None,
        early=[_save_hand(hand) for hand in table.early.values()],
        dead=[pb.DeadMemory(side=side, points=_pack(sorted(points))) for side, points in table.dead.items()],
        groups=[pb.GroupsMemory(side=side, black=black, white=white) for side, (black, white) in table.groups.items()],
        result=table.result,
        colours=table.colours,
        officials=[Official(person=person, role=role) for person, role in sorted(table.officials)],
        edits=[pb.EditMemory(move=move, cells=cells) for move, cells in history.edits.items()],
        cases=table.cases.values(),
        closed=table.closed,
        ledger=table.ledger.penalties,
        assigned_black=_pack(sorted(point for point, side in table.assigned.items() if side == BLACK)),
        assigned_white=_pack(sorted(point for point, side in table.assigned.items() if side != BLACK)),
        signed=bytes(sorted(table.signed)),
        adopted=table.regulations if table.regulations is not table.opened.pins.regulations else None,
        changed_seq=table.changed_seq,
        began_ms=table.began_ms,
        came=bytes(sorted(table.came)),
        away=bytes(sorted(table.away)),
        must_point_out=table.must_point_out,
        talk_black_ms=table.talks.get(BLACK, 0),
        talk_white_ms=table.talks.get(WHITE, 0),
        sealed_by=table.sealed_by,
        seal=table.seal,
        clockwork=table.clockwork.save() if table.clockwork is not None else None,
    )


def load_table(saved: pb.TableCheckpoint) -> Table:
    """The state as ``save_table`` wrote it; what it holds is not shared with ``saved``."""
    size = saved.opened.size or DEFAULT_SIZE
    history = History(size, saved.setup, saved.setup_turn)
    captures = {capture.move: _unpack(capture.points) for capture in saved.captures}
    edits = {edit.move: edit.cells for edit in saved.edits}
    history.restore(saved.moves, captures, saved.history_digest, edits)
    board = Board.from_cells(size, history.cells(history.length))
    table = Table(saved.opened, board, saved.turn, history)
    table.captured = history.captured()
    for stone in saved.provisional:
        captured = _unpack(stone.captured)
        board.play(stone.point, stone.colour)
        table.captured[other(stone.colour)] += len(captured)
        about = stone.ref, stone.instead_of - 1, _unpack(stone.instead_captured)
        kept = Provisional(
            stone.point, stone.colour, stone.player, captured, board.key, stone.moving_is_takeback, *about
        )
        table.provisional = (*table.provisional, kept)
    table.phase, table.passes, table.proposer = saved.phase, saved.passes, saved.proposer
    table.handicap_left = saved.handicap_left
    table.due, table.due_from = frozenset(_unpack(saved.due)), saved.due_from
    table.left = frozenset(_unpack(saved.left))
    table.lifted = dict.fromkeys(_unpack(saved.lifted_black), BLACK) | dict.fromkeys(_unpack(saved.lifted_white), WHITE)
    table.missing, table.moved_at_ms = frozenset(_unpack(saved.missing)), saved.moved_at_ms
    table.unpressed = _load_hand(saved.unpressed) if saved.HasField("unpressed") else None
    table.early = {hand.player: _load_hand(hand) for hand in saved.early}
    table.dead = {memory.side: frozenset(_unpack(memory.points)) for memory in saved.dead}
    table.groups = {memory.side: (memory.black, memory.white) for memory in saved.groups}
    table.result = saved.result if saved.HasField("result") else None
    table.cases = {case.told.case_id: case for case in map(_own, saved.cases)}
    table.closed = [_own(case) for case in saved.closed]
    table.ledger.keep(saved.ledger)
    black, white = _unpack(saved.assigned_black), _unpack(saved.assigned_white)
    table.assigned = dict.fromkeys(black, BLACK) | dict.fromkeys(white, WHITE)
    table.signed = frozenset(saved.signed)
    table.changed_seq = saved.changed_seq
    table.began_ms, table.must_point_out = saved.began_ms, saved.must_point_out
    table.came = frozenset(side for side in SEATS if side in saved.came)
    table.away = frozenset(side for side in SEATS if side in saved.away)
    began = {BLACK: saved.talk_black_ms, WHITE: saved.talk_white_ms}
    table.talks = {side: ms for side, ms in began.items() if ms}
    table.sealed_by, table.seal = saved.sealed_by, saved.seal
    if saved.HasField("adopted"):
        table.adopt(saved.adopted)
    if table.clockwork is not None:
        table.clockwork.load(saved.clockwork)
    officials = frozenset((official.person, official.role) for official in saved.officials)
    table.name(officials, saved.colours if saved.HasField("colours") else None)
    return table


def _own(case: pb.CaseMemory) -> pb.CaseMemory:
    """A case that may be changed without changing where it comes from."""
    own = pb.CaseMemory()
    own.CopyFrom(case)
    return own


def _save_hand(hand: Hand) -> pb.HandMemory:
    player, at_ms, source = hand
    return pb.HandMemory(player=player, at_ms=at_ms, source=source)


def _load_hand(saved: pb.HandMemory) -> Hand:
    return saved.player, saved.at_ms, saved.source


def _pack(points: Iterable[int]) -> bytes:
    indices = tuple(points)
    return struct.pack(f">{len(indices)}H", *indices)


def _unpack(packed: bytes) -> tuple[int, ...]:
    return struct.unpack(f">{len(packed) // 2}H", packed)
