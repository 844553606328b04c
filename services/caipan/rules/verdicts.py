"""From what the fold made of an event to the bytes of its outcome.

Most verdicts say no more than where the game stands; those are written as protobuf wire format at once, which halves
the price of an outcome. A test holds both ways to the same bytes.
"""

from __future__ import annotations

from caipan.rules import docket
from caipan.rules.act import Act
from caipan.rules.points import BLACK, MAX_SIZE, WHITE, names
from caipan.rules.table import ARBITER_SIGNED, Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.event_pb2 import EVENT_TYPE_UNSPECIFIED, Event, EventType

EVENT_TYPES: dict[str, EventType.ValueType] = {
    field.name: EventType.Value(f"EVENT_TYPE_{field.name.upper()}")
    for field in Event.DESCRIPTOR.oneofs_by_name["fact"].fields
}


def varint(number: int) -> bytes:
    """A number from 0 as protobuf writes it: seven bits a byte, low ones first."""
    return _SMALL[number] if number < _MANY else _varint(number)


def _varint(number: int) -> bytes:
    return b"%c" % number if number < 0x80 else b"%c%b" % (number & 0x7F | 0x80, _varint(number >> 7))


_MANY = 4096
_SMALL = tuple(_varint(number) for number in range(_MANY))


# Names of points as protobuf writes strings, without the tag.
_POINTS = {name: b"%c%b" % (len(name), name.encode()) for name in names(MAX_SIZE)}

# Event type and status FOLDED, with their tags.
_KINDS = {kind: b"\x20%b\x28\x01" % varint(number) for kind, number in EVENT_TYPES.items()}


def encode_standing(table: Table, clocks: bytes, digest: bytes) -> bytes:
    """Where the game stands, as the plain verdicts end: from the moves made to the digest of the state. ``clocks``: as
    a verdict tells them, empty without any."""
    if table.provisional or table.proposer or table.dead or table.result is not None or table.must_point_out:
        verdict = pb.Verdict(state_digest=digest)
        _tell_standing(verdict, table)
        return verdict.SerializeToString(deterministic=True)
    number = table.history.length
    _, black, white = table.captured
    return b"".join(
        (
            b"\x78" + varint(number) if number else b"",
            b"\x80\x01%c\x88\x01%c" % (table.turn, table.phase),
            b"\x90\x01" + varint(black) if black else b"",
            b"\x98\x01" + varint(white) if white else b"",
            b"\xa2\x01%b%b" % (varint(len(clocks)), clocks) if clocks else b"",
            table.ledger.told,
            b"\xe2\x01\x20",
            digest,
        )
    )


def encode_plain_verdict(game_field: bytes, seq: int, act: Act, standing: bytes) -> bytes:
    """The bytes of a verdict that says what happened to the board, and where the game stands: see ``is_plain``."""
    stones = b""
    for name in act.added_black:
        stones += b"\x5a" + _POINTS[name]
    for name in act.added_white:
        stones += b"\x62" + _POINTS[name]
    for name in act.removed:
        stones += b"\x6a" + _POINTS[name]
    event = act.event_id.encode()
    return b"".join(
        (game_field, b"\x10", varint(seq), b"\x1a", varint(len(event)), event, _KINDS[act.kind], stones, standing)
    )


def is_plain(table: Table | None, act: Act) -> bool:
    """Whether nothing is to be said but the board and where the game stands."""
    return not (act.findings or act.extra is not None or act.cases or table is None)


def game_field(game_id: str) -> bytes:
    """The id of the game as verdicts begin with it."""
    name = game_id.encode()
    return b"\x0a%b%b" % (varint(len(name)), name)


def verdict_of(game_id: str, seq: int, table: Table | None, act: Act) -> pb.Verdict:
    """The verdict as a message, without the digest."""
    verdict = pb.Verdict(
        game_id=game_id,
        seq=seq,
        event_id=act.event_id,
        event_type=EVENT_TYPES.get(act.kind, EVENT_TYPE_UNSPECIFIED),
        status=act.status,
        findings=act.findings,
        added_black=act.added_black,
        added_white=act.added_white,
        removed=act.removed,
        **(act.extra or {}),
    )
    if table is not None:
        _tell_standing(verdict, table)
        verdict.cases.extend(docket.tell(table, case) for case in act.cases)
    return verdict


def _tell_standing(verdict: pb.Verdict, table: Table) -> None:
    """Writes into the verdict where the game stands, but for the digest."""
    lying = {stone.index for stone in table.provisional if table.board.colour_at(stone.index) == stone.colour}
    verdict.provisional.extend(table.point_names(lying))
    verdict.move_number = table.history.length
    verdict.turn = table.turn
    verdict.phase = table.phase
    _, verdict.captured_black, verdict.captured_white = table.captured
    if table.clockwork is not None:
        verdict.clocks.CopyFrom(table.clockwork.message())
    verdict.penalties.extend(table.ledger.counts)
    verdict.proposer = table.proposer
    verdict.dead.extend(
        pb.DeadStones(side=side, points=table.point_names(stones)) for side, stones in sorted(table.dead.items())
    )
    if table.result is not None:
        verdict.result.CopyFrom(table.result)
    if table.signed:
        verdict.signed.CopyFrom(signatures(table))
    verdict.must_point_out = table.must_point_out


def signatures(table: Table) -> pb.Signatures:
    """Who has signed the result."""
    return pb.Signatures(
        black=BLACK in table.signed, white=WHITE in table.signed, arbiter=ARBITER_SIGNED in table.signed
    )


def outcome_record(verdict: bytes, prev_head: bytes, head: bytes, partition: int, act: Act) -> bytes:
    """The bytes of an OutcomeRecord, fields in number order; a zero is left out, as in proto3."""
    offset = act.offset
    return b"".join(
        (
            b"\x0a",
            varint(len(verdict)),
            verdict,
            b"\x12\x20",
            prev_head,
            b"\x1a\x20",
            head,
            b"\x20" + varint(partition) if partition else b"",
            b"\x28" + varint(offset) if offset else b"",
            _cause_field(act.caused_by) if act.caused_by else b"",
        )
    )


def _cause_field(caused_by: str) -> bytes:
    """The record in quarantine that an event was made of, as outcomes end with it."""
    cause = caused_by.encode()
    return b"\x32%b%b" % (varint(len(cause)), cause)


def notice(
    game_id: str, act: Act, status: pb.Status.ValueType, partition: int, seq: int = 0, reason: str = ""
) -> bytes:
    """The record of a notice: DUPLICATE or PARKED; no seq of its own, no chain.

    ``seq``: that of the original; ``reason``: what it waits for.
    """
    kind = EVENT_TYPES[act.kind]
    verdict = pb.Verdict(game_id=game_id, event_id=act.event_id, event_type=kind, status=status, reason=reason)
    verdict.original.seq = seq
    outcome = pb.Outcome(verdict=verdict, partition=partition, offset=act.offset, caused_by=act.caused_by)
    return outcome.SerializeToString(deterministic=True)
