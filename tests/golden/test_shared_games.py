"""The 25 real games beside the repository: final board, captures, every repetition and no other, six counts."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.play import Play

from caipan.record import read_record

GAMES = Path(__file__).parents[2].parent / "shared" / "games"
pytestmark = pytest.mark.skipif(not GAMES.is_dir(), reason=f"the shared games are not here ({GAMES})")


def listed(name: str) -> dict[str, dict[str, Any]]:
    file = GAMES / name
    return {game["file"]: game for game in json.loads(file.read_bytes())["games"]} if file.exists() else {}


EXPECTED, COUNTED = listed("expected.json"), listed("counted.json")
every_game = pytest.mark.parametrize("file", list(EXPECTED))


@cache
def played(file: str) -> tuple[Play, int]:
    """The main line through the fold, and how many of its moves are handicap stones."""
    record = read_record((GAMES / file).read_bytes())
    moves = record.moves[record.handicap_moves :]
    handicap = [move.point for move in record.moves[: record.handicap_moves]]
    play = Play(
        record.size,
        black=[*record.setup_black, *handicap],
        white=record.setup_white,
        to_move=moves[0].colour,
    )
    for move in moves:
        if move.point:
            play.stone(move.colour, move.point)
        else:
            play.pass_(move.colour)
    return play, record.handicap_moves


def test_there_are_25_games_and_six_counts() -> None:
    assert (len(EXPECTED), len(COUNTED)) == (25, 6)


@every_game
def test_the_final_board_and_the_captures_are_those_of_other_programs(file: str) -> None:
    play, handicap = played(file)
    expected = EXPECTED[file]
    assert play.board() == expected["final_board"]
    assert play.taken == (expected["captured_black"], expected["captured_white"])
    assert play.game.table.history.length + len(play.provisional) == expected["moves"] - handicap


@every_game
def test_every_repetition_is_found_and_nothing_else(file: str) -> None:
    play, handicap = played(file)
    findings = [finding for verdict in play.verdicts for finding in verdict.findings]
    repeats = [[each.move + handicap, each.move - each.of_move] for each in findings if each.clause == "CN2002 6"]
    assert repeats == EXPECTED[file]["superko_violations"]
    assert {each.clause for each in findings} <= {"CN2002 6", "CN2002 20.3"}


@every_game
def test_a_watcher_draws_the_final_board_from_the_outcomes_alone(file: str) -> None:
    play, _ = played(file)
    assert play.drawn() == play.stones()


@pytest.mark.parametrize("file", list(COUNTED))
def test_a_counted_game_is_counted_to_the_quarter_zi(file: str) -> None:
    counted = COUNTED[file]
    played.cache_clear()
    play, _ = played(file)
    proposer = play.turn
    opponent = "W" if proposer == "B" else "B"
    play.propose_end(proposer).answer_end(opponent)
    play.dead(proposer, *counted["dead"]).answer_dead(opponent)
    areas = tuple(round(4 * counted["chinese_count"][side]) for side in ("black", "white"))
    assert (play.result.black_qz, play.result.white_qz) == areas
    assert (play.result.komi_qz, play.result.margin_qz) == (15, round(4 * counted["margin_zi"]))
    played.cache_clear()
