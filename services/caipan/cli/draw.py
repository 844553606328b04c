"""The board in a terminal.

With 256 colours a wooden board with round stones; without them (NO_COLOR, a pipe, a plain terminal) the letters X and
O. The last move stands in round brackets, a provisional stone in square ones. A narrow terminal gets one column a
point, and small letters for provisional stones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.text import Text

from caipan.rules.points import names

_WOOD = Style(color="#5c4317", bgcolor="#d9b065")
_STONES = {
    "X": ("●", Style(color="#101010", bgcolor="#d9b065", bold=True)),
    "O": ("●", Style(color="#fdfdfd", bgcolor="#d9b065", bold=True)),
}
_LAST = Style(color="#b00000", bgcolor="#d9b065", bold=True)


@dataclass(frozen=True, slots=True)
class Goban:
    """A board for rich: ``rows`` from the top (``X O .``), the points of the last stone and of provisional ones."""

    rows: Sequence[str]
    last: str = ""
    provisional: Iterable[str] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        size = len(self.rows)
        wide = options.max_width >= 2 * size + 7
        has_wood = console.color_system in ("256", "truecolor") and not console.no_color
        coloured = has_wood and options.encoding.startswith("utf")
        letters = Text(_letters(size, wide), no_wrap=True, overflow="crop")
        yield letters
        for row in range(size, 0, -1):
            line = Text(f"{row:>2} ", no_wrap=True, overflow="crop")
            for piece, style in self._row(row, wide):
                line.append(piece if not coloured else _STONES.get(piece, (piece,))[0], style if coloured else None)
            yield line.append(f" {row}" if wide else "")
        yield letters

    def _row(self, row: int, wide: bool) -> Iterator[tuple[str, Style]]:
        """The pieces of a line: points, and between them in a wide drawing the brackets."""
        size, marks = len(self.rows), self._marks()
        gap, first = " ", (row - 1) * size
        for column, (name, point) in enumerate(zip(names(size)[first : first + size], self.rows[-row], strict=True), 1):
            left, right = marks.get(name, (" ", " "))
            if wide:
                yield (left if gap == " " else gap), _LAST
                gap = right
            elif left == "[":
                point = {"X": "x", "O": "o"}.get(point, point)
            if point == ".":
                yield ("+" if is_star(size, column, row) else "."), _WOOD
            else:
                yield point, _STONES[point.upper()][1]
        if wide:
            yield gap, _LAST

    def _marks(self) -> dict[str, tuple[str, str]]:
        marks = dict.fromkeys(self.provisional, ("[", "]"))
        if self.last:
            marks.setdefault(self.last, ("(", ")"))
        return marks


def is_star(size: int, column: int, row: int) -> bool:
    """Whether a point (from 1) is marked on a board of this size."""
    if size < 7:
        return False
    edge = 3 if size < 13 else 4
    lines = {edge, size + 1 - edge}
    middle = (size + 1) // 2 if size % 2 else 0
    if (column in lines and row in lines) or column == row == middle:
        return True
    return size > 13 and middle in (column, row) and (column in lines or row in lines)


def _letters(size: int, wide: bool) -> str:
    letters = [name[0] for name in names(size)[:size]]
    return "   " + (" " + " ".join(letters) if wide else "".join(letters))
