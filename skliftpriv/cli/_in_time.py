"""Calls that are ended when they take too long: made in another process, which can be killed."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Self

__all__ = ["InTime", "OutOfTime"]


class OutOfTime(Exception):
    """A call took longer than it was given, or its process was ended from outside."""


class InTime:
    """Makes calls in another process, one after the other; a context manager.

    A process is started for the first call, and again after one that had to be ended.
    """

    def __init__(self) -> None:
        # The other process is not a copy of this one, whose threads a copy would not have. A server
        # imports everything once and is itself copied, so that starting again takes no time.
        quick = "forkserver" in get_all_start_methods()
        self._context: Any = get_context("forkserver" if quick else "spawn")
        if quick:
            self._context.set_forkserver_preload(["skliftpriv.estimators"])
        self._process: Any = None
        self._calls: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def call(self, function: Callable[..., Any], *arguments: Any, seconds: float) -> Any:
        """Call a function of a module, and return what it returns.

        Parameters
        ----------
        function : callable
            It must not raise: what it raises ends the process.
        *arguments
            What it gets; they are pickled.
        seconds : float
            Time that the call may take. To start a process is not counted.

        Raises
        ------
        OutOfTime
            If the time is over, or the process has gone.
        """
        self._start()
        self._calls.send((function, arguments))
        try:
            if self._calls.poll(seconds):
                return self._calls.recv()
        except EOFError:  # it was ended, for want of memory say
            pass
        self._end()
        raise OutOfTime

    def _start(self) -> None:
        if self._process is not None:
            return
        self._calls, theirs = self._context.Pipe()
        self._process = self._context.Process(target=_work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self._calls.recv()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._calls.close()
            self._process = None


def _work(calls: Connection) -> None:
    # Ctrl-C is for the process that waits, which then ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    calls.send("ready")
    while True:
        try:
            function, arguments = calls.recv()
        except EOFError:
            return
        calls.send(function(*arguments))
