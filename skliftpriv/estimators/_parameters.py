"""Domains of the parameters of the estimators, and other private parts of scikit-learn.

This is the only file that uses private parts of scikit-learn.
"""

from __future__ import annotations

from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from narwhals.dependencies import is_pyarrow_table
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import Interval as _Interval
from sklearn.utils._param_validation import StrOptions
from sklearn.utils._set_output import _get_output_config

from ..notions import NOTIONS

__all__ = [
    "ALPHA",
    "COMMON",
    "NONNEGATIVE",
    "POSITIVE",
    "Interval",
    "StrOptions",
    "checked",
    "in_container",
]


class Interval(_Interval):
    """An interval of numbers; fractions and integers too large for a float are refused."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Tell whether a value lies in the interval."""
        try:
            return bool(super().is_satisfied_by(val)) and isfinite(float(val))
        except (TypeError, OverflowError):
            return False


POSITIVE = Interval(Real, 0, None, closed="neither")
NONNEGATIVE = Interval(Real, 0, None, closed="left")

#: Domains of the shared parameters; a mechanism leaves out those that it does not have.
COMMON: dict[str, Any] = {
    "sensitive": "no_validation",
    "useful": "no_validation",
    "notion": [StrOptions(set(NOTIONS)), callable],
    "epsilon": [NONNEGATIVE, tuple, list],
    "lam": [Interval(Real, 0, 1, closed="neither")],
    "smoothing": [NONNEGATIVE],
    "confidence": [Interval(Real, 0, 1, closed="neither"), None],
    "output": [StrOptions({"label", "code", "posterior"})],
    "remainder": [StrOptions({"drop", "passthrough"})],
    "index": [StrOptions({"keep", "drop"})],
    "handle_unknown": [StrOptions({"error", "resample"})],
    "random_state": ["random_state", np.random.Generator],
}

#: For mechanisms that can enforce alpha-lift privacy.
ALPHA: dict[str, list[Any]] = {"alpha": [Interval(Real, 1, None, closed="neither")]}

#: Decorator of ``fit`` and ``partial_fit`` that checks the parameters first.
checked = _fit_context(prefer_skip_nested_validation=True)


def in_container(released: Any, estimator: BaseEstimator, *, keep_index: bool) -> Any:
    """Prepare a table for the container that ``set_output`` asks for.

    scikit-learn converts all tables except pyarrow tables to pandas. It would give an array the
    index of X, so without ``keep_index`` an array is converted here.
    """
    if _get_output_config("transform", estimator)["dense"] != "pandas":
        return released
    if is_pyarrow_table(released):
        return released.to_pandas()
    unindexed = isinstance(released, np.ndarray) and not keep_index
    return pd.DataFrame(released) if unindexed else released
