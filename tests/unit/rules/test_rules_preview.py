"""A preview is the verdict that the ruling gets, and leaves nothing behind."""

from __future__ import annotations

import pytest
from support.events import START_MS
from support.play import Play, refereed

from caipan.rules import docket
from caipan.rules.game import Past
from caipan.rules.preview import preview
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.common_pb2 import ROLE_ARBITER, ROLE_CHIEF
from caipan.v1.rulings_pb2 import RulingDecided

DOUBLE = "B Q16, W D4, B Q3, B D17"


def dropped() -> Play:
    return refereed().stone("B", "E7", manner="DROPPED").consent("W", accept=False)


def corrected() -> Play:
    return refereed().moves(DOUBLE).retract("e5").moves("W C14, B C3, B C5")


def parked() -> Play:
    """A later number of a device waits."""
    return refereed().moves(DOUBLE).stone("W", "K10", seq=9)


GAMES = {
    "double": lambda: refereed().moves(DOUBLE),
    "late": lambda: refereed().moves(DOUBLE).stone("W", "C14"),
    "second": lambda: refereed().moves(DOUBLE).rule("VOID_AND_WARN").moves("W C14, B C3, B C5"),
    "dropped": dropped,
    "corrected": corrected,
    "parked": parked,
}


@pytest.mark.parametrize("name", GAMES)
def test_every_listed_option_is_previewed_as_it_is_ruled(name: str) -> None:
    for option in [name for names in GAMES[name]().options.values() for name in names]:
        for role in (ROLE_ARBITER, ROLE_CHIEF):
            play = GAMES[name]()
            case = list(play.game.table.cases)[-1]
            before = play.digest
            said = RulingDecided(case_id=case, option=option, role=role, reason="seen")
            told = preview("game", play.log, said, at_ms=START_MS + play.now + 1000)
            assert play.digest == before
            role_name = "ARBITER" if role == ROLE_ARBITER else "CHIEF"
            real = play.rule(option, case=case, role=role_name).verdict
            for plain in (told, real):
                assert plain.status in (pb.STATUS_FOLDED, pb.STATUS_REFUSED)
                del plain.cases[:]  # they and the ledger name the ruling
                for field in ("event_id", "state_digest", "ledger"):
                    plain.ClearField(field)
            assert told == real


def test_who_is_not_named_is_an_official_who_may_decide_in_that_role() -> None:
    play = dropped()
    said = RulingDecided(case_id="2", option="PICK_UP_FREE", role=ROLE_CHIEF)
    assert preview("game", play.log, said).status == pb.STATUS_FOLDED
    assert preview("game", play.log, said, "arbiter").reason.startswith("role: 'arbiter' is not CHIEF")
    nobody = Play().moves(DOUBLE)
    said = RulingDecided(case_id="5", option="DISMISS", role=ROLE_ARBITER)
    assert preview("game", nobody.log, said).reason.startswith("role: '' is not ARBITER in this game")


def test_a_game_that_is_not_open_and_records_that_nobody_can_read_raise_nothing() -> None:
    said = RulingDecided(case_id="5", option="DISMISS", role=ROLE_ARBITER)
    assert preview("game", (), said) == pb.Verdict()
    assert preview("game", [Past(b"\xff\xff", 0)], said) == pb.Verdict()
    play = refereed().moves("B Q16").send_bytes(b"\xff\xff").moves("W D4, B Q3, B D17")
    (case,) = play.game.table.cases.values()
    told = preview("game", play.log, RulingDecided(case_id=case.told.case_id, option="DISMISS", role=ROLE_ARBITER))
    assert (told.status, told.seq) == (pb.STATUS_FOLDED, play.game.seq + 1)
    assert docket.tell(play.game.table, case).status == pb.CASE_STATUS_OPEN
