"""The handlers of PenaltyService."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from caipan.query import halls, tokens
from caipan.query.cases import known_case
from caipan.query.database import Database
from caipan.query.games import Games, catching_up
from caipan.rules.edition import edition, edition_ids
from caipan.serving.errors import ServiceError
from caipan.serving.validation import check
from caipan.v1 import case_service_pb2 as pb
from caipan.v1.case_service_pb2_grpc import PenaltyServiceServicer
from caipan.v1.errors_pb2 import ERROR_CODE_MALFORMED

PENALTIES_PAGE = 50

Sanction = tuple[str, ...]


class Penalties(PenaltyServiceServicer):
    """Answers from the tables; ``ready`` as in Games."""

    def __init__(self, database: Database, games: Games, ready: asyncio.Event) -> None:
        self._database = database
        self._games = games
        self._ready = ready

    async def ListPenalties(  # noqa: N802
        self, request: pb.ListPenaltiesRequest, context: Any
    ) -> pb.ListPenaltiesResponse:
        check(request)
        await self._games.asked_of(request, context)
        about = ("penalties", request.game_id, request.tournament_id, request.person)
        entry = halls.Entry()
        if request.page_token:
            game_id, _, number = tokens.page_place(request.page_token, *about).rpartition("/")
            entry = halls.Entry(game_id, int(number))
        found, more = await self._database.read(
            partial(
                halls.penalties_after,
                entry,
                request.game_id,
                request.tournament_id,
                request.person,
                request.page_size or PENALTIES_PAGE,
            )
        )
        last = "/".join(map(str, found[-1][0])) if more else ""
        return pb.ListPenaltiesResponse(
            penalties=[penalty for _, penalty in found],
            next_page_token=tokens.page_token(last, *about) if more else "",
        )

    async def CompareRulings(  # noqa: N802
        self, request: pb.CompareRulingsRequest, _: Any
    ) -> pb.CompareRulingsResponse:
        check(request)
        self._check_ready()
        tournament_id, game_id, clause = request.tournament_id, "", request.clause
        if request.case_id:
            told = await known_case(self._database, request.game_id, request.case_id)
            tournament_id, game_id, clause = told.tournament_id, told.game_id, _key(told)
        else:
            _check_clause(clause)
        rulings = await self._database.read(partial(halls.rulings, tournament_id, game_id, clause))
        usual = _usual(rulings)
        compared = [
            pb.ComparedRuling(
                case=ruling,
                stands_apart=sanction_of(ruling) not in ((), usual[ruling.case.key]),
                earlier_of_person=_earlier(rulings[:number], ruling),
            )
            for number, ruling in enumerate(rulings)
        ]
        return pb.CompareRulingsResponse(rulings=compared, unequal=any(each.stands_apart for each in compared))

    def _check_ready(self) -> None:
        if not self._ready.is_set():
            raise catching_up()


def _check_clause(clause: str) -> None:
    """Raises ServiceError MALFORMED for what is no clause: it would have been ruled by never."""
    editions = map(edition, edition_ids())
    if not any(clause in text.clauses or text.cited(clause) for text in editions):
        raise ServiceError(
            ERROR_CODE_MALFORMED,
            f"no edition has a clause {clause!r}",
            "give its key or its id with the edition, e.g. CN2002 17.3",
            "clause",
        )


def _key(told: pb.HallCase) -> str:
    """The matter that a case was decided by, or is likeliest to be."""
    case = told.case
    return case.key or (case.candidates[0].key if case.candidates else "")


def sanction_of(ruling: pb.HallCase) -> Sanction:
    """What a ruling came to: its option, and the kinds of its effects; () for a dismissal.

    Sides, stones and times differ from case to case; whether a warning was given must not.
    """
    kinds = sorted(effect.WhichOneof("effect") or "" for effect in ruling.case.effects)
    return () if kinds in ([], ["dismiss"]) else (ruling.case.option, *kinds)


def _usual(rulings: Sequence[pb.HallCase]) -> dict[str, Sanction]:
    """What most rulings on each matter came to, dismissals aside; of equally many the first."""
    counts: dict[str, Counter[Sanction]] = {}
    for ruling in rulings:
        counted = counts.setdefault(ruling.case.key, Counter())
        if sanction := sanction_of(ruling):
            counted[sanction] += 1
    return {key: counted.most_common(1)[0][0] if counted else () for key, counted in counts.items()}


def _earlier(before: Sequence[pb.HallCase], ruling: pb.HallCase) -> int:
    """Against the same person."""
    return sum(bool(ruling.person) and each.person == ruling.person and sanction_of(each) != () for each in before)
