"""Heuristic pricing: find good posteriors by repeated linearisation of the entropy."""

from __future__ import annotations

import numpy as np

from ._column_pool import WORTH_A_COLUMN, ColumnPool
from ._image import FloatArray, Image, clean
from ._presolve import Oracle, ReducedProblem
from ._state import SolverState

_IDLE_ROUNDS = 2
"""The search ends after this many rounds in a row that are not worthwhile."""
_WORTHWHILE = 1e-4
"""A round is worthwhile if it lowers the objective by more than this share, or finds posteriors
that may. With few columns the best weights are degenerate: at first better posteriors change the
prices only."""
_LEAST_GAIN = 1e-10
"""A descent ends when a step gains no more than this."""
_CURVED_GAIN = 1e-7
_RELATIVE_GAIN = 0.1
"""On curved boundaries there is no last vertex, and steps get smaller and smaller: a descent also
ends when a step gains no more than this, or than this share of what is gained or missing."""
_SEARCH_TIME = 0.8
"""Share of the time limit after which the search ends in any case."""


def descend(
    lp: Oracle,
    utility: Image,
    prices: FloatArray,
    slopes: FloatArray,
    near: FloatArray | None = None,
) -> tuple[FloatArray, float]:
    """Find a local minimum of H(U v) - prices.v by repeated linearisation.

    H(U v) is concave, so it lies below each of its linearisations, and a minimiser of the
    linearised function at v is at least as good as v.

    Parameters
    ----------
    lp : Oracle
        Finds allowed posteriors.
    utility : Image
        What a posterior costs.
    prices : ndarray of shape (n,)
        Price of each symbol.
    slopes : ndarray of shape (n,)
        Slopes of the first linear function.
    near : ndarray of shape (n,), optional
        An allowed posterior to begin at, if what is allowed is not convex.

    Returns
    -------
    v : ndarray of shape (n,)
        A vertex.
    reduced_cost : float
        ``H(U v) - prices @ v``.
    """
    best, best_cost = slopes, np.inf
    if near is not None:
        best, best_cost = near, float(utility.entropy(near) - prices @ near)
    while True:
        cost = slopes - prices
        point = lp.minimise(cost) if near is None else lp.follow(cost, near)
        assert point is not None  # p_x is inside
        v = clean(point.v)
        reduced_cost = float(utility.entropy(v) - prices @ v)
        gain = best_cost - reduced_cost
        if gain <= _LEAST_GAIN:
            return best, best_cost
        best, best_cost, near = v, reduced_cost, v
        if lp.curved and gain <= max(_CURVED_GAIN, _RELATIVE_GAIN * abs(reduced_cost)):
            return best, best_cost
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


def largest_entry(reduced: ReducedProblem, lp: Oracle, x: int) -> tuple[FloatArray, FloatArray]:
    """Return the vertex with the largest entry at x, and upper bounds of the entries of all.

    The bounds follow from the multipliers y by weak duality, so that the tolerances of the LP
    solver cannot make them too small: v_x = -y.(D v) + (e_x + y.D).v, and the largest coefficient
    bounds the latter. The same multipliers bound the entries of all other symbols.
    """
    cost = np.zeros(reduced.p.size)
    cost[x] = -1.0
    point = lp.minimise(cost)
    assert point is not None  # p is inside
    multipliers, support = reduced.supported(point.row_duals[None])
    value = multipliers[0] @ reduced.directions
    return clean(point.v), np.maximum(value.max(), value + 1.0) - support[0]


def first_columns(
    reduced: ReducedProblem, lp: Oracle, state: SolverState
) -> tuple[FloatArray, FloatArray]:
    """Return starting posteriors and the largest entry that each symbol can have.

    For each symbol the start contains the vertex with its largest entry, which is e_x if that
    is allowed. If time is up before the last symbol, the multipliers of others bound its entries.
    """
    n = reduced.p.size
    found, largest = [], np.ones(n)
    for x in range(n):
        if state.out_of_time:
            break
        v, entries = largest_entry(reduced, lp, x)
        found.append(v)
        largest = np.minimum(largest, entries)
    # Boxes that end exactly at a vertex are degenerate; a margin saves about 5 % of the nodes.
    return np.array(found).reshape(-1, n), np.minimum(1.0, largest + 1e-7)


def _hope(pool: ColumnPool, added: FloatArray, prices: FloatArray) -> float:
    """Return what posteriors may gain, each with the largest weight that p leaves for it."""
    gains = added @ prices - pool.utility.entropy(added)
    return float((gains / (added / pool.p).max(axis=1, initial=1.0)).sum())


def price_heuristically(
    pool: ColumnPool, lp: Oracle, state: SolverState, rng: np.random.Generator
) -> None:
    """Descend from random starts around each symbol until the objective hardly improves.

    Parameters
    ----------
    pool : ColumnPool
        Receives the posteriors found.
    lp : Oracle
        Finds allowed posteriors.
    state : SolverState
        Clock; part of the time is left for the bound.
    rng : Generator
        Source of the starts.
    """
    n = pool.p.size
    idle = 0
    while idle < _IDLE_ROUNDS and not state.finished and state.fraction_used < _SEARCH_TIME:
        before, prices = pool.objective, pool.prices
        found = []
        for x in range(n):
            v, cost = descend(lp, pool.utility, prices, random_slopes(rng, pool.utility, n, x))
            if cost < WORTH_A_COLUMN:
                found.append(v)
            if state.fraction_used >= _SEARCH_TIME:
                break
        added = pool.add(np.array(found).reshape(-1, n))
        gain = max(before - pool.objective, _hope(pool, added, prices))
        idle = 0 if gain > _WORTHWHILE * before else idle + 1
        if idle == _IDLE_ROUNDS and pool.uses_artificial:
            pool.raise_cap()
            idle = 0
        state.report()
    if not state.finished:
        pool.settle()
