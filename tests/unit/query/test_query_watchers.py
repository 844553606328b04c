"""What readers of one game share."""

from __future__ import annotations

from support.boards import filled

from caipan.query.watchers import Feed
from caipan.query.writing import Served

SERVED = [
    Served("game", outcome.verdict.seq, outcome.head, outcome.SerializeToString()) for outcome in filled(150).outcomes
]


def seqs(feed: Feed, after: int) -> list[int]:
    return [seq for seq, _ in feed.recent_after(after)]


def test_recent_outcomes_follow_on_each_other() -> None:
    feed = Feed("g1")
    feed.publish(SERVED[4:7])
    feed.publish(SERVED[7:8])
    assert seqs(feed, 4) == [5, 6, 7, 8]
    assert seqs(feed, 7) == [8]
    assert seqs(feed, 8) == []
    assert feed.seq == 8


def test_outcomes_that_are_not_all_kept_are_left_to_the_tables() -> None:
    feed = Feed("g1")
    assert seqs(feed, 0) == []
    feed.publish(SERVED)
    assert seqs(feed, 1) == []
    assert seqs(feed, 100) == list(range(101, 152))


def test_a_hole_in_what_was_told_is_never_handed_on() -> None:
    feed = Feed("g1")
    feed.publish(SERVED[:3])
    feed.publish(SERVED[5:7])
    assert seqs(feed, 2) == []
    assert seqs(feed, 5) == [6, 7]
