"""The log that a process keeps of itself, on standard error: lines for a person, or JSON for a collector.

Everything goes the same way, what the libraries log (faust, aiokafka, kafka, grpc: from WARNING on, the same thing
once in a while) included. Names of fields are the same everywhere: service, topic, partition, offset, game_id, error.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Any

import structlog
from structlog.typing import EventDict, Processor

# Tokens, and passwords in URLs: whoever reads a log must not be able to use them.
_SECRETS = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+|(?<=://)[^\s/@:]*:[^\s/@]+(?=@)")
_HIDDEN = "***"
SELDOM_S = 10.0  # between two entries from the same place in a library
_PLACE = re.compile(r'^ *File ".*?([^/"]+)", line ([0-9]+)', re.MULTILINE)


class LogFormat(StrEnum):
    """How the lines are written."""

    CONSOLE = "console"
    JSON = "json"


def log_to_stderr(service: str = "caipan", log_format: LogFormat = LogFormat.CONSOLE) -> None:
    """One entry a line, from INFO on, each with the name of the service."""
    shared = _shared(service)
    last = _LAST[log_format]()
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)  # whatever level the loggers of the libraries have
    handler.addFilter(_Seldom())
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, structlog.stdlib.ExtraAdder(["repeated"]), *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


class _Seldom(logging.Filter):
    """Lets each place in a library speak once in SELDOM_S, and tell how often it was held back since.

    Of a broker that is away they speak hundreds of times a second.
    """

    def __init__(self) -> None:
        super().__init__()
        self._spoke: dict[tuple[str, str, int], tuple[float, int]] = {}  # when, and how often held back since

    def filter(self, record: logging.LogRecord) -> bool:
        place = (record.name, record.pathname, record.lineno)
        spoke_s, held_back = self._spoke.get(place, (record.created - SELDOM_S, 0))
        if 0 <= record.created - spoke_s < SELDOM_S:
            self._spoke[place] = (spoke_s, held_back + 1)
            return False
        self._spoke[place] = (record.created, 0)
        if held_back:
            record.repeated = held_back
        return True


def _shared(service: str) -> list[Processor]:
    def add_service(_: Any, __: str, entry: EventDict) -> EventDict:
        entry.setdefault("service", service)
        return entry

    return [structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso"), add_service]


def _console() -> list[Processor]:
    line = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    return [structlog.processors.format_exc_info, _on_one_line, _hide_secrets, line]


def _json() -> list[Processor]:
    rendered = structlog.processors.JSONRenderer(ensure_ascii=False, default=str)
    return [structlog.processors.format_exc_info, _hide_secrets, rendered]


_LAST: dict[LogFormat, Callable[[], list[Processor]]] = {LogFormat.CONSOLE: _console, LogFormat.JSON: _json}


def _on_one_line(_: Any, __: str, entry: EventDict) -> EventDict:
    """What was raised and where, in one field: a person wants a line; whoever needs the traceback takes JSON."""
    traceback: str = entry.pop("exception", "")
    if traceback:
        places = _PLACE.findall(traceback)
        raised = traceback.strip().rpartition("\n")[2]
        entry["error"] = f"{raised} at {':'.join(places[-1])}" if places else raised
    return {name: " ".join(value.splitlines()) if isinstance(value, str) else value for name, value in entry.items()}


def _hide_secrets(_: Any, __: str, entry: EventDict) -> EventDict:
    return {name: _SECRETS.sub(_HIDDEN, value) if isinstance(value, str) else value for name, value in entry.items()}
