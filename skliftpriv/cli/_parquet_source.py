"""Parquet files, and folders of them, with the types of their columns."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ._errors import CommandError
from ._files import InputFile, Shown

__all__ = ["ParquetSource", "load_pyarrow"]


class ParquetSource:
    """A table in a Parquet file or a folder, read in parts of equal size whatever its groups are.

    Parameters
    ----------
    file : InputFile
        The file or folder.
    n_rows : int
        Rows of a part.
    """

    def __init__(self, file: InputFile, n_rows: int) -> None:
        self.name = file.name
        self.check = file.check
        self._file = file
        self._n_rows = n_rows
        self._arrow, self._parquet = load_pyarrow()
        with self._opened() as opened:
            self._schema = opened.schema
        self.columns = list(self._schema.names)
        noted = (self._schema.pandas_metadata or {}).get("index_columns", [])
        self.index = [name for name in noted if isinstance(name, str)]
        self._digests: dict[str, bytes] = {}

    def batches(
        self, columns: Sequence[str], shown: Shown, verbatim: Sequence[str] = ()
    ) -> Iterator[Any]:
        """Yield pyarrow tables with these columns."""
        self.check()
        hashes = {name: hashlib.sha256() for name in columns if name not in verbatim}
        with self._opened() as file:
            total, done = max(file.n_rows, 1), 0
            for table in self._equal_parts(file.batches(self._n_rows, list(columns))):
                for name, so_far in hashes.items():
                    so_far.update(self._values(table, name))
                done += table.num_rows
                shown(min(done / total, 0.99))
                yield table
        self.check()
        digests = {name: so_far.digest() for name, so_far in hashes.items()}
        # A column that is read again holds what it held, even if the file looks the same.
        if any(self._digests.get(name, digest) != digest for name, digest in digests.items()):
            raise self._file.changed()
        self._digests |= digests
        shown(1.0)

    def empty(self, columns: Sequence[str]) -> Any:
        """Return a pyarrow table with these columns, and no rows."""
        return self._schema.empty_table().select(list(columns))

    def _equal_parts(self, batches: Iterator[Any]) -> Iterator[Any]:
        waiting: list[Any] = []
        for batch in batches:
            waiting.append(batch)
            while sum(part.num_rows for part in waiting) >= self._n_rows:
                table = self._arrow.Table.from_batches(waiting)
                waiting = table.slice(self._n_rows).to_batches()
                yield table.slice(0, self._n_rows)
        if any(part.num_rows for part in waiting):
            yield self._arrow.Table.from_batches(waiting)

    def _values(self, table: Any, name: str) -> bytes:
        """Write the values of a column as bytes, the same however it is cut and encoded."""
        column = table.column(name)
        try:
            if self._arrow.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            if self._arrow.types.is_nested(column.type):
                raise CommandError(
                    f"{self.name}: the column {name!r} is of type {column.type}, whose values "
                    "cannot be categories; convert it to text or numbers."
                )
            encoded = column.combine_chunks().dictionary_encode()
            codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            return codes.tobytes() + repr(encoded.dictionary.to_pylist()).encode()
        except UnicodeError as error:
            raise CommandError(
                f"{self.name}: the column {name!r} contains text that is not valid utf-8; fix it, "
                "or store it as binary."
            ) from error
        except (self._arrow.ArrowException, NotImplementedError) as error:
            raise CommandError(
                f"{self.name}: the column {name!r} of type {column.type} cannot be read: {error}"
            ) from error

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        try:
            if os.path.isdir(self._file.path):
                yield _Folder(self._file.path)
                return
            with self._parquet.ParquetFile(self._file.path) as file:
                yield _File(file)
        except self._arrow.ArrowException as error:
            raise CommandError(
                f"{self.name} cannot be read as a Parquet file: {error}; write it again, with "
                "columns of text, dates, and numbers of at most 64 bits."
            ) from error


class _File:
    """A Parquet file that is open."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.schema = file.schema_arrow
        self.n_rows = file.metadata.num_rows

    def batches(self, n_rows: int, columns: list[str]) -> Iterator[Any]:
        """Yield record batches of at most so many rows."""
        return self._file.iter_batches(n_rows, columns=columns)


class _Folder:
    """The Parquet files of a folder as one table, in the order of their names.

    Folders in it such as ``year=2024`` are values of a column, as Spark, Dask and DuckDB write
    them. Names that begin with a dot or an underscore are left out.
    """

    def __init__(self, path: str) -> None:
        import pyarrow.dataset as ds

        self._dataset = ds.dataset(path, format="parquet", partitioning="hive")
        if not self._dataset.files:
            raise CommandError(f"{path} has no Parquet files: name a file, or another folder.")
        self.schema = self._dataset.schema
        self.n_rows = 0
        first = None
        for fragment in self._dataset.get_fragments():
            # What pyarrow does not find in a file would be missing values.
            held = fragment.physical_schema.remove_metadata()
            if first is not None and not held.equals(first):
                raise CommandError(
                    f"{fragment.path} has other columns, or other types, than "
                    f"{self._dataset.files[0]}: all files of a folder must have the same."
                )
            first = held
            self.n_rows += fragment.metadata.num_rows

    def batches(self, n_rows: int, columns: list[str]) -> Iterator[Any]:
        """Yield record batches of at most so many rows, of which few are read ahead."""
        options = {"batch_readahead": 2, "fragment_readahead": 1}
        return self._dataset.to_batches(columns=columns, batch_size=n_rows, **options)


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
