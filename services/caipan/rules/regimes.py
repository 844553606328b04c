"""Regulations as a time system (CN2002 12): which keys a regime needs, and what it makes of them."""

from __future__ import annotations

from typing import Final

from caipan.rules.timesystems import LONGEST_MS, Byoyomi, Fischer, Stages, TimeSystem
from caipan.v1.regulations_pb2 import (
    REGIME_BYOYOMI,
    REGIME_CANADIAN,
    REGIME_FISCHER,
    REGIME_STAGE,
    REGIME_UNSPECIFIED,
    Regime,
    Regulations,
)

MINUTE_S: Final = 60


def time_system(regulations: Regulations, *, is_spoken: bool = False) -> TimeSystem | None:
    """The time system of pinned regulations; None for untimed games, and where `time_problem` names something.

    ``is_spoken``: the ends of byoyomi periods are those that the reader says.
    """
    if regulations.untimed or time_problem(regulations) is not None:
        return None
    whole_ms = _whole_s(regulations) * 1000
    if regulations.regime == REGIME_BYOYOMI:
        unit_s, units = _periods(regulations)
        unit_ms = unit_s * 1000
        return Byoyomi(whole_ms, whole_ms, whole_ms - units * unit_ms, unit_ms, units, is_spoken)
    over_from_ms = whole_ms if regulations.limit_inclusive else whole_ms + 1
    if regulations.regime == REGIME_FISCHER:
        return Fischer(whole_ms, over_from_ms, regulations.increment_s * 1000, regulations.cap_s * 1000)
    if regulations.regime in (REGIME_STAGE, REGIME_CANADIAN):
        carries = regulations.regime == REGIME_STAGE
        return Stages(whole_ms, over_from_ms, regulations.stage_moves, regulations.stage_s * 1000, carries)
    return TimeSystem(whole_ms, over_from_ms)


def time_problem(regulations: Regulations) -> tuple[str, str, str] | None:
    """Why pinned regulations make no time system: key, reason and remedy; None if they do, or the game is untimed."""
    if regulations.untimed:
        return None
    regime = regulations.regime
    if regime == REGIME_UNSPECIFIED or regime not in Regime.values():
        return "regime", "a game with clocks needs one", "name it, or set untimed"
    if regulations.periods < 0:
        return "periods", f"{regulations.periods} of them", "give their number"
    if regime == REGIME_BYOYOMI and not regulations.periods:
        if regulations.retained_minutes < 1:
            return "retained_minutes", "nothing is left to count", "keep at least one minute, or name periods"
        if regulations.unit_s != MINUTE_S:
            return "unit_s", f"retained minutes of {regulations.unit_s} s", "name periods for shorter or longer ones"
        if regulations.basic_time_s < regulations.retained_minutes * MINUTE_S:
            return "basic_time_s", f"less than {regulations.retained_minutes} retained minutes", "they are part of it"
    if regime == REGIME_BYOYOMI and regulations.unit_s < 1:
        return "unit_s", "a period has no length", "give its seconds"
    if regime in (REGIME_STAGE, REGIME_CANADIAN):
        for key in ("stage_moves", "stage_s"):
            if getattr(regulations, key) < 1:
                return key, "missing", "say how many moves are due in how many seconds"
    elif regime != REGIME_BYOYOMI and regulations.basic_time_s < 1:
        return "basic_time_s", "missing", "give the time of one player in seconds"
    longest = {"basic_time_s": _whole_s(regulations)}
    longest |= {key: getattr(regulations, key) for key in ("stage_s", "increment_s", "cap_s")}
    for key, seconds in longest.items():
        if not 0 <= seconds * 1000 <= LONGEST_MS:
            return key, f"{seconds} s in all", f"give at most {LONGEST_MS // 1000}"
    return None


def _periods(regulations: Regulations) -> tuple[int, int]:
    """Seconds of a period, and how many: those of quick games if there are any, else the retained minutes."""
    if regulations.periods:
        return regulations.unit_s, regulations.periods
    return MINUTE_S, regulations.retained_minutes


def _whole_s(regulations: Regulations) -> int:
    """The whole limit: retained minutes are part of the basic time, periods of quick games come to it."""
    if regulations.regime == REGIME_BYOYOMI and regulations.periods:
        return regulations.basic_time_s + regulations.unit_s * regulations.periods
    return regulations.basic_time_s
