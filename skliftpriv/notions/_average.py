"""Functions of the lift whose average over S a notion bounds, as optimisers need them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np

from .._arrays import FloatArray

__all__ = ["Average"]

_HALVINGS = 60


@dataclass(frozen=True)
class Average:
    """One side of a notion: sum_s P(s) k(lift_s) <= bound.

    The function k is convex up to ``turn`` and concave beyond it. If ``turn`` is finite, k must be
    decreasing below 1 and increasing above. In both cases mixing an output with a constant lowers
    the average.

    .. versionadded:: 0.2

    Parameters
    ----------
    value, slope : callable
        k and its derivative, of arrays of positive lifts. Where k has a kink, the derivative on
        either side will do.
    bound : float
        Largest allowed average, above k(1).
    turn : float, default=inf
        Where k turns from convex to concave; infinite if it is convex everywhere.
    with_slope : callable, optional
        The lift, up to ``turn``, at which k has a given slope. Slopes that k does not have may give
        anything. By default it is found by bisection.

    Examples
    --------
    >>> from skliftpriv.notions import Average
    >>> chi2 = Average(lambda l: (l - 1) ** 2, lambda l: 2 * (l - 1), bound=0.25)
    >>> chi2.at_slope(np.array([1.0]), low=0.1, high=4.0).round(6)
    array([1.5])
    """

    value: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray]
    bound: float
    turn: float = inf
    with_slope: Callable[[FloatArray], FloatArray] | None = None

    @property
    def convex(self) -> bool:
        """Whether k is convex everywhere."""
        return self.turn == inf

    def at_slope(
        self, slope: FloatArray, low: FloatArray | float, high: FloatArray | float
    ) -> FloatArray:
        """Return the lifts from ``low`` to ``high``, both up to ``turn``, where k - slope is least.

        Parameters
        ----------
        slope : ndarray
            Slopes.
        low, high : ndarray or float
            Ranges of the lift in which k is convex.
        """
        if self.with_slope is not None:
            with np.errstate(all="ignore"):
                found = self.with_slope(slope)
            # A slope that k never has is below all slopes or above all of them.
            middle = np.sqrt(np.maximum(low, 1e-300) * high)
            beyond = np.where(self.slope(middle) > slope, low, high)
            return np.clip(np.where(np.isfinite(found), found, beyond), low, high)
        left, right = np.broadcast_arrays(low, high, slope)[:2]
        for _ in range(_HALVINGS):
            middle = 0.5 * (left + right)
            above = self.slope(middle) > slope
            left, right = np.where(above, left, middle), np.where(above, middle, right)
        return np.asarray(0.5 * (left + right))
