"""Results by the tables of the rules (2.2 to 2.6, 6.2 to 6.4), to the quarter-zi, for every edition."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support import oracle
from support.boards import wall
from support.events import opened
from support.oracle import Stones

from caipan.rules.board import Board
from caipan.rules.edition import edition, edition_ids
from caipan.rules.points import indices
from caipan.rules.results import result_of
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.regulations_pb2 import ANCIENT_SUBMODE_TANG_SONG
from caipan.v1.rulings_pb2 import RESULT_KIND_B_WIN, RESULT_KIND_DRAW, RESULT_KIND_W_WIN

KINDS = {1: RESULT_KIND_B_WIN, 0: RESULT_KIND_DRAW, -1: RESULT_KIND_W_WIN}
AREA = ("CN2002", "CN1988S")
TERRITORY = ("TERR65", "KBA2024", "KBA2025_DOM", "KBA2025_INTL")
SONG = {"edition": "ANCIENT", "ancient_submode": ANCIENT_SUBMODE_TANG_SONG}
COUNTS = [{"edition": each} for each in edition_ids()] + [SONG]


def counted(
    setup: dict[str, list[str]],
    size: int = 19,
    *,
    dead: tuple[str, ...] = (),
    taken: tuple[int, int] = (0, 0),
    warnings: tuple[int, int] = (0, 0),
    assigned: dict[str, str] | None = None,
    groups: tuple[int, int] | None = None,
    **regulations: Any,
) -> pb.Result:
    """``taken``: stones of Black and of White that moves took; ``warnings``, ``groups``: of both sides."""
    index, cells = indices(size), bytearray(size * size)
    for colour, names in enumerate((setup["black"], setup["white"]), start=1):
        for name in names:
            cells[index[name]] = colour
    pins = opened(size, **regulations).pins.regulations
    result = result_of(
        edition(pins.edition),
        pins,
        Board.from_cells(size, cells),
        [index[name] for name in dead],
        [0, *taken],
        dict(enumerate(warnings, start=1)),
        {index[name]: " BW".index(side) for name, side in (assigned or {}).items()},
        groups,
    )
    assert result.kind == KINDS[(result.margin_qz > 0) - (result.margin_qz < 0)]
    assert (result.how, result.komi_qz) == (pb.RESULT_HOW_COUNT, pins.komi_qz)
    return result


# Rules 2.2


@pytest.mark.parametrize("edition_id", AREA)
@pytest.mark.parametrize(
    ("rows", "extra", "black", "white", "margin"),
    [
        (14, "", 740, 704, 3),
        (13, "", 736, 708, -1),
        (14, "DAME", 738, 706, 1),
        (19, "", 760, 684, 23),
        (15, "SEKI", 736, 708, -1),
    ],
)
def test_even_games_with_komi(edition_id: str, rows: int, extra: str, black: int, white: int, margin: int) -> None:
    result = counted(wall(rows, extra), edition=edition_id)
    assert (result.black_qz, result.white_qz, result.margin_qz) == (black, white, margin)
    assert (result.clause, result.in_mu, result.penalty_qz) == ("CN2002 11", False, 0)


# Rules 2.3


@pytest.mark.parametrize(
    ("stones", "rows", "extra", "margin"),
    [
        (2, 11, "", 2),
        (3, 11, "", 0),
        (4, 12, "", 2),
        (4, 12, "DAME", 0),
        (4, 11, "", -2),
        (9, 14, "", 0),
        (9, 14, "DAME", -2),
    ],
)
def test_handicap_returns_half_a_zi_for_each_stone(stones: int, rows: int, extra: str, margin: int) -> None:
    result = counted(wall(rows, extra), handicap=stones, handicap_placement=2)
    assert (result.margin_qz, result.clause) == (margin, "S0 H")


@pytest.mark.parametrize("edition_id", TERRITORY)
def test_handicap_stones_return_nothing_where_stones_do_not_count(edition_id: str) -> None:
    result = counted(wall(14), edition=edition_id, handicap=4, handicap_placement=2)
    assert (result.komi_qz, result.margin_qz, result.clause) == (0, 18, "TERR65 count")


@pytest.mark.parametrize(("rows", "extra", "margin"), [(10, "", 2), (10, "DAME", 0), (9, "", -2)])
def test_without_komi_half_of_the_board_is_a_draw(rows: int, extra: str, margin: int) -> None:
    result = counted(wall(rows, extra), komi_qz=0)
    assert (result.margin_qz, result.clause) == (margin, "CN2002 9.3")


# Rules 2.5


@pytest.mark.parametrize(
    ("assigned", "black", "margin"),
    [({}, 738, 1), ({"K1": "W"}, 736, -1), ({"K1": "B"}, 740, 3)],
    ids=["open", "Black gives up", "White gives up"],
)
def test_contested_points_are_halved_or_go_to_the_side_a_ruling_names(
    assigned: dict[str, str], black: int, margin: int
) -> None:
    result = counted(wall(14, "DAME"), assigned=assigned)
    assert (result.black_qz, result.white_qz, result.margin_qz) == (black, 1444 - black, margin)


@pytest.mark.parametrize(("side", "points"), [("B", (332, 314)), ("W", (330, 316))])
def test_under_territory_an_assigned_point_is_one_of_the_side(side: str, points: tuple[int, int]) -> None:
    result = counted(wall(14, "DAME"), edition="TERR65", assigned={"K1": side})
    assert (result.black_qz, result.white_qz) == points


# Rules 2.6


@pytest.mark.parametrize(
    ("rows", "extra", "warnings", "margin"),
    [(14, "", (1, 0), -1), (13, "", (0, 1), 3), (13, "", (1, 1), -1), (14, "DAME", (1, 0), -3)],
)
def test_a_warning_hands_over_a_zi_and_the_areas_stay_on_record(
    rows: int, extra: str, warnings: tuple[int, int], margin: int
) -> None:
    clean = counted(wall(rows, extra))
    result = counted(wall(rows, extra), warnings=warnings)
    assert (result.margin_qz, result.penalty_qz) == (margin, 4 * (warnings[0] - warnings[1]))
    assert (result.black_qz, result.white_qz) == (clean.black_qz, clean.white_qz)


@pytest.mark.parametrize(("warnings", "margin"), [((1, 0), -2), ((0, 0), 2)])
def test_a_warning_costs_the_handicap_game_that_half_a_zi_had_won(warnings: tuple[int, int], margin: int) -> None:
    assert counted(wall(12), handicap=4, handicap_placement=2, warnings=warnings).margin_qz == margin


def test_a_draw_is_won_by_a_warning_of_the_other_side() -> None:
    assert counted(wall(10, "DAME"), komi_qz=0).kind == RESULT_KIND_DRAW
    assert counted(wall(10, "DAME"), komi_qz=0, warnings=(0, 1)).margin_qz == 4
    assert counted(wall(10, "DAME")).margin_qz == -15


def test_a_warning_of_the_older_text_costs_nothing() -> None:
    result = counted(wall(14), edition="CN1988S", warnings=(1, 0))
    assert (result.margin_qz, result.penalty_qz) == (3, 0)


# Rules 6.2

POINTS_75_68 = wall(10, size=13, column="G")


@pytest.mark.parametrize("edition_id", TERRITORY)
@pytest.mark.parametrize(
    ("rows", "extra", "black", "white", "margin"),
    [(14, "", 332, 314, 5), (14, "DAME", 330, 314, 3), (15, "SEKI", 320, 306, 1), (13, "", 330, 316, 1)],
)
def test_territory_of_the_standard_boards(
    edition_id: str, rows: int, extra: str, black: int, white: int, margin: int
) -> None:
    result = counted(wall(rows, extra), edition=edition_id)
    assert (result.black_qz, result.white_qz, result.margin_qz) == (black, white, margin)
    assert (result.komi_qz, result.clause, result.in_mu) == (13, "TERR65 komi", True)


def test_75_against_68_wins_by_half_a_point() -> None:
    result = counted(POINTS_75_68, 13, edition="TERR65")
    assert (result.black_qz, result.white_qz, result.margin_qz) == (150, 136, 1)


def test_captured_and_dead_stones_are_points_of_the_other_side() -> None:
    alive = counted(wall(14), edition="TERR65", taken=(3, 5))
    assert (alive.black_qz, alive.white_qz) == (332 + 2 * 5, 314 + 2 * 3)
    dead = counted(wall(14, "DEAD"), edition="TERR65", dead=("C3",))
    assert (dead.black_qz, dead.white_qz) == (332 + 2, 314)


@pytest.mark.parametrize("edition_id", [*AREA, "ANCIENT"])
def test_captured_stones_change_nothing_where_area_is_counted(edition_id: str) -> None:
    assert counted(wall(14), edition=edition_id, taken=(30, 5)) == counted(wall(14), edition=edition_id)


# Rules 6.4, 6.5


@pytest.mark.parametrize(
    ("how", "warnings", "penalty", "margin"),
    [
        ({"edition": "KBA2024"}, (0, 0), 0, -3),
        ({"edition": "KBA2024"}, (0, 1), -4, 1),
        ({"edition": "KBA2024"}, (1, 0), 4, -7),
        ({"edition": "KBA2024", "warning_points": 1}, (0, 1), -2, -1),
        ({"edition": "KBA2025_DOM"}, (0, 2), -8, 5),
        ({"edition": "KBA2025_INTL"}, (0, 2), 0, -3),
        ({"edition": "TERR65"}, (0, 1), 0, -3),
        ({"edition": "TERR65", "warning_points": 2}, (0, 1), -4, 1),
        ({"edition": "TERR65", "warning_qz": 4}, (0, 1), 0, -3),
    ],
    ids=str,
)
def test_a_warning_gives_the_opponent_points(
    how: dict[str, Any], warnings: tuple[int, int], penalty: int, margin: int
) -> None:
    """75 against 70: White has taken two stones."""
    result = counted(POINTS_75_68, 13, taken=(2, 0), warnings=warnings, **how)
    assert (result.black_qz, result.white_qz) == (150, 140)
    assert (result.penalty_qz, result.margin_qz) == (penalty, margin)


# Rules 6.3


@pytest.mark.parametrize(
    ("rows", "groups", "margin"),
    [(12, (4, 2), 2), (12, (5, 2), -2), (10, None, 2), (12, (2, 4), 18), (10, (1, 1), 2)],
)
def test_the_side_with_more_groups_returns_the_difference(
    rows: int, groups: tuple[int, int] | None, margin: int
) -> None:
    result = counted(wall(rows), edition="ANCIENT", groups=groups)
    assert (result.black_qz, result.white_qz) == (4 * (171 + rows), 4 * (190 - rows))
    assert (result.black_groups, result.white_groups) == (groups or (1, 1))
    assert (result.margin_qz, result.clause, result.in_mu) == (margin, "ANCIENT komi", False)


def test_roads_are_surrounded_points_less_two_for_each_group() -> None:
    board = wall(12, size=12, column="F")
    board["white"] += ["J3", "J6"]
    result = counted(board, 12, groups=(3, 1), **SONG)
    assert (result.black_qz, result.white_qz) == (2 * 60, 2 * 58)
    assert (result.margin_qz, result.clause, result.in_mu) == (2 * (54 - 56), "ANCIENT komi", True)


def test_roads_do_not_count_common_liberties_seki_and_captures() -> None:
    result = counted(wall(15, "SEKI"), taken=(7, 9), **SONG)
    assert (result.black_qz, result.white_qz, result.black_groups, result.white_groups) == (320, 306, 1, 1)


@pytest.mark.parametrize("edition_id", [*AREA, *TERRITORY])
def test_groups_that_cost_nothing_are_not_told(edition_id: str) -> None:
    result = counted(wall(14), edition=edition_id, groups=(5, 1))
    assert result == counted(wall(14), edition=edition_id)
    assert (result.black_groups, result.white_groups) == (0, 0)


@pytest.mark.parametrize("how", COUNTS, ids=str)
def test_a_warning_costs_what_its_edition_says(how: dict[str, Any]) -> None:
    costs = {"CN2002": 4, "KBA2024": 4, "KBA2025_DOM": 4}.get(how["edition"], 0)
    assert counted(wall(14), warnings=(1, 0), **how).penalty_qz == costs


# What holds of any board

SIZE = 6
points = st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1))
boards = st.dictionaries(points, st.sampled_from("XO"), max_size=SIZE * SIZE - 3)
counts = st.sampled_from(COUNTS)
pairs = st.tuples(st.integers(0, 4), st.integers(0, 4))


def setup_of(stones: Stones) -> dict[str, list[str]]:
    return {
        side: [oracle.name(at) for at, mark in stones.items() if mark == sign]
        for side, sign in (("black", "X"), ("white", "O"))
    }


def margin(stones: Stones, **how: Any) -> int:
    return counted(setup_of(stones), SIZE, **how).margin_qz


@given(boards, st.sampled_from([how for how in COUNTS if how["edition"] != "CN1988S"]), pairs, pairs)
def test_warnings_move_the_margin_by_exactly_what_they_cost(
    stones: Stones, how: dict[str, Any], warnings: tuple[int, int], costs: tuple[int, int]
) -> None:
    costly = {**how, "warning_qz": costs[0], "warning_points": costs[1]}
    clean, warned = (counted(setup_of(stones), SIZE, warnings=each, **costly) for each in ((0, 0), warnings))
    each = 2 * costs[1] if how["edition"] in TERRITORY else costs[0]
    assert warned.penalty_qz == each * (warnings[0] - warnings[1])
    assert clean.margin_qz - warned.margin_qz == warned.penalty_qz
    assert (warned.black_qz, warned.white_qz) == (clean.black_qz, clean.white_qz)


@given(boards, counts, pairs)
def test_the_colours_swapped_the_margin_is_the_opposite(
    stones: Stones, how: dict[str, Any], taken: tuple[int, int]
) -> None:
    swapped = {at: "O" if mark == "X" else "X" for at, mark in stones.items()}
    there = margin(stones, taken=taken, komi_qz=0, **how)
    assert there == -margin(swapped, taken=taken[::-1], komi_qz=0, **how)


@given(boards, counts, st.integers(-30, 30))
def test_komi_moves_the_margin_by_itself(stones: Stones, how: dict[str, Any], komi_qz: int) -> None:
    assert margin(stones, komi_qz=0, **how) - margin(stones, komi_qz=komi_qz, **how) == komi_qz


@given(boards)
def test_area_is_territory_and_stones(stones: Stones) -> None:
    """Where no points lie in seki, a margin of one zi is one of two points."""
    assume(not any(shares and regions < 2 and 0 < held < 3 for _, regions, held, shares in oracle.groups(stones, SIZE)))
    marks = list(stones.values())
    more_stones = marks.count("X") - marks.count("O")
    by_area = margin(stones, komi_qz=0)
    assert by_area == margin(stones, edition="TERR65", komi_qz=0) + 2 * more_stones


@given(boards, pairs)
def test_roads_are_territory_without_captures_less_two_a_group(stones: Stones, taken: tuple[int, int]) -> None:
    territory = counted(setup_of(stones), SIZE, edition="TERR65", taken=taken)
    roads = counted(setup_of(stones), SIZE, taken=taken, **SONG)
    assert territory.black_qz - roads.black_qz == 2 * taken[1]
    assert territory.white_qz - roads.white_qz == 2 * taken[0]
    tax = 2 * 2 * (roads.black_groups - roads.white_groups)
    assert roads.margin_qz == roads.black_qz - roads.white_qz - tax


@given(boards)
def test_group_tax_is_area_less_the_difference_in_groups(stones: Stones) -> None:
    taxed = counted(setup_of(stones), SIZE, edition="ANCIENT")
    plain = counted(setup_of(stones), SIZE, komi_qz=0)
    assert (taxed.black_qz, taxed.white_qz) == (plain.black_qz, plain.white_qz)
    assert plain.margin_qz - taxed.margin_qz == 4 * (taxed.black_groups - taxed.white_groups)
