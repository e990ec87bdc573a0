"""Scorers for GridSearchCV and cross_validate: what the sanitiser inside a model leaks and keeps.

A scorer here is a callable (estimator, X, y=None) -> float. The estimator is a sanitiser, or a
Pipeline, ColumnTransformer, FeatureUnion or fitted search that holds one at any depth; the first
one counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import pandas as pd
from sklearn.base import ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils.validation import check_is_fitted

from ..estimators import ConditionalReporting, LiftSanitizer
from ..exceptions import InvalidParameterError
from ..frames import ColumnKey, Table
from ._attack import attacker_advantage

__all__ = [
    "attacker_advantage_scorer",
    "ldp_scorer",
    "max_log_lift_scorer",
    "maximal_leakage_scorer",
    "nmi_scorer",
]


def nmi_scorer(estimator: Any, X: Any = None, y: Any = None) -> float:
    """Share of the useful column that the sanitiser in a fitted model keeps.

    Parameters
    ----------
    estimator : fitted sanitiser, Pipeline, ColumnTransformer, FeatureUnion or search
        The first sanitiser in it counts.
    X, y : ignored
        The value is read from the sanitiser's ``report_``: exact for the rows it was fitted to,
        and free of the noise of held-out rows.

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
    return float(_find(estimator).report_.nmi)


def max_log_lift_scorer(estimator: Any, X: Any = None, y: Any = None) -> float:
    """Largest log-lift, in nats, that the sanitiser in a fitted model leaves.

    It is the leakage itself, so less is better, while searches take the highest score for the
    best. Use it among other scores with a refit rule such as
    :func:`skliftpriv.model_selection.best_score_with_leakage_below`, or negate it:
    ``lambda *args: -max_log_lift_scorer(*args)``. Parameters are those of :func:`nmi_scorer`.
    """
    return float(_find(estimator).report_.max_log_lift)


def ldp_scorer(estimator: Any, X: Any = None, y: Any = None) -> float:
    """Level of local differential privacy of S, in nats, of the sanitiser in a fitted model.

    It is the leakage itself, so less is better; see :func:`max_log_lift_scorer`.
    """
    return float(_find(estimator).report_.ldp)


def maximal_leakage_scorer(estimator: Any, X: Any = None, y: Any = None) -> float:
    """Maximal leakage about S, in nats, of the sanitiser in a fitted model.

    It is the leakage itself, so less is better; see :func:`max_log_lift_scorer`.
    """
    return float(_find(estimator).report_.maximal_leakage)


def attacker_advantage_scorer(
    sensitive: ColumnKey | pd.Series,
    *,
    attacker: ClassifierMixin | None = None,
    cv: Any = 5,
    random_state: Any = None,
) -> Callable[..., float]:
    """Make a scorer that lets an attacker guess S from what the sanitiser releases.

    The rows that are scored, held out ones in a cross-validation, go through the model up to and
    including its first sanitiser; :func:`attacker_advantage` is measured on the result.

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
            _released(estimator, X, s),
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


def _find(estimator: Any) -> LiftSanitizer:
    """Return the first sanitiser in a fitted model."""
    found = next(_sanitizers(estimator), None)
    if found is None:
        raise InvalidParameterError(
            f"{type(estimator).__name__} holds no sanitiser to be scored. The scorers look into "
            "Pipeline, ColumnTransformer, FeatureUnion and fitted searches."
        )
    check_is_fitted(found)
    return found


def _sanitizers(estimator: Any) -> Iterator[LiftSanitizer]:
    if isinstance(estimator, LiftSanitizer):
        yield estimator
    elif hasattr(estimator, "best_estimator_"):
        yield from _sanitizers(estimator.best_estimator_)
    else:
        for part in _parts(estimator):
            yield from _sanitizers(part)


def _parts(estimator: Any) -> list[Any]:
    if isinstance(estimator, Pipeline):
        return [step for _, step in estimator.steps]
    if isinstance(estimator, FeatureUnion):
        return [part for _, part in estimator.transformer_list]
    if isinstance(estimator, ColumnTransformer):
        check_is_fitted(estimator)
        return [part for _, part, _ in estimator.transformers_]
    return []


def _released(estimator: Any, X: Any, s: Any) -> Any:
    """Send rows through a fitted model up to and including its first sanitiser."""
    sanitizer = _find(estimator)
    if estimator is sanitizer:
        apart = sanitizer.guarantee_.sensitive == "sensitive_features"
        if apart and isinstance(sanitizer, ConditionalReporting):
            return sanitizer.transform(X, sensitive_features=s)
        return sanitizer.transform(X)
    if hasattr(estimator, "best_estimator_"):
        return _released(estimator.best_estimator_, X, s)
    parts = _parts(estimator)
    place = next(i for i, part in enumerate(parts) if sanitizer in _sanitizers(part))
    if isinstance(estimator, Pipeline) and place > 0:
        X = estimator[:place].transform(X)
    elif isinstance(estimator, ColumnTransformer):
        X = _select(X, estimator.transformers_[place][2])
    return _released(parts[place], X, s)


def _select(X: Any, columns: Any) -> Any:
    """Select columns by whatever a ColumnTransformer takes, in the container of X."""
    selector = ColumnTransformer([("x", "passthrough", columns)], verbose_feature_names_out=False)
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        pandas = frame.implementation is nw.Implementation.PANDAS
        selector.set_output(transform="pandas" if pandas else "polars")
    return selector.fit_transform(X)
