"""The restricted master problem: the posteriors found so far and their best weights."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.sparse import csr_array, eye_array, vstack

from ._image import FloatArray, Image, first_rows
from ._lp import MasterLP
from ._problem import FEASIBILITY
from ._state import SolverState

WORTH_A_COLUMN = -1e-8
"""Posteriors with a reduced cost above this are not added."""
_FIRST_CAP = 2.0
"""Initial cap on prices; most optimal prices are below it."""
_LAST_CAP = 1e5
"""Beyond this cap artificial posteriors are forbidden; what weight is left is a rounding error."""
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

    def violation(self, posteriors: FloatArray | csr_array) -> FloatArray:
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
        self._cap, self._settled = _FIRST_CAP, False
        self._n_artificial = self.p.size
        alone = eye_array(self._n_artificial, format="csr")
        self._master.add(alone, np.full(self._n_artificial, self._cap))
        self._columns, self._costs = csr_array((0, self.p.size)), np.zeros(0)
        self.weights = np.zeros(0)
        self.prices = np.zeros(self.p.size)
        self.objective, self.uses_artificial = np.inf, True
        self.add(self.p[None], always=True)

    @property
    def columns(self) -> csr_array:
        """The posteriors, one per row."""
        return self._columns

    def add(self, candidates: FloatArray | csr_array, always: bool = False) -> FloatArray:
        """Add and return the allowed candidates that improve the solution, or all if ``always``.

        They may be sparse if the image is the identity.
        """
        candidates = candidates[np.unique(first_rows(candidates), return_index=True)[1]]
        costs = self.utility.entropy(candidates)
        good = costs - candidates @ self.prices < WORTH_A_COLUMN
        good |= always
        good &= self._problem.violation(candidates) <= 0.5 * FEASIBILITY
        added = candidates[good]
        if added.shape[0]:
            self._master.add(added, costs[good])
            self._columns = csr_array(vstack([self._columns, csr_array(added)]))
            self._costs = np.append(self._costs, costs[good])
            self._solve()
            if self._settled:
                self.settle()
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
        self._state.n_columns = self._costs.size

    def settle(self) -> None:
        """Raise the cap until no artificial posterior has weight, from now on after every change.

        Posteriors that are added later may raise a price to the cap again.
        """
        self._settled = True
        while self.uses_artificial and self._cap <= _LAST_CAP:
            self.raise_cap()

    def raise_cap(self) -> None:
        """Raise the cost of artificial posteriors; beyond a limit, forbid them."""
        self._cap *= 4.0
        if self._cap > _LAST_CAP:
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
            master.add(self._columns[: self._costs.size], self._costs)
            self.weights = master.solve().weights
        elif self.uses_artificial:
            self._master.forbid(self._n_artificial)
            self._solve()
        used = np.flatnonzero(self.weights > 0)
        return self._columns[used].toarray(), self.weights[used]
