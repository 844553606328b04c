"""Figures and how they are shown."""

from __future__ import annotations

import math
from typing import NamedTuple


class Figure(NamedTuple):
    """A measured figure: what it is, the value with its unit, the yardstick's, and value against goal."""

    name: str
    value: str
    yardstick: str
    measured: float
    goal: float = math.nan  # without one it is only told
    at_most: bool = False  # the goal is an upper bound

    @property
    def met(self) -> bool:
        """Whether the goal is reached."""
        return self.measured <= self.goal if self.at_most else self.measured >= self.goal


def table(figures: list[Figure]) -> str:
    """The figures as lines of text."""
    lines = []
    for figure in figures:
        sign = "<=" if figure.at_most else ">="
        goal, mark = f"(goal {sign} {figure.goal:g})", "ok" if figure.met else "MISSED"
        if math.isnan(figure.goal):
            goal, mark = "(no goal)", "-"
        told = f"{figure.measured:.3g} {goal}"
        lines.append(f"  {figure.name:<46} {figure.value:>18}  {figure.yardstick:>28}  {told:>26}  {mark}")
    return "\n".join(lines)
