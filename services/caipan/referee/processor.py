"""The fold of one partition of game-events into game-outcomes, whoever delivers the events.

Every step may be repeated: the same events give the same bytes. Outcomes and quarantined records are acknowledged by
the log before a checkpoint says that their events are done; in between a crash folds them again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

import structlog

from caipan.eventlog import DeliveryGuard, EventLog, LogError, Record, WrongLog
from caipan.referee.games import Games
from caipan.referee.mark import FORMAT, MARK_KEY, read_mark, this_worker
from caipan.referee.outbox import Outbox
from caipan.referee.records import EVENTS, OUTCOMES, STATE, address_of
from caipan.referee.standing import Standing
from caipan.rules.game import Game, Judged, Past, read_event
from caipan.v1.event_pb2 import Event
from caipan.v1.mark_pb2 import (
    REFEREE_PHASE_JUDGING,
    REFEREE_PHASE_RECOVERING,
    REFEREE_PHASE_STOPPED,
    RefereeMark,
    RefereePhase,
    StoppedGame,
)

CHECKPOINT_EVENTS = 2000
GAMES_KEPT = 500  # of one partition, at most about 60 KB each
_SLICE = 200  # events judged before other tasks have their turn

logger = structlog.get_logger()


class Referee:
    """Judges one partition. `recover` first, then `feed` what is delivered; one task at a time.

    After a LogUnavailable or LogFull from any of the methods nothing is lost: call it again, or go on with the next
    records. After Fenced another worker judges the partition: drop the referee with all it knows. A checkpoint is made
    every `checkpoint_events`, and whenever the runner asks for one. `stopped` says of which games no outcomes are
    written any more, and why; the others go on.
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
        self._began_s = time.monotonic()
        self.takeover_ms = 0
        self.checkpoints, self.checkpoints_s = 0, 0.0
        self._begin_at(0, RefereeMark(), {})
        self._enter(REFEREE_PHASE_RECOVERING)
        self._marked = self.phase

    def _begin_at(self, next_offset: int, mark: RefereeMark, snapshots: Mapping[bytes, bytes]) -> None:
        self.guard = DeliveryGuard(self._log, EVENTS, self.partition, next_offset)
        self.games = Games(self._log, self.partition, self._games_kept, snapshots)
        self.stopped = {game.game_id: game.reason for game in mark.stopped}
        self._refilled_before = mark.refilled
        self.outbox = Outbox(self._log, self.partition, mark.outcomes_end)
        self._standing: Standing | None = None
        self._saved_offset, self._saved_outcomes = next_offset, mark.outcomes_end

    def _enter(self, phase: RefereePhase.ValueType) -> None:
        self.phase = phase
        self.since_ms = time.time_ns() // 1_000_000

    @property
    def changed(self) -> bool:
        """Whether there is anything to checkpoint: events judged, or another phase than the log has."""
        return self.guard.next_offset != self._saved_offset or self.phase != self._marked

    async def recover(self) -> None:
        """Takes up the last checkpoint and folds again what stands behind it, up to the present end of the log.

        An outcome that stands already is not written again. Where another one stands, or one that no event gives, the
        game has diverged. Raises WrongLog where the log has lost events.
        """
        self._enter(REFEREE_PHASE_RECOVERING)
        await self._log.take_over(STATE, self.partition)
        self._begin_at(*await self._restored())
        await self._store({}, self._saved_offset, self._saved_outcomes)
        self._standing = standing = await Standing.read(self._log, self.partition, self._saved_outcomes)
        for game_id in standing.games():
            game = await self.games.get(game_id)
            if reason := standing.contradicts(game_id, game.seq, game.head):
                self._diverged(game_id, reason)
        await self.catch_up()
        for game_id, seq in standing.left():
            if game_id not in self.stopped:
                self._diverged(game_id, f"an outcome of seq {seq} stands that no event gives")
        self._standing = None
        self.outbox.outcomes_end = max(self.outbox.outcomes_end, standing.end)
        self.takeover_ms = round((time.monotonic() - self._began_s) * 1000)
        self._enter(REFEREE_PHASE_JUDGING)

    async def _restored(self) -> tuple[int, RefereeMark, Mapping[bytes, bytes]]:
        """The last checkpoint: next offset, mark and games. One that is of no use is dropped: the log has it all."""
        next_offset, states = await self._log.restore(STATE, self.partition)
        mark = read_mark(states.pop(MARK_KEY, None))
        events, outcomes = [await self._log.end(topic, self.partition) for topic in (EVENTS, OUTCOMES)]
        if next_offset > events:
            raise WrongLog(
                f"{EVENTS}-{self.partition}: {next_offset} events were judged, but the log has {events}: it has lost "
                "some; put back a whole copy of it"
            )
        if (states or next_offset) and (mark.format != FORMAT or mark.outcomes_end > outcomes):
            logger.warning("checkpoints_dropped", partition=self.partition, why="another format, or outcomes were lost")
            await self._log.checkpoint(STATE, self.partition, 0, dict.fromkeys(states))
            return 0, RefereeMark(refilled=mark.refilled), {}
        return next_offset, mark, states

    async def catch_up(self) -> None:
        """Folds what the log has beyond the events judged, delivered or not."""
        await self.outbox.flush()
        end = await self._log.end(EVENTS, self.partition)
        while records := await self.guard.read_until(end):
            await self._fold(records)

    async def feed(self, records: Sequence[Record]) -> None:
        """Folds what was delivered: repeated records are skipped, missing ones read from the log first."""
        await self.outbox.flush()
        while due := await self.guard.admit(records):
            await self._fold(due)

    async def refill(self, end: int) -> None:
        """Folds what was not delivered up to offset `end`, where nothing that comes later has betrayed it."""
        await self.outbox.flush()
        while records := await self.guard.read_until(end):
            self.guard.refilled += len(records)
            await self._fold(records)

    async def checkpoint(self) -> None:
        """Stores the games that changed and the next offset, once the log has all outcomes. Raises Fenced."""
        if not self.changed:
            return
        await self.outbox.flush()
        next_offset = self.guard.next_offset
        outcomes_end = self.outbox.outcomes_end if self._standing is None else self._saved_outcomes
        await self._store(await self.games.snapshots(), next_offset, outcomes_end)
        self.games.saved()

    async def _store(self, snapshots: Mapping[bytes, bytes], next_offset: int, outcomes_end: int) -> None:
        phase = self.phase
        mark = RefereeMark(
            format=FORMAT,
            next_offset=next_offset,
            outcomes_end=outcomes_end,
            stopped=[StoppedGame(game_id=game_id, reason=reason) for game_id, reason in sorted(self.stopped.items())],
            worker=this_worker(),
            phase=phase,
            since_ms=self.since_ms,
            refilled=self._refilled_before + self.guard.refilled,
            takeover_ms=self.takeover_ms,
        )
        states = {**snapshots, MARK_KEY: mark.SerializeToString(deterministic=True)}
        began_s = time.monotonic()
        await self._log.checkpoint(STATE, self.partition, next_offset, states)
        self.checkpoints += 1
        self.checkpoints_s += time.monotonic() - began_s
        self._saved_offset, self._saved_outcomes, self._marked = next_offset, outcomes_end, phase

    async def rest(self) -> None:
        """The last checkpoint for now; it says that nobody judges the partition. After it `resume`, or nothing.

        Where the log does not take it, whoever comes next folds from the one before.
        """
        self._enter(REFEREE_PHASE_STOPPED)
        try:
            await self.checkpoint()
        except LogError as error:
            logger.warning("stopped_without_checkpoint", partition=self.partition, error=str(error))

    def resume(self) -> None:
        """After a rest in which nobody else has judged the partition."""
        self._enter(REFEREE_PHASE_JUDGING)

    async def close(self) -> None:
        """Rests, and lets go of the partition."""
        await self.rest()
        await self._log.release(STATE, self.partition)

    async def _fold(self, records: Sequence[Record]) -> None:
        for number, record in enumerate(records, start=1):
            await self._judge(record)
            if number % _SLICE == 0:
                await asyncio.sleep(0)
        await self.outbox.flush()
        if self.guard.next_offset - self._saved_offset >= self._checkpoint_events:
            await self.checkpoint()

    async def _judge(self, record: Record) -> None:
        """Judges one record. Nothing has changed where the log fails; from the judgement on it is not asked."""
        game_id, reason = address_of(record, self._partitions)
        if reason:
            self.outbox.add_quarantined(record, reason)
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
            self.outbox.add_quarantined(record, event)
            return [game.quarantine(record.value, record.offset, event)]
        return game.apply(event, record.value, record.offset, past)

    def _write(self, game_id: str, judged: list[Judged]) -> None:
        """Hands outcomes to the outbox, save those that stand in the log already."""
        for outcome in judged:
            stands = None if self._standing is None else self._standing.head(game_id, outcome)
            if stands is None:
                self.outbox.add_outcome(game_id.encode(), outcome.record)
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
