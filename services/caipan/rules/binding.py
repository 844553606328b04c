"""Tying the file of an edition to its base: references become keys, options get their effects, what the file leaves out
is inherited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from caipan.rules.clauses import Clause, Clock, Offer, Option, RulingKind, Window
from caipan.rules.forms import Place, one_of
from caipan.rules.ladders import Ladder
from caipan.rules.sheets import Sheet

if TYPE_CHECKING:
    from caipan.rules.edition import Edition

DISMISS = "DISMISS"  # the option that every clause has which a person decides


class Binding:
    """What the file says, with what it inherits. Each part raises EditionError where a reference leads nowhere."""

    def __init__(self, sheet: Sheet, base: Edition | None, place: Place) -> None:
        self.sheet = sheet
        self.base = base
        self.place = place
        self._texts = {sheet.id, *(key.split()[0] for key in (base.topics if base else ()))}
        self.windows: Mapping[str, Window] = {**(base.windows if base else {}), **sheet.windows}
        self.catalogue: Mapping[str, Option] = {**(base.catalogue if base else {}), **sheet.options}
        self.own = {f"{sheet.id} {number}": self._clause(number) for number in sheet.clauses}
        self.topics = self._topics()
        self.clauses = {**self.own, **dict(self._inherited())}

    def key(self, reference: str) -> str:
        """The key that a reference means: in this file a number is enough."""
        return reference if reference.split(" ")[0] in self._texts else f"{self.sheet.id} {reference}"

    def target(self, reference: str, place: Place, field: str) -> str:
        """The clause that stands in this edition for what the reference names."""
        key = self.key(reference)
        if key not in self.topics:
            raise place.error(field, f"there is no clause {key!r} here", one_of(self.topics, key))
        return self.topics[key]

    def ladder(self) -> Ladder:
        """The ladder, its steps with keys."""
        place, found = self.place.at("ladder"), self.sheet.ladder or (self.base.ladder if self.base else None)
        if found is None:
            raise self.place.error("ladder", "missing", "say what comes with how many warnings")
        steps = (replace(step, clause=self.target(step.clause, place, "steps")) for step in found.steps)
        return replace(found, steps=tuple(steps))

    def clocks(self) -> dict[str, Clock]:
        """The time systems, with keys."""
        place, found = self.place.at("clocks"), self.sheet.clocks or (self.base.clocks if self.base else {})
        return {
            regime: Clock(
                clause=self.target(clock.clause, place.at(regime), "clause"),
                overtime=self.target(clock.overtime, place.at(regime), "overtime"),
            )
            for regime, clock in found.items()
        }

    def _clause(self, number: str) -> Clause:
        """A clause of the file with its key, the id it is cited by, and its options in full."""
        written, place = self.sheet.clauses[number], self.place.at("clauses").at(number)
        parent = number.split(" ")[0]
        if parent not in self.sheet.clauses:
            raise place.error("", f"a matter of {parent!r}, which is not there", f"add the clause {parent!r}")
        if written.until and written.until not in self.windows:
            raise place.error("until", f"unknown window {written.until!r}", one_of(self.windows, written.until))
        for reference in written.replaces:
            self._check_in_base(reference, place, "replaces")
        return replace(
            written,
            key=f"{self.sheet.id} {number}",
            id=written.cited_as or f"{self.sheet.id} {parent}",
            options=self._offers(written, place),
            see=tuple(map(self.key, written.see)),
        )

    def _offers(self, clause: Clause, place: Place) -> tuple[Offer, ...]:
        """The options of a clause; where a person decides, a dismissal is the last unless there is one."""
        for number, offer in enumerate(clause.options):
            if offer.name not in self.catalogue:
                remedy = one_of(self.catalogue, offer.name)
                raise place.error(f"options[{number}]", f"unknown option {offer.name!r}", remedy)
        offers = [
            replace(offer, option=self.catalogue[offer.name], decides=offer.decides or clause.decides)
            for offer in clause.options
        ]
        if clause.decides and clause.ruling != RulingKind.NONE and not any(o.option.dismisses for o in offers):
            if DISMISS not in self.catalogue:
                raise self.place.at("options").error(DISMISS, "missing", "add it, with the effect DISMISS alone")
            offers.append(Offer(DISMISS, decides=clause.decides, option=self.catalogue[DISMISS]))
        return tuple(offers)

    def _topics(self) -> dict[str, str]:
        """For each clause of the bases and of the file: which one stands for it here."""
        instead = {reference: key for key, clause in self.own.items() for reference in clause.replaces}
        topics = {}
        for topic, key in self.base.topics.items() if self.base else ():
            if key not in self.sheet.without:
                topics[topic] = instead.get(key, key)
        return {**topics, **{key: key for key in self.own}}

    def _inherited(self) -> Iterable[tuple[str, Clause]]:
        """The clauses of the base that stand; those that the text leaves open are cited by its clause on that."""
        kept, open_ones, cited = set(self.topics.values()), frozenset[str](), ""
        if self.sheet.gaps is not None:
            place = self.place.at("gaps")
            for reference in self.sheet.gaps.covers:
                self._check_in_base(reference, place, "covers")
            cited = self.own[self.target(self.sheet.gaps.clause, place, "clause")].id
            open_ones = frozenset(self.sheet.gaps.covers)
        for key, clause in self.base.clauses.items() if self.base else ():
            if key in open_ones & kept:
                yield key, replace(clause, id=cited, reason=clause.id)
            elif key in kept:
                yield key, clause

    def _check_in_base(self, key: str, place: Place, field: str) -> None:
        clauses = self.base.clauses if self.base else {}
        if key not in clauses:
            raise place.error(field, f"the base has no clause {key!r}", one_of(clauses, key))
