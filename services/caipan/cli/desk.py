"""Who acts at the arbiters' desk, and how what is missing is asked for at a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from datetime import time as clock_time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar
from uuid import uuid4

import typer

from caipan.cli.console import CommandError, printable
from caipan.v1.common_pb2 import (
    COLOR_BLACK,
    COLOR_UNSPECIFIED,
    COLOR_WHITE,
    ROLE_ARBITER,
    ROLE_CHIEF,
    ROLE_COMMITTEE,
    ROLE_DEPUTY,
    Actor,
    Color,
    Role,
)
from caipan.v1.facts_pb2 import Official

# Who reports where no token is given; a ruling is an official's of the game.
DESK = Actor(person="caipan-desk", role=ROLE_ARBITER)

_RULING = (ROLE_ARBITER, ROLE_DEPUTY, ROLE_CHIEF, ROLE_COMMITTEE)
_HOLD = {
    ROLE_ARBITER: (ROLE_ARBITER, ROLE_DEPUTY, ROLE_CHIEF),
    ROLE_DEPUTY: (ROLE_DEPUTY, ROLE_CHIEF),
}

T = TypeVar("T")


class Seat(StrEnum):
    """A side."""

    B = "B"
    W = "W"


DeskToken = Annotated[
    str | None,
    typer.Option(
        "--token",
        help="Token of the caller; without it one of an arbiter, by the development key in --data.",
        envvar="CAIPAN_TOKEN",
    ),
]
EventId = Annotated[
    str, typer.Option(help="Id of this act: repeated with the same one it has one effect.", show_default=False)
]
At = Annotated[
    str,
    typer.Option(
        "--at", help="When, at the table: 10:30, 2026-05-04T10:30:00, or ms; without it now.", show_default=False
    ),
]
Against = Annotated[Seat | None, typer.Option(help="The side it is about.", case_sensitive=False)]
Refs = Annotated[list[str] | None, typer.Option("--ref", help="event_id of what it is about; several times.")]


def seat(side: Seat | None) -> Color.ValueType:
    """As events have it."""
    return {Seat.B: COLOR_BLACK, Seat.W: COLOR_WHITE, None: COLOR_UNSPECIFIED}[side]


def new_id(kind: str) -> str:
    """An id for an act that nobody has named."""
    return f"{kind}-{uuid4().hex[:12]}"


def at_ms(text: str) -> int:
    """The time that was given, in the time zone of this machine where it names none; else now. Raises BadParameter."""
    if not text:
        return time.time_ns() // 1_000_000
    if text.isdecimal():
        return int(text)
    today = datetime.now().astimezone()
    try:
        if "T" in text or "-" in text:
            moment = datetime.fromisoformat(text)
        else:
            moment = datetime.combine(today.date(), clock_time.fromisoformat(text))
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is no time; write 10:30 or 2026-05-04T10:30:00", param_hint="--at"
        ) from None
    return round((moment if moment.tzinfo else moment.astimezone()).timestamp() * 1000)


class Decider(NamedTuple):
    """Who decides: the person, the token for it, and the role of the token that the call acts in."""

    person: str
    token: str
    acting: str


def decider(token: str | None, data: Path, officials: Sequence[Official], role: Role.ValueType, person: str) -> Decider:
    """Who decides in ``role``: whom the token speaks for, else an official of the game, or ``person``.

    Raises CommandError, BadParameter.
    """
    from caipan.cli.client import token_for
    from caipan.serving.tokens import role_name, speaks_for

    if token is not None:
        try:
            identity = speaks_for(token)
        except ValueError as error:
            raise CommandError(f"{error}; get a new one") from None
        acting = next((each for each in (role, *identity.roles) if each in identity.roles and each in _RULING), None)
        return Decider(identity.person, token, role_name(acting or identity.roles[0]))
    holders = _HOLD.get(role, (role,))
    held = [official.person for holder in holders for official in officials if official.role == holder]
    if not person and not held:
        raise typer.BadParameter(
            "the game was opened without such an official: name who decides", param_hint="--person"
        )
    actor = Actor(person=person or held[0], role=role)
    return Decider(actor.person, token_for(None, data, actor), role_name(role))


def is_terminal() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty()


def ask(what: str, option: str, *, default: str | None = None) -> str:
    """Asks for a text. Raises BadParameter naming the option where nobody can be asked."""
    if not is_terminal():
        raise typer.BadParameter(f"missing: {what}", param_hint=option)
    return str(typer.prompt(printable(what), default=default, err=True)).strip()


def choose(what: str, option: str, choices: Sequence[tuple[T, str]]) -> T:
    """Asks for one of the choices, each with its line. Raises BadParameter naming them where nobody can be asked."""
    if not is_terminal():
        lines = "; ".join(line.split("  ")[0] for _, line in choices)
        raise typer.BadParameter(f"missing: {what}: {lines}", param_hint=option)
    for number, (_, line) in enumerate(choices, 1):
        typer.echo(printable(f"  {number}  {line}"), err=True)

    def chosen(answer: str) -> T:
        if not answer.isdecimal() or not 1 <= int(answer) <= len(choices):
            raise ValueError(f"a number from 1 to {len(choices)}")
        return choices[int(answer) - 1][0]

    return ask_until(what, option, chosen)


def ask_until(what: str, option: str, parse: Callable[[str], T]) -> T:
    """Asks until the answer can be read. ``parse`` raises ValueError."""
    while True:
        answer = ask(what, option)
        try:
            return parse(answer)
        except ValueError as error:
            typer.echo(f"  {error}", err=True)
