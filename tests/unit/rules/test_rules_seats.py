"""A PLAYER acts for the own seat alone (rules 7.1); whoever reports for others has another role."""

from __future__ import annotations

import pytest
from support.play import Play, arbiter

from caipan.v1 import facts_pb2 as facts
from caipan.v1.common_pb2 import ROLE_PLAYER, ROLE_RECORDER, Actor


def li_and_wang() -> Play:
    return Play(9, players=["li", "wang"], colours=("li", "wang"))


def player(person: str) -> Actor:
    return Actor(person=person, role=ROLE_PLAYER)


def test_a_player_resigns_for_the_own_seat() -> None:
    play = li_and_wang().say(facts.GameResigned(), "B", by=player("li"))
    assert (play.status, play.verdict.HasField("result")) == ("FOLDED", True)


@pytest.mark.parametrize("person", ["wang", "zhang"])
def test_nobody_resigns_for_another_seat_as_a_player(person: str) -> None:
    play = li_and_wang()
    digest = play.digest
    play.say(facts.GameResigned(), "B", by=player(person))
    assert (play.status, play.digest, play.verdict.HasField("result")) == ("REFUSED", digest, False)
    assert "own one" in play.verdict.reason


def test_a_recorder_reports_for_both_seats() -> None:
    recorder = Actor(person="anna", role=ROLE_RECORDER)
    play = li_and_wang().say(facts.PassDeclared(), "B", by=recorder).say(facts.PassDeclared(), "W", by=recorder)
    assert play.found == []


def test_before_colours_are_given_either_player_may_act_for_a_seat_and_nobody_else() -> None:
    play = Play(9, players=["li", "wang"])
    assert play.say(facts.PassDeclared(), "B", by=player("wang")).status == "FOLDED"
    assert play.say(facts.PassDeclared(), "W", by=player("zhang")).status == "REFUSED"


def test_a_correction_of_a_players_record_is_no_act_of_that_player() -> None:
    play = Play(9, players=["li", "wang"], colours=("li", "wang"), officials=[("zhao", "ARBITER")])
    play.say(facts.StonePlaced(point="E5"), "B", by=player("li"))
    play.insert_after(play.last_id, facts.StonePlaced(point="C3"), "W", source="tablet", by=arbiter("zhao"))
    assert (play.status, play.stones()) == ("FOLDED", {"E5": "X", "C3": "O"})


def test_the_chief_may_act_as_an_arbiter() -> None:
    play = Play(9, officials=[("zhao", "CHIEF")]).stone("B", "E5")
    play.retract(play.last_id, source="tablet", by=arbiter("zhao"))
    assert (play.status, play.stones()) == ("FOLDED", {})


def test_a_stranger_is_no_player_of_a_game_that_names_none() -> None:
    assert Play(9).say(facts.GameResigned(), "W", by=player("zhang")).status == "REFUSED"
