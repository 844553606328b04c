"""Delivery: each event once, each source in its own order, whatever the way brings (design 4: repeats, order)."""

from __future__ import annotations

from support.events import actor, found, status_of
from support.play import Play

from caipan.v1 import facts_pb2 as facts
from caipan.v1.event_pb2 import Event

COLUMNS = "ABCDEFGHJ"


def stone(point: str) -> facts.StonePlaced:
    return facts.StonePlaced(point=point)


def stones(play: Play, count: int, step_ms: int = 100) -> list[Event]:
    """The next stones of the board, made and not sent: B A1, W B1, ..."""
    made = []
    for number in range(count):
        point = f"{COLUMNS[number % 9]}{1 + number // 9}"
        made.append(play.make(stone(point), "BW"[number % 2], at=play.now + step_ms))
    return made


def statuses(play: Play) -> list[tuple[str, str]]:
    """Ids and statuses of all outcomes and notices but the opening's."""
    return [(outcome.verdict.event_id, status_of(outcome.verdict)) for outcome in play.outcomes[1:]]


# Repeats


def test_the_same_event_again_is_a_duplicate_that_points_to_the_original() -> None:
    play = Play(9).stone("B", "E5")
    head, digest = play.game.head, play.digest
    play.send_bytes(play.log[-1].value)
    assert (play.status, play.verdict.original.seq, play.verdict.seq) == ("DUPLICATE", 2, 0)
    assert (play.game.head, play.digest, play.outcomes[-1].head) == (head, digest, b"")


def test_another_reporter_makes_no_other_event() -> None:
    play = Play(9)
    made = play.make(stone("E5"), "B")
    play.send(made)
    for by in (actor("ARBITER", "zhao"), actor("DEVICE", "x" * 128)):
        made.by.CopyFrom(by)
        assert play.send(made).status == "DUPLICATE"
    made.ClearField("by")
    assert play.send(made).status == "DUPLICATE"


def test_an_event_that_was_read_again_from_quarantine_is_the_same_event_and_says_so_in_its_outcome() -> None:
    for numbered in (0, 1):
        for retried_first in (True, False):
            play = Play(9)
            plain = play.make(stone("E5"), "B", seq=numbered)
            retried = Event.FromString(plain.SerializeToString())
            retried.by.CopyFrom(actor("CHIEF", "zhao"))
            retried.caused_by = "game-events-2-7"
            first, second = (retried, plain) if retried_first else (plain, retried)
            assert play.send(first).status == "FOLDED"
            assert play.send(second).status == "DUPLICATE"
            assert play.verdict.original.seq == 2
            causes = [outcome.caused_by for outcome in play.outcomes]
            assert causes == (["", "game-events-2-7", ""] if retried_first else ["", "", "game-events-2-7"])


def test_an_event_that_waits_and_was_read_again_says_so_when_it_is_judged() -> None:
    play = Play(9)
    early = play.make(stone("E4"), "W", seq=2)
    early.caused_by = "game-events-2-7"
    play.send(early)
    play.stone("B", "E5", seq=1)
    assert [outcome.caused_by for outcome in play.outcomes] == ["", "game-events-2-7", "", "game-events-2-7"]
    assert statuses(play)[-1] == (early.event_id, "FOLDED")


def test_an_opening_with_other_pins_is_the_same_event() -> None:
    play = Play(9)
    again = Event.FromString(play.log[0].value)
    again.game_opened.pins.regulations.komi_qz = 0
    assert play.send(again).status == "DUPLICATE"


def test_the_same_fact_written_in_another_order_of_fields_is_the_same_event() -> None:
    play = Play(9)
    made = play.make(stone("E5"), "B")
    play.send(made)
    by = made.by.SerializeToString()
    made.ClearField("by")
    first = b"\xa2\x06" + bytes((len(by),)) + by
    assert play.send_bytes(first + made.SerializeToString()).status == "DUPLICATE"


def test_the_same_id_with_another_value_is_a_conflict_without_effect() -> None:
    play = Play(9).stone("B", "E5", id="x").stone("W", "C3", id="x")
    assert (play.status, play.found, play.finding.ref) == ("FOLDED", ["REG order ID_CONFLICT"], "x")
    assert (play.stones(), play.turn, play.number) == ({"E5": "X"}, "W", 1)
    assert play.stone("W", "C3", id="y").found == []


def test_a_second_opening_is_found_and_changes_nothing() -> None:
    play = Play(9).stone("B", "E5")
    play.open(id="again")
    assert (play.found, play.stones(), play.number) == (["REG order ALREADY_OPENED"], {"E5": "X"}, 1)


def test_an_event_with_a_number_is_known_long_after_its_id_was_forgotten() -> None:
    play = Play(9).stone("B", "E5")
    early = play.log[-1].value
    for _ in range(100):
        play.lifted("B", "A9")
    digest = play.digest
    play.send_bytes(early)
    assert (play.status, play.verdict.original.seq, play.digest) == ("DUPLICATE", 0, digest)


def test_an_event_without_a_number_is_known_as_long_as_the_game() -> None:
    play = Play(9).stone("B", "E5", seq=0)
    early = play.log[-1].value
    for _ in range(100):
        play.lifted("B", "A9", seq=0)
    assert (play.send_bytes(early).status, play.verdict.original.seq) == ("DUPLICATE", 2)


# Order within a source


def test_an_early_event_waits_until_its_gap_is_filled() -> None:
    play = Play(9)
    first, second, third = stones(play, 3)
    play.send(second).send(third)
    assert [status for _, status in statuses(play)] == ["PARKED", "PARKED"]
    play.send(first)
    assert statuses(play)[2:] == [(first.event_id, "FOLDED"), (second.event_id, "FOLDED"), (third.event_id, "FOLDED")]
    assert (play.all_found, play.number) == ([], 3)


def test_a_parked_event_again_is_a_duplicate_without_an_original() -> None:
    play = Play(9)
    _, second = stones(play, 2)
    play.send(second).send(second)
    assert (play.status, play.verdict.original.seq) == ("DUPLICATE", 0)


def test_the_id_of_a_parked_event_with_another_value_is_a_conflict() -> None:
    play = Play(9)
    first, second = stones(play, 2)
    play.send(second)
    second.stone_placed.point = "J9"
    play.send(second)
    play.send(first)
    assert play.all_found == ["REG order ID_CONFLICT"]
    assert play.stones() == {"A1": "X", "B1": "O"}


def test_sources_do_not_wait_for_each_other() -> None:
    play = Play(9)
    _, second = stones(play, 2)
    play.send(second).press("B").stone("B", "E5", source="tablet")
    assert [status for _, status in statuses(play)] == ["PARKED", "FOLDED", "FOLDED"]


def test_when_32_wait_the_gap_is_given_up() -> None:
    play = Play(9)
    made = stones(play, 33)
    for each in made[1:32]:
        assert play.send(each).status == "PARKED"
    play.send(made[32])
    gap = play.verdicts[1].findings[0]
    assert found(play.verdicts[1])[0] == "REG order SOURCE_GAP"
    assert (gap.gap_from, gap.gap_to) == (1, 1)
    assert len(play.verdicts) == 33


def test_31_waiting_events_are_restored_to_their_order_when_the_first_comes() -> None:
    play = Play(9)
    made = stones(play, 32)
    for each in reversed(made):
        play.send(each)
    assert ([verdict.event_id for verdict in play.verdicts[1:]], play.all_found) == (
        [each.event_id for each in made],
        [],
    )


def test_a_gap_is_given_up_when_game_time_is_ten_seconds_past_the_waiting_event() -> None:
    play = Play(9)
    play.press("B", at=0)
    _, second = play.make(stone("A1"), "B", at=0), play.make(stone("B1"), "W", at=1000)
    play.send(second)
    play.press("B", at=10_999)
    assert len(play.verdicts) == 3
    play.press("W", at=11_000)
    assert found(play.verdict)[0] == "REG order SOURCE_GAP"


def test_a_gap_is_given_up_when_a_later_event_of_the_source_is_ten_seconds_past_a_waiting_one() -> None:
    play = Play(9)
    play.make(stone("A1"), "B", at=0)
    second, third = play.make(stone("B1"), "W", at=1000), play.make(stone("C1"), "B", at=11_000)
    play.send(second)
    assert play.status == "PARKED"
    play.send(third)
    assert [status for _, status in statuses(play)] == ["PARKED", "PARKED", "FOLDED", "FOLDED"]
    assert found(play.verdicts[1])[0] == "REG order SOURCE_GAP"
    assert found(play.verdicts[2]) == []


def test_a_new_boot_releases_what_waits_of_the_old_one() -> None:
    play = Play(9)
    _, second = stones(play, 2)
    play.send(second)
    play.stone("W", "E5", boot="2")
    assert sorted(statuses(play)[1:]) == sorted([(play.last_id, "FOLDED"), (second.event_id, "FOLDED")])
    assert "REG order SOURCE_GAP" in play.all_found


def test_a_resumed_source_gives_up_the_numbers_before() -> None:
    play = Play(9).stone("B", "E5")
    play.say(facts.SourceResumed(next_source_seq=5), seq=5)
    assert (play.found, play.finding.gap_from, play.finding.gap_to) == (["REG order SOURCE_GAP"], 2, 4)
    assert play.stone("W", "C3").found == []


def test_a_resumed_source_releases_what_waited_below_its_number() -> None:
    play = Play(9)
    play.make(stone("E5"), "B")
    second = play.make(stone("C3"), "B")
    play.send(second)
    play.say(facts.SourceResumed(next_source_seq=4), seq=4)
    assert [verdict.event_id for verdict in play.verdicts[1:]] == [second.event_id, play.last_id]
    assert [(found(each), each.findings[0].gap_from, each.findings[0].gap_to) for each in play.verdicts[1:]] == [
        (["REG order SOURCE_GAP"], 1, 1),
        (["REG order SOURCE_GAP"], 3, 3),
    ]


def test_a_number_given_up_that_comes_after_all_is_folded_where_it_stands() -> None:
    play = Play(9).stone("B", "E5")
    late = play.make(stone("A1"), "W")
    play.say(facts.SourceResumed(next_source_seq=5), seq=5)
    play.stone("W", "C3").stone("B", "G7")
    play.send(late)
    assert (play.status, play.found) == ("FOLDED", ["REG order LATE_IN_SOURCE", "REG clock_skew_ms TIME_BACKWARDS"])
    assert play.at("A1") == "O"
    assert play.send(late).status == "DUPLICATE"


def test_a_number_that_was_never_given_up_and_lies_far_back_is_a_duplicate() -> None:
    play = Play(9)
    for _ in range(50):
        play.lifted("B", "A9")
    play.stone("B", "E5", id="new", seq=3)
    assert (play.status, play.stones()) == ("DUPLICATE", {})


def test_within_the_window_the_id_alone_decides() -> None:
    play = Play(9).lifted("B", "A9").lifted("B", "A9").stone("B", "E5", id="new", seq=1)
    assert (play.status, play.found, play.at("E5")) == ("FOLDED", ["REG order LATE_IN_SOURCE"], "X")


def test_a_conflict_fills_its_number_and_releases_what_waits_for_it() -> None:
    play = Play(9).stone("B", "E5", id="a")
    third = play.make(stone("C3"), "W", seq=3)
    play.send(third).stone("B", "A9", id="a", seq=2)
    assert play.at("C3") == "O"
    assert "REG order SOURCE_GAP" not in play.all_found


def test_an_event_near_the_watermark_is_known_though_many_late_ones_came() -> None:
    play = Play(9)
    late = [play.make(facts.StoneLifted(point="A9"), "B") for _ in range(40)]
    play.say(facts.SourceResumed(next_source_seq=41), seq=41).stone("B", "E5")
    stone_event = play.log[-1].value
    for each in late:
        assert play.send(each).found[0] == "REG order LATE_IN_SOURCE"
    play.send_bytes(stone_event)
    assert (play.status, play.found) == ("DUPLICATE", [])


def test_a_resume_that_releases_its_own_id_raises_nothing() -> None:
    play = Play(9)
    play.send(play.make(stone("E5"), "B", id="x", seq=2))
    play.say(facts.SourceResumed(next_source_seq=59), id="x", seq=1)
    assert play.at("E5") == "X"
    assert "REG order ID_CONFLICT" in play.all_found


def test_numbers_of_another_boot_are_its_own() -> None:
    play = Play(9).stone("B", "E5", boot="1").stone("W", "C3", boot="2").stone("B", "G7", boot="2")
    assert (play.all_found, play.number) == ([], 3)


# Before the opening


def test_a_fact_of_a_game_that_is_not_open_waits_and_is_judged_after_the_opening() -> None:
    play = Play(9, opening=False).stone("B", "E5").press("B")
    assert [status_of(outcome.verdict) for outcome in play.outcomes] == ["PARKED", "PARKED"]
    play.open()
    assert [verdict.seq for verdict in play.verdicts] == [1, 2, 3]
    assert (play.stones(), play.all_found) == ({"E5": "X"}, [])


def test_an_orphan_again_is_a_duplicate() -> None:
    play = Play(9, opening=False).stone("B", "E5")
    play.send_bytes(play.log[-1].value)
    assert play.status == "DUPLICATE"
    assert play.open().number == 1


def test_more_orphans_than_can_wait_are_quarantined_with_a_reason() -> None:
    play = Play(9, opening=False)
    for _ in range(256):
        assert play.lifted("B", "A9").status == "PARKED"
    play.stone("B", "E5")
    assert play.status == "QUARANTINED"
    assert "open it" in play.verdict.reason
    assert play.open().stones() == {}


def test_orphans_of_a_source_are_restored_to_their_order() -> None:
    play = Play(9, opening=False)
    first, second = stones(play, 2)
    play.send(second).send(first).open()
    assert (play.stones(), play.all_found) == ({"A1": "X", "B1": "O"}, [])


# Records that cannot be read


def test_a_record_that_is_no_event_takes_a_seq_and_changes_nothing() -> None:
    play = Play(9).stone("B", "E5")
    digest = play.digest
    play.send_bytes(b"\xff\xff garbage")
    assert (play.status, play.verdict.seq, play.digest) == ("QUARANTINED", 3, digest)
    assert play.verdict.reason == "the record is no event"
    assert play.stone("W", "C3").found == []


def test_an_event_of_another_game_is_quarantined() -> None:
    play = Play(9)
    stray = Play(9, game_id="other").log[0].value
    assert play.send_bytes(stray).status == "QUARANTINED"
    assert "'other'" in play.verdict.reason


def test_an_event_without_id_or_type_is_quarantined() -> None:
    play = Play(9)
    nameless = play.make(stone("E5"), "B")
    nameless.event_id = ""
    assert (play.send(nameless).status, play.verdict.reason) == ("QUARANTINED", "the event has no event_id")
    assert play.send(Event(event_id="x", game_id="game")).status == "QUARANTINED"
    assert "type" in play.verdict.reason


def test_a_field_that_nobody_knows_yet_is_no_reason_to_refuse_an_event() -> None:
    play = Play(9)
    value = play.make(stone("E5"), "B").SerializeToString() + b"\xfa\x3f\x03new"
    assert (play.send_bytes(value).status, play.at("E5")) == ("FOLDED", "X")


def test_garbage_before_the_opening_does_not_hinder_it() -> None:
    play = Play(9, opening=False).send_bytes(b"\xff")
    assert (play.status, play.verdict.seq) == ("QUARANTINED", 1)
    assert play.open().verdict.seq == 2


def test_a_new_boot_is_judged_after_what_waited_in_the_earlier_one() -> None:
    play = Play(9).stone("B", "E5")
    play.make(stone("C3"), "W")  # lost
    play.stone("B", "G7")
    assert play.status == "PARKED"
    play.stone("W", "C4", boot="2", at=9_000)
    assert [outcome.verdict.event_id for outcome in play.outcomes[-2:]] == ["e4", "e5"]


def test_a_resume_that_counts_itself_among_the_numbers_before_finds_the_gap() -> None:
    play = Play(9).say(facts.SourceResumed(next_source_seq=7), seq=6)
    assert play.found == ["REG order SOURCE_GAP"]
    assert (play.finding.gap_from, play.finding.gap_to) == (1, 5)


def test_a_resume_without_a_number_of_its_own_releases_what_waits() -> None:
    play = Play(9).stone("B", "E5", seq=1).stone("W", "C3", seq=3)
    assert play.status == "PARKED"
    play.say(facts.SourceResumed(next_source_seq=3), seq=0)
    assert play.at("C3") == "O"
