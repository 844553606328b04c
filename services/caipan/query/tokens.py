"""Page tokens and resume tokens: where to go on, with a check sum, so that a damaged one is told from a stale one."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

from caipan.serving.errors import ServiceError
from caipan.v1.errors_pb2 import ERROR_CODE_MALFORMED

_CHECK = 12  # hex digits
_RESUME = ("resume",)
_HALL = ("hall",)

# How far somebody has read: the next offset of each partition of game-outcomes, and a digest of the record before it.
HallPlaces = Mapping[int, tuple[int, str]]


class Position(NamedTuple):
    """An outcome of a game, as a resume token names it."""

    game: str  # digest of the game id, which may be too long for a token
    seq: int
    head: bytes


def page_token(place: str, *about: str) -> str:
    """A token for the page after ``place``, good for the list that ``about`` describes and for no other."""
    return _sum(place, about) + place


def page_place(token: str, *about: str) -> str:
    """The place in a page token. Raises ServiceError MALFORMED."""
    place = token[_CHECK:]
    if token[:_CHECK] != _sum(place, about):
        raise ServiceError(
            ERROR_CODE_MALFORMED,
            "the token is damaged, or of a list with other filters",
            "send next_page_token as it came, with the filters of the first page, or leave it out to begin again",
            "page_token",
        )
    return place


def page_seq(token: str, *about: str) -> int:
    """The seq in a page token. Raises ServiceError MALFORMED."""
    try:
        return _seq(page_place(token, *about))
    except ValueError:
        raise _damaged("page_token") from None


def resume_token(game_id: str, seq: int, head: bytes) -> str:
    """A token that goes on after this outcome."""
    place = f"{game_digest(game_id)}.{seq}.{head.hex()}"
    return _sum(place, _RESUME) + place


def resume_position(token: str) -> Position:
    """The outcome after which a resume token goes on. Raises ServiceError MALFORMED."""
    place = token[_CHECK:]
    if token[:_CHECK] != _sum(place, _RESUME):
        raise ServiceError(
            ERROR_CODE_MALFORMED,
            "the token is damaged",
            "send the last token as it came, or leave it out to begin with a snapshot",
            "resume_token",
        )
    try:
        game, seq, head = place.split(".")
        return Position(game, _seq(seq), bytes.fromhex(head))
    except ValueError:
        raise _damaged("resume_token") from None


def hall_token(places: HallPlaces, tournament_id: str) -> str:
    """A token that goes on after these places, for the cases of one tournament or of all."""
    place = "-".join(f"{partition}.{offset}.{digest}" for partition, (offset, digest) in sorted(places.items()))
    return _sum(place, (*_HALL, tournament_id)) + place


def hall_places(token: str, tournament_id: str) -> HallPlaces:
    """The places in the token of a hall. Raises ServiceError MALFORMED."""
    place = token[_CHECK:]
    if token[:_CHECK] != _sum(place, (*_HALL, tournament_id)):
        raise ServiceError(
            ERROR_CODE_MALFORMED,
            "the token is damaged, or of another tournament",
            "send the last token as it came, or leave it out to begin with the open cases",
            "resume_token",
        )
    parts = [part.split(".") for part in place.split("-") if part]
    return {int(partition): (int(offset), digest) for partition, offset, digest in parts}


def _seq(text: str) -> int:
    seq = int(text)
    if not 0 <= seq < 1 << 63:
        raise ValueError("no seq")
    return seq


def _damaged(field: str) -> ServiceError:
    return ServiceError(ERROR_CODE_MALFORMED, "the token is damaged", "send the last token as it came", field)


def game_digest(game_id: str) -> str:
    """Stands for a game in its resume tokens."""
    return sha256(game_id.encode()).hexdigest()[:16]


def _sum(place: str, about: tuple[str, ...]) -> str:
    parts = "".join(f"{len(part)}:{part}" for part in (place, *about))
    return sha256(parts.encode()).hexdigest()[:_CHECK]
