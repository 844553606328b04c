"""Waiting for others until Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from threading import Event, Timer, main_thread

import pytest

from caipan.cli.ctrl_c import until_ctrl_c

LONG_S = 60.0


@pytest.fixture(autouse=True)
def as_at_a_terminal() -> Iterator[None]:
    """Ctrl-C interrupts, also where the tests were started in the background, with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press() -> None:
    """The signal reaches the main thread before it does anything else, however busy the machine is."""
    signal.pthread_kill(main_thread().ident or 0, signal.SIGINT)


def one_then_nothing() -> Iterator[int]:
    yield 1
    Event().wait(LONG_S)


def test_items_come_in_their_order_and_end() -> None:
    assert list(until_ctrl_c(range(1000))) == list(range(1000))


def test_an_error_is_raised_behind_what_came_before_it() -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise OSError("away")

    taken = until_ctrl_c(failing())
    assert next(taken) == 1
    with pytest.raises(OSError, match="away"):
        next(taken)


def test_ctrl_c_ends_the_wait_behind_what_came_before_it() -> None:
    timer = Timer(0.2, press)
    timer.start()
    assert list(until_ctrl_c(one_then_nothing())) == [1]
    timer.join()


def test_ctrl_c_while_an_item_is_printed_raises_nothing_and_a_second_one_does() -> None:
    before = signal.getsignal(signal.SIGINT)
    taken = until_ctrl_c(one_then_nothing())
    next(taken)
    press()
    with pytest.raises(KeyboardInterrupt):
        press()
    assert list(taken) == []
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_in_a_finalizer_is_not_lost() -> None:
    class Pressing:
        def __del__(self) -> None:
            press()

    taken = until_ctrl_c(one_then_nothing())
    next(taken)
    Pressing()
    assert list(taken) == []
