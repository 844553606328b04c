"""Every error of the gateway, as a caller sees it: code, status, field."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from support.intake import KEY, LOG, TIMEOUT_S, House, fact_event, metadata, opening, refused, stone, token

from caipan.v1 import common_pb2, facts_pb2, rulings_pb2, tournament_pb2
from caipan.v1 import intake_service_pb2 as pb


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with House(tmp_path) as house:
        yield house


@pytest.mark.parametrize(
    "entries", [[], [("authorization", "")], [("authorization", "Basic eDp5")], [("authorization", "Bearer ")]]
)
async def test_a_call_without_a_token(house: House, entries: list[tuple[str, str]]) -> None:
    request = pb.AppendEventsRequest(events=[stone(1)])
    error = await refused(house.stub.AppendEvents(request, metadata=entries, timeout=TIMEOUT_S))
    assert (error.status, error.code) == (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_MISSING")
    assert "Bearer" in error.remedy


def _public() -> bytes:
    return KEY.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def _hs256() -> str:
    """The public key as a shared secret: the classic confusion of algorithms."""
    import base64
    import hashlib
    import hmac

    _, payload, _ = token("CHIEF").split(".")
    header = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').rstrip(b"=").decode()
    mac = hmac.digest(_public(), f"{header}.{payload}".encode(), hashlib.sha256)
    return f"{header}.{payload}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


def _none() -> str:
    return jwt.encode(jwt.decode(token("CHIEF"), options={"verify_signature": False}), "", algorithm="none")


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (lambda: token(valid_for_s=-3600), "expired at 20"),
        (lambda: token(key=Ed25519PrivateKey.generate()), "a key that this service does not know"),
        (_none, "not signed with EdDSA"),
        (_hs256, "not signed with EdDSA"),
        (lambda: token()[:-8] + "AAAAAAAA", "a key that this service does not know"),
        (lambda: "no.token", "cannot be read"),
    ],
    ids=["expired", "foreign key", "alg none", "HS256 with the public key", "changed", "garbage"],
)
async def test_a_token_that_is_not_good(house: House, made: object, reason: str) -> None:
    error = await refused(house.append(stone(1), bearer=made()))  # type: ignore[operator]
    assert (error.status, error.code) == (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_INVALID")
    assert reason in error.reason
    assert await house.records() == []


RULING = rulings_pb2.RulingDecided(role=common_pb2.ROLE_ARBITER)
REPORT = tournament_pb2.GameReported(game_id="g1")
IN_T1 = {"games": [], "tournaments": ["T1"]}
ONLY_G1 = {"games": ["g1"], "tournaments": []}


@pytest.mark.parametrize(
    ("event", "caller", "field"),
    [
        (stone(1, game_id="g2"), ONLY_G1, "events[0].game_id"),
        (stone(1, game_id="T2/b1"), IN_T1, "events[0].game_id"),
        (stone(1, game_id="T1b1"), IN_T1, "events[0].game_id"),
        (opening("g1", tournament_id="T1"), ONLY_G1, "events[0].game_opened.tournament_id"),
        (fact_event(facts_pb2.AppealRaised(), tournament_id="T2"), IN_T1, "events[0].tournament_id"),
        (fact_event(RULING, game_id="g1"), {"roles": ["RECORDER"]}, "events[0].ruling_decided"),
        (fact_event(REPORT, tournament_id="T1"), {"roles": ["CHIEF", "BACKEND"]}, "events[0].game_reported"),
        (stone(1), {"roles": ["RECORDER"], "acting": "CHIEF"}, "caipan-role"),
        (stone(1), {"roles": ["RECORDER"], "acting": "SERVICE"}, "caipan-role"),
        (stone(1), {"roles": ["RECORDER"], "acting": "recorder"}, "caipan-role"),
    ],
)
async def test_what_the_token_is_not_good_for(
    house: House, event: object, caller: dict[str, object], field: str
) -> None:
    error = await refused(house.append(event, **caller))  # type: ignore[arg-type]
    assert (error.status, error.code) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_PERMITTED")
    assert error.field == field
    assert [*await house.records(), *await house.records("tournament-events")] == []


async def test_a_message_that_is_none_of_the_call(house: House) -> None:
    call = house.channel.unary_unary("/caipan.v1.IntakeService/AppendEvents")
    error = await refused(call(b"\xff\xff", metadata=metadata(), timeout=TIMEOUT_S))
    assert (error.status, error.code) == (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED")


async def test_regulations_that_cannot_be_pinned_name_their_field(house: House) -> None:
    event = opening()
    event.game_opened.regulations.edition = "XX1900"
    error = await refused(house.append(stone(1), event))
    assert (error.code, error.field) == ("MALFORMED", "events[1].game_opened.regulations.edition")
    assert "CN2002" in error.remedy
    assert await house.records() == []


async def test_an_event_in_the_wrong_kind_of_log(house: House) -> None:
    error = await refused(house.append(fact_event(facts_pb2.SourceSynced(), tournament_id="T1")))
    assert (error.code, error.field) == ("MALFORMED", "events[0].tournament_id")
    error = await refused(house.append(fact_event(tournament_pb2.RoundOpened(round=1), game_id="g1"), roles=["CHIEF"]))
    assert (error.code, error.field) == ("MALFORMED", "events[0].game_id")


async def test_an_event_that_is_too_large(house: House) -> None:
    whole_board = rulings_pb2.SetPoints(remove=["Q16"] * 625, add_black=["Q16"] * 625, add_white=["Q16"] * 625)
    ruling = rulings_pb2.RulingDecided(role=common_pb2.ROLE_CHIEF)
    ruling.effects.extend(rulings_pb2.Effect(set_points=whole_board) for _ in range(8))
    error = await refused(house.append(stone(1), fact_event(ruling, game_id="g1"), roles=["CHIEF"]))
    assert (error.status, error.code) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_LARGE")
    assert error.field == "events[1]"
    assert await house.records() == []


async def test_a_request_that_is_too_large(house: House) -> None:
    request = pb.AppendEventsRequest(events=[stone(1, "x" * (5 << 20))])
    error = await refused(house.stub.AppendEvents(request, metadata=metadata(), timeout=TIMEOUT_S))
    assert (error.status, error.code) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_LARGE")
    request = pb.AppendEventsRequest(events=[stone(1, "x" * (17 << 20))])
    with pytest.raises(grpc.aio.AioRpcError) as caught:  # here grpc hangs up by itself
        await house.stub.AppendEvents(request, metadata=metadata(), timeout=TIMEOUT_S)
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_log_that_another_program_has_locked(house: House) -> None:
    other = sqlite3.connect(house.path, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        for wait in (LOG, pb.WAIT_VERDICT):
            error = await refused(house.append(opening(), stone(1), wait=wait))
            assert (error.status, error.code) == (grpc.StatusCode.UNAVAILABLE, "LOG_UNAVAILABLE")
            assert "locked" in error.reason
        assert house.gateway.waiting == 0
        person = pb.PutPersonRequest(person=pb.Person(person_id="p-li", name="Li"))
        error = await refused(house.stub.PutPerson(person, metadata=metadata(), timeout=TIMEOUT_S))
        assert error.code == "LOG_UNAVAILABLE"
        other.execute("ROLLBACK")
    finally:
        other.close()
    assert await house.records() == []
    results = await house.append(opening(), stone(1))
    assert [result.outcome.verdict.seq for result in results] == [1, 2]
