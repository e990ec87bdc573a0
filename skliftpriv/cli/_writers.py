"""Data frames into files, part by part."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Protocol

import pandas as pd

from ._errors import CommandError
from ._files import is_packed
from ._outputs import OutputFiles, in_place
from ._parquet_source import load_pyarrow
from ._sources import PARQUET, STREAM, CsvFormat, suffix_of

__all__ = ["Writer", "open_writer"]

#: Fast, and about as small as it gets for columns that repeat few values.
_PACKING = 6
#: Rows of a file in a folder.
_ROWS_OF_FILE = 1 << 20


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

        The module csv of Python 3.11 would leave a carriage return without quotation marks.
        """
        if set(map(type, values)) != {str}:
            values = ["" if value is None else str(value) for value in values]
        fields = {value: self._field(value) for value in set(values)}
        if alone and "" in fields:
            fields[""] = '""'  # a line without anything would not be a row
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
        Where to write; a folder gets a file for every million rows.
    name : str
        What messages call it.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._arrow, self._parquet = load_pyarrow()
        self._path = path
        self._name = name
        self._schema: Any = None
        self._file: Any = None
        self._n_files = self._n_rows = 0

    def write(self, frame: Any) -> None:
        """Write some rows."""
        try:
            if isinstance(frame, pd.DataFrame):
                frame = self._typed(self._arrow.Table.from_pandas(frame, preserve_index=False))
            # What pandas noted in the input would make a column an index of the output.
            frame = frame.replace_schema_metadata(None)
            if self._schema is None:
                self._schema = frame.schema
            if self._file is None:
                self._file = self._parquet.ParquetWriter(self._next_path(), self._schema)
            self._file.write_table(frame.cast(self._schema))
            self._n_rows += frame.num_rows
            if self._path.is_dir() and self._n_rows >= _ROWS_OF_FILE:
                self.close()
        except self._arrow.ArrowException as error:
            raise CommandError(
                f"{self._name} cannot be written as Parquet: {error}; write CSV, or use a smaller "
                "--chunk-rows."
            ) from error

    def _typed(self, table: Any) -> Any:
        """Give columns of a CSV file that hold no value in this part the type of text."""
        text, is_null = self._arrow.string(), self._arrow.types.is_null
        fields = [f.with_type(text) if is_null(f.type) else f for f in table.schema]
        return table.cast(self._arrow.schema(fields))

    def close(self) -> None:
        """Write the end of the file."""
        if self._file is not None:
            self._file.close()
        self._file, self._n_rows = None, 0

    def _next_path(self) -> Path:
        if not self._path.is_dir():
            return self._path
        self._n_files += 1
        return self._path / f"part-{self._n_files - 1:05d}.parquet"


@contextmanager
def open_writer(path: str, files: OutputFiles, style: CsvFormat) -> Iterator[Writer]:
    """Open a file, or standard output, to be written in parts.

    Parameters
    ----------
    path : str
        The file, or with a slash at the end a folder; ``"-"`` is standard output, which gets
        nothing before all rows are there.
    files : OutputFiles
        Puts the file in its place at the end.
    style : CsvFormat
        How CSV is written.
    """
    if path.endswith(("/", os.sep)) or suffix_of(path) in PARQUET:
        place = files.place_folder if path.endswith(("/", os.sep)) else files.place
        writer = ParquetWriter(place(path), path)
        try:
            yield writer
        finally:
            writer.close()
        return
    with ExitStack() as stack:
        if path == STREAM:
            raw: Any = stack.enter_context(_standard_output())
        else:
            raw = stack.enter_context(open(files.place(path), "wb"))
        if is_packed(path):
            # Neither the name nor the time: the same rows are the same file.
            packed = gzip.GzipFile("", "wb", _PACKING, raw, mtime=0)
            raw = stack.enter_context(packed)
        text = io.TextIOWrapper(raw, encoding=style.encoding, newline="")
        try:
            yield CsvWriter(text, style.delimiter(path))
            text.flush()
        except UnicodeEncodeError as error:
            character = error.object[error.start]
            raise CommandError(
                f"{path}: --encoding {style.encoding} cannot encode {character!r}, which is in the "
                "release; use --encoding utf-8."
            ) from error
        finally:
            # What lies below is closed on its own; after an error there may be more to flush.
            with suppress(OSError):
                text.detach()


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    """Collect bytes, and copy them to standard output if nothing went wrong."""
    if sys.stdout is None:
        raise CommandError("Standard output is closed: write to a file with -o.")
    with tempfile.TemporaryFile(prefix="skliftpriv-") as spool:
        yield spool
        spool.seek(0)
        in_place.append("part of the rows, on standard output")
        shutil.copyfileobj(spool, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        in_place[-1] = "all rows, on standard output"
