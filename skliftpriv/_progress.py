"""A progress line on standard error."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Self

_WIDTH = 30
_PAUSE = 0.1
"""Seconds between two updates."""
_LONGEST = 100
"""Most characters of a line."""
_PATIENCE = 3.0
"""Seconds after which a task shows a line that nobody asked for."""


def is_watched() -> bool:
    """Tell whether somebody reads standard error: in a terminal or a notebook.

    Other processes and threads work for the main one, and their lines would get in its way.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if multiprocessing.parent_process() is not None or not in_main_thread:
        return False
    try:
        # The stream of a notebook is not a terminal.
        return sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel.")
    except (AttributeError, ValueError):  # there is none, it cannot tell, or it is closed
        return False


def _room() -> int:
    """Return how many characters fit into one line; a longer one could not be overwritten."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (AttributeError, ValueError, OSError):  # not a terminal
        return _LONGEST
    return columns - 1 if 1 < columns <= _LONGEST else _LONGEST


class Progress:
    """A line that is overwritten as a task proceeds.

    Parameters
    ----------
    shown : bool, optional
        Whether to show the line. By default it is shown once the task takes longer than three
        seconds, in a terminal or a notebook; or, within another task, if that one's line is.
    """

    def __init__(self, shown: bool | None = None) -> None:
        around = _around.get()
        self._line: Progress = self if around is None else around._line
        self._asked = shown is not None
        if shown is None:
            shown = is_watched() if around is None else around.shown
        self.shown: bool = bool(shown) and sys.stderr is not None
        self._start = perf_counter()
        self._last = float("-inf")
        self._length = 0

    @contextmanager
    def lent(self) -> Iterator[Self]:
        """Lend the line to the tasks that start within this block, which do not end it.

        The solver of one point of a curve writes to the line of the curve, for example.
        """
        token = _around.set(self)
        try:
            yield self
        finally:
            _around.reset(token)
            self.end()

    def bar(self, task: str, done: float, detail: str = "") -> None:
        """Show the share of a task that is done, from 0 to 1. At 1 the line ends."""
        full = int(_WIDTH * min(done, 1.0))
        bar = "#" * full + "." * (_WIDTH - full)
        self.line(f"{task:<12} [{bar}] {min(done, 1.0):4.0%} {detail}".rstrip(), last=done >= 1)

    def line(self, text: str, *, last: bool = False) -> None:
        """Replace the line unless this was done a moment ago.

        The last text is always shown, but by default only if another one was shown before.
        """
        if not self.shown:
            return
        now, line = perf_counter(), self._line
        short = now - self._start < _PATIENCE or (last and not line._length)
        if (short and not self._asked) or (not last and now - self._last < _PAUSE):
            return
        self._last = now
        text = text[: _room()]
        print(f"\r{text:<{line._length}}", end="", file=sys.stderr, flush=True)
        line._length = max(line._length, len(text))
        if last:
            self.end()

    def end(self) -> None:
        """End the line, so that what is printed next starts on a new one."""
        if self._line is not self:
            return
        if self._length:
            print(file=sys.stderr, flush=True)
        self._length = 0


#: The task in whose block the current one runs.
_around: ContextVar[Progress | None] = ContextVar("around", default=None)
