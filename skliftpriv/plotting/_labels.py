"""Names and numbers as a reader can take them in: shortened, and honest about what is left out."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

import numpy as np

from .._arrays import Label
from .._format import share as _share
from ..channel import distinct, symbol_text

__all__ = ["infinity", "note_lines", "number", "share", "short_labels", "shorten", "signed"]

# No line break between the dots and the number of members that they stand for.
_GAP = "\N{NO-BREAK SPACE}"
_MINUS = "\N{MINUS SIGN}"


def short_labels(
    labels: Sequence[Label],
    shares: Sequence[float] | np.ndarray | None = None,
    *,
    width: int = 26,
    lines: int = 2,
    symbols: Sequence[Label] = (),
) -> list[str]:
    """Write labels in a few short lines each, all different, with their probabilities behind.

    Parameters
    ----------
    labels : sequence
        Symbols, or outputs that may be named ``{a, b, c}`` after the symbols they stand for.
    shares : sequence of float, optional
        Probabilities.
    width, lines : int
        Most characters of a line, and most lines.
    symbols : sequence
        The symbols that outputs are named after. Where one of them holds a comma, members of a
        set cannot be told apart by their names, and so are not counted.
    """
    countable = not any("," in symbol_text(symbol) for symbol in symbols)
    short = [shorten(label, width, lines, countable=countable) for label in labels]
    names = [str(name) for name in distinct(short)]
    if shares is None:
        return names
    return [f"{name}{_GAP}·{_GAP}{share(p)}" for name, p in zip(names, shares, strict=True)]


def shorten(label: Label, width: int = 26, lines: int = 2, *, countable: bool = True) -> str:
    """Write one label in at most ``lines`` lines of about ``width`` characters.

    A set loses its last members, and says how many: ``{Sales, Tech-support, … +3}``.
    """
    if isinstance(label, tuple) and len(_wrap(symbol_text(label), width)) > lines:
        room = max(width * lines // len(label) - 3, 4)
        parts = [shorten(part, room, 1, countable=countable) for part in label]
        # The parts are escaped already, and short enough.
        return "\n".join(_wrap(" & ".join(parts), width))
    return _escape(_fit(symbol_text(label), width, lines, countable))


def _fit(text: str, width: int, lines: int, countable: bool) -> str:
    for candidate in [text, *(_smaller_sets(text, width * lines) if countable else [])]:
        wrapped = _wrap(candidate, width)
        if len(wrapped) <= lines:
            return "\n".join(wrapped)
    # Wrapping may leave a line short, so what fits is found by trying.
    room = width * lines
    while len(wrapped := _wrap(_cut(text, room), width)) > lines:
        room -= 1
    return "\n".join(wrapped)


def _cut(text: str, room: int) -> str:
    """Leave out the middle: names that start alike often differ at the end."""
    if len(text) <= room:
        return text
    end = max(room // 3, 1)
    return f"{text[: max(room - end - 1, 1)].rstrip()}…{text[-end:].lstrip()}"


def _smaller_sets(text: str, room: int) -> list[str]:
    """Write a set ``{a, b, c}`` with fewer and fewer members, and at last with part of one."""
    if not (text.startswith("{") and text.endswith("}") and "} & {" not in text):
        return []
    members = text[1:-1].split(", ")
    more = re.fullmatch(r"(\d+) more", members[-1])
    hidden = int(more[1]) if more else 0
    members = members[:-1] if more else members
    sets = [
        f"{{{', '.join(members[:n])}, …{_GAP}+{len(members) - n + hidden}}}"
        for n in range(len(members) - 1, 0, -1)
    ]
    end = f", …{_GAP}+{len(members) - 1 + hidden}}}"
    return [*sets, "{" + _cut(members[0], max(room - len(end) - 4, 3)) + end]


def _wrap(text: str, width: int) -> list[str]:
    # Names are torn apart at a hyphen only if they are too long for a line.
    torn = any(len(word) > width for word in text.split())
    return textwrap.wrap(text, width, break_on_hyphens=torn) or [""]


def _escape(text: str) -> str:
    # A pair of dollar signs would be set as mathematics.
    return text.replace("$", r"\$")


def share(p: float) -> str:
    """Write a probability as a percentage, with a decimal where it is small."""
    return _share(float(p), fine=True)


def number(value: float, digits: int = 2) -> str:
    """Write a number with a proper minus sign, and infinities as a sign of their own."""
    if np.isinf(value):
        return infinity(value)
    # Adding 0.0 turns -0.0 into 0.0.
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", _MINUS)


def signed(value: float, digits: int = 2) -> str:
    """Write a number with its sign, for cells of log-lifts."""
    text = number(value, digits)
    return text if text.startswith(_MINUS) or float(text.replace("∞", "1")) == 0 else f"+{text}"


def infinity(value: float) -> str:
    """Write an infinity."""
    return "∞" if value > 0 else f"{_MINUS}∞"


def note_lines(text: str, inches: float) -> list[str]:
    """Break a note into lines that fit into a width, at the size in which notes are set."""
    return textwrap.wrap(_escape(text), max(int(inches / 0.058), 30))
