"""The history of positions: exact over the whole game, whatever the keys say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.events import found
from support.play import Play

from caipan.rules.board import Board
from caipan.rules.history import FILTER, History
from caipan.rules.points import indices

MARKS = {1: "X", 2: "O"}


@given(st.data())
def test_a_repetition_is_what_a_program_that_keeps_all_boards_finds(data: st.DataObject) -> None:
    """Small boards repeat soon; illegal stones stand provisionally and count as moves once the opponent moves on."""
    size = data.draw(st.sampled_from([2, 3, 4]))
    mode = data.draw(st.sampled_from(["POSITIONAL", "SITUATIONAL"]))
    play, naive = Play(size, superko_mode=mode), Naive(size, mode)
    for _ in range(data.draw(st.integers(0, 40))):
        player = "BW"[naive.turn == 2]
        empty = [oracle.name((c, r)) for r in range(size) for c in range(size) if (c, r) not in naive.stones]
        move = data.draw(st.sampled_from([*empty, "pass"]))
        if move == "pass" and (naive.passed or naive.irregular):
            continue
        expected = naive.move(move)
        play.moves(f"{player} {move}")
        said = [(finding.of_move, finding.same_side_to_move, finding.cycle) for finding in repeats(play)]
        assert said == expected
        assert play.board() == oracle.rows(naive.stones, size)


def repeats(play: Play) -> list:
    return [finding for finding in play.verdict.findings if finding.clause == "CN2002 6"]


class Naive:
    """All boards with the side to move, oldest first; an irregular stone waits and is then a move like any other."""

    def __init__(self, size: int, mode: str) -> None:
        self.size, self.mode = size, mode
        self.stones: oracle.Stones = {}
        self.seen: list[tuple[oracle.Stones, int]] = [({}, 1)]
        self.turn, self.passed, self.irregular = 1, False, False

    def move(self, move: str) -> list[tuple[int, bool, int]]:
        player, after = self.turn, 3 - self.turn
        self.turn, self.passed, self.irregular = after, move == "pass", False
        if move == "pass":
            self.seen.append((self.stones, after))
            return []
        at = oracle.point(move)
        self.stones, taken = oracle.play(self.stones, at, MARKS[player], self.size)
        same = [number for number, (board, _) in enumerate(self.seen) if board == self.stones]
        stands = [number for number in same if self.counts(self.seen[number][1])]
        number = len(self.seen)
        first = [(stands[0], self.seen[stands[0]][1] == after, number - stands[-1])] if stands else []
        self.irregular = bool(stands) or not (taken or oracle.unit(self.stones, at, self.size)[1])
        self.seen.append((self.stones, after))
        return first

    def counts(self, turn: int) -> bool:
        return self.mode == "POSITIONAL" or turn == self.turn


def test_the_side_to_move_after_an_irregular_stone_is_its_players_until_the_opponent_moves_on() -> None:
    play = Play(9).moves("B E5, W A2, B J9, W B1, B A1")
    assert (found(play.verdict), play.turn) == (["CN2002 19 FORBIDDEN_POINT"], "B")


def make(size: int, *moves: tuple[str, int]) -> tuple[History, Board]:
    """A history of stones and passes, and the board after it."""
    board = Board(size)
    history = History(size, board.cells(), 1)
    for name, colour in moves:
        index = indices(size)[name]
        captured = board.play(index, colour)
        history.push(board.key, index, colour, captured, 3 - colour)
    return history, board


def test_a_key_that_collides_is_no_repetition() -> None:
    """The keys only filter: the arrangements themselves are compared."""
    history, board = make(5, ("A1", 1), ("E5", 2))
    other = Board.from_cells(5, b"\x02" + bytes(24))
    other.key = board.key
    assert other.key & FILTER in history.keys
    assert history.stands(other) == []


def test_a_position_is_told_by_its_first_number_and_the_side_to_move() -> None:
    history, board = make(5, ("A1", 1), ("E5", 2))
    assert [(stand.number, stand.turn) for stand in history.stands(board)] == [(2, 1)]
    assert [(stand.number, stand.turn) for stand in history.stands(Board(5))] == [(0, 1)]


def test_the_arrangement_after_any_move_can_be_had_again() -> None:
    history, board = make(3, ("A1", 2), ("A2", 1), ("C3", 2), ("B1", 1))
    assert history.captured() == [0, 0, 1]
    assert history.cells(0) == bytes(9)
    assert history.cells(2).count(0) == 7
    assert history.cells(4) == board.cells()


def test_without_its_last_move_a_history_is_the_one_before_it() -> None:
    moves = [("A1", 2), ("A2", 1), ("C3", 2), ("B1", 1)]
    shorter, (expected, board) = make(3, *moves)[0].until(3), make(3, *moves[:-1])
    assert (shorter.length, shorter.keys, shorter.digest) == (expected.length, expected.keys, expected.digest)
    assert shorter.captured() == [0, 0, 0]
    assert shorter.cells(3) == board.cells()


def test_the_digest_of_a_history_tells_the_order_of_its_positions() -> None:
    one, one_board = make(5, ("A1", 1), ("E5", 2), ("C3", 1))
    other, other_board = make(5, ("C3", 1), ("E5", 2), ("A1", 1))
    assert one_board.key == other_board.key
    assert one.digest != other.digest
