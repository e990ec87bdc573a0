"""Infinite values, drawn at the edge of an axis and at a tick of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import FloatArray
from .._format import rounded, typeset
from ._matplotlib import Axes, load

__all__ = ["Edge"]

#: How far beyond the finite values infinity stands, as a share of their range.
_BEYOND = 0.14


@dataclass(frozen=True)
class Edge:
    """Where finite values end on an axis, and which infinities there are.

    Attributes
    ----------
    low, high : float
        Range of the finite values.
    below, above : bool
        Whether minus infinity, or infinity, occurs.
    """

    low: float
    high: float
    below: bool
    above: bool

    @classmethod
    def of(cls, values: ArrayLike) -> Edge:
        """Find the range of values."""
        array = np.asarray(values, dtype=float)
        finite = array[np.isfinite(array)]
        low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
        if low == high:
            low, high = low - 0.5, high + 0.5
        below, above = bool(np.isneginf(array).any()), bool(np.isposinf(array).any())
        return cls(float(low), float(high), below, above)

    def place(self, values: FloatArray) -> FloatArray:
        """Move infinite values to where they are drawn."""
        step = _BEYOND * (self.high - self.low)
        return np.clip(values, self.low - step, self.high + step)

    def mark(self, ax: Axes, name: str) -> None:
        """Set limits and ticks of an axis, with a tick and a line for each infinity."""
        axis: Any = getattr(ax, f"{name}axis")
        span = self.high - self.low
        ends = []
        for there, value in ((self.below, -np.inf), (self.above, np.inf)):
            end = float(self.place(np.array([value]))[0])
            inner = self.low if value < 0 else self.high
            ends.append(end if there else inner + np.sign(value) * 0.05 * span)
            if there:
                self._wall(ax, name, (end + inner) / 2)
        getattr(ax, f"set_{name}lim")(
            ends[0] - 0.03 * span * self.below, ends[1] + 0.03 * span * self.above
        )
        if not (self.below or self.above):
            return
        ticks = load("ticker").MaxNLocator(6).tick_values(self.low, self.high)
        margin = 0.05 * span
        ticks = [t for t in ticks if self.low - margin <= t <= self.high + margin]
        labels = [typeset(f"{tick + 0.0:.10g}") for tick in ticks]
        for there, value, end in ((self.below, -np.inf, ends[0]), (self.above, np.inf, ends[1])):
            if there:
                ticks.append(end)
                labels.append(rounded(value))
        axis.set_ticks(ticks, labels)

    @staticmethod
    def _wall(ax: Axes, name: str, place: float) -> None:
        draw = ax.axvline if name == "x" else ax.axhline
        draw(place, color="0.5", linewidth=0.8, linestyle=(0, (1, 2)))
