"""The subcommands of an operator: how the service is, and what to do with records that no fold could read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from caipan.cli.console import print_json, printable, say_error, stdout
from caipan.cli.online import connect, tell_appended
from caipan.cli.options import ADDRESS, DATA, Address, AsJson, Data, WaitFor
from caipan.v1.common_pb2 import ROLE_CHIEF, Actor
from caipan.v1.intake_service_pb2 import WAIT_LOG, WAIT_VERDICT, RetryQuarantinedRequest
from caipan.v1.operation_service_pb2 import (
    GetQuarantinedRequest,
    GetStatusRequest,
    GetStatusResponse,
    ListQuarantinedRequest,
    Quarantined,
)
from caipan.v1.outcome_pb2 import STATUS_QUARANTINED

if TYPE_CHECKING:
    from caipan.cli.client import Service

RecordId = Annotated[str, typer.Argument(help="topic-partition-offset, as the list has it.", metavar="ID")]
ChiefToken = Annotated[
    str | None,
    typer.Option(
        "--token",
        help="Token of an arbiter or a backend; without it one of a chief arbiter, by the development key in --data.",
        envvar="CAIPAN_TOKEN",
    ),
]

_OPERATOR = Actor(person="caipan-operator", role=ROLE_CHIEF)


def status(address: Address = ADDRESS, json: AsJson = False) -> None:
    """Tell how far the service is: health, partitions, games, and what waits for somebody.

    Ends with 1 if something is wrong: it is not SERVING, or there are games that diverged or that are judged no
    further. What merely waits, in quarantine or for other events, leaves it at 0.
    """
    from caipan.cli.views import status_view

    service = connect(address)
    health = service.health()
    told = service.call(service.operations.GetStatus, GetStatusRequest())
    if json:
        print_json(told)
    else:
        stdout().print(status_view(address, health, told))
    if wrong := _wrong(health, told):
        say_error(f"{address}: {'; '.join(wrong)}")
        raise typer.Exit(1)


def _wrong(health: str, told: GetStatusResponse) -> list[str]:
    """What somebody has to look after now."""
    found = [f"the service is {health}"] if health != "SERVING" else []
    found += [f"games that diverged: {len(told.diverged)}"] if told.diverged else []
    found += [f"games that are judged no further: {len(told.stopped)}"] if told.stopped else []
    return found


def list_quarantined(address: Address = ADDRESS, json: AsJson = False) -> None:
    """List the records that no fold could read, oldest first; those retried since are marked."""
    from caipan.cli.views import quarantined_line

    service = connect(address)
    for record in _quarantined(service):
        if json:
            print_json(record)
        else:
            stdout().print(quarantined_line(record))


def _quarantined(service: Service) -> Iterator[Quarantined]:
    request = ListQuarantinedRequest()
    while True:
        page = service.call(service.operations.ListQuarantined, request)
        yield from page.records
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token


def show_quarantined(record_id: RecordId, address: Address = ADDRESS, json: AsJson = False) -> None:
    """Show a record in quarantine with its bytes."""
    from caipan.cli.views import quarantined_view

    service = connect(address)
    record = service.call(service.operations.GetQuarantined, GetQuarantinedRequest(record_id=record_id)).record
    if json:
        print_json(record)
    else:
        stdout().print(quarantined_view(record))


def retry_quarantined(
    record_id: RecordId,
    wait: Annotated[WaitFor, typer.Option(help="Return when the log has the event, or when it is judged.")] = (
        WaitFor.VERDICT
    ),
    address: Address = ADDRESS,
    token: ChiefToken = None,
    data: Data = DATA,
    json: AsJson = False,
) -> None:
    """Read a record in quarantine again, and append it as a new event to the game that it names.

    For records that this version can read, or that stood in a wrong place. The event keeps its id: repeating this, or
    sending the event, has one effect. Ends with 1 if the record still cannot be read.
    """
    from caipan.cli.client import token_for

    service = connect(address, token_for(token, data, _OPERATOR))
    request = RetryQuarantinedRequest(record_id=record_id, wait=WAIT_LOG if wait is WaitFor.LOG else WAIT_VERDICT)
    told = service.insist_or_say(service.intake.RetryQuarantined, request)
    if json:
        print_json(told)
    else:
        event = told.event
        place = f"the game {event.game_id}" if event.game_id else f"the tournament {event.tournament_id}"
        stdout().print(printable(f"{record_id} is the event {event.event_id} of {place} now:"))
        tell_appended(told.result, json=False)
    if told.result.status == STATUS_QUARANTINED:
        raise typer.Exit(1)
