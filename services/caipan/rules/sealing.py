"""Sealed moves: the digest first, the point when it is opened (CN2002 14.2, CN1988S 14 and 22)."""

from __future__ import annotations

from hashlib import sha256

from caipan.rules import docket
from caipan.rules.act import Act
from caipan.rules.edition import ROOT
from caipan.rules.moves import stone_placed
from caipan.rules.table import Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.common_pb2 import COLOR_UNSPECIFIED
from caipan.v1.facts_pb2 import StonePlaced


def move_sealed(table: Table, act: Act) -> None:
    """The side on turn seals its move; a second seal, or one of the other side, has no effect."""
    if act.player != table.turn or table.sealed_by or table.phase > pb.PHASE_PAUSED:
        act.find(table.cite("14.2"), pb.FINDING_KIND_NOT_ON_TURN, side=act.player)
        return
    table.sealed_by, table.seal = act.player, act.fact.digest


def seal_opened(table: Table, act: Act) -> None:
    """The sealed move is opened and played; on an occupied point it is a turn lost, to be ruled."""
    point, player = act.fact.point, table.sealed_by
    clause = table.cite("14.2")
    if not player or sha256(act.fact.nonce + point.encode()).digest() != table.seal:
        act.find(clause, pb.FINDING_KIND_SEAL_MISMATCH, side=player, points=[point])
        return
    table.sealed_by, table.seal = COLOR_UNSPECIFIED, b""
    index = table.indices.get(point)
    if index is not None and table.board.units[index] is not None:
        act.find(clause, pb.FINDING_KIND_SEAL_OCCUPIED, side=player, points=[point], move=table.history.length + 1)
        key = table.edition.topics.get(f"{ROOT} 14.2 occupied")
        if key:
            case = docket.open_case(table, act, player, table.history.length + 1, [key])
            case.told.findings.extend(act.findings)
            act.touch(case)
        return
    act.player, act.fact = player, StonePlaced(point=point, color=player)
    stone_placed(table, act)
