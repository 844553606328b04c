"""What the command prints: text through rich, JSON as it is, errors as one line."""

from __future__ import annotations

import json
import sys
from typing import Any

from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message
from rich.console import Console


class CommandError(Exception):
    """Something the user can mend; each argument is one sentence that says what and how. The command ends with 1."""


def stdout() -> Console:
    """The console for what was asked for."""
    return Console(highlight=False, markup=False, emoji=False, soft_wrap=True)


def stderr() -> Console:
    """The console for everything else: progress, errors, summaries."""
    return Console(highlight=False, markup=False, emoji=False, stderr=True)


def printable(text: str) -> str:
    """Text of others as one line without anything that could steer a terminal."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def say_error(message: str) -> None:
    """One line on stderr."""
    print(f"caipan: {printable(' '.join(message.split()))}", file=sys.stderr)


def json_of(message: Message) -> str:
    """A message as one line of protobuf JSON with the field names of the protos."""
    return MessageToJson(message, preserving_proto_field_name=True, indent=None, ensure_ascii=False)


def print_json(value: Any) -> None:
    """One line of JSON, at once."""
    print(json_of(value) if isinstance(value, Message) else json.dumps(value, ensure_ascii=False), flush=True)
