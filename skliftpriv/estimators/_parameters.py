"""Parameters of the estimators: their domains, and the notion they describe.

The only file that uses private parts of scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, isfinite
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from narwhals.dependencies import is_pyarrow_table
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import Interval as _Interval
from sklearn.utils._param_validation import StrOptions
from sklearn.utils._set_output import _get_output_config

from ..exceptions import InvalidParameterError, UnsupportedNotionError
from ..notions import ALIP, LDP, LIP, AlphaLift, Chi2Lift, L1Lift, Notion

__all__ = [
    "ALPHA",
    "COMMON",
    "CONFIDENCE",
    "NONNEGATIVE",
    "NOTIONS",
    "POLYHEDRAL",
    "POSITIVE",
    "Interval",
    "StrOptions",
    "budget_pair",
    "checked",
    "in_container",
    "make_notion",
]

NOTIONS = ("lip", "alip", "ldp", "l1", "chi2", "alpha")
#: Those that are linear inequalities on one output.
POLYHEDRAL = ("lip", "alip", "ldp")


class Interval(_Interval):
    """An interval of numbers; fractions, and integers beyond every float, lie outside."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Tell whether a value lies in the interval."""
        try:
            return bool(super().is_satisfied_by(val)) and isfinite(float(val))
        except (TypeError, OverflowError):
            return False


POSITIVE = Interval(Real, 0, None, closed="neither")
NONNEGATIVE = Interval(Real, 0, None, closed="left")

#: Domains of the parameters that every estimator has.
COMMON: dict[str, Any] = {
    "sensitive": "no_validation",
    "useful": "no_validation",
    "notion": [StrOptions(set(NOTIONS))],
    "epsilon": [NONNEGATIVE, tuple, list],
    "lam": [Interval(Real, 0, 1, closed="neither")],
    "smoothing": [NONNEGATIVE],
    "output": [StrOptions({"label", "code", "posterior"})],
    "remainder": [StrOptions({"drop", "passthrough"})],
    "index": [StrOptions({"keep", "drop"})],
    "handle_unknown": [StrOptions({"error", "resample"})],
    "random_state": ["random_state", np.random.Generator],
}

#: For mechanisms that can enforce alpha-lift privacy.
ALPHA: dict[str, list[Any]] = {"alpha": [Interval(Real, 1, None, closed="neither")]}

#: For mechanisms that can keep their promise for a whole confidence set.
CONFIDENCE: dict[str, list[Any]] = {"confidence": [Interval(Real, 0, 1, closed="neither"), None]}

#: Decorator of ``fit`` and ``partial_fit`` that checks the parameters first.
checked = _fit_context(prefer_skip_nested_validation=True)


def make_notion(
    name: str,
    epsilon: float | Sequence[float],
    *,
    lam: float,
    alpha: float,
    supported: Sequence[str],
) -> Notion:
    """Return the notion that an estimator's parameters describe.

    Parameters
    ----------
    name : str
        One of :data:`NOTIONS`.
    epsilon : float or pair
        The budget; a pair is (lower, upper).
    lam : float
        Share of a float epsilon that goes to the lower side.
    alpha : float
        Order, for ``name="alpha"``.
    supported : sequence of str
        Notions that the mechanism can enforce.
    """
    if name not in supported:
        raise UnsupportedNotionError(
            f"notion={name!r} is not supported by this mechanism; use one of "
            f"{', '.join(map(repr, supported))}."
        )
    if name in ("lip", "ldp"):
        if isinstance(epsilon, Sequence):
            raise InvalidParameterError(
                f"epsilon={epsilon!r} is a pair, but notion={name!r} takes one number; "
                'for different lower and upper budgets use notion="alip".'
            )
        return LIP(epsilon) if name == "lip" else LDP(epsilon)
    lower, upper = budget_pair(epsilon, lam)
    if name == "alpha":
        return AlphaLift(lower, upper, float(alpha))
    kinds: dict[str, Callable[[float, float], Notion]] = {
        "alip": ALIP,
        "l1": L1Lift,
        "chi2": Chi2Lift,
    }
    return kinds[name](lower, upper)


def budget_pair(
    epsilon: float | Sequence[float], lam: float, name: str = "epsilon"
) -> tuple[float, float]:
    """Return (lower, upper): a pair as it is, a number split into lam and 1 - lam."""
    if not isinstance(epsilon, Sequence):
        return lam * float(epsilon), (1 - lam) * float(epsilon)
    if len(epsilon) != 2:
        raise InvalidParameterError(
            f"{name} must be a number or a pair (lower, upper), not {epsilon!r}."
        )
    if not all(isinstance(budget, Real) and 0 <= budget < inf for budget in epsilon):
        raise InvalidParameterError(
            f"{name}={epsilon!r}: both budgets of a pair must be finite numbers >= 0."
        )
    lower, upper = epsilon
    return lower, upper


def in_container(released: Any, estimator: BaseEstimator, *, keep_index: bool) -> Any:
    """Prepare a table for the container that ``set_output`` asks for.

    scikit-learn turns every kind of table into any container but a pyarrow table into pandas. An
    array it makes a frame of with the index of the rows, unless it is a frame already.
    """
    if _get_output_config("transform", estimator)["dense"] != "pandas":
        return released
    if is_pyarrow_table(released):
        return released.to_pandas()
    unindexed = isinstance(released, np.ndarray) and not keep_index
    return pd.DataFrame(released) if unindexed else released
