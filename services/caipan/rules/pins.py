"""Pinning: regulations as an organiser wrote them become the full set a game is judged by."""

from __future__ import annotations

from typing import Any

from caipan.rules.edition import Edition, edition, edition_ids
from caipan.rules.keys import out_of_bounds
from caipan.rules.points import DEFAULT_SIZE
from caipan.rules.regimes import time_problem
from caipan.rules.results import handicap_return_qz
from caipan.rules.zuozi import why_no_opening
from caipan.v1.facts_pb2 import GameOpened
from caipan.v1.regulations_pb2 import (
    HANDICAP_PLACEMENT_FIXED,
    Pins,
    Regime,
    Regulations,
)

FOLD_VERSION = 0


class RegulationsError(ValueError):
    """Regulations that cannot be pinned: ``field`` of game.opened, ``reason`` and ``remedy``."""

    def __init__(self, field: str, reason: str, remedy: str) -> None:
        super().__init__(f"{field}: {reason}; {remedy}")
        self.field = field
        self.reason = reason
        self.remedy = remedy


def pin(opened: GameOpened) -> Pins:
    """The pins of a game: every regulation that applies, the digest of the edition, the fold version.

    Values named by the caller stand, the others are the edition's; a handicap of n without komi returns n/2 zi
    where stones count (S0 H).
    Raises RegulationsError naming the field.
    """
    asked = opened.regulations
    if asked.edition not in edition_ids():
        known = ", ".join(edition_ids())
        raise RegulationsError("regulations.edition", f"unknown edition {asked.edition!r}", f"use one of: {known}")
    text = edition(asked.edition)
    size = opened.size or DEFAULT_SIZE
    if not 0 <= asked.handicap < size * size:
        raise RegulationsError("regulations.handicap", f"{asked.handicap} stones on {size} lines", "use fewer")
    full = expanded(asked, text)
    if not asked.HasField("zuozi") and why_no_opening(full.zuozi, size):
        full.ClearField("zuozi")  # it is for another size
    _check(opened, full, text)
    return Pins(regulations=full, edition_digest=text.digest, fold_version=FOLD_VERSION)


def adopt(in_force: Regulations, changes: Regulations) -> Regulations:
    """The regulations in force once ``changes`` are adopted; another edition brings its own values where the event had
    said nothing else. Raises RegulationsError.
    """
    if changes.edition and changes.edition not in edition_ids():
        known = ", ".join(edition_ids())
        raise RegulationsError("changes.edition", f"unknown edition {changes.edition!r}", f"use one of: {known}")
    if (field := out_of_bounds(changes)) is not None:
        raise RegulationsError(f"changes.{field}", f"{getattr(changes, field)}", "no game can be judged by it")
    old, said = edition(in_force.edition), Regulations()
    said.CopyFrom(in_force)
    clear: Any = said.ClearField  # its type lists the fields by name
    plain = expanded(Regulations(edition=in_force.edition), old)
    for kind, value in in_force.ListFields():
        if kind.name != "edition" and getattr(plain, kind.name) == value:
            clear(kind.name)
    for kind, _ in changes.ListFields():
        if kind.is_repeated:
            clear(kind.name)
    said.MergeFrom(changes)
    text = edition(said.edition)
    full = expanded(said, text)
    if (problem := _clock_problem(full, text)) is not None:
        key, reason, remedy = problem
        raise RegulationsError(f"changes.{key}", reason, remedy)
    return full


def expanded(asked: Regulations, text: Edition) -> Regulations:
    """``asked`` with the edition's value in every field that it leaves out."""
    full = Regulations()
    for field, value in text.defaults.items():
        kind = Regulations.DESCRIPTOR.fields_by_name[field]
        if kind.enum_type is not None:
            prefix = _enum_prefix(kind.enum_type.values[0].name)
            value = kind.enum_type.values_by_name[prefix + value].number
        setattr(full, field, value)
    if asked.handicap and not asked.HasField("komi_qz"):
        full.komi_qz = handicap_return_qz(text.counting_for(asked), asked.handicap)
    said = Regulations()
    said.CopyFrom(asked)
    clear: Any = said.ClearField  # its type lists the fields by name
    for kind, value in asked.ListFields():
        if kind.enum_type is not None and not value:
            clear(kind.name)  # unspecified is left out
    full.MergeFrom(said)
    return full


def _enum_prefix(zero: str) -> str:
    return zero.removesuffix("UNSPECIFIED")


def _check(opened: GameOpened, full: Regulations, text: Edition) -> None:
    colours, players = opened.colours, set(opened.players)
    if opened.HasField("colours") and colours.black == colours.white:
        raise RegulationsError("colours", f"{colours.black!r} has both", "give them to two persons")
    if opened.HasField("colours") and players and players != {colours.black, colours.white}:
        raise RegulationsError("colours", "other persons than `players`", "name the same two, or leave players out")
    if opened.size == 1:
        raise RegulationsError("size", "a board has 2 to 25 lines", "leave it out for 19")
    why = why_no_opening(full.zuozi, opened.size or DEFAULT_SIZE)
    if why:
        raise RegulationsError("regulations.zuozi", why, 'write "B D4 Q16 W D16 Q4", or nothing for an empty board')
    if (problem := _clock_problem(full, text)) is not None:
        key, reason, remedy = problem
        raise RegulationsError(f"regulations.{key}", reason, remedy)
    if full.untimed and full.regime:
        raise RegulationsError("regulations.untimed", "the game has a regime too", "leave one of them out")
    if full.handicap == 1:
        raise RegulationsError("regulations.handicap", "there is no handicap of one", "use 0 and komi_qz 0 for no komi")
    if full.handicap and full.handicap_placement == HANDICAP_PLACEMENT_FIXED:
        stones = len(opened.initial_black)
        if stones != full.handicap:
            raise RegulationsError(
                "initial_black",
                f"{stones} stones for a handicap of {full.handicap}",
                "give them all, or set handicap_placement FREE",
            )


def _clock_problem(full: Regulations, text: Edition) -> tuple[str, str, str] | None:
    """As `time_problem`; an edition judges the time systems that it names."""
    problem = time_problem(full)
    if problem is None and not full.untimed:
        name = Regime.Name(full.regime).removeprefix("REGIME_")
        if name not in text.clocks:
            return "regime", f"{text.id} has no clause for {name}", f"use one of: {', '.join(text.clocks)}"
    return problem
