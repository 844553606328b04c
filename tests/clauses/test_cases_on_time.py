"""Real cases on time, retold: in halls, and in go software."""

from __future__ import annotations

import pytest
from support.events import t
from support.play import Play, timed

from caipan.rules.checkpoint import load, save


def thinks(play: Play, player: str, ms: int, point: str) -> Play:
    return play.stone(player, point, at=play.now + ms)


# R04: pressed in the last seconds, captured stones cleared afterwards


def pressed_before_removal() -> Play:
    """Black, in a last period of 30 s, takes three stones at 20 s, presses at 27 and clears them at 29."""
    play = timed("BYOYOMI", "0", unit_s=30, periods=1, observed=["CAPTURES", "PRESSES"], to_move="W")
    line = [("W", "A1"), ("B", "A2"), ("W", "B1"), ("B", "B2"), ("W", "C1"), ("B", "C2"), ("W", "J9")]
    for player, point in line:
        play.stone(player, point, at=play.now + 1).press(player, at=play.now + 1)
    start = play.now
    play.stone("B", "D1", at=start + t("20")).press("B", at=start + t("27"))
    return play.claim("W", "CN2002 22.6", at=start + t("28")).captured("B", "A1", "B1", "C1", at=start + t("29"))


def test_r04_one_warning_and_nobody_has_run_out_of_time() -> None:
    play = pressed_before_removal()
    assert not any("OVERTIME" in found for found in play.all_found)
    play.rule("WARN", "CN2002 22.6", at=play.now + t("16"))
    assert (play.warnings, play.at("D1"), play.turn, play.running) == ((1, 0), "X", "W", "W")
    assert {"A1", "B1", "C1"}.isdisjoint(play.stones())
    assert (play.face("B").units_left, play.face("B").count_ms, play.face("W").count_ms) == (1, 0, t("18"))
    assert len(play.game.table.cases) == 0


# R16: took the count for the opponent's and let the last minute pass


def ran_out() -> Play:
    play = timed("BYOYOMI", "1:00", 19, retained_minutes=1)
    return play.expired("B", "BYOYOMI", at=t("1:00"))


def test_r16_the_last_minute_passed_is_in_principle_a_loss() -> None:
    assert ran_out().options == {"CN2002 22.5": ["LOSS", "DISMISS"]}


def test_r16_on_application_it_is_one_pass_and_the_next_period_is_whole() -> None:
    play = ran_out().claim("B", kind="OVERTIME_PASS", at=t("1:03")).rule("PASS", at=t("1:30"))
    assert (play.number, play.turn, play.warnings, play.running) == (1, "W", (0, 0), "W")
    play.stone("W", "D4", at=t("1:40"))
    assert not play.face("B", t("2:39.999")).is_over
    assert play.face("B", t("2:40")).is_over


def test_r16_only_the_side_that_ran_out_may_apply() -> None:
    assert ran_out().claim("W", kind="OVERTIME_PASS", at=t("1:03")).found == ["CN2002 16.3 NOT_ENTITLED"]


def test_r16_a_stone_at_59_999_is_in_time() -> None:
    assert timed("BYOYOMI", "1:00", retained_minutes=1).stone("B", "D4", at=59_999).found == []


# R28: eighteen minutes late


def league(**how: object) -> Play:
    return timed("BASIC", "2:40:00", 19, **how)


def test_r28_thirty_six_minutes_in_all() -> None:
    play = league(observed=["PRESSES"]).presence("B", True, at=0).stone("B", "Q16", at=t("9:00"))
    play.press("B", at=t("10:00")).presence("W", True, at=t("18:00")).rule("DEDUCT", at=t("18:00"))
    assert (play.face("W").left_ms, play.used[1]) == (7440_000, 2160_000)


def test_r28_exactly_an_hour_is_admitted_and_a_millisecond_more_loses() -> None:
    assert league().presence("W", True, at=t("1:00:00")).rule("DEDUCT").used[1] == 7200_000
    play = league().presence("W", True, at=t("1:00:00") + 1).rule("LOSS")
    assert (play.result.kind, play.result.clause) == (1, "CN2002 22.1")


def test_r28_where_hall_and_lodgings_are_one_place_fifteen_minutes_are_the_limit() -> None:
    play = league(late_limit_s=900).presence("W", True, at=t("15:00") + 1).rule("LOSS")
    assert (play.result.kind, play.result.clause) == (1, "CN2002 22.2")


def test_r28_both_late_each_pays_twice() -> None:
    play = (
        league()
        .presence("B", True, at=t("10:00"))
        .presence("W", True, at=t("20:00"))
        .rule("DEDUCT_BOTH", at=t("20:00"))
    )
    assert (play.used[0] - t("10:00"), play.used[1]) == (9600_000 - 8400_000, 9600_000 - 7200_000)


# R37: before dinner and again after it


def dinner() -> Play:
    play = timed("BASIC", "2:00:00", 19, observed=["PRESSES"]).stone("B", "D10", at=t("29.9")).press("B", at=t("30"))
    return play.mark("PAUSE", at=t("1:00"))


def test_r37_the_break_is_nobodys_time_and_the_second_stone_is_void() -> None:
    play = dinner()
    assert play.used == (t("30"), t("30"))
    play.mark("RESUME", at=t("1:01:00")).stone("B", "R4", at=t("1:01:20")).press("B", at=t("1:01:20.1"))
    play.claim("W", "CN2002 17.2", at=t("1:01:40")).rule("VOID_AND_WARN", at=t("1:01:40"))
    assert (play.at("D10"), play.at("R4"), play.warnings, play.turn) == ("X", ".", (1, 0), "W")
    assert play.used == (t("30"), t("1:10"))


# S08: below zero, stopped at zero, ended early


def test_s08_bounds_are_exact_and_the_same_for_every_reader() -> None:
    play = timed("BYOYOMI", "3:00", retained_minutes=3)
    left = []
    for ms, point, reply in [
        (59_999, "A1", "A9"),
        (60_000, "B1", "B9"),
        (119_999, "C1", "C9"),
        (59_999, "D1", "D9"),
    ]:
        thinks(play, "B", ms, point)
        left.append(play.face("B").units_left)
        assert play.found == []
        play.stone("W", reply, at=play.now)
    assert left == [3, 2, 1, 1]
    assert thinks(play, "B", 60_000, "E1").found == ["CN2002 22.5 OVERTIME"]


def test_s08_one_think_of_three_minutes_is_too_long() -> None:
    assert thinks(timed("BYOYOMI", "3:00", retained_minutes=3), "B", 180_000, "A1").found == ["CN2002 22.5 OVERTIME"]


def test_s08_asked_at_any_instant_nothing_is_below_zero_and_the_end_is_exact() -> None:
    play = timed("BYOYOMI", "3:00", retained_minutes=3)
    shown = [(ms, play.face("B", ms)) for ms in range(0, 240_000, 999)] + [(180_000, play.face("B", 180_000))]
    assert all(face.left_ms >= 0 and (face.units_left or 0) >= 0 for _, face in shown)
    assert all(face.is_over == (ms >= 180_000) for ms, face in shown)
    assert not play.face("B", 179_999).is_over


# E06: replay on another day


@pytest.mark.parametrize("at", ["45", "60", "24:00:00"])
def test_e06_what_time_is_left_depends_on_the_instant_asked_for_and_on_nothing_else(at: str) -> None:
    play = timed("BYOYOMI", "1:00", retained_minutes=1).stone("B", "D4", at=t("41"))
    game, outcomes = play.again()
    assert (outcomes, game.digest) == (play.outcomes, play.digest)
    assert play.face("W", t(at)).is_over == (t(at) >= t("1:41"))
    assert play.verdict.findings == []


def test_e06_the_state_after_live_handling_is_that_after_replay_for_every_prefix() -> None:
    play = pressed_before_removal()
    for length in range(1, len(play.log) + 1):
        short = Play(9, opening=False)
        for value, _ in play.log[:length]:
            short.send_bytes(value)
        assert load(save(short.game)).digest == short.digest
    assert short.digest == play.digest
