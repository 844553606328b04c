"""CN2002 13.2 and 21: who says that the game is over, and what that does."""

from __future__ import annotations

from support.boards import filled, play_on_wall
from support.events import t
from support.play import Play


def white_on_turn() -> Play:
    return Play().stone("B", "Q16")


def test_cn2002_13_2_the_end_is_established_when_the_opponent_agrees() -> None:
    play = white_on_turn().propose_end("W", at=t("2:10:00"))
    assert play.phase == "PLAY"
    play.answer_end("B", at=t("2:10:05"))
    assert (play.phase, play.all_found) == ("DEAD_STONES", [])


def test_cn2002_13_2_a_proposal_off_turn_has_no_effect() -> None:
    play = white_on_turn().propose_end("B")
    assert (play.found, play.turn, play.number, play.phase) == (["CN2002 13.2 NOT_ON_TURN"], "W", 1, "PLAY")


def test_cn2002_13_2_a_proposal_off_turn_cannot_be_accepted() -> None:
    play = white_on_turn().propose_end("B").answer_end("W")
    assert (play.found, play.phase) == (["CN2002 13.2 NO_PROPOSAL"], "PLAY")


def test_cn2002_13_2_play_that_goes_on_after_a_proposal_is_no_end() -> None:
    play = white_on_turn().propose_end("W").stone("B", "E5")
    assert (play.phase, play.turn, play.all_found) == ("PLAY", "W", [])
    assert play.answer_end("B").found == ["CN2002 13.2 NO_PROPOSAL"]


def test_cn2002_13_2_an_answer_to_no_proposal_is_found() -> None:
    play = white_on_turn().answer_end("B")
    assert (play.found, play.phase) == (["CN2002 13.2 NO_PROPOSAL"], "PLAY")


def test_cn2002_13_2_nobody_answers_the_own_proposal() -> None:
    play = white_on_turn().propose_end("W").answer_end("W")
    assert (play.found, play.phase) == (["CN2002 13.2 NO_PROPOSAL"], "PLAY")


def test_cn2002_13_2_a_proposal_after_a_pass_stays_open_until_answered() -> None:
    play = Play().pass_("B").propose_end("W")
    assert play.phase == "PLAY"
    assert play.answer_end("B").phase == "DEAD_STONES"


def test_cn2002_21_1_a_proposal_gives_up_the_move_and_the_proposer_regains_it() -> None:
    play = filled(239).propose_end("W")
    assert (play.number, play.turn) == (240, "B")
    play.stone("B", "M5")
    assert (play.number, play.turn) == (241, "W")
    play.stone("W", "L4")
    assert (play.number, play.turn, play.all_found) == (242, "B", [])


def test_cn2002_21_1_after_a_refusal_the_turn_stays_with_the_refuser_whose_pass_ends_the_game() -> None:
    play = filled(239).propose_end("W").answer_end("B", accept=False)
    assert (play.phase, play.turn, play.number) == ("PLAY", "B", 240)
    play.pass_("B")
    assert (play.phase, play.number, play.all_found) == ("DEAD_STONES", 241, [])


def test_cn2002_21_1_the_opponents_pass_answers_a_proposal() -> None:
    assert filled(239).propose_end("W").pass_("B").phase == "DEAD_STONES"


def test_cn2002_21_1_a_refused_proposal_after_a_pass_ends_with_the_refusers_pass() -> None:
    play = Play().pass_("B").propose_end("W").answer_end("B", accept=False)
    assert (play.phase, play.turn) == ("PLAY", "B")
    assert play.pass_("B").phase == "DEAD_STONES"


def test_cn2002_21_1_a_refused_proposal_followed_by_a_stone_leaves_no_pass_behind() -> None:
    play = white_on_turn().propose_end("W").answer_end("B", accept=False).stone("B", "D4").pass_("W")
    assert (play.phase, play.turn, play.all_found) == ("PLAY", "B", [])


def test_cn2002_21_2_contested_points_are_shared_after_the_agreement() -> None:
    play = play_on_wall(14, "DAME").propose_end("B").answer_end("W").dead("W").answer_dead("B")
    assert (play.result.black_qz, play.result.white_qz, play.result.margin_qz) == (738, 706, 1)


def test_cn2002_21_2_the_same_point_filled_before_the_end_would_have_been_a_whole_one() -> None:
    assert play_on_wall(14, "DAME").stone("B", "K1").end().result.black_qz == 740


def test_cn2002_21_3_a_move_after_the_end_is_recorded_and_changes_nothing() -> None:
    play = play_on_wall(14, "DAME").propose_end("B", at=t("2:10:00")).answer_end("W", at=t("2:10:05"))
    before = play.board(), play.digest
    play.stone("W", "K1", at=t("2:11:00"))
    assert (play.found, play.status) == (["CN2002 21.3 AFTER_END"], "FOLDED")
    assert (play.board(), play.digest) == before
    assert (play.phase, list(play.finding.points)) == ("DEAD_STONES", ["K1"])


def test_cn2002_21_3_a_move_after_the_result_leaves_the_result() -> None:
    play = play_on_wall(14, "DAME").end().stone("W", "K1")
    assert (play.found, play.result.margin_qz, play.phase) == (["CN2002 21.3 AFTER_END"], 1, "ENDED")


def test_cn2002_21_3_neither_a_pass_nor_a_proposal_reopens_the_game() -> None:
    play = play_on_wall(14).pass_("B").pass_("W").pass_("B")
    assert play.found == ["CN2002 21.3 AFTER_END"]
    assert play.propose_end("B").found == ["CN2002 21.3 AFTER_END"]
    assert play.phase == "DEAD_STONES"


def test_cn2002_21_4_a_dispute_restarts_the_game_with_the_side_that_claims_dead() -> None:
    play = play_on_wall(14, "DEAD").pass_("B").pass_("W").dead("B", "C3").answer_dead("W", False, ["C3"])
    assert (play.phase, play.turn, play.number) == ("PLAY", "B", 2)
    assert play.at("C3") == "O"


def test_cn2002_21_4_the_claimant_moves_first_whoever_was_on_turn() -> None:
    play = play_on_wall(14, "DEAD").pass_("B").pass_("W").dead("W", "J15").answer_dead("B", False, ["J15"])
    assert (play.phase, play.turn) == ("PLAY", "W")
    assert play.stone("W", "A1").found == []


def test_cn2002_21_4_actual_play_decides_and_the_count_is_as_it_then_stands() -> None:
    play = play_on_wall(14, "DEAD").pass_("B").pass_("W").dead("B", "C3").answer_dead("W", False, ["C3"])
    play.moves("B D3, W pass, B B3, W pass, B C2, W pass, B C4")
    assert list(play.verdict.removed) == ["C3"]
    play.moves("W pass, B pass").dead("B").answer_dead("W")
    assert (play.result.black_qz, play.result.margin_qz, play.all_found) == (740, 3, [])


def test_cn2002_21_4_ko_bans_are_kept_over_a_restart() -> None:
    play = Play(5, black=["B3", "A2", "B1"], white=["C3", "D2", "C1", "B2"], to_move="B")
    play.stone("B", "C2").pass_("W").pass_("B").dead("W", "A2").answer_dead("B", False, ["A2"])
    assert play.turn == "W"
    play.stone("W", "B2")
    assert play.found[0] == "CN2002 6 REPETITION"
    assert play.verdict.findings[0].of_move == 0


def test_cn2002_21_4_passes_before_the_restart_do_not_count_after_it() -> None:
    play = play_on_wall(14, "DEAD").pass_("B").pass_("W").dead("B", "C3").answer_dead("W", False, ["C3"])
    assert play.pass_("B").phase == "PLAY"
    assert play.pass_("W").phase == "DEAD_STONES"
