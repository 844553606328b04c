"""Puts this folder on the path, so that every test can use ``support``; bounds the property tests; runs one Kafka for
all tests that need it; says loudly at the end which tests could not be run."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from support.kafka import Broker, KafkaMissing, check, fetch
from support.kafka.tools import locked

if TYPE_CHECKING:
    from caipan.eventlog.kafka import KafkaSettings

# Derandomized: a run proves the same each time. `--hypothesis-profile=explore` looks for what nobody saw yet.
_SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile(
    "caipan", deadline=None, max_examples=100, derandomize=True, database=None, suppress_health_check=_SLOW
)
settings.register_profile(
    "explore", deadline=None, max_examples=1500, database=None, print_blob=True, suppress_health_check=_SLOW
)
settings.load_profile("caipan")

REQUIRE_ALL = "CAIPAN_REQUIRE_ALL"  # set to 1, a missing tool fails the run instead of skipping tests
REQUIRED = os.environ.get(REQUIRE_ALL) == "1"
IMPLY_KAFKA = {"java", "broker", "kafka"}  # fixtures
RUN_FOLDER = pytest.StashKey[Path]()  # of the whole run, shared by the workers of xdist


def pytest_configure(config: pytest.Config) -> None:
    """Makes the folder of the run and, in it, the named pipe that this process holds open as long as it lives."""
    if REQUIRED:
        try:
            check()
        except KafkaMissing as reason:
            pytest.exit(f"{REQUIRE_ALL}=1, but Kafka cannot run: {reason}", returncode=pytest.ExitCode.USAGE_ERROR)
    config.addinivalue_line("markers", "kafka: needs Java and Maven; implied by the fixtures java, broker and kafka")
    given: dict[str, Any] | None = getattr(config, "workerinput", None)
    if given is not None:
        config.stash[RUN_FOLDER] = Path(given["run_folder"])
        return
    folder = config.stash[RUN_FOLDER] = Path(tempfile.mkdtemp(prefix="caipan-tests-"))
    os.mkfifo(folder / "lifeline")
    lifeline = os.open(folder / "lifeline", os.O_RDWR)

    def end() -> None:
        Broker(folder / "kafka").kill()
        os.close(lifeline)
        shutil.rmtree(folder, ignore_errors=True)

    config.add_cleanup(end)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells a worker of xdist the folder of the run."""
    node.workerinput["run_folder"] = str(node.config.stash[RUN_FOLDER])


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Marks the tests that need Kafka; if some are chosen, fetches it, or skips them where it cannot run."""
    for item in items:
        if IMPLY_KAFKA.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("kafka")
    yield  # -k and -m choose
    needy = [item for item in items if item.get_closest_marker("kafka")]
    if not needy or REQUIRED:
        return
    try:
        with config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            fetch()
    except KafkaMissing as reason:
        for item in needy:
            item.add_marker(pytest.mark.skip(reason=f"Kafka cannot run here: {reason}"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Which files hold tests that were skipped, and why."""
    skipped = Counter(
        (report.longrepr[2].removeprefix("Skipped: "), report.nodeid.partition("::")[0])
        for report in terminalreporter.stats.get("skipped", [])
    )
    if not skipped:
        return
    terminalreporter.section("NOT RUN", sep="!", red=True, bold=True)
    for reason in dict.fromkeys(reason for reason, _ in sorted(skipped)):
        terminalreporter.write_line(reason, red=True, bold=True)
        for (of, file), count in sorted(skipped.items()):
            if of == reason:
                terminalreporter.write_line(f"  {file}: {count} {'test' if count == 1 else 'tests'}")


@pytest.fixture(scope="session")
def java() -> None:
    """Skips the test where Kafka cannot run; for tests that start their own."""


@pytest.fixture(scope="session")
def broker(request: pytest.FixtureRequest) -> Broker:
    """A running broker, one for the whole run: do not stop it. It ends with the run, however that ends."""
    folder = request.config.stash[RUN_FOLDER]
    with locked(folder / "lock"):
        shared = Broker(folder / "kafka")
        if not shared.running:
            with (folder / "lifeline").open("rb") as lifeline:
                shared.start(lifeline)
    return shared


@pytest.fixture
def kafka(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> Iterator[KafkaSettings]:
    """Settings for that broker with a topic prefix of their own. There are no topics yet; those made are deleted."""
    from caipan.eventlog.kafka import KafkaSettings

    for name in [name for name in os.environ if name.startswith("CAIPAN_KAFKA_")]:
        monkeypatch.delenv(name)
    prefix = f"t{secrets.token_hex(4)}."
    yield KafkaSettings.of_url(broker.url).model_copy(update={"topic_prefix": prefix})
    broker.delete_topics(prefix)
