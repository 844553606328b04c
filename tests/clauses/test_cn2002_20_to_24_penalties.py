"""CN2002 20 to 24: repetitions ruled, permissions, event-level sanctions, warnings and what they come to."""

from __future__ import annotations

import pytest
from support.boards import CYCLE, filled, play_on_wall, three_kos
from support.play import Play, refereed

from caipan.v1 import rulings_pb2 as rl
from caipan.v1.regulations_pb2 import REPETITION_POLICY_DRAW

OFFICIALS = [("arbiter", "ARBITER"), ("chief", "CHIEF")]


def circled(**regulations: object) -> Play:
    """Three kos: move 206 makes the position after move 200 again."""
    return three_kos(200, officials=OFFICIALS, **regulations).moves(CYCLE)


def test_cn2002_20_3_where_the_event_says_draw_a_triple_ko_is_one() -> None:
    play = circled(repetition_policy=REPETITION_POLICY_DRAW)
    assert play.options == {"CN2002 20.3": ["DRAW", "DISMISS"]}
    play.rule("DRAW")
    assert (play.result.kind, play.result.clause, play.phase) == (rl.RESULT_KIND_DRAW, "CN2002 20.3", "ENDED")


def test_cn2002_20_3_where_the_event_says_nothing_move_206_is_void_and_the_turn_lost() -> None:
    play = circled()
    assert play.options == {"CN2002 20.3": ["VOID_AND_TURN", "VOID_TURN_AND_WARN", "DISMISS"]}
    play.rule("VOID_AND_TURN")
    assert (play.at("J4"), play.at("K4"), play.turn, play.number, play.warnings) == (".", "X", "B", 206, (0, 0))


def test_cn2002_20_2_false_life_is_named_by_the_arbiter_and_lists_two_rulings() -> None:
    play = circled()
    play.claim("", "CN2002 20.2", refs=[play.last_id])
    assert play.options["CN2002 20.2"] == ["VOID_AND_TURN", "VOID_TURN_AND_WARN", "DISMISS"]
    play.rule("VOID_TURN_AND_WARN", "CN2002 20.2")
    assert (play.at("J4"), play.turn, play.warnings) == (".", "B", (0, 1))


def test_cn2002_22_6_pressed_before_all_captures_are_off_is_one_warning() -> None:
    position = {"size": 9, "black": ["A2", "B2", "C2"], "white": ["A1", "B1", "C1"], "to_move": "B"}
    play = refereed(**position, observed=["CAPTURES", "PRESSES"]).stone("B", "D1").captured("B", "A1", "B1").press("B")
    play.captured("B", "C1")
    play.rule("WARN", "CN2002 22.6")
    assert (play.warnings, play.at("D1"), play.at("C1"), play.turn) == ((1, 0), "X", ".", "W")
    assert play.game.table.cases == {}


def test_cn2002_22_6_lifted_in_time_the_press_is_regular() -> None:
    position = {"size": 9, "black": ["A2", "B2", "C2"], "white": ["A1", "B1", "C1"], "to_move": "B"}
    play = refereed(**position, observed=["CAPTURES", "PRESSES"]).stone("B", "D1").captured("B", "A1", "B1", "C1")
    assert play.press("B").found == []


def test_cn2002_22_7_leaving_is_permitted_once() -> None:
    play = refereed().moves("B Q16, W D4").claim("W", kind="LEAVE")
    assert play.options == {"CN2002 22.7": ["PERMIT_LEAVE", "REFUSE"]}
    play.rule("PERMIT_LEAVE").claim("W", kind="LEAVE")
    assert play.options == {"CN2002 22.7": ["REFUSE"]}
    assert play.rule("PERMIT_LEAVE").status == "REFUSED"
    assert play.rule("REFUSE").status == "FOLDED"
    play.claim("B", kind="LEAVE")
    assert (play.found, play.options) == (["CN2002 22.7 OUTSIDE_MOMENT"], {"CN2002 22.7": ["REFUSE"]})
    play.stone("B", "Q4").claim("B", kind="LEAVE")
    assert (play.found, play.options) == ([], {"CN2002 22.7": ["PERMIT_LEAVE", "REFUSE"]})


def test_cn2002_22_7_leave_asked_in_the_own_time_is_refused() -> None:
    play = refereed().claim("B", kind="LEAVE")
    assert (play.found, play.options) == (["CN2002 22.7 OUTSIDE_MOMENT"], {"CN2002 22.7": ["REFUSE"]})
    assert play.rule("PERMIT_LEAVE").reason == "option: 'PERMIT_LEAVE' is not listed here; REFUSE"
    assert play.rule("REFUSE").status == "FOLDED"


def test_cn2002_22_7_a_refusal_is_no_permission_used() -> None:
    play = refereed().claim("W", kind="LEAVE").rule("REFUSE").claim("W", kind="LEAVE")
    assert play.options == {"CN2002 22.7": ["PERMIT_LEAVE", "REFUSE"]}


def test_cn2002_22_5_only_the_counted_player_applies_for_a_pass() -> None:
    play = refereed().claim("B", kind="OVERTIME_PASS")
    assert play.options == {"CN2002 22.5": ["LOSS", "PASS", "DISMISS"]}
    other = refereed().claim("", "CN2002 22.5", against="B").claim("W", kind="OVERTIME_PASS", against="B")
    assert (other.found, other.options) == (["CN2002 16.3 NOT_ENTITLED"], {"CN2002 22.5": ["LOSS", "DISMISS"]})


def test_cn2002_22_5_a_pass_permitted_is_an_empty_move_and_counts_for_the_end() -> None:
    play = refereed().claim("B", kind="OVERTIME_PASS").rule("PASS")
    assert (play.turn, play.number, play.warnings, play.phase) == ("W", 1, (0, 0), "PLAY")
    assert play.pass_("W").phase == "DEAD_STONES"


def test_cn2002_22_9_an_arbiter_without_a_record_is_disciplined_and_the_game_stays() -> None:
    play = play_on_wall(14, officials=OFFICIALS).end()
    result = play.result
    play.rule("DISCIPLINE", "CN2002 22.9 arbiter", case="", role="CHIEF")
    assert (play.status, play.result, play.verdict.effects[0].sanction.target) == ("FOLDED", result, "ARBITER")


def final() -> Play:
    return play_on_wall(14, officials=OFFICIALS).end().sign("B").sign("W").sign("")


def test_cn2002_23_1_a_fixed_game_proven_later_is_annulled_in_the_standings_only() -> None:
    play = final()
    annulled = [rl.Effect(sanction=rl.Sanction(target="Li", kind="ANNUL", scope="round 2, both"))]
    assert play.rule("ANNUL", "CN2002 23.1", case="", effects=annulled).reason.startswith("role: needs CHIEF")
    play.rule("ANNUL", "CN2002 23.1", case="", role="CHIEF", effects=annulled)
    assert (play.status, play.phase, play.result.margin_qz) == ("FOLDED", "FINAL", 3)


def test_cn2002_23_1_no_ruling_changes_the_record_of_a_final_game() -> None:
    play = final().rule("LOSS", "CN2002 23.1", case="", role="CHIEF", against=1)
    assert (play.status, play.phase, play.result.margin_qz) == ("REFUSED", "FINAL", 3)


def test_cn2002_23_1_while_the_game_is_open_the_chief_may_rule_one_or_both_to_lose() -> None:
    assert refereed().rule("LOSS", "CN2002 23.1", case="", role="CHIEF", against=1).result.kind == rl.RESULT_KIND_W_WIN
    assert refereed().rule("BOTH_LOSE", "CN2002 23.1", case="", role="CHIEF").result.kind == rl.RESULT_KIND_BOTH_LOSE


def test_cn2002_23_2_who_leaves_without_reason_loses_and_may_be_banned() -> None:
    play = filled(50, officials=OFFICIALS).conduct("B", "OTHER", "15.2").rule("LOSS")
    assert (play.result.kind, play.result.how) == (rl.RESULT_KIND_W_WIN, 4)
    play.rule("BAN", "CN2002 23.2 ban", case="", role="CHIEF", against=1)
    assert (play.status, play.verdict.effects[0].sanction.kind) == ("FOLDED", "BAN")


def test_cn2002_24_2_an_early_press_at_move_30_and_stones_left_at_move_88_lose() -> None:
    play = filled(29, officials=OFFICIALS).rule("WARN", "CN2002 17.4", case="", against=1)
    for number in range(29, 87):
        column, row = divmod(number // 2, 19)
        play.stone("BW"[number % 2], f"{('ABCDEFG', 'NOPQRST')[number % 2][column]}{row + 1}")
    assert (play.number, play.warnings, play.phase) == (87, (1, 0), "PLAY")
    play.rule("CORRECT_AND_WARN", "CN2002 18.2", case="", against=1)
    assert (play.phase, play.result.kind, play.result.clause) == ("ENDED", rl.RESULT_KIND_W_WIN, "CN2002 24.2")


@pytest.mark.parametrize(
    ("rows", "extra", "black", "white", "margin"),
    [(14, "", 1, 0, -1), (13, "", 0, 1, 3), (13, "", 1, 1, -1), (14, "DAME", 1, 0, -3)],
)
def test_cn2002_24_1_the_table_of_warnings_in_the_count(
    rows: int, extra: str, black: int, white: int, margin: int
) -> None:
    play = play_on_wall(rows, extra, officials=OFFICIALS)
    for side, times in ((1, black), (2, white)):
        for _ in range(times):
            play.rule("WARN", "CN2002 23.3", case="", against=side)
    assert play.end().result.margin_qz == margin


def test_cn2002_24_2_warnings_after_a_resignation_stand_and_change_no_result() -> None:
    play = refereed().rule("WARN", "CN2002 17.4", case="", against=2).resign("B")
    play.rule("WARN", "CN2002 23.3", case="", against=2)
    assert (play.warnings, play.result.kind, play.result.clause) == ((0, 2), rl.RESULT_KIND_W_WIN, "CN2002 7.2")


def test_cn2002_24_2_the_second_warning_of_both_in_one_ruling_is_the_chiefs() -> None:
    play = refereed()
    for side in (1, 2):
        play.rule("WARN", "CN2002 17.4", case="", against=side)
    both = [rl.Effect(warn=rl.Warn(player=side)) for side in (1, 2)]
    play.rule("OTHER", "CN2002 30.6", case="", role="CHIEF", effects=both)
    assert (play.found, play.phase) == (["CN2002 24.2 BOTH_AT_LIMIT"], "PLAY")
    assert play.options == {"CN2002 24.2 both": ["BOTH_LOSE", "REPLAY", "OTHER", "DISMISS"]}
    assert play.rule("BOTH_LOSE").status == "REFUSED"
    assert play.rule("BOTH_LOSE", role="CHIEF").result.kind == rl.RESULT_KIND_BOTH_LOSE


def test_cn2002_24_2_in_two_rulings_the_first_in_the_log_decides() -> None:
    play = refereed()
    for side in (1, 2, 2, 1):
        play.rule("WARN", "CN2002 23.3", case="", against=side)
    assert (play.result.kind, play.warnings) == (rl.RESULT_KIND_B_WIN, (2, 2))
