"""Game time: the table time of a game, which never goes back (rules 7.1)."""

from __future__ import annotations

from caipan.rules.act import Act
from caipan.rules.timesystems import LONGEST_MS
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.facts_pb2 import SessionMarked
from caipan.v1.regulations_pb2 import Regulations

# What is written about the game, not done in it, moves no game time.
APART = frozenset(("game_opened", "record_corrected", "source_synced", "source_resumed"))
_MARKS = (SessionMarked.MARK_START, SessionMarked.MARK_RESUME)


def bounded(ms: int) -> int:
    """A length of time between what any records say, ms, so that it fits wherever times are kept."""
    return max(-LONGEST_MS, min(ms, LONGEST_MS))


class GameTime:
    """Game time in ms, the longest step of it that needs no look (-1 until a fact has set it), and the bounds."""

    __slots__ = ("_longest_step_ms", "_skew_ms", "now_ms", "quiet_step_ms")

    def __init__(self) -> None:
        self.now_ms = 0
        self.quiet_step_ms = -1
        self._longest_step_ms = 0
        self._skew_ms = 0

    def start(self, regulations: Regulations) -> None:
        """The game is open; the first fact after this sets game time, whatever it says."""
        self._longest_step_ms = regulations.max_step_s * 1000
        self._skew_ms = regulations.clock_skew_ms

    def adopt(self, regulations: Regulations) -> None:
        """From here on these bounds hold."""
        self.start(regulations)
        if self.quiet_step_ms >= 0:
            self.quiet_step_ms = self._longest_step_ms

    def set(self, now_ms: int) -> None:
        """Game time is ``now_ms``; from here on a long step is a jump."""
        self.now_ms = now_ms
        self.quiet_step_ms = self._longest_step_ms

    def step(self, act: Act) -> tuple[str, pb.FindingKind.ValueType] | None:
        """Moves game time to a fact. Returns clause and kind of what is odd: it lies back, or too far ahead."""
        if act.kind in APART:
            return None
        step = act.at_ms - self.now_ms
        free = self.quiet_step_ms < 0 or (act.kind == "session_marked" and act.fact.mark in _MARKS)
        if free and step >= 0:
            self.set(act.at_ms)
        elif step < -self._skew_ms:
            return "REG clock_skew_ms", pb.FINDING_KIND_TIME_BACKWARDS
        elif step > self._longest_step_ms:
            return "REG max_step_s", pb.FINDING_KIND_TIME_JUMP
        else:
            self.now_ms = max(self.now_ms, act.at_ms)
        return None
