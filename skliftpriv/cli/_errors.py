"""Errors as one line that says what to do."""

from __future__ import annotations

import os
import re

from ..exceptions import SkliftprivError

__all__ = ["CommandError", "one_line"]


#: Parameters that messages of estimators name, and that are options here.
_NAMED = re.compile(
    r"\b(epsilon|notion|lam|alpha|smoothing|confidence|output|handle_unknown|strategy|delta|"
    r"time_limit)=(['\"]?)(?!None)([-\w.]+)\2"
)


#: What scikit-learn says of a parameter outside its domain.
_DOMAIN = re.compile(r"The '(\w+)' parameter of \w+ must be (.+?)\. Got (.+) instead\.")
#: Parts of that which mean nothing on a command line.
_PYTHON = re.compile(r",? (?:or )?an instance of .*| or None$")


class CommandError(SkliftprivError):
    """What was asked for cannot be done; the message says what to do instead."""


def one_line(error: BaseException) -> str:
    """Write an error or a warning in one line, with the names that the options have here."""
    if isinstance(error, OSError) and error.errno is not None:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{os.strerror(error.errno)}."
    text = " ".join(str(error).split()) or type(error).__name__
    text = _DOMAIN.sub(
        lambda found: f"{found[1]}={found[3]} must be {_PYTHON.sub('', found[2])}.", text
    )
    text = text.replace("remainder='passthrough'", "--keep-other-columns")
    return _NAMED.sub(lambda found: f"--{found[1].replace('_', '-')} {found[3]}", text)
