"""What a repeated event was answered the first time: found among the outcomes that came last, else in the log.

Both are gone through from the latest outcome of the game back, as far as needed: repeats mostly follow soon.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from caipan.eventlog import EventLog, Record
from caipan.v1.intake_service_pb2 import Appended, Judged
from caipan.v1.outcome_pb2 import FINDING_KIND_ID_CONFLICT, STATUS_DUPLICATE, STATUS_PARKED, Outcome, Verdict

OUTCOMES = "game-outcomes"

Position = tuple[int, int]  # partition and offset of an event

ANSWER_BYTES = 3_500_000  # below what a gRPC client takes by default

_ROOM_BYTES = 8 << 20
_RECORD_BYTES = 200  # what it takes to keep a record, its value aside
_FIRST_RANGE = 1000  # offsets; each further range is four times as wide


class Recent:
    """The outcomes that came last, as many as there is room for; of each game they are its latest, without a gap."""

    def __init__(self, room_bytes: int = _ROOM_BYTES) -> None:
        self._room_bytes = room_bytes
        self._games: dict[bytes, deque[tuple[int, bytes]]] = {}  # offset and value, oldest first
        self._order: deque[bytes] = deque()  # the game of each, oldest first

    def add(self, record: Record) -> None:
        """Takes in the next outcome of its partition."""
        game = record.key or b""
        self._games.setdefault(game, deque()).append((record.offset, record.value))
        self._order.append(game)
        self._room_bytes -= _RECORD_BYTES + len(record.value)
        while self._room_bytes < 0:
            self._drop_oldest()

    def since(self, game: bytes) -> int | None:
        """The offset from which on the outcomes of a game are here; None where there are none."""
        kept = self._games.get(game)
        return kept[0][0] if kept else None

    def latest_first(self, game: bytes) -> Iterator[bytes]:
        """The outcomes of a game that are here."""
        return (value for _, value in reversed(self._games.get(game, ())))

    def _drop_oldest(self) -> None:
        game = self._order.popleft()
        _, value = self._games[game].popleft()
        if not self._games[game]:
            del self._games[game]
        self._room_bytes += _RECORD_BYTES + len(value)


def answer(result: Appended | Judged, outcome: Outcome, originals: Mapping[Position, Outcome]) -> None:
    """Writes into ``result`` what became of an event: one that came again gets the answer that it got the first time.

    ``originals`` as of the function of this name.
    """
    result.status = outcome.verdict.status
    first: Outcome | None = outcome
    if result.status == STATUS_DUPLICATE:
        first = originals.get((outcome.partition, outcome.offset))
    if first is not None:
        result.outcome.CopyFrom(first)
        if first.verdict.status == STATUS_PARKED:
            result.status = STATUS_PARKED


async def originals(log: EventLog, recent: Recent, notices: Iterable[Outcome]) -> dict[Position, Outcome]:
    """What the events of DUPLICATE notices were answered the first time, by the position of the notice.

    It is an outcome; or the PARKED notice of an event that waits still. Nothing where there is no such answer. Raises
    LogError.
    """
    of_games: dict[str, list[Outcome]] = {}
    for notice in notices:
        of_games.setdefault(notice.verdict.game_id, []).append(notice)
    found: dict[Position, Outcome] = {}
    for game, of_game in of_games.items():
        search = _Search(of_game)
        if not search.ends_in(recent.latest_first(game.encode())):
            await _search_log(search, log, game.encode(), recent.since(game.encode()))
        found |= search.found
    return found


async def _search_log(search: _Search, log: EventLog, game: bytes, end: int | None) -> None:
    """Goes through the outcomes of a game before the offset ``end``, None for all of them."""
    if end is None:
        end = await log.end(OUTCOMES, search.partition)
    width = _FIRST_RANGE
    while end > 0:
        start = max(0, end - width)
        records = await log.read_key(OUTCOMES, game, start, end)
        if search.ends_in(record.value for record in reversed(records)):
            return
        end, width = start, 4 * width


class _Search:
    """A way back through the outcomes of one game."""

    def __init__(self, notices: list[Outcome]) -> None:
        self.partition = notices[0].partition
        self.found: dict[Position, Outcome] = {}
        self._by_seq: dict[int, list[Position]] = {}
        self._by_event: dict[str, list[Position]] = {}  # where the fold remembers the outcome no longer
        for notice in notices:
            seq, position = notice.verdict.original.seq, (notice.partition, notice.offset)
            if seq:
                self._by_seq.setdefault(seq, []).append(position)
            else:
                self._by_event.setdefault(notice.verdict.event_id, []).append(position)

    def ends_in(self, outcomes: Iterable[bytes]) -> bool:
        """Goes through further outcomes, latest first. Returns whether nothing is left to be found."""
        for value in outcomes:
            outcome = Outcome.FromString(value)
            verdict = outcome.verdict
            answered = self._by_seq.pop(verdict.seq, [])
            if verdict.status == STATUS_PARKED or (verdict.seq and not _is_conflict(verdict)):
                answered += self._by_event.pop(verdict.event_id, [])
            self.found |= dict.fromkeys(answered, outcome)
            if not self._by_seq and not self._by_event:
                return True
            if verdict.HasField("opened"):  # whatever was answered before is no answer to an event that counts
                return True
        return False


def _is_conflict(verdict: Verdict) -> bool:
    """Whether this is the outcome of another event that was sent under the same id."""
    return any(finding.kind == FINDING_KIND_ID_CONFLICT for finding in verdict.findings)
