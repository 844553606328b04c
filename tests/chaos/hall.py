"""A hall whose services are many processes on Kafka: clients spread over them, and who judges what."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from itertools import cycle
from random import Random

import grpc
from support.fleet import Fleet, Member

from caipan.v1.event_pb2 import Event
from caipan.v1.mark_pb2 import REFEREE_PHASE_JUDGING, REFEREE_PHASE_RECOVERING
from caipan.v1.operation_service_pb2 import GetStatusRequest, GetStatusResponse

from .load import CALL_S, Client, Seen

WITHIN_S = 100.0  # only so that a worker for which nobody steps in is noticed; it takes 8 s
_ASK_AGAIN_S = 0.1
_AT_WORK = (REFEREE_PHASE_RECOVERING, REFEREE_PHASE_JUDGING)


def spread(fleet: Fleet, make: Callable[..., Client] = Client, **options: object) -> Callable[[Seen, Random], Client]:
    """Makes clients by turns at each gateway, and at each query. ``make`` takes what Client takes, and ``options``."""
    gateways, queries = (cycle(fleet.running(kind)) for kind in ("gateway", "query"))

    def connect(seen: Seen, random: Random) -> Client:
        return make(next(gateways).address, fleet.folder, seen, random, reading=next(queries).address, **options)

    return connect


class Pace:
    """No more than so many events a second, until it is let go."""

    def __init__(self, per_s: float) -> None:
        self._each_s = 1 / per_s
        self._next_s = 0.0

    async def wait(self, events: int) -> None:
        clock = asyncio.get_running_loop().time
        start_s = max(self._next_s, clock())
        self._next_s = start_s + events * self._each_s
        await asyncio.sleep(start_s - clock())

    def let_go(self) -> None:
        """From now on nothing waits."""
        self._each_s = self._next_s = 0.0


class PacedClient(Client):
    """A client that keeps a pace, its own or one for all."""

    def __init__(self, *arguments: object, pace: Pace, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self._pace = pace

    async def insist(self, events: Sequence[Event]) -> None:
        await self._pace.wait(len(events))
        await super().insist(events)


async def judges_of(client: Client) -> dict[int, int]:
    """The process that judges each partition, as it says itself; 0 where nobody does; empty if that cannot be read."""
    try:
        status: GetStatusResponse = await client.operations.GetStatus(GetStatusRequest(), timeout=CALL_S)
    except grpc.aio.AioRpcError as error:  # a checkpoint that was broken off is in the way for a while
        if error.code() is not grpc.StatusCode.UNAVAILABLE:
            raise
        return {}
    return {
        each.partition: int(each.worker.rpartition(":")[2]) if each.phase in _AT_WORK else 0
        for each in status.partitions
    }


async def until_shared(client: Client, workers: Collection[Member]) -> dict[int, int]:
    """Waits until every partition is judged by one of these workers, and each of them has some; who has which."""
    pids = {worker.pid for worker in workers}
    judges: dict[int, int] = {}
    try:
        async with asyncio.timeout(WITHIN_S):
            while set(judges.values()) != pids:
                await asyncio.sleep(_ASK_AGAIN_S)
                judges = await judges_of(client) or judges
    except TimeoutError:
        raise AssertionError(f"the partitions are judged by {judges}, not by {pids}") from None
    return judges
