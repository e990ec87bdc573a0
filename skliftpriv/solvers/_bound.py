"""The upper bound on what can be kept: branch and bound on the price of a posterior.

At the prices pi of the master problem, no posterior of weight has a negative reduced cost
H(U v) - pi.v. If none at all has one below -t, then pi.p - t is a lower bound on the conditional
entropy. The boxes of a partition are split until this is proven for a small t. Posteriors with a
negative reduced cost that are found on the way improve the solution and with it the prices.
"""

from __future__ import annotations

import numpy as np

from ._column_pool import WORTH_A_COLUMN, ColumnPool
from ._image import FloatArray, IntArray
from ._lp import PolytopeLP
from ._partition import Partition
from ._presolve import ReducedProblem
from ._pricing import clean, descend
from ._state import SolverState

_BATCH = 256
"""Boxes that are bounded before new posteriors and prices are taken into account."""
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
    lp : PolytopeLP
        The polytope of allowed posteriors, for local searches.
    largest : ndarray of shape (n,)
        Largest entry of each symbol over the polytope.
    """

    def __init__(
        self,
        state: SolverState,
        reduced: ReducedProblem,
        pool: ColumnPool,
        lp: PolytopeLP,
        largest: FloatArray,
    ) -> None:
        self._state, self._pool, self._lp = state, pool, lp
        self._partition = Partition(reduced, largest)

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
        boxes = boxes[np.lexsort((boxes, partition.top[boxes]))]
        points, found = np.tile(pool.p, (boxes.size, 1)), []
        solved = np.zeros(boxes.size, dtype=bool)
        for i, (box, cost) in enumerate(zip(boxes, partition.costs(boxes), strict=True)):
            if self._state.out_of_time:
                break
            v = partition.evaluate(int(box), cost)
            if v is not None:
                points[i], solved[i] = clean(v), True
        reduced_cost = pool.utility.entropy(points) - points @ pool.prices
        for k in np.flatnonzero(solved & (reduced_cost < WORTH_A_COLUMN)):
            slopes = pool.utility.slopes(points[k])
            found.append(descend(self._lp, pool.utility, pool.prices, slopes)[0])
        below = np.flatnonzero(solved & (partition.bound[boxes] < -tolerance))
        self._state.full = below.size > partition.room
        below = below[: partition.room]
        if below.size:
            partition.split(boxes[below], points[below])
        if found:
            pool.add(np.array(found))
