"""The state of a game, drawn from its verdicts alone, is the one the fold has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.boards import play_on_wall
from support.play import Play, arbiter

from caipan.query.state import CannotDraw, advance
from caipan.v1 import facts_pb2 as facts
from caipan.v1.event_pb2 import EVENT_TYPE_STONE_PLACED
from caipan.v1.outcome_pb2 import Verdict
from caipan.v1.state_pb2 import GameState

POINTS = [f"{column}{row}" for column in "ABCD" for row in range(1, 5)]
OTHERS = ["lifted", "captured", "pass", "end", "answer", "dead", "retract", "replace"]


def state_of(play: Play) -> GameState:
    state = GameState(game_id=play.game_id)
    for verdict in play.verdicts:
        advance(state, verdict)
    return state


def same(state: GameState, play: Play) -> None:
    """The state is that of the fold."""
    table = play.game.table
    last = play.verdicts[-1]
    assert list(state.board) == play.board()
    assert (state.captured_black, state.captured_white) == tuple(table.captured[1:])
    assert (state.move_number, state.turn, state.phase) == (table.history.length, table.turn, table.phase)
    assert list(state.provisional) == play.provisional
    assert state.HasField("result") == (table.result is not None)
    assert not table.result or state.result == table.result
    assert state.HasField("colours") == (table.colours is not None)
    assert not table.colours or state.colours == table.colours
    assert (state.seq, state.state_digest) == (last.seq, last.state_digest)


@st.composite
def acts(draw: st.DrawFn) -> tuple[str, str, str]:
    what = draw(st.sampled_from(["stone"] * 12 + OTHERS))
    return what, draw(st.sampled_from("BW")), draw(st.sampled_from(POINTS))


def play_act(play: Play, what: str, player: str, point: str) -> None:
    stones = [verdict.event_id for verdict in play.verdicts if verdict.event_type == EVENT_TYPE_STONE_PLACED]
    earlier = stones[POINTS.index(point) * len(stones) // len(POINTS)] if stones else "none"
    match what:
        case "pass":
            play.pass_(player)
        case "end":
            play.propose_end(player)
        case "answer":
            play.answer_end(player, point < "B")
        case "dead":
            play.dead(player, point)
        case "retract":
            play.retract(earlier)
        case "replace":
            play.replace(earlier, facts.StonePlaced(point=point), player)
        case _:
            getattr(play, what)(player, point)


@given(st.sampled_from([2, 4, 5]), st.lists(acts(), max_size=50))
def test_after_every_event_the_drawn_state_is_that_of_the_fold(size: int, line: list[tuple[str, str, str]]) -> None:
    play, state, seen = Play(size), GameState(game_id="game"), 0
    for act in [None, *line]:
        if act:
            play_act(play, *act)
        for verdict in play.verdicts[seen:]:
            advance(state, verdict)
        seen = len(play.verdicts)
        same(state, play)


def test_a_set_up_and_a_small_board_are_drawn_from_the_top() -> None:
    state = state_of(Play(3, black=["A1"], white=["C3"]))
    assert list(state.board) == ["..O", "...", "X.."]


def test_a_size_of_zero_is_a_board_of_nineteen() -> None:
    state = state_of(Play())
    assert [len(row) for row in state.board] == [19] * 19
    assert state.opened.pins.regulations.edition == "CN2002"


def test_a_game_played_to_its_count_has_its_result() -> None:
    play = play_on_wall(12, "DEAD").end("C3")
    state = state_of(play)
    same(state, play)
    assert state.result.black_qz == play.result.black_qz > 0


def test_captured_stones_leave_the_board() -> None:
    state = state_of(Play(5).moves("B A2, W A1, B B1"))
    assert list(state.board)[-2:] == ["X....", ".X..."]
    assert (state.captured_black, state.captured_white) == (0, 1)


def test_the_last_point_is_that_of_the_last_stone_and_none_after_an_empty_move() -> None:
    play = Play(5).moves("B A1, W B2")
    assert state_of(play).last_point == "B2"
    assert state_of(play.press("W")).last_point == "B2"
    assert state_of(play.pass_("B")).last_point == ""
    assert state_of(play.stone("W", "C3")).last_point == "C3"
    assert state_of(play.propose_end("B")).last_point == ""


def test_an_act_without_effect_leaves_the_last_point() -> None:
    play = Play(5).moves("B A1")
    assert state_of(play.pass_("B")).last_point == "A1"  # not on turn
    assert state_of(play.stone("W", "A1")).last_point == "A1"  # occupied
    assert state_of(play.stone("W", "Q16")).last_point == "A1"  # off this board


def test_the_last_point_after_a_takeback_is_where_the_stone_went() -> None:
    play = Play(5).moves("B A2, W A1, B B1").lifted("B", "B1").stone("B", "D4")
    state = state_of(play)
    same(state, play)
    assert state.last_point == "D4"
    assert list(state.provisional) == ["D4"]


def test_after_a_correction_the_board_is_the_corrected_one_and_the_last_point_is_not_known() -> None:
    play = Play(5).moves("B A1, W B2, B C3")
    play.replace("e3", facts.StonePlaced(point="B3"), "W")
    state = state_of(play)
    same(state, play)
    assert "B3" in play.stones()
    assert "B2" not in play.stones()
    assert state.last_point == ""


def test_a_point_that_changes_its_colour_by_a_correction_has_the_new_one() -> None:
    play = Play(5).moves("B A1")
    play.replace("e2", facts.StonePlaced(point="A1", color="COLOR_WHITE"), "B")
    state = state_of(play)
    same(state, play)
    assert state.board[-1] == "O...."


def test_colours_come_from_the_opening_the_lot_and_its_correction() -> None:
    play = Play(5, players=["li", "xu"], officials=[("arbiter", "ARBITER")])
    assert not state_of(play).HasField("colours")
    play.lot("li", 1, 7)
    lot = play.last_id
    same(state_of(play), play)
    assert state_of(play).colours.black == "xu"
    play.stone("B", "A1")
    assert state_of(play).colours.black == "xu"
    play.retract(lot, by=arbiter())
    assert not state_of(play).HasField("colours")
    correction = play.last_id
    play.retract(correction, by=arbiter())
    same(state_of(play), play)
    assert state_of(play).colours.black == "xu"


def test_an_unreadable_record_changes_nothing_but_the_seq() -> None:
    play = Play(5).moves("B A1, W B2")
    before = state_of(play)
    play.send_bytes(b"\xff")
    after = state_of(play)
    same(after, play)
    assert after.seq == before.seq + 1
    after.seq = before.seq
    assert after == before


@pytest.mark.parametrize("size", [0, 5])
def test_a_stone_off_the_board_cannot_be_drawn(size: int) -> None:
    state = state_of(Play(size)) if size else GameState(game_id="game")
    with pytest.raises(CannotDraw, match="Q16"):
        advance(state, Verdict(game_id="game", seq=2, added_black=["Q16"]))
