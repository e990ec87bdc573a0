"""Cells of a table: what each row is reduced to before a mechanism sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from uuid import UUID, uuid4

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from .._arrays import FloatArray, Label
from ..exceptions import InvalidParameterError
from ..frames import Encoded
from ._partitions import LEAST_ROWS, Partition, Sample, partition_of
from ._typical import ColumnValues

__all__ = ["Cells", "CellsLike", "CellsSummary", "learn_cells"]

#: What the parameter ``cells`` of a sanitiser takes.
CellsLike: TypeAlias = int | BaseEstimator

#: Fewer rows than this are too few to learn from.
_LEAST_ROWS = 60
#: Rows that are put into cells at a time, so that memory does not grow with the rows.
_CHUNK_ROWS = 100_000
_UNSEEN = "another cell"


@dataclass(frozen=True)
class CellsSummary:
    """How cells were learnt.

    .. versionadded:: 0.2

    Attributes
    ----------
    n_cells : int
        Number of cells.
    n_rows : int
        Number of rows that they were learnt from.
    made_by : str
        What made them, in a few words.
    apart : bool
        Whether the rows that they were learnt from are not counted.
    complete : bool
        Whether every row has a cell, as with a tree.
    """

    n_cells: int
    n_rows: int
    made_by: str
    apart: bool
    complete: bool


@dataclass(frozen=True, repr=False, eq=False)
class Cells:
    """A partition of the rows of a table, with typical values of each part.

    .. versionadded:: 0.2

    Attributes
    ----------
    names : tuple of str
        The columns that the cells are made of.
    labels : tuple of str
        A name for each cell; for a tree, the rule that its rows meet.
    summary : CellsSummary
        How the cells were learnt.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    summary: CellsSummary
    _partition: Partition
    _values: tuple[ColumnValues, ...]
    _identity: UUID = field(default_factory=uuid4)

    def __eq__(self, other: object) -> bool:
        """Tell whether these are the same cells, perhaps as a copy from another process."""
        return isinstance(other, Cells) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def encode(self, columns: Sequence[Any]) -> Encoded:
        """Return the number of the cell of each row, and the names of the cells."""
        starts = range(0, max(len(columns[0]), 1), _CHUNK_ROWS)
        parts = [[column[start : start + _CHUNK_ROWS] for column in columns] for start in starts]
        codes = np.concatenate([self._partition.codes(part) for part in parts])
        unseen = codes < 0
        if not unseen.any():
            return codes, list(self.labels)
        return np.where(unseen, len(self.labels), codes), [*self.labels, _UNSEEN]

    def settled(self, labels: Sequence[Label], p_x: FloatArray) -> Cells:
        """Return cells that all have rows, if that can be had.

        A leaf of a tree without rows is put together with its nearest relative. Other partitions
        have no relatives: they stay as they are.

        Parameters
        ----------
        labels : sequence of labels
            The cells that have rows.
        p_x : ndarray
            Their shares of the rows.
        """
        leaves = self._partition.leaves
        if leaves is None:
            return self
        share = dict(zip(labels, p_x, strict=True))
        nearest = leaves.nearest(np.array([share.get(label, 0.0) for label in self.labels]))
        return replace(self, labels=tuple(self.labels[i] for i in nearest))

    def typical(self, weights: FloatArray) -> list[list[Label]]:
        """Return the typical values of mixtures of cells, for each column.

        Parameters
        ----------
        weights : ndarray of shape (n_mixtures, n_cells)
            Share of each cell in each mixture.
        """
        return [values.typical(weights) for values in self._values]

    def __repr__(self) -> str:
        how = self.summary
        return (
            f"Cells({how.n_cells} cells of {', '.join(self.names)}, learnt from "
            f"{how.n_rows:,} rows by {how.made_by})"
        )


def learn_cells(how: CellsLike, sample: Sample, *, apart: bool = False) -> Cells:
    """Learn cells from the rows of a table.

    Parameters
    ----------
    how : int or estimator
        At most so many cells of a decision tree, or an estimator of scikit-learn with ``apply`` or
        ``predict``.
    sample : Sample
        The rows to learn from. Cells are to predict its target; without one, its columns.
    apart : bool, default=False
        Whether these rows will not be counted.

    Returns
    -------
    Cells
    """
    if sample.sensitive.size < _LEAST_ROWS:
        raise InvalidParameterError(
            f"cells={how!r} would be learnt from {sample.sensitive.size:,} rows (n_samples), but "
            f"at least {_LEAST_ROWS} are needed: use more rows, or do without cells."
        )
    sample = _renumbered(sample)
    partition = partition_of(how, sample)
    labels = tuple(partition.labels)
    codes = partition.codes(sample.columns)
    values = [ColumnValues.count(c, codes, len(labels), least=LEAST_ROWS) for c in sample.columns]
    return Cells(
        names=tuple(sample.names),
        labels=labels,
        summary=CellsSummary(
            n_cells=len(labels),
            n_rows=sample.sensitive.size,
            made_by=partition.made_by,
            apart=apart,
            complete=partition.leaves is not None,
        ),
        _partition=partition,
        _values=tuple(values),
    )


def _renumbered(sample: Sample) -> Sample:
    """Give sensitive values numbers in the order in which they appear, and classes without gaps.

    The order decides between equally good splits, so that cells would depend on other rows.
    """
    target = None if sample.target is None else pd.factorize(sample.target, sort=True)[0]
    return replace(sample, sensitive=pd.factorize(sample.sensitive)[0], target=target)
