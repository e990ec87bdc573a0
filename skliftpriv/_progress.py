"""A progress line on standard error."""

from __future__ import annotations

import sys
from time import perf_counter

_WIDTH = 30
_PAUSE = 0.1
"""Seconds between two updates."""
_LONGEST = 100
"""Most characters of a line."""


class Progress:
    """A line that is overwritten as a task proceeds.

    Parameters
    ----------
    shown : bool, optional
        Whether to show the line; by default only if standard error is a terminal.
    """

    def __init__(self, shown: bool | None = None) -> None:
        there = sys.stderr is not None
        self.shown = there and (sys.stderr.isatty() if shown is None else shown)
        self._last = -_PAUSE
        self._length = 0

    def bar(self, task: str, done: float, detail: str = "") -> None:
        """Show the share of a task that is done, from 0 to 1. At 1 the line ends."""
        full = int(_WIDTH * min(done, 1.0))
        bar = "#" * full + "." * (_WIDTH - full)
        self.line(f"{task:<12} [{bar}] {min(done, 1.0):4.0%} {detail}".rstrip(), last=done >= 1)

    def line(self, text: str, *, last: bool = False) -> None:
        """Replace the line unless this was done a moment ago; the last text is always shown."""
        now = perf_counter()
        if not self.shown or (not last and now - self._last < _PAUSE):
            return
        self._last = now
        text = text[:_LONGEST]
        print(f"\r{text:<{self._length}}", end="", file=sys.stderr, flush=True)
        self._length = max(self._length, len(text))
        if last:
            self.end()

    def end(self) -> None:
        """End the line, so that what is printed next starts on a new one."""
        if self._length:
            print(file=sys.stderr, flush=True)
        self._length = 0
