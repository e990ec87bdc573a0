"""Bring the rows into ranged form and merge symbols that the rows do not distinguish."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array, vstack

from ._averages import Averages
from ._image import FloatArray, Image, IntArray, sums_of_groups
from ._lift_lp import LiftLP, LiftSearch
from ._lp import PolytopeLP, PolytopePoint
from ._problem import PosteriorProblem

_PARALLEL = 1e-12
_POINT = 1e-15
"""Lengths on a line of length 1 up to this are due to rounding."""


class Oracle(Protocol):
    """Finds allowed posteriors with a small linear cost."""

    #: Whether minimisers may be other points than vertices of a polytope.
    curved: bool

    def minimise(self, cost: FloatArray) -> PolytopePoint | None:
        """Return an allowed posterior, and multipliers that bound the cost of all."""

    def follow(self, cost: FloatArray, v: FloatArray) -> PolytopePoint | None:
        """Return an allowed posterior that is at least as good as v, if that is allowed."""


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
    averages : Averages or None
        Averages of functions of the lift that are bounded. The directions are the lifts then, and
        ``lo`` and ``hi`` what the averages imply for each of them.
    """

    p: FloatArray
    directions: FloatArray
    lo: FloatArray
    hi: FloatArray
    group_of: IntArray
    p_x: FloatArray
    utility: Image
    averages: Averages | None = None

    @property
    def polyhedral(self) -> bool:
        """Whether the allowed posteriors are a polytope."""
        return self.averages is None

    @property
    def convex(self) -> bool:
        """Whether mixtures of allowed posteriors are allowed."""
        return self.averages is None or self.averages.convex

    @property
    def n_duals(self) -> int:
        """Number of multipliers of a linear program, without that of sum v = 1."""
        if self.averages is None:
            return int(self.lo.size)
        return len(self.averages.sides) * (self.lo.size + 1) + self.lo.size

    def polytope(self) -> PolytopeLP:
        """Return a linear program over the allowed group posteriors, or their convex envelope."""
        if self.averages is not None:
            return LiftLP(self.averages, self.lo, self.hi)
        # The primal simplex takes half the time where costs change. The dual is faster with more
        # rows than inputs, and leads to better posteriors where only an image of them counts.
        many_rows = len(self.directions) > self.p.size
        dual = many_rows or not self.utility.identity
        return PolytopeLP(self.directions, self.lo, self.hi, dual=dual)

    def oracle(self) -> Oracle:
        """Return what finds allowed group posteriors."""
        if self.averages is not None:
            return LiftSearch(self.averages, self.p, self.lo, self.hi)
        return self.polytope()

    def start_near(self, v: FloatArray) -> FloatArray | None:
        """Return an allowed posterior near v, if a search finds different ones by where it starts.

        That is so if what is allowed is not convex.
        """
        if self.averages is None or self.convex:
            return None
        return self.averages.pulled(v[None], self.p)[0]

    def grouped(self, posteriors: FloatArray | csr_array) -> FloatArray | csr_array:
        """Turn posteriors of the original symbols into posteriors of the groups."""
        if isinstance(posteriors, csr_array):
            n = self.group_of.size
            return csr_array(posteriors @ csr_array((np.ones(n), (np.arange(n), self.group_of))))
        return sums_of_groups(posteriors, self.group_of, axis=1)

    def supported(
        self, duals: FloatArray, ranges: tuple[FloatArray, FloatArray] | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return usable multipliers y and numbers s with ``y @ D @ v >= s`` for allowed v.

        Arrays have one vector of duals of a linear program per row. Multipliers of infinite ends,
        which rounding can leave, are set to zero. With averages, ``ranges`` may restrict the lifts.
        """
        if self.averages is not None:
            count, m = len(self.averages.sides), self.lo.size
            z = duals[:, : (count + 1) * m].reshape(-1, count + 1, m)
            mu = duals[:, (count + 1) * m :] / self.averages.slack
            low, high = (self.lo, self.hi) if ranges is None else ranges
            return z.sum(axis=1), self.averages.support(z, mu, low, high)
        multipliers = duals
        end = np.where(multipliers > 0, self.lo, self.hi)
        finite = np.isfinite(end)
        multipliers = np.where(finite, multipliers, 0.0)
        return multipliers, (multipliers * np.where(finite, end, 0.0)).sum(axis=-1)

    def violation(self, posteriors: FloatArray | csr_array) -> FloatArray:
        """Return the largest violation of a ranged row or an average by each posterior."""
        if self.averages is not None:
            return self.averages.excess(posteriors)
        if len(self.directions) == 0:
            return np.zeros(posteriors.shape[0])
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
    averages = problem.averages
    linear = problem.rows if averages is None else averages.linear()
    if linear is not None:
        averages, (directions, lo, hi) = None, _ranged_rows(linear)
    elif averages is not None:
        directions, (lo, hi) = averages.lift, averages.ranges()
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
    if averages is not None:
        averages = averages.of_inputs(directions)
    return ReducedProblem(p, directions, lo, hi, group_of, problem.p_x, Image(image), averages)


def grouped_problem(problem: PosteriorProblem, reduced: ReducedProblem) -> PosteriorProblem:
    """Return the problem whose inputs are the groups, with the rows and image of the original."""
    _, first = np.unique(reduced.group_of, return_index=True)
    averages = problem.averages
    return PosteriorProblem(
        reduced.p,
        problem.rows[:, first],
        image=None if problem.image is None else problem.image[:, first],
        averages=None if averages is None else averages.of_inputs(averages.lift[:, first]),
    )


def expand(
    reduced: ReducedProblem, posteriors: FloatArray | csr_array, weights: FloatArray
) -> tuple[FloatArray | csr_array, FloatArray]:
    """Turn group posteriors into symbol posteriors that cost the same.

    Members with the same image share the mass of their group in proportion to p. If the image is
    the identity, each posterior has one member of each group, and the result is sparse: members
    are used up one after the other. An output is split where one of its groups comes to the next
    member, so that there are at most n outputs if there was at most one for each group.
    """
    n = reduced.p_x.size
    if reduced.p.size == n or not reduced.utility.identity:
        share = reduced.p_x / reduced.p[reduced.group_of]
        wide = posteriors[:, reduced.group_of]
        return wide if reduced.p.size == n else wide * share, weights
    v = csr_array(posteriors)
    # The members of all groups one after the other on a line, each as long as it is probable.
    members = np.argsort(reduced.group_of, kind="stable")
    ends = np.cumsum(reduced.p_x[members])
    last = np.cumsum(np.bincount(reduced.group_of)) - 1
    first = np.append(0, last[:-1] + 1)
    used = np.append(0.0, ends[last[:-1]])
    data, indices, split_weights = [], [], []
    for (start, stop), q in zip(pairwise(v.indptr), weights, strict=True):
        groups, own = v.indices[start:stop], v.data[start:stop]
        low, length = used[groups], q * own
        used[groups] += length
        i = np.maximum(np.searchsorted(ends, low + _POINT, "right"), first[groups])
        j = np.minimum(np.searchsorted(ends, low + length - _POINT, "left"), last[groups])
        cuts = [(ends[k:m] - a) / b for k, m, a, b in zip(i, j, low, length, strict=True)]
        breaks = np.unique(np.concatenate([[0.0, 1.0], *cuts]))
        breaks = breaks[np.append(q * np.diff(breaks) > _POINT, True)]
        at = low + 0.5 * (breaks[:-1] + breaks[1:])[:, None] * length
        chosen = np.clip(np.searchsorted(ends, at), first[groups], last[groups])
        indices.append(members[chosen].ravel())
        data.append(np.tile(own, len(at)))
        split_weights.append(q * np.diff(breaks))
    sizes = np.repeat(np.diff(v.indptr), [part.size for part in split_weights])
    starts = np.append(0, np.cumsum(sizes))
    found = csr_array((np.concatenate(data), np.concatenate(indices), starts), (sizes.size, n))
    return _with_lost(reduced, found, np.concatenate(split_weights))


def _with_lost(
    reduced: ReducedProblem, found: csr_array, weights: FloatArray
) -> tuple[csr_array, FloatArray]:
    """Add an output for each member that is too rare to have a place on the line."""
    lost = np.setdiff1d(np.arange(reduced.p_x.size), found.indices)
    group_of = reduced.group_of[found.indices]
    for x in lost:
        k = int(np.argmax(group_of == reduced.group_of[x]))  # an entry of another member
        like = found[[int(np.searchsorted(found.indptr, k, "right")) - 1]]
        like.indices[reduced.group_of[like.indices] == reduced.group_of[x]] = x
        found = csr_array(vstack([found, like]))
        weights = np.append(weights, reduced.p_x[x] / found.data[k])
    return found, weights
