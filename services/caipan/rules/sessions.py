"""Sessions and who is at the table: start, pauses, lateness, moves during an absence (CN2002 14.1, 16.5, 22)."""

from __future__ import annotations

from caipan.rules import absence, docket
from caipan.rules.act import Act
from caipan.rules.clauses import Clause
from caipan.rules.edition import ROOT
from caipan.rules.gametime import bounded
from caipan.rules.history import PASS
from caipan.rules.officials import may_mark
from caipan.rules.points import BLACK, SEATS, Colour, other
from caipan.rules.readings import is_admitted, lateness_cost
from caipan.rules.results import loss_of
from caipan.rules.table import Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.checkpoint_pb2 import CaseMemory
from caipan.v1.common_pb2 import COLOR_UNSPECIFIED
from caipan.v1.facts_pb2 import SessionMarked


def session_marked(table: Table, act: Act) -> None:
    """The arbiter's mark: the start of the game, a pause, its end. A player cannot mark one."""
    mark = act.fact.mark
    if not may_mark(table, act.event.by):
        act.refuse(pb.STATUS_REFUSED, "a player marks no session: the arbiter does")
    elif mark == SessionMarked.MARK_START and not table.began_ms:
        table.began_ms = act.at_ms
        table.keep_persons()
    elif mark == SessionMarked.MARK_PAUSE and table.phase == pb.PHASE_PLAY:
        table.phase = pb.PHASE_PAUSED
    elif mark == SessionMarked.MARK_RESUME and table.phase == pb.PHASE_PAUSED:
        table.phase = pb.PHASE_PLAY


def presence_changed(table: Table, act: Act) -> None:
    """A player comes, leaves, or comes back. Late at the start is a case; later only the clock runs (CN2002 22.1)."""
    player = act.player
    if player not in SEATS:
        return
    if not act.fact.present:
        table.away |= {player}
        table.keep_persons()
        return
    first = player not in table.came
    if first:
        absence.arrived(table, act)
    table.away -= {player}
    table.came |= {player}
    table.keep_persons()
    if absence.is_counted(table):
        return
    if first and table.began_ms and (table.phase <= pb.PHASE_PAUSED or _late_opponent(table, player) is not None):
        _judge_lateness(table, act)


def _late_opponent(table: Table, player: Colour) -> CaseMemory | None:
    """The case by which the other player has lost for being late: both may lose (CN2002 22.3)."""
    result = table.result
    if result is None or result.how != pb.RESULT_HOW_FORFEIT or table.phase == pb.PHASE_FINAL:
        return None
    for case in table.closed:
        is_late = any(finding.kind == pb.FINDING_KIND_LATE_ARRIVAL for finding in case.told.findings)
        if is_late and case.told.side == other(player) and result.kind == loss_of(other(player)):
            return case
    return None


def _judge_lateness(table: Table, act: Act) -> None:
    """Each late player is treated by himself; both beyond or within the limit are one case (CN2002 22.1 to 22.3)."""
    late_ms = bounded(act.at_ms - table.began_ms)
    if late_ms <= 0 or table.history.moves_of(act.player, 0):
        return
    limit_s = _limit_s(table)
    clause = table.edition.about("22.2" if limit_s is not None and limit_s <= _SAME_PLACE_S else "22.1")
    act.find(clause.id, pb.FINDING_KIND_LATE_ARRIVAL, side=act.player, over_ms=late_ms)
    if limit_s is not None and late_ms == limit_s * 1000:
        act.find(clause.id, pb.FINDING_KIND_BOUNDARY, side=act.player)
    case = _case_of_both(table, act, clause, late_ms)
    if case is None:
        case = docket.open_case(table, act, act.player, 0, _keys(table, act.player, clause, late_ms))
    case.told.findings.extend(act.findings)
    if act.player == BLACK:
        case.black_ms, case.black_ran_ms = late_ms, _ran_ms(table, act.player)
    else:
        case.white_ms, case.white_ran_ms = late_ms, _ran_ms(table, act.player)
    docket.keep_decisive(table, case)
    act.touch(case)


def _case_of_both(table: Table, act: Act, clause: Clause, late_ms: int) -> CaseMemory | None:
    """The case of two late players, both beyond or both within the limit; None where it is the act's player alone."""
    both = table.edition.topics.get(f"{ROOT} 22.3")
    lost = _late_opponent(table, act.player)
    open_ones = [case for case in table.cases.values() if clause.key in case.keys and case.told.side != act.player]
    earlier = lost or next(iter(open_ones), None)
    keys = _keys(table, act.player, clause, late_ms)
    if not both or earlier is None or clause.key not in keys or not _is_alike(table, earlier, late_ms):
        return None
    if lost is not None:  # that ruling stands until another one says that both lose
        case = docket.open_case(table, act, COLOR_UNSPECIFIED, 0, [both])
        case.black_ms, case.white_ms = lost.black_ms, lost.white_ms
        return case
    docket.extend(earlier, act, ())
    earlier.keys[:] = [both]
    earlier.told.side = COLOR_UNSPECIFIED
    return earlier


def _keys(table: Table, side: Colour, clause: Clause, late_ms: int) -> list[str]:
    """The clauses of a late arrival; another one where more than there is would have to be deducted (reading R16)."""
    works, edition, regulations = table.clockwork, table.edition, table.regulations
    excess = edition.about("22.1 excess").key
    if works is not None and not _is_over(table, late_ms):
        clock = works.clocks[side].copy()
        if not works.system.deduct(clock, lateness_cost(late_ms, regulations.late_factor, _ran_ms(table, side))):
            return [excess]
    return [key for key in (clause.key, *clause.see) if edition.clauses[key].is_ruled and key != excess]


def _ran_ms(table: Table, side: Colour) -> int:
    """How much the clock of a side has run since the start."""
    works = table.clockwork
    return works.clocks[side].used_ms + works.clocks[side].count_ms if works is not None else 0


_SAME_PLACE_S = 900  # the limit where venue and lodgings are in one place (CN2002 22.2)


def _limit_s(table: Table) -> int | None:
    """The limit of lateness; None where the event has set none."""
    return table.regulations.late_limit_s if table.regulations.HasField("late_limit_s") else None


def _is_over(table: Table, late_ms: int) -> bool:
    limit_s = _limit_s(table)
    return limit_s is not None and not is_admitted(
        late_ms, limit_s, is_inclusive=table.regulations.late_limit_inclusive
    )


def _is_alike(table: Table, case: CaseMemory, late_ms: int) -> bool:
    """Whether the other player was late beyond, or within, the limit as well."""
    if _limit_s(table) is None:
        return False
    return _is_over(table, case.black_ms or case.white_ms) == _is_over(table, late_ms)


def point_shown(table: Table, act: Act) -> None:
    """The opponent showed a returning player the last move (CN2002 16.5)."""
    point, _ = table.history.last()
    if table.must_point_out == other(act.player) and point != PASS and act.fact.point == table.names[point]:
        table.must_point_out = COLOR_UNSPECIFIED
