"""Notions that bound the lift itself: LIP, ALIP and LDP. Each is a polytope of posteriors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from .._arrays import FloatArray
from .._format import factor, number
from ..measures._lift import ratio
from ..measures._range import Box, extreme_distributions, lift_range, one_against, quotient
from ._base import Notion, check_budget, finite_exp
from ._exact import exp_above, exp_below
from ._sides import MAX_LIFT, MIN_LIFT, RATIO

__all__ = ["ALIP", "LDP", "LIP"]


class _LiftBand(Notion):
    """Shared by LIP and ALIP: exp(-lower) <= lift <= exp(upper)."""

    polyhedral = True
    supports_confidence = True

    @property
    def when_resampled(self) -> str | None:
        if self.perfect:  # the draw is rounded, so that a budget of 0 is just missed
            return None
        total = number(sum(self.budget.values()))
        return f"in a table that holds such values the log-lift may reach {total} either way"

    def levels(self, lift: FloatArray, p_s: FloatArray) -> dict[str, FloatArray]:
        with np.errstate(divide="ignore"):
            return {MIN_LIFT: -np.log(lift.min(axis=-2)), MAX_LIFT: np.log(lift.max(axis=-2))}

    @cached_property
    def exact_band(self) -> tuple[Fraction, Fraction]:
        """Rational numbers just inside exp(-lower) and exp(upper)."""
        return exp_above(-self.budget[MIN_LIFT]), exp_below(self.budget[MAX_LIFT])

    def exactly_met(self, lift: Sequence[Fraction], p_s: Sequence[Fraction]) -> bool:
        smallest, largest = self.exact_band
        return min(lift) >= smallest and max(lift) <= largest

    def worst_lift(self, low: np.ndarray, high: np.ndarray, prior: Box) -> np.ndarray:
        # Levels look at the smallest and the largest lift only.
        return np.vstack(lift_range(low, high, prior))

    def worst_rows(
        self, low: FloatArray, high: FloatArray, q: FloatArray, prior: Box
    ) -> FloatArray:
        largest, smallest = finite_exp(self.budget[MAX_LIFT]), np.exp(-self.budget[MIN_LIFT])
        above = high - largest * _worst_outputs(high, low, q, prior, lowest=True)
        below = smallest * _worst_outputs(low, high, q, prior, lowest=False) - low
        return np.vstack([above, below])

    def rows(self, lift: FloatArray) -> FloatArray:
        # Homogeneous because a posterior sums to 1:
        # (L_s - e^upper) v <= 0 and (e^-lower - L_s) v <= 0.
        largest, smallest = finite_exp(self.budget[MAX_LIFT]), np.exp(-self.budget[MIN_LIFT])
        return np.vstack([lift - largest, smallest - lift])


@dataclass(frozen=True)
class LIP(_LiftBand):
    """Local information privacy: ``|log-lift|`` <= epsilon for every output.

    Parameters
    ----------
    epsilon : float
        Budget in nats.

    Examples
    --------
    >>> from skliftpriv import LIP
    >>> notion = LIP(0.5)
    >>> print(notion)
    0.5-LIP
    >>> notion.budget
    {'min_lift': 0.5, 'max_lift': 0.5}
    """

    epsilon: float
    key = "lip"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_budget("epsilon", self.epsilon))

    @property
    def budget(self) -> dict[str, float]:
        return {MIN_LIFT: self.epsilon, MAX_LIFT: self.epsilon}

    def risk(self, lift: FloatArray, p_s: FloatArray) -> FloatArray:
        levels = self.levels(lift, p_s)
        return np.maximum(levels[MIN_LIFT], levels[MAX_LIFT])

    def __str__(self) -> str:
        return f"{self.epsilon:g}-LIP"


@dataclass(frozen=True)
class ALIP(_LiftBand):
    """Asymmetric local information privacy: -lower <= log-lift <= upper for every output.

    Parameters
    ----------
    lower, upper : float
        Budgets in nats of the min-lift and of the max-lift.

    Examples
    --------
    >>> from skliftpriv import ALIP
    >>> print(ALIP(lower=0.65, upper=0.35))
    (0.65, 0.35)-ALIP
    """

    lower: float
    upper: float
    key = "alip"

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", check_budget("lower", self.lower))
        object.__setattr__(self, "upper", check_budget("upper", self.upper))

    @property
    def budget(self) -> dict[str, float]:
        return {MIN_LIFT: self.lower, MAX_LIFT: self.upper}

    def risk(self, lift: FloatArray, p_s: FloatArray) -> FloatArray:
        # The printed omega = Lambda + Psi calls a vanishing min-lift harmless; see docs/errata.md.
        with np.errstate(divide="ignore"):
            return np.asarray(lift.max(axis=-2) + 1.0 / lift.min(axis=-2))

    def __str__(self) -> str:
        return f"({self.lower:g}, {self.upper:g})-ALIP"


@dataclass(frozen=True)
class LDP(Notion):
    """Local differential privacy of S: P(y|s) <= exp(epsilon) P(y|s') for all s, s', y.

    Parameters
    ----------
    epsilon : float
        Budget in nats.

    Examples
    --------
    >>> from skliftpriv import LDP
    >>> print(LDP(1.0))
    1-LDP
    """

    epsilon: float
    key = "ldp"
    polyhedral = True
    supports_confidence = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_budget("epsilon", self.epsilon))

    def in_words(self, sensitive: str) -> str:
        return (
            f"A released value may be at most {factor(self.epsilon)} times as probable for one "
            f"value of {sensitive} as for another."
        )

    @property
    def when_resampled(self) -> str | None:
        return None if self.perfect else "the budget still holds"

    @property
    def budget(self) -> dict[str, float]:
        return {RATIO: self.epsilon}

    def levels(self, lift: FloatArray, p_s: FloatArray) -> dict[str, FloatArray]:
        return {RATIO: np.log(ratio(lift))}

    def risk(self, lift: FloatArray, p_s: FloatArray) -> FloatArray:
        return ratio(lift)

    @cached_property
    def _exact_ratio(self) -> Fraction:
        return exp_below(self.epsilon)

    def exactly_met(self, lift: Sequence[Fraction], p_s: Sequence[Fraction]) -> bool:
        return max(lift) <= self._exact_ratio * min(lift)

    def worst_lift(self, low: np.ndarray, high: np.ndarray, prior: Box) -> np.ndarray:
        if len(low) < 2:  # a single sensitive value has no other to be compared with
            return np.ones_like(low)
        # Each P(y|s) at its largest against the smallest P(y|t) of the others, as a lift below 1
        # that a lift of 1 is compared with: a ratio of 0 stays a number.
        smallest, second = np.sort(low, axis=0)[:2]
        own = np.arange(low.shape[0])[:, None] == low.argmin(axis=0)
        worst = quotient(np.where(own, second, smallest), high).min(axis=0)
        return np.vstack([np.minimum(worst, 1), np.ones_like(worst)])

    def worst_rows(
        self, low: FloatArray, high: FloatArray, q: FloatArray, prior: Box
    ) -> FloatArray:
        return self._pairs(high, low)

    def rows(self, lift: FloatArray) -> FloatArray:
        return self._pairs(lift, lift)

    def _pairs(self, high: FloatArray, low: FloatArray) -> FloatArray:
        # (high_s - e^epsilon low_t) v <= 0 for every ordered pair s != t.
        differences = high[:, None, :] - finite_exp(self.epsilon) * low[None, :, :]
        return differences[~np.eye(low.shape[0], dtype=bool)]

    def __str__(self) -> str:
        return f"{self.epsilon:g}-LDP"


def _worst_outputs(
    own: FloatArray, others: FloatArray, q: FloatArray, prior: Box, *, lowest: bool
) -> FloatArray:
    """P(X) for each s, from ``own`` for s and ``others`` for the rest, with the worst prior.

    The worst prior makes P(y), the mean of q, as small (``lowest``) or as large as it can be.
    """
    given = one_against((own @ q)[:, None], (others @ q)[:, None])
    weights = extreme_distributions(given, prior.alone)[0 if lowest else 1][0].T
    mine = np.diag(weights)[:, None]
    return mine * own + (weights - np.diag(np.diag(weights))) @ others
