"""Events of the published language from a game record, judged as they are made.

What the log needs and a file does not have (ids, times, who reports) derives from the bytes of the file, so the same
file has the same heads everywhere: offline here, or sent to a service by the same person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from caipan.record import Komi, Result, ResultKind, parse_komi, parse_result, read_record
from caipan.record.sgf import Colour, GameRecord
from caipan.rules.edition import edition
from caipan.rules.game import Game, read_event
from caipan.rules.results import handicap_return_qz
from caipan.stamp import stamped
from caipan.v1.common_pb2 import COLOR_BLACK, COLOR_UNSPECIFIED, COLOR_WHITE, ROLE_RECORDER, Actor, Color, Source
from caipan.v1.event_pb2 import Event
from caipan.v1.facts_pb2 import (
    DeadAnswered,
    DeadProposed,
    EndAnswered,
    EndProposed,
    GameOpened,
    GameResigned,
    PassDeclared,
    StonePlaced,
)
from caipan.v1.outcome_pb2 import PHASE_DEAD_STONES, PHASE_PLAY, Outcome, Verdict
from caipan.v1.regulations_pb2 import Regulations

RECORDER = Actor(person="caipan-adjudicate", role=ROLE_RECORDER)
_SOURCE = Source(id="sgf")
_STEP_MS = 1000
_COLOURS: dict[Colour | None, Color.ValueType] = {"B": COLOR_BLACK, "W": COLOR_WHITE, None: COLOR_UNSPECIFIED}


@dataclass(frozen=True, slots=True)
class Terms:
    """How a record is judged: by which edition, with which komi if not the file's, and which stones are dead if any."""

    edition: str = "CN2002"
    komi_qz: int | None = None
    dead: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """An event, without ``by`` and pins, the number of the file's move it belongs to, and the verdict on it."""

    event: Event
    file_move: int
    verdict: Verdict


@dataclass(slots=True)
class Played:
    """A record played through the fold. ``notes`` says in sentences what was assumed."""

    record: GameRecord
    game: Game
    komi: Komi | None
    result: Result
    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def last(self) -> Verdict:
        """The last verdict: where the game stands."""
        return self.steps[-1].verdict


def play(data: bytes, terms: Terms, game_id: str = "") -> Played:
    """Plays the record in the bytes of a file. Raises RegulationsError for an unknown edition."""
    record = read_record(data)
    name = sha256(data).hexdigest()[:24]
    komi = parse_komi(record.komi_text, record.rules_text)
    played = Played(record, Game(game_id or f"sgf-{name}"), komi, parse_result(record.result_text, komi))
    scribe = _Scribe(played, name)
    scribe.open(terms)
    scribe.moves()
    scribe.end(terms.dead)
    return played


class _Scribe:
    def __init__(self, played: Played, name: str) -> None:
        self._played = played
        self._name = name
        self._start_ms = _day_ms(played.record.date_text)

    def _tell(self, file_move: int, player: Color.ValueType = COLOR_UNSPECIFIED, **fact: Any) -> Verdict:
        """Makes the next event, whose fact is the one keyword, and lets the fold judge it."""
        played, number = self._played, len(self._played.steps) + 1
        game = played.game
        event = Event(
            event_id=f"{self._name}-{number}",
            game_id=game.game_id,
            at_ms=self._start_ms + number * _STEP_MS,
            source=_SOURCE,
            source_seq=number,
            player=player,
            **fact,
        )
        value = stamped(event, RECORDER)
        stored = read_event(value, game.game_id)
        assert isinstance(stored, Event)  # made here
        (judged,) = game.apply(stored, value, number - 1)
        verdict = Outcome.FromString(judged.record).verdict
        played.steps.append(Step(event, file_move, verdict))
        return verdict

    def open(self, terms: Terms) -> None:
        """The set-up, which may be the first moves of the file, and the regulations."""
        record = self._played.record
        set_as_moves = [move.point for move in record.moves[: record.handicap_moves] if move.point]
        opened = GameOpened(
            size=record.size,
            initial_black=[*record.setup_black, *set_as_moves],
            initial_white=record.setup_white,
            side_to_move=_COLOURS[record.to_play],
            regulations=Regulations(edition=terms.edition, untimed=True, komi_qz=self._komi_qz(terms)),
        )
        handicap = record.handicap or 0
        if handicap > 1 and handicap == len(opened.initial_black):
            opened.regulations.handicap = handicap
        elif record.to_play is None and record.moves and (record.setup_black or record.setup_white):
            opened.side_to_move = _COLOURS[record.moves[0].colour]
        if handicap > 1 and record.setup_black and not opened.regulations.handicap:
            stones = len(record.setup_black)
            self._played.notes.append(f"HA[{handicap}], but {stones} black stones are set up: taken as a plain set-up.")
        self._tell(record.handicap_moves, game_opened=opened)

    def _komi_qz(self, terms: Terms) -> int:
        """Komi in quarter-zi: as asked for, else the file's, with the return of a handicap (`S0 H`)."""
        if terms.komi_qz is not None:
            return terms.komi_qz
        record, komi, notes = self._played.record, self._played.komi, self._played.notes
        handicap = record.handicap or 0
        back_qz = handicap_return_qz(edition(terms.edition).counting, handicap) if handicap > 1 else 0
        if komi is None:
            why = f"KM[{record.komi_text}] is no komi" if record.komi_text else "The file names no komi"
            notes.append(f"{why}: taken as 0.")
        if back_qz:
            notes.append(f"For a handicap of {handicap} Black returns {handicap / 2:g} zi.")
        return back_qz + (komi.qz if komi else 0)

    def moves(self) -> None:
        """Every move of the main line that is not part of the set-up."""
        record = self._played.record
        over = 0
        for number, move in enumerate(record.moves[record.handicap_moves :], record.handicap_moves + 1):
            colour = _COLOURS[move.colour]
            if self._played.last.phase == PHASE_DEAD_STONES:
                over = over or number - 1
            if move.point:
                self._tell(number, colour, stone_placed=StonePlaced(point=move.point))
            else:
                self._tell(number, colour, pass_declared=PassDeclared())
        if over:
            self._played.notes.append(f"Two passes ended the game at move {over}; what follows changes nothing.")

    def end(self, dead: Sequence[str] | None) -> None:
        """The end as far as it can be told: the count asked for, a resignation in the file, or two passes."""
        played, number = self._played, len(self._played.record.moves)
        result = played.result
        if dead is not None:
            if played.last.phase == PHASE_PLAY:
                self._agree_to_end(number)
            self._count(number, dead)
            played.notes.append("The end and the agreement on the dead stones are assumed.")
        elif result.kind is ResultKind.RESIGNATION:
            self._tell(number, COLOR_WHITE if result.winner == "B" else COLOR_BLACK, game_resigned=GameResigned())
        elif result.kind in (ResultKind.COUNT, ResultKind.UNKNOWN):
            if played.last.phase == PHASE_DEAD_STONES:
                self._count(number, ())
                played.notes.append("All stones were taken as alive; name the dead ones with --dead.")
            else:
                played.notes.append("Not counted: no two passes at the end; name the dead stones with --dead.")

    def _agree_to_end(self, file_move: int) -> None:
        """The side on turn proposes; if a stone is provisional, it is the side that did not set it."""
        last = self._played.last
        proposer = last.turn
        if last.provisional:
            stones = (step.event for step in reversed(self._played.steps) if _set_a_stone(step.verdict))
            proposer = _other(next(stones).player)
        self._tell(file_move, proposer, end_proposed=EndProposed())
        self._tell(file_move, _other(proposer), end_answered=EndAnswered(accept=True))

    def _count(self, file_move: int, dead: Sequence[str]) -> None:
        self._tell(file_move, COLOR_BLACK, dead_proposed=DeadProposed(points=dead))
        self._tell(file_move, COLOR_WHITE, dead_answered=DeadAnswered(accept=True))


def _set_a_stone(verdict: Verdict) -> bool:
    return bool(verdict.added_black or verdict.added_white)


def _other(colour: Color.ValueType) -> Color.ValueType:
    return COLOR_WHITE if colour == COLOR_BLACK else COLOR_BLACK


def _day_ms(date_text: str) -> int:
    """Midnight of the day the file names, ms UTC; 0 where it names none after 1970."""
    named = re.search(r"([0-9]{4})[-./年]([0-9]{1,2})[-./月]([0-9]{1,2})", date_text)
    if named is None:
        return 0
    year, month, day = (int(part) for part in named.groups())
    try:
        return max(0, int(datetime(year, month, day, tzinfo=UTC).timestamp()) * 1000)
    except ValueError:
        return 0
