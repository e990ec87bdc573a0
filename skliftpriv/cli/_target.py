"""The target column of a file: text with few values, none of them missing."""

from __future__ import annotations

import numpy as np

from .._limits import MOST_TARGETS
from ..frames import Table, encode_rows
from ._errors import CommandError
from ._sources import Source

__all__ = ["TargetColumn"]


class TargetColumn:
    """Reads the target part by part, and refuses one that cannot be counted.

    Parameters
    ----------
    name : str
        The column.
    source : Source
        The file.
    """

    def __init__(self, name: str, source: Source) -> None:
        self._name = name
        self._file = source.name
        self._values: set[str] = set()

    def read(self, part: Table) -> np.ndarray:
        """Return the values as text: numbers of a Parquet file are values like any other.

        Parameters
        ----------
        part : Table
            The rows that come next.
        """
        codes, symbols = encode_rows([part.column(self._name)])
        if None in symbols:
            raise CommandError(
                f"--target {self._name}: the value is missing in a row of {self._file}; leave such "
                "rows out, or write a value there."
            )
        values = [str(symbol) for symbol in symbols]
        self._values.update(values)
        if len(self._values) > MOST_TARGETS:
            raise CommandError(
                f"--target {self._name} has more than {MOST_TARGETS} values in {self._file}: put "
                "them into bins first."
            )
        return np.array(values, dtype=object)[codes]
