"""The chain of heads and the digest of the state, computed by a second program (docs/chain.md)."""

from __future__ import annotations

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st
from support.boards import filled
from support.play import Play, fold

from caipan.rules.board import stone_keys
from caipan.v1.outcome_pb2 import Outcome, OutcomeRecord


def test_the_head_before_the_first_outcome_is_that_of_the_game_id() -> None:
    play = Play(9, game_id="hall-7/board-3 第一台")
    assert play.outcomes[0].prev_head == sha256(b"\x00" + "hall-7/board-3 第一台".encode()).digest()


def test_each_head_chains_the_event_and_the_verdict_as_stored() -> None:
    play = Play(9).moves("B E5, W C3, B E5, W pass").send_bytes(b"\xff").retract("e3")
    head = sha256(b"\x00game").digest()
    replayed = Play(9, opening=False)
    for offset, record in enumerate(play.log):
        (judged,) = fold(replayed.game, *record, play.log[:offset])
        stored = OutcomeRecord.FromString(judged.record)
        assert stored.prev_head == head
        head = sha256(b"\x01" + head + sha256(record.value).digest() + sha256(stored.verdict).digest()).digest()
        assert (stored.head, judged.head, stored.offset) == (head, head, offset)
        assert Outcome.FromString(judged.record).verdict.SerializeToString() == stored.verdict
    assert head == play.game.head


def test_outcomes_are_numbered_from_1_without_gaps() -> None:
    play = Play(9).moves("B E5, B E5").send_bytes(b"\xff").stone("W", "C3", source="other", seq=9)
    play.send_bytes(play.log[1].value)
    numbers = [outcome.verdict.seq for outcome in play.outcomes]
    assert [number for number in numbers if number] == list(range(1, 5))


def test_the_place_in_the_log_is_no_part_of_the_chain() -> None:
    play = Play(9).moves("B E5, W C3")
    elsewhere = Play(9, opening=False)
    elsewhere.game.partition = 7
    for offset, record in enumerate(play.log):
        fold(elsewhere.game, record.value, 1000 + 3 * offset, ())
    assert elsewhere.game.head == play.game.head


def digest_of(play: Play) -> bytes:
    """The digest of a game of moves and passes that never broke a rule, from its outcomes alone."""
    size, indices = play.game.table.size, play.game.table.indices
    keys = stone_keys(size)
    board: dict[str, int] = {}
    key, passes = 0, 0
    history = b"caipan history" + bytes((size,))
    for number, verdict in enumerate(play.verdicts):
        for colour, names in ((1, verdict.added_black), (2, verdict.added_white)):
            for name in names:
                board[name] = colour
                key ^= keys[colour][indices[name]]
        for name in verdict.removed:
            key ^= keys[board.pop(name)][indices[name]]
        passes = 0 if number == 0 or verdict.added_black or verdict.added_white else passes + 1
        history = sha256(history + key.to_bytes(16, "big") + bytes((verdict.turn,))).digest()
    standing = bytes((play.verdict.turn, play.verdict.phase, 0, passes))
    return sha256(b"\x02" + history + standing).digest()


def test_the_digest_of_an_open_game_is_what_the_format_says() -> None:
    play = Play(9)
    assert play.verdict.state_digest == digest_of(play)


@given(st.lists(st.sampled_from(["A1", "A2", "B1", "B2", "C1", "C2", "A3", "B3", "pass"]), max_size=14))
def test_the_digest_after_any_regular_moves_is_what_the_format_says(line: list[str]) -> None:
    play = Play(3)
    for move in line:
        if play.phase != "PLAY":
            break
        play.moves(f"{play.turn} {move}")
        if play.found:
            return
        assert play.verdict.state_digest == digest_of(play)


def test_whatever_is_in_force_is_in_the_digest() -> None:
    """Each of these differs from the game before it in one thing."""
    base = Play(9, observed=["CAPTURES"], players=["Li", "Wang"]).moves("B A2, W A1, B E5, W J9")
    digests = [base.digest]
    steps = [
        lambda play: play.stone("B", "G7", manner="DROPPED"),
        lambda play: play.stone("W", "C3"),
        lambda play: play.lifted("W", "C3"),
        lambda play: play.stone("B", "B1"),
        lambda play: play.captured("B", "A1"),
        lambda play: play.lot("Li", 1, 7),
        lambda play: play.propose_end("W"),
        lambda play: play.answer_end("B"),
        lambda play: play.dead("B", "J9"),
        lambda play: play.dead("W"),
        lambda play: play.answer_dead("W"),
    ]
    for step in steps:
        step(base)
        digests.append(base.digest)
    assert len(set(digests)) == len(digests)


def test_what_lies_on_the_table_against_the_board_in_force_is_in_the_digest() -> None:
    """Captured stones left lying, and stones in force that are off, against the same board in order."""
    taken = "B A2, W A1, B B1"
    in_order = Play(9, observed=["CAPTURES"]).moves(taken).captured("B", "A1").stone("W", "E5")
    left = Play(9, observed=["CAPTURES"]).moves(taken).stone("W", "E5")
    missing = Play(9, observed=["CAPTURES"]).moves(taken).captured("B", "A1", "A2").stone("W", "E5")
    assert in_order.stones() == left.stones() == missing.stones()
    assert len({in_order.digest, left.digest, missing.digest}) == 3


def test_a_press_that_finds_captures_left_changes_the_digest() -> None:
    play = Play(9, observed=["CAPTURES", "PRESSES"]).moves("B A2, W A1, B B1")
    before = play.digest
    assert play.press("B").found == ["CN2002 18.2 CAPTURES_LEFT", "CN2002 22.6 PRESS_BEFORE_REMOVAL"]
    assert play.verdict.state_digest == play.digest != before


def test_what_changes_nothing_in_force_leaves_the_digest() -> None:
    play = Play(9).moves("B E5, W C3")
    before = play.digest
    play.press("W").press("B").mark("CLOSE").stone("B", "E5").pass_("W").answer_end("B").send_bytes(b"\xff")
    assert play.digest == before


def test_the_order_of_moves_is_in_the_digest_though_the_board_is_the_same() -> None:
    assert Play(9).moves("B E5, W C3, B G7").digest != Play(9).moves("B G7, W C3, B E5").digest


def test_ids_times_and_reporters_are_not_in_the_digest() -> None:
    one = Play(9).stone("B", "E5", id="x", at=5).stone("W", "C3", id="y", at=99, source="z")
    assert one.digest == Play(9).moves("B E5, W C3").digest


def test_the_same_log_gives_the_same_bytes() -> None:
    play = filled(60)
    game, outcomes = play.again()
    assert (game.head, game.digest) == (play.game.head, play.digest)
    assert [outcome.SerializeToString() for outcome in outcomes] == [
        outcome.SerializeToString() for outcome in play.outcomes
    ]
