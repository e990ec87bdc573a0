"""The shell that every sanitiser shares: validate, count, build, certify, sample, answer."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..exceptions import (
    InvalidParameterError,
    SeededReleaseWarning,
    UnknownCategoryError,
    UnprotectedColumnsWarning,
    UselessReleaseWarning,
)
from ..frames import (
    ContingencyTable,
    SymbolEncoder,
    Table,
    as_columns,
    checked_weight,
    concerns,
)
from ..notions import Notion
from ..sampling import RandomState
from ._guarantee import Guarantee
from ._layout import ColumnKeys, Layout
from ._parameters import COMMON, NOTIONS, checked, in_container, make_notion
from ._release import Releaser

__all__ = ["LiftSanitizer"]

#: Parameters that may change after fit.
_FREE = ("output", "verbose")
#: A share of X that rounding can leave.
_NOTHING = 1e-9


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
        sensitive: ColumnKeys | None,
        useful: ColumnKeys | None,
        *,
        notion: str,
        epsilon: float | Sequence[float],
        lam: float,
        smoothing: float,
        output: str,
        remainder: str,
        index: str,
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
        self.index = index
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
        given = sensitive_features is not None
        layout = self._layout_for(table, given, first=known is None)
        s_columns = self._sensitive_columns(table, layout, sensitive_features)
        counts = self._count(table, layout, s_columns, sample_weight)
        beside = self._beside(table, s_columns)
        if known is not None:
            counts = known + counts
            beside = [*dict.fromkeys([*self._beside_seen, *beside])]
        # Nothing is set before everything has succeeded, so a failed fit leaves no trace.
        return self._set(self._fitted_to(counts, layout, beside))

    def _set(self, fitted: dict[str, Any]) -> Self:
        """Set the attributes of a fit in one step."""
        self.__dict__.pop("feature_names_in_", None)  # an earlier table may have had names
        self.__dict__.update(fitted)
        return self

    def _layout_for(self, table: Table, given: bool, *, first: bool) -> Layout:
        """Find the columns in the first table, or check that a later one has them, too."""
        if first:
            layout = Layout.of(table, self.sensitive, self.useful, given)
        else:
            layout = self._layout
            if (not layout.sensitive) != given:
                raise InvalidParameterError(
                    "S comes from sensitive_features= in all batches or in none, and the first "
                    f"one took it from {layout.sensitive_name}."
                )
            self._check_unchanged(["sensitive", "useful"])
        passed = self.remainder == "passthrough"
        layout.check(table, type(self).__name__, sensitive=not given, rest=passed)
        return layout

    @checked
    def _fit_counted(self, counts: ContingencyTable, layout: Layout) -> Self:
        """Fit to rows that are counted already, for a caller who cannot hold all of them."""
        return self._set(self._fitted_to(counts, layout, []))

    def _fitted_to(
        self, counts: ContingencyTable, layout: Layout, beside: Sequence[str]
    ) -> dict[str, Any]:
        """Build the mechanism for counted rows and return what a fit sets."""
        result = self._result_for(counts, layout)
        self._warn(result, counts)
        if result.status == "time_limit" and result.nmi < _NOTHING:
            warnings.warn(
                "The search ended at its time_limit with a release that says nothing about X: give "
                "it more time, merge rare values before fit, or use SubsetMergingSanitizer.",
                UselessReleaseWarning,
                stacklevel=5,
            )
        if self.remainder == "passthrough" and layout.rest:
            warnings.warn(
                f"remainder='passthrough' releases {', '.join(layout.rest_names)} as they are: "
                "the guarantee does not cover them.",
                UnprotectedColumnsWarning,
                stacklevel=5,
            )
        _warn_beside(beside)
        return self._fitted(counts, layout, beside, result)

    def _beside(self, table: Table, s_columns: Sequence[Any] | None) -> list[str]:
        """List what is released with the rows of a table and is not protected."""
        return concerns(table, s_columns, index=self.index == "keep")

    def _count(
        self, table: Table, layout: Layout, s_columns: Sequence[Any], sample_weight: Any = None
    ) -> ContingencyTable:
        """Count the pairs of S and X in a table."""
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
            return layout.sensitive_columns(table)
        columns = as_columns(given, "sensitive_features")
        _check_order(table, given, "sensitive_features")
        if len(columns[0]) != table.n_rows:
            raise InvalidParameterError(
                f"sensitive_features has {len(columns[0])} rows, but X has {table.n_rows}."
            )
        return columns

    def _fitted(
        self, counts: ContingencyTable, layout: Layout, beside: Sequence[str], result: Any
    ) -> dict[str, Any]:
        """Fitted attributes, public and private."""
        releaser = self._make_releaser(result, layout)
        return {
            "_counts": counts,
            "_layout": layout,
            "_beside_seen": list(beside),
            "_encoder": SymbolEncoder(result.joint.useful_labels),
            "_releaser": releaser,
            # A list could be changed in place.
            "_parameters": {
                name: list(value) if isinstance(value, list) else value
                for name, value in self.get_params(deep=False).items()
            },
            "n_features_in_": len(layout.names),
            **layout.feature_names,
            "joint_": result.joint,
            "notion_": result.notion,
            "channel_": result.channel,
            "report_": result.report,
            "guarantee_": self._guarantee(counts, layout, beside, result, draws=releaser.draws),
            **self._known(result),
        }

    def _guarantee(
        self,
        counts: ContingencyTable,
        layout: Layout,
        beside: Sequence[str],
        result: Any,
        *,
        draws: bool,
    ) -> Guarantee:
        # Not all mechanisms have these two parameters.
        handle_unknown = getattr(self, "handle_unknown", "error")
        passed = layout.rest_names if self.remainder == "passthrough" else []
        randomized = draws or handle_unknown == "resample"
        return Guarantee(
            notion=str(result.notion),
            budget=dict(result.notion.budget),
            achieved=dict(result.report.levels_promised),
            holds=result.report.satisfied,
            confidence=getattr(self, "confidence", None),
            smoothing=self.smoothing,
            weighted=counts.weighted,
            n_rows=self._n_counted(counts),
            sensitive=layout.sensitive_name,
            columns=tuple(layout.useful_names),
            unprotected=(*passed, *beside),
            handle_unknown=handle_unknown,
            randomized=randomized,
            secret_randomness=self.random_state is None or not randomized,
        )

    def fitted_parameters(self) -> dict[str, Any]:
        """Return the parameters that the mechanism was fitted with.

        .. versionadded:: 0.2

        Returns
        -------
        dict
            Unlike :meth:`get_params` it does not follow a later :meth:`set_params`.
        """
        check_is_fitted(self)
        return dict(self._parameters)

    def _check_ready(self) -> None:
        """Refuse to release with other parameters than those that the guarantee is about."""
        check_is_fitted(self)
        # How an output is written, and what is shown on the way, promises nothing.
        self._check_unchanged([name for name in self._parameters if name not in _FREE])

    def _check_unchanged(self, names: Iterable[str]) -> None:
        now = self.get_params(deep=False)
        changed = [name for name in names if not _same(now[name], self._parameters[name])]
        if changed:
            raise InvalidParameterError(
                f"{', '.join(changed)} of {type(self).__name__} changed after fit, and the "
                "mechanism and its guarantee do not follow: call fit again."
            )

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
        table = self._table(X, sensitive=False)
        return self._release(table, self._useful_codes(table))

    def _table(self, X: Any, *, sensitive: bool) -> Table:
        """Read rows that are to be released; S must be among their columns or need not."""
        self._check_ready()
        table = Table(X, allow_empty=True)
        passed = self.remainder == "passthrough"
        self._layout.check(table, type(self).__name__, sensitive=sensitive, rest=passed)
        return table

    def _release(self, table: Table, codes: np.ndarray) -> Any:
        """Draw an output for every input code and answer with a table of the same kind."""
        s_columns = self._layout.sensitive_columns(table) if self._layout.holds_s(table) else None
        seen = self._beside_seen
        _warn_beside([what for what in self._beside(table, s_columns) if what not in seen])
        if self.random_state is not None and (self._releaser.draws or (codes < 0).any()):
            warnings.warn(
                "random_state is set: the noise comes from a seed, and what is released is not "
                "private. Use random_state=None for everything but experiments.",
                SeededReleaseWarning,
                stacklevel=4,
            )
        drawn = self._releaser.sample(codes, self.random_state)
        rest = self._layout.rest if self.remainder == "passthrough" else ()
        columns = self._releaser.columns(table, drawn, self.output, rest)
        keep_index = self.index == "keep"
        released = table.build(columns, keep_index=keep_index)
        return in_container(released, self, keep_index=keep_index)

    def _only_protected(self, output: str) -> Self:
        """Return a copy that releases the protected columns only, written in another way."""
        alone = copy(self)
        alone.remainder, alone.output = "drop", output
        alone._parameters = {**self._parameters, "remainder": "drop"}
        return alone

    def _useful_codes(self, table: Table) -> np.ndarray:
        """Codes of the useful symbols, -1 for values that were not seen at fit."""
        codes, unknown = self._encoder.codes(self._layout.useful_columns(table))
        if unknown and self.guarantee_.handle_unknown == "error":
            shown = ", ".join(map(repr, unknown[:5]))
            raise UnknownCategoryError(
                f"{', '.join(self._layout.useful_names)}: {len(unknown)} value(s) not seen at "
                f"fit, or with weight 0 only, such as {shown}, in {int((codes < 0).sum())} row(s). "
                f"Fit on data that holds them{self._resample_hint()}."
            )
        return codes

    def _resample_hint(self) -> str:
        if "handle_unknown" not in self._parameters:
            return ""
        return (
            ", or use handle_unknown='resample' to replace them by a draw from the released "
            "distribution"
        )

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
        self._check_ready()
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
        self._check_ready()
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


def _same(now: Any, fitted: Any) -> bool:
    if isinstance(now, np.ndarray) or isinstance(fitted, np.ndarray):
        return bool(np.array_equal(now, fitted))
    return now is fitted or (type(now) is type(fitted) and bool(now == fitted))


def _warn_beside(found: Sequence[str]) -> None:
    if not found:
        return
    warnings.warn(
        f"Released with the rows, and not covered by the guarantee: {'; '.join(found)}. "
        "index='drop' leaves the index out, and skliftpriv.shuffle_rows shuffles what is released.",
        UnprotectedColumnsWarning,
        stacklevel=6,
    )


def _check_order(table: Table, given: Any, name: str) -> None:
    """Refuse values that have the index of the table, but are not in its order."""
    if table.reordered(given):
        raise InvalidParameterError(
            f"{name} has the index of X in another order, and rows are matched by position: pass "
            f"{name}.loc[X.index]."
        )
