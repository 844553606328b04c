"""Random games with disputes: claims, consents, conduct, rulings good and bad, made while the game is played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from caipan.rules import docket
from caipan.rules.clauses import Option
from caipan.rules.edition import edition_ids
from caipan.rules.effects import AssignPoints, Sanction, SetColours, SetPoints, SetResult, SetTurn
from caipan.v1 import facts_pb2 as facts
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.checkpoint_pb2 import CaseMemory
from caipan.v1.common_pb2 import Actor
from caipan.v1.regulations_pb2 import Regulations
from support.events import actor
from support.play import Play
from support.streams import POINTS, SIZE, make_acts, make_opening, make_points, seeds

Named = tuple[str, str]  # a case by the event that opened it, and the letter behind its id


class Step(NamedTuple):
    """One event of a dispute; ``case``: the case that it names, whatever its id is in another history."""

    fact: Any
    player: str
    by: Actor | None = None
    case: Named | None = None


def disputes(most: int = 40, **how: Any) -> st.SearchStrategy[tuple[dict[str, Any], list[Step]]]:
    """Keywords of ``Play`` and the steps of a game."""
    return st.builds(lambda seed, count: make_dispute(Random(seed), count, how), seeds, st.integers(1, most))


def make_dispute(random: Random, count: int, how: dict[str, Any]) -> tuple[dict[str, Any], list[Step]]:
    """A shorter one of the same seed is its beginning."""
    named = {"edition": random.choice(["CN2002", "CN2002", *edition_ids()]), "players": ["Li", "Wang"]}
    named["warnings_to_lose"] = random.choice([2, 2, 6])
    how = {**make_opening(random), **named, "officials": OFFICIALS, "colours": ("Li", "Wang"), **how}
    play, steps = Play(SIZE, **how), []
    for number, act in enumerate(make_acts(random, count)):
        step = Step(*act) if random.random() < 0.55 else _make_step(random, play)
        take(play, step, number)
        steps.append(step)
    return how, steps


OFFICIALS = [("zhao", "ARBITER"), ("qian", "CHIEF")]


def take(play: Play, step: Step, number: int) -> Play:
    """The step as event ``f<number>``, a second after the one before it."""
    fact = step.fact
    if step.case is not None:
        fact = type(fact)()
        fact.CopyFrom(step.fact)
        fact.case_id = _id_of(play, step.case)
    return play.say(fact, step.player, id=f"f{number}", by=step.by, at=1000 * number)


def _id_of(play: Play, named: Named) -> str:
    event, letter = named
    table = play.game.table
    for case in [*table.cases.values(), *table.closed]:
        if _name(case) == named:
            return case.told.case_id
    seqs = [verdict.seq for verdict in play.verdicts if verdict.event_id == event]
    return f"{seqs[0]}{letter}" if seqs else "none"


def _name(case: CaseMemory) -> Named:
    return case.told.refs[0], case.told.case_id.lstrip("0123456789")


def _make_step(random: Random, play: Play) -> Step:
    made: Sequence[Callable[[Random, Play], Step]] = (_ruling, _ruling, _ruling, _claim, _consent, _seen)
    return random.choice(made)(random, play)


def _claim(random: Random, play: Play) -> Step:
    keys = [key for case in play.game.table.cases.values() for key in case.keys] or ["17.2", "23.3", "99", ""]
    fact = facts.ClaimRaised(
        kind=random.choice([1] * 6 + [2, 3, 4, 5, 6, 7]),
        clause=random.choice([*keys, random.choice(_ruled(play)), ""]),
        against=random.choice([0, 0, 1, 2]),
        refs=[random.choice(play.log_ids())] if random.random() < 0.3 else [],
    )
    return Step(fact, random.choice(["B", "W", "W", "B", ""]))


def _consent(random: Random, play: Play) -> Step:
    fact = facts.ConsentGiven(proposal=random.choice(["", "back"]), accept=random.random() < 0.8)
    return Step(fact, random.choice("BW"), None, _some_case(random, play))


def _seen(random: Random, play: Play) -> Step:
    """What is seen in the hall, or signed."""
    fact = random.choice(
        [
            lambda: facts.ConductObserved(against=random.randrange(3), kind=random.randrange(1, 7)),
            lambda: facts.ConductObserved(kind=6, against=1, clause=random.choice(["15.4", "conduct", "99"])),
            lambda: facts.BoardDiscrepancy(kind=2, cause=random.randrange(5)),
            lambda: _moved(random),
            lambda: facts.PresenceChanged(present=random.random() < 0.5),
            lambda: facts.PointShown(point=random.choice(POINTS)),
            lambda: facts.StonesCaptured(points=make_points(random), stored=random.randrange(6)),
            lambda: facts.ClockPressed(hand=random.randrange(4)),
            lambda: facts.ResultSigned(),
            lambda: facts.EndProposed(concede_rest=True),
            lambda: facts.RegulationsAdopted(changes=Regulations(edition=random.choice(edition_ids()))),
        ]
    )()
    by = CHIEF if isinstance(fact, facts.RegulationsAdopted) else ARBITER
    return Step(fact, random.choice(["B", "W", ""] if isinstance(fact, facts.ResultSigned) else "BW"), by)


def _moved(random: Random) -> facts.BoardDiscrepancy:
    fact = facts.BoardDiscrepancy(kind=1, cause=random.randrange(5))
    fact.stones.append(facts.BoardDiscrepancy.Stone(**{"from": random.choice(POINTS), "to": random.choice(POINTS)}))
    return fact


ARBITER, CHIEF = actor("ARBITER", "zhao"), actor("CHIEF", "qian")


def _ruling(random: Random, play: Play) -> Step:
    """Mostly one that may be applied, on an open case; some of the arbiter's own; some that must be refused."""
    table = play.game.table
    by = random.choice([ARBITER, ARBITER, *[CHIEF] * 8, actor("RECORDER", "zhao"), actor("ARBITER", "stranger")])
    fact = rl.RulingDecided(role=by.role, reason="seen")
    case = _some_case(random, play) if random.random() < 0.75 else None
    if case is None:
        clause = table.edition.clauses[random.choice(_ruled(play))]
        fact.clause, fact.against = clause.key, random.choice([0, 1, 2])
        fact.option = random.choice(clause.options).name
        fact.refs.extend([random.choice(play.log_ids())] if random.random() < 0.3 else [])
    elif (found := table.cases.get(_id_of(play, case))) is not None:
        offers = [offer for key in found.keys for offer in docket.listed(table, found, key)]
        going_on = [offer for offer in offers if not _ends(offer.option)]
        doing = [offer for offer in going_on if not offer.option.dismisses] or going_on
        fact.option = random.choice(random.choices([doing, going_on, offers], [8, 1, 1])[0]).name
    if random.random() < 0.1:
        fact.option = random.choice(["LOSS", "WARN", "", "NOTHING"])
    if random.random() < (0.9 if _asks(play, fact.option) else 0.05):
        fact.effects.extend(_effects(random, play, fact.option))
    return Step(fact, "", by, case)


def _ends(option: Option) -> bool:
    return any(isinstance(effect, SetResult) for effect in option.effects)


def _asks(play: Play, name: str) -> bool:
    """Whether an option may leave something to whoever decides."""
    option = play.game.table.edition.catalogue.get(name)
    return option is not None and (option.free or any(type(effect) in _GIVEN for effect in option.effects))


_GIVEN = (SetPoints, SetTurn, AssignPoints, SetColours, Sanction)


def _effects(random: Random, play: Play, option: str) -> list[rl.Effect]:
    """Effects that the option may ask for, fitting or not."""
    side, point = random.choice([1, 2]), random.choice(POINTS)
    moved = rl.SetPoints(remove=[point], add_black=[random.choice(POINTS)] if random.random() < 0.5 else [])
    made = [
        rl.Effect(set_points=moved),
        rl.Effect(set_points=rl.SetPoints(as_after_move=random.randrange(6))),
        rl.Effect(set_points=rl.SetPoints(remove_all=True)),
        rl.Effect(set_turn=rl.SetTurn(color=side)),
        rl.Effect(warn=rl.Warn(player=side)),
        rl.Effect(admonish=rl.Admonish(player=side)),
        rl.Effect(**{"pass": rl.LoseTurn(player=side)}),
        rl.Effect(void_move=rl.VoidMove(ref=random.choice(play.log_ids()))),
        rl.Effect(assign_points=rl.AssignPoints(points=[point], side=side)),
        rl.Effect(set_colours=rl.SetColours(black="Wang", white="Li")),
        rl.Effect(result=rl.SetResult(kind=random.randrange(1, 7))),
        rl.Effect(sanction=rl.Sanction(target="x", kind="ANNUL")),
        rl.Effect(dismiss=rl.Dismiss()),
        rl.Effect(),
    ]
    asked = play.game.table.edition.catalogue.get(option)
    tags = {effect.tag.lower() for effect in asked.effects} if asked is not None else set()
    fitting = [each for each in made if each.WhichOneof("effect") in tags]
    if fitting and random.random() < 0.8:
        return [random.choice(fitting)]
    return random.sample(made, random.choice([1, 1, 1, 2, 3]))


def _ruled(play: Play) -> list[str]:
    return [clause.key for clause in play.game.table.edition.clauses.values() if clause.is_ruled]


def _some_case(random: Random, play: Play) -> Named | None:
    table = play.game.table
    cases = [*table.cases.values()] or table.closed
    return _name(random.choice(cases)) if cases else None
