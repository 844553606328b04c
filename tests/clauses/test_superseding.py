"""A ruling that supersedes another (CN2002 16.4, rules 0.6): the game is judged again, both stay in the record."""

from __future__ import annotations

import pytest
from support.events import actor
from support.play import Play, refereed

from caipan.rules.checkpoint import load, save
from caipan.v1 import rulings_pb2 as rl

DOUBLE = "B Q16, W D4, B Q3, B D17"


def instead(play: Play, option: str, of: str, clause: str = "", role: str = "CHIEF", **said: object) -> Play:
    fact = rl.RulingDecided(option=option, clause=clause, supersedes=of, role=f"ROLE_{role}", reason="wrong", **said)
    return play.say(fact, source="tablet", by=actor(role))


def warned() -> Play:
    return refereed().moves(DOUBLE).rule("VOID_AND_WARN")  # e6, on case 5


def test_a_superseded_warning_is_gone_and_both_rulings_stay_in_the_record() -> None:
    play = instead(warned(), "DISMISS", "e6", case_id="5")
    assert (play.status, play.warnings, play.provisional) == ("FOLDED", (0, 0), ["D17"])
    assert [(revision.seq, revision.before.effects != revision.after.effects) for revision in play.verdict.revised] == [
        (6, True)
    ]
    assert play.cases == ["DECIDED"]
    assert play.verdict.cases[0].option == "DISMISS"
    assert play.drawn() == play.stones()
    assert [verdict.seq for verdict in play.verdicts] == list(range(1, 8))


def test_only_the_chief_supersedes() -> None:
    play = instead(warned(), "DISMISS", "e6", role="ARBITER", case_id="5")
    assert (play.status, play.warnings) == ("REFUSED", (1, 0))
    assert play.reason == "role: needs CHIEF, not ARBITER"


def test_superseding_twice_and_back_is_as_never() -> None:
    never, play = warned(), warned()
    instead(play, "DISMISS", "e6", case_id="5")
    instead(play, "VOID_AND_WARN", "e7", case_id="5")
    assert (play.digest, play.warnings) == (never.digest, (1, 0))


def test_a_ruling_that_fits_what_followed_is_judged_from_its_place_on() -> None:
    play = instead(warned().moves("W C14, B C3"), "DISMISS", "e6", case_id="5")
    assert (play.status, play.at("D17"), play.number, play.turn) == ("FOLDED", "X", 6, "W")
    assert play.drawn() == play.stones()


def test_a_ruling_that_no_longer_fits_what_followed_is_refused_with_the_place() -> None:
    play = warned().moves("W D17, B C3")
    before = play.digest
    instead(play, "DISMISS", "e6", case_id="5")  # Black's stone would lie on D17 still
    assert (play.status, play.verdict.diverges_at, play.digest) == ("REFUSED", 7, before)


def test_from_here_takes_the_penalty_back_and_leaves_the_board() -> None:
    play = warned().moves("W C14, B C3")
    board = play.stones()
    instead(play, "DISMISS", "e6", from_here=True)
    assert (play.status, play.warnings, play.stones()) == ("FOLDED", (0, 0), board)
    assert play.again()[1] == play.outcomes


def test_a_loss_superseded_from_here_lets_the_game_go_on() -> None:
    play = refereed().conduct("W", "PHONE_LOOK").rule("LOSS", role="ARBITER").stone("B", "Q16")
    assert (play.phase, play.found) == ("ENDED", ["CN2002 21.3 AFTER_END"])
    instead(play, "DISMISS", "e3", from_here=True)
    assert (play.status, play.phase, play.verdict.HasField("result")) == ("FOLDED", "PLAY", False)
    assert play.stone("B", "Q16").found == []


def test_a_loss_in_the_place_of_a_warning_no_longer_fits_the_moves_that_followed() -> None:
    play = refereed().conduct("W", "OTHER").rule("WARN").moves("B Q16, W D4")
    before = play.digest
    instead(play, "LOSS", "e3", case_id="2")
    assert (play.status, play.verdict.diverges_at, play.digest) == ("REFUSED", 4, before)
    assert play.reason.startswith("what happened at 4 no longer fits")


def test_a_ruling_that_was_refused_cannot_be_superseded() -> None:
    play = refereed().moves(DOUBLE).rule("LOSS")
    instead(play, "DISMISS", "e6", case_id="5")
    assert (play.status, play.reason) == ("REFUSED", "supersedes: no ruling 'e6' is in force in this game")


def test_an_option_that_was_not_listed_then_is_refused() -> None:
    play = instead(warned(), "LOSS", "e6", case_id="5")
    assert (play.status, play.reason) == ("REFUSED", "option: 'LOSS' is not listed here; VOID_AND_WARN, DISMISS")


@pytest.mark.parametrize("at", range(3, 12))
def test_a_restart_at_any_point_changes_nothing(at: int) -> None:
    play = warned().moves("W C14")
    instead(play, "DISMISS", "e6", case_id="5")
    play.moves("B C3, W Q4").retract("e7")
    instead(play, "VOID_AND_WARN", "e8", case_id="5")
    from support.play import fold

    from caipan.rules.game import Game

    game, past = Game("game", 0), []
    for number, record in enumerate(play.log):
        if number == at:
            game = load(save(game))
        fold(game, *record, past)
        past.append(record)
    assert (game.head, game.digest) == (play.game.head, play.digest)


def test_a_case_that_rests_only_on_a_corrected_record_closes_as_record_error() -> None:
    play = refereed().moves(DOUBLE).retract("e5")
    assert play.cases == ["RECORD_ERROR"]
    assert play.game.table.cases == {}
