"""Bring the rows into ranged form and merge symbols that the rows do not distinguish."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ._image import FloatArray, Image, IntArray, sums_of_groups
from ._lp import PolytopeLP
from ._problem import PosteriorProblem

_PARALLEL = 1e-12


@dataclass(frozen=True)
class ReducedProblem:
    """The same problem with rows ``lo <= D v <= hi`` and one symbol per distinct column.

    Attributes
    ----------
    p : ndarray of shape (g,)
        Probability of each group of symbols.
    directions, lo, hi : ndarray of shape (r, g), (r,), (r,)
        Ranged rows; no two directions are parallel; infinite ends are allowed.
    group_of : ndarray of shape (n,)
        Group of each original symbol.
    p_x : ndarray of shape (n,)
        Probability of each original symbol.
    utility : Image
        What an output costs, as a function of its group posterior.
    """

    p: FloatArray
    directions: FloatArray
    lo: FloatArray
    hi: FloatArray
    group_of: IntArray
    p_x: FloatArray
    utility: Image

    def polytope(self) -> PolytopeLP:
        """Return a linear program over the allowed group posteriors."""
        return PolytopeLP(self.directions, self.lo, self.hi)

    def grouped(self, posteriors: FloatArray) -> FloatArray:
        """Turn posteriors of the original symbols into posteriors of the groups."""
        return sums_of_groups(posteriors, self.group_of, axis=1)

    def supported(self, multipliers: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return usable multipliers y and numbers s with ``y @ D @ v >= s`` for allowed v.

        There is one vector of multipliers per row of the array. Multipliers of infinite ends,
        which rounding can leave, are set to zero.
        """
        end = np.where(multipliers > 0, self.lo, self.hi)
        finite = np.isfinite(end)
        multipliers = np.where(finite, multipliers, 0.0)
        return multipliers, (multipliers * np.where(finite, end, 0.0)).sum(axis=1)

    def violation(self, posteriors: FloatArray) -> FloatArray:
        """Return the largest violation of a ranged row by each posterior."""
        if len(self.directions) == 0:
            return np.zeros(len(posteriors))
        value = posteriors @ self.directions.T
        return np.maximum(value - self.hi, self.lo - value).max(axis=1)


def _ranged_rows(rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Turn ``A v <= 0`` into non-parallel ranged rows on the simplex.

    Because sum v = 1, a multiple of the ones vector may be subtracted from each row. This makes
    the two sides of a lift bound, and both lifts of a binary S, parallel.
    """
    directions: list[FloatArray] = []
    lo: list[float] = []
    hi: list[float] = []
    binding = rows[(rows > 0).any(axis=1)]
    # Parallel directions have equal or opposite projections, so few pairs must be compared.
    probe: FloatArray = np.random.default_rng(0).uniform(1.0, 2.0, size=rows.shape[1:])
    near = 2 * _PARALLEL * float(probe.sum())
    projections = np.full(len(binding), np.inf)
    for row in binding:
        centre = 0.5 * (row.max() + row.min())
        direction = row - centre
        size = float(np.abs(direction).max())
        if size <= 1e-14 * abs(centre):
            continue  # constant row; p_x meets it, so every posterior does
        direction, end = direction / size, -centre / size
        projection = float(direction @ probe)
        alike = np.abs(np.abs(projections[: len(directions)]) - abs(projection)) <= near
        for k in np.flatnonzero(alike):
            known = directions[k]
            if np.abs(direction - known).max() <= _PARALLEL:
                hi[k] = min(hi[k], end)
                break
            if np.abs(direction + known).max() <= _PARALLEL:
                lo[k] = max(lo[k], -end)
                break
        else:
            projections[len(directions)] = projection
            directions.append(direction)
            lo.append(-np.inf)
            hi.append(end)
    n = rows.shape[1]
    return np.array(directions).reshape(-1, n), np.array(lo), np.array(hi)


def reduce_problem(problem: PosteriorProblem) -> ReducedProblem:
    """Drop rows that never bind, combine rows into ranges, and merge symbols.

    Symbols with the same image are merged if no row distinguishes them: only their total matters.
    If the image is the identity, all symbols that no row distinguishes are merged, which is exact
    too. Let g be the group masses of a posterior v. The chain rule gives
    H(v) = H(g) + sum_G g_G H(v | G) >= H(g), so the group problem gives a lower bound, and
    :func:`expand` turns each group posterior into posteriors with one member per group,
    whose entropy is H(g), without changing the average. Hence both optima are equal.
    """
    directions, lo, hi = _ranged_rows(problem.rows)
    alike = directions if problem.image is None else np.vstack([directions, problem.image])
    if len(alike) == 0:  # nothing binds: one group, which expands to the identity
        first, group_of = np.zeros(1, dtype=int), np.zeros(problem.n_symbols, dtype=int)
    else:
        # Columns are compared after rounding far below the tolerance of rows.
        _, first, group_of = np.unique(
            np.round(alike, 13), axis=1, return_index=True, return_inverse=True
        )
        group_of = np.asarray(group_of).ravel()
    p: FloatArray = np.bincount(group_of, weights=problem.p_x).astype(float)
    directions = np.ascontiguousarray(directions[:, first])
    image = None if problem.image is None else np.ascontiguousarray(problem.image[:, first])
    # p is feasible in exact arithmetic, so rounding must not exclude it.
    at_p = directions @ p
    lo, hi = np.minimum(lo, at_p), np.maximum(hi, at_p)
    return ReducedProblem(p, directions, lo, hi, group_of, problem.p_x, Image(image))


def expand(
    reduced: ReducedProblem, posteriors: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Turn group posteriors into symbol posteriors that cost the same.

    Members with the same image share the mass of their group in proportion to p. If the image is
    the identity, each posterior has one member of each group. Each group is laid out on [0, 1)
    with one interval per member, of length P(member | group). Between two neighbouring break
    points of the groups in the support every group has one member, which gives one posterior.
    """
    n = reduced.p_x.size
    if reduced.p.size == n or not reduced.utility.identity:
        share = reduced.p_x / reduced.p[reduced.group_of]
        return posteriors[:, reduced.group_of] * share, weights
    members = [np.flatnonzero(reduced.group_of == g) for g in range(reduced.p.size)]
    ends = [np.cumsum(reduced.p_x[m]) / reduced.p_x[m].sum() for m in members]
    split_posteriors, split_weights = [], []
    for v, q in zip(posteriors, weights, strict=True):
        support = np.flatnonzero(v > 0)
        breaks = np.unique(np.concatenate([[0.0, 1.0], *(ends[g][:-1] for g in support)]))
        for left, right in pairwise(breaks):
            middle = 0.5 * (left + right)
            piece = np.zeros(n)
            for g in support:
                chosen = min(int(np.searchsorted(ends[g], middle)), members[g].size - 1)
                piece[members[g][chosen]] = v[g]
            split_posteriors.append(piece)
            split_weights.append(q * (right - left))
    return np.array(split_posteriors), np.array(split_weights)
