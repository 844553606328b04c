"""Incidents of real games, played by CN2002: what is seen opens a case, the ledger stays, then somebody rules.

Where the record of an incident names a penalty at once, the script first shows that nothing follows without a ruling.
The positions are made up so that each can be played.
"""

from __future__ import annotations

from support.boards import play_on_wall
from support.events import actor, t
from support.play import Play, refereed

from caipan.v1 import facts_pb2 as facts
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.regulations_pb2 import REPETITION_POLICY_DRAW, REPETITION_POLICY_NO_RESULT, Regulations
from cases.positions import position


def area_of(play: Play) -> tuple[int, int, int]:
    """The area of both sides and the margin of Black, quarter-zi."""
    return play.result.black_qz, play.result.white_qz, play.result.margin_qz


def prisoners_astray(adopted: bool = False) -> Play:
    """A stone that Black captured lies on the table, later another one in the hand; White asks for a penalty each time.
    ``adopted``: between the two the event adopts rules that punish it."""
    play = refereed(**position("K9")).stone("B", "F5", at=t("10:00"))
    play.say(facts.StonesCaptured(points=["E5"], stored="STORED_TABLE"), "B", at=t("10:01"))
    assert (play.found, play.cases) == ([], [])
    play.claim("W", refs=[play.last_id], at=t("10:40"))
    assert play.options == {"CN2002 30.6": ["OTHER", "DISMISS"]}
    play.rule("DISMISS", role="CHIEF")
    if adopted:
        changes = facts.RegulationsAdopted(changes=Regulations(edition="KBA2024"), reason="from now on")
        assert play.say(changes, source="office", by=actor("COMMITTEE")).status == "FOLDED"
    play.moves("W A9, B A8").say(facts.StonesCaptured(stored="STORED_HAND"), "B", at=t("40:00"))
    return play


def r01_captured_stones_are_kept_anywhere_under_chinese_rules() -> Play:
    """LG Cup 2025, final: captured stones not kept in the lid cost the game. CN2002 counts no prisoners (9, 18)."""
    play = prisoners_astray()
    assert (play.all_found, play.warnings, play.phase) == ([], (0, 0), "PLAY")
    return play.claim("W", refs=[play.last_id])


def r01_an_edition_adopted_in_between_judges_the_later_act_alone() -> Play:
    play = prisoners_astray(adopted=True)
    assert play.all_found == ["KBA2024 18.1 PRISONERS_ASTRAY"]
    assert play.cases == ["OPEN KBA2024 18.1"]
    play.rule("WARN")
    assert (play.warnings, play.phase) == ((1, 0), "PLAY")
    return play


def r04_the_clock_pressed_before_the_captured_stones_are_off_is_one_warning() -> Play:
    """Women's Mingshou qualifiers 2024: in the last seconds pressed first, cleared the captures afterwards."""
    play = refereed(**position("THREE"), observed=["CAPTURES", "PRESSES"]).stone("B", "D1", at=t("0:20"))
    play.press("B", at=t("0:27")).claim("W", "CN2002 22.6", at=t("0:28"))
    play.captured("B", "A1", "B1", "C1", at=t("0:29"))
    assert play.warnings == (0, 0)
    play.rule("WARN", "CN2002 22.6")
    assert (play.warnings, play.at("D1"), play.at("A1"), play.turn) == ((1, 0), "X", ".", "W")
    assert play.rule("CORRECT_AND_WARN", "CN2002 18.2", case="", against=1, refs=["e3"]).status == "REFUSED"
    assert play.game.table.cases == {}
    return play


def r05_a_ko_taken_back_without_a_threat() -> Play:
    """The same qualifiers: a professional took a ko back at once; one warning, and the game went on."""
    play = refereed(**position("K9")).stone("B", "F5", at=t("0:10")).stone("W", "E5", at=t("0:22"))
    assert play.found == ["CN2002 6 REPETITION", "CN2002 18.3 KO_RETAKE"]
    play.claim("B", "CN2002 18.3", at=t("0:30"))
    assert (play.warnings, play.provisional) == ((0, 0), ["E5"])
    play.rule("VOID_TURN_AND_WARN")
    assert (play.at("F5"), play.at("E5"), play.warnings, play.turn) == ("X", ".", (0, 1), "B")
    assert [count.turns_lost for count in play.verdict.penalties] == [1]
    play.stone("B", "J9", at=t("1:10")).stone("W", "E5", at=t("1:20"))
    assert (play.found, play.at("F5")) == ([], ".")
    return play


def r05_the_turn_lost_and_a_pass_do_not_end_the_game() -> Play:
    play = refereed(**position("K9")).moves("B F5, W E5").rule("VOID_TURN_AND_WARN").pass_("B")
    assert (play.phase, play.turn, play.number) == ("PLAY", "W", 3)
    return play


def r07_a_ko_foul_turns_the_smallest_win_into_a_loss() -> Play:
    """Oza 1987: about to win by half a point, the challenger took a ko back at once, and lost by foul. By 18.3 and 24.1
    it is a warning, and one zi is two points."""
    play = refereed(**position("HALF_WITH_KO")).moves("B C5, W A9, B A8, W B5, B C5")
    assert play.found == ["CN2002 6 REPETITION", "CN2002 18.3 KO_RETAKE"]
    assert play.warnings == (0, 0)
    play.rule("VOID_TURN_AND_WARN")
    assert (play.at("C5"), play.warnings, play.turn) == (".", (1, 0), "W")
    play.end("A9", "B5", "C4", "C6", "D5")
    assert area_of(play) == (178, 146, -3)
    assert (play.result.kind, play.result.penalty_qz) == (rl.RESULT_KIND_W_WIN, 4)
    return play


def r07_without_the_foul_it_is_won_by_a_quarter() -> Play:
    play = refereed(**position("HALF_WITH_KO")).end("B5", "C4", "C6", "D5")
    assert area_of(play) == (178, 146, 1)
    return play


def r07_the_same_on_nineteen_lines() -> Play:
    officials = [("arbiter", "ARBITER")]
    play = play_on_wall(14, "DAME", officials=officials).rule("WARN", "CN2002 17.4", case="", against=1).end()
    assert area_of(play) == (738, 706, -3)
    return play


def dropped() -> Play:
    """New Star 2003: three points open, Black about to win by the least; a black stone is suddenly found in Black's own
    area, and nobody knows how it got there."""
    return refereed(**position("DROP")).stone("B", "B5", manner="DROPPED", at=t("0:01"))


def r09_a_dropped_stone_that_the_chief_holds_to_be_a_move_loses_the_game() -> Play:
    play = dropped().consent("W", accept=False)
    assert play.options == {"CN2002 17.3 drop": ["PICK_UP_FREE", "STANDS_WHERE_IT_FELL", "OTHER", "DISMISS"]}
    assert play.rule("STANDS_WHERE_IT_FELL").reason.startswith("role: needs CHIEF")
    play.rule("STANDS_WHERE_IT_FELL", role="CHIEF")
    assert (play.turn, play.warnings) == ("W", (0, 0))
    play.moves("W E9, B E1, W F5").end()
    assert area_of(play) == (176, 148, -1)
    return play


def r09_picked_up_by_the_chiefs_ruling_it_is_won() -> Play:
    play = dropped().consent("W", accept=False).rule("PICK_UP_FREE", role="CHIEF").moves("B E9, W E1, B F5").end()
    assert (area_of(play), play.warnings) == ((180, 144, 3), (0, 0))
    return play


def r09_with_the_opponents_consent_no_chief_is_needed() -> Play:
    play = dropped().consent("W")
    assert (play.at("B5"), play.turn, play.cases, play.warnings) == (".", "B", ["DECIDED"], (0, 0))
    return play


def r13_it_is_over_is_it_not_and_no_answer() -> Play:
    """Kisei 2002: Black murmured that it was over, White did not reply and played on. Play had not ended (13.2)."""
    play = refereed(**position("DAME", to_move="W")).propose_end("B", at=t("0:01"))
    assert (play.found, play.phase) == (["CN2002 13.2 NOT_ON_TURN"], "PLAY")
    play.moves("W H9, B D5").stone("W", "E9", at=t("0:50"))
    assert sorted(play.verdict.removed) == ["F9", "G9"]
    play.moves("B D9, W F9").end()
    assert (area_of(play), play.warnings) == ((176, 148, -1), (0, 0))
    return play


def r13_a_second_stone_released_is_void_with_a_warning() -> Play:
    play = refereed(**position("DAME", to_move="W")).moves("W H9, B D5, B E9")
    assert (play.cases, play.warnings) == (["OPEN CN2002 17.2"], (0, 0))
    play.rule("VOID_AND_WARN")
    assert (play.at("E9"), play.warnings, play.turn) == (".", (1, 0), "W")
    play.moves("W E9, B D9, W F9").end()
    assert area_of(play) == (176, 148, -5)
    return play


def r13_a_proposal_off_turn_cannot_be_accepted_one_on_turn_can() -> Play:
    play = refereed(**position("DAME", to_move="W")).propose_end("B").answer_end("W")
    assert (play.found, play.phase) == (["CN2002 13.2 NO_PROPOSAL"], "PLAY")
    play.propose_end("W").answer_end("B").dead("B").answer_dead("W")
    assert area_of(play) == (190, 134, 13)
    return play


def r15_a_stone_on_a_point_without_liberties() -> Play:
    """Kisung 2003: the stone meant for a ko came to lie beside it, without a liberty. By 19 void, turn lost, no
    warning."""
    corner = {"size": 9, "white": ["H9", "G8", "J8", "H7"], "black": ["C3", "D3", "E3"], "to_move": "B"}
    play = refereed(**corner, observed=["PRESSES"]).stone("B", "H8", at=t("0:05"))
    assert play.found == ["CN2002 19 FORBIDDEN_POINT"]
    play.press("B", at=t("0:06")).claim("W", "CN2002 19", at=t("0:20"))
    assert (play.options, play.turn) == ({"CN2002 19": ["VOID_AND_TURN", "DISMISS"]}, "B")
    play.rule("VOID_AND_TURN")
    assert (play.at("H8"), play.turn, play.warnings) == (".", "W", (0, 0))
    assert play.pass_("W").pass_("B").dead("W").answer_dead("B").result.penalty_qz == 0
    return play


def moved_after_twenty_seconds() -> Play:
    play = refereed(observed=["PRESSES"]).stone("B", "F3", at=t("0:10")).press("B", at=t("0:11"))
    return play.lifted("B", "F3", at=t("0:30")).stone("B", "F4", at=t("0:30"))


def r18_a_takeback_that_nobody_reports_stands_and_no_claim_reaches_a_final_result() -> Play:
    """Meijin preliminary 2021: the stone was pushed on twenty seconds later; the complaint came after the game, and the
    result was reversed days later. By 17.3, 16.3 and 16.4 it stands."""
    play = moved_after_twenty_seconds()
    assert play.found == ["CN2002 17.3 TAKEBACK"]
    play.stone("W", "D6", at=t("1:35"))
    assert (play.at("F4"), play.at("F3"), play.warnings, play.turn) == ("X", ".", (0, 0), "B")
    play.resign("W", at=t("2:29:00")).sign("B", at=t("2:30:00")).sign("W").sign("")
    assert play.phase == "FINAL"
    before = play.digest, play.result
    play.claim("W", "CN2002 17.3", refs=["e5"], at=t("26:23:20"))
    assert "CN2002 16.3 LATE_CLAIM" in play.found
    assert all(options == ["DISMISS"] for options in play.options.values())
    assert (play.rule("RESTORE_AND_WARN", "CN2002 17.3").status, play.result) == ("REFUSED", before[1])
    return play


def r18_reported_before_the_next_stone_it_goes_back() -> Play:
    play = moved_after_twenty_seconds().claim("W", "CN2002 17.3", at=t("0:40"))
    assert play.warnings == (0, 0)
    play.rule("RESTORE_AND_WARN")
    assert (play.at("F3"), play.at("F4"), play.warnings, play.turn) == ("X", ".", (1, 0), "W")
    return play


TRIPLE = "B D11, W C7, B D3, W C11, B D7, W C3"


def three_kos(**regulations: object) -> Play:
    """Samsung Cup 2012: several kos at once, nobody gives way; void, and played again the same day."""
    play = refereed(**position("TRIPLE"), **regulations).moves(TRIPLE)
    assert play.all_found == ["CN2002 6 REPETITION", "CN2002 20.3 REPETITION_CYCLE"]
    cycle = play.verdict.findings[1]
    assert (cycle.move, cycle.of_move, cycle.same_side_to_move, cycle.cycle) == (6, 0, True, 6)
    assert (play.turn, play.warnings) == ("W", (0, 0))
    return play


def r20_the_move_that_closes_the_circle_is_void_where_the_event_says_nothing_else() -> Play:
    """20.3 with repetition_policy FORBID: void, and the turn is lost; no warning unless the arbiter records one."""
    play = three_kos()
    assert play.options == {"CN2002 20.3": ["VOID_AND_TURN", "VOID_TURN_AND_WARN", "DISMISS"]}
    play.rule("VOID_AND_TURN")
    assert (play.at("C3"), play.at("D3"), play.warnings, play.turn) == (".", "X", (0, 0), "B")
    return play


def r20_no_result_where_the_event_says_so() -> Play:
    play = three_kos(repetition_policy=REPETITION_POLICY_NO_RESULT).rule("NO_RESULT")
    assert (play.result.kind, play.result.clause, play.phase) == (rl.RESULT_KIND_NO_RESULT, "CN2002 20.3", "ENDED")
    return play


def r20_a_draw_where_the_event_says_so() -> Play:
    play = three_kos(repetition_policy=REPETITION_POLICY_DRAW).rule("DRAW")
    assert (play.result.kind, play.phase) == (rl.RESULT_KIND_DRAW, "ENDED")
    return play


def r22_the_number_of_captured_stones_changes_nothing() -> Play:
    """Samsung preliminaries 2004 and 2010: the players disagreed on the prisoners. Under 9 they do not count."""
    play = refereed(**position("WALL"))
    for _ in range(3):
        play.say(facts.StonesCaptured(stored="STORED_OPPONENT_BOWL"), "B")
    assert play.end().all_found == []
    play.claim("B").count("B", 180, 144, prisoners=(3, 0))
    assert (play.found, area_of(play)) == ([], (180, 144, 3))
    plain = refereed(**position("WALL")).end()
    assert plain.result == play.result
    return play


def r29_in_a_dispute_the_side_that_says_dead_moves_first() -> Play:
    """A server gave the next stone to whoever was next in order. By 21.4 it is the side that claims "dead"."""
    play = refereed(**position("DEAD")).moves("B pass, W pass").dead("B", "B5").answer_dead("W", False, ["B5"])
    assert (play.phase, play.turn) == ("PLAY", "B")
    play.moves("B B6, W pass, B B4, W pass, B A5, W pass, B C5")
    assert list(play.verdict.removed) == ["B5"]
    play.moves("W pass, B pass").dead("B").answer_dead("W")
    assert area_of(play) == (180, 144, 3)
    return play


def r29_whoever_passed_last() -> Play:
    play = refereed(**position("DEAD", to_move="W")).moves("W pass, B pass").dead("B", "B5")
    assert play.answer_dead("W", False, ["B5"]).turn == "B"
    return play


def r29_where_only_the_end_is_disputed_the_refuser_plays() -> Play:
    play = refereed(**position("DEAD")).propose_end("B").answer_end("W", accept=False)
    assert (play.phase, play.turn) == ("PLAY", "W")
    return play


def r31_a_move_found_after_both_have_said_it_is_over() -> Play:
    """Ryusei 2022: both had overlooked that a corner could live; the result stands (21.3), open points are shared."""
    play = refereed(**position("DAME", to_move="W")).propose_end("W", at=t("0:01")).answer_end("B", at=t("0:02"))
    assert play.phase == "DEAD_STONES"
    play.stone("W", "H9", at=t("0:30"))
    assert (play.found, play.at("H9")) == (["CN2002 21.3 AFTER_END"], ".")
    play.claim("W", "CN2002 21.3")
    assert all(options == ["DISMISS"] for options in play.options.values())
    play.dead("W").answer_dead("B").count("B", 190, 134)
    assert (play.found, area_of(play)) == ([], (190, 134, 13))
    return play


def r31_before_the_answer_nothing_has_ended() -> Play:
    """The proposal gave the move up (21.1): the opponent is on turn until he answers or plays."""
    play = refereed(**position("DAME", to_move="W")).propose_end("W").answer_end("B", accept=False)
    assert (play.phase, play.turn) == ("PLAY", "B")
    assert play.stone("B", "C3").turn == "W"
    return play


def wrong_colour() -> Play:
    """A candidates' tournament: a stone of the opponent's colour; both took it for granted that it was changed."""
    play = refereed(observed=["PRESSES"]).stone("B", "D4", color="W", at=t("0:05")).press("B", at=t("0:06"))
    assert play.all_found == ["CN2002 2.1 WRONG_COLOUR"]
    assert play.warnings == (0, 0)
    return play.claim("W", "CN2002 2.1", at=t("0:12"))


def r35_a_stone_of_the_wrong_colour_is_changed_where_both_agree() -> Play:
    play = wrong_colour().consent("W", proposal="D4 black").consent("B", proposal="D4 black").rule("SWAP_STONE")
    assert (play.at("D4"), play.turn, play.number, play.warnings) == ("X", "W", 1, (0, 0))
    assert play.verdicts[1].findings[0].clause == "CN2002 2.1"
    return play


def r35_without_agreement_the_chief_decides() -> Play:
    play = wrong_colour().consent("W", accept=False)
    assert play.options == {"CN2002 2.1": ["SWAP_STONE", "OTHER", "DISMISS"]}
    assert play.rule("SWAP_STONE").reason.startswith("role: needs CHIEF")
    return play


def played_before_dinner_and_after_it() -> Play:
    """A Japanese professional moved just before the break and again when he came back."""
    play = refereed().stone("B", "D10", at=t("0:30")).mark("PAUSE", at=t("1:00")).mark("RESUME", at=t("1:01:00"))
    play.stone("B", "R4", at=t("1:01:20"))
    assert play.found == ["CN2002 17.2 OUT_OF_TURN"]
    return play


def r37_the_second_stone_is_void_with_a_warning() -> Play:
    play = played_before_dinner_and_after_it().claim("W", "CN2002 17.2", at=t("1:01:40"))
    assert play.warnings == (0, 0)
    play.rule("VOID_AND_WARN")
    assert (play.at("D10"), play.at("R4"), play.warnings, play.turn) == ("X", ".", (1, 0), "W")
    return play


def r37_claimed_after_the_own_move_it_is_late() -> Play:
    play = played_before_dinner_and_after_it().stone("W", "C6", at=t("1:01:40")).claim("W", "CN2002 17.2")
    assert (play.found, play.options) == (["CN2002 16.3 LATE_CLAIM"], {"CN2002 17.2": ["DISMISS"]})
    assert (play.at("R4"), play.warnings, play.turn) == ("X", (0, 0), "B")
    return play


INCIDENTS = [
    r01_captured_stones_are_kept_anywhere_under_chinese_rules,
    r01_an_edition_adopted_in_between_judges_the_later_act_alone,
    r04_the_clock_pressed_before_the_captured_stones_are_off_is_one_warning,
    r05_a_ko_taken_back_without_a_threat,
    r05_the_turn_lost_and_a_pass_do_not_end_the_game,
    r07_a_ko_foul_turns_the_smallest_win_into_a_loss,
    r07_without_the_foul_it_is_won_by_a_quarter,
    r07_the_same_on_nineteen_lines,
    r09_a_dropped_stone_that_the_chief_holds_to_be_a_move_loses_the_game,
    r09_picked_up_by_the_chiefs_ruling_it_is_won,
    r09_with_the_opponents_consent_no_chief_is_needed,
    r13_it_is_over_is_it_not_and_no_answer,
    r13_a_second_stone_released_is_void_with_a_warning,
    r13_a_proposal_off_turn_cannot_be_accepted_one_on_turn_can,
    r15_a_stone_on_a_point_without_liberties,
    r18_a_takeback_that_nobody_reports_stands_and_no_claim_reaches_a_final_result,
    r18_reported_before_the_next_stone_it_goes_back,
    r20_the_move_that_closes_the_circle_is_void_where_the_event_says_nothing_else,
    r20_no_result_where_the_event_says_so,
    r20_a_draw_where_the_event_says_so,
    r22_the_number_of_captured_stones_changes_nothing,
    r29_in_a_dispute_the_side_that_says_dead_moves_first,
    r29_whoever_passed_last,
    r29_where_only_the_end_is_disputed_the_refuser_plays,
    r31_a_move_found_after_both_have_said_it_is_over,
    r31_before_the_answer_nothing_has_ended,
    r35_a_stone_of_the_wrong_colour_is_changed_where_both_agree,
    r35_without_agreement_the_chief_decides,
    r37_the_second_stone_is_void_with_a_warning,
    r37_claimed_after_the_own_move_it_is_late,
]
