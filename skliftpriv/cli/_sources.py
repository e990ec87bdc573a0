"""Tables in files, whatever the kind of file, read in parts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from ._csv_source import CsvFormat, CsvSource
from ._errors import CommandError
from ._files import PACKED, STREAM, Shown, is_packed, open_input
from ._parquet_source import ParquetSource

__all__ = ["PARQUET", "STREAM", "CsvFormat", "Source", "open_source", "suffix_of"]

CSV = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")


class Source(Protocol):
    """A table that can be read more than once, in parts.

    Whoever reads it again reads what it held the first time, or gets an error at the end.
    """

    name: str
    columns: list[str]
    #: Those of the columns that pandas stored as an index.
    index: list[str]

    def batches(
        self, columns: Sequence[str], shown: Shown, verbatim: Sequence[str] = ()
    ) -> Iterator[Any]:
        """Yield data frames with these columns, and say which share of the file is read.

        Columns that are ``verbatim`` are read for the first time, or do not matter: whether they
        changed is not looked at, and no text in them means that a value is missing.
        """

    def empty(self, columns: Sequence[str]) -> Any:
        """Return a data frame with these columns, and no rows."""

    def check(self) -> None:
        """Refuse the file if it is not the one any more that was opened."""


def suffix_of(path: str) -> str:
    """Return the suffix that says what kind of file it is, or refuse the file."""
    inner = path[: -len(PACKED)] if is_packed(path) else path
    suffix = ".csv" if path == STREAM else Path(inner).suffix.lower()
    if suffix in CSV or (suffix in PARQUET and inner == path):
        return suffix
    known = ", ".join([*CSV, *(kind + PACKED for kind in CSV), *PARQUET])
    raise CommandError(
        f"{path}: the name must end with one of {known}; or use - for CSV in a pipe, or a name "
        "that ends with / for a folder of Parquet files."
    )


@contextmanager
def open_source(path: str, style: CsvFormat, n_rows: int) -> Iterator[Source]:
    """Open a file, or standard input, to be read in parts.

    Parameters
    ----------
    path : str
        The file, or a folder of Parquet files; ``"-"`` is standard input.
    style : CsvFormat
        How CSV is written.
    n_rows : int
        Rows of a part.
    """
    # A folder may have any name, but not that of a CSV file.
    folder = os.path.isdir(path) and Path(path).suffix.lower() not in CSV
    parquet = folder or suffix_of(path) in PARQUET
    with open_input(path) as file:
        yield ParquetSource(file, n_rows) if parquet else CsvSource(file, style, n_rows)
