"""What a clock is set to by clause: lateness (CN2002 22.1-22.3), faulty clocks (22.8), a session without a record
(22.9). Whole numbers of ms throughout."""

from __future__ import annotations

from typing import Final

HOUR_S: Final = 3600
SECOND_MS: Final = 1000


def is_admitted(late_ms: int, limit_s: int, *, is_inclusive: bool) -> bool:
    """Whether who is so late may still play; ``is_inclusive``: also exactly on the limit (reading R14)."""
    limit_ms = limit_s * SECOND_MS
    return late_ms < limit_ms or (is_inclusive and late_ms == limit_ms)


def lateness_cost(late_ms: int, factor: int, ran_ms: int) -> int:
    """What is still to be deducted so that all of it comes to ``factor`` times the lateness; ``ran_ms``: how much the
    late player's own clock ran meanwhile (reading R15). Below 0 where more ran than that."""
    return factor * late_ms - ran_ms


def is_faulty(elapsed_ms: int, black_ms: int, white_ms: int, limit_s_per_h: int) -> bool:
    """Whether the sum of the times used is wrong by the limit or more, in seconds an hour of the time that elapsed by
    the arbiter's watch (readings R21, R14). A sum that is right is never faulty."""
    error_ms = abs(black_ms + white_ms - elapsed_ms)
    return error_ms > 0 and error_ms * HOUR_S >= limit_s_per_h * elapsed_ms


def in_proportion(elapsed_ms: int, black_ms: int, white_ms: int) -> tuple[int, int]:
    """The times used, Black's and White's, corrected in proportion: Black's to the second, together what elapsed. If
    the clock shows none used by either, they share it evenly."""
    shown_ms = black_ms + white_ms
    if not shown_ms:
        return split_evenly(elapsed_ms)
    seconds = (2 * elapsed_ms * black_ms + shown_ms * SECOND_MS) // (2 * shown_ms * SECOND_MS)
    black = min(seconds * SECOND_MS, elapsed_ms)
    return black, elapsed_ms - black


def split_evenly(session_ms: int) -> tuple[int, int]:
    """Half of a session each, together all of it (CN2002 22.9)."""
    return session_ms // 2, session_ms - session_ms // 2
