"""The order of symbols: that of numbers and dates, or of the categories of a column."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

import narwhals as nw
import pandas as pd

from .._arrays import Label

__all__ = ["SymbolOrder", "category_order", "naturally_ordered", "sort_symbols"]


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


class SymbolOrder:
    """Places new symbols among known ones by their order.

    Parameters
    ----------
    symbols : sequence of labels
        The known symbols in their order; a missing value may come last.
    order : sequence of labels, optional
        All categories in their order; by default the symbols are numbers, dates or times.
    """

    def __init__(self, symbols: Sequence[Label], order: Sequence[Label] | None = None) -> None:
        #: The categories in their order; None for the order of numbers, dates or times.
        self.categories = None if order is None else tuple(order)
        self._places = None if order is None else {label: i for i, label in enumerate(order)}
        # Known symbols that an order does not list, as text beside categories, have no place.
        keys = [(self._key(symbol), i) for i, symbol in enumerate(symbols)]
        self._keys = [key for key, _ in keys if key is not None]
        self._codes = [i for key, i in keys if key is not None]

    def code(self, symbol: Label) -> int:
        """Return the number of the next lower known symbol, or of the lowest; -1 for neither.

        A missing value, and a symbol of another kind than the known ones, have no place.
        """
        key = self._key(symbol)
        if key is None or not self._keys or key[:-1] != self._keys[0][:-1]:
            return -1
        return self._codes[max(bisect_right(self._keys, key) - 1, 0)]

    def _key(self, symbol: Label) -> tuple[Any, ...] | None:
        if symbol is None:
            return None
        if self._places is None:
            return _sort_key(symbol)
        return (self._places[symbol],) if symbol in self._places else None


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
