"""Notions that bound the lift itself: LIP, ALIP and LDP. Each is a polytope of posteriors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from .._arrays import FloatArray
from ..measures._lift import ratio
from ._base import Notion, check_budget, finite_exp
from ._exact import exp_above, exp_below

__all__ = ["ALIP", "LDP", "LIP"]

MIN_LIFT, MAX_LIFT, RATIO = "min_lift", "max_lift", "ldp"


class _LiftBand(Notion):
    """Shared by LIP and ALIP: exp(-lower) <= lift <= exp(upper)."""

    polyhedral = True

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

    def rows(self, lift: FloatArray) -> FloatArray:
        # Homogeneous because a posterior sums to 1:
        # (L_s - e^upper) v <= 0 and (e^-lower - L_s) v <= 0.
        largest, smallest = finite_exp(self.budget[MAX_LIFT]), np.exp(-self.budget[MIN_LIFT])
        return np.vstack([lift - largest, smallest - lift])


@dataclass(frozen=True)
class LIP(_LiftBand):
    """Local information privacy: |log-lift| <= epsilon for every output.

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_budget("epsilon", self.epsilon))

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

    def rows(self, lift: FloatArray) -> FloatArray:
        # (L_s - e^epsilon L_t) v <= 0 for every ordered pair s != t.
        differences = lift[:, None, :] - finite_exp(self.epsilon) * lift[None, :, :]
        return differences[~np.eye(lift.shape[0], dtype=bool)]

    def __str__(self) -> str:
        return f"{self.epsilon:g}-LDP"
