"""Axes to draw into, new or given or parts of a given one, and the notes below them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..exceptions import InvalidParameterError
from ._matplotlib import Axes, load
from ._style import SMALL
from ._text import note_lines

__all__ = ["below", "bare", "inches", "label_width", "panels", "text_inches"]

#: Width of a character of a label in inches, about.
_CHARACTER = 0.072


def panels(ax: Any, n: int, *, figsize: tuple[float, float], per_row: int = 6) -> list[Axes]:
    """Return ``n`` axes.

    Parameters
    ----------
    ax : None, Axes, or sequence of Axes
        None makes a figure. One axes is used as it is if one is needed; else its place in the
        grid is divided. A sequence must hold as many as are needed.
    n : int
        How many are needed.
    figsize : (float, float)
        Size in inches of a figure that is made.
    per_row : int
        Most panels side by side.
    """
    pyplot = load("pyplot")
    n_columns = min(n, per_row)
    n_rows = -(-n // n_columns)
    if ax is None:
        figure = pyplot.figure(figsize=figsize, layout="constrained")
        figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
        grid = figure.add_gridspec(n_rows, n_columns)
    elif isinstance(ax, Iterable):
        given = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(given) != n:
            raise InvalidParameterError(
                f"ax holds {len(given)} axes, but {n} are drawn; pass {n}, or one to divide."
            )
        return given
    elif n == 1:
        return [ax]
    else:
        spec = ax.get_subplotspec()
        if spec is None:
            raise InvalidParameterError(
                f"ax is not part of a grid, so it cannot be divided into {n} panels; pass "
                f"{n} axes, or one made by plt.subplots."
            )
        ax.set_axis_off()
        figure, grid = ax.figure, spec.subgridspec(n_rows, n_columns)
    return [figure.add_subplot(grid[divmod(i, n_columns)]) for i in range(n)]


def inches(ax: Axes) -> tuple[float, float]:
    """Width and height of axes, as far as they are known before the labels have their place."""
    box = ax.get_window_extent()
    dpi = ax.figure.dpi
    return box.width / dpi, box.height / dpi


def label_width(ax: Any, n: int, most: int) -> int:
    """Return how many characters a label may have: a third of the width of given axes.

    Parameters
    ----------
    ax : None, Axes, or sequence of Axes
        As in :func:`panels`.
    n : int
        Number of panels side by side.
    most : int
        Number in a new figure.
    """
    if ax is None:
        return most
    one = isinstance(ax, Iterable)
    width = inches(np.ravel(np.asarray(ax, dtype=object))[0] if one else ax)[0]
    return int(np.clip((width if one else width / n) / 3 / _CHARACTER, 8, most))


def text_inches(labels: Sequence[str]) -> float:
    """Width that the longest line of these labels takes, about."""
    lines = [line for label in labels for line in label.split("\n")]
    return _CHARACTER * max(map(len, lines), default=0)


def bare(ax: Axes) -> None:
    """Remove the frame and the tick marks."""
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def below(
    ax: Axes,
    notes: Sequence[str],
    handles: Sequence[Any],
    width: float,
    *,
    offset: float = 6.0,
    n_columns: int = 1,
) -> None:
    """Put notes, and under them a legend, below axes.

    Parameters
    ----------
    ax : Axes
        They start at its left edge.
    notes : sequence of str
        Sentences, broken into lines.
    handles : sequence of artists
        For the legend.
    width : float
        Most inches of a line; more than the axes have, where there is nothing to the right.
    offset : float
        Points to leave for tick labels.
    n_columns : int
        Columns of the legend.
    """
    lines = [line for note in notes for line in note_lines(note, width)]
    heights = [len(lines) * SMALL * 1.3, -(-len(handles) // n_columns) * SMALL * 1.75]
    if lines:
        _hang(ax, "\n".join(lines), offset, in_layout=False)
    if handles:
        top = offset + heights[0] + 4
        scale = ax.figure.dpi_scale_trans
        shift = load("transforms").ScaledTranslation(0, -top / 72, scale)
        legend = ax.legend(
            handles=list(handles),
            loc="upper left",
            bbox_to_anchor=(0, 0),
            bbox_transform=ax.transAxes + shift,
            borderaxespad=0,
            borderpad=0,
            frameon=False,
            fontsize=SMALL,
            ncols=n_columns,
        )
        legend.set_in_layout(False)
    # The layout may not widen the axes for what stands below, but must leave the height for it.
    n_lines = int(np.ceil((sum(heights) + 12) / (SMALL * 1.3)))
    _hang(ax, "\n".join("." * n_lines), offset, alpha=0.0)


def _hang(ax: Axes, text: str, offset: float, **style: Any) -> None:
    ax.annotate(
        text,
        (0, 0),
        xytext=(0, -offset),
        xycoords="axes fraction",
        textcoords="offset points",
        va="top",
        fontsize=SMALL,
        linespacing=1.3 / 1.2,
        **style,
    )
