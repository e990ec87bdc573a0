"""Heuristic pricing: find good posteriors by repeated linearisation of the entropy."""

from __future__ import annotations

import numpy as np

from ._column_pool import WORTH_A_COLUMN, ColumnPool
from ._image import FloatArray, Image
from ._lp import PolytopeLP
from ._presolve import ReducedProblem
from ._state import SolverState

_IDLE_ROUNDS = 2
"""The search ends after this many rounds in a row that are not worthwhile."""
_WORTHWHILE = 1e-4
"""A round is worthwhile if it lowers the objective by more than this share."""
_SEARCH_TIME = 0.8
"""Share of the time limit after which the search ends in any case."""


def clean(v: FloatArray) -> FloatArray:
    """Set rounding errors in posteriors to 0 and rescale them to sum 1."""
    v = np.where(v > 1e-12, v, 0.0)
    return v / v.sum(axis=-1, keepdims=True)


def descend(
    lp: PolytopeLP, utility: Image, prices: FloatArray, slopes: FloatArray
) -> tuple[FloatArray, float]:
    """Find a local minimum of H(U v) - prices.v by repeated linearisation.

    H(U v) is concave, so it lies below each of its linearisations, and a minimiser of the
    linearised function at v is at least as good as v.

    Parameters
    ----------
    lp : PolytopeLP
        The polytope of allowed posteriors.
    utility : Image
        What a posterior costs.
    prices : ndarray of shape (n,)
        Price of each symbol.
    slopes : ndarray of shape (n,)
        Slopes of the first linear function.

    Returns
    -------
    v : ndarray of shape (n,)
        A vertex.
    reduced_cost : float
        ``H(U v) - prices @ v``.
    """
    best, best_cost = slopes, np.inf
    while True:
        point = lp.minimise(slopes - prices)
        assert point is not None  # p_x is inside
        v = clean(point.v)
        cost = float(utility.entropy(v) - prices @ v)
        if cost >= best_cost - 1e-10:
            return best, best_cost
        best, best_cost = v, cost
        slopes = utility.slopes(v)


def random_slopes(rng: np.random.Generator, utility: Image, n: int, x: int) -> FloatArray:
    """Return slopes at a random point where x has a large mass."""
    mass = rng.uniform(0.4, 0.98)
    others: FloatArray = rng.uniform(0.02, 1.0, n) ** 2
    if not utility.identity:
        others /= others.sum()  # an image adds them up, which would drown x
    point = (1.0 - mass) * others
    point[x] = mass
    return utility.slopes(point)


def first_columns(
    reduced: ReducedProblem, lp: PolytopeLP, state: SolverState
) -> tuple[FloatArray, FloatArray]:
    """Return starting posteriors and the largest entry that each symbol can have.

    For each symbol the start contains the vertex with its largest entry, which is e_x if that
    is allowed. The largest entries follow from the multipliers by weak duality, so the
    tolerances of the LP solver cannot make them too small.
    """
    n = reduced.p.size
    found, largest = [], np.ones(n)
    for x in range(n):
        if state.out_of_time:
            break
        cost = np.zeros(n)
        cost[x] = -1.0
        point = lp.minimise(cost)
        assert point is not None
        found.append(clean(point.v))
        multipliers, support = reduced.supported(point.row_duals[None])
        # cost.v = y.(Dv) + (cost - y.D).v, and the smallest coefficient bounds the latter.
        largest[x] = -support[0] - (cost - multipliers[0] @ reduced.directions).min()
    # Boxes that end exactly at a vertex are degenerate; a margin saves about 5 % of the nodes.
    return np.array(found).reshape(-1, n), np.minimum(1.0, largest + 1e-7)


def price_heuristically(
    pool: ColumnPool, lp: PolytopeLP, state: SolverState, rng: np.random.Generator
) -> None:
    """Descend from random starts around each symbol until the objective hardly improves.

    Parameters
    ----------
    pool : ColumnPool
        Receives the posteriors found.
    lp : PolytopeLP
        The polytope of allowed posteriors.
    state : SolverState
        Clock; part of the time is left for the bound.
    rng : Generator
        Source of the starts.
    """
    n = pool.p.size
    idle = 0
    while idle < _IDLE_ROUNDS and not state.finished and state.fraction_used < _SEARCH_TIME:
        before = pool.objective
        found = []
        for x in range(n):
            v, cost = descend(lp, pool.utility, pool.prices, random_slopes(rng, pool.utility, n, x))
            if cost < WORTH_A_COLUMN:
                found.append(v)
            if state.fraction_used >= _SEARCH_TIME:
                break
        if found:
            pool.add(np.array(found))
        idle = 0 if before - pool.objective > _WORTHWHILE * before else idle + 1
        if idle == _IDLE_ROUNDS and pool.uses_artificial:
            pool.raise_cap()
            idle = 0
        state.report()
    while pool.uses_artificial and not state.finished:
        pool.raise_cap()
