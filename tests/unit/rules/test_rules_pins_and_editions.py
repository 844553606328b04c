"""What a game.opened pins of an edition."""

from __future__ import annotations

from typing import Any

import pytest
from support.events import opened

from caipan.rules.edition import edition, edition_ids
from caipan.rules.pins import FOLD_VERSION, RegulationsError, pin
from caipan.v1 import regulations_pb2 as reg
from caipan.v1.facts_pb2 import GameOpened


def asked(size: int = 0, black: tuple[str, ...] = (), **regulations: Any) -> GameOpened:
    return GameOpened(size=size, initial_black=black, regulations=reg.Regulations(**regulations))


def test_pins_carry_every_value_that_applies() -> None:
    pins = pin(asked(edition="CN2002", untimed=True))
    full = pins.regulations
    assert (full.edition, full.komi_qz, full.superko_mode) == ("CN2002", 15, reg.SUPERKO_MODE_POSITIONAL)
    assert (full.max_step_s, full.clock_skew_ms, full.retained_minutes, full.unit_s) == (21600, 0, 5, 60)
    assert (full.warning_qz, full.warnings_to_lose, full.ruling_mode) == (4, 2, reg.RULING_MODE_ARBITER)
    assert (full.repetition_policy, full.handicap_placement) == (
        reg.REPETITION_POLICY_FORBID,
        reg.HANDICAP_PLACEMENT_FIXED,
    )
    assert full.HasField("handicap")
    assert (pins.fold_version, pins.edition_digest) == (FOLD_VERSION, edition("CN2002").digest)


def test_what_the_caller_names_stands() -> None:
    full = pin(asked(edition="CN2002", untimed=True, komi_qz=0, superko_mode=3, max_step_s=60)).regulations
    assert (full.komi_qz, full.superko_mode, full.max_step_s) == (0, reg.SUPERKO_MODE_SIMPLE, 60)


def test_pinning_again_changes_nothing() -> None:
    once = asked(edition="CN2002", untimed=True, komi_qz=13)
    again = GameOpened()
    again.CopyFrom(once)
    again.regulations.CopyFrom(pin(once).regulations)
    assert pin(again) == pin(once)


def test_pins_of_a_caller_are_not_believed() -> None:
    made = opened()
    made.pins.regulations.komi_qz = 99
    assert pin(made).regulations.komi_qz == 15


@pytest.mark.parametrize("stones", [2, 3, 9])
def test_a_handicap_of_n_returns_n_half_zi(stones: int) -> None:
    points = ("D4", "Q16", "D16", "Q4", "K10", "D10", "Q10", "K4", "K16")[:stones]
    assert pin(asked(edition="CN2002", untimed=True, handicap=stones, black=points)).regulations.komi_qz == 2 * stones


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (asked(untimed=True), "regulations.edition"),
        (asked(edition="cn2002", untimed=True), "regulations.edition"),
        (asked(edition="CN1949", untimed=True), "regulations.edition"),
        (asked(edition="CN2002"), "regulations.regime"),
        (asked(edition="CN2002", untimed=False), "regulations.regime"),
        (asked(edition="CN2002", untimed=True, size=1), "size"),
        (asked(edition="CN2002", untimed=True, handicap=1), "regulations.handicap"),
        (asked(edition="CN2002", untimed=True, handicap=3, black=("D4", "Q16")), "initial_black"),
    ],
)
def test_what_cannot_be_pinned_is_named_with_a_remedy(wrong: GameOpened, field: str) -> None:
    with pytest.raises(RegulationsError) as error:
        pin(wrong)
    assert error.value.field == field
    assert error.value.reason
    assert error.value.remedy
    assert field in str(error.value)


def test_a_free_handicap_needs_no_stones_at_the_opening() -> None:
    full = pin(asked(edition="CN2002", untimed=True, handicap=3, handicap_placement=2)).regulations
    assert (full.handicap, full.komi_qz) == (3, 6)


def test_a_game_with_clocks_names_its_regime() -> None:
    assert pin(asked(edition="CN2002", regime=reg.REGIME_BYOYOMI, basic_time_s=7200)).regulations.basic_time_s == 7200


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("handicap", 2_000_000_000, "regulations.handicap"),
        ("regime", 1, "regulations.untimed"),
    ],
)
def test_what_cannot_be_pinned_is_told_by_its_field(field: str, value: int, named: str) -> None:
    regulations = reg.Regulations(edition="CN2002", untimed=True, **{field: value})
    with pytest.raises(RegulationsError) as told:
        pin(GameOpened(regulations=regulations))
    assert told.value.field == named


def test_an_enum_left_unspecified_takes_the_value_of_the_edition() -> None:
    regulations = reg.Regulations(edition="CN2002", untimed=True, superko_mode=0)
    assert pin(GameOpened(regulations=regulations)).regulations.superko_mode == 1


def test_one_person_cannot_have_both_colours() -> None:
    game = GameOpened(regulations=reg.Regulations(edition="CN2002", untimed=True))
    game.colours.black = game.colours.white = "li"
    with pytest.raises(RegulationsError, match="both"):
        pin(game)


@pytest.mark.parametrize("edition_id", edition_ids())
def test_every_edition_can_be_pinned(edition_id: str) -> None:
    once = pin(asked(edition=edition_id, untimed=True))
    assert once.edition_digest == edition(edition_id).digest
    assert pin(GameOpened(regulations=once.regulations)) == once


@pytest.mark.parametrize(("edition_id", "komi_qz"), [("CN1988S", 8), ("TERR65", 0), ("KBA2024", 0), ("ANCIENT", 8)])
def test_handicap_stones_are_paid_for_only_where_stones_count(edition_id: str, komi_qz: int) -> None:
    black = ("D4", "Q16", "D16", "Q4")
    assert pin(asked(edition=edition_id, untimed=True, handicap=4, black=black)).regulations.komi_qz == komi_qz


def test_opening_stones_of_an_edition_that_fit_the_board_no_longer_are_left_out() -> None:
    whole, small = (pin(asked(size, edition="ANCIENT", untimed=True)).regulations for size in (19, 13))
    assert (whole.zuozi, small.HasField("zuozi")) == ("B D4 Q16 W D16 Q4", False)
