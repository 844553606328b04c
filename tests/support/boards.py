"""The standard boards of the rules (0.3), as the initial stones of a game, and games that are long enough."""

from __future__ import annotations

from typing import Any

from support.oracle import LETTERS
from support.play import Play

_B, _W = "ABCDEFG", "NOPQRST"


def wall(rows: int, extra: str = "", *, size: int = 19, column: str = "K") -> dict[str, list[str]]:
    """WALL(rows): Black has 171 + rows points. ``extra``: DAME, DEAD or SEKI. As keywords of ``Play``.

    On a board of ``size`` lines Black's lower wall stands on ``column`` and everything else beside it.
    """
    before, middle, after = LETTERS[LETTERS.index(column) - 1 :][:3]
    low = range(1, rows + 1)
    high = range(rows + 1, size + 1)
    black = [f"{middle}{row}" for row in low] + [f"{before}{row}" for row in high]
    white = [f"{after}{row}" for row in low] + [f"{middle}{row}" for row in high]
    if extra == "DAME":
        black.remove("K1")
        black.append("J1")
    elif extra == "DEAD":
        white.append("C3")
    elif extra == "SEKI":
        for row in (1, 2, 3):
            black.remove(f"K{row}")
            white.remove(f"L{row}")
        black += ["L1", "L2", "L3", "H1", "H2", "H3", "J4"]
        white += ["J1", "J2", "J3", "K3", "M1", "M2", "M3"]
    return {"black": black, "white": white}


def play_on_wall(rows: int, extra: str = "", **regulations: Any) -> Play:
    """A game on a standard board, Black to move."""
    return Play(**wall(rows, extra), to_move="B", **regulations)


def filled(moves: int, **how: Any) -> Play:
    """A game with this many moves (at most 266) that break and capture nothing: Black in A-G, White in N-T."""
    play = Play(**how)
    for number in range(moves):
        column, row = divmod(number // 2, 19)
        play.stone("BW"[number % 2], f"{(_B, _W)[number % 2][column]}{row + 1}")
    return play


def three_kos(moves: int, **how: Any) -> Play:
    """Three kos in the middle, after as many quiet moves at both sides; Black to move."""
    black, white = [], []
    for row, white_holds in ((16, True), (10, False), (4, True)):
        black += [f"J{row + 1}", f"H{row}", f"J{row - 1}"]
        white += [f"K{row + 1}", f"L{row}", f"K{row - 1}"]
        (white if white_holds else black).append(f"J{row}" if white_holds else f"K{row}")
    return filled(moves, black=black, white=white, to_move="B", **how)


CYCLE = "B K16, W J10, B K4, W J16, B K10, W J4"  # takes the three kos in turn; the sixth move is the start again
