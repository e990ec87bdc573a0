"""Leakage and utility of columns, for the joint distribution of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import measures
from .._arrays import FloatArray
from ..exceptions import InvalidParameterError
from ..frames import ContingencyTable, as_columns, checked_weight

__all__ = [
    "ldp_score",
    "leakage_mutual_information_score",
    "max_log_lift_score",
    "maximal_leakage_score",
    "min_log_lift_score",
    "nmi_score",
]


def max_log_lift_score(s: Any, y: Any, *, sample_weight: Any = None) -> float:
    """Largest log-lift log P(s|y) / P(s) of the pairs in two columns, in nats.

    Parameters
    ----------
    s : array-like of shape (n_rows,)
        Sensitive values of any type; missing values are a category of their own. Several columns
        form one joint symbol.
    y : array-like of shape (n_rows,)
        Released values, read in the same way.
    sample_weight : array-like of shape (n_rows,), optional
        Weight of each row.

    Returns
    -------
    float

    Notes
    -----
    This is a plug-in estimate: exact for the given rows, but only an estimate for the population
    they come from. An output that occurs once has P(s|y) = 1 for the value s in its row, and so
    the largest lift this value can have. The fewer rows an output has, the more the estimate tends
    to exceed the true value. A pair that does not occur has log-lift minus infinity. The
    ``report_`` of a fitted sanitiser is computed from its channel instead of from draws.

    Examples
    --------
    >>> from skliftpriv.metrics import max_log_lift_score
    >>> round(max_log_lift_score(["ill", "ill", "well", "well"], ["a", "a", "a", "b"]), 4)
    0.6931
    """
    return float(measures.log_lift(_joint(s, y, sample_weight)).max())


def min_log_lift_score(s: Any, y: Any, *, sample_weight: Any = None) -> float:
    """Smallest log-lift of the pairs in two columns; minus infinity if a pair never occurs.

    The parameters and the caveat are those of :func:`max_log_lift_score`: with few rows, pairs
    are missing by chance.

    Returns
    -------
    float

    Examples
    --------
    >>> from skliftpriv.metrics import min_log_lift_score
    >>> min_log_lift_score(["ill", "ill", "well", "well"], ["a", "a", "a", "b"])
    -inf
    """
    return float(measures.log_lift(_joint(s, y, sample_weight)).min())


def ldp_score(s: Any, y: Any, *, sample_weight: Any = None) -> float:
    """Level of local differential privacy of S: largest log P(y|s) / P(y|s') in two columns.

    The parameters and the caveat are those of :func:`max_log_lift_score`: one pair that is
    missing by chance makes the level infinite.

    Returns
    -------
    float

    Examples
    --------
    >>> from skliftpriv.metrics import ldp_score
    >>> round(ldp_score([0, 0, 0, 1, 1, 1], ["a", "a", "b", "a", "b", "b"]), 4)
    0.6931
    """
    return float(np.log(measures.ldp_ratio(_joint(s, y, sample_weight))).max())


def leakage_mutual_information_score(s: Any, y: Any, *, sample_weight: Any = None) -> float:
    """Mutual information I(S;Y) of two columns, in nats.

    Parameters are those of :func:`max_log_lift_score`. The plug-in estimate is too large by about
    (n_s - 1)(n_y - 1) / (2 n_rows) for n_s and n_y distinct values (Miller 1955).

    Returns
    -------
    float

    Examples
    --------
    >>> from skliftpriv.metrics import leakage_mutual_information_score
    >>> round(leakage_mutual_information_score([0, 0, 1, 1], ["a", "a", "b", "b"]), 4)
    0.6931
    """
    return float(measures.mutual_information(_joint(s, y, sample_weight)))


def maximal_leakage_score(s: Any, y: Any, *, sample_weight: Any = None) -> float:
    """Maximal leakage log sum_y max_s P(y|s) of two columns, in nats.

    Parameters are those of :func:`max_log_lift_score`. The plug-in estimate is too large on
    average, since it takes a maximum over noisy shares.

    Returns
    -------
    float

    Examples
    --------
    >>> from skliftpriv.metrics import maximal_leakage_score
    >>> round(maximal_leakage_score([0, 0, 1, 1], ["a", "a", "b", "b"]), 4)
    0.6931
    """
    return float(measures.maximal_leakage(_joint(s, y, sample_weight)))


def nmi_score(x: Any, y: Any, *, sample_weight: Any = None) -> float:
    """Share I(X;Y) / H(X) of the information in a column that a released column keeps.

    Unlike ``sklearn.metrics.normalized_mutual_info_score`` it is not symmetric: the mutual
    information is divided by the entropy of X, as in the report of a sanitiser.

    Parameters
    ----------
    x : array-like of shape (n_rows,)
        Useful values of any type; missing values are a category of their own. Several columns
        form one joint symbol.
    y : array-like of shape (n_rows,)
        Released values, read in the same way.
    sample_weight : array-like of shape (n_rows,), optional
        Weight of each row.

    Returns
    -------
    float
        Between 0 and 1; 1 if X is constant. The plug-in estimate is too large when there are few
        rows per pair of values.

    Examples
    --------
    >>> from skliftpriv.metrics import nmi_score
    >>> nmi_score(["a", "b", "c", "d"], ["{a, b}", "{a, b}", "{c, d}", "{c, d}"])
    0.5
    """
    return float(measures.nmi(_joint(x, y, sample_weight, first="x")))


def _joint(s: Any, y: Any, sample_weight: Any, first: str = "s") -> FloatArray:
    return counted(s, y, sample_weight, first).joint().matrix


def counted(s: Any, y: Any, sample_weight: Any = None, first: str = "s") -> ContingencyTable:
    """Count the pairs in two columns; messages call the first one ``first``."""
    s_columns, y_columns = as_columns(s, first), as_columns(y, "y")
    n_rows = len(s_columns[0])
    if len(y_columns[0]) != n_rows:
        raise InvalidParameterError(
            f"{first} has {n_rows} rows, but y has {len(y_columns[0])}: pass columns of one table."
        )
    weight = checked_weight(sample_weight, n_rows)
    return ContingencyTable.count(s_columns, y_columns, weight)
