"""Rows to learn cells from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import FloatArray
from ..frames import rows_of
from ._features import Feature, feature_of

__all__ = ["LEAST_ROWS", "Codes", "Sample"]

Codes = NDArray[np.intp]

#: Rows of a leaf, and of a category that is not counted among other values.
LEAST_ROWS = 30


@dataclass(frozen=True)
class Sample:
    """Rows to learn cells from.

    Attributes
    ----------
    names : sequence of str
        Names of the columns.
    columns : sequence of columns
        The rows.
    sensitive : ndarray of int
        The sensitive value of each row.
    target : ndarray of int or None
        The class of each row, if there is a target.
    weight : ndarray or None
        The weight of each row, if they differ.
    """

    names: Sequence[str]
    columns: Sequence[Any]
    sensitive: Codes
    target: Codes | None
    weight: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.sensitive.size

    def thinned(self, most: int) -> Sample:
        """Return so many of the rows at most, chosen at random."""
        if self.n_rows <= most:
            return self
        rows = np.sort(np.random.default_rng(0).choice(self.n_rows, most, replace=False))
        return replace(
            self,
            columns=[rows_of(column, rows) for column in self.columns],
            sensitive=self.sensitive[rows],
            target=None if self.target is None else self.target[rows],
            weight=None if self.weight is None else self.weight[rows],
        )

    def features(self) -> tuple[Feature, ...]:
        """Learn how the columns are written as numbers."""
        pairs = zip(self.names, self.columns, strict=True)
        return tuple(feature_of(name, column, LEAST_ROWS) for name, column in pairs)
