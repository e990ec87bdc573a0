"""Tables in and out: pandas, polars and pyarrow through narwhals, and numpy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_array

from .._arrays import Label
from ..exceptions import InvalidParameterError

__all__ = ["ColumnKey", "LabelColumn", "Table", "as_columns", "checked_weight"]

Codes = NDArray[np.intp]
ColumnKey = str | int


@dataclass(frozen=True)
class LabelColumn:
    """A column that repeats few labels: ``labels[codes]``."""

    labels: Sequence[Label]
    codes: Codes


class Table:
    """A table of any supported kind, read by column and answered in the same kind.

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
        frame = _as_frame(X, what)
        self.frame: nw.DataFrame[Any] | None = frame
        unnamed = isinstance(X, pd.DataFrame) and frame is None
        self._numbers_as_names = list(X.columns) if unnamed else []
        if frame is None:
            self.array: Any = _as_values(X)
            self.names: list[str] | None = None
            self.n_rows, self.n_columns = self.array.shape
            return
        self.names = list(frame.columns)
        self.n_rows, self.n_columns = frame.shape
        if self.n_columns == 0 or (self.n_rows == 0 and not allow_empty):
            raise InvalidParameterError(
                f"Found array with {self.n_rows} sample(s) and {self.n_columns} feature(s) "
                f"(shape={frame.shape}) while a minimum of 1 is required."
            )

    @property
    def numeric(self) -> bool:
        """Whether this is an array of numbers, which has no room for names of merged symbols."""
        return self.frame is None and self.array.dtype.kind in "biuf"

    def position(self, key: ColumnKey, parameter: str) -> int:
        """Position of a column given by name or index."""
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
            return self.names.index(key)
        if not -self.n_columns <= key < self.n_columns:
            raise InvalidParameterError(
                f"{parameter}={key} is out of range: X has {self.n_columns} columns "
                f"(n_features={self.n_columns})."
            )
        position = int(key) % self.n_columns
        if key in self._numbers_as_names and self._numbers_as_names.index(key) != position:
            raise InvalidParameterError(
                f"{parameter}={key} is the index of one column and the name of another; give the "
                "columns names that are text, X.columns = X.columns.astype(str)."
            )
        return position

    def reordered(self, other: Any) -> bool:
        """Tell whether a pandas object has the index of this table, in another order."""
        own = None if self.frame is None else getattr(nw.to_native(self.frame), "index", None)
        index = getattr(other, "index", None)
        if not (isinstance(own, pd.Index) and isinstance(index, pd.Index)):
            return False
        return len(own) == len(index) and not own.equals(index) and set(own) == set(index)

    def column(self, key: ColumnKey) -> Any:
        """Return one column by name or position: a narwhals series or a one-dimensional array."""
        if self.frame is None:
            return self.array[:, key]
        return self.frame.get_column(key if isinstance(key, str) else self.frame.columns[key])

    def pick(self, names: Sequence[str], what: str) -> list[Any]:
        """Return the columns with these names, or the first ones of an array without names."""
        keys: Sequence[ColumnKey] = range(len(names)) if self.names is None else names
        return [self.column(self.position(key, what)) for key in keys]

    def build(self, columns: dict[str, LabelColumn | np.ndarray | Any]) -> Any:
        """Make a table of the same kind, with the same index, from named columns.

        A value is a :class:`LabelColumn`, an array of numbers or a column of this table.
        """
        if self.frame is None:
            return _stacked([_as_array(column) for column in columns.values()])
        backend = self.frame.implementation
        series = {
            name: column if isinstance(column, nw.Series) else _as_series(name, column, backend)
            for name, column in columns.items()
        }
        if backend is nw.Implementation.PANDAS:
            # Rows keep their place and their index, whatever index the single columns have.
            arrays = {name: nw.to_native(column).array for name, column in series.items()}
            return pd.DataFrame(arrays, index=nw.to_native(self.frame).index)
        # Unlike nw.from_dict, select keeps types such as pyarrow's dictionaries.
        return nw.to_native(self.frame.select(*(c.alias(name) for name, c in series.items())))


def _as_frame(X: Any, what: str) -> nw.DataFrame[Any] | None:
    try:
        frame = nw.from_native(X, pass_through=True, allow_series=True)
        names = frame.columns if isinstance(frame, nw.DataFrame) else []
    except nw.exceptions.DuplicateError as error:
        raise InvalidParameterError(
            f"The column names of {what} must be unique. {error}"
        ) from error
    if isinstance(frame, nw.LazyFrame):
        raise InvalidParameterError(f"{what} is a lazy frame; call collect() on it first.")
    if isinstance(frame, nw.Series):
        raise InvalidParameterError(
            f"{what} is a single column (Expected 2D array, got 1D array instead); "
            f"pass a data frame, for example {what}[['name']]."
        )
    if not isinstance(frame, nw.DataFrame):
        return None
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidParameterError(f"The column names of {what} must be unique; {twice!r} is not.")
    # Like scikit-learn, names that are not text are no names: read by position.
    return frame if all(isinstance(name, str) for name in names) else None


def _as_values(X: Any, **options: Any) -> np.ndarray:
    """Read numbers, text or objects, missing values included; refuse everything else."""
    array = check_array(X, dtype=None, ensure_all_finite=False, **options)
    if not hasattr(X, "dtype") and array.dtype.kind == "U":
        # NumPy writes the numbers and missing values of a list as text when text is among them.
        array = check_array(X, dtype=object, ensure_all_finite=False, **options)
    return array


def _as_series(name: str, column: LabelColumn | np.ndarray, backend: Any) -> nw.Series[Any]:
    if isinstance(column, LabelColumn):
        texts = [None if label is None else str(label) for label in column.labels]
        return nw.new_series(name, texts, nw.String, backend=backend)[column.codes]
    return nw.new_series(name, column, backend=backend)


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
    """Read one or several columns given on their own, such as ``sensitive_features``."""
    series = nw.from_native(values, pass_through=True, series_only=True)
    if isinstance(series, nw.Series):
        return [series]
    if _as_frame(values, what) is None:
        array = _as_values(values, ensure_2d=False)
        return [array] if array.ndim == 1 else list(array.T)
    table = Table(values, what=what)
    return [table.column(i) for i in range(table.n_columns)]


def checked_weight(weight: Any, n_rows: int) -> np.ndarray | None:
    """Return weights of rows as numbers, or say what is wrong with them."""
    if weight is None:
        return None
    try:
        values = np.asarray(weight, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(f"sample_weight must hold numbers: {error}.") from error
    if values.shape != (n_rows,):
        raise InvalidParameterError(
            f"sample_weight.shape == {values.shape}, expected ({n_rows},): one weight per row."
        )
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        raise InvalidParameterError(
            f"sample_weight must be finite and non-negative, but row {bad[0]} has {values[bad[0]]}."
        )
    if not values.any():
        raise InvalidParameterError("sample_weight is zero for every row.")
    return values


def _listing(names: Sequence[Any], most: int = 12) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"
