"""Komi and results in every unit they are written in, as whole quarter-zi."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caipan.record import Komi, ResultKind, Unit, parse_komi, parse_result

ZI = Komi(15, Unit.ZI)
MU = Komi(15, Unit.MU)


@pytest.mark.parametrize(
    ("text", "qz", "unit"),
    [
        ("7.5", 15, Unit.MU),
        ("7.50", 15, Unit.MU),
        ("6.5", 13, Unit.MU),
        ("5.5", 11, Unit.MU),
        ("0.5", 1, Unit.MU),
        ("8", 16, Unit.MU),
        ("-5.5", -11, Unit.MU),
        ("750", 15, Unit.MU),
        ("650", 13, Unit.MU),
        ("375", 15, Unit.ZI),
        ("375.00", 15, Unit.ZI),
        ("275", 11, Unit.ZI),
        ("3.75", 15, Unit.ZI),
        ("2.75", 11, Unit.ZI),
        ("0", 0, None),
        ("0.00", 0, None),
        ("７．５", 15, Unit.MU),
        ("6,5", 13, Unit.MU),
        ("7目半", 15, Unit.MU),
        ("七目半", 15, Unit.MU),
        ("半目", 1, Unit.MU),
        ("8点", 16, Unit.MU),
        ("3.5子", 14, Unit.ZI),
        ("3又3/4", 15, Unit.ZI),
        ("3 3/4", 15, Unit.ZI),
        ("3¾", 15, Unit.ZI),
        ("黑贴3又3/4子", 15, Unit.ZI),
        ("黑貼三又四分之三子", 15, Unit.ZI),
        ("6.5 points", 13, Unit.MU),
        ("6집반", 13, Unit.MU),
    ],
)
def test_komi_in_any_unit(text: str, qz: int, unit: Unit | None) -> None:
    assert parse_komi(text) == Komi(qz, unit)


def test_hundredths_under_chinese_rules_are_zi_while_they_are_small() -> None:
    assert parse_komi("350", "Chinese") == Komi(14, Unit.ZI)
    assert parse_komi("350", "Japanese") == Komi(7, Unit.MU)
    assert parse_komi("750", "Chinese") == Komi(15, Unit.MU)


@pytest.mark.parametrize("text", ["", "?", "none", "6.6", "1/3", "99999", "9" * 5_000, "3/0"])
def test_what_is_no_komi_is_none(text: str) -> None:
    assert parse_komi(text) is None


@pytest.mark.parametrize(
    ("text", "komi", "margin_qz"),
    [
        ("B+1.75", ZI, 7),
        ("W+2.25", ZI, -9),
        ("B+0.2", ZI, 1),
        ("B+1.7", ZI, 7),
        ("W+2", ZI, -8),
        ("W+2.5", MU, -5),
        ("W+0.50", MU, -1),
        ("W+368.5", MU, -737),
        ("B+2", None, 4),
        ("b + 3,5", None, 7),
        ("Black+3.5", None, 7),
        ("W+2.5 (moves after 246 unknown)", MU, -5),
        ("B+1.75", MU, 7),  # points have no quarters
        ("B+0.2", Komi(0, None), 1),
        ("B+3/4", MU, 3),
        ("B+1又3/4子", MU, 7),
        ("W+2.5目", ZI, -5),
        ("Ｂ＋１．７５", ZI, 7),
        ("黑胜1又3/4子", MU, 7),
        ("黑勝一又四分之三子", MU, 7),
        ("黑1/4子胜", ZI, 1),
        ("白胜2目半", ZI, -5),
        ("白胜半目", ZI, -1),
        ("共254手，白胜2.5目", MU, -5),
        ("白十二目勝", MU, -24),
        ("White wins by 2.5 points", MU, -5),
        ("백 2집반승", MU, -5),
    ],
)
def test_counted_results(text: str, komi: Komi | None, margin_qz: int) -> None:
    result = parse_result(text, komi)
    assert result.kind is ResultKind.COUNT
    assert (result.winner, result.margin_qz) == ("B" if margin_qz > 0 else "W", margin_qz)
    assert result.agrees(margin_qz) is True
    assert result.agrees(margin_qz + 1) is False
    assert result.agrees(-margin_qz) is False


def test_the_margin_is_kept_as_written_with_its_unit() -> None:
    result = parse_result("B+0.2", ZI)
    assert (result.margin_text, result.unit) == ("0.2", Unit.ZI)
    result = parse_result("白胜2目半", ZI)
    assert (result.margin_text, result.unit) == ("2目半", Unit.MU)


@pytest.mark.parametrize("text", ["0", "Draw", "draw", "Jigo", "和棋", "和", "持碁", "무승부"])
def test_draws(text: str) -> None:
    result = parse_result(text, ZI)
    assert (result.winner, result.kind, result.margin_qz) == (None, ResultKind.COUNT, 0)
    assert (result.agrees(0), result.agrees(1), result.agrees(-1)) == (True, False, False)


@pytest.mark.parametrize(
    ("text", "winner", "kind"),
    [
        ("B+R", "B", ResultKind.RESIGNATION),
        ("w+resign", "W", ResultKind.RESIGNATION),
        ("B+R (moves after 143 unknown)", "B", ResultKind.RESIGNATION),
        ("White wins by resignation", "W", ResultKind.RESIGNATION),
        ("White resigns", "B", ResultKind.RESIGNATION),
        ("黑中盘胜", "B", ResultKind.RESIGNATION),
        ("白中盤勝", "W", ResultKind.RESIGNATION),
        ("黒中押勝ち", "B", ResultKind.RESIGNATION),
        ("흑 불계승", "B", ResultKind.RESIGNATION),
        ("白投子认输", "B", ResultKind.RESIGNATION),
        ("W+T", "W", ResultKind.TIME),
        ("b+time", "B", ResultKind.TIME),
        ("白超时负", "B", ResultKind.TIME),
        ("黑方超时3次判负", "W", ResultKind.TIME),
        ("백 시간승", "W", ResultKind.TIME),
        ("B+F", "B", ResultKind.FORFEIT),
        ("W+Forfeit", "W", ResultKind.FORFEIT),
        ("黑弃权，白胜", "W", ResultKind.FORFEIT),
        ("흑 반칙패", "W", ResultKind.FORFEIT),
        ("Void", None, ResultKind.VOID),
        ("无胜负", None, ResultKind.VOID),
        ("無勝負", None, ResultKind.VOID),
        ("?", None, ResultKind.UNKNOWN),
        ("", None, ResultKind.UNKNOWN),
        ("Left unfinished", None, ResultKind.UNKNOWN),
        ("3.5", None, ResultKind.UNKNOWN),
    ],
)
def test_results_without_a_count_neither_agree_nor_disagree(text: str, winner: str | None, kind: ResultKind) -> None:
    result = parse_result(text, ZI)
    assert (result.winner, result.kind, result.margin_qz) == (winner, kind, None)
    assert result.agrees(5) is None


@pytest.mark.parametrize("text", ["黑胜", "黒勝ち", "흑승", "B+", "b+?", "Black won"])
def test_a_winner_alone_is_compared_by_side(text: str) -> None:
    result = parse_result(text, ZI)
    assert (result.winner, result.kind) == ("B", ResultKind.UNKNOWN)
    assert (result.agrees(3), result.agrees(-3), result.agrees(0)) == (True, False, False)


def test_a_margin_that_no_count_has_is_not_compared_but_its_winner_is() -> None:
    result = parse_result("B+1.3", MU)
    assert (result.kind, result.margin_text, result.margin_qz) == (ResultKind.COUNT, "1.3", None)
    assert (result.agrees(3), result.agrees(-3)) == (None, False)


@given(st.integers(1, 1444), st.sampled_from(list(Unit)), st.integers(1, 4))
def test_every_margin_is_found_again_however_its_decimals_are_cut(qz: int, unit: Unit, digits: int) -> None:
    hundredths = qz * (25 if unit is Unit.ZI else 50)
    text = f"{hundredths // 100}.{hundredths % 100:02d}00"[: len(str(hundredths // 100)) + 1 + digits]
    assert parse_result(f"W+{text}", Komi(15, unit)).margin_qz == -qz


@given(st.text(max_size=60) | st.text("bw黑白+胜负又/半子目点.,0123456789十百分之 -", max_size=20))
def test_no_text_is_too_strange(text: str) -> None:
    komi = parse_komi(text, text)
    assert komi is None or abs(komi.qz) <= 1250
    result = parse_result(text, komi)
    assert result.margin_qz is None or result.agrees(result.margin_qz) is True
