"""Clauses as an edition writes them: who may raise one until when, who decides, what the options are; windows and
clocks. A field is a key of the file. References to clauses are keys (``CN2002 17.3 drop``) once an edition is loaded.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from caipan.rules.effects import Dismiss, Effect, Permit, SetColours, SetResult
from caipan.rules.forms import DERIVED, FieldError
from caipan.rules.keys import value_of
from caipan.v1.common_pb2 import Role
from caipan.v1.outcome_pb2 import ResultHow
from caipan.v1.regulations_pb2 import Regulations


class RulingKind(StrEnum):
    """How a clause is decided (rules 0.6): one ruling is fixed [F], one is chosen [D], the fold derives what follows
    [AUTO], nothing follows."""

    FIXED = "FIXED"
    CHOSEN = "CHOSEN"
    DERIVED = "DERIVED"
    NONE = "NONE"


class Raiser(StrEnum):
    """Who may raise a clause: either player, the opponent of the offender, the player under the count, an arbiter of
    his own motion, anyone."""

    PLAYER = "PLAYER"
    OPPONENT = "OPPONENT"
    COUNTED = "COUNTED"
    ARBITER = "ARBITER"
    ANYONE = "ANYONE"


class Decider(StrEnum):
    """The lowest role that may decide."""

    ARBITER = "ARBITER"
    CHIEF = "CHIEF"
    COMMITTEE = "COMMITTEE"

    @property
    def role(self) -> Role.ValueType:
        """The role as events carry it."""
        return Role.Value(f"ROLE_{self}")


class Moment(StrEnum):
    """While what a clause may be raised: any time, in the raiser's own or the opponent's thinking time, under the
    count, when the dead stones are agreed."""

    ANY = "ANY"
    OWN_TIME = "OWN_TIME"
    OPPONENT_TIME = "OPPONENT_TIME"
    COUNT = "COUNT"
    DEAD_STONES = "DEAD_STONES"


class Anchor(StrEnum):
    """What ends a claim window: the claimant's n-th own move or stone, move n of the game passed, the end of the game,
    the first signature, the signatures of both players, nothing."""

    OWN_MOVE = "OWN_MOVE"
    OWN_STONE = "OWN_STONE"
    MOVE_NUMBER = "MOVE_NUMBER"
    GAME_END = "GAME_END"
    FIRST_SIGNATURE = "FIRST_SIGNATURE"
    BOTH_SIGNED = "BOTH_SIGNED"
    NEVER = "NEVER"


class When(StrEnum):
    """What can hold of a case. An option that names some is listed when one of them holds.

    LATE: the claim came after the window. ANSWERED, UNANSWERED: the opponent has moved since, or not. AGREED,
    NOT_AGREED: those whose consent the clause asks for have given it, or not. FIRST, AGAIN_IN_GAME, AGAIN_IN_EVENT:
    what the player did before under this clause (key repeat_scope). WITHIN_LIMIT, OVER_LIMIT: against the limit of the
    clause. APPLIED: the player under the count has applied for it. RECORDED, NOT_RECORDED: there is a written record
    of the times, or none. RECONSTRUCTED, LOST: the position could be set up again, or not; the arbiter finds it.
    OUTSIDE_MOMENT: it was claimed at another moment than the clause gives for it.
    """

    LATE = "LATE"
    ANSWERED = "ANSWERED"
    UNANSWERED = "UNANSWERED"
    AGREED = "AGREED"
    NOT_AGREED = "NOT_AGREED"
    FIRST = "FIRST"
    AGAIN_IN_GAME = "AGAIN_IN_GAME"
    AGAIN_IN_EVENT = "AGAIN_IN_EVENT"
    WITHIN_LIMIT = "WITHIN_LIMIT"
    OVER_LIMIT = "OVER_LIMIT"
    APPLIED = "APPLIED"
    RECORDED = "RECORDED"
    NOT_RECORDED = "NOT_RECORDED"
    RECONSTRUCTED = "RECONSTRUCTED"
    LOST = "LOST"
    OUTSIDE_MOMENT = "OUTSIDE_MOMENT"


# Of each of these at most one holds.
EXCLUSIVE = (
    {When.ANSWERED, When.UNANSWERED},
    {When.AGREED, When.NOT_AGREED},
    {When.FIRST, When.AGAIN_IN_GAME, When.AGAIN_IN_EVENT},
    {When.WITHIN_LIMIT, When.OVER_LIMIT},
    {When.RECORDED, When.NOT_RECORDED},
    {When.RECONSTRUCTED, When.LOST},
)


class Consent(StrEnum):
    """Whose agreement the options under AGREED rest on."""

    OPPONENT = "OPPONENT"
    BOTH = "BOTH"


class How(StrEnum):
    """How a result under this clause came about."""

    RULING = "RULING"
    TIME = "TIME"
    FORFEIT = "FORFEIT"

    @property
    def number(self) -> ResultHow.ValueType:
        """As results carry it."""
        return ResultHow.Value(f"RESULT_HOW_{self}")


class Level(StrEnum):
    """Whose log decides: the game's, the tournament's, the committee's on appeal."""

    GAME = "GAME"
    TOURNAMENT = "TOURNAMENT"
    APPEAL = "APPEAL"


class Counting(StrEnum):
    """What is counted: area; territory with prisoners; area less the difference in living groups [还棋头]; empty points
    less two a living group [路]."""

    AREA = "AREA"
    TERRITORY = "TERRITORY"
    GROUP_TAX = "GROUP_TAX"
    ROADS = "ROADS"


@dataclass(frozen=True, slots=True)
class Window:
    """Until when a claim is timely. ``count``: the n of its anchor. ``lifted``: the window that takes its place where
    the regulations say claim_window NONE."""

    zh: str
    en: str
    ends: Anchor
    count: int = 1
    lifted: str = ""

    def __post_init__(self) -> None:
        if self.count < 1:
            raise FieldError("count", f"it is {self.count}", "count from 1")


@dataclass(frozen=True, slots=True)
class Option:
    """What may be ruled: titles, and effects applied together. ``free``: whoever decides enters the effects."""

    zh: str
    en: str
    effects: tuple[Effect, ...] = ()
    free: bool = False

    def __post_init__(self) -> None:
        if bool(self.effects) == self.free:
            raise FieldError(
                "effects",
                "none" if not self.effects else "given, though the option is free",
                "name at least one effect, or set free = true and leave the effects to whoever decides",
            )
        noted = (Dismiss, SetColours)
        if sum(isinstance(effect, SetResult) for effect in self.effects) > 1:
            raise FieldError("effects", "more than one RESULT", "a game has one result")
        if self.dismisses and not all(isinstance(effect, noted) for effect in self.effects):
            raise FieldError("effects", "DISMISS with others", "where a case is dismissed nothing follows")

    @property
    def permits(self) -> bool:
        """Whether it is a permission."""
        return any(isinstance(effect, Permit) for effect in self.effects)

    @property
    def ends_game(self) -> bool:
        """Whether a result comes of it."""
        return any(isinstance(effect, SetResult) for effect in self.effects)

    @property
    def dismisses(self) -> bool:
        """Whether nothing follows; who has which colour may be noted with it (CN2002 17.1)."""
        return Dismiss() in self.effects


@dataclass(frozen=True, slots=True)
class Offer:
    """An option as a clause offers it: when it is listed (``when``: one of these holds; ``regulation``: all these keys
    have that value) and who may record it, if not the one who decides the clause."""

    short: ClassVar = "name"
    name: str
    when: frozenset[When] = frozenset()
    regulation: dict[str, Any] = field(default_factory=dict)
    decides: Decider | None = None
    option: Option = field(default=Option("", "", free=True), metadata=DERIVED)

    def is_listed(self, facts: Collection[str], regulations: Regulations | None) -> bool:
        """Whether a case of which ``facts`` (values of When) hold lists it. A dismissal always is; of the others a late
        claim leaves those that say LATE."""
        if self.option.dismisses and not self.when:
            return True
        if self.when or When.LATE in facts:
            needed = self.when & {When.LATE} if When.LATE in facts else self.when
            if needed.isdisjoint(facts):
                return False
        return regulations is None or all(value_of(regulations, key) == value for key, value in self.regulation.items())


@dataclass(frozen=True, slots=True)
class Opening:
    """What opens a case of the clause by itself: kinds of findings, of claims other than COMPLAINT, of conduct."""

    findings: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    conduct: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limit:
    """The bound of a clause: so often in a game, so many seconds, or what a key of the regulations says."""

    times: int = 0
    seconds: int = 0
    key: str = ""

    def __post_init__(self) -> None:
        if sum((self.times > 0, self.seconds > 0, bool(self.key))) != 1:
            raise FieldError("limit", "no bound, or several", "give one of times, seconds, key")


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause, or one matter of it (`17.3 drop`).

    ``key``: what it is found by. ``id``: what events and outcomes cite (``CN2002 17.3``). ``reason``: where the id is
    that of the clause on what the text leaves open, the clause whose ruling is taken (``CN1988S 25.1``, reading R58).
    ``see``: where the consequence stands. ``auto_fixed``: the service may apply it under ruling_mode AUTO_FIXED, since
    no person has to find anything. ``offboard``: its warnings are those of offboard_accumulation.
    """

    zh: str
    en: str
    text_zh: str
    text_en: str
    ruling: RulingKind
    cited_as: str = ""
    level: Level = Level.GAME
    raised_by: tuple[Raiser, ...] = ()
    until: str = ""
    during: Moment = Moment.ANY
    decides: Decider | None = None
    options: tuple[Offer, ...] = ()
    consent: Consent | None = None
    opened_by: Opening = Opening()
    limit: Limit | None = None
    how: How = How.RULING
    auto_fixed: bool = False
    offboard: bool = False
    see: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    key: str = field(default="", metadata=DERIVED)
    id: str = field(default="", metadata=DERIVED)
    reason: str = field(default="", metadata=DERIVED)

    def __post_init__(self) -> None:
        for wrong, name, problem, remedy in (
            (self.is_ruled and not self.raised_by, "raised_by", "missing", "say who may raise it"),
            (self.is_ruled and not self.until, "until", "missing", "name a window"),
            (self.is_ruled and self.decides is None, "decides", "missing", "say which role decides"),
            (self.is_ruled and not self.options, "options", "none", "name what may be ruled"),
            (
                self.ruling == RulingKind.NONE and self.options,
                "options",
                'given with ruling = "NONE"',
                "leave them out, or say FIXED or CHOSEN",
            ),
            (
                self.auto_fixed and self.ruling != RulingKind.FIXED,
                "auto_fixed",
                f"true with ruling = {self.ruling}",
                "only a fixed ruling can be applied by the service",
            ),
        ):
            if wrong:
                raise FieldError(name, problem, remedy)

    @property
    def is_ruled(self) -> bool:
        """Whether a person decides it."""
        return self.ruling in (RulingKind.FIXED, RulingKind.CHOSEN)

    @property
    def opens_cases(self) -> bool:
        """Whether a case of a game may be decided by it; what the event decides is none of the game's."""
        return bool(self.options) and self.level == Level.GAME

    def listed(self, facts: Collection[str] = (), regulations: Regulations | None = None) -> tuple[Offer, ...]:
        """What a case of which ``facts`` (values of When) hold lists, the default first. Without ``regulations`` their
        conditions are left out of account."""
        return tuple(offer for offer in self.options if offer.is_listed(facts, regulations))


@dataclass(frozen=True, slots=True)
class Clock:
    """A time system: the clause it stands in, and the clause on overtime."""

    clause: str
    overtime: str


@dataclass(frozen=True, slots=True)
class Announcement:
    """What is read in a period of ``unit_s`` seconds: at which seconds while more than one is left, at which in the
    last; from second ``count_from`` of the last on, every second up to the end of the period."""

    unit_s: int
    early: tuple[int, ...]
    last: tuple[int, ...]
    count_from: int

    def __post_init__(self) -> None:
        if not 0 < self.count_from <= self.unit_s:
            raise FieldError("count_from", f"{self.count_from}", f"name a second from 1 to {self.unit_s}")
        for name, seconds in (("early", self.early), ("last", self.last)):
            if list(seconds) != sorted(set(seconds)) or any(not 0 < each < self.unit_s for each in seconds):
                raise FieldError(name, f"{list(seconds)}", f"name seconds between 0 and {self.unit_s}, in order")
