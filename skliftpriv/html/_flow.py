"""What becomes of every value: bands from the original to what is released."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from .._arrays import FloatArray
from ..channel import symbol_text
from ..plotting import ChannelDisplay, ReleaseData
from ..plotting._flow import flow_order, spread
from ..plotting._heatmap import Picked, pick
from ..plotting._labels import share
from ._parts import keyed, short

__all__ = ["flow_figure"]

_MOST = 30
_LINE = 21.0
_LABELS, _BANDS, _NODE = 275.0, 220.0, 8.0
_CHARACTERS = 26
#: Bands that are thinner than this, in pixels, cannot be seen.
_THINNEST = 0.08
_MEANINGS = {
    "kept": "released as it is",
    "merged": "released as a set of values",
    "changed": "released as another value",
    "rest": "from or to values that are not shown one by one",
}


def flow_figure(release: ReleaseData) -> str:
    """Draw the channel as a flow, or say what it is where there is none.

    Parameters
    ----------
    release : ReleaseData
        What is released.
    """
    if release.bits:
        return _bits(release)
    flows = release.joint.p_x[:, None] * release.matrix
    kinds = ChannelDisplay(release)._kinds()
    x, y = pick(release.joint.p_x, _MOST), pick(release.p_y, _MOST)
    flows, kinds = _with_rest(flows, kinds, x, y)
    inputs = _names([release.joint.useful_labels[i] for i in x.shown], x)
    outputs = _names([release.outputs[j] for j in y.shown], y)
    i, j = flow_order(flows)
    flows, kinds = flows[np.ix_(i, j)], kinds[np.ix_(i, j)]
    drawing = _svg(flows, kinds, [inputs[k] for k in i], [outputs[k] for k in j])
    legend = " ".join(
        keyed(
            f"{meaning}: {share(float(flows[kinds == kind].sum()))}.", f"background:var(--{kind})"
        )
        for kind, meaning in _MEANINGS.items()
        if flows[kinds == kind].sum() > 1e-12
    )
    return (
        f'<figure><div class="scroll">{drawing}</div><figcaption>What becomes of every value of '
        f"{escape(release.useful_name)}, as wide as it is common. {legend}</figcaption></figure>"
    )


def _bits(release: ReleaseData) -> str:
    matrix = release.matrix
    wrong = float(matrix[0, 1]) if matrix.shape[1] > 1 else 0.0
    return (
        f"<p>Each row is released as {matrix.shape[1]} bits, one per value of "
        f"{escape(release.useful_name)}. The bit of the true value is 1 with probability "
        f"{share(float(matrix[0, 0]))}, every other bit with probability {share(wrong)}.</p>"
    )


def _with_rest(
    flows: FloatArray, kinds: np.ndarray, x: Picked, y: Picked
) -> tuple[FloatArray, np.ndarray]:
    """Collect what is not shown one by one in a last row and column."""
    for axis, picked in ((0, x), (1, y)):
        shown = np.take(flows, picked.shown, axis=axis)
        kinds = np.take(kinds, picked.shown, axis=axis)
        if picked.hidden.size:
            hidden = np.take(flows, picked.hidden, axis=axis).sum(axis=axis, keepdims=True)
            shown = np.concatenate([shown, hidden], axis=axis)
            kinds = np.concatenate([kinds, np.full(hidden.shape, "rest", dtype=object)], axis=axis)
        flows = shown
    return flows, kinds


def _names(labels: Sequence[object], picked: Picked) -> list[str]:
    names = [symbol_text(label) for label in labels]
    return [*names, f"{picked.hidden.size} others"] if picked.hidden.size else names


def _svg(
    flows: FloatArray, kinds: np.ndarray, inputs: Sequence[str], outputs: Sequence[str]
) -> str:
    height = _LINE * max(len(inputs), len(outputs), 4)
    width = 2 * _LABELS + _BANDS
    left, right = _LABELS, _LABELS + _BANDS
    scale = 0.78 * height
    sides = []
    for axis, names, edge in ((1, inputs, left), (0, outputs, right)):
        masses = flows.sum(axis=axis) * scale
        gap = (height - masses.sum()) / max(masses.size - 1, 1) if masses.size > 1 else 0.0
        tops = np.cumsum(masses) - masses + gap * np.arange(masses.size)
        tops += (height - masses.sum()) / 2 if masses.size == 1 else 0.0
        sides.append((tops, masses, names, edge))
    bands = _bands(flows * scale, kinds, sides[0][0], sides[1][0], left + _NODE, right - _NODE)
    nodes = "".join(
        _nodes(*side, height=height, outward=-1 if k == 0 else 1) for k, side in enumerate(sides)
    )
    words = f"Flow from {len(inputs)} original values to {len(outputs)} released ones"
    return (
        f'<svg viewBox="0 -4 {width:g} {height + 8:g}" width="{width:g}" role="img" '
        f'aria-label="{words}" style="min-width:{width:g}px">{bands}{nodes}</svg>'
    )


def _bands(
    widths: FloatArray, kinds: np.ndarray, tops: FloatArray, ends: FloatArray, a: float, b: float
) -> str:
    start = tops[:, None] + np.cumsum(widths, axis=1) - widths
    stop = ends[None, :] + np.cumsum(widths, axis=0) - widths
    middle = (a + b) / 2
    paths = []
    for i, j in np.argwhere(widths > _THINNEST):
        y, z, w = start[i, j], stop[i, j], widths[i, j]
        paths.append(
            f'<path class="band {kinds[i, j]}" d="M{a:g} {y:.1f}C{middle:g} {y:.1f} {middle:g} '
            f"{z:.1f} {b:g} {z:.1f}v{w:.1f}C{middle:g} {z + w:.1f} {middle:g} {y + w:.1f} {a:g} "
            f'{y + w:.1f}z"/>'
        )
    return "".join(paths)


def _nodes(
    tops: FloatArray,
    masses: FloatArray,
    names: Sequence[str],
    edge: float,
    *,
    height: float,
    outward: int,
) -> str:
    middles = tops + masses / 2
    sizes = np.full(len(names), _LINE * 0.92)
    places = spread(middles, sizes, -4.0, height + 4.0)
    anchor = "end" if outward < 0 else "start"
    parts = []
    total = masses.sum()
    for name, top, mass, middle, place in zip(names, tops, masses, middles, places, strict=True):
        label = f"{short(name, _CHARACTERS)} · {share(mass / total)}"
        x = edge if outward < 0 else edge - _NODE
        parts.append(
            f'<rect class="node" x="{x:g}" y="{top:.1f}" width="{_NODE:g}" '
            f'height="{max(mass, 0.5):.1f}"/>'
            f'<path class="lead" d="M{edge:g} {middle:.1f}L{edge + 9 * outward:g} {place:.1f}"/>'
            f'<text x="{edge + 12 * outward:g}" y="{place + 4:.1f}" text-anchor="{anchor}">'
            f"<title>{escape(name)}</title>{escape(label)}</text>"
        )
    return "".join(parts)
