"""What several figures share."""

from __future__ import annotations

from html import escape

__all__ = ["keyed"]


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
