"""The `caipan` command in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Self

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


class Running:
    """A command that goes on: its lines of output one by one, its end by a signal."""

    def __init__(self, *arguments: object, cwd: Path | None = None, **changes: str) -> None:
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - closed by __exit__
        self._process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="utf-8",
            cwd=cwd,
            env=environment(**changes),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate(timeout=TIMEOUT_S)
        self._errors.close()

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def write(self, *lines: str) -> None:
        """Gives it further lines of input."""
        assert self._process.stdin is not None
        self._process.stdin.writelines(f"{line}\n" for line in lines)
        self._process.stdin.flush()

    def close_input(self) -> None:
        """It gets no more input."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.stdin = None

    def line(self) -> str:
        """The next line of its output; "" once it has ended."""
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def object(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.line())
        return told

    def end(self, number: int | None = signal.SIGTERM) -> tuple[int, str]:
        """Sends a signal, or none; returns the exit code and what stands on its error output. It shows no traceback."""
        if number is not None:
            self._process.send_signal(number)
        self._process.communicate(timeout=TIMEOUT_S)
        self._errors.seek(0)
        errors = self._errors.read()
        assert "\nTraceback" not in f"\n{errors}"  # in a log as JSON it may stand within a line
        return self._process.returncode, errors


class Service(Running):
    """`caipan up` on a free port, or on ``port``, ready."""

    def __init__(self, data: Path, port: int = 0) -> None:
        super().__init__("up", "--json", "--data", data, "--listen", f"127.0.0.1:{port}")
        ready = self.line()
        assert ready, self.end(None)
        self.address: str = json.loads(ready)["address"]
        self.port = int(self.address.rpartition(":")[2])
        self.at = {"CAIPAN_ADDRESS": self.address, "CAIPAN_DATA": str(data)}
