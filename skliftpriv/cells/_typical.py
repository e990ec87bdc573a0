"""Typical values of columns: the median of numbers and the most common category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._arrays import FloatArray, Label
from ..frames import as_numbers, encode_rows, rows_of

__all__ = ["ColumnValues"]

#: Numbers are represented by this many of their quantiles, and other columns by as many values.
_MOST_NUMBERS = 512
_MOST_CATEGORIES = 1_000


@dataclass(frozen=True)
class ColumnValues:
    """How often each cell holds each value of a column.

    Attributes
    ----------
    values : tuple of labels
        Values of the column, ascending if they are numbers; None for missing ones.
    ordered : bool
        Whether the values are numbers or dates, which have a median.
    shares : csr_array of shape (n_cells, n_values)
        P(value | cell).
    """

    values: tuple[Label, ...]
    ordered: bool
    shares: csr_array

    @classmethod
    def count(
        cls,
        column: Any,
        cells: NDArray[np.intp],
        n_cells: int,
        *,
        least: int = 1,
        weight: FloatArray | None = None,
    ) -> ColumnValues:
        """Count the values of a column in each cell.

        Parameters
        ----------
        column : narwhals Series or one-dimensional array
            The column. Of many numbers only quantiles are counted, and of many categories only
            the most common.
        cells : ndarray of int
            The cell of each row.
        n_cells : int
            Number of cells.
        least : int, default=1
            Categories with fewer rows are never typical: names and numbers of records would be
            released as they are. Without any other the typical value is missing.
        weight : ndarray, optional
            Weight of each row.
        """
        numbers = as_numbers(column)
        if numbers is None:
            codes, values = _categories(column, least)
        else:
            codes, values = _quantiles(column, numbers)
        found = codes >= 0
        each = np.ones(codes.size) if weight is None else weight
        place = (cells[found], codes[found])
        counts = csr_array((each[found], place), shape=(n_cells, len(values)))
        counts.sum_duplicates()
        rows = np.asarray(counts.sum(axis=1))
        shares = csr_array(counts.multiply(1.0 / np.where(rows > 0, rows, 1.0)[:, None]))
        return cls(tuple(values), numbers is not None, shares)

    def typical(self, weights: FloatArray) -> list[Label]:
        """Return the typical value of each mixture of cells.

        Parameters
        ----------
        weights : ndarray of shape (n_mixtures, n_cells)
            Share of each cell in each mixture.

        Returns
        -------
        list of labels
            The median of a column of numbers, or missing if most values are; otherwise the most
            common value.
        """
        shares = np.asarray(weights @ self.shares)
        if not self.ordered or self.values == (None,):
            return [self.values[i] for i in shares.argmax(axis=1)]
        known = shares[:, : len(self.values) - (None in self.values)]
        half = 0.5 * known.sum(axis=1, keepdims=True)
        median = (np.cumsum(known, axis=1) >= half).argmax(axis=1)
        missing = 2 * known.sum(axis=1) < shares.sum(axis=1)
        return [None if gone else self.values[i] for i, gone in zip(median, missing, strict=True)]


def _categories(column: Any, least: int) -> tuple[NDArray[np.intp], list[Label]]:
    """Return the code of each row, -1 for rare values, and the values."""
    codes, values = encode_rows([column])
    rows = np.bincount(codes, minlength=len(values))
    common = np.argsort(-rows, kind="stable")[:_MOST_CATEGORIES]
    common = common[rows[common] >= least]
    if not common.size:
        return np.zeros(codes.size, dtype=np.intp), [None]
    place = np.full(len(values), -1, dtype=np.intp)
    place[common] = np.arange(common.size)
    return place[codes], [values[i] for i in common]


def _quantiles(column: Any, numbers: FloatArray) -> tuple[NDArray[np.intp], list[Label]]:
    """Return for each row the code of the nearest quantile from above, and the quantiles.

    The quantiles are values of the column, in its own type; a missing value has the last code.
    """
    known = np.flatnonzero(~np.isnan(numbers))
    if not known.size:
        return np.zeros(numbers.size, dtype=np.intp), [None]
    ordered = known[np.argsort(numbers[known], kind="stable")]
    levels = numbers[ordered]
    first = np.flatnonzero(np.concatenate([[True], levels[1:] > levels[:-1]]))
    if first.size > _MOST_NUMBERS:
        places = np.linspace(0, known.size - 1, _MOST_NUMBERS).round().astype(np.intp)
        first = places[np.concatenate([[True], levels[places][1:] > levels[places][:-1]])]
    chosen = ordered[first]
    # A value of the column itself, so that whole numbers and dates keep their type.
    codes, symbols = encode_rows([rows_of(column, chosen)])
    values: list[Label] = [symbols[code] for code in codes]
    place = np.searchsorted(numbers[chosen], numbers)
    if known.size < numbers.size:
        values.append(None)
        place = np.where(np.isnan(numbers), len(values) - 1, place)
    return place.astype(np.intp), values
