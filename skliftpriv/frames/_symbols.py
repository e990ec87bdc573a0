"""Encode rows as numbered symbols and count pairs of symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Label
from .._limits import MOST_TABLE_CELLS, refuse_beyond
from ..distribution import JointDistribution
from ._factorize import Codes, Encoded, factorize
from ._order import SymbolOrder, category_order, naturally_ordered, sort_symbols

__all__ = ["ContingencyTable", "Encoded", "SymbolEncoder", "encode_rows", "paired", "ranked"]


def encode_rows(columns: Sequence[Any]) -> Encoded:
    """Encode rows as numbers: a code per row and the symbol of each code.

    Symbols are the values of one column, or tuples for several columns. Missing values (None,
    NaN, NA) become the symbol None.
    """
    codes, symbols = factorize(columns[0])
    if len(columns) == 1:
        return codes, symbols
    tuples: list[tuple[Label, ...]] = [(symbol,) for symbol in symbols]
    for column in columns[1:]:
        # Pairs are renumbered at every step, so codes stay below the number of rows.
        other, values = factorize(column)
        pairs, seen = pd.factorize(codes * len(values) + other)
        tuples = [(*tuples[pair // len(values)], values[pair % len(values)]) for pair in seen]
        codes = pairs.astype(np.intp, copy=False)
    return codes, list(tuples)


def ranked(encoded: Encoded) -> Codes:
    """Return codes that ascend with the symbols, rather than in the order of appearance."""
    codes, symbols = encoded
    rank = {symbol: i for i, symbol in enumerate(sort_symbols(symbols))}
    return np.array([rank[symbol] for symbol in symbols], dtype=np.intp)[codes]


def paired(one: Encoded, other: Encoded) -> Encoded:
    """Encode the pairs of symbols of two encodings of the same rows."""
    count = max(len(other[1]), 1)
    codes, seen = pd.factorize(one[0] * count + other[0])
    pairs: list[Label] = [(one[1][pair // count], other[1][pair % count]) for pair in seen]
    return codes.astype(np.intp, copy=False), pairs


class SymbolEncoder:
    """Encodes rows as positions in a fixed list of symbols, those seen at fit.

    Parameters
    ----------
    symbols : sequence of labels
        The symbols.
    encode : callable, default=encode_rows
        Turns columns into symbols: their values, or the cells that rows are reduced to.
    order : SymbolOrder, optional
        Stands in for a symbol that is not in the list by one that is.
    members : dict, default={}
        For symbols that stand for several values: the values, and the symbols that they belong
        to. The names of such symbols are not values themselves.
    """

    def __init__(
        self,
        symbols: Sequence[Label],
        encode: Callable[[Sequence[Any]], Encoded] = encode_rows,
        *,
        order: SymbolOrder | None = None,
        members: Mapping[Label, Label] = MappingProxyType({}),
    ) -> None:
        self.symbols = tuple(symbols)
        self._encode = encode
        self._order = order
        place = {symbol: code for code, symbol in enumerate(self.symbols)}
        pools = set(members.values())
        self._code = {symbol: code for symbol, code in place.items() if symbol not in pools}
        self._code |= {value: place[symbol] for value, symbol in members.items()}

    def codes(self, columns: Sequence[Any]) -> tuple[Codes, list[Label]]:
        """Encode rows as numbers, -1 for unknown symbols, and list the unknown symbols."""
        local, symbols = self._encode(columns)
        known = np.array([self._code_of(symbol) for symbol in symbols], dtype=np.intp)
        codes = known[local] if known.size else local
        return codes, [symbols[i] for i in np.unique(local[codes < 0])]

    def _code_of(self, symbol: Label) -> int:
        code = self._code.get(symbol, -1)
        return code if code >= 0 or self._order is None else self._order.code(symbol)


def _refuse_large_table(n_sensitive: int, n_useful: int) -> None:
    refuse_beyond(
        MOST_TABLE_CELLS,
        n_sensitive * n_useful,
        f"the table of {n_sensitive:,} sensitive and {n_useful:,} useful values has "
        f"{n_sensitive * n_useful:,} cells",
        "pool rare values of both columns before fit, such as dates to years or codes to regions, "
        "or put rows into cells (cells= of most sanitisers)",
    )


class ContingencyTable:
    """Counts of (s, x) pairs that can be added up over batches.

    Attributes
    ----------
    counts : ndarray of shape (n_sensitive, n_useful)
        Number of rows, or sum of their weights.
    sensitive, useful : tuple of labels
        The symbols.
    n_rows : int
        Number of rows.
    weighted : bool
        Whether rows have weights.
    order : tuple of labels or None
        Categories of X in their order, if X is an ordered categorical column. Useful symbols are
        sorted by it.
    """

    def __init__(
        self,
        counts: np.ndarray,
        sensitive: Sequence[Label],
        useful: Sequence[Label],
        n_rows: int,
        *,
        weighted: bool = False,
        order: tuple[Label, ...] | None = None,
    ) -> None:
        self.counts = counts
        self.sensitive = tuple(sensitive)
        self.useful = tuple(useful)
        self.n_rows = n_rows
        self.weighted = weighted
        self.order = order

    @classmethod
    def count(
        cls, sensitive: Sequence[Any], useful: Sequence[Any], weight: np.ndarray | None = None
    ) -> ContingencyTable:
        """Count the rows of columns of S and X, or add up their weights."""
        order = category_order(useful)
        return cls.of_codes(encode_rows(sensitive), encode_rows(useful), weight, order=order)

    @classmethod
    def of_codes(
        cls,
        sensitive: Encoded,
        useful: Encoded,
        weight: np.ndarray | None = None,
        *,
        order: tuple[Label, ...] | None = None,
    ) -> ContingencyTable:
        """Count the rows of encoded columns, or add up their weights."""
        (s_codes, s_symbols), (x_codes, x_symbols) = sensitive, useful
        shape = (len(s_symbols), len(x_symbols))
        _refuse_large_table(*shape)
        cells = np.bincount(
            s_codes * shape[1] + x_codes, weights=weight, minlength=shape[0] * shape[1]
        )
        weighted = weight is not None and bool((weight != 1).any())
        counts = cells.reshape(shape).astype(float)
        table = cls(counts, s_symbols, x_symbols, s_codes.size, weighted=weighted)
        return table._reordered(sort_symbols(s_symbols), sort_symbols(x_symbols, order), order)

    @property
    def ordered(self) -> bool:
        """Whether the useful symbols are in an order of their own, apart from a missing value."""
        return self.order is not None or naturally_ordered(self.useful)

    def in_order(self, order: Sequence[Label]) -> ContingencyTable:
        """Sort the useful symbols by an order of their own."""
        return self._reordered(self.sensitive, sort_symbols(self.useful, order), tuple(order))

    def __add__(self, other: ContingencyTable) -> ContingencyTable:
        sensitive = sort_symbols({*self.sensitive, *other.sensitive})
        # Columns with different categories have no order in common.
        order = self.order if self.order == other.order else None
        useful = sort_symbols({*self.useful, *other.useful}, order)
        _refuse_large_table(len(sensitive), len(useful))
        first = self._reordered(sensitive, useful, order)
        second = other._reordered(sensitive, useful, order)
        return ContingencyTable(
            first.counts + second.counts,
            sensitive,
            useful,
            self.n_rows + other.n_rows,
            weighted=self.weighted or other.weighted,
            order=order,
        )

    def _reordered(
        self,
        sensitive: Sequence[Label],
        useful: Sequence[Label],
        order: tuple[Label, ...] | None,
    ) -> ContingencyTable:
        rows = {symbol: i for i, symbol in enumerate(sensitive)}
        columns = {symbol: i for i, symbol in enumerate(useful)}
        counts = np.zeros((len(sensitive), len(useful)))
        place = np.ix_([rows[s] for s in self.sensitive], [columns[x] for x in self.useful])
        counts[place] = self.counts
        return ContingencyTable(
            counts, sensitive, useful, self.n_rows, weighted=self.weighted, order=order
        )

    def expecting(self, sensitive: Sequence[Label]) -> ContingencyTable:
        """Return the table with these sensitive symbols, too, whether or not they have rows."""
        missing = set(sensitive).difference(self.sensitive)
        if not missing:
            return self
        nothing = np.zeros((len(missing), len(self.useful)))
        return self + ContingencyTable(nothing, [*missing], self.useful, 0, order=self.order)

    def without_zeros(self) -> ContingencyTable:
        """Leave out symbols that never occur."""
        s, x = (self.counts.sum(axis=axis) > 0 for axis in (1, 0))
        return ContingencyTable(
            self.counts[s][:, x],
            [symbol for symbol, kept in zip(self.sensitive, s, strict=True) if kept],
            [symbol for symbol, kept in zip(self.useful, x, strict=True) if kept],
            self.n_rows,
            weighted=self.weighted,
            order=self.order,
        )

    def joint(self, smoothing: float = 0.0) -> JointDistribution:
        """Estimate the joint distribution."""
        return JointDistribution.from_counts(
            self.counts, self.sensitive, self.useful, smoothing=smoothing
        )
