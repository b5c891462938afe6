"""Ctrl-C is a KeyboardInterrupt, whatever libraries do at the same time."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType


def _can_be_interrupted() -> bool:
    return current_thread() is main_thread() and callable(signal.getsignal(signal.SIGINT))


@contextmanager
def delay_interrupts() -> Iterator[None]:
    """Raise SIGINT again at the end of the block, if it came before."""
    if not _can_be_interrupted():
        yield
        return
    noted: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: noted.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if noted:
        signal.raise_signal(signal.SIGINT)


@contextmanager
def restore_interrupt_handler() -> Iterator[None]:
    """Install the handler of SIGINT again at the end of the block."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if current_thread() is main_thread():
            signal.signal(signal.SIGINT, before)


@contextmanager
def raise_interrupts(end_work: Callable[[], None] = lambda: None) -> Iterator[None]:
    """After SIGINT, call `end_work` and raise KeyboardInterrupt, even if a library turns it into an
    error of its own.
    """
    if not _can_be_interrupted():
        yield
        return
    noted: list[int] = []

    def interrupt(number: int, _: FrameType | None) -> None:
        if not noted:
            noted.append(number)
            end_work()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if noted:
            raise KeyboardInterrupt from None
