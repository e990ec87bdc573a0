"""CSV files are read strictly: every row has the fields of the header, or the row is named.

pandas is quick, but fills short rows with nothing and cuts the first ones if they are too long.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from ._errors import CommandError

__all__ = ["CheckedLines", "read_header"]

_BLOCK = 1 << 20
_BLANK = (b"\n", b"\r\n", b"\r", b"")


def read_header(path: str, name: str, delimiter: str, encoding: str) -> list[str]:
    """Return the names of the columns.

    Parameters
    ----------
    path, name : str
        The file, and what messages call it.
    delimiter, encoding : str
        How it is written.
    """
    with open(path, encoding=encoding, newline="") as file:
        rows = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            header = next((row for row in rows if row), [])
        except csv.Error as error:
            raise CommandError(f"{name}: line 1 is no header of a CSV file: {error}.") from error
    if not header:
        raise CommandError(f"{name} is empty: a CSV file starts with the names of its columns.")
    twice = next((column for column in header if header.count(column) > 1), None)
    if twice is not None:
        raise CommandError(f"{name} has two columns called {twice!r}: rename one of them.")
    return header


class CheckedLines(io.RawIOBase):
    """The bytes of a CSV file, with an error at the first row that the header does not fit.

    Parameters
    ----------
    file : binary file
        The CSV file, from its start.
    name : str
        What messages call it.
    n_columns : int
        Fields of the header.
    delimiter, encoding : str
        How it is written.
    """

    def __init__(
        self, file: BinaryIO, name: str, n_columns: int, delimiter: str, encoding: str
    ) -> None:
        self._file = file
        self._name = name
        self._n_columns = n_columns
        self._delimiter = delimiter
        self._encoding = encoding
        self._blocks = self._checked()
        self._left = memoryview(b"")

    def readable(self) -> bool:
        """Return True: this is for reading only."""
        return True

    # The stubs ask for any writable buffer; io.BufferedReader, the only caller, has memoryviews.
    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer with what comes next."""
        if not self._left:
            self._left = memoryview(next(self._blocks, b""))
        n = min(len(buffer), len(self._left))
        buffer[:n] = self._left[:n]
        self._left = self._left[n:]
        return n

    def _checked(self) -> Iterator[bytes]:
        """Yield the file in blocks of whole lines, each of them checked."""
        number, started, kept = 0, 0, b""
        while block := self._file.read(_BLOCK):
            block += self._file.readline()
            if not kept and self._is_plain(block):
                number += block.count(b"\n")
                yield block
                continue
            for line in io.BytesIO(block):
                number += 1
                if not kept and b'"' not in line:
                    self._check_plain(number, line)
                    continue
                started = started if kept else number
                kept += line
                # A field that goes on over lines ends at a quotation mark.
                if b'"' in line:
                    kept = b"" if self._whole(started, kept) else kept
            yield block
        if kept:
            raise CommandError(
                f"{self._name}: the quotation that starts in line {started} never ends."
            )

    def _is_plain(self, block: bytes) -> bool:
        """Tell whether lines have neither quotations nor wrong numbers of fields, all at once."""
        if b'"' in block or b"\r" in block:
            return False
        signs = np.frombuffer(block, dtype=np.uint8)
        ends = np.flatnonzero(signs == ord("\n"))
        inner = np.flatnonzero(signs == ord(self._delimiter))
        wanted = self._n_columns - 1
        if not wanted or inner.size != wanted * ends.size:
            return False
        # As many delimiters as there should be: each line has its own if none lies outside of it.
        lines = inner.reshape(-1, wanted)
        return bool((lines[:, -1] < ends).all() and (lines[1:, 0] > ends[:-1]).all())

    def _check_plain(self, number: int, line: bytes) -> None:
        right = line.count(self._delimiter.encode()) == self._n_columns - 1
        if line not in _BLANK and (not right or b"\r" in line[:-2]):
            self._complain(number, line)

    def _whole(self, number: int, text: bytes) -> bool:
        """Tell whether quotations end in this text, and check the rows that it holds."""
        lines = io.StringIO(text.decode(self._encoding), newline="")
        try:
            rows = list(csv.reader(lines, delimiter=self._delimiter, strict=True))
        except csv.Error as error:
            if "unexpected end of data" in str(error):
                return False
            raise CommandError(f"{self._name}: line {number} is malformed: {error}.") from error
        if any(len(row) != self._n_columns for row in rows if row):
            self._complain(number, text)
        return True

    def _complain(self, number: int, line: bytes) -> None:
        text = line.decode(self._encoding, errors="replace").strip("\r\n")
        if "\r" in text and '"' not in text:
            raise CommandError(
                f"{self._name}: line {number} holds a carriage return; end lines with a line feed."
            )
        found = len(next(csv.reader([text], delimiter=self._delimiter)))
        raise CommandError(
            f"{self._name}: line {number} has {found} field(s), but the header has "
            f"{self._n_columns}; repair the line, or name another --delimiter."
        )
