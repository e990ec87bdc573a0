"""Test on fresh rows whether a release keeps its budget, with confidence intervals."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from .. import measures
from .._arrays import FloatArray, Label
from .._format import html_card, html_table, number, text_table
from ..confidence import clopper_pearson
from ..estimators import CountedRows, ReleasingShell
from ..exceptions import InvalidParameterError, UnsupportedNotionError
from ..frames import ContingencyTable, Table, as_columns
from ..notions import Notion
from ._columns import counted

__all__ = ["AuditReport", "AuditedBound", "audit", "audit_columns", "audit_counts"]

Verdict: TypeAlias = Literal["holds", "violated", "not enough data"]
#: By measure: the estimated level and the ends of its interval.
_Levels: TypeAlias = dict[str | None, list[float]]


@dataclass(frozen=True)
class AuditedBound:
    """One bound of a notion and what the rows show about it.

    Attributes
    ----------
    budget : float
        Largest allowed level, in nats.
    level : float
        Level estimated from the rows.
    low, high : float
        Interval that contains the true level with the confidence of the audit.
    verdict : {"holds", "violated", "not enough data"}
        "violated" if the whole interval lies above the budget, "holds" if it lies below.
    """

    budget: float
    level: float
    low: float
    high: float

    @property
    def verdict(self) -> Verdict:
        """Verdict that follows from the interval."""
        if self.low > self.budget:
            return "violated"
        return "holds" if self.high <= self.budget else "not enough data"


@dataclass(frozen=True)
class AuditReport:
    """Result of an audit: what fresh rows show about a budget.

    Attributes
    ----------
    notion : Notion
        The notion with the budget that is audited.
    confidence : float
        Probability that all intervals contain the true values simultaneously.
    n_rows : int
        Number of rows audited.
    bounds : dict of str to AuditedBound
        One bound per side of the notion.
    lifts : pandas.DataFrame
        One row per sensitive value and output: the number of rows, the lift and its interval.
        These intervals are simultaneous as well.
    """

    notion: Notion
    confidence: float
    n_rows: int
    bounds: dict[str, AuditedBound]
    lifts: pd.DataFrame

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all bounds."""
        verdicts = {bound.verdict for bound in self.bounds.values()}
        worst: tuple[Verdict, ...] = ("violated", "not enough data", "holds")
        return next(verdict for verdict in worst if verdict in verdicts)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row per bound: budget, level, interval and verdict."""
        rows = {
            side: {**asdict(bound), "verdict": bound.verdict} for side, bound in self.bounds.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("bound")

    def to_dict(self) -> dict[str, Any]:
        """Return the report without the table of lifts as plain data."""
        return {
            "notion": str(self.notion),
            "verdict": self.verdict,
            "confidence": self.confidence,
            "n_rows": self.n_rows,
            "bounds": self.to_frame().to_dict(orient="index"),
        }

    def _cells(self) -> list[list[str]]:
        header = ["", "budget", "level", "at least", "at most", "verdict"]
        return [header] + [
            [
                self.notion.side(side).title,
                *map(number, (bound.budget, bound.level, bound.low, bound.high)),
                bound.verdict,
            ]
            for side, bound in self.bounds.items()
        ]

    def _claim(self) -> str:
        return f"{self.notion}, {self.n_rows:,} rows, confidence {self.confidence:g}"

    def __repr__(self) -> str:
        lines = [f"{self.verdict} ({type(self).__name__}): {self._claim()}"]
        return "\n".join([*lines, *text_table(self._cells())])

    def _repr_html_(self) -> str:
        table = html_table(self._cells(), [True] * len(self.bounds))
        notes = ["The level is an estimate; the true level lies between the next two columns."]
        good = None if self.verdict == "not enough data" else self.verdict == "holds"
        return html_card(good, self.verdict.capitalize(), self._claim(), [], table, notes)


def audit(
    estimator: ReleasingShell,
    X: Any,
    *,
    sensitive_features: Any = None,
    confidence: float = 0.95,
) -> AuditReport:
    """Check on fresh rows whether a fitted sanitiser keeps its budget.

    The rows are sanitised and the outputs compared with S. The rows must be independent draws
    that were not used in ``fit``: the rows of ``fit`` say nothing about other rows. See
    :func:`~skliftpriv.metrics.audit_columns` for the statistics.

    Parameters
    ----------
    estimator : fitted sanitiser
        Its budget and its columns are used.
    X : table
        Fresh rows with the useful column(s) and, unless ``sensitive_features`` is given, the
        sensitive column(s).
    sensitive_features : array-like of shape (n_rows,), optional
        The sensitive values, when they are not a column of X.
    confidence : float, default=0.95
        Probability that all intervals contain the true values simultaneously.

    Returns
    -------
    AuditReport

    Examples
    --------
    >>> from skliftpriv import SubsetMergingSanitizer
    >>> from skliftpriv.datasets import load_adult
    >>> from skliftpriv.metrics import audit
    >>> sanitizer = SubsetMergingSanitizer("sex", "occupation", epsilon=0.7)
    >>> audit(sanitizer.fit(load_adult("train")), load_adult("test")).verdict
    'holds'
    """
    if not isinstance(estimator, ReleasingShell):
        raise InvalidParameterError(
            f"{type(estimator).__name__} is not a sanitiser; pass the step that sanitises, or use "
            "audit_columns on the released column."
        )
    if isinstance(X, CountedRows):
        raise InvalidParameterError(
            "X is CountedRows: audit sanitises rows; use audit_counts for counts of what was "
            "released."
        )
    check_is_fitted(estimator)
    table = Table(X)
    layout = estimator.layout_
    missing = layout.missing(table, layout.sensitive)
    if sensitive_features is None and (missing or not layout.sensitive):
        lacks = ", ".join(map(repr, missing))
        where = (
            f"X lacks {lacks}: pass a table that has it, or" if lacks else "X has no such column:"
        )
        raise InvalidParameterError(
            f"An audit compares the release with the sensitive values, but {where} pass "
            "sensitive_features=."
        )
    layout.check(table, type(estimator).__name__, sensitive=sensitive_features is None, rest=False)
    sensitive = layout.sensitive_columns(table, sensitive_features)
    # Other columns are not covered, and in arrays only numbers distinguish all outputs.
    outputs = estimator.sample_outputs(X, sensitive_features=sensitive_features)
    counts = ContingencyTable.count(sensitive, as_columns(outputs, "the outputs"))
    return _audited(counts, estimator.notion_, confidence)


def audit_columns(s: Any, y: Any, notion: Notion, *, confidence: float = 0.95) -> AuditReport:
    """Check whether a released column keeps a budget, however it was made.

    Every P(s|y) and P(s), or every P(y|s) for LDP, gets a Clopper-Pearson interval, which is
    exact for any number of rows; the intervals share the probability of error. A bound is violated
    if the interval of one pair (s, y) lies above the budget, and holds if the intervals of all
    pairs lie below it. Outputs and sensitive values that do not occur in the rows are not covered.

    Parameters
    ----------
    s : array-like of shape (n_rows,)
        Sensitive values; several columns form one joint symbol.
    y : array-like of shape (n_rows,)
        Released values of the same rows; several columns form one joint symbol.
    notion : LIP, ALIP or LDP
        The notion with the budget to audit.
    confidence : float, default=0.95
        Probability that all intervals contain the true values simultaneously.

    Returns
    -------
    AuditReport

    Examples
    --------
    >>> from skliftpriv import LIP
    >>> from skliftpriv.metrics import audit_columns
    >>> s = ["ill", "well"] * 500
    >>> y = ["a", "b", "b", "a", "a", "b", "a", "b", "a", "b"] * 100
    >>> audit_columns(s, y, LIP(0.1))
    violated (AuditReport): 0.1-LIP, 1,000 rows, confidence 0.95
                         budget    level   at least   at most    verdict
    minus min log-lift   0.1000   0.9163     0.6007    1.2520   violated
    max log-lift         0.1000   0.4700     0.3231    0.6127   violated
    """
    return _audited(counted(s, y), notion, confidence)


def audit_counts(rows: CountedRows, notion: Notion, *, confidence: float = 0.95) -> AuditReport:
    """Check whether a released column keeps a budget, from rows that are already counted.

    .. versionadded:: 0.2

    Parameters
    ----------
    rows : CountedRows
        How often each sensitive value occurs with each released value.
    notion : LIP, ALIP or LDP
        The notion with the budget to audit.
    confidence : float, default=0.95
        Probability that all intervals contain the true values simultaneously.

    Returns
    -------
    AuditReport
        As from :func:`audit_columns`.

    Examples
    --------
    >>> import pandas as pd
    >>> from skliftpriv import CountedRows, LIP
    >>> from skliftpriv.metrics import audit_counts
    >>> table = pd.DataFrame(
    ...     {"s": ["ill", "ill", "well", "well"], "y": list("abab"), "n": [900, 1100, 1100, 900]}
    ... )
    >>> audit_counts(CountedRows.of(table, "s", "y", counts="n"), LIP(0.5)).verdict
    'holds'
    """
    if not isinstance(rows, CountedRows):
        raise InvalidParameterError(
            f"rows must be CountedRows, such as CountedRows.of(table, 's', 'y', counts='n'), not "
            f"{type(rows).__name__}."
        )
    if rows.counts.weighted:
        raise InvalidParameterError(
            "rows are counted by weights, and intervals need numbers of rows: count them without "
            "sample_weight."
        )
    return _audited(rows.counts.without_zeros(), notion, confidence)


def _audited(table: ContingencyTable, notion: Notion, confidence: float) -> AuditReport:
    if not (isinstance(confidence, Real) and 0 < confidence < 1):
        raise InvalidParameterError(
            f"confidence must lie between 0 and 1, such as 0.95, not {confidence!r}."
        )
    if not isinstance(notion, Notion):
        raise InvalidParameterError(f"notion must be a notion such as LIP(0.5), not {notion!r}.")
    counts = table.counts
    if len(counts) < 2:
        raise InvalidParameterError(
            f"S has only one value in these rows, {table.sensitive[0]!r}: there is nothing to "
            "leak. Pass rows with at least two sensitive values."
        )
    measured = {name: notion.side(name).measure for name in notion.budget}
    if set(measured.values()) == {"ldp"}:
        levels = _ratio_levels(counts, confidence)
    elif set(measured.values()) <= {"min_log_lift", "max_log_lift"}:
        levels = _lift_levels(counts, confidence)
    else:
        raise UnsupportedNotionError(
            f"An audit supports LIP, ALIP and LDP, but not {notion}; audit a LIP that it implies."
        )
    bounds = {
        name: AuditedBound(budget, *map(_level, levels[measured[name]]))
        for name, budget in notion.budget.items()
    }
    return AuditReport(
        notion, confidence, int(counts.sum()), bounds, _lift_table(table, confidence)
    )


def _lift_interval(
    counts: FloatArray, confidence: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the lift of every pair and its simultaneous interval, by those of P(s|y) and P(s)."""
    n_s, n_y = counts.shape
    error = (1 - confidence) / (n_s * n_y + n_s)
    low, high = clopper_pearson(counts, counts.sum(axis=0), error)
    prior_low, prior_high = clopper_pearson(counts.sum(axis=1), counts.sum(), error)
    lift = measures.lift(counts / counts.sum())
    return lift, low / prior_high[:, None], high / prior_low[:, None]


def _lift_levels(counts: FloatArray, confidence: float) -> _Levels:
    lift, low, high = _lift_interval(counts, confidence)
    with np.errstate(divide="ignore"):
        return {
            "min_log_lift": [-np.log(values.min()) for values in (lift, high, low)],
            "max_log_lift": [np.log(values.max()) for values in (lift, low, high)],
        }


def _ratio_levels(counts: FloatArray, confidence: float) -> _Levels:
    of_s = counts.sum(axis=1, keepdims=True)
    low, high = clopper_pearson(counts, of_s, (1 - confidence) / counts.size)
    given_s = counts / of_s
    with np.errstate(divide="ignore", invalid="ignore"):
        pairs = ((given_s, given_s), (low, high), (high, low))
        return {"ldp": [np.log(_largest_ratio(*pair)) for pair in pairs]}


def _largest_ratio(above: FloatArray, below: FloatArray) -> float:
    """Return the largest above[s, y] / below[t, y] with s != t."""
    ratios = above[:, None, :] / below[None, :, :]
    ratios = np.where(np.isnan(ratios), 1.0, ratios)  # 0 / 0: neither occurs
    return float(ratios[~np.eye(len(above), dtype=bool)].max(initial=1.0))


def _level(value: float) -> float:
    """Clip a level at 0, the level of a constant output."""
    return max(float(value), 0.0)


def _lift_table(table: ContingencyTable, confidence: float) -> pd.DataFrame:
    lift, low, high = _lift_interval(table.counts, confidence)
    index = pd.MultiIndex.from_product(
        [_single(table.sensitive), _single(table.useful)], names=["sensitive", "output"]
    )
    columns = {"rows": table.counts.astype(int), "lift": lift, "low": low, "high": high}
    return pd.DataFrame({name: value.ravel() for name, value in columns.items()}, index=index)


def _single(labels: tuple[Label, ...]) -> pd.Index:
    return pd.Index(labels, tupleize_cols=False)
