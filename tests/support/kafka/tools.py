"""Java, Maven, and the jars of Kafka in build/kafka/libs."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

POM = Path(__file__).with_name("pom.xml")
HOME = Path(__file__).parents[3] / "build" / "kafka"
LIBS = HOME / "libs"
JAVA_AT_LEAST = 17
FETCH_S = 900  # 54 MB; only so that a connection which hangs ends


class KafkaMissing(Exception):  # noqa: N818
    """What Kafka needs is not on this machine; says what to install."""


@cache
def java() -> str:
    """The command that runs Java, of JAVA_HOME or else of PATH. Raises KafkaMissing for none, or one too old."""
    home = os.environ.get("JAVA_HOME")
    command = str(Path(home, "bin", "java")) if home else "java"
    install = f"install Java {JAVA_AT_LEAST} or later (Debian, Ubuntu: openjdk-{JAVA_AT_LEAST}-jre-headless)"
    where = f"JAVA_HOME={home}" if home else "PATH"
    try:
        done = subprocess.run([command, "-version"], capture_output=True, text=True, check=False, timeout=60)
    except OSError:
        raise KafkaMissing(f"no Java ({where}): {install}") from None
    version = re.search(r'version "(?:1\.)?(\d+)', done.stderr)
    if version is None:
        raise KafkaMissing(f"`{command} -version` tells no version ({where}): {install}")
    if int(version[1]) < JAVA_AT_LEAST:
        raise KafkaMissing(f"Java {version[1]} is too old ({where}): {install}")
    return command


def _maven() -> str:
    command = shutil.which("mvn")
    if command is None:
        raise KafkaMissing("no Maven (`mvn` on PATH): install Maven 3.6.3 or later (Debian, Ubuntu: maven)")
    return command


def _fetched() -> bool:
    """Whether the jars are there, and are those that the pom names now."""
    stamp = LIBS / POM.name
    return stamp.exists() and stamp.read_bytes() == POM.read_bytes()


def check() -> None:
    """Raises KafkaMissing unless Java is there and the jars are, or Maven to fetch them."""
    java()
    if not _fetched():
        _maven()


def fetch() -> Path:
    """The folder with the jars of Kafka, fetched by Maven the first time. Raises KafkaMissing if it cannot run here."""
    check()
    with locked(HOME / "libs.lock"):
        if not _fetched():
            print(f"kafka: fetching its jars by Maven into {LIBS} (54 MB, once)", file=sys.stderr, flush=True)
            maven = _maven()
            part = LIBS.with_name("libs.part")
            shutil.rmtree(part, ignore_errors=True)
            _copy_dependencies(maven, part)
            shutil.copy(POM, part)
            shutil.rmtree(LIBS, ignore_errors=True)
            part.rename(LIBS)
    return LIBS


def _copy_dependencies(maven: str, folder: Path) -> None:
    # Named in full, an error is that of the network, not of the search for the plugin. Its version stands in the pom.
    goal = "org.apache.maven.plugins:maven-dependency-plugin:copy-dependencies"
    try:
        done = subprocess.run(
            [maven, "-B", "-ntp", "-f", str(POM), goal, f"-DoutputDirectory={folder}", "-DincludeScope=runtime"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=FETCH_S,
        )
    except subprocess.TimeoutExpired:
        raise KafkaMissing(f"Maven has not fetched the jars of Kafka within {FETCH_S} s: see to its network") from None
    if done.returncode:
        error = re.search(r"^\[ERROR\] (.+?)(?: -> \[Help \d+\])?$", done.stdout, re.MULTILINE)
        raise KafkaMissing(
            "Maven cannot fetch the jars of Kafka: go online once, or name a mirror in ~/.m2/settings.xml. It says: "
            + (error[1] if error else done.stderr.strip())
        )


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock file; others wait, whether threads or processes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
