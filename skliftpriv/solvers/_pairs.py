"""Pricing for one ranged row (binary S): every vertex is a symbol or a pair of symbols."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._image import FloatArray, Image, plogp
from ._presolve import ReducedProblem

_NEGATIVE = -1e-10


class _Pairs(NamedTuple):
    """All pairs whose mixture meets one end of the range exactly."""

    below: np.ndarray  # symbols under the end, shape (a,)
    above: np.ndarray  # symbols over the end, shape (b,)
    share: FloatArray  # mass on the symbol below, shape (a, b)
    cost: FloatArray  # entropy of the image of the pair, shape (a, b)


def _pairs_at(direction: FloatArray, end: float, utility: Image) -> _Pairs:
    below, above = np.flatnonzero(direction < end), np.flatnonzero(direction > end)
    under = end - direction[below][:, None]
    over = direction[above][None] - end
    share = over / (under + over)
    return _Pairs(below, above, share, _entropies(utility, below, above, share))


def _entropies(
    utility: Image, below: np.ndarray, above: np.ndarray, share: FloatArray
) -> FloatArray:
    """Return the entropy of the image of every pair."""
    if utility.matrix is None or utility.symbols is not None:
        apart = plogp(share) + plogp(1.0 - share)
        if utility.symbols is None:
            return apart
        return np.where(utility.symbols[below][:, None] == utility.symbols[above], 0.0, apart)
    cost = np.zeros_like(share)
    for part in utility.matrix:  # one at a time, so that memory does not grow with the parts
        cost += plogp(share * part[below][:, None] + (1.0 - share) * part[above])
    return cost


def _columns(pairs: _Pairs, chosen: np.ndarray, n: int) -> FloatArray:
    """Return the posteriors of chosen pairs (position in below, position in above)."""
    i, j = chosen.T
    v = np.zeros((len(chosen), n))
    k = np.arange(len(chosen))
    v[k, pairs.below[i]] = pairs.share[i, j]
    v[k, pairs.above[j]] = 1.0 - pairs.share[i, j]
    return v


def _staircases(pairs: _Pairs, p: FloatArray, direction: FloatArray, end: float) -> np.ndarray:
    """Match the shortfall below the end with the surplus above it, in both directions.

    A pair uses equal amounts of p_x |d_x - end| on both sides, so pairs at one end form
    a transportation problem. If the image is the identity, its cost is anti-Monge: for a single
    end, matching the nearest below with the farthest above is optimal. The other end needs the
    reverse. For other images this is only a start.
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
        self.pairs = _pairs_at(reduced.directions[0], end, reduced.utility)
        self.empty = self.pairs.share.size == 0
        self._n = reduced.p.size
        if not self.empty:
            start = _staircases(self.pairs, reduced.p, reduced.directions[0], end)
            self.start = _columns(self.pairs, start, self._n)

    def _reduced_costs(self, prices: FloatArray) -> FloatArray:
        below, above, share, cost = self.pairs
        return cost - prices[above] - share * (prices[below][:, None] - prices[above])

    def improving(self, prices: FloatArray) -> FloatArray:
        """Return the best pair of each symbol if it improves the solution."""
        reduced_cost = self._reduced_costs(prices)
        best_above, best_below = reduced_cost.argmin(axis=1), reduced_cost.argmin(axis=0)
        i = np.concatenate([np.arange(best_above.size), best_below])
        j = np.concatenate([best_above, np.arange(best_below.size)])
        good = reduced_cost[i, j] < _NEGATIVE
        chosen = np.unique(np.column_stack([i[good], j[good]]), axis=0)
        return _columns(self.pairs, chosen, self._n)

    def lowered(self, prices: FloatArray) -> FloatArray:
        """Lower prices of symbols below the end until no pair has a negative reduced cost."""
        excess = (-self._reduced_costs(prices) / self.pairs.share).max(axis=1)
        prices = prices.copy()
        prices[self.pairs.below] -= np.maximum(excess, 0.0)
        return prices


class PairPricer:
    """Prices all symbols and pairs of a problem with exactly one ranged row."""

    def __init__(self, reduced: ReducedProblem) -> None:
        direction, lo, hi, p = reduced.directions[0], reduced.lo[0], reduced.hi[0], reduced.p
        self._p, self._allowed = p, (direction >= lo) & (direction <= hi)
        self._alone = reduced.utility.entropy(np.eye(p.size))
        self._families = [f for f in (_Family(reduced, end) for end in (lo, hi)) if not f.empty]
        singles = np.eye(p.size)[self._allowed]
        self.first = np.vstack([singles, *(family.start for family in self._families)])

    def price(self, prices: FloatArray) -> tuple[FloatArray, float]:
        """Return improving pairs and a lower bound on the conditional entropy.

        Prices with prices.v <= H(U v) for every allowed posterior v give the bound prices.p. They
        are made so by capping the price of symbols that are allowed alone and lowering others:
        lowering a price never violates an inequality that holds already.
        """
        none = np.zeros((0, self._p.size))
        found = np.vstack([none, *(family.improving(prices) for family in self._families)])
        valid = np.where(self._allowed, np.minimum(prices, self._alone), prices)
        for family in self._families:
            valid = family.lowered(valid)
        return found, float(valid @ self._p)
