"""Random logs for the property tests: what a hall might send, and what nobody would.

Each is made from a seed and a length: a shorter one of the same seed is its beginning, so that failures shrink.
"""

from __future__ import annotations

from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from hypothesis import strategies as st

from caipan.rules.edition import edition_ids
from caipan.v1 import facts_pb2 as facts
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.event_pb2 import Event
from caipan.v1.rulings_pb2 import RulingDecided
from support.events import START_MS
from support.play import Play, arbiter, corrected

SIZE = 4
POINTS = [f"{column}{row}" for column in "ABCD" for row in range(1, SIZE + 1)]
HOUR = 3_600_000
FACTS = list(Event.DESCRIPTOR.oneofs_by_name["fact"].fields)

Act = tuple[Any, str]  # a fact and its player

seeds = st.integers(0, 2**32 - 1)


def acts(most: int = 40, stones_only: bool = False) -> st.SearchStrategy[list[Act]]:
    """Facts of play with their players."""
    return st.builds(lambda seed, count: make_acts(Random(seed), count, stones_only), seeds, st.integers(1, most))


def openings() -> st.SearchStrategy[dict[str, Any]]:
    """Keywords of ``Play``; about every other game has clocks."""
    return st.builds(lambda seed: make_opening(Random(seed)), seeds)


def untimed_openings() -> st.SearchStrategy[dict[str, Any]]:
    """The same without clocks: what comes of a game does not depend on times then."""
    return openings().map(lambda how: {**how, "untimed": True, "regime": 0, "absent_count_s": 0})


def timed_openings() -> st.SearchStrategy[dict[str, Any]]:
    """The same with clocks."""
    return st.builds(lambda seed: {**make_opening(Random(seed)), **make_time(Random(seed))}, seeds)


def logs(most: int = 60) -> st.SearchStrategy[list[bytes]]:
    """Records of a game in the order of a log: disorder, gaps, repeats, wrong times, corrections, garbage."""
    return st.builds(lambda seed, count: make_log(Random(seed), count), seeds, st.integers(1, most))


def wild_events(most: int = 12) -> st.SearchStrategy[list[bytes]]:
    """Events with any values in them: unknown enums, extreme numbers, fields nobody would set."""
    return st.builds(lambda seed, count: make_wild(Random(seed), count), seeds, st.integers(1, most))


def make_acts(random: Random, count: int, stones_only: bool = False) -> list[Act]:
    """The side that seems to be on turn acts much more often."""
    made, turn = [], "B"
    for _ in range(count):
        fact = make_stone(random) if random.random() < 0.6 else make_observation(random)
        if stones_only and not isinstance(fact, facts.StonePlaced):
            fact = facts.PassDeclared()
        player = turn if random.random() < 0.85 else random.choice("BW")
        if isinstance(fact, facts.StonePlaced | facts.PassDeclared | facts.EndProposed):
            turn = "W" if player == "B" else "B"
        made.append((fact, player))
    return made


def make_stone(random: Random) -> facts.StonePlaced:
    return facts.StonePlaced(
        point=make_point(random), color=random.choice([0] * 10 + [1, 2]), manner=random.choice([0] * 9 + [1, 2, 2, 3])
    )


def make_point(random: Random) -> str:
    return random.choice(POINTS) if random.random() < 0.95 else random.choice(["E5", "", "A0"])


def make_points(random: Random) -> list[str]:
    return [make_point(random) for _ in range(random.randrange(4))]


def make_observation(random: Random) -> Any:
    return random.choice(
        [
            lambda: facts.PassDeclared(),
            lambda: facts.StoneLifted(point=make_point(random)),
            lambda: facts.StoneLifted(point=make_point(random)),
            lambda: facts.StonesCaptured(points=make_points(random)),
            lambda: facts.ClockPressed(),
            lambda: facts.EndProposed(),
            lambda: facts.EndAnswered(accept=random.random() < 0.5),
            lambda: facts.DeadProposed(points=make_points(random)),
            lambda: facts.DeadAnswered(accept=random.random() < 0.3, disputed=make_points(random)),
            lambda: facts.CountTaken(
                side=random.randrange(3),
                quarters=random.randrange(65),
                groups_b=random.choice([None, 1, 2, 70_000]),
                groups_w=random.choice([None, 1, 2]),
                prisoners_b=random.choice([None, 0, 1]),
            ),
            lambda: facts.SessionMarked(mark=random.randrange(5)),
            lambda: make_clock_fact(random),
            lambda: make_clock_fact(random),
            lambda: facts.PresenceChanged(present=random.random() < 0.6),
            lambda: facts.LotDrawn(purpose=random.randrange(4), holder=random.choice(["Li", "Wang", "x"]), shown=1),
            lambda: facts.GameResigned() if random.random() < 0.2 else facts.PassDeclared(),
        ]
    )()


def make_clock_fact(random: Random) -> Any:
    """What somebody sees of a clock or hears of a count."""
    side = random.choice([1, 1, 2, 2, 0])
    used = [0, 1000, 30_000, 60_000, 10**13]
    return random.choice(
        [
            facts.ClockReading(
                black_ms=random.choice(used),
                white_ms=random.choice(used),
                watch_ms=random.choice([None, None, 61_000, 0]),
                flag_down=random.choice([None, None, True]),
                minute_past_12=random.choice([None, True]),
            ),
            facts.ClockExpired(side=side, limit=random.randrange(5)),
            facts.CountAnnounced(
                to=side, label=random.choice(["10", "5", "30", "1分", "x"]), purpose=random.choice([0, 1, 1, 2])
            ),
        ]
    )


def make_other(random: Random) -> Any:
    """What is no act of play."""
    return random.choice(
        [
            facts.SourceResumed(next_source_seq=random.randrange(60)),
            facts.SourceSynced(offset_ms=random.randrange(-99, 99)),
            facts.OfficialAppointed(person=random.choice(["zhao", "qian"]), role=random.randrange(10)),
            facts.ClaimRaised(),
            facts.ClaimRaised(kind=random.randrange(8), against=random.randrange(3)),
            RulingDecided(),
            make_clock_ruling(random),
        ]
    )


def make_clock_ruling(random: Random) -> RulingDecided:
    """An arbiter stops a clock, or sets one."""
    if random.random() < 0.5:
        effect = rl.Effect(clock=rl.SetRunning(run=random.randrange(4)))
        return RulingDecided(role="ROLE_ARBITER", effects=[effect])
    said = rl.SetClock(
        black_ms=random.choice([None, 0, 70_000]),
        white_ms=random.choice([None, 1000]),
        side=random.randrange(3),
        minutes_left=random.choice([None, 1]),
        count_s=random.choice([None, 50]),
    )
    effects = [rl.Effect(set_clock=said)]
    return RulingDecided(clause="CN2002 30.6", option="OTHER", role="ROLE_CHIEF", effects=effects, against=1)


def make_time(random: Random) -> dict[str, Any]:
    """Regulations of a game with clocks, short enough to run out."""
    regime = random.randrange(1, 7)
    how: dict[str, Any] = {
        "untimed": False,
        "regime": regime,
        "basic_time_s": random.choice([60, 61, 120]),
        "retained_minutes": 1,
        "byoyomi_stop": random.choice([1, 2]),
        "count_source": random.choice([1, 2]),
        "leave_terms": random.choice([1, 2]),
        "absent_count_s": random.choice([0, 0, 5]),
    }
    if regime in (4, 2, 5):
        how |= {"basic_time_s": random.choice([2, 5, 60]), "increment_s": random.choice([0, 3]), "cap_s": 10}
    elif regime in (3, 6):
        how |= {"basic_time_s": random.choice([0, 2, 60]), "stage_moves": random.choice([1, 3]), "stage_s": 4}
    elif random.random() < 0.5:
        how |= {"basic_time_s": random.choice([0, 5]), "unit_s": random.choice([2, 10]), "periods": 3}
    return how


def make_opening(random: Random) -> dict[str, Any]:
    observed = random.choice([[], ["CAPTURES"], ["CAPTURES", "PRESSES"], ["PRESSES", "ANNOUNCEMENTS"]])
    how: dict[str, Any] = {
        "observed": observed,
        **(make_time(random) if random.random() < 0.5 else {}),
        "players": ["Li", "Wang"],
        "officials": [("zhao", "ARBITER"), ("zhao", "CHIEF")],
        "superko_mode": random.choice(["POSITIONAL", "SITUATIONAL", "SIMPLE"]),
        "clock_skew_ms": random.choice([0, 0, 500]),
        "komi_qz": random.choice([0, 15]),
    }
    if random.random() < 0.3:
        how |= {"black": ["A1", "B2"], "white": ["D4"]}
    elif random.random() < 0.2:
        how |= {"handicap": 2, "handicap_placement": 2}
    return how


def make_log(random: Random, count: int) -> list[bytes]:
    play = Play(SIZE, opening=False, **{**make_opening(random), "edition": random.choice(["CN2002", *edition_ids()])})
    made: list[bytes] = []
    waiting = [play.make(play.opening, source="backend").SerializeToString()]
    if random.random() < 0.85:
        made.append(waiting.pop())
    for fact, player in make_acts(random, count):
        value = _delivery(random, play, fact, player, made)
        (waiting if random.random() < 0.15 else made).append(value)
        if waiting and random.random() < 0.4:
            made.append(waiting.pop(random.randrange(len(waiting))))
    return made + waiting


def _delivery(random: Random, play: Play, fact: Any, player: str, made: list[bytes]) -> bytes:
    """A record: mostly the next event of a source; sometimes a repeat, garbage, a correction, another kind of event."""
    oddity = random.randrange(30)
    if oddity == 0:
        return random.randbytes(random.randrange(12))
    if oddity == 1 and made:
        return random.choice(made)
    if oddity in (2, 3, 4) and play.last_id:
        fact, player = _correction(random, play, fact, player), ""
    elif oddity == 5:
        fact, player = make_other(random), ""
    step = random.choice([0, 1] + [400] * 8 + [1000] * 8 + [12_000, -500, -20_000, 7 * HOUR, -7 * HOUR])
    source = random.choice(["board", "board", "board", "clock", "tablet"])
    event = play.make(
        fact,
        player,
        at=max(0, play.now + step),
        source=source,
        boot="2" if random.random() < 0.1 else "",
        seq=random.choice([None] * 30 + [0, 0, 1, 40]),
        id=random.choice([""] * 30 + ["e2", "e5"]),
        by=arbiter("zhao") if source == "tablet" else None,
    )
    play.last_id = f"e{play.made}"
    return event.SerializeToString()


def _correction(random: Random, play: Play, fact: Any, player: str) -> facts.RecordCorrected:
    kind = random.choice([1, 1, 2, 2, 3, 3, 0])
    ref = f"e{random.randint(1, play.made + 1)}"
    return facts.RecordCorrected(ref=ref, kind=kind, fact=corrected(fact, player) if kind > 1 else None)


# Anything at all that can be written in an Event

_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: [0, 1, 2, 3, 4, 7, 19, 255, 256, 300, 70_000, 2**31 - 1, -1, -(2**31)],
    FieldDescriptor.CPPTYPE_INT64: [0, 1, 2, 3, 40, 10**12, START_MS, 2**63 - 1, -1, -(2**63)],
    FieldDescriptor.CPPTYPE_ENUM: [0, 1, 2, 3, 5, 9, 255, 300, 2**31 - 1, -1, -(2**31)],
    FieldDescriptor.CPPTYPE_BOOL: [False, True],
}
_TEXTS = ["", "e1", "e2", "w0", "w1", "w2", "CN2002", "Li", "zhao", "漢字", "Z9", "T20"]


def _value(random: Random, field: FieldDescriptor, depth: int) -> Any:
    if field.message_type is not None:
        return make_message(random, field.message_type._concrete_class, depth - 1)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return random.randbytes(random.randrange(5))
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return random.choice(POINTS) if random.random() < 0.5 else random.choice(_TEXTS)
    return random.choice(_INTEGERS[field.cpp_type])


def make_message(random: Random, kind: Any, depth: int = 3) -> Any:
    """Any message of this kind."""
    made = kind()
    fields = kind.DESCRIPTOR.fields
    if depth == 0 or not fields:
        return made
    for _ in range(random.randrange(2 + len(fields))):
        field = random.choice(fields)
        if field.is_repeated:
            getattr(made, field.name).extend(_value(random, field, depth) for _ in range(random.randrange(4)))
        elif field.message_type is not None:
            getattr(made, field.name).CopyFrom(_value(random, field, depth))
            getattr(made, field.name).SetInParent()
        else:
            setattr(made, field.name, _value(random, field, depth))
    return made


def make_wild(random: Random, count: int) -> list[bytes]:
    """Events of all types, those of play more often."""
    made = []
    for number in range(count):
        event = Event(event_id=f"w{number}", game_id="game")
        field = random.choice(FACTS[:15] + FACTS)
        getattr(event, field.name).CopyFrom(make_message(random, field.message_type._concrete_class))
        getattr(event, field.name).SetInParent()
        event.player = random.choice([0, 1, 1, 1, 2, 2, 2, 3, 5, 255, 300, -1, 2**31 - 1])
        event.source_seq = random.choice([0, 0, 0, 1, 2, 3, -1, -(2**63), 2**63 - 1])
        event.at_ms = random.choice([START_MS] * 4 + [0, -1, 2**63 - 1, -(2**63)])
        event.source.id = random.choice(["board", ""])
        if random.random() < 0.5:
            event.by.CopyFrom(make_message(random, type(event.by), 1))
        made.append(event.SerializeToString())
    return made
