"""The relaxed problem: the cost of a posterior is the lower bound of its box."""

from __future__ import annotations

import numpy as np

from ._lp import MasterLP, MasterPoint
from ._partition import Partition
from ._problem import FloatArray, IntArray, entropy

NO_BOX = -1
_KEEP = 6
"""Old columns are dropped when there are more than this many per symbol."""


class RelaxedMaster:
    """Weights for known posteriors at relaxed costs.

    Parameters
    ----------
    p : ndarray of shape (n,)
        The average of the posteriors.
    columns : ndarray of shape (k, n)
        First posteriors, at their true cost; some mixture of them is p.

    Attributes
    ----------
    columns : ndarray of shape (k, n)
        Posteriors.
    costs : ndarray of shape (k,)
        Their costs, at most their entropies.
    box_of : ndarray of shape (k,)
        The box that sets the cost, or ``NO_BOX`` for the true cost.
    """

    def __init__(self, p: FloatArray, columns: FloatArray) -> None:
        self._lp = MasterLP(p)
        self._limit = max(500, _KEEP * p.size)
        self.columns = np.zeros((0, p.size))
        self.costs = np.zeros(0)
        self.box_of: IntArray = np.zeros(0, dtype=np.intp)
        self.add(columns, entropy(columns), np.full(len(columns), NO_BOX))

    def add(self, columns: FloatArray, costs: FloatArray, boxes: IntArray) -> None:
        """Append posteriors."""
        self._lp.add(columns, costs)
        self.columns = np.vstack([self.columns, columns])
        self.costs = np.concatenate([self.costs, costs])
        self.box_of = np.concatenate([self.box_of, boxes])

    def solve(self) -> MasterPoint:
        """Solve over the known posteriors; if there are many, drop the worst."""
        point = self._lp.solve()
        if len(self.costs) > self._limit:
            point = self._purge(point)
        return point

    def _purge(self, point: MasterPoint) -> MasterPoint:
        """Keep the posteriors with the smallest reduced costs; the rest can be found again."""
        reduced_cost = self.costs - self.columns @ point.prices
        reduced_cost[point.weights > 0] = -np.inf
        order = np.argsort(reduced_cost, kind="stable")
        used = int((point.weights > 0).sum())
        dropped = np.sort(order[max(self._limit // 2, used) :])
        self._lp.remove(dropped)
        self.columns = np.delete(self.columns, dropped, axis=0)
        self.costs = np.delete(self.costs, dropped)
        self.box_of = np.delete(self.box_of, dropped)
        return self._lp.solve()  # takes no simplex step, only updates the numbering

    def errors(self, point: MasterPoint) -> FloatArray:
        """Return by how much each posterior lowers the relaxed objective of ``point``."""
        known = point.weights.size  # later posteriors have no weight yet
        saved = entropy(self.columns[:known]) - self.costs[:known]
        return np.where(self.box_of[:known] == NO_BOX, 0.0, point.weights * saved)

    def runners_up(self, point: MasterPoint, most: float) -> IntArray:
        """Return relaxed posteriors with an error and a reduced cost below ``most``.

        They are ordered by reduced cost, so those that would get weight next come first.
        """
        known = point.weights.size
        reduced_cost = self.costs[:known] - self.columns[:known] @ point.prices
        error = entropy(self.columns[:known]) - self.costs[:known]
        wanted = (self.box_of[:known] != NO_BOX) & (reduced_cost < most)
        index = np.flatnonzero(wanted & (reduced_cost + error > 1e-9) & (error > 1e-7))
        return index[np.argsort(reduced_cost[index])]

    def move(self, partition: Partition, boxes: IntArray, halves: IntArray) -> None:
        """Update the costs of posteriors in split boxes to the bounds of the halves."""
        for box, children in zip(boxes, halves, strict=True):
            index = np.flatnonzero(self.box_of == box)
            points = self.columns[index]
            options = np.stack([partition.values(int(child), points) for child in children])
            lowest = options.min(axis=0)
            # Rounding may leave a posterior outside both halves; then it has its true cost.
            lost = np.isinf(lowest)
            self.costs[index] = np.where(lost, entropy(points), lowest)
            self.box_of[index] = np.where(lost, NO_BOX, children[options.argmin(axis=0)])
            self._lp.set_costs(index, self.costs[index])
