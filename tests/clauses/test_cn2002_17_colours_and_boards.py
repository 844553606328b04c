"""CN2002 17.1, 17.5 and 17.6: wrong colours, moved stones, scattered boards, as they are ruled."""

from __future__ import annotations

import pytest
from support.boards import filled, play_on_wall
from support.play import Play, refereed

from caipan.v1 import rulings_pb2 as rl

OFFICIALS = [("arbiter", "ARBITER"), ("chief", "CHIEF")]
PERSONS = {"players": ["Li", "Wang"], "colours": ("Li", "Wang"), "officials": OFFICIALS}  # Li was assigned Black
AS_PLAYED = [rl.Effect(set_colours=rl.SetColours(black="Wang", white="Li"))]


def colours(play: Play) -> tuple[str, str]:
    return play.game.table.colours.black, play.game.table.colours.white


@pytest.mark.parametrize(("moves", "listed"), [(10, ["SWAP_PLAYERS", "RESTART", "KEEP"]), (11, ["KEEP"])])
def test_cn2002_17_1_wrong_colours_may_be_put_right_up_to_move_10(moves: int, listed: list[str]) -> None:
    play = filled(moves, **PERSONS).claim("W", "CN2002 17.1")
    assert play.options == {"CN2002 17.1": listed}


@pytest.mark.parametrize(("moves", "status"), [(10, "FOLDED"), (11, "REFUSED")])
def test_cn2002_17_1_an_arbiter_is_bound_to_move_10_too(moves: int, status: str) -> None:
    assert filled(moves, **PERSONS).rule("SWAP_PLAYERS", "CN2002 17.1", case="").status == status


def test_cn2002_17_1_passes_count_among_the_ten_moves() -> None:
    play = filled(9, **PERSONS).moves("W pass, B pass").claim("W", "CN2002 17.1")
    assert play.options == {"CN2002 17.1": ["KEEP"]}


def test_cn2002_17_1_swapped_the_board_stays_and_the_persons_have_their_colours() -> None:
    play = filled(6, **PERSONS)
    board = play.stones()
    play.claim("W", "CN2002 17.1").rule("SWAP_PLAYERS")
    assert (play.stones(), play.number, play.turn, play.warnings) == (board, 6, "B", (0, 0))
    assert (colours(play), play.verdict.colours.black) == (("Li", "Wang"), "Li")


def test_cn2002_17_1_claimed_at_move_10_it_may_be_ruled_later() -> None:
    play = filled(10, **PERSONS).claim("W", "CN2002 17.1").moves("B T1, W S1").rule("SWAP_PLAYERS")
    assert play.status == "FOLDED"


def test_cn2002_17_1_kept_after_move_10_the_result_goes_by_the_colours_actually_played() -> None:
    play = play_on_wall(14, **PERSONS)
    for row in range(1, 12):
        play.stone("BW"[1 - row % 2], f"{'AT'[1 - row % 2]}{row}")
    play.claim("W", "CN2002 17.1").rule("KEEP", effects=AS_PLAYED)
    assert (play.status, colours(play), play.number) == ("FOLDED", ("Wang", "Li"), 11)
    assert (play.opening.colours.black, play.opening.colours.white) == ("Li", "Wang")  # what pairing goes by
    play.end()
    assert (play.result.kind, play.result.margin_qz) == (rl.RESULT_KIND_B_WIN, 3)


def test_cn2002_17_1_kept_without_a_word_on_the_colours_they_stay_as_they_are() -> None:
    play = filled(3, **PERSONS).claim("W", "CN2002 17.1").rule("KEEP")
    assert (play.status, colours(play)) == ("FOLDED", ("Li", "Wang"))


def test_cn2002_17_5_a_stone_moved_on_purpose_loses_the_game_for_who_moved_it() -> None:
    play = refereed().moves("B D10, W Q4, B Q16, W D4").discrepancy("MOVED", ("D10", "D11"))
    assert play.rule("LOSS", "CN2002 17.5 deliberate").reason.startswith("role: needs CHIEF")
    play.rule("LOSS", "CN2002 17.5 deliberate", role="CHIEF")
    assert play.reason == "against: say which side it is about, COLOR_BLACK or COLOR_WHITE"
    play.rule("LOSS", "CN2002 17.5 deliberate", role="CHIEF", against=2)
    assert (play.status, play.result.kind, play.result.clause) == ("FOLDED", rl.RESULT_KIND_B_WIN, "CN2002 17.5")
    assert (play.cases, play.verdict.cases[0].side) == (["DECIDED"], 2)


@pytest.mark.parametrize(("option", "kind"), [("DRAW", 3), ("REPLAY", 6), ("BOTH_LOSE", 4)])
def test_cn2002_17_5_and_17_6_without_agreement_the_chief_may_end_the_game(option: str, kind: int) -> None:
    for seen in ("MOVED", "SCATTERED"):
        play = refereed().moves("B D10, W Q4").discrepancy(seen, cause="EXTERNAL").rule(option, role="CHIEF")
        assert (play.status, play.phase, play.result.kind) == ("FOLDED", "ENDED", kind)


def test_cn2002_17_5_players_who_agree_on_different_points_do_not_agree() -> None:
    play = refereed().moves("B D10, W Q4").discrepancy("MOVED", ("D10", "D11"))
    play.consent("B", proposal="D10").consent("W", proposal="D11")
    assert "AGREED_POINT" not in play.options["CN2002 17.5"]


def test_cn2002_17_6_who_scattered_the_board_is_a_finding_of_the_arbiter() -> None:
    play = filled(9, officials=OFFICIALS).discrepancy("SCATTERED")
    assert play.options == {"CN2002 17.6": ["DRAW", "REPLAY", "BOTH_LOSE", "DISMISS"]}
    play.rule("LOSS", "CN2002 17.6 own", against=2)
    assert (play.status, play.result.kind, play.result.clause) == ("FOLDED", rl.RESULT_KIND_B_WIN, "CN2002 17.6")


def test_cn2002_17_6_scattering_on_purpose_may_be_ruled_as_a_disturbance() -> None:
    play = filled(9, officials=OFFICIALS).discrepancy("SCATTERED", cause="WHITE").rule("WARN", "CN2002 23.3")
    assert (play.status, play.warnings, play.cases) == ("FOLDED", (0, 1), ["DECIDED"])


def test_a_case_is_decided_by_no_clause_that_it_does_not_point_to() -> None:
    play = refereed().moves("B D10, W Q4").discrepancy("MOVED", ("D10", "D11"))
    assert play.rule("WARN", "CN2002 23.7").reason == "clause: case 4 is about CN2002 17.5, not 'CN2002 23.7'"
