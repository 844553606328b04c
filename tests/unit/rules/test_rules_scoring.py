"""Area counting against an independent count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.boards import wall
from support.play import Play

from caipan.rules.scoring import count

CELLS = {".": 0, "X": 1, "O": 2}


def cells_of(stones: oracle.Stones, size: int) -> bytes:
    return bytes(CELLS[stones.get((column, row), ".")] for row in range(size) for column in range(size))


@given(st.integers(2, 9).flatmap(lambda size: st.tuples(st.just(size), st.binary(min_size=size**2, max_size=size**2))))
def test_any_arrangement_is_counted_as_a_naive_program_counts_it(board: tuple[int, bytes]) -> None:
    size, noise = board
    stones = {divmod(place, size): "XO"[byte % 2] for place, byte in enumerate(noise) if byte % 5 < 2}
    black, white = count(size, cells_of(stones, size), ())
    assert (black, white) == oracle.area(stones, size)
    assert black + white == 4 * size * size


@given(st.data())
def test_dead_stones_count_as_empty(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 6))
    marks = st.sampled_from(["X", "O"])
    points = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    stones = data.draw(st.dictionaries(points, marks))
    dead = data.draw(st.sets(st.sampled_from(sorted(stones)))) if stones else set()
    living = {at: mark for at, mark in stones.items() if at not in dead}
    counted = count(size, cells_of(stones, size), [row * size + column for column, row in dead])
    assert counted == oracle.area(living, size)


@pytest.mark.parametrize("size", [2, 9, 19, 25])
def test_an_empty_board_is_shared_half_and_half(size: int) -> None:
    assert count(size, bytes(size * size), ()) == (2 * size * size, 2 * size * size)


@pytest.mark.parametrize("size", [2, 9, 19, 25])
def test_one_stone_has_the_whole_board(size: int) -> None:
    assert count(size, b"\x02" + bytes(size * size - 1), ()) == (0, 4 * size * size)


@pytest.mark.parametrize("rows", range(1, 20))
def test_the_standard_walls_have_the_areas_that_the_rules_say(rows: int) -> None:
    play = Play(**wall(rows))
    assert count(19, play.game.table.board.cells(), ()) == (4 * (171 + rows), 4 * (190 - rows))
