"""The subcommands that show what waits for an arbiter, and what was decided: cases and penalties."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from caipan.cli.clock_words import clock_lines
from caipan.cli.console import print_json, printable, stdout
from caipan.cli.ctrl_c import until_ctrl_c
from caipan.cli.online import connect
from caipan.cli.options import ADDRESS, Address, AsJson
from caipan.v1.case_service_pb2 import (
    CompareRulingsRequest,
    GetCaseRequest,
    GetClocksRequest,
    HallCase,
    HallPenalty,
    ListCasesRequest,
    ListPenaltiesRequest,
    WatchCasesResponse,
)
from caipan.v1.outcome_pb2 import CASE_STATUS_OPEN

if TYPE_CHECKING:
    from caipan.cli.client import Service

Game = Annotated[str, typer.Argument(help="Id of a game; without it those of all.", metavar="[GAME]")]
Tournament = Annotated[str, typer.Option(help="Only games of this tournament.")]

_LINES_KEPT = 8  # of cases that were closed, under those that are open


def cases(
    game: Game = "",
    tournament: Tournament = "",
    closed: Annotated[bool, typer.Option("--closed", help="Show cases that were decided or closed too.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Follow the hall: cases as they open, change and close.")] = (
        False
    ),
    address: Address = ADDRESS,
    json: AsJson = False,
) -> None:
    """Show what waits for an arbiter: each case with its clauses, what may be ruled, and who may.

    The case that has waited longest comes first. Ctrl-C ends --watch.
    """
    service = connect(address)
    if watch:
        if game or closed:
            raise typer.BadParameter("--watch follows a hall: give --tournament, or nothing for all games")
        _follow(until_ctrl_c(service.watch_cases(tournament)), json)
        return
    found = 0
    for told in _cases(service, ListCasesRequest(game_id=game, tournament_id=tournament, open_only=not closed)):
        found += 1
        if json:
            print_json(told)
        else:
            _tell(service, told)
    if not found and not json:
        stdout().print("no cases" if closed else "no open cases")


def clock(
    game: Annotated[str, typer.Argument(help="Id of a game.", metavar="GAME")],
    at: Annotated[
        datetime | None,
        typer.Option(help="The instant in UTC, e.g. 2026-04-15T09:48:00; without it now."),
    ] = None,
    address: Address = ADDRESS,
    json: AsJson = False,
) -> None:
    """Show what is on the clocks of a game, or would be at another instant if nothing happens until then."""
    service = connect(address)
    request = GetClocksRequest(game_id=game)
    if at is not None:
        request.at_ms = round(at.replace(tzinfo=UTC).timestamp() * 1000)
    answer = service.call(service.cases.GetClocks, request)
    if json:
        print_json(answer)
    else:
        stdout().print(*clock_lines(answer), sep="\n")


def _cases(service: Service, request: ListCasesRequest) -> Iterator[HallCase]:
    while True:
        page = service.call(service.cases.ListCases, request)
        yield from page.cases
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token


def _tell(service: Service, told: HallCase) -> None:
    from caipan.cli.case_words import case_lines, next_step

    if told.case.status != CASE_STATUS_OPEN:
        stdout().print(*case_lines(told), "", sep="\n")
        return
    asked = GetCaseRequest(game_id=told.game_id, case_id=told.case.case_id)
    earlier = service.call(service.cases.GetCase, asked).earlier if told.person else ()
    stdout().print(*case_lines(told, earlier), next_step(told), "", sep="\n")


def _follow(updates: Iterator[WatchCasesResponse], json: bool) -> None:
    """On a terminal the open cases are drawn again under each other, elsewhere lines follow."""
    if json:
        for update in updates:
            print_json(update)
        return
    console = stdout()
    screen = _Screen()
    from rich.live import Live

    live = Live(console=console, auto_refresh=False)
    with live if console.is_terminal else nullcontext():
        for update in updates:
            news = screen.take(update)
            if console.is_terminal:
                live.update("\n".join(screen.lines()), refresh=True)
            else:
                for line in news:
                    print(line, flush=True)


class _Screen:
    """The open cases of a hall, and the last of those that were closed."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], HallCase] = {}
        self._closed: list[str] = []
        self._fresh = True  # the next open cases begin a new picture

    def take(self, update: WatchCasesResponse) -> list[str]:
        """What is new, in lines."""
        from caipan.cli.case_words import case_lines, change_of

        if update.HasField("open"):
            if self._fresh:
                self._open.clear()
            self._fresh = not update.open.more
            for told in update.open.cases:
                self._open[told.game_id, told.case.case_id] = told
            lines = [line for told in update.open.cases for line in case_lines(told)]
            return lines or ([] if update.open.more else ["no open cases"])
        if not update.HasField("changed"):
            return []
        told = update.changed
        key = (told.game_id, told.case.case_id)
        if told.case.status == CASE_STATUS_OPEN:
            self._open[key] = told
        else:
            self._open.pop(key, None)
            self._closed = [*self._closed, *change_of(told)][-_LINES_KEPT:]
        return change_of(told)

    def lines(self) -> list[str]:
        """The whole picture."""
        from caipan.cli.case_words import case_lines

        waiting = [line for told in self._open.values() for line in case_lines(told)]
        return [f"{len(self._open)} open", *waiting, "", *self._closed]


def penalties(
    game: Game = "",
    tournament: Tournament = "",
    person: Annotated[str, typer.Option(help="Only those of this person.")] = "",
    compare: Annotated[
        str, typer.Option(help="A clause, e.g. 17.3: its rulings in --tournament side by side.", metavar="CLAUSE")
    ] = "",
    edition: Annotated[str, typer.Option(help="Edition of a clause that names none.")] = "CN2002",
    address: Address = ADDRESS,
    json: AsJson = False,
) -> None:
    """Show the penalties of a game, a person or a tournament, one line each.

    With --compare: the same infraction, the same sanction? A ruling that did something else than most is marked.
    """
    service = connect(address)
    if compare:
        if not tournament or game or person:
            raise typer.BadParameter("--compare needs --tournament alone: rulings are compared within one event")
        _compare(
            service, tournament, compare if " " in compare or not compare[0].isdigit() else f"{edition} {compare}", json
        )
        return
    found = 0
    for told in _penalties(service, ListPenaltiesRequest(game_id=game, tournament_id=tournament, person=person)):
        found += 1
        if json:
            print_json(told)
        else:
            from caipan.cli.case_words import penalty_of

            stdout().print(penalty_of(told))
    if not found and not json:
        stdout().print("no penalties")


def _penalties(service: Service, request: ListPenaltiesRequest) -> Iterator[HallPenalty]:
    while True:
        page = service.call(service.penalties.ListPenalties, request)
        yield from page.penalties
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token


def _compare(service: Service, tournament: str, clause: str, json: bool) -> None:
    from caipan.cli.case_words import compared_of
    from caipan.cli.words import title_of

    asked = CompareRulingsRequest(tournament_id=tournament, clause=clause)
    told = service.call(service.penalties.CompareRulings, asked)
    if json:
        print_json(told)
        return
    head = printable(f"{clause} {title_of(clause)}".strip())
    lines = [compared_of(each) for each in told.rulings]
    number = f"{len(lines)} ruling{'s' if len(lines) > 1 else ''}" if lines else "nothing was ruled"
    summary = ", they differ: see the lines with ≠" if told.unequal else ", all alike" if len(lines) > 1 else ""
    stdout().print(f"{head}: {number}{summary}", *lines, sep="\n")
