"""The digest of the state in force tells two states apart by whatever later facts are judged by."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.play import Play, refereed

from caipan.v1 import facts_pb2 as facts


def permitted() -> Play:
    """Black may talk to somebody."""
    return refereed().claim("B", kind="TALK").rule("PERMIT_TALK", role="CHIEF")


def away() -> Play:
    return refereed().moves("B D4, W Q4").presence("W", True).presence("W", False)


TOLD_APART: dict[str, tuple[Callable[[], Play], Callable[[Play], Play], Callable[[Play], Play]]] = {
    "the start was marked": (refereed, lambda play: play.mark("START"), lambda play: play.mark("START", at=9000)),
    "who has come": (refereed, lambda play: play.presence("B", True), lambda play: play.presence("W", True)),
    "who is away": (refereed, lambda play: play.presence("B", False), lambda play: play.presence("W", False)),
    "the last move must be shown": (
        away,
        lambda play: play.stone("B", "Q16"),
        lambda play: play.stone("B", "Q16").shown("B", "Q16"),
    ),
    "a talk goes on": (
        permitted,
        lambda play: play.conduct("B", "TALK_START", at=5000),
        lambda play: play.conduct("B", "TALK_START", at=6000),
    ),
    "what was sealed": (
        refereed,
        lambda play: play.say(facts.MoveSealed(digest=bytes(32)), "B"),
        lambda play: play.say(facts.MoveSealed(digest=bytes(31) + b"\1"), "B"),
    ),
}


@pytest.mark.parametrize("name", TOLD_APART)
def test_the_digest_tells_apart(name: str) -> None:
    begin, one, other = TOLD_APART[name]
    assert len({begin().digest, one(begin()).digest, other(begin()).digest}) == 3


def test_a_dismissed_case_is_not_a_case_that_never_was() -> None:
    quiet, dismissed = refereed(), refereed().conduct("B", "PHONE_SOUND").rule("DISMISS")
    assert dismissed.status == "FOLDED"
    assert dismissed.digest != quiet.digest


def test_a_presence_of_nobody_changes_nothing() -> None:
    play = refereed()
    before = play.digest
    assert play.presence("", True).presence("", False).digest == before
