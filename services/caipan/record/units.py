"""Komi and result of a game record, in whatever unit they were written, as whole quarter-zi (qz).

One zi of area is 4 qz and two points [目, mu] of margin, so one point is 2 qz. Files write 7.5 (points), 3.75 (zi),
375 (hundredths of a zi, as Chinese servers do), 750 (hundredths of a point) or 3又3/4子. The result has the komi's
unit, and its decimals may be cut short: B+0.2 is a quarter of a zi. All arithmetic is exact; nothing here raises.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Literal, NamedTuple


class Unit(StrEnum):
    """The unit of a komi or a margin: zi of area, or mu (points), two to a zi."""

    ZI = "zi"
    MU = "mu"


class ResultKind(StrEnum):
    """How the game ended according to the file; UNKNOWN where it names no way, or only a winner."""

    COUNT = "count"
    RESIGNATION = "resignation"
    TIME = "time"
    FORFEIT = "forfeit"
    VOID = "void"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Komi:
    """`unit` is None where the text does not tell: a komi of 0."""

    qz: int
    unit: Unit | None


@dataclass(frozen=True, slots=True)
class Result:
    """`winner` is None for a draw (COUNT, margin 0), a void game and an unknown one.

    `margin_text` is the margin as written, `margin_qz` the same for Black in quarter-zi (negative if White won), None
    where the file gives none or one that no count can have.
    """

    winner: Literal["B", "W"] | None
    kind: ResultKind
    margin_text: str = ""
    unit: Unit | None = None
    margin_qz: int | None = None

    def agrees(self, margin_qz: int) -> bool | None:
        """Whether a counted final margin for Black, komi included, is what the file says; None if it names none.

        A file that names only the winner agrees if that side has won.
        """
        if self.kind is ResultKind.COUNT and self.margin_qz is not None:
            return margin_qz == self.margin_qz
        if self.winner is None or self.kind not in (ResultKind.COUNT, ResultKind.UNKNOWN):
            return None
        won = margin_qz > 0 if self.winner == "B" else margin_qz < 0
        return None if won and self.kind is ResultKind.COUNT else won


_QZ = {Unit.ZI: 4, Unit.MU: 2}
_MAX_KOMI_QZ = 2 * 25 * 25
_HUNDREDTHS = 100
_POINTS_FROM = 5  # hundredths under Chinese rules are zi below this, points from here on

_SIMPLIFIED = str.maketrans(
    "勝負敗貼黒盤點時間無認棄輸番両两〇零一二三四五六七八九\u2044\u2212",
    "胜负败贴黑盘点时间无认弃输方2200123456789/-",
)
_WORDS = {
    re.compile(pattern): word
    for pattern, word in {
        r"\bblack\b|흑": "黑",
        r"\bwhite\b|백": "白",
        "무승부": "和棋",
        r"\b(?:wins?|won)\b|승": "胜",
        r"\b(?:loses|lost)\b|패": "负",
        r"\bresign(?:s|ed)\b": "认输",
        "불계": "中盘",
        "시간": "超时",
        "반칙": "犯规",
        "집": "目",
        "반": "半",
    }.items()
}
_UNIT = r"(?:(?P<zi>子|zi\b)|(?P<mu>目|点|moku\b|mu\b|points?\b|pts?\b))"
_AMOUNT = re.compile(
    rf"""
    (?: (?: (?P<whole>[0-9]+) \s*(?:又|\s)\s* )? (?P<part>[0-9]+) / (?P<of>[0-9]+)  # 3又3/4, 3 3/4, 3/4
      | (?P<decimal> [0-9]+ (?:[.,][0-9]*)? | [.,][0-9]+ )
    ) \s* (?:半\s*)? {_UNIT}? (?:\s*半)?
    | 半 \s* {_UNIT.replace("<", "<half_")}
    """,
    re.VERBOSE,
)

_SHORT = re.compile(r"([bw黑白])\s*\+\s*(?P<rest>.*)")
_WINNER = re.compile(r"([黑白])[^黑白]*胜")
_LOSER = re.compile(r"([黑白])[^黑白]*(?:负|败|输)")
_DRAW = re.compile(r"0+(?:[.,]0*)?$|.*(?:\bdrawn?\b|\bjigo\b|和棋|和局|平局|持碁)|和$")
_VOID = re.compile(r"\bvoid\b|\bannul|\bno result\b|无胜负|无效")
_WAYS = {
    ResultKind.TIME: re.compile(r"^t\b|\btime|超时|逾时|时间"),
    ResultKind.FORFEIT: re.compile(r"^f\b|\bforf|\bdefault|弃权|犯规|不战|判"),
    ResultKind.RESIGNATION: re.compile(r"^r\b|\bresi|中盘|中押|认输|投"),
}


class _Amount(NamedTuple):
    text: str
    value: Fraction
    decimals: int
    unit: Unit | None


def parse_komi(text: str, rules_text: str = "") -> Komi | None:
    """Komi as written in KM; None if there is none or it is no whole number of quarter-zi.

    Quarters are zi, everything else is points unless the text names the unit. Hundredths are told by their size; where
    the file's rules are Chinese, hundredths below 500 are zi (350 = 3 1/2 zi).
    """
    tidy = _tidy(text)
    amount = _amount(tidy)
    if amount is None:
        return None
    value, unit = amount.value, amount.unit
    hundredths = unit is None and value >= _HUNDREDTHS and (value / 25).denominator == 1
    if hundredths:
        value /= _HUNDREDTHS
    if unit is None and value:
        chinese = bool(re.search("chinese|^cn|中国|数子", _tidy(rules_text)))
        in_zi = (value * 2).denominator != 1 or (hundredths and chinese and value < _POINTS_FROM)
        unit = Unit.ZI if in_zi else Unit.MU
    qz = value * _QZ[unit or Unit.MU]
    if qz.denominator != 1 or qz > _MAX_KOMI_QZ:
        return None
    negative = tidy[: tidy.index(amount.text)].rstrip().endswith("-")
    return Komi(-int(qz) if negative else int(qz), unit)


def parse_result(text: str, komi: Komi | None) -> Result:
    """Result as written in RE ("B+1.75", "w+r", "白中盘胜", "Jigo", ...), its margin read in the unit of `komi`."""
    tidy = _tidy(text)
    if short := _SHORT.match(tidy):
        winner: Literal["B", "W"] = "B" if short[1] in "b黑" else "W"
        counted = _amount(short["rest"]) if re.match("[0-9.,半]", short["rest"]) else None
        return _won(winner, short["rest"], counted, komi)
    if _VOID.search(tidy):
        return Result(None, ResultKind.VOID)
    if _DRAW.match(tidy):
        return Result(None, ResultKind.COUNT, margin_qz=0)
    tidy = re.sub(r"[0-9]+\s*(?:手|moves?\b)", "", tidy)
    if found := _WINNER.search(tidy):
        winner = "B" if found[1] == "黑" else "W"
    elif found := _LOSER.search(tidy):
        winner = "W" if found[1] == "黑" else "B"
    else:
        return Result(None, ResultKind.UNKNOWN)
    counted = _amount(tidy)
    way_named = any(way.search(tidy) for way in _WAYS.values())
    return _won(winner, tidy, None if counted and way_named and counted.unit is None else counted, komi)


def _won(winner: Literal["B", "W"], how: str, counted: _Amount | None, komi: Komi | None) -> Result:
    if counted is None:
        kind = next((kind for kind, way in _WAYS.items() if way.search(how)), ResultKind.UNKNOWN)
        return Result(winner, kind)
    usual = (komi.unit if komi else None) or Unit.MU
    # A margin in points has no quarters: if it shows them it is in zi, whatever the komi.
    for unit in [counted.unit] if counted.unit else dict.fromkeys((usual, Unit.ZI)):
        margin = _whole_qz(counted, unit)
        if margin is not None:
            return Result(winner, ResultKind.COUNT, counted.text, unit, margin if winner == "B" else -margin)
    return Result(winner, ResultKind.COUNT, counted.text)


def _whole_qz(amount: _Amount, unit: Unit) -> int | None:
    """The quarter-zi that are written so, decimals cut short if there are any; None if there are none."""
    exact = amount.value * _QZ[unit]
    qz = math.ceil(exact)
    cut = Fraction(_QZ[unit], 10**amount.decimals) if amount.decimals else Fraction(0)
    return qz if qz == exact or qz < exact + cut else None


def _amount(tidy: str) -> _Amount | None:
    found = _AMOUNT.search(tidy)
    if found is None or int(found["of"] or 1) == 0:
        return None
    decimal = (found["decimal"] or "").replace(",", ".")
    value = int(found["whole"] or 0) + Fraction(int(found["part"] or 0), int(found["of"] or 1)) + Fraction(decimal or 0)
    if "半" in found[0]:
        value += Fraction(1, 2)
    in_zi, in_mu = found["zi"] or found["half_zi"], found["mu"] or found["half_mu"]
    unit = Unit.ZI if in_zi else Unit.MU if in_mu else None
    return _Amount(found[0].strip(), value, len(decimal.partition(".")[2]), unit)


def _tidy(text: str) -> str:
    """One spelling: half-width, small letters, simplified characters, Arabic numerals, Chinese words."""
    text = re.sub("[¼½¾]", lambda found: " " + unicodedata.normalize("NFKC", found[0]), text[:200])
    text = unicodedata.normalize("NFKC", text).casefold().translate(_SIMPLIFIED)
    for pattern, word in _WORDS.items():
        text = pattern.sub(word, text)
    text = re.sub("([0-9]?)十([0-9]?)", lambda found: str(int(found[1] or 1) * 10 + int(found[2] or 0)), text)
    text = re.sub("([0-9]+)分之([0-9]+)", r"\2/\1", text)
    return " ".join(text.split())
