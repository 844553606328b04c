"""The 25 real games as logs of events."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from caipan.rules.pins import pin
from caipan.rules.points import names
from caipan.v1.common_pb2 import COLOR_BLACK, COLOR_WHITE, ROLE_ARBITER, ROLE_RECORDER
from caipan.v1.event_pb2 import Event
from caipan.v1.facts_pb2 import HAND_SAME, OBSERVED_PRESSES
from caipan.v1.regulations_pb2 import REGIME_BYOYOMI

GAMES = Path(__file__).parents[1] / "data" / "games.jsonl"
START_MS = 1_760_000_000_000


_RULED_AT = 10  # moves


@dataclass(frozen=True)
class Record:
    """A game: ``set_up`` and ``moves`` as ("B", "Q16"), a pass as ("B", "-"); coordinates of all stones for sgfmill."""

    name: str
    size: int
    set_up: list[tuple[str, str]]
    moves: list[tuple[str, str]]

    @cached_property
    def coordinates(self) -> list[tuple[int, int, str]]:
        columns = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
        stones = [stone for stone in self.set_up + self.moves if stone[1] != "-"]
        return [(int(point[1:]) - 1, columns.index(point[0]), colour.lower()) for colour, point in stones]


def records() -> list[Record]:
    """All games; the stones of a handicap are set-up."""
    found = []
    for line in GAMES.read_text().splitlines():
        game = json.loads(line)
        set_up, moves = ([(word[0], word[1:]) for word in game[part].split()] for part in ("set_up", "moves"))
        handicap = game["handicap_moves"]
        found.append(Record(game["name"], game["size"], set_up + moves[:handicap], moves[handicap:]))
    return found


def events_of(record: Record, game_id: str = "", *, in_byoyomi: bool = False) -> list[bytes]:
    """The game as stored events: the opening, then a stone and a press for each move, from a board and a clock.

    ``in_byoyomi``: with clocks, and a double move that is ruled after a few moves: the warning stands all the game.
    """
    game_id = game_id or record.name
    counts: dict[str, int] = {}
    at_ms = START_MS

    def event(source: str, player: int = 0) -> Event:
        counts[source] = number = counts.get(source, 0) + 1
        made = Event(event_id=f"{source}-{number:06d}-{game_id[:10]}", game_id=game_id, at_ms=at_ms, source_seq=number)
        made.source.id, made.source.boot, made.player = source, "1", player
        made.by.person, made.by.role = "recorder-1", ROLE_RECORDER
        return made

    first = event("backend")
    opened = first.game_opened
    opened.size, opened.regulations.edition, opened.regulations.untimed = record.size, "CN2002", True
    opened.initial_black.extend(point for colour, point in record.set_up if colour == "B")
    opened.initial_white.extend(point for colour, point in record.set_up if colour == "W")
    opened.side_to_move = COLOR_BLACK if record.moves[0][0] == "B" else COLOR_WHITE
    opened.observed.append(OBSERVED_PRESSES)
    if in_byoyomi:
        regulations = opened.regulations
        regulations.untimed, regulations.regime, regulations.basic_time_s = False, REGIME_BYOYOMI, 7200
        opened.officials.add(person="arbiter", role=ROLE_ARBITER)
    opened.pins.CopyFrom(pin(opened))
    log = [first]
    for number, (colour, point) in enumerate(record.moves):
        player = COLOR_BLACK if colour == "B" else COLOR_WHITE
        at_ms += 20_000
        log.append(event("board", player))
        if point == "-":
            log[-1].pass_declared.SetInParent()
        else:
            log[-1].stone_placed.point, log[-1].stone_placed.color = point, player
        at_ms += 700
        log.append(event("clock", player))
        log[-1].clock_pressed.hand = HAND_SAME
        if in_byoyomi and number == _RULED_AT:
            log.append(event("board", player))
            log[-1].stone_placed.point, log[-1].stone_placed.color = _never_played(record), player
            log.append(event("tablet"))
            log[-1].by.person, log[-1].by.role = "arbiter", ROLE_ARBITER
            ruling = log[-1].ruling_decided
            ruling.clause, ruling.option, ruling.against, ruling.role = (
                "CN2002 17.2",
                "VOID_AND_WARN",
                player,
                ROLE_ARBITER,
            )
    return [each.SerializeToString(deterministic=True) for each in log]


def _never_played(record: Record) -> str:
    """A point on which no stone ever lies."""
    played = {point for _, point in record.set_up + record.moves}
    return next(point for point in names(record.size) if point not in played)
