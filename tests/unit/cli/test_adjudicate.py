"""What a record becomes: events that derive from the file alone, and a report in the file's own numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caipan.cli.adjudicate import report_of
from caipan.cli.synthetic import RECORDER, Played, Terms, play
from caipan.rules.edition import edition_ids
from caipan.rules.game import Game, read_event
from caipan.stamp import stamped

NONE_DEAD = Terms(dead=())
# A ko at B8 and C8 of a 9x9 board: White takes it with move 8.
KO = "(;GM[1]SZ[9]KM[7.5];B[ba];W[ca];B[ab];W[db];B[bc];W[cc];B[cb];W[bb]"


def report(sgf: str, terms: Terms = NONE_DEAD) -> dict[str, Any]:
    return report_of("game.sgf", play(sgf.encode(), terms))


def kinds(told: dict[str, Any]) -> list[tuple[int, str]]:
    return [(finding["move"], finding["kind"]) for finding in told["findings"]]


def board(*rows: str) -> list[str]:
    return list(rows)


def test_a_report_has_every_key_and_is_json() -> None:
    told = report(f"{KO})")
    assert list(told) == [
        "file",
        "size",
        "moves",
        "passes",
        "board",
        "captured",
        "findings",
        "area_qz",
        "points_qz",
        "margin_qz",
        "result",
        "result_source",
        "result_unit",
        "result_in_file",
        "agrees",
        "state_digest",
        "head",
        "problems",
        "notes",
    ]
    assert json.loads(json.dumps(told)) == told
    assert len(bytes.fromhex(told["head"])) == len(bytes.fromhex(told["state_digest"])) == 32


def test_the_board_is_told_from_the_top() -> None:
    told = report("(;SZ[3];B[aa];W[cc])", Terms())
    assert told["board"] == ["X..", "...", "..O"]


def test_the_same_file_has_the_same_head_and_any_other_byte_another_one() -> None:
    assert report(f"{KO})")["head"] == report(f"{KO})")["head"]
    assert report(f"{KO})")["head"] != report(f"{KO} )")["head"]
    assert report(f"{KO})")["state_digest"] == report(f"{KO} )")["state_digest"]


def test_events_are_as_a_client_sends_them_and_fold_to_the_head_once_stamped() -> None:
    played = play(f"{KO};B[ee])".encode(), NONE_DEAD)
    game = Game(played.game.game_id)
    for number, step in enumerate(played.steps):
        assert not step.event.HasField("by")
        assert not step.event.game_opened.HasField("pins")
        assert step.event.source_seq == number + 1
        value = stamped(step.event, RECORDER)
        stored = read_event(value, game.game_id)
        assert not isinstance(stored, str)
        game.apply(stored, value, 1000 + number)
    assert game.head == played.game.head


def test_a_ko_retaken_at_once_names_the_move_after_which_the_position_stood() -> None:
    told = report(f"{KO};B[cb])")
    assert told["findings"] == [
        {"move": 9, "clause": "CN2002 6", "kind": "repetition", "of_move": 7, "same_side_to_move": True},
        {"move": 9, "clause": "CN2002 18.3", "kind": "ko_retake", "of_move": 7, "same_side_to_move": True},
    ]


def test_attempts_on_occupied_points_and_passes_count_as_moves_of_the_file() -> None:
    told = report("(;SZ[9];B[ba];W[];B[ab];W[ba];W[ca];B[bc];W[db];B[ii];W[cc];B[cb];W[bb];B[cb])")
    assert told["moves"] == 12
    assert told["passes"] == 1
    assert kinds(told)[0] == (4, "occupied")
    assert [(found["move"], found["of_move"]) for found in told["findings"][1:]] == [(12, 10), (12, 10)]


def test_handicap_stones_placed_as_moves_are_the_set_up_and_count_as_moves() -> None:
    told = report("(;SZ[9]HA[2]KM[0.5];B[gc];B[cg];W[cc];B[];W[gg])", Terms())
    assert told["moves"] == 5
    assert told["findings"] == []
    played = play(b"(;SZ[9]HA[2]KM[0.5];B[gc];B[cg];W[cc])", Terms())
    opened = played.steps[0].event.game_opened
    assert list(opened.initial_black) == ["G7", "C3"]
    assert opened.regulations.handicap == 2
    assert opened.regulations.komi_qz == 5  # 2 stones return 1 zi, and 0.5 mu
    assert [step.file_move for step in played.steps] == [2, 3]


def test_the_position_of_a_set_up_made_of_moves_is_that_after_the_last_of_them() -> None:
    told = report("(;SZ[9]HA[4]AW[ca][db][cc];B[ba];B[ab];B[bc];B[cb];W[bb];B[cb])", Terms())
    assert [(found["move"], found["of_move"]) for found in told["findings"]] == [(6, 4), (6, 4)]


def test_the_position_before_the_first_move_is_number_0() -> None:
    told = report("(;SZ[9]AB[ba][ab][bc][cb]AW[ca][db][cc];W[bb];B[cb])", Terms())
    assert [(found["move"], found["of_move"]) for found in told["findings"]] == [(2, 0), (2, 0)]


def test_handicap_stones_of_a_set_up_and_white_to_move() -> None:
    told = report("(;SZ[9]HA[2]AB[gc][cg];W[cc];B[gg])", Terms())
    assert told["findings"] == []
    assert told["moves"] == 2
    assert "For a handicap of 2 Black returns 1 zi." in told["notes"]


def test_a_handicap_without_its_stones_is_said_and_its_return_still_counts() -> None:
    played = play(b"(;SZ[9]HA[3]KM[0];B[gc];W[cc])", Terms())
    assert played.steps[0].event.game_opened.regulations.komi_qz == 6
    assert not played.steps[0].event.game_opened.regulations.HasField("handicap")
    assert any("HA[3]" in problem for problem in played.record.problems)


def test_a_handicap_of_another_number_than_its_set_up_is_said() -> None:
    played = play(b"(;SZ[9]HA[3]AB[gc][cg]KM[0];W[cc])", Terms())
    assert not played.steps[0].event.game_opened.regulations.HasField("handicap")
    assert "HA[3], but 2 black stones are set up: taken as a plain set-up." in played.notes


@pytest.mark.parametrize(
    ("properties", "komi_qz", "said"),
    [
        ("KM[7.5]", 15, ""),
        ("KM[3.75]", 15, ""),
        ("KM[375]RU[Chinese]", 15, ""),
        ("KM[750]", 15, ""),
        ("KM[0]", 0, ""),
        ("", 0, "The file names no komi: taken as 0."),
        ("KM[nonsense]", 0, "KM[nonsense] is no komi: taken as 0."),
    ],
)
def test_komi_is_the_files_or_none_and_then_it_is_said(properties: str, komi_qz: int, said: str) -> None:
    played = play(f"(;SZ[9]{properties};B[ee])".encode(), Terms())
    assert played.steps[0].event.game_opened.regulations.komi_qz == komi_qz
    assert any("komi" in note for note in played.notes) == bool(said)
    assert not said or said in played.notes


def test_komi_asked_for_stands_in_the_place_of_the_files() -> None:
    played = play(b"(;SZ[9]HA[2]KM[7.5];B[gc];B[cg])", Terms(komi_qz=3))
    assert played.steps[0].event.game_opened.regulations.komi_qz == 3


def test_a_set_up_without_handicap_lets_the_side_of_the_first_move_begin() -> None:
    assert report("(;SZ[9]AB[cc]AW[gg];W[ee];B[ef])", Terms())["findings"] == []
    assert report("(;SZ[9]AB[cc]AW[gg]PL[W];B[ee])", Terms())["findings"][0]["kind"] == "out_of_turn"
    assert report("(;SZ[9];W[ee];B[ef])", Terms())["findings"][0]["kind"] == "out_of_turn"


def test_two_passes_are_counted_with_all_stones_alive_and_it_is_said() -> None:
    told = report("(;SZ[9]KM[0]RE[B+3];B[ee];W[];B[])", Terms())
    assert told["area_qz"] == {"black": 324, "white": 0}
    assert (told["margin_qz"], told["result"], told["result_source"]) == (162, "B+81", "count")
    assert told["agrees"] is False
    assert "All stones were taken as alive; name the dead ones with --dead." in told["notes"]


def test_dead_stones_end_and_count_a_game_whose_record_breaks_off() -> None:
    told = report("(;SZ[3]KM[0.5]RE[B+8.5];B[bb];W[aa];B[ba];W[ca])", Terms(dead=("A3", "C3")))
    assert told["area_qz"] == {"black": 36, "white": 0}
    assert (told["margin_qz"], told["result"], told["result_unit"], told["agrees"]) == (17, "B+8.5", "mu", True)
    assert told["findings"] == []
    assert "The end and the agreement on the dead stones are assumed." in told["notes"]


def test_a_count_is_written_in_the_unit_of_the_file() -> None:
    in_zi = report("(;SZ[9]KM[3.75];B[ee])")
    assert (in_zi["result"], in_zi["result_unit"], in_zi["margin_qz"]) == ("B+36.75", "zi", 147)
    in_mu = report("(;SZ[9]KM[7.5];B[ee])")
    assert (in_mu["result"], in_mu["result_unit"], in_mu["margin_qz"]) == ("B+73.5", "mu", 147)
    assert report("(;SZ[9]KM[0];B[aa];W[ii])")["result"] == "0"


# Black has 45 points and White 36, with a white stone at C3 that is dead.
WALLS = (
    f"(;SZ[9]KM[7.5]AB{''.join(f'[e{row}]' for row in 'abcdefghi')}AW[cg]{''.join(f'[f{row}]' for row in 'abcdefghi')}"
)
BY_AREA = ("B+1.5", "mu", {"black": 180, "white": 144}, None, 3)  # the file's unit is mu
BY_POINTS = ("B+2.5", "mu", None, {"black": 74, "white": 54}, 5)


@pytest.mark.parametrize("edition_id", edition_ids())
def test_every_edition_counts_a_record_in_its_own_way(edition_id: str) -> None:
    told = report(f"{WALLS}RE[B+2.5])", Terms(edition_id, dead=("C3",)))
    expected = BY_AREA if edition_id in ("CN2002", "CN1988S", "ANCIENT") else BY_POINTS
    keys = ("result", "result_unit", "area_qz", "points_qz", "margin_qz")
    assert tuple(told[key] for key in keys) == expected
    assert (told["agrees"], told["findings"]) == (told["margin_qz"] == 5, [])


def test_points_are_told_in_mu_whatever_the_unit_of_the_file() -> None:
    told = report(f"{WALLS.replace('7.5', '3.75')})", Terms("TERR65", dead=("C3",)))
    assert (told["result"], told["result_unit"]) == ("B+2.5", "mu")


def test_a_handicap_returns_nothing_where_points_are_counted() -> None:
    played = play(b"(;SZ[9]HA[2]KM[0.5];B[gc];B[cg];W[cc])", Terms("TERR65"))
    assert played.steps[0].event.game_opened.regulations.komi_qz == 1
    assert played.notes == ["Not counted: no two passes at the end; name the dead stones with --dead."]


def test_opening_stones_of_an_edition_lie_on_an_empty_board_only() -> None:
    told = report("(;SZ[19];W[aa];B[ss])", Terms("ANCIENT"))
    assert (sum(row.count("X") for row in told["board"]), sum(row.count("O") for row in told["board"])) == (3, 3)
    assert report("(;SZ[9];W[aa];B[ii])", Terms("ANCIENT"))["findings"] == []


def test_a_dead_point_without_a_stone_is_found() -> None:
    told = report("(;SZ[9]KM[0];B[ee])", Terms(dead=("A1",)))
    assert kinds(told) == [(1, "no_stone")]


@pytest.mark.parametrize(
    ("in_file", "result"),
    [("W+R", "W+R"), ("b+Resign", "B+R"), ("W+T", "W+T"), ("B+F", "B+F"), ("Void", "Void"), ("黑中盘胜", "B+R")],
)
def test_what_no_board_shows_is_taken_from_the_record(in_file: str, result: str) -> None:
    told = report(f"(;SZ[9]KM[0]RE[{in_file}];B[ee];W[cc])", Terms())
    assert (told["result"], told["result_source"]) == (result, "record")
    assert told["agrees"] is None
    assert told["area_qz"] is told["margin_qz"] is None
    assert told["result_in_file"] == in_file


def test_a_resignation_is_an_event_of_the_loser() -> None:
    played = play(b"(;SZ[9]RE[W+R];B[ee])", Terms())
    assert played.steps[-1].event.WhichOneof("fact") == "game_resigned"
    assert played.last.result.clause == "CN2002 7.2"


def test_a_count_in_the_file_is_not_believed() -> None:
    told = report("(;SZ[9]KM[0]RE[B+3];B[ee])", Terms())
    assert told["result"] is told["agrees"] is told["result_source"] is None
    assert "Not counted: no two passes at the end; name the dead stones with --dead." in told["notes"]


def test_moves_after_the_end_change_nothing_and_it_is_said() -> None:
    told = report("(;SZ[9]KM[0];B[ee];W[];B[];W[aa])", Terms())
    assert kinds(told) == [(4, "after_end")]
    assert sum(row.count("O") for row in told["board"]) == 0
    assert "Two passes ended the game at move 3; what follows changes nothing." in told["notes"]


def test_a_damaged_file_is_read_as_far_as_it_goes() -> None:
    told = report("(;SZ[9]KM[0];B[ee];W[c", Terms())
    assert told["moves"] == 1
    assert told["problems"]


_POINTS = st.sampled_from([f"{column}{row}" for column in "abcde" for row in "abcde"] + [""])
_MOVES = st.lists(st.tuples(st.sampled_from("BW"), _POINTS), max_size=40)


@given(moves=_MOVES, dead=st.sampled_from([(), ("A1",), ("C3", "E5")]))
def test_any_record_can_be_counted(moves: list[tuple[str, str]], dead: tuple[str, ...]) -> None:
    sgf = "(;SZ[5]KM[7]" + "".join(f";{colour}[{point}]" for colour, point in moves) + ")"
    played = play(sgf.encode(), Terms(dead=dead))
    told = report_of("game.sgf", played)
    assert told["result_source"] == "count"
    assert sum(told["area_qz"].values()) == 4 * 25


@given(moves=_MOVES)
def test_the_first_occurrence_of_a_position_is_told_in_moves_of_the_file(moves: list[tuple[str, str]]) -> None:
    sgf = "(;SZ[5]" + "".join(f";{colour}[{point}]" for colour, point in moves) + ")"
    played = play(sgf.encode(), Terms())
    for finding in report_of("game.sgf", played)["findings"]:
        if "of_move" in finding:
            assert _board_after(played, finding["of_move"]) == _board_after(played, finding["move"])
            before = [_board_after(played, number) for number in range(finding["of_move"])]
            assert _board_after(played, finding["move"]) not in before


def _board_after(played: Played, file_move: int) -> dict[str, str]:
    """The board as the verdicts draw it once this move of the file was made."""
    stones: dict[str, str] = {}
    for step in played.steps:
        if step.file_move > file_move:
            break
        for point in step.verdict.removed:
            del stones[point]
        stones |= dict.fromkeys(step.verdict.added_black, "X") | dict.fromkeys(step.verdict.added_white, "O")
    return stones
