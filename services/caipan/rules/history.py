"""The moves of a game and the positions they made, over the whole game (CN2002 6).

64 bits of the positions' keys only filter: where they come again, the record is played through and the arrangements
themselves are compared. So a repetition is exact, even against somebody who builds records with colliding keys.
"""

from __future__ import annotations

import struct
from hashlib import sha256
from typing import NamedTuple, cast

from caipan.rules.board import Board, stone_keys
from caipan.rules.points import Colour, other
from caipan.v1.common_pb2 import COLOR_UNSPECIFIED

PASS = 0xFFFF
FILTER = (1 << 64) - 1
_CAPTURED = struct.Struct(">II")  # stones of Black and of White captured so far
_MOVE = struct.Struct(">HBB")  # point or PASS, colour of the stone or of the passing side, side to move next


class Edit(NamedTuple):
    """What a ruling set: the arrangement, see ``Board.cells``, the side to move, stones captured so far by colour."""

    cells: bytes
    turn: Colour
    captured: tuple[int, int, int]


class Stand(NamedTuple):
    """That a position stood on the board: after move ``number`` (0 = the set-up), with ``turn`` to move."""

    number: int
    turn: Colour


class History:
    """Positions 0 (the set-up), 1, 2, ... after each move; a pass repeats the position before it.

    ``digest`` is a running SHA-256 over the positions and the sides to move: docs/chain.md. ``moves`` are packed, four
    bytes each; ``captures`` has the stones taken by the moves that took any, ``edits`` what rulings set the board to,
    by the move after which they did.
    """

    __slots__ = ("captures", "digest", "edits", "keys", "length", "moves", "setup", "setup_turn", "size")

    def __init__(self, size: int, setup: bytes, turn: Colour) -> None:
        """``setup``: the arrangement of position 0, see ``Board.cells``; ``turn``: the side to move in it."""
        self.size = size
        self.setup = setup
        self.setup_turn = turn
        self.moves = bytearray()
        self.captures: dict[int, tuple[int, ...]] = {}
        self.edits: dict[int, Edit] = {}
        self.length = 0
        key = _setup_key(size, setup)
        self.keys = {key & FILTER}
        self.digest = sha256(b"caipan history%c%b" % (size, (key << 8 | turn).to_bytes(17, "big"))).digest()

    def push(self, key: int, point: int, colour: Colour, captured: tuple[int, ...], turn: Colour) -> None:
        """Appends a move: the key after it, its point or PASS, the stone's colour, what it took, who moves next."""
        self.length += 1
        self.moves += _MOVE.pack(point, colour, turn)
        if captured:
            self.captures[self.length] = captured
        self.keys.add(key & FILTER)
        self.digest = sha256(self.digest + (key << 8 | turn).to_bytes(17, "big")).digest()

    def edit(self, edit: Edit) -> None:
        """A ruling sets the arrangement and the side to move; the number of moves stays."""
        self.edits[self.length] = edit
        key = _setup_key(self.size, edit.cells)
        self.keys.add(key & FILTER)
        _, black, white = edit.captured
        standing = (key << 8 | edit.turn).to_bytes(17, "big")
        self.digest = sha256(b"edit" + self.digest + standing + _CAPTURED.pack(black, white)).digest()

    def restore(
        self,
        moves: bytes,
        captures: dict[int, tuple[int, ...]],
        edits: dict[int, Edit],
        digest: bytes | None = None,
    ) -> None:
        """Appends packed moves to an empty history. ``digest``: the running one after them, where it is known."""
        stones = stone_keys(self.size)
        key = _setup_key(self.size, self.setup)
        if 0 in edits:
            self.edit(edits[0])
            key = _setup_key(self.size, edits[0].cells)
        for number, (point, colour, turn) in enumerate(_MOVE.iter_unpack(moves), start=1):
            captured = captures.get(number, ())
            if point != PASS:
                key ^= stones[colour][point]
                for stone in captured:
                    key ^= stones[other(colour)][stone]
            if digest is None:
                self.push(key, point, colour, captured, turn)
            else:
                self.keys.add(key & FILTER)
            if number in edits:
                key = _setup_key(self.size, edits[number].cells)
                if digest is None:
                    self.edit(edits[number])
                else:
                    self.keys.add(key & FILTER)
        if digest is not None:
            self.moves, self.captures, self.edits, self.digest = bytearray(moves), captures, edits, digest
            self.length = len(moves) // _MOVE.size

    def set_up(self, board: Board) -> History:
        """A history that begins with the board as it is: the set-up is still being made."""
        return History(self.size, board.cells(), self.setup_turn)

    def stands(self, board: Board) -> list[Stand]:
        """All earlier stands of the position on ``board``, oldest first; worth a call if ``keys`` has its key."""
        wanted = board.cells()
        cells = self._start()
        found = [Stand(0, self.turn_after(0))] if cells == wanted else []
        for number in range(1, self.length + 1):
            turn = self._replay(cells, number)
            if cells == wanted:
                found.append(Stand(number, turn))
        return found

    def cells(self, number: int) -> bytes:
        """The arrangement after move ``number``, as ``Board.cells``."""
        cells = self._start()
        for move in range(1, number + 1):
            self._replay(cells, move)
        return bytes(cells)

    def last(self) -> tuple[int, Colour]:
        """Point (or PASS) and colour of the last move; (PASS, 0) before the first."""
        if not self.length:
            return PASS, COLOR_UNSPECIFIED
        point, colour, _ = self._move(self.length)
        return point, colour

    def captured(self) -> list[int]:
        """Stones taken so far, by colour: ``[0, black, white]``."""
        last = max(self.edits, default=0)
        taken = list(self.edits[last].captured) if self.edits else [0, 0, 0]
        for number, stones in self.captures.items():
            if number > last or not self.edits:
                _, colour, _ = self._move(number)
                taken[other(colour)] += len(stones)
        return taken

    def taken_from(self, colour: Colour) -> frozenset[int]:
        """The points from which moves have taken stones of this colour."""
        taken = (stones for number, stones in self.captures.items() if other(self._move(number)[1]) == colour)
        return frozenset(stone for stones in taken for stone in stones)

    def moves_of(self, player: Colour, after: int, stones_only: bool = False) -> int:
        """How many moves a side has made after move ``after``, passes included unless ``stones_only``."""
        played = (self._move(number) for number in range(after + 1, self.length + 1))
        return sum(colour == player and not (stones_only and point == PASS) for point, colour, _ in played)

    def turn_after(self, number: int) -> Colour:
        """Who was to move after move ``number``."""
        if number in self.edits:
            return self.edits[number].turn
        return self._move(number)[2] if number else self.setup_turn

    def first_stone(self, index: int, after: int) -> int:
        """The number of the first move behind ``after`` that set a stone on this point; 0 if none did."""
        moves = range(after + 1, self.length + 1)
        return next((number for number in moves if self._move(number)[0] == index), 0)

    def stone_at(self, index: int) -> int:
        """The number of the move that set the stone on this point; 0 where a ruling or the set-up did, or none lies."""
        cells, number = self._start(), 0
        for move in range(1, self.length + 1):
            before = cells[index]
            self._replay(cells, move)
            if cells[index] != before:
                number = move if self._move(move)[0] == index and move not in self.edits else 0
        return number

    def until(self, length: int) -> History:
        """The history of the first ``length`` moves."""
        shorter = History(self.size, self.setup, self.setup_turn)
        edits = {number: edit for number, edit in self.edits.items() if number <= length}
        captures = {number: taken for number, taken in self.captures.items() if number <= length}
        shorter.restore(bytes(self.moves[: length * _MOVE.size]), captures, edits)
        return shorter

    def undone(self) -> History:
        """The history without its last move; what a ruling has set on the board after it stays."""
        shorter, edit = self.until(self.length - 1), self.edits.get(self.length)
        if edit is not None:
            point, colour, _ = self._move(self.length)
            taken = self.captures.get(self.length, ())
            cells, captured = bytearray(edit.cells), list(edit.captured)
            if point != PASS and cells[point] == colour:
                cells[point] = 0
            back = [stone for stone in taken if not cells[stone]]  # a ruling can have put one back before
            for stone in back:
                cells[stone] = other(colour)
            captured[other(colour)] = max(0, captured[other(colour)] - len(back))
            shorter.edit(Edit(bytes(cells), colour, (0, captured[1], captured[2])))
        return shorter

    def _start(self) -> bytearray:
        """Position 0."""
        return bytearray(self.edits[0].cells if 0 in self.edits else self.setup)

    def _replay(self, cells: bytearray, number: int) -> Colour:
        """Makes move ``number`` on ``cells``; returns the side to move next."""
        point, colour, turn = self._move(number)
        if point != PASS:
            cells[point] = colour
            for stone in self.captures.get(number, ()):
                cells[stone] = 0
        if number in self.edits:
            cells[:] = self.edits[number].cells
            return self.edits[number].turn
        return turn

    def _move(self, number: int) -> tuple[int, Colour, Colour]:
        return cast("tuple[int, Colour, Colour]", _MOVE.unpack_from(self.moves, (number - 1) * _MOVE.size))


def _setup_key(size: int, cells: bytes) -> int:
    """The key of an arrangement, as ``Board.key``."""
    keys, key = stone_keys(size), 0
    for index, colour in enumerate(cells):
        if colour:
            key ^= keys[colour][index]
    return key
