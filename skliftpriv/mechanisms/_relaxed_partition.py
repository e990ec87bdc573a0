"""Choose the symbols that the (epsilon, delta) relaxation keeps: a greedy and a local search."""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
from scipy.special import entr

from .._arrays import FloatArray
from ..measures import breach_probability
from ..measures._lift import lift_of_columns
from ..notions._polyhedral import MAX_LIFT, MIN_LIFT
from ..notions._relaxed import RelaxedLift
from ._merging import Indices, Mask, MergedColumns

__all__ = ["greedy_partition", "searched_partition"]

# Up to this many symbols the search also moves two, or three, at once: about 8,000 combinations.
_MOST_AT_ONCE = {1: sys.maxsize, 2: 128, 3: 38}
# A change must save more than rounding, or the search could cycle.
_LEAST_GAIN = 1e-12
# Few changes are needed after the greedy search; this bounds the time for large alphabets.
_MOST_CHANGES = 200


def greedy_partition(merging: MergedColumns, target: RelaxedLift, high: Mask) -> Mask:
    """Take symbols out of the merged set in the order of their breach probability.

    This is Algorithm 1 of Sadeghi, Ding and Rakotoarivelo (2020). Keeping a symbol unchanged
    always lowers the loss of mutual information, so the printed test for this never fails and is
    left out. The ceiling is also checked for the remaining merged set.

    Returns
    -------
    ndarray of bool
        The symbols that stay merged.
    """
    partitions = _Partitions(merging, target)
    return partitions.thinned(high, np.argsort(partitions.own, kind="stable"))


def searched_partition(merging: MergedColumns, target: RelaxedLift, high: Mask) -> Mask:
    """Search for the merged set with the smallest loss within delta (their Proposition 1).

    The search is not exhaustive: it improves the greedy solutions for three orders: by breach
    probability, by breach probability per row, and with the most common symbols first.

    Parameters
    ----------
    merging : MergedColumns
        The columns, with the notion of the band.
    target : RelaxedLift
        The relaxed notion.
    high : ndarray of bool
        A merged set that meets it.

    Returns
    -------
    ndarray of bool
        The symbols that are merged.
    """
    partitions = _Partitions(merging, target)
    orders = (partitions.own, partitions.own / merging.p_x, -merging.p_x)
    found = [
        partitions.improved(partitions.thinned(high, np.argsort(key, kind="stable")))
        for key in orders
    ]
    return min(found, key=partitions.loss)


class _Partitions:
    """Loss of merging any set of symbols, infinite if the relaxed notion is not met.

    The loss depends on sums over the members of a set: of their columns, breach probabilities,
    masses and entropies. So a change of a few symbols is evaluated without the others.
    """

    def __init__(self, merging: MergedColumns, target: RelaxedLift) -> None:
        self._p_s, self._target = merging.p_s, target
        columns = merging.columns
        self.own = self._breach(columns)
        bound = ~target.meets(lift_of_columns(columns, self._p_s), self._p_s)  # eq. 14
        rest = (self.own, merging.p_x, entr(merging.p_x), bound, np.ones_like(bound))
        self._terms: FloatArray = np.vstack([columns, *rest])
        self._all = self._terms.sum(axis=1)
        # Rounding must not move a total from just above delta to just below it.
        self._allowance = target.delta * (1 - 1e-12)

    def _breach(self, columns: FloatArray) -> FloatArray:
        # A log-lift that equals the bound up to rounding counts as a breach.
        band = self._target.notion.safe_budget
        return breach_probability(columns, band[MIN_LIFT], band[MAX_LIFT], p_s=self._p_s)

    def loss(self, merged: Mask) -> float:
        """H(X|Y) if this set is merged and all other symbols are kept unchanged."""
        return float(self._losses(self._sums(merged)[:, None])[0])

    def thinned(self, merged: Mask, order: Indices) -> Mask:
        """Take symbols out of a merged set one by one, as far as the notion allows."""
        merged = merged.copy()
        sums = self._sums(merged)
        for x in order[merged[order]]:
            smaller = sums - self._terms[:, x]
            if np.isfinite(self._losses(smaller[:, None])[0]):
                merged[x] = False
                sums = self._sums(merged)
        return merged

    def improved(self, merged: Mask) -> Mask:
        """Move one or a few symbols into or out of the merged set while the loss decreases."""
        n = merged.size
        kinds = [
            np.array(list(combinations(range(n), size)))
            for size, most in _MOST_AT_ONCE.items()
            if size <= n <= most
        ]
        loss = self.loss(merged)
        for _ in range(_MOST_CHANGES):
            signed = np.where(merged, -self._terms, self._terms)
            sums = self._sums(merged)[:, None]
            for moves in kinds:
                losses = self._losses(sums + sum(signed[:, x] for x in moves.T))
                best = losses.argmin()
                if losses[best] < loss - _LEAST_GAIN:
                    merged, loss = merged.copy(), losses[best]
                    merged[moves[best]] ^= True
                    break
            else:
                break
        return merged

    def _sums(self, merged: Mask) -> FloatArray:
        return np.asarray(self._terms[:, merged].sum(axis=1))

    def _losses(self, sums: FloatArray) -> FloatArray:
        """Loss of sets that are given by their sums, one per column."""
        columns, (own, mass, entropies, bound, size) = sums[:-5], sums[-5:]
        # Differences of equal cells may leave a rounding error.
        columns = np.where(columns > 1e-14 * self._p_s[:, None], columns, 0.0)
        some = (size > 0.5) & columns.any(axis=0)
        # An empty set has the lift of a constant.
        columns = np.where(some, columns, self._p_s[:, None])
        breach = self._all[-5] - own + np.where(some, self._breach(columns), 0.0)
        kept = (
            (breach <= self._allowance)
            & (bound > self._all[-2] - 0.5)
            & self._target.meets(lift_of_columns(columns, self._p_s), self._p_s)
        )
        losses = np.where(some, entropies - entr(np.where(some, mass, 1.0)), 0.0)
        return np.asarray(np.where(kept, losses, np.inf))
