"""Data frames into files, part by part."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

import pandas as pd

from ._outputs import OutputFiles
from ._sources import PARQUET, STREAM, CsvFormat, load_pyarrow, suffix_of

__all__ = ["Writer", "open_writer"]


class Writer(Protocol):
    """Takes a table in parts."""

    def write(self, frame: Any) -> None:
        """Write some rows, a pandas data frame or a pyarrow table."""


class CsvWriter:
    """Writes rows as text; missing values are empty.

    Parameters
    ----------
    file : text file
        Where to write.
    delimiter : str
        What separates fields.
    """

    def __init__(self, file: IO[str], delimiter: str) -> None:
        self._file = file
        self._delimiter = delimiter
        self._special = re.compile(f'[{re.escape(delimiter)}"\r\n]')
        self._started = False

    def write(self, frame: Any) -> None:
        """Write some rows, below the names of the columns."""
        if isinstance(frame, pd.DataFrame):
            names = list(frame.columns)
            columns = [_values(frame[name]) for name in names]
        else:
            names = frame.column_names
            columns = [column.to_pylist() for column in frame.columns]
        if not self._started:
            columns = [[name, *values] for name, values in zip(names, columns, strict=True)]
            self._started = True
        fields = [self._fields(values, alone=len(names) == 1) for values in columns]
        rows = map(self._delimiter.join, zip(*fields, strict=True))
        self._file.write("\n".join(rows) + "\n")

    def _fields(self, values: list[Any], *, alone: bool) -> Iterable[str]:
        """Write values as fields; categories repeat, so each is looked at once only.

        This is several times as fast as the writer of the module csv, which looks at every sign.
        """
        if set(map(type, values)) != {str}:
            values = ["" if value is None else str(value) for value in values]
        fields = {value: self._field(value) for value in set(values)}
        if alone and "" in fields:
            fields[""] = '""'  # a line without anything would be no row
        return map(fields.__getitem__, values)

    def _field(self, text: str) -> str:
        if self._special.search(text) is None:
            return text
        return '"' + text.replace('"', '""') + '"'


def _values(column: pd.Series) -> list[Any]:
    """Return the values of a column, None where they are missing."""
    values = column.to_numpy(dtype=object, na_value=None) if column.hasnans else column
    return list(values.tolist())


class ParquetWriter:
    """Writes a row group per part, all with the types of the first.

    Parameters
    ----------
    path : Path
        Where to write.
    """

    def __init__(self, path: Path) -> None:
        self._arrow, self._parquet = load_pyarrow()
        self._path = path
        self._file: Any = None

    def write(self, frame: Any) -> None:
        """Write some rows."""
        if isinstance(frame, pd.DataFrame):
            frame = self._arrow.Table.from_pandas(frame, preserve_index=False)
        if self._file is None:
            self._file = self._parquet.ParquetWriter(self._path, frame.schema)
        self._file.write_table(frame.cast(self._file.schema))

    def close(self) -> None:
        """Write the end of the file."""
        if self._file is not None:
            self._file.close()


@contextmanager
def open_writer(path: str, files: OutputFiles, style: CsvFormat) -> Iterator[Writer]:
    """Open a file, or standard output, to be written in parts.

    Parameters
    ----------
    path : str
        The file; ``"-"`` is standard output.
    files : OutputFiles
        Puts the file in its place at the end.
    style : CsvFormat
        How CSV is written.
    """
    how: dict[str, Any] = {"encoding": style.encoding, "newline": ""}
    if suffix_of(path) in PARQUET:
        writer = ParquetWriter(files.place(path))
        try:
            yield writer
        finally:
            writer.close()
    elif path == STREAM:
        stream = io.TextIOWrapper(sys.stdout.buffer, **how)
        try:
            yield CsvWriter(stream, style.delimiter(path))
        finally:
            # Flushes, and leaves standard output open for others.
            stream.detach()
    else:
        with open(files.place(path), "w", **how) as file:
            yield CsvWriter(file, style.delimiter(path))
