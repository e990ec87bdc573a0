"""Pricing for inputs that rows distinguish only by a few classes, such as pairs (s, x) by s.

A vertex of the polytope has at most one input of each class. So it consists of a vertex r of the
polytope of class masses and a choice of an input for each class. If every input is mapped to one
part of the image, its entropy is that of the masses of the blocks of classes that are mapped to
the same part, and the best choice for r is found by dynamic programming over sets of classes.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from ..exceptions import SkliftprivError
from ._image import FloatArray, Image, IntArray, plogp
from ._presolve import ReducedProblem
from ._state import SolverState
from ._vertices import enumerate_vertices

_MOST_CLASSES = 10
"""With k classes there are 3^k steps of dynamic programming."""
_MOST_CELLS = 40_000_000
"""Vertices times sets of classes times parts of the image: about half a second for all prices."""
_AT_ONCE = 2_000_000
"""Cells that are held at once."""
_NEGATIVE = -1e-10
_MISSING = -1e12
"""Price of an input that does not exist."""
_PROBES = 64
"""Linear functions by which the list of vertices is checked."""


class CouplingPricer:
    """Prices all vertices of a problem with few classes.

    Parameters
    ----------
    reduced : ReducedProblem
        The image of each input must be a single part.
    state : SolverState
        The clock: when time is up, what was found so far is returned, without a bound.
    """

    def __init__(self, reduced: ReducedProblem, state: SolverState) -> None:
        symbols = reduced.utility.symbols
        assert symbols is not None
        classes, class_of = _classes(reduced)
        self._p, self._n, self._state = reduced.p, reduced.p.size, state
        self._input = np.full((classes.p.size, int(symbols.max()) + 1), -1, dtype=np.intp)
        self._input[class_of, symbols] = np.arange(self._n)
        self._vertices = _vertices(classes)
        self._subsets = _Subsets(classes.p.size)
        self.first = np.zeros((0, self._n))
        cells = len(self._vertices) * self._subsets.count * self._input.shape[1]
        if cells > _MOST_CELLS:
            raise SkliftprivError(f"Exact pricing would take {cells:,} steps.")

    @staticmethod
    def suits(reduced: ReducedProblem) -> bool:
        """Tell whether the inputs fall into few classes, each mapped to one part."""
        if reduced.utility.symbols is None or reduced.averages is not None:
            return False
        n_classes = len(np.unique(np.round(reduced.directions, 13), axis=1).T)
        return n_classes <= _MOST_CLASSES and n_classes < reduced.p.size

    def price(self, prices: FloatArray) -> tuple[FloatArray, float]:
        """Return the best posterior with each input, if it improves the solution, and a bound."""
        table = np.where(self._input >= 0, prices[self._input], _MISSING)
        size = max(1, _AT_ONCE // (self._subsets.count * table.shape[1]))
        found, lowest = [np.zeros((0, self._n))], 0.0
        for start in range(0, len(self._vertices), size):
            if self._state.out_of_time:
                lowest = -np.inf
                break
            part = self._vertices[start : start + size]
            reduced_cost, vertex, symbols = self._subsets.best_with_each(part, table)
            lowest = min(lowest, float(reduced_cost.min()))
            good = reduced_cost < _NEGATIVE
            found.append(self._columns(part[vertex[good]], symbols[good]))
        return np.vstack(found), float(prices @ self._p) + lowest

    def _columns(self, masses: FloatArray, symbols: IntArray) -> FloatArray:
        columns = np.zeros((len(masses), self._n))
        inputs = self._input[np.arange(masses.shape[1]), symbols]
        columns[np.arange(len(masses))[:, None], inputs] = masses
        return columns


class _Subsets:
    """Sets of classes as bit masks, and the best division of all classes into blocks."""

    def __init__(self, n_classes: int) -> None:
        self.count = 1 << n_classes
        bits = np.arange(self.count)[:, None] >> np.arange(n_classes)
        self._member = (bits & 1).astype(bool)  # (set, class)
        self._n = n_classes

    def best_with_each(
        self, masses: FloatArray, table: FloatArray
    ) -> tuple[FloatArray, IntArray, IntArray]:
        """Return the least reduced costs of posteriors with each input, and these posteriors.

        Parameters
        ----------
        masses : ndarray of shape (k, n_classes)
            Vertices r.
        table : ndarray of shape (n_classes, n_parts)
            Price of the input of each class that is mapped to each part.

        Returns
        -------
        reduced_cost : ndarray of shape (n_classes * n_parts,)
        vertex : ndarray of shape (n_classes * n_parts,)
            Which vertex has it.
        symbols : ndarray of shape (n_classes * n_parts, n_classes)
            The part that each class is mapped to.
        """
        gains = np.einsum("bs,ks,sx->kbx", self._member.astype(float), masses, table)
        of_block = plogp(masses @ self._member.T)[:, :, None] - gains  # a set as one block of x
        best, block, part = self._best_divisions(of_block)
        everything = self.count - 1
        totals = of_block + best[:, everything ^ np.arange(self.count)][:, :, None]
        costs, vertices, symbols = [], [], []
        for s in range(self._n):
            sets = np.flatnonzero(self._member[:, s])
            candidates = totals[:, sets].reshape(-1, table.shape[1])
            pick = candidates.argmin(axis=0)
            k, own = np.divmod(pick, sets.size)
            own = sets[own]
            chosen = self._chosen(block[k], part[k], everything ^ own)
            x = np.arange(table.shape[1])
            costs.append(candidates[pick, x])
            vertices.append(k)
            symbols.append(np.where(self._member[own], x[:, None], chosen))
        return np.concatenate(costs), np.concatenate(vertices), np.concatenate(symbols)

    def _best_divisions(self, of_block: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
        """Return the least cost of each set, its first block, and the best part of each block."""
        part = of_block.argmin(axis=2)
        cost = np.take_along_axis(of_block, part[:, :, None], axis=2)[:, :, 0]
        cost[:, 0] = 0.0
        best, block = cost.copy(), np.tile(np.arange(self.count), (len(cost), 1))
        for union in range(1, self.count):
            for one in _blocks_with_lowest(union):
                trial = cost[:, one] + best[:, union ^ one]
                better = trial < best[:, union]
                best[better, union], block[better, union] = trial[better], one
        return best, block, part

    def _chosen(self, block: IntArray, part: IntArray, left: IntArray) -> IntArray:
        """Follow the blocks of a set, and read off the part of each class in it."""
        k = np.arange(len(block))
        chosen = np.zeros((len(block), self._n), dtype=np.intp)
        while left.any():
            taken = np.where(left > 0, block[k, left], 0)
            chosen = np.where(self._member[taken], part[k, taken][:, None], chosen)
            left = left ^ taken
        return chosen


def _blocks_with_lowest(union: int) -> list[int]:
    """Return the proper subsets of a set that contain its lowest class."""
    lowest = union & -union
    rest = union ^ lowest
    found, sub = [], rest
    while sub:
        sub = (sub - 1) & rest
        found.append(sub | lowest)
    return found


def _classes(reduced: ReducedProblem) -> tuple[ReducedProblem, IntArray]:
    """Return the problem of the class masses, and the class of each input."""
    _, first, class_of = np.unique(
        np.round(reduced.directions, 13), axis=1, return_index=True, return_inverse=True
    )
    class_of = np.asarray(class_of).ravel()
    p: FloatArray = np.bincount(class_of, weights=reduced.p).astype(float)
    directions = np.ascontiguousarray(reduced.directions[:, first])
    own = np.arange(p.size)
    problem = replace(reduced, p=p, p_x=p, directions=directions, group_of=own, utility=Image())
    return problem, class_of


def _vertices(classes: ReducedProblem) -> FloatArray:
    """Return all vertices of the polytope of class masses."""
    bounds = _bounds(classes)
    if bounds is not None:
        return _box_vertices(*bounds)
    vertices = enumerate_vertices(classes)
    lp = classes.polytope()
    for cost in np.random.default_rng(0).normal(size=(_PROBES, classes.p.size)):
        point = lp.minimise(cost)
        assert point is not None  # p is inside
        if cost @ point.v < (vertices @ cost).min() - 1e-9:
            raise SkliftprivError("cddlib lost vertices to rounding.")
    return vertices


def _bounds(classes: ReducedProblem) -> tuple[FloatArray, FloatArray] | None:
    """Return bounds of the class masses if these are all that the rows say, else None.

    A direction that is a on one class and b on all others is b + (a - b) r on the simplex.
    """
    lower, upper = np.zeros(classes.p.size), np.ones(classes.p.size)
    for direction, lo, hi in zip(classes.directions, classes.lo, classes.hi, strict=True):
        values, count = np.unique(np.round(direction, 13), return_counts=True)
        if values.size != 2 or count.min() != 1:
            return None
        one = int(np.argmax(np.round(direction, 13) == values[count.argmin()]))
        other = direction[one - 1]
        ends = sorted((np.array([lo, hi]) - other) / (direction[one] - other))
        lower[one], upper[one] = max(lower[one], ends[0]), min(upper[one], ends[1])
    return lower, upper


def _box_vertices(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the vertices of {l <= r <= u, sum r = 1}: all entries but one are at a bound."""
    n = lower.size
    ends = np.array(list(product((False, True), repeat=n - 1)), dtype=bool)
    found = []
    for free in range(n):
        others = np.delete(np.arange(n), free)
        r = np.zeros((len(ends), n))
        r[:, others] = np.where(ends, upper[others], lower[others])
        r[:, free] = 1.0 - r.sum(axis=1)
        inside = (r[:, free] >= lower[free] - 1e-12) & (r[:, free] <= upper[free] + 1e-12)
        r[:, free] = np.clip(r[:, free], lower[free], upper[free])
        found.append(r[inside])
    return np.unique(np.round(np.vstack(found), 15), axis=0)
