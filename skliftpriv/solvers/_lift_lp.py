"""Linear programs over posteriors with averages of functions of the lift.

A side is replaced by linear inequalities, as many as the solutions ask for: the gradients at lifts
on the boundary of what the side allows. So that the functions are convex, their concave parts, if
any, are replaced by lines whose slopes depend on what the program is for:

- those of the convex envelopes over a range of lifts, for bounds;
- those of tangents at the current lifts, which lie above the concave parts, for the search: all its
  solutions are allowed, and repeating this improves them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._averages import Averages, Side
from ._boxes import BoolArray
from ._image import FloatArray, clean
from ._lp import PolytopeLP, PolytopePoint

_MOST = 150
"""With more inequalities linear programs get slow; those unused for longest are dropped."""
_LEAST = 1e-9
"""Gradients are taken at lifts of at least this."""
_NARROW = 1e-9
"""Ranges of lifts that are narrower have no line of their own."""
_ROUNDS = 200
_HALVINGS = 30
_STEPS = 6
"""Steps of Newton's method by which lifts approach the boundary."""
_NEAR = 1e-8
"""How far, as a share of its slack, solutions may exceed a side. The rest is undone by mixing."""
_RESOLVED = 3e-10
"""Smaller excesses, relative to the largest entry of an inequality, are due to rounding."""
_BEYOND = 1 + 1e-9
"""The concave part begins here, in units of its first lift."""


class Lines(NamedTuple):
    """Convex functions: for each side, k up to an end, and a line of some slope beyond."""

    low: FloatArray  # range of the lifts, of shape (m,)
    high: FloatArray
    end: FloatArray  # of shape (sides, m)
    slope: FloatArray
    below: bool  # whether the lines are below the functions


class LiftLP(PolytopeLP):
    """Minimise linear functions over posteriors whose averages are within bounds.

    Parameters
    ----------
    averages : Averages
        The functions with their bounds.
    low, high : ndarray of shape (m,)
        Range of the lifts.
    """

    def __init__(self, averages: Averages, low: FloatArray, high: FloatArray) -> None:
        super().__init__(averages.lift, low, high)
        self.averages, self.low, self.high = averages, low, high
        self._sides, self._m = averages.sides, low.size
        self._weight = averages.weights / averages.slack[:, None]
        self._touching: list[dict[float, float]] = [{} for _ in self._sides]
        self._ends = low.copy(), high.copy()
        self._lines: Lines | None = None
        self._everywhere = self.envelope(low, high)
        m = self._m
        # For each inequality: its side, scale, gradient, right-hand side, and where it holds.
        self._side, self._scale = np.zeros(0, dtype=np.intp), np.zeros(0)
        self._gradient, self._upper = np.zeros((0, m)), np.zeros(0)
        self._from, self._to = np.zeros((0, m)), np.zeros((0, m))
        self._active: BoolArray = np.zeros(0, dtype=bool)
        self._last_used = np.zeros(0, dtype=np.intp)

    def minimise(
        self, cost: FloatArray, box: tuple[FloatArray, FloatArray] | None = None
    ) -> PolytopePoint | None:
        """Return the minimiser over the convex envelope of what is allowed."""
        return self.solve(cost, self._everywhere, box)

    def solve(
        self,
        cost: FloatArray,
        lines: Lines,
        box: tuple[FloatArray, FloatArray] | None = None,
        near: float = _NEAR,
        rounds: int = _ROUNDS,
    ) -> PolytopePoint | None:
        """Minimise ``cost @ v``, adding inequalities until a side is exceeded by at most ``near``.

        The multipliers of the solution are those of the lifts, for each side and for their range,
        and those of the sides.
        """
        self._place(lines)
        for left in range(rounds, -1, -1):
            point = super().minimise(cost, box)
            if point is None or left == 0 or not self._cut(point.v, lines, near):
                break
        if point is None:
            return None
        duals = np.append(point.row_duals, point.sum_dual)
        return PolytopePoint(point.v, self._multipliers(duals), float(duals[self._m]))

    def rows_against(self, v: FloatArray) -> FloatArray:
        """Return rows A such that A v' <= 0 for all that is allowed, and A v > 0.

        There is one for each side that v exceeds, even if concave parts are replaced by lines.
        """
        lifts, k = self.averages.lift @ v, len(self._sides)
        rows = []
        for i, room in enumerate(self.averages.slack):
            if self._excess(i, lifts, self._everywhere)[0] <= _NEAR:
                continue
            gradient = self._inequality(i, lifts, self._everywhere)[0]
            z, mu = np.zeros((1, k + 1, self._m)), np.zeros((1, k))
            z[0, i], mu[0, i] = -gradient, 1.0 / room
            most = -self.averages.support(z, mu, self.low, self.high)[0]
            rows.append(gradient @ self.averages.lift - most)
        found = np.array(rows).reshape(-1, v.size)
        return found / np.abs(found).max(axis=1, keepdims=True)

    def infeasibility_ray(self) -> FloatArray:
        """Return multipliers, as those of a solution, that prove the last box empty."""
        return self._multipliers(self._ray())

    def _multipliers(self, duals: FloatArray) -> FloatArray:
        """Turn duals of all rows into multipliers of lifts and sides."""
        m, k = self._m, len(self._sides)
        z, mu = np.zeros((k + 1, m)), np.zeros(k)
        z[k] = duals[:m]
        used = np.minimum(duals[m + 1 :], 0.0) * self._active
        for j in np.flatnonzero(used):
            z[self._side[j]] += used[j] * self._gradient[j]
            mu[self._side[j]] -= used[j] * self._scale[j]
        return np.append(z.ravel(), mu)

    def _place(self, lines: Lines) -> None:
        """Set the range of the lifts, and use the inequalities that hold for these functions."""
        if lines is self._lines:
            return
        changed = np.flatnonzero((lines.low != self._ends[0]) | (lines.high != self._ends[1]))
        self.change_rows(changed, lines.low[changed], lines.high[changed])
        self._ends = lines.low, lines.high
        within = (self._from <= lines.low) & (self._to >= lines.high)
        holds: BoolArray = np.asarray(within.all(axis=1))
        changed = np.flatnonzero(holds != self._active)
        upper = np.where(holds[changed], self._upper[changed], np.inf)
        self.change_rows(changed + self._m + 1, np.full(changed.size, -np.inf), upper)
        self._active, self._lines = holds, lines

    def _cut(self, v: FloatArray, lines: Lines, near: float) -> bool:
        """Add an inequality for each side that a solution exceeds; tell if there are any."""
        lifts = self.averages.lift @ v
        broken = []
        for i in range(len(self._sides)):
            excess, gradient = self._excess(i, lifts, lines)
            if excess > near and excess > _RESOLVED * np.abs(gradient @ self.averages.lift).max():
                broken.append(i)
        if not broken:
            return False
        wanted = self._wanted(lifts, lines)
        self._make_room()
        self._add(
            [(i, lifts) for i in broken] + [(i, wanted[i]) for i in broken if i in wanted], lines
        )
        return True

    def _wanted(self, lifts: FloatArray, lines: Lines) -> dict[int, FloatArray]:
        """Return the lifts at which each side has the gradient that the multipliers ask for.

        They are the minimiser itself if the multipliers are those of the minimiser.
        """
        duals = self._multipliers(self.row_duals())
        k, m = len(self._sides), self._m
        found = {}
        for i in np.flatnonzero(duals[-k:] > 0):
            slope = -duals[i * m : (i + 1) * m] / duals[i - k] / self._weight[i]
            end = np.minimum(np.minimum(lines.high, self._sides[i].turn), lines.end[i])
            low = np.minimum(np.maximum(lines.low, _LEAST), end)
            at = self._sides[i].at_slope(slope, low, end)
            found[int(i)] = np.where(self._on_line(int(i), lifts, lines), lifts, at)
        return found

    def _add(self, wanted: list[tuple[int, FloatArray]], lines: Lines) -> None:
        """Add inequalities of sides at the boundary between 1 and some lifts."""
        made = [self._inequality(i, lifts, lines) for i, lifts in wanted]
        sides = [i for i, _ in wanted]
        gradient, upper, start, stop = (np.array(part) for part in zip(*made, strict=True))
        rows = gradient @ self.averages.lift
        size = np.abs(rows).max(axis=1)
        size[size == 0] = 1.0  # a constant function: no v meets the bound, or all do
        self.add_rows(rows / size[:, None], upper / size)
        self._side = np.append(self._side, sides)
        self._scale = np.append(self._scale, 1 / size)
        self._gradient = np.vstack([self._gradient, gradient / size[:, None]])
        self._upper = np.append(self._upper, upper / size)
        self._from, self._to = np.vstack([self._from, start]), np.vstack([self._to, stop])
        self._active = np.append(self._active, np.ones(len(sides), dtype=bool))
        self._last_used = np.append(self._last_used, np.full(len(sides), self.n_solves))

    def _excess(self, i: int, lifts: FloatArray, lines: Lines) -> tuple[float, FloatArray]:
        """Return by how much a side is exceeded, as a share of its slack, and the gradient."""
        side, room = self._sides[i], self.averages.slack[i]
        on_line = self._on_line(i, lifts, lines)
        at = np.where(on_line, lines.end[i], np.maximum(lifts, _LEAST))
        slope = np.where(on_line, lines.slope[i], side.slope(at))
        value = side.value(at) + slope * (lifts - at)
        return float(self._weight[i] @ value - side.bound / room), self._weight[i] * slope

    def _inequality(
        self, i: int, lifts: FloatArray, lines: Lines
    ) -> tuple[FloatArray, float, FloatArray, FloatArray]:
        """Return g, r with g.l <= r, and the ranges of lifts for which it holds."""
        direction = lifts - 1.0
        share = 1.0
        for _ in range(_STEPS):
            excess, gradient = self._excess(i, 1.0 + share * direction, lines)
            rise = float(gradient @ direction)
            if abs(excess) <= 1e-3 * _NEAR or rise <= 0:
                break
            share = min(1.0, max(share - excess / rise, 0.0))
        at = 1.0 + share * direction
        excess, gradient = self._excess(i, at, lines)
        upper = float(gradient @ at) - excess
        on_line = self._on_line(i, at, lines)
        if not lines.below and on_line.any():  # for these lines only
            nowhere = np.full(self._m, np.inf)
            return gradient, upper, nowhere, -nowhere
        start = np.where(on_line & (lines.end[i] <= lines.low), lines.low, -np.inf)
        tangent = ~on_line & (at <= self._everywhere.end[i])  # below the function everywhere
        return gradient, upper, start, np.where(tangent, np.inf, lines.high)

    def _on_line(self, i: int, lifts: FloatArray, lines: Lines) -> BoolArray:
        """Tell where functions are lines; those that begin with their range are so everywhere."""
        return (lifts > lines.end[i]) | (lines.below & (lines.end[i] <= lines.low))

    def _make_room(self) -> None:
        """Drop inequalities that have not been used for longest, if there are many."""
        self._last_used[self.row_duals()[self._m + 1 :] != 0] = self.n_solves
        if self._side.size <= _MOST:
            return
        dropped = np.sort(np.argsort(self._last_used, kind="stable")[: -_MOST // 2])
        self.remove_rows(dropped + self._m + 1)
        for name in ("_side", "_scale", "_gradient", "_upper", "_from", "_to", "_active",
                     "_last_used"):  # fmt: skip
            setattr(self, name, np.delete(getattr(self, name), dropped, axis=0))

    def envelope(self, low: FloatArray, high: FloatArray) -> Lines:
        """Return the convex envelopes of the functions over a range of lifts."""
        end = np.full((len(self._sides), low.size), np.inf)
        slope = np.zeros_like(end)
        for i, side in enumerate(self._sides):
            for s in np.flatnonzero(high > side.turn):
                end[i, s] = max(low[s], self._touch(i, float(high[s])))
                ends = np.array([end[i, s], high[s]])
                width = ends[1] - ends[0]
                slope[i, s] = (
                    np.diff(side.value(ends))[0] / width if width > _NARROW else side.slope(ends)[1]
                )
        return Lines(low, high, end, slope, below=True)

    def _touch(self, i: int, high: float) -> float:
        """Return where a line from (high, k(high)) touches the convex part from below."""
        known = self._touching[i]
        if high not in known:
            known[high] = _touching_point(self._sides[i], high)
        return known[high]

    def above(self, lifts: FloatArray) -> Lines:
        """Return convex functions that are at least k everywhere, and equal at the given lifts."""
        end = np.full((len(self._sides), self._m), np.inf)
        slope = np.zeros_like(end)
        for i, side in enumerate(self._sides):
            if np.isfinite(side.turn):
                at = np.maximum(lifts, side.turn * _BEYOND)
                slope[i], end[i] = side.slope(at), side.turn
                if (lifts > side.turn).any():
                    end[i] = _crossing(side, at, slope[i])
        return Lines(self.low, self.high, end, slope, below=False)


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


def _crossing(side: Side, at: FloatArray, slope: FloatArray) -> FloatArray:
    """Find where tangents of the concave part, extended to the left, meet the convex part.

    The convex part decreases, then increases up to the turn, where the tangent lies above it.
    """
    value = side.value(at)
    left, right = np.full_like(at, _LEAST), np.full_like(at, side.turn)
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

    curved = True

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
        lifts = self._averages.lift @ v
        lines = self._lp.above(lifts)
        point = self._lp.solve(cost, lines)
        return None if point is None else self._inside(point)

    def _inside(self, point: PolytopePoint) -> PolytopePoint:
        v = self._averages.pulled(clean(point.v)[None], self._p)[0]
        return point._replace(v=v)
