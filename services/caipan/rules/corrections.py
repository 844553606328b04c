"""Corrections: the game is judged again from its first event, with the record made right, or with another ruling.

A correction of the record is clerical: no warning, no rule is applied to the slip. What no longer fits becomes a
finding, exactly as in the history without the slip (rules 0.6, 7.2). A ruling that supersedes an earlier one stands in
its place; where later observations no longer fit, it is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from caipan.v1 import outcome_pb2 as pb
from caipan.v1.checkpoint_pb2 import CaseMemory
from caipan.v1.event_pb2 import Event
from caipan.v1.facts_pb2 import CorrectedFact, RecordCorrected

# Observations: what a correction may retract or replace. Acts that need a role are superseded, never corrected.
CORRECTABLE = frozenset(field.name for field in CorrectedFact.DESCRIPTOR.oneofs_by_name["fact"].fields)

_WITH_FACT = (RecordCorrected.KIND_REPLACE, RecordCorrected.KIND_INSERT_AFTER)

LIVE = -1  # no history that is judged again


class Correction(NamedTuple):
    """A correction in force: the id of its event, what it says, of a superseding ruling its whole event, and the seq of
    its outcome."""

    event_id: str
    said: RecordCorrected | Event
    seq: int

    @property
    def ref(self) -> str:
        """The record that it is about."""
        return self.said.ruling_decided.supersedes if isinstance(self.said, Event) else self.said.ref


class Overlay:
    """Corrections to judge by. ``until``: the offset at which a history judged again stops, or LIVE. ``stale``: the
    rulings that an earlier correction had made stale when they were given; a history judged again, in which that
    correction holds from the start, does not bring them to life."""

    def __init__(self, corrections: Iterable[Correction], until: int = LIVE, stale: Collection[str] = ()) -> None:
        self.until = until
        self.stale = stale
        # Bodies of the verdicts of a history that is judged again.
        self.outcomes: list[bytes] = []
        # Record -> what happened instead; None where it did not happen.
        self.replaced: dict[str, CorrectedFact | None] = {}
        # Ruling, or act on which the service ruled by itself -> the rulings that have superseded what stood there.
        self.rulings: dict[str, list[Event]] = {}
        # Record -> what happened right after it, with the id of the correction that says so, and its seq.
        self.inserted: dict[str, list[tuple[str, int, CorrectedFact]]] = {}
        # Verdicts on inserted facts and rulings, by the id of their correction.
        self.verdicts: dict[str, pb.Verdict] = {}
        for event_id, said, seq in corrections:
            if isinstance(said, Event):
                self.rulings.setdefault(said.ruling_decided.supersedes, []).append(said)
            elif said.kind == RecordCorrected.KIND_INSERT_AFTER:
                self.inserted.setdefault(said.ref, []).append((event_id, seq, said.fact))
            else:
                self.replaced[said.ref] = said.fact if said.kind == RecordCorrected.KIND_REPLACE else None


def apply_correction(corrections: list[Correction], event_id: str, said: RecordCorrected, seq: int) -> list[Correction]:
    """The corrections in force once this one is; retracting a correction takes it out."""
    if said.kind == RecordCorrected.KIND_RETRACT and any(said.ref == earlier.event_id for earlier in corrections):
        return [earlier for earlier in corrections if earlier.event_id != said.ref]
    return [*corrections, Correction(event_id, said, seq)]


def supersede(corrections: list[Correction], event: Event, seq: int, decided: CaseMemory | None) -> list[Correction]:
    """The corrections in force once this ruling stands in the place of the one that it names, or of what superseded
    that. It is about the case which that one ``decided``, unless it says otherwise.
    """
    instead = Event()
    instead.CopyFrom(event)
    ruling = instead.ruling_decided
    ruling.supersedes = first_of(corrections, ruling.supersedes)
    opened_it = decided is not None and decided.told.refs[0] == ruling.supersedes and not decided.told.automatic
    if decided is not None and not ruling.case_id and not opened_it:
        ruling.case_id = decided.told.case_id
    return [*corrections, Correction(event.event_id, instead, seq)]


def first_of(corrections: list[Correction], ruling: str) -> str:
    """The ruling at whose place in the log a ruling stands: itself, or the one it superseded."""
    rulings = (each for each in corrections if isinstance(each.said, Event))
    return next((earlier.ref for earlier in rulings if earlier.event_id == ruling), ruling)


def in_force(corrections: list[Correction], ruling: str) -> str:
    """The ruling that stands where this one stood: itself, or the last that superseded it."""
    place = first_of(corrections, ruling)
    rulings = [each.event_id for each in corrections if isinstance(each.said, Event) and each.ref == place]
    return rulings[-1] if rulings else place


def without(corrections: list[Correction], place: str) -> list[Correction]:
    """The corrections without the rulings that have superseded the one at this place."""
    return [each for each in corrections if not (isinstance(each.said, Event) and each.ref == place)]


def diverges_at(
    before: dict[str, pb.Verdict], first: dict[str, pb.Verdict], after: dict[str, pb.Verdict], since: int
) -> int:
    """The seq of the first verdict behind ``since`` that no longer fits: it finds what it did not find, or is refused
    now; 0 if all fit. ``first``: as they were when no ruling had been superseded there; what fitted then fits again.
    """
    for event_id, was in before.items():
        now, then = after.get(event_id), first.get(event_id, was)
        if was.seq <= since or now is None:
            continue
        known = {finding.kind for finding in (*was.findings, *then.findings)}
        if now.status not in (was.status, then.status) or any(each.kind not in known for each in now.findings):
            return was.seq
    return 0


def why_not(corrections: list[Correction], event: Event, record: Event | None, arbiter: bool) -> str:
    """Why a correction is refused; empty where it is not. ``record``: the event it names, where the game has it."""
    said = event.record_corrected
    if said.kind not in (*_WITH_FACT, RecordCorrected.KIND_RETRACT):
        return "kind: RETRACT, REPLACE or INSERT_AFTER"
    if said.kind in _WITH_FACT and said.fact.WhichOneof("fact") is None:
        return "fact: say what happened, an observation of a game"
    own = next((earlier for earlier in corrections if earlier.event_id == said.ref), None)
    if own is not None and isinstance(own.said, Event):
        return f"{said.ref!r} is a ruling: another one supersedes it"
    if own is not None and said.kind != RecordCorrected.KIND_RETRACT:
        return f"{said.ref!r} is a correction itself: retract it, then correct the record it named"
    if record is None:
        return f"no record {said.ref!r} in this game before: name the event_id of one"
    fact = record.WhichOneof("fact") or ""
    if own is None and fact not in CORRECTABLE and not (fact == "game_opened" and _is_insertion(said)):
        return f"{said.ref!r} is {fact.replace('_', '.')}: only observations are corrected"
    same_source = bool(event.source.id) and event.source.id == record.source.id
    if not same_source and not arbiter:
        return f"only the source {record.source.id!r} or an arbiter of this game corrects {said.ref!r}"
    return ""


def _is_insertion(said: RecordCorrected) -> bool:
    return said.kind == RecordCorrected.KIND_INSERT_AFTER


def revisions(before: dict[str, pb.Verdict], after: dict[str, pb.Verdict], own_seq: int) -> list[pb.Revision]:
    """How the verdicts of a history differ, by event id; digests aside. Inserted facts have ``own_seq``."""
    changed = []
    for event_id in [*before, *(event_id for event_id in after if event_id not in before)]:
        was, now = before.get(event_id), after.get(event_id)
        if was != now:
            seq = was.seq if was is not None and was.seq else own_seq if now is None or not now.seq else now.seq
            changed.append(pb.Revision(seq=seq, before=was, after=now))
    return sorted(changed, key=lambda revision: revision.seq)
