"""The subcommands that talk to a running service. What they load is loaded when they run."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from caipan.cli.console import CommandError, print_json, printable, say_error, stdout
from caipan.cli.ctrl_c import until_ctrl_c
from caipan.cli.lines import Line, read_lines
from caipan.cli.options import ADDRESS, DATA, Address, AsJson, Data, Token, WaitFor, place
from caipan.cli.words import details_of, outcome_of
from caipan.v1.game_service_pb2 import GetGameRequest, ListOutcomesRequest, WatchGameResponse
from caipan.v1.intake_service_pb2 import WAIT_LOG, WAIT_VERDICT, Appended, AppendEventsRequest
from caipan.v1.outcome_pb2 import STATUS_DUPLICATE, STATUS_PARKED, Outcome
from caipan.v1.state_pb2 import GameState

if TYPE_CHECKING:
    from caipan.cli.client import Service

GameId = Annotated[str, typer.Argument(help="Id of a game.", metavar="GAME")]

_BATCH_EVENTS = 200
_BATCH_BYTES = 1 << 20
_LINES_KEPT = 12  # under a board that is drawn again


def send(
    file: Annotated[Path, typer.Argument(help="Events, one in protobuf JSON on each line.", metavar="EVENTS.jsonl")],
    wait: Annotated[WaitFor, typer.Option(help="Return when the log has the events, or when they are judged.")] = (
        WaitFor.VERDICT
    ),
    address: Address = ADDRESS,
    token: Token = None,
    data: Data = DATA,
    json: AsJson = False,
) -> None:
    """Send events to the service and print what became of each.

    Nothing is sent if a line cannot be read. While the service is away the same events are sent again; they have one
    effect. Ends with 1 if not all of them are in the log.
    """
    from caipan.cli.client import token_for

    lines = list(read_lines(file))
    wrong = [line for line in lines if line.error]
    for line in wrong:
        say_error(f"{file}: line {line.number}: {line.error}")
    if wrong:
        raise CommandError(f"nothing was sent: {len(wrong)} lines cannot be read")
    if not lines:
        say_error(f"{file}: there is no event in it")
    service = connect(address, token_for(token, data))
    several = len({line.event.game_id for line in lines}) > 1
    game = ""
    for batch in _batches(lines):
        for line, appended in zip(batch, _append(service, file, batch, wait), strict=True):
            if several and not json and line.event.game_id != game:
                game = line.event.game_id
                stdout().print(printable(f"{game}:"))
            tell_appended(appended, json)


def stream(
    file: Annotated[
        Path, typer.Argument(help="Events as for send; without it the standard input.", metavar="EVENTS.jsonl")
    ] = Path("-"),
    wait: Annotated[WaitFor, typer.Option(help="Print events when the log has them, or when they are judged.")] = (
        WaitFor.VERDICT
    ),
    address: Address = ADDRESS,
    token: Token = None,
    data: Data = DATA,
    json: AsJson = False,
) -> None:
    """Send events as they happen, each line as soon as it is there, and print what became of each.

    All go over one stream. Once it stood it is taken up again after every cut, for as long as that takes; events that
    are sent again have one effect. Ends with 1 at the first line that cannot be read or may not be stored, when all
    before it are done.
    """
    from caipan.cli.client import token_for
    from caipan.cli.streaming import EventStream

    service = connect(address)
    for_log = WAIT_LOG if wait is WaitFor.LOG else WAIT_VERDICT
    events = EventStream(service, lambda: token_for(token, data), for_log, read_lines(file), str(file))
    for appended in until_ctrl_c(events.results()):
        tell_appended(appended, json)
    if unanswered := events.unanswered():
        raise CommandError(f"{file}: interrupted; {unanswered}; send those again")


def _batches(lines: list[Line]) -> Iterator[list[Line]]:
    batch: list[Line] = []
    size = 0
    for line in lines:
        size += line.event.ByteSize()
        if batch and (len(batch) == _BATCH_EVENTS or size > _BATCH_BYTES):
            yield batch
            batch, size = [], line.event.ByteSize()
        batch.append(line)
    if batch:
        yield batch


def _append(service: Service, file: Path, batch: list[Line], wait: WaitFor) -> list[Appended]:
    """Sends a batch. Raises CommandError naming the line at fault, or the first line that is not known to be stored."""
    import grpc

    request = AppendEventsRequest(
        events=[line.event for line in batch], wait=WAIT_LOG if wait is WaitFor.LOG else WAIT_VERDICT
    )
    try:
        return list(service.insist(service.intake.AppendEvents, request).results)
    except grpc.RpcError as error:
        said = service.explained_by_line(error, [line.number for line in batch])
        raise CommandError(f"{file}: {said} (the batch from line {batch[0].number} on)") from None


def tell_appended(appended: Appended, json: bool) -> None:
    """Prints what became of an event that was appended."""
    event_id = printable(appended.event_id)
    if json:
        print_json(appended)
    elif appended.HasField("outcome"):
        if appended.status == STATUS_DUPLICATE:
            stdout().print(f"{event_id} was judged before:")
        tell_outcome(appended.outcome)
    elif appended.status == STATUS_PARKED:
        stdout().print(f"{event_id} waits for what comes before it")
    else:
        stdout().print(f"{event_id} is in the log: partition {appended.partition}, offset {appended.offset}")


def tell_outcome(outcome: Outcome) -> None:
    """Prints an outcome: its line, then its findings and what it revised."""
    stdout().print(outcome_of(outcome.verdict), *_indented(outcome), sep="\n")


def _indented(outcome: Outcome) -> list[str]:
    return [f"      {line}" for line in details_of(outcome.verdict)]


def show(game: GameId, address: Address = ADDRESS, json: AsJson = False) -> None:
    """Show a game as it stands: the board, whose turn it is, the result."""
    from caipan.cli.views import game_view

    service = connect(address)
    state = service.call(service.games.GetGame, GetGameRequest(game_id=game)).game
    if json:
        print_json(state)
    else:
        stdout().print(game_view(state))


def watch(
    game: GameId,
    from_start: Annotated[bool, typer.Option("--from-start", help="Begin with the first outcome of the game.")] = False,
    address: Address = ADDRESS,
    json: AsJson = False,
) -> None:
    """Follow a game: the board, then every outcome as it comes. Ctrl-C ends it.

    A stream that breaks is taken up again where it was. With --json each line is what the service sent.
    """
    service = connect(address)
    updates = until_ctrl_c(_from_start(service, game) if from_start else service.watch(game))
    if json:
        for update in updates:
            print_json(update)
    else:
        _draw(updates)


def _from_start(service: Service, game: str) -> Iterator[WatchGameResponse]:
    """The outcomes up to the snapshot of a watch in the place of the snapshot, then what the watch brings."""
    told = 0
    for update in service.watch(game):
        if not update.HasField("snapshot"):
            yield update
            continue
        for outcome in outcomes_of(service, game):
            if told < outcome.verdict.seq <= update.snapshot.seq:
                told = outcome.verdict.seq
                yield WatchGameResponse(outcome=outcome)


def outcomes_of(service: Service, game: str) -> Iterator[Outcome]:
    """All outcomes of a game, in their order. Raises CommandError."""
    request = ListOutcomesRequest(game_id=game, page_size=500)
    while True:
        page = service.call(service.games.ListOutcomes, request)
        yield from page.outcomes
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token


def _draw(updates: Iterator[WatchGameResponse]) -> None:
    """On a terminal the board is drawn again with the last lines under it, elsewhere lines follow the first board."""
    from rich.console import Group
    from rich.live import Live

    from caipan.cli.follow import follow
    from caipan.cli.views import game_view

    console, state = stdout(), GameState()
    lines: deque[str] = deque(maxlen=_LINES_KEPT)
    live = Live(console=console, auto_refresh=False)
    with live if console.is_terminal else nullcontext():
        for update in updates:
            if update.HasField("snapshot"):
                state.CopyFrom(update.snapshot)
            elif not (update.HasField("outcome") and follow(state, update.outcome)):
                continue
            if console.is_terminal:
                if update.HasField("outcome"):
                    lines += [outcome_of(update.outcome.verdict), *_indented(update.outcome)]
                live.update(Group(game_view(state), *lines), refresh=True)
            elif update.HasField("snapshot"):
                console.print(game_view(state))
            else:
                tell_outcome(update.outcome)


def connect(address: str, token: str = "", acting: str = "") -> Service:
    """The service at ``address`` (HOST:PORT), called with ``token`` where one is given, in its role ``acting``.

    Raises BadParameter.
    """
    from caipan.cli.client import Service

    place("the address of a service", address)

    return Service(address, token, acting)
