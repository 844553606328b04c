"""Area counting [数子法] in quarter-zi (CN2002 9, rules 2.1)."""

from __future__ import annotations

from collections.abc import Collection

from caipan.rules.points import BLACK, WHITE, neighbours

ZI = 4  # quarter-zi


def count(size: int, cells: bytes, dead: Collection[int]) -> tuple[int, int]:
    """Black's and White's area in quarter-zi once the ``dead`` stones are off; together 4 for each point.

    An empty region that touches stones of one colour is that side's; one that touches both, or none, is shared.
    """
    living = bytearray(cells)
    for index in dead:
        living[index] = 0
    black = ZI * living.count(BLACK)
    white = ZI * living.count(WHITE)
    near = neighbours(size)
    seen = bytearray(size * size)
    for start in range(size * size):
        if living[start] or seen[start]:
            continue
        points, borders = _region(start, living, near, seen)
        if borders == {BLACK}:
            black += ZI * points
        elif borders == {WHITE}:
            white += ZI * points
        else:
            black += ZI // 2 * points
            white += ZI // 2 * points
    return black, white


def _region(start: int, cells: bytearray, near: tuple[tuple[int, ...], ...], seen: bytearray) -> tuple[int, set[int]]:
    """The size of the empty region at ``start`` and the colours it touches; marks it in ``seen``."""
    seen[start] = 1
    waiting, points = [start], 0
    borders: set[int] = set()
    while waiting:
        points += 1
        for index in near[waiting.pop()]:
            if cells[index]:
                borders.add(cells[index])
            elif not seen[index]:
                seen[index] = 1
                waiting.append(index)
    return points, borders
