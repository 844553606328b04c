"""The subcommand `sign`: a signature under the result of a game, taken at the desk."""

from __future__ import annotations

from typing import Annotated

import typer

from caipan.cli.console import CommandError, print_json
from caipan.cli.desk import At, DeskToken, EventId, Seat, at_desk, at_ms, decider, new_id, seat
from caipan.cli.online import GameId, connect, tell_outcome
from caipan.cli.options import ADDRESS, DATA, Address, AsJson, Data, Query
from caipan.cli.words import SIGNERS, sentence_of, signers_of
from caipan.v1.common_pb2 import ROLE_ARBITER
from caipan.v1.event_pb2 import Event
from caipan.v1.facts_pb2 import ResultSigned
from caipan.v1.game_service_pb2 import GetGameRequest
from caipan.v1.intake_service_pb2 import WAIT_VERDICT, AppendEventsRequest
from caipan.v1.outcome_pb2 import PHASE_FINAL, STATUS_DUPLICATE, Verdict
from caipan.v1.state_pb2 import GameState

_SIGNERS = dict(zip((Seat.B, Seat.W, None), SIGNERS, strict=True))


def sign(
    game: GameId,
    by: Annotated[
        Seat | None, typer.Option("--by", help="The player; without it the arbiter.", case_sensitive=False)
    ] = None,
    person: Annotated[str, typer.Option(help="Which arbiter, where no token says it.", show_default=False)] = "",
    event_id: EventId = "",
    at: At = "",
    address: Address = ADDRESS,
    query: Query = None,
    token: DeskToken = None,
    data: Data = DATA,
    json: AsJson = False,
) -> None:
    """Record a signature under the result: each player's, then that of an arbiter of the game.

    With all three the result is final. Nothing is recorded where there is nothing to sign.
    """
    reading = connect(query or address)
    state: GameState = reading.call(reading.games.GetGame, GetGameRequest(game_id=game)).game
    if not event_id:  # a repetition is answered as it was the first time
        _check_open(state, _SIGNERS[by])
    if by is None:
        arbiter = decider(token, data, state, ROLE_ARBITER, person)
        service = connect(address, arbiter.token, arbiter.acting)
    else:
        service = at_desk(address, token, data)
    said = Event(
        event_id=event_id or new_id("signature"),
        game_id=game,
        at_ms=at_ms(at),
        player=seat(by),
        result_signed=ResultSigned(),
    )
    request = AppendEventsRequest(events=[said], wait=WAIT_VERDICT)
    (told,) = service.insist_or_say(service.intake.AppendEvents, request).results
    if json:
        print_json(told)
    else:
        tell_outcome(told.outcome)
    if told.status != STATUS_DUPLICATE:
        _check_signed(told.outcome.verdict, _SIGNERS[by])


def _check_open(state: GameState, signer: str) -> None:
    """Raises CommandError where a signature would change nothing."""
    if not state.HasField("result"):
        raise CommandError(f"{state.game_id}: there is no result to sign yet")
    if state.phase == PHASE_FINAL:
        raise CommandError(f"{state.game_id}: all have signed, the result is final")
    if signer in signers_of(state.signed):
        raise CommandError(f"{state.game_id}: {signer} has signed already")


def _check_signed(verdict: Verdict, signer: str) -> None:
    """Raises CommandError where the signature does not stand, whatever else was found with it."""
    if signer not in signers_of(verdict.signed):
        why = verdict.reason or "; ".join(map(sentence_of, verdict.findings))
        raise CommandError(f"NOT SIGNED: {why}")
