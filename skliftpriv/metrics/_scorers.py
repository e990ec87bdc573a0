"""Scorers for GridSearchCV and cross_validate: what reaches a model leaks and keeps.

A scorer here is a callable (estimator, X, y=None) -> float. The estimator is a sanitiser, or a
Pipeline, ColumnTransformer, FeatureUnion, FrozenEstimator or fitted search that holds sanitisers
at any depth.
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
from ._attack import ROWS_PER_RELEASE, attacker_advantage
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
    """Share of the useful columns that the sanitisers in a fitted model keep.

    Parameters
    ----------
    estimator : fitted sanitiser, Pipeline, ColumnTransformer, FeatureUnion or search
        With one or more sanitisers.
    X : table, optional
        The rows that are scored. For one sanitiser they are not needed: the value is read from
        its ``report_``, for the distribution it was fitted to and free of the noise of held-out
        rows. For several it is I(X;Y) / H(X) of all columns that they sanitise, as one joint
        symbol, for the distribution of the scored rows. Columns that are not sanitised do not
        count.
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
    releases = [part for part in reaching(estimator, X) if part.sanitizer is not None]
    if len(releases) == 1:
        return float(releases[0].sanitizer.report_.nmi)  # type: ignore[union-attr]
    return leakage_together(_with_tables(releases), [], None).nmi


def max_log_lift_scorer(estimator: Any, X: Any = None, y: Any = None) -> float:
    """Largest log-lift of S, in nats, that all that reaches the last step of a model leaves.

    It is the leakage itself, so less is better, while searches take the highest score for the
    best. Use it among other scores with a refit rule such as
    :func:`skliftpriv.model_selection.best_score_with_leakage_below`, or negate it:
    ``lambda *args: -max_log_lift_scorer(*args)``.

    Parameters
    ----------
    estimator : fitted sanitiser, Pipeline, ColumnTransformer, FeatureUnion or search
        With one or more sanitisers, all for the same S.
    X : table, optional
        The rows that are scored, with S among their columns. They are not needed if all columns
        pass through one sanitiser.
    y : ignored

    Returns
    -------
    float

    Notes
    -----
    If all that reaches the model comes from one sanitiser, the value is read from its
    ``report_``, for the distribution it was fitted to. If several sanitisers release columns, or
    columns reach the model that no sanitiser has seen (another transformer beside the sanitiser,
    or ``remainder="passthrough"``), it is the leakage of all of them together, as one joint
    symbol, for the distribution of the scored rows. That is an estimate for the population, which
    tends to be too large where there are few rows per symbol.

    Steps behind the sanitisers can only take away and are not looked at; columns that they drop
    count as well.

    What cannot be measured is refused with an
    :class:`~skliftpriv.exceptions.InvalidParameterError`: columns without a sanitiser that have
    too many values for the number of rows (fewer than 20 rows per value), sanitisers of
    different S, a ConditionalReporting beside other columns, S that is not a column of X. A
    search turns it into a warning and the score nan, unless ``error_score="raise"``.
    """
    return _leakage(estimator, X).max_log_lift


def ldp_scorer(estimator: Any, X: Any = None, y: Any = None) -> float:
    """Level of local differential privacy of S, in nats, of all that reaches the last step.

    It is the leakage itself, so less is better; parameters and notes are those of
    :func:`max_log_lift_scorer`.
    """
    return _leakage(estimator, X).ldp


def maximal_leakage_scorer(estimator: Any, X: Any = None, y: Any = None) -> float:
    """Maximal leakage about S, in nats, of all that reaches the last step of a model.

    It is the leakage itself, so less is better; parameters and notes are those of
    :func:`max_log_lift_scorer`.
    """
    return _leakage(estimator, X).maximal_leakage


def _leakage(estimator: Any, X: Any) -> LeakageSummary:
    parts = reaching(estimator, X)
    releases = [part for part in parts if part.sanitizer is not None]
    if len(parts) == 1 and not parts[0].passes:
        return releases[0].sanitizer.report_.after  # type: ignore[union-attr]
    sensitive = _one_sensitive(releases)
    return leakage_together(_with_tables(releases), _plain_columns(parts), sensitive)


def _with_tables(releases: list[Part]) -> list[tuple[Any, Any]]:
    return [(part.sanitizer, part.rows()) for part in releases]


def _one_sensitive(releases: list[Part]) -> list[Any]:
    """Return the columns of the S that all sanitisers protect."""
    found: list[Any] = []
    for part in releases:
        sanitizer: Any = part.sanitizer
        if not protects_column(sanitizer):
            raise InvalidParameterError(
                f"More than the release of {part.step} reaches the model, and S was given to it "
                "apart from X: make S a column of X, or use attacker_advantage_scorer."
            )
        columns = sanitizer.layout_.sensitive_columns(Table(part.rows()))
        if found and not np.array_equal(_groups(columns), _groups(found)):
            raise InvalidParameterError(
                f"{releases[0].step} and {part.step} protect different sensitive columns, so there "
                "is no one leakage of both: use attacker_advantage_scorer for each column."
            )
        found = found or columns
    return found


def _groups(columns: list[Any]) -> np.ndarray:
    """Return a number for every value, in the order in which they occur."""
    return pd.factorize(encode_rows(columns)[0])[0]


def _plain_columns(parts: list[Part]) -> list[Any]:
    """Return all columns that no sanitiser has seen, if they have few values."""
    past = [part for part in parts if part.passes]
    columns = [column for part in past for column in part.plain()]
    if columns:
        codes, values = encode_rows(columns)
        if len(values) * ROWS_PER_RELEASE > codes.size:
            steps = ", ".join(part.step for part in past)
            raise InvalidParameterError(
                f"Columns reach the model without a sanitiser, by {steps}, and {codes.size:,} rows "
                f"are too few to measure what their {len(values):,} different rows of values "
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
    """Make a scorer that lets an attacker guess S from all that reaches the model.

    The rows that are scored, held out ones in a cross-validation, go through all sanitisers of
    the model; :func:`attacker_advantage` is measured on what comes out, together with the columns
    that reach the model without a sanitiser. Later steps can only take away from that and are
    left out.

    Parameters
    ----------
    sensitive : str, int or pandas.Series
        The column of S in the rows that are scored. If it is not among them, pass all sensitive
        values as a series with the index of X.
    attacker : classifier, optional
        See ``estimator`` of :func:`attacker_advantage`.
    cv : int or cross-validation splitter, default=5
        How the attacker splits the scored rows into rows to learn from and rows to guess.
    random_state : int, RandomState or None, default=None
        Seed of this split.

    Returns
    -------
    callable
        Scorer (estimator, X, y=None) -> float. It is a leakage, so less is better; see
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
    """A class and not a closure, so that it can be sent to other processes."""

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
                "sensitive is a series, but X has no index to find its values by; pass a pandas "
                "frame, or make S a column of X and name it."
            )
        if not self.sensitive.index.is_unique or not X.index.isin(self.sensitive.index).all():
            raise InvalidParameterError(
                "sensitive must have one value for each row of X: its index needs to be unique "
                "and hold that of X."
            )
        return self.sensitive.loc[X.index]


def _one_table(blocks: list[Any]) -> Any:
    if len(blocks) == 1:
        return blocks[0]
    columns = [column for block in blocks for column in as_columns(block, "what was released")]
    values = [c.to_numpy() if isinstance(c, nw.Series) else c for c in columns]
    return pd.DataFrame({f"y{i}": column for i, column in enumerate(values)})
