"""Where Java or Maven is missing, tests that need Kafka are left out, loudly, or fail a run that requires all."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.kafka import KafkaMissing, check, fetch, tools

ROOT = Path(__file__).parents[2]
NEEDY = "tests/e2e/test_kafka_broker.py"


def run_without_java(folder: Path, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """pytest on the tests that need Kafka, with nothing on its PATH."""
    kept = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "CAIPAN_REQUIRE_ALL")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, NEEDY],
        cwd=ROOT,
        env={**kept, "PATH": str(folder), "COLUMNS": "200", **changes},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "with workers"])
def test_what_could_not_be_run_stands_loudly_at_the_end(tmp_path: Path, workers: tuple[str, ...]) -> None:
    done = run_without_java(tmp_path, *workers)
    assert done.returncode == 0, done.stdout + done.stderr
    end = done.stdout[done.stdout.index("!!! NOT RUN !!!") :]
    assert "Kafka cannot run here: no Java (PATH): install Java 17 or later" in end
    assert re.search(rf"^  {NEEDY}: \d+ tests$", end, re.MULTILINE)
    assert re.search(r"^\d+ skipped", end, re.MULTILINE)


def test_a_run_that_requires_all_fails_at_once_with_the_reason(tmp_path: Path) -> None:
    done = run_without_java(tmp_path, CAIPAN_REQUIRE_ALL="1")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "CAIPAN_REQUIRE_ALL=1, but Kafka cannot run: no Java (PATH): install Java 17" in done.stdout + done.stderr
    assert "skipped" not in done.stdout


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """No jars fetched yet."""
    monkeypatch.setattr(tools, "HOME", tmp_path)
    monkeypatch.setattr(tools, "LIBS", tmp_path / "libs")
    tools.java.cache_clear()
    yield tmp_path
    tools.java.cache_clear()


def only_java(folder: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """A PATH with a Java that says it is of this version, and nothing else."""
    command = folder / "java"
    command.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2022-01-01' >&2\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("JAVA_HOME", raising=False)


@pytest.mark.parametrize(("version", "number"), [("1.8.0_402", 8), ("11.0.22", 11)])
def test_an_old_java_is_named(elsewhere: Path, monkeypatch: pytest.MonkeyPatch, version: str, number: int) -> None:
    only_java(elsewhere, monkeypatch, version)
    with pytest.raises(KafkaMissing, match=f"^Java {number} is too old .*: install Java 17 or later"):
        check()


def test_maven_is_needed_only_to_fetch(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_java(elsewhere, monkeypatch, "17.0.15")
    with pytest.raises(KafkaMissing, match=r"^no Maven .*: install Maven 3\.6\.3 or later"):
        check()
    (elsewhere / "libs").mkdir()
    shutil.copy(tools.POM, elsewhere / "libs")
    assert fetch() == elsewhere / "libs"


def test_a_java_home_without_java_is_named(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(elsewhere))
    with pytest.raises(KafkaMissing, match=f"^no Java \\(JAVA_HOME={re.escape(str(elsewhere))}\\): install Java 17"):
        check()


@pytest.mark.kafka
@pytest.mark.skipif(shutil.which("mvn") is None, reason="no Maven here; the jars of Kafka were fetched before")
def test_maven_without_a_network_is_told_in_its_words(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (elsewhere / ".m2").mkdir()
    (elsewhere / ".m2" / "settings.xml").write_text("<settings><offline>true</offline></settings>")
    monkeypatch.setenv("MAVEN_OPTS", f"-Duser.home={elsewhere}")
    with pytest.raises(KafkaMissing, match=r"^Maven cannot fetch the jars of Kafka: .*offline mode"):
        fetch()
    assert not (elsewhere / "libs").exists()
