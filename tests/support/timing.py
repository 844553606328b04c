"""Time systems as an event would pin them, and clocks at a moment."""

from __future__ import annotations

from typing import Any

from caipan.rules.clocks import SideClock
from caipan.rules.edition import edition
from caipan.rules.pins import expanded
from caipan.rules.regimes import time_system
from caipan.rules.timesystems import Byoyomi, TimeSystem
from caipan.v1.regulations_pb2 import Regime, Regulations
from support.events import t

NEVER = -1


def regulations(regime: str, basic: str = "0", **keys: Any) -> Regulations:
    """All that CN2002 says of time for this regime; ``basic`` is the basic time as the rules write it."""
    keys = {"regime": Regime.Value(f"REGIME_{regime}"), "basic_time_s": t(basic) // 1000, **keys}
    return expanded(Regulations(edition="CN2002", **keys), edition("CN2002"))


def timed(regime: str, basic: str = "0", *, is_spoken: bool = False, **keys: Any) -> TimeSystem:
    """The system that these regulations make."""
    system = time_system(regulations(regime, basic, **keys), is_spoken=is_spoken)
    assert system is not None
    return system


def byoyomi(basic: str = "0", *, is_spoken: bool = False, **keys: Any) -> Byoyomi:
    """Byoyomi; ``retained_minutes`` are 5 if nothing is said."""
    system = timed("BYOYOMI", basic, is_spoken=is_spoken, **keys)
    assert isinstance(system, Byoyomi)
    return system


def at(system: TimeSystem, used: str) -> SideClock:
    """A clock of this system with so much of the limit used."""
    clock = system.start()
    assert system.set_used(clock, t(used))
    return clock


def play(system: TimeSystem, clock: SideClock, ms: int) -> int:
    """A move that takes so long; what `spend` says."""
    over_after_ms = system.spend(clock, ms)
    system.complete_move(clock)
    return over_after_ms
