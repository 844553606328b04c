"""docs/chain.md, taken at its word: a checker that shares no code with the fold."""

from __future__ import annotations

import hashlib
import struct

from support.events import START_MS
from support.play import Play, fold, refereed

from caipan.rules.game import Game
from caipan.v1.checkpoint_pb2 import ReadingMemory, TimeMemory
from caipan.v1.outcome_pb2 import Clocks, Outcome, OutcomeRecord

COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def u8(number: int) -> bytes:
    return number.to_bytes(1, "big")


def part(tag: bytes, content: bytes) -> bytes:
    return tag + len(content).to_bytes(4, "big") + content


def index_of(point: str, size: int) -> int:
    return (int(point[1:]) - 1) * size + COLUMNS.index(point[0])


def position(stones: dict[str, int], size: int) -> bytes:
    key = 0
    for point, colour in stones.items():
        index = index_of(point, size).to_bytes(2, "big")
        key ^= int.from_bytes(sha(b"caipan stone", u8(size), u8(colour), index)[:16], "big")
    return key.to_bytes(16, "big")


def records(play: Play) -> list[bytes]:
    game = Game(play.game_id)
    return [judged.record for value, offset in play.log for judged in fold(game, value, offset, ())]


def played() -> Play:
    play = Play(size=9)
    for player, point in (("B", "D5"), ("W", "E5"), ("B", "D3"), ("W", "E3"), ("B", "C4"), ("W", "F4"), ("B", "G7")):
        play.stone(player, point)
    return play.stone("W", "D4").stone("B", "E4").pass_("W").pass_("B")


def test_the_heads_of_a_game_are_those_of_the_document() -> None:
    play = played()
    head = sha(b"\x00", play.game_id.encode())
    for (value, _), stored in zip(play.log, records(play), strict=True):
        record = OutcomeRecord.FromString(stored)
        assert record.prev_head == head
        head = sha(b"\x01", head, sha(value), sha(record.verdict))
        assert record.head == head


def test_the_state_digests_of_a_game_are_those_of_the_document() -> None:
    play = played()
    size, stones, moves = 9, {}, 0
    history = sha(b"caipan history", u8(size), position(stones, size), u8(1))
    passes = 0
    for stored in records(play):
        verdict = Outcome.FromString(stored).verdict
        for point in verdict.removed:
            del stones[point]
        stones |= dict.fromkeys(verdict.added_black, 1) | dict.fromkeys(verdict.added_white, 2)
        if verdict.move_number > moves:
            moves += 1
            placed = len(verdict.added_black) + len(verdict.added_white)
            passes = 0 if placed else passes + 1
            history = sha(history, position(stones, size), u8(verdict.turn))
        standing = u8(verdict.turn) + u8(verdict.phase) + u8(0) + u8(passes)
        assert verdict.state_digest == sha(b"\x02", history, standing)


def test_a_forbidden_stone_is_a_question_of_the_document() -> None:
    play = Play(size=9).stone("B", "G7").stone("W", "A2").stone("B", "G3").stone("W", "B1").stone("B", "A1")
    stones: dict[str, int] = {}
    history = sha(b"caipan history", u8(9), position(stones, 9), u8(1))
    for point, colour, turn in (("G7", 1, 2), ("A2", 2, 1), ("G3", 1, 2), ("B1", 2, 1)):
        stones[point] = colour
        history = sha(history, position(stones, 9), u8(turn))
    provisional = part(b"P", (0).to_bytes(2, "big") + u8(1) + u8(1))
    standing = u8(1) + u8(1) + u8(0) + u8(0)
    about = struct.pack(">BIIqqHH", 1, 5, 4, 0, 0, 1, 0)
    case = part(b"Q", about + part(b"k", b"CN2002 19"))
    assert play.verdict.state_digest == sha(b"\x02", history, standing, provisional, case)


def test_the_clocks_of_a_timed_game_are_a_part_of_the_document() -> None:
    play = Play(size=9, untimed=False, regime=4, basic_time_s=60).stone("B", "G7", at=0).stone("W", "C3", at=7000)
    history = sha(b"caipan history", u8(9), position({}, 9), u8(1))
    history = sha(history, position({"G7": 1}, 9), u8(2))
    history = sha(history, position({"G7": 1, "C3": 2}, 9), u8(1))
    standing = u8(1) + u8(1) + u8(0) + u8(0)
    session = ReadingMemory(watch_ms=START_MS)
    told = Clocks(white_used_ms=7000, running=1, since_ms=START_MS + 7000).SerializeToString()
    clock = u8(0) + u8(1 + 4) + len(told).to_bytes(4, "big") + told + TimeMemory(session=session).SerializeToString()
    assert play.verdict.state_digest == sha(b"\x02", history, standing, part(b"K", clock))


def test_a_warning_is_a_question_of_the_document() -> None:
    play = refereed(size=9).stone("B", "G7").stone("B", "A2").rule("VOID_AND_WARN")
    history = sha(b"caipan history", u8(9), position({}, 9), u8(1))
    history = sha(history, position({"G7": 1}, 9), u8(2))
    standing = u8(2) + u8(1) + u8(0) + u8(0)
    persons = part(b"F", (2).to_bytes(4, "big") + b"arbiter") + part(b"F", (3).to_bytes(4, "big") + b"chief")
    warning = part(b"W", struct.pack(">BBI", 1, 1, 1) + b"CN2002 17.2")
    closed = part(b"q", struct.pack(">BI??", 1, 2, False, False) + b"CN2002 17.2 VOID_AND_WARN")
    assert play.verdict.state_digest == sha(b"\x02", history, standing, persons, closed, warning)
