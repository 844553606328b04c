"""Ctrl-C while a command waits for others, without KeyboardInterrupt.

That may strike where a lock is held, which is then held for ever, or in a finalizer, where it is lost.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import Any, TypeVar

_AHEAD = 100  # items that may wait to be taken

T = TypeVar("T")


def until_ctrl_c(items: Iterable[T]) -> Iterator[T]:
    """The items as they come, waited for on a thread of their own, until Ctrl-C or their end; raises what they raise.

    What came before Ctrl-C is still told; a second one interrupts that, as it would any command.
    """
    come: SimpleQueue[T | Exception] = SimpleQueue()  # of all queues the one that a signal handler may put into
    room = Semaphore(_AHEAD)

    def wait_for_them() -> None:
        try:
            for item in items:
                come.put(item)
                room.acquire()
            come.put(StopIteration())
        except Exception as error:
            come.put(error)

    def stop(*_: Any) -> None:
        signal.signal(signal.SIGINT, before)
        come.put(StopIteration())

    before = signal.signal(signal.SIGINT, stop)
    try:
        Thread(target=wait_for_them, daemon=True).start()
        while not isinstance(item := come.get(), Exception):
            yield item
            room.release()
        if not isinstance(item, StopIteration):
            raise item
    finally:
        signal.signal(signal.SIGINT, before)
