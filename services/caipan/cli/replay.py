"""Events of a file or a log folded offline, by the same fold and to the same heads as in the service."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from caipan.cli.lines import Line
from caipan.cli.synthetic import RECORDER
from caipan.rules.game import Game, Past, read_event
from caipan.rules.pins import RegulationsError
from caipan.stamp import stamped
from caipan.v1.event_pb2 import Event
from caipan.v1.outcome_pb2 import Outcome

if TYPE_CHECKING:
    from caipan.eventlog import Record


@dataclass(slots=True)
class Replay:
    """Games, each judged up to ``until`` (0 = to the end); ``errors`` names the lines or records left out."""

    until: int = 0
    games: dict[str, Game] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    _past: dict[str, list[Past]] = field(default_factory=dict)

    def run(self, lines: Iterable[Line]) -> Iterator[Outcome]:
        """The outcomes of all lines in their order; the offset of an event is the number of its line."""
        for line in lines:
            if line.error:
                self.errors.append(f"line {line.number}: {line.error}")
                continue
            try:
                value = _value_of(line.event)
            except RegulationsError as error:
                self.errors.append(f"line {line.number}: game_opened.{error}")
                continue
            yield from self._judge(value, line.event.game_id, line.number)

    def run_log(self, records: Iterable[Record], partitions: int) -> Iterator[Outcome]:
        """The outcomes of records of game-events, a topic of so many partitions: the same as the referee's."""
        from caipan.referee.records import address_of

        for record in records:
            game_id, reason = address_of(record, partitions)
            if reason:
                self.errors.append(f"offset {record.offset}: {reason}")
            else:
                yield from self._judge(record.value, game_id, record.offset, record.partition)

    def _judge(self, value: bytes, game_id: str, offset: int, partition: int = 0) -> Iterator[Outcome]:
        game = self.games.setdefault(game_id, Game(game_id, partition))
        if self.until and game.seq >= self.until:
            return
        event, past = read_event(value, game_id), self._past.setdefault(game_id, [])
        if isinstance(event, str):
            judged = [game.quarantine(value, offset, event)]
        else:
            judged = game.apply(event, value, offset, past if game.wants_history(event) else ())
        for each in judged:
            if not self.until or each.seq <= self.until:
                yield Outcome.FromString(each.record)
        past.append(Past(value, offset))


def _value_of(event: Event) -> bytes:
    """The bytes of an event as in the log: what is stamped stays as it is. Raises RegulationsError."""
    if not event.HasField("by"):
        event.by.CopyFrom(RECORDER)
    if event.HasField("game_opened") and event.game_opened.HasField("pins"):
        return event.SerializeToString(deterministic=True)
    return stamped(event, event.by)
