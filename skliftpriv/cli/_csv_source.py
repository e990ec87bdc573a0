"""CSV files: their values are text, exactly as it is written, or missing."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pandas as pd

from ._csv_lines import CheckedLines, read_header
from ._errors import CommandError
from ._files import PACKED, InputFile, Meter, Shown

__all__ = ["CsvFormat", "CsvSource"]

_BUFFER = 1 << 18


class CsvFormat:
    """How CSV files are written.

    Parameters
    ----------
    delimiter : str or None
        What separates fields; None is a tab in .tsv files and else a comma.
    encoding : str
        Any in which a comma is a byte of its own.
    missing : sequence of str
        Texts that mean a missing value, besides the empty one.
    """

    def __init__(
        self, delimiter: str | None = None, encoding: str = "utf-8", missing: Sequence[str] = ()
    ) -> None:
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n\0 '):
            raise CommandError(
                f"--delimiter must be one character, for example ';', got {delimiter!r}."
            )
        try:
            plain = ",\n".encode(encoding) == b",\n" or encoding == "utf-8-sig"
        except (LookupError, ValueError):
            plain = False
        if not plain or not (delimiter or ",").isascii():
            raise CommandError(
                f"--encoding {encoding} is not supported; convert the file to utf-8 first."
            )
        self._delimiter = delimiter
        self.encoding = encoding
        self.missing = ["", *missing]

    def delimiter(self, path: str) -> str:
        """Return what separates the fields of a file."""
        tabs = path.lower().removesuffix(PACKED).endswith(".tsv")
        return self._delimiter or ("\t" if tabs else ",")


class CsvSource:
    """A table in a CSV file.

    Parameters
    ----------
    file : InputFile
        The file.
    style : CsvFormat
        How it is written.
    n_rows : int
        Rows of a part.
    """

    def __init__(self, file: InputFile, style: CsvFormat, n_rows: int) -> None:
        self.name = file.name
        self.index: list[str] = []
        self.check = file.check
        self._file = file
        self._n_rows = n_rows
        self._missing = style.missing
        self._delimiter = style.delimiter(file.path)
        # A mark of the byte order is not part of the first name.
        self._encoding = "utf-8-sig" if style.encoding in ("utf-8", "utf8") else style.encoding
        self._digest: bytes | None = None
        with self._named_errors(), file.unpacked() as (lines, _):
            self.columns = read_header(lines, self.name, self._delimiter, self._encoding)

    def batches(
        self, columns: Sequence[str], shown: Shown, verbatim: Sequence[str] = ()
    ) -> Iterator[pd.DataFrame]:
        """Yield data frames with these columns; the first time through, all lines are checked."""
        with self._named_errors(), self._file.unpacked() as (unpacked, raw):
            meter = Meter(unpacked, self.name)
            lines: Any = io.BufferedReader(meter, _BUFFER)
            if self._digest is None:
                how = (len(self.columns), self._delimiter, self._encoding)
                lines = io.BufferedReader(CheckedLines(lines, self.name, *how), _BUFFER)
            names = [name for name in self.columns if name in columns]
            for frame in pd.read_csv(lines, **self._options(columns, verbatim)):
                shown(min(raw.tell() / max(self._file.size, 1), 0.99))
                meter.next_part()
                yield frame.set_axis(names, axis="columns")
            digest = meter.digest()
        if self._digest not in (None, digest):
            raise self._file.changed()
        self._digest = digest
        shown(1.0)

    def empty(self, columns: Sequence[str]) -> pd.DataFrame:
        """Return a data frame with these columns, and no rows."""
        return pd.DataFrame(columns=list(columns), dtype=object)

    def _options(self, columns: Sequence[str], verbatim: Sequence[str]) -> dict[str, Any]:
        # By number: a name that nobody asks for may occur twice.
        wanted = [i for i, name in enumerate(self.columns) if name in columns]
        return {
            "sep": self._delimiter,
            "encoding": self._encoding,
            "names": range(len(self.columns)),
            "header": 0,
            "index_col": False,
            "usecols": wanted,
            "dtype": object,
            "keep_default_na": False,
            "na_values": {i: self._missing for i in wanted if self.columns[i] not in verbatim},
            "chunksize": self._n_rows,
            "low_memory": False,
        }

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Say what is wrong with a file that cannot be read, or that it changed."""
        try:
            yield
        except UnicodeDecodeError as error:
            encoding = self._encoding.removesuffix("-sig")
            raise self._wrong(
                f"is not valid {encoding}: set --encoding, for example --encoding latin-1."
            ) from error
        except pd.errors.ParserError as error:
            raise self._wrong(f"is not a CSV file: {error}") from error
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise self._wrong(f"is not a complete gzip file: {error}.") from error

    def _wrong(self, what: str) -> CommandError:
        # What could be read before, and cannot now, is another file.
        readable = self._digest is not None
        return self._file.changed() if readable else CommandError(f"{self.name} {what}")
