"""What becomes of every value: bands from the original to what is released."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from .._arrays import FloatArray, Label
from .._format import share
from ..labels import symbol_text
from ..views import MEANINGS, ChannelView, Flow, Picked, pick, spread, truncate
from ._parts import keyed

__all__ = ["flow_figure"]

_MOST = 30
_LINE = 21.0
_LABELS, _BANDS, _NODE = 275.0, 220.0, 8.0
_CHARACTERS = 26
#: Bands that are thinner than this, in pixels, cannot be seen.
_THINNEST = 0.08


def flow_figure(release: ChannelView) -> str:
    """Draw the channel as a flow, or describe it if single bits are released.

    Parameters
    ----------
    release : ChannelView
        What is released.
    """
    if release.bits:
        return _bits(release)
    x, y = pick(release.p_x, _MOST), pick(release.p_y, _MOST)
    flow = Flow.of(release, x, y)
    inputs = _names(release.inputs, x, flow.inputs)
    outputs = _names(release.outputs, y, flow.outputs)
    drawing = _svg(flow, inputs, outputs)
    legend = " ".join(
        keyed(f"{MEANINGS[kind]}: {share(total, fine=True)}.", f"background:var(--{kind})")
        for kind, total in flow.shares.items()
    )
    return (
        f'<figure><div class="scroll">{drawing}</div><figcaption>What becomes of every value of '
        f"{escape(release.useful_name)}{_averaged(release)}; bands are as wide as values are "
        f"common. {legend}</figcaption></figure>"
    )


def _averaged(release: ChannelView) -> str:
    """Say that rows with the same value are not all treated alike."""
    if not release.sees_sensitive:
        return ""
    return f", on average over {escape(release.sensitive_name)}"


def _bits(release: ChannelView) -> str:
    matrix = release.matrix
    true, other = matrix[0, 0], matrix[0, 1] if matrix.shape[1] > 1 else 0.0
    return (
        f"<p>Each row is released as {matrix.shape[1]} bits, one per value of "
        f"{escape(release.useful_name)}. The bit of the true value is 1 with probability "
        f"{share(true, fine=True)}, every other bit with probability {share(other, fine=True)}.</p>"
    )


def _names(labels: Sequence[Label], picked: Picked, order: np.ndarray) -> list[str]:
    names = [*(symbol_text(labels[i]) for i in picked.shown), *picked.others]
    return [names[k] for k in order]


def _svg(flow: Flow, inputs: Sequence[str], outputs: Sequence[str]) -> str:
    height = _LINE * max(len(inputs), len(outputs), 4)
    width = 2 * _LABELS + _BANDS
    left, right = _LABELS, _LABELS + _BANDS
    scale = 0.78 * height
    tops, starts = flow.places(height / scale)
    bands = _bands(flow, *starts, scale=scale, left=left + _NODE, right=right - _NODE)
    nodes = "".join(
        _nodes(scale * ends, scale * flow.masses.sum(axis=axis), names, edge, height, outward)
        for ends, axis, names, edge, outward in (
            (tops[0], 1, inputs, left, -1),
            (tops[1], 0, outputs, right, 1),
        )
    )
    words = f"Flow from {len(inputs)} original values to {len(outputs)} released ones"
    return (
        f'<svg viewBox="0 -4 {width:g} {height + 8:g}" width="{width:g}" role="img" '
        f'aria-label="{words}" style="min-width:{width:g}px">{bands}{nodes}</svg>'
    )


def _bands(
    flow: Flow, start: FloatArray, end: FloatArray, *, scale: float, left: float, right: float
) -> str:
    a, middle, b = left, (left + right) / 2, right
    paths = []
    for i, j in np.argwhere(scale * flow.masses > _THINNEST):
        y, z, w = (scale * size[i, j] for size in (start, end, flow.masses))
        paths.append(
            f'<path class="band {flow.kinds[i, j]}" '
            f'd="M{a:g} {y:.1f}C{middle:g} {y:.1f} {middle:g} '
            f"{z:.1f} {b:g} {z:.1f}v{w:.1f}C{middle:g} {z + w:.1f} {middle:g} {y + w:.1f} {a:g} "
            f'{y + w:.1f}z"/>'
        )
    return "".join(paths)


def _nodes(
    tops: FloatArray,
    masses: FloatArray,
    names: Sequence[str],
    edge: float,
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
        label = f"{truncate(name, _CHARACTERS)} · {share(mass / total, fine=True)}"
        x = edge if outward < 0 else edge - _NODE
        parts.append(
            f'<rect class="node" x="{x:g}" y="{top:.1f}" width="{_NODE:g}" '
            f'height="{max(mass, 0.5):.1f}"/>'
            f'<path class="lead" d="M{edge:g} {middle:.1f}L{edge + 9 * outward:g} {place:.1f}"/>'
            f'<text x="{edge + 12 * outward:g}" y="{place + 4:.1f}" text-anchor="{anchor}">'
            f"<title>{escape(name)}</title>{escape(label)}</text>"
        )
    return "".join(parts)
