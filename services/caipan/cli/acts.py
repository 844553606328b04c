"""The subcommands of the desk that report: a claim, conduct, a consent, and the marks of a round."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from caipan.cli.clause_names import edition_in_force, why_unknown
from caipan.cli.console import CommandError, print_json, printable, stdout
from caipan.cli.desk import Against, At, DeskToken, EventId, Refs, Seat, at_desk, at_ms, new_id, seat
from caipan.cli.online import GameId, connect, tell_outcome
from caipan.cli.options import ADDRESS, DATA, Address, AsJson, Data, Query
from caipan.cli.words import details_of, standing_of
from caipan.v1.facts_pb2 import ClaimRaised, ConductObserved, ConsentGiven, SessionMarked
from caipan.v1.game_service_pb2 import GetGameRequest, GetGameResponse, ListGamesRequest
from caipan.v1.intake_service_pb2 import Appended
from caipan.v1.outcome_pb2 import PHASE_PAUSED, PHASE_PLAY
from caipan.v1.ruling_service_pb2 import (
    Entry,
    GameMarked,
    GiveConsentRequest,
    MarkRoundRequest,
    RaiseClaimRequest,
    ReportConductRequest,
)
from caipan.v1.state_pb2 import GameState

if TYPE_CHECKING:
    from caipan.cli.client import Service


class ClaimKind(StrEnum):
    """What is asked."""

    COMPLAINT = "complaint"
    RECHECK = "recheck"
    REREAD = "reread"
    LEAVE = "leave"
    OVERTIME_PASS = "overtime-pass"  # noqa: S105 - no password
    TALK = "talk"


class ConductKind(StrEnum):
    """What was seen."""

    PHONE_SOUND = "phone-sound"
    PHONE_LOOK = "phone-look"
    TALK_START = "talk-start"
    TALK_END = "talk-end"
    SMOKING = "smoking"
    OTHER = "other"


Note = Annotated[str, typer.Option(help="What was said or seen.")]
By = Annotated[Seat | None, typer.Option("--by", help="The player; without it the desk.", case_sensitive=False)]


def claim(
    game: GameId,
    clause: Annotated[str, typer.Option(help="The clause, e.g. 17.2.")] = "",
    by: By = None,
    against: Against = None,
    kind: Annotated[ClaimKind, typer.Option(help="What is asked.")] = ClaimKind.COMPLAINT,
    ref: Refs = None,
    note: Note = "",
    event_id: EventId = "",
    at: At = "",
    address: Address = ADDRESS,
    query: Query = None,
    token: DeskToken = None,
    data: Data = DATA,
    json: AsJson = False,
) -> None:
    """Record a claim of a player, or of the desk itself: it joins the case it is about, or opens one."""
    _check_clause(_game(query or address, game), clause)
    said = ClaimRaised(
        kind=ClaimRaised.Kind.Value(f"KIND_{kind.name}"),
        clause=clause,
        against=seat(against),
        refs=ref or (),
        note=note,
    )
    service = at_desk(address, token, data)
    request = RaiseClaimRequest(entry=_entry(game, event_id or new_id("claim"), at, by), claim=said)
    _tell(service.insist_or_say(service.rulings.RaiseClaim, request).result, json)


def conduct(
    game: GameId,
    kind: Annotated[ConductKind, typer.Argument(help="What was seen.")],
    against: Against = None,
    person: Annotated[str, typer.Option(help="Who, if no player of this game.")] = "",
    clause: Annotated[str, typer.Option(help="With other: the clause, e.g. 15.4.")] = "",
    note: Note = "",
    event_id: EventId = "",
    at: At = "",
    address: Address = ADDRESS,
    query: Query = None,
    token: DeskToken = None,
    data: Data = DATA,
    json: AsJson = False,
) -> None:
    """Report conduct in the hall: a telephone, a talk, smoking, a disturbance."""
    _check_clause(_game(query or address, game), clause)
    said = ConductObserved(
        against=seat(against),
        person=person,
        kind=ConductObserved.Kind.Value(f"KIND_{kind.name}"),
        note=note,
        clause=clause,
    )
    service = at_desk(address, token, data)
    request = ReportConductRequest(entry=_entry(game, event_id or new_id("conduct"), at, None), conduct=said)
    _tell(service.insist_or_say(service.rulings.ReportConduct, request).result, json)


def consent(
    game: GameId,
    case: Annotated[str, typer.Argument(help="Number of the case; without it the one that is open.")] = "",
    by: Annotated[
        Seat | None, typer.Option("--by", help="The player who was asked; needed.", case_sensitive=False)
    ] = None,
    refuse: Annotated[bool, typer.Option("--refuse", help="The player does not agree.")] = False,
    proposal: Annotated[str, typer.Option(help="To what; both players have to agree to the same.")] = "",
    event_id: EventId = "",
    at: At = "",
    address: Address = ADDRESS,
    query: Query = None,
    token: DeskToken = None,
    data: Data = DATA,
    json: AsJson = False,
) -> None:
    """Record that a player agrees, or does not, to a proposal in a case."""
    if by is None:
        raise typer.BadParameter("missing: which player", param_hint="--by")
    if not case:
        waiting = _game(query or address, game).cases
        if len(waiting) != 1:
            known = ", ".join(each.case_id for each in waiting) or "none"
            raise typer.BadParameter(f"missing: which case; open are: {known}", param_hint="CASE")
        case = waiting[0].case_id
    service = at_desk(address, token, data)
    said = ConsentGiven(case_id=case, proposal=proposal, accept=not refuse)
    request = GiveConsentRequest(entry=_entry(game, event_id or new_id("consent"), at, by), consent=said)
    _tell(service.insist_or_say(service.rulings.GiveConsent, request).result, json)


def _game(address: str, game: str) -> GameState:
    """A game that somebody names: what is said of one that is not there would wait for it. Raises CommandError."""
    reading = connect(address)
    answer: GetGameResponse = reading.call(reading.games.GetGame, GetGameRequest(game_id=game))
    return answer.game


def _check_clause(state: GameState, clause: str) -> None:
    """A slip must not be kept as what somebody has said. Raises BadParameter with the nearest clauses."""
    edition = edition_in_force(state)
    if clause and not edition.named(clause):
        raise typer.BadParameter(why_unknown(edition, clause), param_hint="--clause")


def _entry(game: str, event_id: str, at: str, by: Seat | None) -> Entry:
    return Entry(game_id=game, event_id=event_id, at_ms=at_ms(at), player=seat(by))


def _tell(told: Appended, json: bool) -> None:
    if json:
        print_json(told)
    else:
        tell_outcome(told.outcome)


# A round


class Mark(StrEnum):
    """What is marked, and how it is told."""

    START = "start"
    PAUSE = "pause"
    RESUME = "resume"


_MARKED = {Mark.START: "started", Mark.PAUSE: "paused", Mark.RESUME: "goes on"}
_AFTER = {Mark.START: PHASE_PLAY, Mark.PAUSE: PHASE_PAUSED, Mark.RESUME: PHASE_PLAY}


def mark_round(
    mark: Annotated[Mark, typer.Argument(help="What to mark.")],
    tournament: Annotated[str, typer.Argument(help="Id of the tournament.")],
    round_number: Annotated[int, typer.Argument(help="Number of the round.", min=0, metavar="ROUND")],
    game: Annotated[list[str] | None, typer.Option(help="Only this game of the round; several times.")] = None,
    request_id: Annotated[
        str, typer.Option(help="Id of this mark: repeated with the same one it has one effect.", show_default=False)
    ] = "",
    at: At = "",
    address: Address = ADDRESS,
    query: Query = None,
    token: DeskToken = None,
    data: Data = DATA,
    json: AsJson = False,
) -> None:
    """Start, pause or resume all games of a round that have no result, at this instant.

    A line for each game; ends with 1 if one of them was not marked, and says how to repeat it.
    """
    reading = connect(query or address)
    game_ids = game or list(_games_of(reading, tournament, round_number))
    if not game_ids:
        raise CommandError(f"{tournament}: no game of round {round_number} is in play")
    service = at_desk(address, token, data)
    request = MarkRoundRequest(
        request_id=request_id or new_id(mark),
        mark=SessionMarked.Mark.Value(f"MARK_{mark.name}"),
        at_ms=at_ms(at),
        game_ids=game_ids,
    )
    told = service.insist_or_say(service.rulings.MarkRound, request).games
    for each in told:
        if json:
            print_json(each)
        else:
            stdout().print(*_lines(each, mark, f"caipan round resume {tournament} {round_number}"), sep="\n")
    if failed := sum(each.HasField("error") for each in told):
        again = f"repeat it with --request-id {request.request_id} --at {request.at_ms}"
        raise CommandError(f"{failed} of {len(told)} games were not marked; mend that, then {again}")


def _games_of(reading: Service, tournament: str, round_number: int) -> Iterator[str]:
    """The games of a round that have no result."""
    request = ListGamesRequest(tournament_id=tournament, phases=[PHASE_PLAY, PHASE_PAUSED], page_size=500)
    while True:
        page = reading.call(reading.games.ListGames, request)
        yield from (game.game_id for game in page.games if game.opened.round == round_number)
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token


def _lines(game: GameMarked, mark: Mark, again: str) -> Iterator[str]:
    """What became of a mark, as the verdict says; ``again``: how a game that stays paused goes on."""
    if game.HasField("error"):
        yield printable(f"{game.game_id}  NOT MARKED: {game.error.reason}; {game.error.remedy}")
        return
    verdict = game.result.outcome.verdict
    if verdict.phase == _AFTER[mark]:
        said = _MARKED[mark]
    elif verdict.phase == PHASE_PAUSED:
        said = f"STAYS PAUSED; it goes on with {again}"
    else:
        said = f"not {_MARKED[mark]}: {standing_of(verdict)}"
    yield printable(f"{game.game_id}  {said}")
    yield from (f"      {line}" for line in details_of(verdict))
