"""The table: the state in force of one game.

Only what later facts are judged by stands here. Who sent which event, and in which order, is the business of
``delivery``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from caipan.rules.act import Act
from caipan.rules.board import Board
from caipan.rules.clockwork import Clockwork, clockwork_for
from caipan.rules.digest import Official, closed_part, persons_part
from caipan.rules.edition import edition
from caipan.rules.history import Edit, History
from caipan.rules.ledger import Ledger
from caipan.rules.points import BLACK, SEATS, WHITE, Colour, indices, names, other
from caipan.v1.checkpoint_pb2 import CaseMemory
from caipan.v1.common_pb2 import COLOR_UNSPECIFIED
from caipan.v1.facts_pb2 import OBSERVED_CAPTURES, Colours, GameOpened
from caipan.v1.outcome_pb2 import PHASE_ENDED, PHASE_PLAY, Penalty, Phase, Result
from caipan.v1.regulations_pb2 import HANDICAP_PLACEMENT_FREE, RULING_MODE_AUTO_FIXED, Regulations


@dataclass(frozen=True, slots=True)
class Provisional:
    """A stone that lies on the board as observed until somebody rules or the opponent moves on (rules 0.6)."""

    index: int
    colour: Colour
    player: Colour
    captured: tuple[int, ...]
    key: int  # of the board with it
    moving_is_takeback: bool  # set on turn and on purpose: elsewhere is a takeback (CN2002 17.3)
    ref: str  # event_id of the stone
    instead_of: int = -1  # the point of the move that it takes back, and what that had captured
    instead_captured: tuple[int, ...] = ()


ARBITER_SIGNED = 3  # among the seats that have signed

# What a hand did last, a stone set or a clock pressed before any stone: player, time in ms, source.
Hand = tuple[Colour, int, str]


class Table:
    """Board, history, turn, phase and open questions of a game."""

    __slots__ = (
        "assigned",
        "away",
        "began_ms",
        "board",
        "came",
        "captured",
        "cases",
        "changed_seq",
        "clockwork",
        "closed",
        "closed_part",
        "colours",
        "counted_by",
        "counting",
        "dead",
        "due",
        "due_from",
        "early",
        "edition",
        "groups",
        "handicap_left",
        "history",
        "idle_ms",
        "indices",
        "is_auto",
        "is_recount",
        "ledger",
        "left",
        "lifted",
        "missing",
        "moved_at_ms",
        "must_point_out",
        "names",
        "officials",
        "opened",
        "overruled",
        "passes",
        "persons",
        "phase",
        "proposer",
        "provisional",
        "regulations",
        "result",
        "result_by",
        "resumes",
        "seal",
        "sealed_by",
        "signed",
        "size",
        "skew_ms",
        "superko_mode",
        "talks",
        "turn",
        "unpressed",
        "watches_captures",
    )

    def __init__(self, opened: GameOpened, board: Board, turn: Colour, history: History | None = None) -> None:
        """``board`` with ``turn`` to move; ``history`` where moves were made before."""
        self.opened = opened
        self.size = board.size
        self.names = names(board.size)
        self.indices = indices(board.size)
        self.board = board
        self.history = history or History(board.size, board.cells(), turn)
        self.turn = turn
        self.phase: Phase.ValueType = PHASE_PLAY
        # Passes and proposals to end in a row, and who proposed last (0 = no open proposal): CN2002 7.3, 21.1.
        self.passes = 0
        self.proposer: Colour = COLOR_UNSPECIFIED
        self.provisional: tuple[Provisional, ...] = ()
        # Stones of each colour taken so far, by colour.
        self.captured = [0, 0, 0]
        # Times used, of Black and of White, where regulations have put the clocks away.
        self.idle_ms = (0, 0)
        self._judge_by(opened.pins.regulations)
        # Stones that Black may still set before White's first move under handicap_placement FREE.
        self.handicap_left = 0
        if self.regulations.handicap_placement == HANDICAP_PLACEMENT_FREE:
            self.handicap_left = max(0, self.regulations.handicap - len(opened.initial_black))
        self._watch_hands(opened)
        # Dead stones as each side proposed them (CN2002 8), living groups as each confirmed them (rules 6.3).
        self.dead: dict[Colour, frozenset[int]] = {}
        self.groups: dict[Colour, tuple[int, int]] = {}
        self.result: Result | None = None
        # The ruling by which it stands, "" for none; the results that rulings have overruled, with theirs.
        self.result_by = ""
        self.overruled: list[tuple[Result, str]] = []
        # Whether the count was opened again: then the dead stones are talked about, and no more played out.
        self.is_recount = False
        # Where the game goes on if the result is taken back.
        self.resumes: Phase.ValueType = PHASE_PLAY
        # By which regulations the dead stones were agreed: the count stays one by these.
        self.counted_by: Regulations | None = None
        # Points that a ruling gave to a side (CN2002 12.4), and who has signed the result: 1, 2, 3 = the arbiter.
        self.assigned: dict[int, Colour] = {}
        self.signed: frozenset[int] = frozenset()
        # Open cases by id, closed ones; seq of the outcome that last changed, while one was open, what they are about.
        self.cases: dict[str, CaseMemory] = {}
        self.keep_closed([])
        self.changed_seq = 0
        self._receive_persons(opened)

    def _judge_by(
        self, regulations: Regulations, penalties: Iterable[Penalty] = (), clockwork: Clockwork | None = None
    ) -> None:
        """The regulations in force; ``penalties`` and ``clockwork`` are those of the game so far."""
        self.regulations = regulations
        self.edition = edition(regulations.edition)
        self.is_auto = regulations.ruling_mode == RULING_MODE_AUTO_FIXED
        self.counting = self.edition.counting_for(regulations)
        self.superko_mode = regulations.superko_mode
        self.skew_ms = regulations.clock_skew_ms
        self.ledger = Ledger(self.edition, regulations, penalties)
        self.clockwork = works = clockwork_for(self.opened, regulations, self.edition, clockwork)
        if works is not None:
            works.turn, works.length = self.turn, self.history.length
            for side, used_ms in zip(SEATS, self.idle_ms, strict=True):
                if clockwork is None and used_ms:
                    works.set_used(side, used_ms)
        elif clockwork is not None:
            self.idle_ms = (clockwork.clocks[BLACK].used_ms, clockwork.clocks[WHITE].used_ms)

    def _watch_hands(self, opened: GameOpened) -> None:
        """The physical board against the board in force, and what hands did last."""
        # Taken stones still to be lifted and by whom, taken stones that were left lying; stones in force that a player
        # lifted (point -> side) and that are missing since.
        self.watches_captures = OBSERVED_CAPTURES in opened.observed
        self.due: frozenset[int] = frozenset()
        self.due_from: Colour = COLOR_UNSPECIFIED
        self.left: frozenset[int] = frozenset()
        self.lifted: dict[int, Colour] = {}
        self.missing: frozenset[int] = frozenset()
        # When the last move was made, in ms; the last stone whose press has not come; presses that came before their
        # stone (CN2002 17.4).
        self.moved_at_ms = 0
        self.unpressed: Hand | None = None
        self.early: dict[Colour, Hand] = {}

    def _receive_persons(self, opened: GameOpened) -> None:
        """Officials and players as they are known at the opening; nobody has come."""
        # When the session was to begin, ms; who has come, who is away, whom the last move must be shown to.
        self.began_ms = 0
        self.came: frozenset[Colour] = frozenset()
        self.away: frozenset[Colour] = frozenset()
        self.must_point_out: Colour = COLOR_UNSPECIFIED
        # Permitted talks that go on: when they began, ms. A sealed move: whose, and its digest.
        self.talks: dict[Colour, int] = {}
        self.sealed_by: Colour = COLOR_UNSPECIFIED
        self.seal = b""
        officials = frozenset((official.person, official.role) for official in opened.officials)
        self.name(officials, opened.colours if opened.HasField("colours") else None)

    def adopt(self, regulations: Regulations) -> None:
        """From here on the game is judged by these."""
        self._judge_by(regulations, self.ledger.penalties, self.clockwork)

    def cite(self, number: str) -> str:
        """The full id of a clause of this game's edition."""
        return self.edition.cite(number)

    def name(self, officials: frozenset[Official], colours: Colours | None) -> None:
        """The officials as (person, role), and who has which colour."""
        self.officials = officials
        self.colours = colours
        self.keep_persons()

    def keep_closed(self, closed: list[CaseMemory]) -> None:
        """The closed cases are these; keeps their part of the digest."""
        self.closed = closed
        self.closed_part = closed_part(closed)

    def change_seats(self) -> list[CaseMemory]:
        """The two persons change colours; what stands against each, and the time used, goes with the person (17.1).
        So do the open cases about no stone. Returns the cases that this changes."""
        self.ledger.change_sides()
        if self.clockwork is not None:
            self.clockwork.change_sides()
        self.idle_ms = self.idle_ms[::-1]
        if self.must_point_out:
            self.must_point_out = other(self.must_point_out)
        self.came, self.away = (frozenset(map(other, sides)) for sides in (self.came, self.away))
        self.talks = {other(side): began_ms for side, began_ms in self.talks.items()}
        cases = [case for case in self.cases.values() if case.told.side and not (case.move or case.stone)]
        for case in self.closed:
            case.told.seats_changed = not case.told.seats_changed
        self.keep_closed(self.closed)
        for case in cases:
            case.told.side = other(case.told.side)
            case.black_ms, case.white_ms = case.white_ms, case.black_ms
            case.black_ran_ms, case.white_ran_ms = case.white_ran_ms, case.black_ran_ms
        return [*self.closed, *cases]

    def keep_persons(self) -> None:
        """Who is there has changed: keeps their part of the digest."""
        self.persons = persons_part(self)

    def is_open(self) -> bool:
        """Whether anything is there that seldom is."""
        return bool(
            self.provisional
            or self.due
            or self.left
            or self.lifted
            or self.missing
            or self.dead
            or self.handicap_left
            or self.is_recount
            or self.result is not None
            or self.cases
            or self.assigned
            or self.talks
            or self.seal
            or self.must_point_out
        )

    def point_names(self, points: Iterable[int]) -> list[str]:
        """Names of points, in the order of the board."""
        return [self.names[index] for index in sorted(points)]

    def accept_provisional(self, act: Act) -> None:
        """The opponent moves on: each provisional stone counts as a move, and the turn passes (rules 0.6).

        A provisional stone that was lifted again is no longer there to be accepted.
        """
        if self.lifted:
            self.drop_lifted(act)
        stones, self.provisional = self.provisional, ()
        for stone in stones:
            self.turn = other(stone.player)
            self.history.push(stone.key, stone.index, stone.colour, stone.captured, self.turn)
            self.passes = 0
            self.proposer = COLOR_UNSPECIFIED

    def drop_lifted(self, act: Act) -> list[Provisional]:
        """Takes off the provisional stones that were lifted again; what they captured comes back. Returns them."""
        lying = {stone.index: stone for stone in self.provisional}  # a point can have held an earlier one
        gone = [stone for stone in lying.values() if stone.index in self.lifted]
        if gone:
            self.set_again([stone for stone in self.provisional if stone not in gone], act)
            for stone in gone:
                self.lifted.pop(stone.index, None)
        return gone

    def remember(self, act: Act) -> None:
        """Keeps the arrangement before the act: more than its stone and captures is going to change."""
        if act.before is None:
            act.before = self.board.cells()

    def dead_are_agreed(self) -> bool:
        """Whether both players name the same stones dead."""
        return len(self.dead) == len(SEATS) and self.dead[BLACK] == self.dead[WHITE]

    def take_result_back(self) -> None:
        """The result no longer stands: the one that it had overruled does, or the game goes on where it was."""
        self.signed = frozenset()
        if self.overruled:
            self.result, self.result_by = self.overruled.pop()
        else:
            self.result, self.result_by, self.phase = None, "", self.resumes

    def keep_edit(self) -> None:
        """The board in force was set by a ruling: provisional stones are part of it, what they took is captured."""
        _, black, white = self.captured
        self.history.edit(Edit(self.board.cells(), self.turn, (0, black, white)))
        self.provisional = ()
        self.forget_taken()

    def set_turn(self, turn: Colour) -> None:
        """Not the last move says whose turn it is, but a ruling or a dispute; provisional stones stay so."""
        if self.turn != turn:
            self.turn = turn
            _, black, white = self.history.captured()
            self.history.edit(Edit(self.history.cells(self.history.length), turn, (0, black, white)))

    def set_result(self, result: Result, phase: Phase.ValueType, ruling: str = "") -> None:
        """The game has this result, by a ruling where one is named; nobody has signed it."""
        if self.phase < PHASE_ENDED:
            self.resumes = self.phase
        if self.result is not None and ruling:
            self.overruled.append((self.result, self.result_by))
        self.result, self.result_by = result, ruling
        self.phase = phase
        self.signed = frozenset()

    def set_again(self, provisional: list[Provisional], act: Act) -> None:
        """Puts the last position of the history on the board, then these provisional stones."""
        self.remember(act)
        self.board = Board.from_cells(self.size, self.history.cells(self.history.length))
        self.captured = self.history.captured()
        self.provisional = ()
        for stone in provisional:
            if self.board.units[stone.index] is not None:
                continue  # it lay where a captured stone is back
            captured = self.board.play(stone.index, stone.colour)
            self.captured[other(stone.colour)] += len(captured)
            again = replace(stone, captured=captured, key=self.board.key)
            self.provisional = (*self.provisional, again)
        self.forget_taken()

    def forget_taken(self) -> None:
        """Where a stone lies on the board in force, none is to be lifted (CN2002 18.2); where none does, none is
        missing, and nobody has lifted one."""
        units = self.board.units
        self.due, self.left = (frozenset(i for i in each if units[i] is None) for each in (self.due, self.left))
        self.missing = frozenset(index for index in self.missing if units[index] is not None)
        self.lifted = {index: side for index, side in self.lifted.items() if units[index] is not None}


def tell_changes(table: Table, before: bytes, act: Act) -> None:
    """Writes into ``act`` how the board in force differs from the arrangement ``before``, and nothing else."""
    act.removed = act.added_black = act.added_white = ()
    for name, was, now in zip(table.names, before, table.board.cells(), strict=True):
        if was != now:
            if was:
                act.take([name])
            if now:
                act.set(name, now)
