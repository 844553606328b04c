"""A game's fold as bytes and back: ``load(save(game))`` goes on exactly as ``game`` would.

The board is not stored: it is the set-up and the moves. Keys of positions are computed again; units are joined again.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterable

from caipan.rules.board import Board
from caipan.rules.corrections import Correction, Overlay
from caipan.rules.delivery import Delivery, Known, Parked, Source
from caipan.rules.edition import edition
from caipan.rules.game import Game, Past
from caipan.rules.gametime import GameTime
from caipan.rules.history import History
from caipan.rules.points import BLACK, DEFAULT_SIZE, WHITE, other
from caipan.rules.table import Hand, Provisional, Table
from caipan.v1 import checkpoint_pb2 as pb
from caipan.v1.event_pb2 import Event
from caipan.v1.facts_pb2 import Official


def save(game: Game) -> bytes:
    """The fold of a game between two events."""
    delivery = game.delivery
    numbered = {event_id for source in delivery.sources.values() for event_id in source.recent}
    saved = pb.GameCheckpoint(
        game_id=game.game_id,
        partition=game.partition,
        seq=game.seq,
        head=game.head,
        first_offset=game.first_offset,
        now_ms=game.clock.now_ms,
        time_set=game.clock.quiet_step_ms >= 0,
        heard_ms=game.heard.now_ms,
        heard_set=game.heard.quiet_step_ms >= 0,
        sources=[_save_source(key, source, delivery.known) for key, source in delivery.sources.items()],
        unnumbered=[
            _save_known(event_id, known) for event_id, known in delivery.known.items() if event_id not in numbered
        ],
        orphans=[pb.LoggedEvent(value=orphan.value, offset=orphan.offset) for orphan in game.orphans],
        corrections=[pb.CorrectionMemory(event_id=event_id, said=said) for event_id, said in game.corrections],
        table=_save_table(game.table) if game.table is not None else None,
    )
    return saved.SerializeToString(deterministic=True)


def load(data: bytes) -> Game:
    """The fold of a game as ``save`` wrote it."""
    saved = pb.GameCheckpoint.FromString(data)
    game = Game(saved.game_id, saved.partition)
    game.seq, game.head, game.first_offset = saved.seq, saved.head, saved.first_offset
    game.delivery = _load_delivery(saved)
    game.orphans = [Past(orphan.value, orphan.offset) for orphan in saved.orphans]
    game.corrections = [Correction(memory.event_id, memory.said) for memory in saved.corrections]
    if saved.HasField("table"):
        table = _load_table(saved.table)
        game.take_state(table)
        if game.corrections:
            game.overlay, game.heard = Overlay(game.corrections), GameTime()
        for clock, ms, known in (
            (game.clock, saved.now_ms, saved.time_set),
            (game.heard, saved.heard_ms, saved.heard_set),
        ):
            clock.start(table.opened.pins.regulations)
            if known:
                clock.set(ms)
    return game


def _save_source(key: tuple[str, str], source: Source, known: dict[str, Known]) -> pb.SourceMemory:
    return pb.SourceMemory(
        id=key[0],
        boot=key[1],
        watermark=source.watermark,
        gaps=[number for gap in source.gaps for number in gap],
        recent=[_save_known(event_id, known[event_id], source.by) for event_id in source.recent],
        parked=[pb.LoggedEvent(value=parked.value, offset=parked.offset) for parked in source.parked],
        closed=source.closed,
        by=source.by,
    )


def _save_known(event_id: str, known: Known, by: bytes = b"") -> pb.KnownEvent:
    """``by``: who reports for the source; said again only where it was somebody else."""
    seq, number, identity, reported = known
    saved = pb.KnownEvent(event_id=event_id, seq=seq, number=number, identity=identity)
    if reported != by:
        saved.by = reported
    return saved


def _load_known(saved: pb.KnownEvent, by: bytes = b"") -> Known:
    return saved.seq, saved.number, saved.identity, saved.by if saved.HasField("by") else by


def _load_delivery(saved: pb.GameCheckpoint) -> Delivery:
    delivery = Delivery()
    for known in saved.unnumbered:
        delivery.known[known.event_id] = _load_known(known)
    for memory in saved.sources:
        for known in memory.recent:
            delivery.known[known.event_id] = _load_known(known, memory.by)
        delivery.sources[memory.id, memory.boot] = Source(
            watermark=memory.watermark,
            recent=deque(known.event_id for known in memory.recent),
            by=memory.by,
            gaps=list(zip(memory.gaps[::2], memory.gaps[1::2], strict=True)),
            parked=[_load_parked(logged) for logged in memory.parked],
            closed=memory.closed,
        )
        delivery.parked_count += len(memory.parked)
    return delivery


def _load_parked(logged: pb.LoggedEvent) -> Parked:
    event = Event.FromString(logged.value)
    return Parked(event.source_seq, event.at_ms, event.event_id, logged.value, logged.offset)


def _save_table(table: Table) -> pb.TableCheckpoint:
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
        result=table.result,
        colours=table.colours,
        officials=[Official(person=person, role=role) for person, role in sorted(table.officials)],
    )


def _load_table(saved: pb.TableCheckpoint) -> Table:
    size = saved.opened.size or DEFAULT_SIZE
    history = History(size, saved.setup, saved.setup_turn)
    captures = {capture.move: _unpack(capture.points) for capture in saved.captures}
    history.restore(saved.moves, captures, saved.history_digest)
    board = Board.from_cells(size, history.cells(history.length))
    table = Table(saved.opened, edition(saved.opened.pins.regulations.edition), board, saved.turn, history)
    table.captured = history.captured()
    for stone in saved.provisional:
        captured = _unpack(stone.captured)
        board.play(stone.point, stone.colour)
        table.captured[other(stone.colour)] += len(captured)
        kept = Provisional(stone.point, stone.colour, stone.player, captured, board.key, stone.moving_is_takeback)
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
    table.result = saved.result if saved.HasField("result") else None
    officials = frozenset((official.person, official.role) for official in saved.officials)
    table.name(officials, saved.colours if saved.HasField("colours") else None)
    return table


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
