"""What a query answers about games, over gRPC, from outcomes of the fold in a real log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.events import opened
from support.play import Play
from support.reading import TIMEOUT_S, Reader, Written, code, heads, refused, write

from caipan.eventlog import EventLog
from caipan.eventlog.embedded import EmbeddedLog
from caipan.v1 import game_service_pb2 as pb
from caipan.v1 import outcome_pb2
from caipan.v1.facts_pb2 import GameOpened, StonePlaced


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


def in_tournament(game_id: str, tournament_id: str, **how: object) -> Play:
    play = Play(game_id=game_id, opening=False, **how)
    play.opening.tournament_id = tournament_id
    return play.open()


# One game


async def test_a_game_is_answered_as_the_fold_has_it(reader: Reader, written: Written) -> None:
    play = Play(9, players=["li", "xu"]).moves("B E5, W E4, B D4, W D3, B F4, W F3, B E3")
    await written(play)
    game = await reader.game("game", min_seq=8)
    assert list(game.board) == play.board()
    assert game.captured_white == 1
    assert game.last_point == "E3"
    assert (game.seq, game.head, game.state_digest) == (8, play.game.head, play.digest)
    assert game.opened == play.opening
    assert not game.diverged


async def test_a_game_that_was_not_opened_is_unknown(reader: Reader, written: Written) -> None:
    play = Play(game_id="orphan", opening=False).stone("B", "Q16")
    await written(play)
    await reader.settled()
    for game_id in ("orphan", "nothing at all"):
        told = await refused(reader.game(game_id))
        assert code(told) == "GAME_UNKNOWN"
        assert repr(game_id) in told.reason
    assert await reader.list() == []


async def test_an_opening_that_was_put_aside_opens_nothing(reader: Reader, written: Written) -> None:
    wrong = Play(game_id="odd", opening=False)
    wrong.opening.pins.regulations.edition = "XX1900"
    wrong.open()
    await written(wrong)
    assert wrong.status == "QUARANTINED"
    await reader.settled()
    assert code(await refused(reader.game("odd"))) == "GAME_UNKNOWN"
    wrong.opening = opened()
    await written(wrong.open())
    assert (await reader.game("odd", min_seq=2)).seq == 2


async def test_min_seq_waits_until_the_outcome_is_there(reader: Reader, written: Written) -> None:
    play = Play()
    await written(play)
    waiting = asyncio.ensure_future(reader.game("game", min_seq=3))
    await written(play.stone("B", "Q16"))
    assert (await reader.game("game", min_seq=2)).seq == 2
    assert not waiting.done()
    await written(play.stone("W", "D4"))
    assert (await waiting).seq == 3


async def test_min_seq_waits_for_a_game_that_is_not_here_yet(reader: Reader, written: Written) -> None:
    waiting = asyncio.ensure_future(reader.game("game", min_seq=1))
    await reader.status()
    await written(Play())
    assert (await waiting).seq == 1


async def test_min_seq_holds_for_the_outcomes_of_a_game_too(reader: Reader, written: Written) -> None:
    request = pb.ListOutcomesRequest(game_id="game", min_seq=2)
    waiting = asyncio.ensure_future(reader.games.ListOutcomes(request, timeout=20))
    await reader.status()
    await written(Play().stone("B", "Q16"))
    assert [outcome.verdict.seq for outcome in (await waiting).outcomes] == [1, 2]


async def test_min_seq_that_is_not_reached_within_the_deadline_is_told_as_such(
    reader: Reader, written: Written
) -> None:
    await written(Play())
    for game_id, found in (("game", "at 1"), ("later", "no game")):
        told = await refused(reader.games.GetGame(pb.GetGameRequest(game_id=game_id, min_seq=2), timeout=1))
        assert code(told) == "NOT_YET"
        assert told.field == "min_seq"
        assert found in told.reason
    assert not len(reader.query._watchers)


# Lists of games


async def test_games_are_listed_page_by_page_in_the_order_of_their_ids(reader: Reader, written: Written) -> None:
    ids = ["b", "a/2", "a/10", "Z", "é", "棋", "\U0001f000", "a"]
    await written(*(Play(game_id=game_id) for game_id in ids))
    await reader.settled()
    for size in (1, 3, 7, 8, 0):
        assert [game.game_id for game in await reader.list(page_size=size)] == sorted(ids, key=str.encode)


async def test_without_a_page_size_fifty_games_come(reader: Reader, written: Written) -> None:
    await written(*(Play(2, game_id=f"g{number:03}") for number in range(51)))
    await reader.settled()
    page = await reader.games.ListGames(pb.ListGamesRequest())
    assert [game.game_id for game in page.games] == [f"g{number:03}" for number in range(50)]
    assert page.next_page_token


async def test_a_game_that_comes_between_two_pages_repeats_and_hides_no_other(reader: Reader, written: Written) -> None:
    await written(*(Play(game_id=game_id) for game_id in "bdfh"))
    await reader.settled()
    first = await reader.games.ListGames(pb.ListGamesRequest(page_size=2))
    await written(*(Play(game_id=game_id) for game_id in "aceg"))
    await reader.settled()
    second = await reader.games.ListGames(pb.ListGamesRequest(page_size=9, page_token=first.next_page_token))
    assert [game.game_id for game in first.games] == ["b", "d"]
    assert [game.game_id for game in second.games] == ["e", "f", "g", "h"]
    assert not second.next_page_token


async def test_games_are_filtered_by_tournament_and_phase(reader: Reader, written: Written) -> None:
    plays = [in_tournament(f"g{number}", "t1" if number % 2 else "t2") for number in range(6)]
    plays[1].resign("B")
    plays[2].resign("B")
    plays[3].pass_("B").pass_("W")
    await written(*plays)
    await reader.settled()

    async def ids(*phases: outcome_pb2.Phase, tournament_id: str = "") -> list[str]:
        listed = await reader.list(tournament_id=tournament_id, phases=phases, page_size=2)
        return [game.game_id for game in listed]

    assert await ids(tournament_id="t1") == ["g1", "g3", "g5"]
    assert await ids(outcome_pb2.PHASE_ENDED) == ["g1", "g2"]
    assert await ids(outcome_pb2.PHASE_ENDED, outcome_pb2.PHASE_DEAD_STONES) == ["g1", "g2", "g3"]
    assert await ids(outcome_pb2.PHASE_PLAY, tournament_id="t2") == ["g0", "g4"]
    assert await ids(tournament_id="t3") == []


async def test_a_page_token_is_refused_when_it_is_damaged_or_of_other_filters(reader: Reader, written: Written) -> None:
    await written(*(in_tournament(game_id, "t1") for game_id in "abc"), *(Play(game_id=game_id) for game_id in "de"))
    await reader.settled()
    token = (await reader.games.ListGames(pb.ListGamesRequest(page_size=1, tournament_id="t1"))).next_page_token
    for request in (
        pb.ListGamesRequest(tournament_id="t1", page_token=token[:-1] + "x"),
        pb.ListGamesRequest(tournament_id="t1", page_token="b"),
        pb.ListGamesRequest(tournament_id="t2", page_token=token),
        pb.ListGamesRequest(page_token=token),
        pb.ListGamesRequest(tournament_id="t1", phases=[1], page_token=token),
    ):
        told = await refused(reader.games.ListGames(request))
        assert (code(told), told.field) == ("MALFORMED", "page_token")


async def test_a_page_of_large_games_ends_before_an_answer_is_too_large(reader: Reader, log: EventLog) -> None:
    """A thousand games with full boards, many officials and long names would not fit into one message."""
    points = [f"{column}{row}" for column in "ABCDEFGHJKLMNOPQRSTUVWXYZ" for row in range(1, 26)]
    officials = [(f"{'o' * 120}{number}", "ARBITER") for number in range(32)]
    opening = opened(25, black=points[:312], white=points[312:], officials=officials)
    assert isinstance(opening, GameOpened)
    for batch in range(10):
        plays = []
        for number in range(batch * 60, batch * 60 + 60):
            play = Play(game_id=f"g{number:03}", opening=False)
            play.opening = opening
            plays.append(play.open())
        await write(log, [outcome for play in plays for outcome in play.outcomes])
    await reader.settled()
    listed = await reader.list(page_size=1000)
    assert [game.game_id for game in listed] == [f"g{number:03}" for number in range(600)]
    assert sum(game.ByteSize() for game in listed) > 4 << 20


# Lists of outcomes


async def test_outcomes_are_listed_page_by_page_as_they_stand_in_the_log(reader: Reader, written: Written) -> None:
    play = Play(5).moves("B A1, W B2, B C3, W A1, B pass")
    play.replace("e2", StonePlaced(point="B1"), "B")
    await written(play, Play(game_id="gam"), Play(game_id="game2"))
    await reader.settled()
    for size in (1, 2, 7, 0):
        assert await reader.outcomes("game", size) == play.outcomes


async def test_notices_are_not_among_the_outcomes(reader: Reader, written: Written) -> None:
    play = Play(5)
    play.stone("B", "A1", seq=2)
    play.send_bytes(play.log[0].value)
    play.stone("B", "B1", seq=1)
    assert [outcome.verdict.seq for outcome in play.outcomes] == [1, 0, 0, 2, 3]
    await written(play)
    await reader.settled()
    assert heads(await reader.outcomes("game")) == heads([each for each in play.outcomes if each.verdict.seq])


async def test_outcomes_of_a_game_that_was_not_opened_are_not_listed(reader: Reader) -> None:
    assert code(await refused(reader.outcomes("game"))) == "GAME_UNKNOWN"


async def test_a_page_token_of_outcomes_is_good_for_its_game_alone(reader: Reader, written: Written) -> None:
    await written(*(Play(game_id=game_id).stone("B", "Q16") for game_id in ("a", "b")))
    await reader.settled()
    page = await reader.games.ListOutcomes(pb.ListOutcomesRequest(game_id="a", page_size=1))
    assert page.next_page_token
    told = await refused(
        reader.games.ListOutcomes(pb.ListOutcomesRequest(game_id="b", page_token=page.next_page_token))
    )
    assert (code(told), told.field) == ("MALFORMED", "page_token")


# Requests


@pytest.mark.parametrize(
    ("method", "request_", "field"),
    [
        ("GetGame", pb.GetGameRequest(), "game_id"),
        ("GetGame", pb.GetGameRequest(game_id="g" * 129), "game_id"),
        ("GetGame", pb.GetGameRequest(game_id="g", min_seq=-1), "min_seq"),
        ("ListGames", pb.ListGamesRequest(page_size=1001), "page_size"),
        ("ListGames", pb.ListGamesRequest(page_size=-1), "page_size"),
        ("ListGames", pb.ListGamesRequest(phases=[1, 77]), "phases[1]"),
        ("ListGames", pb.ListGamesRequest(tournament_id="t" * 129), "tournament_id"),
        ("ListOutcomes", pb.ListOutcomesRequest(), "game_id"),
        ("ListOutcomes", pb.ListOutcomesRequest(game_id="g", page_size=1001), "page_size"),
        ("ListOutcomes", pb.ListOutcomesRequest(game_id="g", page_token="p" * 513), "page_token"),
    ],
)
async def test_a_field_that_breaks_its_rule_is_named(reader: Reader, method: str, request_: object, field: str) -> None:
    told = await refused(getattr(reader.games, method)(request_, timeout=TIMEOUT_S))
    assert (code(told), told.field) == ("MALFORMED", field)
