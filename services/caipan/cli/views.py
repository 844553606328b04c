"""A game, a status, a quarantined record for a person at a terminal."""

from __future__ import annotations

from datetime import UTC, datetime

from google.protobuf.message import DecodeError
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from caipan.cli.console import json_of, printable
from caipan.cli.draw import Goban
from caipan.cli.words import SIDES, name_of, result_of
from caipan.v1.event_pb2 import Event
from caipan.v1.operation_service_pb2 import GetStatusResponse, Quarantined
from caipan.v1.outcome_pb2 import Phase
from caipan.v1.state_pb2 import GameState

_SHOWN_BYTES = 256


def game_view(state: GameState) -> RenderableType:
    """The board of a game, who plays, and where it stands."""
    return Group(
        Text(printable(f"{state.game_id} {_players(state)}".rstrip()), style="bold"),
        Goban(state.board, state.last_point, state.provisional),
        Text("\n".join(_lines(state))),
    )


def _players(state: GameState) -> str:
    colours = state.colours if state.HasField("colours") else state.opened.colours
    if colours.black:
        return f" {colours.black} (X) - {colours.white} (O)"
    return f" {' - '.join(state.opened.players)}" if state.opened.players else ""


def _lines(state: GameState) -> list[str]:
    phase = name_of(Phase.Name(state.phase), "PHASE_").replace("_", " ")
    turn = f", {SIDES[state.turn]} to move" if phase == "play" and state.turn in SIDES else ""
    lines = [
        f"move {state.move_number}{turn}; {phase}; captured: {state.captured_black} black, {state.captured_white} white"
    ]
    if state.provisional:
        lines.append(f"provisional: {' '.join(state.provisional)}")
    if state.HasField("result"):
        lines.append(f"result: {result_of(state.result)}")
    if state.diverged:
        lines.append("DIVERGED: the outcomes of this game contradict each other; call the operator")
    return [*lines, f"{state.seq} outcomes; head {state.head.hex()}"]


def status_view(address: str, health: str, status: GetStatusResponse) -> RenderableType:
    """How far the folds are, and what waits for somebody."""
    table = Table("partition", "events", "judged", "outcomes", "served", box=None, pad_edge=False)
    for each in status.partitions:
        numbers = (each.partition, each.events_end, each.folded, each.outcomes_end, each.served)
        table.add_row(*map(str, numbers))
    lines = [
        f"{address}  {health}  caipan {status.version}",
        f"games {status.games}, in play {status.games_in_play}; events parked {status.parked}, "
        f"in quarantine {status.quarantined}",
    ]
    for name, games in (("without game_opened", status.orphans), ("diverged", status.diverged)):
        if games:
            lines.append(printable(f"{name}: {' '.join(games)}"))
    return Group(Text("\n".join(lines)), table)


def quarantined_line(record: Quarantined) -> str:
    """One line on a record in quarantine."""
    at = datetime.fromtimestamp(record.recorded_at_ms / 1000, UTC)
    key = record.key.decode("utf-8", "backslashreplace")
    about = f"{at:%Y-%m-%d %H:%M:%S} UTC  {key or '-'}  {len(record.value)} bytes  {record.reason}"
    return printable(f"{record.record_id}  {about}")


def quarantined_view(record: Quarantined) -> str:
    """All that is known of a record in quarantine."""
    lines = [quarantined_line(record), record.value[:_SHOWN_BYTES].hex(" ", 2)]
    if len(record.value) > _SHOWN_BYTES:
        lines.append(f"... the first {_SHOWN_BYTES} bytes; --json has all of them")
    try:
        lines.append(printable(f"read as an event: {json_of(Event.FromString(record.value))}"))
    except DecodeError:
        lines.append("these bytes are no event")
    return "\n".join(lines)
