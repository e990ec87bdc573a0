"""Records: the column that tells rows apart, or says which of them belong to one person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import narwhals as nw
import numpy as np
import pandas as pd

from ..exceptions import InvalidParameterError
from ..frames import ColumnKey, RecordIds, Table, encode_rows, record_bits
from ..sampling import RandomState
from ..secret import SecretLike, check_secret
from ._layout import Layout

__all__ = ["RecordColumn", "check_keys"]


@dataclass(frozen=True)
class RecordColumn:
    """A column of ids, or a level of the index of a pandas frame.

    Attributes
    ----------
    parameter : {"record_id", "groups"}
        The parameter that names it.
    key : str or int
        Its name, or its position in a table without names.
    """

    parameter: str
    key: ColumnKey

    @classmethod
    def of(cls, layout: Layout, parameter: str, key: ColumnKey) -> Self:
        """Find the name of a column that is given by its index."""
        if isinstance(key, bool) or not isinstance(key, str | int | np.integer):
            raise InvalidParameterError(
                f"{parameter} must be the name or index of one column, or the name of the index "
                f"of a pandas frame, not {key!r}."
            )
        if isinstance(key, str) or not layout.named:
            return cls(parameter, key if isinstance(key, str) else int(key))
        if not -len(layout.names) <= key < len(layout.names):
            raise InvalidParameterError(
                f"{parameter}={key} is out of range: X has {len(layout.names)} columns."
            )
        return cls(parameter, layout.names[key])

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"{self.parameter}={self.key!r}"

    @property
    def name(self) -> str:
        """Its name in texts."""
        return self.key if isinstance(self.key, str) else f"x{self.key}"

    def column(self, table: Table, layout: Layout) -> Any:
        """Return the ids of the rows of a table."""
        if not isinstance(self.key, str):
            return table.column(table.position(self.key, self.parameter))
        levels = [] if table.index is None else list(table.index.names)
        if table.names is not None and self.key in table.names:
            if self.key in levels:
                raise InvalidParameterError(
                    f"{self.title} is a column of X and the name of its index: rename one of them."
                )
            return table.column(self.key)
        if levels.count(self.key) > 1:
            raise InvalidParameterError(
                f"{self.title} is the name of several levels of the index: rename all but one."
            )
        if self.key in levels:
            assert table.index is not None
            level = pd.Series(table.index.get_level_values(self.key).array, name=self.key)
            return nw.from_native(level, series_only=True)
        if table.names is None and layout.named and self.key in layout.names:
            return table.column(layout.names.index(self.key))  # like all columns of an array
        raise InvalidParameterError(
            f"{self.title} is not a column of X, nor the name of the index of a pandas frame."
        )

    def bits(
        self, table: Table, layout: Layout, codes: np.ndarray, *, first_row: int = 0
    ) -> Callable[[bytes], np.ndarray]:
        """Return the random bits of every row, which its record and its input decide, for a key.

        Parameters
        ----------
        table, layout
            The rows, and which columns they have.
        codes : ndarray of int
            Their inputs to the mechanism.
        first_row : int, default=0
            Number of the first row in messages.

        Returns
        -------
        callable
            Takes a key of 16 bytes, for one purpose of one mechanism, and returns 64 bits a row.
        """
        ids = RecordIds(self.column(table, layout), self.title, first_row)
        inputs = ", ".join(layout.useful_names)
        checked = False

        def for_key(key: bytes) -> np.ndarray:
            nonlocal checked
            bits = record_bits(ids, codes, key, inputs, check=not checked)
            checked = True
            return bits

        return for_key

    def first_rows(
        self, table: Table, layout: Layout, columns: Sequence[tuple[str, Any]]
    ) -> np.ndarray:
        """Return the first row of each record; refuse records whose rows differ in a column.

        Parameters
        ----------
        table, layout
            The rows, and which columns they have.
        columns : sequence of (name, column)
            In which the rows of a record must be the same.
        """
        ids = RecordIds(self.column(table, layout), self.title)
        for name, column in columns:
            ids.check_alike(encode_rows([column])[0], name)
        return ids.first_rows


def check_keys(secret: SecretLike | None, random_state: RandomState, *, records: bool) -> None:
    """Refuse a secret that cannot be used, or not with the other parameters.

    Parameters
    ----------
    secret, random_state
        The parameters of a sanitiser.
    records : bool
        Whether rows have ids.
    """
    if secret is None:
        return
    check_secret(secret)
    if not records:
        raise InvalidParameterError(
            "secret= needs record_id=, the column that tells records apart: with both, each "
            "record gets the same value at every release."
        )
    if random_state is not None:
        raise InvalidParameterError(
            "secret= and random_state= both decide the noise: leave out random_state, since a "
            "release from a seed is not private."
        )
