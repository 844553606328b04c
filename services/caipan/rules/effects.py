"""What an option does, as an edition writes it: the closed set of effects (rules 7.3) before a case fills them in.

Sides stand as parties of the case, stones and times as the way in which the case yields them; a ruling turns each of
these into the message of the same name in ``caipan.v1``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, TypeAlias

from caipan.rules.forms import FieldError


class Party(StrEnum):
    """A side, seen from the case: the one it is about, the other one, both."""

    OFFENDER = "OFFENDER"
    OPPONENT = "OPPONENT"
    BOTH = "BOTH"


class Move(StrEnum):
    """A move that is made void: that of the case; or a stone set after the time was over, if there is one."""

    OF_CASE = "OF_CASE"
    AFTER_TIME = "AFTER_TIME"


class Points(StrEnum):
    """How stones are set right.

    ORIGINAL: the stone back where it left the hand, with what it captured. CAPTURES: what the move captures off,
    anything else back. PICKED_UP: the fallen stone off. RIGHT_COLOUR: a stone of the player's own colour instead.
    AS_FOUND: as it lies. RECONSTRUCTED: as after the move agreed on. START: as at the opening. GIVEN: as decided.
    """

    ORIGINAL = "ORIGINAL"
    CAPTURES = "CAPTURES"
    PICKED_UP = "PICKED_UP"
    RIGHT_COLOUR = "RIGHT_COLOUR"
    AS_FOUND = "AS_FOUND"
    RECONSTRUCTED = "RECONSTRUCTED"
    START = "START"
    GIVEN = "GIVEN"


class Turn(StrEnum):
    """Whose turn it is then: a party's, that of the side to move at the opening, or as decided."""

    OFFENDER = "OFFENDER"
    OPPONENT = "OPPONENT"
    FIRST = "FIRST"
    GIVEN = "GIVEN"


class Reading(StrEnum):
    """What a clock shows then.

    START: as at the opening. LATENESS: late_factor times the lateness is used. LAST_MINUTE: all retained minutes but
    one are used. REREAD: the count is back at the first announcement that was wrong. PROPORTION: both used times in
    proportion to the arbiter's watch. RECORD: as in the written record. EVEN: half of the session each. ADD:
    ``seconds`` more are used. GIVEN: as decided.
    """

    START = "START"
    LATENESS = "LATENESS"
    LAST_MINUTE = "LAST_MINUTE"
    REREAD = "REREAD"
    PROPORTION = "PROPORTION"
    RECORD = "RECORD"
    EVEN = "EVEN"
    ADD = "ADD"
    GIVEN = "GIVEN"


class Run(StrEnum):
    """Which clock runs then: that of the side on turn, or none."""

    ON_TURN = "ON_TURN"
    STOPPED = "STOPPED"


class ResultBy(StrEnum):
    """A result by ruling; LOSS is that of a party."""

    LOSS = "LOSS"
    BOTH_LOSE = "BOTH_LOSE"
    DRAW = "DRAW"
    NO_RESULT = "NO_RESULT"
    REPLAY = "REPLAY"


class Permission(StrEnum):
    """What may be permitted. Leaving is on the terms of the key leave_terms."""

    LEAVE = "LEAVE"
    TALK = "TALK"


class SanctionKind(StrEnum):
    """A sanction at the level of the event (CN2002 23, 30.3)."""

    ANNUL = "ANNUL"
    BAN = "BAN"
    CRITICISM = "CRITICISM"
    PRIZE_ONE_LOWER = "PRIZE_ONE_LOWER"
    REPORT = "REPORT"
    DISCIPLINE = "DISCIPLINE"


class Target(StrEnum):
    """Whom a sanction is against: the offender, the arbiter, or whom the decision names."""

    OFFENDER = "OFFENDER"
    ARBITER = "ARBITER"
    GIVEN = "GIVEN"


@dataclass(frozen=True, slots=True)
class Warn:
    """A warning [警告]; the ladder of the edition says what it costs."""

    tag: ClassVar = "WARN"
    whom: Party = Party.OFFENDER


@dataclass(frozen=True, slots=True)
class Admonish:
    """An admonition or caution."""

    tag: ClassVar = "ADMONISH"
    whom: Party = Party.OFFENDER


@dataclass(frozen=True, slots=True)
class VoidMove:
    """The move is taken off, and its captures come back."""

    tag: ClassVar = "VOID_MOVE"
    move: Move = Move.OF_CASE


@dataclass(frozen=True, slots=True)
class LoseTurn:
    """A turn lost [弃权一次]. ``empty_move``: it counts as a pass where two passes end the game (reading R2)."""

    tag: ClassVar = "PASS"
    whom: Party = Party.OFFENDER
    empty_move: bool = False


@dataclass(frozen=True, slots=True)
class SetPoints:
    """Stones are set right."""

    tag: ClassVar = "SET_POINTS"
    how: Points


@dataclass(frozen=True, slots=True)
class SetTurn:
    """Whose turn it is."""

    tag: ClassVar = "SET_TURN"
    whose: Turn


@dataclass(frozen=True, slots=True)
class SetClock:
    """The time that a party has used. ``seconds``: with ADD, how many more."""

    tag: ClassVar = "SET_CLOCK"
    how: Reading
    whom: Party = Party.OFFENDER
    seconds: int = 0

    def __post_init__(self) -> None:
        if (self.how == Reading.ADD) != (self.seconds > 0):
            raise FieldError(
                "seconds",
                f"{self.seconds} with how = {self.how}",
                'give seconds above 0 with how = "ADD", and only then',
            )


@dataclass(frozen=True, slots=True)
class SetRunning:
    """Which clock runs, and whether another one stands there now."""

    tag: ClassVar = "CLOCK"
    run: Run
    replaced: bool = False


@dataclass(frozen=True, slots=True)
class SetColours:
    """The two persons have the colours that were assigned to them (CN2002 17.1); with ``as_played`` those in which they
    play, where the decision says so."""

    tag: ClassVar = "SET_COLOURS"
    as_played: bool = False


@dataclass(frozen=True, slots=True)
class SetResult:
    """The game is over. ``whom``: who has lost, with LOSS."""

    tag: ClassVar = "RESULT"
    kind: ResultBy
    whom: Party | None = None

    def __post_init__(self) -> None:
        if self.whom == Party.BOTH:
            raise FieldError("whom", "a loss of both", 'say kind = "BOTH_LOSE"')
        if (self.kind == ResultBy.LOSS) != (self.whom is not None):
            raise FieldError(
                "whom", f"{self.whom} with kind = {self.kind}", 'say who has lost with kind = "LOSS" alone'
            )


@dataclass(frozen=True, slots=True)
class AssignPoints:
    """The contested points, in the bounds that the decision draws, are a party's (CN2002 12.4)."""

    tag: ClassVar = "ASSIGN_POINTS"
    whom: Party = Party.OPPONENT


@dataclass(frozen=True, slots=True)
class Permit:
    """A permission."""

    tag: ClassVar = "PERMIT"
    what: Permission


@dataclass(frozen=True, slots=True)
class Sanction:
    """A sanction at the level of the event; its scope is the decision's."""

    tag: ClassVar = "SANCTION"
    kind: SanctionKind
    target: Target = Target.OFFENDER


@dataclass(frozen=True, slots=True)
class Dismiss:
    """Nothing follows: not established, too late, or a permission refused."""

    tag: ClassVar = "DISMISS"


Effect: TypeAlias = (
    Warn
    | Admonish
    | VoidMove
    | LoseTurn
    | SetPoints
    | SetTurn
    | SetClock
    | SetRunning
    | SetColours
    | SetResult
    | AssignPoints
    | Permit
    | Sanction
    | Dismiss
)
