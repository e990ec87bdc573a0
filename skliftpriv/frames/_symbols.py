"""Encode rows as numbered symbols and count pairs of symbols."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._arrays import Label
from .._limits import MOST_TABLE_CELLS, refuse_beyond
from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError

__all__ = ["ContingencyTable", "Encoded", "SymbolEncoder", "encode_rows", "paired", "sort_symbols"]

Codes = NDArray[np.intp]
#: A code for each row, and the symbol of each code.
Encoded: TypeAlias = tuple[Codes, list[Label]]


def encode_rows(columns: Sequence[Any]) -> Encoded:
    """Encode rows as numbers: a code per row and the symbol of each code.

    Symbols are the values of one column, or tuples for several columns. Missing values (None,
    NaN, NA) become the symbol None.
    """
    codes, symbols = _factorize(columns[0])
    if len(columns) == 1:
        return codes, symbols
    tuples: list[tuple[Label, ...]] = [(symbol,) for symbol in symbols]
    for column in columns[1:]:
        # Pairs are renumbered at every step, so codes stay below the number of rows.
        other, values = _factorize(column)
        pairs, seen = pd.factorize(codes * len(values) + other)
        tuples = [(*tuples[pair // len(values)], values[pair % len(values)]) for pair in seen]
        codes = pairs.astype(np.intp, copy=False)
    return codes, list(tuples)


def paired(one: Encoded, other: Encoded) -> Encoded:
    """Encode the pairs of symbols of two encodings of the same rows."""
    count = max(len(other[1]), 1)
    codes, seen = pd.factorize(one[0] * count + other[0])
    pairs: list[Label] = [(one[1][pair // count], other[1][pair % count]) for pair in seen]
    return codes.astype(np.intp, copy=False), pairs


def _factorize(column: Any) -> Encoded:
    try:
        codes, values = _raw_factorize(column)
    except MemoryError:
        raise
    except Exception as error:  # libraries raise many kinds of error for values they cannot compare
        reason = str(error).partition("\n")[0]
        raise InvalidParameterError(
            f"{_title(column)} holds values that are not categories ({reason}); convert them to "
            "text or numbers."
        ) from error
    if isinstance(values, pd.Index) and isinstance(values.dtype, pd.StringDtype):
        values = values.to_numpy(dtype=object)  # iterating over Arrow strings is slow
    symbols = [_plain(value) for value in values]
    broken = next((symbol for symbol in symbols if not _is_text(symbol)), None)
    if broken is not None:
        raise InvalidParameterError(
            f"{_title(column)} holds text with lone surrogates, such as {broken!r}, which cannot "
            "be encoded; repair its encoding."
        )
    codes = codes.astype(np.intp, copy=False)
    missing = codes < 0
    if missing.any():
        codes = np.where(missing, len(symbols), codes)
        symbols.append(None)
    return codes, symbols


def _title(column: Any) -> str:
    return f"The column {column.name!r}" if isinstance(column, nw.Series) else "A column"


def _is_text(symbol: Label) -> bool:
    """Tell whether a symbol can be written to a file: anything but text with lone surrogates."""
    if not isinstance(symbol, str) or symbol.isascii():
        return True
    try:
        symbol.encode()
    except UnicodeEncodeError:
        return False
    return True


def _raw_factorize(column: Any) -> tuple[Codes, Any]:
    if not isinstance(column, nw.Series):
        return pd.factorize(column)
    if column.implementation is nw.Implementation.PANDAS:
        return pd.factorize(nw.to_native(column))
    if column.dtype.is_nested() or column.dtype in (nw.Int128, nw.UInt128):  # NumPy has neither
        raise TypeError(f"type {column.dtype}")
    if column.implementation is nw.Implementation.PYARROW and column.dtype == nw.Categorical:
        native = nw.to_native(column)  # older versions of pyarrow convert only some dictionaries
        column = nw.from_native(native.cast(native.type.value_type), series_only=True)
    # Without nulls, a column of integers keeps its type.
    present = ~column.is_null().to_numpy()
    codes = np.full(len(column), -1, dtype=np.intp)
    codes[present], values = pd.factorize(column.drop_nulls().to_numpy())
    return codes, values


def _plain(value: Any) -> Label:
    if not isinstance(value, np.generic):
        return value
    if value.dtype.kind in "mM" and isinstance(value.item(), int):
        # Python's own types stop at microseconds; item() would return an int of nanoseconds.
        return pd.Timestamp(value) if value.dtype.kind == "M" else pd.Timedelta(value)
    return value.item()


class SymbolEncoder:
    """Encodes rows as positions in a fixed list of symbols, those seen at fit."""

    def __init__(self, symbols: Sequence[Label]) -> None:
        self.symbols = tuple(symbols)
        self._code = {symbol: code for code, symbol in enumerate(self.symbols)}

    def codes(self, columns: Sequence[Any]) -> tuple[Codes, list[Label]]:
        """Encode rows as numbers, -1 for unknown symbols, and list the unknown symbols."""
        local, symbols = encode_rows(columns)
        known = np.array([self._code.get(symbol, -1) for symbol in symbols], dtype=np.intp)
        unknown = [symbol for symbol in symbols if symbol not in self._code]
        return known[local] if known.size else local, unknown


def sort_symbols(symbols: Iterable[Label]) -> list[Label]:
    """Sort symbols of any type: numbers, then text, then the rest."""
    return sorted(symbols, key=_sort_key)


def _sort_key(symbol: Label) -> tuple[Any, ...]:
    if isinstance(symbol, tuple):
        return (4, *(_sort_key(part) for part in symbol))
    if symbol is None:
        return (3, "")
    if isinstance(symbol, int | float):
        return (0, symbol)
    if isinstance(symbol, str):
        return (1, symbol)
    return (2, type(symbol).__name__, str(symbol))


def _refuse_large_table(n_sensitive: int, n_useful: int) -> None:
    refuse_beyond(
        MOST_TABLE_CELLS,
        n_sensitive * n_useful,
        f"the table of {n_sensitive:,} sensitive and {n_useful:,} useful values has "
        f"{n_sensitive * n_useful:,} cells",
        "pool rare values of both columns before fit, such as dates to years or codes to regions",
    )


class ContingencyTable:
    """Counts of (s, x) pairs that can be added up over batches."""

    def __init__(
        self,
        counts: np.ndarray,
        sensitive: Sequence[Label],
        useful: Sequence[Label],
        n_rows: int,
        *,
        weighted: bool = False,
    ) -> None:
        self.counts = counts
        self.sensitive = tuple(sensitive)
        self.useful = tuple(useful)
        self.n_rows = n_rows
        self.weighted = weighted

    @classmethod
    def count(
        cls, sensitive: Sequence[Any], useful: Sequence[Any], weight: np.ndarray | None = None
    ) -> ContingencyTable:
        """Count the rows of columns of S and X, or add up their weights."""
        return cls.of_codes(encode_rows(sensitive), encode_rows(useful), weight)

    @classmethod
    def of_codes(
        cls, sensitive: Encoded, useful: Encoded, weight: np.ndarray | None = None
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
        return table._reordered(sort_symbols(s_symbols), sort_symbols(x_symbols))

    def __add__(self, other: ContingencyTable) -> ContingencyTable:
        sensitive = sort_symbols({*self.sensitive, *other.sensitive})
        useful = sort_symbols({*self.useful, *other.useful})
        _refuse_large_table(len(sensitive), len(useful))
        first = self._reordered(sensitive, useful)
        second = other._reordered(sensitive, useful)
        return ContingencyTable(
            first.counts + second.counts,
            sensitive,
            useful,
            self.n_rows + other.n_rows,
            weighted=self.weighted or other.weighted,
        )

    def _reordered(self, sensitive: Sequence[Label], useful: Sequence[Label]) -> ContingencyTable:
        rows = {symbol: i for i, symbol in enumerate(sensitive)}
        columns = {symbol: i for i, symbol in enumerate(useful)}
        counts = np.zeros((len(sensitive), len(useful)))
        place = np.ix_([rows[s] for s in self.sensitive], [columns[x] for x in self.useful])
        counts[place] = self.counts
        return ContingencyTable(counts, sensitive, useful, self.n_rows, weighted=self.weighted)

    def without_zeros(self) -> ContingencyTable:
        """Leave out symbols that never occur."""
        s, x = (self.counts.sum(axis=axis) > 0 for axis in (1, 0))
        return ContingencyTable(
            self.counts[s][:, x],
            [symbol for symbol, kept in zip(self.sensitive, s, strict=True) if kept],
            [symbol for symbol, kept in zip(self.useful, x, strict=True) if kept],
            self.n_rows,
            weighted=self.weighted,
        )

    def joint(self, smoothing: float = 0.0) -> JointDistribution:
        """Estimate the joint distribution."""
        return JointDistribution.from_counts(
            self.counts, self.sensitive, self.useful, smoothing=smoothing
        )
