"""A game's fold as bytes and back: ``load(save(game))`` goes on exactly as ``game`` would."""

from __future__ import annotations

from collections import deque

from caipan.rules.corrections import Correction, Overlay
from caipan.rules.delivery import Delivery, Known, Parked, Source
from caipan.rules.game import Game, Past
from caipan.rules.gametime import GameTime
from caipan.rules.table_memory import load_table, save_table
from caipan.v1 import checkpoint_pb2 as pb
from caipan.v1.event_pb2 import Event


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
        corrections=[_save_correction(correction) for correction in game.corrections],
        corrected_seq=game.corrected_seq,
        stale=sorted(game.stale),
        table=save_table(game.table) if game.table is not None else None,
    )
    return saved.SerializeToString(deterministic=True)


def load(data: bytes) -> Game:
    """The fold of a game as ``save`` wrote it."""
    saved = pb.GameCheckpoint.FromString(data)
    game = Game(saved.game_id, saved.partition)
    game.seq, game.head, game.first_offset = saved.seq, saved.head, saved.first_offset
    game.delivery = _load_delivery(saved)
    game.orphans = [Past(orphan.value, orphan.offset) for orphan in saved.orphans]
    game.corrections = [_load_correction(memory) for memory in saved.corrections]
    game.corrected_seq, game.stale = saved.corrected_seq, set(saved.stale)
    if saved.HasField("table"):
        table = load_table(saved.table)
        game.take_state(table)
        if game.corrections:
            game.overlay, game.heard = Overlay(game.corrections), GameTime()
        for clock, ms, known in (
            (game.clock, saved.now_ms, saved.time_set),
            (game.heard, saved.heard_ms, saved.heard_set),
        ):
            clock.start(table.regulations)
            if known:
                clock.set(ms)
    return game


def _save_correction(correction: Correction) -> pb.CorrectionMemory:
    event_id, said, seq = correction
    if isinstance(said, Event):
        return pb.CorrectionMemory(event_id=event_id, ruling=said, seq=seq)
    return pb.CorrectionMemory(event_id=event_id, said=said, seq=seq)


def _load_correction(saved: pb.CorrectionMemory) -> Correction:
    return Correction(saved.event_id, saved.ruling if saved.HasField("ruling") else saved.said, saved.seq)


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
