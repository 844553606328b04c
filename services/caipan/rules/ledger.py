"""The ledger: what was imposed on each side, what it adds up to, what it costs at the count (CN2002 24)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from caipan.rules.clauses import Clause
from caipan.rules.digest import penalties_part
from caipan.rules.edition import Edition
from caipan.rules.points import SEATS, Colour, other
from caipan.v1.outcome_pb2 import Penalty, PenaltyCount, Verdict
from caipan.v1.regulations_pb2 import Regulations


class Ledger:
    """The penalties of a game in the order in which they were imposed; each names side, clause, move and ruling.

    ``counts``: what stands against each side that has anything, Black first; ``told``: the same as verdicts tell it, in
    bytes. ``part``: the penalties as the digest has them.
    """

    __slots__ = ("_edition", "_regulations", "counts", "part", "penalties", "told")

    def __init__(self, edition: Edition, regulations: Regulations, penalties: Iterable[Penalty] = ()) -> None:
        self._edition = edition
        self._regulations = regulations
        self.keep(penalties)

    def keep(self, penalties: Iterable[Penalty]) -> None:
        """The penalties are these."""
        self.penalties = tuple(penalties)
        self.part = penalties_part(self.penalties)
        self.counts = tuple(self._count()) if self.penalties else ()
        self.told = Verdict(penalties=self.counts).SerializeToString(deterministic=True) if self.counts else b""

    def impose(self, kind: Penalty.Kind.ValueType, side: Colour, clause: Clause, move: int, ruling: str) -> None:
        """A penalty; cautions that make a warning bring one (KBA2024 17)."""
        penalty = Penalty(side=side, kind=kind, clause=clause.id, reason_clause=clause.reason, key=clause.key)
        penalty.move, penalty.ruling = move, ruling
        if kind == Penalty.KIND_ADMONITION and self._regulations.caution_conversion:
            penalty.cautions = self._edition.ladder.cautions
        self._add(penalty)

    def change_sides(self) -> None:
        """The persons have changed colours: what was imposed stays with the person (CN2002 17.1)."""
        changed = []
        for penalty in self.penalties:
            moved = Penalty()
            moved.CopyFrom(penalty)
            moved.side = other(penalty.side)
            changed.append(moved)
        self.keep(changed)

    def drop(self, is_dropped: Callable[[Penalty], bool]) -> None:
        """Penalties are no more, nor the warnings that these cautions helped to make."""
        left = [penalty for penalty in self.penalties if not (is_dropped(penalty) or penalty.converted)]
        self.keep(())
        for penalty in left:
            self._add(penalty)

    def _add(self, penalty: Penalty) -> None:
        """Appends a penalty, and the warning that it makes with other cautions."""
        self.keep((*self.penalties, penalty))
        counted = sum(each.side == penalty.side and each.cautions > 0 for each in self.penalties)
        if penalty.cautions and not counted % penalty.cautions:
            warning = Penalty()
            warning.CopyFrom(penalty)
            warning.kind, warning.converted, warning.cautions = Penalty.KIND_WARNING, True, 0
            self.keep((*self.penalties, warning))

    def number(self, side: Colour, kind: Penalty.Kind.ValueType) -> int:
        """How many of a kind a side has."""
        return sum(penalty.side == side and penalty.kind == kind for penalty in self.penalties)

    def warnings(self, side: Colour) -> int:
        """The warnings of a side; each costs what the ladder says."""
        return self.number(side, Penalty.KIND_WARNING)

    def adding_up(self, side: Colour) -> int:
        """The warnings of a side that add up to a loss: those for acts off the board may not (KBA2025)."""
        counted = [
            penalty for penalty in self.penalties if penalty.kind == Penalty.KIND_WARNING and penalty.side == side
        ]
        if self._regulations.offboard_accumulation:
            return len(counted)
        return sum(not self._edition.clause(penalty.key).offboard for penalty in counted)

    def _count(self) -> Iterator[PenaltyCount]:
        ladder, regulations = self._edition.ladder, self._regulations
        for side in SEATS:
            warnings = self.warnings(side)
            count = PenaltyCount(
                side=side,
                warnings=warnings,
                admonitions=self.number(side, Penalty.KIND_ADMONITION),
                turns_lost=self.number(side, Penalty.KIND_TURN_LOST),
                cost_qz=ladder.costs_qz(warnings, regulations),
                cost_points=ladder.costs_points(warnings, regulations),
            )
            if count.warnings or count.admonitions or count.turns_lost:
                yield count
