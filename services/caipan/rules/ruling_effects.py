"""What an option of an edition does in a case: its effects with sides, stones and times filled in (rules 7.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from caipan.rules import effects as ed
from caipan.rules.clauses import Option
from caipan.rules.keys import value_of
from caipan.rules.points import BLACK, SEATS, WHITE, Colour, other
from caipan.rules.results import loss_of
from caipan.rules.ruling_clocks import Setting, reading_of, running_of
from caipan.rules.table import Table
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.checkpoint_pb2 import CaseMemory
from caipan.v1.facts_pb2 import Colours


class IncompleteError(ValueError):
    """An effect that the case does not determine, and the ruling does not give; the message says what to give."""


def effects_of(table: Table, case: CaseMemory, option: Option, given: Sequence[rl.Effect]) -> list[rl.Effect]:
    """The effects of ``option`` in ``case``; ``given`` are those that the ruling itself enters.

    An option that leaves something to whoever decides takes it from ``given``; elsewhere what is given must be what the
    option does. Raises IncompleteError.
    """
    if option.free:
        if not given:
            raise IncompleteError("effects: this option leaves them to you; enter at least one")
        return list(given)
    filling, wanted = _Filling(table, case, given), list[rl.Effect]()
    for effect in option.effects:
        made = _FILLED[type(effect)](filling, effect)
        wanted += made if isinstance(made, list) else [made] if made is not None else []
    kinds = [effect.WhichOneof("effect") for effect in wanted]
    extra = [name for name in (effect.WhichOneof("effect") for effect in given) if name not in kinds]
    if extra:
        raise IncompleteError(f"effects: {', '.join(map(str, extra))} does not belong to this option; it does {kinds}")
    for entered in given:
        _check_given(entered, wanted)
    return wanted


def _check_given(given: rl.Effect, made: Sequence[rl.Effect]) -> None:
    """What a ruling enters is what the option does; only clocks run on while it is being entered."""
    name = given.WhichOneof("effect") or ""
    if name in ("set_clock", "clock"):
        return
    said = getattr(given, name)
    for field, value in said.ListFields():
        does = [getattr(getattr(effect, name), field.name) for effect in made if effect.WhichOneof("effect") == name]
        if value not in does:
            is_said, is_done = (_told(field, each) for each in (value, does[0]))
            raise IncompleteError(f"effects: {name}.{field.name} is {is_said}; in this case it is {is_done}")


def _told(field: FieldDescriptor, value: Any) -> str:
    """A value as it is read: an enum by its name."""
    known = field.enum_type.values_by_number if field.enum_type is not None else {}
    return known[value].name if isinstance(value, int) and value in known else str(value)


class _Filling:
    def __init__(self, table: Table, case: CaseMemory, given: Sequence[rl.Effect]) -> None:
        self.table = table
        self.case = case
        self.said = {effect.WhichOneof("effect"): effect for effect in given}

    def side(self, party: ed.Party) -> Colour:
        """The colour of a party. Raises IncompleteError where the case is about no side."""
        side = self.case.told.side
        if side not in SEATS:
            raise IncompleteError("against: say which side it is about, COLOR_BLACK or COLOR_WHITE")
        return side if party == ed.Party.OFFENDER else other(side)

    def given(self, name: str, what: str) -> rl.Effect:
        """The effect as the ruling enters it."""
        if name not in self.said:
            raise IncompleteError(f"effects: enter {name} with {what}")
        return self.said[name]

    def warn(self, effect: ed.Warn) -> rl.Effect:
        return rl.Effect(warn=rl.Warn(player=self.side(effect.whom)))

    def admonish(self, effect: ed.Admonish) -> rl.Effect:
        return rl.Effect(admonish=rl.Admonish(player=self.side(effect.whom)))

    def void_move(self, effect: ed.VoidMove) -> rl.Effect | list[rl.Effect] | None:
        """The stone of the case, and those set behind it before anybody ruled."""
        if effect.move == ed.Move.AFTER_TIME:
            lying = [stone for stone in self.table.provisional if stone.player == self.case.told.side]
            return self._void(lying[-1].ref, lying[-1].index) if lying else None
        if not self.case.stone:
            return self.given("void_move", "ref, the event_id of the stone")
        case = self.case
        own = {stone.ref: stone.index for stone in self.table.provisional if stone.ref in case.told.refs}
        stones = own if case.stone in own else {case.stone: case.point - 1}
        return [self._void(ref, index) for ref, index in stones.items()]

    def _void(self, ref: str, index: int) -> rl.Effect:
        return rl.Effect(void_move=rl.VoidMove(ref=ref, point=self.table.names[index] if index >= 0 else ""))

    def lose_turn(self, effect: ed.LoseTurn) -> rl.Effect | None:
        """The turn of that move: once the opponent has moved it is past."""
        if not effect.empty_move and self._has_gone_on():
            return None
        lost = rl.LoseTurn(player=self.side(effect.whom), empty_move=effect.empty_move)
        return rl.Effect(**{"pass": lost})  # type: ignore[arg-type]  # a keyword of Python

    def set_points(self, effect: ed.SetPoints) -> rl.Effect:
        return rl.Effect(set_points=_POINTS[effect.how](self))

    def original(self) -> rl.SetPoints:
        """The stone back where it left the hand."""
        case, names = self.case, self.table.names
        if case.HasField("found"):
            return rl.SetPoints()  # the board in force has it there
        if not (case.instead_of and case.point):
            return self.given("set_points", "the point to clear and the point to restore").set_points
        return self._put(names[case.instead_of - 1], remove=[names[case.point - 1]])

    def captures(self) -> rl.SetPoints:
        """What the move captures is off, and what lacks comes back: the board in force stays as it is."""
        table = self.table
        back = {
            colour: [index for index in sorted(table.missing) if table.board.colour_at(index) == colour]
            for colour in SEATS
        }
        return rl.SetPoints(
            remove=table.point_names(table.due | table.left),
            add_black=table.point_names(back[BLACK]),
            add_white=table.point_names(back[WHITE]),
        )

    def picked_up(self) -> rl.SetPoints:
        if not self.case.point:
            return self.given("set_points", "remove, the point of the stone").set_points
        return rl.SetPoints(remove=[self.table.names[self.case.point - 1]])

    def right_colour(self) -> rl.SetPoints:
        if not self.case.point:
            return self.given("set_points", "the point of the stone to remove, and to add in its colour").set_points
        name = self.table.names[self.case.point - 1]
        return self._put(name, remove=[name])

    def reconstructed(self) -> rl.SetPoints:
        if "set_points" in self.said:
            return self.said["set_points"].set_points
        return rl.SetPoints(as_after_move=self.table.history.length)

    def start(self) -> rl.SetPoints:
        return rl.SetPoints(remove_all=True)

    def as_decided(self) -> rl.SetPoints:
        return self.given("set_points", "the points to remove and to add").set_points

    def as_found(self) -> rl.SetPoints:
        """The stone is valid where it lies: as the report of the board says. Raises IncompleteError where another stone
        was set on its old point since."""
        if not self.case.HasField("found"):
            return self.as_decided()
        table, since = self.table, self.case.told.move
        for name in self.case.found.remove:
            index = table.indices.get(name)
            if index is None or table.board.units[index] is None or table.history.stone_at(index) > since:
                raise IncompleteError(f"option: the stone that was on {name} is no more; take another option")
        return self.case.found

    def _put(self, name: str, remove: list[str]) -> rl.SetPoints:
        black = self.case.told.side == BLACK
        return rl.SetPoints(remove=remove, add_black=[name] if black else [], add_white=[] if black else [name])

    def _has_gone_on(self) -> bool:
        """Whether the opponent has moved since: whose turn it is, is settled by play."""
        told = self.case.told
        return told.side in SEATS and self.table.history.moves_of(other(told.side), told.move) > 0

    def set_turn(self, effect: ed.SetTurn) -> rl.Effect | None:
        if effect.whose == ed.Turn.GIVEN:
            return self.given("set_turn", "the colour that is to move")
        if effect.whose in (ed.Turn.OFFENDER, ed.Turn.OPPONENT) and self._has_gone_on():
            return None
        if effect.whose == ed.Turn.FIRST:
            return rl.Effect(set_turn=rl.SetTurn(color=self.table.history.setup_turn))
        party = ed.Party.OFFENDER if effect.whose == ed.Turn.OFFENDER else ed.Party.OPPONENT
        return rl.Effect(set_turn=rl.SetTurn(color=self.side(party)))

    def set_colours(self, effect: ed.SetColours) -> rl.Effect | None:
        """The persons have the colours that were assigned to them, or those in which they play (CN2002 17.1)."""
        if effect.as_played:
            return self.said.get("set_colours")
        opened = self.table.opened
        colours = opened.colours if opened.HasField("colours") else self.table.colours
        if "set_colours" in self.said or colours is None:
            said = self.given("set_colours", "the persons with black and with white").set_colours
            return rl.Effect(set_colours=rl.SetColours(black=said.black, white=said.white, change_seats=True))
        named = rl.SetColours(black=colours.black, white=colours.white, change_seats=True)
        return rl.Effect(set_colours=named)

    def result(self, effect: ed.SetResult) -> rl.Effect:
        if effect.kind != ed.ResultBy.LOSS or effect.whom is None:
            return rl.Effect(result=rl.SetResult(kind=rl.ResultKind.Value(f"RESULT_KIND_{effect.kind}")))
        return rl.Effect(result=rl.SetResult(kind=loss_of(self.side(effect.whom))))

    def assign_points(self, effect: ed.AssignPoints) -> rl.Effect:
        """The points are drawn by whoever decides; whose they are, the case says."""
        said = self.given("assign_points", "the contested points and their side").assign_points
        side = self.side(effect.whom) if self.case.told.side in SEATS else said.side
        return rl.Effect(assign_points=rl.AssignPoints(points=said.points, side=side))

    def permit(self, effect: ed.Permit) -> rl.Effect:
        said = self.said.get("permit")
        terms = said.permit.terms if said else ""
        if effect.what == ed.Permission.LEAVE:
            terms = terms or str(value_of(self.table.regulations, "leave_terms"))
        return rl.Effect(permit=rl.Permit(what=str(effect.what), terms=terms))

    def sanction(self, effect: ed.Sanction) -> rl.Effect:
        if effect.target == ed.Target.GIVEN:
            return self.given("sanction", "its target and scope")
        target = "ARBITER" if effect.target == ed.Target.ARBITER else str(self._person())
        said = self.said.get("sanction")
        scope = said.sanction.scope if said else ""
        return rl.Effect(sanction=rl.Sanction(target=target, kind=str(effect.kind), scope=scope))

    def _person(self) -> str:
        colours, side = self.table.colours, self.side(ed.Party.OFFENDER)
        known: Colours = colours if colours is not None else Colours(black="BLACK", white="WHITE")
        return known.black if side == BLACK else known.white

    def set_clock(self, effect: ed.SetClock) -> rl.Effect | None:
        """What follows from the case and the clocks; what does not, the ruling gives."""
        works = self.table.clockwork
        if works is None and effect.how == ed.Reading.START:
            return None
        said = None
        if works is not None and not (effect.how == ed.Reading.REREAD and "set_clock" in self.said):
            sides = SEATS if effect.whom == ed.Party.BOTH else (self.side(effect.whom),)
            said = reading_of(effect.how, Setting(self.table, works, self.case, sides, effect.seconds))
        if said is None:
            return self.given("set_clock", "the times used, black_ms and white_ms, or side with count_s")
        return rl.Effect(set_clock=said)

    def clock(self, effect: ed.SetRunning) -> rl.Effect:
        return rl.Effect(clock=running_of(self.table, effect))

    def dismiss(self, _: ed.Dismiss) -> rl.Effect:
        return rl.Effect(dismiss=rl.Dismiss())


_POINTS: dict[ed.Points, Callable[[_Filling], rl.SetPoints]] = {
    ed.Points.ORIGINAL: _Filling.original,
    ed.Points.CAPTURES: _Filling.captures,
    ed.Points.PICKED_UP: _Filling.picked_up,
    ed.Points.RIGHT_COLOUR: _Filling.right_colour,
    ed.Points.AS_FOUND: _Filling.as_found,
    ed.Points.RECONSTRUCTED: _Filling.reconstructed,
    ed.Points.START: _Filling.start,
    ed.Points.GIVEN: _Filling.as_decided,
}

_FILLED: dict[type, Callable[[_Filling, Any], rl.Effect | list[rl.Effect] | None]] = {
    ed.Warn: _Filling.warn,
    ed.Admonish: _Filling.admonish,
    ed.VoidMove: _Filling.void_move,
    ed.LoseTurn: _Filling.lose_turn,
    ed.SetPoints: _Filling.set_points,
    ed.SetTurn: _Filling.set_turn,
    ed.SetClock: _Filling.set_clock,
    ed.SetRunning: _Filling.clock,
    ed.SetColours: _Filling.set_colours,
    ed.SetResult: _Filling.result,
    ed.AssignPoints: _Filling.assign_points,
    ed.Permit: _Filling.permit,
    ed.Sanction: _Filling.sanction,
    ed.Dismiss: _Filling.dismiss,
}
