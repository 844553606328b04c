"""A ruling that supersedes another (CN2002 16.4, rules 0.6): the game is judged again, both stay in the record."""

from __future__ import annotations

import pytest
from support.boards import play_on_wall
from support.events import actor
from support.play import Play, refereed, timed

from caipan.rules.checkpoint import load, save
from caipan.v1 import facts_pb2 as facts
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.common_pb2 import Actor
from caipan.v1.regulations_pb2 import RULING_MODE_AUTO_FIXED, ClauseRole, Regulations

OFFICIALS = [("arbiter", "ARBITER"), ("chief", "CHIEF")]

DOUBLE = "B Q16, W D4, B Q3, B D17"


def instead(play: Play, option: str, of: str, clause: str = "", role: str = "CHIEF", **said: object) -> Play:
    fact = rl.RulingDecided(option=option, clause=clause, supersedes=of, role=f"ROLE_{role}", reason="wrong", **said)
    return play.say(fact, source="tablet", by=actor(role))


def warned() -> Play:
    return refereed().moves(DOUBLE).rule("VOID_AND_WARN")  # e6, on case 5


def test_a_superseded_warning_is_gone_and_both_rulings_stay_in_the_record() -> None:
    play = instead(warned(), "DISMISS", "e6", case_id="5")
    assert (play.status, play.warnings, play.provisional) == ("FOLDED", (0, 0), ["D17"])
    assert [(revision.seq, revision.before.effects != revision.after.effects) for revision in play.verdict.revised] == [
        (6, True)
    ]
    assert play.cases == ["DECIDED"]
    assert play.verdict.cases[0].option == "DISMISS"
    assert play.drawn() == play.stones()
    assert [verdict.seq for verdict in play.verdicts] == list(range(1, 8))


def test_only_the_chief_supersedes() -> None:
    play = instead(warned(), "DISMISS", "e6", role="ARBITER", case_id="5")
    assert (play.status, play.warnings) == ("REFUSED", (1, 0))
    assert play.reason == "role: needs CHIEF, not ARBITER"


def test_superseding_twice_and_back_is_as_never() -> None:
    never, play = warned(), warned()
    instead(play, "DISMISS", "e6", case_id="5")
    instead(play, "VOID_AND_WARN", "e7", case_id="5")
    assert (play.digest, play.warnings) == (never.digest, (1, 0))


def test_a_ruling_that_fits_what_followed_is_judged_from_its_place_on() -> None:
    play = instead(warned().moves("W C14, B C3"), "DISMISS", "e6", case_id="5")
    assert (play.status, play.at("D17"), play.number, play.turn) == ("FOLDED", "X", 6, "W")
    assert play.drawn() == play.stones()


def test_a_ruling_that_no_longer_fits_what_followed_is_refused_with_the_place() -> None:
    play = warned().moves("W D17, B C3")
    before = play.digest
    instead(play, "DISMISS", "e6", case_id="5")  # Black's stone would lie on D17 still
    assert (play.status, play.verdict.diverges_at, play.digest) == ("REFUSED", 7, before)


def test_from_here_takes_the_penalty_back_and_leaves_the_board() -> None:
    play = warned().moves("W C14, B C3")
    board = play.stones()
    instead(play, "DISMISS", "e6", from_here=True)
    assert (play.status, play.warnings, play.stones()) == ("FOLDED", (0, 0), board)
    assert play.again()[1] == play.outcomes


def test_a_loss_superseded_from_here_lets_the_game_go_on() -> None:
    play = refereed().conduct("W", "PHONE_LOOK").rule("LOSS", role="ARBITER").stone("B", "Q16")
    assert (play.phase, play.found) == ("ENDED", ["CN2002 21.3 AFTER_END"])
    instead(play, "DISMISS", "e3", from_here=True)
    assert (play.status, play.phase, play.verdict.HasField("result")) == ("FOLDED", "PLAY", False)
    assert play.stone("B", "Q16").found == []


def test_a_loss_in_the_place_of_a_warning_no_longer_fits_the_moves_that_followed() -> None:
    play = refereed().conduct("W", "OTHER").rule("WARN").moves("B Q16, W D4")
    before = play.digest
    instead(play, "LOSS", "e3", case_id="2")
    assert (play.status, play.verdict.diverges_at, play.digest) == ("REFUSED", 4, before)
    assert play.reason.startswith("what happened at outcome 4 no longer fits")


def test_a_ruling_that_was_refused_cannot_be_superseded() -> None:
    play = refereed().moves(DOUBLE).rule("LOSS")
    instead(play, "DISMISS", "e6", case_id="5")
    assert (play.status, play.reason) == ("REFUSED", "supersedes: no ruling 'e6' is in force in this game")


def test_an_option_that_was_not_listed_then_is_refused() -> None:
    play = instead(warned(), "LOSS", "e6", case_id="5")
    assert (play.status, play.reason) == ("REFUSED", "option: 'LOSS' is not listed here; VOID_AND_WARN, DISMISS")


@pytest.mark.parametrize("at", range(3, 12))
def test_a_restart_at_any_point_changes_nothing(at: int) -> None:
    play = warned().moves("W C14")
    instead(play, "DISMISS", "e6", case_id="5")
    play.moves("B C3, W Q4").retract("e7")
    instead(play, "VOID_AND_WARN", "e8", case_id="5")
    from support.play import fold

    from caipan.rules.game import Game

    game, past = Game("game", 0), []
    for number, record in enumerate(play.log):
        if number == at:
            game = load(save(game))
        fold(game, *record, past)
        past.append(record)
    assert (game.head, game.digest) == (play.game.head, play.digest)


def test_a_case_that_rests_only_on_a_corrected_record_closes_as_record_error() -> None:
    play = refereed().moves(DOUBLE).retract("e5")
    assert play.cases == ["RECORD_ERROR"]
    assert play.game.table.cases == {}


# Who may, and what is in force


def test_only_the_ruling_in_force_is_superseded() -> None:
    play = instead(warned(), "DISMISS", "e6", case_id="5")
    instead(play, "VOID_AND_WARN", "e6", case_id="5")
    assert (play.status, play.verdict.decided_by, play.warnings) == ("REFUSED", "e7", (0, 0))
    assert play.reason == "supersedes: 'e6' was superseded by 'e7': name that ruling"
    assert instead(play, "VOID_AND_WARN", "e7", case_id="5").warnings == (1, 0)


@pytest.mark.parametrize("by", [actor("ARBITER"), actor("RECORDER", "nobody"), actor("CHIEF")])
def test_a_ruling_is_not_taken_back_by_a_correction_of_the_record(by: Actor) -> None:
    play = instead(warned(), "DISMISS", "e6", case_id="5")
    play.retract("e7", source="tablet", by=by)
    assert (play.status, play.warnings) == ("REFUSED", (0, 0))
    assert play.reason == "'e7' is a ruling: another one supersedes it"


def test_a_chief_appointed_after_the_ruling_supersedes_it() -> None:
    play = Play(officials=[("arbiter", "ARBITER")]).moves(DOUBLE).rule("VOID_AND_WARN")
    play.say(facts.OfficialAppointed(person="chief", role="ROLE_CHIEF"), source="desk", by=actor("COMMITTEE"))
    assert instead(play, "DISMISS", "e6", case_id="5").warnings == (0, 0)


def test_the_role_that_the_option_needs_is_one_held_now() -> None:
    play = refereed(required_role=[ClauseRole(clause="CN2002 17.2", role="ROLE_COMMITTEE")]).moves(DOUBLE)
    play.say(rl.RulingDecided(case_id="5", option="DISMISS", role="ROLE_CHIEF"), source="tablet", by=actor("CHIEF"))
    assert play.reason.startswith("role: needs COMMITTEE")


def test_what_the_service_ruled_by_itself_is_superseded_like_any_ruling() -> None:
    play = refereed(ruling_mode=RULING_MODE_AUTO_FIXED).moves(DOUBLE)
    assert (play.warnings, play.verdict.cases[0].automatic) == ((1, 0), True)
    instead(play, "DISMISS", "e5", case_id="5")
    assert (play.status, play.warnings, play.provisional) == ("FOLDED", (0, 0), ["D17"])
    assert play.verdict.cases[0].decided_by == "e6"
    never = refereed(ruling_mode=RULING_MODE_AUTO_FIXED).moves(DOUBLE)
    assert instead(play, "VOID_AND_WARN", "e6", case_id="5").digest == never.digest
    assert play.again()[1] == play.outcomes
    play.game = load(save(play.game))
    assert play.stone("W", "C14").found == []


def test_what_the_players_agreed_on_is_superseded_like_any_ruling() -> None:
    play = refereed().stone("B", "E7", manner="DROPPED").consent("W")
    assert (play.cases, play.at("E7")) == (["DECIDED"], ".")
    instead(play, "DISMISS", "e3", case_id="2")
    assert (play.status, play.provisional) == ("FOLDED", ["E7"])


def test_the_way_back_fits_where_it_fitted_before() -> None:
    play = refereed().conduct("W", "PHONE_LOOK").rule("LOSS").stone("B", "Q16")
    never = play.digest
    instead(play, "DISMISS", "e3", case_id="2")
    assert (play.found, play.phase) == ([], "PLAY")
    instead(play, "LOSS", "e5", case_id="2")
    assert (play.status, play.digest) == ("FOLDED", never)


# From here


def test_a_result_taken_back_from_here_leaves_the_pause_and_the_end_of_play_as_they_were() -> None:
    play = timed("ABSOLUTE", "1:00:00").moves("B C3, W G7").mark("PAUSE").conduct("W", "PHONE_LOOK").rule("LOSS")
    instead(play, "DISMISS", play.last_id, from_here=True)
    assert (play.phase, play.running) == ("PAUSED", "")
    play = refereed(9).moves("B C3, W G7, B pass, W pass").rule("LOSS", "CN2002 23.3", case="", against=2)
    instead(play, "DISMISS", play.last_id, from_here=True)
    assert (play.phase, play.stone("B", "D4").found) == ("DEAD_STONES", ["CN2002 21.3 AFTER_END"])


def test_kba2024_17_a_warning_made_of_cautions_goes_with_the_first_of_them() -> None:
    play = refereed(edition="KBA2024").rule("ADMONISH", "KBA2024 17", case="", against=2)
    first = play.last_id
    assert play.rule("ADMONISH", "KBA2024 17", case="", against=2).warnings == (0, 1)
    instead(play, "DISMISS", first, "KBA2024 17", against=2, from_here=True)
    assert [(count.admonitions, count.warnings) for count in play.verdict.penalties] == [(1, 0)]
    assert play.rule("ADMONISH", "KBA2024 17", case="", against=2).warnings == (0, 1)


def test_cn2002_12_4_4_points_given_by_a_ruling_go_with_it() -> None:
    rest = rl.Effect(assign_points=rl.AssignPoints(points=["K1"], side=1))
    play = play_on_wall(14, "DAME", officials=OFFICIALS)
    play.rule("ASSIGN_REST", "CN2002 12.4(4)", case="", role="CHIEF", effects=[rest])
    ruling = play.last_id
    assert play.end().result.margin_qz == 3
    instead(play, "DISMISS", ruling, from_here=True)
    assert play.result.margin_qz == play_on_wall(14, "DAME").end().result.margin_qz


# What stood before, and what stood beside it


def test_a_ruling_in_the_place_of_one_that_was_from_here_takes_back_what_that_one_took_back() -> None:
    play = refereed().stone("B", "Q16").conduct("B", "OTHER").rule("WARN")
    instead(play, "DISMISS", "e4", from_here=True)
    instead(play, "WARN", "e5")
    assert (play.status, play.warnings, len(play.game.table.closed)) == ("FOLDED", (1, 0), 1)


def test_a_ruling_that_names_no_case_is_on_the_case_of_the_one_it_supersedes() -> None:
    play = instead(warned(), "DISMISS", "e6", "CN2002 17.2")
    assert (play.warnings, list(play.game.table.cases)) == ((0, 0), [])
    own = refereed().rule("WARN", "CN2002 23.3", case="", against=1)
    assert instead(own, "LOSS", "e2").result.kind == rl.RESULT_KIND_W_WIN


@pytest.mark.parametrize("from_here", [False, True])
def test_a_result_that_a_ruling_overruled_stands_again_without_it(from_here: bool) -> None:
    play = refereed().stone("B", "Q16").conduct("W", "OTHER").resign("B").rule("LOSS")
    assert play.result.kind == rl.RESULT_KIND_B_WIN
    instead(play, "DISMISS", "e5", case_id="3", from_here=from_here)
    assert (play.result.kind, play.result.clause, play.phase) == (rl.RESULT_KIND_W_WIN, "CN2002 7.2", "ENDED")


def test_of_two_losses_the_second_stands_when_the_first_is_superseded_and_none_when_both_are() -> None:
    play = refereed().conduct("B", "OTHER").conduct("W", "OTHER").rule("LOSS", case="2").rule("LOSS", case="3")
    instead(play, "DISMISS", "e4", from_here=True)
    assert play.result.kind == rl.RESULT_KIND_B_WIN
    instead(play, "DISMISS", "e5", from_here=True)
    assert (play.verdict.HasField("result"), play.phase) == (False, "PLAY")


def forbidden_beside_captures(**how: object) -> Play:
    """White's stone shows that Black's captures were left, and is forbidden itself: two rulings of the service."""
    stones = {"black": ["C4", "E4", "D3", "B1", "A2"], "white": ["D4"]}
    play = refereed(9, observed=["CAPTURES"], ruling_mode=RULING_MODE_AUTO_FIXED, **stones, **how)
    return play.stone("B", "D5").stone("W", "A1")


@pytest.mark.parametrize("from_here", [False, True])
@pytest.mark.parametrize(("case_id", "left"), [("3", [(2, 3)]), ("3b", [(1, 1)])])
def test_of_two_rulings_of_the_service_on_one_act_the_named_one_is_superseded(
    case_id: str, left: list[tuple[int, int]], from_here: bool
) -> None:
    play = forbidden_beside_captures()
    assert [(penalty.side, penalty.kind) for penalty in play.game.table.ledger.penalties] == [(1, 1), (2, 3)]
    instead(play, "DISMISS", "e3", case_id=case_id, from_here=from_here)
    assert play.status == "FOLDED"
    assert [(penalty.side, penalty.kind) for penalty in play.game.table.ledger.penalties] == left


def test_what_the_service_ruled_on_a_missed_fact_is_superseded_by_the_name_of_its_correction() -> None:
    play = refereed(ruling_mode=RULING_MODE_AUTO_FIXED).moves("B Q16, W D4, B Q3")
    play.insert_after("e4", facts.StonePlaced(point="D17"), "B", id="i1", source="tablet", by=actor("ARBITER"))
    assert (play.warnings, play.verdict.cases[0].decided_by) == ((1, 0), "i1")
    assert instead(play, "DISMISS", "i1").warnings == (0, 0)


def test_cautions_of_others_are_not_counted_again_by_later_regulations() -> None:
    play = refereed(edition="KBA2024").conduct("B", "OTHER").rule("WARN")
    first = play.last_id
    for _ in range(2):
        play.rule("ADMONISH", "KBA2024 17", case="", against=2)
    off = facts.RegulationsAdopted(changes=Regulations(caution_conversion=False))
    play.say(off, source="desk", by=actor("CHIEF"))
    instead(play, "DISMISS", first, from_here=True)
    assert (play.status, play.warnings) == ("FOLDED", (0, 1))


@pytest.mark.parametrize("is_decided", [False, True])
def test_the_case_of_two_players_at_the_limit_falls_with_the_warning_that_brought_it(is_decided: bool) -> None:
    warn_both = [rl.Effect(warn=rl.Warn(player=1)), rl.Effect(warn=rl.Warn(player=2))]
    play = refereed()
    for _ in range(2):
        play.rule("OTHER", "CN2002 30.6", case="", role="CHIEF", effects=warn_both)
    second = play.last_id
    assert play.warnings == (2, 2)
    if is_decided:
        assert play.rule("BOTH_LOSE", role="CHIEF").result.kind == rl.RESULT_KIND_BOTH_LOSE
    instead(play, "DISMISS", second, from_here=True)
    assert (play.status, play.warnings, play.phase) == ("FOLDED", (1, 1), "PLAY")
    assert (list(play.game.table.cases), play.verdict.HasField("result")) == ([], False)


def test_from_here_after_the_persons_changed_seats_is_about_the_person() -> None:
    play = refereed(players=["li", "wang"], colours=("li", "wang")).stone("B", "Q16").conduct("B", "OTHER").rule("WARN")
    ruling = play.last_id
    play.claim("W", "17.1").rule("SWAP_PLAYERS")
    assert play.warnings == (0, 1)
    instead(play, "LOSS", ruling, from_here=True)
    assert (play.warnings, play.result.kind) == ((0, 0), rl.RESULT_KIND_B_WIN)


@pytest.mark.parametrize("is_both", [False, True])
def test_cn2002_24_2_who_has_too_many_warnings_still_loses_when_the_others_are_taken_back(is_both: bool) -> None:
    play = refereed().conduct("B", "OTHER").rule("WARN")
    first = play.last_id
    play.conduct("W", "OTHER").rule("WARN")
    if is_both:
        both = [rl.Effect(warn=rl.Warn(player=1)), rl.Effect(warn=rl.Warn(player=2))]
        play.rule("OTHER", "CN2002 30.6", case="", role="CHIEF", effects=both)
    else:
        play.conduct("B", "OTHER").rule("WARN").conduct("W", "OTHER").rule("WARN")
    assert play.warnings == (2, 2)
    instead(play, "DISMISS", first, from_here=True)
    assert (play.warnings, play.result.kind, play.result.clause) == ((1, 2), rl.RESULT_KIND_B_WIN, "CN2002 24.2")


def test_kba2024_17_cautions_count_as_the_regulations_had_it_when_they_were_given() -> None:
    play = refereed(edition="KBA2024")
    for number in range(5):
        play.rule("ADMONISH", "KBA2024 17", case="", against=2)
        if number == 1:
            off = facts.RegulationsAdopted(changes=Regulations(caution_conversion=False))
            play.say(off, source="desk", by=actor("CHIEF"))
    last = [event_id for event_id in play.log_ids() if event_id != play.last_id][-1]
    assert play.warnings == (0, 1)
    instead(play, "DISMISS", last, from_here=True)
    assert (play.status, play.warnings) == ("FOLDED", (0, 1))


def test_an_overruled_loss_by_warnings_does_not_come_back_with_too_few() -> None:
    play = refereed().conduct("B", "OTHER").rule("WARN")
    first = play.last_id
    play.conduct("W", "OTHER").conduct("B", "OTHER", at=play.now + 1000).rule("WARN").rule("LOSS")
    loss = play.last_id
    assert (play.warnings, play.result.kind) == ((2, 0), rl.RESULT_KIND_B_WIN)
    instead(play, "DISMISS", first, from_here=True)
    instead(play, "DISMISS", loss, from_here=True)
    assert (play.warnings, play.verdict.HasField("result"), play.phase) == ((1, 0), False, "PLAY")


def test_a_superseding_ruling_that_is_refused_tells_no_case() -> None:
    both = [rl.Effect(warn=rl.Warn(player=1)), rl.Effect(warn=rl.Warn(player=2))]
    play = refereed()
    for _ in range(2):
        play.rule("OTHER", "CN2002 30.6", case="", role="CHIEF", effects=both)
    second, before = play.last_id, play.digest
    instead(play, "NOTHING", second, from_here=True)
    assert (play.status, play.cases, play.digest) == ("REFUSED", [], before)


def test_both_rulings_of_the_service_on_one_act_are_superseded_one_after_the_other() -> None:
    play = forbidden_beside_captures()
    instead(play, "DISMISS", "e3", case_id="3")
    instead(play, "DISMISS", "e3", case_id="3b")
    assert (play.status, list(play.game.table.ledger.penalties)) == ("FOLDED", [])


def test_a_change_of_seats_superseded_by_another_is_one_change() -> None:
    play = refereed(players=["li", "wang"], colours=("li", "wang")).stone("B", "Q16").conduct("B", "OTHER").rule("WARN")
    play.claim("W", "17.1").rule("SWAP_PLAYERS")
    instead(play, "RESTART", play.last_id, from_here=True)
    assert (play.status, play.warnings, play.stones()) == ("FOLDED", (0, 1), {})


def test_a_loss_by_warnings_stands_when_a_ruling_on_the_other_player_is_taken_back() -> None:
    play = refereed().conduct("W", "OTHER").rule("WARN")
    other = play.last_id
    play.conduct("B", "OTHER").rule("WARN").conduct("B", "OTHER").rule("WARN")
    three = facts.RegulationsAdopted(changes=Regulations(warnings_to_lose=3))
    play.say(three, source="desk", by=actor("CHIEF"))
    instead(play, "DISMISS", other, from_here=True)
    assert (play.status, play.result.kind) == ("FOLDED", rl.RESULT_KIND_W_WIN)


def test_points_given_twice_are_the_firsts_again_when_the_second_ruling_is_taken_back() -> None:
    play = play_on_wall(14, "DAME", officials=OFFICIALS)
    for side in (1, 2):
        rest = rl.Effect(assign_points=rl.AssignPoints(points=["K1"], side=side))
        play.rule("ASSIGN_REST", "CN2002 12.4(4)", case="", role="CHIEF", effects=[rest])
    instead(play, "DISMISS", play.last_id, from_here=True)
    assert play.end().result.margin_qz == 3
