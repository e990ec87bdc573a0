"""The channel as a flow from values to outputs: what flows where, and in which order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.isotonic import isotonic_regression

from .._arrays import FloatArray
from ._picked import Picked
from ._release import ChannelView

__all__ = ["MEANINGS", "Flow", "flow_order", "spread"]

_KEPT, _MERGED, _CHANGED, _REST = "kept", "merged", "changed", "rest"
#: What can become of a value, by the kind of its band.
MEANINGS = {
    _KEPT: "released as it is",
    _MERGED: "released as a set of values",
    _CHANGED: "released as another value",
    _REST: "from or to values that are not shown one by one",
}
#: Shares below this are rounding.
_NOISE = 1e-12


@dataclass(frozen=True)
class Flow:
    """Bands between the values and the outputs that are shown.

    Values and outputs that have an order keep it. Others are ordered so that few bands cross.

    Attributes
    ----------
    masses : ndarray of shape (n_inputs, n_outputs)
        P(x, y) of every band, in the order from top to bottom.
    kinds : ndarray of str, of the same shape
        What becomes of the value: keys of ``MEANINGS``.
    inputs, outputs : ndarray of int
        The order, as places among the symbols that are shown followed by the others as one.
    """

    masses: FloatArray
    kinds: np.ndarray
    inputs: np.ndarray
    outputs: np.ndarray

    @classmethod
    def of(cls, release: ChannelView, x: Picked, y: Picked) -> Flow:
        """Collect the flow of a release between picked values and picked outputs."""
        masses, kinds = release.flows, _kinds(release)
        for axis, picked in ((0, x), (1, y)):
            hidden = np.take(masses, picked.hidden, axis=axis).sum(axis=axis, keepdims=True)
            masses = np.take(masses, picked.shown, axis=axis)
            kinds = np.take(kinds, picked.shown, axis=axis)
            if picked.hidden.size:
                masses = np.concatenate([masses, hidden], axis=axis)
                kinds = np.concatenate([kinds, np.full(hidden.shape, _REST)], axis=axis)
        i, j = (_own_order(x), _own_order(y)) if release.ordered else flow_order(masses)
        return cls(masses[np.ix_(i, j)], kinds[np.ix_(i, j)], i, j)

    @property
    def shares(self) -> dict[str, float]:
        """Probability of every kind that occurs."""
        totals = {kind: float(self.masses[self.kinds == kind].sum()) for kind in MEANINGS}
        return {kind: total for kind, total in totals.items() if total > _NOISE}

    def places(self, height: float) -> tuple[list[FloatArray], list[FloatArray]]:
        """Stack the nodes of both sides.

        Parameters
        ----------
        height : float
            Height of a side, above 1. What the nodes leave of it is space between them.

        Returns
        -------
        tops : list of two ndarray
            Upper ends of the nodes, on the left and on the right.
        starts : list of two ndarray of shape (n_inputs, n_outputs)
            Upper ends of the bands, on the left and on the right.
        """
        masses = self.masses
        tops = [_stacked(masses.sum(axis=axis), height) for axis in (1, 0)]
        above = [np.cumsum(masses, axis=axis) - masses for axis in (1, 0)]
        return tops, [tops[0][:, None] + above[0], tops[1][None, :] + above[1]]


def _own_order(picked: Picked) -> np.ndarray:
    """Order of the symbols in the table, with those that are not shown last."""
    order = np.argsort(picked.shown)
    return np.append(order, order.size) if picked.hidden.size else order


def _kinds(release: ChannelView) -> np.ndarray:
    """Tell for every cell of the channel whether the value is kept, merged or changed."""
    symbols = release.inputs
    place = {symbol: i for i, symbol in enumerate(symbols)}
    kinds = np.full(release.matrix.shape, _CHANGED, dtype=object)
    for j, output in enumerate(release.outputs):
        if output in place:
            kinds[place[output], j] = _KEPT
        else:
            kinds[:, j] = _MERGED
    return kinds


def _stacked(masses: FloatArray, height: float) -> FloatArray:
    """Upper ends of stacked nodes with equal spaces between, centred if there is only one."""
    ends, space = np.cumsum(masses) - masses, height - masses.sum()
    if masses.size == 1:
        return np.asarray(ends + space / 2)
    return np.asarray(ends + np.arange(masses.size) * space / (masses.size - 1))


def flow_order(masses: FloatArray) -> tuple[np.ndarray, np.ndarray]:
    """Order inputs and outputs so that few bands cross: each near those that it shares flow with.

    Parameters
    ----------
    masses : ndarray of shape (n_inputs, n_outputs)
        P(x, y).
    """
    rows, columns = (np.argsort(-masses.sum(axis=axis), kind="stable") for axis in (1, 0))
    for _ in range(6):
        rows = _by_centre(masses, columns)
        columns = _by_centre(masses.T, rows)
    return rows, columns


def _by_centre(masses: FloatArray, order: np.ndarray) -> np.ndarray:
    """Sort rows by the mean place of their flow among the columns in this order."""
    widths = masses.sum(axis=0)[order]
    middle = np.empty(order.size)
    middle[order] = np.cumsum(widths) - widths / 2
    total = masses.sum(axis=1)
    # Rows without any flow go last.
    centres = np.divide(masses @ middle, total, out=np.full(total.size, np.inf), where=total > 0)
    return np.argsort(centres, kind="stable")


def spread(wanted: FloatArray, sizes: FloatArray, low: float, high: float) -> FloatArray:
    """Move ordered places apart, as little as it takes for things of these sizes not to overlap.

    Least squares: places that touch move together, around the mean of where they want to be,
    and all stay between ``low`` and ``high`` if there is room.
    """
    # With the sizes before it taken off, no place may lie below the one before: an isotonic fit.
    offsets = np.cumsum(sizes) - sizes / 2
    fitted = isotonic_regression(wanted - offsets)
    return np.asarray(np.clip(fitted, low, max(high - sizes.sum(), low)) + offsets)
