"""What an arbiter does at a terminal: cases, rulings, claims, consents, penalties, a whole round."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.command import COMMAND, Running, Service, caipan, environment, objects
from support.desk import DOUBLE, game

VOID = ("--option", "VOID_AND_WARN", "--reason", "seen by both")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("service")) as service:
        yield service


def send(service: Service, game_id: str, moves: str = "", **opened: object) -> str:
    caipan("send", "-", text=game(game_id, moves, **opened), **service.at)
    return game_id


def token(service: Service, person: str, *roles: str) -> str:
    asked = [part for role in roles for part in ("--role", role)]
    return caipan("token", "--person", person, *asked, **service.at).stdout.strip()


def said(text: str) -> str:
    """What a usage error says, without its frame."""
    return " ".join(text.replace("│", "").split())


# cases


def test_a_case_is_shown_with_what_may_be_ruled_in_both_languages_and_the_next_step(service: Service) -> None:
    here = send(service, "A/r1/b1", DOUBLE)
    assert caipan("cases", here, **service.at).stdout.splitlines()[:6] == [
        "A/r1/b1  case 5  about Black (li), after move 3, White to move",
        "  CN2002 17.2  连下两着 Two moves in a row",
        "    VOID_AND_WARN  该着无效，警告一次  The move is void; one warning  (arbiter)",
        "    DISMISS        不予支持  Dismissed: not established, or too late  (arbiter)",
        "  ! Black moves out of turn at D17 (CN2002 17.2 连下两着 Two moves in a row)",
        "  decide: caipan rule A/r1/b1 5",
    ]
    (told,) = objects(caipan("cases", "--tournament", "A", "--json", **service.at).stdout)
    assert (told["game_id"], told["person"], told["case"]["case_id"]) == ("A/r1/b1", "li", "5")
    assert caipan("cases", here, "5", **service.at).stdout.startswith("A/r1/b1  case 5  about Black (li)")


@pytest.mark.parametrize("command", ["cases", "penalties"])
def test_what_is_not_known_here_is_no_game_without_cases(command: str, service: Service) -> None:
    done = caipan(command, "A/r9/b9", ok=1, **service.at)
    assert done.stderr == "caipan: game_id: no game 'A/r9/b9' was opened here; check the id, or open the game\n"
    done = caipan(command, "--tournament", "nowhere", ok=1, **service.at)
    assert done.stderr == "caipan: no game of the tournament 'nowhere' is known here; check the id\n"


def test_what_the_player_did_before_in_the_event_stands_beside_a_case(service: Service) -> None:
    caipan("rule", send(service, "B/r1/b1", DOUBLE), *VOID, "--yes", **service.at)
    shown = caipan("cases", send(service, "B/r2/b1", DOUBLE), **service.at).stdout
    assert "  before: B/r1/b1, decided by ruling-" in shown
    assert ": VOID_AND_WARN under CN2002 17.2 连下两着 Two moves in a row: the stone at D17 is void, a warning" in shown
    closed = caipan("cases", "--tournament", "B", "--closed", **service.at).stdout
    assert closed.index("B/r2/b1  case 5") < closed.index("B/r1/b1  case 5")


def test_a_hall_is_followed_as_cases_open_and_close(service: Service) -> None:
    send(service, "C/r1/b1", DOUBLE)
    with Running("cases", "--tournament", "C", "--watch", **service.at) as watching:
        assert re.match(r"[0-9:]{8}  C/r1/b1  case 5  about Black", watching.line())
        for _ in range(4):
            assert watching.line().startswith("  ")
        send(service, "C/r1/b2", DOUBLE)
        assert re.match(r"[0-9:]{8}  C/r1/b2  case 5  about Black", watching.line())
        for _ in range(4):
            watching.line()
        caipan("rule", "C/r1/b1", *VOID, "--yes", **service.at)
        assert re.match(r"[0-9:]{8}  C/r1/b1  case 5  decided by ruling-", watching.line())
        assert watching.end(signal.SIGINT)[0] == 0
    with Running("cases", "--tournament", "C", "--watch", "--json", **service.at) as watching:
        assert len(watching.object()["open"]["cases"]) == 1
    done = caipan("cases", "C/r1/b1", "--watch", ok=2, **service.at)
    assert "--watch follows a hall" in said(done.stderr)


def test_a_hall_that_is_followed_tells_who_claims_who_agrees_and_what_is_listed_then(service: Service) -> None:
    here = send(service, "V/r1/b1", "B Q16, W D4")
    with Running("cases", "--tournament", "V", "--watch", **service.at) as watching:
        assert watching.line() == "no open cases\n"
        caipan("claim", here, "--clause", "17.6", "--note", "a spectator fell", **service.at)
        while "claimed" not in (line := watching.line()):
            assert line
        assert line.endswith(": a spectator fell\n")
        for player, answer in (("B", []), ("W", ["--refuse"])):
            caipan("consent", here, "4", "--by", player, "--proposal", "move 2", *answer, **service.at)
        told = [watching.line()[10:].rstrip() for _ in range(2)]
        assert told == ["V/r1/b1  case 4  Black agrees: move 2", "V/r1/b1  case 4  White does not agree: move 2"]
        caipan("consent", here, "4", "--by", "W", "--proposal", "move 2", **service.at)
        assert watching.line()[10:].rstrip() == "V/r1/b1  case 4  White agrees: move 2"
        assert "case 4  now listed: CN2002 17.6: CONTINUE (arbiter)" in watching.line()
    done = Running("cases", "--tournament", "nowhere", "--watch", **service.at)
    with done:
        assert done.line() == "no open cases\n"
        assert "no game of the tournament 'nowhere' is known here so far" in done.end(signal.SIGINT)[1]


def test_who_claimed_and_who_decided_stands_beside_a_case_and_a_penalty_with_the_reason(service: Service) -> None:
    here = send(service, "C/r3/b1", DOUBLE)
    caipan("claim", here, "--clause", "17.2", "--by", "W", "--note", "he played twice", **service.at)
    caipan("rule", here, *VOID, "--yes", "--event-id", "r1", "--at", "2026-05-04T10:30:00", **service.at)
    for shown in (("--closed",), ("5",)):
        lines = caipan("cases", here, *shown, **service.at).stdout.splitlines()
        assert lines[1].startswith("  decided by r1: VOID_AND_WARN")
        assert lines[2] == "    zhao as arbiter, 2026-05-04 10:30:00: seen by both"
        assert re.match(r"  claimed: White \(claim-.*\); caipan-desk as arbiter, .*: he played twice", lines[3])
    (line,) = caipan("penalties", here, **service.at).stdout.splitlines()
    assert line.endswith("by r1 (zhao as arbiter, 2026-05-04 10:30:00: seen by both)")


# superseding


def test_the_chief_supersedes_a_ruling_and_the_penalty_is_gone_everywhere(service: Service) -> None:
    here = send(service, "S/r1/b1", DOUBLE)
    caipan("rule", here, *VOID, "--yes", "--event-id", "first", **service.at)
    instead = ("--supersedes", "first", "--option", "DISMISS", "--reason", "White had passed", "--yes")
    refused = caipan("rule", here, "5", *instead, "--role", "arbiter", ok=1, **service.at)
    assert "needs CHIEF, not ARBITER" in refused.stderr
    told = caipan("rule", here, "5", *instead, "--event-id", "second", **service.at).stdout
    assert "case 5 decided: DISMISS under CN2002 17.2" in told
    assert "no penalties" in caipan("penalties", here, **service.at).stdout
    shown = caipan("show", here, **service.at).stdout
    assert "warning" not in shown
    assert caipan("cases", here, **service.at).stdout == "no open cases\n"
    again = ("--supersedes", "second", "--option", "VOID_AND_WARN", "--reason", "he had not", "--yes")
    caipan("rule", here, "5", *again, **service.at)
    assert "a warning under CN2002 17.2" in caipan("penalties", here, **service.at).stdout


def test_a_ruling_that_was_superseded_is_named_with_what_stands_in_its_place(service: Service) -> None:
    here = send(service, "S/r1/b2", DOUBLE)
    caipan("rule", here, *VOID, "--yes", "--event-id", "first", **service.at)
    instead = ("--option", "DISMISS", "--reason", "White had passed", "--yes")
    caipan("rule", here, "--supersedes", "first", *instead, "--event-id", "second", **service.at)
    done = caipan("rule", here, "--supersedes", "first", *instead, ok=1, **service.at)
    assert done.stderr == "caipan: S/r1/b2: 'first' was superseded by 'second' in case 5: name that one\n"


# signing


def test_the_result_is_final_when_both_players_and_the_arbiter_have_signed(service: Service) -> None:
    here = send(service, "S/r2/b1", "B Q16")
    done = caipan("sign", here, "--by", "B", ok=1, **service.at)
    assert done.stderr == "caipan: S/r2/b1: there is no result to sign yet\n"
    resigned = {"eventId": "end", "gameId": here, "atMs": str(time.time_ns() // 1_000_000), "player": "COLOR_WHITE"}
    caipan("send", "-", text=json.dumps({**resigned, "gameResigned": {}}), **service.at)
    assert "Black wins by resignation; signed by black\n" in caipan("sign", here, "--by", "B", **service.at).stdout
    assert "black has signed already" in caipan("sign", here, "--by", "b", ok=1, **service.at).stderr
    caipan("sign", here, "--by", "W", **service.at)
    assert "signed by: black, white; not yet by: arbiter" in caipan("show", here, **service.at).stdout
    stranger = token(service, "mallory", "ARBITER")
    done = caipan("sign", here, ok=1, CAIPAN_TOKEN=stranger, **service.at)
    assert "NOT SIGNED: 'mallory' is no arbiter of this game" in done.stderr
    last = ("sign", here, "--event-id", "last", "--at", time.time_ns() // 1_000_000)
    told = caipan(*last, **service.at).stdout
    assert told.endswith("Black wins by resignation; signed by black, white, arbiter; final\n")
    assert "signed by: black, white, arbiter; the result is final" in caipan("show", here, **service.at).stdout
    caipan(*last, **service.at)
    assert "the result is final" in caipan("sign", here, ok=1, CAIPAN_TOKEN=stranger, **service.at).stderr


# clock


def test_the_clocks_of_a_game_are_shown_as_they_would_be_at_an_instant(service: Service) -> None:
    here = send(service, "K/r1/b1", "B Q16", regulations={"regime": "REGIME_ABSOLUTE", "basic_time_s": 60})
    (state,) = objects(caipan("show", here, "--json", **service.at).stdout)
    at = int(state["clocks"]["since_ms"])
    (told,) = objects(caipan("clock", here, "--at", at + 5000, "--json", **service.at).stdout)
    assert (told["running"], told["white"]["left_ms"]) == ("COLOR_WHITE", "55000")
    then = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")
    assert "White  0:01:00 left, 0:00:00 used  runs" in caipan("clock", here, "--at", then, **service.at).stdout
    earlier = caipan("clock", here, "--at", at - 500, **service.at).stdout
    assert earlier.splitlines()[1:] == ["White  0:01:00 left, 0:00:00 used", "no clock runs"]
    assert "the game was opened later, at 20" in caipan("clock", here, "--at", at - 9000, ok=1, **service.at).stderr
    lines = caipan("clock", here, **service.at).stdout.splitlines()
    assert lines[0] == "Black  0:01:00 left, 0:00:00 used"
    assert lines[1].startswith("White  0:00:00 left, ")
    assert lines[1].endswith("the time is over  runs")
    assert caipan("clock", send(service, "K/r1/b2"), **service.at).stdout == "a game without clocks\n"
    caipan("round", "pause", "K", "1", "--game", here, **service.at)
    assert caipan("clock", here, **service.at).stdout.splitlines()[2:] == ["the game is paused"]


# rule


def test_a_ruling_is_shown_before_it_is_recorded_and_who_decides_is_an_official_of_the_game(service: Service) -> None:
    here = send(service, "D/r1/b1", DOUBLE)
    told = caipan("rule", here, "5", *VOID, "--yes", "--event-id", "first", **service.at).stdout.splitlines()
    assert told[5:12] == [
        "VOID_AND_WARN  该着无效，警告一次  The move is void; one warning  "
        "under CN2002 17.2 连下两着 Two moves in a row",
        "  decided by zhao as arbiter: seen by both",
        "  the stone at D17 is void",
        "  a warning for Black",
        "  board: off the board D17",
        "  then: White to move, move 3 made",
        "  against Black: 1 warning (1 zi at the count)",
    ]
    assert told[12] == "recorded as first:"
    assert told[14] == "      ? case 5 decided: VOID_AND_WARN under CN2002 17.2 连下两着 Two moves in a row"
    shown = caipan("show", here, **service.at).stdout
    assert "against Black: 1 warning (1 zi at the count)" in shown
    assert "case 5" not in shown


def test_the_second_warning_is_shown_as_the_loss_it_is(service: Service) -> None:
    here = send(service, "D/r1/b2", f"{DOUBLE}, W C14, B C3, B C5")
    caipan("rule", here, "5", *VOID, "--yes", **service.at)
    told = caipan("rule", here, *VOID, "--yes", **service.at).stdout
    assert "  against Black: 2 warnings" in told
    assert "  result: White wins by warnings (CN2002 24.2)" in told


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ([], "--option: missing: what is ruled: VOID_AND_WARN; DISMISS"),
        (["--option", "DISMISS"], "--reason: missing: the reason"),
        (["--option", "DISMISS", "--reason", "none"], "--yes: missing: a confirmation; look at the preview"),
        (
            ["--clause", "17.4", "--option", "WARN", "--reason", "r"],
            "--against: missing: which side it is about: Black; White",
        ),
        (
            ["--clause", "12.4(7)", "--option", "OTHER", "--reason", "r"],
            "--effect: missing: this option leaves them to you",
        ),
        (["--clause", "KBA2024 18.1", "--option", "WARN"], "--clause: CN2002 has no clause 'KBA2024 18.1'; the near"),
        (["--clause", "17.9", "--option", "WARN"], "'17.9'; the nearest are: 17.6, 17.5, 17.4"),
        (["--effect", "warn whom=B"], "--effect: 'whom=B' in 'warn whom=B': warn takes player=..."),
    ],
)
def test_without_a_terminal_what_is_missing_is_named_and_nothing_is_recorded(
    given: list[str], missing: str, service: Service
) -> None:
    here = send(service, "E/r1/b1", DOUBLE)
    done = caipan("rule", here, *given, ok=2, **service.at)
    assert missing in said(done.stderr)
    assert len(caipan("cases", here, "--json", **service.at).stdout.splitlines()) == 1


def test_several_open_cases_have_to_be_told_apart(service: Service) -> None:
    here = send(service, "E/r1/b2", DOUBLE)
    caipan("conduct", here, "phone-sound", "--against", "W", **service.at)
    done = caipan("rule", here, *VOID, ok=2, **service.at)
    assert "CASE: missing: which case (its number): 5; 6" in said(done.stderr)
    caipan("rule", here, "--clause", "23.7", "--option", "WARN", "--reason", "it rang", "--yes", **service.at)
    assert [each["case"]["case_id"] for each in objects(caipan("cases", here, "--json", **service.at).stdout)] == ["5"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["--option", "LOSS"], "option: 'LOSS' is not listed here; VOID_AND_WARN, DISMISS"),
        (["9", "--option", "DISMISS"], "case_id: this game has no case '9' (5)"),
        (["5", "--option", "DISMISS", "--person", "nobody"], "role: 'nobody' is not ARBITER in this game"),
        (["5", "--option", "DISMISS", "--effect", "warn player=B"], "effects: warn does not belong to this option"),
    ],
)
def test_what_would_be_refused_is_told_with_what_is_allowed_and_not_recorded(
    given: list[str], why: str, service: Service
) -> None:
    here = send(service, "F/r1/b1", DOUBLE)
    before = objects(caipan("show", here, "--json", **service.at).stdout)
    done = caipan("rule", here, *given, "--reason", "r", "--yes", ok=1, **service.at)
    assert f"caipan: it would be refused: {why}" in done.stderr
    assert objects(caipan("show", here, "--json", **service.at).stdout) == before


def test_a_closed_case_and_another_game_are_told_apart(service: Service) -> None:
    here = send(service, "F/r1/b2", DOUBLE)
    caipan("rule", here, *VOID, "--yes", "--event-id", "r1", **service.at)
    done = caipan("rule", here, "5", *VOID, "--yes", ok=1, **service.at)
    assert "case_id: case 5 is closed by ruling 'r1': supersede that" in done.stderr
    done = caipan("rule", "F/r1/b9", *VOID, "--yes", ok=1, **service.at)
    assert done.stderr.startswith("caipan: game_id: no game 'F/r1/b9' was opened here")
    done = caipan("rule", here, ok=2, **service.at)
    assert "--clause: missing: no case is open: name the clause" in said(done.stderr)
    done = caipan("rule", here, "--supersedes", "r9", *VOID, "--yes", ok=1, **service.at)
    assert "no case was decided by 'r9'; see caipan cases F/r1/b2 --closed" in done.stderr


def test_a_ruling_repeated_with_its_id_has_one_effect(service: Service) -> None:
    here = send(service, "G/r1/b1", "B Q16")
    ruling = ["rule", here, "--clause", "17.4", "--option", "WARN", "--against", "B", "--reason", "early", "--yes"]
    arguments = [*ruling, "--event-id", "k1", "--ref", "e1"]
    (first,) = objects(caipan(*arguments, "--json", **service.at).stdout)
    assert first["outcome"]["verdict"]["penalties"][0]["warnings"] == 1
    again = caipan(*arguments, **service.at).stdout
    assert again.startswith("recorded before: G/r1/b1  case 3  decided by k1: WARN under CN2002 17.4 先按钟")
    assert len(caipan("penalties", here, **service.at).stdout.splitlines()) == 1
    done = caipan(*ruling, "--ref", "e1", ok=1, **service.at)
    assert "refs: that act was decided by ruling 'k1': one act, one ruling" in done.stderr


def test_a_token_says_who_decides_and_a_role_too_low_is_refused(service: Service) -> None:
    here = send(service, "H/r1/b1", "B Q16")
    caipan("claim", here, "--clause", "17.6", **service.at)
    zhao, qian = token(service, "zhao", "RECORDER", "ARBITER"), token(service, "qian", "CHIEF")
    decided = ["rule", here, "--option", "REPLAY", "--reason", "nobody knows", "--yes"]
    done = caipan(*decided, ok=1, CAIPAN_TOKEN=zhao, **service.at)
    assert "role: 'zhao' is not CHIEF in this game" in done.stderr
    told = caipan(*decided, CAIPAN_TOKEN=qian, **service.at).stdout
    assert "  decided by qian as chief: nobody knows" in told
    assert "  result: replay (CN2002 17.6)" in told
    done = caipan(*decided, ok=1, CAIPAN_TOKEN="nonsense", **service.at)
    assert "the token cannot be read" in done.stderr


def test_who_may_not_decide_here_is_told_before_a_ruling_is_shown_as_his(service: Service) -> None:
    here = send(service, "H/r1/b2", DOUBLE)
    recorder = token(service, "zhao", "RECORDER")
    elsewhere = caipan("token", "--person", "zhao", "--role", "ARBITER", "--games", "X", **service.at).stdout.strip()
    for given, why in (
        (recorder, "ruling_decided needs one of the roles ARBITER, DEPUTY, CHIEF, COMMITTEE"),
        (elsewhere, "the token is not good for the game 'H/r1/b2'"),
    ):
        done = caipan("rule", here, *VOID, "--yes", ok=1, CAIPAN_TOKEN=given, **service.at)
        assert why in done.stderr
        assert "decided by zhao" not in done.stdout


def terminal(service: Service, *arguments: str, answers: list[tuple[str, str]]) -> tuple[int, str]:
    """The command at a terminal; each answer is given once its question is there. Returns its end and what was seen."""
    ours, theirs = pty.openpty()
    variables = environment(TERM="xterm", NO_COLOR="1", **service.at)
    seen, start = "", 0
    with subprocess.Popen([*COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=variables) as asking:
        os.close(theirs)
        for question, answer in answers:
            while question not in seen[start:]:
                seen += os.read(ours, 4096).decode("utf-8", "replace")
            start = len(seen)
            os.write(ours, f"{answer}\n".encode())
        code = asking.wait(60)
        while True:
            try:
                rest = os.read(ours, 4096)
            except OSError:
                break
            if not rest:
                break
            seen += rest.decode("utf-8", "replace")
    os.close(ours)
    return code, seen


def test_at_a_terminal_what_is_missing_is_asked_for_and_the_preview_confirmed(service: Service) -> None:
    here = send(service, "I/r1/b1", DOUBLE)
    questions = [("what is ruled:", "7"), ("what is ruled:", "1"), ("the reason:", "two stones"), ("[y/N]:", "n")]
    code, seen = terminal(service, "rule", here, answers=questions)
    assert code == 1
    assert "1  VOID_AND_WARN  该着无效，警告一次  The move is void; one warning  (arbiter; CN2002 17.2)" in seen
    assert "a number from 1 to 2" in seen
    assert "nothing was recorded" in seen
    assert seen.count("VOID_AND_WARN  该着无效") == 2  # in the menu and in the preview
    code, seen = terminal(service, "rule", here, answers=[questions[0], ("what is ruled:", "\x04")])
    assert (code, "caipan: nothing was recorded" in seen) == (1, True)
    named = [("what is ruled:", "void_and_warn"), questions[2], ("[y/N]:", "y")]
    code, seen = terminal(service, "rule", here, answers=named)
    assert code == 0
    assert "case 5 decided: VOID_AND_WARN" in seen
    assert caipan("cases", here, **service.at).stdout == "no open cases\n"


def test_at_a_terminal_a_case_is_chosen_by_its_number_and_a_clause_that_is_none_is_asked_for_again(
    service: Service,
) -> None:
    here = send(service, "I/r1/b3", DOUBLE)
    caipan("conduct", here, "phone-sound", "--against", "W", **service.at)
    caipan("conduct", here, "smoking", "--against", "W", **service.at)
    chosen = [("(its number):", "2"), ("(its number):", "6"), ("what is ruled:", "WARN"), ("the reason:", "it rang")]
    code, seen = terminal(service, "rule", here, answers=[*chosen, ("[y/N]:", "y")])
    assert code == 0, seen
    assert "  one of 5, 6, 7" in seen
    assert "case 6 decided: WARN under CN2002 23.7" in seen
    here = send(service, "I/r1/b4", "B Q16")
    asked = [("the clause:", "99"), ("the clause:", "17.4"), ("what is ruled:", "WARN"), ("the reason:", "\x04")]
    code, seen = terminal(service, "rule", here, answers=asked)
    assert (code, "CN2002 has no clause '99'; the nearest are: 19" in seen) == (1, True)


def test_at_a_terminal_effects_that_an_option_leaves_open_are_asked_for(service: Service) -> None:
    here = send(service, "I/r1/b2", "B Q16, W D4")
    questions = [
        ("the clause:", "12.4(7)"),
        ("what is ruled:", "4"),
        ("the reason:", "stalling"),
        ("(e.g. ", "warm"),
        ("(e.g. ", "warn player=W"),
        ("[y/N]:", "y"),
    ]
    code, seen = terminal(service, "rule", here, answers=questions)
    assert code == 0, seen
    assert "'warm' is no effect; the effects are warn, admonish, void_move" in seen
    assert "a warning for White" in seen


# claim, conduct, consent


def test_a_claim_joins_its_case_and_a_late_one_is_told(service: Service) -> None:
    here = send(service, "J/r1/b1", DOUBLE)
    told = caipan("claim", here, "--clause", "17.2", "--by", "W", "--against", "B", **service.at).stdout
    assert "? case 5 against Black: CN2002 17.2: VOID_AND_WARN (arbiter), DISMISS (arbiter)" in told
    late = send(service, "J/r1/b2", "B press, B Q16, W D4")
    told = caipan("claim", late, "--clause", "17.4", "--by", "w", **service.at).stdout
    assert "White's claim under CN2002 17.4 comes too late" in told


def test_a_board_scattered_is_set_up_again_where_both_agree(service: Service) -> None:
    here = send(service, "J/r1/b3", "B Q16, W D4")
    caipan("claim", here, "--clause", "17.6", **service.at)
    told = caipan("consent", here, "--by", "B", "--proposal", "move 2", **service.at).stdout
    assert "DRAW (chief)" in told
    told = caipan("consent", here, "--by", "W", "--proposal", "move 2", **service.at).stdout
    assert "CONTINUE (arbiter)" in told
    told = caipan("rule", here, "--option", "CONTINUE", "--reason", "both agree", "--yes", **service.at).stdout
    assert "  then: Black to move, move 2 made" in told


def test_a_consent_needs_a_player_and_a_case(service: Service) -> None:
    here = send(service, "J/r1/b4", "B Q16")
    assert "--by: missing: which player" in said(caipan("consent", here, ok=2, **service.at).stderr)
    assert "CASE: missing: which case; open are: none" in said(
        caipan("consent", here, "--by", "B", ok=2, **service.at).stderr
    )


def test_conduct_opens_a_case_and_is_told_as_json_too(service: Service) -> None:
    here = send(service, "J/r1/b5", "B Q16")
    (told,) = objects(caipan("conduct", here, "phone-look", "--against", "W", "--json", **service.at).stdout)
    (case,) = told["outcome"]["verdict"]["cases"]
    assert case["candidates"][0]["key"] == "CN2002 23.7 look"


def test_a_claim_under_no_clause_or_in_no_game_is_not_recorded(service: Service) -> None:
    here = send(service, "J/r1/b6", "B Q16")
    for command in (["claim", here, "--by", "B"], ["conduct", here, "other"]):
        done = caipan(*command, "--clause", "17.9", ok=2, **service.at)
        assert "CN2002 has no clause '17.9'; the nearest are: 17.6" in said(done.stderr)
    for command in (["claim", "J/r9/b9"], ["conduct", "J/r9/b9", "smoking"]):
        assert "no game 'J/r9/b9' was opened here" in caipan(*command, ok=1, **service.at).stderr
    assert "2 outcomes" in caipan("show", here, **service.at).stdout


# penalties


def test_penalties_and_rulings_side_by_side(service: Service) -> None:
    for board, side, option in ((1, "B", "WARN"), (2, "W", "WARN"), (3, "B", "ADMONISH")):
        here = send(service, f"K/r1/b{board}", "B Q16")
        arguments = ["--clause", "12.4(7)", "--against", side, "--option", option, "--reason", "stalling", "--yes"]
        caipan("rule", here, *arguments, "--role", "CHIEF", **service.at)
    told = caipan("penalties", "--tournament", "K", "--person", "li", **service.at).stdout.splitlines()
    assert [line.partition(" under")[0] for line in told] == [
        "K/r1/b1  Black (li)  a warning",
        "K/r1/b3  Black (li)  an admonition",
    ]
    told = caipan("penalties", "--tournament", "K", "--compare", "12.4(7)", **service.at).stdout.splitlines()
    assert told[0].endswith(": 3 rulings, they differ: see the lines with ≠")
    assert [line[0] for line in told[1:]] == [" ", " ", "≠"]
    (compared,) = objects(
        caipan("penalties", "--tournament", "K", "--compare", "12.4(7)", "--json", **service.at).stdout
    )
    assert compared["unequal"] is True
    done = caipan("penalties", "--tournament", "K", "--compare", "17.9", ok=2, **service.at)
    assert "CN2002 has no clause '17.9'; the nearest are: 17.6" in said(done.stderr)
    assert "--compare needs --tournament alone" in said(
        caipan("penalties", "--compare", "17.2", ok=2, **service.at).stderr
    )


# round


def test_a_round_is_paused_and_goes_on_game_by_game(service: Service) -> None:
    for board in (1, 2):
        send(service, f"L/r1/b{board}", "B Q16")
    send(service, "L/r2/b1")
    assert caipan("round", "start", "L", "1", **service.at).stdout == "L/r1/b1  started\nL/r1/b2  started\n"
    pause = ["round", "pause", "L", "1", "--request-id", "p1", "--at", "2026-05-04T10:30:00+08:00"]
    for _ in range(2):
        told = caipan(*pause, **service.at).stdout
        found = "      ! the time lies before the game time (REG clock_skew_ms)\n"
        assert told == f"L/r1/b1  paused\n{found}L/r1/b2  paused\n{found}"
    other = caipan("round", "resume", *pause[2:], ok=1, **service.at)
    assert "L/r1/b1  NOT MARKED: 'p1' stands for another event of this game" in other.stdout
    assert "paused" in caipan("show", "L/r1/b2", **service.at).stdout
    assert "paused" not in caipan("show", "L/r2/b1", **service.at).stdout
    assert [
        each["game_id"] for each in objects(caipan("round", "resume", "L", "1", "--json", **service.at).stdout)
    ] == [
        "L/r1/b1",
        "L/r1/b2",
    ]


def test_a_paused_game_that_is_started_is_told_to_stay_paused(service: Service) -> None:
    send(service, "L/r3/b1", "B Q16")
    caipan("round", "pause", "L", "3", **service.at)
    told = caipan("round", "start", "L", "3", **service.at).stdout
    assert told.startswith("L/r3/b1  STAYS PAUSED; it goes on with caipan round resume L 3\n")


def test_a_game_that_cannot_be_marked_is_named_and_the_others_are_marked(service: Service) -> None:
    send(service, "M/r1/b1", "B Q16")
    done = caipan(
        "round", "pause", "M", "1", "--game", "M/r1/b1", "--game", "M/r1/b7", "--request-id", "p", ok=1, **service.at
    )
    assert done.stdout.splitlines()[0] == "M/r1/b1  paused"
    assert "M/r1/b7  NOT MARKED: no game of this id is open" in done.stdout
    assert "1 of 2 games were not marked; mend that, then repeat it with --request-id p --at 1" in done.stderr
    assert "no game of round 9 is in play" in caipan("round", "pause", "M", "9", ok=1, **service.at).stderr


def test_a_query_that_runs_apart_is_asked_there(service: Service, tmp_path: Path) -> None:
    here = send(service, "N/r1/b1", DOUBLE)
    elsewhere = {**service.at, "CAIPAN_QUERY": "127.0.0.1:1"}
    for command in (["rule", here, *VOID, "--yes"], ["consent", here, "--by", "B"], ["round", "pause", "N", "1"]):
        done = caipan(*command, ok=1, **elsewhere)
        assert "127.0.0.1:1: no service answers" in done.stderr
