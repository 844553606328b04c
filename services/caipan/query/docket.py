"""Cases and ledgers on their way into the tables, as the verdicts tell them; reading them is `halls`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, bindparam

from caipan.query.schema import cases, penalties
from caipan.v1.case_service_pb2 import HallCase, HallPenalty
from caipan.v1.common_pb2 import COLOR_BLACK, COLOR_WHITE, Color
from caipan.v1.facts_pb2 import Colours
from caipan.v1.outcome_pb2 import CASE_STATUS_OPEN, Case, Ledger, Verdict
from caipan.v1.state_pb2 import GameState

_KEY = (cases.c.game_id == bindparam("old_game"), cases.c.case_id == bindparam("old_case"))
_DELETE_CASE = cases.delete().where(*_KEY)
_DELETE_LEDGER = penalties.delete().where(penalties.c.game_id == bindparam("old_game"))


_OTHER = {COLOR_BLACK: COLOR_WHITE, COLOR_WHITE: COLOR_BLACK}


class Docket:
    """What a batch of outcomes of one partition says of cases and ledgers."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._cases: dict[tuple[str, str], dict[str, Any]] = {}
        self._ledgers: dict[str, tuple[GameState, Ledger]] = {}
        self._colours: dict[str, Colours] = {}  # of games where they have changed

    @property
    def is_touched(self) -> bool:
        """Whether any case has changed, or who it is about."""
        return bool(self._cases or self._colours)

    def take(self, state: GameState, verdict: Verdict, position: tuple[int, int]) -> None:
        """The next verdict of a game, which ``state`` is after; ``position``: partition and offset of its outcome."""
        for case in verdict.cases:
            self._cases[state.game_id, case.case_id] = self._case_row(state, verdict, case, position)
        if verdict.HasField("ledger"):
            self._ledgers[state.game_id] = state, verdict.ledger
        if verdict.HasField("colours") or verdict.revised:
            self._colours[state.game_id] = state.colours

    def store(self) -> None:
        """Writes all of it."""
        connection = self._connection
        if self._cases:
            connection.execute(_DELETE_CASE, [{"old_game": game, "old_case": case} for game, case in self._cases])
            connection.execute(cases.insert(), list(self._cases.values()))
        for game_id, (state, ledger) in self._ledgers.items():
            connection.execute(_DELETE_LEDGER, {"old_game": game_id})
            if ledger.penalties:
                connection.execute(penalties.insert(), list(_penalty_rows(state, ledger)))
        for game_id, colours in self._colours.items():
            for table in (cases, penalties):
                for side in (COLOR_BLACK, COLOR_WHITE):
                    is_its = (table.c.game_id == game_id) & (table.c.side == side)
                    connection.execute(table.update().where(is_its).values(person=_person(colours, side)))

    def _case_row(self, state: GameState, verdict: Verdict, case: Case, position: tuple[int, int]) -> dict[str, Any]:
        opened, seat = state.opened, case.side
        if case.seats_changed and seat in _OTHER:
            seat = _OTHER[seat]
        told = HallCase(
            game_id=state.game_id,
            tournament_id=opened.tournament_id,
            round=opened.round,
            board=opened.board,
            seq=verdict.seq,
            case=case,
        )
        return {
            "game_id": told.game_id,
            "case_id": case.case_id,
            "tournament_id": told.tournament_id,
            "side": seat,
            "person": _person(state.colours, seat),
            "closed": int(case.status != CASE_STATUS_OPEN),
            "opened_at_ms": case.opened_at_ms,
            "clause": case.clause,
            "key": case.key,
            "sanctioned": any(not effect.HasField("dismiss") for effect in case.effects),
            "partition": position[0],
            "offset": position[1],
            "record": told.SerializeToString(),
        }


def _penalty_rows(state: GameState, ledger: Ledger) -> Iterable[dict[str, Any]]:
    opened = state.opened
    for number, penalty in enumerate(ledger.penalties):
        told = HallPenalty(
            game_id=state.game_id,
            tournament_id=opened.tournament_id,
            round=opened.round,
            board=opened.board,
            penalty=penalty,
        )
        yield {
            "game_id": told.game_id,
            "number": number,
            "tournament_id": told.tournament_id,
            "side": penalty.side,
            "person": _person(state.colours, penalty.side),
            "record": told.SerializeToString(),
        }


def _person(colours: Colours, side: Color.ValueType) -> str:
    """Who has a side; "" for none."""
    return {COLOR_BLACK: colours.black, COLOR_WHITE: colours.white}.get(side, "")
