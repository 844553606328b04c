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

from caipan.v1.event_pb2 import Event

IDENTITY = 8  # bytes of a value's digest that are kept with its id
WINDOW = 32  # events of one source whose ids are kept
PARKED_MOST = 32  # events of one game that wait
PATIENCE_MS = 10_000  # game time for which an early event waits
GAPS_KEPT = 64  # ranges of numbers given up that are remembered for one source

_BY = b"\xa2\x06"  # the tag of Event.by, which stands last as the gateway writes it

SourceKey = tuple[str, str]  # id, boot


# An event that was judged: the seq of its outcome, and what tells it from another event with its id (`identify`).
Known = tuple[int, bytes]


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
    recent: deque[tuple[int, str]] = field(default_factory=deque)  # numbers and ids of the last events
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

    def judged(self, event_id: str, known: Known, source: Source | None, number: int) -> None:
        """Remembers an event: while its number is one of the last WINDOW of its source, or for ever without one."""
        self.known[event_id] = known
        if source is not None:
            recent = source.recent
            recent.append((number, event_id))
            while recent and recent[0][0] <= source.watermark - WINDOW:
                del self.known[recent.popleft()[1]]

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


def identify(event: Event, value: bytes) -> tuple[bytes, bytes]:
    """What tells two events of one id apart, `by` and pins left out, and the SHA-256 of the value as stored."""
    by = event.by.ByteSize()
    start = len(value) - by - 3
    if by < 0x80 and value[start : start + 2] == _BY and not event.HasField("game_opened"):
        digest = sha256(value[:start])
        identity = digest.digest()[:IDENTITY]
        digest.update(value[start:])
        return identity, digest.digest()
    bare = Event()
    bare.CopyFrom(event)
    bare.ClearField("by")
    if bare.HasField("game_opened"):
        bare.game_opened.ClearField("pins")
    return sha256(bare.SerializeToString(deterministic=True)).digest()[:IDENTITY], sha256(value).digest()


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
