"""Errors as one line that says what to do, and text that is safe to print in a terminal."""

from __future__ import annotations

import os
import re

from ..exceptions import SkliftprivError

__all__ = ["UNSAFE", "CommandError", "one_line", "safe_text"]


#: Parameters that messages of estimators name, and that are options here.
_NAMED = re.compile(
    r"\b(epsilon|notion|lam|alpha|cells|smoothing|confidence|output|handle_unknown|strategy|delta|"
    r"time_limit|record_id|min_count)=(['\"]?)(?!None)([-\w.]+)\2"
)


#: What scikit-learn says of a parameter outside its domain.
_DOMAIN = re.compile(r"The '(\w+)' parameter of \w+ must be (.+?)\. Got (.+) instead\.")
#: Parts of that which mean nothing on a command line.
_PYTHON = re.compile(r",? (?:or )?an instance of .*| or None$")

#: Characters that move the cursor, start a line, turn the direction of text, or have no encoding.
UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


class CommandError(SkliftprivError):
    """A command cannot be carried out; the message says what to do instead."""


def safe_text(text: str) -> str:
    r"""Escape control characters, so that data cannot forge lines of output.

    Parameters
    ----------
    text : str
        A line of text; a line feed in it is escaped, too.

    Examples
    --------
    >>> from skliftpriv.cli._errors import safe_text
    >>> print(safe_text("red: \x1b[31m\nand more"))
    red: \x1b[31m\nand more
    """
    return UNSAFE.sub(lambda found: ascii(found[0])[1:-1], text)


def one_line(error: BaseException) -> str:
    """Write an error or a warning in one line, with the names that the options have here."""
    if isinstance(error, OSError) and error.errno is not None:
        where = f"{error.filename}: " if error.filename else ""
        return safe_text(f"{where}{os.strerror(error.errno)}.")
    if isinstance(error, MemoryError):
        return "Not enough memory: use a smaller --chunk-rows, or fewer values."
    text = " ".join(str(error).split()) or type(error).__name__
    text = _DOMAIN.sub(
        lambda found: f"{found[1]}={found[3]} must be {_PYTHON.sub('', found[2])}.", text
    )
    text = text.replace("remainder='passthrough'", "--keep-other-columns")
    text = _NAMED.sub(lambda found: f"--{found[1].replace('_', '-')} {found[3]}", text)
    return safe_text(text)
