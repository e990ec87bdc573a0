"""The shell that every sanitiser shares: fit, then sample and answer with a table."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Tags

from ..exceptions import SeededReleaseWarning
from ..frames import Table
from ..frequencies import FrequencyMethod
from ._fitting import FittingShell, Result, warnings_beside
from ._parameters import in_container

__all__ = ["LiftSanitizer"]


class LiftSanitizer(FittingShell[Result]):
    """Base of all sanitisers; a subclass says which mechanism it is.

    A subclass implements :meth:`_build`. One with other parameters has a constructor of its own,
    and extends ``_parameter_constraints`` by those that are its own.
    """

    def transform(self, X: Any, *, sensitive_features: Any = None) -> Any:
        """Release a sanitised version of the useful column(s).

        Parameters
        ----------
        X : table of the same kind and columns as at ``fit``
            The sensitive column may be missing from a data frame, unless the mechanism looks at
            it (``needs_sensitive``). The order of columns does not matter there.
        sensitive_features : array-like of shape (n_rows,), optional
            The sensitive values, for a mechanism that looks at them, if they are not a column of
            X; they go before one. Other mechanisms do not use them.

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
        """Draw an output for every row, as a number, however ``output`` writes it.

        Parameters
        ----------
        X, sensitive_features
            As in :meth:`transform`.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_bits)
            Positions in ``channel_.outputs``, or bits for unary encoding. This is a release like
            that of :meth:`transform`: drawing the same rows twice is not covered.
        """
        return self._draw(self._table(X, sensitive_features), sensitive_features)

    def encode(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Encode the rows as numbers of what the mechanism takes in; nothing is drawn.

        Parameters
        ----------
        X, sensitive_features
            As in :meth:`transform`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Positions in ``joint_.useful_labels``, or of pairs (s, x) for a mechanism that looks
            at S; -1 for values that were not seen at ``fit`` if ``handle_unknown`` lets them
            pass.
        """
        return self._codes(self._table(X, sensitive_features), sensitive_features)

    @property
    def _rest(self) -> tuple[int, ...]:
        """Columns that are released as they are."""
        return self.layout_.rest if self.remainder == "passthrough" else ()

    def _table(self, X: Any, sensitive_features: Any) -> Table:
        """Read rows that are to be released."""
        self._check_ready()
        table = Table(X, allow_empty=True)
        needed = self.needs_sensitive and sensitive_features is None
        self.layout_.check(table, type(self).__name__, sensitive=needed, rest=bool(self._rest))
        return table

    def _codes(self, table: Table, sensitive_features: Any) -> np.ndarray:
        advice = None
        if self.handle_unknown == "error":
            advice = "Fit on data that holds them."
            if "handle_unknown" in self._parameters:
                advice = (
                    "Fit on data that holds them, or use handle_unknown='resample' to replace "
                    "them by a draw from the released distribution."
                )
        return self._encoder.codes(table, sensitive_features, refuse=advice)

    def _draw(self, table: Table, sensitive_features: Any) -> np.ndarray:
        """Draw an output for every row, with warnings about what nothing protects."""
        codes = self._codes(table, sensitive_features)
        s_columns = self.layout_.sensitive_columns(table) if self.layout_.holds_s(table) else None
        beside = self._beside(table, s_columns)
        for warning in warnings_beside(b for b in beside if b not in self.guarantee_.unprotected):
            warnings.warn(warning, stacklevel=4)
        if self.random_state is not None and (self._releaser.draws or (codes < 0).any()):
            warnings.warn(
                "random_state is set: the noise comes from a seed, and what is released is not "
                "private. Use random_state=None for everything but experiments.",
                SeededReleaseWarning,
                stacklevel=4,
            )
        return self._releaser.sample(codes, self.random_state)

    def estimate_frequencies(
        self, Y: Any, method: FrequencyMethod = "least_squares"
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
