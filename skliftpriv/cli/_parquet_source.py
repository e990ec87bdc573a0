"""Parquet files, with the types of their columns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ._errors import CommandError
from ._files import InputFile, Shown

__all__ = ["ParquetSource", "load_pyarrow"]


class ParquetSource:
    """A table in a Parquet file, read in parts of equal size whatever its row groups are.

    Parameters
    ----------
    file : InputFile
        The file.
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
            self._schema = opened.schema_arrow
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
            total, done = max(file.metadata.num_rows, 1), 0
            for table in self._equal_parts(file.iter_batches(self._n_rows, columns=list(columns))):
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
            with self._parquet.ParquetFile(self._file.path) as file:
                yield file
        except self._arrow.ArrowException as error:
            raise CommandError(
                f"{self.name} cannot be read as a Parquet file: {error}; write it again, with "
                "columns of text, dates, and numbers of at most 64 bits."
            ) from error


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
