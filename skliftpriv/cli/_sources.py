"""Tables in files, read in parts: CSV as the text that it is, Parquet with its types."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from ._csv_lines import CheckedLines, read_header
from ._errors import CommandError

__all__ = ["PARQUET", "STREAM", "CsvFormat", "Source", "load_pyarrow", "open_source", "suffix_of"]

STREAM = "-"
CSV = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")

Shown = Callable[[float], None]


class Source(Protocol):
    """A table that can be read more than once, in parts."""

    name: str
    columns: list[str]

    def batches(self, columns: Sequence[str], shown: Shown) -> Iterator[Any]:
        """Yield data frames with these columns, and say which share of the file is read."""

    def empty(self, columns: Sequence[str]) -> Any:
        """Return a data frame with these columns, and no rows."""


class CsvFormat:
    """How CSV files are written.

    Parameters
    ----------
    delimiter : str or None
        What separates fields; None is a tab in .tsv files and else a comma.
    encoding : str
        Any in which a comma is a byte of its own.
    """

    def __init__(self, delimiter: str | None = None, encoding: str = "utf-8") -> None:
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n '):
            raise CommandError(f"--delimiter must be one sign, such as ';', not {delimiter!r}.")
        try:
            plain = ",\n".encode(encoding) == b",\n" or encoding == "utf-8-sig"
        except LookupError:
            plain = False
        if not plain or not (delimiter or ",").isascii():
            raise CommandError(
                f"--encoding {encoding} cannot be read here; convert the file to utf-8 first."
            )
        self._delimiter = delimiter
        self.encoding = encoding

    def delimiter(self, path: str) -> str:
        """Return what separates the fields of a file."""
        return self._delimiter or ("\t" if path.lower().endswith(".tsv") else ",")


class CsvSource:
    """A CSV file; all its values are text, exactly as they are written.

    Parameters
    ----------
    path, name : str
        The file, and what messages call it.
    style : CsvFormat
        How it is written.
    n_rows : int
        Rows of a part.
    """

    def __init__(self, path: str, name: str, style: CsvFormat, n_rows: int) -> None:
        self.name = name
        self._path = path
        self._n_rows = n_rows
        self._delimiter = style.delimiter(name)
        # A mark of the byte order is no part of the first name.
        self._encoding = "utf-8-sig" if style.encoding in ("utf-8", "utf8") else style.encoding
        self._checked = False
        try:
            self.columns = read_header(path, name, self._delimiter, self._encoding)
        except UnicodeDecodeError as error:
            raise self._wrong_encoding() from error

    def batches(self, columns: Sequence[str], shown: Shown) -> Iterator[pd.DataFrame]:
        """Yield data frames with these columns; the first time through, all lines are checked."""
        size = max(Path(self._path).stat().st_size, 1)
        with open(self._path, "rb") as raw:
            lines: Any = raw
            if not self._checked:
                how = (len(self.columns), self._delimiter, self._encoding)
                lines = io.BufferedReader(CheckedLines(raw, self.name, *how), 1 << 18)
            try:
                for frame in pd.read_csv(lines, **self._options(columns)):
                    shown(min(raw.tell() / size, 0.99))
                    yield frame
            except UnicodeDecodeError as error:
                raise self._wrong_encoding() from error
            except pd.errors.ParserError as error:
                raise CommandError(f"{self.name} is no CSV file: {error}") from error
        self._checked = True
        shown(1.0)

    def empty(self, columns: Sequence[str]) -> pd.DataFrame:
        """Return a data frame with these columns, and no rows."""
        return pd.DataFrame(columns=list(columns), dtype=object)

    def _options(self, columns: Sequence[str]) -> dict[str, Any]:
        return {
            "sep": self._delimiter,
            "encoding": self._encoding,
            "names": self.columns,
            "header": 0,
            "index_col": False,
            "usecols": list(columns),
            "dtype": object,
            "na_filter": False,
            "chunksize": self._n_rows,
            "low_memory": False,
        }

    def _wrong_encoding(self) -> CommandError:
        return CommandError(
            f"{self.name} is not written in {self._encoding.removesuffix('-sig')}: name its "
            "--encoding, such as latin-1."
        )


class ParquetSource:
    """A Parquet file, read in parts of equal size whatever its row groups are.

    Parameters are those of :class:`CsvSource`.
    """

    def __init__(self, path: str, name: str, n_rows: int) -> None:
        self.name = name
        self._path = path
        self._n_rows = n_rows
        self._arrow, self._parquet = load_pyarrow()
        with self._opened() as file:
            self._schema = file.schema_arrow
        self.columns = list(self._schema.names)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        try:
            with self._parquet.ParquetFile(self._path) as file:
                yield file
        except self._arrow.ArrowException as error:
            raise CommandError(f"{self.name} is no readable Parquet file: {error}") from error

    def batches(self, columns: Sequence[str], shown: Shown) -> Iterator[Any]:
        """Yield pyarrow tables with these columns."""
        with self._opened() as file:
            total, done = max(file.metadata.num_rows, 1), 0
            waiting: list[Any] = []
            for batch in file.iter_batches(self._n_rows, columns=list(columns)):
                waiting.append(batch)
                while sum(part.num_rows for part in waiting) >= self._n_rows:
                    table = self._arrow.Table.from_batches(waiting)
                    waiting = table.slice(self._n_rows).to_batches()
                    done += self._n_rows
                    shown(min(done / total, 0.99))
                    yield table.slice(0, self._n_rows)
            if any(part.num_rows for part in waiting):
                yield self._arrow.Table.from_batches(waiting)
        shown(1.0)

    def empty(self, columns: Sequence[str]) -> Any:
        """Return a pyarrow table with these columns, and no rows."""
        return self._schema.empty_table().select(list(columns))


def load_pyarrow() -> tuple[Any, Any]:
    """Import pyarrow and its Parquet part, which are needed for Parquet files only."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise CommandError(
            'Parquet files need pyarrow: pip install "skliftpriv[parquet]", or use CSV.'
        ) from error
    return pyarrow, pyarrow.parquet


def suffix_of(path: str) -> str:
    """Return the suffix that says what kind of file it is, or refuse the file."""
    suffix = ".csv" if path == STREAM else Path(path).suffix.lower()
    if suffix not in CSV + PARQUET:
        known = ", ".join(CSV + PARQUET)
        raise CommandError(f"{path}: files end with one of {known}, or are - for CSV in a pipe.")
    return suffix


@contextmanager
def open_source(path: str, style: CsvFormat, n_rows: int) -> Iterator[Source]:
    """Open a file, or standard input, to be read in parts.

    Parameters
    ----------
    path : str
        The file; ``"-"`` is standard input, which is kept in a temporary file since it is read
        twice.
    style : CsvFormat
        How CSV is written.
    n_rows : int
        Rows of a part.
    """
    if suffix_of(path) in PARQUET:
        yield ParquetSource(path, path, n_rows)
    elif path != STREAM:
        yield CsvSource(path, path, style, n_rows)
    else:
        with tempfile.NamedTemporaryFile(prefix="skliftpriv-", suffix=".csv") as spool:
            shutil.copyfileobj(sys.stdin.buffer, spool)
            spool.flush()
            yield CsvSource(spool.name, "standard input", style, n_rows)
