"""Which token is good for which event, and which role may send it."""

from __future__ import annotations

import pytest

from caipan.gateway.permission import acting_role, check_event
from caipan.serving.errors import ServiceError
from caipan.serving.tokens import Identity, role_name, role_named
from caipan.v1.common_pb2 import ROLE_RECORDER
from caipan.v1.event_pb2 import Event

FACTS = [field.name for field in Event.DESCRIPTOR.oneofs_by_name["fact"].fields]
ROLES = ["PLAYER", "ARBITER", "CHIEF", "DEPUTY", "COMMITTEE", "RECORDER", "DEVICE", "BACKEND"]

ARBITERS = {"ARBITER", "DEPUTY", "CHIEF"}
AUTHORITY = {"CHIEF", "COMMITTEE", "BACKEND"}
ORGANISERS = set(ROLES) - {"PLAYER", "DEVICE"}
WHO_SENDS = {
    "game_opened": ORGANISERS - {"COMMITTEE"},
    "session_marked": ARBITERS,
    "ruling_decided": ARBITERS | {"COMMITTEE"},
    "appeal_decided": {"COMMITTEE"},
    "official_appointed": AUTHORITY,
    "regulations_adopted": AUTHORITY,
    "event_regulated": AUTHORITY,
    "game_reported": set(),
    **dict.fromkeys(
        [
            "entrant_registered",
            "lineup_declared",
            "pairing_published",
            "round_opened",
            "round_closed",
            "result_entered",
            "entrant_withdrew",
            "playoff_scheduled",
        ],
        ORGANISERS,
    ),
}
# rules 7.1, and appeals
OF_PLAYERS = {
    "stone_placed", "stone_lifted", "stones_captured", "clock_pressed", "pass_declared", "game_resigned",
    "end_proposed", "end_answered", "dead_proposed", "dead_answered", "consent_given", "result_signed",
    "claim_raised", "presence_changed", "point_shown", "move_sealed", "appeal_raised",
}  # fmt: skip


def identity(games: list[str], tournaments: list[str], roles: list[str] | None = None) -> Identity:
    held = tuple(role_named(name) for name in roles or ["RECORDER"])
    return Identity("p", held, frozenset(games), frozenset(tournaments))


def event(fact: str, **fields: object) -> Event:
    made = Event(event_id="e", **{"game_id": "g1", **fields})
    getattr(made, fact).SetInParent()
    return made


def is_permitted(who: Identity, sent: Event, role: int = ROLE_RECORDER) -> bool:
    try:
        check_event(who, role, sent, "events[0]")
    except ServiceError:
        return False
    return True


@pytest.mark.parametrize("fact", FACTS)
def test_each_type_of_event_is_sent_by_its_roles_alone(fact: str) -> None:
    anywhere = identity(["*"], ["*"])
    allowed = {role for role in ROLES if is_permitted(anywhere, event(fact, player=1), role_named(role))}
    everybody = set(ROLES) if fact in OF_PLAYERS else set(ROLES) - {"PLAYER"}
    assert allowed == WHO_SENDS.get(fact, everybody)


@pytest.mark.parametrize("fact", sorted(OF_PLAYERS))
def test_a_player_names_the_seat_others_may_leave_it_out(fact: str) -> None:
    anywhere = identity(["*"], ["*"])
    assert not is_permitted(anywhere, event(fact), role_named("PLAYER"))
    assert is_permitted(anywhere, event(fact), role_named("ARBITER"))


@pytest.mark.parametrize(
    ("games", "tournaments", "good_for", "not_for"),
    [
        (["g1"], [], ["g1"], ["g2", "g1/x", "T1/b1", "*"]),
        (["*"], [], ["g1", "T1/b1"], []),
        ([], ["T1"], ["T1/b1", "T1/r1/b1"], ["T1", "T1b", "T10/b1", "T2/b1", "g1"]),
        ([], ["T1", "T2"], ["T1/b1", "T2/b1"], ["T3/b1"]),
        ([], ["*"], ["g1", "T1/b1"], []),
        ([], [], [], ["g1", "T1/b1", "*"]),
        (["g1"], ["T1"], ["g1", "T1/b1"], ["g2"]),
    ],
)
def test_a_token_is_good_for_what_it_lists(
    games: list[str], tournaments: list[str], good_for: list[str], not_for: list[str]
) -> None:
    who = identity(games, tournaments)
    asked = [*good_for, *not_for]
    assert [game for game in asked if is_permitted(who, event("source_synced", game_id=game))] == good_for


def test_a_token_for_games_is_no_token_for_a_tournament() -> None:
    def good(who: Identity, tournament: str) -> bool:
        return is_permitted(who, event("round_opened", tournament_id=tournament))

    assert good(identity([], ["T1"]), "T1")
    assert good(identity([], ["*"]), "T1")
    assert not good(identity([], ["T1"]), "T2")
    assert not good(identity(["*", "T1"], []), "T1")


@pytest.mark.parametrize(
    ("games", "tournaments", "game", "tournament", "permitted"),
    [
        (["g1"], [], "g1", "", True),
        (["g1"], ["T1"], "g1", "T1", True),
        (["g1"], [], "g1", "T1", False),
        (["*"], ["T2"], "g1", "T1", False),
        (["T1/b1"], [], "T1/b1", "T1", True),
        ([], ["T1"], "T1/b1", "T1", True),
        ([], ["T1"], "g1", "T1", False),
        ([], ["T1"], "T1/b1", "T2", False),
        ([], ["*"], "g1", "T1", True),
    ],
)
def test_a_game_is_opened_in_no_tournament_of_others(
    games: list[str], tournaments: list[str], game: str, tournament: str, permitted: bool
) -> None:
    opening = event("game_opened", game_id=game)
    opening.game_opened.tournament_id = tournament
    assert is_permitted(identity(games, tournaments), opening) == permitted


def test_a_call_acts_in_the_first_role_of_its_token_or_the_one_it_names() -> None:
    who = identity(["*"], [], ["RECORDER", "ARBITER"])
    assert role_name(acting_role(who, [])) == "RECORDER"
    assert role_name(acting_role(who, [("caipan-role", "ARBITER")])) == "ARBITER"
    for name in ("CHIEF", "SERVICE", "ROLE_ARBITER", "arbiter"):
        with pytest.raises(ServiceError) as caught:
            acting_role(who, [("caipan-role", name)])
        assert caught.value.detail.field == "caipan-role"
