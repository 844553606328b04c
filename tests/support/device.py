"""A device on the stream of the gateway: it sends its events in order, and goes on after a cut as its manual says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import grpc

from caipan.serving.errors import detail_of
from caipan.v1 import intake_service_pb2 as pb
from caipan.v1.event_pb2 import Event
from caipan.v1.intake_service_pb2_grpc import IntakeServiceStub
from support.intake import metadata

PASSING = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)

Pause = Callable[[], Awaitable[object]]


class Call:
    """One stream. ``acknowledged`` and ``judged`` are what was read on it."""

    def __init__(self, stub: IntakeServiceStub, **caller: Any) -> None:
        """``caller`` as in ``metadata``."""
        self.acknowledged: list[pb.Acknowledged] = []
        self.judged: list[pb.Judged] = []
        self.grpc = stub.StreamEvents(metadata=metadata(**caller))

    async def send(self, *events: Event, wait: pb.Wait = pb.WAIT_UNSPECIFIED) -> None:
        for event in events:
            await self.grpc.write(pb.StreamEventsRequest(event=event, wait=wait))

    async def read(self, answers: int) -> None:
        """Reads so many further answers. Raises AioRpcError."""
        for _ in range(answers):
            answer = await self.grpc.read()
            assert answer != grpc.aio.EOF
            self._take(answer)

    async def read_until(self, acknowledged: int, judged: int) -> None:
        """Reads on until so many answers of each kind are there. Raises AioRpcError."""
        while len(self.acknowledged) < acknowledged or len(self.judged) < judged:
            await self.read(1)

    async def rest(self) -> None:
        """Closes the sending side and reads to the end. Raises AioRpcError."""
        await self.grpc.done_writing()
        await self.end()

    async def end(self) -> None:
        """Reads to the end. Raises AioRpcError."""
        while (answer := await self.grpc.read()) != grpc.aio.EOF:
            self._take(answer)
        assert await self.grpc.code() == grpc.StatusCode.OK

    def _take(self, answer: pb.StreamEventsResponse) -> None:
        if answer.HasField("acknowledged"):
            self.acknowledged.append(answer.acknowledged)
        else:
            self.judged.append(answer.judged)


class Device:
    """Sends ``events``, with a ``pause`` before each; ``acknowledged`` tells which of them it need not send again."""

    def __init__(self, events: Sequence[Event], pause: Pause) -> None:
        self.events = events
        self.acknowledged: list[pb.Acknowledged] = []
        self.judged: list[pb.Judged] = []
        self.streams = 0
        self._pause = pause

    async def run(self, stub: IntakeServiceStub, **caller: Any) -> None:
        """Opens streams until one has ended well."""
        while not await self._stream(stub, **caller):  # noqa: ASYNC110 - nothing tells when it is worth a try
            await asyncio.sleep(0.01)

    async def _stream(self, stub: IntakeServiceStub, **caller: Any) -> bool:
        self.streams += 1
        call = Call(stub, **caller)
        sending = asyncio.create_task(self._send(call, self.events[len(self.acknowledged) :]))
        try:
            await call.end()
        except grpc.aio.AioRpcError as error:
            if error.code() not in PASSING and not _is_broken(error):
                raise
            return False
        finally:
            call.grpc.cancel()
            sending.cancel()
            with suppress(asyncio.CancelledError):
                await sending
            self.acknowledged += call.acknowledged
            self.judged += call.judged
        return True

    async def _send(self, call: Call, events: Sequence[Event]) -> None:
        with suppress(grpc.RpcError, grpc.aio.InternalError, asyncio.InvalidStateError):  # whoever reads is told why
            for event in events:
                await self._pause()
                await call.send(event)
            await call.grpc.done_writing()


def _is_broken(error: grpc.aio.AioRpcError) -> bool:
    """Whether the connection broke during a write, which this client library tells of in its own way."""
    return error.code() is grpc.StatusCode.INTERNAL and detail_of(error) is None
