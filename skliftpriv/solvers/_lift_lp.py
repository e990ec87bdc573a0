"""Linear programs over posteriors with averages of functions of the lift.

Each function is replaced by tangents, as many as the solutions ask for. For each side i and each
sensitive symbol s the lift is filled up by pieces: l_s = (L v)_s = low_s + sum_j d_isj, where the
piece d_isj is as wide as the j-th tangent is above the others, and adds its slope to the side. The
slopes of a convex function increase, so pieces are filled in their order. The concave part, if any,
is one more piece with a slope that depends on what the program is for:

- that of the convex envelope over a range of lifts, for bounds;
- that of a tangent at the current lift, which lies above the concave part, for the search: all its
  solutions are allowed, and repeating this improves them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._averages import Averages, Side
from ._image import FloatArray, IntArray, clean
from ._lp import PolytopeLP, PolytopePoint

_FIRST = 5
"""Tangents on either side of 1 to begin with."""
_MOST = 100
"""Tangents of a function beyond which those that were added first are dropped."""
_LEAST = 1e-6
"""Functions have no tangents at smaller lifts, where inverses are steep."""
_CLOSER = 5.0
"""New tangents have two neighbours, at this fraction of the distance to the next old one."""
_NARROW = 1e-9
"""Tangents closer than this say the same."""
_ROUNDS = 30
_HALVINGS = 30
_NEAR = 1e-8
"""How far, as a share of their slack, solutions of the search may exceed a side before the rest is
undone by mixing."""
_BEYOND = 1 + 1e-9
"""The concave part begins here, in units of its first lift."""


class Lines(NamedTuple):
    """Range of lifts, and for each side where the convex part ends and the slope of the line."""

    low: FloatArray  # of shape (m,)
    high: FloatArray
    end: FloatArray  # of shape (sides, m)
    slope: FloatArray


class LiftLP(PolytopeLP):
    """Minimise linear functions over posteriors whose averages of tangents are within bounds.

    Parameters
    ----------
    averages : Averages
        The functions with their bounds.
    low, high : ndarray of shape (m,)
        Range of the lifts.
    """

    def __init__(self, averages: Averages, low: FloatArray, high: FloatArray) -> None:
        self.averages, self.low, self.high = averages, low, high
        self._sides, self._m = averages.sides, low.size
        self._turn = np.array([[side.turn] for side in self._sides])
        self._room = averages.slack
        self._weight = averages.weights / self._room[:, None]  # of shape (sides, m)
        k, m = self._turn.size, self._m
        self._last = np.maximum(np.minimum(high, self._turn), low)  # where convex parts end
        self._touching: list[dict[float, float]] = [{} for _ in self._sides]
        first = [self._first_points(i, s) for i in range(k) for s in range(m)]
        self._build(np.concatenate(first), np.repeat(np.arange(k * m), [f.size for f in first]))

    def _first_points(self, i: int, s: int) -> FloatArray:
        low, end = max(self.low[s], _LEAST), self._last[i, s]
        grid = np.concatenate(
            [np.linspace(low, 1.0, _FIRST, endpoint=False), np.linspace(1.0, end, _FIRST + 1)[1:]]
        )
        return np.unique(np.clip(grid, min(low, end), end))

    def _build(self, points: FloatArray, owner: IntArray) -> None:
        """Start a linear program with these tangents; its rows are links, sides and sum v = 1."""
        lift, k, m = self.averages.lift, len(self._sides), self._m
        n = lift.shape[1]
        rows = np.vstack([np.tile(lift, (k, 1)), np.zeros((k, n))])
        none = np.zeros(k * m + k)
        super().__init__(rows, none, none)
        self._n, self._rows = n, (none.copy(), none.copy())
        self._lines: Lines | None = None
        self._points, self._owner = np.zeros(0), np.zeros(0, dtype=np.intp)
        self._slopes, self._values = np.zeros(0), np.zeros(0)
        self._start, self._stop = np.zeros(0), np.zeros(0)
        # The lines of concave parts come first; they exist for all functions, to keep it simple.
        links = np.arange(k * m)
        self._line_slopes = np.zeros(k * m)
        self._append(links, np.zeros(k * m))
        self._append_tangents(points, owner)
        self._base_count = points.size

    def _append(self, owner: IntArray, slopes: FloatArray) -> None:
        """Append pieces: each takes from the link row of its function and adds to its side."""
        k, m = len(self._sides), self._m
        rows = np.column_stack([owner, k * m + owner // m])
        entries = np.column_stack([-np.ones(owner.size), slopes * self._weight.ravel()[owner]])
        zero = np.zeros(owner.size)
        self.add_columns(rows, entries, zero, zero)

    def _append_tangents(self, points: FloatArray, owner: IntArray) -> None:
        slopes, values = np.zeros(points.size), np.zeros(points.size)
        for i, side in enumerate(self._sides):
            mine = owner // self._m == i
            slopes[mine], values[mine] = side.slope(points[mine]), side.value(points[mine])
        self._append(owner, slopes)
        self._points = np.append(self._points, points)
        self._owner = np.append(self._owner, owner)
        self._slopes, self._values = np.append(self._slopes, slopes), np.append(self._values, values)
        self._start = np.append(self._start, np.zeros(points.size))
        self._stop = np.append(self._stop, np.zeros(points.size))
        self._divide()
        self._lines = None

    def _divide(self) -> None:
        """Find where each tangent is above the others."""
        order = np.lexsort((self._points, self._owner))
        a, g, v = self._points[order], self._slopes[order], self._values[order]
        owner = self._owner[order]
        steeper = g[1:] - g[:-1]
        apart = (steeper > _NARROW) & (a[1:] - a[:-1] > _NARROW)
        meet = (v[:-1] - v[1:] + g[1:] * a[1:] - g[:-1] * a[:-1]) / np.where(apart, steeper, 1.0)
        meet = np.where(apart, np.clip(meet, a[:-1], a[1:]), 0.5 * (a[1:] + a[:-1]))
        same = owner[1:] == owner[:-1]
        start = np.append(self.low[owner[:1] % self._m], np.where(same, meet, 0.0))
        stop = np.append(np.where(same, meet, 0.0), 0.0)
        begins = np.flatnonzero(np.append(True, ~same))
        ends = np.append(begins[1:] - 1, owner.size - 1)
        start[begins] = self.low[owner[begins] % self._m]
        stop[ends] = self._last.ravel()[owner[ends]]
        self._start[order], self._stop[order] = start, np.maximum(start, stop)
        first = order[begins]
        self._at_low = self._values[first] + self._slopes[first] * (start[begins] - a[begins])

    def _tangents_at(self, lifts: FloatArray) -> FloatArray:
        """Return the largest tangent of each function at lifts of shape (sides, m)."""
        at = lifts.ravel()[self._owner]
        filled = np.clip(at - self._start, 0.0, self._stop - self._start)
        sums = np.bincount(self._owner, filled * self._slopes, minlength=self._at_low.size)
        return (self._at_low + sums).reshape(lifts.shape)

    def place(self, lines: Lines) -> None:
        """Set the range of the lifts and the lines of the concave parts."""
        if lines is self._lines:
            return
        self._lines = lines
        k, m = len(self._sides), self._m
        width = self._stop - self._start
        low = np.broadcast_to(lines.low, (k, m))
        least = np.clip(low.ravel()[self._owner] - self._start, 0.0, width)
        most = np.clip(lines.end.ravel()[self._owner] - self._start, 0.0, width)
        begin = np.maximum(lines.end, low).ravel()
        line = np.maximum(np.broadcast_to(lines.high, (k, m)).ravel() - begin, 0.0)
        line[np.isinf(self._turn.repeat(m))] = 0.0
        columns = self._n + np.arange(line.size + width.size)
        lower = np.append(np.zeros(line.size), least)
        self.change_columns(columns, lower, np.append(line, np.maximum(most, least)))
        changed = np.flatnonzero(lines.slope.ravel() != self._line_slopes)
        slopes = lines.slope.ravel()[changed]
        entries = slopes * self._weight.ravel()[changed]
        self.change_entries(k * m + changed // m, self._n + changed, entries)
        self._line_slopes[changed] = slopes
        self._place_rows(low)

    def _place_rows(self, low: FloatArray) -> None:
        """Set the lifts from which pieces are filled, and what is left of the bounds there."""
        k, m = len(self._sides), self._m
        jump = np.maximum(low - self._last, 0.0)  # lifts that start in a concave part
        at_low = self._at_low.reshape(k, m)
        if jump.any():
            beyond = np.array([side.value(row) for side, row in zip(self._sides, low, strict=True)])
            at_low = at_low + np.where(jump > 0, beyond - self._tangents_at(self._last), 0.0)
        base = (self.low + jump).ravel()
        bound = np.array([side.bound for side in self._sides])
        left = bound / self._room - (self._weight * at_low).sum(axis=1)
        lower = np.append(base, np.full(k, -np.inf))
        upper = np.append(base, left)
        changed = np.flatnonzero((lower != self._rows[0]) | (upper != self._rows[1]))
        self.change_rows(changed, lower[changed], upper[changed])
        self._rows = lower, upper

    def solve(
        self,
        cost: FloatArray,
        lines: Lines,
        box: tuple[FloatArray, FloatArray] | None = None,
        near: float = _NEAR,
        rounds: int = _ROUNDS,
    ) -> PolytopePoint | None:
        """Minimise ``cost @ v``, adding tangents until a side is exceeded by at most ``near``."""
        for left in range(rounds, -1, -1):
            self.place(lines)
            point = super().minimise(cost, box)
            if point is None or left == 0 or not self._sharpen(point.v, lines, near):
                break
        return point

    def minimise(
        self, cost: FloatArray, box: tuple[FloatArray, FloatArray] | None = None
    ) -> PolytopePoint | None:
        """Return the minimiser over the convex envelope of what is allowed."""
        if not hasattr(self, "_everywhere"):
            self._everywhere = self.envelope(self.low, self.high)
        return self.solve(cost, self._everywhere, box)

    def _sharpen(self, v: FloatArray, lines: Lines, near: float) -> bool:
        """Add tangents at the lifts of a solution if they are not precise enough there."""
        lifts = np.clip(self.averages.lift @ v, lines.low, lines.high)
        at = np.clip(lifts, np.minimum(_LEAST, self._last), np.minimum(lines.end, self._last))
        exact = np.array([side.value(row) for side, row in zip(self._sides, at, strict=True)])
        error = self._weight * (exact - self._tangents_at(at))
        if not np.any(error.sum(axis=1) > near) or not self._exceeds(v, lines, near):
            return False
        wanted = np.flatnonzero((error > 0.25 * near / self._m).ravel())
        if wanted.size == 0:
            return False
        gap = np.full(error.size, np.inf)
        np.minimum.at(gap, self._owner, np.abs(self._points - at.ravel()[self._owner]))
        wanted = wanted[gap[wanted] > _NARROW]
        if wanted.size == 0:
            return False
        step = gap[wanted, None] / _CLOSER * np.array([-1.0, 0.0, 1.0])
        points = at.ravel()[wanted, None] + np.where(np.abs(step) > _NARROW, step, 0.0)
        least = np.maximum(self.low, _LEAST)[wanted % self._m, None]
        points = np.clip(points, np.minimum(least, at.ravel()[wanted, None]),
                         self._last.ravel()[wanted, None])
        self._make_room()
        self._append_tangents(points.ravel(), np.repeat(wanted, 3))
        return True

    def _exceeds(self, v: FloatArray, lines: Lines, near: float) -> bool:
        """Tell whether the functions with their lines exceed a bound at a solution."""
        lifts = self.averages.lift @ v
        for i, side in enumerate(self._sides):
            at = np.clip(lifts, lines.low, np.maximum(lines.end[i], lines.low))
            value = side.value(at) + lines.slope[i] * np.maximum(lifts - at, 0.0)
            if self._weight[i] @ value - side.bound / self._room[i] > near:
                return True
        return False

    def _make_room(self) -> None:
        """Drop older tangents if there are many."""
        if self._points.size <= _MOST * self._at_low.size:
            return
        keep = np.append(
            np.arange(self._base_count), np.arange(self._points.size // 2, self._points.size)
        )
        base = self._base_count
        self._build(self._points[keep], self._owner[keep])
        self._base_count = base

    def envelope(self, low: FloatArray, high: FloatArray) -> Lines:
        """Return the convex envelopes of the functions over a range of lifts."""
        end = np.maximum(np.minimum(high, self._turn), low)
        slope = np.zeros_like(end)
        for i, side in enumerate(self._sides):
            for s in np.flatnonzero(high > side.turn):
                end[i, s] = max(low[s], self._touch(i, float(high[s])))
                width = high[s] - end[i, s]
                if width > _NARROW:
                    ends = side.value(np.array([end[i, s], high[s]]))
                    slope[i, s] = (ends[1] - ends[0]) / width
        return Lines(low, high, end, slope)

    def _touch(self, i: int, high: float) -> float:
        """Return where a line from (high, k(high)) touches the convex part from below."""
        known = self._touching[i]
        if high not in known:
            known[high] = _touching_point(self._sides[i], high)
        return known[high]

    def above(self, lifts: FloatArray) -> Lines:
        """Return convex functions that are at least k everywhere, and equal at the given lifts."""
        end = self._last.copy()
        slope = np.zeros_like(end)
        for i, side in enumerate(self._sides):
            if np.isfinite(side.turn):
                at = np.maximum(lifts, side.turn * _BEYOND)
                slope[i] = side.slope(at)
                if (lifts > side.turn).any():
                    crossing = _crossing(side, at, slope[i], self.low)
                    end[i] = np.clip(crossing, self.low, self._last[i])
        return Lines(self.low, self.high, end, slope)


def _touching_point(side: Side, high: float) -> float:
    """Find by bisection where the tangent of the convex part passes through (high, k(high))."""
    left, right = 0.0, side.turn
    at_high = float(side.value(np.array([high]))[0])
    while right - left > 1e-15 * side.turn:
        middle = np.array([0.5 * (left + right)])
        if not left < middle[0] < right:
            break
        tangent = side.value(middle) + side.slope(middle) * (high - middle)
        if tangent[0] <= at_high:
            left = float(middle[0])
        else:
            right = float(middle[0])
    return left


def _crossing(side: Side, at: FloatArray, slope: FloatArray, low: FloatArray) -> FloatArray:
    """Find where tangents of the concave part, extended to the left, meet the convex part.

    The convex part decreases, then increases up to the turn, where the tangent lies above it.
    """
    value = side.value(at)
    left = np.minimum(np.maximum(low, _LEAST), side.turn)
    right = np.full_like(left, side.turn)
    for _ in range(_HALVINGS):
        middle = 0.5 * (left + right)
        higher = side.value(middle) > value + slope * (middle - at)
        left, right = np.where(higher, middle, left), np.where(higher, right, middle)
    return right


class LiftSearch:
    """Find allowed posteriors with a small linear cost, and a valid bound of that cost.

    Parameters
    ----------
    averages : Averages
        The functions with their bounds.
    p : ndarray of shape (n,)
        An allowed posterior.
    low, high : ndarray of shape (m,)
        Range of the lifts.
    """

    def __init__(
        self, averages: Averages, p: FloatArray, low: FloatArray, high: FloatArray
    ) -> None:
        self._averages, self._p = averages, p
        self._lp = LiftLP(averages, low, high)

    def minimise(self, cost: FloatArray) -> PolytopePoint | None:
        """Return an allowed posterior, with the multipliers of the convex envelope.

        If what is allowed is convex, it is the minimiser; else a local one.
        """
        point = self._lp.minimise(cost)
        assert point is not None  # p is inside
        if self._averages.convex:
            return self._inside(point)
        better = self.follow(cost, clean(point.v))
        return None if better is None else point._replace(v=better.v)

    def follow(self, cost: FloatArray, v: FloatArray) -> PolytopePoint | None:
        """Replace concave parts by tangents at the lifts of v, and return the minimiser."""
        if self._averages.convex:
            return self.minimise(cost)
        v = self._averages.pulled(v[None], self._p)[0]
        point = self._lp.solve(cost, self._lp.above(self._averages.lift @ v))
        return None if point is None else self._inside(point)

    def _inside(self, point: PolytopePoint) -> PolytopePoint:
        v = self._averages.pulled(clean(point.v)[None], self._p)[0]
        return point._replace(v=v)
