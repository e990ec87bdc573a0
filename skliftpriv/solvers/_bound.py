"""The upper bound on the NMI, from a relaxed problem that is refined where it is inaccurate.

On each box N of a partition the entropy is replaced by a linear lower bound c_N. The
relaxed problem, in which a posterior of box N costs c_N(v) <= H(v), is solved by column
generation. Its optimum is the best lower bound that the partition can give, and its
prices are the best prices for it. (Prices of the true problem are not, because they are
optimal for its own columns, where the linear bounds are not tight.) Then boxes are split
whose posteriors have weight in the relaxed solution, or would get weight next.
"""

from __future__ import annotations

import numpy as np

from ._column_pool import ColumnPool
from ._lp import MasterPoint, PolytopeLP
from ._partition import Partition
from ._presolve import ReducedProblem
from ._pricing import clean, descend, entropy_slopes
from ._problem import FloatArray, entropy
from ._relaxed_master import NO_BOX, RelaxedMaster
from ._state import SolverState

_SHARE = 0.25
"""Relaxed prices are good enough if their error is below this share of the gap."""
_SMOOTH = 0.6
"""Weight of the best known prices when new prices are tried (Wentges smoothing)."""
_COVER = 0.95
"""Share of the total error of the relaxed solution that one round of splits must cover."""
_SPLITS = 25
"""A round splits up to about this many boxes even if fewer posteriors have weight."""
_TINY = 1e-9


class BoundImprover:
    """Alternate between finding the best prices for a partition and refining the partition.

    Parameters
    ----------
    state : SolverState
        Clock; receives the bounds.
    reduced : ReducedProblem
        The polytope.
    pool : ColumnPool
        The true problem; receives posteriors that are found on the way.
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
        # A second copy of the polytope, because the two uses need different warm starts.
        self._partition = Partition(reduced, reduced.polytope(), largest)
        self._master = RelaxedMaster(pool.p, pool.columns)
        self._centre = pool.prices

    def run(self) -> None:
        """Refine until the gap is closed or the time limit is reached."""
        state = self._state
        while not state.finished:
            point = self._relaxed_optimum()
            if state.finished or not self._refine(point):
                break

    def _relaxed_optimum(self) -> MasterPoint:
        """Generate columns of the relaxed problem until its prices are good enough."""
        state = self._state
        while True:
            point = self._master.solve()
            smoothed = _SMOOTH * self._centre + (1 - _SMOOTH) * point.prices
            # If smoothed prices give no column, try the exact ones.
            found = self._price(smoothed, point.prices) or self._price(point.prices, point.prices)
            state.report()
            missing = point.objective - state.bound
            if state.finished or not found or missing <= _SHARE * (state.value - state.bound):
                return point

    def _price(self, prices: FloatArray, master_prices: FloatArray) -> bool:
        """Bound all boxes at ``prices``; return whether columns were added to the master."""
        state, partition = self._state, self._partition
        slack = 0.25 * _SHARE * max(state.value - state.bound, state.gap_nats)
        columns, costs, boxes = [], [], []
        for box in partition.refresh(prices, -slack):
            if state.out_of_time:
                break
            v = partition.evaluate(box)
            if v is None:
                continue
            cost = float(partition.cost[box] @ v + partition.constant[box])
            if cost - master_prices @ v < -_TINY:
                columns.append(v)
                costs.append(cost)
                boxes.append(int(box))
        state.n_nodes = partition.n_nodes
        bound = float(prices @ self._pool.p) + min(0.0, partition.lowest())
        if bound > state.bound:
            state.bound, self._centre = bound, prices
        if columns:
            self._master.add(clean(np.array(columns)), np.array(costs), np.array(boxes))
        return bool(columns)

    def _refine(self, point: MasterPoint) -> bool:
        """Split boxes with an error and add posteriors; return False if there are none."""
        master, pool = self._master, self._pool
        chosen = self._worst(point)
        # Posteriors with weight may be good even if the bound of their box is exact.
        found = list(master.columns[: point.weights.size][point.weights > 0])
        for k in chosen:
            if self._state.out_of_time:
                break
            slopes = entropy_slopes(master.columns[k])
            found.append(descend(self._lp, pool.prices, slopes)[0])
        chosen += master.runners_up(point, self._state.value - self._state.bound).tolist()
        first: dict[int, int] = {}  # box -> the first posterior because of which it is split
        for k in chosen:
            if len(first) < _SPLITS or point.weights[k] > 0:
                first.setdefault(int(master.box_of[k]), k)
        if first:
            boxes = np.array(list(first))
            halves = self._partition.split(boxes, master.columns[list(first.values())])
            master.move(self._partition, boxes, halves)
        added = pool.add(np.array(found))
        if len(added):
            master.add(added, entropy(added), np.full(len(added), NO_BOX))
        return bool(first) or len(added) > 0

    def _worst(self, point: MasterPoint) -> list[int]:
        """Return the posteriors that cause most of the error of the relaxed solution."""
        errors = self._master.errors(point)
        order = np.argsort(-errors)
        before = np.cumsum(errors[order]) - errors[order]
        return order[(before < _COVER * errors.sum()) & (errors[order] > 1e-13)].tolist()
