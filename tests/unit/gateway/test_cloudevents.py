"""Records are CloudEvents 1.0 in the Kafka protocol binding, binary content mode: any client of it reads the topics."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

import pytest
from support.intake import opening, stone

from caipan.gateway.admission import Admitted, admit
from caipan.serving.tokens import ALL, Identity
from caipan.v1.common_pb2 import ROLE_CHIEF, Actor
from caipan.v1.event_pb2 import Event
from caipan.v1.facts_pb2 import LotDrawn
from caipan.v1.intake_service_pb2 import AppendEventsRequest
from caipan.v1.tournament_pb2 import EntrantWithdrew

CHIEF = Identity("p-zhao", (ROLE_CHIEF,), frozenset({ALL}), frozenset({ALL}))
LAST_MS = 253402300799999

EVENTS = {
    "opening": opening("T1/r3/b2"),
    "stone": stone(6, at_ms=0),
    "chinese": stone(1, game_id="棋赛/第一轮 ?#%", event_id="着-1"),
    "late": stone(1, at_ms=LAST_MS),
    "of a tournament": Event(event_id="w", tournament_id="T1", at_ms=5, entrant_withdrew=EntrantWithdrew(entrant="e1")),
    "in both logs": Event(event_id="lot", tournament_id="T1", at_ms=5, lot_drawn=LotDrawn(purpose="PURPOSE_RANK")),
}


def admitted(event: Event) -> Admitted:
    request = AppendEventsRequest(events=[event])
    (made,) = admit(request, CHIEF, Actor(person=CHIEF.person, role=ROLE_CHIEF))
    return made


@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_every_record_has_the_attributes_of_the_specification(event: Event) -> None:
    record = admitted(event).record
    headers = {name: value.decode() for name, value in record.headers}
    assert len(headers) == len(record.headers)
    assert headers.pop("content-type") == "application/protobuf"
    attributes = {name.removeprefix("ce_"): value for name, value in headers.items() if name.startswith("ce_")}
    assert len(attributes) == len(headers)
    assert attributes.keys() >= {"id", "source", "specversion", "type"}
    assert all(re.fullmatch("[a-z0-9]{1,20}", name) for name in attributes)
    assert all(attributes.values())
    assert attributes["specversion"] == "1.0"
    assert attributes["type"] == f"caipan.v1.{event.WhichOneof('fact')}"
    assert (attributes["id"], attributes["subject"]) == (event.event_id, event.game_id or event.tournament_id)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", attributes["time"])  # RFC 3339
    at = datetime.fromisoformat(attributes["time"]) - datetime(1970, 1, 1, tzinfo=UTC)
    assert at // timedelta(milliseconds=1) == event.at_ms
    assert re.fullmatch(r"/(games|tournaments)/([\w.~-]|%[0-9A-F]{2})+", attributes["source"], re.ASCII)  # RFC 3986
    assert unquote(attributes["source"].split("/")[2]) == attributes["subject"]


def test_the_data_is_the_event_and_the_key_its_log() -> None:
    record = admitted(stone(7)).record
    assert record.key == b"g1"
    assert Event.FromString(record.value).stone_placed.point == "Q16"


def test_an_event_that_is_sent_again_is_the_same_cloudevent_and_no_other_is() -> None:
    def identity(event: Event) -> tuple[bytes, bytes]:
        headers = dict(admitted(event).record.headers)
        return headers["ce_source"], headers["ce_id"]

    assert identity(stone(7)) == identity(stone(7))
    others = [stone(7), stone(8), stone(7, game_id="g2"), stone(7, game_id="g1/m7", event_id="x"), *EVENTS.values()]
    assert len({identity(event) for event in others}) == len(others)
