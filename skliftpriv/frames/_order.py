"""The order of symbols: that of numbers and dates, or of the categories of a column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

import narwhals as nw
import pandas as pd

from .._arrays import Label

__all__ = ["category_order", "naturally_ordered", "sort_symbols"]


def category_order(columns: Sequence[Any]) -> tuple[Label, ...] | None:
    """Return the categories of an ordered categorical column in their order, else None.

    A pandas categorical or a pyarrow dictionary that is declared as ordered, or a polars Enum.
    Symbols of several columns have no order.
    """
    if len(columns) != 1 or not isinstance(columns[0], nw.Series):
        return None
    column = columns[0]
    native = nw.to_native(column)
    if column.implementation is nw.Implementation.PANDAS:
        dtype = native.dtype
        ordered = isinstance(dtype, pd.CategoricalDtype) and dtype.ordered
        return tuple(dtype.categories.tolist()) if ordered else None
    if column.implementation is nw.Implementation.PYARROW:
        return _dictionary_order(native) if column.dtype == nw.Categorical else None
    return tuple(column.dtype.categories) if isinstance(column.dtype, nw.Enum) else None


def _dictionary_order(native: Any) -> tuple[Label, ...] | None:
    """Return the values of a pyarrow dictionary that is ordered and the same in all chunks."""
    if not native.type.ordered or not native.num_chunks:
        return None
    found = {tuple(chunk.dictionary.to_pylist()) for chunk in native.chunks}
    return found.pop() if len(found) == 1 else None


def naturally_ordered(symbols: Iterable[Label]) -> bool:
    """Tell whether symbols are all numbers, or all dates or times of one kind; None is allowed."""
    known = [symbol for symbol in symbols if symbol is not None]
    if all(isinstance(symbol, int | float | Decimal) for symbol in known):
        return True
    kinds = {_sort_key(symbol)[:-1] for symbol in known}
    return len(kinds) == 1 and isinstance(known[0], date | time | timedelta)


def sort_symbols(symbols: Iterable[Label], order: Sequence[Label] | None = None) -> list[Label]:
    """Sort symbols of any type: numbers, text, dates and the rest, and missing values.

    With ``order`` symbols are sorted by their place in it, and those that it does not list follow.
    """
    if order is None:
        return sorted(symbols, key=_sort_key)
    place = {symbol: i for i, symbol in enumerate(order)}
    return sorted(symbols, key=lambda symbol: (place.get(symbol, len(place)), _sort_key(symbol)))


def _sort_key(symbol: Label) -> tuple[Any, ...]:
    if isinstance(symbol, tuple):
        return (4, *(_sort_key(part) for part in symbol))
    if symbol is None:
        return (3, "")
    if isinstance(symbol, int | float | Decimal):
        return (0, symbol)
    if isinstance(symbol, str):
        return (1, symbol)
    kind = type(symbol).__name__
    if isinstance(symbol, timedelta):
        return (2, kind, "", symbol)
    if isinstance(symbol, date | time):
        # Times with and without a zone cannot be compared.
        offset = getattr(symbol, "utcoffset", lambda: None)()
        return (2, kind, "local" if offset is None else "zoned", symbol)
    return (2, kind, str(symbol))
