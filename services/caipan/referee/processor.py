"""The fold of one partition of game-events into game-outcomes, whoever delivers the events.

Every step may be repeated: the same events give the same bytes. Outcomes and quarantined records are acknowledged by
the log before a checkpoint says that their events are done; in between a crash folds them again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import structlog

from caipan.eventlog import DeliveryGuard, EventLog, LogError, Record, WrongLog
from caipan.referee.games import Games
from caipan.referee.outbox import Outbox
from caipan.referee.records import EVENTS, OUTCOMES, STATE, address_of
from caipan.referee.standing import Standing
from caipan.rules.game import Game, Judged, Past, read_event
from caipan.v1 import checkpoint_pb2
from caipan.v1.event_pb2 import Event

CHECKPOINT_EVENTS = 2000
GAMES_KEPT = 500  # of one partition, at most about 60 KB each

# The row of game-state that belongs to no game, for no game has an empty id: JSON {format, outcomes_end, stopped}.
MARK_KEY = b""
# Checkpoints that were written by other protos could be read, but misunderstood.
FORMAT = sha256(checkpoint_pb2.DESCRIPTOR.serialized_pb).hexdigest()
_SLICE = 200  # events judged before other tasks have their turn

logger = structlog.get_logger()


class Referee:
    """Judges one partition. `recover` first, then `feed` what is delivered; one task at a time.

    After a LogUnavailable or LogFull from any of the methods nothing is lost: call it again, or go on with the next
    records. A checkpoint is made every `checkpoint_events`, and whenever the runner asks for one. `stopped` says of
    which games no outcomes are written any more, and why; the others go on.
    """

    def __init__(
        self,
        log: EventLog,
        partition: int,
        *,
        checkpoint_events: int = CHECKPOINT_EVENTS,
        games_kept: int = GAMES_KEPT,
    ) -> None:
        self.partition = partition
        self._log = log
        self._partitions = log.partitions(EVENTS)
        self._checkpoint_events = checkpoint_events
        self._games_kept = games_kept
        self._begin_at(0, 0, {})

    def _begin_at(self, next_offset: int, outcomes_end: int, stopped: dict[str, str]) -> None:
        self.guard = DeliveryGuard(self._log, EVENTS, self.partition, next_offset)
        self.games = Games(self._log, self.partition, self._games_kept)
        self.stopped = stopped
        self._outbox = Outbox(self._log, self.partition, outcomes_end)
        self._standing: Standing | None = None
        self._standing_from = outcomes_end
        self._saved_offset = next_offset

    @property
    def changed(self) -> bool:
        """Whether there is anything to checkpoint."""
        return self.guard.next_offset != self._saved_offset

    async def recover(self) -> None:
        """Takes up the last checkpoint and folds again what stands behind it, up to the present end of the log.

        An outcome that stands already is not written again. Where another one stands, or one that no event gives, the
        game has diverged. Raises WrongLog where the log has lost events.
        """
        await self._log.take_over(STATE, self.partition)
        next_offset, mark = await self._restored()
        self._begin_at(next_offset, mark.get("outcomes_end", 0), mark.get("stopped", {}))
        self._standing = standing = await Standing.read(self._log, self.partition, self._standing_from)
        for game_id in standing.games():
            game = await self.games.get(game_id)
            if reason := standing.contradicts(game_id, game.seq, game.head):
                self._diverged(game_id, reason)
        await self.catch_up()
        for game_id, seq in standing.left():
            if game_id not in self.stopped:
                self._diverged(game_id, f"an outcome of seq {seq} stands that no event gives")
        self._standing = None
        self._outbox.outcomes_end = max(self._outbox.outcomes_end, standing.end)

    async def _restored(self) -> tuple[int, dict[str, Any]]:
        """The next offset and the mark of the last checkpoint. One that is of no use is dropped: the log has it all."""
        next_offset, states = await self._log.restore(STATE, self.partition)
        mark = json.loads(states.get(MARK_KEY, b"{}"))
        events, outcomes = [await self._log.end(topic, self.partition) for topic in (EVENTS, OUTCOMES)]
        if next_offset > events:
            raise WrongLog(
                f"{EVENTS}-{self.partition}: {next_offset} events were judged, but the log has {events}: it has lost "
                "some; put back a whole copy of it"
            )
        if states and (mark.get("format") != FORMAT or mark["outcomes_end"] > outcomes):
            logger.warning("checkpoints_dropped", partition=self.partition, why="another format, or outcomes were lost")
            await self._log.checkpoint(STATE, self.partition, 0, dict.fromkeys(states))
            return 0, {}
        return next_offset, mark

    async def catch_up(self) -> None:
        """Folds what the log has beyond the events judged, delivered or not."""
        await self._outbox.flush()
        end = await self._log.end(EVENTS, self.partition)
        while records := await self.guard.read_until(end):
            await self._fold(records)

    async def feed(self, records: Sequence[Record]) -> None:
        """Folds what was delivered: repeated records are skipped, missing ones read from the log first."""
        await self._outbox.flush()
        while due := await self.guard.admit(records):
            await self._fold(due)

    async def checkpoint(self) -> None:
        """Stores the games that changed and the next offset, once the log has all outcomes."""
        if not self.changed:
            return
        await self._outbox.flush()
        next_offset = self.guard.next_offset
        outcomes_end = self._outbox.outcomes_end if self._standing is None else self._standing_from
        mark = {"format": FORMAT, "outcomes_end": outcomes_end, "stopped": self.stopped}
        states = {**await self.games.snapshots(), MARK_KEY: json.dumps(mark, sort_keys=True).encode()}
        await self._log.checkpoint(STATE, self.partition, next_offset, states)
        self._saved_offset = next_offset
        self.games.saved()

    async def close(self) -> None:
        """The last checkpoint. Where the log does not take it, the next start folds from the one before."""
        try:
            await self.checkpoint()
        except LogError as error:
            logger.warning("stopped_without_checkpoint", partition=self.partition, error=str(error))
        await self._log.release(STATE, self.partition)

    async def _fold(self, records: Sequence[Record]) -> None:
        for number, record in enumerate(records, start=1):
            await self._judge(record)
            if number % _SLICE == 0:
                await asyncio.sleep(0)
        await self._outbox.flush()
        if self.guard.next_offset - self._saved_offset >= self._checkpoint_events:
            await self.checkpoint()

    async def _judge(self, record: Record) -> None:
        """Judges one record. Nothing has changed where the log fails; from the judgement on it is not asked."""
        game_id, reason = address_of(record, self._partitions)
        if reason:
            self._outbox.add_quarantined(record, reason)
        elif game_id not in self.stopped:
            game = await self.games.get(game_id)
            event = read_event(record.value, game_id)
            past = await self._past(game, event, record)
            try:
                judged = self._apply(game, event, record, past)
            except Exception:  # a fault in the rules must not stop the other games
                logger.exception("fold_failed", game_id=game_id, partition=self.partition, offset=record.offset)
                self._stop(game_id, f"the fold failed at offset {record.offset}")
            else:
                self.games.changed(game_id)
                self._write(game_id, judged)
        self.guard.next_offset = record.offset + 1

    async def _past(self, game: Game, event: Event | str, record: Record) -> list[Past]:
        """The earlier events of the game, where its rules ask for them."""
        if isinstance(event, str) or game.first_offset < 0 or not game.wants_history(event):
            return []
        key = game.game_id.encode()
        records = await self._log.read_key(EVENTS, key, game.first_offset, record.offset)
        return [Past(earlier.value, earlier.offset) for earlier in records if address_of(earlier, self._partitions)[0]]

    def _apply(self, game: Game, event: Event | str, record: Record, past: list[Past]) -> list[Judged]:
        if isinstance(event, str):
            self._outbox.add_quarantined(record, event)
            return [game.quarantine(record.value, record.offset, event)]
        return game.apply(event, record.value, record.offset, past)

    def _write(self, game_id: str, judged: list[Judged]) -> None:
        """Hands outcomes to the outbox, save those that stand in the log already."""
        for outcome in judged:
            stands = None if self._standing is None else self._standing.head(game_id, outcome)
            if stands is None:
                self._outbox.add_outcome(game_id.encode(), outcome.record)
            elif stands != outcome.head:
                reason = f"another outcome stands for seq {outcome.seq}"
                self._diverged(game_id, reason, seq=outcome.seq, stands=stands.hex(), folded=outcome.head.hex())
                return

    def _diverged(self, game_id: str, reason: str, **details: object) -> None:
        logger.error("diverged", game_id=game_id, partition=self.partition, reason=reason, **details)
        self._stop(game_id, f"diverged: {reason}")

    def _stop(self, game_id: str, reason: str) -> None:
        self.stopped[game_id] = reason
        self.games.drop(game_id)
