"""Pricing for an image with two parts, such as a binary target: a parametric linear program.

Only t = b.v matters to the entropy, where b is the first row of U. For prices pi, let
phi(t) = max {pi.v : v allowed, b.v = t}, which is concave and piecewise linear. The least reduced
cost is the minimum of h(t) - phi(t), where h is the binary entropy. On each linear piece this
function is concave, so the minimum is attained where two pieces meet, at a vertex. If averages of
the lift are bounded, phi is concave but curved, and lines enclose it as closely as needed.
"""

from __future__ import annotations

from operator import itemgetter

import numpy as np

from ._image import FloatArray, clean, entropy
from ._presolve import ReducedProblem
from ._state import SolverState

_NEGATIVE = -1e-10
_FLAT = 1e-11
"""A vertex that lifts phi by less than this is due to rounding."""
_NARROW = 1e-12
"""Levels closer than this are one."""
_SHARE = 0.1
"""A curved piece is divided if it is higher than its ends by this share of the requested gap, or of
what it may gain."""
_STEEP = 1e4
_STEEPS = (1.0, 1e2, _STEEP)
"""Slope, relative to the prices, of the lines that touch phi at its ends, and others for a phi that
is curved: the steeper the line, the more the errors of its linear program count."""


class LevelPricer:
    """Prices all vertices that matter to an image with two parts.

    Parameters
    ----------
    reduced : ReducedProblem
        The image must have two parts.
    state : SolverState
        The clock: when time is up, what was found so far is returned, without a bound.
    """

    def __init__(self, reduced: ReducedProblem, state: SolverState) -> None:
        assert reduced.utility.matrix is not None
        self._reduced, self._b, self._state = reduced, reduced.utility.matrix[0], state
        self._lp = reduced.oracle()
        lowest, highest = self._best(self._b), self._best(-self._b)
        first = [lowest[0], highest[0]]
        for cost in -np.eye(reduced.p.size):  # the vertices with the largest entries
            if state.out_of_time:
                break
            first.append(self._best(cost)[0])
        self.first = np.array(first)
        self._range = lowest[1], -highest[1]

    def price(self, prices: FloatArray) -> tuple[FloatArray, float]:
        """Return the vertices of phi that improve the solution, and a bound."""
        left, before = self._at_end(1.0, prices, self._range[0])
        right, after = self._at_end(-1.0, prices, self._range[1])
        vertices, between = self._between(prices, left, right)
        reduced_cost = self._reduced.utility.entropy(vertices) - vertices @ prices
        bound = float(prices @ self._reduced.p) + min(before, between, after, 0.0)
        return vertices[reduced_cost < _NEGATIVE], bound

    def _best(self, cost: FloatArray) -> tuple[FloatArray, float]:
        """Return the minimiser of a linear function, and a valid lower bound of it."""
        point = self._lp.minimise(cost)
        assert point is not None  # p is inside
        multipliers, support = self._reduced.supported(point.row_duals[None])
        bound = support[0] + (cost - multipliers[0] @ self._reduced.directions).min()
        return clean(point.v), float(bound)

    def _at_end(self, sign: float, prices: FloatArray, end: float) -> tuple[FloatArray, float]:
        """Return a vertex of phi near one end, and a lower bound of h - phi from there to the end.

        They are those of the line, of several slopes of this sign, whose bound is the closest.
        """
        found = []
        for steep in (_STEEP,) if self._reduced.polyhedral else _STEEPS:
            slope = sign * steep * max(1.0, float(np.abs(prices).max()))
            v, at_zero = self._touching(slope, prices)
            least = self._least(slope, at_zero, end, float(self._b @ v))
            attained = min(float(self._reduced.utility.entropy(v) - prices @ v), 0.0)
            found.append((attained - least, v, least))
        return min(found, key=itemgetter(0))[1:]

    def _touching(self, slope: float, prices: FloatArray) -> tuple[FloatArray, float]:
        """Return the vertex where a line of this slope touches phi, and the line's value at 0."""
        v, bound = self._best(slope * self._b - prices)
        return v, -bound

    def _between(
        self, prices: FloatArray, left: FloatArray, right: FloatArray
    ) -> tuple[FloatArray, float]:
        """Return the vertices of phi between two of them, and a lower bound of h - phi there.

        A line that is parallel to the line through both touches phi at a vertex that divides the
        piece, or it is the line through both.
        """
        found, lowest = [left, right], np.inf
        pieces = [(left, right)]
        while pieces:
            if self._state.out_of_time:
                return np.array(found), -np.inf
            one, two = pieces.pop()
            t1, t2 = float(self._b @ one), float(self._b @ two)
            if t2 - t1 <= _NARROW:
                continue
            slope = float(prices @ (two - one)) / (t2 - t1)
            middle, at_zero = self._touching(slope, prices)
            t = float(self._b @ middle)
            flat = _FLAT
            if not self._reduced.polyhedral:  # phi is curved: divide as far as that matters
                least = self._least(slope, at_zero, t1, t2)
                flat = max(_SHARE * max(self._state.gap_nats, -least), _FLAT)
                flat = np.inf if least > 0 else flat
            higher = at_zero + slope * t1 > prices @ one + flat
            if higher and t1 + _NARROW < t < t2 - _NARROW:
                found.append(middle)
                pieces += [(one, middle), (middle, two)]
            else:
                lowest = min(lowest, self._least(slope, at_zero, t1, t2))
        return np.array(found), lowest

    def _least(self, slope: float, at_zero: float, t1: float, t2: float) -> float:
        """Return a lower bound of h - phi on [t1, t2], where phi lies below a line."""
        levels = np.clip([t1, t2], 0.0, 1.0)
        h = entropy(np.column_stack([levels, 1.0 - levels]))
        return float((h - at_zero - slope * levels).min())
