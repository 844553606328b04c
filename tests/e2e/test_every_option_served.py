"""Every option of every clause through the gateway: each act by its own person, and the verdicts of the fold."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import groupby
from pathlib import Path

import pytest
from clauses.test_every_option import CHOICES, Choice, scene
from support.intake import House
from support.play import Play
from support.served import as_sent, told

from caipan.v1.common_pb2 import Role


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with House(tmp_path) as house:
        yield house


def ruled(choice: Choice) -> Play:
    play = scene(choice)
    return play if play.cases == ["DECIDED"] else choice.rule(play, choice.role)


async def test_every_option_is_taken_through_the_gateway_as_in_the_fold(house: House) -> None:
    assert len(CHOICES) > 150
    for number, choice in enumerate(CHOICES):
        play = ruled(choice)
        verdicts = []
        for (person, role), acts in groupby(as_sent(play, f"g{number}"), lambda act: (act[1].person, act[1].role)):
            name = Role.Name(role).removeprefix("ROLE_")
            results = await house.append(*(event for event, _ in acts), roles=[name], person=person)
            verdicts += [result.outcome.verdict for result in results]
        assert list(map(told, verdicts)) == list(map(told, play.verdicts)), str(choice)
