"""The upper bound on what can be kept: branch and bound on the price of a posterior.

At the prices pi of the master problem, no posterior of weight has a negative reduced cost
H(U v) - pi.v. If none at all has one below -t, then pi.p - t is a lower bound on the conditional
entropy. The boxes of a partition are split until this is proven for a small t. Posteriors with a
negative reduced cost that are found on the way improve the solution and with it the prices.
"""

from __future__ import annotations

import numpy as np

from ._column_pool import ColumnPool
from ._image import FloatArray, IntArray
from ._lp import PolytopeLP
from ._partition import Partition
from ._presolve import ReducedProblem
from ._pricing import clean, descend
from ._state import SolverState

_BATCH = 256
"""Boxes that are bounded before new posteriors and prices are taken into account."""
_SEARCHED = 32
"""Boxes of a batch that are searched for better posteriors in any case."""
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
        """Refine until the gap is closed or the time limit is reached."""
        state = self._state
        tolerance = _FIRST * state.scale.information
        while not state.finished:
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
        split, points, found = [], [], []
        for rank, box in enumerate(boxes):
            if self._state.out_of_time:
                break
            v = partition.evaluate(int(box))
            if v is None:
                continue
            v = clean(v)
            # The worst boxes are searched even if their own point is not good enough.
            if rank < _SEARCHED or pool.utility.entropy(v) - pool.prices @ v < 0:
                slopes = pool.utility.slopes(v)
                found.append(descend(self._lp, pool.utility, pool.prices, slopes)[0])
            if partition.bound[box] < -tolerance:
                split.append(box)
                points.append(v)
        if split:
            partition.split(np.array(split), np.array(points))
        if found:
            pool.add(np.array(found))
