"""The digest of the state in force and the chain of heads; the formats are written down in docs/chain.md."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from hashlib import sha256
from typing import TYPE_CHECKING

from caipan.v1.checkpoint_pb2 import CaseMemory
from caipan.v1.outcome_pb2 import Penalty

if TYPE_CHECKING:
    from caipan.rules.table import Table
    from caipan.v1.common_pb2 import Role

    Official = tuple[str, Role.ValueType]  # person and role
else:
    Official = tuple


def state_digest(table: Table, clocks: bytes) -> bytes:
    """SHA-256(0x02, history digest, turn, phase, proposer, passes, persons, clocks, open questions): 32 bytes.

    The history digest ends in the position after the last move; provisional stones are among the open questions.
    ``clocks``: as a verdict tells them, empty without any.
    """
    questions = b""
    if table.is_open():
        questions = _questions(table)
    passes = table.passes if table.passes < 255 else 255
    if table.clockwork is not None:
        questions = _part(b"K", table.clockwork.digest_part(clocks)) + questions
    standing = b"%c%c%c%c" % (table.turn, table.phase, table.proposer, passes)
    past = table.closed_part + table.ledger.part
    return sha256(b"\x02" + table.history.digest + standing + table.persons + questions + past).digest()


def persons_part(table: Table) -> bytes:
    """Who is there, as the digest has it. Like closed cases and penalties it seldom changes: these bytes are kept."""
    parts = [
        _part(b"F", role.to_bytes(4, "big", signed=True) + person.encode()) for person, role in sorted(table.officials)
    ]
    if table.colours is not None:
        parts += [_part(b"C", table.colours.black.encode()), _part(b"c", table.colours.white.encode())]
    if table.began_ms:
        parts.append(_part(b"B", table.began_ms.to_bytes(8, "big", signed=True)))
    parts += [_part(tag, bytes(sorted(sides))) for tag, sides in ((b"E", table.came), (b"Y", table.away)) if sides]
    return b"".join(parts)


def _questions(table: Table) -> bytes:
    """What is seldom there: each part a tag, its length, its content."""
    parts = []
    if table.handicap_left:
        parts.append(_part(b"H", struct.pack(">H", table.handicap_left)))
    for stone in table.provisional:
        captured = sorted(stone.captured)
        content = struct.pack(f">HBB{len(captured)}H", stone.index, stone.colour, stone.player, *captured)
        parts.append(_part(b"P", content))
    if table.due:
        parts.append(_part(b"D", bytes((table.due_from,)) + _points(table.due)))
    if table.left:
        parts.append(_part(b"L", _points(table.left)))
    parts += [_part(b"O", struct.pack(">HB", index, side)) for index, side in sorted(table.lifted.items())]
    if table.missing:
        parts.append(_part(b"M", _points(table.missing)))
    parts += [_part(b"A", bytes((colour,)) + _points(stones)) for colour, stones in sorted(table.dead.items())]
    parts += [_part(b"T", struct.pack(">BHH", side, *groups)) for side, groups in sorted(table.groups.items())]
    if table.is_recount:
        parts.append(_part(b"X", b""))
    if table.result is not None:
        parts.append(_part(b"R", table.result.SerializeToString(deterministic=True)))
    if table.signed:
        parts.append(_part(b"S", bytes(sorted(table.signed))))
    parts += [_part(b"G", struct.pack(">HB", index, side)) for index, side in sorted(table.assigned.items())]
    if table.must_point_out:
        parts.append(_part(b"I", bytes((table.must_point_out,))))
    parts += [_part(b"U", struct.pack(">Bq", side, began_ms)) for side, began_ms in sorted(table.talks.items())]
    if table.sealed_by:
        parts.append(_part(b"Z", bytes((table.sealed_by,)) + table.seal))
    parts += [_part(b"Q", _case(case)) for case in table.cases.values()]
    return b"".join(parts)


def closed_part(closed: Iterable[CaseMemory]) -> bytes:
    """Closed cases as the digest has them."""
    return b"".join(_part(b"q", _about(case) + f"{case.key} {case.told.option}".encode()) for case in closed)


def _about(case: CaseMemory) -> bytes:
    return struct.pack(">BI??", case.told.side, case.move, case.used, case.told.seats_changed)


def penalties_part(penalties: Iterable[Penalty]) -> bytes:
    """Penalties as the digest has them."""
    return b"".join(
        _part(b"W", struct.pack(">BBI", penalty.side, penalty.kind, penalty.move) + penalty.key.encode())
        for penalty in penalties
    )


def _case(case: CaseMemory) -> bytes:
    """What is asked, of whom, and what was said to it; where the records stand in the log is no part of the state."""
    told = case.told
    amounts = case.black_ms, case.white_ms
    about = struct.pack(">BIIqqHH", told.side, case.move, told.move, *amounts, case.point, case.instead_of)
    parts = [_part(b"r", struct.pack(">qq", *ran)) for ran in ((case.black_ran_ms, case.white_ran_ms),) if any(ran)]
    parts += [_part(b"k", key.encode()) for key in case.keys]
    parts += [_part(b"h", fact.encode()) for fact in case.facts]
    parts += [_part(b"c", bytes((claim.by, claim.late))) for claim in told.claims]
    parts += [_part(b"a", bytes((said.by, said.accept)) + said.proposal.encode()) for said in told.consents]
    return about + b"".join(parts)


def _points(points: frozenset[int]) -> bytes:
    ordered = sorted(points)
    return struct.pack(f">{len(ordered)}H", *ordered)


def _part(tag: bytes, content: bytes) -> bytes:
    return tag + len(content).to_bytes(4, "big") + content


def first_head(game_id: str) -> bytes:
    """The head before the first outcome: SHA-256(0x00, game id in UTF-8)."""
    return sha256(b"\x00" + game_id.encode()).digest()


def next_head(head: bytes, event_digest: bytes, verdict: bytes) -> bytes:
    """SHA-256(0x01, head, SHA-256(event value), SHA-256(verdict)); ``event_digest`` is the second of them."""
    return sha256(b"\x01" + head + event_digest + sha256(verdict).digest()).digest()
