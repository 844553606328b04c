"""Claims, consents, conduct, the state of the board, lateness, signatures: which cases they open, what those list."""

from __future__ import annotations

import pytest
from support.boards import filled, play_on_wall
from support.events import t
from support.play import Play, refereed

from caipan.v1 import rulings_pb2 as rl
from caipan.v1.regulations_pb2 import RULING_MODE_AUTO_FIXED

OFFICIALS = [("arbiter", "ARBITER"), ("chief", "CHIEF")]
EARLY = {"observed": ["PRESSES"]}


def taken_back() -> Play:
    """White sets move 20 on R4, takes it up and sets it on R5."""
    return filled(19, officials=OFFICIALS).stone("W", "R4").lifted("W", "R4").stone("W", "R5")


def points(remove: str = "", black: str = "", white: str = "") -> list[rl.Effect]:
    said = rl.SetPoints(remove=remove.split(), add_black=black.split(), add_white=white.split())
    return [rl.Effect(set_points=said)]


# 16.3 and the windows


def test_cn2002_17_3_claimed_before_the_next_stone_the_stone_goes_back_with_one_warning() -> None:
    play = taken_back().claim("B", "CN2002 17.3")
    assert play.options == {"CN2002 17.3": ["RESTORE_AND_WARN", "DISMISS"]}
    play.rule("RESTORE_AND_WARN")
    assert (play.at("R4"), play.at("R5"), play.warnings, play.turn, play.number) == ("O", ".", (0, 1), "B", 20)
    assert play.drawn() == play.stones()


def test_cn2002_17_3_claimed_after_the_next_stone_it_is_late_and_r5_stands() -> None:
    play = taken_back().stone("B", "K10").claim("B", "CN2002 17.3")
    assert play.found == ["CN2002 16.3 LATE_CLAIM"]
    assert play.options == {"CN2002 17.3": ["DISMISS"]}
    assert (play.at("R5"), play.warnings) == ("O", (0, 0))


def test_cn2002_17_3_only_the_opponent_may_claim() -> None:
    assert taken_back().claim("W", "CN2002 17.3", against="W").found == ["CN2002 16.3 NOT_ENTITLED"]


def test_cn2002_16_3_an_early_press_claimed_after_the_own_move_is_late() -> None:
    play = refereed(**EARLY).press("B").stone("B", "Q16").stone("W", "D4").claim("W", "CN2002 17.4")
    assert play.found == ["CN2002 16.3 LATE_CLAIM"]
    assert play.options == {"CN2002 17.4": ["DISMISS"]}


def test_cn2002_17_4_press_before_stone_warns_and_the_stone_stands() -> None:
    play = refereed(**EARLY).press("B").stone("B", "Q16").claim("W", "CN2002 17.4").rule("WARN")
    assert (play.status, play.warnings, play.at("Q16"), play.turn) == ("FOLDED", (1, 0), "X", "W")


def test_one_act_is_one_case_and_a_second_claim_joins_it() -> None:
    play = refereed().moves("B Q16, W D4, B Q3, B D17").claim("W", "CN2002 17.2").claim("W", refs=["e5"])
    assert len(play.game.table.cases) == 1
    assert len(play.verdict.cases[0].claims) == 2


def test_a_claim_under_a_clause_that_the_edition_lacks_is_on_record_and_opens_nothing() -> None:
    play = refereed().stone("B", "Q16").claim("W", "KBA2024 18.1")
    assert (play.status, play.found, play.cases) == ("FOLDED", ["CN2002 16.3 CLAUSE_UNKNOWN"], [])


def test_a_claim_that_names_no_clause_is_referred_to_the_chief() -> None:
    play = refereed().stone("B", "Q16").claim("W")
    assert play.options == {"CN2002 30.6": ["OTHER", "DISMISS"]}


def test_ten_thousand_claims_of_one_device_stay_bounded() -> None:
    play = refereed().moves("B Q16, W D4, B Q3, B D17")
    for _ in range(300):
        play.claim("W", "CN2002 17.2").claim("W", "CN2002 23.3").claim("W")
    assert len(play.game.table.cases) <= 64
    assert max(len(case.told.claims) for case in play.game.table.cases.values()) == 32


def test_cn2002_18_2_late_the_position_is_corrected_without_a_warning() -> None:
    play = refereed(observed=["CAPTURES", "PRESSES"])
    play.moves("B C4, W D4, B D5, W D3, B C3, W Q16, B D2, W Q4, B E3, W Q10, B E4").captured("B", "D4").press("B")
    assert play.options == {"CN2002 18.2": ["CORRECT_AND_WARN", "DISMISS"], "CN2002 22.6": ["WARN", "DISMISS"]}
    play.stone("W", "K10").claim("W", "CN2002 18.2")
    assert play.options["CN2002 18.2"] == ["CORRECT_POSITION", "DISMISS"]
    play.rule("CORRECT_POSITION")
    assert (play.status, play.at("D3"), play.warnings) == ("FOLDED", ".", (0, 0))


def test_cn2002_18_1_the_stone_is_back_with_one_warning() -> None:
    play = refereed(observed=["CAPTURES"]).moves("B D3, W D4, B C4, W E6, B E4, W Q16, B D5").captured("B", "D4", "E6")
    assert play.options == {"CN2002 18.1": ["CORRECT_AND_WARN", "DISMISS"]}
    play.rule("CORRECT_AND_WARN")
    assert (play.at("E6"), play.warnings, play.turn) == ("O", (1, 0), "W")


# 17.3 dropped, 2.1, 17.5, 17.6: agreement, else the chief


def test_cn2002_17_3_dropped_with_the_opponents_consent_it_is_picked_up_and_no_ruling_is_needed() -> None:
    play = refereed().stone("B", "E7", manner="DROPPED").consent("W")
    assert (play.at("E7"), play.turn, play.warnings, play.cases) == (".", "B", (0, 0), ["DECIDED"])
    assert play.stone("B", "D4").found == []


def test_cn2002_17_3_dropped_without_consent_the_chief_decides() -> None:
    play = refereed().stone("B", "E7", manner="DROPPED").consent("W", accept=False)
    assert play.options == {"CN2002 17.3 drop": ["PICK_UP_FREE", "STANDS_WHERE_IT_FELL", "OTHER", "DISMISS"]}
    refused = play.rule("STANDS_WHERE_IT_FELL")
    assert (refused.status, refused.reason.startswith("role: needs CHIEF, not ARBITER")) == ("REFUSED", True)
    play.rule("STANDS_WHERE_IT_FELL", role="CHIEF")
    assert (play.status, play.at("E7"), play.turn, play.number) == ("FOLDED", "X", "W", 1)


def test_cn2002_2_1_a_stone_of_the_wrong_colour_is_swapped_where_both_agree() -> None:
    play = refereed().stone("B", "D4", color="W").consent("B").consent("W").rule("SWAP_STONE")
    assert (play.status, play.at("D4"), play.turn, play.warnings) == ("FOLDED", "X", "W", (0, 0))


def test_cn2002_17_5_with_both_consents_the_stone_goes_back_where_they_say() -> None:
    play = refereed().moves("B D10, W Q4, B Q16, W D4").discrepancy("MOVED", ("D10", "D11"))
    play.consent("B", proposal="D10").consent("W", proposal="D10").rule("AGREED_POINT", effects=points("D11", "D10"))
    assert (play.status, play.at("D10"), play.at("D11"), play.turn) == ("FOLDED", "X", ".", "B")


def test_cn2002_17_5_without_agreement_five_options_and_only_the_chief() -> None:
    play = refereed().moves("B D10, W Q4, B Q16, W D4").discrepancy("MOVED", ("D10", "D11"))
    assert play.options["CN2002 17.5"] == [
        "MOVE_TO_REASONABLE_POINT", "MOVED_STONE_VALID", "DRAW", "REPLAY", "BOTH_LOSE", "DISMISS",
    ]  # fmt: skip
    assert play.rule("MOVED_STONE_VALID").reason.startswith("role: needs CHIEF, not ARBITER")
    play.rule("MOVED_STONE_VALID", role="CHIEF")
    assert (play.at("D10"), play.at("D11"), play.turn, play.number) == (".", "X", "B", 4)


def test_cn2002_17_6_agreed_play_goes_on_from_the_reconstruction() -> None:
    play = filled(120, officials=OFFICIALS).discrepancy("SCATTERED", cause="EXTERNAL")
    play.consent("B", proposal="after 120").consent("W", proposal="after 120").rule("CONTINUE")
    assert (play.status, play.turn, play.number) == ("FOLDED", "B", 120)


def test_cn2002_17_6_agreed_on_an_earlier_move_the_later_ones_are_void() -> None:
    play = filled(120, officials=OFFICIALS).discrepancy("SCATTERED", cause="EXTERNAL")
    back = [rl.Effect(set_points=rl.SetPoints(as_after_move=117))]
    play.consent("B", proposal="after 117").consent("W", proposal="after 117").rule("CONTINUE", effects=back)
    assert (play.turn, play.number) == ("W", 117)
    assert play.drawn() == play.stones()


def test_cn2002_17_6_without_agreement_three_options() -> None:
    play = filled(120, officials=OFFICIALS).discrepancy("SCATTERED", cause="EXTERNAL")
    assert play.options == {"CN2002 17.6": ["DRAW", "REPLAY", "BOTH_LOSE", "DISMISS"]}


def test_cn2002_17_6_scattered_by_white_and_lost_white_loses() -> None:
    play = filled(9, officials=OFFICIALS).discrepancy("SCATTERED", cause="WHITE")
    assert play.options == {"CN2002 17.6 own": ["CONTINUE", "LOSS", "DISMISS"]}
    play.rule("LOSS")
    assert (play.result.kind, play.result.clause, play.phase) == (1, "CN2002 17.6", "ENDED")


# 15, 23: conduct


@pytest.mark.parametrize(
    ("kind", "clause", "listed"),
    [
        ("OTHER", "", {"CN2002 23.3": ["WARN", "LOSS", "DISMISS"]}),
        ("OTHER", "15.4", {"CN2002 23.4": ["WARN", "LOSS", "DISMISS"]}),
        ("TALK_START", "", {"CN2002 23.5": ["WARN", "LOSS", "DISMISS"]}),
        ("OTHER", "15.6", {"CN2002 conduct": ["ADMONISH", "WARN", "DISMISS"]}),
        ("PHONE_SOUND", "", {"CN2002 23.7": ["WARN", "DISMISS"]}),
        ("PHONE_LOOK", "", {"CN2002 23.7 look": ["LOSS", "DISMISS"]}),
        ("SMOKING", "", {"CN2002 23.8": ["WARN", "DISMISS"]}),
    ],
)
def test_cn2002_15_and_23_conduct_opens_its_case(kind: str, clause: str, listed: dict[str, list[str]]) -> None:
    assert refereed().conduct("W", kind, clause).options == listed


def test_cn2002_16_1_conduct_that_no_clause_penalises_is_on_record_only() -> None:
    play = refereed().conduct("W", "OTHER", "16.1")
    assert (play.status, play.cases, play.found) == ("FOLDED", [], [])


def test_cn2002_23_7_a_second_ring_in_the_game_lists_the_loss_alone() -> None:
    play = refereed().conduct("W", "PHONE_SOUND").rule("WARN").conduct("W", "PHONE_SOUND")
    assert play.options == {"CN2002 23.7": ["LOSS", "DISMISS"]}
    play.rule("LOSS")
    assert (play.result.kind, play.warnings) == (1, (0, 1))


def test_cn2002_23_7_a_ring_after_one_in_an_earlier_game_lists_both_where_that_is_named() -> None:
    play = refereed().conduct("W", "PHONE_SOUND")
    assert play.rule("LOSS").status == "REFUSED"
    play.rule("LOSS", refs=["game-3/ruling-7"])
    assert (play.status, play.result.kind) == ("FOLDED", 1)


def test_cn2002_15_5_a_permission_is_for_one_talk() -> None:
    play = refereed().claim("B", kind="TALK").rule("PERMIT_TALK", role="CHIEF")
    play.conduct("B", "TALK_START", at=t("10:00")).conduct("B", "TALK_END", at=t("11:50"))
    play.conduct("B", "TALK_START", at=t("1:10:00"))
    assert play.options == {"CN2002 23.5": ["WARN", "LOSS", "DISMISS"]}


def test_cn2002_23_7_phones_of_others_have_no_effect_on_the_game() -> None:
    play = refereed().conduct("", "PHONE_SOUND")
    assert play.options == {"CN2002 23.7 others": ["CRITICISM", "DISMISS"]}


def test_cn2002_15_5_a_permitted_talk_is_regular_up_to_two_minutes() -> None:
    play = refereed().claim("B", kind="TALK").rule("PERMIT_TALK", role="CHIEF")
    play.conduct("B", "TALK_START", at=t("10:00")).conduct("B", "TALK_END", at=t("11:50"))
    assert (play.cases, play.found) == ([], [])
    play.claim("B", kind="TALK", at=t("19:00")).rule("PERMIT_TALK", role="CHIEF", at=t("19:30"))
    play.conduct("B", "TALK_START", at=t("20:00")).conduct("B", "TALK_END", at=t("22:30"))
    assert play.found == ["CN2002 15.5 TALK_TOO_LONG"]
    assert play.options == {"CN2002 23.5": ["WARN", "LOSS", "DISMISS"]}


# 24.1, 12.4(4): what a ruling does to the count


def test_cn2002_24_1_a_warning_hands_one_zi_over_at_the_count() -> None:
    play = play_on_wall(14, officials=OFFICIALS).conduct("B", "SMOKING").rule("WARN").end()
    result = play.result
    assert (result.black_qz, result.white_qz, result.penalty_qz, result.margin_qz, result.kind) == (740, 704, 4, -1, 2)


def test_cn2002_24_1_a_warning_given_after_the_count_changes_the_result_that_nobody_has_signed() -> None:
    play = play_on_wall(14, officials=OFFICIALS).end().sign("W")
    play.rule("WARN", "CN2002 23.3", case="", against=1)
    assert (play.result.margin_qz, play.verdict.signed.white) == (-1, False)


@pytest.mark.parametrize(("side", "margin"), [(1, 3), (2, -1)])
def test_cn2002_12_4_4_contested_points_go_to_the_side_the_chief_says(side: int, margin: int) -> None:
    rest = [rl.Effect(assign_points=rl.AssignPoints(points=["K1"], side=side))]
    play = play_on_wall(14, "DAME", officials=OFFICIALS)
    assert play.rule("ASSIGN_REST", "CN2002 12.4(4)", case="", effects=rest).status == "REFUSED"
    play.rule("ASSIGN_REST", "CN2002 12.4(4)", case="", role="CHIEF", effects=rest).end()
    assert (play.status, play.result.margin_qz) == ("FOLDED", margin)


# 16.4, 16.5


def test_cn2002_16_4_three_signatures_make_the_result_final_and_then_nothing_can_be_ruled() -> None:
    play = play_on_wall(14, officials=OFFICIALS).end().sign("B").sign("W")
    assert (play.phase, play.verdict.signed.black, play.verdict.signed.white) == ("ENDED", True, True)
    assert play.sign("").phase == "FINAL"
    play.rule("WARN", "CN2002 23.3", case="", against=1)
    assert (play.status, play.reason) == ("REFUSED", "the result is final and cannot be changed (CN2002 16.4)")


def test_cn2002_16_4_a_recheck_before_both_have_signed_opens_the_count_again() -> None:
    play = play_on_wall(14, officials=OFFICIALS).end().sign("W").claim("B", kind="RECHECK")
    assert (play.phase, play.verdict.signed.white, play.verdict.HasField("result")) == ("DEAD_STONES", False, False)
    play.dead("B").answer_dead("W")
    assert (play.phase, play.result.margin_qz) == ("ENDED", 3)


def test_cn2002_16_4_a_recheck_after_both_have_signed_is_recorded_with_dismiss_only() -> None:
    play = play_on_wall(14, officials=OFFICIALS).end().sign("B").sign("W").claim("B", kind="RECHECK")
    assert play.options == {"CN2002 16.4 recheck": ["DISMISS"]}


def test_cn2002_16_4_the_signature_without_a_player_needs_an_arbiter() -> None:
    play = play_on_wall(14, officials=OFFICIALS).end().sign("", by=None)
    assert play.status == "REFUSED"


def test_cn2002_16_5_a_move_made_during_an_absence_must_be_shown_on_return() -> None:
    play = refereed().stone("B", "Q16").stone("W", "D4").presence("W", False).stone("B", "R4").presence("W", True)
    assert play.verdict.must_point_out == 2
    assert play.shown("B", "Q16").verdict.must_point_out == 2
    assert play.shown("B", "R4").verdict.must_point_out == 0


# 22.1 to 22.3: lateness


@pytest.mark.parametrize(
    ("limit_s", "late", "clause", "option"),
    [
        (3600, "20:00", "CN2002 22.1", "DEDUCT"),
        (3600, "1:00:00", "CN2002 22.1", "DEDUCT"),
        (3600, "1:00:00.001", "CN2002 22.1", "LOSS"),
        (900, "15:00", "CN2002 22.2", "DEDUCT"),
        (900, "15:00.001", "CN2002 22.2", "LOSS"),
    ],
)
def test_cn2002_22_1_and_22_2_late_at_the_start(limit_s: int, late: str, clause: str, option: str) -> None:
    play = refereed(late_limit_s=limit_s).mark("START", at=0).presence("W", True, at=t(late))
    assert play.options[clause] == [option, "DISMISS"]


def test_cn2002_22_3_both_late_beyond_the_limit_both_lose() -> None:
    play = refereed().mark("START", at=0).presence("B", True, at=t("1:05:00")).presence("W", True, at=t("1:05:00"))
    assert play.options == {"CN2002 22.3": ["BOTH_LOSE", "DISMISS"]}
    play.rule("BOTH_LOSE")
    assert (play.result.kind, play.result.clause) == (4, "CN2002 22.3")


# Regulations


def test_regulations_adopted_act_from_their_position_on() -> None:
    play = refereed().conduct("W", "PHONE_SOUND").rule("WARN")
    from support.events import actor

    from caipan.v1.facts_pb2 import RegulationsAdopted
    from caipan.v1.regulations_pb2 import Regulations

    three = RegulationsAdopted(changes=Regulations(warnings_to_lose=3), reason="agreed")
    assert play.say(three, source="tablet", by=actor("RECORDER")).status == "REFUSED"
    play.say(three, source="tablet", by=actor("CHIEF")).conduct("W", "SMOKING").rule("WARN")
    assert (play.phase, play.warnings) == ("PLAY", (0, 2))
    assert play.again()[1] == play.outcomes


def test_auto_fixed_applies_a_fixed_ruling_in_the_outcome_that_opens_the_case() -> None:
    play = refereed(ruling_mode=RULING_MODE_AUTO_FIXED).moves("B Q16, W D4, B Q3, B D17")
    assert (play.cases, play.warnings, play.at("D17"), play.turn) == (["DECIDED"], (1, 0), ".", "W")
    assert play.verdict.cases[0].automatic
    assert play.drawn() == play.stones()


def test_auto_fixed_leaves_what_a_person_has_to_find() -> None:
    play = refereed(ruling_mode=RULING_MODE_AUTO_FIXED).conduct("W", "PHONE_SOUND")
    assert play.warnings == (0, 0)
