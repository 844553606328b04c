"""How penalties add up: what comes with the n-th warning (CN2002 24)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from caipan.rules.forms import FieldError
from caipan.rules.keys import BOUNDS
from caipan.v1.regulations_pb2 import Regulations


class Span(StrEnum):
    """Over what warnings add up."""

    GAME = "GAME"
    EVENT = "EVENT"


@dataclass(frozen=True, slots=True)
class Step:
    """What comes with the n-th warning: its cost at the count in quarter-zi and in points (one mu each); what is left
    out is as the keys warning_qz and warning_points say. ``loses``: the game is lost."""

    warnings: int
    clause: str
    costs_qz: int | None = None
    costs_points: int | None = None
    loses: bool = False

    def __post_init__(self) -> None:
        for name, cost, (low, high) in (
            ("costs_qz", self.costs_qz, BOUNDS["warning_qz"]),
            ("costs_points", self.costs_points, BOUNDS["warning_points"]),
        ):
            if cost is not None and not low <= cost <= high:
                raise FieldError(name, f"{cost}", f"give a number from {low} to {high}")


@dataclass(frozen=True, slots=True)
class Ladder:
    """How penalties add up: steps by the number of warnings over ``span``; a game's own log counts those of the game.
    ``cautions``: as many make a warning, where the regulations say caution_conversion; 0 = they never do."""

    steps: tuple[Step, ...]
    span: Span = Span.GAME
    cautions: int = 0

    def __post_init__(self) -> None:
        numbers = [step.warnings for step in self.steps]
        if not numbers or numbers[0] < 1 or numbers != sorted(set(numbers)):
            raise FieldError(
                "steps", f"warnings are {numbers}", "number them from 1 or more, each above the one before"
            )
        if self.cautions < 0:
            raise FieldError("cautions", f"{self.cautions}", "say how many make a warning, 0 = they never do")
        if any(step.loses for step in self.steps[:-1]):
            raise FieldError("steps", "a step follows the one that loses", "let the losing step be the last")

    def step(self, warnings: int) -> Step | None:
        """The step of the n-th warning: the last one that begins at or below it."""
        return next((step for step in reversed(self.steps) if step.warnings <= warnings), None)

    def losing(self) -> Step | None:
        """The step that loses the game, if one does."""
        return self.steps[-1] if self.steps[-1].loses else None

    def costs_qz(self, warnings: int, regulations: Regulations) -> int:
        """What so many warnings cost at the count, quarter-zi (CN2002 24.1)."""
        steps = map(self.step, range(1, warnings + 1))
        return sum(regulations.warning_qz if step.costs_qz is None else step.costs_qz for step in steps if step)

    def costs_points(self, warnings: int, regulations: Regulations) -> int:
        """What so many warnings give the opponent under territory counting, points (KBA2024 18.2)."""
        steps = map(self.step, range(1, warnings + 1))
        return sum(
            regulations.warning_points if step.costs_points is None else step.costs_points for step in steps if step
        )
