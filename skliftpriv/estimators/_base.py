"""The shell that every sanitiser shares: validate, count, build, certify, sample, answer."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ..distribution import JointDistribution
from ..exceptions import (
    InvalidParameterError,
    UnknownCategoryError,
    UnprotectedColumnsWarning,
)
from ..frames import (
    ColumnKey,
    ContingencyTable,
    SymbolEncoder,
    Table,
    as_columns,
    checked_weight,
)
from ..notions import Notion
from ..sampling import RandomState
from ._guarantee import Guarantee
from ._layout import Layout
from ._parameters import COMMON, NOTIONS, checked, in_container, make_notion
from ._release import Releaser

__all__ = ["LiftSanitizer"]


class LiftSanitizer(TransformerMixin, BaseEstimator, ABC):
    """Base of all sanitisers; a subclass says which mechanism it is.

    A subclass declares its parameters, extends ``_parameter_constraints`` by those that are its
    own, and implements :meth:`_build`. Everything else is here.
    """

    #: Notions that the mechanism can enforce.
    _supported_notions: ClassVar[Sequence[str]] = NOTIONS
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON

    # Lets Pipeline, GridSearchCV and ColumnTransformer pass S when metadata routing is enabled.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"sensitive_features": True}
    __metadata_request__partial_fit: ClassVar[dict[str, Any]] = {"sensitive_features": True}

    def __init__(
        self,
        sensitive: ColumnKey | None,
        useful: ColumnKey | Sequence[ColumnKey] | None,
        *,
        notion: str,
        epsilon: float | Sequence[float],
        lam: float,
        smoothing: float,
        output: str,
        remainder: str,
        handle_unknown: str,
        random_state: RandomState,
    ) -> None:
        self.sensitive = sensitive
        self.useful = useful
        self.notion = notion
        self.epsilon = epsilon
        self.lam = lam
        self.smoothing = smoothing
        self.output = output
        self.remainder = remainder
        self.handle_unknown = handle_unknown
        self.random_state = random_state

    @abstractmethod
    def _build(self, *args: Any, **promise: Any) -> Any:
        """Run the mechanism for (joint, notion) and what :meth:`_promise` returns."""

    def _make_releaser(self, result: Any, layout: Layout) -> Any:
        """Make what samples outputs and writes them as columns."""
        return Releaser(result.certified.weights, result.channel, result.joint.p_x, layout)

    def _known(self, result: Any) -> dict[str, Any]:
        """Fitted attributes that only this mechanism has."""
        return {}

    @checked
    def fit(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Self:
        """Estimate the joint distribution of S and X and build the mechanism for it.

        Parameters
        ----------
        X : pandas or polars DataFrame, pyarrow Table, or array-like of shape (n_rows, n_columns)
            Table with the useful column(s) and, unless ``sensitive_features`` is given, the
            sensitive one.
            Columns of a pandas frame whose names are not text are read by position, and come
            back as an array.
        y : None
            Ignored; there for pipelines.
        sensitive_features : array-like of shape (n_rows,), optional
            The sensitive values, when they are not a column of X. Several columns are one
            joint symbol.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row in the estimate.

        Returns
        -------
        self
        """
        return self._fit(X, sensitive_features, sample_weight, None)

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
        known = self._counts if hasattr(self, "_counts") else None
        return self._fit(X, sensitive_features, sample_weight, known)

    def _fit(
        self,
        X: Any,
        sensitive_features: Any,
        sample_weight: Any,
        known: ContingencyTable | None,
    ) -> Self:
        self._make_notion()  # a wrong notion is said before any row is counted
        table = Table(X)
        if known is None:
            layout = Layout.of(table, self.sensitive, self.useful, sensitive_features is not None)
        else:
            layout = self._layout
            if (layout.sensitive is None) != (sensitive_features is not None):
                raise InvalidParameterError(
                    "S comes from sensitive_features= in all batches or in none, and the first "
                    f"one took it from {layout.sensitive_name}."
                )
            layout.check(table, type(self).__name__, sensitive_needed=sensitive_features is None)
        counts = self._count(table, layout, sensitive_features, sample_weight)
        if known is not None:
            counts = known + counts
        # Nothing is set before everything has succeeded, so a failed fit leaves no trace.
        fitted = self._fitted_to(counts, layout)
        if known is None:
            validate_data(self, X, skip_check_array=True)
        self.__dict__.update(fitted)
        return self

    @checked
    def _fit_counted(self, counts: ContingencyTable, layout: Layout) -> Self:
        """Fit to rows that are counted already, for a caller who cannot hold all of them."""
        self.__dict__.update(self._fitted_to(counts, layout))
        return self

    def _fitted_to(self, counts: ContingencyTable, layout: Layout) -> dict[str, Any]:
        """Build the mechanism for counted rows and return what a fit sets."""
        result = self._result_for(counts, layout)
        self._warn(result, counts)
        if self.remainder == "passthrough" and layout.rest:
            warnings.warn(
                f"remainder='passthrough' releases {', '.join(layout.rest_names)} as they are: "
                "the guarantee does not cover them.",
                UnprotectedColumnsWarning,
                stacklevel=5,
            )
        return self._fitted(counts, layout, result.joint, result)

    def _count(
        self, table: Table, layout: Layout, sensitive_features: Any, sample_weight: Any = None
    ) -> ContingencyTable:
        """Count the pairs of S and X in a table."""
        s_columns = self._sensitive_columns(table, layout, sensitive_features)
        weight = checked_weight(sample_weight, table.n_rows)
        _check_order(table, sample_weight, "sample_weight")
        return ContingencyTable.count(s_columns, layout.useful_columns(table), weight)

    @checked
    def _result_for(self, counts: ContingencyTable, layout: Layout) -> Any:
        """Run the mechanism on rows that are counted already, as often as a sweep needs it."""
        joint = counts.joint(self.smoothing)
        if joint.shape[0] < 2:
            raise InvalidParameterError(
                f"The sensitive column {layout.sensitive_name} holds one value only, "
                f"{joint.sensitive_labels[0]!r} (n_samples={counts.n_rows}): there is nothing to "
                "protect. Pass rows with at least two sensitive values."
            )
        return self._build(joint, self._make_notion(), **self._promise(counts))

    def _promise(self, counts: ContingencyTable) -> dict[str, Any]:
        """Tell the mechanism for which distributions the promise is to hold."""
        return {}

    def _n_counted(self, counts: ContingencyTable) -> int:
        """Tell how many rows the promise rests on."""
        return counts.n_rows

    def _warn(self, result: Any, counts: ContingencyTable) -> None:
        """Warn about a result that the user will not like."""

    def _make_notion(self) -> Notion:
        return make_notion(
            self.notion,
            self.epsilon,
            lam=self.lam,
            alpha=getattr(self, "alpha", 2.0),
            supported=self._supported_notions,
        )

    def _sensitive_columns(self, table: Table, layout: Layout, given: Any) -> list[Any]:
        if given is None:
            return [layout.sensitive_column(table)]
        columns = as_columns(given, "sensitive_features")
        _check_order(table, given, "sensitive_features")
        if len(columns[0]) != table.n_rows:
            raise InvalidParameterError(
                f"sensitive_features has {len(columns[0])} rows, but X has {table.n_rows}."
            )
        return columns

    def _fitted(
        self,
        counts: ContingencyTable,
        layout: Layout,
        joint: JointDistribution,
        result: Any,
    ) -> dict[str, Any]:
        """Fitted attributes, public and private."""
        report = result.report
        guarantee = Guarantee(
            notion=str(result.notion),
            budget=dict(result.notion.budget),
            achieved=dict(report.levels_promised),
            holds=report.satisfied,
            confidence=getattr(self, "confidence", None),  # not all mechanisms have it
            smoothing=self.smoothing,
            n_rows=self._n_counted(counts),
            sensitive=layout.sensitive_name,
            columns=tuple(layout.useful_names),
            secret_randomness=self.random_state is None,
        )
        return {
            "_counts": counts,
            "_layout": layout,
            "_encoder": SymbolEncoder(joint.useful_labels),
            "_releaser": self._make_releaser(result, layout),
            "joint_": joint,
            "notion_": result.notion,
            "channel_": result.channel,
            "report_": report,
            "guarantee_": guarantee,
            **self._known(result),
        }

    def transform(self, X: Any) -> Any:
        """Release a sanitised version of the useful column(s).

        Parameters
        ----------
        X : table of the same kind and columns as at ``fit``
            The sensitive column may be missing from a data frame, and the order of its columns
            does not matter.

        Returns
        -------
        table of the same kind
            The sensitive column is dropped. See ``output`` and ``remainder``.
        """
        check_is_fitted(self)
        table = Table(X, allow_empty=True)
        self._layout.check(table, type(self).__name__, sensitive_needed=False)
        return self._release(table, self._useful_codes(table))

    def _release(self, table: Table, codes: np.ndarray) -> Any:
        """Draw an output for every input code and answer with a table of the same kind."""
        drawn = self._releaser.sample(codes, self.random_state)
        rest = self._layout.rest if self.remainder == "passthrough" else ()
        columns = self._releaser.columns(table, drawn, self.output, rest)
        return in_container(table.build(columns), self)

    def _useful_codes(self, table: Table) -> np.ndarray:
        """Codes of the useful symbols, -1 for values that were not seen at fit."""
        codes, unknown = self._encoder.codes(self._layout.useful_columns(table))
        if unknown and self.handle_unknown == "error":
            shown = ", ".join(map(repr, unknown[:5]))
            raise UnknownCategoryError(
                f"{', '.join(self._layout.useful_names)}: {len(unknown)} value(s) not seen at "
                f"fit, or with weight 0 only, such as {shown}, in {int((codes < 0).sum())} row(s). "
                "Fit on data that holds them, or use handle_unknown='resample' to replace them by "
                "a draw from the released distribution."
            )
        return codes

    def estimate_frequencies(
        self, Y: Any, method: Literal["least_squares", "ibu"] = "least_squares"
    ) -> pd.DataFrame:
        """Estimate how often each value of X occurred, from what was released.

        Parameters
        ----------
        Y : table
            Rows that :meth:`transform` released, from this or other data.
        method : {"least_squares", "ibu"}, default="least_squares"
            Invert the channel subject to non-negativity, or iterate the Bayesian update until
            the likelihood is at its maximum.

        Returns
        -------
        pandas.DataFrame
            A row per value of X with its ``estimate`` and ``standard_error``. The error is
            infinite where the release merges a value with others, so that the estimate rests on
            the distribution seen at ``fit``.
        """
        check_is_fitted(self)
        found = self._releaser.frequencies(Table(Y, what="Y"), self.output, method)
        return pd.DataFrame(
            {"estimate": found.estimate, "standard_error": found.standard_error},
            index=pd.Index(found.symbols, name="value", tupleize_cols=False),
        )

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns that :meth:`transform` returns.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of X, only for arrays without names.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        rest = self._layout.rest if self.remainder == "passthrough" else ()
        layout = self._layout.renamed(input_features)
        names = self._releaser.names(layout, self.output, rest)
        return np.asarray(names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _check_order(table: Table, given: Any, name: str) -> None:
    """Refuse values that have the index of the table, but are not in its order."""
    if table.reordered(given):
        raise InvalidParameterError(
            f"{name} has the index of X in another order, and rows are matched by position: pass "
            f"{name}.loc[X.index]."
        )
