"""Random logs for the property tests: what a hall might send, and what nobody would."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from hypothesis import strategies as st

from caipan.v1 import facts_pb2 as facts
from caipan.v1.event_pb2 import Event
from caipan.v1.rulings_pb2 import RulingDecided
from support.play import Play, arbiter, corrected

SIZE = 4
POINTS = [f"{column}{row}" for column in "ABCD" for row in range(1, SIZE + 1)]
HOUR = 3_600_000
players = st.sampled_from(["B", "W"])
points = st.sampled_from(POINTS)
anywhere = st.sampled_from([*POINTS, *POINTS, "E5", ""])


def stones_placed() -> st.SearchStrategy[Any]:
    return st.builds(facts.StonePlaced, point=anywhere, color=colours(), manner=st.sampled_from([0] * 8 + [1, 2, 3]))


def colours() -> st.SearchStrategy[int]:
    return st.sampled_from([0] * 10 + [1, 2])


def some_points() -> st.SearchStrategy[list[str]]:
    return st.lists(anywhere, max_size=4)


def observations() -> st.SearchStrategy[Any]:
    """Facts of play; stones much more often than the rest."""
    return st.one_of(
        stones_placed(),
        stones_placed(),
        stones_placed(),
        stones_placed(),
        st.builds(facts.PassDeclared),
        st.builds(facts.StoneLifted, point=anywhere),
        st.builds(facts.StonesCaptured, points=some_points()),
        st.builds(facts.ClockPressed),
        st.builds(facts.EndProposed),
        st.builds(facts.EndAnswered, accept=st.booleans()),
        st.builds(facts.DeadProposed, points=some_points()),
        st.builds(facts.DeadAnswered, accept=st.booleans(), disputed=some_points()),
        st.builds(facts.CountTaken, side=st.integers(0, 2), quarters=st.integers(0, 64)),
        st.builds(facts.SessionMarked, mark=st.integers(0, 4)),
        st.builds(facts.LotDrawn, purpose=st.integers(0, 3), holder=st.sampled_from(["Li", "Wang"]), shown=st.just(1)),
        st.builds(facts.GameResigned),
    )


def others() -> st.SearchStrategy[Any]:
    """What is no act of play."""
    return st.one_of(
        st.builds(facts.SourceResumed, next_source_seq=st.integers(0, 60)),
        st.builds(facts.SourceSynced, offset_ms=st.integers(-99, 99)),
        st.builds(facts.OfficialAppointed, person=st.sampled_from(["zhao", "qian"]), role=st.integers(0, 9)),
        st.builds(facts.ClaimRaised),
        st.builds(RulingDecided),
    )


def openings() -> st.SearchStrategy[dict[str, Any]]:
    """Keywords of ``Play``."""
    return st.fixed_dictionaries(
        {
            "observed": st.sampled_from([[], ["CAPTURES"], ["CAPTURES", "PRESSES"]]),
            "players": st.just(["Li", "Wang"]),
            "officials": st.just([("zhao", "ARBITER")]),
            "superko_mode": st.sampled_from(["POSITIONAL", "SITUATIONAL", "SIMPLE"]),
            "clock_skew_ms": st.sampled_from([0, 0, 500]),
            "komi_qz": st.sampled_from([0, 15]),
        },
        optional={"black": st.just(["A1", "B2"]), "white": st.just(["D4"])},
    )


@st.composite
def acts(draw: st.DrawFn, most: int = 40, kinds: st.SearchStrategy[Any] | None = None) -> list[tuple[Any, str]]:
    """Facts with their players; the side that seems to be on turn acts much more often."""
    made, turn = [], "B"
    for _ in range(draw(st.integers(0, most))):
        fact = draw(kinds or observations())
        player = turn if draw(st.integers(0, 7)) else draw(players)
        if isinstance(fact, facts.StonePlaced | facts.PassDeclared | facts.EndProposed):
            turn = "W" if player == "B" else "B"
        made.append((fact, player))
    return made


@st.composite
def logs(draw: st.DrawFn, most: int = 50) -> list[bytes]:
    """Records of a game in the order of a log: disorder, gaps, repeats, wrong times, corrections, garbage."""
    play = Play(SIZE, opening=False, **draw(openings()))
    made: list[bytes] = []
    waiting: list[bytes] = []
    if draw(st.integers(0, 5)):
        made.append(play.make(play.opening, source="backend").SerializeToString())
    else:
        waiting.append(play.make(play.opening, source="backend").SerializeToString())
    for fact, player in draw(acts(most)):
        value = draw(_deliveries(play, fact, player, made))
        (waiting if draw(st.integers(0, 6)) == 0 else made).append(value)
        if waiting and draw(st.integers(0, 2)) == 0:
            made.append(waiting.pop(draw(st.integers(0, len(waiting) - 1))))
    return made + waiting


@st.composite
def _deliveries(draw: st.DrawFn, play: Play, fact: Any, player: str, made: list[bytes]) -> bytes:
    oddity = draw(st.integers(0, 29))
    if oddity == 0:
        return draw(st.binary(max_size=12))
    if oddity == 1 and made:
        return draw(st.sampled_from(made))
    if oddity in (2, 3, 4) and play.last_id:
        fact, player = draw(_corrections(play, fact, player)), ""
    elif oddity == 5:
        fact, player = draw(others()), ""
    step = draw(st.sampled_from([0, 1, 400, 400, 400, 1000, 1000, 12_000, -500, -20_000, 7 * HOUR, -7 * HOUR]))
    source = draw(st.sampled_from(["board", "board", "board", "clock", "tablet"]))
    event = play.make(
        fact,
        player,
        at=max(0, play.now + step),
        source=source,
        boot=draw(st.sampled_from(["", "", "", "", "2"])),
        seq=draw(st.sampled_from([None] * 14 + [0, 1, 40])),
        id=draw(st.sampled_from([""] * 14 + ["e2", "e5"])),
        by=arbiter("zhao") if source == "tablet" else None,
    )
    play.last_id = event.event_id
    return event.SerializeToString()


@st.composite
def _corrections(draw: st.DrawFn, play: Play, fact: Any, player: str) -> Any:
    ref = f"e{draw(st.integers(1, max(1, int(play.last_id.lstrip('e')))))}"
    kind = draw(st.sampled_from([1, 1, 2, 3, 0]))
    return facts.RecordCorrected(ref=ref, kind=kind, fact=corrected(fact, player) if kind > 1 else None)


# Anything at all that can be written in an Event: unknown enum values, extreme numbers, fields nobody would set.

_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: st.sampled_from([0, 1, 2, 3, 7, 19, 255, 256, 300, 70_000, 2**31 - 1, -1, -(2**31)]),
    FieldDescriptor.CPPTYPE_INT64: st.sampled_from([0, 1, 2, 3, 40, 10**12, 2**63 - 1, -1, -(2**63)]),
    FieldDescriptor.CPPTYPE_ENUM: st.sampled_from([0, 1, 2, 3, 5, 9, 255, 300, 2**31 - 1, -1, -(2**31)]),
    FieldDescriptor.CPPTYPE_BOOL: st.booleans(),
}
_TEXTS = st.sampled_from(["", *POINTS, "e1", "e2", "e3", "CN2002", "Li", "x", "zhao", "漢字", "Z9", "T20"])


def _values(field: FieldDescriptor, depth: int) -> st.SearchStrategy[Any]:
    if field.message_type is not None:
        return messages(field.message_type._concrete_class, depth - 1)
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return st.binary(max_size=4) if field.type == FieldDescriptor.TYPE_BYTES else _TEXTS
    return _INTEGERS[field.cpp_type]


@st.composite
def messages(draw: st.DrawFn, kind: Any, depth: int = 3) -> Any:
    """Any message of this kind."""
    made = kind()
    if depth == 0:
        return made
    for field in draw(st.lists(st.sampled_from(kind.DESCRIPTOR.fields), max_size=5)) if kind.DESCRIPTOR.fields else ():
        values = _values(field, depth)
        if field.is_repeated:
            getattr(made, field.name).extend(draw(st.lists(values, max_size=3)))
        elif field.message_type is not None:
            getattr(made, field.name).CopyFrom(draw(values))
            getattr(made, field.name).SetInParent()
        else:
            setattr(made, field.name, draw(values))
    return made


@st.composite
def wild_events(draw: st.DrawFn, number: int, game_id: str = "game") -> bytes:
    """An event of one of all types, of this game, with any values in it."""
    made = Event(event_id=f"w{number}", game_id=game_id, at_ms=1_700_000_000_000)
    field = draw(st.sampled_from(Event.DESCRIPTOR.oneofs_by_name["fact"].fields))
    getattr(made, field.name).CopyFrom(draw(messages(field.message_type._concrete_class)))
    getattr(made, field.name).SetInParent()
    made.player = draw(st.sampled_from([0, 1, 1, 2, 2, 3, 5, 255, 300, -1, 2**31 - 1]))
    made.source_seq = draw(st.sampled_from([0, 0, 0, 1, 2, 3, -1, -(2**63), 2**63 - 1]))
    made.at_ms = draw(st.sampled_from([made.at_ms] * 4 + [0, -1, 2**63 - 1, -(2**63)]))
    made.source.id = draw(st.sampled_from(["board", ""]))
    made.by.CopyFrom(draw(messages(type(made.by), 1)))
    return made.SerializeToString()
