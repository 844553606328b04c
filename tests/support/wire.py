"""A network between a client and a service that can be cut."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Self


class Wire:
    """Listens on a free loopback port and passes everything on to ``port``, both ways, until it is cut."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._thawed = asyncio.Event()
        self._thawed.set()
        self._pairs: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.cut()
        await asyncio.gather(*self._pairs, return_exceptions=True)

    def cut(self) -> None:
        """Breaks all connections off, with whatever is under way on them; new ones are taken."""
        for pair in self._pairs:
            pair.cancel()

    def freeze(self) -> None:
        """Lets nothing through from now on, and tells neither side."""
        self._thawed.clear()

    async def _connect(self, near: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._pairs.add(task)
        task.add_done_callback(self._pairs.discard)
        writers = [answers]
        try:
            with suppress(OSError):
                far, requests = await asyncio.open_connection("127.0.0.1", self._to)
                writers.append(requests)
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._pass_on(near, requests))
                    both.create_task(self._pass_on(far, answers))
        except (asyncio.CancelledError, ExceptionGroup):
            pass  # cut, by the test or by one of the ends
        finally:
            for writer in writers:
                writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Until one of the two is gone."""
        while data := await reader.read(1 << 16):
            await self._thawed.wait()
            writer.write(data)
            await writer.drain()
        raise ConnectionResetError
