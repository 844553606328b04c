"""Game records judged offline: what the fold says about a file, in the file's own numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from caipan.cli.draw import Goban
from caipan.cli.synthetic import Played
from caipan.cli.words import amount_of, kind_of, result_of, sentence_of, unit_of
from caipan.record import ResultKind
from caipan.v1.outcome_pb2 import RESULT_HOW_COUNT, Finding, Result
from caipan.v1.rulings_pb2 import RESULT_KIND_DRAW

_SHORT = {ResultKind.RESIGNATION: "R", ResultKind.TIME: "T", ResultKind.FORFEIT: "F"}


@dataclass(frozen=True, slots=True)
class Found:
    """A finding with the file's numbers: of the move it is about, and of the first occurrence of a position."""

    move: int
    of_move: int | None
    finding: Finding


def findings_of(played: Played) -> list[Found]:
    """All findings. The fold's number of a position is told in moves of the file, handicap stones included.

    A stone gets its number in the fold when it becomes a move; a provisional one only when the opponent has gone on.
    """
    file_move = [played.record.handicap_moves]  # by the fold's number; 0 is the set-up
    waiting: list[int] = []
    found = []
    for step in played.steps:
        verdict = step.verdict
        arisen = verdict.move_number + 1 - len(file_move)
        if arisen or verdict.added_black or verdict.added_white:
            waiting.append(step.file_move)
        file_move += waiting[:arisen]
        waiting = waiting[arisen:] if verdict.provisional else []
        for finding in verdict.findings:
            first = file_move[finding.of_move] if finding.HasField("of_move") else None
            found.append(Found(step.file_move, first, finding))
    return found


def board_of(played: Played) -> list[str]:
    """The final board, rows from the top, ``X O .``."""
    table = played.game.table
    assert table is not None  # its opening was pinned
    letters = "".join(".XO"[colour] for colour in table.board.cells())
    return [letters[start : start + table.size] for start in range(len(letters) - table.size, -1, -table.size)]


def report_of(file: str, played: Played) -> dict[str, Any]:
    """What ``--json`` prints for a file; amounts in quarter-zi, ``margin_qz`` for Black.

    ``area_qz``: where area was counted; ``points_qz``: where points were, 2 each. ``result`` is written as SGF does, a
    count in ``result_unit``; ``result_source`` says whether it was counted or taken from the record. ``agrees``:
    whether the count is what the file says, null where there is nothing to compare.
    """
    record, last = played.record, played.last
    counted = last.result if last.result.how == RESULT_HOW_COUNT else None
    return {
        "file": file,
        "size": record.size,
        "moves": len(record.moves),
        "passes": sum(move.point is None for move in record.moves),
        "board": board_of(played),
        "captured": {"black": last.captured_black, "white": last.captured_white},
        "findings": [_finding_report(found) for found in findings_of(played)],
        **_count_report(counted),
        "margin_qz": counted.margin_qz if counted else None,
        **_result_report(played),
        "result_in_file": record.result_text,
        "agrees": played.result.agrees(counted.margin_qz) if counted else None,
        "state_digest": played.game.digest.hex(),
        "head": played.game.head.hex(),
        "problems": list(record.problems),
        "notes": played.notes,
    }


def _finding_report(found: Found) -> dict[str, Any]:
    finding = found.finding
    report = {"move": found.move, "clause": finding.clause, "kind": kind_of(finding)}
    if found.of_move is not None:
        report |= {"of_move": found.of_move, "same_side_to_move": finding.same_side_to_move}
    return report


def _count_report(counted: Result | None) -> dict[str, Any]:
    both = {"black": counted.black_qz, "white": counted.white_qz} if counted else None
    in_mu = counted is not None and counted.in_mu
    return {"area_qz": None if in_mu else both, "points_qz": both if in_mu else None}


def _result_report(played: Played) -> dict[str, Any]:
    counted, said = played.last.result, played.result
    if counted.how == RESULT_HOW_COUNT:
        unit = unit_of(counted) if counted.in_mu else str(said.unit or (played.komi and played.komi.unit) or "zi")
        winner = "B" if counted.margin_qz > 0 else "W"
        draw = counted.kind == RESULT_KIND_DRAW
        result = "0" if draw else f"{winner}+{amount_of(abs(counted.margin_qz), unit)}"
        return {"result": result, "result_source": "count", "result_unit": unit}
    result = f"{said.winner}+{_SHORT[said.kind]}" if said.kind in _SHORT and said.winner else ""
    result = "Void" if said.kind is ResultKind.VOID else result
    return {"result": result or None, "result_source": "record" if result else None, "result_unit": None}


def drawn(file: str, played: Played) -> RenderableType:
    """The report for a person: the final board, what was found, the result."""
    record, report = played.record, report_of(file, played)
    last = next((step.event.stone_placed.point for step in reversed(played.steps) if step.event.stone_placed.point), "")
    lines = [
        f"{record.black_name or 'Black'} (X) - {record.white_name or 'White'} (O)  {record.date_text}".rstrip(),
        f"{report['moves']} moves, {report['passes']} passes; captured: {report['captured']['black']} black, "
        f"{report['captured']['white']} white",
    ]
    found = [f"! move {at.move}: {sentence_of(at.finding, at.of_move)}" for at in findings_of(played)]
    lines += found or ["Nothing irregular was found."]
    lines += [f"? {problem}" for problem in record.problems]
    lines += [f"* {note}" for note in played.notes]
    lines.append(f"Result: {_result_line(played, report)}")
    lines.append(f"Head: {report['head']}")
    board = Goban(report["board"], last, played.last.provisional)
    return Group(Text(file, style="bold"), board, Text("\n".join(lines)))


def _result_line(played: Played, report: dict[str, Any]) -> str:
    in_file = f"the file says {report['result_in_file']!r}" if report["result_in_file"] else "the file names none"
    if report["result_source"] == "count":
        agrees = {True: "which agrees", False: "which does not agree", None: "which cannot be compared"}
        return f"{report['result']} ({report['result_unit']}): {result_of(played.last.result)}; {in_file}" + (
            f", {agrees[report['agrees']]}." if report["result_in_file"] else "."
        )
    if report["result_source"] == "record":
        return f"{report['result']}, taken from the record."
    return f"none; {in_file}."
