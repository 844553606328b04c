"""What docs/start.md tells a newcomer to do works as it is written there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from support.command import Service, caipan, environment

START = Path(__file__).parents[2] / "docs" / "start.md"


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", START.read_text(), re.DOTALL)
    assert found
    return found.group(1)


def test_the_client_of_docs_start_runs_as_printed_and_its_slip_is_corrected(tmp_path: Path) -> None:
    with Service(tmp_path / "data") as service:
        folder = tmp_path / ".venv" / "bin"
        folder.mkdir(parents=True)
        command = folder / "caipan"
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m caipan.cli "$@"\n')
        command.chmod(0o755)
        client = tmp_path / "client.py"
        client.write_text(block("python").replace("127.0.0.1:50051", service.address))
        where = environment(CAIPAN_DATA=str(tmp_path / "data"))
        done = subprocess.run(
            [sys.executable, str(client)],
            cwd=tmp_path,
            env=where,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        lines = done.stdout.splitlines()
        assert lines[-2] == "e11 ['CN2002 6', 'CN2002 18.3'] ['E4']"
        game = lines[-1].split()[1]
        slip = block("json").replace("start-1764460800", game).replace("1764460830000", "1764460830001")
        (tmp_path / "slip.jsonl").write_text(slip)
        settings = {"CAIPAN_DATA": str(tmp_path / "data"), "CAIPAN_ADDRESS": service.address}
        assert "REFUSED" not in caipan("send", tmp_path / "slip.jsonl", **settings).stdout
        shown = caipan("show", game, **settings).stdout
        assert "move 10, Black to move" in shown
        (tmp_path / "end.jsonl").write_text(block("jsonl").replace("start-1764460800", game))
        caipan("send", tmp_path / "end.jsonl", **settings)
        assert "result: White wins" in caipan("show", game, **settings).stdout
