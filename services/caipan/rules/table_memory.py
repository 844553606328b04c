"""The state in force as bytes and back, for checkpoints and for whoever tries something on a copy of it.

The board is not stored: it is the set-up and the moves. Keys of positions are computed again; units are joined again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

from caipan.rules.board import Board
from caipan.rules.history import Edit, History
from caipan.rules.points import BLACK, DEFAULT_SIZE, SEATS, WHITE, Colour, other
from caipan.rules.table import Hand, Provisional, Table
from caipan.v1 import checkpoint_pb2 as pb


def copy_table(table: Table) -> Table:
    """Another table in the same state."""
    return load_table(save_table(table))


def save_table(table: Table) -> pb.TableCheckpoint:
    """The state in force as a checkpoint keeps it."""
    history = table.history
    saved = pb.TableCheckpoint(
        opened=table.opened,
        setup=history.setup,
        setup_turn=history.setup_turn,
        moves=bytes(history.moves),
        captures=[pb.Captures(move=move, points=_pack(points)) for move, points in history.captures.items()],
        history_digest=history.digest,
        edits=[_save_edit(move, edit) for move, edit in history.edits.items()],
        turn=table.turn,
        phase=table.phase,
        passes=table.passes,
        proposer=table.proposer,
        handicap_left=table.handicap_left,
        provisional=[_save_stone(stone) for stone in table.provisional],
        cases=table.cases.values(),
        closed=table.closed,
        ledger=table.ledger.penalties,
        adopted=table.regulations if table.regulations is not table.opened.pins.regulations else None,
        changed_seq=table.changed_seq,
        clockwork=table.clockwork.save() if table.clockwork is not None else None,
    )
    saved.idle_black_ms, saved.idle_white_ms = table.idle_ms
    _save_hands(table, saved)
    _save_end(table, saved)
    _save_persons(table, saved)
    return saved


def _save_hands(table: Table, saved: pb.TableCheckpoint) -> None:
    """The physical board against the board in force, and what hands did last."""
    saved.due, saved.due_from = _pack(sorted(table.due)), table.due_from
    saved.left, saved.missing = _pack(sorted(table.left)), _pack(sorted(table.missing))
    saved.lifted_black, saved.lifted_white = _of(table.lifted, BLACK), _of(table.lifted, WHITE)
    saved.moved_at_ms = table.moved_at_ms
    if table.unpressed is not None:
        saved.unpressed.CopyFrom(_save_hand(table.unpressed))
    saved.early.extend(map(_save_hand, table.early.values()))


def _save_end(table: Table, saved: pb.TableCheckpoint) -> None:
    """Dead stones, count and result."""
    for side, points in table.dead.items():
        saved.dead.add(side=side, points=_pack(sorted(points)))
    for side, (black, white) in table.groups.items():
        saved.groups.add(side=side, black=black, white=white)
    if table.result is not None:
        saved.result.CopyFrom(table.result)
    saved.result_by = table.result_by
    for result, by in table.overruled:
        saved.overruled.add(result=result, by=by)
    saved.signed = bytes(sorted(table.signed))
    saved.assigned_black, saved.assigned_white = _of(table.assigned, BLACK), _of(table.assigned, WHITE)
    saved.resumes, saved.is_recount = table.resumes, table.is_recount
    if table.counted_by is not None and table.counted_by is not table.regulations:
        saved.counted_by.CopyFrom(table.counted_by)


def _save_persons(table: Table, saved: pb.TableCheckpoint) -> None:
    """Who is there."""
    if table.colours is not None:
        saved.colours.CopyFrom(table.colours)
    for person, role in sorted(table.officials):
        saved.officials.add(person=person, role=role)
    saved.began_ms, saved.must_point_out = table.began_ms, table.must_point_out
    saved.came, saved.away = bytes(sorted(table.came)), bytes(sorted(table.away))
    saved.talk_black_ms, saved.talk_white_ms = table.talks.get(BLACK, 0), table.talks.get(WHITE, 0)
    saved.sealed_by, saved.seal = table.sealed_by, table.seal


def load_table(saved: pb.TableCheckpoint) -> Table:
    """The state as ``save_table`` wrote it; what it holds is not shared with ``saved``."""
    size = saved.opened.size or DEFAULT_SIZE
    history = History(size, saved.setup, saved.setup_turn)
    captures = {capture.move: _unpack(capture.points) for capture in saved.captures}
    edits = {
        edit.move: Edit(edit.cells, edit.turn, (0, edit.captured_black, edit.captured_white)) for edit in saved.edits
    }
    history.restore(saved.moves, captures, edits, saved.history_digest)
    board = Board.from_cells(size, history.cells(history.length))
    table = Table(saved.opened, board, saved.turn, history)
    table.captured = history.captured()
    for stone in saved.provisional:
        table.provisional = (*table.provisional, _load_stone(stone, table))
    table.phase, table.passes, table.proposer = saved.phase, saved.passes, saved.proposer
    table.handicap_left = saved.handicap_left
    table.cases = {case.told.case_id: case for case in map(_own, saved.cases)}
    table.keep_closed([_own(case) for case in saved.closed])
    table.ledger.keep(saved.ledger)
    table.changed_seq = saved.changed_seq
    if saved.HasField("adopted"):
        table.adopt(saved.adopted)
    table.idle_ms = (saved.idle_black_ms, saved.idle_white_ms)
    if table.clockwork is not None:
        table.clockwork.load(saved.clockwork)
    _load_hands(table, saved)
    _load_end(table, saved)
    _load_persons(table, saved)
    return table


def _load_hands(table: Table, saved: pb.TableCheckpoint) -> None:
    table.due, table.due_from = frozenset(_unpack(saved.due)), saved.due_from
    table.left, table.missing = frozenset(_unpack(saved.left)), frozenset(_unpack(saved.missing))
    table.lifted = _by_side(_unpack(saved.lifted_black), _unpack(saved.lifted_white))
    table.moved_at_ms = saved.moved_at_ms
    table.unpressed = _load_hand(saved.unpressed) if saved.HasField("unpressed") else None
    table.early = {hand.player: _load_hand(hand) for hand in saved.early}


def _load_end(table: Table, saved: pb.TableCheckpoint) -> None:
    table.dead = {memory.side: frozenset(_unpack(memory.points)) for memory in saved.dead}
    table.groups = {memory.side: (memory.black, memory.white) for memory in saved.groups}
    table.result = saved.result if saved.HasField("result") else None
    table.result_by = saved.result_by
    table.overruled = [(memory.result, memory.by) for memory in saved.overruled]
    table.signed = frozenset(saved.signed)
    table.assigned = _by_side(_unpack(saved.assigned_black), _unpack(saved.assigned_white))
    table.resumes, table.is_recount = saved.resumes, saved.is_recount
    if table.dead_are_agreed():
        table.counted_by = saved.counted_by if saved.HasField("counted_by") else table.regulations


def _load_persons(table: Table, saved: pb.TableCheckpoint) -> None:
    table.began_ms, table.must_point_out = saved.began_ms, saved.must_point_out
    table.came = frozenset(side for side in SEATS if side in saved.came)
    table.away = frozenset(side for side in SEATS if side in saved.away)
    began = {BLACK: saved.talk_black_ms, WHITE: saved.talk_white_ms}
    table.talks = {side: ms for side, ms in began.items() if ms}
    table.sealed_by, table.seal = saved.sealed_by, saved.seal
    officials = frozenset((official.person, official.role) for official in saved.officials)
    table.name(officials, saved.colours if saved.HasField("colours") else None)


def _save_stone(stone: Provisional) -> pb.ProvisionalStone:
    return pb.ProvisionalStone(
        point=stone.index,
        colour=stone.colour,
        player=stone.player,
        captured=_pack(stone.captured),
        moving_is_takeback=stone.moving_is_takeback,
        ref=stone.ref,
        instead_of=stone.instead_of + 1,
        instead_captured=_pack(stone.instead_captured),
    )


def _load_stone(saved: pb.ProvisionalStone, table: Table) -> Provisional:
    """Sets the stone, with what it captures."""
    captured = _unpack(saved.captured)
    table.board.play(saved.point, saved.colour)
    table.captured[other(saved.colour)] += len(captured)
    about = saved.ref, saved.instead_of - 1, _unpack(saved.instead_captured)
    return Provisional(
        saved.point, saved.colour, saved.player, captured, table.board.key, saved.moving_is_takeback, *about
    )


def _of(sides: Mapping[int, Colour], side: Colour) -> bytes:
    """The points of a side."""
    return _pack(sorted(point for point, each in sides.items() if each == side))


def _by_side(black: Iterable[int], white: Iterable[int]) -> dict[int, Colour]:
    return dict.fromkeys(black, BLACK) | dict.fromkeys(white, WHITE)


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


def _pack(points: Iterable[int]) -> bytes:
    indices = tuple(points)
    return struct.pack(f">{len(indices)}H", *indices)


def _unpack(packed: bytes) -> tuple[int, ...]:
    return struct.unpack(f">{len(packed) // 2}H", packed)
