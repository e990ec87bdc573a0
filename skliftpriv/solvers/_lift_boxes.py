"""Boxes of lifts, for averages of functions that are not convex.

Where a function is concave, a linear program can only bound it from below by a line between the
ends of a range of lifts. So each box of posteriors also has a range of lifts, which is split where
this line is too far below the function. Narrow boxes of posteriors have narrow ranges as well.
"""

from __future__ import annotations

import numpy as np

from ._boxes import box_minimum
from ._image import FloatArray, IntArray
from ._lift_lp import LiftLP
from ._lp import PolytopePoint
from ._partition import Partition
from ._presolve import ReducedProblem

_PRECISE = 1e-7
"""How far, as a share of its slack, tangents may be below a side in a box."""
_ROUNDS = 3
"""How often tangents are added for one box."""
_INNER = 0.2
"""A split of a range of lifts keeps at least this share on either side."""
_NARROW = 1e-7
"""Ranges narrower than this are not split."""
_ROUNDING = 1e-12
_EXACT = 1e-8
"""An error of the entropy below this does not matter."""


class LiftPartition(Partition):
    """Boxes that cover the allowed posteriors, each with a range of lifts."""

    _arrays = (*Partition._arrays, "low", "high")

    def __init__(self, reduced: ReducedProblem, largest: FloatArray) -> None:
        assert reduced.averages is not None
        self._averages = reduced.averages
        m = reduced.lo.size
        self.low, self.high = np.zeros((0, m)), np.zeros((0, m))
        super().__init__(reduced, largest)

    def _new_slots(self, count: int) -> IntArray:
        index = super()._new_slots(count)
        self.low[index], self.high[index] = self._reduced.lo, self._reduced.hi
        return index

    def _inherit(self, parts: IntArray, parents: IntArray) -> None:
        self.low[parts], self.high[parts] = self.low[parents], self.high[parents]

    def _restrict(self, index: IntArray) -> None:
        """Narrow the ranges of lifts to what the boxes of posteriors allow."""
        if self._averages.convex:
            return  # the linear program sees that without
        lower, upper = self.sides(index)
        for s, row in enumerate(self._averages.lift):
            cost = np.broadcast_to(row, lower.shape)
            least = box_minimum(cost, lower, upper) - _ROUNDING
            most = _ROUNDING - box_minimum(-cost, lower, upper)
            self.low[index, s] = np.maximum(self.low[index, s], least)
            self.high[index, s] = np.minimum(self.high[index, s], most)
        self.alive[index] &= (self.high[index] >= self.low[index]).all(axis=1)
        self.low[index] = np.minimum(self.low[index], self.high[index])

    def _ranges(self, index: IntArray) -> tuple[FloatArray, FloatArray]:
        return self.low[index], self.high[index]

    @property
    def _program(self) -> LiftLP:
        assert isinstance(self._lp, LiftLP)
        return self._lp

    def _minimise(self, box: int, cost: FloatArray) -> PolytopePoint | None:
        lines = self._program.envelope(self.low[box], self.high[box])
        return self._program.solve(cost, lines, self.sides(box), near=_PRECISE, rounds=_ROUNDS)

    def split(self, boxes: IntArray, points: FloatArray) -> IntArray:
        """Split boxes by a posterior, or by a lift where that is what makes their bounds low."""
        if self._averages.convex:
            return super().split(boxes, points)
        lifts = points @ self._averages.lift.T
        lost = self._reduced.utility.entropy(points) - (self.costs(boxes) * points).sum(axis=1)
        each = zip(boxes, lifts, lost, strict=True)
        symbol = np.array([self._symbol(*one) for one in each])
        by_lift = symbol >= 0
        parts = [self._split_lifts(boxes[by_lift], points[by_lift], symbol[by_lift])]
        if not by_lift.all():
            parts.append(super().split(boxes[~by_lift], points[~by_lift]))
        return np.concatenate(parts)

    def _symbol(self, box: int, lifts: FloatArray, by_entropy: float) -> int:
        """Return the sensitive symbol whose range of lifts is to be split, -1 for none.

        That is one where lines are too far below a function, if this lowers the bound by more than
        the linear bound of the entropy does.
        """
        lines = self._program.envelope(self.low[box], self.high[box])
        sides, m = self._averages.sides, lifts.size
        mu = self._multipliers[box, -len(sides) :]
        error = np.zeros((len(sides), m))
        for i, side in enumerate(sides):
            end = lines.end[i]
            beyond = (lifts > end) & (self.high[box] - self.low[box] > _NARROW)
            end, at = end[beyond], lifts[beyond]
            envelope = side.value(end) + lines.slope[i, beyond] * (at - end)
            error[i, beyond] = self._averages.weights[beyond] * (side.value(at) - envelope)
        error /= self._averages.slack[:, None]
        if not error.any():
            return -1
        matters = float(mu @ error.sum(axis=1))
        if matters > by_entropy:
            return int((mu @ error).argmax())
        if by_entropy <= _EXACT and self._averages.excess_of_lifts(lifts[None])[0] > _PRECISE:
            return int(error.max(axis=0).argmax())
        return -1

    def _split_lifts(self, boxes: IntArray, points: FloatArray, symbol: IntArray) -> IntArray:
        if boxes.size == 0:
            return boxes
        low, high = self.low[boxes, symbol], self.high[boxes, symbol]
        margin = _INNER * (high - low)
        at = (self._averages.lift[symbol] * points).sum(axis=1)
        middle = np.clip(at, low + margin, high - margin)
        given = (*self.sides(boxes), self.tail[boxes], self._multipliers[boxes], points)
        lower, upper, tail, duals, points = (np.tile(array, (2, 1)) for array in given)
        new = self._new_slots(boxes.size)
        parts = np.concatenate([boxes, new])
        self._inherit(parts, np.tile(boxes, 2))
        self.high[boxes, symbol] = self.low[new, symbol] = middle
        self._write(parts, lower, upper, tail, duals, points)
        return parts
