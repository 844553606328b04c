"""The `caipan` command in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

COMMAND = (sys.executable, "-m", "caipan.cli")
TIMEOUT_S = 120  # only so that a test which would wait for ever ends


def environment(**changes: str) -> dict[str, str]:
    """That of the tests, without what a user may have set for caipan."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("CAIPAN_")}
    return {**plain, "COLUMNS": "100", "PYTHONUTF8": "1", **changes}


def caipan(
    *arguments: object, ok: int = 0, text: str = "", output: Any = subprocess.PIPE, **changes: str
) -> subprocess.CompletedProcess[str]:
    """Runs the command with ``text`` as its input; it ends with ``ok`` and shows no traceback.

    ``output`` is where its standard output goes, ``changes`` are variables of its environment.
    """
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        stdout=output,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        input=text,
        env=environment(**changes),
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == ok, f"{done.returncode}: {done.stdout}{done.stderr}"
    assert "Traceback" not in done.stderr
    return done


def objects(text: str) -> list[dict[str, Any]]:
    """JSON lines."""
    return [json.loads(line) for line in text.splitlines()]
