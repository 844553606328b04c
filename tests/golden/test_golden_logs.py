"""Golden logs: the same records give the same outcomes, on every run and every machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import make_golden
import pytest
from support.play import replay

from caipan.rules.game import Past
from caipan.v1 import outcome_pb2 as pb

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
