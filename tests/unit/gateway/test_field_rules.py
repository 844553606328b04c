"""Each kind of field rule of the proto files, as an error names it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.intake import fact_event, opening, stone

from caipan.serving.errors import ServiceError
from caipan.serving.validation import check
from caipan.v1 import facts_pb2 as facts
from caipan.v1 import rulings_pb2
from caipan.v1.errors_pb2 import ERROR_CODE_MALFORMED
from caipan.v1.event_pb2 import Event
from caipan.v1.intake_service_pb2 import AppendEventsRequest


def corrected(kind: str, fact: facts.CorrectedFact | None) -> Event:
    return fact_event(facts.RecordCorrected(ref="m1", kind=f"KIND_{kind}", fact=fact), game_id="g1")


def opened(change: Callable[[facts.GameOpened], object]) -> Event:
    event = opening()
    change(event.game_opened)
    return event


def changed(**fields: object) -> Event:
    return stone(1, **fields)


STONE = facts.CorrectedFact(stone_placed=facts.StonePlaced(point="Q16"))
WARN_NOBODY = rulings_pb2.RulingDecided(role=2, effects=[rulings_pb2.Effect(warn=rulings_pb2.Warn())])


@pytest.mark.parametrize(
    ("event", "field"),
    [
        # strings
        (changed(event_id=""), "event_id"),
        (changed(event_id="x" * 65), "event_id"),
        (changed(game_id="x" * 129), "game_id"),
        (changed(game_id=""), "game_id"),
        (stone(1, "I9"), "stone_placed.point"),
        (stone(1, "Q26"), "stone_placed.point"),
        (stone(1, "q16"), "stone_placed.point"),
        (stone(1, "Q016"), "stone_placed.point"),
        (stone(1, "Q16\n"), "stone_placed.point"),
        (stone(1, ""), "stone_placed.point"),
        # numbers
        (changed(at_ms=-1), "at_ms"),
        (changed(at_ms=253402300800000), "at_ms"),
        (fact_event(facts.SourceResumed(), game_id="g1"), "source_resumed.next_source_seq"),
        (fact_event(facts.ClockReading(watch_ms=-1), game_id="g1"), "clock_reading.watch_ms"),
        (opened(lambda fact: setattr(fact, "size", 26)), "game_opened.size"),
        # enums
        (changed(player=3), "player"),
        (fact_event(facts.SessionMarked(), game_id="g1"), "session_marked.mark"),
        (fact_event(facts.SessionMarked(mark=9), game_id="g1"), "session_marked.mark"),
        # bytes
        (fact_event(facts.MoveSealed(digest=b"x" * 31), game_id="g1", player=1), "move_sealed.digest"),
        # messages and oneofs
        (Event(event_id="e", at_ms=1, pass_declared=facts.PassDeclared(), player=1), "log"),
        (Event(event_id="e", at_ms=1, game_id="g1"), "fact"),
        (opened(lambda fact: fact.ClearField("regulations")), "game_opened.regulations"),
        (corrected("REPLACE", facts.CorrectedFact()), "record_corrected.fact.fact"),
        # lists
        (opened(lambda fact: fact.players.append("p-zhou")), "game_opened.players"),
        (opened(lambda fact: fact.players.__setitem__(1, "p-li")), "game_opened.players"),
        (opened(lambda fact: fact.players.__setitem__(1, "")), "game_opened.players[1]"),
        (opened(lambda fact: fact.initial_black.extend(["D4", "I4"])), "game_opened.initial_black[1]"),
        (opened(lambda fact: fact.observed.append(0)), "game_opened.observed[0]"),
        (fact_event(WARN_NOBODY, game_id="g1"), "ruling_decided.effects[0].warn.player"),
        # rules about a message as a whole
        (changed(source_seq=1), "source"),
        (changed(player=0), "player"),
        (
            opened(lambda fact: (fact.initial_black.append("D4"), fact.initial_white.append("D4"))),
            "game_opened.initial_white",
        ),
        (corrected("RETRACT", STONE), "record_corrected.fact"),
        (corrected("REPLACE", None), "record_corrected.fact"),
        (corrected("UNSPECIFIED", STONE), "record_corrected.kind"),
    ],
)
def test_the_field_is_named(event: Event, field: str) -> None:
    with pytest.raises(ServiceError) as caught:
        check(AppendEventsRequest(events=[stone(1), event]))
    detail = caught.value.detail
    assert detail.code == ERROR_CODE_MALFORMED
    assert detail.field == f"events[1].{field}"
    assert detail.reason
    assert detail.remedy


@pytest.mark.parametrize(
    "event",
    [
        stone(1, "A1"),
        stone(1, "Z25"),
        changed(event_id="e" * 64, game_id="g" * 128),
        changed(event_id="裁" * 64),
        changed(at_ms=0),
        opening(),
        opened(lambda fact: setattr(fact, "size", 25)),
        corrected("RETRACT", None),
        corrected("INSERT_AFTER", STONE),
        fact_event(facts.DeadProposed(), game_id="g1", player=1),
    ],
)
def test_what_keeps_the_rules_passes(event: Event) -> None:
    check(AppendEventsRequest(events=[event]))


@pytest.mark.parametrize(
    "fact",
    [
        facts.StonePlaced(point="D4"),
        facts.StoneLifted(point="D4"),
        facts.StonesCaptured(),
        facts.ClockPressed(),
        facts.PassDeclared(),
        facts.GameResigned(),
        facts.EndProposed(),
        facts.EndAnswered(),
        facts.DeadProposed(),
        facts.DeadAnswered(),
        facts.ConsentGiven(),
        facts.PresenceChanged(),
        facts.PointShown(point="D4"),
        facts.MoveSealed(digest=b"x" * 32),
    ],
    ids=lambda fact: type(fact).__name__,
)
def test_every_act_of_a_player_needs_the_player(fact: object) -> None:
    with pytest.raises(ServiceError, match=r"events\[0\].player: an act of a player needs player"):
        check(AppendEventsRequest(events=[fact_event(fact, game_id="g1")]))
    check(AppendEventsRequest(events=[fact_event(fact, game_id="g1", player=2)]))


@pytest.mark.parametrize(
    ("request_", "field"), [(AppendEventsRequest(), "events"), (AppendEventsRequest(events=[stone(1)], wait=7), "wait")]
)
def test_the_request_has_rules_too(request_: AppendEventsRequest, field: str) -> None:
    with pytest.raises(ServiceError) as caught:
        check(request_)
    assert caught.value.detail.field == field


def test_the_value_at_fault_is_shown() -> None:
    with pytest.raises(ServiceError, match="'I9'"):
        check(AppendEventsRequest(events=[stone(1, "I9")]))
