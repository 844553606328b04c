"""The demonstration: a service of its own, a real game with four incidents, the verdicts as a watcher gets them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from caipan.cli.client import Service, token_for
from caipan.cli.console import CommandError, stdout
from caipan.cli.follow import follow
from caipan.cli.lines import Line
from caipan.cli.online import tell_outcome
from caipan.cli.replay import Replay
from caipan.cli.synthetic import RECORDER
from caipan.cli.views import game_view
from caipan.rules.points import other
from caipan.v1.common_pb2 import (
    COLOR_BLACK,
    COLOR_UNSPECIFIED,
    COLOR_WHITE,
    ROLE_ARBITER,
    Actor,
    Color,
    Source,
)
from caipan.v1.event_pb2 import EVENT_TYPE_CLOCK_PRESSED, EVENT_TYPE_STONE_PLACED, Event
from caipan.v1.facts_pb2 import (
    OBSERVED_PRESSES,
    ClockPressed,
    Colours,
    CorrectedFact,
    GameOpened,
    GameResigned,
    Official,
    RecordCorrected,
    StonePlaced,
)
from caipan.v1.game_service_pb2 import GetGameRequest, WatchGameResponse
from caipan.v1.intake_service_pb2 import WAIT_VERDICT, Appended, AppendEventsRequest, AppendEventsResponse
from caipan.v1.outcome_pb2 import Outcome
from caipan.v1.regulations_pb2 import Regulations
from caipan.v1.ruling_service_pb2 import DecideRequest, Entry
from caipan.v1.rulings_pb2 import RulingDecided
from caipan.v1.state_pb2 import GameState

GAME_ID = "demo/r1/b1"
EARLY_PRESS, DOUBLE_MOVE, KO_SLIP, FORBIDDEN = 41, 60, 98, 110  # moves at which something happens
SECOND_POINT, KO_POINT, FORBIDDEN_POINT = "O3", "A15", "H13"
ARBITER = Actor(person="zhao", role=ROLE_ARBITER)

_START_MS = 1_773_900_000_000
_THINKING_MS = 20_000
_PAUSE_S = 0.6  # for the eyes, on a terminal
_STOP_S = 10.0
_SHORT = 5  # events of a scene of which every outcome is shown
_COMMON = (EVENT_TYPE_STONE_PLACED, EVENT_TYPE_CLOCK_PRESSED)


@dataclass(frozen=True, slots=True)
class Scene:
    """A part of the game: what is said about it, and its events."""

    title: str
    events: list[Event]


def scenes() -> list[Scene]:
    """The game, part by part."""
    hall = _Hall([point for line in _game_lines() if not line.startswith("#") for point in line.split()])
    return [
        Scene("The game is opened: stones come from the board, presses from the clock.", hall.opening()),
        Scene(f"Moves 1 to {EARLY_PRESS - 1}.", hall.moves(EARLY_PRESS - 1)),
        Scene(
            "Black presses the clock first and sets the stone afterwards. The case waits: it never stops a game.",
            hall.press_before_stone(),
        ),
        Scene(f"Moves {EARLY_PRESS + 1} to {DOUBLE_MOVE}.", hall.moves(DOUBLE_MOVE)),
        Scene("White sets another stone. A case is opened: it lists what may be ruled.", [hall.second_stone()]),
        Scene("The arbiter rules: the second move is void, one warning.", [hall.ruling()]),
        Scene(f"Moves {DOUBLE_MOVE + 1} to {KO_SLIP - 1}: Black takes a ko.", hall.moves(KO_SLIP - 1)),
        Scene("The recorder types that White takes the ko back at once ...", [hall.stone(KO_POINT)]),
        Scene("... but White had played elsewhere. The record is corrected.", hall.replaced()),
        Scene(f"Moves {KO_SLIP + 1} to {FORBIDDEN - 1}.", hall.moves(FORBIDDEN - 1)),
        Scene("The board reports a white stone on a forbidden point ...", [hall.stone(FORBIDDEN_POINT)]),
        Scene("... which was a sleeve over the sensor. The record is taken back.", [hall.retracted()]),
        Scene(
            "The rest of the game. White resigns. The early press still waits for an arbiter: caipan rule.", hall.rest()
        ),
    ]


def _game_lines() -> list[str]:
    return resources.files(__package__ or "caipan.cli").joinpath("demo_game.txt").read_text("utf-8").splitlines()


@dataclass(slots=True)
class _Hall:
    """The devices at the table: a board that sees stones, a clock that sees presses, each counting its events."""

    points: list[str]
    _made: int = 0
    _now_ms: int = _START_MS
    _counts: dict[str, int] = field(default_factory=dict)
    _last_id: str = ""

    def _event(self, source: str, player: Color.ValueType = COLOR_UNSPECIFIED, **fact: Any) -> Event:
        number = self._counts[source] = self._counts.get(source, 0) + 1
        self._last_id = f"{source}-{number}"
        return Event(
            event_id=self._last_id,
            game_id=GAME_ID,
            at_ms=self._now_ms,
            source=Source(id=source),
            source_seq=number,
            player=player,
            **fact,
        )

    @property
    def _player(self) -> Color.ValueType:
        return COLOR_WHITE if self._made % 2 else COLOR_BLACK

    def opening(self) -> list[Event]:
        opened = GameOpened(
            tournament_id="demo",
            players=["ding-hao", "fan-tingyu"],
            colours=Colours(black="ding-hao", white="fan-tingyu"),
            officials=[Official(person=ARBITER.person, role=ARBITER.role)],
            regulations=Regulations(edition="CN2002", untimed=True),
            observed=[OBSERVED_PRESSES],
        )
        return [self._event("backend", game_opened=opened)]

    def stone(self, point: str) -> Event:
        """A stone of the side on turn, after some thought; whether it is a move is for others to say."""
        self._now_ms += _THINKING_MS
        return self._event("board", self._player, stone_placed=StonePlaced(point=point))

    def press(self) -> Event:
        self._now_ms += 700
        return self._event("clock", self._player, clock_pressed=ClockPressed())

    def moves(self, last: int) -> list[Event]:
        """Stones and presses of the moves up to this one."""
        events = []
        while self._made < last:
            events += [self.stone(self.points[self._made]), self.press()]
            self._made += 1
        return events

    def press_before_stone(self) -> list[Event]:
        events = [self.press(), self.stone(self.points[self._made])]
        self._made += 1
        return events

    def second_stone(self) -> Event:
        """The side that has just moved sets a stone once more."""
        second = self.stone(SECOND_POINT)
        second.player = other(self._player)
        return second

    def ruling(self) -> Event:
        """The arbiter's, as RulingService stores it: of no device."""
        self._now_ms += _THINKING_MS
        side = other(self._player)
        said = RulingDecided(
            clause="CN2002 17.2", option="VOID_AND_WARN", role=ARBITER.role, against=side, reason="two stones in a row"
        )
        return Event(event_id="ruling-1", game_id=GAME_ID, at_ms=self._now_ms, ruling_decided=said, by=ARBITER)

    def replaced(self) -> list[Event]:
        """The last stone was another one, which is the move that was made; its press follows."""
        fact = CorrectedFact(stone_placed=StonePlaced(point=self.points[self._made]))
        said = RecordCorrected(ref=self._last_id, kind=RecordCorrected.KIND_REPLACE, fact=fact, reason="typing error")
        events = [self._event("board", record_corrected=said), self.press()]
        self._made += 1
        return events

    def retracted(self) -> Event:
        """The last stone was none."""
        said = RecordCorrected(ref=self._last_id, kind=RecordCorrected.KIND_RETRACT, reason="a misreading")
        return self._event("board", record_corrected=said)

    def rest(self) -> list[Event]:
        events = self.moves(len(self.points))
        return [*events, self._event("board", self._player, game_resigned=GameResigned())]


def show() -> None:
    """Runs the demonstration. Raises CommandError if anything is not as it must be."""
    with running_service() as (address, data):
        console = stdout()
        console.print(f"A service runs at {address}, its log in {data}.")
        play = scenes()
        recorder, desk = (Service(address, token_for(None, data, who)) for who in (RECORDER, ARBITER))
        state = _perform(recorder, desk, play)
        console.print("", "The same events folded offline, without any service:", sep="\n")
        head = _fold_offline(play)
        console.print(f"  head {head.hex()}: {'the same' if head == state.head else 'ANOTHER ONE'}")
        if head != state.head:
            raise CommandError("the heads differ: the service and the offline fold do not agree; please report this")
    console.print("The service is stopped.")


@contextmanager
def running_service() -> Iterator[tuple[str, Path]]:
    """A service on a free port with a folder of its own, both gone afterwards. Raises CommandError."""
    with tempfile.TemporaryDirectory(prefix="caipan-demo-") as folder:
        data = Path(folder)
        command = [sys.executable, "-m", "caipan.cli", "up", "--json", "--data", folder, "--listen", "127.0.0.1:0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as service:  # noqa: S603 - our own
            try:
                assert service.stdout is not None  # asked for
                ready = service.stdout.readline()
                if not ready:
                    raise CommandError("the service did not start")
                yield json.loads(ready)["address"], data
            finally:
                service.terminate()
                try:
                    service.wait(_STOP_S)
                except subprocess.TimeoutExpired:
                    service.kill()


def _perform(service: Service, desk: Service, play: list[Scene]) -> GameState:
    """Sends scene after scene and shows what a watcher of the game sees of each; returns the state at the end."""
    console, state = stdout(), GameState()
    opening, *rest = play
    console.print("", f"--- {opening.title}", sep="\n")
    tell_outcome(_send(service, opening)[0].outcome)
    service.call(service.games.GetGame, GetGameRequest(game_id=GAME_ID, min_seq=1))  # until readers know the game
    updates = service.watch(GAME_ID)
    state.CopyFrom(next(updates).snapshot)
    for scene in rest:
        console.print("", f"--- {scene.title}", sep="\n")
        if scene.events[0].HasField("ruling_decided"):
            _decide(desk, scene.events[0])
        else:
            _send(service, scene)
        is_short = len(scene.events) < _SHORT
        outcomes = _outcomes(updates, state, len(scene.events))
        told = [outcome for outcome in outcomes if is_short or _is_remarkable(outcome)]
        for outcome in told:
            tell_outcome(outcome)
        if is_short or scene is rest[-1]:
            console.print(game_view(state))
        else:
            console.print(f"{len(scene.events)} events, {len(told)} of them remarkable; move {state.move_number}")
        time.sleep(_PAUSE_S if console.is_terminal else 0)
    return state


def _send(service: Service, scene: Scene) -> Sequence[Appended]:
    request = AppendEventsRequest(events=scene.events, wait=WAIT_VERDICT)
    response: AppendEventsResponse = service.call(service.intake.AppendEvents, request)
    return response.results


def _decide(desk: Service, event: Event) -> None:
    entry = Entry(game_id=event.game_id, event_id=event.event_id, at_ms=event.at_ms)
    desk.call(desk.rulings.Decide, DecideRequest(entry=entry, ruling=event.ruling_decided))


def _outcomes(updates: Iterator[WatchGameResponse], state: GameState, count: int) -> list[Outcome]:
    """The next ``count`` outcomes that the watcher gets; ``state`` follows them."""
    outcomes: list[Outcome] = []
    while len(outcomes) < count:
        update = next(updates)
        if update.HasField("outcome") and follow(state, update.outcome):
            outcomes.append(update.outcome)
    return outcomes


def _is_remarkable(outcome: Outcome) -> bool:
    verdict = outcome.verdict
    return bool(verdict.findings or verdict.revised or verdict.event_type not in _COMMON)


def _fold_offline(play: list[Scene]) -> bytes:
    """The last head of the same events, folded here."""
    events = [event for scene in play for event in scene.events]
    *_, last = Replay().run(Line(number, event) for number, event in enumerate(events))
    return last.head
