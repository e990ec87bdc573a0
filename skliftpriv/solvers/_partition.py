"""A partition of the posteriors into boxes, each with a linear lower bound of the entropy."""

from __future__ import annotations

import numpy as np

from ._boxes import (
    BoolArray,
    box_minimum,
    branch_coordinate,
    corner_bound,
    linear_bound,
    tighten,
)
from ._image import FloatArray, IntArray
from ._presolve import ReducedProblem

_CHUNK = 2000
_INNER = 0.4
"""A split point keeps at least this share of the interval on either side."""
_TOPLESS = 1e-3
"""Boxes without a larger lower bound have no symbol whose price can be lowered for them."""
_TRIED = 6
_PROOF = 1e-12
"""With multipliers up to 1, a contradiction below this may be due to rounding."""


class Partition:
    """Boxes that cover the polytope, refined by splitting.

    Each box N has a linear function c_N with c_N.v <= H(U v) on N. For prices pi and any row
    multipliers y, weak duality gives

        min_{v in P, v in N} (c_N - pi).v >= support(y) + min_{v in N} (c_N - D'y - pi).v,

    whose right-hand side is computed by sorting. So bounds do not depend on the tolerances of the
    LP solver, and the multipliers of an earlier LP still bound a box at new prices.

    Attributes
    ----------
    alive : ndarray of bool
        Boxes that are neither split nor proven empty.
    bound : ndarray of float
        A valid lower bound of each alive box at the prices of the last call of
        :meth:`refresh`.
    n_nodes : int
        Number of linear programs solved.
    """

    def __init__(self, reduced: ReducedProblem, largest: FloatArray) -> None:
        n, m = reduced.p.size, reduced.lo.size
        # A copy of the polytope of its own, because other uses need other warm starts.
        self._reduced, self._lp = reduced, reduced.polytope()
        self.size = 0
        self.n_nodes = 0
        self.lower, self.upper = np.zeros((0, n)), np.zeros((0, n))
        self.tail = np.zeros((0, n), dtype=bool)
        self.cost = np.zeros((0, n))
        self._priced, self._base = np.zeros((0, n)), np.zeros(0)  # c_N - D'y, support
        self._multipliers = np.zeros((0, m))
        self.alive, self.bound = np.zeros(0, dtype=bool), np.zeros(0)
        self._prices = np.zeros(n)
        # At most one entry exceeds 1/2: one box for each symbol that can, and one for the rest.
        tops = np.flatnonzero(largest > 0.5)
        count = tops.size + 1
        lower, upper = np.zeros((count, n)), np.tile(largest, (count, 1))
        tail = np.ones((count, n), dtype=bool)
        lower[np.arange(tops.size), tops] = 0.5
        tail[np.arange(tops.size), tops] = False
        upper[-1] = np.minimum(upper[-1], 0.5)
        slots = self._new_slots(count)
        points = np.tile(reduced.p, (count, 1))
        self._write(slots, lower, upper, tail, np.zeros((count, m)), points)

    def _new_slots(self, count: int) -> IntArray:
        """Return ``count`` unused slots; arrays double in size when they are full."""
        index = np.arange(self.size, self.size + count)
        self.size += count
        if self.size <= self.alive.size:
            return index
        extra = max(self.size, 2 * self.alive.size) - self.alive.size
        for name in ("lower", "upper", "tail", "cost", "_priced", "_base",
                     "_multipliers", "alive", "bound"):  # fmt: skip
            old = getattr(self, name)
            new = np.zeros((extra, *old.shape[1:]), dtype=old.dtype)
            setattr(self, name, np.concatenate([old, new]))
        return index

    def _write(
        self,
        index: IntArray,
        lower: FloatArray,
        upper: FloatArray,
        tail: BoolArray,
        multipliers: FloatArray,
        points: FloatArray,
    ) -> None:
        """Fill slots with boxes whose linear bounds should be tight at ``points``."""
        lower, upper = tighten(lower, upper)
        self.alive[index] = (upper - lower).min(axis=1) >= -1e-12
        lower = np.minimum(lower, upper)
        self.lower[index], self.upper[index], self.tail[index] = lower, upper, tail
        self.cost[index] = self._linear_bound(lower, upper, tail, points)
        self._set_multipliers(index, multipliers)
        self.bound[index] = -np.inf

    def _linear_bound(
        self, lower: FloatArray, upper: FloatArray, tail: BoolArray, points: FloatArray
    ) -> FloatArray:
        """Return ``cost`` with ``cost @ v <= H(U v)`` on each box, large at the points."""
        utility = self._reduced.utility
        if not utility.identity:
            return corner_bound(utility, lower)
        cost, constant = linear_bound(lower, upper, tail, points)
        return cost + constant[:, None]

    def _set_multipliers(self, index: IntArray, multipliers: FloatArray) -> None:
        multipliers, support = self._reduced.supported(multipliers)
        self._multipliers[index] = multipliers
        self._priced[index] = self.cost[index] - multipliers @ self._reduced.directions
        self._base[index] = support

    def _recompute(self, index: IntArray) -> None:
        """Bound boxes at the current prices by their stored multipliers."""
        for start in range(0, index.size, _CHUNK):
            part = index[start : start + _CHUNK]
            minimum = box_minimum(
                self._priced[part] - self._prices, self.lower[part], self.upper[part]
            )
            self.bound[part] = self._base[part] + minimum

    def refresh(self, prices: FloatArray, threshold: float) -> IntArray:
        """Set new prices and return the alive boxes with a bound below ``threshold``.

        Since sum v = 1, no bound drops by more than the largest increase of a price; boxes
        that stay above the threshold by this rule are not evaluated.
        """
        self.bound[: self.size] -= float((prices - self._prices).max())
        self._prices = prices
        alive = np.flatnonzero(self.alive[: self.size])
        doubtful = alive[self.bound[alive] < threshold]
        self._recompute(doubtful)
        below = doubtful[self.bound[doubtful] < threshold]
        return below[np.argsort(self.bound[below])]

    def evaluate(self, box: int) -> FloatArray | None:
        """Solve the LP of one box: improve its bound and return its minimiser, if any."""
        self.n_nodes += 1
        point = self._lp.minimise(self.cost[box] - self._prices, (self.lower[box], self.upper[box]))
        if point is None:
            self.alive[box] = not self._proven_empty(box)
            return None
        index = np.array([box])
        self._set_multipliers(index, point.row_duals[None])
        # As in _recompute, but the dual of sum v = 1 replaces the sort.
        cost = self._priced[box] - self._prices - point.sum_dual
        minimum = (np.where(cost > 0, self.lower[box], self.upper[box]) * cost).sum()
        self.bound[box] = max(self.bound[box], self._base[box] + point.sum_dual + minimum)
        return point.v

    def _proven_empty(self, box: int) -> bool:
        """Verify that a box whose LP is reported infeasible is empty.

        A box that is wrongly dropped would make the bound wrong, so the Farkas multipliers of
        HiGHS are checked; without a proof the box keeps its last bound.
        """
        ray = self._lp.infeasibility_ray()[None]
        multipliers, support = self._reduced.supported(ray / max(np.abs(ray).max(), 1e-300))
        cost = -multipliers @ self._reduced.directions
        least = support + box_minimum(cost, self.lower[[box]], self.upper[[box]])
        return bool(least[0] > _PROOF)

    def lowest(self) -> float:
        """Return the smallest bound: no posterior has a smaller reduced cost."""
        alive = self.alive[: self.size]
        return float(self.bound[: self.size][alive].min(initial=np.inf))

    def objective_bound(self) -> float:
        """Return a lower bound on the conditional entropy.

        Prices pi with reduced costs of at least -t give the bound pi.p - t. If boxes that contain
        only posteriors with v_x >= l are below -t by d, lowering the price of x by d / l lifts
        them to -t. So the smallest bound of each symbol counts by its probability, rather than the
        smallest of all for all symbols. Several t are tried.
        """
        alive = np.flatnonzero(self.alive[: self.size])
        missing = np.maximum(-self.bound[alive], 0.0)
        top = self.lower[alive].argmax(axis=1)
        least = self.lower[alive, top]
        topless = least <= _TOPLESS
        shared = float(missing[topless].max(initial=0.0))
        best = -np.inf
        for t in shared + (missing.max(initial=shared) - shared) * np.linspace(0.0, 1.0, _TRIED):
            lowered = np.zeros(self._prices.size)
            excess = np.maximum(missing - t, 0.0)[~topless] / least[~topless]
            np.maximum.at(lowered, top[~topless], excess)
            best = max(best, float((self._prices - lowered) @ self._reduced.p) - t)
        return best

    def split(self, boxes: IntArray, points: FloatArray) -> IntArray:
        """Split distinct boxes into two halves each, whose bounds are higher at the points.

        Parameters
        ----------
        boxes : ndarray of shape (k,)
            Boxes to split.
        points : ndarray of shape (k, n)
            A posterior of each box, where its bound is too low.

        Returns
        -------
        halves : ndarray of shape (k, 2)
            The new boxes; the first half reuses the slot of its parent.
        """
        lower, upper, tail = self.lower[boxes], self.upper[boxes], self.tail[boxes]
        k = np.arange(boxes.size)
        if self._reduced.utility.identity:
            cuts = zip(lower, upper, tail, points, strict=True)
            j = np.array([branch_coordinate(*cut) for cut in cuts])
            low, high = lower[k, j], upper[k, j]
            margin = _INNER * (high - low)
            middle = np.clip(points[k, j], low + margin, high - margin)
        else:
            j = (points - lower).argmax(axis=1)
            middle = lower[k, j] + 0.7 * (points[k, j] - lower[k, j])
        lower, upper = np.repeat(lower, 2, axis=0), np.repeat(upper, 2, axis=0)
        upper[2 * k, j] = lower[2 * k + 1, j] = middle
        multipliers = np.repeat(self._multipliers[boxes], 2, axis=0)
        halves = np.column_stack([boxes, self._new_slots(boxes.size)])
        tail, points = np.repeat(tail, 2, axis=0), np.repeat(points, 2, axis=0)
        tail[2 * k + 1, j] = False  # below the cut a symbol of the tail stays there
        self._write(halves.ravel(), lower, upper, tail, multipliers, points)
        return halves
