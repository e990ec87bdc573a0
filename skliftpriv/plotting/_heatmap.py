"""A heat map with one labelled row per symbol: what the lift and the channel display share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._arrays import FloatArray
from .._format import rounded
from ..views import Picked
from ._matplotlib import Axes, load
from ._panels import bare, inches, text_inches
from ._style import FONT, SMALL, text_colour

__all__ = ["draw_heatmap", "lines_for", "mark_cells"]

#: Cells smaller than this, in inches, hold no number.
_WIDEST_NUMBER, _HIGHEST_NUMBER = 0.36, 0.15
#: Labels closer than this, in inches, would touch.
_LINE = 1.2 * FONT / 72
_EDGES = {"edgecolors": "white", "linewidth": 0.6}


def lines_for(picked: Picked, ax: Any) -> int:
    """Lines that a label may have: one where there are many, or where the axes are given."""
    return 1 if picked.shown.size > 20 or ax is not None else 2


def draw_heatmap(
    ax: Axes,
    values: FloatArray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    cell: float | None = None,
    n_rows: int | None = None,
    text: Callable[[float], str] = rounded,
    **colours: Any,
) -> Any:
    """Draw finite values as colours, and as numbers where there is room; others stay blank.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    values : ndarray of shape (n_rows, n_columns)
        NaN and infinities are left blank, so that they get no colour that means a number.
    rows, columns : sequence of str
        Their labels, on the left and on top.
    cell : float, optional
        Width of a column in inches, where it is known; else what the labels leave.
    n_rows : int, optional
        Height of the axes in rows, where it must match that of other axes.
    text : callable
        Writes a value into its cell.
    **colours
        ``cmap`` and ``norm``.
    """
    height = n_rows or len(rows)
    ax.pcolormesh(np.zeros(values.shape), cmap=_blank(), **_EDGES)
    mesh = ax.pcolormesh(np.ma.masked_invalid(values), **_EDGES, **colours)
    ax.set_xlim(0, len(columns))
    ax.set_ylim(height, 0)
    bare(ax)
    width_in, height_in = inches(ax)
    if cell is None:
        cell = max(width_in - text_inches(rows), 0.2) / len(columns)
    _label(ax.yaxis, rows, height_in / height)
    _label(ax.xaxis, columns, cell)
    ax.xaxis.tick_top()
    if max(map(len, columns)) * 0.08 > cell:
        ax.tick_params(axis="x", rotation=45 if max(map(len, columns)) <= 20 else 60)
        for tick in ax.get_xticklabels():
            tick.set(ha="left", rotation_mode="anchor")
    if cell >= _WIDEST_NUMBER and height_in / height >= _HIGHEST_NUMBER:
        _write(ax, mesh, values, text)
    return mesh


def _blank() -> Any:
    return load("colors").ListedColormap(["0.96"])


def _label(axis: Any, labels: Sequence[str], room: float) -> None:
    """Label every symbol, or every second or third where all would overlap."""
    tall = max(label.count("\n") + 1 for label in labels) * _LINE
    step = max(int(np.ceil(tall / room)), 1)
    places = np.arange(0, len(labels), step)
    axis.set_ticks(places + 0.5, [labels[int(i)] for i in places], fontsize=FONT)


def _write(ax: Axes, mesh: Any, values: FloatArray, text: Callable[[float], str]) -> None:
    for (i, j), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        colour = mesh.to_rgba(value) if np.isfinite(value) else (0.9, 0.9, 0.9)
        ax.text(
            j + 0.5,
            i + 0.5,
            text(value),
            ha="center",
            va="center",
            fontsize=SMALL,
            color=text_colour(colour[:3]),
            # Else the layout would ask each of them for its size.
            in_layout=False,
        )


def mark_cells(ax: Axes, cells: np.ndarray, **style: Any) -> list[Any]:
    """Draw a rectangle over every cell that is True."""
    patches = load("patches")
    margin = 0.045
    return [
        ax.add_patch(
            patches.Rectangle((j + margin, i + margin), 1 - 2 * margin, 1 - 2 * margin, **style)
        )
        for i, j in np.argwhere(cells)
    ]
