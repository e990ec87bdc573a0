"""Strict checks of CSV files: every row has as many fields as the header.

pandas fills short rows with missing values and cuts off long ones without an error.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import numpy as np

from ._errors import CommandError
from ._words import plural

__all__ = ["CheckedLines", "read_header"]

_BLOCK = 1 << 20
#: Bytes of a row. A file without line feeds would be one row, and packed files may be very long.
_LONGEST = 1 << 24


def read_header(file: BinaryIO, name: str, delimiter: str, encoding: str) -> list[str]:
    """Return the names of the columns.

    Parameters
    ----------
    file : binary file
        The CSV file, from its start.
    name : str
        What messages call it.
    delimiter, encoding : str
        How it is written.
    """
    checked = CheckedLines(file, name, 0, delimiter, encoding)
    lines = (line.decode(encoding) for line in checked.lines(0))
    try:
        with _long_fields():
            rows = csv.reader(lines, delimiter=delimiter, strict=True)
            header = next((row for row in rows if row), [])
    except csv.Error as error:
        raise checked.unreadable(1, error) from error
    if not header:
        raise CommandError(f"{name} is empty: the first line of a CSV file must name its columns.")
    return header


class CheckedLines(io.RawIOBase):
    """The bytes of a CSV file, with an error at the first malformed row.

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

    def lines(self, before: int) -> Iterator[bytes]:
        """Yield the lines that come next, up to the length that a row may have.

        Parameters
        ----------
        before : int
            Lines that were read already.
        """
        size = 0
        while line := self._line(before):
            self._check_text(line, before)
            before += 1
            size += len(line)
            if size > _LONGEST:
                self._too_long(before)
            yield line

    def _line(self, before: int) -> bytes:
        line = self._file.readline(_LONGEST + 1)
        if len(line) > _LONGEST:
            self._too_long(before + 1)
        return line

    def _too_long(self, number: int) -> None:
        raise CommandError(
            f"{self._name}: the row at line {number} is longer than {_LONGEST >> 20} MB; is a "
            "quotation mark or a line feed missing?"
        )

    def _checked(self) -> Iterator[bytes]:
        """Yield the file in blocks of whole rows, each of them checked."""
        number = 0
        while block := self._file.read(_BLOCK):
            block += self._line(number + block.count(b"\n"))
            self._check_text(block, number)
            if not self._is_plain(block):
                block = self._check_rows(block, number)
            number += block.count(b"\n")
            yield block

    def _check_text(self, block: bytes, before: int) -> None:
        place = block.find(b"\0")
        if place >= 0:
            number = before + block.count(b"\n", 0, place) + 1
            raise CommandError(
                f"{self._name}: line {number} contains a NUL byte, which is not text; convert the "
                "file to utf-8 first."
            )

    def _is_plain(self, block: bytes) -> bool:
        """Tell whether lines have neither quotations nor wrong numbers of fields, all at once."""
        if b'"' in block or block.count(b"\r") != block.count(b"\r\n"):
            return False
        codes = np.frombuffer(block, dtype=np.uint8)
        ends = np.flatnonzero(codes == ord("\n"))
        inner = np.flatnonzero(codes == ord(self._delimiter))
        wanted = self._n_columns - 1
        if not wanted or inner.size != wanted * ends.size:
            return False
        # As many delimiters as there should be: each line has its own if none lies outside of it.
        lines = inner.reshape(-1, wanted)
        return bool((lines[:, -1] < ends).all() and (lines[1:, 0] > ends[:-1]).all())

    def _check_rows(self, block: bytes, before: int) -> bytes:
        """Check rows one by one, and return them with the end of the last one.

        A row with a quotation may go on for lines, and so beyond the block.
        """
        text = io.StringIO(block.decode(self._encoding), newline="\n")
        finished, whole = 0, [block]

        def lines() -> Iterator[str]:
            yield from text
            # At the end of the block the reader asks for a further row, unless it is within one.
            further = self.lines(before + rows.line_num)
            while rows.line_num > finished and (line := next(further, b"")):
                whole.append(line)
                yield line.decode(self._encoding)

        rows = csv.reader(lines(), delimiter=self._delimiter, strict=True)
        try:
            with _long_fields():
                for row in rows:
                    if row and len(row) != self._n_columns:
                        self._complain(before + finished + 1, len(row))
                    finished = rows.line_num
        except csv.Error as error:
            raise self.unreadable(before + finished + 1, error) from error
        return b"".join(whole)

    def unreadable(self, number: int, error: csv.Error) -> CommandError:
        """Return the error for the row that starts in a line."""
        if "unexpected end of data" in str(error):
            text = f"a quotation mark in line {number} is never closed."
        elif "new-line character" in str(error):
            text = f"line {number} contains a carriage return; end lines with a line feed."
        else:
            text = f"line {number} is malformed: {error}."
        return CommandError(f"{self._name}: {text}")

    def _complain(self, number: int, found: int) -> None:
        raise CommandError(
            f"{self._name}: line {number} has {plural(found, 'field')}, but the header has "
            f"{self._n_columns}; fix the line, or set --delimiter."
        )


@contextmanager
def _long_fields() -> Iterator[None]:
    """Let the module csv read fields as long as a row may be, with the block that it starts in."""
    before = csv.field_size_limit(2 * _LONGEST + _BLOCK)
    try:
        yield
    finally:
        csv.field_size_limit(before)
