"""What a process logs: one entry a line, for a person or for a program, libraries included, nothing secret."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator

import pytest
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from caipan.serving.logging import SELDOM_S, LogFormat, log_to_stderr
from caipan.serving.tokens import make_token

Lines = Callable[[], list[str]]


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Iterator[Lines]:
    """What was logged since it was asked last; the loggers of the process are as before afterwards."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield lambda: capsys.readouterr().err.splitlines()
    structlog.reset_defaults()
    root.handlers[:], root.level = handlers, level


def fail() -> None:
    raise ValueError("two heads")


def test_as_json_each_entry_is_an_object_with_the_service_and_its_fields(lines: Lines) -> None:
    log_to_stderr("referee", LogFormat.JSON)
    structlog.get_logger().warning("diverged", partition=3, game_id="T1/r1/棋", head=b"\x01")
    (line,) = lines()
    entry = json.loads(line)
    assert entry.pop("timestamp").endswith("Z")
    assert entry == {
        "event": "diverged",
        "level": "warning",
        "service": "referee",
        "partition": 3,
        "game_id": "T1/r1/棋",
        "head": "b'\\x01'",
    }


@pytest.mark.parametrize("log_format", LogFormat)
def test_libraries_are_heard_from_warning_on_and_caipan_from_info_on(lines: Lines, log_format: LogFormat) -> None:
    log_to_stderr("query", log_format)
    for name in ("faust", "aiokafka.conn", "kafka"):
        logging.getLogger(name).info("not this")
        logging.getLogger(name).warning("from %s", name)
    structlog.get_logger().debug("not this")
    structlog.get_logger().info("from caipan")
    told = lines()
    assert len(told) == 4
    assert all("query" in line for line in told)
    assert "from aiokafka.conn" in told[1]
    assert "from caipan" in told[3]


def test_an_exception_is_a_field_with_its_traceback_as_json_and_one_line_for_a_person(lines: Lines) -> None:
    for log_format in LogFormat:
        log_to_stderr("gateway", log_format)
        for logger in (structlog.get_logger(), logging.getLogger("faust")):
            try:
                fail()
            except ValueError:
                logger.exception("failed")
            (line,) = lines()
            if log_format is LogFormat.JSON:
                assert json.loads(line)["exception"].startswith("Traceback")
                assert json.loads(line)["exception"].endswith("ValueError: two heads")
            else:
                assert "Traceback" not in line
                assert "ValueError: two heads at test_serving_logging.py:" in line


@pytest.mark.parametrize("log_format", LogFormat)
def test_tokens_and_passwords_are_not_written(lines: Lines, log_format: LogFormat) -> None:
    log_to_stderr("gateway", log_format)
    token = make_token(Ed25519PrivateKey.generate(), "p", ["CHIEF"], ["*"], [], 60)
    structlog.get_logger().error("refused", error=f"Bearer {token}", database="postgresql://caipan:pass-word@host/db")
    logging.getLogger("grpc").error("metadata %s", {"authorization": f"Bearer {token}"})
    try:
        raise OSError(f"no way with {token}")
    except OSError:
        structlog.get_logger().exception("failed")
    told = "\n".join(lines())
    assert len(told.splitlines()) == 3
    assert token not in told
    assert token.rpartition(".")[2] not in told
    assert "pass-word" not in told
    assert "***@host/db" in told


def test_what_a_library_says_again_and_again_is_written_once_in_a_while_with_how_often(lines: Lines) -> None:
    log_to_stderr("query", LogFormat.JSON)

    def say(logger: str, line: int, number: int, at_s: float) -> None:
        record = logging.LogRecord(logger, logging.ERROR, "client.py", line, "no node %s", (number,), None)
        record.created = at_s
        logging.getLogger(logger).handle(record)

    for number in range(1000):
        say("aiokafka", 7, number, 5000.0 + number / 1000)
    say("aiokafka", 8, 1, 5000.0)
    say("kafka", 7, 2, 5000.0)
    say("aiokafka", 7, 1000, 5000.0 + SELDOM_S)
    say("aiokafka", 7, 1001, 4000.0)  # the clock was set back
    told = [json.loads(line) for line in lines()]
    assert [(each["logger"], each["event"], each.get("repeated")) for each in told] == [
        ("aiokafka", "no node 0", None),
        ("aiokafka", "no node 1", None),
        ("kafka", "no node 2", None),
        ("aiokafka", "no node 1000", 999),
        ("aiokafka", "no node 1001", None),
    ]


@pytest.mark.parametrize("log_format", LogFormat)
def test_a_text_of_several_lines_is_one_line(lines: Lines, log_format: LogFormat) -> None:
    log_to_stderr("query", log_format)
    logging.getLogger("asyncio").error("Task was destroyed\ntask: %s", "<Task\n>")
    (line,) = lines()
    assert "Task was destroyed" in line


def test_caipan_itself_is_not_held_back(lines: Lines) -> None:
    log_to_stderr("query")
    for _ in range(3):
        structlog.get_logger().warning("parked")
    assert len(lines()) == 3
