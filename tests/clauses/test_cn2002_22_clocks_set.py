"""What sets, stops and starts the clocks: pauses, lateness, absence, reading again, faults (CN2002 14.1, 16.2, 22)."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from support.events import actor, t
from support.play import Play, refereed, timed

from caipan.v1 import facts_pb2 as facts
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.common_pb2 import ROLE_CHIEF
from caipan.v1.regulations_pb2 import LEAVE_TERMS_RUN, Regulations

TWO_HOURS = {"regime": "BYOYOMI", "basic": "2:00:00"}


def set_clock(**said: Any) -> list[rl.Effect]:
    return [rl.Effect(set_clock=rl.SetClock(**said))]


# 14.1 pauses, 21.4, 3.12


def test_cn2002_14_1_a_pause_is_nobodys_time() -> None:
    play = timed("BASIC", "2:00:00", to_move="W").mark("PAUSE", at=t("54:40"))
    assert (play.face("W").left_ms, play.running, play.turn) == (t("1:05:20"), "", "W")
    play.mark("RESUME", at=t("2:24:40"))
    assert (play.face("W").left_ms, play.running) == (t("1:05:20"), "W")
    assert play.stone("W", "E5", at=t("2:25:00")).face("W").left_ms == t("1:05:00")


def test_cn2002_14_1_after_the_pause_the_clock_of_the_side_on_turn_runs() -> None:
    play = timed("BASIC", "2:00:00", observed=["PRESSES"]).stone("B", "E5", at=t("1:00")).mark("PAUSE", at=t("1:01"))
    assert play.mark("RESUME", at=t("9:00")).running == "W"
    assert play.used == (t("1:01"), 0)


def test_a_resumption_after_a_night_charges_nothing_even_where_nobody_marked_the_pause() -> None:
    play = timed("BASIC", "2:00:00").stone("B", "E5", at=t("1:00")).mark("RESUME", at=t("15:00:00"))
    assert (play.used, play.running) == ((t("1:00"), 0), "W")


@pytest.mark.parametrize("mark", ["START", "RESUME"])
def test_a_mark_while_play_goes_on_takes_nobodys_thinking_time_back(mark: str) -> None:
    play = timed("BASIC", "2:00:00").stone("B", "E5", at=t("1:00")).mark(mark, at=t("5:00"))
    assert (play.used, play.running) == ((t("1:00"), t("4:00")), "W")


def test_a_resumption_starts_a_clock_that_was_stopped() -> None:
    assert timed("BASIC", "2:00:00").clock("STOPPED").mark("PAUSE").mark("RESUME").running == "B"


def test_a_player_marks_no_pause_and_gains_no_time_by_trying() -> None:
    play = timed("BASIC", "2:00:00", players=["li", "wang"], colours=("li", "wang"))
    play.mark("RESUME", at=t("5:00"), by=actor("PLAYER", "li"))
    assert (play.status, play.used, play.running) == ("REFUSED", (t("5:00"), 0), "B")


def test_clocks_stop_at_the_end_and_go_on_from_their_readings_after_a_dispute() -> None:
    play = timed("BASIC", "2:00:00").stone("B", "E5", at=t("1:00")).moves("W pass, B pass")
    used = play.used
    assert play.running == ""
    play.dead("B", "E5", at=t("9:00"))
    assert play.used == used
    play.answer_dead("W", accept=False, disputed=["E5"], at=t("10:00"))
    assert (play.used, play.running) == (used, "B")
    assert play.stone("B", "C3", at=t("10:30")).used == (used[0] + t("0:30"), used[1])


def test_a_resignation_stops_the_clocks() -> None:
    assert timed("BASIC", "2:00:00").resign("W").running == ""


def test_3_12_stopping_and_starting_is_an_arbiters_act_that_needs_no_case() -> None:
    play = timed("BASIC", "2:00:00").clock("STOPPED", at=t("1:00"))
    assert (play.status, play.running, play.cases) == ("FOLDED", "", [])
    assert play.stone("B", "E5", at=t("2:00")).running == ""
    play.clock("WHITE", at=t("5:00"))
    assert (play.used, play.running) == ((t("1:00"), 0), "W")
    assert play.stone("W", "C3", at=t("5:10")).used == (t("1:00"), t("0:10"))


@pytest.mark.parametrize("role", ["RECORDER", "PLAYER"])
def test_3_12_nobody_else_stops_a_clock(role: str) -> None:
    play = timed("BASIC", "2:00:00").clock("STOPPED", by=actor(role))
    assert (play.status, play.running) == ("REFUSED", "B")


def test_3_12_what_cannot_be_stopped_is_refused() -> None:
    assert refereed(9).clock("STOPPED").reason == "this game has no clocks"
    assert timed("BASIC", "1:00").resign("B").clock("STOPPED").reason == "clock: play is over"


def test_3_12_the_clock_does_not_stop_because_of_a_case() -> None:
    play = timed("BASIC", "2:00:00").stone("B", "E5", at=0).stone("B", "G7", at=t("1:00"))
    assert (play.cases, play.running) == (["OPEN CN2002 17.2"], "W")
    assert play.rule("VOID_AND_WARN", at=t("3:00")).used == (0, t("3:00"))


def test_a_case_tells_what_the_clocks_stood_at() -> None:
    play = timed("BASIC", "2:00:00").stone("B", "E5", at=t("1:00")).stone("B", "G7", at=t("3:00"))
    interrupted = play.verdict.cases[0].interrupted
    assert (interrupted.turn, interrupted.black_ms, interrupted.white_ms) == (2, t("1:00"), t("2:00"))
    assert not refereed(9).moves("B E5, B G7").verdict.cases[0].interrupted.HasField("black_ms")


# 14.2


def test_cn2002_14_2_while_a_sealed_move_waits_no_clock_runs() -> None:
    nonce = bytes(16)
    play = timed("BASIC", "2:00:00")
    play.say(facts.MoveSealed(digest=sha256(nonce + b"K1").digest()), "B", at=t("10:00"))
    assert (play.running, play.used) == ("", (t("10:00"), 0))
    play.mark("PAUSE", at=t("11:00")).mark("RESUME", at=t("1:00:00"))
    play = play.say(facts.SealOpened(point="J1", nonce=nonce), at=t("1:00:10"))
    assert play.running == ""
    play = timed("BASIC", "2:00:00")
    play.say(facts.MoveSealed(digest=sha256(nonce + b"J1").digest()), "B", at=t("10:00"))
    play.mark("PAUSE", at=t("11:00")).mark("RESUME", at=t("1:00:00"))
    play.say(facts.SealOpened(point="J1", nonce=nonce), at=t("1:00:10"))
    assert (play.at("J1"), play.running, play.used) == ("X", "W", (t("10:00"), 0))


# 16.2


def last_minute() -> Play:
    """White is read 30 and 40, nothing at 50, then "5" at 55 s."""
    play = timed("BYOYOMI", "1:00", retained_minutes=1, to_move="W", observed=["ANNOUNCEMENTS"])
    return play.announced("W", "30", at=t("0:30")).announced("W", "40", at=t("0:40")).announced("W", "5", at=t("0:55"))


def test_cn2002_16_2_the_count_goes_back_to_where_the_reading_went_wrong() -> None:
    play = last_minute().claim("W", kind="REREAD", at=t("0:56"))
    assert play.options == {"CN2002 16.2": ["REREAD", "DISMISS"]}
    play.rule("REREAD", at=t("1:30"))
    said = play.verdict.effects[0].set_clock
    assert (said.side, said.count_s, play.face("W").count_ms) == (2, 50, t("0:50"))
    play.announced("W", "50", at=t("1:30"))
    for second in range(1, 10):
        play.announced("W", str(second), at=t("1:30") + 1000 * second)
    assert play.stone("W", "E5", at=t("1:39")).all_found == []


def test_cn2002_16_2_from_there_ten_seconds_are_left() -> None:
    play = last_minute().claim("W", kind="REREAD", at=t("0:56")).rule("REREAD", at=t("1:30"))
    assert play.announced("W", "10", at=t("1:40")).found == ["CN2002 22.5 OVERTIME"]


def test_cn2002_16_2_a_word_that_came_too_early_is_where_it_went_wrong() -> None:
    play = timed("BYOYOMI", "1:00", retained_minutes=1, observed=["ANNOUNCEMENTS"])
    play.announced("B", "30", at=t("0:30")).announced("B", "40", at=t("0:36")).claim("B", kind="REREAD")
    assert play.rule("REREAD").verdict.effects[0].set_clock.count_s == 36


def test_cn2002_16_2_only_the_counted_player_may_demand_it() -> None:
    assert last_minute().claim("B", kind="REREAD", against="W").found == ["CN2002 16.3 NOT_ENTITLED"]


def test_cn2002_16_2_where_nobody_heard_the_reading_the_arbiter_says_the_second() -> None:
    play = timed("BYOYOMI", "1:00", retained_minutes=1).claim("B", kind="REREAD", at=t("0:56"))
    assert play.rule("REREAD").status == "REFUSED"
    play.rule("REREAD", effects=set_clock(side=1, count_s=50), at=t("0:58"))
    assert (play.status, play.face("B").count_ms) == ("FOLDED", t("0:50"))


def test_cn2002_16_2_overtime_that_was_read_wrongly_is_undone() -> None:
    play = last_minute().announced("W", "10", at=t("0:56")).claim("W", kind="REREAD")
    play.rule("REREAD").rule("DISMISS", case=next(iter(play.game.table.cases)))
    assert (play.face("W").is_over, play.stone("W", "E5").provisional) == (False, [])


def test_cn2002_16_2_a_time_query_changes_nothing() -> None:
    play = last_minute()
    before = play.game.digest
    play.claim("W", kind="TIME_QUERY", at=t("0:55"))
    assert (play.cases, play.game.digest) == ([], before)


# 22.7


def leaving(**how: Any) -> Play:
    """White, in byoyomi with 5 minutes, asks for leave while Black thinks."""
    play = timed("BYOYOMI", "5:00", **how).stone("B", "E5", at=0).stone("W", "C3", at=0).claim("W", kind="LEAVE", at=0)
    assert play.options == {"CN2002 22.7": ["PERMIT_LEAVE", "REFUSE"]}
    return play


def test_cn2002_22_7_with_permission_the_count_starts_at_the_return() -> None:
    play = leaving().rule("PERMIT_LEAVE", at=0).presence("W", False, at=0).stone("B", "G7", at=t("0:50"))
    assert (play.status, play.running) == ("FOLDED", "")
    play.presence("W", True, at=t("2:50"))
    assert (play.running, play.face("W").units_left, play.face("W", t("3:49")).units_left) == ("W", 5, 5)
    assert play.face("W", t("3:50")).units_left == 4


@pytest.mark.parametrize("asked", [False, True])
def test_cn2002_22_7_without_permission_or_where_it_runs_the_count_goes_on(asked: bool) -> None:
    play = timed("BYOYOMI", "5:00").stone("B", "E5", at=0).stone("W", "C3", at=0)
    if asked:
        play = leaving(leave_terms=LEAVE_TERMS_RUN).rule("PERMIT_LEAVE", at=0)
    play.presence("W", False, at=0).stone("B", "G7", at=t("0:50")).presence("W", True, at=t("2:50"))
    assert (play.face("W").units_left, play.running) == (3, "W")


def test_cn2002_22_7_outside_the_count_the_clock_simply_runs() -> None:
    play = timed("BYOYOMI", "1:00:00").claim("W", kind="LEAVE", at=0).rule("PERMIT_LEAVE", at=0)
    assert play.presence("W", False, at=0).stone("B", "G7", at=t("0:50")).running == "W"


def test_cn2002_22_7_the_arbiter_may_record_that_the_count_runs() -> None:
    terms = [rl.Effect(permit=rl.Permit(what="LEAVE", terms="RUN"))]
    play = leaving().rule("PERMIT_LEAVE", effects=terms, at=0).presence("W", False, at=0)
    assert play.stone("B", "G7", at=t("0:50")).running == "W"


def test_cn2002_22_7_a_second_request_can_only_be_refused() -> None:
    play = leaving().rule("PERMIT_LEAVE", at=0).presence("W", False, at=0).presence("W", True, at=0)
    assert play.claim("W", kind="LEAVE").options == {"CN2002 22.7": ["REFUSE"]}
    play.rule("REFUSE").presence("W", False, at=play.now).stone("B", "G7")
    assert play.running == "W"


# 22.8


def measured(black: str, white: str, watch: str) -> Play:
    return timed("BASIC", "2:00:00").reading(black, white, watch=watch)


def test_cn2002_22_8_the_readings_are_corrected_in_proportion() -> None:
    play = measured("48:00", "57:00", "1:40:00")
    assert (play.found, play.finding.over_ms) == (["CN2002 22.8 FAULTY_CLOCK"], t("5:00"))
    assert play.options == {"CN2002 22.8": ["REPLACE_AND_CORRECT", "DISMISS"]}
    play.rule("REPLACE_AND_CORRECT")
    assert (play.used, play.running) == ((t("45:43"), t("54:17")), "B")


@pytest.mark.parametrize(
    ("black", "is_faulty"), [("31:00", True), ("30:59", False), ("27:00", True), ("27:01", False), ("29:00", False)]
)
def test_cn2002_22_8_from_two_minutes_an_hour_on(black: str, is_faulty: bool) -> None:
    play = measured(black, "31:00", "1:00:00").claim("B", "CN2002 22.8")
    assert play.options == {"CN2002 22.8": ["REPLACE_AND_CORRECT" if is_faulty else "REPLACE_CLOCK", "DISMISS"]}
    assert len(play.game.table.cases) == 1


def test_cn2002_22_8_replaced_without_correction_below() -> None:
    play = measured("30:00", "31:00", "1:00:00").claim("B", "CN2002 22.8").rule("REPLACE_CLOCK")
    assert (play.status, play.used[1], play.verdict.effects[0].clock.replaced) == ("FOLDED", 0, True)


def test_cn2002_22_8_a_clock_that_is_still_faulty_is_the_same_case() -> None:
    play = measured("48:00", "57:00", "1:40:00").reading("49:00", "58:00", watch="1:42:00")
    assert len(play.game.table.cases) == 1


@pytest.mark.parametrize(("approved", "status"), [(0, "REFUSED"), (ROLE_CHIEF, "FOLDED")])
def test_cn2002_22_8_the_reading_of_one_side_needs_the_chief(approved: int, status: str) -> None:
    play, one = timed("BASIC", "2:00:00"), set_clock(black_ms=t("5:00"), approved_by=approved)
    play.rule("SET_ONE_CLOCK", "CN2002 22.8 one-sided", case="", role="CHIEF", against=1, effects=one)
    assert (play.status, play.used[0]) == (status, t("5:00") if approved else t("0:01"))
    if not approved:
        assert "CHIEF" in play.reason


def test_cn2002_22_8_other_clauses_set_one_clock_without_the_chief() -> None:
    play = timed("BASIC", "2:00:00").presence("W", True, at=t("20:00")).rule("DEDUCT")
    assert (play.status, play.used[1]) == ("FOLDED", t("40:00"))


# 22.9


def paused(*, recorded: bool, confirmed: str = "BW") -> Play:
    play = timed("BASIC", "2:00:00").stone("B", "E5", at=t("1:00:00")).mark("PAUSE", at=t("3:00:00"))
    if recorded:
        play.reading("1:00:30", "1:59:30")
        for player in confirmed:
            play.consent(player)
    return play.mark("RESUME", at=t("5:00:00")).claim("B", "CN2002 22.9", at=t("5:00:00"))


def test_cn2002_22_9_the_record_that_both_confirmed_stands() -> None:
    play = paused(recorded=True)
    assert play.options == {"CN2002 22.9": ["FROM_RECORD", "DISMISS"]}
    assert play.rule("FROM_RECORD", at=t("5:00:00")).used == (t("1:00:30"), t("1:59:30"))


@pytest.mark.parametrize(("recorded", "confirmed"), [(False, ""), (True, "B")])
def test_cn2002_22_9_without_a_record_the_session_is_split_evenly(recorded: bool, confirmed: str) -> None:
    play = paused(recorded=recorded, confirmed=confirmed)
    assert play.options == {"CN2002 22.9": ["SPLIT_EVENLY", "DISMISS"]}
    assert play.rule("SPLIT_EVENLY", at=t("5:00:00")).used == (t("1:30:00"), t("1:30:00"))


@pytest.mark.parametrize("late", ["W", "B"])
def test_cn2002_22_9_what_was_deducted_before_stays(late: str) -> None:
    first = "B" if late == "W" else "W"
    play = timed("BASIC", "2:00:00", to_move=first).presence(late, True, at=t("10:00")).rule("DEDUCT", at=t("10:00"))
    play.mark("PAUSE", at=t("1:00:00")).mark("RESUME", at=t("2:00:00")).claim("B", "CN2002 22.9")
    assert sorted(play.rule("SPLIT_EVENLY").used) == [t("30:00"), t("50:00")]
    assert play.used["BW".index(late)] == t("50:00")


def test_cn2002_22_9_a_player_can_take_the_word_back() -> None:
    play = timed("BASIC", "2:00:00").mark("PAUSE").reading("0", "0").consent("B").consent("W").consent("B", False)
    assert not play.game.table.clockwork.is_recorded


def test_cn2002_22_9_the_arbiter_is_disciplined_apart_from_the_game() -> None:
    play = timed("BASIC", "2:00:00")
    play.rule("DISCIPLINE", "CN2002 22.9 arbiter", case="", role="CHIEF")
    assert (play.status, play.phase, play.running) == ("FOLDED", "PLAY", "B")


# SET_CLOCK


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({}, "set_clock: give black_ms"),
        ({"black_ms": 2**62}, "set_clock.black_ms"),
        ({"minutes_left": 1}, "set_clock.minutes_left"),
        ({"side": 1, "minutes_left": 6}, "set_clock.minutes_left"),
        ({"side": 1, "count_s": 60}, "set_clock.count_s"),
        ({"black_ms": 1000, "side": 2, "count_s": 10}, "set_clock.count_s"),
    ],
)
def test_a_clock_that_cannot_be_set_so_is_refused_and_nothing_is_changed(said: dict[str, int], why: str) -> None:
    play = timed("BYOYOMI", "2:00:00").claim("B", "CN2002 12.4(6)", at=0)
    play.rule("INTERPRET_READING", role="CHIEF", effects=set_clock(**said), at=0)
    assert (play.status, play.reason.startswith(why), play.used) == ("REFUSED", True, (0, 0))


def test_both_clocks_and_a_count_are_set_together() -> None:
    play = timed("BYOYOMI", "2:00:00").claim("B", "CN2002 12.4(6)", at=0)
    said = set_clock(black_ms=t("1:57:00"), white_ms=t("10:00"), side=1, count_s=20)
    play.rule("INTERPRET_READING", role="CHIEF", effects=said, at=0)
    assert (play.used, play.face("B").units_left, play.face("B").count_ms) == ((t("1:57:00"), t("10:00")), 3, t("0:20"))


def test_cn2002_17_1_restart_sets_both_clocks_back() -> None:
    play = timed("BASIC", "2:00:00", players=["li", "wang"], colours=("li", "wang"))
    play.stone("B", "E5", at=t("5:00")).claim("B", "CN2002 17.1")
    play.rule("RESTART", at=t("6:00"))
    assert (play.status, play.used, play.running, play.number) == ("FOLDED", (0, 0), "B", 0)


def test_an_untimed_game_restarts_without_clocks() -> None:
    play = refereed(9, players=["li", "wang"], colours=("li", "wang")).stone("B", "E5").claim("B", "CN2002 17.1")
    assert play.rule("RESTART").status == "FOLDED"


def test_no_ruling_sets_a_clock_that_is_not_there() -> None:
    play = refereed(9).mark("START", at=0).presence("W", True, at=t("20:00"))
    play.rule("DEDUCT", effects=set_clock(white_ms=0))
    assert (play.status, play.reason) == ("REFUSED", "this game has no clocks")


# Adopted regulations


def test_adopted_regulations_change_the_limit_and_keep_what_was_used() -> None:
    play = timed("BASIC", "2:00:00").stone("B", "E5", at=t("10:00"))
    longer = facts.RegulationsAdopted(changes=Regulations(basic_time_s=3 * 3600))
    play.say(longer, source="tablet", by=actor("CHIEF"), at=t("11:00"))
    assert (play.used, play.face("B").left_ms, play.running) == ((t("10:00"), t("1:00")), t("2:50:00"), "W")
    none = facts.RegulationsAdopted(changes=Regulations(basic_time_s=0))
    assert play.say(none, source="tablet", by=actor("CHIEF")).status == "REFUSED"
