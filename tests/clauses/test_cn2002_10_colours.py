"""CN2002 10: who has which colour."""

from __future__ import annotations

import pytest
from support.play import Play

from caipan.v1.facts_pb2 import Colours, LotDrawn


def guessing() -> Play:
    """Li holds the stones, Wang guesses."""
    return Play(players=["Li", "Wang"])


@pytest.mark.parametrize(
    ("held", "shown", "black"), [(7, 1, "Wang"), (6, 1, "Li"), (6, 2, "Wang"), (7, 2, "Li"), (1, 1, "Wang")]
)
def test_cn2002_10_2_the_guesser_is_black_who_said_odd_or_even_rightly(held: int, shown: int, black: str) -> None:
    play = guessing().lot("Li", shown, held)
    white = "Wang" if black == "Li" else "Li"
    assert (play.verdict.colours, play.found) == (Colours(black=black, white=white), [])


def test_cn2002_10_3_of_equals_the_holder_is_who_the_lot_says() -> None:
    assert guessing().lot("Wang", 1, 7).verdict.colours == Colours(black="Li", white="Wang")


def test_cn2002_10_1_colours_given_by_the_organisers_need_no_lot() -> None:
    play = Play(players=["Li", "Wang"], opening=False)
    play.opening.colours.CopyFrom(Colours(black="Li", white="Wang"))
    play.open()
    assert play.verdict.opened.colours == Colours(black="Li", white="Wang")
    play.lot("Li", 1, 7)
    assert (play.found, play.verdict.HasField("colours")) == (["CN2002 10.2 INVALID_LOT"], False)


def test_cn2002_10_2_a_second_lot_changes_nothing() -> None:
    play = guessing().lot("Li", 1, 7)
    before = play.digest
    assert play.lot("Li", 1, 6).found == ["CN2002 10.2 INVALID_LOT"]
    assert play.digest == before


@pytest.mark.parametrize(("holder", "shown"), [("Zhao", 1), ("Li", 0), ("Li", 3), ("", 1)])
def test_cn2002_10_2_a_lot_that_cannot_be_read_decides_nothing(holder: str, shown: int) -> None:
    play = guessing().lot(holder, shown, 7)
    assert (play.found, play.verdict.HasField("colours")) == (["CN2002 10.2 INVALID_LOT"], False)


def test_cn2002_10_2_a_lot_about_pairing_decides_no_colour() -> None:
    play = guessing().say(LotDrawn(purpose=LotDrawn.PURPOSE_PAIRING, holder="Li", shown=1, held=7))
    assert (play.found, play.verdict.HasField("colours")) == ([], False)


def test_cn2002_10_2_colours_are_part_of_the_state_in_force() -> None:
    assert guessing().lot("Li", 1, 7).digest != guessing().lot("Li", 1, 6).digest
