"""Late at the start, and absent when the count is over (CN2002 22.1 to 22.4)."""

from __future__ import annotations

from typing import Any

import pytest
from support.events import t
from support.play import Play, timed

from caipan.v1.regulations_pb2 import RULING_MODE_AUTO_FIXED

TWO_HOURS = {"regime": "BYOYOMI", "basic": "2:00:00"}


# 22.1 to 22.3


@pytest.mark.parametrize(
    ("late", "limit_s", "how", "left"),
    [
        ("20:00", 3600, {}, "1:20:00"),
        ("15:00", 900, {}, "1:30:00"),
        ("20:00", 3600, {"edition": "CN1988S"}, "1:40:00"),
        ("58:45", 3600, {}, "3:00"),
        ("1:00:00", 3600, {"regime": "ABSOLUTE"}, "0:00:00"),
    ],
)
def test_cn2002_22_1_twice_the_lateness_is_deducted(late: str, limit_s: int, how: dict[str, Any], left: str) -> None:
    how = {**TWO_HOURS, "late_limit_s": limit_s, **how}
    play = timed(how.pop("regime"), how.pop("basic"), **how).presence("W", True, at=t(late)).rule("DEDUCT")
    assert (play.status, play.face("W").left_ms, play.used[0]) == ("FOLDED", t(left), t(late) + 1000)


def test_cn2002_22_1_a_clock_that_ran_meanwhile_pays_twice_the_lateness_in_all() -> None:
    play = timed("BYOYOMI", "2:00:00", observed=["PRESSES"]).stone("B", "E5", at=t("1:00")).press("B", at=t("2:00"))
    play.presence("W", True, at=t("20:00"))
    assert play.used[1] == t("18:00")
    assert play.rule("DEDUCT", at=t("20:00")).face("W").left_ms == t("1:20:00")


def test_cn2002_22_1_what_ran_after_the_arrival_is_thinking_time() -> None:
    play = timed("BYOYOMI", "2:00:00").stone("B", "E5", at=t("2:00")).presence("W", True, at=t("20:00"))
    assert play.rule("DEDUCT", at=t("25:00")).face("W").left_ms == t("1:15:00")


@pytest.mark.parametrize(
    ("late", "regime", "basic"), [("20:00", "ABSOLUTE", "30:00"), ("1:00:00", "BYOYOMI", "2:00:00")]
)
def test_cn2002_22_1_a_deduction_beyond_the_limit_is_the_chiefs(late: str, regime: str, basic: str) -> None:
    play = timed(regime, basic).presence("W", True, at=t(late))
    last = ["LEAVE_LAST_MINUTE"] if regime == "BYOYOMI" else []
    assert play.options == {"CN2002 22.1 excess": ["LOSS_ON_TIME", *last, "OTHER", "DISMISS"]}
    assert play.rule("LOSS_ON_TIME").status == "REFUSED"
    assert play.rule("LOSS_ON_TIME", role="CHIEF").result.kind == 1


def test_cn2002_22_1_what_ran_already_is_no_part_of_the_deduction() -> None:
    play = timed("ABSOLUTE", "45:00", observed=["PRESSES"]).stone("B", "E5", at=t("1:00")).press("B", at=t("2:00"))
    play.presence("W", True, at=t("20:00"))
    assert play.options == {"CN2002 22.1": ["DEDUCT", "DISMISS"]}


def test_cn2002_22_1_only_the_last_minute_is_left() -> None:
    play = timed("BYOYOMI", "2:00:00").presence("W", True, at=t("1:00:00")).rule("LEAVE_LAST_MINUTE", role="CHIEF")
    assert (play.status, play.face("W").units_left, play.face("W").left_ms) == ("FOLDED", 1, t("1:00"))


def test_cn2002_22_1_a_second_beyond_the_hour_loses() -> None:
    play = timed("BYOYOMI", "2:00:00").presence("W", True, at=t("1:00:01"))
    assert play.options == {"CN2002 22.1": ["LOSS", "DISMISS"]}


def test_cn2002_22_1_unattended_the_deduction_is_made_at_once() -> None:
    play = timed("BYOYOMI", "2:00:00", ruling_mode=RULING_MODE_AUTO_FIXED).presence("W", True, at=t("20:00"))
    assert (play.cases, play.face("W").left_ms) == (["DECIDED"], t("1:20:00"))


def test_cn2002_22_1_late_after_a_pause_the_clock_simply_runs() -> None:
    play = timed("BYOYOMI", "2:00:00").presence("W", True, at=0).stone("B", "E5", at=0).mark("PAUSE", at=0)
    play.presence("W", False, at=0).mark("RESUME", at=t("1:00:00")).presence("W", True, at=t("1:12:00"))
    assert (play.cases, play.used) == ([], (0, t("12:00")))


def test_cn2002_22_3_each_late_side_is_treated_by_itself() -> None:
    play = timed("BYOYOMI", "2:00:00").presence("B", True, at=t("10:00")).presence("W", True, at=t("25:00"))
    assert play.options == {"CN2002 22.3": ["DEDUCT_BOTH", "DISMISS"]}
    play.rule("DEDUCT_BOTH", at=t("25:00"))
    # Black's clock ran from the start; the 15 minutes behind his arrival are his own thinking
    assert (play.face("B").left_ms, play.face("W").left_ms) == (t("1:40:00") - t("15:00"), t("1:10:00"))


def test_cn1988s_23_3_the_lateness_of_each_is_deducted_once() -> None:
    play = timed("BYOYOMI", "2:00:00", edition="CN1988S", late_limit_s=3600).presence("B", True, at=t("10:00"))
    assert play.options == {"CN1988S 23.3": ["DEDUCT", "DISMISS"]}
    play.rule("DEDUCT", "CN1988S 23.3", at=t("10:00"))
    play.presence("W", True, at=t("20:00")).rule("DEDUCT", "CN1988S 23.3", at=t("20:00"))
    # Black's clock ran from the start
    assert play.used == (t("20:00"), t("20:00"))


@pytest.mark.parametrize(
    ("edition", "options"),
    [
        ("CN1988S", {"CN1988S 23.1": ["LOSS", "DISMISS"], "CN1988S 23.3": ["DEDUCT", "DISMISS"]}),
        ("TERR65", {"CN2002 22.1": ["DEDUCT", "LOSS", "DISMISS"]}),
    ],
)
def test_where_the_event_sets_no_limit_whoever_decides_finds_whether_it_is_exceeded(
    edition: str, options: dict[str, list[str]]
) -> None:
    play = timed("BYOYOMI", "2:00:00", edition=edition).presence("W", True, at=t("10:00"))
    assert play.options == options
    play.presence("B", True, at=t("12:00"))
    assert len(play.game.table.cases) == 2


# 22.4


def absent(**how: Any) -> Play:
    return timed("BYOYOMI", "5:00", absent_count_s=300, **how)


def test_cn2002_22_4_seated_a_second_before_the_end_of_the_count_plays() -> None:
    play = absent().presence("W", True, at=t("4:59")).expired("W", "ABSENCE", at=t("5:00"))
    assert (play.phase, play.cases, play.all_found) == ("PLAY", [], [])


@pytest.mark.parametrize("how", ["expired", "announced", "arrives"])
def test_cn2002_22_4_an_empty_seat_at_the_end_of_the_count_loses_by_itself(how: str) -> None:
    play, at = absent(), t("5:00")
    if how == "expired":
        play.expired("W", "ABSENCE", at=at)
    elif how == "announced":
        play.announced("W", "10", purpose="ABSENCE", at=at)
    else:
        play.presence("W", True, at=at)
    assert (play.result.kind, play.result.clause, play.result.how, play.phase) == (1, "CN2002 22.4", 4, "ENDED")


def test_cn2002_22_4_a_count_that_is_not_over_decides_nothing() -> None:
    assert absent().expired("W", "ABSENCE", at=t("4:59.999")).phase == "PLAY"
    assert absent().stone("B", "E5", at=t("1:00")).expired("B", "ABSENCE", at=t("5:00")).phase == "PLAY"
    assert timed("BYOYOMI", "5:00").expired("W", "ABSENCE", at=t("5:00")).phase == "PLAY"


def test_cn2002_22_4_both_away_both_lose() -> None:
    play = absent().expired("B", "ABSENCE", at=t("5:00")).expired("W", "ABSENCE", at=t("5:00"))
    assert (play.result.kind, play.result.clause) == (4, "CN2002 22.4")


@pytest.mark.parametrize(("at", "decided"), [("4:59.6", True), ("4:59.7", False), ("5:00.3", False), ("5:00.4", True)])
def test_cn2002_22_4_within_the_skew_an_arbiter_decides(at: str, decided: bool) -> None:
    play = absent(clock_skew_ms=400).presence("W", True, at=t(at))
    assert (play.found == ["CN2002 22.4 UNDECIDABLE_ORDER"]) is not decided
    assert play.phase == ("ENDED" if decided and t(at) > t("5:00") else "PLAY")
    if not decided:
        assert play.options == {"CN2002 13.1": ["FORFEIT", "DISMISS"]}


def test_cn2002_22_4_an_arrival_that_turns_out_to_be_in_time_is_the_chiefs() -> None:
    play = absent().expired("W", "ABSENCE", at=t("5:00")).presence("W", True, at=t("4:59"))
    assert (play.phase, play.options) == ("ENDED", {"CN2002 30.6": ["OTHER", "DISMISS"]})
