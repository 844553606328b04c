"""Judging a history again: with the record made right, or with another ruling in the place of one (rules 0.6, 7.2)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Self

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
from caipan.rules.judge import Judge, read_event
from caipan.rules.points import SEATS
from caipan.rules.settling import decide_fixed
from caipan.rules.table import Table, tell_changes
from caipan.rules.taking_back import decided_by
from caipan.rules.verdicts import EVENT_TYPES, verdict_of
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.checkpoint_pb2 import CaseMemory
from caipan.v1.event_pb2 import Event
from caipan.v1.facts_pb2 import CorrectedFact
from caipan.v1.rulings_pb2 import RulingDecided

_RULING = EVENT_TYPES["ruling_decided"]


class ReachedError(Exception):
    """A history that is judged again has come to the correction it is judged for."""


class Rejudging(Judge):
    """A judge that knows how the history of the game would be judged otherwise."""

    def judge_again(self, act: Act, table: Table) -> None:
        """Judges the history again for a correction or a superseding ruling; one that is being judged again has them
        from the start."""
        if self._is_again():
            return
        if act.kind == "ruling_decided":
            self._supersede(act, table)
        else:
            self._correct(act, table)

    def _correct(self, act: Act, table: Table) -> None:
        """Judges the game again with the record made right, or says why not."""
        event, said = act.event, act.fact
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
        if not self._may_supersede(act, table):
            return
        _, before = self._judge_again(self.corrections, act)
        named = act.fact.supersedes
        decided = decided_by(table, named, act.fact.case_id)
        corrections = supersede(self.corrections, act.event, act.seq, decided)
        place = corrections[-1].ref
        was = before.get(place)
        reason = _why_not_there(named, was, decided)
        if was is None or reason:
            act.refuse(pb.STATUS_REFUSED, f"supersedes: {reason}")
            return
        again, after = self._judge_again(corrections, act)
        now = after[place if was.event_type == _RULING else act.event_id]
        if now.status != pb.STATUS_FOLDED:
            act.refuse(now.status, now.reason)
        elif (why := rulings.why_not_decide(table, act, now)) is not None:
            act.refuse(pb.STATUS_REFUSED, why)
        elif seq := self._diverges_at(place, before, after, act):
            why = f"what happened at outcome {seq} no longer fits: set from_here and the position for the present"
            act.refuse(pb.STATUS_REFUSED, why)
            act.tell(diverges_at=seq)
        else:
            self._take_over(again, corrections, act, table)
            self.clock.step(act)
            if self.table is not None and self.table.clockwork is not None:
                timing.advance(self.table, self.table.clockwork, act, self.clock.now_ms)
            act.tell(effects=now.effects, revised=revisions(before, after, self.seq + 1))

    def _may_supersede(self, act: Act, table: Table) -> bool:
        """Whether the person may supersede, and the ruling that ``act`` names is the one in force; says why not."""
        named = act.fact.supersedes
        standing = in_force(self.corrections, named)
        if standing != named and decided_by(table, named, act.fact.case_id) is None:
            act.refuse(pb.STATUS_REFUSED, f"supersedes: {named!r} was superseded by {standing!r}: name that ruling")
            act.tell(decided_by=standing)
        elif (why := rulings.why_not_supersede(table, act)) is not None:
            act.refuse(pb.STATUS_REFUSED, why)
        return act.status == pb.STATUS_FOLDED

    def _diverges_at(self, place: str, before: dict[str, pb.Verdict], after: dict[str, pb.Verdict], act: Act) -> int:
        """The seq behind a place from which on what happened no longer fits; what fitted at first fits again."""
        first, plain = before, without(self.corrections, place)
        if len(plain) < len(self.corrections):
            _, first = self._judge_again(plain, act)
        return diverges_at(before, first, after, before[place].seq)

    def find_record(self, event_id: str, past: Sequence[Past]) -> Event | None:
        """The first event of this id among earlier ones."""
        for value, _ in past:
            event = read_event(value, self.game_id)
            if isinstance(event, Event) and event.event_id == event_id:
                return event
        return None

    def _judge_again(self, corrections: list[Correction], act: Act) -> tuple[Self, dict[str, pb.Verdict]]:
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

    def judge_overlaid(self, act: Act, overlay: Overlay) -> None:
        """Judges what happened instead of a record."""
        if act.offset == overlay.until:
            raise ReachedError
        self.heard.step(act)
        instead_of_it = overlay.rulings.get(act.event_id, []) if act.kind != "record_corrected" else []
        if instead_of_it and act.kind == "ruling_decided":
            self._stand_in(instead_of_it[-1], act)
            instead_of_it = []
        act.by_hand = bool(instead_of_it)
        instead = overlay.replaced.get(act.event_id, act)
        if instead is act:
            self._step(act)
            if act.event_id in overlay.stale:
                act.refuse(pb.STATUS_STALE, "the record was corrected before it was given")
            else:
                self._handle(act)
        elif isinstance(instead, CorrectedFact):
            self._judge_corrected(instead, act, act)
        self._judge_by_hand(instead_of_it, act, overlay)
        if overlay.until == LIVE:  # a record that waited while it was corrected: its one verdict tells all
            for correction_id, seq, missed in overlay.inserted.get(act.event_id, ()):
                extra = _missed_act(act, correction_id, seq)
                self._judge_corrected(missed, act, extra)
                act.join(extra)

    def _stand_in(self, ruling: Event, act: Act) -> None:
        """The act is this ruling; what the one in its place took back from there on, it takes back too."""
        first: RulingDecided = act.fact
        act.event, act.fact, act.in_place = ruling, RulingDecided(), True
        act.fact.CopyFrom(ruling.ruling_decided)
        if not act.fact.case_id:  # the one in its place was of the arbiter's own motion
            act.fact.clause, act.fact.against = act.fact.clause or first.clause, act.fact.against or first.against
        if first.from_here:
            act.fact.supersedes, act.fact.from_here = first.supersedes, True

    def _judge_by_hand(self, instead: Sequence[Event], act: Act, overlay: Overlay) -> None:
        """Judges the rulings that stand where the service had ruled by itself on an act, or the players had agreed: the
        last one on each case."""
        last = {ruling.ruling_decided.case_id: ruling for ruling in instead}
        for ruling in last.values():
            extra = Act(ruling, ruling.event_id, "ruling_decided", act.source, b"", act.offset)
            extra.at_ms, extra.seq, extra.in_place = act.at_ms, act.seq, True
            self._handle(extra)
            overlay.verdicts[extra.event_id] = verdict_of(self.game_id, 0, self.table, extra)
            act.join(extra)
        if instead and self.table is not None:
            self.take_state(decide_fixed(self.table, act))  # other cases of the act

    def judge_missed(self, act: Act, overlay: Overlay) -> None:
        """Judges what happened right after a record, in a history that is judged again."""
        for correction_id, seq, missed in overlay.inserted.get(act.event_id, ()) if overlay.until != LIVE else ():
            extra = _missed_act(act, correction_id, seq)
            instead_of_it = overlay.rulings.get(correction_id, [])
            extra.by_hand = bool(instead_of_it)
            self._judge_corrected(missed, act, extra)
            overlay.verdicts[correction_id] = verdict_of(self.game_id, 0, self.table, extra)
            self._judge_by_hand(instead_of_it, extra, overlay)

    def _judge_corrected(self, corrected: CorrectedFact, record: Act, act: Act) -> None:
        """Judges the fact of a correction; what it does not say is as the record says."""
        act.kind = corrected.WhichOneof("fact") or ""
        act.fact = getattr(corrected, act.kind)
        act.player = corrected.player if corrected.player in SEATS else record.player
        act.at_ms = corrected.at_ms if corrected.HasField("at_ms") else record.at_ms
        self._step(act)
        self._handle(act, clerical=True)


def _missed_act(record: Act, correction_id: str, seq: int) -> Act:
    """The act that a correction adds right after a record; its fact is still to be read from the correction."""
    act = Act(record.event, correction_id, "", record.source, b"", record.offset)
    act.seq = seq
    return act


def _why_not_there(named: str, was: pb.Verdict | None, decided: CaseMemory | None) -> str:
    """Why nothing can be superseded at a place, "" where it can; ``was``: the verdict on it, ``decided``: the case that
    was decided there, by a ruling, by the service on its own, or by what the players had agreed."""
    is_ruling = was is not None and was.event_type == _RULING
    if is_ruling and decided is not None and decided.told.automatic:
        return f"the service ruled this together with {named!r}: set from_here"
    is_there = was is not None and (was.status == pb.STATUS_FOLDED if is_ruling else decided is not None)
    return "" if is_there else f"no ruling {named!r} is in force in this game"
