"""Bands from every input to every output, as wide as their probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.isotonic import isotonic_regression

from .._arrays import FloatArray
from ._matplotlib import Axes, load
from ._style import FONT

__all__ = ["draw_flow", "flow_order", "spread"]

#: Empty space between all nodes of a side together, as a share of the height.
_SPACE = 0.25
_NODE = 0.025


def flow_order(flows: FloatArray) -> tuple[np.ndarray, np.ndarray]:
    """Order inputs and outputs so that few bands cross: each near those that it shares flow with.

    Parameters
    ----------
    flows : ndarray of shape (n_inputs, n_outputs)
        P(x, y).
    """
    rows, columns = (np.argsort(-flows.sum(axis=axis), kind="stable") for axis in (1, 0))
    for _ in range(6):
        rows = _by_centre(flows, columns)
        columns = _by_centre(flows.T, rows)
    return rows, columns


def _by_centre(flows: FloatArray, order: np.ndarray) -> np.ndarray:
    """Sort rows by the mean place of their flow among the columns in this order."""
    masses = flows.sum(axis=0)[order]
    middle = np.empty(order.size)
    middle[order] = np.cumsum(masses) - masses / 2
    total = flows.sum(axis=1)
    # Rows without any flow go last.
    centres = np.divide(flows @ middle, total, out=np.full(total.size, np.inf), where=total > 0)
    return np.argsort(centres, kind="stable")


def draw_flow(
    ax: Axes,
    flows: FloatArray,
    inputs: Sequence[str],
    outputs: Sequence[str],
    colours: np.ndarray,
    height: float,
) -> Any:
    """Draw inputs on the left, outputs on the right, and the flow between them.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    flows : ndarray of shape (n_inputs, n_outputs)
        P(x, y), in the order from top to bottom.
    inputs, outputs : sequence of str
        Labels.
    colours : ndarray of str, of the shape of ``flows``
        Colour of each band.
    height : float
        Height of the axes in inches, which decides how close labels may come.

    Returns
    -------
    PolyCollection
        The bands, inputs first.
    """
    tops = [_tops(flows.sum(axis=axis)) for axis in (1, 0)]
    at_left = tops[0][:, None] + _before(flows)
    at_right = tops[1][None, :] + _before(flows.T).T
    curve = np.linspace(0, 1, 40)
    ease = curve**2 * (3 - 2 * curve)
    across = _NODE + (1 - 2 * _NODE) * curve
    cells = np.argwhere(flows > 0)
    shapes = []
    for i, j in cells:
        upper = at_left[i, j] + (at_right[i, j] - at_left[i, j]) * ease
        lower = upper + flows[i, j]
        shapes.append(np.column_stack([np.r_[across, across[::-1]], np.r_[upper, lower[::-1]]]))
    bands = load("collections").PolyCollection(
        shapes,
        facecolors=[colours[i, j] for i, j in cells],
        alpha=0.55,
        linewidths=0,
    )
    ax.add_collection(bands)
    for side, names in enumerate((inputs, outputs)):
        _draw_nodes(ax, tops[side], flows.sum(axis=1 - side), names, height, right=bool(side))
    ax.set_xlim(0, 1)
    ax.set_ylim(1 + _SPACE, 0)
    ax.set_axis_off()
    return bands


def _tops(masses: FloatArray) -> FloatArray:
    """Upper ends of stacked nodes with equal spaces between, centred if there is only one."""
    ends = np.cumsum(masses) - masses
    if masses.size == 1:
        return ends + _SPACE / 2
    return ends + np.arange(masses.size) * _SPACE / (masses.size - 1)


def _before(flows: FloatArray) -> FloatArray:
    """Flow of a row that lies above each of its cells."""
    return np.cumsum(flows, axis=1) - flows


def _draw_nodes(
    ax: Axes,
    tops: FloatArray,
    masses: FloatArray,
    names: Sequence[str],
    height: float,
    *,
    right: bool,
) -> None:
    x = 1 - _NODE if right else 0.0
    ax.bar(
        x,
        masses,
        width=_NODE,
        bottom=tops,
        align="edge",
        color="0.25",
        linewidth=0.4,
        edgecolor="0.25",
    )
    line = (1 + _SPACE) * 1.35 * FONT / 72 / height
    sizes = np.array([(name.count("\n") + 1) * line for name in names])
    middles = tops + masses / 2
    places = spread(middles, sizes, -0.02, 1 + _SPACE + 0.02)
    sign = 1 if right else -1
    for name, middle, place in zip(names, middles, places, strict=True):
        edge = 1.0 if right else 0.0
        ax.plot(
            [edge, edge + 0.015 * sign, edge + 0.03 * sign],
            [middle, middle, place],
            color="0.6",
            linewidth=0.6,
            clip_on=False,
        )
        ax.text(
            edge + 0.036 * sign,
            place,
            name,
            ha="left" if right else "right",
            va="center",
            fontsize=FONT,
            linespacing=1.05,
        )


def spread(wanted: FloatArray, sizes: FloatArray, low: float, high: float) -> FloatArray:
    """Move ordered places apart, as little as it takes for things of these sizes not to overlap.

    Least squares: places that touch move together, around the mean of where they want to be,
    and all stay between ``low`` and ``high`` if there is room.
    """
    # With the sizes before it taken off, no place may lie below the one before: an isotonic fit.
    offsets = np.cumsum(sizes) - sizes / 2
    fitted = isotonic_regression(wanted - offsets)
    return np.asarray(np.clip(fitted, low, max(high - sizes.sum(), low)) + offsets)
