"""The fold never raises, whatever stands in the log (design 1.3), and what it says stays well formed."""

from __future__ import annotations

from hashlib import sha256
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.play import Play, refereed
from support.streams import logs, make_message, seeds, timed_openings, wild_events

from caipan.rules import docket
from caipan.rules.act import Act
from caipan.rules.points import BLACK
from caipan.v1 import facts_pb2 as facts
from caipan.v1.event_pb2 import Event
from caipan.v1.outcome_pb2 import STATUS_DUPLICATE, STATUS_PARKED


@given(logs())
def test_no_log_of_a_hall_makes_it_raise(log: list[bytes]) -> None:
    well_formed(sent(Play(opening=False), log))


@given(st.sampled_from([2, 4, 19]), wild_events())
def test_nothing_that_parses_makes_it_raise(size: int, log: list[bytes]) -> None:
    """Unknown enum values, extreme numbers, empty oneofs: after a proper opening and some moves."""
    well_formed(sent(Play(size).moves("B A1, W B1"), log))


@given(timed_openings(), wild_events())
def test_nothing_that_parses_makes_a_game_with_clocks_raise(how: dict[str, Any], log: list[bytes]) -> None:
    well_formed(sent(Play(4, **how).moves("B A1, W B1"), log))


_ENDS_OF_TIME = [-(2**63), -(2**62), 0, 2**62, 2**63 - 1]


@pytest.mark.parametrize("first", _ENDS_OF_TIME)
@pytest.mark.parametrize("last", _ENDS_OF_TIME)
@pytest.mark.parametrize("regime", range(7))
def test_no_time_makes_it_raise(first: int, last: int, regime: int) -> None:
    clocks = {"untimed": False, "regime": regime, "stage_moves": 2, "stage_s": 5, "basic_time_s": 60} if regime else {}
    play = refereed(9, retained_minutes=1, **clocks)
    play.opening.pins.regulations.max_step_s = 2**31 - 1
    far = facts.ClockReading(black_ms=2**63 - 1, white_ms=2**63 - 1, watch_ms=-(2**63))
    for at, fact in [
        (first, facts.SessionMarked(mark="MARK_START")),
        (first, stone("E5")),
        (last, facts.PresenceChanged(present=True)),
        (last, facts.ConductObserved(against=1, kind="KIND_TALK_START")),
        (last, far),
        (last, facts.SessionMarked(mark="MARK_RESUME")),
        (last, facts.SessionMarked(mark="MARK_PAUSE")),
        (last, far),
        (last, facts.SessionMarked(mark="MARK_START")),
        (last, stone("C3")),
    ]:
        made = play.make(fact, "B" if play.made % 2 else "W")
        made.at_ms = at
        play.send(made)
    for option, clause in [("SPLIT_EVENLY", "CN2002 22.9"), ("REPLACE_AND_CORRECT", "CN2002 22.8")]:
        play.rule(option, clause, case="", against=1)
    play.rule("DEDUCT", "CN2002 22.1", case="", against=1)
    well_formed(play)


@given(st.sampled_from([2, 4, 19]), seeds)
def test_no_opening_that_parses_makes_it_raise(size: int, seed: int) -> None:
    """Pins and set-ups that no gateway would write."""
    play = Play(size, opening=False)
    play.opening.MergeFrom(make_message(Random(seed), facts.GameOpened))
    play.open()
    if play.game.table is not None:
        play.moves("B A1, W B1, B B2, B A2, W pass, B pass").dead("B", "A1").answer_dead("W").resign("B")
    well_formed(play)


@given(st.lists(st.binary(max_size=40), max_size=5))
def test_no_bytes_make_it_raise(records: list[bytes]) -> None:
    well_formed(sent(Play(9), records))


@given(logs(20), seeds)
def test_no_damage_to_a_record_makes_it_raise(log: list[bytes], seed: int) -> None:
    random = Random(seed)
    record = bytearray(log[place := random.randrange(len(log))])
    for _ in range(random.randint(1, 3) if record else 0):
        record[random.randrange(len(record))] = random.randrange(256)
    log[place] = bytes(record)
    well_formed(sent(Play(opening=False), log))


def sent(play: Play, log: list[bytes]) -> Play:
    for value in log:
        play.send_bytes(value)
    return play


def well_formed(play: Play) -> None:
    """Each record is answered once; seqs have no gaps; notices are in no chain; a watcher can draw the board."""
    assert [verdict.seq for verdict in play.verdicts] == list(range(1, len(play.verdicts) + 1))
    head = sha256(b"\x00game").digest()
    for outcome in play.outcomes:
        notice = outcome.verdict.status in (STATUS_DUPLICATE, STATUS_PARKED)
        assert (outcome.verdict.seq == 0, outcome.head == b"") == (notice, notice)
        if not notice:
            assert outcome.prev_head == head
            head = outcome.head
    if play.game.table is not None:
        assert play.drawn() == play.stones()


def stone(point: str, colour: int = 0) -> facts.StonePlaced:
    return facts.StonePlaced(point=point, color=colour)


@pytest.mark.parametrize("seat", [3, 5, 300, -1, 2**31 - 1])
@pytest.mark.parametrize(
    "fact",
    [
        stone("E5"),
        stone("E5", 1),
        facts.StoneLifted(point="A1"),
        facts.StonesCaptured(points=["A1"]),
        facts.ClockPressed(),
        facts.PassDeclared(),
        facts.EndProposed(),
        facts.EndAnswered(accept=True),
        facts.GameResigned(),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, int) else str(value),
)
def test_a_seat_that_does_not_exist_raises_nothing(fact: Any, seat: int) -> None:
    play = Play(9).stone("B", "A1")
    made = play.make(fact, "B")
    made.player = seat
    play.send(made).stone("W", "C3").press("W")
    well_formed(play)


@pytest.mark.parametrize("colour", [3, 5, 300, -1])
def test_a_colour_that_does_not_exist_raises_nothing(colour: int) -> None:
    well_formed(Play(9).say(stone("E5", colour), "B").stone("W", "C3").stone("B", "E6"))


@pytest.mark.parametrize("seat", [3, 300])
@pytest.mark.parametrize("fact", [facts.DeadProposed(points=["A1"]), facts.DeadAnswered(accept=True)])
def test_dead_stones_of_a_seat_that_does_not_exist_raise_nothing(fact: Any, seat: int) -> None:
    play = Play(9).moves("B A1, W pass, B pass")
    made = play.make(fact, "B")
    made.player = seat
    well_formed(play.send(made).dead("B").answer_dead("W"))


@pytest.mark.parametrize("role", [10, 300, -1])
def test_a_role_that_does_not_exist_raises_nothing(role: int) -> None:
    well_formed(Play(9).say(facts.OfficialAppointed(person="x", role=role)).stone("B", "E5"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"side_to_move": 7},
        {"side_to_move": 300},
        {"komi_qz": -(2**31)},
        {"komi_qz": 2**31 - 1},
        {"handicap": 70_000, "handicap_placement": 2},
        {"handicap": -5, "handicap_placement": 2},
        {"max_step_s": -1},
        {"clock_skew_ms": -1},
        {"superko_mode": 9},
        {"warning_qz": 2**31 - 1},
        {"warning_points": -1},
    ],
    ids=str,
)
def test_pins_that_no_gateway_writes_raise_nothing(wrong: dict[str, int]) -> None:
    play = Play(9, opening=False)
    for name, value in wrong.items():
        target = play.opening if name == "side_to_move" else play.opening.pins.regulations
        setattr(target, name, value)
    play.open()
    if play.game.table is not None:
        play.moves("B E5, W C3, B pass, W pass, B pass").dead("B").answer_dead("W").dead("W").answer_dead("B")
    well_formed(play)


@pytest.mark.parametrize("number", [-1, -(2**63), 2**63 - 1])
def test_extreme_source_numbers_raise_nothing(number: int) -> None:
    play = Play(9)
    for _ in range(3):
        play.say(stone("E5"), "B", seq=number).say(facts.SourceResumed(next_source_seq=number), seq=number)
    well_formed(play)


def test_one_event_may_open_more_cases_than_the_alphabet_has_letters() -> None:
    act = Act(Event(), "e7", "", "tablet", b"", 0)
    act.seq = 7
    table = Play(4).game.table
    cases = [docket.open_case(table, act, BLACK, 0, []) for _ in range(40)]
    names = [case.told.case_id for case in cases]
    assert len({*names}) == 40
    assert (names[0], names[1], names[25], names[26]) == ("7", "7b", "7z", "7bb")
