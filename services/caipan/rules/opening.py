"""The opening of a game: from game.opened to the table (CN2002 2.2, 2.3)."""

from __future__ import annotations

from caipan.rules.act import Act
from caipan.rules.board import Board
from caipan.rules.edition import edition, edition_ids
from caipan.rules.points import BLACK, DEFAULT_SIZE, MAX_SIZE, MIN_SIZE, SEATS, WHITE, indices
from caipan.rules.table import Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.facts_pb2 import GameOpened
from caipan.v1.regulations_pb2 import Regulations

# What the fold reckons with; the gateway refuses more.
_BOUNDS = {
    "komi_qz": (-1_000_000, 1_000_000),
    "handicap": (0, MAX_SIZE * MAX_SIZE),
    "clock_skew_ms": (0, 1 << 40),
    "max_step_s": (0, 1 << 40),
    "warning_qz": (0, 4000),
    "warning_points": (0, 2000),
}


class CannotOpenError(ValueError):
    """A game.opened by which no game can be judged; the message says what is wrong."""


def open_table(opened: GameOpened, act: Act) -> Table:
    """The table as it stands before the first move. Stones that cannot stand are left out with a finding.

    Raises CannotOpenError for a size that is no board, or an edition that is not pinned or not known.
    """
    size = opened.size or DEFAULT_SIZE
    if not MIN_SIZE <= size <= MAX_SIZE:
        raise CannotOpenError(f"game_opened.size is {opened.size}: a board has {MIN_SIZE} to {MAX_SIZE} lines")
    regulations = opened.pins.regulations
    if regulations.edition not in edition_ids():
        raise CannotOpenError(f"game_opened.pins name the edition {regulations.edition!r}, which is not known here")
    if (field := out_of_bounds(regulations)) is not None:
        raise CannotOpenError(f"game_opened.pins.regulations.{field} is {getattr(regulations, field)}")
    text = edition(regulations.edition)
    cells = bytearray(size * size)
    wrong = []
    for name, colour in _set_up(opened):
        index = indices(size).get(name)
        if index is None or cells[index] or not colour:
            wrong.append(name)
        else:
            cells[index] = colour
            act.set(name, colour)
    turn = opened.side_to_move
    if turn not in SEATS:
        turn = WHITE if regulations.handicap else text.first_to_move
    table = Table(opened, Board.from_cells(size, cells), turn)
    if wrong:
        act.find(table.cite("2.2"), pb.FINDING_KIND_INVALID_SETUP, points=wrong)
    act.tell(opened=opened)
    return table


def out_of_bounds(regulations: Regulations) -> str | None:
    """The field of regulations that no game can be judged by; None where there is none."""
    for field, (low, high) in _BOUNDS.items():
        if not low <= getattr(regulations, field) <= high:
            return field
    return None


def _set_up(opened: GameOpened) -> list[tuple[str, int]]:
    """Point and colour of the stones before the first move: those of game.opened, else those of the regulations."""
    given = [(name, int(BLACK)) for name in opened.initial_black]
    given += [(name, WHITE) for name in opened.initial_white]
    return given or opening_stones(opened.pins.regulations.zuozi)


def opening_stones(zuozi: str) -> list[tuple[str, int]]:
    """Opening stones [座子] as the key has them, "B D4 Q16 W D16 Q4": point and colour, 0 where no side stands before
    the point (rules 6.3)."""
    sides = {"B": int(BLACK), "W": int(WHITE)}
    stones, colour = [], 0
    for word in zuozi.split():
        if word in sides:
            colour = sides[word]
        else:
            stones.append((word, colour))
    return stones
