"""The last place an error can reach shows one line of it."""

from __future__ import annotations

import pytest
import typer

from caipan.cli.app import run
from caipan.cli.console import CommandError


def ending(error: Exception | None) -> typer.Typer:
    """A command that ends with this error."""
    command = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

    @command.command()
    def fail() -> None:
        if error is not None:
            raise error

    return command


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (CommandError("x.sgf: no game"), "caipan: x.sgf: no game\n"),
        (
            ValueError("two\nlines"),
            "caipan: unexpected ValueError: two lines; run with CAIPAN_DEBUG=1 for details\n",
        ),
    ],
)
def test_an_error_is_one_line_and_ends_with_1(
    error: Exception, said: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["caipan"])
    monkeypatch.delenv("CAIPAN_DEBUG", raising=False)
    with pytest.raises(SystemExit) as ended:
        run(ending(error))
    assert ended.value.code == 1
    assert capfd.readouterr().err == said


def test_details_are_there_for_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["caipan"])
    monkeypatch.setenv("CAIPAN_DEBUG", "1")
    with pytest.raises(ValueError, match="why"):
        run(ending(ValueError("why")))


def test_a_command_that_ends_well_ends_with_0(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["caipan"])
    with pytest.raises(SystemExit) as ended:
        run(ending(None))
    assert ended.value.code == 0
