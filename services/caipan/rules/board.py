"""The board: any arrangement of stones, its units and their liberties (CN2002 3, 4).

Units and liberties are kept up to date stone by stone; a set of points is an integer with one bit for each index, so
that a liberty is taken or given in one operation. The board also knows its position key, the exclusive or of one
128-bit key for each stone (Zobrist 1970), by which a recurring position is looked up.

A unit without liberties may stand: a forbidden stone lies where it was set until somebody rules (rules 0.6).
"""

from __future__ import annotations

import hashlib
from functools import cache

from caipan.rules.points import BLACK, MAX_SIZE, WHITE, Colour, neighbours

BITS = tuple(1 << index for index in range(MAX_SIZE * MAX_SIZE))


@cache
def stone_keys(size: int) -> tuple[tuple[int, ...], ...]:
    """Keys of the stones, ``[colour][index]``: 16 bytes of SHA-256("caipan stone", size, colour, index), big endian.

    Size and colour are one byte each, the index two bytes, big endian. They are part of the digest's format.
    """

    def key(colour: Colour, index: int) -> int:
        text = b"caipan stone" + bytes((size, colour)) + index.to_bytes(2, "big")
        return int.from_bytes(hashlib.sha256(text).digest()[:16], "big")

    points = range(size * size)
    return ((), tuple(key(BLACK, index) for index in points), tuple(key(WHITE, index) for index in points))


class Unit:
    """Adjacent stones of one colour: its stones as a list of indices, its liberties as a set of bits."""

    __slots__ = ("colour", "liberties", "stones")

    def __init__(self, colour: Colour, stones: list[int], liberties: int) -> None:
        self.colour = colour
        self.stones = stones
        self.liberties = liberties


class Board:
    """Stones on a board of ``size`` lines."""

    __slots__ = ("_keys", "_near", "key", "size", "units")

    def __init__(self, size: int) -> None:
        self.size = size
        self.units: list[Unit | None] = [None] * (size * size)
        self.key = 0
        self._near = neighbours(size)
        self._keys = stone_keys(size)

    @classmethod
    def from_cells(cls, size: int, cells: bytes | bytearray) -> Board:
        """A board with this arrangement, see ``cells``; nothing is captured."""
        board = cls(size)
        for index, colour in enumerate(cells):
            if colour:
                board._join(index, WHITE if colour == WHITE else BLACK)
        return board

    def colour_at(self, index: int) -> int:
        """0 empty, 1 black, 2 white."""
        unit = self.units[index]
        return unit.colour if unit is not None else 0

    def cells(self) -> bytes:
        """The arrangement, one byte a point by index: 0 empty, 1 black, 2 white."""
        return bytes(unit.colour if unit is not None else 0 for unit in self.units)

    def play(self, index: int, colour: Colour) -> tuple[int, ...]:
        """Sets a stone on an empty point and takes off the opposing units that it leaves without a liberty (CN2002 4).

        Only units that the stone touches are taken. Returns the indices of the stones taken; the own unit may be left
        without a liberty (CN2002 5), see ``liberties``.
        """
        without = self._join(index, colour)
        if not without:
            return ()
        taken: list[int] = []
        for unit in without:
            taken.extend(unit.stones)
            self._remove(unit)
        taken.sort()  # the order of a unit's stones is that in which they were joined, and of no meaning
        return tuple(taken)

    def liberties(self, index: int) -> int:
        """The number of liberties of the unit on ``index``; 0 for an empty point."""
        unit = self.units[index]
        return unit.liberties.bit_count() if unit is not None else 0

    def _join(self, index: int, colour: Colour) -> list[Unit] | None:
        """Sets a stone, joins it to its unit, and returns the opposing units it leaves without a liberty."""
        units = self.units
        bit = BITS[index]
        liberties = 0
        own: Unit | None = None
        without: list[Unit] | None = None
        for near in self._near[index]:
            unit = units[near]
            if unit is None:
                liberties |= BITS[near]
            elif unit.colour == colour:
                if own is None:
                    own = unit
                elif own is not unit:
                    own = self._merge(own, unit)
            elif unit.liberties & bit:
                unit.liberties ^= bit
                if not unit.liberties:
                    if without is None:
                        without = [unit]
                    else:
                        without.append(unit)
        if own is None:
            units[index] = Unit(colour, [index], liberties)
        else:
            own.stones.append(index)
            own.liberties = (own.liberties | liberties) & ~bit
            units[index] = own
        self.key ^= self._keys[colour][index]
        return without

    def _merge(self, one: Unit, other: Unit) -> Unit:
        if len(one.stones) < len(other.stones):
            one, other = other, one
        units = self.units
        for stone in other.stones:
            units[stone] = one
        one.stones.extend(other.stones)
        one.liberties |= other.liberties
        return one

    def _remove(self, unit: Unit) -> None:
        units, all_near, keys = self.units, self._near, self._keys[unit.colour]
        for stone in unit.stones:
            units[stone] = None
            self.key ^= keys[stone]
        for stone in unit.stones:
            bit = BITS[stone]
            for near in all_near[stone]:
                other = units[near]
                if other is not None:
                    other.liberties |= bit
