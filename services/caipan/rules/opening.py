"""The opening of a game: from game.opened to the table (CN2002 2.2, 2.3)."""

from __future__ import annotations

from caipan.rules.act import Act
from caipan.rules.board import Board
from caipan.rules.edition import edition, edition_ids
from caipan.rules.keys import out_of_bounds
from caipan.rules.points import BLACK, DEFAULT_SIZE, MAX_SIZE, MIN_SIZE, SEATS, WHITE, indices
from caipan.rules.table import Table
from caipan.rules.zuozi import opening_stones
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.facts_pb2 import GameOpened


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


def _set_up(opened: GameOpened) -> list[tuple[str, int]]:
    """Point and colour of the stones before the first move: those of game.opened, else those of the regulations."""
    given = [(name, int(BLACK)) for name in opened.initial_black]
    given += [(name, WHITE) for name in opened.initial_white]
    return given or opening_stones(opened.pins.regulations.zuozi)
