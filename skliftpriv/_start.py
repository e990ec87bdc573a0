"""What comes first when the command is started: Ctrl-C is one line while libraries are imported.

Importing them takes a second or two, before any code of the command line can run.
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
    """Tell whether this process is the command ``skliftpriv`` or ``python -m skliftpriv``."""
    started = sys.argv[0] if sys.argv else ""
    if started == "-m":
        return ("-m", "skliftpriv") in pairwise(sys.orig_argv)
    return PurePath(started).name in ("skliftpriv", "skliftpriv.exe", "skliftpriv-script.py")


def _leave(number: int, frame: FrameType | None) -> None:
    # At once: an exception in the middle of an import may be taken for a library that is missing.
    os.write(2, b"skliftpriv: error: interrupted.\n")
    os._exit(_INTERRUPTED)


if is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _leave)
