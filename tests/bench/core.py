"""Board, fold, memory, checkpoint, replay: against sgfmill's board, which knows no repetition."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import NamedTuple

from sgfmill import boards

from bench.games import Record, events_of, records
from bench.report import Figure
from caipan.rules.board import Board
from caipan.rules.checkpoint import load, save
from caipan.rules.game import Game, read_event
from caipan.rules.points import BLACK, WHITE

ROUNDS = 9

Logs = list[tuple[str, list[bytes]]]  # games and their events


class Best(NamedTuple):
    """The shortest of several runs, seconds."""

    mill: float
    board: float
    fold: float
    many: float
    clocked: float


def figures() -> list[Figure]:
    """All figures of the core."""
    games = records()
    logs = [(record.name, events_of(record)) for record in games]
    moves = sum(len(record.coordinates) for record in games)
    events = sum(len(log) for _, log in logs)
    many = [(f"{name}-{copy}", events_of(record, f"{name}-{copy}")) for record, name, copy in _copies(games, 500)]
    many_events = sum(len(log) for _, log in many)
    clocked = [(record.name, events_of(record, in_byoyomi=True)) for record in games]
    clocked_events = sum(len(log) for _, log in clocked)
    best = _best(games, logs, many, clocked)
    mill = moves / best.mill

    def against_mill(name: str, count: int, seconds: float, goal: float) -> Figure:
        speed = count / seconds
        return Figure(f"{name}/s", f"{speed:,.0f}", f"sgfmill {mill:,.0f}/s", speed / mill, goal, False)

    return [
        against_mill("board with repetition, moves", moves, best.board, 6),
        against_mill("fold, stone and press, events", events, best.fold, 0.8),
        against_mill("fold, 500 games in turn, events", many_events, best.many, 0.65),
        against_mill("fold, in byoyomi, after a ruling, events", clocked_events, best.clocked, 0.8),
        *_one_game(next(log for log in logs if len(log[1]) > 600)),
    ]


def _best(games: list[Record], logs: Logs, many: Logs, clocked: Logs) -> Best:
    """Runs yardstick and ours in turn, so that both see the same machine."""
    mill, board, fold, timed = [], [], [], []
    for _ in range(ROUNDS):
        mill.append(_time(lambda: _mill(games)))
        board.append(_time(lambda: _board(games)))
        fold.append(_time(lambda: _fold(logs)))
        timed.append(_time(lambda: _fold(clocked)))
    in_turn = min(_time(lambda: _fold_in_turn(many)) for _ in range(2))
    return Best(min(mill), min(board), min(fold), in_turn, min(timed))


def _time(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _copies(games: list[Record], count: int) -> Iterator[tuple[Record, str, int]]:
    for copy in range(count):
        record = games[copy % len(games)]
        yield record, record.name, copy


def _mill(games: list[Record]) -> None:
    for record in games:
        board = boards.Board(record.size)
        for row, column, colour in record.coordinates:
            board.play(row, column, colour)


def _board(games: list[Record]) -> None:
    for record in games:
        board, seen = Board(record.size), {0}
        size = record.size
        for row, column, colour in record.coordinates:
            board.play(row * size + column, BLACK if colour == "b" else WHITE)
            if board.key in seen:
                continue
            seen.add(board.key)


def _fold(logs: Logs) -> None:
    for name, log in logs:
        game = Game(name)
        for offset, value in enumerate(log):
            event = read_event(value, name)
            assert not isinstance(event, str)
            game.apply(event, value, offset)


def _fold_in_turn(logs: Logs) -> None:
    """One event of each game, then the next of each: nothing stays warm."""
    games = [Game(name) for name, _ in logs]
    for offset in range(max(len(log) for _, log in logs)):
        for game, (name, log) in zip(games, logs, strict=True):
            if offset < len(log):
                event = read_event(log[offset], name)
                assert not isinstance(event, str)
                game.apply(event, log[offset], offset)


def _one_game(log: tuple[str, list[bytes]]) -> list[Figure]:
    """A live game of 300 moves: memory, checkpoint, restoring, replay to any point."""
    name, events = log[0], log[1][:601]
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    games = []
    for _ in range(10):
        game = Game(name)
        for offset, value in enumerate(events):
            event = read_event(value, name)
            assert not isinstance(event, str)
            game.apply(event, value, offset)
        games.append(game)
    memory = (tracemalloc.get_traced_memory()[0] - before) / len(games)
    tracemalloc.stop()
    saved = save(games[0])
    restored = min(_time(lambda: load(saved)) for _ in range(50))
    replayed = min(_time(lambda: _fold([(name, events)])) for _ in range(10))
    return [
        Figure("live game of 300 moves, memory", f"{memory / 1000:.1f} KB", "-", memory / 1000, 60, True),
        Figure("its checkpoint", f"{len(saved) / 1000:.1f} KB", "-", len(saved) / 1000, 8, True),
        Figure("its checkpoint restored", f"{restored * 1000:.2f} ms", "-", restored * 1000, 0.5, True),
        Figure("replay of it to any point", f"{replayed * 1000:.1f} ms", "-", replayed * 1000, 20, True),
    ]
