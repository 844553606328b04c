"""What a verdict says: the game at its opening, the board as a watcher draws it, what was refused and why."""

from __future__ import annotations

import pytest
from support.events import actor
from support.play import Play, refereed

from caipan.v1 import facts_pb2 as facts
from caipan.v1.event_pb2 import EventType
from caipan.v1.rulings_pb2 import AppealDecided


def test_the_opening_carries_the_game_as_it_is_judged() -> None:
    play = Play(13, players=["Li", "Wang"], komi_qz=13)
    assert play.verdict.opened == play.opening
    assert (play.verdict.seq, play.verdict.event_type) == (1, EventType.EVENT_TYPE_GAME_OPENED)


@pytest.mark.parametrize(("size", "lines"), [(0, 19), (2, 2), (9, 9), (13, 13), (19, 19), (25, 25)])
def test_a_board_has_2_to_25_lines_and_19_by_default(size: int, lines: int) -> None:
    play = Play(size)
    assert (len(play.board()), play.status) == (lines, "FOLDED")
    last = f"{'ABCDEFGHJKLMNOPQRSTUVWXYZ'[lines - 1]}{lines}"
    assert play.stone("B", last).found == []


@pytest.mark.parametrize("size", [1, -1, 26, 1000])
def test_no_game_is_opened_on_what_is_no_board(size: int) -> None:
    play = Play(opening=False)
    play.opening.size = size
    play.open()
    assert (play.status, play.game.table) == ("QUARANTINED", None)
    assert str(size) in play.verdict.reason


def test_no_game_is_opened_without_pins() -> None:
    play = Play(opening=False)
    play.opening.ClearField("pins")
    play.open()
    assert play.status == "QUARANTINED"
    assert "edition" in play.verdict.reason


def test_a_game_that_could_not_be_opened_can_be_opened_still() -> None:
    play = Play(9, opening=False)
    play.opening.size = 1
    play.open().stone("B", "E5")
    play.opening.size = 9
    play.open(id="again")
    assert (play.stones(), play.number) == ({"E5": "X"}, 1)


def test_a_watcher_draws_the_board_through_provisional_stones_lifted_again() -> None:
    play = Play(9).moves("B A2, W A1, B J9, B B1").lifted("B", "B1").stone("W", "E5")
    assert play.at("A1") == "O"
    assert play.drawn() == play.stones()


def test_a_watcher_draws_what_a_free_handicap_stone_takes() -> None:
    play = Play(5, white=["A1"], handicap=2, handicap_placement=2).stone("B", "A2").stone("B", "B1")
    assert list(play.verdict.removed) == ["A1"]
    assert play.drawn() == play.stones()


def test_provisional_names_stones_that_lie_on_the_board() -> None:
    play = Play(9).stone("B", "A1", color="W").stone("B", "A2").stone("B", "B1")
    assert set(play.provisional) <= set(play.stones())


def test_cn2002_33_an_appeal_is_confirmed_by_the_committee_and_what_changes_the_game_is_on_record_alone() -> None:
    play = refereed().conduct("B", "PHONE_SOUND").rule("LOSS")
    ruling, before = play.last_id, play.digest
    play.say(facts.AppealRaised(ref=ruling), "B")
    for option, role, status, reason in (
        ("CONFIRM", "CHIEF", "REFUSED", "the committee decides appeals (CN2002 33)"),
        ("CONFIRM", "COMMITTEE", "FOLDED", ""),
        ("VARY", "COMMITTEE", "REFUSED", "option: anything but CONFIRM is on record without effect on this game"),
    ):
        decided = AppealDecided(appeal=ruling, option=f"OPTION_{option}")
        play.say(decided, source="office", by=actor(role))
        assert (play.status, play.reason.startswith(reason), play.digest) == (status, True, before)


@pytest.mark.parametrize(
    "fact",
    [
        facts.AppealRaised(),
        facts.ConductObserved(),
        facts.PointShown(point="E5"),
        facts.ClockReading(black_ms=1),
        facts.CountAnnounced(label="10"),
        facts.SourceSynced(offset_ms=-3),
        facts.ClockExpired(),
    ],
    ids=lambda fact: type(fact).__name__,
)
def test_a_fact_without_a_rule_here_is_folded_without_effect(fact: object) -> None:
    play = Play(9).stone("B", "E5")
    before = play.digest
    play.say(fact, "B")
    assert (play.status, play.found, play.digest) == ("FOLDED", [], before)


def test_the_last_verdict_says_where_the_game_stands() -> None:
    play = Play(9).moves("B A2, W A1, B B1, W pass")
    last = play.verdict
    assert (last.move_number, last.turn, last.phase, last.captured_white) == (4, 1, 1, 1)
    assert (last.game_id, last.event_id, last.event_type) == ("game", "e5", EventType.EVENT_TYPE_PASS_DECLARED)


def test_a_result_stands_in_every_later_verdict() -> None:
    play = Play(9).resign("W").stone("B", "E5")
    assert play.verdict.HasField("result")


def test_a_result_is_gone_where_a_correction_takes_it_back() -> None:
    play = Play(9).resign("W").retract("e2")
    assert (play.verdict.HasField("result"), play.phase) == (False, "PLAY")


def test_a_provisional_stone_at_the_end_is_settled_one_way() -> None:
    play = Play(9).moves("B E5, W C3").propose_end("B").stone("B", "G7").answer_end("W")
    assert (play.phase, play.provisional) == ("DEAD_STONES", [])
