"""A game played through the fold: each call is one event, ``verdict`` what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from caipan.rules import docket
from caipan.rules.clocks import ClockFace
from caipan.rules.clockwork import faces, system_of
from caipan.rules.game import Game, Judged, Past, read_event
from caipan.v1 import facts_pb2 as facts
from caipan.v1 import outcome_pb2 as pb
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.common_pb2 import Actor
from caipan.v1.event_pb2 import Event
from caipan.v1.regulations_pb2 import Regime
from support.events import LETTERS, SEATS, START_MS, actor, event, field_of, found, opened, status_of, t

_MARKS = {0: ".", 1: "X", 2: "O"}


def fold(game: Game, value: bytes, offset: int, past: Sequence[Past]) -> list[Judged]:
    """One record of the log through the fold, as a referee does it."""
    said = read_event(value, game.game_id)
    if isinstance(said, str):
        return [game.quarantine(value, offset, said)]
    return game.apply(said, value, offset, past if game.wants_history(said) else ())


def replay(log: Iterable[Past], game_id: str = "game") -> tuple[Game, list[pb.Outcome]]:
    """A fresh fold over the records of a log."""
    game, outcomes, past = Game(game_id, 0), [], []
    for record in log:
        outcomes += [pb.Outcome.FromString(each.record) for each in fold(game, *record, past)]
        past.append(record)
    return game, outcomes


class Play:
    """A game and its log.

    Times are ms since the start of the game; each event comes a second after the last one unless ``at`` says otherwise.
    ``player`` and colours are "B" and "W". ``log`` holds the records, ``outcomes`` all outcomes and notices.
    """

    def __init__(self, size: int = 0, *, game_id: str = "game", opening: bool = True, **how: Any) -> None:
        self.game_id = game_id
        self.game = Game(game_id, 0)
        self.log: list[Past] = []
        self.outcomes: list[pb.Outcome] = []
        self.now = 0
        self.last_id = ""
        self._counts: dict[tuple[str, str], int] = {}
        self.made = 0
        self.opening = opened(size, **how)
        if opening:
            self.open()

    # Sending

    def open(self, **about: Any) -> Play:
        return self.say(self.opening, "", **{"source": "backend", **about})

    def say(self, fact: Any, player: str = "", **about: Any) -> Play:
        """One event into the fold; ``about`` as in ``make``."""
        return self.send(self.make(fact, player, **about))

    def make(
        self,
        fact: Any,
        player: str = "",
        *,
        at: int | None = None,
        source: str = "board",
        boot: str = "",
        seq: int | None = None,
        id: str = "",
        by: Actor | None = None,
    ) -> Event:
        """The next event of its source, not sent. ``seq``: its number there, 0 for none, None for the next one."""
        self.now = self.now + 1000 if at is None else at
        self.made += 1
        key = (source, boot)
        number = self._counts.get(key, 0) + 1 if seq is None else seq
        self._counts[key] = max(number, self._counts.get(key, 0))
        return event(
            self.game_id,
            id or f"e{self.made}",
            fact,
            at_ms=START_MS + self.now,
            player=player,
            source=key,
            source_seq=number,
            by=by,
        )

    def send(self, made: Event) -> Play:
        self.last_id = made.event_id
        return self.send_bytes(made.SerializeToString(deterministic=True))

    def send_bytes(self, value: bytes) -> Play:
        offset = len(self.log)
        judged = fold(self.game, value, offset, self.log)
        self.log.append(Past(value, offset))
        self.outcomes += [pb.Outcome.FromString(each.record) for each in judged]
        self.judged = judged
        return self

    # Facts

    def stone(self, player: str, point: str, *, color: str = "", manner: str = "UNSPECIFIED", **about: Any) -> Play:
        fact = facts.StonePlaced(point=point, color=SEATS[color or player], manner=f"MANNER_{manner}")
        return self.say(fact, player, **about)

    def moves(self, line: str) -> Play:
        """ "B Q16, W D4, B pass": one fact a second."""
        for move in line.split(","):
            player, point = move.split()
            if point == "pass":
                self.pass_(player)
            else:
                self.stone(player, point)
        return self

    def pass_(self, player: str, **about: Any) -> Play:
        return self.say(facts.PassDeclared(), player, **about)

    def press(self, player: str, *, source: str = "clock", **about: Any) -> Play:
        return self.say(facts.ClockPressed(), player, source=source, **about)

    def captured(self, player: str, *points: str, **about: Any) -> Play:
        return self.say(facts.StonesCaptured(points=points), player, **about)

    def lifted(self, player: str, point: str, **about: Any) -> Play:
        return self.say(facts.StoneLifted(point=point), player, **about)

    def propose_end(self, player: str, *, concede_rest: bool = False, **about: Any) -> Play:
        return self.say(facts.EndProposed(concede_rest=concede_rest), player, **about)

    def answer_end(self, player: str, accept: bool = True, **about: Any) -> Play:
        return self.say(facts.EndAnswered(accept=accept), player, **about)

    def dead(self, player: str, *points: str, **about: Any) -> Play:
        return self.say(facts.DeadProposed(points=points), player, **about)

    def answer_dead(self, player: str, accept: bool = True, disputed: Iterable[str] = (), **about: Any) -> Play:
        return self.say(facts.DeadAnswered(accept=accept, disputed=disputed), player, **about)

    def count(
        self,
        side: str,
        quarters: int,
        other_quarters: int | None = None,
        *,
        groups: tuple[int | None, int | None] = (None, None),
        prisoners: tuple[int | None, int | None] = (None, None),
        player: str = "",
        **about: Any,
    ) -> Play:
        """``groups`` and ``prisoners``: of Black and of White."""
        fact = facts.CountTaken(
            side=SEATS[side],
            quarters=quarters,
            other_quarters=other_quarters,
            groups_b=groups[0],
            groups_w=groups[1],
            prisoners_b=prisoners[0],
            prisoners_w=prisoners[1],
        )
        return self.say(fact, player, **about)

    def resign(self, player: str, **about: Any) -> Play:
        return self.say(facts.GameResigned(), player, **about)

    def lot(self, holder: str, shown: int, held: int, **about: Any) -> Play:
        fact = facts.LotDrawn(purpose=facts.LotDrawn.PURPOSE_COLOUR, holder=holder, shown=shown, held=held)
        return self.say(fact, **about)

    def mark(self, mark: str, **about: Any) -> Play:
        return self.say(facts.SessionMarked(mark=f"MARK_{mark}"), source="arbiter", **about)

    # Clocks; times used are as the rules write them: "1:55:00"

    def reading(self, black: str, white: str, *, watch: str = "", **said: Any) -> Play:
        """``said``: flags of a mechanical clock, then as for ``say``."""
        flags = {flag: said.pop(flag) for flag in ("flag_down", "minute_past_12", "second_past_12") if flag in said}
        watch_ms = t(watch) if watch else None
        fact = facts.ClockReading(black_ms=t(black), white_ms=t(white), watch_ms=watch_ms, **flags)
        return self.say(fact, said.pop("player", ""), **{"source": "watch", **said})

    def expired(self, side: str, limit: str, **about: Any) -> Play:
        return self.say(facts.ClockExpired(side=SEATS[side], limit=f"LIMIT_{limit}"), **{"source": "watch", **about})

    def announced(self, to: str, label: str, *, purpose: str = "BYOYOMI", **about: Any) -> Play:
        fact = facts.CountAnnounced(to=SEATS[to], label=label, purpose=f"PURPOSE_{purpose}")
        return self.say(fact, **{"source": "reader", **about})

    def clock(self, run: str, **about: Any) -> Play:
        """An arbiter stops the clocks or says whose runs, and nothing else: "STOPPED", "BLACK"."""
        effect = rl.Effect(clock=rl.SetRunning(run=f"RUN_{run}"))
        fact = rl.RulingDecided(role="ROLE_ARBITER", effects=[effect])
        return self.say(fact, **{"source": "tablet", "by": actor("ARBITER"), **about})

    # Corrections: by the recorder's own source, or by an arbiter

    def retract(self, ref: str, **about: Any) -> Play:
        return self._correct("RETRACT", ref, None, **about)

    def replace(self, ref: str, fact: Any, player: str = "", **about: Any) -> Play:
        return self._correct("REPLACE", ref, corrected(fact, player), **about)

    def insert_after(self, ref: str, fact: Any, player: str = "", **about: Any) -> Play:
        return self._correct("INSERT_AFTER", ref, corrected(fact, player), **about)

    def _correct(self, kind: str, ref: str, fact: facts.CorrectedFact | None, **about: Any) -> Play:
        said = facts.RecordCorrected(ref=ref, kind=f"KIND_{kind}", fact=fact, reason="a slip")
        return self.say(said, **about)

    # Arbiters

    def rule(
        self,
        option: str,
        clause: str = "",
        *,
        case: str | None = None,
        role: str = "ARBITER",
        person: str = "",
        effects: Sequence[rl.Effect] = (),
        at: int | None = None,
        **said: Any,
    ) -> Play:
        """A ruling on the last open case, or on ``case`` ("" = on no case)."""
        named = (list(self.game.table.cases) or [""])[-1] if case is None else case
        fact = rl.RulingDecided(
            case_id=named, clause=clause, option=option, role=f"ROLE_{role}", effects=effects, reason="seen", **said
        )
        return self.say(fact, source="tablet", by=actor(role, person), at=at)

    def claim(self, player: str, clause: str = "", *, kind: str = "COMPLAINT", against: str = "", **said: Any) -> Play:
        refs = said.pop("refs", ())
        fact = facts.ClaimRaised(kind=f"KIND_{kind}", clause=clause, against=SEATS[against], refs=refs)
        return self.say(fact, player, **{"source": "claims", **said})

    def consent(self, player: str, accept: bool = True, *, case: str = "", proposal: str = "") -> Play:
        """To the last open case, or to ``case``; where none is open, to the record of a pause."""
        named = case or (list(self.game.table.cases) or [""])[-1]
        return self.say(facts.ConsentGiven(case_id=named, proposal=proposal, accept=accept), player, source="claims")

    def conduct(self, against: str, kind: str = "OTHER", clause: str = "", **about: Any) -> Play:
        fact = facts.ConductObserved(against=SEATS[against], kind=f"KIND_{kind}", clause=clause)
        return self.say(fact, source="hall", **about)

    def discrepancy(self, kind: str, *stones: tuple[str, str], cause: str = "UNKNOWN", **about: Any) -> Play:
        fact = facts.BoardDiscrepancy(kind=f"KIND_{kind}", cause=f"CAUSE_{cause}")
        for came_from, to in stones:
            fact.stones.append(facts.BoardDiscrepancy.Stone(**{"from": came_from, "to": to}))
        return self.say(fact, source="hall", **about)

    def presence(self, player: str, present: bool, **about: Any) -> Play:
        return self.say(facts.PresenceChanged(present=present), player, source="hall", **about)

    def shown(self, player: str, point: str, **about: Any) -> Play:
        return self.say(facts.PointShown(point=point), player, source="hall", **about)

    def sign(self, player: str, **about: Any) -> Play:
        """A signature; "" is the arbiter's."""
        by = None if player else actor("ARBITER")
        return self.say(facts.ResultSigned(), player, **{"source": "paper", "by": by, **about})

    # The end in one call

    def end(self, *dead: str) -> Play:
        """Both pass, and agree on these dead stones; whoever is on turn begins."""
        first = self.turn
        second = "W" if first == "B" else "B"
        return self.pass_(first).pass_(second).dead(first, *dead).answer_dead(second)

    # What came of it

    @property
    def verdict(self) -> pb.Verdict:
        return self.outcomes[-1].verdict

    @property
    def verdicts(self) -> list[pb.Verdict]:
        """All verdicts that took a seq."""
        return [outcome.verdict for outcome in self.outcomes if outcome.verdict.seq]

    @property
    def status(self) -> str:
        return status_of(self.verdict)

    @property
    def found(self) -> list[str]:
        """The findings of the last event, as "CN2002 17.2 OUT_OF_TURN"."""
        return found(self.verdict)

    @property
    def all_found(self) -> list[str]:
        return [each for verdict in self.verdicts for each in found(verdict)]

    @property
    def finding(self) -> pb.Finding:
        """The only finding of the last event."""
        (only,) = self.verdict.findings
        return only

    @property
    def options(self) -> dict[str, list[str]]:
        """What the last open case lists, by clause key."""
        case = docket.tell(self.game.table, list(self.game.table.cases.values())[-1])
        return {candidate.key: [option.name for option in candidate.options] for candidate in case.candidates}

    @property
    def cases(self) -> list[str]:
        """The cases of the last event, as "OPEN CN2002 17.2"."""
        told = []
        for case in self.verdict.cases:
            clauses = " ".join(candidate.clause for candidate in case.candidates)
            told.append(f"{pb.CaseStatus.Name(case.status).removeprefix('CASE_STATUS_')} {clauses}".strip())
        return told

    @property
    def warnings(self) -> tuple[int, int]:
        """Of Black and of White."""
        by_side = {count.side: count.warnings for count in self.verdict.penalties}
        return by_side.get(SEATS["B"], 0), by_side.get(SEATS["W"], 0)

    @property
    def used(self) -> tuple[int, int]:
        """Ms used by Black and by White."""
        return self.verdict.clocks.black_used_ms, self.verdict.clocks.white_used_ms

    @property
    def running(self) -> str:
        """Whose clock runs, "" for none."""
        return LETTERS[self.verdict.clocks.running]

    def face(self, player: str, at: int | None = None) -> ClockFace:
        """What is on a clock as a reader of the last verdict works it out; ``at``: ms since the start, or now."""
        table = self.game.table
        system = system_of(table.regulations, table.opened.observed)
        at_ms = self.verdict.clocks.since_ms if at is None else START_MS + at
        return faces(self.verdict.clocks, system, at_ms)[SEATS[player]]

    @property
    def reason(self) -> str:
        return self.verdict.reason

    def log_ids(self) -> list[str]:
        """The ids of the events so far."""
        return [Event.FromString(record.value).event_id for record in self.log]

    @property
    def turn(self) -> str:
        return LETTERS[self.verdict.turn]

    @property
    def phase(self) -> str:
        return pb.Phase.Name(self.verdict.phase).removeprefix("PHASE_")

    @property
    def number(self) -> int:
        return self.verdict.move_number

    @property
    def provisional(self) -> list[str]:
        return list(self.verdict.provisional)

    @property
    def taken(self) -> tuple[int, int]:
        """Stones of Black and of White captured so far."""
        return self.verdict.captured_black, self.verdict.captured_white

    @property
    def result(self) -> pb.Result:
        return self.verdict.result

    @property
    def digest(self) -> bytes:
        return self.game.digest

    def at(self, point: str) -> str:
        return self.stones().get(point, ".")

    def stones(self) -> dict[str, str]:
        """Points and marks of the board in force: {"Q16": "X", "D4": "O"}."""
        table = self.game.table
        return {name: _MARKS[cell] for name, cell in zip(table.names, table.board.cells(), strict=True) if cell}

    def board(self) -> list[str]:
        """Rows of the board in force from the top, X O and points for empty."""
        return board_rows(self.game)

    def drawn(self) -> dict[str, str]:
        """The board as a watcher draws it, who sees outcomes alone."""
        stones: dict[str, str] = {}
        for verdict in self.verdicts:
            for name in verdict.removed:
                del stones[name]
            stones |= dict.fromkeys(verdict.added_black, "X") | dict.fromkeys(verdict.added_white, "O")
        return stones

    def again(self) -> tuple[Game, list[pb.Outcome]]:
        """The whole log through a fresh fold."""
        return replay(self.log, self.game_id)


def board_rows(game: Game) -> list[str]:
    """Rows of the board in force from the top."""
    size, cells = game.table.size, game.table.board.cells()
    return ["".join(_MARKS[cell] for cell in cells[row * size : (row + 1) * size]) for row in reversed(range(size))]


def corrected(fact: Any, player: str = "") -> facts.CorrectedFact:
    """The fact of a correction."""
    made = facts.CorrectedFact(player=SEATS[player])
    getattr(made, field_of(fact)).SetInParent()
    getattr(made, field_of(fact)).CopyFrom(fact)
    return made


def refereed(size: int = 0, **how: Any) -> Play:
    """A game with an arbiter and a chief."""
    return Play(size, officials=[("arbiter", "ARBITER"), ("chief", "CHIEF")], **how)


def timed(regime: str, basic: str, size: int = 9, *, started: bool = True, **how: Any) -> Play:
    """A game with an arbiter, a chief and clocks; marked as started at 0 unless told otherwise."""
    number = Regime.Value(f"REGIME_{regime}")
    play = refereed(size, **{"untimed": False, "regime": number, "basic_time_s": t(basic) // 1000, **how})
    return play.mark("START", at=0) if started else play


def arbiter(person: str = "arbiter") -> Actor:
    return actor("ARBITER", person)
