"""Events of a file: every line read or named, folded to the heads of the log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from google.protobuf.json_format import Parse
from support.command import caipan, objects

from caipan.cli.console import CommandError, json_of
from caipan.cli.follow import follow
from caipan.cli.lines import read_lines
from caipan.cli.replay import Replay
from caipan.cli.synthetic import RECORDER, Played, Terms, play
from caipan.eventlog import NewRecord
from caipan.eventlog.embedded import EmbeddedLog
from caipan.referee import Referee
from caipan.stamp import stamped
from caipan.v1.event_pb2 import Event
from caipan.v1.facts_pb2 import RecordCorrected
from caipan.v1.outcome_pb2 import STATUS_DUPLICATE, STATUS_PARKED, Outcome
from caipan.v1.state_pb2 import GameState


@pytest.fixture
def played() -> Played:
    return play(b"(;SZ[9]KM[7.5];B[ee];W[cc];B[gg];W[gc])", Terms(dead=()))


def written(folder: Path, *lines: str) -> Path:
    file = folder / "events.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return file


def run(file: Path, until: int = 0) -> tuple[Replay, list[Outcome]]:
    replay = Replay(until)
    return replay, list(replay.run(read_lines(file)))


def test_events_as_a_client_sends_them_have_the_heads_of_adjudicate(played: Played, tmp_path: Path) -> None:
    replay, outcomes = run(written(tmp_path, *(json_of(step.event) for step in played.steps)))
    assert replay.errors == []
    assert outcomes[-1].head == played.game.head
    assert [outcome.offset for outcome in outcomes] == list(range(1, len(played.steps) + 1))


def test_events_as_they_stand_in_the_log_keep_their_reporter_and_pins(played: Played, tmp_path: Path) -> None:
    stored = [Event.FromString(stamped(step.event, RECORDER)) for step in played.steps]
    _, outcomes = run(written(tmp_path, *(json_of(event) for event in stored)))
    assert outcomes[-1].head == played.game.head
    for event in stored:
        event.by.person = "recorder-2"
    _, others = run(written(tmp_path, *(json_of(event) for event in stored)))
    assert others[-1].head != played.game.head
    stored[0].game_opened.pins.regulations.komi_qz = 0
    _, pinned = run(written(tmp_path, *(json_of(event) for event in stored)))
    assert pinned[-1].verdict.result.komi_qz == 0


def test_the_state_follows_the_outcomes_to_the_number_asked_for(played: Played, tmp_path: Path) -> None:
    _, outcomes = run(written(tmp_path, *(json_of(step.event) for step in played.steps)), until=3)
    state = GameState()
    assert [follow(state, outcome) for outcome in outcomes] == [True] * 3
    assert not follow(state, outcomes[0])
    assert (state.seq, state.head, state.game_id) == (3, outcomes[2].head, played.game.game_id)
    assert (state.last_point, state.move_number) == ("C7", 2)
    assert [row.count("X") + row.count("O") for row in state.board] == [0, 0, 1, 0, 1, 0, 0, 0, 0]


def test_a_bad_line_is_named_with_its_field_and_the_others_are_folded(played: Played, tmp_path: Path) -> None:
    good = [json_of(step.event) for step in played.steps]
    bad = [
        '{"event_id": "x", "game_id": "g", "stone_placed": {"pt": "Q16"}}',
        '{"event_id": "x", "game_id": "g", "player": "RED", "pass_declared": {}}',
        '{"event_id": "x", "game_id": "g", "at_ms": "noon", "pass_declared": {}}',
        '{"event_id": "x", "game_id": "g"',
        '{"game_id": "g", "pass_declared": {}}',
        '{"event_id": "x", "pass_declared": {}}',
        '{"event_id": "x", "game_id": "g"}',
        "[1]",
        '{"event_id": "x", "game_id": "g", "game_opened": {"regulations": {"edition": "XX"}}}',
    ]
    replay, outcomes = run(written(tmp_path, good[0], *bad, "", *good[1:]))
    assert outcomes[-1].head == played.game.head
    assert [error.partition(":")[0] for error in replay.errors] == [f"line {number}" for number in range(2, 11)]
    named = [
        "stone_placed",
        "player",
        "at_ms",
        "JSON",
        "event_id",
        "game_id",
        "fact",
        "JSON",
        "game_opened.regulations",
    ]
    for name, error in zip(named, replay.errors, strict=True):
        assert name in error


def test_text_separators_inside_a_line_do_not_break_it(played: Played, tmp_path: Path) -> None:
    event = json.loads(json_of(played.steps[-1].event))
    event["record_corrected"] = {"ref": "e", "kind": "KIND_RETRACT", "reason": "a\u2028b\x85c"}
    del event[played.steps[-1].event.WhichOneof("fact") or ""]
    replay, _ = run(written(tmp_path, json.dumps(event, ensure_ascii=False)))
    assert replay.errors == []


def test_games_of_one_file_are_folded_each_for_itself_and_repeats_change_nothing(tmp_path: Path) -> None:
    games = [play(b"(;SZ[9];B[ee];W[cc])", Terms(), game) for game in ("a", "b")]
    lines = [json_of(step.event) for pair in zip(*(game.steps for game in games), strict=True) for step in pair]
    replay, outcomes = run(written(tmp_path, *lines, lines[0]))
    assert {game_id: game.head for game_id, game in replay.games.items()} == {
        game.game.game_id: game.game.head for game in games
    }
    assert outcomes[-1].verdict.status == STATUS_DUPLICATE


def test_facts_before_the_opening_wait_and_a_correction_finds_its_history(tmp_path: Path) -> None:
    played = play(b"(;SZ[9];B[ee];W[ee])", Terms(), "g")
    opening, first, slip = (json_of(step.event) for step in played.steps)
    correction = Event(event_id="fix", game_id="g", at_ms=played.steps[-1].event.at_ms, source_seq=4)
    correction.source.id = "sgf"
    correction.record_corrected.ref = played.steps[-1].event.event_id
    correction.record_corrected.kind = correction.record_corrected.KIND_REPLACE
    correction.record_corrected.fact.stone_placed.point = "C7"
    replay, outcomes = run(written(tmp_path, first, opening, slip, json_of(correction)))
    assert outcomes[0].verdict.status == STATUS_PARKED
    state = GameState()
    for outcome in outcomes:
        follow(state, outcome)
    assert [row.count("O") for row in state.board] == [0, 0, 1, 0, 0, 0, 0, 0, 0]
    assert state.head == replay.games["g"].head


def test_a_file_that_is_no_text_or_not_there_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"none\.jsonl: No such file"):
        list(read_lines(tmp_path / "none.jsonl"))
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CommandError, match=r"binary.jsonl: no UTF-8 text \(byte 0\)"):
        list(read_lines(binary))


# Logs


async def judged(file: Path, events: list[NewRecord]) -> list[bytes]:
    """Writes a log and lets the referee judge it; the outcomes that stand in it then."""
    async with EmbeddedLog(file, partitions=1) as log:
        await log.append("game-events", events)
        await Referee(log, 0).recover()
        return [record.value for record in await log.read("game-outcomes", 0, 0)]


def stored(game_id: str, record: bytes) -> list[NewRecord]:
    steps = play(record, Terms(dead=()), game_id).steps
    return [NewRecord(game_id.encode(), stamped(step.event, RECORDER)) for step in steps]


async def test_a_game_of_a_log_is_folded_to_the_very_outcomes_of_the_referee(tmp_path: Path) -> None:
    file, unreadable = tmp_path / "log.db", NewRecord(b"ko", b"\xff no event")
    ko = stored("ko", b"(;SZ[9];B[bb];W[cb];B[ac];W[dc];B[bd];W[cd];B[cc];W[bc];B[cc])")
    slip = stored("slip", b"(;SZ[9];B[ee];W[cc];B[gg])")
    wrong = Event.FromString(slip[2].value)
    corrected = Event(event_id="fix", game_id="slip", source=wrong.source, source_seq=len(slip) + 1, by=RECORDER)
    corrected.record_corrected.ref = wrong.event_id
    corrected.record_corrected.kind = RecordCorrected.KIND_RETRACT
    events = [*ko[:5], *slip, unreadable, ko[3], *ko[5:], NewRecord(b"slip", corrected.SerializeToString())]
    outcomes = await judged(file, events)
    told = objects(caipan("replay", "--log", file, "--game", "slip", "--game", "ko", "--json").stdout)
    replayed = [Parse(json.dumps(line["outcome"]), Outcome()) for line in told if "outcome" in line]
    by_game = sorted(outcomes, key=lambda value: Outcome.FromString(value).verdict.game_id != "slip")
    assert [outcome.SerializeToString(deterministic=True) for outcome in replayed] == by_game
    assert [line["snapshot"]["game_id"] for line in told if "snapshot" in line] == ["slip", "ko"]


async def test_a_record_that_belongs_to_no_game_here_is_named_and_left_out(tmp_path: Path) -> None:
    file = tmp_path / "log.db"
    begun = stored("ko", b"(;SZ[9];B[bb])")
    await judged(file, [*begun, NewRecord(b"ko", bytes(1_000_001))])
    done = caipan("replay", "--log", file, "--game", "ko", ok=1)
    assert f"caipan: {file}: offset {len(begun)}: the record has 1000001 bytes" in done.stderr
    assert done.stderr.endswith("caipan: 1 records were left out\n")


async def test_a_game_that_is_not_in_the_log_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "log.db"
    await judged(file, stored("ko", b"(;SZ[9];B[bb])"))
    done = caipan("replay", "--log", file, "--game", "other", ok=1)
    assert done.stderr == f"caipan: {file}: it has no events of a game 'other'; check the id\n"


@pytest.mark.parametrize(
    "arguments", [[], ["--log", "log.db"], ["--game", "g"], ["e.jsonl", "--log", "log.db", "--game", "g"]]
)
def test_what_is_to_be_replayed_must_be_clear(arguments: list[str]) -> None:
    assert "name a file of events, or a log by --log and" in caipan("replay", *arguments, ok=2).stderr
