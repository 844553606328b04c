"""Opening stones [座子] as the key of the regulations has them: "B D4 Q16 W D16 Q4"."""

from __future__ import annotations

from caipan.rules.points import BLACK, WHITE, indices


def opening_stones(zuozi: str) -> list[tuple[str, int]]:
    """Point and colour of each, 0 where no side stands before
    the point (rules 6.3)."""
    sides = {"B": int(BLACK), "W": int(WHITE)}
    stones, colour = [], 0
    for word in zuozi.split():
        if word in sides:
            colour = sides[word]
        else:
            stones.append((word, colour))
    return stones


def why_no_opening(zuozi: str, size: int) -> str:
    """Why these opening stones cannot stand on a board of this size; empty where they can."""
    stones = opening_stones(zuozi)
    for number, (name, colour) in enumerate(stones):
        if name not in indices(size):
            return f"{name!r} is no point on {size} lines"
        if not colour:
            return f"{name} has no colour before it"
        if name in (earlier for earlier, _ in stones[:number]):
            return f"two stones on {name}"
    return ""
