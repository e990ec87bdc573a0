"""Text for matplotlib, which would take a pair of dollar signs for mathematics."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from .. import views
from .._arrays import Label

__all__ = ["note_lines", "short_labels", "shorten"]


def shorten(label: Label, width: int, lines: int) -> str:
    """Write a label in a few short lines; see :func:`skliftpriv.views.shorten`."""
    return _escape(views.shorten(label, width, lines))


def short_labels(labels: Sequence[Label], *shares: Any, **size: Any) -> list[str]:
    """Write labels in a few short lines each; see :func:`skliftpriv.views.short_labels`."""
    return [_escape(text) for text in views.short_labels(labels, *shares, **size)]


def note_lines(text: str, inches: float) -> list[str]:
    """Break a note into lines that fit into a width, at the size in which notes are set."""
    return textwrap.wrap(_escape(text), max(int(inches / 0.058), 30))


def _escape(text: str) -> str:
    return text.replace("$", r"\$")
