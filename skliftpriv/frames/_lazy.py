"""Tables that are not in memory: lazy frames, and streams of record batches that are read once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import narwhals as nw
import pandas as pd
from narwhals.dependencies import is_pyarrow_table

from .._limits import MOST_TABLE_CELLS, refuse_beyond
from ..exceptions import InvalidParameterError
from ._engines import ENGINES, PartFunction, extra_of
from ._lazy_names import check_names
from ._table import Table, is_stream

__all__ = ["LazyTable", "RowStream"]

#: Record batches are put together, or cut, to about so many rows: small ones cost more per row, and
#: a large one would need memory for all of its rows at once.
_PART = 1 << 16


@contextmanager
def _extra_named(library: nw.Implementation) -> Iterator[None]:
    """Say which extra installs what a library lacks."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise InvalidParameterError(
            f"Lazy frames of {library.value} need {error.name}: pip install "
            f'"skliftpriv[{extra_of(library)}]".'
        ) from error


class LazyTable:
    """A lazy frame of any library that narwhals knows.

    Its rows are counted and released by that library, where they are.

    .. versionadded:: 0.2

    Parameters
    ----------
    frame : narwhals LazyFrame
        The rows.

    Attributes
    ----------
    empty : pandas.DataFrame
        A frame without rows that has the same names of columns.
    """

    def __init__(self, frame: nw.LazyFrame[Any]) -> None:
        self._frame = frame
        if frame.implementation is nw.Implementation.DASK:
            self.empty = nw.to_native(frame)._meta  # with the name of its index
        else:
            self.empty = pd.DataFrame(columns=list(frame.collect_schema()))

    @classmethod
    def of(cls, X: Any) -> LazyTable | None:
        """Read a lazy frame; None if X is something else."""
        if isinstance(X, pd.DataFrame) or is_pyarrow_table(X):  # whose names may repeat
            return None
        frame = nw.from_native(X, pass_through=True, allow_series=True)
        if not isinstance(frame, nw.LazyFrame):
            return None
        with _extra_named(frame.implementation):
            return cls(frame)

    def counted(self, names: Sequence[str]) -> tuple[Table, Any]:
        """Count equal rows by one group-by, of which only the result is collected.

        Parameters
        ----------
        names : sequence of str
            The columns that are compared.

        Returns
        -------
        table : Table
            The different rows.
        numbers : narwhals Series
            How often each of them occurs.
        """
        if getattr(nw.to_native(self._frame), "isStreaming", False):
            raise InvalidParameterError(
                "X is a stream of Spark, which has no last row: fit on a table, and transform the "
                "stream."
            )
        check_names(self._frame, names)
        types = self._frame.collect_schema()
        for name in names:
            if types[name] == nw.Object:
                raise InvalidParameterError(
                    f"The column {name!r} holds Python objects, which {self._library} cannot "
                    "count: convert them to text or numbers."
                )
        # Under other names, since some libraries read names of groups as expressions.
        keys = {f"key{i}": name for i, name in enumerate(names)}
        picked = self._frame.select(nw.col(name).alias(key) for key, name in keys.items())
        groups = picked.group_by(*keys).agg(nw.len().alias("n"))
        found = self._collected(groups.head(MOST_TABLE_CELLS + 1))
        refuse_beyond(
            MOST_TABLE_CELLS,
            len(found),
            f"the columns {', '.join(names)} have more than {MOST_TABLE_CELLS:,} different rows",
            "pool rare values before fit, such as dates to years or codes to regions",
        )
        return Table(found.select(*keys).rename(keys).to_native()), found.get_column("n")

    def typed(self, names: Sequence[str]) -> Table:
        """Return a table of some of the columns, without rows, in the form of counted ones."""
        return Table(
            self._collected(self._frame.select(*names).head(0)).to_native(), allow_empty=True
        )

    @property
    def _library(self) -> str:
        return str(self._frame.implementation.value)

    def _collected(self, frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
        """Collect a small result in the library that parts of the rows are in."""
        if frame.implementation is nw.Implementation.POLARS:
            return frame.collect("polars", engine="streaming")
        if frame.implementation is nw.Implementation.DASK:
            return frame.collect("pandas")
        with _extra_named(frame.implementation):
            return frame.collect("pyarrow")

    def mapped(
        self, names: Sequence[str], function: PartFunction, *, keep_index: bool = True
    ) -> Any:
        """Compute new rows part by part whenever they are needed, as a lazy frame.

        Parameters
        ----------
        names : sequence of str
            The columns that the function needs.
        function : callable
            Takes a part of the rows, a data frame or a pyarrow table, and returns one of the same
            kind. It is called anew for each computation, for parts of any size, also in other
            processes, and must return the same for the same rows.
        keep_index : bool, default=True
            Whether a frame of Dask keeps its index.
        """
        engine = ENGINES.get(self._frame.implementation)
        if engine is None:
            able = ", ".join(known.value for known in ENGINES)
            raise InvalidParameterError(
                f"X is a lazy frame of {self._library}, and only those of {able} can be released "
                "lazily: pass a pyarrow RecordBatchReader of its rows."
            )
        check_names(self._frame, names)
        with _extra_named(self._frame.implementation):
            result = engine(nw.to_native(self._frame.select(*names)), function)
        if keep_index or self._frame.implementation is not nw.Implementation.DASK:
            return result
        return result.reset_index(drop=True)


class RowStream:
    """A pyarrow RecordBatchReader, which can be read only once.

    .. versionadded:: 0.2

    Parameters
    ----------
    reader : pyarrow.RecordBatchReader
        The rows.
    """

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    @classmethod
    def of(cls, X: Any) -> RowStream | None:
        """Read a RecordBatchReader; None if X is something else."""
        return cls(X) if is_stream(X) else None

    @property
    def empty(self) -> Any:
        """A pyarrow table with the same columns and no rows."""
        return self._reader.schema.empty_table()

    def parts(self) -> Iterator[Any]:
        """Yield pyarrow tables of rows that are next to each other."""
        import pyarrow as pa

        held, n_rows = [], 0
        for batch in self._reader:
            for start in range(0, batch.num_rows, _PART):
                held.append(batch.slice(start, _PART))
                n_rows += held[-1].num_rows
                if n_rows >= _PART:
                    yield pa.Table.from_batches(held)
                    held, n_rows = [], 0
        if held:
            yield pa.Table.from_batches(held)

    @staticmethod
    def written(schema: Any, parts: Iterator[Any]) -> Any:
        """Make a RecordBatchReader of tables, which are computed when they are read.

        Parameters
        ----------
        schema : pyarrow.Schema
            Names and types of the columns of all parts.
        parts : iterator of pyarrow tables
            The rows.
        """
        import pyarrow as pa

        batches = (batch for part in parts for batch in part.cast(schema).to_batches())
        return pa.RecordBatchReader.from_batches(schema, batches)
