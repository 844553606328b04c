"""Damaged, old and odd records are read as far as they go, and what was lost is said."""

from __future__ import annotations

import pytest

from caipan.record import GameRecord, Move, read_record


def read(text: str) -> GameRecord:
    return read_record(text.encode())


def points(record: GameRecord) -> list[str]:
    return [f"{move.colour} {move.point or 'pass'}" for move in record.moves]


def said(record: GameRecord, *words: str) -> bool:
    return any(all(word in problem for word in words) for problem in record.problems)


def test_a_sound_record_is_read_without_a_word() -> None:
    record = read(
        "(;GM[1]FF[4]SZ[19]PB[Li]PW[Wang \\] \\\\]KM[7.5]RE[B+R]RU[Chinese]DT[2024-01-02]PL[B]C[a; (b) [c\\]]\n"
        ";B[pd];W[dp](;B[tt];W[])(;B[qq]))"
    )
    assert record == GameRecord(
        size=19,
        setup_black=(),
        setup_white=(),
        to_play="B",
        moves=(Move("B", "Q16"), Move("W", "D4"), Move("B", None), Move("W", None)),
        handicap=None,
        handicap_moves=0,
        black_name="Li",
        white_name="Wang ] \\",
        komi_text="7.5",
        result_text="B+R",
        rules_text="Chinese",
        date_text="2024-01-02",
        problems=(),
    )


def test_corners_have_their_gtp_names_on_every_size() -> None:
    for size, letter, column in ((2, "b", "B"), (9, "i", "J"), (19, "s", "T"), (25, "y", "Z")):
        record = read(f"(;SZ[{size}];B[aa];W[{letter}{letter}])")
        assert points(record) == [f"B A{size}", f"W {column}1"]
        assert record.problems == ()


def test_tt_is_a_pass_up_to_19_lines_and_a_point_beyond() -> None:
    assert points(read("(;SZ[13];B[tt])")) == ["B pass"]
    assert points(read("(;SZ[21];B[tt])")) == ["B U2"]


@pytest.mark.parametrize("cut", [";W[bb]", "(;W[bb]", ";W[bb];", ";W[bb];W[", ";W[bb];W[c", ";W[bb]C[so ("])
def test_a_record_cut_short_keeps_its_moves_and_says_so(cut: str) -> None:
    record = read("(;B[aa]" + cut)
    assert points(record) == ["B A19", "W B18"]
    assert said(record, "breaks off", "brackets are missing")


def test_brackets_missing_behind_the_main_line_lose_nothing_of_it() -> None:
    record = read("(;B[aa](;W[bb];B[cc])(;W[dd](;B[ee]")
    assert points(record) == ["B A19", "W B18", "B C17"]
    assert said(record, "3 closing bracket", "only variations")


def test_junk_before_the_game_is_skipped_and_said() -> None:
    record = read("From: a friend (see below)\n\n(;SZ[9];B[ee])")
    assert points(record) == ["B E5"]
    assert said(record, "28 character(s) before the game")


@pytest.mark.parametrize("text", [";SZ[9];B[ee])", "(SZ[9];B[ee])", "M[1]SZ[9];B[ee])", "SZ[9];B[ee])"])
def test_a_missing_head_loses_no_move(text: str) -> None:
    record = read(text)
    assert (record.size, points(record)) == (9, ["B E5"])
    assert said(record, "opening bracket")


@pytest.mark.parametrize("data", [b"", b"\x00", b"hello", b"()", b"\xff\xd8\xff\xe0", b"{'a': 1}"])
def test_what_is_no_game_is_an_empty_record_with_a_reason(data: bytes) -> None:
    record = read_record(data)
    assert record.moves == ()
    assert said(record, "no SGF game")


def test_only_the_first_of_many_games_is_read() -> None:
    record = read("(;B[aa])\n(;B[bb])(;B[cc](;W[dd])(;W[ee]))")
    assert points(record) == ["B A19"]
    assert said(record, "3 games")


def test_what_follows_the_closing_bracket_is_not_read_but_said() -> None:
    record = read("(;B[aa]);W[bb])")
    assert points(record) == ["B A19"]
    assert said(record, "Line 1, column 9", "not read")


def test_a_bad_point_loses_one_move_and_names_it() -> None:
    record = read("(;SZ[9];B[aa];W[zz];B[bb];W[a];B[k9];W[j9])")
    assert points(record) == ["B A9", "B B8", "W J9"]
    assert said(record, "W[zz]", "move 2", "9x9")
    assert said(record, "W[a]")
    assert said(record, "B[k9]")


def test_a_move_without_its_closing_bracket_is_kept() -> None:
    record = read("(;B[aa;W[bb];B[ccBL[30];W[dd];B[ee)")
    assert points(record) == ["B A19", "W B18", "B C17", "W D16", "B E15"]
    assert said(record, "Line 1, column 5", "B[aa]")


def test_a_comment_without_its_closing_bracket_swallows_no_move() -> None:
    record = read("(;PB[Li PW[Wang]KM[7.5];C[good;B[aa];W[bb])")
    assert (record.black_name, record.white_name, record.komi_text) == ("Li", "Wang", "7.5")
    assert points(record) == ["B A19", "W B18"]
    assert said(record, "closing bracket of PB")
    assert said(record, "closing bracket of C")
    assert points(read("(;B[aa](;W[bb]C[good)\n(;W[cc];B[dd]))")) == ["B A19", "W B18"]


def test_unescaped_brackets_stay_in_the_text() -> None:
    record = read("(;PB[Team [A] (2) of [B]]PW[w];B[aa]C[see [1] and [2] [3], then (x)];W[bb])")
    assert record.black_name == "Team [A] (2) of [B]"
    assert points(record) == ["B A19", "W B18"]
    assert said(record, "unescaped bracket", "text of PB")
    assert said(record, "unescaped bracket", "text of C")


def test_a_move_quoted_in_a_comment_is_no_move() -> None:
    record = read("(;B[aa]C[not ;W[cc\\] but this];W[bb])")
    assert points(record) == ["B A19", "W B18"]
    assert record.problems == ()


def test_a_damaged_property_is_skipped_with_its_place() -> None:
    record = read("(;SZ[9];B[aa]\n;W bb];B[cc];[dd];W[ee])")
    assert points(record) == ["B A9", "B C7", "W E5"]
    assert said(record, "Line 2, column 2", "W bb]")
    assert said(record, "value without a property")


def test_a_lost_semicolon_loses_no_move() -> None:
    record = read("(;B[aa]W[bb]B[cc];W[dd])")
    assert points(record) == ["B A19", "W B18", "B C17", "W D16"]
    assert said(record, "second move in one node")


def test_an_empty_first_variation_does_not_end_the_main_line() -> None:
    record = read("(;B[aa]()(;W[bb]))")
    assert points(record) == ["B A19", "W B18"]
    assert said(record, "empty variation")


def test_long_property_names_of_old_files_are_read() -> None:
    record = read("(;GaMe[1]VieW[]SiZe[9]PlayerBlack[Li]PlayerWhite[Wang]AddBlack[cc][gg];White[ee];Black[cg])")
    assert (record.size, record.black_name, record.white_name) == (9, "Li", "Wang")
    assert record.setup_black == ("C7", "G3")
    assert points(record) == ["W E5", "B C3"]
    assert record.problems == ()


def test_old_spellings_of_a_move_are_read() -> None:
    record = read("(; b[aa] ; W [ b b ] ;B[CC];W[Q16];B[pass];W[j1])")
    assert points(record) == ["B A19", "W B18", "B C17", "W Q16", "B pass", "W J1"]
    assert said(record, "small letters")


def test_a_move_with_two_points_counts_once() -> None:
    record = read("(;B[aa][bb];W[cc])")
    assert points(record) == ["B A19", "W C17"]
    assert said(record, "Move 1 (B)", "2 points")


def test_setup_of_leading_nodes_is_applied_in_order() -> None:
    record = read("(;SZ[9]AB[aa:cc]AW[dd];AE[bb][ca]AW[aa]PL[2];W[ee])")
    assert sorted(record.setup_black) == ["A7", "A8", "B7", "B9", "C7", "C8"]
    assert record.setup_white == ("D6", "A9")
    assert record.to_play == "W"
    assert record.problems == ()


def test_setup_off_the_board_is_said() -> None:
    record = read("(;SZ[9]AB[aa][zz][aa:zz][x]AW[])")
    assert record.setup_black == ("A9",)
    assert said(record, "AB[zz]")
    assert said(record, "AB[aa:zz]")


def test_setup_after_a_move_is_left_out_and_said() -> None:
    record = read("(;B[aa];AW[bb]AE[aa]PL[B];W[cc])")
    assert (record.setup_black, record.setup_white, record.to_play) == ((), (), None)
    assert points(record) == ["B A19", "W C17"]
    assert said(record, "after move 1", "AW, AE")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(;HA[3];B[dd];B[pp];B[pd];W[aa])", 3),
        ("(;HA[2];B[dd];B[pp];B[pd];W[aa])", 2),
        ("(;HA[2]AB[dd][pp];W[aa])", 0),
        ("(;HA[1];B[dd];W[aa])", 0),
        ("(;HA[0];B[dd];W[aa])", 0),
        ("(;B[dd];B[pp];W[aa])", 0),
    ],
)
def test_leading_black_moves_are_handicap_stones_only_as_HA_says(text: str, expected: int) -> None:  # noqa: N802
    record = read(text)
    assert record.handicap_moves == expected
    assert record.problems == ()


@pytest.mark.parametrize("moves", [";B[dd];W[aa];B[pp]", ";B[dd]", ";B[dd];B[];W[aa]", ""])
def test_a_handicap_without_its_stones_is_said(moves: str) -> None:
    record = read(f"(;HA[2]{moves})")
    assert (record.handicap, record.handicap_moves) == (2, 0)
    assert said(record, "HA[2]")


@pytest.mark.parametrize(
    ("written", "size", "problem"),
    [
        ("9", 9, ""),
        ("19:19", 19, ""),
        ("１３", 13, ""),
        ("", 19, ""),
        ("9:13", 13, "not square"),
        ("1", 19, "SZ[1]"),
        ("26", 19, "SZ[26]"),
        ("big", 19, "SZ[big]"),
        ("99999999999999999999", 19, "SZ["),
    ],
)
def test_sizes(written: str, size: int, problem: str) -> None:
    record = read(f"(;SZ[{written}])")
    assert record.size == size
    assert said(record, problem) if problem else record.problems == ()


def test_unreadable_header_values_are_said() -> None:
    record = read("(;GM[2]HA[many]PL[?];B[aa])")
    assert (record.handicap, record.to_play) == (None, None)
    assert said(record, "GM[2]")
    assert said(record, "HA[many]")
    assert said(record, "PL[?]")


def test_texts_are_one_printable_line() -> None:
    assert read("(;PB[ a\r\nb\\\nc\x1b[31m\td ])").black_name == "a bc [31m d"


def test_ten_thousand_nested_variations_are_read() -> None:
    nested = read("(;B[aa]" + "(;W[bb](;B[cc]" * 5_000 + ")" * 10_000 + ")")
    assert len(nested.moves) == 10_001
    assert nested.problems == ()
    beside = read("(;B[aa](;W[bb])" + "(;W[cc]" * 10_000 + ")" * 10_001)
    assert len(beside.moves) == 2
    assert beside.problems == ()
    assert read("(" * 100_000).moves == ()


def test_a_thousand_damages_are_summed_up() -> None:
    record = read("(" + ";B[zz]" * 1_000 + ")")
    assert len(record.problems) == 21
    assert record.problems[-1].startswith("980 more")
