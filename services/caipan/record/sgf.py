"""`read_record`: any bytes into a plain value, with a sentence for everything that could not be read.

The text is decoded and mended by `scan`, parsed by sgfmill's grammar (SGF FF[4], which covers the older forms), and
its main line, the first variation throughout, is taken down here. Nothing is judged: an occupied point or a colour out
of turn is a move like any other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from sgfmill import sgf_grammar

from caipan.record.scan import Problems, decode, mend, shown

Colour = Literal["B", "W"]
_Node = Mapping[str, list[bytes]]

DEFAULT_SIZE = 19
_SIZES = range(2, 26)
_COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
_PLAYERS: dict[str, Colour] = {"b": "B", "black": "B", "1": "B", "w": "W", "white": "W", "2": "W"}
_SETUP: dict[str, Colour | None] = {"AB": "B", "AW": "W", "AE": None}


@dataclass(frozen=True, slots=True)
class Move:
    """A move of the main line; `point` as in GTP ("Q16", columns without I, rows from the bottom), None for a pass."""

    colour: Colour
    point: str | None


@dataclass(frozen=True, slots=True)
class GameRecord:
    """What a game record says, as written; texts are "" where the file has none.

    `moves` are all moves of the main line, the first `handicap_moves` of them being Black's handicap stones of a file
    that places them as moves (HA of 2 or more without AB). `setup_*` is the position before the first move.
    `komi_text` and `result_text` are for `units`. `problems` names in plain sentences what could not be read.
    """

    size: int
    setup_black: tuple[str, ...]
    setup_white: tuple[str, ...]
    to_play: Colour | None
    moves: tuple[Move, ...]
    handicap: int | None
    handicap_moves: int
    black_name: str
    white_name: str
    komi_text: str
    result_text: str
    rules_text: str
    date_text: str
    problems: tuple[str, ...]


def read_record(data: bytes) -> GameRecord:
    """Read the first game of an SGF file as far as it goes; never raises, whatever the bytes."""
    problems = Problems()
    tree = sgf_grammar.parse_sgf_game(mend(decode(data, problems), problems))
    return _Reader(tuple(sgf_grammar.main_sequence_iter(tree)), problems).record()


class _Reader:
    def __init__(self, nodes: tuple[_Node, ...], problems: Problems) -> None:
        self._nodes = nodes
        self._problems = problems
        self._size = self._read_size()
        self._stones: dict[str, Colour] = {}
        self._to_play: Colour | None = None
        self._moves: list[Move] = []

    def record(self) -> GameRecord:
        game = self._text("GM")
        if game not in ("", "1"):
            self._problems.say(f"GM[{shown(game)}] is not the game of Go.")
        for node in self._nodes:
            self._read_node(node)
        handicap = self._handicap()
        return GameRecord(
            size=self._size,
            setup_black=tuple(point for point, colour in self._stones.items() if colour == "B"),
            setup_white=tuple(point for point, colour in self._stones.items() if colour == "W"),
            to_play=self._to_play,
            moves=tuple(self._moves),
            handicap=handicap,
            handicap_moves=self._handicap_moves(handicap or 0),
            black_name=self._text("PB"),
            white_name=self._text("PW"),
            komi_text=self._text("KM"),
            result_text=self._text("RE"),
            rules_text=self._text("RU"),
            date_text=self._text("DT"),
            problems=self._problems.all(),
        )

    def _text(self, name: str) -> str:
        """First value of a property on the main line: game information may stand after the root."""
        return next((_plain(node[name][0]) for node in self._nodes if name in node), "")

    def _read_size(self) -> int:
        written = self._text("SZ")
        if not written:
            return DEFAULT_SIZE
        sides = [_number(side) or 0 for side in re.split("[:xX]", written, maxsplit=1)]
        columns, rows = sides[0], sides[-1]
        if columns not in _SIZES or rows not in _SIZES:
            self._problems.say(f"SZ[{shown(written)}] is no board of 2 to 25 lines; read as {DEFAULT_SIZE}.")
            return DEFAULT_SIZE
        size = max(columns, rows)
        if columns != rows:
            self._problems.say(f"The board is not square (SZ[{shown(written)}]); read as {size}x{size}.")
        return size

    def _read_node(self, node: _Node) -> None:
        setup = [name for name in _SETUP if name in node]
        if setup and self._moves:
            self._problems.say(f"The set-up after move {len(self._moves)} ({', '.join(setup)}) was left out.")
        elif setup:
            self._read_setup(node)
        if "PL" in node and not self._moves:
            written = _plain(node["PL"][0])
            self._to_play = _PLAYERS.get(written.lower())
            if self._to_play is None:
                self._problems.say(f"PL[{shown(written)}] names no player.")
        for colour in ("B", "W"):
            if colour in node:
                self._read_move(colour, node[colour])

    def _read_setup(self, node: _Node) -> None:
        for name, colour in _SETUP.items():
            for raw in node.get(name, ()):
                written = _plain(raw)
                points = tuple(self._area(written))
                if not points and written:
                    self._problems.say(
                        f"Set-up {name}[{shown(written)}] is no point of a {self._size}x{self._size} board; left out."
                    )
                for point in points:
                    self._stones.pop(point, None)
                    if colour is not None:
                        self._stones[point] = colour

    def _read_move(self, colour: Colour, values: list[bytes]) -> None:
        number = len(self._moves) + 1
        if len(values) > 1:
            self._problems.say(f"Move {number} ({colour}) has {len(values)} points; only the first was read.")
        written = "".join(_plain(values[0]).split())
        if written == "" or written.lower() == "pass" or (written == "tt" and self._size <= DEFAULT_SIZE):
            self._moves.append(Move(colour, None))
        elif point := self._point(written):
            self._moves.append(Move(colour, point))
        else:
            self._problems.say(
                f"{colour}[{shown(written)}], to be move {number}, is no point of a {self._size}x{self._size} board; "
                "left out, and the moves after it count without it."
            )

    def _point(self, written: str) -> str | None:
        """GTP name of an SGF point ("pd", in old files "PD") or of one written as people do ("Q16")."""
        if re.fullmatch("[A-Za-z]{2}", written):
            column, row = (ord(letter) - ord("a") for letter in written.lower())
            row = self._size - row
        elif re.fullmatch("[A-HJ-Za-hj-z][0-9]{1,2}", written):
            column, row = _COLUMNS.index(written[0].upper()), int(written[1:])
        else:
            return None
        return f"{_COLUMNS[column]}{row}" if column < self._size and 1 <= row <= self._size else None

    def _area(self, written: str) -> Iterator[str]:
        """Points of a set-up value: one point or a compressed rectangle ("aa:cc"); nothing if it is no such thing."""
        corners = [self._point(corner.strip()) for corner in written.split(":", 1)]
        if None in corners:
            return
        columns = [_COLUMNS.index(corner[0]) for corner in corners if corner]
        rows = [int(corner[1:]) for corner in corners if corner]
        for row in range(max(rows), min(rows) - 1, -1):
            for column in _between(columns):
                yield f"{_COLUMNS[column]}{row}"

    def _handicap(self) -> int | None:
        written = self._text("HA")
        handicap = _number(written)
        if written and handicap is None:
            self._problems.say(f"HA[{shown(written)}] is no number of stones.")
        return handicap

    def _handicap_moves(self, handicap: int) -> int:
        if handicap < 2 or "B" in self._stones.values():
            return 0
        first = self._moves[:handicap]
        if len(first) == handicap and all(move.colour == "B" and move.point for move in first):
            return handicap
        self._problems.say(f"HA[{handicap}], but neither a set-up nor as many black moves at the beginning.")
        return 0


def _between(numbers: Iterable[int]) -> range:
    found = tuple(numbers)
    return range(min(found), max(found) + 1)


def _number(written: str) -> int | None:
    digits = unicodedata.normalize("NFKC", written).strip()
    return int(digits) if re.fullmatch("[0-9]{1,3}", digits) else None


def _plain(raw: bytes) -> str:
    """A raw value as one printable line: escapes undone, nothing in it that could steer a terminal."""
    text = sgf_grammar.simpletext_value(raw).decode("utf-8", "replace")
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
