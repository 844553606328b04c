"""The fold of one game: one event in, its outcomes out, as bytes for the log.

``Game.apply`` is pure and total: the same events give the same bytes on every machine, and no input makes it raise.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from caipan.rules.act import Act, Past
from caipan.rules.corrections import Overlay
from caipan.rules.delivery import Delivery, Known, Parked, Source, comes_late, give_up_before, is_same, says_the_same
from caipan.rules.judge import Judged, read_event
from caipan.rules.rejudging import Rejudging
from caipan.rules.verdicts import notice
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.event_pb2 import Event

NO_FINDINGS: tuple[pb.Finding, ...] = ()
ORPHANS_MOST = 256  # facts of a game that wait for its game.opened


class Game(Rejudging):
    """The fold of one game: each event counts once, in the order of its source, and is judged when its turn comes.

    ``partition``: that of its events. ``overlay``: corrections to judge by from the start.
    """

    def __init__(self, game_id: str, partition: int = 0, overlay: Overlay | None = None) -> None:
        super().__init__(game_id, partition, overlay)
        self.first_offset = -1
        self.delivery = Delivery()
        self.orphans: list[Past] = []

    def wants_history(self, event: Event) -> bool:
        """Whether ``apply`` needs the earlier events of the game: it corrects the record, or a waiting event does."""
        if _changes_history(event):
            return True
        if not self.orphans and not self.delivery.parked_count:
            return False
        waiting = [parked.value for source in self.delivery.sources.values() for parked in source.parked]
        waiting += [orphan.value for orphan in self.orphans]
        return any(_changes_history(Event.FromString(value)) for value in waiting)

    def apply(self, event: Event, value: bytes, offset: int, past: Sequence[Past] = ()) -> list[Judged]:
        """Judges the next event of the log: ``value`` are its bytes, ``offset`` its place in the partition.

        ``past``: all earlier events of the game in the order of the log, where ``wants_history`` says so. Returns one
        outcome or notice for the event, and one outcome for each event that waited for it.
        """
        if self.first_offset < 0:
            self.first_offset = offset
        delivery, event_id, number, name = self.delivery, event.event_id, event.source_seq, event.source
        kind, source_id = event.WhichOneof("fact") or "", name.id
        act = Act(event, event_id, kind, source_id, sha256(value).digest(), offset)
        if past:
            act.past = past = (*past, Past(value, offset))
        known = delivery.known.get(event_id)
        if known is not None:
            return self._come_again(act, known)
        if self.table is None and kind != "game_opened":
            return [self._keep_orphan(act, value)]
        out: list[Judged] = []
        source, findings = None, NO_FINDINGS
        if number or kind == "source_resumed":
            key = (source_id, name.boot)
            source = delivery.sources.get(key)
            if source is None or kind == "source_resumed":
                source = delivery.source(key)
                findings = self._settle(act, source, out)
                known = delivery.known.get(event_id)  # it may have waited under the same id
                if known is not None:
                    return out + self._come_again(act, known)
            if not number:
                source = None
            elif number != source.watermark + 1:
                self._out_of_order(Parked(number, event.at_ms, event_id, value, offset), act, source, out)
                return out
            else:
                source.watermark = number
        out.append(self.judge(act, findings))
        delivery.judged(act, self.seq, value, source, number)
        if delivery.parked_count or self.orphans:
            self._release(out, past)
        return out

    def quarantine(self, value: bytes, offset: int, reason: str) -> Judged:
        """The outcome of a record of this game that cannot be read: it takes a seq and changes nothing."""
        if self.first_offset < 0:
            self.first_offset = offset
        act = Act(Event(), "", "", "", sha256(value).digest(), offset)
        act.refuse(pb.STATUS_QUARANTINED, reason)
        return self.chain(act)

    def judge_all(self, past: Sequence[Past]) -> None:
        """Judges a whole history."""
        for value, offset in past:
            event = read_event(value, self.game_id)
            if isinstance(event, str):
                self.quarantine(value, offset, event)
            else:
                self.apply(event, value, offset)

    def _notice(self, act: Act, status: pb.Status.ValueType, seq: int = 0, reason: str = "") -> Judged:
        return Judged(0, b"", notice(self.game_id, act, status, self.partition, seq, reason))

    def _come_again(self, act: Act, known: Known) -> list[Judged]:
        """The id was judged before: the same value, `by` and pins aside, is a duplicate; another one a conflict."""
        return [self._notice(act, pb.STATUS_DUPLICATE, known[0])] if is_same(act, known) else self._conflict(act)

    def _conflict(self, act: Act) -> list[Judged]:
        """Another event with this id came before: this one has no effect, but its number is heard."""
        number = act.event.source_seq
        if number:
            source = self.delivery.source((act.source, act.event.source.boot))
            source.watermark += number == source.watermark + 1
        act.find("REG order", pb.FINDING_KIND_ID_CONFLICT, ref=act.event_id)
        out = [self.chain(act)]
        self._release(out, act.past)
        return out

    def _keep_orphan(self, act: Act, value: bytes) -> Judged:
        """A fact of a game that is not open waits, within bounds."""
        if any(waiting.value == value for waiting in self.orphans):
            return self._notice(act, pb.STATUS_DUPLICATE)
        if len(self.orphans) < ORPHANS_MOST:
            self.orphans.append(Past(value, act.offset))
            return self._notice(act, pb.STATUS_PARKED, reason="it waits for game.opened")
        act.refuse(
            pb.STATUS_QUARANTINED,
            f"the game is not open, and {ORPHANS_MOST} of its facts wait already: open it, then send this again",
        )
        return self.chain(act)

    def _out_of_order(self, event: Parked, act: Act, source: Source, out: list[Judged]) -> None:
        """A number that is not the next one of its source: it waits, comes late, or came before."""
        if event.number <= source.watermark:
            if comes_late(source, event.number):
                late = pb.Finding(clause="REG order", kind=pb.FINDING_KIND_LATE_IN_SOURCE)
                out.append(self.judge(act, (late,)))
                self.delivery.judged(act, self.seq, event.value, source, event.number)
            else:
                out.append(self._notice(act, pb.STATUS_DUPLICATE))
        elif (waiting := self.delivery.waiting(source, event.event_id)) is not None:
            if says_the_same(act.event, Event.FromString(waiting.value)):
                out.append(self._notice(act, pb.STATUS_DUPLICATE))
            else:
                out.extend(self._conflict(act))
        else:
            self.delivery.park(source, event)
            missing = f"{source.watermark + 1} to {event.number - 1}"
            reason = f"it has number {event.number} of its source: what is missing of {missing} comes first"
            out.append(self._notice(act, pb.STATUS_PARKED, reason=reason))
        self._release(out, act.past)

    def _settle(self, act: Act, source: Source, out: list[Judged]) -> tuple[pb.Finding, ...]:
        """A new boot, or source.resumed: what is missing before will not come. What waits for it is judged now."""
        if self.delivery.parked_count:
            self._release(out, act.past)
        if act.kind != "source_resumed":
            return NO_FINDINGS
        number, own = act.fact.next_source_seq, act.event.source_seq
        if own == number - 1:
            number = own  # it counts itself among the numbers that came
        for parked, gap in self.delivery.release_below(source, number):
            self._judge_parked(parked, source, out, act.past, _gap_finding(gap))
        return _gap_finding(give_up_before(source, number))

    def _release(self, out: list[Judged], past: Sequence[Past]) -> None:
        """Judges what need not wait any longer: facts from before the opening, then early events."""
        if self.orphans and self.table is not None:
            orphans, self.orphans = self.orphans, []
            for value, offset in orphans:
                out.extend(self.apply(Event.FromString(value), value, offset, past))
        while self.delivery.parked_count and (ready := self.delivery.release(self.heard.now_ms)) is not None:
            source, (parked, gap) = ready
            self._judge_parked(parked, source, out, past, _gap_finding(gap))

    def _judge_parked(
        self, parked: Parked, source: Source, out: list[Judged], past: Sequence[Past], findings: tuple[pb.Finding, ...]
    ) -> None:
        """Judges an event that waited."""
        event = Event.FromString(parked.value)
        kind = event.WhichOneof("fact") or ""
        digest = sha256(parked.value).digest()
        act = Act(event, parked.event_id, kind, event.source.id, digest, parked.offset)
        act.past = past
        known = self.delivery.known.get(parked.event_id)
        if known is not None:
            out.extend(self._come_again(act, known))
            return
        out.append(self.judge(act, findings))
        self.delivery.judged(act, self.seq, parked.value, source, parked.number)


def _changes_history(event: Event) -> bool:
    """Whether the game is judged again by this: the record is corrected, or a ruling superseded."""
    if event.HasField("record_corrected"):
        return True
    return bool(event.ruling_decided.supersedes) and not event.ruling_decided.from_here


def _gap_finding(gap: tuple[int, int] | None) -> tuple[pb.Finding, ...]:
    if gap is None:
        return ()
    first, last = gap
    return (pb.Finding(clause="REG order", kind=pb.FINDING_KIND_SOURCE_GAP, gap_from=first, gap_to=last),)


__all__ = ["Game", "Judged", "Past", "read_event"]
