"""Base of all sanitisers: fit, then sample outputs and write them as a table."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Tags

from ..exceptions import InvalidParameterError, SeededReleaseWarning
from ..frames import Table
from ..frequencies import FrequencyMethod
from ._counted_rows import CountedRows
from ._fitting import FittingShell, Result, warnings_beside
from ._parameters import in_container

__all__ = ["LiftSanitizer"]


class LiftSanitizer(FittingShell[Result]):
    """Base of all sanitisers.

    A subclass runs its mechanism in :meth:`_build`, and overrides :meth:`_make_releaser` if its
    outputs are not symbols.
    """

    def transform(self, X: Any, *, sensitive_features: Any = None) -> Any:
        """Release a sanitised version of the useful column(s).

        Parameters
        ----------
        X : table of the same kind and columns as at ``fit``
            A data frame may lack the sensitive column, unless the mechanism needs it
            (``needs_sensitive``), and its columns may be in any order.
        sensitive_features : array-like of shape (n_rows,), optional
            The sensitive values, for a mechanism that needs them. They take precedence over a
            column of X. Other mechanisms ignore them.

        Returns
        -------
        table of the same kind
            The sensitive column is dropped. See ``output`` and ``remainder``.
        """
        table = self._table(X, sensitive_features)
        drawn = self._draw(table, sensitive_features)
        columns = self._releaser.columns(table, drawn, self.output, self._rest)
        keep_index = self.index == "keep"
        released = table.build(columns, keep_index=keep_index)
        return in_container(released, self, keep_index=keep_index)

    def fit_transform(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Any:
        """Fit and release the same rows; parameters are those of :meth:`fit`."""
        self.fit(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight)
        return self.transform(X, sensitive_features=sensitive_features)

    def sample_outputs(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Draw an output for every row, as a number whatever ``output`` is.

        .. versionadded:: 0.2

        Parameters
        ----------
        X, sensitive_features
            As in :meth:`transform`.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_bits)
            Positions in ``channel_.outputs``, or bits for unary encoding. Publishing them counts
            as a release, as with :meth:`transform`: a second draw of the same rows is not covered.
        """
        return self._draw(self._table(X, sensitive_features), sensitive_features)

    def encode(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Encode the rows as numbers of the inputs of the mechanism; nothing is drawn.

        .. versionadded:: 0.2

        Parameters
        ----------
        X, sensitive_features
            As in :meth:`transform`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Positions in ``joint_.useful_labels``, or of pairs (s, x) for a mechanism that needs S;
            -1 for values not seen at ``fit`` if ``handle_unknown="resample"``.
        """
        return self._codes(self._table(X, sensitive_features), sensitive_features)

    @property
    def _rest(self) -> tuple[int, ...]:
        """Positions of the columns that are released unchanged."""
        return self.layout_.rest if self.remainder == "passthrough" else ()

    def _table(self, X: Any, sensitive_features: Any) -> Table:
        """Read and check a table of rows to sanitise."""
        self._check_ready()
        if isinstance(X, CountedRows):
            raise InvalidParameterError(
                "X is CountedRows, which only fit and partial_fit take: pass rows."
            )
        table = Table(X, allow_empty=True)
        needed = self.needs_sensitive and sensitive_features is None
        if needed:
            self._check_sees(table)
        self.layout_.check(table, type(self).__name__, sensitive=needed, rest=bool(self._rest))
        return table

    def _check_sees(self, table: Table) -> None:
        """Refuse a table without S, which the mechanism looks at."""
        layout = self.layout_
        lacks = "S is not a column of X: "
        if layout.sensitive:
            missing = layout.missing(table, layout.sensitive)
            # If useful columns are missing as well, layout.check lists all in scikit-learn's words.
            if not missing or layout.missing(table, layout.useful):
                return
            lacks = f"X lacks {', '.join(map(repr, missing))}: pass a table that has it, or "
        instead = "fit a sanitiser that does not, such as ORRSanitizer"
        if "use_sensitive" in self._parameters:
            instead = "fit with use_sensitive=False"
        raise InvalidParameterError(
            f"{type(self).__name__} looks at the sensitive values of the rows that it releases, "
            f"but {lacks}pass sensitive_features=. If they are not at hand, {instead}."
        )

    def _codes(self, table: Table, sensitive_features: Any) -> np.ndarray:
        advice = None
        if self.guarantee_.handle_unknown == "error":
            advice = "Fit on data that contains them."
            if "handle_unknown" in self._parameters:
                advice = (
                    "Fit on data that contains them, or use handle_unknown='resample' to replace "
                    "them by a draw from the distribution of the output."
                )
        return self._encoder.codes(table, sensitive_features, refuse=advice)

    def _draw(self, table: Table, sensitive_features: Any) -> np.ndarray:
        """Draw an output for every row, and warn of what is not protected."""
        codes = self._codes(table, sensitive_features)
        known = sensitive_features is not None or self.layout_.holds_s(table)
        s_columns = self.layout_.sensitive_columns(table, sensitive_features) if known else None
        beside = self._beside(table, s_columns)
        for warning in warnings_beside(b for b in beside if b not in self.guarantee_.unprotected):
            warnings.warn(warning, stacklevel=4)
        if self.random_state is not None and (self._releaser.draws or (codes < 0).any()):
            warnings.warn(
                "random_state is set: the noise comes from a seed, so the release is not private. "
                "Use random_state=None except in experiments.",
                SeededReleaseWarning,
                stacklevel=4,
            )
        return self._releaser.sample(codes, self.random_state)

    def estimate_frequencies(
        self, Y: Any, method: FrequencyMethod = "least_squares"
    ) -> pd.DataFrame:
        """Estimate the distribution of X from released rows.

        Parameters
        ----------
        Y : table
            Rows returned by :meth:`transform`, for these or other data.
        method : {"least_squares", "ibu"}, default="least_squares"
            Invert the channel subject to non-negativity, or maximise the likelihood by iterative
            Bayesian updates.

        Returns
        -------
        pandas.DataFrame
            One row per value of X with its ``estimate`` and ``standard_error``. The error is
            infinite if the mechanism merges the value with others, so the estimate depends on the
            distribution seen at ``fit``.
        """
        self._check_ready()
        found = self._releaser.frequencies(Table(Y, what="Y"), self.output, method)
        return pd.DataFrame(
            {"estimate": found.estimate, "standard_error": found.standard_error},
            index=pd.Index(found.symbols, name="value", tupleize_cols=False),
        )

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that :meth:`transform` returns.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of X, only for arrays without names.

        Returns
        -------
        ndarray of str
        """
        self._check_ready()
        layout = self.layout_.renamed(input_features)
        names = self._releaser.names(layout, self.output, self._rest)
        return np.asarray(names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags
