"""What a board at the end holds: area [数子法], surrounded points, living groups (CN2002 9; rules 2.1, 6.2, 6.3).

What the board alone can tell: which stones are dead the players say, who owes what the results.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from caipan.rules.points import BLACK, WHITE, Colour, neighbours

ZI = 4  # quarter-zi
MU = 2

Assigned = Mapping[int, Colour]  # the side to which a ruling gave a point (CN2002 12.4(4)), by index


class Patch(NamedTuple):
    """Points joined by lines that hold the same: a unit of stones, or an empty region.

    ``touches``: the points around it. ``owner``: the side whose stones these are, or the only one whose stones touch
    the region; 0 = both touch it, or nobody does, and it is shared.
    """

    is_empty: bool
    owner: int
    points: tuple[int, ...]
    touches: frozenset[int]


class Group(NamedTuple):
    """Units of a side that are joined by regions which only this side touches; the numbers of those and their points.

    ``shares``: whether it touches a shared region too.
    """

    owner: int
    regions: int
    points: int
    shares: bool

    @property
    def in_seki(self) -> bool:
        """Whether it lives without two eyes: what it encloses is one region of at most two points, or nothing, and it
        touches a shared one. So a wall with territory behind it is in no seki because a neutral point was left open.
        """
        return self.shares and self.regions < 2 and self.points <= 2


class Ground:
    """A board without its ``dead`` stones; ``cells`` as ``Board.cells`` has them. Points by index."""

    __slots__ = ("at", "cells", "patches")

    def __init__(self, size: int, cells: bytes, dead: Collection[int]) -> None:
        living = bytearray(cells)
        for index in dead:
            living[index] = 0
        self.cells = bytes(living)
        self.patches: list[Patch] = []
        self.at = [-1] * len(cells)  # the number of the patch that a point belongs to
        for start in range(len(cells)):
            if self.at[start] < 0:
                self.patches.append(self._patch(start, neighbours(size)))

    def _patch(self, start: int, near: tuple[tuple[int, ...], ...]) -> Patch:
        cells, at, number = self.cells, self.at, len(self.patches)
        kind = cells[start]
        at[start] = number
        points, touches = [start], set()
        for point in points:
            for index in near[point]:
                if cells[index] != kind:
                    touches.add(index)
                elif at[index] < 0:
                    at[index] = number
                    points.append(index)
        around = {cells[index] for index in touches}
        alone = around.pop() if len(around) == 1 else 0
        return Patch(not kind, kind or alone, tuple(points), frozenset(touches))

    def groups(self) -> list[Group]:
        """All groups: which stones live together."""
        seen: set[int] = set()
        found = []
        for number, patch in enumerate(self.patches):
            if not patch.is_empty and number not in seen:
                found.append(self._group(number, seen))
        return found

    def _group(self, start: int, seen: set[int]) -> Group:
        """The group of a unit; its units and regions are added to ``seen``."""
        owner, regions, points, shares = self.patches[start].owner, 0, 0, False
        seen.add(start)
        waiting = [start]
        for number in waiting:  # a unit and a region it touches are next to each other, and so are the units beyond it
            for next_to in {self.at[index] for index in self.patches[number].touches}:
                patch = self.patches[next_to]
                if patch.owner == owner and next_to not in seen:
                    seen.add(next_to)
                    waiting.append(next_to)
                    regions += patch.is_empty
                    points += len(patch.points) if patch.is_empty else 0
                elif patch.is_empty and patch.owner != owner:
                    shares = True
        return Group(owner, regions, points, shares)

    def shared(self, assigned: Assigned) -> list[int]:
        """Shared points by what became of them: ``[still shared, assigned to Black, assigned to White]``."""
        counts = [0, 0, 0]
        for patch in self.patches:
            if not patch.owner:
                for point in patch.points:
                    counts[assigned.get(point, 0)] += 1
        return counts


def area(ground: Ground, assigned: Assigned) -> tuple[int, int]:
    """Black's and White's area in quarter-zi; together 4 for each point: stones and what they enclose, and half of what
    is shared unless it was assigned (CN2002 9, 21.2, 12.4(4))."""
    counts = ground.shared(assigned)
    for patch in ground.patches:
        if patch.owner:
            counts[patch.owner] += len(patch.points)
    half, black, white = counts
    return ZI * black + ZI // 2 * half, ZI * white + ZI // 2 * half


def surrounded(ground: Ground, assigned: Assigned) -> tuple[int, int]:
    """Empty points that each side surrounds: none in seki, none that are shared unless assigned (rules 6.2, 6.3)."""
    _, black, white = ground.shared(assigned)
    for group in ground.groups():
        if not group.in_seki:
            black += group.points * (group.owner == BLACK)
            white += group.points * (group.owner == WHITE)
    return black, white


def living_groups(ground: Ground) -> tuple[int, int]:
    """Groups of each side that have two eyes to lose by the tax (rules 6.3): all but those in seki."""
    owners = [group.owner for group in ground.groups() if not group.in_seki]
    return owners.count(BLACK), owners.count(WHITE)
