"""Read and write tables: pandas, polars and pyarrow through narwhals, and NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from narwhals.dependencies import get_pyarrow, is_pyarrow_table
from numpy.typing import NDArray
from sklearn.utils import check_array

from .._arrays import Label
from ..exceptions import InvalidParameterError
from ._types import ColumnType

__all__ = ["ColumnKey", "LabelColumn", "Table", "as_columns", "checked_weight", "is_stream"]

Codes = NDArray[np.intp]
ColumnKey = str | int


@dataclass(frozen=True)
class LabelColumn:
    """A column ``labels[codes]`` with few distinct labels.

    Attributes
    ----------
    labels : sequence
        The labels; data frames get them as text.
    codes : ndarray of int
        Position of the label of each row.
    like : ColumnType, optional
        A type of the same kind of data frame, which the labels get instead of becoming text.
    """

    labels: Sequence[Label]
    codes: Codes
    like: ColumnType | None = None


class Table:
    """A table of any supported kind, read by column and written back in the same kind.

    Parameters
    ----------
    X : pandas or polars DataFrame, pyarrow Table, or 2-D array-like
        The table.
    allow_empty : bool, default=False
        Whether a frame may have no rows.
    what : str, default="X"
        Name of the table in messages.
    """

    def __init__(self, X: Any, *, allow_empty: bool = False, what: str = "X") -> None:
        self._what = what
        #: The index of a pandas frame, which is released with its rows; None for other tables.
        self.index = X.index if isinstance(X, pd.DataFrame) else None
        names, frame = _as_frame(X, what)
        self.frame: nw.DataFrame[Any] | None = frame
        unnamed = isinstance(X, pd.DataFrame) and frame is None
        self._numbers_as_names = list(X.columns) if unnamed else []
        if frame is None:
            # Columns are found by position, so names that are not text may repeat.
            values = X.set_axis(range(X.shape[1]), axis=1) if unnamed else X
            self.array: Any = _as_values(values)
            self.names: list[str] | None = None
            self.n_rows, self.n_columns = self.array.shape
            return
        self.names = names
        self.n_rows, self.n_columns = len(X), len(names)
        if self.n_columns == 0 or (self.n_rows == 0 and not allow_empty):
            shape = (self.n_rows, self.n_columns)
            raise InvalidParameterError(
                f"Found array with {self.n_rows} sample(s) and {self.n_columns} feature(s) "
                f"(shape={shape}) while a minimum of 1 is required."
            )

    @property
    def numeric(self) -> bool:
        """Whether this is an array of numbers, which cannot hold names of merged symbols."""
        return self.frame is None and self.array.dtype.kind in "biuf"

    def position(self, key: ColumnKey, parameter: str) -> int:
        """Return the position of a column given by name or index."""
        if isinstance(key, bool) or not isinstance(key, str | int | np.integer):
            raise InvalidParameterError(f"{parameter} must be a column name or index, not {key!r}.")
        if isinstance(key, str):
            if self.names is None:
                raise InvalidParameterError(
                    f"{parameter}={key!r} is a name, but X is an array without column names; "
                    "pass a data frame or use the index of the column."
                )
            if key not in self.names:
                raise InvalidParameterError(
                    f"{parameter}={key!r} is not a column of X. Columns: {_listing(self.names)}."
                )
            self.check_unique(key)
            return self.names.index(key)
        if not -self.n_columns <= key < self.n_columns:
            raise InvalidParameterError(
                f"{parameter}={key} is out of range: X has {self.n_columns} columns "
                f"(n_features={self.n_columns})."
            )
        position = int(key) % self.n_columns
        if key in self._numbers_as_names and self._numbers_as_names.index(key) != position:
            raise InvalidParameterError(
                f"{parameter}={key} is the index of one column and the name of another; make all "
                "names text by X.columns = X.columns.astype(str)."
            )
        return position

    def check_unique(self, name: str) -> None:
        """Refuse a name that several columns have."""
        n_columns = 0 if self.names is None else self.names.count(name)
        if n_columns > 1:
            raise InvalidParameterError(
                f"{n_columns} columns of {self._what} are called {name!r}. Columns that are used "
                "need unique names: rename all but one, or use other columns."
            )

    def check_order(self, other: Any, name: str) -> None:
        """Refuse a pandas object whose index is that of this table in another order."""
        own, index = self.index, getattr(other, "index", None)
        if own is None or not isinstance(index, pd.Index):
            return
        if len(own) == len(index) and not own.equals(index) and set(own) == set(index):
            raise InvalidParameterError(
                f"{name} has the index of X in another order, but rows are matched by position: "
                f"pass {name}.loc[X.index]."
            )

    def column(self, key: ColumnKey) -> Any:
        """Return one column by name or position: a narwhals series or a one-dimensional array."""
        if self.frame is None or self.names is None:
            return self.array[:, key]
        name = key if isinstance(key, str) else self.names[key]
        self.check_unique(name)
        return self.frame.get_column(name)

    def pick(self, names: Sequence[str], what: str) -> list[Any]:
        """Return the columns with these names, or the first ones of an array without names."""
        keys: Sequence[ColumnKey] = range(len(names)) if self.names is None else names
        return [self.column(self.position(key, what)) for key in keys]

    def build(
        self, columns: dict[str, LabelColumn | np.ndarray | Any], *, keep_index: bool = True
    ) -> Any:
        """Make a table of the same kind from named columns, for the same rows.

        Parameters
        ----------
        columns : dict
            A value is a :class:`LabelColumn`, an array of numbers or a column of this table.
        keep_index : bool, default=True
            Whether a pandas frame keeps its index, or gets a new one.
        """
        if self.frame is None:
            return _stacked([_as_array(column) for column in columns.values()])
        backend = self.frame.implementation
        if backend is nw.Implementation.PANDAS:
            # Columns may have another index; rows are matched by position.
            arrays = {name: _as_pandas(name, column) for name, column in columns.items()}
            return pd.DataFrame(arrays, index=self.index if keep_index else None, copy=False)
        series = {
            name: column if isinstance(column, nw.Series) else _as_series(name, column, backend)
            for name, column in columns.items()
        }
        # Unlike nw.from_dict, select keeps types such as pyarrow's dictionaries.
        return nw.to_native(self.frame.select(*(c.alias(name) for name, c in series.items())))


def _as_frame(X: Any, what: str) -> tuple[list[str], nw.DataFrame[Any] | None]:
    """Return the names of all columns, and a frame of the columns with unique names."""
    names = _names_of(X)
    if len(set(names)) < len(names):
        unique = [place for place, name in enumerate(names) if names.count(name) == 1]
        X = X.iloc[:, unique] if isinstance(X, pd.DataFrame) else X.select(unique)
    frame = nw.from_native(X, pass_through=True, allow_series=True)
    if isinstance(frame, nw.LazyFrame):
        raise InvalidParameterError(f"{what} is a lazy frame; call collect() on it first.")
    if is_stream(X):
        raise InvalidParameterError(
            f"{what} is a RecordBatchReader, which can be read only once: call read_all() on it "
            "first, or pass its batches one by one."
        )
    if isinstance(frame, nw.Series):
        raise InvalidParameterError(
            f"{what} is a single column (Expected 2D array, got 1D array instead); "
            f"pass a data frame, for example {what}[['name']]."
        )
    if not isinstance(frame, nw.DataFrame):
        return [], None
    names = names or list(frame.columns)
    text = [name for name in names if isinstance(name, str)]
    if 0 < len(text) < len(names):
        strange = next(name for name in names if not isinstance(name, str))
        raise InvalidParameterError(
            f"Some column names of {what} are strings, but {strange!r} is not: rename it, for "
            f"example by {what}.columns = {what}.columns.astype(str)."
        )
    # As in scikit-learn, names that are not text are ignored: columns are read by position.
    return (names, frame) if len(text) == len(names) else ([], None)


def is_stream(X: Any) -> bool:
    """Tell whether X is a pyarrow RecordBatchReader."""
    arrow = get_pyarrow()
    return arrow is not None and isinstance(X, arrow.RecordBatchReader)


def _names_of(X: Any) -> list[Any]:
    """List the column names of a pandas or pyarrow table, which may hold duplicates."""
    if isinstance(X, pd.DataFrame):
        return list(X.columns)
    return list(X.column_names) if is_pyarrow_table(X) else []


def _as_values(X: Any, **options: Any) -> np.ndarray:
    """Read an array of numbers, text or objects; missing values are allowed."""
    array = check_array(X, dtype=None, ensure_all_finite=False, **options)
    if not hasattr(X, "dtype") and array.dtype.kind == "U":
        # NumPy turns numbers and missing values into text if the list also holds text.
        array = check_array(X, dtype=object, ensure_all_finite=False, **options)
    return array


def _as_series(name: str, column: LabelColumn | np.ndarray, backend: Any) -> nw.Series[Any]:
    if not isinstance(column, LabelColumn):
        return nw.new_series(name, column, backend=backend)
    return _distinct_labels(name, column, backend)[column.codes]


def _distinct_labels(name: str, column: LabelColumn, backend: Any) -> nw.Series[Any]:
    if column.like is not None:
        return column.like.series(name, column.labels)
    texts = [None if label is None else str(label) for label in column.labels]
    return nw.new_series(name, texts, nw.String, backend=backend)


def _as_pandas(name: str, column: LabelColumn | np.ndarray | nw.Series[Any]) -> Any:
    """Return an array of its own for a column of a pandas frame, without an index of its own."""
    if isinstance(column, nw.Series):
        return nw.to_native(column).array.copy()
    if not isinstance(column, LabelColumn):
        return np.array(column)
    labels = _distinct_labels(name, column, nw.Implementation.PANDAS)
    return nw.to_native(labels).array.take(column.codes)


def _as_array(column: LabelColumn | np.ndarray) -> np.ndarray:
    if not isinstance(column, LabelColumn):
        return column
    labels = np.empty(len(column.labels), dtype=object)
    for code, label in enumerate(column.labels):
        labels[code] = label
    return labels[column.codes]


def _stacked(columns: list[np.ndarray]) -> np.ndarray:
    if any(column.dtype.kind not in "biuf" for column in columns):
        columns = [column.astype(object) for column in columns]
    return np.column_stack(columns)


def as_columns(values: Any, what: str) -> list[Any]:
    """Read one or several columns passed on their own, such as ``sensitive_features``."""
    series = nw.from_native(values, pass_through=True, series_only=True)
    if isinstance(series, nw.Series):
        return [series]
    if _as_frame(values, what)[1] is None:
        array = _as_values(values, ensure_2d=False)
        return [array] if array.ndim == 1 else list(array.T)
    table = Table(values, what=what)
    return [table.column(i) for i in range(table.n_columns)]


def checked_weight(weight: Any, n_rows: int, name: str = "sample_weight") -> np.ndarray | None:
    """Return the weights of rows as numbers; refuse invalid ones."""
    if weight is None:
        return None
    try:
        values = np.asarray(weight, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(f"{name} must hold numbers: {error}.") from error
    if values.shape != (n_rows,):
        raise InvalidParameterError(
            f"{name}.shape == {values.shape}, expected ({n_rows},): one number per row."
        )
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        raise InvalidParameterError(
            f"{name} must be finite and non-negative, but row {bad[0]} has {values[bad[0]]}."
        )
    if not values.any():
        raise InvalidParameterError(f"{name} is zero for every row.")
    return values


def _listing(names: Sequence[Any], most: int = 12) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"
