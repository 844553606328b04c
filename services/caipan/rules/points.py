"""Points of a board by name and by index.

A name is a column letter without I and a row from the bottom ("Q16"); an index counts from A1 rightwards, then up:
``row * size + column``. Colours are the integers of ``caipan.v1.Color``: 1 black, 2 white.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from caipan.v1.common_pb2 import COLOR_BLACK, COLOR_WHITE

if TYPE_CHECKING:
    from caipan.v1.common_pb2 import Color

    Colour: TypeAlias = Color.ValueType
else:
    Colour = int

BLACK = COLOR_BLACK
WHITE = COLOR_WHITE
SEATS = (BLACK, WHITE)
MIN_SIZE = 2
MAX_SIZE = 25
DEFAULT_SIZE = 19
_COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


@cache
def names(size: int) -> tuple[str, ...]:
    """The names of all points of a board of ``size`` lines, by index."""
    return tuple(f"{_COLUMNS[column]}{row + 1}" for row in range(size) for column in range(size))


@cache
def indices(size: int) -> dict[str, int]:
    """The indices of all points of a board of ``size`` lines, by name."""
    return {name: index for index, name in enumerate(names(size))}


@cache
def neighbours(size: int) -> tuple[tuple[int, ...], ...]:
    """For each index the indices joined to it by a line."""
    found = []
    for index in range(size * size):
        row, column = divmod(index, size)
        near = []
        if row > 0:
            near.append(index - size)
        if column > 0:
            near.append(index - 1)
        if column < size - 1:
            near.append(index + 1)
        if row < size - 1:
            near.append(index + size)
        found.append(tuple(near))
    return tuple(found)


def other(colour: Colour) -> Colour:
    """The opponent."""
    return WHITE if colour == BLACK else BLACK
