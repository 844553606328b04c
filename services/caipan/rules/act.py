"""One event on its way through the fold: what it says, and what the fold makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from caipan.rules.points import BLACK, SEATS
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.checkpoint_pb2 import CaseMemory
from caipan.v1.common_pb2 import COLOR_UNSPECIFIED
from caipan.v1.event_pb2 import Event


class Past(NamedTuple):
    """An earlier event of the game as it stands in the log."""

    value: bytes
    offset: int


class Act:
    """What happened: ``kind`` names the fact ("stone_placed"), ``fact`` is its message, ``player`` the seat that acted
    (0 = none given), ``at_ms`` table time, ``source`` its device; ``digest`` is the SHA-256 of the value, ``offset``
    its place in the log, ``seq`` the one its outcome takes, ``past`` the events before it where they are needed,
    ``caused_by`` a record in quarantine.

    The handlers write what follows into the other fields; points by name, as in a verdict.
    """

    __slots__ = (
        "added_black",
        "added_white",
        "at_ms",
        "before",
        "by_hand",
        "cases",
        "caused_by",
        "digest",
        "event",
        "event_id",
        "extra",
        "fact",
        "findings",
        "in_place",
        "kind",
        "offset",
        "past",
        "player",
        "removed",
        "seq",
        "source",
        "status",
    )

    def __init__(self, event: Event, event_id: str, kind: str, source: str, digest: bytes, offset: int) -> None:
        self.event_id = event_id
        self.kind = kind
        self.source = source
        self.digest = digest
        self.offset = offset
        self.seq = 0
        # A ruling that is judged in the place of another; an act whose cases the service does not decide by itself.
        self.in_place = self.by_hand = False
        self.past: Sequence[Past] = ()
        self.status: pb.Status.ValueType = pb.STATUS_FOLDED
        self.findings: Sequence[pb.Finding] = ()
        self.added_black: Sequence[str] = ()
        self.added_white: Sequence[str] = ()
        self.removed: Sequence[str] = ()
        # What few acts bring: fields of the verdict.
        self.extra: dict[str, Any] | None = None
        # Cases that it opened, changed or closed.
        self.cases: Sequence[CaseMemory] = ()
        # The arrangement before the act, where more than its stone and captures changed.
        self.before: bytes | None = None
        self.event = event
        self.caused_by = event.caused_by
        self.fact: Any = getattr(event, kind) if kind else None
        player = event.player
        self.player = player if player in SEATS else COLOR_UNSPECIFIED
        self.at_ms = event.at_ms

    @property
    def ruling_id(self) -> str:
        """The event_id of the ruling that it is, or on which the service rules by itself."""
        return self.event.event_id if self.in_place else self.event_id

    def find(self, clause: str, kind: pb.FindingKind.ValueType, **details: Any) -> None:
        """Adds a finding; ``details`` are further fields of the message."""
        self.findings = [*self.findings, pb.Finding(clause=clause, kind=kind, **details)]

    def set(self, name: str, colour: int) -> None:
        """A stone is set on the board in force."""
        if colour == BLACK:
            self.added_black = [*self.added_black, name]
        else:
            self.added_white = [*self.added_white, name]

    def take(self, names: Sequence[str]) -> None:
        """Stones are taken off the board in force."""
        self.removed = [*self.removed, *names]

    def join(self, other: Act) -> None:
        """Takes over what another act brought."""
        self.findings = [*self.findings, *other.findings]
        self._take_off(other.removed)
        self.added_black = [*self.added_black, *other.added_black]
        self.added_white = [*self.added_white, *other.added_white]
        for case in other.cases:
            self.touch(case)
        for name, told in (other.extra or {}).items():
            before = (self.extra or {}).get(name)
            self.tell(**{name: [*before, *told] if name == "effects" and before else told})

    def _take_off(self, names: Sequence[str]) -> None:
        """Stones that it had set itself were never there for a watcher, who takes off before he sets."""
        own = {*self.added_black, *self.added_white}
        self.added_black = [name for name in self.added_black if name not in names]
        self.added_white = [name for name in self.added_white if name not in names]
        self.removed = [*self.removed, *(name for name in names if name not in own)]

    @contextmanager
    def whole(self) -> Iterator[None]:
        """What comes of it inside counts only if nothing is raised."""
        kept = self.cases, self.extra, self.findings, self.before
        try:
            yield
        except Exception:
            self.cases, self.extra, self.findings, self.before = kept
            raise

    def refuse(self, status: pb.Status.ValueType, reason: str) -> None:
        """The event changes nothing, for this reason."""
        self.status = status
        self.tell(reason=reason)

    def touch(self, case: CaseMemory) -> None:
        """The act opened, changed or closed a case."""
        others = [touched for touched in self.cases if touched.told.case_id != case.told.case_id]
        self.cases = [*others, case]

    def tell(self, **fields: Any) -> None:
        """Further fields of the verdict."""
        self.extra = {**(self.extra or {}), **fields}
