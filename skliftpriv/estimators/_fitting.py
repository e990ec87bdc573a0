"""How a sanitiser is fitted: validate, count rows, build the mechanism, warn and store."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

from ..cells import CellsSummary
from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..exceptions import (
    InvalidParameterError,
    UnprotectedColumnsWarning,
    UselessReleaseWarning,
)
from ..frames import SymbolOrder
from ..mechanisms import ChannelResult, MechanismResult, PartitionResult
from ..notions import NOTIONS, POLYHEDRAL_NOTIONS, Notion, make_notion
from ._confidence import confidence_warnings
from ._counted_rows import CountedRows
from ._counting_rows import CountingShell
from ._guarantee import Guarantee
from ._layout import Layout
from ._parameters import checked
from ._release import Release, advice_on_unknown, instead_of_seeing
from ._releaser import Releaser, SymbolReleaser
from ._releasing import warnings_beside
from ._row_encoder import RowEncoder
from ._state import Result, copied
from ._values import PublicValues

__all__ = ["FittingShell", "Mechanism"]

#: Largest NMI that counts as 0, for rounding errors.
_NOTHING = 1e-9
#: A search that keeps a smaller share is warned of.
_LITTLE = 1e-3

Mechanism = Callable[[JointDistribution, Notion, ConfidenceSet | None], Result]


class FittingShell(CountingShell[Result]):
    """The part of a sanitiser that builds the mechanism for counted rows."""

    #: Notions that the mechanism can enforce.
    _supported_notions: ClassVar[Sequence[str]] = NOTIONS

    # With metadata routing, Pipeline, GridSearchCV and ColumnTransformer pass S on.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"sensitive_features": True}
    __metadata_request__partial_fit: ClassVar[dict[str, Any]] = {"sensitive_features": True}

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
        options = {"cells": rows.cells, "types": rows.types, "pool": rows.pool}
        return SymbolReleaser.of(result, rows.layout, **options)

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
        X : pandas or polars DataFrame, pyarrow Table, lazy frame, array-like or CountedRows
            Table of shape (n_rows, n_columns) with the useful column(s) and, unless
            ``sensitive_features`` is given, the sensitive one(s); or rows that are already counted.
            A pandas frame whose column names are not text is read by position, and ``transform``
            returns an array. A lazy frame, such as that of polars, is counted by its library.
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
        self._check_records()
        rows = self._counted(X, y, sensitive_features, sample_weight, known)
        rows = rows if known is None else known + rows
        values = self._public_values(rows)
        result = self._result_for(values)
        for warning in self._warnings(values, result):
            warnings.warn(warning, stacklevel=4)
        # Attributes are set only when all has succeeded, so a failed fit leaves no trace.
        fitted = {**self._fitted(values, result), "counted_": rows}
        # An earlier table may have had names, and an earlier mechanism further attributes.
        for name in [name for name in self.__dict__ if name.endswith("_")]:
            del self.__dict__[name]
        self.__dict__.update(fitted)
        return self

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
        return self._result_for(self._public_values(rows))

    def _public_values(self, rows: CountedRows) -> PublicValues:
        """Check counted rows against lists of values, and pool rare ones."""
        rows.checked(self.sensitive, self.useful, self.cells, self.groups)
        return PublicValues(rows, self.categories, self.min_count)

    def _result_for(self, values: PublicValues) -> Result:
        rows = values.rows
        if rows.cells is not None and self.confidence is not None:
            _check_apart(rows, rows.cells.summary, f"confidence={self.confidence}")
        joint = rows.counts.joint(self.smoothing)
        if joint.shape[0] < 2:
            raise InvalidParameterError(
                f"The sensitive column {rows.layout.sensitive_name} has only one value, "
                f"{joint.sensitive_labels[0]!r} (n_samples={rows.n_rows}): there is nothing to "
                "protect. Pass rows with at least two sensitive values."
            )
        over = values.confidence_set(self.confidence)
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

    def _warnings(self, values: PublicValues, result: Result) -> Iterator[Warning]:
        """Yield warnings about a result."""
        rows = values.rows

        def build(over: ConfidenceSet | None) -> Result:
            return self._mechanism_for(rows)(result.joint, result.notion, over)

        yield from confidence_warnings(result, build, closed=values.useful.closed)
        if result.status in ("time_limit", "no_progress") and result.utility_kept < _LITTLE:
            yield UselessReleaseWarning(
                f"The search ended ({result.status}), and the output says nothing about what was "
                f"to be kept, or less than {_LITTLE:.1%} of it: raise time_limit, merge rare "
                "values of S or X before fit, or raise epsilon."
            )
        if rows.cells is not None and rows.cells.summary.n_cells == 1:
            yield UselessReleaseWarning(
                "All rows are in one cell, so that the release says nothing about them: pass "
                "columns in which rows differ, with categories of at least 30 rows each."
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

    def _fitted(self, values: PublicValues, result: Result) -> dict[str, object]:
        """Return all fitted attributes, public and private."""
        rows = values.rows
        layout = rows.layout
        release = self._make_release(result, values)
        return {
            "_parameters": copied(self.get_params()),
            "n_features_in_": len(layout.names),
            **layout.feature_names,
            **({} if rows.cells is None else {"cells_": rows.cells}),
            "layout_": layout,
            "release_": release,
            "result_": result,
            "joint_": result.joint,
            "n_sensitive_": result.joint.shape[0],
            "notion_": result.notion,
            "channel_": result.channel,
            "report_": result.report,
            "guarantee_": self._guarantee(values, result, release),
            **self._known(result, layout),
        }

    def _make_release(self, result: Result, values: PublicValues) -> Release:
        """Collect what is needed to release rows."""
        rows = values.rows
        joint, cells, named = result.joint, rows.cells, self.get_params(deep=False)
        order = None
        if _places_new_values(result):
            order = SymbolOrder(joint.useful_labels, rows.counts.order)
        encoder = RowEncoder(
            joint.useful_labels,
            rows.layout,
            sensitive=joint.sensitive_labels if self.needs_sensitive else None,
            cells=None if cells is None else cells.settled(joint.useful_labels, joint.p_x),
            order=order,
            members=values.members,
            lists=(values.useful, values.sensitive),
        )
        return Release(
            who=type(self).__name__,
            layout=rows.layout,
            encoder=encoder,
            releaser=self._make_releaser(result, rows),
            advice=advice_on_unknown(named.get("handle_unknown")),
            blind=instead_of_seeing(named),
            records=self._records_in(rows.layout),
        )

    def _guarantee(self, values: PublicValues, result: Result, release: Release) -> Guarantee:
        rows, order = values.rows, release.encoder.order
        layout, summary = rows.layout, values.summary(order)
        passed = layout.rest_names if self.remainder == "passthrough" else []
        # Not all sanitisers have this parameter.
        handle_unknown = self.get_params(deep=False).get("handle_unknown", "error")
        drawn = summary is not None and summary.draws(sees_sensitive=self.needs_sensitive)
        randomized = release.releaser.draws or drawn or handle_unknown == "resample"
        records = release.records
        over = result.over if isinstance(result.over, ConfidenceSet) else None
        return Guarantee(
            promise=result.notion,
            achieved=dict(result.report.levels_promised),
            holds=result.report.satisfied,
            confidence=None if over is None else over.confidence,
            smoothing=self.smoothing,
            weighted=rows.counts.weighted,
            # With a confidence set weights are whole numbers, which count rows.
            n_rows=rows.n_rows if over is None else over.n_rows,
            sensitive=layout.sensitive_name,
            columns=tuple(layout.useful_names),
            unprotected=(*passed, *rows.beside),
            handle_unknown=handle_unknown,
            randomized=randomized,
            secret_randomness=self.random_state is None or not randomized,
            sees_sensitive=self.needs_sensitive,
            cells=None if rows.cells is None else rows.cells.summary,
            places_new_values=order is not None,
            record_id=None if records is None else records.name,
            groups=rows.groups,
            keyed=self.secret is not None,
            values=summary,
        )


def _check_apart(rows: CountedRows, cells: CellsSummary, name: str) -> None:
    """Refuse cells that a confidence set of the counted rows does not know all about."""
    if not cells.apart:
        raise InvalidParameterError(
            f"{name} needs cells that were learnt from other rows than those counted: count them "
            "by CountedRows.of(..., apart=True)."
        )
    of_s, of_cells = (rows.counts.counts.sum(axis=axis) for axis in (1, 0))
    empty = int((of_cells == 0).sum())
    if empty:  # rows may fall into them
        raise InvalidParameterError(
            f"{name} needs rows in all cells, but {empty:,} of {cells.n_cells:,} have none among "
            "those counted: use fewer or larger cells, for example min_samples_leaf=30 of a tree, "
            "or more rows."
        )
    uncounted = [s for s, n in zip(rows.counts.sensitive, of_s, strict=True) if n == 0]
    if uncounted:
        raise InvalidParameterError(
            f"{name} needs counted rows of all values of {rows.layout.sensitive_name}, but "
            f"{uncounted[0]!r} is only in rows that cells were learnt from, or without weight: "
            "pool rare sensitive values before fit, or use more rows."
        )


def _places_new_values(result: MechanismResult) -> bool:
    """Tell whether values that were not seen at fit belong to a range.

    The estimated distribution gives them probability 0, so that the levels do not change. In a
    confidence set they have no place: which values are seen depends on the rows.
    """
    return isinstance(result, PartitionResult) and result.ordered and result.over is None
