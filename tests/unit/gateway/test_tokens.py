"""Tokens: made, verified, refused; keys and their files."""

from __future__ import annotations

import stat
import time
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from caipan.serving.errors import ServiceError
from caipan.serving.tokens import (
    Identity,
    KeyFileError,
    Verifier,
    generate_keys,
    key_id,
    load_private_key,
    load_public_keys,
    make_token,
    role_name,
    role_named,
)
from caipan.v1.common_pb2 import ROLE_ARBITER, ROLE_CHIEF, Role
from caipan.v1.errors_pb2 import ERROR_CODE_TOKEN_INVALID

KEY = Ed25519PrivateKey.generate()
VERIFIER = Verifier([KEY.public_key()])
NOW = int(time.time())
CLAIMS: dict[str, Any] = {
    "iss": "caipan",
    "sub": "p-wang",
    "roles": ["ARBITER", "CHIEF"],
    "games": ["g1"],
    "tournaments": ["T1"],
    "iat": NOW,
    "exp": NOW + 6 * 3600,  # this module may be read long before its tests run
}
WHOLE = Identity("p-wang", (ROLE_ARBITER, ROLE_CHIEF), frozenset({"g1"}), frozenset({"T1"}))


def signed(**changes: Any) -> str:
    claims = {name: value for name, value in {**CLAIMS, **changes}.items() if value is not None}
    return jwt.encode(claims, KEY, algorithm="EdDSA")


def refusal(token: str, verifier: Verifier = VERIFIER) -> str:
    with pytest.raises(ServiceError) as caught:
        verifier.verify(token)
    assert caught.value.detail.code == ERROR_CODE_TOKEN_INVALID
    assert caught.value.detail.remedy
    assert token not in str(caught.value)
    return caught.value.detail.reason


def test_a_token_says_who_calls_in_which_roles_and_for_what() -> None:
    token = make_token(KEY, "p-wang", ["ARBITER", "CHIEF"], ["g1"], ["T1"], 60)
    assert VERIFIER.verify(token) == WHOLE
    assert VERIFIER.identify([("user-agent", "x"), ("authorization", f"bearer {token}")]) == WHOLE


def test_a_token_of_another_issuer_with_the_same_claims_is_read_alike() -> None:
    assert VERIFIER.verify(signed()) == WHOLE  # no kid
    assert VERIFIER.verify(jwt.encode(CLAIMS, KEY, algorithm="EdDSA", headers={"kid": "their-own"})) == WHOLE
    assert VERIFIER.verify(signed(games=None, tournaments=None)).games == frozenset()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"exp": NOW - 60}, "the token expired at 20"),
        ({"iat": NOW + 3600}, "from the future"),
        ({"iss": "somebody"}, "iss"),
        ({"iss": None}, '"iss"'),
        ({"exp": None}, '"exp"'),
        ({"iat": None}, '"iat"'),
        ({"sub": None}, '"sub"'),
        ({"sub": ""}, "sub: a person"),
        ({"sub": "x" * 129}, "sub: a person"),
        ({"sub": 7}, "Subject"),
        ({"roles": None}, "roles: at least one"),
        ({"roles": []}, "roles: at least one"),
        ({"roles": "CHIEF"}, "roles: a list of strings"),
        ({"roles": [7]}, "roles: a list of strings"),
        ({"roles": ["UMPIRE"]}, "'UMPIRE' is no role"),
        ({"roles": ["CHIEF", "SERVICE"]}, "'SERVICE' is no role of a caller"),
        ({"roles": ["UNSPECIFIED"]}, "'UNSPECIFIED' is no role"),
        ({"games": "*"}, "games: a list of strings"),
        ({"tournaments": {"T1": 1}}, "tournaments: a list of strings"),
    ],
)
def test_a_token_that_is_no_good_says_why(changes: dict[str, Any], reason: str) -> None:
    assert reason in refusal(signed(**changes))


def test_a_clock_that_is_a_little_off_is_forgiven() -> None:
    now = int(time.time())  # NOW may be long ago by the time this runs
    assert VERIFIER.verify(signed(exp=now - 5)) == WHOLE
    assert VERIFIER.verify(signed(iat=now + 20)) == WHOLE


def test_during_a_change_of_keys_the_old_and_the_new_one_are_good() -> None:
    old, new, other = (Ed25519PrivateKey.generate() for _ in range(3))
    both = Verifier([old.public_key(), new.public_key()])
    for key in (old, new):
        made = make_token(key, "p", ["DEVICE"], ["*"], [], 60)
        assert jwt.get_unverified_header(made)["kid"] == key_id(key.public_key())
        assert both.verify(made).person == "p"
        assert both.verify(jwt.encode(CLAIMS, key, algorithm="EdDSA")) == WHOLE  # no kid: each is tried
    assert "does not know" in refusal(make_token(other, "p", ["DEVICE"], ["*"], [], 60), both)
    assert "does not know" in refusal(make_token(old, "p", ["DEVICE"], ["*"], [], 60), Verifier([new.public_key()]))


def test_a_key_named_wrongly_does_not_verify() -> None:
    old, new = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    made = jwt.encode(CLAIMS, old, algorithm="EdDSA", headers={"kid": key_id(new.public_key())})
    assert "does not know" in refusal(made, Verifier([old.public_key(), new.public_key()]))


def test_the_name_of_a_key_is_the_thumbprint_of_the_standard() -> None:
    """The example of RFC 8037, appendix A.3."""
    raw = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    assert key_id(Ed25519PublicKey.from_public_bytes(raw)) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


@pytest.mark.parametrize(
    ("person", "roles"), [("", ["CHIEF"]), ("p", []), ("p", ["SERVICE"]), ("p", ["chief"]), ("x" * 129, ["CHIEF"])]
)
def test_no_token_is_made_that_no_service_would_accept(person: str, roles: list[str]) -> None:
    with pytest.raises(ValueError, match=r"sub|roles"):
        make_token(KEY, person, roles, ["*"], ["*"], 60)


def test_every_role_but_that_of_the_service_has_a_name() -> None:
    callers = [role for role in Role.values() if role and role_name(role) != "SERVICE"]
    assert [role_named(role_name(role)) for role in callers] == callers
    assert len(callers) == 8


def test_generated_keys_are_for_their_owner_and_stay(tmp_path: Path) -> None:
    files = generate_keys(tmp_path / "keys")
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    contents = [file.read_bytes() for file in files]
    assert generate_keys(tmp_path / "keys") == files
    assert [file.read_bytes() for file in files] == contents
    assert sorted(file.name for file in (tmp_path / "keys").iterdir()) == sorted(file.name for file in files)
    token = make_token(load_private_key(files.private), "p-wang", ["ARBITER", "CHIEF"], ["g1"], ["T1"], 60)
    assert Verifier(load_public_keys(files.public)).verify(token) == WHOLE


def test_a_public_key_that_is_missing_is_made_from_the_private_one(tmp_path: Path) -> None:
    files = generate_keys(tmp_path)
    before = files.public.read_bytes()
    files.public.unlink()
    generate_keys(tmp_path)
    assert files.public.read_bytes() == before


def pem(key: Any) -> bytes:
    return key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def test_a_file_may_hold_several_public_keys(tmp_path: Path) -> None:
    old, new = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    file = tmp_path / "keys.pem"
    file.write_bytes(b"# until May\n" + pem(old) + b"\n# from May on\n" + pem(new))
    assert [key_id(key) for key in load_public_keys(file)] == [key_id(key.public_key()) for key in (old, new)]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "cannot be read"),
        (b"", "no public key"),
        (b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "key 1 is no Ed25519 public key"),
        (pem(KEY) + pem(generate_private_key(SECP256R1())), "key 2 is no Ed25519 public key"),
    ],
)
def test_a_file_without_good_public_keys_is_named(tmp_path: Path, content: bytes | None, reason: str) -> None:
    file = tmp_path / "keys.pem"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(KeyFileError, match=reason) as caught:
        load_public_keys(file)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("protection", [b"", b"password"])
def test_a_file_without_a_good_private_key_is_named(tmp_path: Path, protection: bytes) -> None:
    file = tmp_path / "key.pem"
    if protection:
        how = serialization.BestAvailableEncryption(protection)
        file.write_bytes(KEY.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, how))
    else:
        file.write_bytes(b"nothing of the kind")
    with pytest.raises(KeyFileError, match="no Ed25519 private key") as caught:
        load_private_key(file)
    assert str(file) in str(caught.value)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(KeyFileError, match="choose another folder"):
        generate_keys(tmp_path / "file" / "keys")
