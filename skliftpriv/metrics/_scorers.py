"""Scorers for GridSearchCV and cross_validate: leakage and utility of what reaches a model.

A scorer is a callable (estimator, X, y=None) -> float. The estimator is a sanitiser, or a
Pipeline, ColumnTransformer, FeatureUnion, FrozenEstimator or fitted search that contains
sanitisers at any depth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin

from ..exceptions import InvalidParameterError
from ..frames import ColumnKey, Table, as_columns, encode_rows
from ..report import LeakageSummary
from ._attack import ROWS_PER_OUTPUT, attacker_advantage
from ._joint import leakage_together, protects_column
from ._reach import Part, reaching

__all__ = [
    "attacker_advantage_scorer",
    "ldp_scorer",
    "max_log_lift_scorer",
    "maximal_leakage_scorer",
    "nmi_scorer",
]


def nmi_scorer(estimator: Any, X: Any = None, y: Any = None) -> float:
    """Share of the information in the useful columns that the sanitisers in a fitted model keep.

    Parameters
    ----------
    estimator : fitted sanitiser, Pipeline, ColumnTransformer, FeatureUnion or search
        Contains one or more sanitisers.
    X : table, optional
        The scored rows. They are not needed for one sanitiser: the score is then read from its
        ``report_``, for the distribution it was fitted to and without the noise of held-out rows.
        For several sanitisers the score is I(X;Y) / H(X) of all columns that they sanitise, as
        one joint symbol, for the distribution of the scored rows. Columns that are not sanitised
        do not count.
    y : ignored

    Returns
    -------
    float

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skliftpriv import SubsetMergingSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> from skliftpriv.metrics import nmi_scorer
    >>> adult = load_adult()[["relationship", "education"]]
    >>> search = GridSearchCV(
    ...     SubsetMergingSanitizer("relationship", "education"),
    ...     {"epsilon": [0.2, 0.5, 1.0]},
    ...     scoring=nmi_scorer,
    ... )
    >>> search.fit(adult).best_params_
    {'epsilon': 1.0}
    """
    sanitised = [part for part in reaching(estimator, X) if part.sanitizer is not None]
    if len(sanitised) == 1:
        return float(sanitised[0].sanitizer.report_.nmi)  # type: ignore[union-attr]
    return leakage_together(_with_tables(sanitised), [], None).nmi


def max_log_lift_scorer(estimator: Any, X: Any = None, y: Any = None) -> float:
    """Largest log-lift of S, in nats, of all columns that reach the last step of a model.

    Lower is better, but searches maximise scores. Use it with other scores and a refit rule such
    as :func:`skliftpriv.model_selection.best_score_with_leakage_below`, or negate it:
    ``lambda *args: -max_log_lift_scorer(*args)``.

    Parameters
    ----------
    estimator : fitted sanitiser, Pipeline, ColumnTransformer, FeatureUnion or search
        Contains one or more sanitisers, all for the same S.
    X : table, optional
        The scored rows, including the sensitive column. They are not needed if all columns pass
        through one sanitiser.
    y : ignored

    Returns
    -------
    float

    Notes
    -----
    If all columns that reach the model come from one sanitiser, the score is read from its
    ``report_``, for the distribution it was fitted to. If there are several sanitisers, or columns
    that are not sanitised (from another transformer beside the sanitiser, or through
    ``remainder="passthrough"``), the score is the leakage of all columns as one joint symbol, for
    the distribution of the scored rows. It is an estimate for the population, and tends to be too
    large if there are few rows per symbol.

    Steps after the sanitisers can only remove information and are not examined; columns that they
    drop still count.

    An :class:`~skliftpriv.exceptions.InvalidParameterError` is raised if the leakage cannot be
    measured: if columns that are not sanitised have too many values (fewer than 20 rows per
    value), or, unless one sanitiser releases all columns, if sanitisers protect different S, or
    S is not a column of X. Searches turn the error into a warning
    and a score of nan, unless ``error_score="raise"``.
    """
    return _leakage(estimator, X).max_log_lift


def ldp_scorer(estimator: Any, X: Any = None, y: Any = None) -> float:
    """Level of local differential privacy of S, in nats, of all columns that reach the last step.

    Lower is better; parameters and notes are those of :func:`max_log_lift_scorer`.
    """
    return _leakage(estimator, X).ldp


def maximal_leakage_scorer(estimator: Any, X: Any = None, y: Any = None) -> float:
    """Maximal leakage about S, in nats, of all columns that reach the last step of a model.

    Lower is better; parameters and notes are those of :func:`max_log_lift_scorer`.
    """
    return _leakage(estimator, X).maximal_leakage


def _leakage(estimator: Any, X: Any) -> LeakageSummary:
    parts = reaching(estimator, X)
    sanitised = [part for part in parts if part.sanitizer is not None]
    if len(parts) == 1 and not parts[0].passes:
        return sanitised[0].sanitizer.report_.after  # type: ignore[union-attr]
    sensitive = _one_sensitive(sanitised)
    return leakage_together(_with_tables(sanitised), _plain_columns(parts), sensitive)


def _with_tables(sanitised: list[Part]) -> list[tuple[Any, Any]]:
    return [(part.sanitizer, part.rows()) for part in sanitised]


def _one_sensitive(sanitised: list[Part]) -> list[Any]:
    """Return the columns of the S that all sanitisers protect."""
    found: list[Any] = []
    for part in sanitised:
        sanitizer: Any = part.sanitizer
        if not protects_column(sanitizer):
            raise InvalidParameterError(
                f"More than the columns of {part.step} reach the model, and it got S as "
                "sensitive_features: make S a column of X, or use attacker_advantage_scorer."
            )
        columns = sanitizer.layout_.sensitive_columns(Table(part.rows()))
        if found and not np.array_equal(_groups(columns), _groups(found)):
            raise InvalidParameterError(
                f"{sanitised[0].step} and {part.step} protect different sensitive columns, so they "
                "have no joint leakage: use attacker_advantage_scorer for each column."
            )
        found = found or columns
    return found


def _groups(columns: list[Any]) -> np.ndarray:
    """Enumerate the values in the order in which they occur."""
    return pd.factorize(encode_rows(columns)[0])[0]


def _plain_columns(parts: list[Part]) -> list[Any]:
    """Return all columns that are not sanitised; refuse them if they have too many values."""
    past = [part for part in parts if part.passes]
    columns = [column for part in past for column in part.plain()]
    if columns:
        codes, values = encode_rows(columns)
        if len(values) * ROWS_PER_OUTPUT > codes.size:
            steps = ", ".join(part.step for part in past)
            raise InvalidParameterError(
                f"Columns reach the model unsanitised through {steps}, and {codes.size:,} rows are "
                f"too few to measure what their {len(values):,} distinct combinations of values "
                "leak. Drop them, sanitise them, or use attacker_advantage_scorer."
            )
    return columns


def attacker_advantage_scorer(
    sensitive: ColumnKey | pd.Series,
    *,
    attacker: ClassifierMixin | None = None,
    cv: Any = 5,
    random_state: Any = None,
) -> Callable[..., float]:
    """Make a scorer that measures how well an attacker guesses S from what reaches the model.

    The scored rows (held-out ones in a cross-validation) go through all sanitisers of the model.
    :func:`attacker_advantage` is measured on the released columns, together with those that reach
    the model unsanitised. Later steps can only remove information and are left out.

    Parameters
    ----------
    sensitive : str, int or pandas.Series
        The sensitive column of the scored rows, or, if S is not a column of X, all sensitive
        values as a series with the index of X.
    attacker : classifier, optional
        See ``estimator`` of :func:`attacker_advantage`.
    cv : int or cross-validation splitter, default=5
        How the scored rows are split into training and test rows of the attacker.
    random_state : int, RandomState or None, default=None
        Seed of this split.

    Returns
    -------
    callable
        Scorer (estimator, X, y=None) -> float. Lower is better; see
        :func:`max_log_lift_scorer`.

    Examples
    --------
    >>> from skliftpriv import SubsetMergingSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> from skliftpriv.metrics import attacker_advantage_bound, attacker_advantage_scorer
    >>> columns = ["relationship", "occupation"]
    >>> sanitizer = SubsetMergingSanitizer("relationship", "occupation", epsilon=0.5)
    >>> sanitizer = sanitizer.fit(load_adult(split="train")[columns])
    >>> scorer = attacker_advantage_scorer("relationship", random_state=0)
    >>> gain = scorer(sanitizer, load_adult(split="test")[columns])
    >>> gain < attacker_advantage_bound(sanitizer.notion_, sanitizer.joint_.p_s)
    True
    """
    return _AttackerAdvantageScorer(sensitive, attacker, cv, random_state)


@dataclass(frozen=True, eq=False)
class _AttackerAdvantageScorer:
    """A class rather than a closure, so it can be sent to other processes."""

    sensitive: ColumnKey | pd.Series
    attacker: ClassifierMixin | None
    cv: Any
    random_state: Any

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        s = self._sensitive_values(X)
        return attacker_advantage(
            s,
            _one_table([part.released(s) for part in reaching(estimator, X)]),
            estimator=self.attacker,
            cv=self.cv,
            random_state=self.random_state,
        )

    def _sensitive_values(self, X: Any) -> Any:
        if not isinstance(self.sensitive, pd.Series):
            table = Table(X)
            return nw.to_native(
                table.column(table.position(self.sensitive, "sensitive")), pass_through=True
            )
        if not isinstance(X, pd.DataFrame | pd.Series):
            raise InvalidParameterError(
                "sensitive is a series, but X has no index to match it with; pass a pandas frame, "
                "or set sensitive= to a column of X."
            )
        if not self.sensitive.index.is_unique or not X.index.isin(self.sensitive.index).all():
            raise InvalidParameterError(
                "sensitive must have one value for each row of X: its index must be unique and "
                "contain that of X."
            )
        return self.sensitive.loc[X.index]


def _one_table(blocks: list[Any]) -> Any:
    if len(blocks) == 1:
        return blocks[0]
    columns = [column for block in blocks for column in as_columns(block, "the release")]
    values = [c.to_numpy() if isinstance(c, nw.Series) else c for c in columns]
    return pd.DataFrame({f"y{i}": column for i, column in enumerate(values)})
