"""What holds for every log: repeats, order, interleaving, snapshots, corrections, conservation of stones."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from support import oracle
from support.events import found
from support.play import Play, arbiter, fold
from support.streams import SIZE, Act, acts, logs, make_observation, make_stone, openings, seeds, untimed_openings

from caipan.rules.board import Board
from caipan.rules.checkpoint import load, save
from caipan.rules.game import Game, Past, read_event
from caipan.v1 import facts_pb2 as facts
from caipan.v1.event_pb2 import Event
from caipan.v1.outcome_pb2 import STATUS_DUPLICATE, Outcome, Verdict

PARTITION, FIRST = 5, 7  # where the games of these tests stand in the log


def judged(log: list[bytes], cut: int | None = None, always: bool = False) -> tuple[Game, list[bytes]]:
    """The fold of a log and its records; ``cut``: the game goes through its snapshot there."""
    game, records, past = Game("game", PARTITION), [], []
    for offset, value in enumerate(log, start=FIRST):
        if offset - FIRST == cut:
            game = load(save(game))
        if always and isinstance(event := read_event(value, "game"), Event):
            answers = game.apply(event, value, offset, past)
        else:
            answers = fold(game, value, offset, past)
        records += [answer.record for answer in answers]
        past.append(Past(value, offset))
    return game, records


def played(line: list[Act], how: dict[str, Any], at: list[int] | None = None) -> Play:
    """A game whose events come in order, one source, ids f0, f1, ..."""
    play = Play(SIZE, **how)
    for number, (fact, player) in enumerate(line):
        play.say(fact, player, id=f"f{number}", at=at[number] if at else None)
    return play


# Snapshots


@given(st.data())
def test_prefix_and_snapshot_then_rest_is_all(data: st.DataObject) -> None:
    log = data.draw(logs())
    whole, records = judged(log)
    restored, again = judged(log, cut=data.draw(st.integers(0, len(log) - 1)))
    assert again == records
    assert (restored.head, restored.digest, save(restored)) == (whole.head, whole.digest, save(whole))
    assert (restored.partition, restored.first_offset) == (PARTITION, FIRST)


@given(logs())
def test_a_snapshot_of_a_snapshot_is_the_same(log: list[bytes]) -> None:
    game, _ = judged(log)
    assert save(load(save(game))) == save(game)


@given(logs())
def test_history_is_needed_only_where_the_fold_says_so(log: list[bytes]) -> None:
    assert judged(log)[1] == judged(log, always=True)[1]


# Repeats


@given(st.data())
def test_a_redelivery_adds_a_notice_and_changes_nothing(data: st.DataObject) -> None:
    log = data.draw(logs())
    first = data.draw(st.integers(0, len(log) - 1))
    again = data.draw(st.integers(first + 1, len(log)))
    assume(says_something_once(log, first))
    game, records = judged(log)
    repeated, more = judged([*log[:again], log[first], *log[again:]])
    assert (repeated.head, repeated.digest, repeated.seq) == (game.head, game.digest, game.seq)
    outcomes, others = [in_chain(records), in_chain(more)]
    assert outcomes == others
    notices = sum(Outcome.FromString(record).verdict.status == STATUS_DUPLICATE for record in more)
    assert notices == 1 + sum(Outcome.FromString(record).verdict.status == STATUS_DUPLICATE for record in records)


def says_something_once(log: list[bytes], place: int) -> bool:
    """Whether a record is an event whose id stands for no other value."""
    try:
        event = Event.FromString(log[place])
    except Exception:
        return False
    same = [value for value in log if value != b"" and event_id(value) == event.event_id]
    return bool(event.event_id) and event.game_id == "game" and set(same) == {log[place]}


def event_id(value: bytes) -> str | None:
    try:
        return Event.FromString(value).event_id
    except Exception:
        return None


def in_chain(records: list[bytes]) -> list[tuple[int, bytes]]:
    outcomes = [Outcome.FromString(record) for record in records]
    return [(outcome.verdict.seq, outcome.head) for outcome in outcomes if outcome.head]


@given(acts(), openings(), st.data())
def test_the_same_id_with_another_value_is_found_and_has_no_effect(
    line: list[Act], how: dict[str, Any], data: st.DataObject
) -> None:
    play = played(line, how)
    place = data.draw(st.integers(max(1, len(line) - 16), len(line)))
    other = Event.FromString(play.log[place].value)
    other.at_ms += data.draw(st.sampled_from([1, -1, 60_000]))
    before = play.digest, play.stones()
    play.send(other)
    assert play.found == ["REG order ID_CONFLICT"]
    assert (play.digest, play.stones()) == before


# Order


@given(acts(most=90), openings(), seeds)
def test_the_order_within_a_source_is_restored_over_31_places(line: list[Act], how: dict[str, Any], seed: int) -> None:
    play = Play(SIZE, **how)
    made = [play.make(fact, player, at=100 * number) for number, (fact, player) in enumerate(line)]
    straight = [each.SerializeToString() for each in made]
    random = Random(seed)
    shift = [random.randrange(32) for _ in straight]
    order = sorted(range(len(straight)), key=lambda place: (place + shift[place], place))
    opening = play.log[0].value
    in_order, _ = judged([opening, *straight])
    shuffled, _ = judged([opening, *(straight[place] for place in order)])
    assert (shuffled.digest, shuffled.head, shuffled.seq) == (in_order.digest, in_order.head, in_order.seq)


@given(logs(30), logs(30), seeds)
def test_the_interleaving_of_games_changes_nothing(one: list[bytes], other: list[bytes], seed: int) -> None:
    random = Random(seed)
    renamed = [value for value in (rename(value) for value in other) if value is not None]
    games = {"game": Game("game", 0), "other": Game("other", 0)}
    queues = {"game": list(one), "other": list(renamed)}
    pasts: dict[str, list[Past]] = {"game": [], "other": []}
    offset = 0
    while any(queues.values()):
        name = random.choice([name for name, queue in queues.items() if queue])
        value = queues[name].pop(0)
        fold(games[name], value, offset, pasts[name])
        pasts[name].append(Past(value, offset))
        offset += 1
    alone = Game("other", 0)
    past: list[Past] = []
    for place, value in enumerate(renamed):
        fold(alone, value, place, past)
        past.append(Past(value, place))
    assert games["game"].head == judged(one)[0].head
    assert games["other"].head == alone.head


def rename(value: bytes) -> bytes | None:
    try:
        event = Event.FromString(value)
    except Exception:
        return None
    event.game_id = "other"
    return event.SerializeToString()


@given(acts(), untimed_openings(), seeds)
def test_times_that_go_back_or_jump_are_findings_and_nothing_else(
    line: list[Act], how: dict[str, Any], seed: int
) -> None:
    random = Random(seed)
    times = [random.choice([0, 1, 1000, 50_000, 10**8, 10**10]) for _ in line]
    straight, odd = played(line, how), played(line, how, times)
    assert (odd.stones(), odd.turn, odd.number) == (straight.stones(), straight.turn, straight.number)
    assert [timeless(each) for each in odd.verdicts] == [timeless(each) for each in straight.verdicts]


def timeless(verdict: Verdict) -> list[str]:
    """The findings that do not rest on times: those on presses and lateness do."""
    return [kind for kind in found(verdict) if not any(about in kind for about in ("17.4", "22.1", "REG"))]


# Corrections: the history without the slip


def as_it_reads(play: Play) -> dict[str, Verdict]:
    """The verdicts on observations as they read after all corrections, seq and digest aside."""
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
        for case in verdict.cases:  # named by the seq at which it was opened
            case.ClearField("case_id")
            case.ClearField("revision")
    return read


def make_any(seed: int) -> Act:
    random = Random(seed)
    return random.choice([make_stone, make_observation])(random), random.choice("BW")


def check_corrected(play: Play, straight: Play, rest: list[Act], times: int) -> None:
    """Both go on with the same facts; then everything is the same."""
    assert play.status == "FOLDED"
    for number, (fact, player) in enumerate(rest):
        for each in (play, straight):
            each.say(fact, player, id=f"f{1000 + number}", at=times + 1000 * number)
    assert play.digest == straight.digest
    assert play.stones() == straight.stones() == play.drawn()
    assert as_it_reads(play) == as_it_reads(straight)


def timed(line: list[Act], how: dict[str, Any], without: int = -1) -> Play:
    play = Play(SIZE, **how)
    for number, (fact, player) in enumerate(line):
        if number != without:
            play.say(fact, player, id=f"f{number}", at=1000 * number)
    return play


@given(acts(), acts(6), openings(), st.data())
def test_a_retracted_record_leaves_the_history_without_it(
    line: list[Act], rest: list[Act], how: dict[str, Any], data: st.DataObject
) -> None:
    slip = data.draw(st.integers(0, len(line) - 1))
    play = timed(line, how).retract(f"f{slip}", at=1000 * len(line))
    check_corrected(play, timed(line, how, without=slip), rest, 1000 * len(line))


@given(acts(), acts(6), openings(), st.data())
def test_a_replaced_record_leaves_the_history_with_the_right_one(
    line: list[Act], rest: list[Act], how: dict[str, Any], data: st.DataObject
) -> None:
    slip = data.draw(st.integers(0, len(line) - 1))
    right = make_any(data.draw(seeds))
    play = timed(line, how).replace(f"f{slip}", *right, at=1000 * len(line))
    straight = timed([*line[:slip], right, *line[slip + 1 :]], how)
    check_corrected(play, straight, rest, 1000 * len(line))


@given(acts(), acts(6), openings(), st.data())
def test_a_missed_record_put_in_leaves_the_history_with_it(
    line: list[Act], rest: list[Act], how: dict[str, Any], data: st.DataObject
) -> None:
    before = data.draw(st.integers(0, len(line) - 1))
    fact, player = make_any(data.draw(seeds))
    play = timed(line, how).insert_after(f"f{before}", fact, player, id="fix", at=1000 * len(line))
    straight = Play(SIZE, **how)
    for number, (each, who) in enumerate(line):
        straight.say(each, who, id=f"f{number}", at=1000 * number)
        if number == before:
            straight.say(fact, player, id="fix", at=1000 * number)
    check_corrected(play, straight, rest, 1000 * len(line))


@given(acts(), openings(), st.data())
def test_several_corrections_leave_the_history_made_right(
    line: list[Act], how: dict[str, Any], data: st.DataObject
) -> None:
    """Retractions and replacements of different records, some taken back again."""
    play, right = timed(line, how), list(line)
    slips = data.draw(st.lists(st.integers(0, len(line) - 1), unique=True, min_size=1, max_size=4))
    for number, slip in enumerate(slips):
        kind = data.draw(st.sampled_from(["retract", "replace", "taken back"]))
        fact = make_any(data.draw(seeds))
        about = {"id": f"c{number}", "at": 1000 * len(line)}
        if kind == "replace":
            play.replace(f"f{slip}", *fact, **about)
            right[slip] = fact
        else:
            play.retract(f"f{slip}", **about)
            if kind == "retract":
                right[slip] = None
            else:
                play.retract(f"c{number}", at=1000 * len(line))
        assert play.status == "FOLDED"
    straight = Play(SIZE, **how)
    for number, act in enumerate(right):
        if act is not None:
            straight.say(act[0], act[1], id=f"f{number}", at=1000 * number)
    check_corrected(play, straight, [], 0)


@given(logs(), openings())
def test_the_state_is_always_that_of_the_whole_game_judged_again(log: list[bytes], how: dict[str, Any]) -> None:
    """A correction that changes nothing judges the game again, whatever came before; nothing is different then."""
    play = Play(SIZE, opening=False, **how)
    for value in log:
        play.send_bytes(value)
    if play.game.table is None:
        return
    before = play.digest, play.stones()
    play.say(facts.ClaimRaised(), id="claim", seq=0, at=play.now)
    play.retract("claim", id="fix", seq=0, source="tablet", by=arbiter("zhao"), at=play.now)
    assert play.status == "FOLDED"
    assert (play.digest, play.stones()) == before
    (claimed,) = [verdict.seq for verdict in play.verdicts if verdict.event_id == "claim"]
    assert [revision.seq for revision in play.verdict.revised] == [claimed]
    assert play.drawn() == play.stones()


# Stones


@given(acts(stones_only=True), openings())
def test_no_stone_is_ever_lost(line: list[Act], how: dict[str, Any]) -> None:
    play = Play(SIZE, **how)
    placed = len(play.stones())
    for fact, player in line:
        play.say(fact, player)
        placed += len(play.verdict.added_black) + len(play.verdict.added_white)
        assert placed == len(play.stones()) + sum(play.taken)


@given(logs())
def test_units_and_liberties_in_force_are_those_of_the_arrangement(log: list[bytes]) -> None:
    game, _ = judged(log)
    if game.table is None:
        return
    board, names = game.table.board, game.table.names
    assert board.key == Board.from_cells(board.size, board.cells()).key
    stones = {oracle.point(name): "XO"[cell - 1] for name, cell in zip(names, board.cells(), strict=True) if cell}
    for at in stones:
        members, free = oracle.unit(stones, at, board.size)
        index = game.table.indices[oracle.name(at)]
        unit = board.units[index]
        assert {names[stone] for stone in unit.stones} == {oracle.name(member) for member in members}
        assert board.liberties(index) == len(free)


@given(acts(), openings())
def test_areas_of_any_game_add_up_to_the_whole_board(line: list[Act], how: dict[str, Any]) -> None:
    play = played([*line, *[(facts.PassDeclared(), player) for player in "BWBW"]], how).dead("B").answer_dead("W")
    if play.verdict.HasField("result") and play.result.how == 1:
        assert play.result.black_qz + play.result.white_qz == 4 * SIZE * SIZE
        assert play.result.margin_qz == play.result.black_qz - play.result.komi_qz - 2 * SIZE * SIZE
