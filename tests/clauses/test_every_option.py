"""Every option of every clause that a game's log decides, in all editions: taken once, refused to a role too low."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple

import pytest
from support.events import t
from support.play import Play, refereed

from caipan.rules import docket, effects
from caipan.rules.clauses import Clause, Offer, When
from caipan.rules.edition import edition, edition_ids
from caipan.v1 import facts_pb2 as facts
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.common_pb2 import Role
from caipan.v1.outcome_pb2 import Penalty
from caipan.v1.regulations_pb2 import REGIME_BYOYOMI, Regulations

ON_CLOCKS = (effects.SetClock, effects.SetRunning)


class Choice(NamedTuple):
    """An option of a clause in an edition."""

    edition_id: str
    clause: Clause
    offer: Offer

    def __str__(self) -> str:
        return " ".join((self.edition_id, self.clause.key, self.offer.name, *sorted(self.offer.when)))

    @property
    def role(self) -> str:
        needed = edition(self.edition_id).required_role(self.clause.key, self.offer)
        return Role.Name(needed).removeprefix("ROLE_")

    def open(self, size: int = 0, **how: Any) -> Play:
        """A game in which the option may be listed."""
        asked = {key: _enum(key, value) for key, value in self.offer.regulation.items()}
        timed = {}
        if "regime" in asked or any(isinstance(effect, ON_CLOCKS) for effect in self.offer.option.effects):
            timed = {"untimed": False, "regime": REGIME_BYOYOMI, "basic_time_s": 7200}
        persons = {"players": ["Li", "Wang"], "colours": ("Li", "Wang")}
        return refereed(size, **{"edition": self.edition_id, **persons, **timed, **asked, **how})

    def rule(self, play: Play, role: str, person: str = "") -> Play:
        """The ruling, on the open case of the clause or of the arbiter's own motion; Black is the offender.

        It comes at the time of the last event: no clock runs meanwhile.
        """
        about = {"against": 1, "effects": given(self.offer), "refs": ["game-3"] if self.offer.name == "LOSS" else []}
        return play.rule(self.offer.name, self.clause.key, role=role, person=person, at=play.now, **about)


def _enum(key: str, value: str) -> int:
    kind = Regulations.DESCRIPTOR.fields_by_name[key].enum_type
    return kind.values_by_name[kind.values[0].name.removesuffix("UNSPECIFIED") + value].number


def choices() -> Iterator[Choice]:
    """An edition that inherits a clause as it is says nothing new."""
    seen = set()
    for edition_id in sorted(edition_ids(), key=lambda name: name != "CN2002"):
        for clause in edition(edition_id).clauses.values():
            for offer in clause.options if clause.opens_cases else ():
                what = clause.key, clause.id, offer.name, offer.when, *offer.regulation.values()
                if what not in seen:
                    seen.add(what)
                    yield Choice(edition_id, clause, offer)


def given(offer: Offer) -> list[rl.Effect]:
    """What the person enters where an option leaves something open."""
    points = rl.SetPoints(remove=["D11"], add_black=["D10"])
    entered: dict[type, rl.Effect] = {
        effects.SetTurn: rl.Effect(set_turn=rl.SetTurn(color=2)),
        effects.AssignPoints: rl.Effect(assign_points=rl.AssignPoints(points=["K10"], side=2)),
        effects.SetClock: rl.Effect(set_clock=rl.SetClock(black_ms=60_000, approved_by=Role.ROLE_CHIEF)),
        effects.Sanction: rl.Effect(sanction=rl.Sanction(target="Li", kind="ANNUL", scope="round 2")),
    }
    if offer.option.free:
        return [rl.Effect(warn=rl.Warn(player=1))]
    if offer.name in ("AGREED_POINT", "MOVE_TO_REASONABLE_POINT"):
        return [rl.Effect(set_points=points)]
    asked = [effect for effect in offer.option.effects if type(effect) in entered]
    return [entered[type(effect)] for effect in asked if not _is_settled(effect)]


def _is_settled(effect: effects.Effect) -> bool:
    """Whether the case itself says whom or what it is about."""
    if isinstance(effect, effects.SetClock):
        return effect.how != effects.Reading.GIVEN
    whose = getattr(effect, "whose", effects.Turn.GIVEN)
    return whose != effects.Turn.GIVEN or getattr(effect, "target", effects.Target.GIVEN) != effects.Target.GIVEN


# What a case must be like, so that the option is listed; the last open case is that of the clause


def double(choice: Choice) -> Play:
    return choice.open().moves("B Q16, W D4, B Q3, B D17")


def ko(choice: Choice) -> Play:
    return choice.open(9, black=["C3", "D5", "E4", "E6"], white=["E5", "F4", "F6", "G5"], to_move="W").moves(
        "W A9, B F5, W J9, B J8, W E5, B F5"
    )


def suicide(choice: Choice) -> Play:
    return choice.open().moves("B Q16, W A2, B Q4, W B1, B A1")


def cycle(choice: Choice) -> Play:
    return choice.open(5, black=["B1", "C2", "D1"], white=["A2", "B2"], to_move="B").moves("B A1, W C1, B B1")


def false_life(choice: Choice) -> Play:
    play = cycle(choice)
    return play.claim("", choice.clause.key, refs=[play.last_id], against="B")


def takeback(choice: Choice) -> Play:
    play = choice.open().stone("B", "R4").lifted("B", "R4").stone("B", "R5")
    if When.ANSWERED in choice.offer.when and When.UNANSWERED not in choice.offer.when:
        play.stone("W", "K10")
    return play.claim("W", choice.clause.key)


def dropped(choice: Choice) -> Play:
    return choice.open().stone("B", "E7", manner="DROPPED")


def wrong_colour(choice: Choice) -> Play:
    return choice.open().stone("B", "D4", color="W")


def moved(choice: Choice) -> Play:
    return choice.open().moves("B D10, W Q4, B Q16, W D4").discrepancy("MOVED", ("D10", "D11"))


def scattered(choice: Choice) -> Play:
    return choice.open().moves("B D10, W Q4, B Q16").discrepancy("SCATTERED", cause="EXTERNAL")


def scattered_by_black(choice: Choice) -> Play:
    return choice.open().moves("B D10, W Q4, B Q16").discrepancy("SCATTERED", cause="BLACK")


def wrong_removal(choice: Choice) -> Play:
    play = choice.open(observed=["CAPTURES"]).moves("B D3, W D4, B C4, W E6, B E4, W Q16, B D5")
    play.captured("B", "D4", "E6")
    return play.stone("W", "K10").claim("W", choice.clause.key) if When.LATE in choice.offer.when else play


def left_lying(choice: Choice) -> Play:
    play = choice.open(observed=["CAPTURES"]).moves("B D3, W D4, B C4, W E6, B E4, W Q16, B D5, W K10")
    return play.stone("B", "K11").stone("W", "K12").claim("W", choice.clause.key) if choice.offer.when else play


def sealed_on_a_stone(choice: Choice) -> Play:
    nonce = bytes(16)
    play = choice.open().moves("B D4, W Q4").say(facts.MoveSealed(digest=sha256(nonce + b"D4").digest()), "B")
    return play.say(facts.SealOpened(point="D4", nonce=nonce))


def rung_before(choice: Choice) -> Play:
    kind = choice.clause.opened_by.conduct[0]
    return choice.open().conduct("B", kind).rule("WARN").conduct("B", kind)


def applied(choice: Choice) -> Play:
    return choice.open().claim("B", kind="OVERTIME_PASS")


def asked(choice: Choice) -> Play:
    return choice.open().stone("B", "Q16").claim("B", kind=choice.clause.opened_by.claims[0])


def late(choice: Choice) -> Play:
    return choice.open(late_limit_s=3600).mark("START", at=0).presence("B", True, at=t("10:00"))


def late_in_the_same_place(choice: Choice) -> Play:
    return choice.open(late_limit_s=900).mark("START", at=0).presence("B", True, at=t("10:00"))


def both_late(choice: Choice) -> Play:
    return late(choice).presence("W", True, at=t("20:00"))


def read_wrongly(choice: Choice) -> Play:
    """Black is read 30, and then 40 before its time."""
    how = {"basic_time_s": 60, "retained_minutes": 1, "observed": ["ANNOUNCEMENTS"]}
    play = choice.open(**how).mark("START", at=0).announced("B", "30", at=t("0:30")).announced("B", "40", at=t("0:36"))
    return play.claim("B", kind="REREAD", at=t("0:37"))


def faulty(choice: Choice) -> Play:
    return choice.open().mark("START", at=0).reading("48:00", "57:00", watch="1:40:00", at=t("1:40:00"))


def read_right(choice: Choice) -> Play:
    play = choice.open().mark("START", at=0).reading("30:00", "31:00", watch="1:00:00", at=t("1:00:00"))
    return play.claim("W", choice.clause.key)


def paused(choice: Choice) -> Play:
    play = choice.open().mark("START", at=0).mark("PAUSE", at=t("1:00:00"))
    if When.RECORDED in choice.offer.when:
        play.reading("20:00", "40:00").consent("B").consent("W")
    return play.mark("RESUME", at=t("2:00:00")).claim("W", choice.clause.key, at=t("2:00:00"))


def nothing(choice: Choice) -> Play:
    """Of the arbiter's own motion; where players may agree, on a claim."""
    play = choice.open().moves("B Q16, W D4")
    return play.claim("W", choice.clause.key) if When.AGREED in choice.offer.when else play


# By the clause as CN2002 numbers it, or its key, and by the option; the first that fits
SCENES: dict[str, Callable[[Choice], Play]] = {
    "20.2": false_life,
    "20.3 VOID_AND_TURN": cycle,
    "20.3 VOID_TURN_AND_WARN": cycle,
    "18.3": ko,
    "19": suicide,
    "17.2 VOID_AND_WARN": double,
    "17.3": takeback,
    "17.3 drop": dropped,
    "2.1": wrong_colour,
    "17.5": moved,
    "17.6": scattered,
    "17.6 own": scattered_by_black,
    "18.1": wrong_removal,
    "18.2": left_lying,
    "14.2 occupied": sealed_on_a_stone,
    "23.7 LOSS": rung_before,
    "23.8 LOSS": rung_before,
    "16.2 REREAD": read_wrongly,
    "22.1 DEDUCT": late,
    "22.2 DEDUCT": late_in_the_same_place,
    "22.3 DEDUCT_BOTH": both_late,
    "CN1988S 23.3 DEDUCT": late,
    "22.5 PASS": applied,
    "22.8 REPLACE_AND_CORRECT": faulty,
    "22.8 REPLACE_CLOCK": read_right,
    "22.9": paused,
    "15.5 PERMIT_TALK": asked,
    "22.7 PERMIT_LEAVE": asked,
}


def scene(choice: Choice) -> Play:
    text = edition(choice.edition_id)
    for named, made in SCENES.items():
        number, _, option = named.rpartition(" ") if named.rpartition(" ")[2].isupper() else (named, "", "")
        keys = text.topics.get(f"CN2002 {number}"), number
        if choice.clause.key in keys and option in ("", choice.offer.name):
            play = made(choice)
            break
    else:
        play = nothing(choice)
    if When.AGREED in choice.offer.when:
        for player in "BW":
            if play.game.table.cases:
                play.consent(player, proposal="so")
    return play


CHOICES = list(choices())


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_an_option_taken_does_what_its_clause_says(choice: Choice) -> None:
    play, option = scene(choice), choice.offer.option
    before = docket.standing(play.game.table)
    if play.cases != ["DECIDED"]:  # the opponent's consent alone has settled it
        play = choice.rule(play, choice.role)
    assert (play.status, play.reason) == ("FOLDED", "")
    (decided,) = [case for case in play.verdict.cases if case.option]
    assert (decided.clause, decided.option) == (choice.clause.id, choice.offer.name)
    done = [effect.WhichOneof("effect").upper() for effect in play.verdict.effects]
    said = [effect.tag for effect in option.effects if not _may_lack(effect)] if not option.free else ["WARN"]
    assert done == said
    table = play.game.table
    imposed = [(penalty.side, penalty.kind) for penalty in table.ledger.penalties if penalty.ruling == play.last_id]
    penalties = {"WARN": Penalty.KIND_WARNING, "ADMONISH": Penalty.KIND_ADMONITION, "PASS": Penalty.KIND_TURN_LOST}
    assert imposed == [(1, penalties[tag]) for tag in said if tag in penalties]
    if "RESULT" in said:
        assert (play.phase, play.result.clause, play.result.how) == (
            "ENDED",
            choice.clause.id,
            choice.clause.how.number,
        )
    if set(said) <= {"DISMISS", "PERMIT", "SANCTION"}:
        assert docket.standing(table) == before
    assert play.drawn() == play.stones()
    assert play.again()[1] == play.outcomes


def _may_lack(effect: effects.Effect) -> bool:
    """A stone that was set too late, if there is one; the colours, if somebody notes them."""
    return getattr(effect, "move", None) == effects.Move.AFTER_TIME or getattr(effect, "as_played", False)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_an_option_is_refused_to_a_role_too_low_and_changes_nothing(choice: Choice) -> None:
    play = scene(choice)
    if play.cases == ["DECIDED"]:
        return
    before = play.digest, play.stones(), play.warnings
    low = [("RECORDER", ""), ("ARBITER", "stranger"), ("PLAYER", "Li"), ("DEVICE", "")]
    if choice.role == "CHIEF":
        low.append(("ARBITER", ""))
    for role, person in low:
        choice.rule(play, role, person)
        assert play.status == "REFUSED"
        assert (play.digest, play.stones(), play.warnings) == before
        assert play.reason.startswith("role: ")
