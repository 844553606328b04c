"""record.corrected: the game as if the slip had not been (rules 0.6, 7.2)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.boards import play_on_wall
from support.events import found, status_of
from support.play import Play, arbiter, refereed

from caipan.rules.checkpoint import load, save
from caipan.v1 import facts_pb2 as facts


def stone(point: str) -> facts.StonePlaced:
    return facts.StonePlaced(point=point)


def test_a_retracted_record_did_not_happen() -> None:
    play = Play(9).stone("B", "E5").stone("W", "C3").retract("e3")
    assert (play.status, play.found) == ("FOLDED", [])
    assert (play.stones(), play.turn, play.number) == ({"E5": "X"}, "W", 1)
    assert play.digest == Play(9).stone("B", "E5").digest


def test_a_replaced_record_says_what_happened() -> None:
    play = Play(9).stone("B", "E5").stone("W", "C3").replace("e2", stone("E4"))
    assert (play.stones(), play.turn) == ({"E4": "X", "C3": "O"}, "B")
    assert play.digest == Play(9).stone("B", "E4").stone("W", "C3").digest


def test_a_missed_record_is_put_in_after_another() -> None:
    play = Play(9).stone("B", "E5").stone("B", "G7")
    assert play.found == ["CN2002 17.2 OUT_OF_TURN"]
    play.insert_after("e2", stone("C3"), "W")
    assert (play.stones(), play.turn, play.provisional) == ({"E5": "X", "C3": "O", "G7": "X"}, "W", [])
    assert play.digest == Play(9).moves("B E5, W C3, B G7").digest


def test_a_missed_first_move_is_put_in_after_the_opening() -> None:
    play = Play(9).stone("W", "C3").insert_after("e1", stone("E5"), "B", source="backend")
    assert (play.status, play.stones()) == ("FOLDED", {"C3": "O", "E5": "X"})
    assert play.digest == Play(9).moves("B E5, W C3").digest


def test_captures_that_rest_on_a_slip_are_undone() -> None:
    play = Play(9).moves("B A2, W A1, B B1").retract("e4")
    assert (play.stones(), play.taken) == ({"A2": "X", "A1": "O"}, (0, 0))
    assert (list(play.verdict.added_white), list(play.verdict.removed)) == (["A1"], ["B1"])
    assert play.drawn() == play.stones()


def test_what_no_longer_fits_becomes_a_finding_and_the_correction_is_not_refused() -> None:
    play = Play(9).moves("B E5, W C3, B G7").replace("e2", stone("C3"))
    assert play.status == "FOLDED"
    assert play.stones() == {"C3": "X", "G7": "X"}
    after = {revision.seq: found(revision.after) for revision in play.verdict.revised}
    assert after[3] == ["CN2002 2.3 OCCUPIED"]
    assert after[4] == ["CN2002 17.2 OUT_OF_TURN"]


def test_revisions_tell_how_each_verdict_reads_before_and_after() -> None:
    play = Play(9).moves("B E5, W C3, B C3").replace("e4", stone("G7"))
    (revision,) = play.verdict.revised
    assert (revision.seq, found(revision.before), found(revision.after)) == (4, ["CN2002 2.3 OCCUPIED"], [])
    assert (revision.before.move_number, revision.after.move_number) == (2, 3)


def test_the_revision_of_a_retracted_record_has_no_after() -> None:
    play = Play(9).stone("B", "E5").retract("e2")
    (revision,) = play.verdict.revised
    assert (revision.seq, revision.HasField("before"), revision.HasField("after")) == (2, True, False)


def test_the_revision_of_a_missed_record_has_no_before_and_the_seq_of_the_correction() -> None:
    play = Play(9).stone("B", "E5").insert_after("e2", stone("C3"), "W")
    (revision,) = play.verdict.revised
    assert (revision.seq, revision.HasField("before"), list(revision.after.added_white)) == (3, False, ["C3"])


def test_a_correction_without_consequence_revises_nothing() -> None:
    play = Play(9).stone("B", "E5").lifted("W", "A1").retract("e3")
    assert [revision.seq for revision in play.verdict.revised] == [3]


def test_retracting_a_correction_takes_it_back() -> None:
    play = Play(9).moves("B E5, W C3")
    digest = play.digest
    play.retract("e3", id="fix").retract("fix")
    assert (play.status, play.stones(), play.digest) == ("FOLDED", {"E5": "X", "C3": "O"}, digest)


def test_two_corrections_hold_together() -> None:
    play = Play(9).moves("B E5, W C3, B G7").replace("e2", stone("E4")).replace("e4", stone("G6"))
    assert play.digest == Play(9).moves("B E4, W C3, B G6").digest


def test_a_later_correction_of_the_same_record_counts() -> None:
    play = Play(9).stone("B", "E5").replace("e2", stone("E4")).replace("e2", stone("E3"))
    assert play.stones() == {"E3": "X"}


def test_play_goes_on_from_the_corrected_game() -> None:
    play = Play(9).moves("B E5, W C3, B G7").retract("e4").stone("B", "G6").stone("W", "D7")
    assert (play.found, play.digest) == ([], Play(9).moves("B E5, W C3, B G6, W D7").digest)


def test_a_correction_reaches_back_over_the_end_and_the_count() -> None:
    play = play_on_wall(14, "DAME").stone("B", "A1").end()
    assert play.result.black_qz == 738
    play.replace("e2", stone("K1"))
    assert (play.result.black_qz, play.phase) == (740, "ENDED")


def test_a_correction_may_change_the_player_and_the_time() -> None:
    play = Play(9).stone("B", "E5")
    said = facts.RecordCorrected(ref="e2", kind=facts.RecordCorrected.KIND_REPLACE)
    said.fact.player = 2
    said.fact.stone_placed.point = "E5"
    play.say(said)
    assert found(play.verdict.revised[0].after) == ["CN2002 17.2 OUT_OF_TURN"]


def test_a_press_typed_before_its_stone_is_no_accusation_once_corrected() -> None:
    play = Play(9).press("B", at=1000).stone("B", "E5", at=1400)
    assert play.found == ["CN2002 17.4 EARLY_PRESS"]
    play.retract("e2", source="clock")
    assert found(play.verdict.revised[-1].after) == []


# Who may correct what


def test_the_source_of_a_record_corrects_it() -> None:
    assert Play(9).stone("B", "E5", source="camera").retract("e2", source="camera").status == "FOLDED"


def test_another_source_may_not() -> None:
    play = Play(9).stone("B", "E5").retract("e2", source="stranger")
    assert (play.status, play.stones()) == ("REFUSED", {"E5": "X"})
    assert "arbiter" in play.verdict.reason


def test_two_events_without_a_source_have_none_in_common() -> None:
    play = Play(9).stone("B", "E5", source="", seq=0).retract("e2", source="", seq=0)
    assert (play.status, play.stones()) == ("REFUSED", {"E5": "X"})


def test_an_arbiter_of_the_game_may() -> None:
    play = Play(9, officials=[("zhao", "ARBITER")]).stone("B", "E5").retract("e2", source="tablet", by=arbiter("zhao"))
    assert (play.status, play.stones()) == ("FOLDED", {})


def test_an_arbiter_appointed_in_the_game_may() -> None:
    play = Play(9).say(facts.OfficialAppointed(person="zhao", role="ROLE_CHIEF"), source="backend")
    chief = arbiter("zhao")
    chief.role = 3
    assert play.stone("B", "E5").retract("e3", source="tablet", by=chief).status == "FOLDED"


def test_an_arbiter_of_another_game_may_not() -> None:
    play = Play(9, officials=[("zhao", "ARBITER")]).stone("B", "E5").retract("e2", source="tablet", by=arbiter("qian"))
    assert play.status == "REFUSED"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda play: play.retract("nobody"),
        lambda play: play.retract("e1", source="backend"),
        lambda play: play.replace("e1", stone("E5"), source="backend"),
        lambda play: play.retract("e2", id="fix").replace("fix", stone("A1")),
        lambda play: play.retract("e2", id="fix").insert_after("fix", stone("A1")),
        lambda play: play.retract("e9").retract("e3"),
    ],
    ids=[
        "unknown record",
        "the opening",
        "the opening by another",
        "a correction",
        "after a correction",
        "a refused one",
    ],
)
def test_a_correction_of_what_cannot_be_corrected_is_refused_and_changes_nothing(wrong: Callable[[Play], Play]) -> None:
    play = Play(9).stone("B", "E5")
    wrong(play)
    assert play.status == "REFUSED"
    assert play.verdict.reason
    assert not play.verdict.revised


@pytest.mark.parametrize("kind", [0, 9])
def test_a_correction_of_no_known_kind_is_refused(kind: int) -> None:
    play = Play(9).stone("B", "E5").say(facts.RecordCorrected(ref="e2", kind=kind))
    assert (play.status, play.stones()) == ("REFUSED", {"E5": "X"})


@pytest.mark.parametrize("kind", ["KIND_REPLACE", "KIND_INSERT_AFTER"])
def test_a_correction_without_the_fact_it_needs_is_refused(kind: str) -> None:
    play = Play(9).stone("B", "E5").say(facts.RecordCorrected(ref="e2", kind=kind))
    assert (play.status, play.stones()) == ("REFUSED", {"E5": "X"})


# Corrections and the order of delivery


def test_a_correction_released_by_a_late_event_keeps_that_event() -> None:
    play = Play(9).stone("B", "E5")
    third = play.make(stone("C3"), "W")
    play.retract("e2")
    assert play.status == "PARKED"
    play.send(third)
    assert play.stones() == {"C3": "O"}


def test_a_correction_before_the_opening_waits_with_the_rest() -> None:
    play = Play(9, opening=False).stone("B", "E5").retract("e1")
    play.open()
    assert (play.status, play.stones()) == ("FOLDED", {})


def test_a_correction_of_a_record_that_still_waits_leaves_one_history() -> None:
    """Refused or applied, but the same now and after every later re-fold."""
    play = Play(9, officials=[("zhao", "ARBITER")]).stone("B", "E5")
    third = play.make(stone("C3"), "W")
    play.stone("B", "G7").retract(play.last_id, source="tablet", by=arbiter("zhao"))
    refused = play.status == "REFUSED"
    play.send(third)
    assert (play.at("G7") == "X") == refused
    before = play.stones()
    play.lifted("B", "A9").retract(play.last_id)
    assert play.stones() == before


def test_a_correction_again_is_a_duplicate() -> None:
    play = Play(9).stone("B", "E5").retract("e2")
    digest = play.digest
    play.send_bytes(play.log[-1].value)
    assert (play.status, play.digest) == ("DUPLICATE", digest)


def test_a_redelivery_by_another_reporter_does_not_shift_the_revisions() -> None:
    play = Play(9)
    made = play.make(stone("E5"), "B")
    play.send(made)
    made.by.person = "zhao"
    assert play.send(made).status == "DUPLICATE"
    play.stone("W", "C3").retract(play.last_id)
    assert [revision.seq for revision in play.verdict.revised] == [3]


def test_a_correction_with_an_id_used_long_before_loses_nothing() -> None:
    play = Play(9).stone("B", "E5", id="x")
    for _ in range(50):
        play.lifted("W", "A9")
    play.stone("W", "C3").stone("B", "G7")
    play.retract(play.last_id, id="x")
    assert play.stones() in ({"E5": "X", "C3": "O"}, {"E5": "X", "C3": "O", "G7": "X"})


def test_a_slip_with_a_wrong_time_leaves_no_trace_in_game_time() -> None:
    play = Play(9).stone("B", "E5", at=0).stone("W", "C3", at=5 * 3_600_000).retract("e3", at=9_000)
    assert play.stone("W", "C4", at=10_000).found == []


def test_verdicts_that_a_slip_with_a_wrong_time_accused_are_revised() -> None:
    play = Play(9).stone("B", "E5", at=0).stone("W", "C3", at=5 * 3_600_000).lifted("B", "A9", at=10_000)
    assert play.found == ["REG clock_skew_ms TIME_BACKWARDS"]
    play.retract("e3", at=11_000)
    assert {revision.seq: found(revision.after) for revision in play.verdict.revised}.get(4) == []


# Cases that rest on the slip


def test_a_case_that_rests_on_a_slip_alone_is_a_record_error() -> None:
    play = refereed(9).moves("B E5, B G7")
    (case,) = play.verdict.cases
    play.insert_after("e2", stone("C3"), "W")
    assert (play.cases, play.game.table.cases) == (["RECORD_ERROR"], {})
    assert play.verdict.cases[0].case_id == case.case_id
    assert play.rule("VOID_AND_WARN", case=case.case_id).reason == "case_id: this game has no case '3' (none is open)"


def test_a_case_that_was_decided_on_a_slip_is_a_record_error_and_its_warning_gone() -> None:
    play = refereed(9).moves("B E5, B G7").rule("VOID_AND_WARN")
    assert (play.warnings, play.at("G7")) == ((1, 0), ".")
    play.insert_after("e2", stone("C3"), "W")
    assert (play.cases, play.warnings, play.at("G7"), play.turn) == (["RECORD_ERROR"], (0, 0), "X", "W")
    ruling = next(revision for revision in play.verdict.revised if revision.before.event_id == "e4")
    assert (status_of(ruling.before), status_of(ruling.after)) == ("FOLDED", "REFUSED")


def test_a_case_that_rests_on_more_than_the_slip_stays_and_has_a_new_revision() -> None:
    play = refereed(9).moves("B E5, B G7").claim("W", "CN2002 17.2").retract("e4", source="tablet", by=arbiter())
    (case,) = play.verdict.cases
    assert (play.cases, case.revision, list(case.claims)) == (["OPEN CN2002 17.2"], 5, [])
    assert play.rule("VOID_AND_WARN", case_revision=4).status == "STALE"


def test_a_ruling_made_stale_by_a_correction_is_not_brought_to_life_by_the_next_one() -> None:
    play = refereed(9).moves("B E5, B G7").claim("W", "CN2002 17.2").retract("e4", source="tablet", by=arbiter())
    assert play.rule("VOID_AND_WARN", case_revision=4).status == "STALE"
    stale = play.last_id
    play.game = load(save(play.game))
    play.lifted("W", "A1").retract(play.last_id)
    assert (play.status, play.warnings, list(play.game.table.cases)) == ("FOLDED", (0, 0), ["3"])
    assert stale not in {revision.before.event_id for revision in play.verdict.revised}


def test_a_case_that_a_correction_brings_is_told() -> None:
    play = refereed(9).moves("B E5, W C3, B G7").retract("e3")
    assert (play.cases, play.status) == (["OPEN CN2002 17.2"], "FOLDED")
    assert play.rule("VOID_AND_WARN").warnings == (1, 0)


def test_a_correction_that_changes_no_case_tells_none() -> None:
    play = refereed(9).moves("B E5, B G7").lifted("W", "A1").retract("e4")
    assert play.cases == []
