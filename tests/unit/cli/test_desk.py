"""Times as they are given at a desk, menus, and tokens that are made for it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
import typer
from support.command import caipan

from caipan.cli import desk
from caipan.cli.desk import Choice, at_ms, choose

TODAY = datetime.now().astimezone()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("10:30", TODAY.replace(hour=10, minute=30, second=0, microsecond=0)),
        ("10:30:15", TODAY.replace(hour=10, minute=30, second=15, microsecond=0)),
        ("2026-05-04T10:30:00", datetime(2026, 5, 4, 10, 30).astimezone()),
        ("2026-05-04T10:30:00+08:00", datetime.fromisoformat("2026-05-04T02:30:00+00:00")),
        ("2026-05-04T02:30:00Z", datetime.fromisoformat("2026-05-04T02:30:00+00:00")),
        ("1777861800000", datetime.fromisoformat("2026-05-04T02:30:00+00:00")),
    ],
)
def test_a_time_is_of_this_machine_unless_it_names_a_zone(text: str, moment: datetime) -> None:
    assert at_ms(text) == moment.timestamp() * 1000


@pytest.mark.parametrize("text", ["yesterday", "25:00", "1030", "1777861800", "9" * 20, "0001-01-01T00:00", "-5", "²"])
def test_what_is_no_time_is_told_with_what_is(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is no time; write 10:30 or 10:30:15 for today"):
        at_ms(text)


def test_a_menu_takes_the_number_of_a_line_or_a_name_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "is_terminal", lambda: True)
    offers = [Choice("a", "WARN  (17.2)", ("WARN", "17.2")), Choice("b", "WARN  (17.4)", ("WARN", "17.4"))]

    def chosen(*answers: str, numbered: bool = True) -> tuple[str, int]:
        left = list(answers)
        monkeypatch.setattr(desk, "ask", lambda *_: left.pop(0))
        return choose("what", "--option", offers, numbered=numbered), len(left)

    assert chosen("2") == ("b", 0)
    assert chosen("17.2") == ("a", 0)
    assert chosen("3", "0", "warn", "17.4", "rest") == ("b", 1)  # of two that are called so neither is meant
    assert chosen("2", "17.4", numbered=False) == ("b", 0)


def test_a_key_that_was_not_there_is_said_to_be_made(tmp_path: Path) -> None:
    made = ("token", "--person", "zhao", "--role", "ROLE_ARBITER", "--data", tmp_path)
    first = caipan(*made)
    assert f"{tmp_path}/token-key.pem was not there and is made now" in first.stderr
    assert first.stdout.count(".") == 2
    assert caipan(*made).stderr == ""
    refused = " ".join(caipan("token", "--person", "zhao", "--role", "judge", "--data", tmp_path, ok=2).stderr.split())
    assert "Invalid value for --role: 'JUDGE' is no role of a caller" in refused
