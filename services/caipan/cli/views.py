"""A game, a status, a quarantined record for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from google.protobuf.message import DecodeError
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from caipan.cli.case_words import counts_of
from caipan.cli.console import json_of, printable
from caipan.cli.draw import Goban
from caipan.cli.words import SIDES, SIGNERS, case_of, name_of, result_of, signers_of
from caipan.v1.event_pb2 import Event
from caipan.v1.mark_pb2 import RefereePhase
from caipan.v1.operation_service_pb2 import GetStatusResponse, PartitionStatus, Quarantined
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
    if signed := signers_of(state.signed):
        missing = ", ".join(who for who in SIGNERS if who not in signed)
        rest = f"not yet by: {missing}" if missing else "the result is final"
        lines.append(f"signed by: {', '.join(signed)}; {rest}")
    if state.must_point_out in SIDES:
        lines.append(f"{SIDES[state.must_point_out]} must be shown the last move")
    lines += [f"against {SIDES[count.side]}: {counts_of(count)}" for count in state.penalties]
    lines += [printable(case_of(case)) for case in state.cases]
    if state.diverged:
        lines.append("DIVERGED: the outcomes of this game contradict each other; call the operator")
    return [*lines, f"{state.seq} outcomes; head {state.head.hex()}"]


def status_view(address: str, health: str, status: GetStatusResponse) -> RenderableType:
    """How far the folds are, and what waits for somebody."""
    names = ("partition", "events", "judged", "lag", "outcomes", "served", "lag", "refilled")
    table = Table(*names, box=None, pad_edge=False)
    for each in status.partitions:
        judging, serving = each.events_end - each.folded, each.outcomes_end - each.served
        numbers = (each.partition, each.events_end, each.folded, judging, each.outcomes_end, each.served, serving)
        table.add_row(*map(str, (*numbers, each.refilled)))
    quarantined = f"{status.quarantined}, retried {status.retried}" if status.retried else status.quarantined
    lines = [
        f"{address}  {health}  caipan {status.version}",
        f"games {status.games}, in play {status.games_in_play}; events parked {status.parked}, "
        f"in quarantine {quarantined}",
    ]
    for name, games in (("without game_opened", status.orphans), ("DIVERGED", status.diverged)):
        if games:
            lines.append(printable(f"{name}: {' '.join(games)}"))
    lines += [printable(f"JUDGED NO FURTHER: {game.game_id}: {game.reason}") for game in status.stopped]
    return Group(Text("\n".join(lines)), table, Text("\n".join(_referees(status.partitions))))


def _referees(partitions: Iterable[PartitionStatus]) -> list[str]:
    """One line for all partitions of which a worker tells the same: since when, and how long it took to begin."""
    of_workers: dict[tuple[str, RefereePhase.ValueType], list[PartitionStatus]] = {}
    for each in partitions:
        of_workers.setdefault((each.worker, each.phase), []).append(each)
    return [printable(_referee(*key, own)) for key, own in sorted(of_workers.items())]


def _referee(worker: str, phase: RefereePhase.ValueType, own: Sequence[PartitionStatus]) -> str:
    places = f"partition {', '.join(str(each.partition) for each in own)}"
    if not worker:
        return f"referee   nobody has judged {places} yet"
    since = _time(max(each.since_ms for each in own))
    takeover_ms = max(each.takeover_ms for each in own)
    took = f", taken over in {takeover_ms / 1000:.1f} s" if takeover_ms else ""
    return f"referee   {worker} {name_of(RefereePhase.Name(phase), 'REFEREE_PHASE_')} {places} since {since}{took}"


def _time(ms: int) -> str:
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def quarantined_line(record: Quarantined) -> str:
    """One line on a record in quarantine."""
    key = record.key.decode("utf-8", "backslashreplace")
    about = f"{_time(record.recorded_at_ms)}  {key or '-'}  {len(record.value)} bytes  {record.reason}"
    return printable(f"{record.record_id}  {about}{_retried(record)}")


def _retried(record: Quarantined) -> str:
    if not record.HasField("retried"):
        return ""
    event = record.retried
    outcome = f"outcome {event.seq}" if event.seq else "it waits"
    return f"  [retried: event {event.event_id} of {event.game_id}, {outcome}]"


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
