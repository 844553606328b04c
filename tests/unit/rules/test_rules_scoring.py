"""Area, surrounded points and living groups against an independent count."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.boards import wall
from support.play import Play

from caipan.rules.scoring import Ground, area, living_groups, surrounded

CELLS = {".": 0, "X": 1, "O": 2}


def count(size: int, cells: bytes, dead: Collection[int]) -> tuple[int, int]:
    return area(Ground(size, cells, dead), {})


def boards(most: int) -> st.SearchStrategy[tuple[int, oracle.Stones]]:
    """Boards of 2 to ``most`` lines, between nearly empty and nearly full."""

    def board(size: int, noise: bytes, empty: int) -> tuple[int, oracle.Stones]:
        stones = {divmod(place, size): "XO"[byte % 2] for place, byte in enumerate(noise) if byte // 2 % 8 >= empty}
        return size, stones

    sizes = st.integers(2, most)
    return sizes.flatmap(
        lambda size: st.builds(board, st.just(size), st.binary(min_size=size**2, max_size=size**2), st.integers(1, 7))
    )


def ground_of(size: int, stones: oracle.Stones) -> Ground:
    return Ground(size, cells_of(stones, size), ())


def cells_of(stones: oracle.Stones, size: int) -> bytes:
    return bytes(CELLS[stones.get((column, row), ".")] for row in range(size) for column in range(size))


@given(boards(9))
def test_any_arrangement_is_counted_as_a_naive_program_counts_it(board: tuple[int, oracle.Stones]) -> None:
    size, stones = board
    black, white = count(size, cells_of(stones, size), ())
    assert (black, white) == oracle.area(stones, size)
    assert black + white == 4 * size * size


@given(boards(7))
def test_stones_live_together_as_a_naive_program_joins_them(board: tuple[int, oracle.Stones]) -> None:
    size, stones = board
    found = [(" XO"[group.owner], *group[1:]) for group in ground_of(size, stones).groups()]
    assert sorted(found) == oracle.groups(stones, size)


@given(boards(7))
def test_surrounded_points_and_living_groups_are_those_of_groups_out_of_seki(board: tuple[int, oracle.Stones]) -> None:
    size, stones = board
    living = [group for group in oracle.groups(stones, size) if not (group[3] and group[1] < 2 and group[2] < 3)]
    points = {mark: sum(group[2] for group in living if group[0] == mark) for mark in "XO"}
    numbers = {mark: sum(group[0] == mark for group in living) for mark in "XO"}
    ground = ground_of(size, stones)
    assert surrounded(ground, {}) == (points["X"], points["O"])
    assert living_groups(ground) == (numbers["X"], numbers["O"])


@given(boards(7), st.data())
def test_shared_points_that_are_assigned_go_to_that_side_and_no_other_point_does(
    board: tuple[int, oracle.Stones], data: st.DataObject
) -> None:
    size, stones = board
    assigned = data.draw(st.dictionaries(st.integers(0, size * size - 1), st.sampled_from([1, 2])))
    at = {index: divmod(index, size)[::-1] for index in assigned}
    shared = {index for index in assigned if len(oracle.reached(stones, at[index], size)) != 1}
    to = [sum(assigned[index] == side for index in shared) for side in (1, 2)]
    ground = ground_of(size, stones)
    (black, white), (before_black, before_white) = area(ground, assigned), area(ground, {})
    assert (black - before_black, white - before_white) == (2 * (to[0] - to[1]), 2 * (to[1] - to[0]))
    pairs = zip(surrounded(ground, assigned), surrounded(ground, {}), strict=True)
    assert [after - before for after, before in pairs] == to


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


@pytest.mark.parametrize(
    ("rows", "points", "groups"),
    [
        ((".X.O", "XXOO", "OOO.", ".OO."), (0, 3), (0, 1)),
        (("..XXO", "XXXX.", "OOOOO", "O...O", "OOOOO"), (0, 3), (0, 1)),
        (("...XO", "XXXX.", "OOOOO", "O...O", "OOOOO"), (3, 3), (1, 1)),
        ((".X.XO", "XXXX.", "OOOOO", ".O.OO", "OOOOO"), (2, 2), (1, 1)),
        ((".XO.", "XXOO", "OOO.", ".OO."), (1, 4), (1, 1)),
    ],
    ids=["one eye", "two points in one", "three points in one", "two eyes", "one eye and nothing shared"],
)
def test_beside_a_neutral_point_only_what_can_hold_two_eyes_is_territory(
    rows: tuple[str, ...], points: tuple[int, int], groups: tuple[int, int]
) -> None:
    ground = ground_of(len(rows), oracle.from_rows(rows))
    assert (surrounded(ground, {}), living_groups(ground)) == (points, groups)


def test_a_seki_holds_no_points_and_no_group_that_pays() -> None:
    cells = Play(**wall(15, "SEKI")).game.table.board.cells()
    ground = Ground(19, cells, ())
    assert (surrounded(ground, {}), living_groups(ground)) == ((160, 153), (1, 1))
    assert sorted(group.in_seki for group in ground.groups()) == [False, False, True, True]
