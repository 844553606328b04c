"""CN1988S: what the older text rules otherwise, and what it leaves to the reasonable ruling of 25.1."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from support.boards import CYCLE, play_on_wall, three_kos
from support.events import t
from support.play import Play, refereed

from caipan.v1 import facts_pb2 as facts
from caipan.v1 import rulings_pb2 as rl

OFFICIALS = [("arbiter", "ARBITER"), ("chief", "CHIEF")]
DOUBLE = "B Q16, W D4, B Q3, B D17"
KO = "B D5, W E5, B D3, W E3, B C4, W F4, B Q16, W D4, B E4"


def older(size: int = 0, **how: Any) -> Play:
    return refereed(size, **{"edition": "CN1988S", **how})


# 7, 8, 13, 21: the end


def test_cn1988s_7_two_passes_alone_do_not_end_the_game() -> None:
    play = older().moves("B pass, W pass")
    assert (play.phase, play.found) == ("PLAY", ["CN1988S 13 PASSES_DO_NOT_END"])


def test_cn1988s_13_first_the_side_on_turn_then_the_other_confirms() -> None:
    play = older().stone("B", "Q16").say(facts.EndProposed(token="TOKEN_STONE"), "W")
    assert (play.phase, play.turn) == ("PLAY", "B")
    assert play.say(facts.EndAnswered(accept=True, token="TOKEN_STONE"), "B").phase == "DEAD_STONES"


def test_cn1988s_7_two_stones_at_the_lower_right_resign() -> None:
    play = older().stone("B", "Q16").say(facts.GameResigned(token="TOKEN_STONE"), "W")
    assert (play.result.kind, play.result.clause) == (rl.RESULT_KIND_B_WIN, "CN1988S 7")


def test_cn1988s_8_dead_stones_are_those_that_both_confirm() -> None:
    play = play_on_wall(14, "DEAD", edition="CN1988S").propose_end("B").answer_end("W").dead("B", "C3").answer_dead("W")
    assert (play.result.black_qz, play.result.margin_qz) == (740, 3)


def test_cn1988s_21_a_pass_after_a_proposal_ends_nothing_and_a_dispute_is_played_out() -> None:
    play = play_on_wall(14, "DEAD", edition="CN1988S").propose_end("B").pass_("W")
    assert play.phase == "PLAY"
    play.propose_end("B").answer_end("W").dead("B", "C3").answer_dead("W", False, ["C3"])
    assert (play.phase, play.turn) == ("PLAY", "B")


# 14, 22: sealed moves


def sealed(point: str) -> Play:
    play = older().moves("B D4, W Q4")
    play.say(facts.MoveSealed(digest=sha256(bytes(16) + point.encode()).digest()), "B").mark("PAUSE")
    play.mark("RESUME", at=t("13:00:00"))
    return play.say(facts.SealOpened(point=point, nonce=bytes(16)), source="arbiter")


def test_cn1988s_14_the_sealed_move_is_set_when_it_is_opened() -> None:
    play = sealed("K10")
    assert (play.at("K10"), play.turn, play.found) == ("X", "W", [])


def test_cn1988s_22_on_an_occupied_point_the_turn_is_lost() -> None:
    play = sealed("D4")
    assert play.options == {"CN1988S 22": ["LOSE_TURN", "DISMISS"]}
    play.rule("LOSE_TURN")
    assert (play.at("D4"), play.turn, play.number, play.warnings) == ("X", "W", 3, (0, 0))


def test_cn1988s_14_nobody_opens_another_point_than_was_sealed() -> None:
    play = older().say(facts.MoveSealed(digest=sha256(bytes(16) + b"K10").digest()), "B")
    play.say(facts.SealOpened(point="K11", nonce=bytes(16)), source="arbiter")
    assert (play.found, play.stones()) == (["CN1988S 14 SEAL_MISMATCH"], {})


# 15.4, 16: conduct and rights


def test_cn1988s_15_4_walking_about_is_on_record_as_conduct() -> None:
    assert older().conduct("W", "OTHER", "CN1988S 15.4").options == {"CN2002 conduct": ["ADMONISH", "WARN", "DISMISS"]}


def test_cn1988s_16_2_a_complaint_in_the_opponents_time_waits_for_the_own_turn() -> None:
    play = older().stone("B", "Q16").claim("B", "CN1988S 24.2")
    assert "CN1988S 16.2 WAIT_FOR_OWN_TURN" in play.found
    assert older().stone("B", "Q16").claim("W", "CN1988S 24.2").found == []


def test_cn1988s_16_3_errors_of_the_count_are_corrected_before_both_have_signed() -> None:
    play = play_on_wall(14, edition="CN1988S", officials=OFFICIALS).propose_end("B").answer_end("W")
    play.dead("B").answer_dead("W").sign("W").claim("B", kind="RECHECK")
    assert (play.phase, play.verdict.HasField("result")) == ("DEAD_STONES", False)
    play.dead("B").answer_dead("W").sign("B").sign("W").claim("B", kind="RECHECK")
    assert play.options == {"CN1988S 16.3": ["DISMISS"]}


def test_cn1988s_16_4_an_appeal_is_on_record_and_play_goes_on() -> None:
    play = older().stone("B", "Q16")
    before = play.digest
    play.say(facts.AppealRaised(grounds="at once"), "W")
    assert (play.status, play.digest, play.turn) == ("FOLDED", before, "W")


# 17: moving


def test_cn1988s_17_1_two_moves_in_a_row_lose() -> None:
    play = older().moves(DOUBLE)
    assert play.options == {"CN1988S 17.1": ["LOSS", "DISMISS"]}
    play.rule("LOSS")
    assert (play.result.kind, play.result.clause) == (rl.RESULT_KIND_W_WIN, "CN1988S 17.1")


def test_cn1988s_17_2_a_takeback_has_no_deadline_after_the_next_move_the_arbiter_chooses() -> None:
    play = older().stone("B", "R4").lifted("B", "R4").stone("B", "R5")
    assert play.options == {"CN1988S 17.2": ["RESTORE_AND_WARN", "DISMISS"]}
    play.stone("W", "D4").claim("W", "CN1988S 17.2")
    assert play.found == ["CN1988S 16.2 WAIT_FOR_OWN_TURN"]  # and not late
    assert play.options == {"CN1988S 17.2": ["WARN", "RESTORE_AND_WARN", "DISMISS"]}
    play.rule("RESTORE_AND_WARN")
    assert (play.at("R4"), play.at("R5"), play.at("D4"), play.warnings, play.turn) == ("X", ".", "O", (1, 0), "B")


def test_cn1988s_17_2_the_arbiter_may_leave_it_where_it_is_and_warn() -> None:
    play = older().stone("B", "R4").lifted("B", "R4").stone("B", "R5").stone("W", "D4").claim("W", "CN1988S 17.2")
    play.rule("WARN")
    assert (play.at("R5"), play.warnings) == ("X", (1, 0))


def test_cn1988s_17_2_a_dropped_stone_is_picked_up_without_consent() -> None:
    play = older().stone("B", "E7", manner="DROPPED")
    assert play.options == {"CN1988S 17.2 drop": ["PICK_UP_FREE", "DISMISS"]}
    play.rule("PICK_UP_FREE")
    assert (play.at("E7"), play.turn, play.warnings) == (".", "B", (0, 0))


def moved() -> Play:
    return older().moves("B D10, W Q4, B Q16, W D4").discrepancy("MOVED", ("D10", "D11"))


def test_cn1988s_17_3_a_moved_stone_has_four_rulings_and_no_double_loss() -> None:
    play = moved()
    listed = ["ORIGINAL_POINT", "MOVED_STONE_VALID", "DRAW", "REPLAY", "DISMISS"]
    assert play.options == {"CN1988S 17.3": listed}
    assert play.rule("ORIGINAL_POINT").reason.startswith("role: needs CHIEF")
    play.rule("ORIGINAL_POINT", role="CHIEF")
    assert (play.at("D10"), play.at("D11"), play.turn) == ("X", ".", "B")


def test_cn1988s_17_3_where_both_agree_an_arbiter_records_it() -> None:
    play = moved().consent("B", proposal="valid").consent("W", proposal="valid").rule("MOVED_STONE_VALID")
    assert (play.at("D10"), play.at("D11"), play.warnings) == (".", "X", (0, 0))


def test_cn1988s_17_3_moved_on_purpose_the_mover_loses() -> None:
    play = moved().rule("LOSS", "CN1988S 17.3 deliberate", role="CHIEF", against=1)
    assert (play.result.kind, play.result.clause) == (rl.RESULT_KIND_W_WIN, "CN1988S 17.3")


def test_cn1988s_17_4_a_scattered_board_is_a_draw_or_played_again() -> None:
    play = older().moves("B Q16, W D4").discrepancy("SCATTERED", cause="EXTERNAL")
    assert play.options == {"CN1988S 17.4": ["DRAW", "REPLAY", "DISMISS"]}
    assert play.rule("REPLAY").result.kind == rl.RESULT_KIND_REPLAY


def test_cn1988s_17_4_scattered_on_purpose_loses() -> None:
    play = older().moves("B Q16, W D4").discrepancy("SCATTERED", cause="EXTERNAL")
    play.rule("WARN", "CN1988S 17.4 deliberate", against=2)
    assert play.reason == "option: 'WARN' is not listed here; LOSS, DISMISS"
    assert play.rule("LOSS", "CN1988S 17.4 deliberate", against=2).result.kind == rl.RESULT_KIND_B_WIN


# 18 to 20


def test_cn1988s_18_a_stone_with_liberties_goes_back_with_a_warning() -> None:
    play = older(observed=["CAPTURES"]).moves("B D3, W D4, B C4, W E6, B E4, W Q16, B D5").captured("B", "D4", "E6")
    assert play.options == {"CN1988S 18": ["CORRECT_AND_WARN", "DISMISS"]}
    play.rule("CORRECT_AND_WARN")
    assert (play.at("E6"), play.warnings, play.turn) == ("O", (1, 0), "W")


def test_cn1988s_18_stones_left_lying_fall_under_25_1() -> None:
    play = older(observed=["CAPTURES", "PRESSES"])
    play.moves("B C4, W D4, B D5, W D3, B C3, W Q16, B D2, W Q4, B E3, W Q10, B E4").captured("B", "D4").press("B")
    assert play.found[0] == "CN1988S 25.1 CAPTURES_LEFT"
    play.rule("CORRECT_AND_WARN", "CN2002 18.2")
    assert (play.warnings, play.verdict.cases[0].clause) == ((1, 0), "CN1988S 25.1")


def test_cn1988s_19_a_forbidden_point_is_void_and_loses_the_turn() -> None:
    play = older().moves("B Q16, W A2, B Q4, W B1, B A1").rule("VOID_AND_TURN")
    assert (play.at("A1"), play.turn, play.warnings, play.verdict.cases[0].clause) == (".", "W", (0, 0), "CN1988S 19")


def test_cn1988s_20_1_a_ko_retaken_at_once_is_void_without_a_warning() -> None:
    play = older().moves(KO).stone("W", "D4")
    assert play.options == {"CN1988S 20.1": ["VOID_AND_TURN", "DISMISS"]}
    play.rule("VOID_AND_TURN")
    assert (play.at("E4"), play.at("D4"), play.turn, play.warnings) == ("X", ".", "B", (0, 0))


def test_cn1988s_20_3_a_triple_ko_is_a_draw_or_played_again() -> None:
    play = three_kos(0, edition="CN1988S", officials=OFFICIALS).moves(CYCLE)
    assert play.options == {"CN1988S 20.3": ["DRAW", "REPLAY", "DISMISS"]}
    assert play.rule("DRAW").result.kind == rl.RESULT_KIND_DRAW


# 23 to 25: time, conduct, warnings, gaps


def test_cn1988s_23_4_pressed_before_all_is_off_is_an_admonition_or_a_warning() -> None:
    board = {"size": 9, "black": ["A2", "B2", "C2"], "white": ["A1", "B1", "C1"], "to_move": "B"}
    play = older(**board, observed=["CAPTURES", "PRESSES"]).stone("B", "D1").press("B")
    assert play.options["CN1988S 23.4"] == ["ADMONISH", "WARN", "DISMISS"]
    play.rule("ADMONISH", "CN1988S 23.4")
    assert (play.warnings, [count.admonitions for count in play.verdict.penalties]) == ((0, 0), [1])


def test_cn1988s_23_6_leaving_under_the_count_is_permitted_once() -> None:
    play = older().claim("W", kind="LEAVE").rule("PERMIT_LEAVE").claim("W", kind="LEAVE")
    assert play.options == {"CN1988S 23.6": ["REFUSE"]}


@pytest.mark.parametrize(("late", "clause"), [("1:00:00.001", "CN1988S 23.1"), ("1:00:00", "CN1988S 23.3")])
def test_cn1988s_23_1_beyond_the_limit_of_the_event_the_game_is_forfeited(late: str, clause: str) -> None:
    play = older(late_limit_s=3600).mark("START", at=0).presence("W", True, at=t(late))
    assert list(play.options) == [clause]
    if clause == "CN1988S 23.1":
        assert (play.rule("LOSS", clause).result.kind, play.result.how) == (rl.RESULT_KIND_B_WIN, 4)


def test_cn1988s_24_1_leaving_the_hall_is_a_warning_and_a_report() -> None:
    play = older().rule("WARN_AND_REPORT", "CN1988S 24.1", case="", against=1)
    assert (play.warnings, play.verdict.effects[1].sanction.kind) == ((1, 0), "REPORT")


@pytest.mark.parametrize(
    ("kind", "clause", "listed"),
    [
        ("OTHER", "", {"CN1988S 24.2": ["ADMONISH", "WARN", "DISMISS"]}),
        ("TALK_START", "", {"CN1988S 24.3": ["WARN", "LOSS", "DISMISS"]}),
        ("OTHER", "15.4", {"CN1988S 24.3": ["WARN", "LOSS", "DISMISS"]}),
    ],
)
def test_cn1988s_24_conduct_opens_its_case(kind: str, clause: str, listed: dict[str, list[str]]) -> None:
    named = "CN2002 15.4" if clause else ""
    assert older().conduct("W", kind, named).options == listed


def test_cn1988s_25_2_a_warning_costs_no_zi() -> None:
    play = play_on_wall(14, edition="CN1988S", officials=OFFICIALS).rule("WARN", "CN2002 17.4", case="", against=1)
    play.propose_end("B").answer_end("W").dead("B").answer_dead("W")
    assert (play.warnings, play.result.penalty_qz, play.result.margin_qz) == ((1, 0), 0, 3)


def test_cn1988s_25_2_two_warnings_lose_the_game() -> None:
    play = older()
    for _ in range(2):
        play.rule("WARN", "CN1988S 24.2", case="", against=1)
    assert (play.result.kind, play.result.clause) == (rl.RESULT_KIND_W_WIN, "CN1988S 25.2")


def test_cn1988s_25_1_an_early_press_is_ruled_as_by_cn2002_17_4_and_costs_no_zi() -> None:
    play = older(observed=["PRESSES"]).press("B").stone("B", "Q16")
    assert play.found == ["CN1988S 25.1 EARLY_PRESS"]
    play.rule("WARN")
    (penalty,) = play.game.table.ledger.penalties
    assert (penalty.clause, penalty.reason_clause, play.warnings) == ("CN1988S 25.1", "CN2002 17.4", (1, 0))
    assert [count.cost_qz for count in play.verdict.penalties] == [0]
