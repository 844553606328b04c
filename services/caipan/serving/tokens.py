"""Tokens: who calls, in which roles, and for which games. JSON Web Tokens (RFC 7519), signed with Ed25519 (RFC 8037).

Claims: ``sub`` the id of the person; ``roles`` names of ``caipan.v1.Role`` without ``ROLE_``; ``games`` and
``tournaments`` ids, ``"*"`` for all; ``iss`` "caipan"; ``iat`` and ``exp``. The header's ``kid`` is the thumbprint of
the key (RFC 7638). During a change of keys the file of public keys holds the old and the new one.
"""

from __future__ import annotations

import json
import os
import re
import time
from base64 import urlsafe_b64encode
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from caipan.serving.errors import ServiceError
from caipan.v1.common_pb2 import ROLE_SERVICE, ROLE_UNSPECIFIED, Role
from caipan.v1.errors_pb2 import ERROR_CODE_TOKEN_INVALID, ERROR_CODE_TOKEN_MISSING

ALL = "*"

_ALGORITHM = "EdDSA"
_ISSUER = "caipan"
_LEEWAY_S = 30  # between the clocks of issuer and service
_PERSON_MOST = 128  # characters, as in Actor.person
_GET_ANOTHER = "get a new token from whoever issues them (for development: caipan token)"
_PUBLIC_PEM = re.compile(rb"-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----", re.DOTALL)


class KeyFileError(Exception):
    """A file of keys that cannot be used; the message names it, what is wrong and what to do."""


class KeyFiles(NamedTuple):
    """The two files of a pair of keys."""

    private: Path
    public: Path


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom a token speaks for: the person, the roles held (at least one, the first is the usual one), and the ids of
    the games and tournaments it is good for (``ALL`` stands for every one)."""

    person: str
    roles: tuple[Role.ValueType, ...]
    games: frozenset[str]
    tournaments: frozenset[str]


class Verifier:
    """Knows callers by their tokens."""

    def __init__(self, keys: Collection[Ed25519PublicKey]) -> None:
        """``keys``: those by which tokens may be signed."""
        self._keys = {key_id(key): key for key in keys}

    def identify(self, metadata: Iterable[tuple[str, str | bytes]]) -> Identity:
        """Who calls, by the metadata of the call. Raises ServiceError TOKEN_MISSING or TOKEN_INVALID."""
        given = next((str(value) for key, value in metadata if key == "authorization"), "")
        scheme, _, token = given.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise ServiceError(
                ERROR_CODE_TOKEN_MISSING,
                "the call carries no token" if not given else "the metadata 'authorization' is no bearer token",
                "send metadata `authorization: Bearer <token>`",
                field="authorization",
            )
        return self.verify(token.strip())

    def verify(self, token: str) -> Identity:
        """Whom the token speaks for. Raises ServiceError TOKEN_INVALID."""
        try:
            key_name = jwt.get_unverified_header(token).get("kid")
            known = self._keys.get(key_name) if isinstance(key_name, str) else None
            return _identity(_claims(token, self._keys.values() if known is None else (known,)))
        except jwt.ExpiredSignatureError:
            raise _invalid(f"the token expired{_expiry(token)}") from None
        except jwt.ImmatureSignatureError:
            raise _invalid("the token is from the future", "set the clock of the issuer, or of this machine") from None
        except jwt.InvalidAlgorithmError:
            raise _invalid(f"the token is not signed with {_ALGORITHM}") from None
        except jwt.InvalidSignatureError:
            raise _invalid("the token is signed by a key that this service does not know") from None
        except jwt.InvalidTokenError as error:
            raise _invalid(f"the token cannot be read: {error}") from None


def speaks_for(token: str) -> Identity:
    """Whom a token says it speaks for; nobody has verified it. Raises ValueError."""
    try:
        return _identity(jwt.decode(token, options={"verify_signature": False}))
    except (jwt.InvalidTokenError, KeyError) as error:
        raise ValueError(f"the token cannot be read: {error}") from None


def make_token(
    private_key: Ed25519PrivateKey,
    person: str,
    roles: Collection[str],
    games: Collection[str],
    tournaments: Collection[str],
    valid_for_s: int,
) -> str:
    """A token for ``person``; ``roles`` as in ``role_named``, ``games`` and ``tournaments`` ids or ``ALL``.

    Raises ValueError for what no service would accept.
    """
    issued_s = int(time.time())
    claims = {
        "iss": _ISSUER,
        "sub": person,
        "roles": list(roles),
        "games": list(games),
        "tournaments": list(tournaments),
        "iat": issued_s,
        "exp": issued_s + valid_for_s,
    }
    try:
        _identity(claims)
    except jwt.InvalidTokenError as error:
        raise ValueError(str(error)) from None
    headers = {"kid": key_id(private_key.public_key())}
    return jwt.encode(claims, private_key, algorithm=_ALGORITHM, headers=headers)


def role_named(name: str) -> Role.ValueType:
    """The role of a name without ``ROLE_``, e.g. "ARBITER". Raises ValueError for a name that no caller can have."""
    role = dict(Role.items()).get(f"ROLE_{name}", ROLE_UNSPECIFIED)
    if role in (ROLE_UNSPECIFIED, ROLE_SERVICE):
        known = ", ".join(role_name(role) for role in Role.values() if role not in (ROLE_UNSPECIFIED, ROLE_SERVICE))
        raise ValueError(f"{name!r} is no role of a caller; the roles are {known}")
    return role


def role_name(role: Role.ValueType) -> str:
    """The name of a role without ``ROLE_``."""
    return Role.Name(role).removeprefix("ROLE_")


def generate_keys(folder: Path) -> KeyFiles:
    """The pair of keys in ``folder`` (made if need be), for development: a file that is there is left as it is.

    Only the owner may read the private key. Raises KeyFileError.
    """
    files = KeyFiles(folder / "token-key.pem", folder / "token-keys.pub.pem")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not files.private.exists():
            _write(files.private, _private_pem(Ed25519PrivateKey.generate()))
        if not files.public.exists():
            _write(files.public, _public_pem(load_private_key(files.private).public_key()))
    except OSError as error:
        raise KeyFileError(f"{folder}: keys cannot be written: {error.strerror}; choose another folder") from error
    return files


def load_private_key(path: Path) -> Ed25519PrivateKey:
    """The private key in a PEM file. Raises KeyFileError."""
    try:
        key = serialization.load_pem_private_key(_read(path), password=None)
    except (ValueError, TypeError):  # TypeError: it has a password
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(f"{path}: no Ed25519 private key in PEM without a password; name another file")
    return key


def load_public_keys(path: Path) -> list[Ed25519PublicKey]:
    """All public keys in a PEM file, at least one. Raises KeyFileError."""
    blocks = _PUBLIC_PEM.findall(_read(path))
    if not blocks:
        raise KeyFileError(f"{path}: no public key in PEM; put at least one there, or name another file")
    keys = []
    for number, block in enumerate(blocks, 1):
        try:
            key = serialization.load_pem_public_key(block)
        except ValueError:
            key = None
        if not isinstance(key, Ed25519PublicKey):
            raise KeyFileError(f"{path}: key {number} is no Ed25519 public key in PEM; replace it or take it out")
        keys.append(key)
    return keys


def key_id(key: Ed25519PublicKey) -> str:
    """The thumbprint of a key (RFC 7638), by which a token's ``kid`` names it."""
    raw = key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    canonical = json.dumps({"crv": "Ed25519", "kty": "OKP", "x": _base64url(raw)}, separators=(",", ":"))
    return _base64url(sha256(canonical.encode()).digest())


def _claims(token: str, keys: Iterable[Ed25519PublicKey]) -> dict[str, Any]:
    """The claims of a token signed by one of the keys. Raises jwt.InvalidTokenError."""
    options: Any = {"require": ["exp", "iat", "iss", "sub"]}
    for key in keys:
        try:
            return jwt.decode(token, key, [_ALGORITHM], options, issuer=_ISSUER, leeway=_LEEWAY_S)
        except jwt.InvalidSignatureError:
            continue
    raise jwt.InvalidSignatureError


def _identity(claims: Mapping[str, Any]) -> Identity:
    """Raises jwt.InvalidTokenError naming the claim at fault."""
    person = claims["sub"]
    if not 0 < len(person) <= _PERSON_MOST:
        raise jwt.InvalidTokenError(f"sub: a person has an id of 1 to {_PERSON_MOST} characters")
    names, games, tournaments = (_names(claims, claim) for claim in ("roles", "games", "tournaments"))
    if not names:
        raise jwt.InvalidTokenError("roles: at least one is needed")
    try:
        roles = tuple(role_named(name) for name in names)
    except ValueError as error:
        raise jwt.InvalidTokenError(f"roles: {error}") from None
    return Identity(person, roles, frozenset(games), frozenset(tournaments))


def _names(claims: Mapping[str, Any], claim: str) -> list[str]:
    names = claims.get(claim, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise jwt.InvalidTokenError(f"{claim}: a list of strings is needed")
    return names


def _invalid(reason: str, remedy: str = _GET_ANOTHER) -> ServiceError:
    return ServiceError(ERROR_CODE_TOKEN_INVALID, reason, remedy, field="authorization")


def _expiry(token: str) -> str:
    """When an expired token did so; for the message only, its signature was verified before."""
    expired_s = jwt.decode(token, options={"verify_signature": False})["exp"]
    try:
        return f" at {datetime.fromtimestamp(int(expired_s), UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError):
        return ""


def _base64url(value: bytes) -> str:
    return urlsafe_b64encode(value).rstrip(b"=").decode()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise KeyFileError(f"{path}: the key cannot be read: {error.strerror}; name another file") from error


def _write(path: Path, content: bytes) -> None:
    """Writes the file as a whole or not at all, for its owner only."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.unlink(missing_ok=True)  # left by a process of the same number that died here
    with open(unfinished, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(content)
    unfinished.replace(path)


def _private_pem(key: Ed25519PrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _public_pem(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
