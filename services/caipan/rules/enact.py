"""The effects of a ruling (rules 7.3), each applied to the table as it stands.

Whoever applies several works on a copy, so that all of them count or none does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from caipan.rules.act import Act
from caipan.rules.board import Board
from caipan.rules.clauses import Clause
from caipan.rules.clockwork import Clockwork
from caipan.rules.effects import Permission
from caipan.rules.ending import end_play
from caipan.rules.history import PASS, History
from caipan.rules.points import BLACK, SEATS, WHITE, Colour, other
from caipan.rules.table import Table
from caipan.rules.timing import set_running
from caipan.v1 import outcome_pb2 as pb
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.checkpoint_pb2 import CaseMemory
from caipan.v1.common_pb2 import COLOR_UNSPECIFIED, ROLE_CHIEF
from caipan.v1.facts_pb2 import Colours


class CannotApplyError(ValueError):
    """An effect that does not fit the table; the message says what would."""


class Enactment:
    """A ruling under ``clause`` on ``case``, being applied to ``table``; ``ruling``: the id of its event."""

    def __init__(self, table: Table, case: CaseMemory, clause: Clause, ruling: str, act: Act) -> None:
        self.table = table
        self.case = case
        self.clause = clause
        self.ruling = ruling
        self.act = act

    def apply(self, effects: list[rl.Effect]) -> None:
        """All effects, in their order. Raises CannotApplyError."""
        for effect in effects:
            name = effect.WhichOneof("effect")
            if name not in _EFFECTS:
                raise CannotApplyError(f"effects: {name or 'an empty effect'} cannot be applied here")
            said = getattr(effect, name)
            field = _SIDES.get(name)
            if field and getattr(said, field) not in SEATS:
                raise CannotApplyError(f"effects: {name}.{field} is COLOR_BLACK or COLOR_WHITE")
            _EFFECTS[name](self, said)

    # Penalties

    def warn(self, said: rl.Warn) -> None:
        self._impose(pb.Penalty.KIND_WARNING, said.player)

    def admonish(self, said: rl.Admonish) -> None:
        self._impose(pb.Penalty.KIND_ADMONITION, said.player)

    def lose_turn(self, said: rl.LoseTurn) -> None:
        """The turn is lost and a move number used up; an empty move by own application is a pass too (R2)."""
        table, player = self._playing(), said.player
        if table.turn != player:
            raise CannotApplyError(f"it is not the turn of {_name(player)}, who cannot lose it")
        if table.provisional:
            raise CannotApplyError("a stone lies provisionally: make it void or let it stand first")
        table.turn = other(player)
        table.passes = table.passes + 1 if said.empty_move else 0
        table.proposer = COLOR_UNSPECIFIED
        table.unpressed = None
        table.history.push(table.board.key, PASS, player, (), table.turn)
        if table.clockwork is not None and said.empty_move:
            table.clockwork.renew(player)
        if table.passes >= 2 and table.edition.two_passes_end:
            end_play(table, self.act)
        self._impose(pb.Penalty.KIND_TURN_LOST, player)

    def _impose(self, kind: pb.Penalty.Kind.ValueType, side: Colour) -> None:
        table = self.table
        table.ledger.impose(kind, side, self.clause, table.history.length, self.ruling)

    # The clocks

    def set_clock(self, said: rl.SetClock) -> None:
        """Times used, then what is left or counted of the byoyomi of one side."""
        works, set_sides = _clocks(self.table), set()
        for side, field in ((BLACK, "black_ms"), (WHITE, "white_ms")):
            if said.HasField(field):  # type: ignore[arg-type]  # names of its fields
                set_sides.add(side)
                if not works.set_used(side, getattr(said, field)):
                    raise CannotApplyError(f"set_clock.{field}: {_name(side)} cannot have used {getattr(said, field)}")
        if said.HasField("minutes_left"):
            set_sides.add(said.side)
            if said.side not in SEATS or not works.set_units_left(said.side, said.minutes_left):
                raise CannotApplyError(f"set_clock.minutes_left: `side` has no byoyomi of {said.minutes_left} periods")
        if said.HasField("count_s"):
            set_sides.add(said.side)
            if said.side not in SEATS or not works.set_count(said.side, said.count_s * 1000):
                raise CannotApplyError(f"set_clock.count_s: no count of `side` can stand at {said.count_s} s")
        if not set_sides:
            raise CannotApplyError("set_clock: give black_ms or white_ms, or side with minutes_left or count_s")
        if len(set_sides) == 1 and said.approved_by != ROLE_CHIEF and self._is_about_faulty_clock():
            raise CannotApplyError(f"set_clock.approved_by: one side alone needs CHIEF ({self.table.cite('22.8')})")

    def _is_about_faulty_clock(self) -> bool:
        edition = self.table.edition
        return self.clause.key in (edition.about("22.8").key, edition.about("22.8 one-sided").key)

    def clock(self, said: rl.SetRunning) -> None:
        """Which clock runs from here on (rules 3.12)."""
        run_clock(self.table, said)

    def permit(self, said: rl.Permit) -> None:
        """Who may leave on the terms HOLD finds the own count waiting on return (CN2002 22.7)."""
        works, side = self.table.clockwork, self.case.told.side
        if works is not None and (said.what, said.terms) == (Permission.LEAVE, "HOLD") and side in SEATS:
            works.memory.leave = bytes(sorted({*works.memory.leave, side}))

    # The board

    def void_move(self, said: rl.VoidMove) -> None:
        """The stone goes, and what it captured comes back; a move behind which others were made only goes."""
        table = self._playing()
        lying = [stone for stone in table.provisional if stone.ref == said.ref]
        if lying:
            table.set_again([stone for stone in table.provisional if stone not in lying], self.act)
            return
        index = self.case.point - 1
        if self.case.stone != said.ref or index < 0 or not self._lies_still(index):
            raise CannotApplyError(f"{said.ref!r} is no stone of this case that lies on the board")
        cells = bytearray(table.board.cells())
        cells[index] = 0
        self._set_cells(cells)

    def _lies_still(self, index: int) -> bool:
        """Whether the stone of the case, accepted meanwhile, is the one that lies there; it can have been captured."""
        history = self.table.history
        since = self.case.told.move
        return self.table.board.colour_at(index) != 0 and history.stone_at(index) == history.first_stone(index, since)

    def set_points(self, said: rl.SetPoints) -> None:
        """Stones go off and on; provisional ones named here, or lying where stones come, are gone."""
        table = self._playing()
        if said.HasField("as_after_move"):
            self._go_back_to(said.as_after_move)
        if said.remove_all:
            self._clear()
        points: Collection[int] = self._indices({*said.remove, *said.add_black, *said.add_white})
        if any(stone.index in points for stone in table.provisional):
            table.set_again([stone for stone in table.provisional if stone.index not in points], self.act)
        cells = bytearray(table.board.cells())
        for names, colour in ((said.remove, 0), (said.add_black, BLACK), (said.add_white, WHITE)):
            for name in names:
                index = table.indices[name]
                if colour and cells[index] not in (0, colour):
                    taken = _name(BLACK if cells[index] == BLACK else WHITE)
                    raise CannotApplyError(f"set_points: a stone of {taken} lies on {name}; remove that first")
                cells[index] = colour
        if (index := self._own_move(said)) >= 0:
            self._play(index)
        elif cells != table.board.cells():
            self._set_cells(cells)
        if said.remove_all or said.HasField("as_after_move") or not points:  # the board was set up, or is right
            points = range(table.size**2)
        table.due, table.left, table.missing = table.due - {*points}, table.left - {*points}, table.missing - {*points}
        table.lifted = {point: side for point, side in table.lifted.items() if point not in points}

    def _own_move(self, said: rl.SetPoints) -> int:
        """The point where this puts the stone of the case as it should have been: back where it was, or in its colour.

        It is the move then, if nobody has moved since; -1 otherwise.
        """
        table, case = self.table, self.case
        index = (case.instead_of or case.point) - 1
        if index < 0 or table.history.length != case.told.move:
            return -1
        added = said.add_black if case.told.side == BLACK else said.add_white
        return index if table.names[index] in added and table.board.units[index] is None else -1

    def _play(self, index: int) -> None:
        """The stone is set as a move, with what it captures (CN2002 17.3)."""
        table, player = self.table, self.case.told.side
        lying = list(table.provisional)
        table.set_again([], self.act)
        captured = table.board.play(index, player)
        if table.handicap_left and player == BLACK:  # it belongs to the set-up (rules 2.3)
            table.handicap_left -= 1
            table.history = table.history.set_up(table.board)
            table.set_again(lying, self.act)
            return
        table.captured[other(player)] += len(captured)
        table.turn, table.passes, table.proposer = other(player), 0, COLOR_UNSPECIFIED
        table.history.push(table.board.key, index, player, captured, table.turn)
        table.set_again(lying, self.act)

    def _set_cells(self, cells: bytearray) -> None:
        """The board in force is this one: provisional stones count as they lie, and prisoners that are back do not."""
        table = self.table
        table.remember(self.act)
        before = table.board.cells()
        for colour in SEATS:
            taken = table.history.taken_from(colour)
            put_back = sum(cells[index] == colour and before[index] != colour for index in taken)
            more = cells.count(colour) - before.count(colour)
            table.captured[colour] -= max(0, min(put_back, more, table.captured[colour]))
        table.board = Board.from_cells(table.size, cells)
        table.keep_edit()

    def _go_back_to(self, move: int) -> None:
        table = self.table
        if not 0 <= move <= table.history.length:
            raise CannotApplyError(f"set_points.as_after_move is {move}: the record has {table.history.length} moves")
        if move < table.history.length:
            table.history = table.history.until(move)
            table.turn = table.history.turn_after(move)
        table.set_again([], self.act)
        table.passes, table.proposer, table.unpressed, table.early = 0, COLOR_UNSPECIFIED, None, {}
        table.sealed_by, table.seal, table.must_point_out = COLOR_UNSPECIFIED, b"", COLOR_UNSPECIFIED
        for case in table.cases.values():
            if case.move > move:  # that move is no more: another one of this number is another act
                case.move = 0
        if table.clockwork is not None:
            table.clockwork.drop_move()

    def _clear(self) -> None:
        """All stones go; with the set-up back on it, the game begins again (CN2002 17.1)."""
        table = self.table
        table.history = History(table.size, table.history.setup, table.history.setup_turn)
        table.turn = table.history.setup_turn
        self._go_back_to(0)

    def set_turn(self, said: rl.SetTurn) -> None:
        """Whose turn it is; a provisional stone of the other side stands as its move."""
        table = self._playing()
        if table.provisional and table.provisional[-1].player != said.color:
            table.accept_provisional(self.act)
        table.set_turn(said.color)
        table.passes, table.proposer = 0, COLOR_UNSPECIFIED

    # Persons, result, the rest

    def set_colours(self, said: rl.SetColours) -> None:
        table = self.table
        persons = set(table.opened.players)
        if not persons and table.colours is not None:
            persons = {table.colours.black, table.colours.white}
        if persons and {said.black, said.white} != persons:
            raise CannotApplyError(f"the players are {' and '.join(sorted(persons))}")
        for case in table.change_seats() if said.change_seats else ():
            self.act.touch(case)
        table.name(table.officials, Colours(black=said.black, white=said.white))
        self.act.tell(colours=table.colours)

    def result(self, said: rl.SetResult) -> None:
        """The game is over, by this clause."""
        if not said.kind or said.kind not in rl.ResultKind.values():
            raise CannotApplyError(f"effects: {said.kind} is no kind of result")
        result = pb.Result(kind=said.kind, how=self.clause.how.number, clause=self.clause.id)
        self.table.set_result(result, pb.PHASE_ENDED, self.ruling)

    def assign_points(self, said: rl.AssignPoints) -> None:
        """Contested points are one side's at the count (CN2002 12.4)."""
        self.table.assigned |= dict.fromkeys(self._indices(said.points), said.side)

    def _indices(self, names: Iterable[str]) -> list[int]:
        wrong = sorted(name for name in names if name not in self.table.indices)
        if wrong:
            raise CannotApplyError(f"{', '.join(wrong)}: no point of this board")
        return [self.table.indices[name] for name in names]

    def nothing(self, said: Any) -> None:
        """What is on record without an effect on the game: sanctions, dismissals."""

    def _playing(self) -> Table:
        if self.table.phase > pb.PHASE_PAUSED:
            raise CannotApplyError("play is over: board and turn cannot be changed any more (21.3)")
        return self.table


def run_clock(table: Table, said: rl.SetRunning) -> None:
    """An arbiter stops the clocks, or says whose runs (rules 3.12). Raises CannotApplyError."""
    works = _clocks(table)
    if table.phase > pb.PHASE_PAUSED:
        raise CannotApplyError("clock: play is over")
    set_running(table, works, said)


def _clocks(table: Table) -> Clockwork:
    if table.clockwork is None:
        raise CannotApplyError("this game has no clocks")
    return table.clockwork


def _name(side: Colour) -> str:
    return "Black" if side == BLACK else "White"


# Effects on one side, and the field that names it.
_SIDES = {"warn": "player", "admonish": "player", "pass": "player", "set_turn": "color", "assign_points": "side"}

_EFFECTS: dict[str, Callable[[Enactment, Any], None]] = {
    "warn": Enactment.warn,
    "admonish": Enactment.admonish,
    "void_move": Enactment.void_move,
    "pass": Enactment.lose_turn,
    "set_points": Enactment.set_points,
    "set_turn": Enactment.set_turn,
    "set_colours": Enactment.set_colours,
    "result": Enactment.result,
    "assign_points": Enactment.assign_points,
    "set_clock": Enactment.set_clock,
    "clock": Enactment.clock,
    "permit": Enactment.permit,
    "sanction": Enactment.nothing,
    "dismiss": Enactment.nothing,
}
