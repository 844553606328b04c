"""Rulings on stones: what a case lists, what its ruling does, and that it needs one (CN2002 17 to 20)."""

from __future__ import annotations

from support.boards import filled
from support.play import Play, refereed

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
