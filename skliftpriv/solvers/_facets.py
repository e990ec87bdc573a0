"""The upper bound for an image with few parts: the facets of what posteriors can be worth.

For prices pi, let phi(u) = max {pi.v : v allowed, U v = u}, which is concave and piecewise linear.
The least reduced cost is the minimum of H(u) - phi(u). Known vertices (u, phi(u)) span a hull,
whose facets divide the images u into simplices. A linear program finds the plane parallel to a
facet that touches phi from above. On the simplex of the facet, H minus this plane is concave, so it
is least at a corner of the simplex. If that is too low, the vertex where the plane touches is a new
point of the hull. Where phi is linear the bound is exact, however large the simplex is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from ._column_pool import ColumnPool
from ._image import FloatArray, IntArray, clean, first_rows
from ._presolve import Oracle, ReducedProblem
from ._state import SolverState

_PARTS = (3, 4)
"""Two parts have levels; five need too many facets: 27,000 for a gap of 0.03 with 200 inputs."""
_TINY = 1e-9
"""Entries of an image below this are charged as if -t log t were linear there."""
_OUTSIDE = 0.01
"""How far the first simplex reaches beyond all images."""
_LIFT = 3.0
"""Points are lifted by up to this many tolerances, as far as H allows: planes then lie higher."""
_BATCH = 400
"""New points after which the hull is computed again."""
_FIRST = 0.25
"""Share of the information that the first tolerance is; each further one is half as large."""
_SHARE = 0.5
"""The tolerance ends at this share of the requested gap."""
_CHUNK = 2000
"""Planes that are evaluated at once."""
_VERTICAL = 1e-12


class _Facets(NamedTuple):
    """Simplices of images, by the numbers of their corners, and slopes of the planes over them."""

    corners: IntArray
    slopes: FloatArray


class FacetImprover:
    """Refine the hull at fixed prices until it bounds all reduced costs, and improve the prices.

    Parameters
    ----------
    state : SolverState
        Clock; receives the bounds.
    reduced : ReducedProblem
        The polytope.
    pool : ColumnPool
        The master problem; receives posteriors that are found on the way.
    lp : Oracle
        Finds allowed posteriors.
    """

    def __init__(
        self, state: SolverState, reduced: ReducedProblem, pool: ColumnPool, lp: Oracle
    ) -> None:
        assert reduced.utility.matrix is not None
        self._state, self._reduced, self._pool, self._lp = state, reduced, pool, lp
        self._matrix = reduced.utility.matrix
        self._k = len(self._matrix)
        self._outer = 1 / self._k + (1 + _OUTSIDE) * (np.eye(self._k) - 1 / self._k)
        columns = pool.columns.toarray()
        costs = reduced.utility.entropy(columns) - columns @ pool.prices
        self._points = columns[costs < _TINY]
        self._planes: dict[bytes, int] = {}  # the known plane over each simplex
        self._slopes: list[FloatArray] = []
        self._multipliers: list[FloatArray] = []

    @staticmethod
    def suits(reduced: ReducedProblem) -> bool:
        """Tell whether the image has few parts."""
        matrix = reduced.utility.matrix
        return matrix is not None and len(matrix) in _PARTS and reduced.convex

    def run(self) -> None:
        """Refine until the gap is closed, the time is up, or rounding stops the refinement."""
        state = self._state
        tolerance = _FIRST * state.scale.information
        while not state.finished:
            facets = self._hull(tolerance)
            if facets is None:
                return
            bounds, found = self._bounded(facets, tolerance)
            state.report()
            if state.out_of_time:
                return
            if bounds.min() >= -tolerance:
                at_p = float(self._pool.prices @ self._reduced.p)
                state.improve_bound(at_p + min(0.0, float(bounds.min())))
                if tolerance <= _SHARE * state.gap_nats:
                    return
                tolerance = max(0.5 * tolerance, _SHARE * state.gap_nats)
            elif not self._grown(found):
                return

    def _images(self) -> FloatArray:
        return np.vstack([self._outer, self._reduced.utility.of(self._points)])

    def _hull(self, tolerance: float) -> _Facets | None:
        """Return the upper facets of the hull, or None if they might not cover all images."""
        images, k = self._images(), self._k
        ceiling = extended_entropy(images)
        # Heights only shape the simplices: all points must lie above the base of the corners.
        height = np.append(ceiling[:k], self._points @ self._pool.prices + _LIFT * tolerance)
        height = np.clip(height, 0.5 * (ceiling[0] + ceiling), ceiling)
        try:
            hull = ConvexHull(np.column_stack([images[:, :-1], height]), qhull_options="Qt Q12")
        except QhullError:
            return None
        corners = np.sort(hull.simplices, axis=1)
        upper = (corners != np.arange(k)).any(axis=1)  # the corners alone are the base
        normal = hull.equations[upper, :-1]
        steep = normal[:, -1] <= _VERTICAL
        slopes = -normal[:, :-1] / np.where(steep, np.inf, normal[:, -1])[:, None]
        facets = _Facets(corners[upper], np.column_stack([slopes, np.zeros(len(slopes))]))
        return facets if covers(facets.corners, k) else None

    def _bounded(self, facets: _Facets, tolerance: float) -> tuple[FloatArray, list[FloatArray]]:
        """Bound the reduced cost over each facet, and return points that lie above facets."""
        keys = [corners.tobytes() for corners in facets.corners]
        known = np.array([self._planes.get(key, -1) for key in keys])
        images = self._images()
        ceiling = extended_entropy(images)
        bounds = np.full(len(keys), -np.inf)
        old = np.flatnonzero(known >= 0)
        slopes, offset = self._known_planes(known[old])
        at_corners = images[facets.corners[old]] @ slopes[:, :, None]
        bounds[old] = (ceiling[facets.corners[old]] - at_corners[:, :, 0]).min(axis=1) - offset
        found: list[FloatArray] = []
        for facet in np.flatnonzero(bounds < -tolerance):
            if len(found) >= _BATCH or self._state.out_of_time:
                break
            slope, corners = facets.slopes[facet], facets.corners[facet]
            v, above = self._touching(keys[facet], slope)
            bounds[facet] = (ceiling[corners] - images[corners] @ slope).min() - above
            if bounds[facet] < -tolerance:
                found.append(v)
        return bounds, found

    def _touching(self, key: bytes, slope: FloatArray) -> tuple[FloatArray, float]:
        """Return where a plane of this slope touches phi, and its value at 0; keep the plane."""
        self._state.n_nodes += 1
        cost = slope @ self._matrix - self._pool.prices
        point = self._lp.minimise(cost)
        assert point is not None  # p is inside
        self._planes[key] = len(self._slopes)
        self._slopes.append(slope)
        self._multipliers.append(point.row_duals)
        multipliers, support = self._reduced.supported(point.row_duals[None])
        least = (cost - multipliers[0] @ self._reduced.directions).min()
        return clean(point.v), -float(support[0] + least)

    def _known_planes(self, index: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return slopes of known planes and, by weak duality at the prices of now, values at 0."""
        k, reduced = self._k, self._reduced
        slopes = np.array([self._slopes[i] for i in index]).reshape(-1, k)
        given = [self._multipliers[i] for i in index]
        multipliers, support = reduced.supported(np.array(given).reshape(-1, reduced.n_duals))
        least = np.zeros(len(slopes))
        for start in range(0, len(slopes), _CHUNK):
            part = slice(start, start + _CHUNK)
            cost = slopes[part] @ self._matrix - multipliers[part] @ reduced.directions
            least[part] = (cost - self._pool.prices).min(axis=1)
        return slopes, -(support + least)

    def _grown(self, found: list[FloatArray]) -> bool:
        """Add points that are new, and all that improve the solution; tell if there are any."""
        known = len(self._points)
        points: FloatArray = np.vstack([self._points, *found])
        first = np.unique(first_rows(np.round(points, 12) + 0.0), return_index=True)[1]
        fresh = points[first[first >= known]]
        self._points = np.vstack([self._points, fresh])
        grown = len(fresh) > 0
        # New prices may make a point worth its while that was not before.
        while len(self._pool.add(self._points)) and not self._state.out_of_time:
            grown = True
        return grown


def extended_entropy(images: FloatArray) -> FloatArray:
    """Return a concave function of any vectors that is at most H for distributions.

    It is the sum of -t log max(t, 1e-9), whose parts are linear below 1e-9.
    """
    return np.asarray(-(images * np.log(np.maximum(images, _TINY))).sum(axis=-1))


def covers(simplices: IntArray, k: int) -> bool:
    """Tell whether simplices cover the one whose corners have the numbers 0 to k - 1.

    They do if every side belongs to an even number of them, except the sides of the large simplex,
    which belong to an odd number: their sum modulo 2 then has the same boundary as the large
    simplex, so almost every point is in an odd number of them. This holds for corners anywhere, so
    it does not rely on the rounding of the hull.

    Parameters
    ----------
    simplices : ndarray of shape (m, k)
        Numbers of corners, in increasing order.
    k : int
        Number of corners of a simplex.
    """
    sides = np.vstack([np.delete(simplices, i, axis=1) for i in range(k)])
    distinct, count = np.unique(sides, axis=0, return_counts=True)
    odd = distinct[count % 2 == 1]
    return len(odd) == k and bool((odd < k).all())
