"""Handle Ctrl-C while the command imports its libraries: print one line and exit.

The imports take a second or two, before any code of the command line can run.
"""

from __future__ import annotations

import os
import signal
import sys
from itertools import pairwise
from pathlib import PurePath
from types import FrameType

__all__ = ["is_command"]

_INTERRUPTED = 130


def is_command() -> bool:
    """Return whether this process is the command ``skliftpriv`` or ``python -m skliftpriv``."""
    started = sys.argv[0] if sys.argv else ""
    if started == "-m":
        return ("-m", "skliftpriv") in pairwise(sys.orig_argv)
    return PurePath(started).name in ("skliftpriv", "skliftpriv.exe", "skliftpriv-script.py")


def _leave(number: int, frame: FrameType | None) -> None:
    # Exit at once: an exception during an import may be mistaken for a missing library.
    os.write(2, b"skliftpriv: error: interrupted.\n")
    os._exit(_INTERRUPTED)


if is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _leave)
