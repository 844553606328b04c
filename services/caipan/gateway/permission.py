"""What a token is good for, and what each role may send.

A token is good for the games and tournaments that it lists, and for every game of those tournaments: the games whose id
begins with the tournament's id and a slash ("T1/r3/b2" is a game of T1). Whoever names games otherwise lists them. A
game.opened may name only a tournament that the token is good for, or the one that the game's own id names.

A call acts in one role of its token: the first, or the one that the metadata `caipan-role` names. A PLAYER sends acts
of a player, with the seat. Which person has which seat, and which official which role in a game, only the fold knows:
a ruling by somebody who does not hold the role there is stored and REFUSED.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from caipan.serving.errors import ServiceError
from caipan.serving.tokens import ALL, Identity, role_name, role_named
from caipan.v1.common_pb2 import (
    ROLE_ARBITER,
    ROLE_BACKEND,
    ROLE_CHIEF,
    ROLE_COMMITTEE,
    ROLE_DEPUTY,
    ROLE_PLAYER,
    ROLE_RECORDER,
    Role,
)
from caipan.v1.errors_pb2 import ERROR_CODE_NOT_PERMITTED
from caipan.v1.event_pb2 import Event

Roles = tuple[Role.ValueType, ...]

ROLE_KEY = "caipan-role"

_ARBITERS: Roles = (ROLE_ARBITER, ROLE_DEPUTY, ROLE_CHIEF)
_AUTHORITY: Roles = (ROLE_CHIEF, ROLE_COMMITTEE, ROLE_BACKEND)
_ORGANISERS: Roles = (*_ARBITERS, ROLE_COMMITTEE, ROLE_BACKEND, ROLE_RECORDER)

PUT_PERSON = _ORGANISERS
ERASE_PERSON = _AUTHORITY
RETRY_QUARANTINED = (*_ARBITERS, ROLE_BACKEND)

# Types of events that need one of these roles; the others are facts that anybody with a role may report.
_NEEDED: Mapping[str, Roles] = {
    "game_opened": (*_ARBITERS, ROLE_BACKEND, ROLE_RECORDER),
    "session_marked": _ARBITERS,
    "ruling_decided": (*_ARBITERS, ROLE_COMMITTEE),
    "appeal_decided": (ROLE_COMMITTEE,),
    "official_appointed": _AUTHORITY,
    "regulations_adopted": _AUTHORITY,
    "event_regulated": _AUTHORITY,
    "entrant_registered": _ORGANISERS,
    "lineup_declared": _ORGANISERS,
    "pairing_published": _ORGANISERS,
    "round_opened": _ORGANISERS,
    "round_closed": _ORGANISERS,
    "game_reported": (),
    "result_entered": _ORGANISERS,
    "entrant_withdrew": _ORGANISERS,
    "playoff_scheduled": _ORGANISERS,
}
_ACTS_OF_A_PLAYER = frozenset(
    {
        "stone_placed",
        "stone_lifted",
        "stones_captured",
        "clock_pressed",
        "pass_declared",
        "game_resigned",
        "end_proposed",
        "end_answered",
        "dead_proposed",
        "dead_answered",
        "result_signed",
        "presence_changed",
        "point_shown",
        "move_sealed",
        "claim_raised",
        "appeal_raised",
        "consent_given",
    }
)


def acting_role(identity: Identity, metadata: Iterable[tuple[str, str | bytes]]) -> Role.ValueType:
    """The role in which a call acts. Raises ServiceError NOT_PERMITTED for one that the token has not."""
    name = next((str(value) for key, value in metadata if key == ROLE_KEY), "")
    if not name:
        return identity.roles[0]
    try:
        role = role_named(name)
    except ValueError as error:
        raise _refusal(str(error), "name a role of the token", ROLE_KEY) from None
    if role not in identity.roles:
        held = ", ".join(role_name(role) for role in identity.roles)
        raise _refusal(f"the token has not the role {name}, but {held}", "name a role of the token", ROLE_KEY)
    return role


def check_role(role: Role.ValueType, needed: Roles, what: str, field: str) -> None:
    """Raises ServiceError NOT_PERMITTED unless ``role`` is one of those ``needed`` for ``what``."""
    if role in needed:
        return
    names = ", ".join(role_name(role) for role in needed)
    raise _refusal(
        f"{what} needs one of the roles {names}; this call acts as {role_name(role)}",
        f"use a token with such a role; where it has several, choose with the metadata {ROLE_KEY}",
        field,
    )


def check_event(identity: Identity, role: Role.ValueType, event: Event, field: str) -> None:
    """Raises ServiceError NOT_PERMITTED unless the caller may send this event, which stands in ``field``."""
    _check_log(identity, event, field)
    fact = event.WhichOneof("fact") or ""
    needed = _NEEDED.get(fact)
    if needed == ():
        raise _refusal(f"{fact} is written by the service alone", "leave it out", f"{field}.{fact}")
    if needed is not None:
        check_role(role, needed, fact, f"{field}.{fact}")
    elif role == ROLE_PLAYER and fact not in _ACTS_OF_A_PLAYER:
        raise _refusal(f"{fact} is no act of a player", "let an arbiter or a recorder report it", f"{field}.{fact}")
    if role == ROLE_PLAYER and not event.player:
        raise _refusal("a PLAYER acts for the own seat", "say which: COLOR_BLACK or COLOR_WHITE", f"{field}.player")


def _check_log(identity: Identity, event: Event, field: str) -> None:
    """Raises ServiceError NOT_PERMITTED unless the token is good for the log of the event."""
    if event.HasField("tournament_id"):
        if not _covers(identity.tournaments, event.tournament_id):
            raise _foreign("tournament", event.tournament_id, f"{field}.tournament_id")
        return
    game = event.game_id
    own = any(game.startswith(f"{tournament}/") for tournament in identity.tournaments)
    if not own and not _covers(identity.games, game) and ALL not in identity.tournaments:
        raise _foreign("game", game, f"{field}.game_id")
    tournament = event.game_opened.tournament_id
    if tournament and not game.startswith(f"{tournament}/") and not _covers(identity.tournaments, tournament):
        raise _foreign("tournament", tournament, f"{field}.game_opened.tournament_id")


def _covers(listed: frozenset[str], wanted: str) -> bool:
    return wanted in listed or ALL in listed


def _foreign(kind: str, name: str, field: str) -> ServiceError:
    return _refusal(f"the token is not good for the {kind} {name!r}", "use one that lists it", field)


def _refusal(reason: str, remedy: str, field: str) -> ServiceError:
    return ServiceError(ERROR_CODE_NOT_PERMITTED, reason, remedy, field=field)
