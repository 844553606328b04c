"""Signatures under a result, and its re-check before them (CN2002 16.4)."""

from __future__ import annotations

from caipan.rules import docket
from caipan.rules.act import Act
from caipan.rules.officials import is_arbiter
from caipan.rules.points import SEATS
from caipan.rules.table import ARBITER_SIGNED, Table
from caipan.v1 import outcome_pb2 as pb

_ALL = frozenset((*SEATS, ARBITER_SIGNED))


def result_signed(table: Table, act: Act) -> None:
    """A player's signature, or the executing arbiter's; with all three the result is final."""
    if table.phase == pb.PHASE_FINAL:
        return
    if table.result is None:
        act.find(table.cite("16.4"), pb.FINDING_KIND_NOTHING_TO_SIGN, side=act.player)
        return
    if act.player not in SEATS and not is_arbiter(table, act.event.by):
        reason = f"{act.event.by.person!r} is no arbiter of this game: the signature without a player is the arbiter's"
        act.refuse(pb.STATUS_REFUSED, reason)
        return
    table.signed |= {act.player or ARBITER_SIGNED}
    if table.signed == _ALL:
        table.phase = pb.PHASE_FINAL
        for case in list(table.cases.values()):
            docket.close(table, case, pb.CASE_STATUS_CLOSED)
            act.touch(case)


def check_again(table: Table, act: Act) -> bool:
    """A player's re-check before both have signed clears the signatures and opens the count again, not the game.

    Returns whether it did; a later one is a claim like any other, and too late.
    """
    if table.phase == pb.PHASE_FINAL or table.signed.issuperset(SEATS):
        return False
    if act.player not in SEATS:
        act.find(table.cite("16.4"), pb.FINDING_KIND_NOT_ENTITLED)
        return True
    result = table.result
    if result is None or result.how != pb.RESULT_HOW_COUNT:
        act.find(table.cite("16.4"), pb.FINDING_KIND_NOTHING_TO_SIGN, side=act.player)
        return True
    table.signed = frozenset()
    table.result, table.result_by = None, ""
    table.phase = pb.PHASE_DEAD_STONES
    table.dead = {}
    table.is_recount = True
    return True
