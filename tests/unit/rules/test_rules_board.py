"""The board against an independent one: stones, captures, units, liberties, key."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle

from caipan.rules.board import Board, stone_keys
from caipan.rules.points import indices, names, neighbours

MARKS = {1: "X", 2: "O"}


def at(board: Board, name: str) -> int:
    return indices(board.size)[name]


def put(size: int, black: str = "", white: str = "") -> Board:
    cells = bytearray(size * size)
    for stones, colour in ((black, 1), (white, 2)):
        for name in stones.split():
            cells[indices(size)[name]] = colour
    return Board.from_cells(size, cells)


@pytest.mark.parametrize("size", [2, 3, 9, 13, 19, 25])
def test_points_are_named_by_column_without_i_and_row_from_the_bottom(size: int) -> None:
    every = names(size)
    assert len(set(every)) == size * size
    assert (every[0], every[-1]) == ("A1", f"{'ABCDEFGHJKLMNOPQRSTUVWXYZ'[size - 1]}{size}")
    assert not any("I" in name for name in every)


def test_neighbours_are_the_points_joined_by_a_line() -> None:
    for size in (2, 5, 25):
        for index, near in enumerate(neighbours(size)):
            expected = {oracle.name(point) for point in oracle.near(oracle.point(names(size)[index]), size)}
            assert {names(size)[other] for other in near} == expected


def test_a_set_up_captures_nothing_and_may_hold_units_without_liberties() -> None:
    board = put(9, black="A1", white="A2 B1")
    assert board.liberties(at(board, "A1")) == 0
    assert board.colour_at(at(board, "A1")) == 1


def test_a_unit_without_liberties_is_not_swept_away_by_a_move_elsewhere() -> None:
    board = put(9, black="A1", white="A2 B1")
    assert board.play(at(board, "E5"), 2) == ()
    assert board.colour_at(at(board, "A1")) == 1


def test_a_forbidden_stone_stands_where_it_was_set() -> None:
    board = put(9, white="A2 B1")
    assert board.play(at(board, "A1"), 1) == ()
    assert (board.colour_at(at(board, "A1")), board.liberties(at(board, "A1"))) == (1, 0)


def test_a_standing_unit_has_the_liberties_of_its_captors_once_they_are_taken() -> None:
    board = put(5, black="A1 A3 B2", white="A2 B1")
    assert board.liberties(at(board, "A1")) == 0
    taken = board.play(at(board, "C1"), 1)
    assert [names(5)[index] for index in taken] == ["B1"]
    assert board.liberties(at(board, "A1")) == 1


def test_one_stone_takes_four_units() -> None:
    board = put(7, black="D6 C5 E5 B4 F4 C3 E3 D2", white="D5 C4 E4 D3")
    assert len(board.play(at(board, "D4"), 1)) == 4
    assert board.liberties(at(board, "D4")) == 4


def test_keys_of_stones_are_those_of_their_documented_text() -> None:
    for size, colour, index in [(19, 1, 0), (19, 2, 360), (9, 2, 40), (25, 1, 624)]:
        text = b"caipan stone" + bytes((size, colour)) + index.to_bytes(2, "big")
        assert stone_keys(size)[colour][index] == int.from_bytes(hashlib.sha256(text).digest()[:16], "big")


def test_the_key_of_the_empty_board_is_zero_and_a_stone_gone_leaves_no_trace() -> None:
    board = Board(9)
    assert board.key == 0
    board.play(at(board, "A1"), 2)
    board.play(at(board, "A2"), 1)
    board.play(at(board, "B1"), 1)
    assert board.key == put(9, black="A2 B1").key


SIZES = st.sampled_from([2, 3, 4, 5, 7, 9])


@given(st.data())
def test_any_sequence_of_stones_gives_the_board_of_a_naive_program(data: st.DataObject) -> None:
    """Legal or not, whoever sets: stones, captures, liberties of every unit and the key are those computed anew."""
    size = data.draw(SIZES)
    board, stones = Board(size), {}
    placed = taken_in_all = 0
    for _ in range(data.draw(st.integers(0, 60))):
        empty = [point for point in oracle_points(size) if point not in stones]
        if not empty:
            break
        point = data.draw(st.sampled_from(empty))
        colour = data.draw(st.sampled_from([1, 2]))
        stones, expected = oracle.play(stones, point, MARKS[colour], size)
        taken = board.play(at(board, oracle.name(point)), colour)
        placed, taken_in_all = placed + 1, taken_in_all + len(taken)
        assert list(taken) == sorted(at(board, oracle.name(gone)) for gone in expected)
        same_everywhere(board, stones)
    assert placed == taken_in_all + len(stones)


def oracle_points(size: int) -> list[oracle.Point]:
    return [(column, row) for row in range(size) for column in range(size)]


def key_of(size: int, cells: bytes) -> int:
    key = 0
    for index, colour in enumerate(cells):
        if colour:
            key ^= stone_keys(size)[colour][index]
    return key


def same_everywhere(board: Board, stones: oracle.Stones) -> None:
    size, cells = board.size, board.cells()
    assert board.key == key_of(size, cells)
    for point in oracle_points(size):
        index = indices(size)[oracle.name(point)]
        if point in stones:
            members, free = oracle.unit(stones, point, size)
            unit = board.units[index]
            assert unit is not None
            assert MARKS[cells[index]] == stones[point]
            assert {names(size)[stone] for stone in unit.stones} == {oracle.name(member) for member in members}
            assert board.liberties(index) == len(free)
        else:
            assert (cells[index], board.colour_at(index), board.liberties(index)) == (0, 0, 0)


@given(st.binary(min_size=25, max_size=25))
def test_any_arrangement_can_stand_with_the_units_of_a_naive_program(noise: bytes) -> None:
    cells = bytes(byte % 3 for byte in noise)
    board = Board.from_cells(5, cells)
    assert board.cells() == cells
    same_everywhere(board, {(place % 5, place // 5): MARKS[colour] for place, colour in enumerate(cells) if colour})
