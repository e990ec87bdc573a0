"""Types of columns without their values, and columns of a given type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from .._arrays import Label
from ..exceptions import InvalidParameterError
from ._order import sort_symbols

__all__ = ["ColumnType"]


@dataclass(frozen=True)
class ColumnType:
    """The type of a column of a data frame or an array.

    Attributes
    ----------
    backend : nw.Implementation or None
        The kind of data frame; None for an array.
    dtype : dtype or None
        The type in pandas, or in narwhals for other frames; None for one that holds the values.
    keeps : bool
        Whether it is for numbers, booleans or dates, which labels of the same kind keep.
    """

    backend: Any
    dtype: Any
    keeps: bool

    @classmethod
    def of(cls, column: Any) -> ColumnType:
        """Return the type of a narwhals series or a one-dimensional array."""
        if not isinstance(column, nw.Series):
            return cls(None, np.asarray(column).dtype, False)
        backend, dtype = column.implementation, column.dtype
        keeps = bool(dtype.is_numeric() or dtype.is_temporal() or dtype == nw.Boolean)
        if backend is nw.Implementation.POLARS and (
            dtype == nw.Time or getattr(dtype, "time_unit", None) == "ns"
        ):
            keeps = False  # built from Python values, these would lose their nanoseconds
        if backend is not nw.Implementation.PANDAS:
            return cls(backend, dtype, keeps)
        native = nw.to_native(column).dtype
        if isinstance(native, pd.CategoricalDtype) and not native.ordered:
            native = pd.CategoricalDtype()  # the list of all values is of no use
        return cls(backend, native, keeps)

    def in_frame(self, found: ColumnType) -> ColumnType:
        """Return this type, or another one if it is not for the kind of frame of ``found``."""
        if self.backend is found.backend:
            return self
        # In pandas the type found may depend on the rows, as on whether a value is missing.
        in_pandas = found.backend is nw.Implementation.PANDAS
        return replace(found, dtype=None) if in_pandas else found

    def series(self, name: str, labels: Sequence[Label]) -> nw.Series[Any]:
        """Write labels as a column of this type, or of a type that holds them all.

        A categorical column has no other categories than the labels: further ones would be
        released with it, whether they occur or not.
        """
        labels = list(labels)
        try:
            values = self._typed(name, labels)
        # Narwhals asserts that it knows the type.
        except (AssertionError, TypeError, ValueError, OverflowError, NotImplementedError):
            values = None
        # A batch may have a narrower type than others.
        if values is not None and _holds(values, labels):
            return values
        try:
            values = nw.new_series(name, labels, backend=self.backend)
            if self.backend is nw.Implementation.PANDAS and not _holds(values, labels):
                # Large integers beside a missing value would become floats.
                native = pd.Series(labels, dtype=object, name=name)
                values = nw.from_native(native, series_only=True)
            return values
        except MemoryError:
            raise
        except Exception as error:  # libraries raise many kinds of error for mixed types
            library = str(self.backend).rpartition(".")[2].lower()
            kinds = sorted({type(label).__name__ for label in labels if label is not None})
            raise InvalidParameterError(
                f"The released column {name!r} holds values of the types {', '.join(kinds)}, which "
                f"{library} cannot hold in one column: convert the column to text before "
                "fit, or pass a pandas frame."
            ) from error

    def _typed(self, name: str, labels: list[Label]) -> nw.Series[Any] | None:
        dtype = self.dtype
        if dtype is None:
            return None
        if isinstance(dtype, pd.CategoricalDtype):
            order = dtype.categories.tolist() if dtype.ordered else None
            dtype = pd.CategoricalDtype(_categories(labels, order), ordered=bool(dtype.ordered))
        if isinstance(dtype, nw.Enum):
            dtype = nw.Enum([str(label) for label in _categories(labels, dtype.categories)])
        if self.backend is nw.Implementation.PANDAS:
            native = pd.Series(labels, dtype=dtype, name=name)
            return nw.from_native(native, series_only=True)
        if self.backend is nw.Implementation.PYARROW and dtype == nw.Categorical:
            # Narwhals 2.0 cannot make one.
            text = nw.new_series(name, labels, nw.String, backend=self.backend)
            native = nw.to_native(text).dictionary_encode()
            return nw.from_native(native, series_only=True).alias(name)
        return nw.new_series(name, labels, dtype, backend=self.backend)


def _categories(labels: Sequence[Label], order: Sequence[Label] | None) -> list[Label]:
    """Return the distinct labels in the order of the categories, without missing ones."""
    return sort_symbols({label for label in labels if label is not None}, order)


def _holds(values: nw.Series[Any], labels: Sequence[Label]) -> bool:
    """Tell whether a column holds exactly these labels, with None for missing values."""
    return all(
        bool(pd.isna(value)) if label is None else bool(value == label)
        for value, label in zip(values.to_list(), labels, strict=True)
    )
