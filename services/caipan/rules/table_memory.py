"""The state in force as bytes and back, for checkpoints and for whoever tries something on a copy of it.

The board is not stored: it is the set-up and the moves. Keys of positions are computed again; units are joined again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from caipan.rules.board import Board
from caipan.rules.history import Edit, History
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
        captures=[pb.Captures(move=move, points=pack(points)) for move, points in history.captures.items()],
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
                captured=pack(stone.captured),
                moving_is_takeback=stone.moving_is_takeback,
                ref=stone.ref,
                instead_of=stone.instead_of + 1,
                instead_captured=pack(stone.instead_captured),
            )
            for stone in table.provisional
        ],
        due=pack(sorted(table.due)),
        due_from=table.due_from,
        left=pack(sorted(table.left)),
        lifted_black=pack(sorted(point for point, side in table.lifted.items() if side == BLACK)),
        lifted_white=pack(sorted(point for point, side in table.lifted.items() if side != BLACK)),
        missing=pack(sorted(table.missing)),
        moved_at_ms=table.moved_at_ms,
        unpressed=_save_hand(table.unpressed) if table.unpressed is not None else None,
        early=[_save_hand(hand) for hand in table.early.values()],
        dead=[pb.DeadMemory(side=side, points=pack(sorted(points))) for side, points in table.dead.items()],
        groups=[pb.GroupsMemory(side=side, black=black, white=white) for side, (black, white) in table.groups.items()],
        result=table.result,
        colours=table.colours,
        officials=[Official(person=person, role=role) for person, role in sorted(table.officials)],
        edits=[_save_edit(move, edit) for move, edit in history.edits.items()],
        cases=table.cases.values(),
        closed=table.closed,
        ledger=table.ledger.penalties,
        assigned_black=pack(sorted(point for point, side in table.assigned.items() if side == BLACK)),
        assigned_white=pack(sorted(point for point, side in table.assigned.items() if side != BLACK)),
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
        resumes=table.resumes,
        is_recount=table.is_recount,
        counted_by=table.counted_by if table.counted_by is not table.regulations else None,
        stone_black=table.stones.get(BLACK, ""),
        stone_white=table.stones.get(WHITE, ""),
    )


def load_table(saved: pb.TableCheckpoint) -> Table:
    """The state as ``save_table`` wrote it; what it holds is not shared with ``saved``."""
    size = saved.opened.size or DEFAULT_SIZE
    history = History(size, saved.setup, saved.setup_turn)
    captures = {capture.move: unpack(capture.points) for capture in saved.captures}
    edits = {
        edit.move: Edit(edit.cells, edit.turn, (0, edit.captured_black, edit.captured_white)) for edit in saved.edits
    }
    history.restore(saved.moves, captures, edits, saved.history_digest)
    board = Board.from_cells(size, history.cells(history.length))
    table = Table(saved.opened, board, saved.turn, history)
    table.captured = history.captured()
    for stone in saved.provisional:
        captured = unpack(stone.captured)
        board.play(stone.point, stone.colour)
        table.captured[other(stone.colour)] += len(captured)
        about = stone.ref, stone.instead_of - 1, unpack(stone.instead_captured)
        kept = Provisional(
            stone.point, stone.colour, stone.player, captured, board.key, stone.moving_is_takeback, *about
        )
        table.provisional = (*table.provisional, kept)
    table.phase, table.passes, table.proposer = saved.phase, saved.passes, saved.proposer
    table.handicap_left = saved.handicap_left
    table.due, table.due_from = frozenset(unpack(saved.due)), saved.due_from
    table.left = frozenset(unpack(saved.left))
    table.lifted = dict.fromkeys(unpack(saved.lifted_black), BLACK) | dict.fromkeys(unpack(saved.lifted_white), WHITE)
    table.missing, table.moved_at_ms = frozenset(unpack(saved.missing)), saved.moved_at_ms
    table.unpressed = _load_hand(saved.unpressed) if saved.HasField("unpressed") else None
    table.early = {hand.player: _load_hand(hand) for hand in saved.early}
    table.dead = {memory.side: frozenset(unpack(memory.points)) for memory in saved.dead}
    table.groups = {memory.side: (memory.black, memory.white) for memory in saved.groups}
    table.is_recount = saved.is_recount
    table.result, table.resumes = saved.result if saved.HasField("result") else None, saved.resumes
    table.cases = {case.told.case_id: case for case in map(_own, saved.cases)}
    table.keep_closed([_own(case) for case in saved.closed])
    table.ledger.keep(saved.ledger)
    black, white = unpack(saved.assigned_black), unpack(saved.assigned_white)
    table.assigned = dict.fromkeys(black, BLACK) | dict.fromkeys(white, WHITE)
    table.signed = frozenset(saved.signed)
    table.changed_seq = saved.changed_seq
    table.began_ms, table.must_point_out = saved.began_ms, saved.must_point_out
    table.came = frozenset(side for side in SEATS if side in saved.came)
    table.away = frozenset(side for side in SEATS if side in saved.away)
    began = {BLACK: saved.talk_black_ms, WHITE: saved.talk_white_ms}
    table.talks = {side: ms for side, ms in began.items() if ms}
    table.sealed_by, table.seal = saved.sealed_by, saved.seal
    last = {BLACK: saved.stone_black, WHITE: saved.stone_white}
    table.stones = {side: event_id for side, event_id in last.items() if event_id}
    if saved.HasField("adopted"):
        table.adopt(saved.adopted)
    if len(table.dead) == len(SEATS) and table.dead[BLACK] == table.dead[WHITE]:
        table.counted_by = saved.counted_by if saved.HasField("counted_by") else table.regulations
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


def _save_edit(move: int, edit: Edit) -> pb.EditMemory:
    _, black, white = edit.captured
    return pb.EditMemory(move=move, cells=edit.cells, turn=edit.turn, captured_black=black, captured_white=white)


def _save_hand(hand: Hand) -> pb.HandMemory:
    player, at_ms, source = hand
    return pb.HandMemory(player=player, at_ms=at_ms, source=source)


def _load_hand(saved: pb.HandMemory) -> Hand:
    return saved.player, saved.at_ms, saved.source


def pack(points: Iterable[int]) -> bytes:
    """Points as checkpoints keep them: indices, two bytes each."""
    indices = tuple(points)
    return struct.pack(f">{len(indices)}H", *indices)


def unpack(packed: bytes) -> tuple[int, ...]:
    """The points that ``pack`` wrote."""
    return struct.unpack(f">{len(packed) // 2}H", packed)
