"""How a fold gets its records: somebody says which partitions are its own and hands over what comes in them.

What stands in a partition when it is assigned is not delivered: its fold reads that from the log itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Protocol

from caipan.eventlog.errors import LogUnavailable
from caipan.eventlog.port import EventLog, Record

_AGAIN_S = 1.0


class Receiver(Protocol):
    """Who is told. Nothing of it raises, and nothing waits for the log without a bound."""

    def assigned(self, partitions: Collection[int], *, kept: bool) -> None:
        """These partitions and no others are its own now.

        `kept`: those that it had before the last `revoked` have been nobody else's since.
        """

    async def deliver(self, records: Sequence[Record]) -> None:
        """Records of one partition, at least one, in order; perhaps not all there are, perhaps some of them again."""

    async def revoked(self) -> None:
        """Whatever was assigned may go to others next: the last moment to store something in peace."""

    def positions(self) -> Mapping[int, int]:
        """The next offset of each partition that is folded, or was until it was revoked; what is before it is done."""


class Delivery(Protocol):
    """Who tells."""

    async def run(self, receiver: Receiver) -> None:
        """Delivers until it is cancelled; `revoked` is the last thing it says.

        Raises LogUnavailable when it cannot go on, and may be run again then; another LogError where that is of no use.
        """


class FollowedLog(Delivery):
    """The only one who folds a log: all partitions of the topic are its own from the start to the end."""

    def __init__(self, log: EventLog, topic: str) -> None:
        self._log = log
        self._topic = topic

    async def run(self, receiver: Receiver) -> None:
        partitions = range(self._log.partitions(self._topic))
        followers = [self._log.follow(self._topic, each, await self._log.end(self._topic, each)) for each in partitions]
        receiver.assigned(partitions, kept=False)
        try:
            await asyncio.gather(*(_hand_over(follower, receiver) for follower in followers))
        finally:
            await receiver.revoked()


async def _hand_over(follower: AsyncIterator[list[Record]], receiver: Receiver) -> None:
    while True:
        try:
            await receiver.deliver(await anext(follower))
        except LogUnavailable:  # the fold meets it too, and says so
            await asyncio.sleep(_AGAIN_S)
