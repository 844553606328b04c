"""Events in one line: ``fact("stone_placed", point="Q16")``, ``event(...)``, and the words of the tests for enums."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from caipan.rules.pins import pin
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.common_pb2 import Actor, Role, Source
from caipan.v1.event_pb2 import Event
from caipan.v1.facts_pb2 import GameOpened
from caipan.v1.regulations_pb2 import Regulations, SuperkoMode

START_MS = 1_700_000_000_000  # table time at which every test game begins
SEATS = {"B": 1, "W": 2, "": 0}
LETTERS = {1: "B", 2: "W", 0: ""}


def t(text: str) -> int:
    """Ms of a time as the rules write it: "2:10:05", "12:30", "0:10:00.4"."""
    seconds = 0.0
    for part in text.split(":"):
        seconds = seconds * 60 + float(part)
    return round(seconds * 1000)


def actor(role: str = "RECORDER", person: str = "") -> Actor:
    return Actor(person=person or role.lower(), role=Role.Value(f"ROLE_{role}"))


def opened(
    size: int = 0,
    black: Iterable[str] = (),
    white: Iterable[str] = (),
    to_move: str = "",
    observed: Iterable[str] = (),
    players: Iterable[str] = (),
    officials: Iterable[tuple[str, str]] = (),
    colours: tuple[str, str] | None = None,
    **regulations: Any,
) -> GameOpened:
    """A pinned game.opened of an untimed game by CN2002; ``regulations`` are fields of Regulations."""
    if isinstance(regulations.get("superko_mode"), str):
        regulations["superko_mode"] = SuperkoMode.Value(f"SUPERKO_MODE_{regulations['superko_mode']}")
    asked = Regulations(**{"edition": "CN2002", "untimed": True, **regulations})
    message = GameOpened(
        size=size,
        players=players,
        initial_black=black,
        initial_white=white,
        side_to_move=SEATS[to_move],
        observed=[f"OBSERVED_{name}" for name in observed],
        regulations=asked,
    )
    for person, role in officials:
        message.officials.add(person=person, role=Role.Value(f"ROLE_{role}"))
    if colours:
        message.colours.black, message.colours.white = colours
    message.pins.CopyFrom(pin(message))
    return message


def event(
    game_id: str,
    event_id: str,
    fact: Any,
    *,
    at_ms: int,
    player: str = "",
    source: tuple[str, str] = ("board", ""),
    source_seq: int = 0,
    by: Actor | None = None,
) -> Event:
    """An event of ``fact``, a message of the type that the field of the event has."""
    made = Event(
        event_id=event_id,
        game_id=game_id,
        at_ms=at_ms,
        source=Source(id=source[0], boot=source[1]),
        source_seq=source_seq,
        player=SEATS[player],
        by=by or actor(),
    )
    field = field_of(fact)
    getattr(made, field).SetInParent()
    getattr(made, field).CopyFrom(fact)
    return made


def field_of(fact: Any) -> str:
    """The field of Event that holds a fact: "stone_placed" for a StonePlaced."""
    name = type(fact).__name__
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def found(verdict: pb.Verdict) -> list[str]:
    """The findings of a verdict as "CN2002 17.2 OUT_OF_TURN"."""
    return [f"{each.clause} {kind_of(each)}" for each in verdict.findings]


def kind_of(finding: pb.Finding) -> str:
    return pb.FindingKind.Name(finding.kind).removeprefix("FINDING_KIND_")


def status_of(verdict: pb.Verdict) -> str:
    return pb.Status.Name(verdict.status).removeprefix("STATUS_")
