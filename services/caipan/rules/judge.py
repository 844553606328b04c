"""Judging events whose turn has come, and chaining their outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from google.protobuf.message import DecodeError

from caipan.rules import docket, officials, rulings, timing
from caipan.rules.act import Act, Past
from caipan.rules.corrections import (
    LIVE,
    Correction,
    Overlay,
    apply_correction,
    diverges_at,
    in_force,
    revisions,
    supersede,
    why_not,
    without,
)
from caipan.rules.digest import first_head, next_head, state_digest
from caipan.rules.gametime import APART, GameTime
from caipan.rules.handlers import HANDLERS
from caipan.rules.officials import why_not_seat
from caipan.rules.opening import CannotOpenError, open_table
from caipan.rules.points import SEATS
from caipan.rules.rulings import is_superseding
from caipan.rules.settling import decide_fixed, settle
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
from caipan.v1.facts_pb2 import CorrectedFact
from caipan.v1.rulings_pb2 import RulingDecided

_RULING = EVENT_TYPES["ruling_decided"]


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


class ReachedError(Exception):
    """A history that is judged again has come to the correction it is judged for."""


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
            self._judge_overlaid(act, self.overlay)
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
            self._judge_missed(act, self.overlay)
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
            self._supersede(act, table)
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
        elif kind == "record_corrected":
            self._correct(act)
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

    # Corrections

    def _correct(self, act: Act) -> None:
        """Judges the game again with the record made right, or says why not."""
        table, event, said = self.table, act.event, act.fact
        if table is None or self._is_again():
            return  # a history that is judged again has its corrections from the start
        if table.phase == pb.PHASE_FINAL:
            reason = f"the result is final and cannot be changed ({table.cite('16.4')})"
        else:
            record = self.find_record(said.ref, act.past)
            reason = why_not(self.corrections, event, record, officials.is_arbiter(table, event.by))
        if reason:
            act.refuse(pb.STATUS_REFUSED, reason)
            return
        corrections = apply_correction(self.corrections, act.event_id, said, act.seq)
        _, before = self._judge_again(self.corrections, act)
        again, after = self._judge_again(corrections, act)
        self._take_over(again, corrections, act, table)
        act.tell(revised=revisions(before, after, self.seq + 1))

    def _is_again(self) -> bool:
        return self.overlay is not None and self.overlay.until != LIVE

    def _take_over(self, again: Judge, corrections: list[Correction], act: Act, table: Table) -> None:
        """The state in force is that of a history judged again; ``table`` was in force before."""
        arrangement = table.board.cells()
        self.corrections, self.overlay = corrections, Overlay(corrections)
        self.corrected_seq = act.seq
        self.clock = again.clock
        if again.table is not None:
            tell_changes(again.table, arrangement, act)
            docket.tell_changes(table, again.table, act)
            if again.table.ledger.penalties != table.ledger.penalties:
                act.tell(ledger=pb.Ledger(penalties=again.table.ledger.penalties))
            self.take_state(again.table)

    def _supersede(self, act: Act, table: Table) -> None:
        """Judges the game again with this ruling in the place of the one that it names, or says why not (16.4)."""
        if self._is_again():
            return
        _, before = self._judge_again(self.corrections, act)
        named = act.fact.supersedes
        decided = rulings.decided_by(table, named, act.fact.case_id)
        corrections = supersede(self.corrections, act.event, act.seq, decided)
        place = corrections[-1].ref
        was = before.get(place)
        if was is None or not self._is_superseded(act, table, was):
            if act.status == pb.STATUS_FOLDED:
                reason = f"supersedes: no ruling {named!r} is in force in this game"
                act.refuse(pb.STATUS_REFUSED, reason)
            return
        again, after = self._judge_again(corrections, act)
        now = after[place if was.event_type == _RULING else act.event_id]
        if now.status != pb.STATUS_FOLDED:
            act.refuse(now.status, now.reason)
            return
        if (why := rulings.why_not_decide(table, act, now)) is not None:
            act.refuse(pb.STATUS_REFUSED, why)
            return
        first = before
        if len(plain := without(self.corrections, place)) < len(self.corrections):
            _, first = self._judge_again(plain, act)
        seq = diverges_at(before, first, after, was.seq)
        if seq:
            act.refuse(
                pb.STATUS_REFUSED,
                f"what happened at {seq} no longer fits: set from_here and the position for the present",
            )
            act.tell(diverges_at=seq)
            return
        self._take_over(again, corrections, act, table)
        self.clock.step(act)
        if self.table is not None and self.table.clockwork is not None:
            timing.advance(self.table, self.table.clockwork, act, self.clock.now_ms)
        act.tell(effects=now.effects, revised=revisions(before, after, self.seq + 1))

    def _is_superseded(self, act: Act, table: Table, was: pb.Verdict) -> bool:
        """Whether the ruling that ``act`` names may be superseded by it; ``was``: the verdict on its place. Says why
        not where another ruling, or another person, may."""
        named = act.fact.supersedes
        standing = in_force(self.corrections, named)
        if standing != named:
            act.refuse(pb.STATUS_REFUSED, f"supersedes: {named!r} was superseded by {standing!r}: name that ruling")
            act.tell(decided_by=standing)
        elif (reason := rulings.why_not_supersede(table, act)) is not None:
            act.refuse(pb.STATUS_REFUSED, reason)
        else:
            decided = rulings.decided_by(table, named, act.fact.case_id)
            if was.event_type != _RULING:  # the service ruled by itself, or the players had agreed
                return decided is not None
            if decided is None or not decided.told.automatic:
                return was.status == pb.STATUS_FOLDED
            act.refuse(pb.STATUS_REFUSED, "supersedes: the service ruled this with another ruling: set from_here")
        return False

    def find_record(self, event_id: str, past: Sequence[Past]) -> Event | None:
        """The first event of this id among earlier ones."""
        for value, _ in past:
            event = read_event(value, self.game_id)
            if isinstance(event, Event) and event.event_id == event_id:
                return event
        return None

    def _judge_again(self, corrections: list[Correction], act: Act) -> tuple[Judge, dict[str, pb.Verdict]]:
        """The game up to the correction ``act``, judged by ``corrections``; its verdicts by event id, digests aside."""
        overlay = Overlay(corrections, act.offset, self.stale)
        again = type(self)(self.game_id, self.partition, overlay)
        with suppress(ReachedError):
            again.judge_all(act.past)
        verdicts: dict[str, pb.Verdict] = {}
        for body in overlay.outcomes:
            verdict = pb.Verdict.FromString(body)
            verdict.ClearField("state_digest")
            if overlay.replaced.get(verdict.event_id, verdict) is not None:
                verdicts.setdefault(verdict.event_id, verdict)
        return again, verdicts | overlay.verdicts

    def judge_all(self, past: Sequence[Past]) -> None:
        """Judges a whole history."""
        raise NotImplementedError

    def _judge_overlaid(self, act: Act, overlay: Overlay) -> None:
        """Judges what happened instead of a record."""
        if act.offset == overlay.until:
            raise ReachedError
        self.heard.step(act)
        ruling = overlay.rulings.get(act.event_id) if act.kind != "record_corrected" else None
        if ruling is not None and act.kind == "ruling_decided":
            self._stand_in(ruling, act)
            ruling = None
        act.by_hand = ruling is not None
        instead = overlay.replaced.get(act.event_id, act)
        if instead is act:
            self._step(act)
            if act.event_id in overlay.stale:
                act.refuse(pb.STATUS_STALE, "the record was corrected before it was given")
            else:
                self._handle(act)
        elif isinstance(instead, CorrectedFact):
            self._judge_corrected(instead, act, act)
        if ruling is not None:
            self._judge_by_hand(ruling, act, overlay)
        if overlay.until == LIVE:  # a record that waited while it was corrected: its one verdict tells all
            for correction_id, seq, missed in overlay.inserted.get(act.event_id, ()):
                extra = Act(act.event, correction_id, "", act.source, b"", act.offset)
                extra.seq = seq
                self._judge_corrected(missed, act, extra)
                act.join(extra)

    def _stand_in(self, ruling: Event, act: Act) -> None:
        """The act is this ruling; what the one in its place took back from there on, it takes back too."""
        first: RulingDecided = act.fact
        act.event, act.fact, act.in_place = ruling, ruling.ruling_decided, True
        if first.from_here:
            act.fact = RulingDecided()
            act.fact.CopyFrom(ruling.ruling_decided)
            act.fact.supersedes, act.fact.from_here = first.supersedes, True

    def _judge_by_hand(self, ruling: Event, act: Act, overlay: Overlay) -> None:
        """Judges a ruling that stands where the service had ruled by itself on an act, or the players had agreed."""
        extra = Act(ruling, ruling.event_id, "ruling_decided", act.source, b"", act.offset)
        extra.at_ms, extra.seq, extra.in_place = act.at_ms, act.seq, True
        self._handle(extra)
        if self.table is not None:
            self.take_state(decide_fixed(self.table, act))  # other cases of the act
        overlay.verdicts[extra.event_id] = verdict_of(self.game_id, 0, self.table, extra)
        act.join(extra)

    def _judge_missed(self, act: Act, overlay: Overlay) -> None:
        """Judges what happened right after a record, in a history that is judged again."""
        for correction_id, seq, missed in overlay.inserted.get(act.event_id, ()) if overlay.until != LIVE else ():
            extra = Act(act.event, correction_id, "", act.source, b"", act.offset)
            ruling = overlay.rulings.get(correction_id)
            extra.seq, extra.by_hand = seq, ruling is not None
            self._judge_corrected(missed, act, extra)
            overlay.verdicts[correction_id] = verdict_of(self.game_id, 0, self.table, extra)
            if ruling is not None:
                self._judge_by_hand(ruling, extra, overlay)

    def _judge_corrected(self, corrected: CorrectedFact, record: Act, act: Act) -> None:
        """Judges the fact of a correction; what it does not say is as the record says."""
        act.kind = corrected.WhichOneof("fact") or ""
        act.fact = getattr(corrected, act.kind)
        act.player = corrected.player if corrected.player in SEATS else record.player
        act.at_ms = corrected.at_ms if corrected.HasField("at_ms") else record.at_ms
        self._step(act)
        self._handle(act, clerical=True)


__all__ = ["EVENT_TYPES", "Judge", "Judged", "read_event"]
