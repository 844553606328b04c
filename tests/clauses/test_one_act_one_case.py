"""One act is one case and one warning (R9); the next act is another one. What the service may rule by itself (R55)."""

from __future__ import annotations

from typing import Any

import pytest
from support.events import actor, t
from support.play import Play, refereed, timed

from caipan.v1 import facts_pb2 as facts
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.outcome_pb2 import RESULT_HOW_FORFEIT, RESULT_HOW_WARNINGS
from caipan.v1.regulations_pb2 import RULING_MODE_AUTO_FIXED

DOUBLE = "B Q16, W D4, B Q3, B D17"


def auto(**how: Any) -> Play:
    return refereed(ruling_mode=RULING_MODE_AUTO_FIXED, **how)


def auto_timed(regime: str, basic: str, **how: Any) -> Play:
    return timed(regime, basic, ruling_mode=RULING_MODE_AUTO_FIXED, **how)


# The next act


@pytest.mark.parametrize("option", ["VOID_AND_WARN", "DISMISS"])
def test_cn2002_17_2_a_second_double_move_is_another_case(option: str) -> None:
    play = refereed().moves(DOUBLE).rule(option).stone("B", "C14")
    assert (play.cases, play.options) == (["OPEN CN2002 17.2"], {"CN2002 17.2": ["VOID_AND_WARN", "DISMISS"]})


def test_cn2002_24_2_two_double_moves_in_unattended_play_lose() -> None:
    play = auto().moves(f"{DOUBLE}, B C14")
    assert (play.warnings, play.result.kind, play.result.how) == ((2, 0), rl.RESULT_KIND_W_WIN, RESULT_HOW_WARNINGS)


def test_cn2002_17_3_a_second_takeback_is_another_case() -> None:
    play = refereed().moves("B Q16, W R4").lifted("W", "R4").stone("W", "R5")
    play.claim("B", "17.3").rule("RESTORE_AND_WARN").lifted("W", "R4").stone("W", "R6")
    assert play.claim("B", "17.3").options == {"CN2002 17.3": ["RESTORE_AND_WARN", "DISMISS"]}


def test_cn2002_18_2_and_22_6_of_one_stone_are_one_case_also_when_the_first_is_decided() -> None:
    play = refereed(observed=["CAPTURES", "PRESSES"]).moves("B D3, W D4, B C4, W Q4, B E4, W Q16, B D5")
    play.press("B")
    assert play.found == ["CN2002 18.2 CAPTURES_LEFT", "CN2002 22.6 PRESS_BEFORE_REMOVAL"]
    assert (len(play.game.table.cases), play.rule("WARN", "CN2002 22.6").warnings) == (1, (1, 0))


# Too many cases


def test_claims_leave_room_for_what_is_found_and_one_too_many_is_said() -> None:
    play = refereed()
    for _ in range(70):
        play.claim("B", "23.3", refs=[f"x{play.made}"])
    assert (play.found, play.cases, len(play.game.table.cases)) == (["REG order TOO_MANY_CASES"], [], 48)
    assert play.moves("B Q16, B D4").cases == ["OPEN CN2002 17.2"]


# By the service itself


@pytest.mark.parametrize("clause", ["17.4", "22.6", "18.1", "18.2"])
def test_what_is_claimed_alone_is_not_ruled_by_the_service(clause: str) -> None:
    play = auto().moves("B Q16, W D4").claim("W", clause, against="B")
    assert (play.cases, play.warnings) == ([f"OPEN CN2002 {clause}"], (0, 0))


def test_a_claim_of_overtime_alone_is_not_ruled_by_the_service() -> None:
    play = auto_timed("ABSOLUTE", "1:00:00").moves("B C3, W D4").claim("W", "12.4", against="B")
    assert (play.cases, play.phase) == (["OPEN CN2002 12.4"], "PLAY")


def test_overtime_that_the_clocks_of_the_record_do_not_show_is_a_persons_to_decide() -> None:
    play = auto_timed("ABSOLUTE", "1:00:00").moves("B C3, W D4").expired("B", "BASIC")
    assert (play.found, play.finding.over_ms, play.phase) == (["CN2002 12.4 OVERTIME"], 0, "PLAY")
    assert play.rule("LOSS").result.kind == rl.RESULT_KIND_W_WIN


def test_overtime_that_they_show_is_ruled_by_the_service() -> None:
    play = auto_timed("ABSOLUTE", "1:00:00").moves("B C3, W D4").expired("B", "BASIC", at=t("1:00:03"))
    assert (play.phase, play.result.kind) == ("ENDED", rl.RESULT_KIND_W_WIN)


def test_cn2002_22_3_both_beyond_the_limit_lose_in_unattended_play() -> None:
    play = auto_timed("ABSOLUTE", "2:00:00").presence("B", True, at=t("1:05:00"))
    assert (play.phase, play.options) == ("PLAY", {"CN2002 22.1": ["LOSS", "DISMISS"]})
    play.presence("W", True, at=t("1:05:00"))
    assert (play.result.kind, play.result.how, play.result.clause) == (
        rl.RESULT_KIND_BOTH_LOSE,
        RESULT_HOW_FORFEIT,
        "CN2002 22.3",
    )


def test_cn2002_22_1_who_is_beyond_the_limit_alone_loses_in_unattended_play() -> None:
    play = auto_timed("ABSOLUTE", "2:00:00").presence("B", True, at=0).presence("W", True, at=t("1:05:00"))
    assert (play.result.kind, play.result.clause) == (rl.RESULT_KIND_B_WIN, "CN2002 22.1")


def test_cn2002_22_3_who_comes_too_late_after_the_other_lost_for_it_is_a_case_of_both() -> None:
    play = timed("ABSOLUTE", "2:00:00").presence("B", True, at=t("1:05:00")).rule("LOSS", at=t("1:05:00"))
    play.presence("W", True, at=t("1:10:00"))
    assert (play.result.kind, play.options) == (rl.RESULT_KIND_W_WIN, {"CN2002 22.3": ["BOTH_LOSE", "DISMISS"]})
    assert play.rule("BOTH_LOSE", at=t("1:10:00")).result.kind == rl.RESULT_KIND_BOTH_LOSE


def test_cn2002_22_1_who_was_reported_absent_at_the_start_is_late_on_arrival() -> None:
    play = timed("ABSOLUTE", "2:00:00").presence("W", False, at=t("0:30")).presence("W", True, at=t("1:20:00"))
    assert play.options == {"CN2002 22.1": ["LOSS", "DISMISS"]}


# A case keeps its name


@pytest.mark.parametrize("clause", ["", "CN2002 17.4"])
def test_a_missed_fact_with_a_case_of_its_own_takes_no_name_of_a_later_one(clause: str) -> None:
    play = refereed().stone("B", "Q16").press("W", at=2500).stone("W", "D4", at=3000).rule("WARN", clause)
    assert (play.warnings, list(play.game.table.cases)) == ((0, 1), [])
    phone = facts.ConductObserved(against=1, kind=1)
    play.insert_after("e3", phone, source="hall", by=actor("ARBITER"))
    assert (play.warnings, list(play.game.table.cases)) == ((0, 1), ["6"])  # the outcome that tells it
    assert play.options == {"CN2002 23.7": ["WARN", "DISMISS"]}


def test_cases_of_missed_facts_keep_their_names_and_rulings_when_another_is_retracted() -> None:
    hall = {"source": "hall", "by": actor("ARBITER")}
    play = refereed().moves("B Q16, W D4")
    play.insert_after("e3", facts.ConductObserved(against=1, kind=1), id="i1", **hall)
    play.insert_after("e3", facts.ConductObserved(against=2, kind=3), id="i2", **hall)
    assert list(play.game.table.cases) == ["4", "5"]
    assert play.rule("WARN", case="4").warnings == (1, 0)
    play.retract("i1", **hall)
    assert (play.warnings, list(play.game.table.cases)) == ((0, 0), ["5"])
    assert play.game.table.cases["5"].told.side == 2


def test_another_breach_of_the_same_stone_is_a_case_of_its_own_once_the_first_is_dismissed() -> None:
    play = refereed(observed=["CAPTURES", "PRESSES"]).moves("B Q16, W D4")
    play.say(facts.ClockPressed(hand=2), "W", source="clock").rule("DISMISS").captured("W", "Q16")
    assert play.cases == ["OPEN CN2002 18.1"]


def test_cn2002_17_2_all_stones_behind_the_move_are_void() -> None:
    play = refereed().moves("B Q16, W D4, B Q3, B D17, B C14").rule("VOID_AND_WARN")
    assert (play.warnings, play.stones()) == ((1, 0), {"Q16": "X", "D4": "O", "Q3": "X"})
    assert [effect.WhichOneof("effect") for effect in play.verdict.effects] == ["void_move", "void_move", "warn"]


def test_after_a_reconstruction_a_breach_at_the_same_number_is_another_act() -> None:
    play = refereed().moves(DOUBLE).discrepancy("SCATTERED", cause="EXTERNAL").consent("B").consent("W")
    play.rule("CONTINUE", effects=[rl.Effect(set_points=rl.SetPoints(as_after_move=2))])
    play.moves("B C14, B C15")
    assert play.cases == ["OPEN CN2002 17.2"]
    assert play.rule("VOID_AND_WARN").at("C15") == "."


def test_handicap_stones_go_on_after_a_white_one_that_black_sets_by_mistake() -> None:
    play = refereed(9, handicap=3, handicap_placement=2).stone("B", "C3").stone("B", "G7", color="W")
    assert play.stone("B", "C7").found == []


def test_overtime_found_at_a_resignation_turns_no_result_round_in_unattended_play() -> None:
    play = auto_timed("ABSOLUTE", "1:00", observed=["PRESSES"]).stone("B", "E5", at=30_000).resign("W", at=90_000)
    assert (play.result.kind, play.result.clause) == (rl.RESULT_KIND_B_WIN, "CN2002 7.2")


def test_cn2002_17_4_and_then_18_2_of_the_same_stone_are_two_acts_once_the_first_is_decided() -> None:
    play = refereed(observed=["CAPTURES", "PRESSES"]).moves("B D3, W D4, B C4, W Q4, B E4, W Q16")
    play.press("B", at=7000).stone("B", "D5", at=7400).rule("DISMISS").press("B")
    assert play.cases == ["OPEN CN2002 18.2 CN2002 22.6"]


def test_a_claim_that_names_what_is_decided_opens_no_second_case() -> None:
    play = refereed().stone("B", "Q16").press("W", at=2500).stone("W", "D4", at=3000)
    stone = play.last_id
    play.rule("WARN").claim("B", "17.4", refs=[stone])
    assert (play.found, play.finding.ref, play.cases) == (["CN2002 17.4 ALREADY_DECIDED"], "e5", [])
    assert play.claim("B", "23.3", refs=[stone]).cases == ["OPEN CN2002 23.3"]


def test_a_fact_put_in_behind_one_that_waits_is_told_with_its_case_when_that_is_judged() -> None:
    play = auto().moves("B Q16, W D4").stone("B", "D17", seq=4, id="late")
    play.insert_after("late", facts.StonePlaced(point="C14"), "B", source="tablet", by=actor("ARBITER"))
    play.stone("B", "Q3", seq=3)
    told = [verdict for verdict in play.verdicts if verdict.cases]
    assert play.warnings[0] == len(told[-1].ledger.penalties) > 0


def test_a_stone_that_a_missed_fact_captures_at_once_is_drawn_by_nobody() -> None:
    play = refereed().moves("B D5, W Q16, B C4, W Q4, B D3, W K10").stone("W", "D4", seq=9, id="late")
    play.insert_after("late", facts.StonePlaced(point="E4"), "B", source="tablet", by=actor("ARBITER"))
    play.stone("B", "R3", seq=8)
    assert play.drawn() == play.stones()


# What is void leaves nothing behind


def test_cn2002_18_3_a_ko_retaken_at_once_costs_one_warning_though_nothing_was_lifted() -> None:
    stones = {"black": ["D3", "C4", "D5"], "white": ["D4", "E3", "F4", "E5"]}
    play = auto(size=9, observed=["CAPTURES"], **stones).stone("B", "E4").captured("B", "D4").stone("W", "D4")
    assert (play.found[-1], play.warnings, play.at("E4")) == ("CN2002 18.3 KO_RETAKE", (0, 1), "X")
    play.stone("B", "H8")
    assert (play.found, play.warnings, play.at("E4")) == ([], (0, 1), "X")


def test_captures_of_a_stone_that_is_void_are_to_be_lifted_by_nobody() -> None:
    play = refereed(9, observed=["CAPTURES"], white=["D4"], black=["C4", "E4", "D3"]).stone("B", "H8")
    play.stone("B", "D5").rule("VOID_AND_WARN")
    assert (play.at("D4"), play.stone("W", "H2").found) == ("O", [])


def test_a_stone_set_where_captures_lay_is_no_capture() -> None:
    play = refereed(9, observed=["CAPTURES"], white=["D4"], black=["C4", "E4", "D3"]).stone("B", "D5").stone("W", "H2")
    assert play.found == ["CN2002 18.2 CAPTURES_LEFT"]
    play.stone("B", "D4").stone("W", "H4").rule("CORRECT_AND_WARN")
    assert (play.status, play.at("D4")) == ("FOLDED", "X")


def test_a_void_stone_that_its_player_took_off_himself_is_missing_nowhere() -> None:
    play = refereed().moves("B Q16, W D4, B Q3, B D17").lifted("B", "D17").rule("VOID_AND_WARN")
    assert (play.status, play.moves("W C14, B C7").found) == ("FOLDED", [])
