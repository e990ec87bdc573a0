"""How a sanitiser is fitted: validate, count rows, build the mechanism, warn and store."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..cells import Cells, CellsLike
from ..channel import Channel
from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..exceptions import (
    InvalidParameterError,
    UnprotectedColumnsWarning,
    UselessReleaseWarning,
)
from ..frames import Table, checked_weight, concerns
from ..mechanisms import ChannelResult, MechanismResult
from ..notions import NOTIONS, POLYHEDRAL_NOTIONS, Notion, NotionLike, make_notion
from ..report import PrivacyReport
from ..sampling import RandomState
from ._confidence import confidence_set, confidence_warnings
from ._counted_rows import CountedRows, counted_columns
from ._counting import CountingPlan
from ._guarantee import Guarantee
from ._layout import ColumnKeys, Layout
from ._parameters import COMMON, checked, parameters, validate
from ._releaser import Releaser, SymbolReleaser
from ._row_encoder import RowEncoder

__all__ = ["FittingShell", "Result", "warnings_beside"]

#: Parameters that may change after fit.
_FREE = ("output", "verbose")
#: Largest NMI that counts as 0, for rounding errors.
_NOTHING = 1e-9

Result = TypeVar("Result", bound=MechanismResult)
Mechanism = Callable[[JointDistribution, Notion, ConfidenceSet | None], Result]


class FittedState(Generic[Result]):
    """Fitted attributes, and values for mechanisms without these parameters."""

    notion: NotionLike = "lip"
    lam: float = 0.5
    alpha: float = 2.0
    confidence: float | None = None
    cells: CellsLike | None = None
    handle_unknown: str = "error"

    counted_: CountedRows
    cells_: Cells
    layout_: Layout
    result_: Result
    joint_: JointDistribution
    notion_: Notion
    channel_: Channel | None
    report_: PrivacyReport
    guarantee_: Guarantee
    _encoder: RowEncoder
    _releaser: Releaser
    _parameters: dict[str, Any]


@parameters
class FittingShell(FittedState[Result], TransformerMixin, BaseEstimator, ABC):
    """The part of a sanitiser that counts rows and builds the mechanism for them."""

    sensitive: ColumnKeys | None = field(default=None, kw_only=False)
    useful: ColumnKeys | None = field(default=None, kw_only=False)
    epsilon: float | Sequence[float] = 1.0
    smoothing: float = 0.0
    output: str = "label"
    remainder: str = "drop"
    index: str = "keep"
    random_state: RandomState = None

    #: Notions that the mechanism can enforce.
    _supported_notions: ClassVar[Sequence[str]] = NOTIONS
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON

    # With metadata routing, Pipeline, GridSearchCV and ColumnTransformer pass S on.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"sensitive_features": True}
    __metadata_request__partial_fit: ClassVar[dict[str, Any]] = {"sensitive_features": True}
    __metadata_request__transform: ClassVar[dict[str, Any]] = {"sensitive_features": True}

    @property
    def needs_sensitive(self) -> bool:
        """Whether the mechanism needs S at ``transform``."""
        return False

    @property
    def needs_target(self) -> bool:
        """Whether ``fit`` needs y, because the mechanism keeps what is known about it."""
        return False

    @abstractmethod
    def _build(
        self, joint: JointDistribution, notion: Notion, over: ConfidenceSet | None
    ) -> Result:
        """Run the mechanism, for all distributions in ``over`` unless it is None."""

    def _mechanism_for(self, rows: CountedRows) -> Mechanism[Result]:
        """Return the mechanism for counted rows, as a function like :meth:`_build`."""
        return self._build

    def _make_releaser(self, result: Result, rows: CountedRows) -> Releaser:
        """Return the object that samples outputs and writes them as columns."""
        if not isinstance(result, ChannelResult):
            raise TypeError(
                f"{type(self).__name__} must override _make_releaser: only the outputs of a "
                "ChannelResult are known to be symbols."
            )
        return SymbolReleaser(result, rows.layout, cells=rows.cells, types=rows.types)

    def _known(self, result: Result, layout: Layout) -> Mapping[str, object]:
        """Return the fitted attributes that only this mechanism has."""
        return {}

    @checked
    def fit(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Self:
        """Estimate the joint distribution of S and X and build the mechanism for it.

        Parameters
        ----------
        X : pandas or polars DataFrame, pyarrow Table, array-like or CountedRows
            Table of shape (n_rows, n_columns) with the useful column(s) and, unless
            ``sensitive_features`` is given, the sensitive one(s); or rows that are already counted.
            A pandas frame whose column names are not text is read by position, and ``transform``
            returns an array.
        y : array-like of shape (n_rows,), optional
            The target, for a sanitiser that keeps what is known about it (``needs_target``), and
            for ``cells``, which are learnt to predict it; otherwise it is ignored.
        sensitive_features : array-like of shape (n_rows,), optional
            The sensitive values, when they are not a column of X. Several columns form one
            joint symbol.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row in the estimate.

        Returns
        -------
        self
        """
        return self._fit(X, y, sensitive_features, sample_weight, None)

    @checked
    def partial_fit(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add a batch of rows to the estimate and build the mechanism for all rows so far.

        Parameters are those of :meth:`fit`.

        Returns
        -------
        self
        """
        known = getattr(self, "counted_", None)
        return self._fit(X, y, sensitive_features, sample_weight, known)

    def _fit(
        self,
        X: Any,
        y: Any,
        sensitive_features: Any,
        sample_weight: Any,
        known: CountedRows | None,
    ) -> Self:
        self._make_notion()  # refuse a wrong notion before counting rows
        rows = self._counted(X, y, sensitive_features, sample_weight, known)
        rows = rows if known is None else known + rows
        result = self.result_for(rows)
        for warning in self._warnings(rows, result):
            warnings.warn(warning, stacklevel=4)
        # Attributes are set only when all has succeeded, so a failed fit leaves no trace.
        fitted = self._fitted(rows, result)
        # An earlier table may have had names, and an earlier mechanism further attributes.
        for name in [name for name in self.__dict__ if name.endswith("_")]:
            del self.__dict__[name]
        self.__dict__.update(fitted)
        return self

    def _counted(
        self,
        X: Any,
        y: Any,
        sensitive_features: Any,
        sample_weight: Any,
        known: CountedRows | None,
    ) -> CountedRows:
        """Count the pairs of S and X in a table, with a target if it is needed."""
        if isinstance(X, CountedRows):
            if sensitive_features is not None or sample_weight is not None:
                raise InvalidParameterError(
                    "sensitive_features and sample_weight cannot be used if X is CountedRows: "
                    "leave them out."
                )
            if self.needs_target and y is not None:
                raise InvalidParameterError(
                    "y cannot be used if X is CountedRows: pass it as target= to CountedRows.of."
                )
            return X
        table = Table(X)
        layout = self._layout_for(table, sensitive_features is not None, known)
        s_columns = layout.sensitive_columns(table, sensitive_features)
        weight = checked_weight(sample_weight, table.n_rows)
        table.check_order(sample_weight, "sample_weight")
        if self.needs_target:
            self._check_target(y)
        columns = (s_columns, layout.useful_columns(table))
        plan = self._counting_plan(known)
        # Others ignore y: cells, too, once they are learnt.
        target = y if self.needs_target or (self.cells is not None and known is None) else None
        table.check_order(target, "y")
        rows = counted_columns(columns, layout, y=target, weight=weight, plan=plan)
        return replace(rows, beside=tuple(self._beside(table, s_columns)))

    def _counting_plan(self, known: CountedRows | None) -> CountingPlan:
        """Say how rows are counted: in the cells and bins of earlier rows, if there are any."""
        if known is not None:
            return CountingPlan(known.cells, target=self.needs_target, bins=known.target)
        return CountingPlan(self.cells, self.confidence is not None, target=self.needs_target)

    def _check_target(self, target: Any) -> None:
        if target is None:
            raise InvalidParameterError(
                f"{type(self).__name__} keeps what is known about a target, but there is none: "
                "call fit(X, y), or count rows with CountedRows.of(..., target=y)."
            )

    def _layout_for(self, table: Table, given: bool, known: CountedRows | None) -> Layout:
        """Find the columns in the first table, or check that a later table has them."""
        if known is None:
            layout = Layout.of(table, self.sensitive, self.useful, given)
        else:
            layout = known.layout
            if (not layout.sensitive) != given:
                raise InvalidParameterError(
                    "Pass sensitive_features= in all batches or in none; the first batch took S "
                    f"from {layout.sensitive_name}."
                )
            named = ("sensitive", "useful", "cells")
            self._check_unchanged(n for n in self._parameters if n.partition("__")[0] in named)
        passed = self.remainder == "passthrough"
        layout.check(table, type(self).__name__, sensitive=not given, rest=passed)
        return layout

    def _beside(self, table: Table, s_columns: Sequence[Any] | None) -> list[str]:
        """List what is released with the rows of a table without protection."""
        return concerns(table, s_columns, index=self.index == "keep")

    @checked
    def result_for(self, rows: CountedRows) -> Result:
        """Run the mechanism on counted rows without fitting the estimator or warning.

        .. versionadded:: 0.2

        Parameters
        ----------
        rows : CountedRows
            Counts of the rows.

        Returns
        -------
        MechanismResult
            What ``fit`` stores as ``result_``.
        """
        if not isinstance(rows, CountedRows):
            raise InvalidParameterError(
                f"rows must be CountedRows, such as CountedRows.of(X, 's', 'x'), not "
                f"{type(rows).__name__}."
            )
        rows.checked(self.sensitive, self.useful, self.cells)
        if rows.cells is not None and self.confidence is not None and not rows.cells.summary.apart:
            raise InvalidParameterError(
                f"confidence={self.confidence} needs cells that were learnt from other rows than "
                "those counted: count them by CountedRows.of(..., apart=True)."
            )
        if rows.cells is not None and self.confidence is not None:
            empty = int((rows.counts.counts.sum(axis=0) == 0).sum())
            if empty:  # rows may fall into them that the confidence set knows nothing of
                raise InvalidParameterError(
                    f"confidence={self.confidence} needs rows in all cells, but {empty:,} of "
                    f"{rows.cells.summary.n_cells:,} have none among those counted: use fewer or "
                    "larger cells, for example min_samples_leaf=30 of a tree, or more rows."
                )
        joint = rows.counts.joint(self.smoothing)
        if joint.shape[0] < 2:
            raise InvalidParameterError(
                f"The sensitive column {rows.layout.sensitive_name} has only one value, "
                f"{joint.sensitive_labels[0]!r} (n_samples={rows.n_rows}): there is nothing to "
                "protect. Pass rows with at least two sensitive values."
            )
        over = confidence_set(rows.counts, self.confidence)
        return self._mechanism_for(rows)(joint, self._make_notion(), over)

    def _make_notion(self) -> Notion:
        notion = make_notion(
            self.notion,
            self.epsilon,
            lam=self.lam,
            alpha=self.alpha,
            supported=self._supported_notions,
        )
        if self.confidence is not None and not notion.supports_confidence:
            raise InvalidParameterError(
                f"confidence={self.confidence} supports the notions "
                f"{', '.join(map(repr, POLYHEDRAL_NOTIONS))}, but not {notion}; use one of them or "
                "confidence=None."
            )
        return notion

    def _warnings(self, rows: CountedRows, result: Result) -> Iterator[Warning]:
        """Yield warnings about a result."""

        def build(over: ConfidenceSet | None) -> Result:
            return self._mechanism_for(rows)(result.joint, result.notion, over)

        yield from confidence_warnings(result, build)
        if result.status == "time_limit" and result.utility_kept < _NOTHING:
            yield UselessReleaseWarning(
                "The search reached its time_limit, and the output says nothing about what was to "
                "be kept: raise time_limit, merge rare values before fit, or raise epsilon."
            )
        known = result.report.target
        if known is not None and known.input < _NOTHING:
            yield UselessReleaseWarning(
                "The columns say nothing about the target y, so there is nothing to keep: pass a y "
                "with at least two values that depend on the useful columns, or use "
                "utility='useful'."
            )
        if self.remainder == "passthrough" and rows.layout.rest:
            yield UnprotectedColumnsWarning(
                f"remainder='passthrough' releases {', '.join(rows.layout.rest_names)} unchanged: "
                "the guarantee does not cover them."
            )
        yield from warnings_beside(rows.beside)

    def _fitted(self, rows: CountedRows, result: Result) -> dict[str, object]:
        """Return all fitted attributes, public and private."""
        layout = rows.layout
        releaser = self._make_releaser(result, rows)
        encoder = RowEncoder(result.joint, layout, pairs=self.needs_sensitive, cells=rows.cells)
        return {
            "_encoder": encoder,
            "_releaser": releaser,
            # Copy lists, which could be changed in place.
            "_parameters": {
                name: list(value) if isinstance(value, list) else value
                for name, value in self.get_params().items()
            },
            "n_features_in_": len(layout.names),
            **layout.feature_names,
            "counted_": rows,
            **({} if rows.cells is None else {"cells_": rows.cells}),
            "layout_": layout,
            "result_": result,
            "joint_": result.joint,
            "notion_": result.notion,
            "channel_": result.channel,
            "report_": result.report,
            "guarantee_": self._guarantee(rows, result, draws=releaser.draws),
            **self._known(result, layout),
        }

    def _guarantee(self, rows: CountedRows, result: Result, *, draws: bool) -> Guarantee:
        layout = rows.layout
        passed = layout.rest_names if self.remainder == "passthrough" else []
        # Not all sanitisers have this parameter.
        handle_unknown = self.get_params(deep=False).get("handle_unknown", "error")
        randomized = draws or handle_unknown == "resample"
        return Guarantee(
            promise=result.notion,
            achieved=dict(result.report.levels_promised),
            holds=result.report.satisfied,
            confidence=None if result.over is None else result.over.confidence,
            smoothing=self.smoothing,
            weighted=rows.counts.weighted,
            # With a confidence set weights are whole numbers, which count rows.
            n_rows=rows.n_rows if result.over is None else result.over.n_rows,
            sensitive=layout.sensitive_name,
            columns=tuple(layout.useful_names),
            unprotected=(*passed, *rows.beside),
            handle_unknown=handle_unknown,
            randomized=randomized,
            secret_randomness=self.random_state is None or not randomized,
            sees_sensitive=self.needs_sensitive,
            cells=None if rows.cells is None else rows.cells.summary,
        )

    def fitted_parameters(self) -> dict[str, Any]:
        """Return the parameters that the mechanism was fitted with.

        .. versionadded:: 0.2

        Returns
        -------
        dict
            Unlike those of :meth:`get_params`, not affected by a later :meth:`set_params`.
        """
        check_is_fitted(self)
        return {name: value for name, value in self._parameters.items() if "__" not in name}

    def _check_ready(self) -> None:
        """Refuse an estimator that is not fitted, or whose parameters changed after fit."""
        check_is_fitted(self)
        validate(self)
        # The form of the output and the progress shown do not affect the guarantee.
        self._check_unchanged([name for name in self._parameters if name not in _FREE])

    def _check_unchanged(self, names: Iterable[str]) -> None:
        now = self.get_params()
        changed = [name for name in names if not _same(now.get(name), self._parameters[name])]
        if changed:
            raise InvalidParameterError(
                f"{', '.join(changed)} of {type(self).__name__} changed after fit, but the "
                "mechanism and its guarantee did not: call fit again."
            )


def _same(now: Any, fitted: Any) -> bool:
    if isinstance(now, np.ndarray) or isinstance(fitted, np.ndarray):
        return bool(np.array_equal(now, fitted))
    return now is fitted or (type(now) is type(fitted) and bool(now == fitted))


def warnings_beside(found: Iterable[str]) -> Iterator[Warning]:
    if listed := "; ".join(found):
        yield UnprotectedColumnsWarning(
            f"Released with the rows, and not covered by the guarantee: {listed}. Use index='drop' "
            "to leave the index out, and skliftpriv.shuffle_rows to shuffle the released rows."
        )
