"""What facts do to the clocks, and overtime where a fact shows it (CN2002 12, 14.1, 22.5 to 22.9).

Where presses are observed, the press of the side whose clock runs hands the clock over, whatever its stone is worth;
elsewhere the clock follows the turn when a move is complete, so that under a provisional stone it runs on. A pass, a
proposal to end and a turn lost are complete at once. Overtime is found, never decided.
"""

from __future__ import annotations

from caipan.rules import absence
from caipan.rules.act import Act
from caipan.rules.clocks import ClockFace
from caipan.rules.clockwork import Clockwork, faces
from caipan.rules.gametime import bounded
from caipan.rules.history import PASS
from caipan.rules.officials import may_mark
from caipan.rules.points import BLACK, SEATS, WHITE, Colour, other
from caipan.rules.table import Provisional, Table
from caipan.v1 import outcome_pb2 as pb
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.checkpoint_pb2 import ReadingMemory
from caipan.v1.common_pb2 import COLOR_UNSPECIFIED
from caipan.v1.facts_pb2 import ClockExpired, ClockReading, SessionMarked

_START, _PAUSE, _RESUME = SessionMarked.MARK_START, SessionMarked.MARK_PAUSE, SessionMarked.MARK_RESUME

# A game whose start nobody marks begins with the first of these.
_PLAY = frozenset(
    (
        "stone_placed",
        "stone_lifted",
        "stones_captured",
        "clock_pressed",
        "clock_reading",
        "clock_expired",
        "count_announced",
        "pass_declared",
        "end_proposed",
        "move_sealed",
    )
)


def advance(table: Table, works: Clockwork, act: Act, now_ms: int) -> None:
    """Game time has come to an act: whose clock runs has used what has passed. START and RESUME charge nothing."""
    if works.is_playing and act.kind != "session_marked":
        works.advance(now_ms, True)
        return
    mark = SessionMarked.MARK_UNSPECIFIED
    if act.kind == "session_marked" and may_mark(table, act.event.by):
        mark = act.fact.mark
    works.advance(now_ms, not _is_free(table, works, mark, now_ms))
    if mark == _START and not table.began_ms and not table.history.length:
        for side in SEATS:
            works.set_used(side, 0)
        works.drop_move()
        works.is_started, works.is_playing = True, False
        works.begin_session()
    elif mark == _PAUSE and table.phase == pb.PHASE_PLAY:
        works.end_session()
    elif mark == _RESUME and table.phase == pb.PHASE_PAUSED:
        works.is_stopped = False
        works.begin_session()
    if not works.is_started and (mark == _START or act.kind in _PLAY):
        works.is_started = True
        works.begin_session()
    if works.is_started and not works.is_playing:
        _start_or_stop(table, works, act)


def _is_free(table: Table, works: Clockwork, mark: SessionMarked.Mark.ValueType, now_ms: int) -> bool:
    """Whether a mark charges no clock for the step to it: START and RESUME do not, be it days after a pause that nobody
    marked. Where play was going on already, the clock has run all the same."""
    if mark not in (_START, _RESUME):
        return False
    goes_on = table.phase != pb.PHASE_PAUSED if mark == _RESUME else table.began_ms != 0
    return not goes_on or now_ms - works.since_ms > table.regulations.max_step_s * 1000


def follow(table: Table, works: Clockwork, act: Act) -> None:
    """The clocks after an act has changed the table."""
    memory = works.memory
    if table.history.length != works.length or table.turn != works.turn:
        _follow_turn(table, works, act)
    elif memory.captures and not works.captures_left(table.due | table.left):
        _complete_move(table, works, act)
    elif works.presses and act.kind == "clock_pressed" and act.player == works.running:
        _press(table, works, act)
    elif works.is_playing and works.running != table.turn and _sets_board(act) and not (works.mover or memory.held):
        works.run(table.turn, table.away)
    if memory.leave or memory.held:
        _return(works, act)
    if works.is_playing != _is_playing(table, works):
        _start_or_stop(table, works, act)


def _sets_board(act: Act) -> bool:
    """Whether a ruling has set the board or the turn, and leaves the clock to follow it."""
    if act.extra is None or "effects" not in act.extra:
        return False
    names = {effect.WhichOneof("effect") for effect in act.extra["effects"]}
    return "clock" not in names and not names.isdisjoint(("void_move", "set_points", "set_turn", "pass"))


def faces_at(table: Table, at_ms: int) -> dict[Colour, ClockFace]:
    """What would be on the clocks at an instant if nothing happened until then; {} without clocks. Whoever has the
    verdict alone asks ``clockwork.faces``."""
    works = table.clockwork
    return faces(works.message(), works.system, at_ms) if works is not None else {}


def _is_playing(table: Table, works: Clockwork) -> bool:
    """Whether a clock may run: not in a pause, after the end, while a sealed move waits or a handicap is being set."""
    waits = table.sealed_by or table.handicap_left or works.is_stopped
    return works.is_started and table.phase == pb.PHASE_PLAY and not waits


def _start_or_stop(table: Table, works: Clockwork, act: Act) -> None:
    """Play goes on, and the clock of the side on turn runs; or it stops, and so does the time of the last move."""
    playing = _is_playing(table, works)
    if playing and not works.is_playing:
        works.run(table.turn, table.away)
    elif not playing and works.is_playing:
        _end_last_move(table, works, act)
        works.running = works.memory.held = COLOR_UNSPECIFIED
    works.is_playing = playing


def _follow_turn(table: Table, works: Clockwork, act: Act) -> None:
    """Moves were made or taken back, or the turn was set."""
    before, turn, grown = works.turn, table.turn, table.history.length - works.length
    works.turn, works.length = turn, table.history.length
    is_stone = act.kind == "stone_placed"
    if is_stone and grown > 0 and turn != before:
        _set_stone(table, works, act, before)
        return
    if works.mover:
        _end_last_move(table, works, act)
    if grown > 0:
        works.complete(before)
        if turn == before:  # a provisional stone was accepted by the move that follows it
            works.complete(other(before))
    if works.is_playing and not (is_stone and works.presses):
        works.run(turn, table.away)


def _set_stone(table: Table, works: Clockwork, act: Act, side: Colour) -> None:
    """The side on turn has made its move."""
    if works.mover and works.mover != side:  # the captures of the opponent are no matter any more
        _end_last_move(table, works, act)
    if side not in (works.running, works.mover):  # it has pressed before, or no clock runs
        works.complete(side)
        if works.is_playing and not works.presses:
            works.run(table.turn, table.away)
        return
    works.mover, works.is_done, works.stone = side, False, act.event_id
    if works.times_captures and table.due and table.due_from == side:
        works.await_captures(table.due)
    else:
        _complete_move(table, works, act)


def _complete_move(table: Table, works: Clockwork, act: Act) -> None:
    """The stone is set and its captures are off."""
    side, is_pressed = works.mover, works.running != works.mover
    if is_pressed or not works.ends_at_press:
        _end_move(table, works, act, side)
    if works.presses and not is_pressed:
        works.is_done = not works.ends_at_press
        return
    works.drop_move()
    if not works.presses and works.is_playing and table.turn != side:
        works.run(table.turn, table.away)


def _press(table: Table, works: Clockwork, act: Act) -> None:
    """The side whose clock runs has pressed. Its count goes on until its move is complete (22.6)."""
    side, memory = works.running, works.memory
    lies_open = any(stone.player == side for stone in table.provisional)
    is_complete = works.mover == side and not memory.captures
    owes_move = works.mover == side or (table.turn == side and not lies_open)
    if not is_complete and owes_move and works.is_counted(side):
        if works.mover != side:
            works.drop_move()
        works.mover = side
    elif works.mover == side:
        _end_last_move(table, works, act)
    else:
        _judge(table, works, act, side)
        works.drop_move()
    works.run(other(side), table.away)


def _end_last_move(table: Table, works: Clockwork, act: Act) -> None:
    """The time of the move that waits for its end is over."""
    if works.mover:
        if not works.is_done:
            _end_move(table, works, act, works.mover)
        works.drop_move()


def _end_move(table: Table, works: Clockwork, act: Act, side: Colour) -> None:
    _judge(table, works, act, side)
    works.complete(side)


def _judge(table: Table, works: Clockwork, act: Act, side: Colour) -> None:
    """Says whether the side has exceeded its limit, or used it up exactly (reading R41)."""
    if works.is_over(side):
        if find_overtime(table, works, act, side, works.over_ms(side)):
            leave_open(table, works, side)
    elif side in works.memory.found:
        if _is_open(table, works, side):
            leave_open(table, works, side)
    elif not works.system.left_ms(works.clocks[side]):
        act.find(works.overtime.id, pb.FINDING_KIND_BOUNDARY, side=side)


def find_overtime(table: Table, works: Clockwork, act: Act, side: Colour, over_ms: int) -> bool:
    """Overtime is found once. Returns whether nobody has decided it yet."""
    if works.find_overtime(side):
        act.find(works.overtime.id, pb.FINDING_KIND_OVERTIME, side=side, over_ms=over_ms)
        return True
    return _is_open(table, works, side)


def leave_open(table: Table, works: Clockwork, side: Colour) -> None:
    """A stone set after the time was over lies provisionally, where the clause may take it off again (22.5)."""
    history = table.history
    point, colour = history.last()
    if not works.takes_stone_off or point == PASS or table.turn == side:
        return
    if table.provisional or not works.stone or history.length in history.edits or table.phase > pb.PHASE_PAUSED:
        return
    captured = history.captures.get(history.length, ())
    table.history = history.until(history.length - 1)
    table.turn = works.turn = side
    table.provisional = (Provisional(point, colour, side, captured, table.board.key, True, works.stone),)
    works.length = table.history.length


def _is_open(table: Table, works: Clockwork, side: Colour) -> bool:
    return any(case.told.side == side and works.overtime.key in case.keys for case in table.cases.values())


def _return(works: Clockwork, act: Act) -> None:
    """A player who left with permission is back: the permission is used up, and a count that waited starts (22.7)."""
    memory, side = works.memory, act.player
    if act.kind != "presence_changed" or not act.fact.present or side not in memory.leave:
        return
    memory.leave = bytes(each for each in memory.leave if each != side)
    if memory.held == side and works.is_playing:
        works.run(side)


def set_running(table: Table, works: Clockwork, said: rl.SetRunning) -> None:
    """An arbiter stops the clocks, or says whose runs (rules 3.12)."""
    works.is_stopped = said.run == rl.SetRunning.RUN_STOPPED
    if not works.is_stopped and _is_playing(table, works):
        works.is_playing = True
        works.run(BLACK if said.run == rl.SetRunning.RUN_BLACK else WHITE, table.away)


# Observations of clocks


def clock_expired(table: Table, act: Act) -> None:
    """A timekeeper saw a limit run out: the one whose end is overtime, or the absence count (22.4)."""
    side, works = act.fact.side, table.clockwork
    if act.fact.limit == ClockExpired.LIMIT_ABSENCE:
        absence.count_over(table, act, side)
    elif (
        works is not None and act.fact.limit == works.system.limit and side in SEATS and table.phase <= pb.PHASE_PAUSED
    ):
        find_overtime(table, works, act, side, works.over_ms(side))
        if table.turn != side and act.at_ms <= table.moved_at_ms:
            leave_open(table, works, side)


def clock_reading(table: Table, act: Act) -> None:
    """What somebody reads off a clock sets none. It can show overtime, or that the clock is faulty (22.8); in a pause
    it is the written record (22.9)."""
    works, fact = table.clockwork, act.fact
    if works is None:
        return
    memory = works.memory
    black_ms, white_ms, watch_ms = (max(0, bounded(ms)) for ms in (fact.black_ms, fact.white_ms, fact.watch_ms))
    shown = ReadingMemory(black_ms=black_ms, white_ms=white_ms, watch_ms=watch_ms)
    if table.phase == pb.PHASE_PAUSED:
        memory.record.CopyFrom(shown)
        memory.agreed = b""
    if fact.HasField("watch_ms"):
        memory.reading.CopyFrom(shown)
        if works.is_faulty():
            error_ms = bounded(abs(fact.black_ms + fact.white_ms - fact.watch_ms))
            act.find(table.cite("22.8"), pb.FINDING_KIND_FAULTY_CLOCK, over_ms=error_ms)
    if table.phase <= pb.PHASE_PAUSED:
        _judge_reading(table, works, act)


def _judge_reading(table: Table, works: Clockwork, act: Act) -> None:
    """A reading above the limit is overtime; of a mechanical clock flag and hands must say so too (12.4)."""
    fact: ClockReading = act.fact
    flags = ("flag_down", "minute_past_12", "second_past_12")
    if any(fact.HasField(flag) for flag in flags):  # type: ignore[arg-type]  # names of its fields
        side = act.player or works.running or table.turn
        if all(getattr(fact, flag) for flag in flags):
            find_overtime(table, works, act, side, works.over_ms(side))
        return
    for side, used_ms in ((BLACK, fact.black_ms), (WHITE, fact.white_ms)):
        clock = works.clocks[side].copy()
        if not works.system.set_used(clock, used_ms):
            continue
        if works.system.is_over(clock):
            over_ms = used_ms - works.system.whole_ms - clock.granted_ms
            find_overtime(table, works, act, side, max(0, over_ms))
        elif not works.system.left_ms(clock):
            act.find(works.overtime.id, pb.FINDING_KIND_BOUNDARY, side=side)


def confirm_record(table: Table, act: Act) -> bool:
    """A player's word to the written record of the pause; whether there is one."""
    works = table.clockwork
    if works is None or act.player not in SEATS or not works.memory.HasField("record"):
        return False
    agreed = {*works.memory.agreed} - {act.player}
    works.memory.agreed = bytes(sorted(agreed | {act.player} if act.fact.accept else agreed))
    return True
