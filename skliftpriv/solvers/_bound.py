"""The upper bound on what can be kept: branch and bound on the price of a posterior.

At the prices pi of the master problem, no posterior of weight has a negative reduced cost
H(U v) - pi.v. If none at all has one below -t, then pi.p - t is a lower bound on the conditional
entropy. The boxes of a partition are split until this is proven for a small t. Posteriors with a
negative reduced cost that are found on the way improve the solution and with it the prices.
"""

from __future__ import annotations

import numpy as np

from ._boxes import BoolArray
from ._column_pool import WORTH_A_COLUMN, ColumnPool
from ._image import FloatArray, IntArray, clean
from ._lift_boxes import LiftPartition
from ._partition import Partition
from ._presolve import Oracle, ReducedProblem
from ._pricing import descend
from ._state import SolverState

_BATCH = 256
"""Boxes that are bounded before new posteriors and prices are taken into account."""
_SEARCHED = 2
"""Boxes of a batch that are searched in any case, unless posteriors are vertices of a polytope
that count for themselves."""
_STEEP = 1e-12
"""With slopes taken here, almost no posterior costs more than the linear function says."""
_FIRST = 0.25
"""Share of the information that the first tolerance is; each further one is half as large."""
_SHARE = 0.5
"""The tolerance ends at this share of the requested gap."""


class BoundImprover:
    """Alternate between refining a partition at fixed prices and improving the prices.

    Parameters
    ----------
    state : SolverState
        Clock; receives the bounds.
    reduced : ReducedProblem
        The polytope.
    pool : ColumnPool
        The master problem; receives posteriors that are found on the way.
    lp : Oracle
        Finds allowed posteriors, for local searches.
    largest : ndarray of shape (n,)
        Largest entry of each symbol over the polytope.
    """

    def __init__(
        self,
        state: SolverState,
        reduced: ReducedProblem,
        pool: ColumnPool,
        lp: Oracle,
        largest: FloatArray,
    ) -> None:
        self._state, self._reduced, self._pool, self._lp = state, reduced, pool, lp
        kind = Partition if reduced.averages is None else LiftPartition
        self._partition = kind(reduced, largest)
        self._searches_worst = lp.curved or not reduced.utility.identity

    def run(self) -> None:
        """Refine until the gap is closed, time is up or the boxes fill their memory."""
        state = self._state
        tolerance = _FIRST * state.scale.information
        while not state.finished and not state.full:
            below = self._partition.refresh(self._pool.prices, -tolerance)
            self._note_bound()
            if below.size:
                self._refine(below[:_BATCH], tolerance)
            elif tolerance <= _SHARE * state.gap_nats:
                break  # rounding leaves nothing to refine
            else:
                tolerance = max(0.5 * tolerance, _SHARE * state.gap_nats)

    def _note_bound(self) -> None:
        state, partition = self._state, self._partition
        state.n_nodes = partition.n_nodes
        state.improve_bound(partition.objective_bound())
        state.report()

    def _refine(self, boxes: IntArray, tolerance: float) -> None:
        """Bound boxes by linear programs, split those that stay below, and add posteriors."""
        partition, pool = self._partition, self._pool
        # Neighbours among the boxes of a symbol are alike, so that a few simplex steps lead from
        # the solution of one to that of the next.
        rank = np.lexsort((boxes, partition.top[boxes]))
        boxes = boxes[rank]
        points, solved = partition.evaluate(boxes, lambda: self._state.out_of_time)
        points[solved] = clean(points[solved])
        points[~solved] = pool.p
        found = [self._found_from(v) for v in points[solved & self._promising(points, rank)]]
        below = np.flatnonzero(solved & (partition.bound[boxes] < -tolerance))
        self._state.full = below.size > partition.room
        below = below[: partition.room]
        if below.size:
            partition.split(boxes[below], points[below])
        if found:
            pool.add(np.array(found))

    def _found_from(self, v: FloatArray) -> FloatArray:
        """Search for a better posterior from the point of a box."""
        pool, near = self._pool, self._reduced.start_near(v)
        slopes = pool.utility.slopes(v)
        best, cost = descend(self._lp, pool.utility, pool.prices, slopes, near)
        if near is None and cost > float(pool.utility.entropy(v) - v @ pool.prices):
            # Flat slopes at 0 led away from a vertex that is the best one near v.
            steep = pool.utility.slopes(v, _STEEP)
            best, _ = descend(self._lp, pool.utility, pool.prices, steep)
        return best

    def _promising(self, points: FloatArray, rank: IntArray) -> BoolArray:
        """Tell from which points of boxes, the worst first in rank, a search is worthwhile."""
        pool = self._pool
        near = [self._reduced.start_near(v) for v in points]
        allowed = np.array([v if at is None else at for v, at in zip(points, near, strict=True)])
        worth = pool.utility.entropy(allowed) - allowed @ pool.prices < WORTH_A_COLUMN
        return np.asarray(worth | (rank < _SEARCHED)) if self._searches_worst else worth
