"""Positions of our own form (positions.json): legality, captures, repetition and area."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import oracle
from support.play import Play, replay

from caipan.rules.scoring import Ground, area

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "positions.json").read_bytes())
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])


def started(case: dict[str, Any], **regulations: Any) -> Play:
    """The position before the first move."""
    return Play(case["size"], black=case["black"], white=case["white"], to_move=case["to_move"], **regulations)


def legal_moves(case: dict[str, Any]) -> list[str]:
    moves = case["play"].split(", ") if case["play"] else []
    return moves[:-1] if "last" in case else moves


def after_legal_moves(case: dict[str, Any]) -> Play:
    play = started(case)
    for move in legal_moves(case):
        play.moves(move)
    return play


@every_case
def test_legal_moves_break_nothing_and_take_what_they_should(case: dict[str, Any]) -> None:
    play, taken = started(case), []
    for number, move in enumerate(legal_moves(case), start=1):
        play.moves(move)
        assert play.found == []
        if play.verdict.removed:
            taken.append([number, sorted(play.verdict.removed)])
    assert taken == case["captures"]
    assert (play.board(), play.turn) == (case["then"]["board"], case["then"]["to_move"])


@pytest.mark.parametrize("case", [case for case in CASES if "last" in case], ids=lambda case: case["id"])
def test_the_last_move_is_found_and_stands_until_the_record_is_corrected(case: dict[str, Any]) -> None:
    last, move = case["last"], case["play"].split(", ")[-1]
    play = after_legal_moves(case).moves(move)
    assert play.found[0] == last["finding"]
    if "of_move" in last:
        finding = play.verdict.findings[0]
        assert (finding.of_move, finding.cycle) == (last["of_move"], last["cycle"])
        assert finding.same_side_to_move == last["same_side_to_move"]
    assert play.provisional == ([] if "OCCUPIED" in last["finding"] else [move.split()[1]])
    play.retract(play.last_id)
    assert (play.board(), play.turn) == (case["then"]["board"], case["then"]["to_move"])


@pytest.mark.parametrize("mode", ["SITUATIONAL", "SIMPLE"])
@pytest.mark.parametrize(
    "case", [case for case in CASES if "of_move" in case.get("last", ())], ids=lambda case: case["id"]
)
def test_other_readings_of_repetition_forbid_what_they_forbid(case: dict[str, Any], mode: str) -> None:
    play = started(case, superko_mode=mode).moves(case["play"])
    assert ("CN2002 6 REPETITION" not in play.found) == (mode in case["last"]["allowed_under"])


@every_case
def test_the_forbidden_points_of_the_side_to_move_are_those_and_no_others(case: dict[str, Any]) -> None:
    play = after_legal_moves(case)
    found: dict[str, list[str]] = {}
    for point in empty_points(case["then"]["board"]):
        trial = Play(case["size"], opening=False)
        trial.game, _ = replay(play.log)
        trial.stone(play.turn, point, id="trial", seq=0, at=play.now + 1000)
        if trial.found:
            found.setdefault(trial.found[0], []).append(point)
    assert found == case["then"]["forbidden"]


def empty_points(rows: list[str]) -> list[str]:
    """From the lower left, row by row."""
    stones, size = oracle.from_rows(rows), len(rows)
    return [oracle.name((c, r)) for r in range(size) for c in range(size) if (c, r) not in stones]


@every_case
def test_the_area_is_counted_to_the_quarter_zi(case: dict[str, Any]) -> None:
    table, then = after_legal_moves(case).game.table, case["then"]
    cells = table.board.cells()
    assert list(area(Ground(case["size"], cells, ()), {})) == then["area_qz"]
    if "dead" in case:
        dead = [table.indices[point] for point in case["dead"]]
        assert list(area(Ground(case["size"], cells, dead), {})) == then["area_without_dead_qz"]
