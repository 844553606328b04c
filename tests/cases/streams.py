"""Incidents of event streams: what the fold itself must bear, wherever its events come from."""

from __future__ import annotations

from support.play import Play, fold, refereed

from caipan.rules.checkpoint import load, save
from caipan.v1 import outcome_pb2 as pb
from caipan.v1 import rulings_pb2 as rl


def warned() -> Play:
    """Black has one warning for an early press."""
    play = refereed(observed=["PRESSES"]).press("B").stone("B", "D4").stone("W", "Q16")
    return play.rule("WARN").stone("B", "C3")


def e01_records_that_are_handled_again_after_any_prefix_count_once() -> Play:
    """A worker had handled three messages without committing; the next one handled them again. A warning counted twice
    is a lost game (24.2)."""
    whole = warned()
    for handled in range(1, len(whole.log) + 1):
        play = warned()
        play.game, play.log, play.outcomes = type(play.game)("game", 0), [], []
        for record in whole.log[:handled]:
            play.send_bytes(record.value)
        for record in whole.log:
            play.send_bytes(record.value)
        assert (play.game.digest, play.game.head) == (whole.game.digest, whole.game.head)
        assert [verdict.status for verdict in play.verdicts].count(pb.STATUS_FOLDED) == len(whole.log)
    assert (whole.warnings, whole.verdict.HasField("result")) == ((1, 0), False)
    return whole


def e03_a_restart_that_repeats_the_last_record_warns_once() -> Play:
    """A counter grew by one with every restart."""
    play = refereed(observed=["PRESSES"]).press("B").stone("B", "D4").rule("WARN")
    digest, ruling = play.digest, play.log[-1]
    for _ in range(2):
        play.game = load(save(play.game))
        play.send_bytes(ruling.value)
        assert (play.status, play.digest) == ("DUPLICATE", digest)
    assert [count.warnings for count in play.game.table.ledger.counts] == [1]
    assert play.game.table.result is None
    return play


def pressed_and_set(press_seq: int, press_ms: int, set_seq: int, set_ms: int) -> Play:
    """The record of the press arrives first."""
    play = refereed(observed=["PRESSES"]).mark("START", at=0)
    play.press("B", source="board", seq=press_seq, at=press_ms).stone("B", "D4", seq=set_seq, at=set_ms)
    return play


def e04_two_records_turned_round_by_a_retry_are_read_in_the_order_of_their_source() -> Play:
    """A retry may turn two records round; 17.4 lives on the order of two records that are close together."""
    play = pressed_and_set(2, 41_950, 1, 41_200)
    assert (play.all_found, play.at("D4"), play.turn) == ([], "X", "W")
    return play


def e04_a_press_that_was_early_is_still_seen() -> Play:
    play = pressed_and_set(1, 41_200, 2, 41_950)
    assert (play.found, play.warnings) == (["CN2002 17.4 EARLY_PRESS"], (0, 0))
    play.rule("WARN")
    assert play.warnings == (1, 0)
    return play


def e04_at_the_same_time_is_early_too() -> Play:
    play = pressed_and_set(1, 41_950, 2, 41_950)
    assert play.found == ["CN2002 17.4 SIMULTANEOUS_PRESS"]
    return play


def e04_without_numbers_two_sources_too_close_are_undecidable() -> Play:
    """Between sources the times decide; closer than clock_skew_ms they do not, and a person has to look."""
    play = refereed(observed=["PRESSES"], clock_skew_ms=1000).press("B", seq=0, at=41_950)
    play.stone("B", "D4", seq=0, at=41_200)
    assert "CN2002 17.4 UNDECIDABLE_ORDER" in play.found
    assert play.cases == ["OPEN CN2002 17.4"]
    return play


def e06_every_prefix_folded_anew_is_as_it_was_live() -> Play:
    """A reducer that asked the wall clock gave another answer on another day."""
    play, live = refereed(observed=["PRESSES"]), []
    for act in (lambda: play.stone("B", "D4", at=41_000), lambda: play.press("B"), lambda: play.stone("W", "Q16")):
        act()
        live.append((play.game.digest, play.game.head))
    for handled, was in enumerate(live, start=2):
        again = type(play.game)("game", 0)
        for record in play.log[:handled]:
            fold(again, record.value, record.offset, play.log[: record.offset])
        assert (again.digest, again.head) == was
    assert (play.stones(), play.turn, play.verdict.HasField("result")) == ({"D4": "X", "Q16": "O"}, "B", False)
    return play


def e12_a_call_that_was_carried_out_and_sent_again_warns_once() -> Play:
    """A call may have been carried out though the client saw it fail; to warn twice is to end the game (24.2)."""
    play = refereed(observed=["PRESSES"]).press("B").stone("B", "D4").rule("WARN")
    verdict, record = play.verdict, play.log[-1]
    play.send_bytes(record.value)
    assert (play.status, play.verdict.original.seq) == ("DUPLICATE", verdict.seq)
    again = play.rule("WARN", "CN2002 17.4", case="", against=1, refs=["e3"])
    assert (again.status, again.reason) == (
        "REFUSED",
        f"refs: that act was decided by ruling {verdict.event_id!r}: one act, one ruling",
    )
    other = rl.RulingDecided(clause="CN2002 17.4", option="WARN", role="ROLE_ARBITER", against=2)
    play.say(other, source="tablet", id=verdict.event_id)
    assert play.found == ["REG order ID_CONFLICT"]
    assert play.warnings == (1, 0)
    return play


INCIDENTS = [
    e01_records_that_are_handled_again_after_any_prefix_count_once,
    e03_a_restart_that_repeats_the_last_record_warns_once,
    e04_two_records_turned_round_by_a_retry_are_read_in_the_order_of_their_source,
    e04_a_press_that_was_early_is_still_seen,
    e04_at_the_same_time_is_early_too,
    e04_without_numbers_two_sources_too_close_are_undecidable,
    e06_every_prefix_folded_anew_is_as_it_was_live,
    e12_a_call_that_was_carried_out_and_sent_again_warns_once,
]
