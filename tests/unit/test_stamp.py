"""The bytes of an event in the log depend on the facts and the reporter alone."""

from __future__ import annotations

import pytest

from caipan.rules.pins import RegulationsError, pin
from caipan.stamp import stamped
from caipan.v1.common_pb2 import ROLE_CHIEF, ROLE_RECORDER, Actor
from caipan.v1.event_pb2 import Event

RECORDER = Actor(person="recorder-1", role=ROLE_RECORDER)


def _stone() -> Event:
    event = Event(event_id="e1", game_id="g", at_ms=5, source_seq=2, player="COLOR_BLACK")
    event.source.id = "board"
    event.stone_placed.point = "Q16"
    return event


def _opening() -> Event:
    event = Event(event_id="e0", game_id="g")
    event.game_opened.regulations.edition = "CN2002"
    event.game_opened.regulations.untimed = True
    return event


def test_the_reporter_stands_last_and_replaces_what_the_caller_wrote() -> None:
    event = _stone()
    plain = event.SerializeToString(deterministic=True)
    event.by.CopyFrom(Actor(person="somebody else", role=ROLE_CHIEF))
    value = stamped(event, RECORDER)
    assert value == plain + Event(by=RECORDER).SerializeToString()
    assert Event.FromString(value).by == RECORDER
    assert event.by.person == "somebody else"


def test_fields_of_another_version_are_left_out() -> None:
    unknown = b"\x9a\x3f\x03abc"  # field 1011
    event = Event.FromString(_stone().SerializeToString() + unknown)
    assert unknown in event.SerializeToString()
    assert stamped(event, RECORDER) == stamped(_stone(), RECORDER)


def test_an_opening_is_pinned_whatever_pins_the_caller_sent() -> None:
    event = _opening()
    pins = pin(event.game_opened)
    expected = stamped(event, RECORDER)
    event.game_opened.pins.fold_version = 77
    assert stamped(event, RECORDER) == expected
    assert Event.FromString(expected).game_opened.pins == pins
    assert event.game_opened.pins.fold_version == 77


def test_regulations_that_cannot_be_pinned_are_named() -> None:
    event = _opening()
    event.game_opened.regulations.edition = "XX1900"
    with pytest.raises(RegulationsError, match="unknown edition 'XX1900'"):
        stamped(event, RECORDER)
