"""Rules for choosing a budget with ``GridSearchCV(..., refit=rule)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from .._arrays import FloatArray
from ..exceptions import InfeasibleError, InvalidParameterError

__all__ = ["best_score_with_leakage_below", "smallest_epsilon_within_one_se"]

_WHY = '; error_score="raise" shows why.'

Rule = Callable[[Mapping[str, Any]], int]


def smallest_epsilon_within_one_se(score: str = "score", epsilon_param: str | None = None) -> Rule:
    """Make a rule that chooses the most private candidate within one standard error of the best.

    A candidate qualifies if its mean test score is within one standard error of the best mean,
    where the error is that of the best mean over the folds (Breiman et al. 1984). Among
    candidates with the same epsilon the one with the best score is chosen.

    Parameters
    ----------
    score : str, default="score"
        Name of the score: a key of the dict ``scoring``, or "score" if that is not a dict.
    epsilon_param : str, optional
        Name of the parameter, such as "sanitizer__epsilon". By default the one in the grid
        that ends in "epsilon". A pair counts as the sum of its two budgets. Candidates without
        epsilon count as least private.

    Returns
    -------
    callable
        For ``GridSearchCV(refit=...)``: from ``cv_results_`` to ``best_index_``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from skliftpriv import SubsetMergingSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> from skliftpriv.model_selection import smallest_epsilon_within_one_se
    >>> adult = load_adult().head(4000)
    >>> model = make_pipeline(
    ...     SubsetMergingSanitizer("sex", "education", random_state=0),
    ...     OneHotEncoder(handle_unknown="ignore"),
    ...     LogisticRegression(),
    ... )
    >>> search = GridSearchCV(
    ...     model,
    ...     {"subsetmergingsanitizer__epsilon": [0.1, 0.3, 0.7, 2.0]},
    ...     scoring="roc_auc",
    ...     refit=smallest_epsilon_within_one_se(),
    ... )
    >>> search.fit(adult[["sex", "education"]], adult["income"]).best_params_
    {'subsetmergingsanitizer__epsilon': 0.7}
    """
    return _SmallestEpsilon(score, epsilon_param)


def best_score_with_leakage_below(
    cap: float, leakage: str = "max_log_lift", score: str = "score"
) -> Rule:
    """Make a rule that chooses the best candidate among those that leak no more than a cap.

    Parameters
    ----------
    cap : float
        Largest leakage allowed, in every fold.
    leakage : str, default="max_log_lift"
        Name of the leakage: a key of the dict ``scoring`` whose value is a scorer such as
        :func:`skliftpriv.metrics.max_log_lift_scorer`.
    score : str, default="score"
        Name of the score to maximise: a key of the same dict. Ties go to the candidate that
        leaks less.

    Returns
    -------
    callable
        For ``GridSearchCV(refit=...)``: from ``cv_results_`` to ``best_index_``. It raises
        :class:`~skliftpriv.exceptions.InfeasibleError` if all candidates leak more. A candidate
        whose leakage or score is nan in a fold, because a fit or a scorer failed, is never
        chosen.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skliftpriv import SubsetMergingSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> from skliftpriv.metrics import ldp_scorer, nmi_scorer
    >>> from skliftpriv.model_selection import best_score_with_leakage_below
    >>> search = GridSearchCV(
    ...     SubsetMergingSanitizer("relationship", "education", handle_unknown="resample"),
    ...     {"epsilon": [0.1, 0.3, 0.5, 1.0]},
    ...     scoring={"nmi": nmi_scorer, "ldp": ldp_scorer},
    ...     refit=best_score_with_leakage_below(1.0, leakage="ldp", score="nmi"),
    ... )
    >>> search.fit(load_adult()[["relationship", "education"]]).best_params_
    {'epsilon': 0.5}
    """
    if isinstance(cap, bool) or not isinstance(cap, Real) or not cap >= 0:
        raise InvalidParameterError(f"cap must be a number >= 0, not {cap!r}.")
    return _LeakageBelow(float(cap), leakage, score)


# Classes rather than closures, so a search can be pickled and its repr shows the rule.


@dataclass(frozen=True)
class _SmallestEpsilon:
    score: str
    epsilon_param: str | None

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        mean = _mean(cv_results, self.score)
        best = int(np.nanargmax(mean))
        splits = _splits(cv_results, self.score)
        error = 0.0
        if len(splits) > 1:
            error = float(splits[:, best].std(ddof=1) / np.sqrt(len(splits)))
        # Comparisons with NaN are False, so failed candidates are left out.
        good_enough = np.flatnonzero(mean >= mean[best] - error)
        epsilon = self._epsilons(cv_results)[good_enough]
        return int(good_enough[np.lexsort((-mean[good_enough], epsilon))[0]])

    def _epsilons(self, cv_results: Mapping[str, Any]) -> FloatArray:
        grid = [key.removeprefix("param_") for key in cv_results if key.startswith("param_")]
        name = self.epsilon_param
        if name is None:
            found = [key for key in grid if key.endswith("epsilon")]
            if len(found) != 1:
                seen = ", ".join(map(repr, found or grid))
                raise InvalidParameterError(
                    f"{'Several parameters' if found else 'No parameter'} of the grid "
                    f"end{'' if found else 's'} in 'epsilon' ({seen}); "
                    "set epsilon_param= to its name."
                )
            name = found[0]
        elif name not in grid:
            raise InvalidParameterError(
                f"epsilon_param={name!r} is not in the grid, which has "
                f"{', '.join(map(repr, grid))}."
            )
        settings = cv_results["params"]
        return np.array([float(np.sum(setting.get(name, np.inf))) for setting in settings])


@dataclass(frozen=True)
class _LeakageBelow:
    cap: float
    leakage: str
    score: str

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        mean = _mean(cv_results, self.score)
        leaked = _mean(cv_results, self.leakage)
        splits = _splits(cv_results, self.leakage)
        if len(splits):
            leaked = splits.max(axis=0)
        allowed = np.flatnonzero((leaked <= self.cap) & ~np.isnan(mean))
        if not allowed.size:
            least = int(np.nanargmin(leaked))
            failed = int(np.isnan(leaked + mean).sum())
            raise InfeasibleError(
                f"No candidate has {self.leakage} <= {self.cap:g} in every fold; the smallest "
                f"seen is {leaked[least]:.4g}, of {cv_results['params'][least]}. "
                "Add smaller epsilons to the grid or raise the cap."
                + (f" {failed} candidate(s) could not be scored{_WHY}" if failed else "")
            )
        return int(allowed[np.lexsort((leaked[allowed], -mean[allowed]))[0]])


def _mean(cv_results: Mapping[str, Any], score: str) -> FloatArray:
    key = f"mean_test_{score}"
    if key not in cv_results:
        known = [name[10:] for name in cv_results if name.startswith("mean_test_")]
        raise InvalidParameterError(
            f"{score!r} is not among the scores of the search: {', '.join(map(repr, known))}. "
            "Use a name from scoring=."
        )
    mean = np.asarray(cv_results[key], dtype=float)
    if np.isnan(mean).all():
        raise InvalidParameterError(
            f"Every candidate has {score} = nan: all fits or scores failed{_WHY}"
        )
    return mean


def _splits(cv_results: Mapping[str, Any], score: str) -> FloatArray:
    """Scores of shape (n_splits, n_candidates)."""
    pattern = re.compile(rf"split\d+_test_{re.escape(score)}")
    return np.array([cv_results[key] for key in cv_results if pattern.fullmatch(key)], dtype=float)
