"""Domains of the parameters of the estimators, and other private parts of scikit-learn.

This is the only file that uses private parts of scikit-learn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from numbers import Integral, Real
from typing import Any, TypeVar, dataclass_transform

import numpy as np
import pandas as pd
from narwhals.dependencies import is_pyarrow_table
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils._param_validation import Interval as _Interval
from sklearn.utils._set_output import _get_output_config

from .._limits import MOST_CELLS
from ..exceptions import InvalidParameterError
from ..notions import NOTIONS

__all__ = [
    "ALPHA",
    "CELLS",
    "COMMON",
    "CONFIDENCE",
    "NONNEGATIVE",
    "NOTION",
    "POSITIVE",
    "RECORDS",
    "UNKNOWN",
    "VALUES",
    "Interval",
    "StrOptions",
    "checked",
    "in_container",
    "parameters",
    "validate",
]


T = TypeVar("T")


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

#: Domains of the parameters that every sanitiser has.
COMMON: dict[str, Any] = {
    "sensitive": "no_validation",
    "useful": "no_validation",
    "epsilon": [NONNEGATIVE, tuple, list],
    "smoothing": [NONNEGATIVE],
    "output": [StrOptions({"label", "code", "posterior"})],
    "remainder": [StrOptions({"drop", "passthrough"})],
    "index": [StrOptions({"keep", "drop"})],
    "random_state": ["random_state", np.random.Generator],
}

#: Domains for mechanisms that support several notions, values not seen at fit, and confidence.
NOTION: dict[str, Any] = {
    "notion": [StrOptions(set(NOTIONS)), callable],
    "lam": [Interval(Real, 0, 1, closed="neither")],
}
UNKNOWN: dict[str, Any] = {"handle_unknown": [StrOptions({"error", "resample"})]}
CONFIDENCE: dict[str, Any] = {"confidence": [Interval(Real, 0, 1, closed="neither"), None]}

#: For a keyed release. No message may show a wrong secret, so it is not validated here.
RECORDS: dict[str, Any] = {
    "record_id": [str, Integral, None],
    "groups": [str, Integral, None],
    "secret": "no_validation",
}

#: For sanitisers that release one symbol: what columns are reduced to, and typical rows.
CELLS: dict[str, Any] = {
    "cells": [
        Interval(Integral, 2, MOST_CELLS, closed="both"),
        HasMethods(["fit", "apply"]),
        HasMethods(["fit", "predict"]),
        HasMethods(["fit", "transform"]),
        None,
    ],
    "output": [StrOptions({"label", "code", "posterior", "typical"})],
}

#: For sanitisers that release one symbol: lists of values, and one symbol for rare ones.
VALUES: dict[str, Any] = {
    "categories": [dict, None],
    "min_count": [Interval(Integral, 1, None, closed="left"), None],
}

#: For mechanisms that can enforce alpha-lift privacy.
ALPHA: dict[str, list[Any]] = {"alpha": [Interval(Real, 1, None, closed="neither")]}


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
def parameters(cls: type[T]) -> type[T]:
    """Give a sanitiser a constructor with a keyword for each attribute that has a type.

    Examples
    --------
    >>> from skliftpriv.estimators import SymbolSanitizer, parameters
    >>> @parameters
    ... class MySanitizer(SymbolSanitizer):
    ...     strength: int = 3
    >>> MySanitizer.__init__.__kwdefaults__["strength"]
    3
    """
    return dataclass(cls, repr=False, eq=False, kw_only=True)


def validate(estimator: BaseEstimator) -> None:
    """Check the parameters of an estimator, as ``fit`` does."""
    estimator._validate_params()


#: Decorator of ``fit`` and ``partial_fit`` that checks the parameters first.
checked = _fit_context(prefer_skip_nested_validation=True)


def refuse_container(estimator: BaseEstimator, what: str) -> None:
    """Refuse to release what is not in memory if ``set_output`` asks for a container."""
    if (asked := _get_output_config("transform", estimator)["dense"]) != "default":
        raise InvalidParameterError(
            f"{what} is released as one, but set_output asks for {asked}: use "
            'set_output(transform="default"), or pass a table in memory.'
        )


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
