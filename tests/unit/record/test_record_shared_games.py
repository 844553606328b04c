"""The 25 real records beside the repository: read as an independent program read them."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import pytest

from caipan.record import Unit, parse_komi, parse_result, read_record

GAMES = Path(__file__).parents[3].parent / "shared" / "games"
pytestmark = pytest.mark.skipif(not GAMES.is_dir(), reason=f"the shared games are not here ({GAMES})")

MARGINS_QZ = {
    "cn-ing2026-ye-ma.sgf": -9,
    "cn-swk2026-ding-tang.sgf": -5,
    "ai-agz-lee004.sgf": -1,
    "ai-ag-g1-2016.sgf": -5,
    "ogs2021-w368.sgf": -737,
    "tom2009-cycle3.sgf": -5,
    "cn-ing2026-tang-wen.sgf": 7,
    "ai-elf-golaxy2018.sgf": 1,
    "kr-kim-leechangho2026-2.sgf": -5,
}


def index() -> list[dict[str, str]]:
    with (GAMES / "index.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def expected() -> dict[str, dict[str, Any]]:
    games = json.loads((GAMES / "expected.json").read_text(encoding="utf-8"))["games"]
    return {game["file"]: game for game in games}


def test_every_game_is_read_as_expected() -> None:
    rows, games = index(), expected()
    assert len(rows) == len(games) == 25
    for row in rows:
        record, game = read_record((GAMES / row["file"]).read_bytes()), games[row["file"]]
        assert record.size == game["size"], row["file"]
        assert len(record.moves) == game["moves"], row["file"]
        assert sum(move.point is None for move in record.moves) == game["passes"], row["file"]
        assert record.moves[0].colour == game["first_to_move"], row["file"]
        pairs = zip(record.moves, record.moves[1:], strict=False)
        assert sum(one.colour == two.colour for one, two in pairs) == game["same_colour_consecutive"], row["file"]
        assert (record.komi_text, record.result_text) == (row["komi"], row["result"])
        assert (record.black_name, record.white_name) == (row["black"].strip(), row["white"].strip())
        assert (record.rules_text, record.date_text) == (row["rules"], row["date"])


def test_setup_and_handicap() -> None:
    records = {row["file"]: read_record((GAMES / row["file"]).read_bytes()) for row in index()}
    danghu = records.pop("cn-danghu1-1739.sgf")
    assert (danghu.setup_black, danghu.setup_white) == (("D4", "Q16"), ("D16", "Q4"))
    yasui = records.pop("jp-yasui-dosaku1696.sgf")
    assert (yasui.handicap, yasui.handicap_moves, yasui.setup_black) == (2, 0, ("D4", "Q16"))
    dorabon = records.pop("kgs2011-dorabon-ha4.sgf")
    assert (dorabon.handicap, dorabon.handicap_moves, dorabon.setup_black) == (4, 4, ())
    assert all(not record.setup_black + record.setup_white and not record.handicap_moves for record in records.values())


def test_only_the_damaged_file_has_a_problem() -> None:
    problems = {row["file"]: read_record((GAMES / row["file"]).read_bytes()).problems for row in index()}
    damaged = problems.pop("cn-ing2026-tang-wen.sgf")
    assert "closing bracket(s) are missing" in damaged[0]
    assert not any(problems.values())


def test_counted_margins_are_read_in_the_unit_of_the_komi() -> None:
    for file, margin_qz in MARGINS_QZ.items():
        record = read_record((GAMES / file).read_bytes())
        komi = parse_komi(record.komi_text, record.rules_text)
        assert komi is not None
        assert komi.unit is (Unit.ZI if record.komi_text == "375" else Unit.MU)
        assert parse_result(record.result_text, komi).agrees(margin_qz) is True, file


def test_damaging_a_real_file_at_random_never_raises() -> None:
    chance = random.Random(7)
    for path in sorted(GAMES.glob("*.sgf")):
        whole = path.read_bytes()
        for _ in range(8):
            data = bytearray(whole[: chance.randrange(1, len(whole) + 1)])
            for _ in range(chance.randrange(8)):
                data[chance.randrange(len(data))] = chance.choice(b"()[];\\\x00\xffBW")
            record = read_record(bytes(data))
            assert record.moves or record.problems
