"""Delivery: each event counts once, and each source is heard in the order of its own numbers.

An event is known by its id. Its number only orders it within its source and boot: an early one is parked, at most
PARKED_MOST in a game, until the numbers before it come or are given up; a number given up may still come late.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from caipan.rules.act import Act
from caipan.v1.event_pb2 import Event

IDENTITY = 8  # bytes of a value's digest that are kept with its id
WINDOW = 20  # events of one source whose ids are kept
PARKED_MOST = 32  # events of one game that wait
PATIENCE_MS = 10_000  # game time for which an early event waits
GAPS_KEPT = 64  # ranges of numbers given up that are remembered for one source

SourceKey = tuple[str, str]  # id, boot


# An event that was judged: the seq of its outcome, its number, and what tells it from another one with its id: first
# bytes of the SHA-256 of what it says followed by who reported it, and the bytes of the latter.
Known = tuple[int, int, bytes, bytes]


class Parked(NamedTuple):
    """An early event: its number, its time in ms, its id, its bytes and their offset in the log."""

    number: int
    at_ms: int
    event_id: str
    value: bytes
    offset: int


class Released(NamedTuple):
    """A parked event whose turn has come; ``gap`` = the numbers given up before it, first and last."""

    parked: Parked
    gap: tuple[int, int] | None


@dataclass(slots=True)
class Source:
    """What is remembered of one source and boot."""

    watermark: int = 0  # the highest number that was taken in order
    recent: deque[str] = field(default_factory=deque)  # ids of the last events, as they were judged
    by: bytes = b""  # who reported last, as the field stands at the end of a value
    gaps: list[tuple[int, int]] = field(default_factory=list)  # numbers given up
    parked: list[Parked] = field(default_factory=list)  # by number
    closed: bool = False  # a newer boot was heard


class Delivery:
    """The events of a game that are known, and those that wait."""

    __slots__ = ("known", "parked_count", "sources")

    def __init__(self) -> None:
        self.known: dict[str, Known] = {}
        self.sources: dict[SourceKey, Source] = {}
        self.parked_count = 0

    def source(self, key: SourceKey) -> Source:
        """The memory of a source; a new boot closes the earlier ones."""
        source = self.sources.get(key)
        if source is None:
            for (source_id, _), earlier in self.sources.items():
                if source_id == key[0]:
                    earlier.closed = True
            source = self.sources[key] = Source()
        return source

    def judged(self, act: Act, seq: int, value: bytes, source: Source | None, number: int) -> None:
        """Remembers an event: while its number is one of the last WINDOW of its source, or for ever without one."""
        known = self.known
        plain = act.kind != "game_opened" and not act.caused_by  # the gateway wrote nothing into it but `by`
        if plain and source is not None and source.by and value.endswith(source.by):
            known[act.event_id] = seq, number, act.digest[:IDENTITY], source.by
        else:
            known[act.event_id] = seq, number, *_identify(act, value, source, plain)
        if source is not None:
            recent = source.recent
            recent.append(act.event_id)
            while len(recent) > WINDOW and known[recent[0]][1] <= source.watermark - WINDOW:
                del known[recent.popleft()]

    def park(self, source: Source, parked: Parked) -> None:
        """Lets an early event wait."""
        source.parked.append(parked)
        source.parked.sort()
        self.parked_count += 1

    def waiting(self, source: Source, event_id: str) -> Parked | None:
        """The event of this id that waits already."""
        return next((parked for parked in source.parked if parked.event_id == event_id), None)

    def release_below(self, source: Source, number: int) -> Iterator[Released]:
        """Takes out the parked events of a source with lower numbers, in order."""
        while source.parked and source.parked[0].number < number:
            yield self._take_first(source)

    def release(self, now_ms: int) -> tuple[Source, Released] | None:
        """Takes out the next event that need not wait any longer at game time ``now_ms``, with its source."""
        for source in self.sources.values():
            if not source.parked:
                continue
            first = source.parked[0]
            expected = source.watermark + 1
            if first.number > expected and not self._gives_up(source, now_ms):
                continue
            return source, self._take_first(source)
        return None

    def _take_first(self, source: Source) -> Released:
        first = source.parked.pop(0)
        self.parked_count -= 1
        gap = give_up_before(source, first.number)
        source.watermark = max(source.watermark, first.number)
        return Released(first, gap)

    def _gives_up(self, source: Source, now_ms: int) -> bool:
        """Whether the missing numbers of a source are waited for no longer."""
        if source.closed or self.parked_count >= PARKED_MOST:
            return True
        latest = max(now_ms, max(parked.at_ms for parked in source.parked))
        return any(parked.at_ms + PATIENCE_MS <= latest for parked in source.parked)


def is_same(act: Act, known: Known) -> bool:
    """Whether an event says what the known one of its id said, what the gateway wrote left out."""
    _, _, identity, by = known
    return act.digest.startswith(identity) or sha256(_said(act.event) + by).digest().startswith(identity)


def says_the_same(one: Event, other: Event) -> bool:
    """Whether two events say the same, what the gateway wrote left out."""
    return _said(one) == _said(other)


def _identify(act: Act, value: bytes, source: Source | None, plain: bool) -> tuple[bytes, bytes]:
    """Identity and reporter of an event, where its source has not reported as the same person just before."""
    by = Event(by=act.event.by).SerializeToString(deterministic=True)
    if not plain or not value.endswith(by):  # `by` stands last as the gateway writes
        return sha256(_said(act.event)).digest()[:IDENTITY], b""
    if source is not None:
        source.by = by
    return act.digest[:IDENTITY], by


def _said(event: Event) -> bytes:
    """What an event says, whoever reported it, whatever was pinned, and whether it had to be read again."""
    bare = Event()
    bare.CopyFrom(event)
    bare.ClearField("by")
    bare.ClearField("caused_by")
    if bare.HasField("game_opened"):
        bare.game_opened.ClearField("pins")
    return bare.SerializeToString(deterministic=True)


def give_up_before(source: Source, number: int) -> tuple[int, int] | None:
    """Waits no longer for the numbers below ``number``; returns the first and last one missing, None where none is."""
    first = source.watermark + 1
    if number <= first:
        return None
    source.watermark = number - 1
    source.gaps.append((first, number - 1))
    del source.gaps[:-GAPS_KEPT]
    return first, number - 1


def comes_late(source: Source, number: int) -> bool:
    """Whether a number at or below the watermark is new all the same: given up before, or within the window of ids.

    Inside the window the id alone decides, unless the source uses its numbers again and again. A number that was given
    up is taken off the gaps.
    """
    for place, (first, last) in enumerate(source.gaps):
        if first <= number <= last:
            rest = [(first, number - 1), (number + 1, last)]
            source.gaps[place : place + 1] = [(low, high) for low, high in rest if low <= high]
            return True
    return number > source.watermark - WINDOW and len(source.recent) < 2 * WINDOW
