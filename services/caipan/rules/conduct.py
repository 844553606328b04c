"""What persons see: conduct in the hall, a board found otherwise than the record says (CN2002 15, 17.5, 17.6, 23)."""

from __future__ import annotations

from collections.abc import Sequence

from caipan.rules import docket
from caipan.rules.act import Act
from caipan.rules.edition import ROOT
from caipan.rules.gametime import bounded
from caipan.rules.keys import names_of
from caipan.rules.points import BLACK, SEATS, WHITE, Colour
from caipan.rules.table import Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.common_pb2 import COLOR_UNSPECIFIED
from caipan.v1.facts_pb2 import BoardDiscrepancy, ConductObserved
from caipan.v1.rulings_pb2 import SetPoints

_KINDS = names_of(ConductObserved.Kind.DESCRIPTOR)
_PHONES = (ConductObserved.KIND_PHONE_SOUND, ConductObserved.KIND_PHONE_LOOK)
_CAUSES = {BoardDiscrepancy.CAUSE_BLACK: BLACK, BoardDiscrepancy.CAUSE_WHITE: WHITE}


def conduct_observed(table: Table, act: Act) -> None:
    """Opens a case of the clause on this conduct; what no clause penalises is on record (CN2002 15.6, 16.1)."""
    kind, side = act.fact.kind, act.fact.against
    if kind == ConductObserved.KIND_TALK_START and side in SEATS and _use_permission(table, side):
        table.talks[side] = act.at_ms
        return
    if kind == ConductObserved.KIND_TALK_END:
        _end_talk(table, act, side)
        return
    keys = _of_others(table) if kind in _PHONES and not _is_playing(table, side) else _keys(table, act)
    case = docket.open_if_room(table, act, side, 0, keys)
    if case is not None:
        case.told.claims.add(ref=act.event_id)


def _keys(table: Table, act: Act) -> Sequence[str]:
    named = act.fact.clause
    if not named:
        return table.edition.opened_by("conduct", _KINDS.get(act.fact.kind, ""))
    clauses = table.edition.named(named)
    if not clauses:
        act.find(table.cite("16.3"), pb.FINDING_KIND_CLAUSE_UNKNOWN, side=act.fact.against, ref=named)
    return table.edition.deciding(clauses)


def _is_playing(table: Table, side: Colour) -> bool:
    return side in SEATS and table.phase <= pb.PHASE_PAUSED


def _of_others(table: Table) -> Sequence[str]:
    """Phones of who has finished, or does not play here (CN2002 23.7)."""
    key = table.edition.topics.get(f"{ROOT} 23.7 others")
    return [key] if key else []


def _use_permission(table: Table, side: Colour) -> bool:
    """Whether a talk of this side was permitted; a permission is for one (CN2002 15.5)."""
    key = table.edition.topics.get(f"{ROOT} 15.5")
    for case in table.closed:
        is_about = case.key == key and docket.seat_of(case) == side and case.told.option
        if is_about and not case.used and docket.option_of(table, case).permits:
            case.used = True
            table.keep_closed(table.closed)
            return True
    return False


def _end_talk(table: Table, act: Act, side: Colour) -> None:
    """A permitted talk may take as long as its clause says, normally; beyond that an arbiter decides (CN2002 23.5)."""
    began_ms = table.talks.pop(side, None)
    clause = table.edition.about("15.5")
    if began_ms is None or clause.limit is None:
        return
    over_ms = bounded(act.at_ms - began_ms - clause.limit.seconds * 1000)
    if over_ms > 0:
        act.find(clause.id, pb.FINDING_KIND_TALK_TOO_LONG, side=side, over_ms=over_ms)


def board_discrepancy(table: Table, act: Act) -> None:
    """A stone lies elsewhere (17.5), or all of them do (17.6); the board in force stays until somebody rules."""
    fact = act.fact
    side = _CAUSES.get(fact.cause, COLOR_UNSPECIFIED)
    if fact.kind == BoardDiscrepancy.KIND_SCATTERED:
        act.find(table.cite("17.6"), pb.FINDING_KIND_SCATTERED_BOARD, side=side)
        topic = f"{ROOT} 17.6 own" if side in SEATS else f"{ROOT} 17.6"
        keys = [table.edition.topics[topic]] if topic in table.edition.topics else []
    else:
        points = [stone.to or getattr(stone, "from") for stone in fact.stones]
        act.find(table.cite("17.5"), pb.FINDING_KIND_MOVED_STONE, side=side, points=points)
        keys = list(docket.opened_by_finding(table.edition, pb.FINDING_KIND_MOVED_STONE))
    case = docket.open_if_room(table, act, side, 0, keys)
    if case is None:
        return
    case.told.claims.add(ref=act.event_id)
    case.told.findings.extend(act.findings)
    if fact.kind == BoardDiscrepancy.KIND_MOVED:
        case.found.CopyFrom(_as_found(table, fact))


def _as_found(table: Table, fact: BoardDiscrepancy) -> SetPoints:
    """The board as it was found, against the board in force."""
    found = SetPoints()
    for stone in fact.stones:
        came_from = getattr(stone, "from")  # a keyword of Python
        index = table.indices.get(came_from, table.indices.get(stone.to, 0))
        colour = stone.color or table.board.colour_at(index)
        if came_from:
            found.remove.append(came_from)
        if stone.to:
            (found.add_black if colour == BLACK else found.add_white).append(stone.to)
    return found
