"""The positions beside the repository: legality, captures, repetition and area, as four programs agreed on them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support import oracle
from support.play import Play, replay

from caipan.rules.scoring import Ground, area

SHARED = Path(__file__).parents[2].parent / "shared"
pytestmark = pytest.mark.skipif(not list(SHARED.glob("positions-*.json")), reason=f"no shared positions ({SHARED})")

FINDINGS = {
    "suicide": "CN2002 19 FORBIDDEN_POINT",
    "repetition": "CN2002 6 REPETITION",
    "occupied": "CN2002 2.3 OCCUPIED",
}
MARKS = {"X": "black", "O": "white"}


@cache
def cases() -> dict[str, dict[str, Any]]:
    files = sorted(SHARED.glob("positions-*.json"))
    return {case["id"]: case for file in files for case in json.loads(file.read_bytes())["cases"]}


def started(case: dict[str, Any], **regulations: Any) -> Play:
    return Play(case["size"], **setup(case), to_move=case["to_move"], **regulations)


def setup(case: dict[str, Any]) -> dict[str, list[str]]:
    stones: dict[str, list[str]] = {"black": [], "white": []}
    for at, mark in oracle.from_rows(case["board"]).items():
        stones[MARKS[mark]].append(oracle.name(at))
    return stones


def make(play: Play, move: dict[str, Any]) -> Play:
    player, point = move["move"]
    return play.pass_(player) if point == "pass" else play.stone(player, point)


def legal_part(case: dict[str, Any]) -> Play:
    play = started(case)
    for move in case["moves"]:
        if move["legal"]:
            make(play, move)
            assert play.found == [], move
    return play


every_case = pytest.mark.parametrize("case_id", list(cases()))
every_repetition = pytest.mark.parametrize(
    "case_id", [each for each, case in cases().items() if case["moves"] and "legal_under" in case["moves"][-1]]
)


def test_there_are_188_positions() -> None:
    assert len(cases()) == 188


@every_case
def test_legal_moves_break_nothing_and_capture_what_they_should(case_id: str) -> None:
    case = cases()[case_id]
    play = started(case)
    for move in case["moves"]:
        if move["legal"]:
            make(play, move)
            assert (play.found, sorted(play.verdict.removed)) == ([], sorted(move["captured"])), move
    assert play.board() == case["expect"]["board"]
    assert play.turn == case["expect"]["to_move"]


@every_case
def test_illegal_moves_are_found_and_stand_until_the_record_is_corrected(case_id: str) -> None:
    case = cases()[case_id]
    play = started(case)
    for move in case["moves"]:
        make(play, move)
    if not case["moves"] or case["moves"][-1]["legal"]:
        assert play.all_found == []
        return
    last = case["moves"][-1]
    assert FINDINGS[last["reason"]] in play.found
    assert play.provisional == ([] if last["reason"] == "occupied" else [last["move"][1]])
    play.retract(play.last_id)
    assert (play.board(), play.turn) == (case["expect"]["board"], case["expect"]["to_move"])
    assert (play.provisional, play.found) == ([], [])


@every_case
def test_the_forbidden_points_of_the_side_to_move_are_those_and_no_others(case_id: str) -> None:
    case = cases()[case_id]
    play = legal_part(case)
    player, size = play.turn, case["size"]
    empty = [
        oracle.name((column, row))
        for row, line in enumerate(reversed(play.board()))
        for column, mark in enumerate(line)
        if mark == "."
    ]
    said: dict[str, list[str]] = {"suicide": [], "repetition": []}
    for point in empty:
        trial = Play(size, opening=False)
        trial.game, _ = replay(play.log)
        trial.log = list(play.log)
        trial.stone(player, point, id="trial", seq=0, at=play.now + 1000)
        for reason, points in said.items():
            if FINDINGS[reason] in trial.found:
                points.append(point)
    assert {reason: sorted(points) for reason, points in said.items()} == {
        reason: sorted(points) for reason, points in case["expect"]["illegal"].items()
    }


@every_case
def test_the_area_is_counted_to_the_quarter(case_id: str) -> None:
    case = cases()[case_id]
    expect, size = case["expect"], case["size"]
    play = Play(size, **setup({"board": expect["board"]}))
    cells, indices = play.game.table.board.cells(), play.game.table.indices
    neutral = expect["area"]["neutral"]
    assert area(Ground(size, cells, ()), {}) == tuple(
        4 * expect["area"][side] + 2 * neutral for side in ("black", "white")
    )
    dead = [indices[point] for point in case.get("dead", ())]
    counted = tuple(round(4 * expect["chinese_count"][side]) for side in ("black", "white"))
    assert area(Ground(size, cells, dead), {}) == counted


@every_repetition
def test_a_repetition_names_its_first_occurrence_and_its_distance_from_the_last(case_id: str) -> None:
    case = cases()[case_id]
    last = case["moves"][-1]
    play = started(case)
    boards = [play.board(), *(make(play, move).board() for move in case["moves"])]
    repeat = next(finding for finding in play.verdict.findings if finding.clause == "CN2002 6")
    assert repeat.move == len(case["moves"])
    assert repeat.of_move == boards.index(boards[-1])
    assert repeat.move - repeat.cycle == last["repeats_position_after_ply"]
    assert ("CN2002 18.3 KO_RETAKE" in play.found) == last["simple_ko"]
    assert ("CN2002 20.3 REPETITION_CYCLE" in play.found) == (not last["simple_ko"])


@every_repetition
@pytest.mark.parametrize(("mode", "rule"), [("SITUATIONAL", "situational_superko"), ("SIMPLE", "basic_ko")])
def test_other_readings_forbid_what_they_forbid(case_id: str, mode: str, rule: str) -> None:
    case = cases()[case_id]
    last = case["moves"][-1]
    play = started(case, superko_mode=mode)
    for move in case["moves"]:
        make(play, move)
    assert (FINDINGS["repetition"] not in play.found) == last["legal_under"][rule]
    assert (play.provisional == []) == last["legal_under"][rule]
