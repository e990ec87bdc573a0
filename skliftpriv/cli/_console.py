"""What a command prints: its result as text or valid JSON, and warnings in one line."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

import numpy as np

from .._progress import Progress, is_watched
from ..exceptions import SeededReleaseWarning
from ._errors import UNSAFE, one_line, safe_text

__all__ = ["Console", "as_json", "one_line_warnings", "say"]


class Console:
    """Prints the result of a command and shows its progress.

    Parameters
    ----------
    json : bool
        Whether results are JSON rather than text.
    progress : bool
        Whether to show progress even if standard error is not a terminal.
    data_on_stdout : bool
        Whether standard output is taken by the data, so that results go to standard error.
    """

    def __init__(self, *, json: bool, progress: bool, data_on_stdout: bool = False) -> None:
        self._json = json
        self._out = sys.stderr if data_on_stdout else sys.stdout
        self.progress = Progress(progress or is_watched())

    def tell(self, text: str | Sequence[str], data: Mapping[str, Any]) -> None:
        """Print the result, as lines of text or as JSON.

        Labels and names come from files; what they contain cannot add lines to the output.
        """
        self.progress.end()
        if self._json:
            encoding = (self._out and self._out.encoding) or "utf-8"
            say(as_json(data, ascii=not encoding.lower().startswith("utf")), self._out)
        else:
            lines = text.split("\n") if isinstance(text, str) else text
            say("\n".join(map(safe_text, lines)), self._out)


def say(text: str, out: TextIO | None) -> None:
    """Print text, with escapes for what the terminal cannot write."""
    if out is not None:
        known = out.encoding or "utf-8"
        print(text.encode(known, "backslashreplace").decode(known), file=out, flush=True)


def as_json(data: Any, *, ascii: bool = False) -> str:
    """Write plain data as JSON: infinities as the strings "inf" and "-inf", NaN as null."""
    text = json.dumps(_plain(data), indent=2, ensure_ascii=ascii, allow_nan=False)
    # The line feeds between values stay. Everything else is within strings, where JSON has escapes.
    return "\n".join(
        UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], line) for line in text.split("\n")
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _key(key: Any) -> str:
    return " & ".join(map(str, key)) if isinstance(key, tuple) else str(key)


@contextmanager
def one_line_warnings(program: str) -> Iterator[None]:
    """Show warnings in one line each, without the line of code that they come from."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = one_line(message) if isinstance(message, Warning) else safe_text(message)
        say(f"{program}: warning: {text}", sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        # --seed has a warning of its own.
        warnings.simplefilter("ignore", SeededReleaseWarning)
        warnings.showwarning = show
        yield
