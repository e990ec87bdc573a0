"""Signals end a command in order: what is half done is undone, what must be whole is finished."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["end_if_asked", "interruptible", "uninterrupted"]

#: A polite kill and a terminal that is closed clean up like Ctrl-C. Windows has not all of them.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class _State:
    """Whether signals have to wait, whether one does, and whether one came at all.

    A process has only one of these.
    """

    held = 0
    waiting = False
    asked = False


def _interrupt(number: int, frame: FrameType | None) -> None:
    _State.asked = True
    if _State.held:
        _State.waiting = True
    else:
        raise KeyboardInterrupt


def end_if_asked() -> None:
    """Raise KeyboardInterrupt if a signal came that somebody took for the end of a search only.

    Solvers stop at an interrupt and return the best mechanism so far, which a command must not
    release as if nobody had asked it to end.
    """
    if _State.asked:
        raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt for every signal that asks the process to end."""
    before = {}
    _State.held, _State.waiting, _State.asked = 0, False, False
    if threading.current_thread() is threading.main_thread():
        for name in _NAMES:
            number = getattr(signal, name, None)
            # What is ignored stays so: nohup, or a job in the background. None is not Python's.
            if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let signals wait until the block is through; KeyboardInterrupt is raised behind it."""
    _State.held += 1
    try:
        yield
    finally:
        _State.held -= 1
    if _State.waiting and not _State.held:
        _State.waiting = False
        raise KeyboardInterrupt
