"""How a sanitiser releases rows: sample outputs and write them as a table."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags

from ..channel import Channel
from ..exceptions import (
    InvalidParameterError,
    SeededReleaseWarning,
    UnprotectedColumnsWarning,
)
from ..frames import LazyTable, RowStream, Table, concerns
from ..frequencies import FrequencyMethod
from ..notions import Notion
from ..report import PrivacyReport
from ..sampling import RandomState, derived_stream
from ..secret import Secret, SecretLike, elsewhere, hidden
from ._counted_rows import CountedRows
from ._guarantee import Guarantee
from ._later import released_lazily
from ._layout import Layout
from ._parameters import in_container, refuse_container
from ._release import Release

__all__ = ["ReleasingShell", "warnings_beside"]


class ReleasingShell(TransformerMixin, BaseEstimator, ABC):
    """The part of a sanitiser that releases rows, which needs nothing that holds counts of S.

    A subclass sets the fitted attributes below, has the parameters below, and says in
    :meth:`_check_ready` whether it can release.

    .. versionadded:: 0.2
    """

    output: str
    remainder: str
    index: str
    random_state: RandomState
    secret: SecretLike | None = None

    #: For a copy that releases one table part by part: the key of all parts, and rows before.
    _key_of_all: Secret | None = None
    _first_row: int = 0

    release_: Release
    guarantee_: Guarantee
    notion_: Notion
    report_: PrivacyReport
    layout_: Layout
    channel_: Channel | None
    n_sensitive_: int

    # With metadata routing, Pipeline, GridSearchCV and ColumnTransformer pass S on.
    __metadata_request__transform: ClassVar[dict[str, Any]] = {"sensitive_features": True}

    def __setattr__(self, name: str, value: Any) -> None:
        # Bytes would be shown by every print-out of the parameters.
        if name == "secret" and value is not None:
            value = hidden(value)
        super().__setattr__(name, value)

    @abstractmethod
    def _check_ready(self) -> None:
        """Refuse to release if the sanitiser is not fitted."""

    @abstractmethod
    def fitted_parameters(self) -> dict[str, Any]:
        """Return the parameters that the mechanism was fitted with."""

    @property
    @abstractmethod
    def needs_sensitive(self) -> bool:
        """Whether the mechanism needs S at ``transform``."""

    def transform(self, X: Any, *, sensitive_features: Any = None) -> Any:
        """Release a sanitised version of the useful column(s).

        Parameters
        ----------
        X : table of the same columns as at ``fit``
            A data frame may lack the sensitive column, unless the mechanism needs it
            (``needs_sensitive``), and its columns may be in any order. A pyarrow RecordBatchReader
            is released as one, part by part while it is read. A lazy frame (polars, DuckDB, Ibis in
            DuckDB, Dask, PySpark), which may be computed several times, needs ``record_id``, so
            that every record keeps its value.
        sensitive_features : array-like of shape (n_rows,), optional
            The sensitive values, for a mechanism that needs them. They take precedence over a
            column of X. Other mechanisms ignore them.

        Returns
        -------
        table of the same kind
            The sensitive column is dropped. See ``output`` and ``remainder``.
        """
        later = self._released_later(X, sensitive_features)
        if later is not None:
            return later
        table = self._table(X, sensitive_features)
        drawn = self._draw(table, sensitive_features)
        columns = self.release_.columns(table, drawn, self.output, self._rest)
        keep_index = self.index == "keep"
        released = table.build(columns, keep_index=keep_index)
        return in_container(released, self, keep_index=keep_index)

    def transform_batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Release a table that comes in parts, as one release.

        Parts are released like a whole table by :meth:`transform`: with ``record_id`` and without
        a ``secret`` all parts share one fresh key, so that rows with the same id get the same
        output. Ids that repeat with different values are found only within a part.

        .. versionadded:: 0.2

        Parameters
        ----------
        batches : iterable of tables
            The parts. A mechanism that needs S finds it in their columns.

        Yields
        ------
        table of the same kind
            What :meth:`transform` returns for each part.
        """
        self._check_ready()
        whole = copy(self)
        whole._key_of_all = self._key()
        for part in batches:
            yield whole.transform(part)
            whole._first_row += Table(part, allow_empty=True).n_rows

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
            as a release, as with :meth:`transform`: a second draw of the same rows is not covered,
            unless it is the same because of ``record_id`` and ``secret``.
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
        return self.release_.codes(self._table(X, sensitive_features), sensitive_features)

    def _released_later(self, X: Any, sensitive_features: Any) -> Any:
        """Release a stream or a lazy frame as one; None if X is in memory."""
        stream, lazy = RowStream.of(X), LazyTable.of(X)
        if stream is None and lazy is None:
            return None
        self._check_ready()
        what = "A lazy frame" if stream is None else "A RecordBatchReader"
        if sensitive_features is not None:
            raise InvalidParameterError(
                f"{what} has to hold the sensitive values as a column if the mechanism needs them: "
                "leave out sensitive_features=."
            )
        refuse_container(self, what)
        if stream is not None:
            # A copy, because the parts are released later, when this may be fitted anew.
            parts = copy(self).transform_batches(stream.parts())
            return stream.written(self.transform(stream.empty).schema, parts)
        assert lazy is not None
        if self.random_state is not None:
            self._warn_of_seed()
        return released_lazily(
            lazy,
            self.release_,
            elsewhere(self.secret, self._key()),
            self.output,
            self._rest,
            keep_index=self.index == "keep",
        )

    @property
    def _rest(self) -> tuple[int, ...]:
        """Positions of the columns that are released unchanged."""
        return self.release_.layout.rest if self.remainder == "passthrough" else ()

    def _table(self, X: Any, sensitive_features: Any) -> Table:
        """Read and check a table of rows to sanitise."""
        self._check_ready()
        if isinstance(X, CountedRows):
            raise InvalidParameterError(
                "X is CountedRows, which only fit and partial_fit take: pass rows."
            )
        return self.release_.table(X, sensitive_features, rest=bool(self._rest))

    def _draw(self, table: Table, sensitive_features: Any) -> np.ndarray:
        """Draw an output for every row, and warn of what is not protected."""
        release = self.release_
        codes = release.codes(table, sensitive_features)
        known = sensitive_features is not None or release.layout.holds_s(table)
        s_columns = release.layout.sensitive_columns(table, sensitive_features) if known else None
        beside = self._beside(table, s_columns)
        for warning in warnings_beside(b for b in beside if b not in self.guarantee_.unprotected):
            warnings.warn(warning, stacklevel=4)
        if self.random_state is not None and (release.releaser.draws or (codes < 0).any()):
            self._warn_of_seed()
        key = self._key()
        if key is None:
            return release.sample(codes, self.random_state)
        return release.sample_keyed(table, codes, key, first_row=self._first_row)

    def _warn_of_seed(self) -> None:
        warnings.warn(
            "random_state is set: the noise comes from a seed, so the release is not private. "
            "Use random_state=None except in experiments.",
            SeededReleaseWarning,
            stacklevel=5,
        )

    def _key(self) -> Secret | None:
        """Return the key of this call; None if rows have no ids, so that all draws are fresh."""
        if self.release_.records is None or self._key_of_all is not None:
            return self._key_of_all
        if self.secret is not None:
            return Secret.read(self.secret)
        stream = derived_stream(self.random_state, b"records")
        return Secret.fresh() if stream is None else Secret(stream.bytes(32))

    def _beside(self, table: Table, s_columns: Sequence[Any] | None) -> list[str]:
        """List what is released with the rows of a table without protection."""
        return concerns(table, s_columns, index=self.index == "keep")

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
        found = self.release_.releaser.frequencies(Table(Y, what="Y"), self.output, method)
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
        layout = self.release_.layout.renamed(input_features)
        names = self.release_.releaser.names(layout, self.output, self._rest)
        return np.asarray(names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def warnings_beside(found: Iterable[str]) -> Iterator[Warning]:
    """Yield a warning about what is released without protection."""
    if listed := "; ".join(found):
        yield UnprotectedColumnsWarning(
            f"Released with the rows, and not covered by the guarantee: {listed}. Use index='drop' "
            "to leave the index out, and skliftpriv.shuffle_rows, or --shuffle on the command "
            "line, to shuffle the released rows."
        )
