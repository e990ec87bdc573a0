"""Small parts that several figures use."""

from __future__ import annotations

from html import escape

from .._arrays import Label
from ..channel import symbol_text

__all__ = ["keyed", "short"]


def keyed(text: str, colour: str) -> str:
    """Write text behind a square of the colour that it explains, on one line with it.

    Parameters
    ----------
    text : str
        Any text; it is escaped here.
    colour : str
        Declarations of CSS for the square.
    """
    first, _, rest = text.partition(" ")
    square = f'<span class="key" style="{colour}"></span>'
    return f'<span class="keyed">{square}{escape(first)}</span> {escape(rest)}'.rstrip()


def short(label: Label, most: int) -> str:
    """Write a label with at most so many characters."""
    text = symbol_text(label)
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
