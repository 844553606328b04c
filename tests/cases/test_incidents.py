"""Each incident, its script played and what must come of it; the log judged again gives the same bytes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.play import Play

from cases import real_games, software, streams

INCIDENTS = [*real_games.INCIDENTS, *software.INCIDENTS, *streams.INCIDENTS]


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda incident: incident.__name__)
def test_incident(incident: Callable[[], Play]) -> None:
    play = incident()
    assert play.again()[1] == play.outcomes
    assert play.drawn() == play.stones()
