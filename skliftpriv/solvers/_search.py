"""Cheap pricing: find good posteriors by repeated linearisation of the entropy."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ._lp import MasterLP, PolytopeLP
from ._presolve import ReducedProblem
from ._problem import FEASIBILITY, FloatArray, entropy
from ._run import Run

_FLOOR = 1e-4
"""Entries below this are linearised here: the slope of -t log t at 0 is infinite."""
_NEGATIVE = -1e-8
"""Reduced costs above this are not worth a column."""
_FIRST_CAP = 2.0
"""Start of the cap on prices; most optimal prices are below."""
_NO_WEIGHT = 1e-10
"""Artificial posteriors count as unused up to this weight."""
_IDLE_ROUNDS = 2
"""The search ends after this many rounds in a row that were not worthwhile."""
_WORTHWHILE = 1e-4
"""A round is worthwhile if it lowers the objective by this share."""
_SEARCH_TIME = 0.8
"""Share of the time budget after which the search ends in any case."""


def clean(v: FloatArray) -> FloatArray:
    """Clip rounding noise off posteriors and rescale them to sum 1."""
    v = np.where(v > 1e-12, v, 0.0)
    return v / v.sum(axis=-1, keepdims=True)


def entropy_slopes(v: FloatArray) -> FloatArray:
    """Return the slopes of H at v, up to a constant that sum v = 1 makes irrelevant."""
    return -np.log(np.maximum(v, _FLOOR))


def descend(lp: PolytopeLP, prices: FloatArray, slopes: FloatArray) -> tuple[FloatArray, float]:
    """Follow linearisations downhill to a local minimum of H(v) - prices.v.

    H is concave, so it lies below each of its linearisations: a minimiser of the
    linearised function at v is at least as good as v.

    Parameters
    ----------
    lp : PolytopeLP
        The polytope of allowed posteriors.
    prices : ndarray of shape (n,)
        Price of each symbol.
    slopes : ndarray of shape (n,)
        Slopes of the first linear function.

    Returns
    -------
    v : ndarray of shape (n,)
        A vertex.
    reduced_cost : float
        ``H(v) - prices @ v``.
    """
    best, best_cost = slopes, np.inf
    while True:
        point = lp.minimise(slopes - prices)
        assert point is not None  # p_x is inside
        v = clean(point.v)
        cost = float(entropy(v) - prices @ v)
        if cost >= best_cost - 1e-10:
            return best, best_cost
        best, best_cost = v, cost
        slopes = entropy_slopes(v)


def random_slopes(rng: np.random.Generator, n: int, x: int) -> FloatArray:
    """Return slopes as if x had most of the mass and some random helpers the rest."""
    mass = rng.uniform(0.4, 0.98)
    slopes: FloatArray = -np.log((1.0 - mass) * rng.uniform(0.02, 1.0, n) ** 2)
    slopes[x] = -np.log(mass)
    return slopes


class Allowed(Protocol):
    """What the pool asks of a problem: its average, and how far posteriors break it."""

    @property
    def p(self) -> FloatArray:
        """The average of the posteriors."""

    def violation(self, posteriors: FloatArray) -> FloatArray:
        """Return the largest violation of a row by each posterior."""


class ColumnPool:
    """The true problem over the posteriors found so far.

    Each symbol may also be released alone, allowed or not, at a cost that caps its
    price: without a cap the first prices are wild and the search chases them. The cap
    is raised until no weight is left on these artificial posteriors.
    """

    def __init__(self, problem: Allowed, run: Run) -> None:
        self._problem, self.p = problem, problem.p
        self._run = run
        self._master = MasterLP(self.p)
        self._cap = _FIRST_CAP
        self._n_artificial = self.p.size
        self._master.add(np.eye(self._n_artificial), np.full(self._n_artificial, self._cap))
        self.columns = np.zeros((0, self.p.size))
        self.weights = np.zeros(0)
        self.prices = np.zeros(self.p.size)
        self.artificial, self.objective = 1.0, np.inf
        self.add(self.p[None], always=True)

    def add(self, candidates: FloatArray, always: bool = False) -> FloatArray:
        """Add the allowed candidates that improve (or ``always``), solve, and return them."""
        candidates = np.unique(candidates, axis=0)
        good = entropy(candidates) - candidates @ self.prices < _NEGATIVE
        good |= always
        good &= self._problem.violation(candidates) <= 0.5 * FEASIBILITY
        added = candidates[good]
        if len(added):
            self._master.add(added, entropy(added))
            self.columns = np.vstack([self.columns, added])
            self._solve()
        return added

    def _solve(self) -> None:
        point = self._master.solve()
        self.prices, self.objective = point.prices, point.objective
        self.artificial = float(point.weights[: self._n_artificial].sum())
        weights = point.weights[self._n_artificial :]
        if self.artificial <= _NO_WEIGHT:
            self.weights = weights
            self._run.value = min(self._run.value, float(weights @ entropy(self.columns)))
        elif self.weights.size == 0:
            self.weights = np.ones(1)  # p alone
        self._run.n_columns = len(self.columns)

    def raise_cap(self) -> None:
        """Make artificial posteriors dearer; forbid them when that has been tried enough."""
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
        last weights are not the best: they are found afresh.
        """
        if self.artificial > _NO_WEIGHT or self._run.interrupted:
            master = MasterLP(self.p)
            master.add(self.columns, entropy(self.columns))
            self.weights = master.solve().weights
        used = self.weights > 0
        return self.columns[: used.size][used], self.weights[used]


def first_columns(
    reduced: ReducedProblem, lp: PolytopeLP, run: Run
) -> tuple[FloatArray, FloatArray]:
    """Return starting posteriors and the largest entry that each symbol can have.

    For each symbol the start holds the vertex that favours it most: e_x itself if that
    is allowed. The largest entries follow from the multipliers by weak duality, so that
    no tolerance of the LP solver can make them too small.
    """
    n = reduced.p.size
    found, largest = [], np.ones(n)
    for x in range(n):
        if run.out_of_time:
            break
        cost = np.zeros(n)
        cost[x] = -1.0
        point = lp.minimise(cost)
        assert point is not None
        found.append(clean(point.v))
        multipliers, support = reduced.supported(point.row_duals[None])
        # cost.v = y.(Dv) + (cost - y.D).v, and the smallest coefficient bounds the latter.
        largest[x] = -support[0] - (cost - multipliers[0] @ reduced.directions).min()
    # Boxes that end exactly at a vertex are degenerate: a margin saves some 5 % of the nodes.
    return np.array(found).reshape(-1, n), np.minimum(1.0, largest + 1e-7)


def search(pool: ColumnPool, lp: PolytopeLP, run: Run, rng: np.random.Generator) -> None:
    """Descend from random starts around each symbol until that hardly pays any more.

    Parameters
    ----------
    pool : ColumnPool
        Receives the posteriors found.
    lp : PolytopeLP
        The polytope of allowed posteriors.
    run : Run
        Clock; part of the time is left for a certificate.
    rng : Generator
        Source of the starts.
    """
    n = pool.p.size
    idle = 0
    while idle < _IDLE_ROUNDS and not run.finished and run.fraction_used < _SEARCH_TIME:
        before = pool.objective
        found = []
        for x in range(n):
            v, cost = descend(lp, pool.prices, random_slopes(rng, n, x))
            if cost < _NEGATIVE:
                found.append(v)
            if run.fraction_used >= _SEARCH_TIME:
                break
        if found:
            pool.add(np.array(found))
        idle = 0 if before - pool.objective > _WORTHWHILE * before else idle + 1
        if idle == _IDLE_ROUNDS and pool.artificial > _NO_WEIGHT:
            pool.raise_cap()
            idle = 0
        run.report()
    while pool.artificial > _NO_WEIGHT and not run.finished:
        pool.raise_cap()
