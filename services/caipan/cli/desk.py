"""Who acts at the arbiters' desk, and how what is missing is asked for at a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from datetime import time as clock_time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Generic, NamedTuple, TypeVar
from uuid import uuid4

import typer

from caipan.cli.console import CommandError, printable
from caipan.cli.online import connect
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
from caipan.v1.event_pb2 import Event
from caipan.v1.rulings_pb2 import RulingDecided
from caipan.v1.state_pb2 import GameState

if TYPE_CHECKING:
    from caipan.cli.client import Service
    from caipan.serving.tokens import Identity

# Who reports where no token is given; a ruling is an official's of the game.
DESK = Actor(person="caipan-desk", role=ROLE_ARBITER)

_RULING = (ROLE_ARBITER, ROLE_DEPUTY, ROLE_CHIEF, ROLE_COMMITTEE)
_HOLD = {
    ROLE_ARBITER: (ROLE_ARBITER, ROLE_DEPUTY, ROLE_CHIEF),
    ROLE_DEPUTY: (ROLE_DEPUTY, ROLE_CHIEF),
}

_FIRST_MS, _LAST_MS = 10**11, 253_402_300_799_999  # from 1973 to 9999

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
        "--at",
        help="When: 10:30 or 10:30:15 of today, 2026-05-04T10:30:00 (both in the time zone of this machine), "
        "2026-05-04T10:30:00+08:00 or ...Z, or ms since 1970; without it now.",
        show_default=False,
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
    try:
        moment_ms = int(text) if text.isdecimal() else _moment_ms(text)
    except (ValueError, OverflowError):
        moment_ms = 0
    # Fewer digits are a time of day without its colon, or seconds.
    if not _FIRST_MS <= moment_ms <= _LAST_MS:
        raise typer.BadParameter(
            f"{text!r} is no time; write 10:30 or 10:30:15 for today, 2026-05-04T10:30:00, or ms since 1970",
            param_hint="--at",
        )
    return moment_ms


def _moment_ms(text: str) -> int:
    """Raises ValueError, OverflowError."""
    if "T" in text or "-" in text:
        moment = datetime.fromisoformat(text)
    else:
        moment = datetime.combine(datetime.now().astimezone().date(), clock_time.fromisoformat(text))
    return round((moment if moment.tzinfo else moment.astimezone()).timestamp() * 1000)


class Decider(NamedTuple):
    """Who decides: the person, the token for it, and the role of the token that the call acts in."""

    person: str
    token: str
    acting: str


def decider(token: str | None, data: Path, state: GameState, role: Role.ValueType, person: str) -> Decider:
    """Who decides in ``role``: whom the token speaks for, else an official of the game, or ``person``.

    Raises CommandError, also for a token that the gateway would not let decide in this game; BadParameter.
    """
    from caipan.cli.client import token_for
    from caipan.serving.tokens import role_name

    if token is not None:
        identity = _spoken_for(token)
        acting = _role_of(identity, (role, *_RULING))
        _check_may_decide(identity, acting, state.game_id)
        return Decider(identity.person, token, role_name(acting))
    holders = _HOLD.get(role, (role,))
    held = [official.person for holder in holders for official in state.opened.officials if official.role == holder]
    if not person and not held:
        raise typer.BadParameter(
            "the game was opened without such an official: name who decides", param_hint="--person"
        )
    actor = Actor(person=person or held[0], role=role)
    return Decider(actor.person, token_for(None, data, actor), role_name(role))


def at_desk(address: str, token: str | None, data: Path) -> Service:
    """The service as whoever reports calls it: with the token given, in its highest role of a desk, else as the desk.

    Raises CommandError.
    """
    from caipan.cli.client import token_for
    from caipan.serving.tokens import role_name

    acting = role_name(_role_of(_spoken_for(token), _RULING)) if token and token.strip() else ""
    return connect(address, token_for(token, data, DESK), acting)


def _spoken_for(token: str) -> Identity:
    """Whom a token speaks for. Raises CommandError."""
    from caipan.serving.tokens import speaks_for

    try:
        return speaks_for(token.strip())
    except ValueError as error:
        raise CommandError(f"{error}; get a new one") from None


def _role_of(identity: Identity, wanted: Sequence[Role.ValueType]) -> Role.ValueType:
    """The first of the wanted roles that a token has, else its first."""
    return next((role for role in wanted if role in identity.roles), identity.roles[0])


def _check_may_decide(identity: Identity, role: Role.ValueType, game_id: str) -> None:
    """Raises CommandError, in the words of the gateway, for a token that it would not let decide."""
    from caipan.gateway.permission import check_event
    from caipan.serving.errors import ServiceError

    try:
        check_event(identity, role, Event(game_id=game_id, ruling_decided=RulingDecided()), "token")
    except ServiceError as error:
        raise CommandError(f"{error.detail.reason}; give the token of somebody who may, with --token") from None


def is_terminal() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty()


def ask(what: str, option: str) -> str:
    """Asks for a text. Raises BadParameter naming the option where nobody can be asked, CommandError for Ctrl-C."""
    if not is_terminal():
        raise typer.BadParameter(f"missing: {what}", param_hint=option)
    try:
        return str(typer.prompt(printable(what), err=True)).strip()
    except typer.Abort:
        raise nothing_recorded() from None


def confirmed(what: str) -> bool:
    """Asks for a yes. Raises CommandError for Ctrl-C."""
    try:
        return typer.confirm(what, err=True)
    except typer.Abort:
        raise nothing_recorded() from None


def nothing_recorded() -> CommandError:
    """Whoever stops in the middle must know what has become of it."""
    return CommandError("nothing was recorded")


class Choice(NamedTuple, Generic[T]):
    """One of several: its line, and the names in it by which it may be called; the first is the shortest."""

    value: T
    line: str
    names: tuple[str, ...]


def choose(what: str, option: str, choices: Sequence[Choice[T]], *, numbered: bool = True) -> T:
    """Asks for one of the choices, by a name of it or, where they are ``numbered``, by the number of its line.

    Raises BadParameter naming them where nobody can be asked.
    """
    if not is_terminal():
        names = "; ".join(choice.names[0] for choice in choices)
        raise typer.BadParameter(f"missing: {what}: {names}", param_hint=option)
    for number, choice in enumerate(choices, 1):
        typer.echo(printable(f"  {number}  {choice.line}" if numbered else f"  {choice.line}"), err=True)

    def chosen(answer: str) -> T:
        called = [each.value for each in choices if answer.casefold() in map(str.casefold, each.names)]
        if numbered and answer.isdecimal() and 1 <= int(answer) <= len(choices):
            called = [choices[int(answer) - 1].value]
        if len(called) != 1:
            known = ", ".join(choice.names[0] for choice in choices)
            hint = f"a number from 1 to {len(choices)}, or a name: {known}" if numbered else f"one of {known}"
            raise ValueError(f"{answer} may be several of them: {hint}" if called else hint)
        return called[0]

    return ask_until(what, option, chosen)


def ask_until(what: str, option: str, parse: Callable[[str], T]) -> T:
    """Asks until the answer can be read. ``parse`` raises ValueError."""
    while True:
        answer = ask(what, option)
        try:
            return parse(answer)
        except ValueError as error:
            typer.echo(f"  {printable(str(error))}", err=True)
