"""What a query answers about cases and penalties, over gRPC, from outcomes of the fold in a real log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from support.events import START_MS, actor, t
from support.incidents import DOUBLE, doubled, dropped, ids, table
from support.play import Play
from support.reading import OUTCOMES, TIMEOUT_S, Reader, Written, code, refused, rest, write

from caipan.eventlog import EventLog, NewRecord
from caipan.eventlog.embedded import EmbeddedLog
from caipan.v1 import case_service_pb2 as pb
from caipan.v1 import outcome_pb2
from caipan.v1.common_pb2 import COLOR_BLACK, COLOR_WHITE, ROLE_ARBITER, ROLE_CHIEF, ROLE_DEPUTY
from caipan.v1.facts_pb2 import RegulationsAdopted
from caipan.v1.regulations_pb2 import REGIME_BYOYOMI, Regulations
from caipan.v1.rulings_pb2 import RulingDecided


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[EventLog]:
    async with EmbeddedLog(tmp_path / "log.db") as log:
        yield log


@pytest.fixture
async def reader(log: EventLog, tmp_path: Path) -> AsyncIterator[Reader]:
    async with Reader(log, tmp_path / "read.db") as reader:
        yield reader


@pytest.fixture
def written(log: EventLog) -> Written:
    return Written(log)


# The state of a game


async def test_a_game_shows_its_open_cases_its_penalties_and_who_has_signed(reader: Reader, written: Written) -> None:
    play = doubled()
    await written(play)
    (case,) = (await reader.game("T/b1", min_seq=5)).cases
    assert case == play.verdict.cases[0]
    await written(play.stone("W", "C14"))
    assert (await reader.game("T/b1", min_seq=6)).cases[0].revision == 6
    await written(play.rule("VOID_AND_WARN"))
    game = await reader.game("T/b1", min_seq=7)
    assert (list(game.cases), [count.warnings for count in game.penalties]) == ([], [1])
    await written(play.resign("B").sign("B").sign("W"))
    game = await reader.game("T/b1", min_seq=10)
    assert (game.signed.black, game.signed.white, game.signed.arbiter) == (True, True, False)
    await written(play.claim("W", kind="RECHECK"))


async def test_a_game_shows_whom_the_last_move_must_be_shown(reader: Reader, written: Written) -> None:
    play = table().moves("B Q16").presence("B", False).stone("W", "D4").presence("B", True)
    await written(play)
    expected = play.verdict.must_point_out
    assert expected
    assert (await reader.game("T/b1", min_seq=5)).must_point_out == expected
    await written(play.shown("W", "D4"))
    assert not (await reader.game("T/b1", min_seq=6)).must_point_out


async def test_what_is_on_the_clocks_at_an_instant_is_told_from_the_last_outcome(
    reader: Reader, written: Written
) -> None:
    clocks = {"untimed": False, "regime": REGIME_BYOYOMI, "basic_time_s": 7200, "retained_minutes": 5}
    play = table(**clocks).mark("START", at=0).stone("B", "Q16", at=t("12:30"))
    await written(play)

    async def at(time: str) -> pb.GetClocksResponse:
        asked = pb.GetClocksRequest(game_id="T/b1", at_ms=START_MS + t(time), min_seq=3)
        return await reader.cases.GetClocks(asked, timeout=TIMEOUT_S)

    now = await at("12:30")
    assert (now.seq, now.running, now.black.left_ms, now.white.used_ms) == (3, COLOR_WHITE, t("1:47:30"), 0)
    assert (now.black.units_left, now.black.HasField("count_ms"), now.black.is_over) == (5, False, False)
    later = (await at("2:08:50")).white  # 1:56:20: the main part of 1:55:00, a whole minute, 20 s of the next
    assert (later.units_left, later.count_ms, later.left_ms) == (4, t("0:20"), t("0:04:00"))
    asked_now = await reader.cases.GetClocks(pb.GetClocksRequest(game_id="T/b1"), timeout=TIMEOUT_S)
    assert asked_now.white.is_over  # by the clock on the wall it was years ago
    assert (await at("2:08:50")) == (await at("2:08:50"))


BYOYOMI = {"untimed": False, "regime": REGIME_BYOYOMI, "basic_time_s": 7200, "retained_minutes": 5}


async def clocks_at(reader: Reader, time: str) -> pb.GetClocksResponse:
    asked = pb.GetClocksRequest(game_id="T/b1", at_ms=START_MS + t(time), min_seq=4)
    return await reader.cases.GetClocks(asked, timeout=TIMEOUT_S)


async def test_an_earlier_instant_is_told_from_the_outcome_that_was_the_last_one_then(
    reader: Reader, written: Written
) -> None:
    play = table(**BYOYOMI).mark("START", at=0).stone("B", "Q16", at=t("12:30")).mark("PAUSE", at=t("20:00"))
    await written(play)
    told = await clocks_at(reader, "5:00")
    assert (told.seq, told.running, told.black.used_ms, told.white.used_ms) == (2, COLOR_BLACK, t("5:00"), 0)
    told = await clocks_at(reader, "15:00")
    assert (told.seq, told.running, told.black.used_ms, told.white.used_ms) == (3, COLOR_WHITE, t("12:30"), t("2:30"))
    told = await clocks_at(reader, "25:00")
    assert (told.seq, told.running, told.white.used_ms) == (4, 0, t("7:30"))
    assert (told.phase, (await clocks_at(reader, "15:00")).phase) == (outcome_pb2.PHASE_PAUSED, outcome_pb2.PHASE_PLAY)


async def test_an_earlier_instant_is_told_as_the_corrected_record_reads(reader: Reader, written: Written) -> None:
    play = table(**BYOYOMI).mark("START", at=0).stone("B", "Q16", at=t("12:30"))
    await written(play.retract(play.verdict.event_id, at=t("20:00")))
    told = await clocks_at(reader, "15:00")
    assert (told.running, told.black.used_ms) == (COLOR_BLACK, t("15:00"))


async def test_adopted_regulations_are_shown_and_a_game_without_clocks_has_none(
    reader: Reader, written: Written
) -> None:
    play = table()
    play.say(RegulationsAdopted(changes=Regulations(warnings_to_lose=3)), source="tablet", by=actor("CHIEF"))
    await written(play)
    assert (await reader.game("T/b1", min_seq=2)).adopted.warnings_to_lose == 3
    told = await reader.cases.GetClocks(pb.GetClocksRequest(game_id="T/b1"), timeout=TIMEOUT_S)
    assert not told.HasField("black")


# Lists


async def test_open_cases_come_first_and_those_that_wait_longest_before_the_others(
    reader: Reader, written: Written
) -> None:
    games = [doubled(f"T/b{number}", later_ms=1000 * (9 - number)) for number in range(1, 6)]
    games[1].rule("VOID_AND_WARN")
    games.append(doubled("U/b1"))
    await written(*games)
    await reader.settled()
    listed = await reader.list_cases(tournament_id="T", page_size=2)
    assert ids(listed) == ["T/b5 5", "T/b4 5", "T/b3 5", "T/b1 5", "T/b2 5"]
    assert [each.case.status for each in listed] == [outcome_pb2.CASE_STATUS_OPEN] * 4 + [
        outcome_pb2.CASE_STATUS_DECIDED
    ]
    assert ids(await reader.list_cases(tournament_id="T", open_only=True)) == ["T/b5 5", "T/b4 5", "T/b3 5", "T/b1 5"]
    assert ids(await reader.list_cases(game_id="T/b2")) == ["T/b2 5"]
    assert len(await reader.list_cases()) == 6
    assert listed[-1].case.effects[-1].warn.player == COLOR_BLACK
    assert (listed[0].person, listed[0].round, listed[0].seq) == ("li", 3, 5)


async def test_a_page_token_of_another_list_is_refused(reader: Reader, written: Written) -> None:
    await written(doubled("T/b1"), doubled("T/b2"))
    await reader.settled()
    page = await reader.cases.ListCases(pb.ListCasesRequest(tournament_id="T", page_size=1), timeout=TIMEOUT_S)
    for wrong in (
        pb.ListCasesRequest(tournament_id="U", page_token=page.next_page_token),
        pb.ListCasesRequest(page_token="nonsense"),
    ):
        told = await refused(reader.cases.ListCases(wrong, timeout=TIMEOUT_S))
        assert (code(told), told.field) == ("MALFORMED", "page_token")


async def test_a_case_comes_with_what_the_player_did_before_in_the_event(reader: Reader, written: Written) -> None:
    first = doubled("T/b1").rule("VOID_AND_WARN")
    dismissed = doubled("T/b2", later_ms=100_000).rule("DISMISS")
    other = doubled("T/b3", black="sun", later_ms=200_000).rule("VOID_AND_WARN")
    elsewhere = doubled("U/b1", later_ms=300_000).rule("VOID_AND_WARN")
    await written(first, dismissed, other, elsewhere, doubled("T/b4", later_ms=400_000))
    await reader.settled()
    told = await reader.cases.GetCase(pb.GetCaseRequest(game_id="T/b4", case_id="5", min_seq=5), timeout=TIMEOUT_S)
    assert (told.case.person, ids(told.earlier)) == ("li", ["T/b1 5"])
    assert told.earlier[0].case.option == "VOID_AND_WARN"


async def test_cases_and_games_that_are_not_there_are_told_apart(reader: Reader, written: Written) -> None:
    await written(doubled())
    await reader.settled()
    for game_id, case_id, expected in (("T/b1", "9", "CASE_UNKNOWN"), ("nowhere", "5", "GAME_UNKNOWN")):
        request = pb.GetCaseRequest(game_id=game_id, case_id=case_id)
        assert code(await refused(reader.cases.GetCase(request, timeout=TIMEOUT_S))) == expected


async def test_lists_of_a_game_know_whether_it_is_there_and_wait_for_it(reader: Reader, written: Written) -> None:
    await written(doubled())
    assert ids(await reader.list_cases(game_id="T/b1", min_seq=5)) == ["T/b1 5"]
    assert await reader.list_penalties(game_id="T/b1", min_seq=5) == []
    for listed in (reader.list_cases, reader.list_penalties):
        assert code(await refused(listed(game_id="nowhere"))) == "GAME_UNKNOWN"
        told = await refused(listed(min_seq=5))
        assert (code(told), told.reason) == ("MALFORMED", "min_seq is the seq of a game: name game_id")
        assert await listed(tournament_id="nowhere") == []


async def test_a_game_that_diverged_shows_no_cases(reader: Reader, written: Written, log: EventLog) -> None:
    play, other = doubled().rule("VOID_AND_WARN"), doubled(black="sun")
    await written(play)
    await reader.settled()
    assert len(await reader.list_cases()) == len(await reader.list_penalties()) == 1
    await write(log, other.outcomes[:1])
    await reader.settled()
    assert (await reader.list_cases(), await reader.list_penalties()) == ([], [])


# Preview


async def preview(reader: Reader, option: str, **said: Any) -> outcome_pb2.Verdict:
    about = {name: said.pop(name) for name in ("game_id", "person", "at_ms") if name in said}
    ruling = RulingDecided(option=option, **{"case_id": "5", "role": ROLE_ARBITER, **said})
    request = pb.PreviewRulingRequest(**{"game_id": "T/b1", **about}, ruling=ruling)
    return (await reader.cases.PreviewRuling(request, timeout=TIMEOUT_S)).verdict


async def events(log: EventLog, play: Play) -> None:
    await log.append("game-events", [NewRecord(play.game_id.encode(), past.value) for past in play.log])


async def test_a_preview_is_the_verdict_that_the_ruling_gets_and_stores_nothing(
    reader: Reader, written: Written, log: EventLog
) -> None:
    play = doubled()
    await events(log, play)
    await written(play)
    await reader.settled()
    ends = [await log.end(topic, partition) for topic in ("game-events", OUTCOMES) for partition in range(4)]
    before = await reader.list_cases()
    told = await preview(reader, "VOID_AND_WARN", reason="seen", case_revision=5)
    real = play.rule("VOID_AND_WARN").verdict
    assert (told.status, told.effects, told.removed, told.turn, told.seq) == (
        real.status,
        real.effects,
        real.removed,
        real.turn,
        real.seq,
    )
    assert told.penalties == real.penalties
    assert [each.clause for each in told.ledger.penalties] == ["CN2002 17.2"]
    assert (await reader.list_cases(), await reader.list_penalties()) == (before, [])
    assert ends == [await log.end(topic, partition) for topic in ("game-events", OUTCOMES) for partition in range(4)]


async def test_a_preview_of_the_losing_warning_shows_the_result(
    reader: Reader, written: Written, log: EventLog
) -> None:
    play = doubled().rule("VOID_AND_WARN").moves("W C14, B C3, B C5")
    await events(log, play)
    await written(play)
    await reader.settled()
    told = await preview(reader, "VOID_AND_WARN", case_id=next(iter(play.game.table.cases)))
    assert (told.result.clause, told.phase) == ("CN2002 24.2", outcome_pb2.PHASE_ENDED)


async def test_a_preview_says_why_a_ruling_would_be_refused_and_what_would_be_allowed(
    reader: Reader, written: Written, log: EventLog
) -> None:
    play = table().stone("B", "E7", manner="DROPPED").consent("W", accept=False)
    await events(log, play)
    await written(play)
    await reader.settled()
    told = await preview(reader, "STANDS_WHERE_IT_FELL", case_id="2")
    assert told.status == outcome_pb2.STATUS_REFUSED
    assert told.reason.startswith("role: needs CHIEF, not ARBITER")
    told = await preview(reader, "STANDS_WHERE_IT_FELL", case_id="2", role=ROLE_CHIEF)
    assert told.status == outcome_pb2.STATUS_FOLDED
    told = await preview(reader, "OTHER", case_id="2", role=ROLE_CHIEF)
    assert told.reason == "effects: this option leaves them to you; enter at least one"
    told = await preview(reader, "STANDS_WHERE_IT_FELL", case_id="2", role=ROLE_CHIEF, person="arbiter")
    assert told.reason.startswith("role: 'arbiter' is not CHIEF in this game")
    told = await preview(reader, "STANDS_WHERE_IT_FELL", case_id="2", role=ROLE_DEPUTY)
    assert told.status == outcome_pb2.STATUS_REFUSED


async def test_a_preview_judges_by_the_corrected_record(reader: Reader, written: Written, log: EventLog) -> None:
    play = doubled().retract("e5").moves("W C14, B C3, B C5")
    await events(log, play)
    await written(play)
    await reader.settled()
    told = await preview(reader, "VOID_AND_WARN", case_id=next(iter(play.game.table.cases)))
    assert (told.status, told.removed) == (outcome_pb2.STATUS_FOLDED, ["C5"])


async def test_a_preview_of_a_game_that_is_not_there_or_of_no_role_is_refused(reader: Reader, written: Written) -> None:
    await written(doubled())
    await reader.settled()
    assert code(await refused(preview(reader, "WARN", game_id="nowhere"))) == "GAME_UNKNOWN"
    told = await refused(preview(reader, "WARN", role=0))
    assert (code(told), told.field) == ("MALFORMED", "ruling.role")


# Watching a hall


async def update(call: Any) -> pb.WatchCasesResponse:
    while True:
        told: pb.WatchCasesResponse = await call.read()
        if not told.HasField("heartbeat"):
            return told


async def test_a_watcher_gets_the_open_cases_then_each_that_opens_changes_or_closes(
    reader: Reader, written: Written
) -> None:
    first, second = doubled("T/b1"), table("T/b2")
    await written(first, second, doubled("T/b3").rule("DISMISS"))
    await reader.settled()
    call = reader.watch_cases("T")
    snapshot = await update(call)
    assert (ids(list(snapshot.open.cases)), snapshot.open.more) == (["T/b1 5"], False)
    await written(doubled("U/b1"))
    await written(second.moves(DOUBLE))
    opened = await update(call)
    assert ids([opened.changed]) == ["T/b2 5"]
    await written(first.claim("W", "CN2002 17.2"))
    changed = (await update(call)).changed.case
    assert (changed.revision, [claim.late for claim in changed.claims]) == (6, [False])
    await written(first.rule("VOID_AND_WARN"))
    closed = await update(call)
    assert (closed.changed.case.status, closed.changed.case.option) == (
        outcome_pb2.CASE_STATUS_DECIDED,
        "VOID_AND_WARN",
    )


async def test_a_resumed_watcher_gets_what_changed_meanwhile_once_as_it_stands(
    reader: Reader, written: Written
) -> None:
    first, second = doubled("T/b1"), table("T/b2")
    await written(first, second)
    await reader.settled()
    call = reader.watch_cases("T")
    token = (await update(call)).resume_token
    call.cancel()
    await written(second.moves(DOUBLE).stone("W", "C14").rule("VOID_AND_WARN"))
    await reader.settled()
    again = reader.watch_cases("T", token)
    told = await update(again)
    assert (ids([told.changed]), told.changed.case.status) == (["T/b2 5"], outcome_pb2.CASE_STATUS_DECIDED)
    await written(first.rule("DISMISS"))
    assert ids([(await update(again)).changed]) == ["T/b1 5"]


async def test_many_open_cases_come_in_several_messages_and_only_the_last_has_a_token(
    reader: Reader, written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("caipan.query.cases._SNAPSHOT_BYTES", 1000)
    await written(*(doubled(f"T/b{number}") for number in range(10)))
    await reader.settled()
    call, messages = reader.watch_cases(), []
    while not messages or messages[-1].open.more:
        messages.append(await update(call))
    assert len(messages) > 1
    assert sum(len(message.open.cases) for message in messages) == 10
    assert [bool(message.resume_token) for message in messages] == [False] * (len(messages) - 1) + [True]


async def test_a_hall_that_is_quiet_sends_heartbeats_though_others_are_busy(
    log: EventLog, written: Written, tmp_path: Path
) -> None:
    async with Reader(log, tmp_path / "quick.db", heartbeat_s=0.05) as reader:
        call = reader.watch_cases("T")
        assert (await call.read()).HasField("open")
        busy = doubled("U/b1")
        for point in ("C14", "C13", "C12"):
            await written(busy.stone("W", point))
        told = await call.read()
        assert told.HasField("heartbeat")
        assert told.resume_token


async def test_tokens_that_do_not_fit_are_refused(reader: Reader, written: Written, tmp_path: Path) -> None:
    await written(doubled())
    await reader.settled()
    call = reader.watch_cases("T")
    token = (await update(call)).resume_token
    for wrong, tournament in (("x" * 40, "T"), (token, "U")):
        told = await refused(reader.watch_cases(tournament, wrong).read())
        assert (code(told), told.field) == ("MALFORMED", "resume_token")
    async with EmbeddedLog(tmp_path / "other.db") as other, Reader(other, tmp_path / "other-read.db") as elsewhere:
        await write(other, doubled(black="sun").outcomes)
        await elsewhere.settled()
        told = await refused(elsewhere.watch_cases("T", token).read())
        assert code(told) == "TOKEN_STALE"


async def test_a_server_that_stops_ends_a_watch_with_its_last_token(
    log: EventLog, written: Written, tmp_path: Path
) -> None:
    await written(doubled())
    async with Reader(log, tmp_path / "stopping.db") as reader:
        call = reader.watch_cases("T")
        token = (await update(call)).resume_token
        await reader.stop_following()
        _, error = await rest(call)
        assert (code(error), error.resume_token) == ("SHUTTING_DOWN", token)
    async with Reader(log, tmp_path / "stopping.db") as reader:
        call = reader.watch_cases("T", token)
        await written(doubled("T/b2"))
        assert ids([(await update(call)).changed]) == ["T/b2 5"]


# The tables are derived


async def test_cases_and_penalties_are_the_same_when_the_read_model_is_built_again(
    log: EventLog, written: Written, tmp_path: Path
) -> None:
    games = [doubled("T/b1"), doubled("T/b2").rule("VOID_AND_WARN"), dropped("T/b3", "PICK_UP_FREE")]
    games.append(doubled("T/b4").rule("VOID_AND_WARN").retract("e5"))
    first = []
    async with Reader(log, tmp_path / "one.db") as reader:
        for play in games:
            for _ in play.outcomes:
                await written(play)
        await reader.settled()
        first = [await reader.list_cases(), await reader.list_penalties(), await reader.list()]
    async with Reader(log, tmp_path / "two.db") as reader:
        await reader.settled()
        assert [await reader.list_cases(), await reader.list_penalties(), await reader.list()] == first
