"""Bands from every input to every output, as wide as their probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays import FloatArray
from ..views import Flow, spread
from ._matplotlib import Axes, load
from ._style import FONT

__all__ = ["draw_flow"]

#: Empty space between all nodes of a side together, as a share of the height.
_SPACE = 0.25
_NODE = 0.025


def draw_flow(
    ax: Axes,
    flow: Flow,
    inputs: Sequence[str],
    outputs: Sequence[str],
    colours: Mapping[str, str],
    height: float,
) -> Any:
    """Draw inputs on the left, outputs on the right, and the flow between them.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    flow : Flow
        The bands.
    inputs, outputs : sequence of str
        Labels, from top to bottom.
    colours : mapping from str to str
        Colour of each kind of band.
    height : float
        Height of the axes in inches, which decides how close labels may come.

    Returns
    -------
    PolyCollection
        The bands, inputs first.
    """
    masses = flow.masses
    tops, (at_left, at_right) = flow.places(1 + _SPACE)
    curve = np.linspace(0, 1, 40)
    ease = curve**2 * (3 - 2 * curve)
    across = _NODE + (1 - 2 * _NODE) * curve
    cells = np.argwhere(masses > 0)
    shapes = []
    for i, j in cells:
        upper = at_left[i, j] + (at_right[i, j] - at_left[i, j]) * ease
        lower = upper + masses[i, j]
        shapes.append(np.column_stack([np.r_[across, across[::-1]], np.r_[upper, lower[::-1]]]))
    bands = load("collections").PolyCollection(
        shapes,
        facecolors=[colours[flow.kinds[i, j]] for i, j in cells],
        alpha=0.55,
        linewidths=0,
    )
    ax.add_collection(bands)
    for side, names in enumerate((inputs, outputs)):
        _draw_nodes(ax, tops[side], masses.sum(axis=1 - side), names, height, right=bool(side))
    ax.set_xlim(0, 1)
    ax.set_ylim(1 + _SPACE, 0)
    ax.set_axis_off()
    return bands


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
