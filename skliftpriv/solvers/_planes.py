"""The upper bound for an image with few parts: planes above what posteriors can be worth.

For prices pi, let phi(u) = max {pi.v : v allowed, U v = u}, which is concave and piecewise linear.
The least reduced cost is the minimum of H(u) - phi(u). A linear program at one u gives phi(u), and
its multipliers a plane that touches phi at u and is nowhere below it. So H minus the lowest of some
planes, which is least at one of its vertices, bounds all reduced costs. At the worst vertex there
is either a posterior that improves the solution, or a plane that cuts the vertex off.
"""

from __future__ import annotations

import numpy as np

from ._column_pool import ColumnPool
from ._envelope import Envelope
from ._image import FloatArray, IntArray, clean, entropy, first_rows
from ._lp import ImageLP, ImagePoint
from ._presolve import Oracle, ReducedProblem
from ._pricing import descend
from ._state import SolverState

_PARTS = (3, 4, 5, 6, 7)
"""Two parts have levels."""
_MOST = 2_000_000
"""Vertices up to which planes are added: half a gigabyte."""
_GROWTH = 0.5
_LEAST = 50
"""Prices are reconsidered after this share of new vertices to cut off, at least this many."""
_NEAR = 0.05
"""Posteriors are improved and kept if they cost at most this share of the information too much."""
_WORTH = 0.1
"""New prices are taken if they change the solution by this share of the requested gap."""
_STEEPEST = 100.0
"""Largest slope of a plane, relative to the prices."""
_SHALLOW = 1e-10
"""A plane that lowers a vertex by less than this does not cut it off."""
_SHARE = 0.5
"""Vertices below this share of the requested gap are not worth cutting off."""
_CHUNK = 2000
"""Planes that are computed at once."""
_REPORTED = 32
"""Planes after which the bound is reported."""


class PlaneImprover:
    """Add planes at fixed prices until they bound all reduced costs, and improve the prices.

    Parameters
    ----------
    state : SolverState
        Clock; receives the bounds.
    reduced : ReducedProblem
        The polytope.
    pool : ColumnPool
        The master problem; receives posteriors that are found on the way.
    lp : Oracle
        Finds allowed posteriors, for local searches.
    """

    def __init__(
        self, state: SolverState, reduced: ReducedProblem, pool: ColumnPool, lp: Oracle
    ) -> None:
        assert reduced.utility.matrix is not None
        self._state, self._reduced, self._pool, self._lp = state, reduced, pool, lp
        self._matrix = reduced.utility.matrix
        self._k = len(self._matrix)
        self._highest = ImageLP(reduced.directions, reduced.lo, reduced.hi, self._matrix)
        self._slopes = np.zeros((0, self._k))
        self._multipliers = np.zeros((0, reduced.lo.size))
        self._near = np.zeros((0, reduced.p.size))  # posteriors that new prices may favour
        self._close = _NEAR * state.scale.information
        self._take_prices()

    @staticmethod
    def suits(reduced: ReducedProblem) -> bool:
        """Tell whether the image has few parts."""
        matrix = reduced.utility.matrix
        return matrix is not None and len(matrix) in _PARTS and reduced.polyhedral

    def run(self) -> None:
        """Add planes until the gap is closed, the time is up, or nothing is left to cut off."""
        envelope = self._envelope()
        while not (self._state.finished or envelope.full):
            done, in_vain = self._refine(envelope)
            improved = self._improve_prices()
            gain = self._at_p - self._pool.objective
            if gain > _WORTH * self._state.gap_nats or (improved and (done or in_vain)):
                self._keep(envelope.planes())
                self._take_prices()
                envelope = self._envelope()
            elif done:
                return

    def _take_prices(self) -> None:
        """Use the prices of the master problem from now on."""
        self._prices = self._pool.prices
        self._at_p = float(self._prices @ self._reduced.p)
        steepest = _STEEPEST * max(1.0, float(np.ptp(self._prices)))
        self._highest.set_prices(self._prices, steepest)

    def _envelope(self) -> Envelope:
        """Return the lowest of the known planes, which move with the prices."""
        envelope = Envelope(self._k, _MOST)
        used: list[int] = []
        for start in range(0, len(self._slopes), _CHUNK):
            part = slice(start, start + _CHUNK)
            planes = self._planes(self._slopes[part], self._multipliers[part])
            for number, plane in enumerate(planes, start):
                if self._state.out_of_time or envelope.full:
                    break
                if envelope.insert(plane):
                    used.append(number)
        self._keep(np.array(used, dtype=np.intp))
        return envelope

    def _keep(self, used: IntArray) -> None:
        """Forget all other planes."""
        self._slopes, self._multipliers = self._slopes[used], self._multipliers[used]

    def _planes(self, slopes: FloatArray, multipliers: FloatArray) -> FloatArray:
        """Return planes of these slopes that are above phi, by weak duality.

        Constants are added to the slopes, because sum u = 1.
        """
        multipliers, support = self._reduced.supported(multipliers)
        cost = slopes @ self._matrix - multipliers @ self._reduced.directions - self._prices
        return slopes - (support + cost.min(axis=1))[:, None]

    def _refine(self, envelope: Envelope) -> tuple[bool, bool]:
        """Cut off some of the worst vertices; tell whether that is done, and whether in vain.

        It is done if the remaining ones matter little, compared with the gap or with those that
        only other prices improve. It is in vain if most are of the latter kind.
        """
        state, added, near = self._state, [], []
        most = max(_LEAST, int(_GROWTH * len(self._slopes)))
        done, tried = False, 0
        while tried < most and not (done or state.finished or envelope.full):
            vertex = envelope.worst()
            done = envelope.slack(vertex) > _SHARE * min(-state.gap_nats, envelope.lowest())
            if done:
                break
            tried += 1
            point = self._highest.highest(envelope.point(vertex))
            if self._cuts_off(envelope, vertex, point):
                added.append(point)
            else:
                envelope.settle(vertex)
            v = clean(point.v)
            if self._pool.utility.entropy(v) - self._prices @ v < self._close:
                start = self._pool.utility.slopes(v)
                near.append(descend(self._lp, self._pool.utility, self._prices, start)[0])
            if tried % _REPORTED == 0:
                self._note_bound(envelope)
        self._note_bound(envelope)
        state.n_nodes += tried
        self._slopes = np.vstack([self._slopes, *(point.slopes for point in added)])
        self._multipliers = np.vstack([self._multipliers, *(point.row_duals for point in added)])
        self._near = np.vstack([self._near, *near])
        return done, 2 * len(added) < tried

    def _cuts_off(self, envelope: Envelope, vertex: int, point: ImagePoint) -> bool:
        """Insert the plane of a linear program at a vertex, if it is below the vertex."""
        plane = self._planes(point.slopes[None], point.row_duals[None])[0]
        image = envelope.point(vertex)
        deep = entropy(image) - plane @ image > envelope.slack(vertex) + _SHALLOW
        return bool(deep) and envelope.insert(plane)

    def _note_bound(self, envelope: Envelope) -> None:
        self._state.improve_bound(self._at_p + min(0.0, envelope.lowest()))
        self._state.report()

    def _improve_prices(self) -> bool:
        """Add all posteriors that improve the solution; tell whether the prices are new.

        Each change of the prices may favour further posteriors.
        """
        rounded = np.round(self._near, 12) + 0.0
        self._near = self._near[np.unique(first_rows(rounded), return_index=True)[1]]
        while not self._state.out_of_time and len(self._pool.add(self._near)):
            pass
        return self._pool.prices is not self._prices
