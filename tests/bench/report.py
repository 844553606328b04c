"""Figures and how they are shown."""

from __future__ import annotations

from typing import NamedTuple


class Figure(NamedTuple):
    """A measured figure: what it is, the value with its unit, the yardstick's, and value against goal."""

    name: str
    value: str
    yardstick: str
    measured: float
    goal: float
    at_most: bool  # the goal is an upper bound

    @property
    def met(self) -> bool:
        """Whether the goal is reached."""
        return self.measured <= self.goal if self.at_most else self.measured >= self.goal


def table(figures: list[Figure]) -> str:
    """The figures as lines of text."""
    lines = []
    for figure in figures:
        sign = "<=" if figure.at_most else ">="
        goal = f"{figure.measured:.3g} (goal {sign} {figure.goal:g})"
        mark = "ok" if figure.met else "MISSED"
        lines.append(f"  {figure.name:<46} {figure.value:>16}  {figure.yardstick:>26}  {goal:>26}  {mark}")
    return "\n".join(lines)
