"""What an attacker gains from a release, measured on rows or bounded by a budget."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn import config_context, get_config
from sklearn.base import ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import OneHotEncoder

from .._arrays import as_nonnegative
from ..exceptions import InvalidDistributionError, InvalidParameterError
from ..frames import as_columns, checked_weight, encode_rows
from ..notions import Notion, implied_lift_bounds

__all__ = ["ROWS_PER_OUTPUT", "attacker_advantage", "attacker_advantage_bound"]

#: Rows per distinct output that are needed to learn what outputs reveal about S.
ROWS_PER_OUTPUT = 20


def attacker_advantage(
    s: Any,
    Y: Any,
    *,
    estimator: ClassifierMixin | None = None,
    cv: Any = 5,
    random_state: Any = None,
    sample_weight: Any = None,
) -> float:
    """Measure how much a release improves guesses of S.

    A classifier predicts S from Y by cross-validation. The advantage is its accuracy minus that of
    always guessing the most frequent value.

    Parameters
    ----------
    s : array-like of shape (n_rows,)
        Sensitive values; missing values are a category of their own.
    Y : array-like of shape (n_rows,) or table of shape (n_rows, n_columns)
        What was released.
    estimator : classifier, optional
        The attacker. It gets Y as a table and S as integers. By default the columns of Y are
        categorical. If Y is one column or has few distinct rows, the attacker guesses the most
        likely value for each distinct row, which no other attacker can beat given enough rows.
        Otherwise it is a logistic regression on the one-hot encoded columns.
    cv : int or cross-validation splitter, default=5
        With a number of folds the rows are shuffled first.
    random_state : int, RandomState or None, default=None
        Seed of this shuffle.
    sample_weight : array-like of shape (n_rows,), optional
        Weight of each row in training, in the accuracy and in finding the most frequent value.
        The ``fit`` of a given ``estimator`` must accept it.

    Returns
    -------
    float
        Negative if the guesses are worse than the best one without Y. One attack that fails does
        not prove protection: a better attacker may gain more, up to
        :func:`attacker_advantage_bound`. The standard error is at most 1 / sqrt(n_rows), or with
        weights w the square root of sum(w^2) / sum(w)^2.

    Examples
    --------
    >>> from skliftpriv.datasets import load_adult
    >>> from skliftpriv.metrics import attacker_advantage
    >>> adult = load_adult()
    >>> gain = attacker_advantage(adult["sex"], adult["relationship"], random_state=0)
    >>> print(f"{gain:.2f}")
    0.11
    """
    symbols, columns = as_columns(s, "s"), as_columns(Y, "Y")
    target = encode_rows(symbols)[0]
    if len(columns[0]) != target.size:
        raise InvalidParameterError(f"s has {target.size} rows, but Y has {len(columns[0])}.")
    weight = checked_weight(sample_weight, target.size)
    masses = np.bincount(target, weights=weight)
    if np.count_nonzero(masses) < 2:
        return 0.0
    own = estimator is not None
    features: Any
    if own:
        features = _as_table(Y)
    else:
        estimator, features = _default_attacker(columns)
    if isinstance(cv, int):
        cv = _splitter(cv, np.bincount(target), random_state)
    params = {}
    if weight is not None:
        # Pseudo-counts and penalties assume weights around 1.
        params["sample_weight"] = weight / weight.mean()
    # With metadata routing a given attacker must request the weights; the default ones need not.
    with config_context(enable_metadata_routing=own and get_config()["enable_metadata_routing"]):
        guesses = cross_val_predict(estimator, features, target, cv=cv, params=params)
    right = np.average(guesses == target, weights=weight)
    return float(right - masses.max() / masses.sum())


def _default_attacker(columns: list[Any]) -> tuple[Any, Any]:
    # Encoding all rows, including those to be guessed, does not use S.
    codes, outputs = encode_rows(columns)
    if len(columns) == 1 or len(outputs) * ROWS_PER_OUTPUT <= codes.size:
        # For one column naive Bayes is exact; its pseudo-count makes new values fall back on P_S.
        return CategoricalNB(min_categories=len(outputs)), codes[:, None]
    features = np.column_stack([encode_rows([column])[0] for column in columns])
    return LogisticRegression(max_iter=300), OneHotEncoder().fit_transform(features)


def _splitter(n_splits: int, counts: np.ndarray, random_state: Any) -> KFold | StratifiedKFold:
    # Stratify by S, unless a value is too rare to be in every fold.
    kind = StratifiedKFold if counts.min() >= n_splits else KFold
    return kind(n_splits, shuffle=True, random_state=random_state)


def _as_table(Y: Any) -> Any:
    series = nw.from_native(Y, pass_through=True, series_only=True)
    if isinstance(series, nw.Series):
        return nw.to_native(series.to_frame())
    if not hasattr(Y, "shape"):
        Y = np.asarray(Y, dtype=object)
    return Y.reshape(-1, 1) if Y.ndim == 1 else Y


def attacker_advantage_bound(notion: Notion, p_s: ArrayLike) -> float:
    r"""Largest advantage in guessing S that a budget allows any attacker.

    Parameters
    ----------
    notion : Notion
        The notion with its budget, such as ``sanitizer.notion_``. LIP, ALIP and LDP bound the
        lift itself; averaged notions bound it through the rarest sensitive value.
    p_s : array-like of shape (n_sensitive,)
        Prior of S, such as ``sanitizer.joint_.p_s``, or counts of its values.

    Returns
    -------
    float
        Bound on the probability of a right guess from Y minus that of the best guess without it.

    Notes
    -----
    Let p be the largest P(s), the success of the best guess without Y, and let
    :math:`e^{-l} \le P(s|y)/P(s) \le e^{u}` hold for all s and y. Given Y = y, a guess
    is right with probability at most :math:`\max_s P(s|y)`. So the advantage is at most

    .. math:: \sum_y P(y) \max_s P(s|y) - p,

    and the smallest of three bounds of it is returned.

    1. :math:`P(s|y) \le e^u P(s) \le e^u p`, so it is at most :math:`(e^u - 1) p`: min-entropy
       leakage is at most u.
    2. :math:`P(s|y) = 1 - \sum_{t \ne s} P(t|y) \le 1 - e^{-l} (1 - P(s)) \le 1 - e^{-l} (1 - p)`,
       so it is at most :math:`(1 - e^{-l})(1 - p)`, and never more than 1 - p.
    3. :math:`\max_s P(s|y) - p \le \max_s (P(s|y) - P(s))`, which is at most the total variation
       distance of P(S|y) and P(S); a lift within the band makes that at most
       :math:`(e^u - 1)(1 - e^{-l}) / (e^u - e^{-l})`.

    For two equally likely values the second bound is attained.

    Examples
    --------
    >>> from skliftpriv import LIP
    >>> from skliftpriv.metrics import attacker_advantage_bound
    >>> round(attacker_advantage_bound(LIP(0.5), [0.5, 0.5]), 4)
    0.1967
    """
    prior = as_nonnegative(p_s, "p_s", ndim=1)
    if not prior.any():
        raise InvalidDistributionError("p_s has no mass: pass the prior of S or counts of S.")
    prior = prior / prior.sum()
    with np.errstate(over="ignore"):
        smallest, largest = implied_lift_bounds(notion, prior)
    best = prior.max()
    up, down = np.float64(largest - 1.0), np.float64(1.0 - smallest)
    with np.errstate(divide="ignore"):  # budgets that overflow or underflow
        by_distance = 1.0 / (1.0 / up + 1.0 / down)
    return float(min(up * best, down * (1.0 - best), by_distance))
