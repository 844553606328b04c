"""docs/arbiter.md, walked as an arbiter would: every command as it is printed, every answer as it is promised."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from support.command import Service, environment

DOCUMENT = Path(__file__).parents[2] / "docs" / "arbiter.md"


def steps() -> list[tuple[str, list[str]]]:
    """The commands of each block, and the lines that the next block promises."""
    found: list[tuple[str, list[str]]] = []
    for language, text in re.findall(r"```(sh|text)\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL):
        if language == "sh":
            found.append((text, []))
        else:
            found[-1][1].extend(text.splitlines())
    return found


def test_an_arbiter_who_follows_the_page_gets_what_it_promises(tmp_path: Path) -> None:
    folder = tmp_path / ".venv" / "bin"
    folder.mkdir(parents=True)
    command = folder / "caipan"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m caipan.cli "$@"\n')
    command.chmod(0o755)
    walked = steps()
    assert len(walked) == 9
    with Service(tmp_path / "data") as service:
        for commands, promised in walked:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", commands],
                cwd=tmp_path,
                env=environment(**service.at),
                capture_output=True,
                encoding="utf-8",
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            for line in promised:
                assert line in done.stdout, f"{line!r} is not in\n{done.stdout}"
