"""What holds for every game with disputes: refused rulings, penalties, restarts, corrections, stones."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.disputes import ARBITER, CHIEF, OFFICIALS, Step, disputes, take
from support.events import field_of
from support.play import Play
from support.streams import SIZE, make_message, make_observation, make_stone, seeds

from caipan.rules.board import Board
from caipan.rules.checkpoint import load, save
from caipan.rules.clauses import Counting
from caipan.rules.corrections import CORRECTABLE
from caipan.rules.results import OF_AREA
from caipan.v1 import facts_pb2 as facts
from caipan.v1 import outcome_pb2 as pb
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.outcome_pb2 import Verdict

Dispute = tuple[dict[str, Any], list[Step]]


def played(dispute: Dispute, without: int = -1) -> Play:
    how, steps = dispute
    play = Play(SIZE, **how)
    for number, step in enumerate(steps):
        if number != without:
            take(play, step, number)
    return play


@given(disputes())
def test_a_refused_or_stale_ruling_changes_no_state(dispute: Dispute) -> None:
    """But for the time that passes: the state is that after any event of the same time that does nothing."""
    how, steps = dispute
    play = Play(SIZE, **how)
    for number, step in enumerate(steps):
        before = save(play.game)
        take(play, step, number)
        if play.status in ("REFUSED", "STALE"):
            assert play.reason
            idle = Play(SIZE, opening=False)
            idle.game = load(before)
            idle.say(facts.LotDrawn(), id="idle", source="nobody", at=play.now)
            assert idle.status == "FOLDED"
            assert standing(play) == standing(idle)


def standing(play: Play) -> tuple[Any, ...]:
    revisions = {name: case.told.revision for name, case in play.game.table.cases.items()}
    penalties = [(penalty.side, penalty.kind, penalty.move) for penalty in play.game.table.ledger.penalties]
    return play.digest, play.stones(), penalties, revisions


@given(disputes())
def test_no_stone_is_lost_and_a_watcher_draws_the_board(dispute: Dispute) -> None:
    how, steps = dispute
    play = Play(SIZE, **how)
    for number, step in enumerate(steps):
        take(play, step, number)
        assert play.drawn() == play.stones()
    board = play.game.table.board
    assert board.key == Board.from_cells(board.size, board.cells()).key


@given(disputes())
def test_what_stands_against_a_side_is_what_was_imposed_and_told(dispute: Dispute) -> None:
    how, steps = dispute
    play = Play(SIZE, **how)
    warned = {1: 0, 2: 0}
    for number, step in enumerate(steps):
        take(play, step, number)
        for effect in play.verdict.effects:
            if effect.HasField("warn"):
                warned[effect.warn.player] += 1
    ledger = play.game.table.ledger
    if not any(penalty.kind == pb.Penalty.KIND_ADMONITION for penalty in ledger.penalties):
        assert tuple(warned.values()) == play.warnings
    for side in (1, 2):
        imposed = [penalty for penalty in ledger.penalties if penalty.side == side]
        assert ledger.warnings(side) == sum(penalty.kind == pb.Penalty.KIND_WARNING for penalty in imposed)
        assert ledger.warnings(side) == play.warnings[side - 1]


@given(disputes())
def test_areas_and_penalties_add_up(dispute: Dispute) -> None:
    play = played(dispute)
    play.end()
    result = play.verdict.result
    if result.how != pb.RESULT_HOW_COUNT:
        return
    table = play.game.table
    costs = {count.side: count for count in table.ledger.counts}
    black, white = costs.get(1, pb.PenaltyCount()), costs.get(2, pb.PenaltyCount())
    if table.counting in OF_AREA:
        assert result.black_qz + result.white_qz == 4 * SIZE**2
        against = 2 * SIZE**2
    else:
        against = result.white_qz
    handed_over = black.cost_qz - white.cost_qz
    if table.counting is Counting.TERRITORY:
        handed_over = 2 * (black.cost_points - white.cost_points)
    assert result.penalty_qz == handed_over
    tax = 4 * (result.black_groups - result.white_groups)
    assert result.margin_qz == result.black_qz - against - tax - result.komi_qz - result.penalty_qz


@given(disputes(), st.integers(1, 5))
def test_restarts_in_between_change_nothing(dispute: Dispute, every: int) -> None:
    how, steps = dispute
    whole, again = played(dispute), Play(SIZE, **how)
    for number, step in enumerate(steps):
        if number % every == 0:
            again.game = load(save(again.game))
        take(again, step, number)
    assert again.outcomes == whole.outcomes
    assert save(again.game) == save(whole.game)


@given(disputes())
def test_the_whole_log_judged_again_gives_the_same_bytes(dispute: Dispute) -> None:
    play = played(dispute)
    assert play.again()[1] == play.outcomes


@given(seeds)
def test_no_effect_that_parses_makes_it_raise(seed: int) -> None:
    """Colours that do not exist, points off the board, moves before the first: refused, or applied and well formed."""
    random = Random(seed)
    play = Play(SIZE, officials=OFFICIALS).moves("B A1, W B1, B B2, W D4, B D4")
    for number in range(6):
        effects = [make_message(random, rl.Effect) for _ in range(random.randint(1, 3))]
        clause = random.choice(["30.6", "12.4(4)", "17.5", "21.4", "23.1"])
        ruling = make_message(random, rl.RulingDecided)
        ruling.MergeFrom(rl.RulingDecided(clause=f"CN2002 {clause}", effects=effects))
        ruling.role, ruling.option = CHIEF.role, random.choice(ruled(play, clause))
        ruling.case_id = random.choice(["", "", *play.game.table.cases])
        before = standing(play)
        play.say(ruling, source="tablet", by=CHIEF, id=f"r{number}")
        assert play.status == "FOLDED" or standing(play) == before
        assert play.drawn() == play.stones()
        play.moves("B C3, W C2")
    assert save(load(save(play.game))) == save(play.game)


def ruled(play: Play, clause: str) -> list[str]:
    return [offer.name for offer in play.game.table.edition.clause(clause).options]


# Corrections: the history without the slip


def slips(steps: list[Step]) -> list[int]:
    """Which steps may be retracted: observations."""
    return [number for number, step in enumerate(steps) if field_of(step.fact) in CORRECTABLE]


def as_it_reads(play: Play) -> dict[str, Verdict]:
    """The verdicts as they read after all corrections; what goes by the seq, and digests, aside."""
    read = {verdict.event_id: verdict for verdict in play.verdicts}
    for verdict in play.verdicts:
        for revision in verdict.revised:
            if revision.HasField("after"):
                read[revision.after.event_id] = revision.after
            else:
                read.pop(revision.before.event_id)
    read = {name: verdict for name, verdict in read.items() if name.startswith("f")}
    for verdict in read.values():
        verdict.ClearField("state_digest")
        verdict.ClearField("seq")
        verdict.reason = verdict.reason.split(":")[0]
        for finding in verdict.findings:
            if finding.kind == pb.FINDING_KIND_NOT_ENTITLED:
                finding.ClearField("ref")  # of a consent: the case
        for case in verdict.cases:
            case.ClearField("case_id")
            case.ClearField("revision")
    return read


def check_corrected(play: Play, straight: Play) -> None:
    assert play.status == "FOLDED"
    assert (play.digest, play.stones()) == (straight.digest, straight.stones())
    assert play.drawn() == play.stones()
    assert as_it_reads(play) == as_it_reads(straight)


@given(disputes(), st.data())
def test_a_retracted_record_leaves_the_history_without_it(dispute: Dispute, data: st.DataObject) -> None:
    how, steps = dispute
    slip = data.draw(st.sampled_from(slips(steps) or [-1]))
    play = played((how, steps))
    if slip >= 0 and play.phase != "FINAL":
        play.retract(f"f{slip}", source="tablet", by=ARBITER, at=1000 * len(steps))
        check_corrected(play, played(dispute, without=slip))


@given(disputes(), seeds, st.data())
def test_a_replaced_record_leaves_the_history_with_the_right_one(
    dispute: Dispute, seed: int, data: st.DataObject
) -> None:
    how, steps = dispute
    slip = data.draw(st.sampled_from(slips(steps) or [-1]))
    play, random = played(dispute), Random(seed)
    if slip >= 0 and play.phase != "FINAL":
        fact, player = random.choice([make_stone, make_observation])(random), random.choice("BW")
        play.replace(f"f{slip}", fact, player, source="tablet", by=ARBITER, at=1000 * len(steps))
        right = steps[slip]._replace(fact=fact, player=player, case=None)
        check_corrected(play, played((how, [*steps[:slip], right, *steps[slip + 1 :]])))


@given(disputes(), seeds)
def test_superseding_and_back_is_as_never(dispute: Dispute, seed: int) -> None:
    random, play = Random(seed), played(dispute)
    decided = [case for case in play.game.table.closed if case.told.option]
    if not decided or play.phase == "FINAL":
        return
    decided_one = random.choice(decided)
    case, offers = decided_one.told, play.game.table.edition.clause(decided_one.key).options
    first = next((each for each in play.verdicts if each.event_id == case.decided_by and each.effects), None)
    fact = rl.RulingDecided(role="ROLE_CHIEF", supersedes=case.decided_by, case_id=case.case_id)
    fact.option = random.choice(offers).name
    play.say(fact, source="tablet", by=CHIEF, id="other", at=1000 * len(dispute[1]))
    if play.status == "FOLDED" and first is not None:
        back = rl.RulingDecided(role="ROLE_CHIEF", supersedes="other", case_id=case.case_id, option=case.option)
        back.clause = decided_one.key
        back.effects.extend(first.effects)
        play.say(back, source="tablet", by=CHIEF, id="back", at=1000 * len(dispute[1]))
        assert (play.status, play.reason) == ("FOLDED", "")
        idle = played(dispute).say(facts.LotDrawn(), id="idle", source="nobody", at=1000 * len(dispute[1]))
        assert play.digest == idle.digest
