"""Effects as a person enters them, and as they are told."""

from __future__ import annotations

import re

import pytest

from caipan.cli.effects import KINDS, effect_of, parse_effect
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.common_pb2 import COLOR_BLACK, COLOR_WHITE


@pytest.mark.parametrize(
    ("text", "effect", "told"),
    [
        ("warn player=B", rl.Effect(warn=rl.Warn(player=COLOR_BLACK)), "a warning for Black"),
        ("admonish player=white", rl.Effect(admonish=rl.Admonish(player=COLOR_WHITE)), "an admonition for White"),
        ("void_move ref=e5", rl.Effect(void_move=rl.VoidMove(ref="e5")), "a stone is void"),
        (
            "void_move ref=e5 point=D17",
            rl.Effect(void_move=rl.VoidMove(ref="e5", point="D17")),
            "the stone at D17 is void",
        ),
        (
            "pass player=B empty_move=yes",
            rl.Effect(**{"pass": rl.LoseTurn(player=COLOR_BLACK, empty_move=True)}),
            "Black loses the turn, as a pass",
        ),
        (
            "set_points remove=R5,R6 add_white=R4",
            rl.Effect(set_points=rl.SetPoints(remove=["R5", "R6"], add_white=["R4"])),
            "off R5 R6; White on R4",
        ),
        (
            "set_points as_after_move=0 remove_all=true",
            rl.Effect(set_points=rl.SetPoints(as_after_move=0, remove_all=True)),
            "the position after move 0; the board is cleared",
        ),
        ("set_turn color=w", rl.Effect(set_turn=rl.SetTurn(color=COLOR_WHITE)), "White is to move"),
        (
            "set_clock black_ms=1:02:03.5 minutes_left=4 side=B",
            rl.Effect(set_clock=rl.SetClock(black_ms=3_723_500, minutes_left=4, side=COLOR_BLACK)),
            "Black has used 1:02:03; 4 min left for Black",
        ),
        (
            "set_clock white_ms=12:30 count_s=20 side=W",
            rl.Effect(set_clock=rl.SetClock(white_ms=750_000, count_s=20, side=COLOR_WHITE)),
            "White has used 0:12:30; the count of White is at 20 s",
        ),
        (
            "clock run=stopped replaced=yes",
            rl.Effect(clock=rl.SetRunning(run=rl.SetRunning.RUN_STOPPED, replaced=True)),
            "another clock; running: stopped",
        ),
        (
            "set_colours black=li white=xu",
            rl.Effect(set_colours=rl.SetColours(black="li", white="xu")),
            "li has Black, xu White",
        ),
        ("result kind=B_WIN", rl.Effect(result=rl.SetResult(kind=rl.RESULT_KIND_B_WIN)), "the result is b win"),
        (
            "assign_points points=D4,D5 side=W",
            rl.Effect(assign_points=rl.AssignPoints(points=["D4", "D5"], side=COLOR_WHITE)),
            "D4 D5 are White's",
        ),
        (
            "permit what=LEAVE terms=HOLD",
            rl.Effect(permit=rl.Permit(what="LEAVE", terms="HOLD")),
            "permitted: leave, HOLD",
        ),
        (
            "sanction target=li kind=PRIZE_ONE_LOWER scope=all",
            rl.Effect(sanction=rl.Sanction(target="li", kind="PRIZE_ONE_LOWER", scope="all")),
            "prize one lower for li: all",
        ),
        ("dismiss", rl.Effect(dismiss=rl.Dismiss()), "nothing follows"),
    ],
)
def test_an_effect_is_read_and_told(text: str, effect: rl.Effect, told: str) -> None:
    assert parse_effect(text) == effect
    assert effect_of(effect) == told


def test_every_effect_can_be_entered() -> None:
    for kind in KINDS:
        assert parse_effect(kind).WhichOneof("effect") == kind


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" ", "'' is no effect; the effects are warn, admonish"),
        ("warm player=B", "'warm' is no effect"),
        ("warn B", "'B' in 'warn B': warn takes player=..."),
        ("dismiss all=yes", "dismiss takes nothing"),
        ("warn player=red", "player=red: one of BLACK, WHITE"),
        ("result kind=UNSPECIFIED", "kind=UNSPECIFIED: one of B_WIN, W_WIN"),
        ("set_clock black_ms=70", "'70' is no time used; write h:mm:ss"),
        ("set_points as_after_move=-1", "as_after_move=-1: a whole number"),
        ("set_points remove_all=perhaps", "remove_all=perhaps: yes or no"),
    ],
)
def test_what_is_no_effect_is_told_with_what_is(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        parse_effect(text)
