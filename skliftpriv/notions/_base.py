"""What every privacy notion answers about the lifts of an output."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import ClassVar

import numpy as np

from .._arrays import FloatArray
from .._format import factor, number
from ..exceptions import InvalidParameterError, UnsupportedNotionError
from ..measures._range import Box
from ._average import Average
from ._sides import MAX_LIFT, MIN_LIFT, SIDES, Side

__all__ = ["Notion"]

# Budgets are compared in floating point with this relative margin, so that rounding
# cannot call an output private that exact arithmetic would reject.
_MARGIN = 1e-12
# Beyond every lift of a real table, yet its square still fits into a double.
_LARGEST_EXPONENT = 300.0
_LONGEST_NUMBER = 40


class Notion(ABC):
    """A privacy notion: one or several sides of leakage, each with its budget in nats.

    A notion sees an output only through its lift vector l(s) = P(s|y) / P(s). Arrays of lifts
    have the shape (..., n_sensitive, n_outputs), answers (..., n_outputs).

    A subclass implements :attr:`budget`, :meth:`levels`, :meth:`risk`, :meth:`exactly_met` and
    ``__str__``. What reports, pages and pictures say about it (:meth:`side`, :attr:`band`,
    :meth:`in_words`, :attr:`side_information`, :attr:`when_resampled`) has defaults.
    """

    #: Name used in ``notion="..."`` of the estimators.
    key: ClassVar[str]
    #: Whether the notion is a set of linear inequalities on the posterior of an output.
    polyhedral: ClassVar[bool] = False
    #: Whether mixing a release with a constant can only lower its levels.
    mixing_helps: ClassVar[bool] = True
    #: Whether it can be enforced for a whole confidence set: :meth:`worst_lift` is implemented.
    supports_confidence: ClassVar[bool] = False
    #: Whether it holds if the lift vector of each output is within the budget.
    per_output: ClassVar[bool] = True

    @property
    @abstractmethod
    def budget(self) -> dict[str, float]:
        """Largest allowed level of each side, by the name of the side."""

    @property
    def safe_budget(self) -> dict[str, float]:
        """The budget reduced by a small margin, for comparisons in floating point."""
        return {side: _on_the_safe_side(bound) for side, bound in self.budget.items()}

    @property
    def perfect(self) -> bool:
        """Whether nothing at all may be learned: a side without budget allows lifts of 1 only.

        The mean of the lift over P(S) is 1, so that a lift which is nowhere above 1, or nowhere
        below, is 1 everywhere; and so is one whose averages are those of a constant.

        .. versionadded:: 0.2
        """
        return 0.0 in self.budget.values()

    @abstractmethod
    def levels(self, lift: FloatArray, p_s: FloatArray) -> dict[str, FloatArray]:
        """Level of each side for every output, in nats: what the budget is compared with."""

    @abstractmethod
    def risk(self, lift: FloatArray, p_s: FloatArray) -> FloatArray:
        """Risk omega of every output, the order in which a greedy search merges symbols."""

    @abstractmethod
    def exactly_met(self, lift: Sequence[Fraction], p_s: Sequence[Fraction]) -> bool:
        """Tell without rounding whether one output's lift vector meets the budget."""

    @abstractmethod
    def __str__(self) -> str:
        """Name of the notion with its budget, as a reader would write it."""

    def side(self, name: str) -> Side:
        """Say what the level of a side is called, and which measure of a report it is.

        Sides named "min_lift", "max_lift" and "ldp" are the measures of a report that these names
        stand for. Sides with other names get rows of their own.
        """
        return SIDES.get(name) or Side(f"{name.replace('_', '-')} level", name)

    @property
    def band(self) -> tuple[float, float] | None:
        """Smallest and largest log-lift within the budget, None if no single lift is bounded."""
        band = -self.budget.get(MIN_LIFT, inf), self.budget.get(MAX_LIFT, inf)
        return None if band == (-inf, inf) else band

    @property
    def band_name(self) -> str:
        """What the band is called: the notion itself, unless it is part of a larger one."""
        return str(self)

    def in_words(self, sensitive: str) -> str:
        """Say in a sentence what the budget allows.

        Parameters
        ----------
        sensitive : str
            What S is called.
        """
        if self.band is not None:
            return f"{self._band_in_words(sensitive)}."
        sides = (
            f"{self.side(name).title} of at most {number(bound)}"
            for name, bound in self.budget.items()
        )
        return f"About {sensitive}, every released value has a {' and a '.join(sides)} nats."

    def _band_in_words(self, sensitive: str) -> str:
        low, high = self.band or (-inf, inf)
        limits = [f"at most {factor(high)} times"] if high < inf else []
        limits += [f"at least {factor(low)} times"] if low > -inf else []
        return (
            f"Whoever sees a released value may find a value of {sensitive} "
            f"{' and '.join(limits)} as probable as before"
        )

    @property
    def side_information(self) -> str:
        """Say what is promised about somebody who knows more than the distribution."""
        return (
            "The budget bounds what the release adds for somebody who knows the overall "
            "distribution. Somebody who knows more about a person may learn more from it."
        )

    @property
    def when_resampled(self) -> str | None:
        """What still holds if values not seen at fit are replaced by draws; None if nothing."""
        return None

    def meets(self, lift: FloatArray, p_s: FloatArray) -> np.ndarray:
        """Tell for every output whether it meets the budget; if in doubt, it does not.

        A double cannot decide equality: an output within one part in 10^12 of the budget
        counts as missing it.
        """
        levels = self.levels(lift, p_s)
        sides = [levels[side] <= bound for side, bound in self.safe_budget.items()]
        return np.asarray(np.logical_and.reduce(sides))

    def all_exactly_met(
        self, lifts: np.ndarray, p_s: Sequence[Fraction], p_y: Sequence[Fraction]
    ) -> np.ndarray:
        """Tell without rounding which outputs (columns of ``lifts``) meet the budget."""
        return np.array([self.exactly_met(column, p_s) for column in lifts.T], dtype=bool)

    def worst_lift(self, low: np.ndarray, high: np.ndarray, prior: Box) -> np.ndarray:
        """Return lifts whose level is the worst that any distribution within bounds reaches.

        The lifts need not belong to a single distribution: their :meth:`levels` and
        :meth:`exactly_met` are those of the worst one, for each side and output.

        Parameters
        ----------
        low, high : ndarray of shape (n_sensitive, n_outputs)
            Bounds of P(y|s): floats, or integers for an exact answer.
        prior : Box
            Bounds of P(s).

        Returns
        -------
        ndarray of shape (n_rows, n_outputs)
        """
        raise self._no_worst_case()

    def worst_rows(
        self, low: FloatArray, high: FloatArray, q: FloatArray, prior: Box
    ) -> FloatArray:
        """Return B such that B q > 0 where the worst distribution for q breaks the budget.

        Every row of B stands for one distribution within the bounds, so that B q' <= 0 is
        necessary for every other column q' of P(Y|X) too.

        Parameters
        ----------
        low, high : ndarray of shape (n_sensitive, n_useful)
            The P(X|s) within the bounds for which P(y|s) is smallest and largest.
        q : ndarray of shape (n_useful,)
            A column P(y|x) of a channel, up to scale.
        prior : Box
            Bounds of P(s).
        """
        raise self._no_worst_case()

    def _no_worst_case(self) -> UnsupportedNotionError:
        return UnsupportedNotionError(
            f"{self} has no worst case in closed form over a confidence set; "
            "use LIP, ALIP or LDP with confidence."
        )

    def rows(self, lift: FloatArray) -> FloatArray:
        """Return A such that an output with posterior v over X meets the budget iff A v <= 0.

        If there are :meth:`averages`, they must be within their bounds as well.

        Parameters
        ----------
        lift : ndarray of shape (n_sensitive, n_useful)
            Lift of the useful symbols.
        """
        raise UnsupportedNotionError(
            "This mechanism needs a notion that is a set of linear inequalities on an output, such "
            f"as LIP, ALIP or LDP, or of averages of the lift; {self} has neither."
        )

    def averages(self) -> tuple[Average, ...]:
        """Return the averages of functions of the lift that the notion bounds besides its rows.

        .. versionadded:: 0.2
        """
        return ()


def _on_the_safe_side(bound: float) -> float:
    if math.isinf(bound):
        return bound
    # For tiny budgets the margin must shrink too, or not even a constant would be private.
    return bound - min(_MARGIN * max(1.0, bound), 0.125 * bound)


def finite_exp(budget: float) -> float:
    """Return exp(budget), or a finite number above every lift where that would overflow."""
    return math.exp(min(budget, _LARGEST_EXPONENT))


def finite_expm1(budget: float) -> float:
    """Return exp(budget) - 1 without loss for small budgets, finite for large ones."""
    return math.expm1(min(budget, _LARGEST_EXPONENT))


def is_number(value: object) -> bool:
    """Tell whether ``value`` is a real number of Python or NumPy, and not a bool."""
    real = isinstance(value, int | float | np.integer | np.floating)
    return real and not isinstance(value, bool)


def check_budget(name: str, value: float) -> float:
    """Return a budget as float; raise if it is not a finite number of at least 0."""
    if not is_number(value):
        raise InvalidParameterError(f"{name} must be a number >= 0, not {value!r}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not 0 <= number < math.inf:
        shown = repr(value) if len(repr(value)) < _LONGEST_NUMBER else "so large a number"
        raise InvalidParameterError(f"{name} must be a finite number >= 0, not {shown}.")
    return number + 0.0  # -0.0 becomes 0.0
