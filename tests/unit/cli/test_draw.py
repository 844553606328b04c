"""The board in a terminal: coordinates, stars, marks, with and without colours and room."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from caipan.cli.draw import Goban, is_star

ROWS = [
    "X........",
    ".........",
    ".........",
    ".........",
    ".........",
    ".........",
    ".........",
    ".......O.",
    ".........",
]


def drawn(board: Goban, width: int = 80, **console: object) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, **console).print(board)  # type: ignore[arg-type]
    return out.getvalue().splitlines()


def test_rows_stand_from_the_top_with_their_coordinates_and_stars() -> None:
    assert drawn(Goban(ROWS)) == [
        "    A B C D E F G H J",
        " 9  X . . . . . . . .  9",
        " 8  . . . . . . . . .  8",
        " 7  . . + . . . + . .  7",
        " 6  . . . . . . . . .  6",
        " 5  . . . . + . . . .  5",
        " 4  . . . . . . . . .  4",
        " 3  . . + . . . + . .  3",
        " 2  . . . . . . . O .  2",
        " 1  . . . . . . . . .  1",
        "    A B C D E F G H J",
    ]


def test_the_last_move_and_provisional_stones_are_marked() -> None:
    lines = drawn(Goban(ROWS, last="A9", provisional=["H2"]))
    assert lines[1] == " 9 (X). . . . . . . .  9"
    assert lines[8] == " 2  . . . . . . .[O].  2"


def test_a_provisional_stone_that_is_the_last_move_is_marked_as_provisional() -> None:
    assert drawn(Goban(ROWS, last="H2", provisional=["H2"]))[8] == " 2  . . . . . . .[O].  2"


def test_a_narrow_terminal_gets_one_column_a_point() -> None:
    lines = drawn(Goban(ROWS, provisional=["H2"]), width=14)
    assert lines[0] == "   ABCDEFGHJ"
    assert lines[1] == " 9 X........"
    assert lines[8] == " 2 .......o."


def test_a_terminal_narrower_than_the_board_loses_columns_and_nothing_wraps() -> None:
    lines = drawn(Goban(ROWS), width=8)
    assert len(lines) == 11
    assert all(len(line) <= 8 for line in lines)


def test_a_terminal_of_few_colours_gets_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert drawn(Goban(ROWS), force_terminal=True, color_system="standard")[1] == " 9  X . . . . . . . .  9"


def test_with_colours_the_stones_are_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    lines = drawn(Goban(ROWS), force_terminal=True, color_system="truecolor")
    assert "●" in lines[1]
    assert "X" not in lines[1]
    assert "\x1b[" in lines[1]


def test_no_color_means_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    lines = drawn(Goban(ROWS), force_terminal=True, color_system="truecolor")
    assert lines[1] == " 9  X . . . . . . . .  9"


@pytest.mark.parametrize(("size", "count"), [(2, 0), (6, 0), (7, 5), (8, 4), (9, 5), (13, 5), (16, 4), (19, 9)])
def test_each_size_has_its_stars(size: int, count: int) -> None:
    stars = [(x, y) for x in range(1, size + 1) for y in range(1, size + 1) if is_star(size, x, y)]
    assert len(stars) == count


@pytest.mark.parametrize("size", range(2, 26))
def test_every_size_can_be_drawn(size: int) -> None:
    lines = drawn(Goban(["." * size] * size))
    assert len(lines) == size + 2
    assert lines[1].startswith(f"{size:>2}  ")
