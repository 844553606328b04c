"""Real games as a hall sends them: stones from a board, presses from a clock, slips that are corrected.

Now and then a player sets a second stone; it is claimed and ruled, and sometimes that ruling is superseded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from bench.games import Record, records
from support.events import START_MS

from caipan.rules.game import Past
from caipan.stamp import stamped
from caipan.v1.common_pb2 import COLOR_BLACK, COLOR_WHITE, ROLE_CHIEF, Actor
from caipan.v1.event_pb2 import Event
from caipan.v1.facts_pb2 import HAND_SAME, OBSERVED_PRESSES, ClaimRaised, RecordCorrected

CHIEF = Actor(person="p-chief", role=ROLE_CHIEF)  # reports everything, and rules

_SLIP = 0.03  # of the stones
_SLIP_SEEN_AFTER = 8  # acts at most
_INCIDENT = 0.02  # of the stones
_SECOND_THOUGHTS = 0.3
_DOUBLE, _OPTIONS = "CN2002 17.2", ("VOID_AND_WARN", "DISMISS")


@dataclass(frozen=True)
class Sent:
    """A game: its events in order, each once. ``alone``: sent by one client in this order, else by two at a time."""

    game_id: str
    events: list[Event]
    alone: bool

    @property
    def event_ids(self) -> list[str]:
        return sorted(event.event_id for event in self.events)

    def undisturbed(self) -> list[Past]:
        """The log of the game where nothing goes wrong."""
        return [Past(stamped(event, CHIEF), offset) for offset, event in enumerate(self.events)]


def games(random: Random, moves: tuple[int, int], finished: bool = False) -> Iterator[Sent]:
    """Games without end: the real ones again and again, each cut at a number of moves between these two.

    ``finished``: Black resigns then.
    """
    real, number = records(), 0
    while True:
        number += 1
        record = random.choice(real)
        script = _Script(f"chaos/{number:04d}", random)
        script.play(record, random.randint(*moves), finished)
        yield Sent(script.game_id, script.events, alone=number % 2 == 1)


class _Script:
    """The events of one game, as they are made."""

    def __init__(self, game_id: str, random: Random) -> None:
        self.game_id = game_id
        self.events: list[Event] = []
        self._random = random
        self._at_ms = START_MS
        self._counts: dict[str, int] = {}
        self._slips: list[tuple[int, str, str]] = []  # after how many events each is seen, its id, the true point

    def play(self, record: Record, moves: int, finished: bool) -> None:
        self._open(record)
        for colour, point in record.moves[:moves]:
            player = COLOR_BLACK if colour == "B" else COLOR_WHITE
            self._act(point, player, record.size)
            self._add("clock", 700, player).clock_pressed.hand = HAND_SAME
            if self._random.random() < _INCIDENT:
                self._incident(player, record.size)
            self._correct(len(self.events))
        self._correct(len(self.events) + _SLIP_SEEN_AFTER)
        if finished:
            self._add("board", 1000, COLOR_BLACK).game_resigned.SetInParent()

    def _open(self, record: Record) -> None:
        opened = self._add("backend", 0).game_opened
        opened.size, opened.regulations.edition, opened.regulations.untimed = record.size, "CN2002", True
        opened.initial_black.extend(point for colour, point in record.set_up if colour == "B")
        opened.initial_white.extend(point for colour, point in record.set_up if colour == "W")
        opened.side_to_move = COLOR_BLACK if record.moves[0][0] == "B" else COLOR_WHITE
        opened.observed.append(OBSERVED_PRESSES)
        opened.officials.add(person=CHIEF.person, role=CHIEF.role)

    def _act(self, point: str, player: Any, size: int) -> None:
        event = self._add("board", 20_000, player)
        if point == "-":
            event.pass_declared.SetInParent()
            return
        event.stone_placed.point = point
        if self._random.random() < _SLIP:
            event.stone_placed.point = f"{self._random.choice('ABCDEFGHJ')}{self._random.randint(1, size)}"
            seen = len(self.events) + self._random.randint(1, _SLIP_SEEN_AFTER)
            self._slips.append((seen, event.event_id, point))

    def _incident(self, player: Any, size: int) -> None:
        """A second stone in a row, the opponent's claim, a ruling; the chief may think better of it."""
        point = f"{self._random.choice('ABCDEFGHJ')}{self._random.randint(1, size)}"
        self._add("board", 500, player).stone_placed.point = point
        claim = self._add("tablet", 3000, COLOR_BLACK + COLOR_WHITE - player).claim_raised
        claim.kind, claim.clause, claim.against = ClaimRaised.KIND_COMPLAINT, _DOUBLE, player
        first = self._rule(player, self._random.choice(_OPTIONS))
        if self._random.random() < _SECOND_THOUGHTS:
            self._rule(player, self._random.choice(_OPTIONS), supersedes=first)

    def _rule(self, against: Any, option: str, supersedes: str = "") -> str:
        event = self._add("tablet", 30_000)
        ruling = event.ruling_decided
        ruling.clause, ruling.option, ruling.role, ruling.against = _DOUBLE, option, CHIEF.role, against
        ruling.reason, ruling.supersedes = "seen by the arbiter", supersedes
        return event.event_id

    def _correct(self, until: int) -> None:
        """Corrects the slips that are seen by the event ``until``."""
        for seen, event_id, point in list(self._slips):
            if seen <= until:
                self._slips.remove((seen, event_id, point))
                correction = self._add("board", 100).record_corrected
                correction.ref, correction.kind = event_id, RecordCorrected.KIND_REPLACE
                correction.fact.stone_placed.point = point

    def _add(self, source: str, after_ms: int, player: Any = 0) -> Event:
        self._at_ms += after_ms
        number = self._counts[source] = self._counts.get(source, 0) + 1
        event = Event(event_id=f"{source}-{number}", game_id=self.game_id, at_ms=self._at_ms, player=player)
        event.source.id, event.source.boot, event.source_seq = source, "1", number
        self.events.append(event)
        return event
