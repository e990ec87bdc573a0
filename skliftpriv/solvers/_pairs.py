"""Solver for one ranged row (binary S): every vertex is a symbol or a pair of symbols."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._lp import MasterLP
from ._presolve import ReducedProblem
from ._problem import FloatArray, plogp
from ._state import SolverState

_NEGATIVE = -1e-10


class _Pairs(NamedTuple):
    """All pairs whose mixture meets one end of the range exactly."""

    below: np.ndarray  # symbols under the end, shape (a,)
    above: np.ndarray  # symbols over the end, shape (b,)
    share: FloatArray  # mass on the symbol below, shape (a, b)
    cost: FloatArray  # entropy of the pair, shape (a, b)


def _pairs_at(direction: FloatArray, end: float) -> _Pairs:
    below, above = np.flatnonzero(direction < end), np.flatnonzero(direction > end)
    under = end - direction[below][:, None]
    over = direction[above][None] - end
    share = over / (under + over)
    return _Pairs(below, above, share, plogp(share) + plogp(1.0 - share))


def _columns(pairs: _Pairs, i: np.ndarray, j: np.ndarray, n: int) -> tuple[FloatArray, FloatArray]:
    """Return the posteriors of the pairs (below[i], above[j]), and their entropies."""
    v = np.zeros((i.size, n))
    k = np.arange(i.size)
    v[k, pairs.below[i]] = pairs.share[i, j]
    v[k, pairs.above[j]] = 1.0 - pairs.share[i, j]
    return v, pairs.cost[i, j]


def _staircases(pairs: _Pairs, p: FloatArray, direction: FloatArray, end: float) -> np.ndarray:
    """Match the shortfall below the end with the surplus above it, in both directions.

    A pair uses equal amounts of p_x |d_x - end| on both sides, so pairs at one end form
    a transportation problem. Its cost is anti-Monge: for a single end, matching the
    nearest below with the farthest above is optimal. The other end needs the reverse.
    """
    found = []
    for sign in (1.0, -1.0):
        low = np.argsort(-sign * direction[pairs.below], kind="stable")
        high = np.argsort(-sign * direction[pairs.above], kind="stable")
        short = np.cumsum((p * (end - direction))[pairs.below][low])
        surplus = np.cumsum((p * (direction - end))[pairs.above][high])
        steps = np.unique(np.concatenate([[0.0], short, surplus]))
        i = np.minimum(np.searchsorted(short, steps, side="right"), low.size - 1)
        j = np.minimum(np.searchsorted(surplus, steps, side="right"), high.size - 1)
        found.append(np.column_stack([low[i], high[j]]))
    return np.unique(np.vstack(found), axis=0)


class _Family:
    """The pairs at one end of the range, with their exact pricing."""

    def __init__(self, reduced: ReducedProblem, end: float) -> None:
        self.pairs = _pairs_at(reduced.directions[0], end)
        self.empty = self.pairs.share.size == 0
        self._n = reduced.p.size
        if not self.empty:
            start = _staircases(self.pairs, reduced.p, reduced.directions[0], end)
            self.start = _columns(self.pairs, start[:, 0], start[:, 1], self._n)

    def _reduced_costs(self, prices: FloatArray) -> FloatArray:
        below, above, share, cost = self.pairs
        return cost - prices[above] - share * (prices[below][:, None] - prices[above])

    def improving(self, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the best pair of each symbol if it improves the solution, and the entropies."""
        reduced_cost = self._reduced_costs(prices)
        best_above, best_below = reduced_cost.argmin(axis=1), reduced_cost.argmin(axis=0)
        i = np.concatenate([np.arange(best_above.size), best_below])
        j = np.concatenate([best_above, np.arange(best_below.size)])
        good = reduced_cost[i, j] < _NEGATIVE
        chosen = np.unique(np.column_stack([i[good], j[good]]), axis=0)
        return _columns(self.pairs, chosen[:, 0], chosen[:, 1], self._n)

    def lowered(self, prices: FloatArray) -> FloatArray:
        """Lower prices of symbols below the end until no pair has a negative reduced cost."""
        excess = (-self._reduced_costs(prices) / self.pairs.share).max(axis=1)
        prices = prices.copy()
        prices[self.pairs.below] -= np.maximum(excess, 0.0)
        return prices


def solve_by_pairs(reduced: ReducedProblem, state: SolverState) -> tuple[FloatArray, FloatArray]:
    """Generate columns, pricing all pairs exactly.

    Parameters
    ----------
    reduced : ReducedProblem
        A problem with exactly one ranged row.
    state : SolverState
        Clock; receives value and bound.

    Returns
    -------
    posteriors, weights : ndarray of shape (k, g), (k,)
        The best solution found.
    """
    direction, lo, hi, p = reduced.directions[0], reduced.lo[0], reduced.hi[0], reduced.p
    singles = np.eye(p.size)[(direction >= lo) & (direction <= hi)]
    families = [f for f in (_Family(reduced, end) for end in (lo, hi)) if not f.empty]
    columns = np.vstack([p[None], singles, *(f.start[0] for f in families)])
    costs = [plogp(p).sum(keepdims=True), np.zeros(len(singles)), *(f.start[1] for f in families)]
    best = columns[:1], np.ones(1)
    try:
        master = MasterLP(p)
        master.add(columns, np.concatenate(costs))
        while True:  # the first columns are good, so solve once even if time is up
            point = master.solve()
            state.value, state.n_columns = point.objective, len(columns)
            best = columns[point.weights > 0], point.weights[point.weights > 0]
            new, new_costs, bound = _price(families, point.prices, singles, p)
            state.improve_bound(bound)
            state.report()
            if state.finished or len(new) == 0:
                break
            master.add(new, new_costs)
            columns = np.vstack([columns, new])
    except KeyboardInterrupt:
        state.interrupted = True
    return best


def _price(
    families: list[_Family], prices: FloatArray, singles: FloatArray, p: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Return improving pairs, their entropies, and a lower bound on the conditional entropy.

    Prices with prices.v <= H(v) for every allowed posterior v give the bound prices.p. They are
    made so by capping the price of symbols that are allowed alone, with entropy 0, and lowering
    others: lowering a price never violates an inequality that holds already.
    """
    found = [family.improving(prices) for family in families]
    new = np.vstack([np.zeros((0, p.size)), *(columns for columns, _ in found)])
    costs = np.concatenate([np.zeros(0), *(cost for _, cost in found)])
    valid = np.where(singles.any(axis=0), np.minimum(prices, 0.0), prices)
    for family in families:
        valid = family.lowered(valid)
    return new, costs, float(valid @ p)
