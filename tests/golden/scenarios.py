"""The games of the golden logs, each played anew by ``make_golden``."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

from support.boards import play_on_wall
from support.events import actor, t
from support.play import Play, arbiter, refereed, timed

from caipan.v1 import facts_pb2 as facts
from caipan.v1 import rulings_pb2 as rl
from caipan.v1.regulations_pb2 import RULING_MODE_AUTO_FIXED, WHEN_TO_INTERVENE_OFFENDER_ON_TURN
from caipan.v1.rulings_pb2 import AppealDecided, RulingDecided


def stone(point: str) -> facts.StonePlaced:
    return facts.StonePlaced(point=point)


def plain() -> Play:
    """Nine lines from the lot to the signatures: presses and captures observed, nothing wrong."""
    play = Play(9, observed=["CAPTURES", "PRESSES"], players=["li", "wang"], officials=[("zhao", "ARBITER")])
    play.lot("li", 1, 7, source="arbiter").mark("START")
    for row in (5, 4, 6, 3, 7, 2, 8, 1, 9):
        play.stone("B", f"E{row}").press("B").stone("W", f"F{row}").press("W")
    play.stone("B", "D3").press("B").stone("W", "C3").press("W").stone("B", "C4").press("B").pass_("W").press("W")
    play.stone("B", "B3").press("B").pass_("W").press("W").stone("B", "C2").captured("B", "C3").press("B")
    play.propose_end("W").answer_end("B").dead("W").answer_dead("B").count("B", 180, 144)
    for signer in ("B", "W", ""):
        play.say(facts.ResultSigned(), signer, source="arbiter")
    return play


def board() -> Play:
    """What can be wrong with a stone: points, colours, turns, takebacks, dropped and moved stones."""
    play = Play(black=["T19", "T19"])
    play.lot("zhao", 1, 7).stone("B", "U20").stone("B", "Q16", color="W").moves("W Q4, W Q4, B D4, B D5, W C3")
    play.stone("B", "K10", manner="DROPPED").lifted("B", "K10").stone("B", "K11")
    play.stone("W", "C5").lifted("W", "C5").stone("W", "C6").stone("B", "R3")
    play.stone("W", "R4").lifted("W", "Q4").stone("B", "S3").stone("W", "S4").pass_("W").propose_end("W")
    return play


def presses() -> Play:
    """The clock pressed before the stone, at once with it, twice, and by the wrong side."""
    play = Play(observed=["PRESSES"])
    play.press("B").stone("B", "Q16").stone("W", "D4").press("W", at=play.now)
    play.stone("B", "Q4").press("W").press("B").press("B").stone("W", "D16").press("W").press("W")
    return play.pass_("B").press("B").stone("W", "K10").press("W")


def presses_nobody_can_order() -> Play:
    """A clock and a board that are half a second apart at most; what one source says is certain."""
    play = Play(observed=["PRESSES"], clock_skew_ms=500)
    play.stone("B", "Q16").press("B", at=play.now + 300).press("W").stone("W", "D4", at=play.now + 499)
    play.stone("B", "Q4").press("B", source="board", at=play.now + 100).stone("W", "D16")
    return play.press("W", at=play.now - 500).stone("B", "K10", at=play.now - 400)


def captures() -> Play:
    """Captures lifted wrongly, in part, and not at all."""
    play = Play(observed=["CAPTURES", "PRESSES"])
    play.moves("B D3, W D4, B C4, W E6, B E4, W Q16, B D5").captured("B", "D4", "E6").press("B")
    play.stone("B", "E6", color="W").stone("W", "R6").press("W")
    play.moves("B R5, W Q10, B Q6, W Q12, B S6, W Q14, B R7").press("B")
    play.moves("W K10, B K16").captured("W", "T1", "K16").lifted("B", "R6")
    return play


def ko() -> Play:
    """A ko retaken at once and after a threat; a forbidden point that nobody claims."""
    play = Play().moves("B D5, W E5, B D3, W E3, B C4, W F4, B Q16, W D4, B E4, W D4, B K10, W K11, B E4, W A2, B Q10")
    return play.moves("W B1, B A1, W K12, B K13")


def three_kos() -> Play:
    """Three kos go round twice; nobody claims; two passes."""
    kos = [(16, True), (10, False), (4, True)]
    black = [p for row, _ in kos for p in (f"J{row + 1}", f"H{row}", f"J{row - 1}")]
    white = [p for row, _ in kos for p in (f"K{row + 1}", f"L{row}", f"K{row - 1}")]
    for row, white_holds in kos:
        (white if white_holds else black).append(f"J{row}" if white_holds else f"K{row}")
    play = Play(black=black, white=white, to_move="B")
    circle = "B K16, W J10, B K4, W J16, B K10, W J4"
    return play.moves(circle).moves(circle).moves("B pass, W pass")


def corrections() -> Play:
    """Slips of a recorder made right: taken out, replaced, put in, taken back, refused."""
    play = Play(9, officials=[("zhao", "ARBITER")])
    play.moves("B E5, W C3, B G7, W G7, B C7")
    play.retract("e5").replace("e3", stone("C4")).insert_after("e4", stone("G3"), "W", id="missed")
    play.moves("W E3, B E7").lifted("B", "E5").retract("missed", source="tablet", by=arbiter("zhao"))
    play.stone("W", "G3").retract("e99").retract("e2", source="stranger").replace("e1", stone("A1"), source="backend")
    play.moves("B D3, W pass, B D2, W A2, B J9, W B1, B A1").retract("e22").moves("B J8, W pass, B pass")
    play.dead("B").answer_dead("W").replace("e6", stone("C8")).retract("missed", source="tablet", by=arbiter("zhao"))
    return play


def delivery() -> Play:
    """Events early, late, twice, missing; two boots; the same id for two things; times back and ahead."""
    play = Play(9, opening=False)
    orphan = play.make(stone("E5"), "B")
    play.send(orphan).open().send(orphan)
    second, third, fourth = (play.make(stone(p), who) for p, who in (("C3", "W"), ("G7", "B"), ("G3", "W")))
    play.send(third).send(third).send(fourth).send(second).send(second)
    play.stone("B", "C7", id="twin").stone("W", "C8", id="twin").stone("W", "D8")
    lost = play.make(stone("A9"), "B")
    play.say(facts.SourceResumed(next_source_seq=12), seq=12).send(lost).send(lost)
    missing = [play.make(stone(f"J{row}"), "BW"[row % 2]) for row in range(1, 4)]
    play.send(missing[2]).stone("B", "H1", boot="2").send(missing[0])
    play.stone("W", "H9", seq=0, id="unnumbered").stone("W", "H9", seq=0, id="unnumbered", at=play.now)
    play.press("B", at=play.now - t("0:10")).press("W", at=play.now + t("9:00:00"))
    late = play.make(stone("E1"), "B", source="tablet")
    play.stone("W", "E2", source="tablet").press("B", at=t("0:40")).mark("RESUME", at=t("30:00:00")).send(late)
    return play.open(id="again")


def garbage() -> Play:
    """Records that are no events of this game between those that are."""
    play = Play(9).send_bytes(b"\xff\xfe not an event").stone("B", "E5").send_bytes(b"")
    stray = Play(9, game_id="another").stone("B", "A1")
    play.send_bytes(stray.log[1].value)
    nameless = play.make(stone("C3"), "W")
    nameless.event_id = ""
    untyped = play.make(stone("C3"), "W")
    untyped.ClearField("stone_placed")
    play.send(nameless).send(untyped).stone("W", "C3", seq=2)
    return play.say(RulingDecided(), source="tablet").say(AppealDecided(), source="tablet").stone("B", "G7", seq=3)


def unopened() -> Play:
    """An opening that cannot be, facts that wait for the right one."""
    play = Play(9, opening=False).stone("B", "E5")
    play.opening.size = 26
    play.open()
    play.opening.size = 9
    return play.open().stone("W", "C3")


def handicap() -> Play:
    """Two stones set at the opening, White first, Black returns one zi."""
    play = Play(9, black=["C3", "G7"], handicap=2)
    return play.moves("W E5, B G3, W C7, B E3, W pass, B pass").dead("W").answer_dead("B")


def free_handicap() -> Play:
    """Three stones wherever Black likes, then White; a fourth is a move out of turn."""
    play = Play(9, handicap=3, handicap_placement=2, players=["li", "wang"])
    play.moves("B C3, B G7, B E5, W C7, B G3, B D7, W pass, B pass").dead("W", "C7")
    return play.dead("B", "C7")


def dispute() -> Play:
    """Dead stones in dispute are played out; then the count."""
    play = play_on_wall(14, "DEAD").pass_("B").pass_("W").dead("W", "T1").answer_dead("B", accept=False)
    play.dead("B", "C3", "C4", "L1").answer_dead("B").answer_dead("W", accept=False)
    play.dead("B", "C3").answer_dead("W", False, ["C3"])
    play.moves("B D3, W pass, B B3, W pass, B C2, W pass, B C4, W pass, B pass")
    play.dead("B").answer_dead("W").count("B", 740).count("W", 700).stone("W", "A1").dead("B")
    return play


def resignation() -> Play:
    """White resigns out of turn; what comes after changes nothing."""
    play = Play(players=["li", "wang"]).moves("B Q16, W D4, B Q3, W D16").answer_end("B").dead("B", "Q16")
    return play.resign("W", by=actor("PLAYER", "wang")).resign("B").stone("B", "K10").pass_("W")


def rulings() -> Play:
    """Cases ruled, dismissed, refused and stale; a turn lost; the second warning of both at once."""
    play = refereed().moves("B Q16, W D4, B Q3, B D17").rule("VOID_AND_WARN", role="RECORDER").rule("VOID_AND_TURN")
    play.rule("VOID_AND_WARN", "CN2002 17.2").moves("W C14, B C3, B C5").rule("DISMISS").moves("W K10, W K11")
    play.stone("B", "T1").rule("VOID_AND_WARN", case_revision=1).rule("VOID_AND_WARN")
    both = [rl.Effect(warn=rl.Warn(player=side)) for side in (1, 2)]
    return play.rule("OTHER", "CN2002 30.6", case="", role="CHIEF", effects=both).rule("BOTH_LOSE", role="CHIEF")


def superseded() -> Play:
    """Rulings superseded: from their place on, not by an arbiter, where later moves no longer fit, from here on."""
    play = refereed().moves("B Q16, W D4, B Q3, B D17").rule("VOID_AND_WARN").moves("W D17, B C3")
    play.rule("DISMISS", case="5", supersedes="e6").rule("DISMISS", case="5", role="CHIEF", supersedes="e6")
    play.rule("DISMISS", role="CHIEF", case="", supersedes="e6", from_here=True).conduct("W", "SMOKING")
    play.rule("WARN").rule("DISMISS", case="12", role="CHIEF", supersedes="e13")
    return play.rule("WARN", case="12", role="CHIEF", supersedes="e14").stone("W", "K10").retract("e12")


def hall() -> Play:
    """Late arrivals, claims in time and too late, conduct, an absence, a scattered board, a re-check, signatures."""
    play = refereed(9, observed=["PRESSES", "CAPTURES"]).mark("START", at=0)
    play.presence("B", True, at=0).presence("W", True, at=t("1:00:00")).rule("DISMISS")
    play.press("B").stone("B", "A2").claim("W", "17.4").rule("WARN").stone("W", "A1").stone("B", "B1").press("B")
    play.stone("W", "E5").claim("W", "CN2002 18.2").claim("B", "CN2002 17.3", against="B").claim("W", "CN2002 99")
    play.say(facts.ClockPressed(hand="HAND_OTHER"), "W", source="clock").consent("W", case="0")
    play.claim("B", kind="TALK").rule("PERMIT_TALK", role="CHIEF")
    play.conduct("B", "TALK_START").conduct("B", "TALK_END", at=play.now + t("2:30")).conduct("W", "OTHER", "16.1")
    play.presence("B", False).stone("B", "G7").presence("W", False).stone("W", "C3").presence("B", True).shown(
        "W", "C3"
    )
    play.discrepancy("MOVED", ("E5", "E6")).discrepancy("SCATTERED", cause="WHITE").rule("CONTINUE")
    digest = sha256(bytes(16) + b"G3").digest()
    play.say(facts.MoveSealed(digest=digest), "B").say(facts.SealOpened(point="G4", nonce=bytes(16)))
    play.say(facts.SealOpened(point="G3", nonce=bytes(16)))
    taken = sha256(bytes(16) + b"C3").digest()
    play.say(facts.MoveSealed(digest=taken), "W").say(facts.SealOpened(point="C3", nonce=bytes(16))).rule("LOSE_TURN")
    play.sign("W").claim("W", kind="RECHECK").end().sign("W").claim("B", kind="RECHECK").dead("B").answer_dead("W")
    return play.sign("B").sign("W").sign("")


def korean() -> Play:
    """Prisoners outside the lid, a sliding stone; the arbiter steps in while the offender is not on turn."""
    play = refereed(9, edition="KBA2024", when_to_intervene=WHEN_TO_INTERVENE_OFFENDER_ON_TURN)
    play.moves("B A2, W A1, B B1").say(facts.StonesCaptured(points=["A1"], stored="STORED_TABLE"), "B").rule("WARN")
    return play.stone("W", "E5", manner="SLID").rule("WARN").end()


def older() -> Play:
    """The older text: a complaint waits for the own time, a stone moved twice in a row loses."""
    play = refereed(9, edition="CN1988S").stone("B", "E5").claim("B", "CN2002 23.3").stone("B", "E6")
    return play.rule("LOSS")


def by_itself() -> Play:
    """Unattended play: what needs no person is ruled at once; what does, waits."""
    play = refereed(9, ruling_mode=RULING_MODE_AUTO_FIXED, observed=["PRESSES"]).moves("B E5, B E6")
    return play.moves("W A2, B G7, W B1, B A1").press("W").stone("W", "G3", source="clock").conduct("B", "PHONE_SOUND")


def byoyomi() -> Play:
    """Late, in byoyomi, read wrongly, over time and taken as a pass, absent with leave, over time again and lost."""
    observed = ["CAPTURES", "PRESSES", "ANNOUNCEMENTS"]
    play = timed("BYOYOMI", "2:00", retained_minutes=2, late_factor=1, observed=observed)
    play.presence("B", True, at=0).presence("W", True, at=t("0:30")).rule("DEDUCT")
    play.stone("B", "A2", at=t("0:40")).press("B", at=t("0:41")).stone("W", "A1").press("W", at=t("1:30"))
    play.stone("B", "B1", at=t("2:10")).press("B").captured("B", "A1").rule("WARN", "CN2002 22.6")
    play.announced("W", "1分", at=t("3:10")).announced("W", "30", at=t("3:40")).announced("W", "5", at=t("4:05"))
    play.claim("W", kind="REREAD").rule("REREAD").announced("W", "10", at=t("4:40"))
    play.claim("W", kind="OVERTIME_PASS").stone("W", "E5").rule("PASS").stone("B", "C3", at=play.now + 1000)
    play.press("B").claim("B", kind="LEAVE").rule("PERMIT_LEAVE").presence("B", False).stone("W", "G7").press("W")
    play.presence("B", True, at=play.now + t("5:00")).expired("B", "BYOYOMI", at=play.now + t("2:00"))
    return play.rule("LOSS").stone("B", "J9")


def absolute() -> Play:
    """A limit used up exactly, a pause and its record, a faulty clock, clocks stopped and set, overtime at a press."""
    play = timed("ABSOLUTE", "10:00", observed=["PRESSES"], max_step_s=3600).stone("B", "E5", at=t("9:00"))
    play.press("B", at=t("10:00")).stone("W", "C3", at=t("12:00")).mark("PAUSE").reading("10:00", "2:00")
    play.consent("B").consent("W").mark("RESUME", at=t("5:00:00")).claim("W", "CN2002 22.9").rule("FROM_RECORD")
    play.reading("10:00", "3:00", watch="12:00").rule("REPLACE_AND_CORRECT").clock("STOPPED").clock("BLACK")
    play.reading("11:00", "0", flag_down=True, minute_past_12=True, second_past_12=False)
    one = [rl.Effect(set_clock=rl.SetClock(black_ms=t("9:00")))]
    play.rule("SET_ONE_CLOCK", "CN2002 22.8 one-sided", case="", role="CHIEF", against=1, effects=one)
    return play.stone("B", "G7", at=play.now + t("1:01")).press("B").rule("LOSS")


def stages() -> Play:
    """Stages of three moves; the second one is exceeded."""
    play = timed("STAGE", "1:00", stage_moves=3, stage_s=60)
    for number, (black, white) in enumerate([("A1", "A9"), ("B1", "B9"), ("C1", "C9"), ("D1", "D9")]):
        play.stone("B", black, at=play.now + t("0:35") + 1000 * number).stone("W", white)
    return play.stone("B", "E1", at=play.now + t("2:00"))


def absences() -> Play:
    """Nobody sits down before the absence count is over."""
    play = timed("BYOYOMI", "5:00", absent_count_s=300, clock_skew_ms=100).announced("B", "9", purpose="ABSENCE")
    play.presence("W", True, at=t("4:59.95")).expired("B", "ABSENCE", at=t("5:00.1"))
    return play.presence("B", True, at=t("4:59"))


def crowded() -> Play:
    """More claims than a game keeps cases for; what is found has room still."""
    play = refereed(9)
    for number in range(50):
        play.claim("B", "23.3", refs=[f"noise-{number}"])
    play.moves("B E5, B G7").rule("VOID_AND_WARN")
    return play.claim("W", "17.2", refs=[play.verdict.cases[0].refs[0]])


SCENARIOS: dict[str, Callable[[], Play]] = {
    scenario.__name__: scenario
    for scenario in (
        plain,
        board,
        presses,
        presses_nobody_can_order,
        captures,
        ko,
        three_kos,
        corrections,
        delivery,
        garbage,
        unopened,
        handicap,
        free_handicap,
        dispute,
        resignation,
        rulings,
        superseded,
        hall,
        korean,
        older,
        by_itself,
        byoyomi,
        absolute,
        stages,
        absences,
        crowded,
    )
}
