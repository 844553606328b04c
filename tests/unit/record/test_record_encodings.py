"""Names come out right in every common encoding, and a second byte that looks like a bracket is none."""

from __future__ import annotations

import pytest

from caipan.record import Move, read_record

MOVES = (Move("B", "Q16"), Move("W", "D4"))


def game(black: str, declared: str = "") -> str:
    return f"(;{f'CA[{declared}]' if declared else ''}SZ[19]PB[{black}]PW[{black}];B[pd];W[dp])"


@pytest.mark.parametrize(
    ("name", "declared", "codec"),
    [
        ("范西屏", "UTF-8", "utf-8"),
        ("范西屏", "gb2312", "gb18030"),
        ("范西屏", "GBK", "gb18030"),
        ("乚哰乗俔", "GB18030", "gb18030"),  # second bytes ] [ \ ]
        ("表予十構", "Shift_JIS", "shift_jis"),  # all end in a backslash
        ("ーソ能転", "SJIS", "shift_jis"),
        ("本因坊秀策", "EUC-JP", "euc_jp"),
        ("本因坊秀策", "ISO-2022-JP", "iso2022_jp"),
        ("許功蓋包因財", "Big5", "big5"),
        ("이창호", "EUC-KR", "euc_kr"),
        ("이창호", "ks_c_5601-1987", "euc_kr"),
        ("Müller é", "ISO-8859-1", "latin-1"),
        ("Łukasz", "windows-1250", "cp1250"),
        ("Лазарев", "windows-1251", "cp1251"),
    ],
)
def test_the_declared_encoding_is_used(name: str, declared: str, codec: str) -> None:
    record = read_record(game(name, declared).encode(codec))
    assert (record.black_name, record.white_name, record.moves) == (name, name, MOVES)
    assert record.problems == ()


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
def test_utf8_and_byte_order_marks_need_no_declaration(codec: str) -> None:
    record = read_record(game("施襄夏").encode(codec))
    assert (record.black_name, record.moves, record.problems) == ("施襄夏", MOVES, ())


@pytest.mark.parametrize(("name", "codec"), [("范西", "gb18030"), ("范乚西哰屏", "gb18030"), ("René Rã", "latin-1")])
def test_an_undeclared_encoding_is_guessed_and_said(name: str, codec: str) -> None:
    record = read_record(game(name).encode(codec))
    assert (record.black_name, record.moves) == (name, MOVES)
    assert any("not UTF-8" in problem and codec.upper() in problem for problem in record.problems)


def test_plain_utf8_overrules_another_declaration() -> None:
    record = read_record(game("范西屏", "GB2312").encode())
    assert (record.black_name, record.moves) == ("范西屏", MOVES)
    assert any("CA[GB2312]" in problem for problem in record.problems)


def test_an_unknown_declaration_is_said() -> None:
    record = read_record(game("范西屏", "rot13").encode())
    assert (record.black_name, record.moves) == ("范西屏", MOVES)
    assert any("CA[rot13]" in problem for problem in record.problems)


def test_undecodable_bytes_are_replaced_and_counted() -> None:
    data = game("范西屏", "UTF-8").encode().replace("西".encode(), "西".encode()[:2], 1)
    record = read_record(data)
    assert (record.black_name, record.white_name, record.moves) == ("范\ufffd屏", "范西屏", MOVES)
    assert any(problem.startswith("1 character(s)") for problem in record.problems)


def test_utf8_cut_inside_a_character_is_still_utf8() -> None:
    record = read_record(game("范西屏").encode() + "(;C[当湖".encode()[:-1])
    assert (record.black_name, record.moves) == ("范西屏", MOVES)
