"""The positions of the incidents, as diagrams: X Black, O White, the top row first."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

from support.oracle import LETTERS


def position(name: str, **how: Any) -> dict[str, Any]:
    """A position as keywords of ``Play``; ``how``: further ones."""
    rows = _rows(_DIAGRAMS[name])
    stones: dict[str, list[str]] = {"X": [], "O": []}
    for row, line in enumerate(reversed(rows), start=1):
        for letter, mark in zip(LETTERS, line, strict=False):
            if mark in stones:
                stones[mark].append(f"{letter}{row}")
    return {"size": len(rows), "black": stones["X"], "white": stones["O"], "to_move": "B", **how}


def _rows(diagram: str) -> list[str]:
    return [line.replace(" ", "") for line in dedent(diagram).split("\n") if line.strip()]


_DIAGRAMS = {
    # A single ko: Black takes at F5.
    "K9": """
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . X O . . .
        . . . X O . O . .
        . . . . X O . . .
        . . X . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """,
    # Black at D1 takes three stones.
    "THREE": """
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        X X X . . . . . .
        O O O . . . . . .
    """,
    # Finished: 45 against 36.
    "WALL": "\n".join(["....XO..."] * 9),
    # Finished but for E9, which is shared; the ko at the left is Black's in the end: 44 1/2 against 36 1/2.
    "HALF_WITH_KO": """
        . . . X . O . . .
        . . . . X O . . .
        . . . . X O . . .
        . X O . X O . . .
        X O . O X O . . .
        . X O . X O . . .
        . . . . X O . . .
        . . . . X O . . .
        . . . . X O . . .
    """,
    # Three points that belong to nobody yet: E9, E1, F5.
    "DROP": """
        . . . X . O . . .
        . . . . X O . . .
        . . . . X O . . .
        . . . . X O . . .
        . . . . X . O . .
        . . . . X O . . .
        . . . . X O . . .
        . . . . X O . . .
        . . . X . O . . .
    """,
    # H9 belongs to nobody yet; F9 and G9 hang on E9.
    "DAME": """
        . . . . . X X . O
        . . . . X O O O .
        . . . . X O . . .
        . . . . X O . . .
        . . . . X O . . .
        . . . . X O . . .
        . . . . X O . . .
        . . . . X O . . .
        . . . . X O . . .
    """,
    # B5 cannot live.
    "DEAD": "\n".join(["....XO..."] * 4 + [".O..XO..."] + ["....XO..."] * 4),
    # Three kos: Black can take at D11 or D3, White at C7.
    "TRIPLE": """
        . . . . . . . . . . . . .
        . . X O . . . . . . . . .
        . X O . O . . . . . . . .
        . . X O . . . . . . . . .
        . . . . . . . . . . . . .
        . . X O . . . . . . . . .
        . X . X O . . . . . . . .
        . . X O . . . . . . . . .
        . . . . . . . . . . . . .
        . . X O . . . . . . . . .
        . X O . O . . . . . . . .
        . . X O . . . . . . . . .
        . . . . . . . . . . . . .
    """,
    # Two stones sent, one taken back.
    "SEND2": """
        . . . . . . .
        X . . . . . .
        . X . . . . .
        X O . . . . .
        . O . . . . .
        O O . . . . .
        . . . . . . .
    """,
    # E5 is shared: 40 1/2 each.
    "DRAW": """
        . . . . X O . . .
        . . . . X O . . .
        . . . . X O . . .
        . . . . X O . . .
        . . . X . O . . .
        . . . X O . . . .
        . . . X O . . . .
        . . . X O . . . .
        . . . X O . . . .
    """,
}
