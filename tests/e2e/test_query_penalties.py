"""What a query answers about penalties, and how rulings on the same matter compare."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from support.incidents import doubled, dropped, table
from support.reading import TIMEOUT_S, Reader, Written, code, refused

from caipan.eventlog import EventLog
from caipan.eventlog.embedded import EmbeddedLog
from caipan.v1 import case_service_pb2 as pb
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.common_pb2 import COLOR_BLACK, COLOR_WHITE


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


# Penalties


async def test_penalties_are_listed_by_game_person_and_tournament(reader: Reader, written: Written) -> None:
    twice = doubled("T/b1").rule("VOID_AND_WARN").moves("W C14, B C3, B C5").rule("VOID_AND_WARN")
    await written(twice, doubled("T/b2", black="sun").rule("VOID_AND_WARN"), doubled("U/b1").rule("VOID_AND_WARN"))
    await reader.settled()

    async def listed(**asked: Any) -> list[str]:
        return [f"{each.game_id} {each.person}" for each in await reader.list_penalties(page_size=1, **asked)]

    assert await listed() == ["T/b1 li", "T/b1 li", "T/b2 sun", "U/b1 li"]
    assert await listed(person="li") == ["T/b1 li", "T/b1 li", "U/b1 li"]
    assert await listed(tournament_id="T", person="li") == ["T/b1 li", "T/b1 li"]
    assert await listed(game_id="T/b2") == ["T/b2 sun"]
    assert await listed(person="nobody") == []
    (first, *_) = await reader.list_penalties()
    assert (first.penalty.clause, first.penalty.ruling, first.penalty.move) == ("CN2002 17.2", "e6", 3)


async def test_a_corrected_record_takes_the_penalty_that_rested_on_it_away(reader: Reader, written: Written) -> None:
    play = doubled().rule("VOID_AND_WARN")
    await written(play)
    await reader.settled()
    assert len(await reader.list_penalties(game_id="T/b1")) == 1
    await written(play.retract("e5"))
    await reader.settled()
    assert await reader.list_penalties(game_id="T/b1") == []
    assert not (await reader.game("T/b1")).penalties


async def test_who_changes_colours_keeps_what_stands_against_him(reader: Reader, written: Written) -> None:
    play = doubled().rule("VOID_AND_WARN").claim("W", "CN2002 17.1", against="B")
    colours = [rl.Effect(set_colours=rl.SetColours(black="xu", white="li"))]
    play.rule("SWAP_PLAYERS", role="CHIEF", effects=colours)
    assert play.status == "FOLDED", play.reason
    await written(play)
    await reader.settled()
    (penalty,) = await reader.list_penalties()
    assert (penalty.person, penalty.penalty.side) == ("li", COLOR_WHITE)
    assert {each.person for each in await reader.list_cases(game_id="T/b1")} == {"li"}


# The same infraction, the same sanction?


async def compare(reader: Reader, **asked: Any) -> pb.CompareRulingsResponse:
    return await reader.penalties.CompareRulings(pb.CompareRulingsRequest(**asked), timeout=TIMEOUT_S)


async def test_rulings_on_the_same_matter_stand_side_by_side_and_the_odd_one_is_marked(
    reader: Reader, written: Written
) -> None:
    games = [
        dropped("T/b1", "STANDS_WHERE_IT_FELL"),
        dropped("T/b2", "PICK_UP_FREE", 10_000),
        dropped("T/b3", "STANDS_WHERE_IT_FELL", 20_000),
        dropped("T/b4", "DISMISS", 30_000),
        dropped("U/b1", "PICK_UP_FREE", 40_000),
        doubled("T/b5", later_ms=50_000).rule("VOID_AND_WARN"),
    ]
    await written(*games)
    await reader.settled()
    told = await compare(reader, tournament_id="T", clause="CN2002 17.3 drop")
    assert [(each.case.game_id, each.stands_apart) for each in told.rulings] == [
        ("T/b1", False),
        ("T/b2", True),
        ("T/b3", False),
        ("T/b4", False),
    ]
    assert told.unequal
    assert [each.earlier_of_person for each in told.rulings] == [0, 1, 2, 3]
    assert (await compare(reader, game_id="T/b2", case_id="2")) == told
    assert (await compare(reader, tournament_id="T", clause="CN2002 17.3")).rulings == told.rulings
    alone = await compare(reader, tournament_id="T", clause="CN2002 17.2")
    assert (len(alone.rulings), alone.unequal) == (1, False)


async def test_an_open_case_is_compared_with_what_was_ruled_before(reader: Reader, written: Written) -> None:
    await written(doubled("T/b1").rule("VOID_AND_WARN"), doubled("T/b2", later_ms=60_000))
    await reader.settled()
    told = await compare(reader, game_id="T/b2", case_id="5")
    assert [each.case.game_id for each in told.rulings] == ["T/b1"]


async def test_free_rulings_are_compared_by_what_they_do(reader: Reader, written: Written) -> None:
    warn = [rl.Effect(warn=rl.Warn(player=COLOR_BLACK))]
    admonish = [rl.Effect(admonish=rl.Admonish(player=COLOR_BLACK))]
    for number, effects in enumerate((warn, admonish, warn)):
        play = table(f"T/b{number}", later_ms=1000 * number).stone("B", "Q16").claim("W")
        await written(play.rule("OTHER", role="CHIEF", effects=effects))
        assert play.status == "FOLDED"
    await reader.settled()
    told = await compare(reader, tournament_id="T", clause="CN2002 30.6")
    assert [each.stands_apart for each in told.rulings] == [False, True, False]


async def test_a_clause_that_no_edition_has_is_not_compared(reader: Reader, written: Written) -> None:
    await written(doubled("T/b1").rule("VOID_AND_WARN"))
    await reader.settled()
    for clause in ("17.2", "CN2002 99", "nonsense"):
        told = await refused(compare(reader, tournament_id="T", clause=clause))
        assert (code(told), told.field) == ("MALFORMED", "clause")


async def test_a_comparison_needs_to_know_of_what(reader: Reader, written: Written) -> None:
    for asked in ({}, {"tournament_id": "T"}, {"game_id": "T/b1"}, {"clause": "CN2002 17.2"}):
        told = await refused(compare(reader, **asked))
        assert code(told) == "MALFORMED"
        assert told.reason == "name a tournament and a clause, or a game and a case"
    assert code(await refused(compare(reader, game_id="T/b1", case_id="5"))) == "CASE_UNKNOWN"
