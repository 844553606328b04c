"""Names of persons: stored apart from the events, and erased."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from support.intake import TIMEOUT_S, House, metadata, refused

from caipan.v1 import intake_service_pb2 as pb

LI = pb.Person(person_id="p-li", name="李", name_latin="Li")


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with House(tmp_path, judging=False) as house:
        yield house


def put(house: House, person: pb.Person, *roles: str) -> grpc.aio.UnaryUnaryCall:
    request = pb.PutPersonRequest(person=person)
    return house.stub.PutPerson(request, metadata=metadata(roles=roles), timeout=TIMEOUT_S)


def erase(house: House, person_id: str, *roles: str) -> grpc.aio.UnaryUnaryCall:
    request = pb.ErasePersonRequest(person_id=person_id)
    return house.stub.ErasePerson(request, metadata=metadata(roles=roles), timeout=TIMEOUT_S)


async def names(house: House) -> pb.Person | None:
    value = await house.log.get("people", b"p-li")
    return None if value is None else pb.Person.FromString(value)


async def test_names_are_stored_replaced_and_erased(house: House) -> None:
    await put(house, LI, "RECORDER")
    assert await names(house) == LI
    changed = pb.Person(person_id="p-li", name="Li Ming")
    await put(house, changed, "BACKEND")
    assert await names(house) == changed
    await erase(house, "p-li", "CHIEF")
    assert await names(house) is None
    await erase(house, "p-li", "CHIEF")  # again: nothing to do, no error


async def test_erased_names_are_not_left_in_the_file(house: House) -> None:
    await put(house, pb.Person(person_id="p-li", name="Unmistakable Name"), "BACKEND")
    await erase(house, "p-li", "BACKEND")
    await house.stop()
    await house.log.close()
    assert b"Unmistakable" not in house.path.read_bytes()


@pytest.mark.parametrize("role", ["PLAYER", "DEVICE"])
async def test_players_and_devices_store_no_names(house: House, role: str) -> None:
    error = await refused(put(house, LI, role))
    assert (error.status, error.code) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_PERMITTED")
    assert await names(house) is None


@pytest.mark.parametrize("role", ["PLAYER", "DEVICE", "RECORDER", "ARBITER", "DEPUTY"])
async def test_few_roles_erase_names(house: House, role: str) -> None:
    await put(house, LI, "CHIEF")
    error = await refused(erase(house, "p-li", role))
    assert error.code == "NOT_PERMITTED"
    assert await names(house) == LI


async def test_a_person_without_a_name_is_an_error(house: House) -> None:
    error = await refused(put(house, pb.Person(person_id="p-li"), "CHIEF"))
    assert (error.code, error.field) == ("MALFORMED", "person.name")
    error = await refused(house.stub.PutPerson(pb.PutPersonRequest(), metadata=metadata(roles=["CHIEF"])))
    assert (error.code, error.field) == ("MALFORMED", "person")
    error = await refused(erase(house, "", "CHIEF"))
    assert (error.code, error.field) == ("MALFORMED", "person_id")


async def test_nobody_stores_names_without_a_token(house: House) -> None:
    error = await refused(house.stub.PutPerson(pb.PutPersonRequest(person=LI), timeout=TIMEOUT_S))
    assert error.code == "TOKEN_MISSING"
    error = await refused(house.stub.ErasePerson(pb.ErasePersonRequest(person_id="p-li"), timeout=TIMEOUT_S))
    assert error.code == "TOKEN_MISSING"
