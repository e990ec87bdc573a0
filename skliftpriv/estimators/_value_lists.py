"""Closed lists of the values of columns, which do not depend on the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Label
from ..exceptions import InvalidParameterError, UnknownCategoryError
from ..frames import SymbolOrder, encode_rows
from ..labels import as_parts
from ._layout import Layout

__all__ = ["Categories", "ValueLists", "check_listed", "sensitive_names", "value_lists"]

#: Values of columns, by name or index.
Categories = Mapping[str | int, Sequence[Any]]


class ValueLists:
    """Closed lists of the values of some columns that form one symbol.

    Parameters
    ----------
    columns : sequence of (tuple of labels or None)
        The values of each column, None for a column without a list.
    """

    def __init__(self, columns: Sequence[tuple[Label, ...] | None]) -> None:
        self.columns = tuple(columns)
        self._sets = [None if values is None else frozenset(values) for values in self.columns]

    @property
    def closed(self) -> bool:
        """Whether the values of all columns are listed."""
        return bool(self.columns) and all(values is not None for values in self.columns)

    @property
    def size(self) -> int:
        """Number of symbols, if the lists are closed: all combinations of values."""
        return prod(len(values) for values in self.columns if values is not None)

    def holds(self, symbol: Label) -> bool:
        """Tell whether a symbol consists of listed values, so that it may occur."""
        return self.closed and self.strange(symbol) is None

    def strange(self, symbol: Label) -> int | None:
        """Position of the first column whose list lacks the value in a symbol."""
        parts = as_parts(symbol) if len(self.columns) > 1 else (symbol,)
        for place, (part, known) in enumerate(zip(parts, self._sets, strict=True)):
            if known is not None and part not in known:
                return place
        return None

    def named(self, names: Iterable[str]) -> dict[str, tuple[Label, ...]]:
        """Return the lists by the names of their columns."""
        pairs = zip(names, self.columns, strict=False)
        return {name: values for name, values in pairs if values is not None}

    def n_unseen(self, seen: Sequence[Label], order: SymbolOrder | None = None) -> int:
        """Count symbols that are not among those seen, and have no place among them."""
        if not self.closed:
            return 0
        if order is None:
            return self.size - len(seen)
        return sum(order.code(symbol) < 0 for symbol in self.unseen(seen))

    def unseen(self, seen: Iterable[Label]) -> Iterator[Label]:
        """Yield the symbols that are not among those seen."""
        known = set(seen)
        listed = [values for values in self.columns if values is not None]
        symbols: Iterable[Label] = listed[0] if len(listed) == 1 else product(*listed)
        return (symbol for symbol in symbols if symbol not in known)


def sensitive_names(layout: Layout) -> list[str]:
    """Names of the sensitive columns, for lists of their values."""
    return list(layout.sensitive_names) or ["sensitive_features"]


def value_lists(categories: Categories | None, layout: Layout) -> tuple[ValueLists, ValueLists]:
    """Return the lists of the useful and of the sensitive columns."""
    given = {} if categories is None else categories
    if not isinstance(given, Mapping):
        raise InvalidParameterError(
            "categories must be a dict of columns and lists of their values, such as "
            f"{{'sex': ['female', 'male']}}, not {type(given).__name__}."
        )
    sensitive = sensitive_names(layout)
    found: dict[str, tuple[Label, ...]] = {}
    for key, values in given.items():
        (name,) = layout.named_by(key) if isinstance(key, str | int | np.integer) else [str(key)]
        if name not in (*layout.useful_names, *sensitive):
            known = ", ".join(map(repr, (*layout.useful_names, *sensitive)))
            raise InvalidParameterError(
                f"categories lists values of {key!r}, which is neither a useful nor a sensitive "
                f"column; these are {known}."
            )
        if name in found:
            raise InvalidParameterError(f"categories lists values of {name!r} twice.")
        found[name] = _listed(name, values)
    useful = ValueLists([found.get(name) for name in layout.useful_names])
    return useful, ValueLists([found.get(name) for name in sensitive])


def _listed(name: str, values: Any) -> tuple[Label, ...]:
    """Return the values of a list as labels: Python objects, and None for missing values."""
    array = isinstance(values, list | tuple | np.ndarray | pd.Index | pd.Series)
    if not array or np.ndim(values) > 1 or len(values) == 0:
        raise InvalidParameterError(
            f"categories[{name!r}] must be a list of values, such as ['a', 'b'], not {values!r}."
        )
    column = np.empty(len(values), dtype=object)
    column[:] = list(values)
    codes, labels = encode_rows([column])
    if len(labels) < codes.size:
        twice = labels[int(np.bincount(codes).argmax())]
        raise InvalidParameterError(f"categories[{name!r}] lists {twice!r} more than once.")
    return tuple(labels)


def check_listed(lists: ValueLists, names: Sequence[str], symbols: Iterable[Label]) -> None:
    """Refuse rows with values that the lists lack."""
    for symbol in symbols:
        place = lists.strange(symbol) if any(lists.columns) else None
        if place is None:
            continue
        value = as_parts(symbol)[place] if len(lists.columns) > 1 else symbol
        values = lists.columns[place] or ()
        alike = next((v for v in values if str(v) == str(value)), None)
        hint = f" (it lists {alike!r}, of another type)" if alike is not None else ""
        raise UnknownCategoryError(
            f"{names[place]}: the rows hold {value!r}, which is not among the {len(values):,} "
            f"values that categories lists{hint}. Add it to the list if it may occur, or leave "
            "its rows out."
        )
