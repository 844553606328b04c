"""An independent board for the tests: a dictionary of stones, flood fill, all boards kept. Slow, and nobody's fold.

Nothing here comes from ``caipan.rules``; points are (column, row) from the lower left.
"""

from __future__ import annotations

from collections.abc import Iterable

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
Point = tuple[int, int]
Stones = dict[Point, str]  # "X" or "O"


def point(name: str) -> Point:
    return LETTERS.index(name[0]), int(name[1:]) - 1


def name(at: Point) -> str:
    return f"{LETTERS[at[0]]}{at[1] + 1}"


def near(at: Point, size: int) -> list[Point]:
    column, row = at
    around = [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]
    return [(c, r) for c, r in around if 0 <= c < size and 0 <= r < size]


def unit(stones: Stones, at: Point, size: int) -> tuple[set[Point], set[Point]]:
    """The unit on a point and its liberties."""
    colour, found, free, waiting = stones[at], {at}, set(), [at]
    while waiting:
        for other in near(waiting.pop(), size):
            if other not in stones:
                free.add(other)
            elif stones[other] == colour and other not in found:
                found.add(other)
                waiting.append(other)
    return found, free


def play(stones: Stones, at: Point, colour: str, size: int) -> tuple[Stones, set[Point]]:
    """The board after a stone, and what it took; a stone without a liberty stays."""
    after = {**stones, at: colour}
    taken: set[Point] = set()
    for other in near(at, size):
        if after.get(other) not in (None, colour) and other not in taken:
            found, free = unit(after, other, size)
            if not free:
                taken |= found
    for gone in taken:
        del after[gone]
    return after, taken


def area(stones: Stones, size: int) -> tuple[int, int]:
    """Areas in quarter-zi."""
    qz = {"X": 0, "O": 0}
    for column in range(size):
        for row in range(size):
            owners = reached(stones, (column, row), size)
            if len(owners) == 1:
                qz[owners.pop()] += 4
            else:
                qz["X"] += 2
                qz["O"] += 2
    return qz["X"], qz["O"]


def regions(stones: Stones, size: int) -> list[set[Point]]:
    """The empty regions."""
    left = {(column, row) for column in range(size) for row in range(size)} - stones.keys()
    found = []
    while left:
        region, waiting = set(), [left.pop()]
        while waiting:
            at = waiting.pop()
            region.add(at)
            free = left.intersection(near(at, size))
            left -= free
            waiting += free
        found.append(region)
    return found


def groups(stones: Stones, size: int) -> list[tuple[str, int, int, bool]]:
    """Units joined through regions that only their side touches: colour, those regions, their points, whether the
    group touches a shared region too."""
    found = {frozenset(unit(stones, at, size)[0]) for at in stones}
    enclosed, shared = [], []
    for region in regions(stones, size):
        around = {at for inside in region for at in near(inside, size)} & stones.keys()
        if len({stones[at] for at in around}) == 1:
            enclosed.append((region, around))
            meeting = {group for group in found if group & around}
            found = found - meeting | {frozenset().union(*meeting)}
        else:
            shared.append(around)
    told = []
    for group in found:
        own = [region for region, around in enclosed if group & around]
        points = sum(len(region) for region in own)
        told.append((stones[min(group)], len(own), points, any(group & around for around in shared)))
    return sorted(told)


def reached(stones: Stones, at: Point, size: int) -> set[str]:
    """The colours that a point belongs to or touches through empty points."""
    if at in stones:
        return {stones[at]}
    seen, waiting, colours = {at}, [at], set()
    while waiting:
        for other in near(waiting.pop(), size):
            if other in stones:
                colours.add(stones[other])
            elif other not in seen:
                seen.add(other)
                waiting.append(other)
    return colours


def rows(stones: Stones, size: int) -> list[str]:
    return ["".join(stones.get((column, row), ".") for column in range(size)) for row in reversed(range(size))]


def from_rows(lines: Iterable[str]) -> Stones:
    return {
        (column, row): mark
        for row, line in enumerate(reversed(list(lines)))
        for column, mark in enumerate(line)
        if mark != "."
    }
