"""Judging events whose turn has come, and chaining their outcomes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from google.protobuf.message import DecodeError

from caipan.rules import docket, timing
from caipan.rules.act import Act
from caipan.rules.corrections import LIVE, Correction, Overlay
from caipan.rules.digest import first_head, next_head, state_digest
from caipan.rules.gametime import APART, GameTime
from caipan.rules.handlers import HANDLERS
from caipan.rules.officials import why_not_seat
from caipan.rules.opening import CannotOpenError, open_table
from caipan.rules.rulings import is_superseding
from caipan.rules.settling import settle
from caipan.rules.table import Table, tell_changes
from caipan.rules.verdicts import (
    EVENT_TYPES,
    encode_plain_verdict,
    encode_standing,
    game_field,
    is_plain,
    outcome_record,
    verdict_of,
)
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.common_pb2 import ROLE_PLAYER
from caipan.v1.event_pb2 import Event


class Judged(NamedTuple):
    """An outcome for the log: ``record`` is an OutcomeRecord in bytes. A notice has seq 0 and an empty head."""

    seq: int
    head: bytes
    record: bytes


def read_event(value: bytes, game_id: str) -> Event | str:
    """The event of a record, or why it is none of this game."""
    try:
        event = Event.FromString(value)
    except DecodeError:
        return "the record is no event"
    if event.game_id != game_id:
        return f"the event names the game {event.game_id!r}, its key {game_id!r}"
    if not event.event_id:
        return "the event has no event_id"
    if event.WhichOneof("fact") is None:
        return "the type of the event is not known here"
    return event


class Judge:
    """The state in force of one game and the chain of its outcomes.

    ``partition``: that of its events. ``overlay``: corrections to judge by from the start.
    """

    def __init__(self, game_id: str, partition: int, overlay: Overlay | None) -> None:
        self.game_id = game_id
        self.partition = partition
        self.overlay = overlay
        self.seq = 0
        self.head = first_head(game_id)
        self.digest = b""
        self._game_field = game_field(game_id)
        self._standing = b""
        self.table: Table | None = None
        # Game time, and game time as the records say it, right or wrong: delivery must not depend on corrections.
        self.clock = self.heard = GameTime()
        if overlay is not None:
            self.heard = GameTime()
        self.corrections: list[Correction] = []
        # seq of the last correction, and the rulings that were stale by it when they were given.
        self.corrected_seq = 0
        self.stale: set[str] = set()

    def judge(self, act: Act, findings: Iterable[pb.Finding] = ()) -> Judged:
        """The outcome of an event whose turn has come; ``findings`` on its delivery come first."""
        if self.overlay is not None:
            self.judge_overlaid(act, self.overlay)
        else:
            clock = self.clock
            if 0 <= act.at_ms - clock.now_ms <= clock.quiet_step_ms and act.kind not in APART:
                clock.now_ms = act.at_ms
            else:
                self._step(act)
            self._handle(act)
        if findings:
            act.findings = [*findings, *act.findings]
        judged = self.chain(act)
        if self.overlay is not None:
            self.judge_missed(act, self.overlay)
        return judged

    def _step(self, act: Act) -> None:
        """Moves game time, or says why not."""
        odd = self.clock.step(act)
        if odd is not None:
            act.find(*odd)

    def chain(self, act: Act) -> Judged:
        """The next outcome of the game."""
        self.seq = seq = self.seq + 1
        if is_plain(self.table, act):
            body = encode_plain_verdict(self._game_field, seq, act, self._standing)
        else:
            verdict = verdict_of(self.game_id, seq, self.table, act)
            verdict.state_digest = self.digest
            body = verdict.SerializeToString(deterministic=True)
            if act.status == pb.STATUS_STALE and act.fact.case_revision < self.corrected_seq:
                self.stale.add(act.event_id)
        before = self.head
        self.head = head = next_head(before, act.digest, body)
        judged = Judged(seq, head, outcome_record(body, before, head, self.partition, act))
        if self.overlay is not None and self.overlay.until != LIVE:
            self.overlay.outcomes.append(body)
        return judged

    def _handle(self, act: Act, clerical: bool = False) -> None:
        """Applies a fact to the table. A fact without a rule here has no effect.

        ``clerical``: it comes from a correction, so that whoever reported the record does not matter.
        """
        kind, table = act.kind, self.table
        act.seq = act.seq or self.seq + 1
        works = table.clockwork if table is not None and kind not in APART else None
        if table is not None and works is not None:
            timing.advance(table, works, act, self.clock.now_ms)
        if kind == "ruling_decided" and table is not None and is_superseding(act):
            self.judge_again(act, table)
            if works is not None and self.table is not None:
                self.take_state(self.table)  # time has passed
            return
        handler = HANDLERS.get(kind)
        if handler is not None and table is not None:
            if act.event.by.role == ROLE_PLAYER and not clerical:
                reason = why_not_seat(table, act.event.by, act.player)
                if reason:
                    act.refuse(pb.STATUS_REFUSED, reason)
                    if works is not None:
                        self.take_state(table)
                    return
            before = docket.standing(table) if table.cases else None
            if table.is_auto:
                table.remember(act)  # a ruling of the service may change more than the act
            table = handler(table, act) or table
            if table.clockwork is not None:
                timing.follow(table, table.clockwork, act)
            if act.findings or act.cases or before is not None:
                table = settle(table, act, before)
                if table.clockwork is not None:
                    timing.follow(table, table.clockwork, act)
            if act.before is not None:
                tell_changes(table, act.before, act)
            if kind == "regulations_adopted":
                for clock in (self.clock, self.heard):
                    clock.adopt(table.regulations)
            if kind != "clock_pressed" or act.findings or works is not None:  # an untimed press alone changes nothing
                self.take_state(table)
        elif kind == "game_opened":
            self._open(act)
        elif kind == "record_corrected" and table is not None:
            self.judge_again(act, table)
        if works is not None and handler is None and table is not None:
            self.take_state(table)  # time has passed

    def _open(self, act: Act) -> None:
        if self.table is not None:
            act.find("REG order", pb.FINDING_KIND_ALREADY_OPENED)
            return
        try:
            self.table = open_table(act.fact, act)
        except CannotOpenError as error:
            act.refuse(pb.STATUS_QUARANTINED, str(error))
            return
        for clock in (self.clock, self.heard):
            clock.start(self.table.regulations)
        self.take_state(self.table)

    def take_state(self, table: Table) -> None:
        """The state in force is that of ``table`` from here on."""
        self.table = table
        clocks = table.clockwork.encode() if table.clockwork is not None else b""
        self.digest = state_digest(table, clocks)
        self._standing = encode_standing(table, clocks, self.digest)

    def judge_again(self, act: Act, table: Table) -> None:
        """Judges the history again for a correction or a superseding ruling."""
        raise NotImplementedError

    def judge_overlaid(self, act: Act, overlay: Overlay) -> None:
        """Judges what happened instead of a record."""
        raise NotImplementedError

    def judge_missed(self, act: Act, overlay: Overlay) -> None:
        """Judges what happened right after a record, in a history that is judged again."""
        raise NotImplementedError


__all__ = ["EVENT_TYPES", "Judge", "Judged", "read_event"]
