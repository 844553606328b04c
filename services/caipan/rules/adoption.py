"""Regulations adopted while a game goes on: they act from their position in its log on (CN2002 30.1, reading R62)."""

from __future__ import annotations

from caipan.rules.act import Act
from caipan.rules.officials import decides_as
from caipan.rules.pins import RegulationsError, adopt
from caipan.rules.table import Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.common_pb2 import ROLE_CHIEF, ROLE_COMMITTEE


def regulations_adopted(table: Table, act: Act) -> None:
    """By the committee, or the chief of this game; what is judged already stays."""
    by = act.event.by
    if by.role != ROLE_COMMITTEE and (why := decides_as(table, by, by.role, ROLE_CHIEF)) is not None:
        act.refuse(pb.STATUS_REFUSED, why)
        return
    try:
        table.adopt(adopt(table.regulations, act.fact.changes))
        act.tell(adopted=table.regulations)
    except RegulationsError as error:
        act.refuse(pb.STATUS_REFUSED, str(error))
