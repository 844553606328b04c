"""Rulings on stones: what a case lists, what its ruling does, and that it needs one (CN2002 17 to 20)."""

from __future__ import annotations

from typing import Any

import pytest
from support.boards import filled
from support.events import actor
from support.play import Play, refereed, timed

from caipan.rules.checkpoint import load, save
from caipan.v1 import facts_pb2 as facts
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.regulations_pb2 import Regulations

DOUBLE = "B Q16, W D4, B Q3, B D17"
KO = "B D5, W E5, B D3, W E3, B C4, W F4, B Q16, W D4, B E4"


def test_cn2002_17_2_ruled_the_second_move_is_void_one_warning_and_the_turn_is_the_opponents() -> None:
    play = refereed().moves(DOUBLE)
    assert play.cases == ["OPEN CN2002 17.2"]
    assert play.options == {"CN2002 17.2": ["VOID_AND_WARN", "DISMISS"]}
    assert (play.warnings, play.at("D17")) == ((0, 0), "X")
    play.rule("VOID_AND_WARN")
    assert (play.status, play.reason) == ("FOLDED", "")
    assert play.stones() == {"Q16": "X", "D4": "O", "Q3": "X"}
    assert (play.warnings, play.turn, play.number, play.cases) == ((1, 0), "W", 3, ["DECIDED"])
    assert play.drawn() == play.stones()
    assert play.moves("W C14").found == []


def test_a_dismissed_case_changes_nothing_but_the_case() -> None:
    play = refereed().moves(DOUBLE).rule("DISMISS")
    assert (play.warnings, play.at("D17"), play.provisional, play.cases) == ((0, 0), "X", ["D17"], ["DECIDED"])


def test_cn2002_17_3_the_stone_goes_back_with_one_warning_where_the_opponent_claims_in_time() -> None:
    play = filled(19, officials=[("arbiter", "ARBITER")]).stone("W", "R4").lifted("W", "R4").stone("W", "R5")
    assert play.options == {"CN2002 17.3": ["DISMISS"]}  # his report is a condition


def test_cn2002_18_3_the_capture_is_void_the_turn_is_lost_one_warning() -> None:
    play = refereed().moves(KO).stone("W", "D4")
    assert play.options == {"CN2002 18.3": ["VOID_TURN_AND_WARN", "DISMISS"]}
    play.rule("VOID_TURN_AND_WARN")
    assert (play.at("E4"), play.at("D4"), play.warnings, play.turn, play.number) == ("X", ".", (0, 1), "B", 10)
    assert play.moves("B K11, W D4").found == []


def test_cn2002_19_the_move_is_void_the_turn_is_lost_no_warning() -> None:
    play = refereed().moves("B Q16, W A2, B Q4, W B1, B A1")
    assert play.options == {"CN2002 19": ["VOID_AND_TURN", "DISMISS"]}
    play.rule("VOID_AND_TURN")
    assert (play.at("A1"), play.warnings, play.turn, play.number) == (".", (0, 0), "W", 5)
    turns = [count.turns_lost for count in play.verdict.penalties]
    assert turns == [1]


def test_cn2002_7_3_a_turn_lost_and_a_pass_do_not_end_the_game() -> None:
    play = refereed().moves("B Q16, W D4, B A2, W Q4, B B1, W A1").rule("VOID_AND_TURN").pass_("B")
    assert (play.phase, play.turn) == ("PLAY", "W")


def test_cn2002_24_2_the_second_warning_loses_the_game() -> None:
    play = refereed().moves(DOUBLE).rule("VOID_AND_WARN").moves("W C14, B C3, B C5")
    play.rule("VOID_AND_WARN")
    assert (play.phase, play.result.clause, play.result.kind) == ("ENDED", "CN2002 24.2", 2)


def test_a_ruling_by_who_is_no_arbiter_here_is_refused_and_changes_no_state() -> None:
    play = Play().moves(DOUBLE)
    before = play.digest
    play.rule("VOID_AND_WARN")
    assert play.status == "REFUSED"
    assert play.reason.startswith("role: 'arbiter' is not ARBITER in this game")
    assert (play.digest, play.warnings) == (before, (0, 0))


def test_an_option_that_is_not_listed_is_refused_with_those_that_are() -> None:
    play = refereed().moves(DOUBLE).rule("LOSS")
    assert (play.status, play.reason) == ("REFUSED", "option: 'LOSS' is not listed here; VOID_AND_WARN, DISMISS")


def test_a_ruling_on_a_closed_case_is_refused() -> None:
    play = refereed().moves(DOUBLE).rule("VOID_AND_WARN")
    play.rule("VOID_AND_WARN", case="5")
    assert (play.status, play.reason) == ("REFUSED", "case_id: case 5 is closed by ruling 'e6': supersede that")


def test_a_ruling_on_an_act_that_is_decided_names_the_one_that_decided_it() -> None:
    play = refereed().moves(DOUBLE).rule("VOID_AND_WARN")
    assert play.rule("VOID_AND_WARN", case="5").verdict.decided_by == "e6"
    play.stone("W", "C14").rule("DISMISS", "CN2002 23.3", case="", refs=["e8"], against=1)
    again = play.rule("DISMISS", "CN2002 23.3", case="", refs=["e8"], against=1)
    assert (again.status, again.verdict.decided_by) == ("REFUSED", "e9")
    assert play.rule("LOSS", case="99").verdict.decided_by == ""


def test_a_verdict_has_the_whole_ledger_where_it_changed_and_none_elsewhere() -> None:
    play = refereed().moves(DOUBLE)
    assert not play.verdict.HasField("ledger")
    first = play.rule("VOID_AND_WARN").verdict.ledger
    assert [(each.clause, each.key, each.ruling) for each in first.penalties] == [("CN2002 17.2", "CN2002 17.2", "e6")]
    assert not play.stone("W", "C14").verdict.HasField("ledger")
    assert not play.rule("DISMISS", "CN2002 23.3", case="", against=1).verdict.HasField("ledger")
    second = play.moves("B C3, B C5").rule("VOID_AND_WARN").verdict.ledger
    assert (len(second.penalties), second.penalties[0]) == (2, first.penalties[0])


def test_a_correction_that_changes_the_ledger_tells_the_whole_of_it() -> None:
    play = refereed().moves(DOUBLE).rule("VOID_AND_WARN").retract("e5")
    assert play.verdict.HasField("ledger")
    assert list(play.verdict.ledger.penalties) == []


def test_a_ruling_on_what_has_changed_since_is_stale() -> None:
    play = refereed().moves(DOUBLE)
    (case,) = play.verdict.cases
    assert play.stone("W", "C14").cases == []  # play goes on, which whoever follows it sees
    play.rule("VOID_AND_WARN", case_revision=case.revision)
    assert play.status == "STALE"
    assert play.rule("VOID_AND_WARN", case_revision=case.revision + 1).status == "FOLDED"


def test_after_the_opponent_has_moved_on_an_arbiter_may_still_act_and_the_stone_goes() -> None:
    play = refereed().moves(DOUBLE).stone("W", "C14").rule("VOID_AND_WARN")
    assert (play.status, play.at("D17"), play.turn, play.warnings) == ("FOLDED", ".", "B", (1, 0))
    assert play.drawn() == play.stones()


def test_the_log_judged_again_gives_the_same_bytes() -> None:
    play = refereed().moves(DOUBLE).rule("VOID_AND_WARN").moves("W C14, B C3, B C5").rule("VOID_AND_WARN")
    assert play.again()[1] == play.outcomes


def test_a_ruling_on_an_outcome_that_is_not_there_yet_is_refused() -> None:
    play = refereed().moves(DOUBLE).rule("VOID_AND_WARN", case_revision=99)
    assert play.reason == "case_revision: there is no outcome 99 yet; name the last one you have seen"


# What a ruling itself enters


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"against": 2}, "against: case 2 is about Black, leave it out"),
        (
            {"effects": [rl.Effect(warn=rl.Warn(player=2))]},
            "effects: warn.player is COLOR_WHITE; in this case it is COLOR_BLACK",
        ),
    ],
)
def test_a_ruling_that_says_otherwise_than_its_case_is_refused(said: dict[str, Any], reason: str) -> None:
    play = refereed().conduct("B", "OTHER").rule("WARN", **said)
    assert (play.status, play.reason, play.warnings) == ("REFUSED", reason, (0, 0))
    assert play.rule("WARN", effects=[rl.Effect(warn=rl.Warn(player=1))]).warnings == (1, 0)


def test_a_loss_that_is_said_to_be_a_win_is_refused() -> None:
    won = rl.Effect(result=rl.SetResult(kind=rl.RESULT_KIND_B_WIN))
    play = refereed().conduct("B", "OTHER").rule("LOSS", effects=[won])
    assert play.reason == "effects: result.kind is RESULT_KIND_B_WIN; in this case it is RESULT_KIND_W_WIN"


@pytest.mark.parametrize(
    "effect",
    [
        rl.Effect(sanction=rl.Sanction(target="li", kind="BAN")),
        rl.Effect(assign_points=rl.AssignPoints(points=["C3"], side=1)),
    ],
    ids=["ban", "points"],
)
def test_what_is_the_chiefs_stays_so_under_an_option_that_leaves_the_effects_open(effect: rl.Effect) -> None:
    play = refereed(edition="CN1988S")
    play.rule("OTHER", "CN1988S 25.1", case="", against=1, effects=[effect])
    assert (play.status, play.reason) == ("REFUSED", "role: needs CHIEF, not ARBITER (CN1988S 25.1, OTHER)")


# The stone of the case, after play has gone on


def test_a_stone_that_was_captured_since_is_not_made_void() -> None:
    play = refereed(9, observed=[]).moves("B C3, W G7, B E5, B A1, W A2, B E6, W B1, B E7, W A1")
    before = play.stones()
    play.rule("VOID_AND_WARN", case="5")
    assert (play.status, play.stones()) == ("REFUSED", before)
    assert play.reason == "'e5' is no stone of this case that lies on the board"


def test_cn1988s_17_2_a_stone_is_not_put_back_on_one_that_was_set_there_since() -> None:
    play = refereed(9, edition="CN1988S").moves("B E5, W D4").lifted("W", "D4").moves("W D5, B D4")
    play.rule("RESTORE_AND_WARN")
    assert play.reason == "set_points: a stone of Black lies on D4; remove that first"


def test_cn2002_17_3_a_dropped_stone_that_was_played_on_stands_even_if_the_opponent_consents_later() -> None:
    play = refereed().stone("B", "E7", manner="DROPPED").moves("W D4, B Q16").consent("W")
    assert (play.status, play.at("E7"), play.cases) == ("FOLDED", "X", ["OPEN CN2002 17.3"])


def test_cn2002_17_3_a_dropped_stone_that_stands_gives_nobody_a_second_turn() -> None:
    play = refereed().stone("B", "E7", manner="DROPPED").stone("W", "D4").rule("STANDS_WHERE_IT_FELL", role="CHIEF")
    assert (play.status, play.turn) == ("FOLDED", "B")


def test_cn2002_19_once_the_opponent_has_moved_the_stone_goes_and_no_later_turn_is_lost() -> None:
    for moves, turn in (("W G7", "B"), ("W G7, B G3", "W")):
        play = refereed(9).moves(f"B E5, W A2, B E6, W B1, B A1, {moves}").rule("VOID_AND_TURN")
        assert (play.status, play.at("A1"), play.turn) == ("FOLDED", ".", turn)


def test_cn2002_0_7_an_arbiter_acts_of_his_own_motion_after_a_late_claim() -> None:
    play = refereed().stone("B", "Q16").press("W", at=2500).stone("W", "D4", at=3000).stone("B", "Q3")
    play.claim("B", "17.4")
    assert play.options == {"CN2002 17.4": ["DISMISS"]}
    assert play.rule("WARN").status == "REFUSED"
    assert play.rule("WARN", "CN2002 17.4", case="", against=2).warnings == (0, 1)


# Prisoners and positions that a ruling leaves


@pytest.mark.parametrize("is_restarted", [False, True])
def test_prisoners_of_a_stone_that_a_ruling_let_stand_are_counted_after_any_restart(is_restarted: bool) -> None:
    play = refereed(9, edition="TERR65").moves("B D5, W D4, B C4, W G7, B E4, B D3")
    play.discrepancy("MOVED", ("G7", "G8"), cause="EXTERNAL").rule("MOVED_STONE_VALID", role="CHIEF")
    if is_restarted:
        play.game = load(save(play.game))
    play.stone("W", "G3").rule("DISMISS", case="7").end()
    assert (play.taken, play.result.black_qz, play.result.margin_qz) == ((0, 1), 2, -11)


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_provisional_stone_behind_one_that_a_ruling_sets_keeps_its_place_in_the_history(is_restarted: bool) -> None:
    play = refereed(9).stone("B", "A4", color="W").stone("B", "B4").rule("SWAP_STONE", case="2", role="CHIEF")
    if is_restarted:
        play.game = load(save(play.game))
    play.stone("W", "C4")
    assert play.digest == load(save(play.game)).digest
    assert play.again()[1] == play.outcomes


# 17.1


def swapped(option: str) -> Play:
    """Black was warned, and the persons had taken the wrong colours."""
    play = timed("ABSOLUTE", "1:00:00", 19, players=["li", "wang"], colours=("li", "wang"))
    play.stone("B", "Q16", at=60_000).stone("W", "D4", at=600_000).conduct("B", "OTHER").rule("WARN")
    return play.claim("W", "17.1").rule(option)


def test_cn2002_17_1_warnings_and_used_times_go_with_the_person() -> None:
    play = swapped("SWAP_PLAYERS")
    assert (play.status, play.warnings) == ("FOLDED", (0, 1))
    assert (play.used[0] // 1000, play.used[1] // 1000) == (540, 64)


def test_cn2002_17_1_after_a_restart_warnings_stay_with_the_person() -> None:
    play = swapped("RESTART")
    assert (play.warnings, play.used, play.stones()) == ((0, 1), (0, 0), {})


def test_cn2002_17_1_keeping_what_is_played_moves_no_warning() -> None:
    assert swapped("KEEP").warnings == (1, 0)


def test_cn2002_17_1_a_board_cleared_before_the_ruling_is_no_moved_stone_after_it() -> None:
    play = refereed(9, players=["li", "wang"], colours=("li", "wang")).moves("B C3, W G7, B D4").claim("W", "17.1")
    play.lifted("B", "C3").lifted("B", "D4").lifted("W", "G7").rule("RESTART")
    assert play.stone("B", "E5").found == []
    assert play.stone("W", "E6").found == []


def test_cn2002_17_1_a_case_about_a_person_goes_with_him_and_one_about_a_stone_stays() -> None:
    play = timed("ABSOLUTE", "1:00:00", 19, players=["li", "wang"], colours=("li", "wang")).moves("B Q16, W D4, B Q3")
    play.stone("B", "D17").conduct("B", "PHONE_SOUND").claim("W", "17.1").rule("SWAP_PLAYERS")
    sides = {case.told.case_id: case.told.side for case in play.game.table.cases.values()}
    assert sides == {"6": 1, "7": 2}


def test_cn2002_17_1_the_record_of_a_pause_goes_with_the_persons() -> None:
    play = timed("ABSOLUTE", "1:00:00", 19, players=["li", "wang"], colours=("li", "wang"))
    play.stone("B", "Q16", at=60_000).stone("W", "D4", at=600_000).mark("PAUSE", at=660_000)
    play.reading("2:00", "9:00").consent("B").consent("W").claim("W", "17.1").rule("SWAP_PLAYERS")
    play.mark("RESUME", at=900_000).claim("W", "22.9").rule("FROM_RECORD")
    assert [ms // 1000 for ms in play.used] == [540, 120]


@pytest.mark.parametrize("regime", ["FISCHER", "BYOYOMI", "STAGE", "CANADIAN"])
def test_cn2002_17_1_a_restart_finds_both_clocks_as_at_the_start_also_before_the_press(regime: str) -> None:
    how = {"increment_s": 20} if regime == "FISCHER" else {"retained_minutes": 1} if regime == "BYOYOMI" else {}
    stages = {"stage_moves": 3, "stage_s": 60} if regime in ("STAGE", "CANADIAN") else {}
    play = timed(regime, "2:00", observed=["PRESSES"], colours=("li", "wang"), **how, **stages)
    start = play.face("W")
    play.stone("B", "C3").press("B").stone("W", "G7").claim("W", "17.1").rule("RESTART")
    assert (play.status, play.face("W"), play.used) == ("FOLDED", start, (0, 0))


def test_cn2002_17_1_a_restart_voids_a_seal() -> None:
    play = timed("ABSOLUTE", "1:00:00", colours=("li", "wang")).moves("B C3, W G7")
    play.say(facts.MoveSealed(digest=bytes(32)), "B").claim("W", "17.1").rule("RESTART")
    assert (play.running, play.stone("B", "E5", at=play.now + 60_000).used[0]) == ("B", 60_000)


def test_a_takeback_leaves_what_a_ruling_has_set() -> None:
    play = refereed(9).moves("B C3, W G7, B C7, W E5").discrepancy("MOVED", ("C3", "C4"), cause="EXTERNAL")
    play.rule("MOVED_STONE_VALID", role="CHIEF").lifted("W", "E5").stone("W", "E6")
    assert play.stones() == {"C4": "X", "G7": "O", "C7": "X", "E6": "O"}
    assert play.claim("B", "17.3").rule("RESTORE_AND_WARN").stones() == {"C4": "X", "G7": "O", "C7": "X", "E5": "O"}


def test_a_prisoner_that_a_ruling_puts_back_is_none_any_more() -> None:
    play = refereed(9, edition="TERR65").moves("B D5, W D4, B C4, W G7, B E4, W G3, B D3")
    assert play.taken == (0, 1)
    back = rl.Effect(set_points=rl.SetPoints(remove=["D3"], add_white=["D4"]))
    play.rule("OTHER", "CN2002 30.6", case="", role="CHIEF", effects=[back])
    assert (play.status, play.taken) == ("FOLDED", (0, 0))


def test_cn2002_23_7_the_offence_goes_with_the_person() -> None:
    play = refereed(players=["li", "wang"], colours=("li", "wang")).conduct("B", "PHONE_SOUND").rule("WARN")
    play.claim("W", "17.1").rule("SWAP_PLAYERS").conduct("B", "PHONE_SOUND")
    assert play.options == {"CN2002 23.7": ["WARN", "DISMISS"]}
    assert play.conduct("W", "PHONE_SOUND").options == {"CN2002 23.7": ["LOSS", "DISMISS"]}


def test_clocks_put_away_and_taken_out_again_by_regulations_stand_as_they_did() -> None:
    play = timed("ABSOLUTE", "1:00:00").stone("B", "C3", at=60_000).stone("W", "G7", at=120_000)
    for changes in (Regulations(untimed=True, regime=0), Regulations(untimed=False, regime=2)):
        play.say(facts.RegulationsAdopted(changes=changes), source="desk", by=actor("CHIEF"), at=120_000)
        assert play.status == "FOLDED", play.reason
        play.game = load(save(play.game))
    assert play.used == (60_000, 60_000)


def test_cn2002_17_5_a_moved_stone_that_was_captured_since_is_not_valid_where_it_was_found() -> None:
    play = refereed(9).moves("B A1, W A2, B E5").discrepancy("MOVED", ("A1", "A3"), cause="EXTERNAL")
    play.moves("W B1, B E6, W A1")
    before = play.stones()
    play.rule("MOVED_STONE_VALID", role="CHIEF")
    assert (play.status, play.stones()) == ("REFUSED", before)
    assert play.reason == "option: the stone that was on A1 is no more; take another option"


def test_a_ruling_on_one_point_forgets_no_captures_elsewhere() -> None:
    play = refereed(observed=["CAPTURES", "PRESSES"]).moves("B D3, W D4, B C4, W Q4, B E4, W Q16, B D5")
    play.discrepancy("MOVED", ("Q4", "Q5"), cause="EXTERNAL").rule("MOVED_STONE_VALID", role="CHIEF").press("B")
    assert play.found == ["CN2002 18.2 CAPTURES_LEFT", "CN2002 22.6 PRESS_BEFORE_REMOVAL"]


def test_a_move_is_taken_back_though_its_prisoner_was_put_back_before() -> None:
    play = refereed(9).moves("B D3, W D4, B C4, W G7, B E4, W G6, B D5")
    back = rl.Effect(set_points=rl.SetPoints(remove=["C4"], add_white=["D4"]))
    play.rule("OTHER", "CN2002 30.6", case="", role="CHIEF", effects=[back])
    play.lifted("B", "D5").stone("B", "H2")
    assert (play.found, play.taken, play.at("D4")) == (["CN2002 17.3 TAKEBACK"], (0, 0), "O")


def test_cn2002_17_1_times_put_away_go_with_the_person_too() -> None:
    play = timed("ABSOLUTE", "1:00:00", 19, players=["li", "wang"], colours=("li", "wang"))
    play.stone("B", "Q16", at=600_000)
    off, on = Regulations(untimed=True, regime=0), Regulations(untimed=False, regime=2)
    play.say(facts.RegulationsAdopted(changes=off), source="desk", by=actor("CHIEF"), at=600_000)
    play.claim("W", "17.1", at=600_000).rule("SWAP_PLAYERS", at=600_000)
    play.say(facts.RegulationsAdopted(changes=on), source="desk", by=actor("CHIEF"), at=600_000)
    assert play.used == (0, 600_000)


def test_a_ruling_whose_second_effect_cannot_be_applied_tells_nothing_of_the_first() -> None:
    play = refereed(players=["li", "wang"], colours=("li", "wang")).conduct("B", "PHONE_SOUND")
    seats = rl.Effect(set_colours=rl.SetColours(black="wang", white="li", change_seats=True))
    nowhere = rl.Effect(set_points=rl.SetPoints(remove=["Z99"]))
    play.rule("OTHER", "CN2002 30.6", case="", role="CHIEF", effects=[seats, nowhere])
    assert (play.status, play.cases, play.verdict.HasField("colours")) == ("REFUSED", [], False)
    assert play.options == {"CN2002 23.7": ["WARN", "DISMISS"]}


def test_one_act_is_not_ruled_twice_after_the_persons_changed_seats() -> None:
    play = refereed(players=["li", "wang"], colours=("li", "wang")).conduct("B", "OTHER")
    act = play.last_id
    play.rule("WARN").claim("W", "17.1").rule("SWAP_PLAYERS")
    play.rule("WARN", "CN2002 23.3", case="", against=2, refs=[act])
    assert (play.status, play.warnings) == ("REFUSED", (0, 1))


def test_cn2002_16_5_whom_the_move_must_be_shown_to_is_a_person() -> None:
    play = refereed(players=["li", "wang"], colours=("li", "wang")).moves("B Q16, W D4").presence("W", True)
    play.presence("W", False).stone("B", "Q3")
    assert play.verdict.must_point_out == 2
    assert play.claim("B", "17.1").rule("SWAP_PLAYERS").verdict.must_point_out == 1


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_stone_that_lies_provisionally_is_no_part_of_a_free_handicap(is_restarted: bool) -> None:
    play = refereed(9, handicap=3, handicap_placement=2).stone("B", "C3").stone("B", "G7", color="W").stone("B", "C7")
    if is_restarted:
        play.game = load(save(play.game))
    assert (play.provisional, play.stone("B", "G3").provisional) == (["G7"], ["G7"])
    assert play.again()[1] == play.outcomes


def test_a_stone_of_a_free_handicap_put_right_by_a_ruling_is_one_of_them() -> None:
    play = refereed(9, handicap=3, handicap_placement=2).stone("B", "C3").stone("B", "G7", color="W")
    play.rule("SWAP_STONE", role="CHIEF").stone("B", "C7")
    assert (play.status, play.number, play.found) == ("FOLDED", 0, [])
    assert play.stone("B", "G3").found == ["CN2002 17.2 OUT_OF_TURN"]
