"""A partition of the posteriors into boxes, each with a linear lower bound of the entropy."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import ClassVar

import numpy as np

from ._boxes import (
    BoolArray,
    box_minimum,
    branch_coordinates,
    corner_bound,
    linear_bound,
    tighten,
)
from ._image import FloatArray, IntArray
from ._lp import PolytopePoint
from ._presolve import ReducedProblem

MOST_BYTES = 2**28
"""Memory of the boxes. It holds 137,000 of 200 symbols, or 9,800 of 3,000, with 15 rows."""
_CELLS = 400_000
"""Numbers that are bounded at a time."""
_CUTS = 5
"""Largest number of coordinates at which a box is cut at once."""
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

    A box is stored by its sides, in single precision and rounded outwards, and its multipliers.
    All else is computed from these when it is needed.

    Parameters
    ----------
    reduced : ReducedProblem
        The polytope.
    largest : ndarray of shape (n,)
        Largest entry of each symbol over the polytope.

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

    #: Arrays with an entry or a row for each box.
    _arrays: ClassVar[tuple[str, ...]] = (
        "lower", "upper", "tail", "_lumped", "_multipliers", "top", "_least", "alive", "bound",
    )  # fmt: skip

    def __init__(self, reduced: ReducedProblem, largest: FloatArray) -> None:
        n, m = reduced.p.size, reduced.n_duals
        # A copy of the polytope of its own, because other uses need other warm starts.
        self._reduced, self._lp = reduced, reduced.polytope()
        self.size = 0
        self.n_nodes = 0
        self.lower, self.upper = (np.zeros((0, n), dtype=np.float32) for _ in range(2))
        self.tail = np.zeros((0, n), dtype=bool)
        self._lumped = np.zeros(0, dtype=bool)
        self._multipliers = np.zeros((0, m))
        self.top, self._least = np.zeros(0, dtype=np.int32), np.zeros(0)
        self.alive, self.bound = np.zeros(0, dtype=bool), np.zeros(0)
        self._prices = np.zeros(n)
        # At most one entry exceeds 1/2: one box for each symbol that can, and one for the rest.
        tops = np.flatnonzero(largest > 0.5)
        count = tops.size + 1
        self._most = max(count, MOST_BYTES // self._bytes_each)
        slots = self._new_slots(count)
        for part in np.array_split(slots, ceil(count * n / _CELLS)):
            own = tops[part[part < tops.size]]
            k = np.arange(own.size)
            lower, upper = np.zeros((part.size, n)), np.tile(largest, (part.size, 1))
            tail = np.ones((part.size, n), dtype=bool)
            lower[k, own], tail[k, own] = 0.5, False
            upper[k.size :] = np.minimum(largest, 0.5)
            points = np.tile(reduced.p, (part.size, 1))
            self._write(part, lower, upper, tail, np.zeros((part.size, m)), points)

    @property
    def _stored(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in self._arrays}

    @property
    def _bytes_each(self) -> int:
        return sum(a.itemsize * (a.shape[1] if a.ndim == 2 else 1) for a in self._stored.values())

    @property
    def room(self) -> int:
        """How many boxes can still be split."""
        return (self._most - self.size) // _CUTS

    def _new_slots(self, count: int) -> IntArray:
        """Return ``count`` unused slots; arrays double in size when they are full."""
        index = np.arange(self.size, self.size + count)
        self.size += count
        if self.size <= self.alive.size:
            return index
        extra = min(max(self.size, 2 * self.alive.size), self._most) - self.alive.size
        for name, old in self._stored.items():
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
        lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
        self.lower[index] = np.maximum(np.nextafter(lower.astype(np.float32), np.float32(-1)), 0.0)
        self.upper[index] = np.nextafter(upper.astype(np.float32), np.float32(2))
        self.tail[index] = tail
        self.top[index] = lower.argmax(axis=1)
        self._least[index] = self.lower[index, self.top[index]]
        self._multipliers[index] = multipliers
        self.bound[index] = -np.inf
        self._restrict(index)
        if self._reduced.utility.identity:
            self._lumped[index] = False
            apart = (self.costs(index) * points).sum(axis=1)
            self._lumped[index] = True
            self._lumped[index] = (self.costs(index) * points).sum(axis=1) > apart

    def _inherit(self, parts: IntArray, parents: IntArray) -> None:
        """Copy to new boxes what else restricts the boxes that they are parts of: nothing here."""

    def _restrict(self, index: IntArray) -> None:
        """Adapt what else restricts the posteriors of new boxes: nothing here."""

    def _ranges(self, index: IntArray) -> tuple[FloatArray, FloatArray] | None:
        """Return what else restricts the posteriors of boxes."""
        return None

    def _minimise(self, box: int, cost: FloatArray) -> PolytopePoint | None:
        """Minimise ``cost @ v`` over one box."""
        return self._lp.minimise(cost, self.sides(box))

    def sides(self, boxes: int | IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper ends of boxes."""
        return self.lower[boxes].astype(float), self.upper[boxes].astype(float)

    def costs(self, boxes: IntArray) -> FloatArray:
        """Return ``cost`` with ``cost @ v <= H(U v)`` for the posteriors v of each box."""
        lower, upper = self.sides(boxes)
        if not self._reduced.utility.identity:
            return corner_bound(self._reduced.utility, lower)
        return linear_bound(lower, upper, self.tail[boxes], self._lumped[boxes])

    def _recompute(self, index: IntArray) -> None:
        """Bound boxes at the current prices by their stored multipliers."""
        utility = self._reduced.utility
        chunk = max(1, _CELLS // (self._prices.size * utility.n_mixed))
        for start in range(0, index.size, chunk):
            part = index[start : start + chunk]
            multipliers, support = self._reduced.supported(
                self._multipliers[part], self._ranges(part)
            )
            cost = self.costs(part) - multipliers @ self._reduced.directions - self._prices
            self.bound[part] = support + box_minimum(cost, *self.sides(part))

    def refresh(self, prices: FloatArray, threshold: float) -> IntArray:
        """Set new prices and return the alive boxes with a bound below ``threshold``.

        The sum of v is 1 and a share of it is at the symbol with the largest lower bound. So no
        bound drops by more than the average of two increases of prices, its own and the largest;
        boxes that stay above the threshold by this rule are not evaluated.
        """
        change, size = prices - self._prices, self.size
        share = self._least[:size]
        self.bound[:size] -= share * change[self.top[:size]] + (1 - share) * change.max()
        self._prices = prices
        alive = np.flatnonzero(self.alive[:size])
        doubtful = alive[self.bound[alive] < threshold]
        self._recompute(doubtful)
        below = doubtful[self.bound[doubtful] < threshold]
        return below[np.argsort(self.bound[below])]

    def evaluate(
        self, boxes: IntArray, stop: Callable[[], bool] = lambda: False
    ) -> tuple[FloatArray, BoolArray]:
        """Solve the linear programs of distinct boxes and improve their bounds.

        Parameters
        ----------
        boxes : ndarray of shape (k,)
            The boxes. Few simplex steps lead from one to the next if they are alike.
        stop : callable
            Asked before each linear program; boxes after a True keep their bounds.

        Returns
        -------
        points : ndarray of shape (k, n)
            The minimiser of each box.
        solved : ndarray of bool of shape (k,)
            Boxes that have a minimiser; the others have zeros.
        """
        costs = self.costs(boxes)
        points, duals = np.zeros_like(costs), np.zeros((boxes.size, self._multipliers.shape[1]))
        sum_duals, solved = np.zeros(boxes.size), np.zeros(boxes.size, dtype=bool)
        for k, (box, cost) in enumerate(zip(boxes.tolist(), costs - self._prices, strict=True)):
            if stop():
                break
            self.n_nodes += 1
            point = self._minimise(box, cost)
            if point is None:
                self.alive[box] = not self._proven_empty(box)
            else:
                points[k], duals[k], sum_duals[k] = point
                solved[k] = True
        done = boxes[solved]
        self._multipliers[done] = duals[solved]
        multipliers, support = self._reduced.supported(duals[solved], self._ranges(done))
        # As in _recompute, but the dual of sum v = 1 replaces the sort.
        support, fixed = support + sum_duals[solved], self._prices + sum_duals[solved, None]
        cost = costs[solved] - multipliers @ self._reduced.directions - fixed
        lower, upper = self.sides(done)
        minimum = (np.where(cost > 0, lower, upper) * cost).sum(axis=1)
        self.bound[done] = np.maximum(self.bound[done], support + minimum)
        return points, solved

    def _proven_empty(self, box: int) -> bool:
        """Verify that a box whose LP is reported infeasible is empty.

        A box that is wrongly dropped would make the bound wrong, so the Farkas multipliers of
        HiGHS are checked; without a proof the box keeps its last bound.
        """
        ray, index = self._lp.infeasibility_ray()[None], np.array([box])
        ray /= max(np.abs(ray).max(), 1e-300)
        multipliers, support = self._reduced.supported(ray, self._ranges(index))
        cost = -multipliers @ self._reduced.directions
        least = support + box_minimum(cost, *self.sides(index))
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
        top, least = self.top[alive], self._least[alive]
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
        """Split distinct boxes into two or more parts each, with higher bounds at the points.

        The first part is above the first cut, the next is below it and above the second, and so
        on; the last is below all cuts. There must be :attr:`room` for them.

        Parameters
        ----------
        boxes : ndarray of shape (k,)
            Boxes to split.
        points : ndarray of shape (k, n)
            A posterior of each box, where its bound is too low.

        Returns
        -------
        parts : ndarray
            The new boxes; the last part of each box, one of the first k here, reuses its slot.
        """
        (lower, upper), tail = self.sides(boxes), self.tail[boxes]
        cuts = self._cuts(lower, upper, tail, points)
        parents, lowers, uppers, tails = [np.arange(boxes.size)], [lower], [upper], [tail]
        for j in cuts.T:
            parent = np.flatnonzero(j >= 0)
            j, k = j[parent], np.arange(parent.size)
            low, high = lower[parent, j], upper[parent, j]
            middle = self._middle(low, high, points[parent, j])
            above, outside = lower[parent], tail[parent]
            above[k, j], outside[k, j] = middle, False  # below a cut a symbol stays in the tail
            parents, lowers, tails = [*parents, parent], [*lowers, above], [*tails, outside]
            uppers.append(upper[parent])
            upper[parent, j] = middle
        parent = np.concatenate(parents)
        parts = np.concatenate([boxes, self._new_slots(parent.size - boxes.size)])
        self._inherit(parts, boxes[parent])
        self._write(
            parts,
            np.concatenate(lowers),
            np.concatenate(uppers),
            np.concatenate(tails),
            self._multipliers[boxes[parent]],
            points[parent],
        )
        return parts

    def _cuts(
        self, lower: FloatArray, upper: FloatArray, tail: BoolArray, points: FloatArray
    ) -> IntArray:
        """Return the coordinates where boxes are cut, a row for each; -1 for none."""
        if self._reduced.utility.identity:
            return branch_coordinates(lower, upper, tail, points, _CUTS)
        return (points - lower).argmax(axis=1)[:, None]

    def _middle(self, low: FloatArray, high: FloatArray, at: FloatArray) -> FloatArray:
        """Return where intervals are cut."""
        if not self._reduced.utility.identity:
            return low + 0.7 * (at - low)
        margin = _INNER * (high - low)
        return np.clip(at, low + margin, high - margin)
