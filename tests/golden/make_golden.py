"""Writes the golden logs again, or checks them: ``python tests/golden/make_golden.py [--check]``.

``logs/NAME.jsonl`` holds the records of a log, one a line: an event in protobuf JSON, or {"raw": base64} for what is no
event. ``logs/NAME.expected.jsonl`` holds what becomes of them: seq, status, findings, head and state digest of each
outcome and notice. ``games/`` has real games: their moves are facts and stay, what is expected is written again.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent))

from google.protobuf import json_format  # noqa: E402
from google.protobuf.message import DecodeError  # noqa: E402
from scenarios import SCENARIOS  # noqa: E402
from support.events import found, status_of  # noqa: E402
from support.play import board_rows, replay  # noqa: E402

from caipan.rules.game import Past  # noqa: E402
from caipan.rules.pins import pin  # noqa: E402
from caipan.v1.event_pb2 import Event  # noqa: E402
from caipan.v1.outcome_pb2 import Outcome  # noqa: E402

Line = dict[str, Any]


def log_names() -> list[str]:
    return sorted(SCENARIOS)


def game_names() -> list[str]:
    return sorted(file.name.removesuffix(".jsonl") for file in (FOLDER / "games").glob("*.jsonl"))


def read_log(file: Path) -> list[bytes]:
    """The records of a log as bytes."""
    return [_record(json.loads(line)) for line in file.read_text().splitlines()]


def _record(line: Line) -> bytes:
    if "raw" in line:
        return base64.b64decode(line["raw"])
    return json_format.ParseDict(line, Event()).SerializeToString(deterministic=True)


def write_log(file: Path, records: Iterable[bytes]) -> None:
    file.write_text("".join(json.dumps(_line(record), ensure_ascii=False) + "\n" for record in records))


def _line(record: bytes) -> Line:
    """An event as JSON where that gives the same bytes again, else the bytes."""
    with suppress(DecodeError):
        line: Line = json_format.MessageToDict(Event.FromString(record))
        if line and _record(line) == record:
            return line
    return {"raw": base64.b64encode(record).decode()}


def outcomes_of(records: Iterable[bytes], game_id: str = "game") -> list[Line]:
    """What becomes of a log, as ``logs/NAME.expected.jsonl`` has it."""
    _, outcomes = replay([Past(record, offset) for offset, record in enumerate(records)], game_id)
    return [_outcome(outcome) for outcome in outcomes]


def _outcome(outcome: Outcome) -> Line:
    verdict = outcome.verdict
    return {
        "event_id": verdict.event_id,
        "seq": verdict.seq,
        "status": status_of(verdict),
        "findings": found(verdict),
        "head": outcome.head.hex(),
        "state_digest": verdict.state_digest.hex(),
    }


def differences(expected: list[Line], actual: list[Line]) -> Iterator[str]:
    """Where two lists of outcomes part, each named by its seq."""
    for place, (one, other) in enumerate(zip(expected, actual, strict=False)):
        wrong = [name for name in one if one[name] != other[name]]
        if wrong:
            said = ", ".join(f"{name} is {other[name]!r}, expected {one[name]!r}" for name in wrong)
            yield f"outcome {place + 1}, seq {one['seq']}, event {one['event_id']!r}: {said}"
    if len(expected) != len(actual):
        yield f"{len(actual)} outcomes, expected {len(expected)}"


def read_lines(file: Path) -> list[Line]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def check_log(name: str, folder: str = "logs") -> list[str]:
    """How the fold of a golden log differs from what is expected; empty where it does not."""
    records = read_log(FOLDER / folder / f"{name}.jsonl")
    return list(differences(read_lines(FOLDER / folder / f"{name}.expected.jsonl"), outcomes_of(records)))


def game_of(name: str) -> Line:
    """What a real game comes to, as ``games/NAME.expected.json`` has it."""
    records = read_log(FOLDER / "games" / f"{name}.jsonl")
    game, outcomes = replay([Past(record, offset) for offset, record in enumerate(records)], name)
    findings = [finding for outcome in outcomes for finding in outcome.verdict.findings]
    last = outcomes[-1].verdict
    return {
        "board": board_rows(game),
        "captured": {"black": last.captured_black, "white": last.captured_white},
        "repetitions": [[each.move, each.of_move] for each in findings if each.clause == "CN2002 6"],
        "other_findings": sorted({each.clause for each in findings} - {"CN2002 6"}),
        "result": json_format.MessageToDict(last.result, preserving_proto_field_name=True),
        "head": game.head.hex(),
        "state_digest": game.digest.hex(),
    }


def check_game(name: str) -> list[str]:
    expected, actual = json.loads((FOLDER / "games" / f"{name}.expected.json").read_text()), game_of(name)
    return [f"{key} is {actual[key]!r}, expected {expected[key]!r}" for key in expected if actual[key] != expected[key]]


def write() -> None:
    """Writes all expectations again, and the logs that scenarios make."""
    for name, scenario in SCENARIOS.items():
        records = [record.value for record in scenario().log]
        write_log(FOLDER / "logs" / f"{name}.jsonl", records)
        _write_lines(FOLDER / "logs" / f"{name}.expected.jsonl", outcomes_of(records))
    _write_poisoned()
    for name in game_names():
        file = FOLDER / "games" / f"{name}.jsonl"
        write_log(file, [_pinned(record) for record in read_log(file)])
        text = json.dumps(game_of(name), indent=1, ensure_ascii=False)
        (FOLDER / "games" / f"{name}.expected.json").write_text(text + "\n")


def _pinned(record: bytes) -> bytes:
    event = Event.FromString(record)
    if event.HasField("game_opened"):
        event.game_opened.pins.CopyFrom(pin(event.game_opened))
    return event.SerializeToString(deterministic=True)


def _write_lines(file: Path, lines: list[Line]) -> None:
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def _write_poisoned() -> None:
    """A log whose expectation is wrong on purpose at seq 4: whoever compares must see it."""
    records = [record.value for record in SCENARIOS["plain"]().log]
    expected = outcomes_of(records)
    wrong = next(line for line in expected if line["seq"] == 4)
    wrong["head"] = wrong["head"][:-1] + ("0" if wrong["head"][-1] != "0" else "1")
    write_log(FOLDER / "poisoned" / "plain.jsonl", records)
    _write_lines(FOLDER / "poisoned" / "plain.expected.jsonl", expected)


def main() -> int:
    if "--check" not in sys.argv[1:]:
        write()
        return 0
    wrong = [f"logs/{name}: {text}" for name in log_names() for text in check_log(name)]
    wrong += [f"games/{name}: {text}" for name in game_names() for text in check_game(name)]
    print("\n".join(wrong) or f"{len(log_names())} logs and {len(game_names())} games are as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
