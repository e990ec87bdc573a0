"""The lowest of many planes over all distributions, by its vertices.

Over the distributions u with k parts, take planes a(u) = z.u, and walls u_i = 0. A *vertex* is a
set of k planes and walls, with a point u that is 0 in the parts of its walls. Two vertices are
*mates* if they differ in one plane or wall; the remaining k - 1 are the *edge* between them. Every
edge of a vertex leads to one mate, except those of k - 1 walls, which end at a corner.

On the region where one plane is the lowest, the entropy minus the plane is concave, so it is least
at a vertex of the region. Its minimum over all u is thus found at the vertices. This does not rely
on where rounding puts the points: as long as all edges have mates, the sets of vertices that have
a plane in common have convex hulls that together contain all u. (Send each set of planes and walls
to the mean of its vertices, or to the centre of its face if it has only walls. This maps the
barycentric subdivision of all sets to distributions. Its boundary is mapped to that of the
distributions one-to-one, so the map is onto. Parts that begin with a wall are mapped to that wall,
and those that begin with a plane into the convex hull of its vertices.)
"""

from __future__ import annotations

import numpy as np

from ..exceptions import SkliftprivError
from ._image import FloatArray, IntArray, entropy

_FLAT = 1e-12
"""A plane cuts off vertices that are higher than it by more than this."""
_NEVER = -1e300
"""Height of a wall, which is never the highest at a vertex."""


class Envelope:
    """The lowest of the planes that were inserted, and the entropy above it.

    Parameters
    ----------
    k : int
        Number of parts, at least 3.
    most : int
        Number of vertices up to which planes are inserted.

    Examples
    --------
    >>> import numpy as np
    >>> from skliftpriv.solvers._envelope import Envelope
    >>> envelope = Envelope(3, most=100)
    >>> envelope.insert(np.array([0.0, 0.5, 1.0]))
    True
    >>> envelope.lowest()
    -1.0
    """

    def __init__(self, k: int, most: int) -> None:
        self._k, self._most = k, most
        others = [[i for i in range(k) if i != dropped] for dropped in range(k)]
        self._others = np.array(others)
        self._inner = self._others[: k - 1, : k - 2]
        self._slopes = np.full((k, k), _NEVER)
        self._n_planes = k
        # Before there are planes, the walls meet above all points.
        self._size, self._unused = 1, np.zeros(0, dtype=np.intp)
        self._sets = np.arange(k)[None]
        self._mates = np.full((1, k), -1)
        self._parts = np.full((k, 1), 1.0 / k)  # a column per vertex: products are faster
        self._height, self._slack = np.array([np.inf]), np.array([-np.inf])
        self._open = self._slack.copy()
        self._cut = np.zeros(1, dtype=bool)

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self._size - self._unused.size

    @property
    def sets(self) -> IntArray:
        """Numbers of the walls, 0 to k - 1, and of the planes that meet at each vertex."""
        return self._sets[: self._size][np.isfinite(self._slack[: self._size])]

    @property
    def full(self) -> bool:
        """Whether no more planes can be inserted."""
        return self._size > self._most or (self._n_planes + 1) ** (self._k - 2) >= 2**63

    def planes(self) -> IntArray:
        """Return which planes are the lowest somewhere, by the order of their insertion."""
        numbers = np.unique(self.sets)
        return numbers[numbers >= self._k] - self._k

    def lowest(self) -> float:
        """Return the least entropy above the envelope."""
        return float(self._slack[: self._size].min())

    def worst(self) -> int:
        """Return the vertex with the least entropy above it that is not settled."""
        return int(self._open[: self._size].argmin())

    def slack(self, vertex: int) -> float:
        """Return the entropy above a vertex, infinite if it is settled."""
        return float(self._open[vertex])

    def point(self, vertex: int) -> FloatArray:
        """Return the distribution at a vertex."""
        return self._parts[:, vertex].copy()

    def settle(self, vertex: int) -> None:
        """Do not return a vertex as the worst again."""
        self._open[vertex] = np.inf

    def insert(self, slopes: FloatArray) -> bool:
        """Insert a plane; tell whether it is the lowest anywhere.

        The vertices above the plane are removed. Where an edge leads from one of them to a vertex
        that stays, the plane cuts the edge in a new vertex.
        """
        above = self._height[: self._size] - slopes @ self._parts[:, : self._size]
        cut = np.flatnonzero(above > _FLAT)
        if cut.size == 0:
            return False
        self._cut[cut] = True
        leads_to = self._mates[cut]
        row, place = np.nonzero((leads_to < 0) | ~self._cut[leads_to // self._k])
        self._cut[cut] = False
        mates, removed = leads_to[row, place], cut[row]
        edges = self._sets[removed[:, None], self._others[place]]
        points = self._crossings(edges, removed, mates, above)
        if self._n_planes == len(self._slopes):
            self._slopes = np.concatenate([self._slopes, np.empty_like(self._slopes)])
        self._slopes[self._n_planes] = slopes
        sets = np.column_stack([edges, np.full(row.size, self._n_planes)])
        self._n_planes += 1
        heights = np.einsum("vjk,vk->vj", self._slopes[sets], points).max(axis=1)
        vertices = self._slots(cut, row.size)
        self._sets[vertices], self._height[vertices] = sets, heights
        self._parts[:, vertices] = points.T
        self._slack[vertices] = self._open[vertices] = entropy(points) - heights
        self._join(vertices, edges, mates)
        return True

    def _crossings(
        self, edges: IntArray, removed: IntArray, mates: IntArray, above: FloatArray
    ) -> FloatArray:
        """Return where a plane crosses edges from removed vertices to their mates.

        Heights are linear along edges. Edges of walls have no mate: they are corners.
        """
        inside = mates >= 0
        start, end = removed[inside], mates[inside] // self._k
        share = above[start] / (above[start] - np.minimum(above[end], 0.0))
        points = np.empty((removed.size, self._k))
        points[inside] = ((1.0 - share) * self._parts[:, start] + share * self._parts[:, end]).T
        corner = self._k * (self._k - 1) // 2 - edges[~inside].sum(axis=1)
        points[~inside] = np.eye(self._k)[corner]
        return points

    def _slots(self, cut: IntArray, count: int) -> IntArray:
        """Return places for new vertices, first those of removed ones."""
        places = np.append(cut, self._unused)
        missing = count - places.size
        if missing > 0:
            self._reserve(self._size + missing)
            places = np.append(places, np.arange(self._size, self._size + missing))
            self._size += missing
        self._unused = places[count:]
        self._height[self._unused] = -np.inf
        self._slack[self._unused] = self._open[self._unused] = np.inf
        return places[:count]

    def _reserve(self, size: int) -> None:
        """Make room for vertices; arrays double in size when they are full."""
        if size <= len(self._sets):
            return
        extra = max(size, 2 * len(self._sets)) - len(self._sets)
        for name in ("_sets", "_mates", "_height", "_slack", "_open", "_cut"):
            old = getattr(self, name)
            new = np.zeros((extra, *old.shape[1:]), dtype=old.dtype)
            setattr(self, name, np.concatenate([old, new]))
        self._parts = np.hstack([self._parts, np.zeros((self._k, extra))])

    def _join(self, vertices: IntArray, edges: IntArray, mates: IntArray) -> None:
        """Set the mates of new vertices, whose last plane is the new one.

        The edge without the new plane leads to the mate of the removed vertex. The other edges
        lead from one new vertex to another. A mate is stored as k times its number plus the place,
        in its own set, of what is not in the edge.
        """
        k = self._k
        places = vertices[:, None] * k + np.arange(k)
        flat = self._mates.reshape(-1)
        flat[places[:, -1]] = mates
        inside = mates >= 0
        flat[mates[inside]] = places[inside, -1]
        # Sets are in increasing order, so equal edges have equal numbers in this base.
        digits = self._n_planes ** np.arange(k - 2, dtype=np.int64)
        number = (edges[:, self._inner] @ digits).ravel()
        order = np.argsort(number)
        one, two = order[0::2], order[1::2]
        if one.size != two.size or (number[one] != number[two]).any():
            raise SkliftprivError("An edge without a mate; this is a bug.")  # excluded by parity
        ends = places[:, :-1].ravel()
        flat[ends[one]], flat[ends[two]] = ends[two], ends[one]
