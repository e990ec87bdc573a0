"""Sides that are averages of functions of the lift: what they allow, and what they bound.

With l = L v, a side is sum_s P_s k(l_s) <= c, where k is convex up to its turn and concave beyond.
Arrays of lifts have one row per posterior or box, and one column per sensitive symbol.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from ._image import FloatArray

_HALVINGS = 60
_INSIDE = 1e-6
"""Relative margin of shares that are mixed in, against rounding."""
_FACTOR = 1.5
"""If a share is not enough, the next one is larger by this factor."""
_FAR = 1e3
"""Larger excesses, of lifts near 0, say nothing about the share."""
_SLACK = 1e-11
"""Sides with less room than this are replaced by the ranges of lifts that they imply."""


class Side(Protocol):
    """A function k of the lift, and the bound of its average."""

    @property
    def value(self) -> Callable[[FloatArray], FloatArray]:
        """The function k."""

    @property
    def slope(self) -> Callable[[FloatArray], FloatArray]:
        """Its derivative; at a kink, that on either side."""

    @property
    def bound(self) -> float:
        """Largest allowed average."""

    @property
    def turn(self) -> float:
        """Where k turns from convex to concave; may be infinite."""

    def at_slope(
        self, slope: FloatArray, low: FloatArray | float, high: FloatArray | float
    ) -> FloatArray:
        """Return where k - slope is least between two lifts up to the turn."""


@dataclass(frozen=True)
class Averages:
    """Averages of functions of the lift with their bounds.

    Parameters
    ----------
    lift : ndarray of shape (m, n)
        The matrix L: lift of each sensitive symbol for each input.
    weights : ndarray of shape (m,)
        P(s).
    sides : tuple of Side
        The functions with their bounds.
    """

    lift: FloatArray
    weights: FloatArray
    sides: tuple[Side, ...]

    @property
    def convex(self) -> bool:
        """Whether all allowed posteriors form a convex set."""
        return all(side.turn == np.inf for side in self.sides)

    @cached_property
    def slack(self) -> FloatArray:
        """How far the average of a constant output is below the bound, for each side."""
        one = np.ones(1)
        return np.array([side.bound - float(side.value(one)[0]) for side in self.sides])

    def of_inputs(self, lift: FloatArray) -> Averages:
        """Return the same sides for other inputs, such as groups."""
        return replace(self, lift=lift)

    def excess(self, posteriors: FloatArray) -> FloatArray:
        """Return by how much each posterior exceeds the worst side, as a share of its slack."""
        return self.excess_of_lifts(posteriors @ self.lift.T)

    def excess_of_lifts(self, lifts: FloatArray) -> FloatArray:
        """Return the same for lifts."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            over = [
                (side.value(np.maximum(lifts, 0.0)) @ self.weights - side.bound) / slack
                for side, slack in zip(self.sides, self.slack, strict=True)
            ]
            worst = np.max(over, axis=0)
        return np.where(np.isnan(worst), np.inf, worst)

    def pulled(self, posteriors: FloatArray, p: FloatArray) -> FloatArray:
        """Mix p into each posterior until it exceeds no side."""
        share = self.shares(posteriors, p)[:, None]
        return np.where(share > 0, posteriors + share * (p - posteriors), posteriors)

    def shares(self, posteriors: FloatArray, p: FloatArray, most: float = 0.0) -> FloatArray:
        """Return how much of p makes each posterior exceed no side by more than ``most``.

        Where that is not possible, because p is at the boundary itself, it is 1.
        """
        excess, at_p = self.excess(posteriors), float(self.excess(p[None])[0])
        out = np.flatnonzero(excess > most)
        needed = np.zeros(len(posteriors))
        # Enough if what is allowed is convex, and otherwise up to a factor that is near 1.
        over = np.minimum(excess[out], _FAR)
        share = over / np.maximum(over - at_p, 1e-300) * (1 + _INSIDE) + _INSIDE * over
        lifts, centre = posteriors @ self.lift.T, self.lift @ p
        while out.size:
            needed[out] = share = np.minimum(share, 1.0)
            mixed = lifts[out] + share[:, None] * (centre - lifts[out])
            still = (self.excess_of_lifts(mixed) > most) & (share < 1.0)
            out, share = out[still], _FACTOR * share[still]
        return needed

    def ranges(self) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and largest lift of each sensitive symbol that may be allowed."""
        lowest, highest = self.lift.min(axis=1), self.lift.max(axis=1)
        low = self._farthest(np.minimum(lowest, 1.0))
        high = self._farthest(np.maximum(highest, 1.0))
        return np.maximum(low, lowest), np.minimum(high, highest)

    def _farthest(self, towards: FloatArray) -> FloatArray:
        """Return lifts from 1 towards others beyond which a side alone is exceeded."""
        inside, outside = np.ones_like(towards), towards.copy()
        done = self._may_be(outside)
        inside[done] = outside[done]
        for _ in range(_HALVINGS):
            middle = 0.5 * (inside + outside)
            fine = self._may_be(middle)
            inside, outside = np.where(fine, middle, inside), np.where(fine, outside, middle)
        return outside

    def _may_be(self, lift: FloatArray) -> np.ndarray:
        """Tell which symbols may have these lifts, at the most favourable lifts of the others."""
        rest = 1.0 - self.weights
        others = np.maximum(1.0 - self.weights * lift, 0.0) / np.where(rest > 0, rest, 1.0)
        fine = np.ones(lift.size, dtype=bool)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            for side in self.sides:
                # The mean of a convex function is least if all others are equal; else at 1.
                least = side.value(others if side.turn == np.inf else np.ones_like(others))
                at = self.weights * side.value(lift) + np.where(rest > 0, rest * least, 0.0)
                fine &= ~(at > side.bound)
        return fine

    def linear(self) -> FloatArray | None:
        """Return rows A such that A v <= 0 says the same; None if there are none.

        Two sensitive symbols have lifts on a line, and sides without room leave only their ranges.
        """
        one = len(self.weights) == 1
        if one:
            return np.zeros((0, self.lift.shape[1]))
        if len(self.weights) > 2 and self.slack.min() > _SLACK:
            return None
        low, high = self._ends() if len(self.weights) == 2 else self.ranges()
        return np.vstack([self.lift - high[:, None], low[:, None] - self.lift])

    def _ends(self) -> tuple[FloatArray, FloatArray]:
        """Return the range of both lifts of a binary S."""
        own, other = self.weights
        ends = []
        for end in (0.0, 1.0 / own):
            inside, outside = 1.0, end
            for _ in range(_HALVINGS):
                middle = 0.5 * (inside + outside)
                lifts = np.array([[middle, (1.0 - own * middle) / other]])
                fine = self.excess_of_lifts(lifts)[0] <= 0.0
                inside, outside = (middle, outside) if fine else (inside, middle)
            ends.append(inside)
        low = np.array([ends[0], (1.0 - own * ends[1]) / other])
        return low, np.array([ends[1], (1.0 - own * ends[0]) / other])

    def support(
        self, z: FloatArray, mu: FloatArray, low: FloatArray, high: FloatArray
    ) -> FloatArray:
        """Return lower bounds of sum_i z_i.l over all allowed lifts between bounds.

        There is one z_i for each side, and a last one for the bounds alone. With multipliers
        mu_i >= 0 of the sides, z_i.l is at least sum_s min (z_is l_s + mu_i P_s k_i(l_s)) -
        mu_i c_i, whatever the multipliers are. The minimum over an interval is at a stationary
        point of the convex part or at an end.

        Parameters
        ----------
        z : ndarray of shape (b, sides + 1, m)
            Multipliers of the lifts.
        mu : ndarray of shape (b, sides)
            Multipliers of the sides.
        low, high : ndarray of shape (b, m) or (m,)
            Bounds of the lifts.
        """
        total = np.minimum(z[:, -1] * low, z[:, -1] * high).sum(axis=1)
        for i, side in enumerate(self.sides):
            weight = mu[:, i, None] * self.weights
            end = np.maximum(np.minimum(high, side.turn), low)
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                wanted = np.where(weight > 0, -z[:, i] / weight, 0.0)
                inner = np.clip(side.at_slope(wanted, low, end), low, end)
                values = [
                    z[:, i] * at + np.where(weight > 0, weight * side.value(at), 0.0)
                    for at in (inner, np.broadcast_to(low, inner.shape), end,
                               np.broadcast_to(high, inner.shape))
                ]  # fmt: skip
            total += np.min(values, axis=0).sum(axis=1) - mu[:, i] * side.bound
        return total
