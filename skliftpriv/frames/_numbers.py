"""Columns of numbers, and some of the rows of a column."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._arrays import FloatArray

__all__ = ["as_numbers", "row_slices", "rows_of"]

#: Rows, and values in them, that are worked on at a time where memory shall not grow with rows.
_PART_ROWS = 100_000
_PART_VALUES = 4_000_000


def as_numbers(column: Any) -> FloatArray | None:
    """Read a column of numbers or dates as numbers, NaN where a value is missing.

    Parameters
    ----------
    column : narwhals Series or one-dimensional array
        The column. Dates are counted in microseconds.

    Returns
    -------
    ndarray of float, or None
        None if the column holds anything else, such as text, categories or booleans.
    """
    if isinstance(column, nw.Series):
        dtype = column.dtype
        if dtype.is_numeric():
            return _filled(column)
        if isinstance(dtype, nw.Date | nw.Datetime):
            return _filled(column.dt.timestamp("us"))
        if isinstance(dtype, nw.Duration):
            return _filled(column.dt.total_microseconds())
        if dtype != nw.Object:
            return None
        column = column.to_numpy()
    values = np.asarray(column)
    if values.dtype.kind in "iuf":
        return values.astype(float)
    if values.dtype.kind in "mM":
        missing = np.isnat(values)
        kind = "m8[us]" if values.dtype.kind == "m" else "M8[us]"
        return np.where(missing, np.nan, values.astype(kind).astype(np.int64).astype(float))
    return _numbers_in(values) if values.dtype.kind == "O" else None


def _filled(column: nw.Series[Any]) -> FloatArray:
    """Write a column of numbers as an array, NaN where a value is missing."""
    try:
        return np.asarray(column.cast(nw.Float64).fill_null(np.nan).to_numpy(), dtype=float)
    except ValueError:  # Arrow refuses integers that floats only come close to
        numbers = [np.nan if value is None else float(value) for value in column.to_list()]
        return np.array(numbers, dtype=float)


def _numbers_in(values: NDArray[np.object_]) -> FloatArray | None:
    """Read objects as numbers, or return None if some are not."""
    try:
        codes, distinct = pd.factorize(values)
    except TypeError:  # values such as lists, which are refused as categories
        return None
    plain = [v for v in distinct if isinstance(v, Real) and not isinstance(v, bool | np.bool_)]
    if len(plain) < len(distinct) or not plain:
        return None
    try:
        numbers = np.array([*plain, np.nan], dtype=float)
    except OverflowError:  # an integer beyond the range of floats
        return None
    return numbers[codes]


def row_slices(n_rows: int, n_columns: int = 1) -> Iterator[slice]:
    """Yield parts of a table of this size that are worked on one after the other.

    An empty table has one part.
    """
    size = min(_PART_ROWS, _PART_VALUES // n_columns + 1)
    for start in range(0, max(n_rows, 1), size):
        yield slice(start, min(start + size, n_rows))


def rows_of(column: Any, rows: NDArray[np.intp] | slice) -> Any:
    """Return some of the rows of a column: a narwhals series or a one-dimensional array."""
    return column[rows]
