"""The offline commands as a user runs them, each in a process of its own; the 25 real games among others."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from sgfmill import boards, sgf
from support.command import COMMAND, caipan, environment, objects

GAMES = Path(__file__).parents[2].parent / "shared" / "games"
needs_games = pytest.mark.skipif(not GAMES.is_dir(), reason=f"the shared games are not here ({GAMES})")

SHORT = "(;GM[1]SZ[9]KM[7.5]PB[Fan]PW[Shi]RE[W+R];B[ee];W[cc];B[gg])"


@pytest.fixture
def record(tmp_path: Path) -> Path:
    file = tmp_path / "game.sgf"
    file.write_text(SHORT, "utf-8")
    return file


def shared(name: str) -> list[dict[str, Any]]:
    games: list[dict[str, Any]] = json.loads((GAMES / name).read_text("utf-8"))["games"]
    return games


@pytest.fixture(scope="module")
def judged() -> dict[str, dict[str, Any]]:
    files = sorted(GAMES.glob("*.sgf"))
    return {Path(told["file"]).name: told for told in objects(caipan("adjudicate", *files, "--json").stdout)}


@needs_games
def test_every_game_ends_with_the_board_and_the_captures_of_other_programs(judged: dict[str, Any]) -> None:
    games = shared("expected.json")
    assert {game["file"] for game in games} == set(judged)
    for game in games:
        told = judged[game["file"]]
        assert told["board"] == game["final_board"], game["file"]
        assert told["captured"] == {"black": game["captured_black"], "white": game["captured_white"]}
        assert (told["size"], told["moves"], told["passes"]) == (game["size"], game["moves"], game["passes"])


@needs_games
def test_every_repetition_is_found_and_nothing_else(judged: dict[str, Any]) -> None:
    for game in shared("expected.json"):
        told = judged[game["file"]]
        of_article_6 = [found["move"] for found in told["findings"] if found["clause"] == "CN2002 6"]
        assert of_article_6 == [move for move, _ in game["superko_violations"]], game["file"]
        assert {found["kind"] for found in told["findings"]} <= {"repetition", "repetition_cycle"}


@needs_games
@pytest.mark.parametrize("file", ["tygem2011-lings.sgf", "tom2009-cycle3.sgf"])
def test_a_repetition_names_the_first_move_after_which_the_position_stood(file: str, judged: dict[str, Any]) -> None:
    first, turns = _first_occurrences(GAMES / file)
    found = [found for found in judged[file]["findings"] if found["kind"] == "repetition"]
    assert found
    for each in found:
        assert each["of_move"] == first[each["move"]]
        assert each["same_side_to_move"] == (turns[each["of_move"]] == turns[each["move"]])


def _first_occurrences(file: Path) -> tuple[list[int], list[str]]:
    """By move: the first move after which its position stood, and the side to move, by an independent board."""
    board, seen, first, turns = boards.Board(19), {}, [], []
    moves = [node.get_move() for node in sgf.Sgf_game.from_bytes(file.read_bytes()).get_main_sequence()[1:]]
    for number, (colour, point) in enumerate([("w", None), *moves]):
        if point is not None:
            board.play(*point, colour)
        first.append(seen.setdefault(tuple(sorted(board.list_occupied_points())), number))
        turns.append("b" if colour == "w" else "w")
    return first, turns


@needs_games
def test_counted_games_are_counted_to_the_quarter_zi_and_agree_with_their_files() -> None:
    for game in shared("counted.json"):
        (told,) = objects(caipan("adjudicate", GAMES / game["file"], "--dead", ",".join(game["dead"]), "--json").stdout)
        area = game["area"]
        share = 2 * area["neutral"]
        assert told["area_qz"] == {"black": 4 * area["black"] + share, "white": 4 * area["white"] + share}
        assert told["margin_qz"] == 4 * game["margin_zi"]
        assert told["agrees"] is True
        assert told["result"] == game["result_in_file"].replace("0.50", "0.5").replace("2.50", "2.5")
        assert told["result_unit"] == {"zi": "zi", "points": "mu"}[game["unit"]]
        assert not [found for found in told["findings"] if found["clause"] in ("CN2002 3", "CN2002 8")]


@needs_games
def test_results_that_no_board_shows_are_taken_from_the_record(judged: dict[str, Any]) -> None:
    taken = {name: told["result"] for name, told in judged.items() if told["result_source"] == "record"}
    assert taken == {
        "cn-guoshou2026-ding-fan2.sgf": "B+R",
        "cn-ing2026-fang-zhou.sgf": "W+R",
        "alphago-lee-g4.sgf": "W+R",
        "kr-kang-shi2015.sgf": "B+R",
        "kgs2011-dorabon-ha4.sgf": "W+R",
        "ai-dolbaram-leela2019.sgf": "W+T",
        "kgs2011-bluespark-time.sgf": "W+T",
        "uec2019-golaxy-akira.sgf": "B+F",
    }


@needs_games
def test_events_of_every_game_replay_to_the_same_heads(judged: dict[str, Any], tmp_path: Path) -> None:
    lines = "".join(caipan("sgf2events", GAMES / name).stdout for name in judged)
    replayed = objects(caipan("replay", "-", "--json", text=lines).stdout)
    heads = {line["snapshot"]["head"] for line in replayed if "snapshot" in line}
    assert {b64decode(head).hex() for head in heads} == {told["head"] for told in judged.values()}


def test_a_report_for_a_person_shows_board_findings_and_result(tmp_path: Path) -> None:
    file = tmp_path / "wrong.sgf"
    file.write_text("(;SZ[9]PB[范西屏]PW[Shi]KM[0]RE[B+1];B[ee];W[ee];W[cc];B[];W[])", "utf-8")
    told = caipan("adjudicate", file).stdout
    assert "范西屏 (X) - Shi (O)" in told
    assert " 5  . . . . X . . . .  5" in told
    assert "! move 2: White sets a stone on E5, where one lies (CN2002 2.3 交替着子 Black first" in told
    assert "* All stones were taken as alive" in told
    assert "Result: 0 (mu): a draw (Black 40.5 zi, White 40.5); the file says 'B+1', which does not agree." in told


def test_reports_are_the_same_bytes_under_other_hash_seeds_time_zones_and_locales(record: Path) -> None:
    outputs = {
        caipan("adjudicate", record, "--json", PYTHONHASHSEED=seed, TZ=zone, LC_ALL=locale).stdout
        for seed, zone, locale in [("0", "UTC", "C.UTF-8"), ("7", "Asia/Shanghai", "C"), ("3", "America/Lima", "POSIX")]
    }
    assert len(outputs) == 1


def test_one_bad_file_does_not_stop_the_rest(record: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.sgf"
    nothing.write_bytes(b"\x00\xffno game")
    done = caipan("adjudicate", tmp_path / "none.sgf", nothing, tmp_path, record, "--json", ok=1)
    told = objects(done.stdout)
    assert [list(each) for each in told[:3]] == [["file", "error"]] * 3
    assert told[3]["result"] == "W+R"
    assert "none.sgf: No such file or directory" in done.stderr
    assert done.stderr.splitlines()[-1] == "caipan: 3 of 4 files could not be read"


def test_many_files_show_their_progress_on_a_terminal(record: Path) -> None:
    ours, theirs = pty.openpty()
    command = [*COMMAND, "adjudicate", record, record, "--json"]
    variables = environment(TERM="xterm")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=variables) as judging:
        os.close(theirs)
        out, _ = judging.communicate(timeout=60)
    assert len(objects(out.decode())) == 2
    assert b"Judging" in os.read(ours, 65536)
    os.close(ours)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["game.sgf", "--dead", "I3"], "'I3' is no point"),
        (["game.sgf", "--dead", "D26"], "'D26' is no point"),
        (["game.sgf", "game.sgf", "--dead", ""], "give one file"),
        (["game.sgf", "--edition", "XX1"], "unknown edition 'XX1'; use one of:"),
        (["game.sgf", "--komi-qz", "4001"], "less than or equal to 4000"),
        ([], "Missing argument"),
    ],
)
def test_wrong_usage_is_said_and_ends_with_2(arguments: list[str], said: str) -> None:
    assert said in " ".join(caipan("adjudicate", *arguments, ok=2).stderr.replace("│", "").split())


def test_events_derive_from_the_file_and_carry_neither_reporter_nor_pins(record: Path) -> None:
    events = objects(caipan("sgf2events", record).stdout)
    assert [next(reversed(event)) for event in events] == [
        "game_opened",
        "stone_placed",
        "stone_placed",
        "stone_placed",
        "game_resigned",
    ]
    assert caipan("sgf2events", record).stdout == caipan("sgf2events", record).stdout
    assert not [event for event in events if "by" in event or "pins" in event.get("game_opened", {})]
    named = objects(caipan("sgf2events", record, "--game-id", "T1/r1/b1").stdout)
    assert {event["game_id"] for event in named} == {"T1/r1/b1"}
    assert [event["event_id"] for event in named] == [event["event_id"] for event in events]


def test_problems_of_a_record_go_to_the_error_output_not_among_the_events(tmp_path: Path) -> None:
    broken = tmp_path / "broken.sgf"
    broken.write_text("(;SZ[9];B[ee];W[c", "utf-8")
    done = caipan("sgf2events", broken)
    assert len(objects(done.stdout)) == 2
    assert "broken.sgf: " in done.stderr


def test_a_replay_tells_every_outcome_and_the_board(record: Path, tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text(caipan("sgf2events", record).stdout, "utf-8")
    told = caipan("replay", events).stdout
    assert "   3  stone_placed     O C7             move 2, Black to move" in told
    assert "   5  game_resigned                     White wins by resignation" in told
    assert " 3  . . + . . .(X). .  3" in told
    head = objects(caipan("adjudicate", record, "--json").stdout)[0]["head"]
    assert f"5 outcomes; head {head}" in told
    until = objects(caipan("replay", events, "--until", "2", "--json").stdout)
    assert [next(iter(line)) for line in until] == ["outcome", "outcome", "snapshot"]
    assert until[-1]["snapshot"]["seq"] == "2"


def test_a_bad_line_of_a_replay_ends_with_1_and_loses_no_other(record: Path) -> None:
    lines = caipan("sgf2events", record).stdout.splitlines()
    done = caipan("replay", "-", "--json", text="\n".join([*lines[:2], '{"stone": 1}', *lines[2:]]), ok=1)
    assert len(objects(done.stdout)) == len(lines) + 1
    assert 'line 3: Message type "caipan.v1.Event" has no field named "stone"' in done.stderr


def test_an_empty_file_of_events_is_no_error_and_no_game(tmp_path: Path) -> None:
    assert caipan("replay", "-", text="").stdout == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_that_cannot_be_written_is_one_line_of_error(record: Path) -> None:
    with open("/dev/full", "w") as full:
        done = caipan("adjudicate", record, ok=1, output=full)
    assert done.stderr == "caipan: No space left on device\n"


def test_a_reader_that_has_seen_enough_is_no_error(record: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone:
        assert caipan("adjudicate", record, ok=1, output=gone).stderr == ""
