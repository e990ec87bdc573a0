"""What mechanisms keep and leak over a range of budgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from time import perf_counter
from typing import Any

import pandas as pd
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from .._progress import Progress
from ..estimators import CountedRows, LiftSanitizer, shared_counts
from ..exceptions import InvalidParameterError
from ..metrics import target_kept

__all__ = ["tradeoff_curve"]

#: Largest level that counts as 0, for rounding errors.
_ROUNDING = 1e-12

#: Columns read from the report.
MEASURES = (
    "nmi",
    "utility_kept",
    "mutual_information",
    "max_log_lift",
    "min_log_lift",
    "ldp",
    "leakage_mutual_information",
    "maximal_leakage",
)


def tradeoff_curve(
    estimators: LiftSanitizer | Sequence[LiftSanitizer] | Mapping[str, LiftSanitizer],
    X: Any,
    epsilons: Iterable[Any],
    *,
    y: Any = None,
    sensitive_features: Any = None,
    n_jobs: int | None = None,
    verbose: bool | None = None,
) -> pd.DataFrame:
    """Measure what mechanisms keep and leak over a range of budgets.

    The rows are counted once for all mechanisms with the same columns, so a curve costs little
    more than its mechanisms. Every row of the result is what ``fit`` with this epsilon reports.

    Parameters
    ----------
    estimators : sanitiser, sequence of sanitisers, or dict from name to sanitiser
        Sanitisers; they are cloned, whether fitted or not. Without names each is called by its
        class and, if a class occurs more than once, the parameters that differ.
    X : table or CountedRows
        Rows with the useful column(s) and, unless ``sensitive_features`` is given, the sensitive
        column(s); or rows that are already counted.
    epsilons : iterable of float or pair
        Budgets to set on every sanitiser.
    y : array-like of shape (n_rows,), optional
        The target, for sanitisers that keep what is known about it, and to measure what the others
        keep of that.

        .. versionadded:: 0.2
    sensitive_features : array-like of shape (n_rows,), optional
        The sensitive values, when they are not a column of X.
    n_jobs : int, optional
        Number of parallel jobs, as in scikit-learn.
    verbose : bool or None, default=None
        Show progress on standard error: always, never or, with None, in a terminal or a notebook
        once the work takes longer than three seconds.

    Returns
    -------
    pandas.DataFrame
        One row per mechanism and budget, in the order given. Columns:

        - ``mechanism``, ``epsilon``, ``notion`` (with its budget, in words);
        - ``nmi``, ``mutual_information``: what is kept of X;
        - ``utility``: what the mechanism was built to keep, "useful" for X or "target";
        - ``utility_kept``: the share of that which is kept;
        - ``target_kept``: the share that is kept of what X tells about the target; of what S and X
          tell, if one of the sanitisers sees S. The same measure for all rows; NaN without y;
        - ``max_log_lift``, ``min_log_lift``, ``ldp``, ``leakage_mutual_information``,
          ``maximal_leakage``: what is leaked about S;
        - ``budget_used``: level divided by budget, the largest over the sides of the notion; with
          ``confidence``, for the worst distribution of the confidence set;
        - ``satisfied``: whether the budget is met, decided in exact arithmetic;
        - ``gap``: bound on the distance of ``utility_kept`` to the optimum, NaN for mechanisms
          without one;
        - ``seconds``: time of the mechanism, without counting.

    Examples
    --------
    >>> from skliftpriv import ORRSanitizer, WatchdogSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> from skliftpriv.model_selection import tradeoff_curve
    >>> columns = {"sensitive": "relationship", "useful": "occupation"}
    >>> curve = tradeoff_curve(
    ...     {"optimal": ORRSanitizer(**columns), "watchdog": WatchdogSanitizer(**columns)},
    ...     load_adult(),
    ...     epsilons=[0.5, 1.0],
    ... )
    >>> curve.pivot(index="epsilon", columns="mechanism", values="nmi").round(2)
    mechanism  optimal  watchdog
    epsilon
    0.5           0.85      0.29
    1.0           0.96      0.77
    """
    named = _named(estimators)
    budgets = list(epsilons) if isinstance(epsilons, Iterable) else [epsilons]
    if not budgets:
        raise InvalidParameterError("epsilons is empty: pass at least one budget.")
    counted = shared_counts(named.values(), X, sensitive_features, y)
    seen = any(sanitizer.needs_sensitive for sanitizer in named.values())
    tasks = [
        (name, clone(sanitizer).set_params(epsilon=epsilon), rows, seen)
        for (name, sanitizer), rows in zip(named.items(), counted, strict=True)
        for epsilon in budgets
    ]
    rows = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(_row)(*task) for task in tasks)
    return pd.DataFrame(_listed(rows, len(tasks), verbose))


def _row(name: str, sanitizer: LiftSanitizer, rows: CountedRows, seen: bool) -> dict[str, Any]:
    start = perf_counter()
    result = sanitizer.result_for(rows)
    seconds = perf_counter() - start
    report = result.report
    budget, levels = result.notion.budget, report.levels_promised
    return {
        "mechanism": name,
        "epsilon": sanitizer.epsilon,
        "notion": str(result.notion),
        **{measure: getattr(report, measure) for measure in MEASURES},
        "utility": "useful" if report.target is None else "target",
        "target_kept": nan
        if rows.target is None
        else target_kept(result, rows, use_sensitive=seen),
        "budget_used": max(_share(levels[side], budget[side]) for side in budget),
        "satisfied": report.satisfied,
        "gap": result.gap_to_optimum,
        "seconds": seconds,
    }


def _share(level: float, budget: float) -> float:
    """Return the share of a budget that a level uses; 0 if both are 0."""
    if budget > 0:
        return level / budget
    return 0.0 if level <= _ROUNDING else float("inf")


def _named(estimators: Any) -> dict[str, LiftSanitizer]:
    if isinstance(estimators, Mapping):
        named = dict(estimators)
    else:
        single = isinstance(estimators, LiftSanitizer) or not isinstance(estimators, Iterable)
        several = [estimators] if single else list(estimators)
        names = _names(several)
        named = dict(zip(names, several, strict=True))
        if len(named) < len(several):
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidParameterError(
                f"{twice} occurs twice with the same parameters; pass a dict with a name for "
                "each, or leave one out."
            )
    if not named:
        raise InvalidParameterError("estimators is empty: pass at least one sanitiser.")
    for name, sanitizer in named.items():
        if not isinstance(sanitizer, LiftSanitizer):
            raise InvalidParameterError(
                f"{name}: {sanitizer!r} is not a sanitiser, such as SubsetMergingSanitizer()."
            )
    return named


def _names(sanitizers: Sequence[Any]) -> list[str]:
    kinds = [type(sanitizer) for sanitizer in sanitizers]
    names = []
    for sanitizer, kind in zip(sanitizers, kinds, strict=True):
        alike = [other for other in sanitizers if type(other) is kind]
        if len(alike) == 1 or not isinstance(sanitizer, LiftSanitizer):
            names.append(kind.__name__)
            continue
        # Every epsilon is replaced, so it does not distinguish sanitisers.
        own = {key: repr(value) for key, value in sanitizer.get_params().items()}
        others = [other.get_params() for other in alike]
        differ = [
            f"{key}={value}"
            for key, value in own.items()
            if key != "epsilon" and any(repr(other[key]) != value for other in others)
        ]
        names.append(f"{kind.__name__}({', '.join(differ)})")
    return names


def _listed(
    rows: Iterable[dict[str, Any]], total: int, verbose: bool | None
) -> list[dict[str, Any]]:
    """List the rows as they are made, and show progress."""
    made = []
    with Progress(verbose).lent() as progress:
        for row in rows:
            made.append(row)
            now = f"{len(made)}/{total} {row['mechanism']}, epsilon={row['epsilon']}"
            progress.bar("fitting", len(made) / total, now)
    return made
