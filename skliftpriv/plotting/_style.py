"""Colours, markers and sizes that all displays share; safe for colour-blind readers."""

from __future__ import annotations

from typing import Any

from ._matplotlib import load

__all__ = [
    "BLUE",
    "FONT",
    "GREY",
    "ORANGE",
    "SMALL",
    "VERMILLION",
    "line_style",
    "text_colour",
]

# Okabe and Ito (2008), without yellow, which fades on white.
BLUE, ORANGE, GREEN, VERMILLION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, BLACK = "#CC79A7", "#56B4E9", "#000000"
GREY = "#7f7f7f"

#: Sizes of tick labels, and of notes and cells, in points.
FONT, SMALL = 8.0, 7.0

_COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY, BLACK)
_MARKERS = ("o", "s", "^", "D", "v", "P", "h", "<", ">")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)), (0, (1, 1)))


def line_style(i: int) -> dict[str, Any]:
    """Colour, marker and dashes of the i-th line; the first 315 differ, seven by colour alone."""
    return {
        "color": _COLOURS[i % len(_COLOURS)],
        "marker": _MARKERS[i % len(_MARKERS)],
        "linestyle": _DASHES[i % len(_DASHES)],
    }


def text_colour(background: Any) -> str:
    """Black or white, whichever reads better on a background."""
    red, green, blue = load("colors").to_rgb(background)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"
