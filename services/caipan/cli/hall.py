"""The subcommands that show what waits for an arbiter, and what was decided: cases and penalties."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from caipan.cli.clause_names import why_unknown
from caipan.cli.clock_words import clock_lines
from caipan.cli.console import CommandError, print_json, printable, say_error, stdout
from caipan.cli.ctrl_c import until_ctrl_c
from caipan.cli.desk import At, at_ms
from caipan.cli.offline import EditionId
from caipan.cli.online import connect
from caipan.cli.options import ADDRESS, Address, AsJson
from caipan.rules.edition import ROOT, edition_ids
from caipan.rules.edition import edition as edition_of
from caipan.v1.case_service_pb2 import (
    CompareRulingsRequest,
    GetCaseRequest,
    GetClocksRequest,
    HallCase,
    HallPenalty,
    ListCasesRequest,
    ListPenaltiesRequest,
    OpenCases,
    WatchCasesResponse,
)
from caipan.v1.game_service_pb2 import ListGamesRequest
from caipan.v1.outcome_pb2 import CASE_STATUS_OPEN

if TYPE_CHECKING:
    from caipan.cli.client import Service

Game = Annotated[str, typer.Argument(help="Id of a game; without it those of all.", metavar="GAME")]
Tournament = Annotated[str, typer.Option(help="Only games of this tournament.")]

_LINES_KEPT = 8  # of cases that were closed, under those that are open


def cases(
    game: Game = "",
    case: Annotated[str, typer.Argument(help="Number of a case of the game; without it all that are open.")] = "",
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
        if tournament and not _is_known(service, tournament):
            say_error(f"no game of the tournament {tournament!r} is known here so far; waiting for one")
        _follow(until_ctrl_c(service.watch_cases(tournament)), json)
        return
    if case:
        told = service.call(service.cases.GetCase, GetCaseRequest(game_id=game, case_id=case)).case
        _tell(service, told, json)
        return
    found = 0
    for told in _cases(service, ListCasesRequest(game_id=game, tournament_id=tournament, open_only=not closed)):
        found += 1
        _tell(service, told, json)
    if not found:
        _tell_none(service, "no cases" if closed else "no open cases", tournament, json)


def clock(
    game: Annotated[str, typer.Argument(help="Id of a game.", metavar="GAME")],
    at: At = "",
    address: Address = ADDRESS,
    json: AsJson = False,
) -> None:
    """Show what is on the clocks of a game, was on them earlier, or would be later if nothing happens until then."""
    service = connect(address)
    request = GetClocksRequest(game_id=game)
    if at:
        request.at_ms = at_ms(at)
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


def _is_known(service: Service, tournament: str) -> bool:
    """Whether any game of a tournament was opened here."""
    return bool(service.call(service.games.ListGames, ListGamesRequest(tournament_id=tournament, page_size=1)).games)


def _tell_none(service: Service, none: str, tournament: str, json: bool) -> None:
    """That there is nothing to show. Raises CommandError where that is no wonder: nobody knows the tournament."""
    if tournament and not _is_known(service, tournament):
        raise CommandError(f"no game of the tournament {tournament!r} is known here; check the id")
    if not json:
        stdout().print(none)


def _tell(service: Service, told: HallCase, json: bool) -> None:
    from caipan.cli.case_words import case_lines, next_step

    if json:
        print_json(told)
        return
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
        self._told: dict[tuple[str, str], HallCase] = {}  # each case as it was told last
        self._open: list[tuple[str, str]] = []
        self._closed: list[str] = []
        self._fresh = True  # the next open cases begin a new picture

    def take(self, update: WatchCasesResponse) -> list[str]:
        """What is new, in lines."""
        if update.HasField("open"):
            return self._begin(update.open)
        return self._change(update.changed) if update.HasField("changed") else []

    def _begin(self, told: OpenCases) -> list[str]:
        if self._fresh:
            self._open.clear()
        self._fresh = not told.more
        for each in told.cases:
            self._keep(each)
        return [line for each in told.cases for line in _timed(each)] or ([] if told.more else ["no open cases"])

    def _change(self, told: HallCase) -> list[str]:
        from caipan.cli.case_words import change_of
        from caipan.cli.words import time_of

        before = self._keep(told)
        news = change_of(told, before)
        now = time_of(time.time_ns() // 1_000_000)
        lines = [line if line.startswith(" ") else f"{now}  {line}" for line in news]
        if told.case.status != CASE_STATUS_OPEN:
            self._closed = [*self._closed, *lines][-_LINES_KEPT:]
        return lines

    def _keep(self, told: HallCase) -> HallCase | None:
        """Takes a case in; returns it as it was told before."""
        key = (told.game_id, told.case.case_id)
        before = self._told.get(key)
        self._told[key] = told
        if key in self._open:
            self._open.remove(key)
        if told.case.status == CASE_STATUS_OPEN:
            self._open.append(key)
        return before

    def lines(self) -> list[str]:
        """The whole picture."""
        waiting = [line for key in self._open for line in _timed(self._told[key])]
        return [f"{len(self._open)} open", *waiting, *self._closed]


def _timed(told: HallCase) -> list[str]:
    """A case, with the time since when it waits."""
    from caipan.cli.case_words import case_lines
    from caipan.cli.words import time_of

    head, *rest = case_lines(told)
    return [f"{time_of(told.case.opened_at_ms)}  {head}", *rest]


def penalties(
    game: Game = "",
    tournament: Tournament = "",
    person: Annotated[str, typer.Option(help="Only those of this person.")] = "",
    compare: Annotated[
        str, typer.Option(help="A clause, e.g. 17.3: its rulings in --tournament side by side.", metavar="CLAUSE")
    ] = "",
    edition: EditionId = ROOT,
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
        _compare(service, tournament, _clause_named(compare, edition), json)
        return
    found = 0
    for told in _penalties(service, ListPenaltiesRequest(game_id=game, tournament_id=tournament, person=person)):
        found += 1
        if json:
            print_json(told)
        else:
            from caipan.cli.case_words import penalty_of

            stdout().print(penalty_of(told))
    if not found:
        _tell_none(service, "no penalties", tournament, json)


def _clause_named(name: str, edition_id: str) -> str:
    """A clause with its edition. Raises BadParameter with the nearest ones."""
    named = name.partition(" ")[0]
    text = edition_of(named if named in edition_ids() else edition_id)
    key = name if named == text.id else f"{text.id} {name}"
    if key not in text.clauses and not text.cited(key):
        raise typer.BadParameter(why_unknown(text, name.removeprefix(f"{text.id} ")), param_hint="--compare")
    return key


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
