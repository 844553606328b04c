"""What must hold of an edition beyond the form of its file. Each check raises EditionError."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from caipan.rules.clauses import EXCLUSIVE, Clause, Offer, RulingKind, When
from caipan.rules.forms import Place, one_of
from caipan.rules.keys import BOUNDS, names_of
from caipan.rules.points import DEFAULT_SIZE
from caipan.rules.sheets import Sheet
from caipan.rules.zuozi import why_no_opening
from caipan.v1.facts_pb2 import ClaimRaised, ConductObserved
from caipan.v1.outcome_pb2 import FindingKind
from caipan.v1.regulations_pb2 import AncientSubmode, Regime, Regulations

if TYPE_CHECKING:
    from caipan.rules.edition import Edition

# What the fold cites, by the numbers of CN2002; an edition may replace these clauses, but must say something on each.
CITED = (
    *("1", "2.1", "2.2", "2.3", "2.5", "3", "6", "7.2", "8", "9.1", "9.3", "10.2", "11", "12.4(2)", "12.4(4)"),
    *("13.1", "13.2", "14.2", "15.5", "16.3", "16.4", "17.2", "17.3", "17.4", "17.5", "17.6", "18.1", "18.2", "18.3"),
    *("19", "20.3", "21.3", "22.1", "22.1 excess", "22.2", "22.4", "22.6", "22.8", "22.8 one-sided", "24.2", "30.6"),
    *("33", "handicap"),
)

_SCALARS = ("first_to_move", "two_passes_end", "captures_timed", "counting", "ladder")


_MOST = 2**31 - 1
_REGIMES = frozenset(names_of(Regime.DESCRIPTOR).values())
_SUBMODES = frozenset(names_of(AncientSubmode.DESCRIPTOR).values())
_OPENING = {
    "findings": frozenset(names_of(FindingKind.DESCRIPTOR).values()),
    # A complaint names its clause.
    "claims": frozenset(names_of(ClaimRaised.Kind.DESCRIPTOR).values()) - {"COMPLAINT"},
    "conduct": frozenset(names_of(ConductObserved.Kind.DESCRIPTOR).values()),
}


def check_sheet(sheet: Sheet, base: Edition | None, place: Place) -> None:
    """The file by itself, and against its base."""
    expected = place.file.removesuffix(".toml").upper()
    if sheet.id != expected:
        raise place.error("id", f"{sheet.id!r} in a file of this name", f'say id = "{expected}", or rename the file')
    if base is None:
        for name in _SCALARS:
            if getattr(sheet, name) is None:
                raise place.error(name, "missing", "an edition without a base says all of it")
    for name in sheet.options.keys() & (base.catalogue if base else {}).keys():
        raise place.at("options").error(name, "the base has an option of this name", "choose another name")
    for key in sheet.without:
        if base is None or key not in base.clauses:
            raise place.error("without", f"the base has no clause {key!r}", one_of(base.clauses if base else (), key))
    instead = Counter(key for clause in sheet.clauses.values() for key in clause.replaces)
    for key, times in instead.items():
        if times > 1 or key in sheet.without:
            raise place.error("clauses", f"{key!r} is replaced or left out twice", "let one clause stand for it")
    for key, value in sheet.regulations.items():
        check_value(key, value, place.at("regulations"))
    for key in sheet.by_event:
        _check_key(key, place, "by_event")
        if key in sheet.regulations:
            raise place.error("by_event", f"{key!r} has a default in this file too", "leave one of them out")


def check_edition(edition: Edition, sheet: Sheet, place: Place) -> None:
    """The whole, with what it inherits."""
    for number in sheet.clauses:
        _check_clause(edition.clauses[f"{sheet.id} {number}"], place.at("clauses").at(number))
    for clause in edition.clauses.values():
        for key in clause.see:
            if key not in edition.topics:
                where = place.at("clauses").at(clause.key.removeprefix(f"{sheet.id} "))
                raise where.error("see", f"there is no clause {key!r} here", one_of(edition.topics, key))
    for name, window in sheet.windows.items():
        if window.lifted and window.lifted not in edition.windows:
            where = place.at("windows").at(name)
            raise where.error("lifted", f"unknown window {window.lifted!r}", one_of(edition.windows, window.lifted))
    for regime in sheet.clocks:
        if regime not in _REGIMES:
            raise place.at("clocks").error(regime, "unknown regime", one_of(_REGIMES, regime))
    for submode in sheet.counting_by_submode:
        if submode not in _SUBMODES:
            raise place.at("counting_by_submode").error(submode, "unknown submode", one_of(_SUBMODES, submode))
    offered = {offer.name for clause in edition.clauses.values() for offer in clause.options}
    for name in sheet.options.keys() - offered - {"DISMISS"}:
        raise place.at("options").error(name, "no clause offers it", "offer it, or leave it out")
    for number in CITED:
        if f"CN2002 {number}" not in edition.topics:
            remedy = "let a clause replace it instead of leaving it out"
            raise place.error("without", f"games are judged by CN2002 {number}, and nothing stands for it", remedy)
    units = [announcement.unit_s for announcement in edition.announcements]
    if len(units) != len(set(units)):
        raise place.error("announcements", f"periods of {units} seconds", "say once how each is read")
    _check_ladder(edition, place)


def check_value(key: str, value: Any, place: Place) -> None:
    """Whether a key of the regulations takes this value."""
    _check_key(key, place, key)
    kind = Regulations.DESCRIPTOR.fields_by_name[key]
    if kind.enum_type is not None:
        names = names_of(kind.enum_type).values()
        if value not in names:
            raise place.error(key, f"{value!r} is not known here", one_of(names, str(value)))
        return
    wanted: type = {kind.CPPTYPE_BOOL: bool, kind.CPPTYPE_STRING: str}.get(kind.cpp_type, int)
    if type(value) is not wanted:
        raise place.error(key, f"{value!r} is not of its type", f"give it a value of type {wanted.__name__}")
    low, high = BOUNDS.get(key, (0, _MOST))
    if isinstance(value, int) and not low <= value <= min(high, _MOST):
        raise place.error(key, f"{value}", f"give a number from {low} to {min(high, _MOST)}")
    if key == "zuozi" and (why := why_no_opening(str(value), DEFAULT_SIZE)):
        raise place.error(key, why, "name points of the board with the colour before them")


def _check_key(key: str, place: Place, field: str) -> None:
    kinds = Regulations.DESCRIPTOR.fields_by_name
    if key not in kinds:
        raise place.error(field, f"{key!r} is no key of the regulations", one_of(kinds, key))
    if key == "edition" or kinds[key].is_repeated:
        raise place.error(field, f"{key!r} has no default", "leave it to the event")


def _check_clause(clause: Clause, place: Place) -> None:
    for name, known in _OPENING.items():
        for each in getattr(clause.opened_by, name):
            if each not in known:
                raise place.at("opened_by").error(name, f"unknown kind {each!r}", one_of(known, each))
    if clause.limit and clause.limit.key:
        _check_key(clause.limit.key, place.at("limit"), "key")
    for number, offer in enumerate(clause.options):
        for key, value in offer.regulation.items():
            check_value(key, value, place.at(f"options[{number}]").at("regulation"))
        if When.AGREED in offer.when and clause.consent is None:
            raise place.error("consent", "missing, though an option asks for AGREED", "say OPPONENT or BOTH")
        if offer.when & {When.WITHIN_LIMIT, When.OVER_LIMIT} and clause.limit is None:
            raise place.error("limit", "missing, though an option asks for it", "give times, seconds or key")
    _check_apart(clause, place)


def _check_apart(clause: Clause, place: Place) -> None:
    """The same option twice, or two options of a fixed ruling, must not be listed at once."""
    rulings = [offer for offer in clause.options if not offer.option.dismisses]
    for number, one in enumerate(rulings):
        for other in rulings[number + 1 :]:
            if (one.name == other.name or clause.ruling == RulingKind.FIXED) and not _are_apart(one, other):
                raise place.error(
                    "options",
                    f"{one.name} and {other.name} can be listed at once",
                    "give each a `when` that excludes the other's"
                    + ("" if one.name == other.name else ', or say ruling = "CHOSEN"'),
                )


def _are_apart(one: Offer, other: Offer) -> bool:
    """Whether no case lists both."""
    if any(other.regulation.get(key, value) != value for key, value in one.regulation.items()):
        return True
    only_late = {When.LATE}
    if (one.when == only_late) != (other.when == only_late):
        return True
    return bool(one.when and other.when) and all(
        first != second and any({first, second} <= group for group in EXCLUSIVE)
        for first in one.when
        for second in other.when
    )


def _check_ladder(edition: Edition, place: Place) -> None:
    """The keys of the regulations and the ladder say the same."""
    losing = edition.ladder.losing()
    said, shown = edition.defaults.get("warnings_to_lose", 0), losing.warnings if losing else 0
    if said != shown:
        raise place.at("ladder").error(
            "steps",
            f"the game is lost at {shown} warnings, by regulations.warnings_to_lose at {said}",
            "say one number",
        )
    if edition.defaults.get("caution_conversion") and not edition.ladder.cautions:
        raise place.at("ladder").error(
            "cautions", "0, though regulations.caution_conversion is true", "say how many cautions make a warning"
        )
