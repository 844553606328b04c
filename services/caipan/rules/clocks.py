"""The clock of one side, as numbers: what it stands at; `timesystems` says what becomes of it."""

from __future__ import annotations

import struct
from typing import NamedTuple, Self

_PACKED = struct.Struct(">6q")


class SideClock:
    """What one side has on its clock at a moment, ms. Made by ``TimeSystem.start``, changed by its time system alone.

    ``used_ms``: time used of the whole limit, the only number on the wire; what is left is derived. ``count_ms``: time
    run in the byoyomi period now counted; 0 outside. ``granted_ms``: time that came to the limit since the start
    (increments, stages). ``stage``, ``moves``, ``budget_ms``: the stage, from 1, the moves made and the time there is
    in it; 0 before the first.
    """

    __slots__ = ("budget_ms", "count_ms", "granted_ms", "moves", "stage", "used_ms")

    def __init__(
        self,
        used_ms: int = 0,
        count_ms: int = 0,
        granted_ms: int = 0,
        stage: int = 0,
        moves: int = 0,
        budget_ms: int = 0,
    ) -> None:
        self.used_ms = used_ms
        self.count_ms = count_ms
        self.granted_ms = granted_ms
        self.stage = stage
        self.moves = moves
        self.budget_ms = budget_ms

    def _values(self) -> tuple[int, int, int, int, int, int]:
        return self.used_ms, self.count_ms, self.granted_ms, self.stage, self.moves, self.budget_ms

    def copy(self) -> Self:
        """Another clock that stands at the same."""
        return type(self)(*self._values())

    def pack(self) -> bytes:
        """48 bytes: used, count, granted, stage, moves, budget, each as 8 bytes, big-endian."""
        return _PACKED.pack(self.used_ms, self.count_ms, self.granted_ms, self.stage, self.moves, self.budget_ms)

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        """The clock that ``pack`` wrote. Raises struct.error for bytes of another length."""
        return cls(*_PACKED.unpack(packed))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SideClock) and self._values() == other._values()

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        named = zip(("used_ms", "count_ms", "granted_ms", "stage", "moves", "budget_ms"), self._values(), strict=True)
        return f"SideClock({', '.join(f'{name}={value}' for name, value in named if value)})"


class ClockFace(NamedTuple):
    """What a clock shows at a moment, ms. None: the time system, or this part of it, has no such thing.

    ``left_ms``: the whole limit less the time used; the byoyomi period now counted is in it as a whole.
    ``count_ms``, ``units_left``: time run in the running count, minutes or periods left. ``stage``, ``moves_left``,
    ``budget_ms``: the running stage. ``is_boundary``: the limit is used up exactly and not exceeded (reading R41).
    """

    used_ms: int
    left_ms: int
    is_over: bool
    is_boundary: bool
    count_ms: int | None = None
    units_left: int | None = None
    stage: int | None = None
    moves_left: int | None = None
    budget_ms: int | None = None
