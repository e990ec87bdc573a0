"""Encode a column as numbers of its distinct values, without making objects of every row."""

from __future__ import annotations

from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._arrays import Label
from ..exceptions import InvalidParameterError

__all__ = ["Codes", "Encoded", "factorize"]

Codes: TypeAlias = NDArray[np.intp]
#: A code for each row, and the symbol of each code.
Encoded: TypeAlias = tuple[Codes, list[Label]]

_TEXT = (nw.String, nw.Categorical, nw.Enum)
#: Types of polars that NumPy would hold as Python objects.
_OBJECTS = (*_TEXT, nw.Time, nw.Decimal, nw.Binary)
#: Of a whole number: Python does not write more than 4,300 digits as text.
_MOST_BITS = 12_000


def factorize(column: Any) -> Encoded:
    """Encode a column: a code per row, and the symbol of each code in the order of appearance.

    Missing values (None, NaN, NA) become the symbol None, which is the last one.

    Parameters
    ----------
    column : narwhals Series or one-dimensional array
        The column.
    """
    try:
        codes, values = _coded(column)
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
    problem = next(filter(None, map(_problem, symbols)), None)
    if problem is not None:
        raise InvalidParameterError(f"{_title(column)} holds {problem}.")
    codes = codes.astype(np.intp, copy=False)
    missing = codes < 0
    if missing.any():
        codes = np.where(missing, len(symbols), codes)
        symbols.append(None)
    return codes, symbols


def _coded(column: Any) -> tuple[Codes, Any]:
    """Return a code per row, -1 for a missing value, and the distinct values."""
    if isinstance(column, nw.Series):
        if column.dtype.is_nested() or column.dtype in (nw.Int128, nw.UInt128):  # not in NumPy
            raise TypeError(f"type {column.dtype}")
        found = None
        if column.implementation is nw.Implementation.POLARS:
            found = _polars_codes(column)
        elif column.implementation is nw.Implementation.PYARROW:
            found = _arrow_codes(nw.to_native(column))
        if found is not None:
            codes, distinct = found
            # Values that the library tells apart may be one symbol: 0.0 and -0.0, NaN and null.
            symbols, values = _as_objects(distinct)
            return symbols[codes], values
    return _as_objects(column)


def _as_objects(column: Any) -> tuple[Codes, Any]:
    """Encode a column by pandas; other libraries pass their values as a NumPy array."""
    if not isinstance(column, nw.Series):
        return pd.factorize(column)
    if column.implementation is nw.Implementation.PANDAS:
        native = nw.to_native(column)
        if column.dtype.is_float() and isinstance(native.dtype, pd.api.extensions.ExtensionDtype):
            native = native.to_numpy(dtype=float, na_value=np.nan)  # which may hold NaN and null
        return pd.factorize(native)
    if isinstance(column.dtype, _TEXT):
        return _text_codes(column.to_list())
    # Without nulls, a column of integers keeps its type.
    present = ~column.is_null().to_numpy()
    codes = np.full(len(column), -1, dtype=np.intp)
    codes[present], values = pd.factorize(column.drop_nulls().to_numpy())
    if isinstance(column.dtype, nw.Datetime) and column.dtype.time_zone is not None:
        # NumPy has no zones, and gets the time in UTC.
        values = pd.DatetimeIndex(values).tz_localize("UTC").tz_convert(column.dtype.time_zone)
    return codes, values


def _text_codes(texts: list[str | None]) -> tuple[Codes, list[str]]:
    """Encode text by Python: NumPy ignores NUL characters at the end, and so do some pandas."""
    numbers: dict[str, int] = {}
    codes = [-1 if text is None else numbers.setdefault(text, len(numbers)) for text in texts]
    return np.array(codes, dtype=np.intp), list(numbers)


def _polars_codes(column: nw.Series[Any]) -> tuple[Codes, nw.Series[Any]] | None:
    """Encode text and categories of polars by their numbers in its list of categories.

    Returns a code per row and the distinct values, missing ones included, in the order of
    appearance; None for types that NumPy reads without copies.
    """
    if not isinstance(column.dtype, _OBJECTS):
        return None
    keys = column
    if isinstance(column.dtype, nw.Binary):
        keys = nw.from_native(nw.to_native(column).bin.encode("hex"), series_only=True)
    if isinstance(column.dtype, nw.Decimal):
        keys = column.cast(nw.String)
    if isinstance(keys.dtype, nw.String):
        keys = keys.cast(nw.Categorical)
    physical = nw.from_native(nw.to_native(keys).to_physical(), series_only=True)
    codes, seen = pd.factorize(physical.cast(nw.Int64).fill_null(-1).to_numpy())
    first = np.empty(len(seen), dtype=np.intp)
    # Of several rows with one code the last one assigned remains, so go backwards.
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return codes, column[first]


def _arrow_codes(native: Any) -> tuple[Codes, nw.Series[Any]] | None:
    """Encode a column of Arrow by its dictionary, or by one that Arrow makes for it.

    Returns a code per row and the distinct values, missing ones included, in the order of
    appearance; None for types that Arrow has no dictionaries of.
    """
    import pyarrow as pa

    if not pa.types.is_dictionary(native.type):
        try:
            native = native.dictionary_encode()
        except NotImplementedError:
            return None
    # Chunks may have dictionaries of their own, which are numbered one after the other.
    dictionaries = [pa.array([], native.type.value_type)]
    keys, before = [np.zeros(0, dtype=np.int64)], 0
    for chunk in native.chunks:
        if not chunk.dictionary.equals(dictionaries[-1]):
            before += len(dictionaries[-1])
            dictionaries.append(chunk.dictionary)
        places = chunk.indices.cast(pa.int64()).fill_null(-1).to_numpy()
        keys.append(np.where(places < 0, -1, places + before) if before else places)
    codes, seen = pd.factorize(np.concatenate(keys))
    values = pa.chunked_array(dictionaries)
    if pa.types.is_string_view(values.type):  # which pyarrow cannot take values from
        values = pa.chunked_array([values.to_pylist()], pa.large_string())
    values = values.take(pa.array(seen, mask=seen < 0))
    return codes, nw.from_native(values, series_only=True)


def _title(column: Any) -> str:
    return f"The column {column.name!r}" if isinstance(column, nw.Series) else "A column"


def _problem(symbol: Label) -> str | None:
    """Say why a symbol cannot be one, if so: it must be a single value that text can stand for."""
    if isinstance(symbol, str) and not symbol.isascii() and not _is_text(symbol):
        return (
            f"text with lone surrogates, such as {symbol!r}, which cannot be encoded; repair its "
            "encoding"
        )
    if isinstance(symbol, tuple):
        return "tuples, which stand for values of several columns; convert them to text"
    if isinstance(symbol, int) and symbol.bit_length() > _MOST_BITS:
        return "whole numbers with thousands of digits; convert them to text"
    return None


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _plain(value: Any) -> Label:
    if not isinstance(value, np.generic):
        return value
    if value.dtype.kind in "mM" and isinstance(value.item(), int):
        # Python's own types stop at microseconds; item() would return an int of nanoseconds.
        return pd.Timestamp(value) if value.dtype.kind == "M" else pd.Timedelta(value)
    return value.item()
