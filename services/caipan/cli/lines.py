"""Events as JSON lines: one event in protobuf JSON on each line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.json_format import Parse, ParseError

from caipan.cli.console import CommandError
from caipan.v1.event_pb2 import Event

_CHUNK_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, from 1: its event, or why it has none."""

    number: int
    event: Event
    error: str = ""


def read_lines(file: Path) -> Iterator[Line]:
    """The events of a file, "-" for the standard input, empty lines left out. Raises CommandError for no such file."""
    for number, text in enumerate(_text_lines(file), 1):
        if text.strip():
            yield _read_line(number, text)


def _text_lines(file: Path) -> Iterator[str]:
    """Each line as soon as it is there."""
    rest, start = b"", 0
    try:
        with open(0, "rb", buffering=0, closefd=False) if str(file) == "-" else file.open("rb", buffering=0) as content:
            while chunk := content.read(_CHUNK_BYTES):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    yield _decoded(file, line, start)
                    start += len(line) + 1
        yield _decoded(file, rest, start)
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from error


def _decoded(file: Path, line: bytes, start: int) -> str:
    """The text of a line, which begins at the byte ``start`` of the file."""
    try:
        return line.decode("utf-8" if start else "utf-8-sig")
    except UnicodeDecodeError as error:
        at = start + error.start
        raise CommandError(f"{file}: no UTF-8 text (byte {at}); events are JSON, one on each line") from error


def _read_line(number: int, text: str) -> Line:
    event = Event()
    if not text.lstrip().startswith("{"):
        return Line(number, event, "no JSON object")
    try:
        Parse(text, event)
    except ParseError as error:
        return Line(number, event, _reason(str(error)))
    except RecursionError:
        return Line(number, event, "nested too deep")
    for missing in ("event_id", "game_id"):
        if not getattr(event, missing):
            return Line(number, event, f"{missing} is missing")
    if event.WhichOneof("fact") is None:
        return Line(number, event, "the fact is missing, e.g. stone_placed")
    return Line(number, event)


def _reason(error: str) -> str:
    """The message of the JSON reader without its list of every field there is, names as in the protos."""
    short = re.sub(r"\s*Available Fields.*", "", " ".join(error.split()), flags=re.DOTALL).rstrip(".")
    short = re.sub(r"invalid literal for int\(\) with base 10: (.*)", r"\1 is no whole number", short)
    short = short.removesuffix(' at "Event"')
    return re.sub(r'"Event\.([A-Za-z0-9_.\[\]]+)"', lambda found: _snake(found[1]), short)


def _snake(path: str) -> str:
    return re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), path)
