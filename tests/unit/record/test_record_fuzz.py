"""No bytes make the reader raise, and what it returns is always well formed."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from caipan.record import GameRecord, parse_komi, parse_result, read_record

SOUND = (
    "(;GM[1]FF[4]CA[UTF-8]SZ[19]PB[范西屏]PW[施襄夏]KM[375]HA[0]RE[黑胜]RU[Chinese]\n;AB[dp][pd:pe]AW[dd][pp]AE[pe]PL[W]\n"
    ";W[qf]C[a \\] b [c\\] d\\\\]\n;B[qk](;W[qm];B[](;W[tt])(;W[aa]C[x]))(;W[cc](;B[dd])(;B[ee])))\n"
).encode()
PIECES = [
    piece.encode("latin-1")
    for piece in (
        *"()[];:\\ \nb",
        *("B[aa]", "W[", "C[", "AB[aa:cc]", "SZ[9]", "HA[2]", "KM", "pd", "9" * 30),
        *("CA[GBK]", "CA[utf-16]", "\x00", "\xff\xfe", "\xef\xbb\xbf", "\x82\xa0", "\xb0]"),
    )
]


def check(record: GameRecord) -> None:
    assert 2 <= record.size <= 25
    points = [*record.setup_black, *record.setup_white, *(move.point for move in record.moves if move.point)]
    for point in points:
        assert re.fullmatch("[A-HJ-Z][0-9]{1,2}", point)
        assert "ABCDEFGHJKLMNOPQRSTUVWXYZ".index(point[0]) < record.size
        assert 1 <= int(point[1:]) <= record.size
    assert not set(record.setup_black) & set(record.setup_white)
    assert all(move.colour == "B" and move.point for move in record.moves[: record.handicap_moves])
    assert all(problem.isprintable() for problem in record.problems)
    parse_result(record.result_text, parse_komi(record.komi_text, record.rules_text))


@given(st.binary(max_size=300))
def test_arbitrary_bytes(data: bytes) -> None:
    check(read_record(data))


@settings(max_examples=500)
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_arbitrary_arrangements_of_sgf(pieces: list[bytes]) -> None:
    check(read_record(b"".join(pieces)))
    check(read_record(b"(;" + b"".join(pieces)))


@settings(max_examples=500)
@given(st.lists(st.tuples(st.integers(0, len(SOUND)), st.integers(0, 6), st.sampled_from(PIECES)), max_size=6))
def test_mutations_of_a_sound_record(mutations: list[tuple[int, int, bytes]]) -> None:
    data = SOUND
    for at, length, piece in mutations:
        data = data[:at] + piece + data[at + length :]
    check(read_record(data))


def test_every_truncation_of_a_sound_record_is_a_beginning_of_it() -> None:
    whole = read_record(SOUND)
    assert whole.problems == ()
    for length in range(len(SOUND)):
        record = read_record(SOUND[:length])
        check(record)
        assert record.problems or SOUND[length:].isspace()
        assert record.moves == whole.moves[: len(record.moves)]
