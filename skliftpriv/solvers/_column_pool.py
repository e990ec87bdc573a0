"""The restricted master problem: the posteriors found so far and their best weights."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ._image import FloatArray, Image, first_rows
from ._lp import MasterLP
from ._problem import FEASIBILITY
from ._state import SolverState

WORTH_A_COLUMN = -1e-8
"""Posteriors with a reduced cost above this are not added."""
_FIRST_CAP = 2.0
"""Initial cap on prices; most optimal prices are below it."""
_NO_WEIGHT = 1e-10
"""Artificial posteriors count as unused up to this weight."""


class Allowed(Protocol):
    """What the pool needs of a problem: the average, the costs and violations of posteriors."""

    @property
    def p(self) -> FloatArray:
        """The average of the posteriors."""

    @property
    def utility(self) -> Image:
        """What a posterior costs."""

    def violation(self, posteriors: FloatArray) -> FloatArray:
        """Return the largest violation of a row by each posterior."""


class ColumnPool:
    """The restricted master problem: the posteriors found so far at their true cost.

    For each symbol there is also an artificial posterior of this symbol alone, whether allowed
    or not, whose cost caps its price: without a cap the first prices are extreme and mislead the
    search. The cap is raised until no weight is left on the artificial posteriors.
    """

    def __init__(self, problem: Allowed, state: SolverState) -> None:
        self._problem, self.p, self.utility = problem, problem.p, problem.utility
        self._state = state
        self._master = MasterLP(self.p)
        self._cap = _FIRST_CAP
        self._n_artificial = self.p.size
        self._master.add(np.eye(self._n_artificial), np.full(self._n_artificial, self._cap))
        self.columns, self._costs = np.zeros((0, self.p.size)), np.zeros(0)
        self.weights = np.zeros(0)
        self.prices = np.zeros(self.p.size)
        self.objective, self.uses_artificial = np.inf, True
        self.add(self.p[None], always=True)

    def add(self, candidates: FloatArray, always: bool = False) -> FloatArray:
        """Add and return the allowed candidates that improve the solution, or all if ``always``."""
        candidates = candidates[np.unique(first_rows(candidates), return_index=True)[1]]
        costs = self.utility.entropy(candidates)
        good = costs - candidates @ self.prices < WORTH_A_COLUMN
        good |= always
        good &= self._problem.violation(candidates) <= 0.5 * FEASIBILITY
        added = candidates[good]
        if len(added):
            self._master.add(added, costs[good])
            self.columns = np.vstack([self.columns, added])
            self._costs = np.append(self._costs, costs[good])
            self._solve()
        return added

    def _solve(self) -> None:
        point = self._master.solve()
        self.prices, self.objective = point.prices, point.objective
        artificial, weights = np.split(point.weights, [self._n_artificial])
        self.uses_artificial = float(artificial.sum()) > _NO_WEIGHT
        if not self.uses_artificial:
            self.weights = weights
            value = float(weights @ self._costs)
            self._state.value = min(self._state.value, value)
        elif self.weights.size == 0:
            self.weights = np.ones(1)  # p alone
        self._state.n_columns = len(self.columns)

    def raise_cap(self) -> None:
        """Raise the cost of artificial posteriors; beyond a limit, forbid them."""
        self._cap *= 4.0
        if self._cap > 1e5:
            self._master.forbid(self._n_artificial)
        else:
            index = np.arange(self._n_artificial)
            self._master.set_costs(index, np.full(self._n_artificial, self._cap))
        self._solve()

    def best(self) -> tuple[FloatArray, FloatArray]:
        """Return the used posteriors and their weights, without artificial ones.

        If artificial ones are still in use, or an interrupt came between two steps, the
        last weights are not the best, so they are computed again.
        """
        if self._state.interrupted:
            master = MasterLP(self.p)
            master.add(self.columns, self.utility.entropy(self.columns))
            self.weights = master.solve().weights
        elif self.uses_artificial:
            self._master.forbid(self._n_artificial)
            self._solve()
        used = self.weights > 0
        return self.columns[: used.size][used], self.weights[used]
