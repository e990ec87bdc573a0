"""Notions that bound an average of the lift over S: l1-, chi2- and alpha-lift privacy.

Each has two sides, the lift and its inverse, because a bound on the average lift alone leaves
the min-lift of rare symbols free (Zarrabian, Ding and Sadeghi 2023, section 6): an l1-lift of t
keeps it above 1 - t / (2 P(s)), which says nothing where P(s) <= t / 2. Thresholds are those of
their section 6.2, e.g. l1-lift <= exp(upper) - 1; levels are given in nats so that a level compares
directly with its budget.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from .._arrays import FloatArray
from ..exceptions import InvalidParameterError
from ..measures._lift import inverse, log_power_mean, mean_distance
from ._average import Average
from ._base import Notion, check_budget, finite_exp, finite_expm1, is_number
from ._exact import exp_below, power_above
from ._polyhedral import ALIP
from ._sides import Side

__all__ = ["AlphaLift", "Chi2Lift", "L1Lift"]

# Above this order the exact check takes the largest lift, which is at least the power mean.
_LARGEST_ORDER = 10_000
# Lifts beyond exp(-300) do not occur.
_LARGEST_SCALE = 300.0


@dataclass(frozen=True)
class _AveragedLift(Notion):
    """Shared by the three: the same average of the lift and of its inverse, each with a bound."""

    lower: float
    upper: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", check_budget("lower", self.lower))
        object.__setattr__(self, "upper", check_budget("upper", self.upper))

    @abstractmethod
    def _average(self, value: FloatArray, p_s: FloatArray) -> FloatArray:
        """Average that the paper bounds, of the lift or of its inverse."""

    @abstractmethod
    def _level(self, average: FloatArray) -> FloatArray:
        """Budget in nats whose threshold the average just meets."""

    @abstractmethod
    def _exact_threshold(self, budget: float) -> Fraction:
        """Rational number just below the largest allowed value of :meth:`_exact_average`."""

    @abstractmethod
    def _exact_average(self, value: Sequence[Fraction], p_s: Sequence[Fraction]) -> Fraction:
        """Average without rounding, or rounded up."""

    @property
    def budget(self) -> dict[str, float]:
        return {f"{self.key}_lift_inverse": self.lower, f"{self.key}_lift": self.upper}

    def rows(self, lift: FloatArray) -> FloatArray:
        # Without budget on one side all lifts are 1, which is linear.
        return ALIP(0.0, 0.0).rows(lift) if self.perfect else np.zeros((0, lift.shape[1]))

    def averages(self) -> tuple[Average, ...]:
        return () if self.perfect else self._sides()

    @abstractmethod
    def _sides(self) -> tuple[Average, ...]:
        """Return the inverse and the lift as averages, for positive budgets."""

    def side(self, name: str) -> Side:
        short = "inverse" if name.endswith("inverse") else "lift"
        return replace(super().side(name), short=short)

    def in_words(self, sensitive: str) -> str:
        return (
            f"For every released value an average, over the values of {sensitive}, of how much "
            "more probable they become is bounded, and one of how much less; single values may "
            "change more."
        )

    def levels(self, lift: FloatArray, p_s: FloatArray) -> dict[str, FloatArray]:
        return {
            f"{self.key}_lift_inverse": self._level(self._average(inverse(lift), p_s)),
            f"{self.key}_lift": self._level(self._average(lift, p_s)),
        }

    def risk(self, lift: FloatArray, p_s: FloatArray) -> FloatArray:
        return self._average(lift, p_s) + self._average(inverse(lift), p_s)

    @cached_property
    def _exact_thresholds(self) -> tuple[Fraction, Fraction]:
        return self._exact_threshold(self.lower), self._exact_threshold(self.upper)

    def exactly_met(self, lift: Sequence[Fraction], p_s: Sequence[Fraction]) -> bool:
        if min(lift) == 0:
            return False
        lower, upper = self._exact_thresholds
        return (
            self._exact_average([1 / value for value in lift], p_s) <= lower
            and self._exact_average(lift, p_s) <= upper
        )


@dataclass(frozen=True)
class L1Lift(_AveragedLift):
    """l1-lift privacy: sum_s P(s) ``|lift - 1|`` <= exp(upper) - 1, its inverse with lower.

    Parameters
    ----------
    lower, upper : float
        Budgets in nats of the lift-inverse and of the lift.
    """

    key = "l1"

    def _average(self, value: FloatArray, p_s: FloatArray) -> FloatArray:
        return mean_distance(value, p_s, power=1)

    def _level(self, average: FloatArray) -> FloatArray:
        return np.log1p(average)

    def _exact_threshold(self, budget: float) -> Fraction:
        return exp_below(budget) - 1

    def _exact_average(self, value: Sequence[Fraction], p_s: Sequence[Fraction]) -> Fraction:
        return sum((p * abs(v - 1) for p, v in zip(p_s, value, strict=True)), Fraction(0))

    def _sides(self) -> tuple[Average, ...]:
        return (
            Average(
                lambda lift: np.abs(1 / lift - 1),
                lambda lift: np.sign(lift - 1) / lift**2,
                finite_expm1(self.lower),
                turn=1.0,
                with_slope=lambda slope: np.sqrt(-1 / slope),
            ),
            Average(
                lambda lift: np.abs(lift - 1),
                lambda lift: np.sign(lift - 1),
                finite_expm1(self.upper),
                with_slope=np.ones_like,
            ),
        )

    def __str__(self) -> str:
        return f"({self.lower:g}, {self.upper:g})-l1-lift privacy"


@dataclass(frozen=True)
class Chi2Lift(_AveragedLift):
    """chi2-lift privacy: sum_s P(s)(lift - 1)^2 <= (exp(upper) - 1)^2, its inverse with lower.

    Parameters
    ----------
    lower, upper : float
        Budgets in nats of the lift-inverse and of the lift.
    """

    key = "chi2"

    def _average(self, value: FloatArray, p_s: FloatArray) -> FloatArray:
        return mean_distance(value, p_s, power=2)

    def _level(self, average: FloatArray) -> FloatArray:
        return np.log1p(np.sqrt(average))

    def _exact_threshold(self, budget: float) -> Fraction:
        return (exp_below(budget) - 1) ** 2

    def _exact_average(self, value: Sequence[Fraction], p_s: Sequence[Fraction]) -> Fraction:
        return sum((p * (v - 1) ** 2 for p, v in zip(p_s, value, strict=True)), Fraction(0))

    def _sides(self) -> tuple[Average, ...]:
        return (
            Average(
                lambda lift: (1 / lift - 1) ** 2,
                lambda lift: 2 * (lift - 1) / lift**3,
                finite_expm1(self.lower) ** 2,
                turn=1.5,
            ),
            Average(
                lambda lift: (lift - 1) ** 2,
                lambda lift: 2 * (lift - 1),
                finite_expm1(self.upper) ** 2,
                with_slope=lambda slope: 1 + slope / 2,
            ),
        )

    def __str__(self) -> str:
        return f"({self.lower:g}, {self.upper:g})-chi2-lift privacy"


@dataclass(frozen=True)
class AlphaLift(_AveragedLift):
    """alpha-lift privacy: (sum_s P(s) lift^alpha)^(1/alpha) <= exp(upper), its inverse with lower.

    Parameters
    ----------
    lower, upper : float
        Budgets in nats of the lift-inverse and of the lift.
    alpha : float, default=2.0
        Order above 1. The larger, the closer to ALIP; infinity is ALIP itself.
    """

    alpha: float = 2.0
    key = "alpha"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (is_number(self.alpha) and self.alpha > 1):
            raise InvalidParameterError(
                f"alpha must be a number above 1, not {self.alpha!r}: "
                "the mean lift of order 1 is always 1."
            )
        object.__setattr__(self, "alpha", float(self.alpha))

    def _average(self, value: FloatArray, p_s: FloatArray) -> FloatArray:
        return np.exp(log_power_mean(value, p_s, self.alpha))

    def _level(self, average: FloatArray) -> FloatArray:
        # The power mean of a lift is at least 1; rounding may leave 1 - 1e-16.
        return np.maximum(np.log(average), 0.0)

    def _exact_threshold(self, budget: float) -> Fraction:
        exponent = 1 if self.alpha > _LARGEST_ORDER else Fraction(self.alpha)
        return exp_below(exponent * Fraction(budget))

    def _exact_average(self, value: Sequence[Fraction], p_s: Sequence[Fraction]) -> Fraction:
        # The alpha-th power of the mean, so that nothing but the powers is irrational.
        if self.alpha > _LARGEST_ORDER:
            return max(value)
        terms = (p * power_above(v, self.alpha) for p, v in zip(p_s, value, strict=True))
        return sum(terms, Fraction(0))

    def rows(self, lift: FloatArray) -> FloatArray:
        if self.alpha > _LARGEST_ORDER:  # as in the exact check
            return ALIP(self.lower, self.upper).rows(lift)
        return super().rows(lift)

    def averages(self) -> tuple[Average, ...]:
        return () if self.alpha > _LARGEST_ORDER else super().averages()

    def _sides(self) -> tuple[Average, ...]:
        # Divided by the threshold, so that high orders do not overflow.
        return _power(-self.alpha, -self.lower), _power(self.alpha, self.upper)

    def __str__(self) -> str:
        return f"({self.lower:g}, {self.upper:g})-alpha-lift privacy of order {self.alpha:g}"


def _power(order: float, log_scale: float) -> Average:
    """Bound the mean of (lift / exp(log_scale))^order by 1."""
    scale = finite_exp(max(log_scale, -_LARGEST_SCALE))
    return Average(
        lambda lift: (lift / scale) ** order,
        lambda lift: order * (lift / scale) ** (order - 1) / scale,
        bound=1.0,
        with_slope=lambda slope: scale * (slope * scale / order) ** (1 / (order - 1)),
    )
