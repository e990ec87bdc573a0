"""Ids of records: one form for all kinds of tables, and random bits that depend on them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import cached_property
from numbers import Integral
from operator import add
from typing import Any
from uuid import UUID

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..exceptions import InvalidParameterError

__all__ = ["RecordIds", "record_bits"]

Codes = NDArray[np.intp]
Bits = NDArray[np.uint64]

#: Rows whose ids are in memory as Python objects at a time.
_CHUNK = 1 << 17
#: Digits of a whole number: Python does not write numbers with many more as text.
_MOST_DIGITS = 3_600
_SHOWN = 60
#: Key of the hashes that find repeated ids; it need not be secret.
_MARKS = bytes(16)
#: Key, message and hash that pandas has to compute: SipHash-2-4 (Aumasson and Bernstein 2012, test
#: vector a129ca6149be45e5), followed by the fixed mixing of bits that pandas adds.
_KNOWN = (bytes(range(16)), bytes(range(15)), 0x099FBE732962DC53)


class RecordIds:
    """A column of ids, each in the form that it has as text in UTF-8.

    Whole numbers are decimal digits, whatever their type is, so that 1, 1.0 and "1" are the same
    id in all kinds of tables. Text is taken as it is, and UUIDs as their usual text.

    Parameters
    ----------
    column : narwhals Series or one-dimensional array
        The ids.
    title : str
        What messages call the column.
    first_row : int, default=0
        Number of the first row in messages.
    """

    def __init__(self, column: Any, title: str, first_row: int = 0) -> None:
        self._title = title
        self._first_row = first_row
        self._values = self._as_array(column)

    def parts(self) -> Iterator[tuple[slice, list[bytes]]]:
        """Yield the ids of some rows at a time."""
        kind = self._values.dtype.kind
        write = {"i": _digits, "u": _digits, "f": self._of_floats}.get(kind, self._of_objects)
        for start in range(0, len(self._values), _CHUNK):
            rows = slice(start, start + _CHUNK)
            yield rows, write(self._values[rows], start)

    @cached_property
    def _records(self) -> tuple[Codes, NDArray[np.object_]]:
        """The record of each row, numbered as they appear, and their ids."""
        codes, ids = pd.factorize(_objects([one for _, part in self.parts() for one in part]))
        return codes.astype(np.intp, copy=False), ids

    @cached_property
    def first_rows(self) -> Codes:
        """The first row of each record."""
        return np.unique(self._records[0], return_index=True)[1].astype(np.intp, copy=False)

    def check_alike(self, codes: Codes, what: str) -> None:
        """Refuse records whose rows differ.

        Parameters
        ----------
        codes : ndarray of int, shape (n_rows,)
            What must not differ.
        what : str
            What messages call it.
        """
        records, ids = self._records
        differ = np.flatnonzero(codes != codes[self.first_rows][records])
        if differ.size:
            row = int(differ[0])
            first = int(self.first_rows[records[row]])
            shown = ids[records[row]].decode(errors="backslashreplace")
            raise InvalidParameterError(
                f"{self._title}: the rows of {shown!r} differ in {what} (rows "
                f"{self._first_row + first:,} and {self._first_row + row:,}). A record is released "
                "once, with one value: make one row of what belongs together, or use ids that tell "
                "the rows apart if they are different records."
            )

    def _as_array(self, column: Any) -> NDArray[Any]:
        if not isinstance(column, nw.Series):
            array = np.asarray(column)
            # Times become plain numbers of nanoseconds otherwise.
            return _objects(list(array)) if array.dtype.kind in "mM" else array
        missing = column.is_null().to_numpy()
        if missing.any():
            raise self._missing(int(np.argmax(missing)))
        dtype = column.dtype
        small = dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128)
        # Of text in polars, lists are made in half the time.
        text = dtype == nw.String and column.implementation is not nw.Implementation.POLARS
        if small or dtype.is_float() or text:
            return column.to_numpy()
        return _objects(column.to_list())

    def _of_floats(self, part: NDArray[Any], start: int) -> list[bytes]:
        if np.isnan(part).any():
            raise self._missing(start + int(np.argmax(np.isnan(part))))
        wrong = (part != np.floor(part)) | (np.abs(part) >= _inexact(part.dtype))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise self._refused(start + row, part[row])
        return _digits(part.astype(np.int64))

    def _of_objects(self, part: NDArray[Any], start: int) -> list[bytes]:
        listed = part.tolist()
        try:
            ids = [text.encode() for text in listed]
        except (AttributeError, UnicodeEncodeError):  # not all are text
            ids = [self._as_bytes(one, start + row) for row, one in enumerate(listed)]
        if b"" in ids:
            raise self._missing(start + ids.index(b""))
        return ids

    def _as_bytes(self, value: Any, row: int) -> bytes:
        if isinstance(value, str):
            try:
                return value.encode()
            except UnicodeEncodeError:
                raise self._refused(row, value) from None
        if isinstance(value, bytes):
            return value
        if isinstance(value, UUID):
            return str(value).encode()
        if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
            raise self._missing(row)
        if isinstance(value, bool | np.bool_) or not _is_whole(value):
            raise self._refused(row, value)
        return str(int(value)).encode()

    def _missing(self, row: int) -> InvalidParameterError:
        return InvalidParameterError(
            f"{self._title}: row {self._first_row + row:,} has no id. Every record needs one: drop "
            "such rows, or give them ids."
        )

    def _refused(self, row: int, value: Any) -> InvalidParameterError:
        kind = type(value).__name__
        try:
            shown = repr(value.item() if isinstance(value, np.generic) else value)
        except ValueError:  # of an integer with too many digits
            shown = f"with more than {_MOST_DIGITS:,} digits"
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        return InvalidParameterError(
            f"{self._title}: row {self._first_row + row:,} has the id {shown} of type {kind}. Ids "
            f"are whole numbers of at most {_MOST_DIGITS:,} digits (as floats below 2^53, where "
            "they are exact, and of 32 bits below 2^24), text that can be encoded, bytes or UUIDs: "
            "convert the column to text."
        )


def record_bits(
    ids: RecordIds, codes: Codes, key: bytes, inputs: str, *, check: bool = True
) -> Bits:
    """Return 64 bits for every row that depend on its id, its input and a key only.

    They are SipHash-2-4 of the number of the input (8 bytes) and the id, a pseudorandom function:
    without the key they look like independent random bits. Rows with the same id must have the
    same input, since two draws for one record are more than one release of it.

    Parameters
    ----------
    ids : RecordIds
        The ids.
    codes : ndarray of int, shape (n_rows,)
        Inputs of the mechanism, -1 for one not seen at fit.
    key : bytes
        16 bytes.
    inputs : str
        What messages call the inputs.
    check : bool, default=True
        Whether to look for ids that repeat; not needed for more bits of the same rows.
    """
    bits, marks = np.empty((2, codes.size), dtype=np.uint64)
    for rows, part in ids.parts():
        numbers = codes[rows].astype("<i8").view("V8").tolist()  # 8 bytes each
        bits[rows] = _hashes(list(map(add, numbers, part)), key)
        if check:
            marks[rows] = _hashes(part, _MARKS)
    if not check:
        return bits
    marks.sort()
    if (marks[1:] == marks[:-1]).any():  # some ids seem to repeat: look at them exactly
        ids.check_alike(codes, inputs)
    return bits


def _inexact(dtype: Any) -> float:
    """Return the first number from which floats of a type may stand for several whole numbers."""
    # Extended precision becomes an integer of 64 bits, or a double, on its way.
    return float(2.0 ** min(np.finfo(dtype).nmant + 1, 53))


def _is_whole(value: Any) -> bool:
    """Tell whether a number stands for one whole number, of not too many digits."""
    if isinstance(value, Integral):
        return abs(int(value)) < 10**_MOST_DIGITS
    if isinstance(value, Decimal):
        # Its number of digits first: those of 1E+999999999 do not fit into memory.
        return (
            value.is_finite() and value.adjusted() < _MOST_DIGITS and value == value.to_integral()
        )
    if isinstance(value, float | np.floating):
        kind = value.dtype if isinstance(value, np.floating) else np.float64
        return abs(float(value)) < _inexact(kind) and value == np.floor(value)
    return False


def _digits(part: NDArray[Any], start: int = 0) -> list[bytes]:
    return [str(number).encode() for number in part.tolist()]


def _objects(values: list[Any]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _hashes(messages: list[bytes], key: bytes) -> Bits:
    check_key, check_message, expected = _KNOWN
    if int(_siphash([check_message], check_key)[0]) != expected:
        # Other bits would be second draws for all records that were released before.
        raise RuntimeError(
            f"pandas {pd.__version__} computes other hashes than earlier versions, which would "
            "draw released records again: use an earlier version of pandas."
        )
    return _siphash(messages, key)


def _siphash(messages: list[bytes], key: bytes) -> Bits:
    # The key is text to pandas, which encodes it again: each of these characters is one byte.
    return pd.util.hash_array(
        _objects(messages), hash_key=key.decode("latin-1"), encoding="latin-1", categorize=False
    )
