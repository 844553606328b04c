"""CN2002 12.4, 13.1, 14, 15 and 16: what players and arbiters do beside the board."""

from __future__ import annotations

from hashlib import sha256

import pytest
from support.boards import play_on_wall
from support.events import actor, t
from support.play import Play, refereed

from caipan.v1 import facts_pb2 as facts
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.regulations_pb2 import REGIME_ABSOLUTE

OFFICIALS = [("arbiter", "ARBITER"), ("chief", "CHIEF")]
ABSOLUTE = {"untimed": False, "regime": REGIME_ABSOLUTE, "basic_time_s": 2700}


# 12.4 absolute time


def test_cn2002_12_4_2_pressed_with_the_other_hand_lists_an_admonition_first() -> None:
    play = refereed(**ABSOLUTE).stone("B", "Q16").say(facts.ClockPressed(hand="HAND_OTHER"), "B", source="clock")
    assert play.found == ["CN2002 12.4(2) OTHER_HAND"]
    assert play.options == {"CN2002 12.4(2)": ["ADMONISH", "WARN", "DISMISS"]}
    play.rule("ADMONISH")
    assert (play.warnings, [count.admonitions for count in play.verdict.penalties]) == ((0, 0), [1])


def test_cn2002_12_4_2_the_hand_that_played_may_press() -> None:
    play = refereed(**ABSOLUTE).stone("B", "Q16").say(facts.ClockPressed(hand="HAND_SAME"), "B", source="clock")
    assert (play.found, play.cases) == ([], [])


@pytest.mark.parametrize(("giver", "taker", "margin"), [("B", 2, -1), ("W", 1, 3)])
def test_cn2002_12_4_4_who_gives_up_contesting_opens_the_case_and_the_chief_draws_the_boundary(
    giver: str, taker: int, margin: int
) -> None:
    play = play_on_wall(14, "DAME", officials=OFFICIALS, **ABSOLUTE)
    if giver == "W":
        play.pass_("B")
    play.propose_end(giver, concede_rest=True)
    assert play.options == {"CN2002 12.4(4)": ["ASSIGN_REST", "DISMISS"]}
    rest = [rl.Effect(assign_points=rl.AssignPoints(points=["K1"], side=taker))]
    assert play.rule("ASSIGN_REST", effects=rest).reason.startswith("role: needs CHIEF")
    play.rule("ASSIGN_REST", role="CHIEF", effects=rest).answer_end("W" if giver == "B" else "B")
    play.dead("B").answer_dead("W")
    assert (play.result.margin_qz, play.phase) == (margin, "ENDED")


def test_cn2002_12_4_4_a_proposal_alone_gives_nothing_up() -> None:
    assert play_on_wall(14, "DAME", officials=OFFICIALS, **ABSOLUTE).propose_end("B").cases == []


def test_cn2002_12_4_7_only_the_chief_stops_moves_that_burn_time() -> None:
    play = refereed(**ABSOLUTE).stone("B", "A1").claim("W", "CN2002 12.4(7)")
    assert play.options == {"CN2002 12.4(7)": ["ADMONISH", "WARN", "ASSIGN_REST", "OTHER", "DISMISS"]}
    assert play.rule("ADMONISH").reason.startswith("role: needs CHIEF")
    play.rule("ADMONISH", role="CHIEF")
    assert (play.status, [count.admonitions for count in play.verdict.penalties]) == ("FOLDED", [1])


# 13.1, 14


def test_cn2002_13_1_a_forfeit_ends_the_game_and_nothing_is_counted() -> None:
    play = refereed().stone("B", "Q16").rule("FORFEIT", "CN2002 13.1", case="", against=2)
    assert (play.phase, play.result.kind, play.result.how) == ("ENDED", rl.RESULT_KIND_B_WIN, 4)
    assert play.count("B", 722).found == ["CN2002 9.1 COUNT_DIFFERS"]
    assert play.result.kind == rl.RESULT_KIND_B_WIN


def test_cn2002_14_1_a_pause_leaves_turn_and_board() -> None:
    play = refereed().moves("B Q16, W D4, B Q3").mark("PAUSE")
    assert (play.phase, play.turn) == ("PAUSED", "W")
    before = play.stones()
    play.mark("RESUME", at=t("1:30:00"))
    assert (play.phase, play.turn, play.stones(), play.found) == ("PLAY", "W", before, [])


def sealed(point: str, edition: str = "CN2002") -> Play:
    play = refereed(edition=edition).moves("B D4, W Q4")
    digest = sha256(bytes(16) + point.encode()).digest()
    play.say(facts.MoveSealed(digest=digest), "B").mark("PAUSE").mark("RESUME", at=t("13:00:00"))
    return play.say(facts.SealOpened(point=point, nonce=bytes(16)), source="arbiter")


def test_cn2002_14_2_without_rules_of_the_event_a_sealed_move_is_as_in_the_older_text() -> None:
    play = sealed("K10")
    assert (play.at("K10"), play.turn, play.number, play.found) == ("X", "W", 3, [])


def test_cn2002_14_2_a_sealed_point_that_is_occupied_loses_the_turn() -> None:
    play = sealed("D4")
    assert (play.found, play.options) == (
        ["CN2002 14.2 SEAL_OCCUPIED"],
        {"CN2002 14.2 occupied": ["LOSE_TURN", "DISMISS"]},
    )
    play.rule("LOSE_TURN")
    assert (play.at("D4"), play.turn, play.number, play.warnings) == ("X", "W", 3, (0, 0))


# 15, 16: conduct, rights


@pytest.mark.parametrize(
    ("clause", "listed"),
    [
        ("15.1", {"CN2002 23.1": ["LOSS", "BOTH_LOSE", "ANNUL", "BAN", "DISMISS"]}),
        ("15.2", {"CN2002 23.2": ["LOSS", "DISMISS"]}),
        ("15.3", {"CN2002 23.3": ["WARN", "LOSS", "DISMISS"]}),
        ("15.4", {"CN2002 23.4": ["WARN", "LOSS", "DISMISS"]}),
        ("15.6", {"CN2002 conduct": ["ADMONISH", "WARN", "DISMISS"]}),
    ],
)
def test_cn2002_15_what_is_reported_opens_its_case_and_decides_nothing(
    clause: str, listed: dict[str, list[str]]
) -> None:
    play = refereed().stone("B", "Q16").conduct("W", "OTHER", clause)
    assert (play.options, play.warnings, play.phase, play.turn) == (listed, (0, 0), "PLAY", "W")


@pytest.mark.parametrize("clause", ["16.1", "16.6", "16.7"])
def test_cn2002_16_duties_are_on_record_and_leave_the_game(clause: str) -> None:
    play = refereed().stone("B", "Q16")
    before = play.digest
    play.conduct("W", "OTHER", clause)
    assert (play.status, play.found, play.cases, play.digest) == ("FOLDED", [], [], before)


def test_cn2002_16_2_a_query_for_the_time_left_changes_nothing() -> None:
    play = refereed().stone("B", "Q16")
    before = play.digest
    play.claim("W", kind="TIME_QUERY")
    assert (play.status, play.found, play.cases, play.digest) == ("FOLDED", [], [], before)


@pytest.mark.parametrize(("kind", "clause"), [("SMOKING", "CN2002 23.8"), ("PHONE_SOUND", "CN2002 23.7")])
def test_cn2002_23_7_and_23_8_first_a_warning_then_the_loss(kind: str, clause: str) -> None:
    play = refereed().conduct("W", kind).rule("WARN")
    assert (play.warnings, play.phase) == ((0, 1), "PLAY")
    play.moves("B Q16, W D4").conduct("W", kind)
    assert play.options == {clause: ["LOSS", "DISMISS"]}
    play.rule("LOSS")
    assert (play.result.kind, play.result.clause) == (rl.RESULT_KIND_B_WIN, clause)


def test_cn2002_23_7_a_look_at_the_display_loses_at_once_without_a_warning() -> None:
    play = refereed().conduct("W", "PHONE_LOOK").rule("LOSS")
    assert (play.result.kind, play.result.clause, play.warnings) == (rl.RESULT_KIND_B_WIN, "CN2002 23.7", (0, 0))


@pytest.mark.parametrize("kind", ["PHONE_SOUND", "PHONE_LOOK"])
def test_cn2002_23_7_who_has_finished_gets_public_criticism_and_the_game_stays(kind: str) -> None:
    play = refereed().stone("B", "Q16").resign("W")
    play.conduct("W", kind)
    assert play.options == {"CN2002 23.7 others": ["CRITICISM", "DISMISS"]}
    sanction = [rl.Effect(sanction=rl.Sanction(target="Wang", kind="CRITICISM"))]
    play.rule("CRITICISM", role="CHIEF", effects=sanction)
    assert (play.status, play.result.kind, play.warnings) == ("FOLDED", rl.RESULT_KIND_B_WIN, (0, 0))


def test_cn2002_33_an_appeal_is_on_record_and_play_goes_on() -> None:
    play = refereed().moves("B Q16, B D4").rule("VOID_AND_WARN")
    before = play.digest
    play.say(facts.AppealRaised(ref=play.last_id, grounds="I had passed"), "B", by=actor("RECORDER"))
    assert (play.status, play.digest) == ("FOLDED", before)
    assert play.stone("W", "D4").found == []
