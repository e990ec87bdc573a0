"""Short labels that differ, and say how much they leave out."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

import numpy as np

from .._arrays import Label
from .._format import share
from ..labels import distinct, symbol_text

__all__ = ["short_labels", "shorten", "truncate"]

# No line break between the dots and the number of members that they stand for.
_GAP = "\N{NO-BREAK SPACE}"


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
    return [
        f"{name}{_GAP}·{_GAP}{share(float(p), fine=True)}"
        for name, p in zip(names, shares, strict=True)
    ]


def shorten(label: Label, width: int = 26, lines: int = 2, *, countable: bool = True) -> str:
    """Write one label in at most ``lines`` lines of about ``width`` characters.

    A set loses its last members, and says how many: ``{Sales, Tech-support, … +3}``.
    """
    if isinstance(label, tuple) and len(_wrap(symbol_text(label), width)) > lines:
        room = max(width * lines // len(label) - 3, 4)
        parts = [shorten(part, room, 1, countable=countable) for part in label]
        return "\n".join(_wrap(" & ".join(parts), width))
    return _fit(symbol_text(label), width, lines, countable)


def truncate(label: Label, most: int) -> str:
    """Write the beginning of a label, at most so many characters."""
    text = symbol_text(label)
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


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
    if len(members) == 1:  # a range {a to b}, which is cut like other text
        return []
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
