"""Golden logs: the same records give the same outcomes, on every run and every machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import make_golden
import pytest
from support import oracle
from support.play import replay

from caipan.rules.game import Past
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.event_pb2 import Event

UNREACHABLE = {"UNSPECIFIED", "PASSES_DO_NOT_END"}  # the second under other editions only


@pytest.mark.parametrize("name", make_golden.log_names())
def test_a_golden_log_has_the_outcomes_it_had(name: str) -> None:
    assert make_golden.check_log(name) == []


@pytest.mark.parametrize("name", make_golden.log_names())
def test_a_golden_log_is_what_its_scenario_says(name: str) -> None:
    records = [record.value for record in make_golden.SCENARIOS[name]().log]
    assert make_golden.read_log(make_golden.FOLDER / "logs" / f"{name}.jsonl") == records


@pytest.mark.parametrize("name", make_golden.game_names())
def test_a_real_game_has_the_board_the_repetitions_and_the_head_it_had(name: str) -> None:
    assert make_golden.check_game(name) == []


@pytest.mark.parametrize("name", make_golden.game_names())
def test_what_is_expected_of_a_real_game_is_what_a_naive_program_comes_to(name: str) -> None:
    file = make_golden.FOLDER / "games" / f"{name}.jsonl"
    events = [Event.FromString(record) for record in make_golden.read_log(file)]
    opening, marks = events[0].game_opened, {1: "X", 2: "O"}
    stones = {oracle.point(point): "X" for point in opening.initial_black}
    stones |= {oracle.point(point): "O" for point in opening.initial_white}
    seen, taken, repetitions = [stones], {"X": 0, "O": 0}, []
    moves = [event for event in events if event.HasField("stone_placed")]
    for number, move in enumerate(moves, start=1):
        mark = marks[move.player]
        stones, gone = oracle.play(stones, oracle.point(move.stone_placed.point), mark, 19)
        taken["X" if mark == "O" else "O"] += len(gone)
        if stones in seen:
            repetitions.append([number, seen.index(stones)])
        seen.append(stones)
    expected = json.loads((make_golden.FOLDER / "games" / f"{name}.expected.json").read_text())
    assert expected["board"] == oracle.rows(stones, 19)
    assert expected["captured"] == {"black": taken["X"], "white": taken["O"]}
    assert expected["repetitions"] == repetitions


def test_a_poisoned_log_is_found_out_at_its_seq() -> None:
    (said,) = make_golden.check_log("plain", folder="poisoned")
    assert said.startswith("outcome 4, seq 4, event 'e4': head is")


def test_a_missing_outcome_is_found_out() -> None:
    records = make_golden.read_log(make_golden.FOLDER / "logs" / "plain.jsonl")
    expected = make_golden.outcomes_of(records)
    assert list(make_golden.differences(expected, expected[:-1])) == [
        f"{len(expected) - 1} outcomes, expected {len(expected)}"
    ]


def test_the_golden_logs_show_every_finding_that_cn2002_knows() -> None:
    shown = set()
    for name in make_golden.log_names():
        records = make_golden.read_log(make_golden.FOLDER / "logs" / f"{name}.jsonl")
        _, outcomes = replay([Past(record, offset) for offset, record in enumerate(records)])
        shown |= {pb.FindingKind.Name(each.kind) for outcome in outcomes for each in outcome.verdict.findings}
    known = {f"FINDING_KIND_{name}" for name in UNREACHABLE}
    assert shown | known == set(pb.FindingKind.keys())


@pytest.mark.parametrize(
    ("seed", "zone", "locale"),
    [("0", "UTC", "C"), ("1", "Asia/Shanghai", "C.UTF-8"), ("random", "America/St_Johns", "C")],
)
def test_other_hash_seeds_time_zones_and_locales_change_nothing(seed: str, zone: str, locale: str) -> None:
    script = Path(make_golden.__file__)
    surroundings = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale, "PYTHONUTF8": "1"}
    checked = subprocess.run([sys.executable, script, "--check"], env=surroundings, capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout
    assert "are as expected" in checked.stdout
