"""A bar on standard error for work that takes long."""

from __future__ import annotations

import sys
from time import perf_counter

__all__ = ["Progress"]

_WIDTH = 30
_PAUSE = 0.1


class Progress:
    """Shows how much of a task is done, if somebody is there to see it.

    Parameters
    ----------
    shown : bool
        Whether to show anything.
    """

    def __init__(self, shown: bool) -> None:
        self.shown = shown
        self._last = 0.0
        self._open = False

    def show(self, what: str, done: float) -> None:
        """Show that a share of a task is done.

        Parameters
        ----------
        what : str
            The task.
        done : float
            Share from 0 to 1.
        """
        if not self.shown or (done < 1 and perf_counter() - self._last < _PAUSE):
            return
        self._last = perf_counter()
        full = int(_WIDTH * min(done, 1.0))
        bar = "#" * full + "." * (_WIDTH - full)
        print(f"\r{what:<12} [{bar}] {min(done, 1.0):4.0%}", end="", file=sys.stderr, flush=True)
        self._open = True
        if done >= 1:
            self.end()

    def end(self) -> None:
        """Leave the line, so that whatever comes next has its own."""
        if self._open:
            print(file=sys.stderr, flush=True)
        self._open = False
