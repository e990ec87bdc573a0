"""Cells of a table: what each row is reduced to before a mechanism sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, TypeAlias
from uuid import UUID, uuid4

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .._arrays import FloatArray, Label
from ..exceptions import InvalidParameterError
from ..frames import Encoded, row_slices, rows_of
from ._features import NumberFeature
from ._partitions import Partition, TreePartition, partition_of
from ._sample import LEAST_ROWS, Sample
from ._typical import ColumnValues

__all__ = ["Cells", "CellsLike", "CellsSummary", "learn_cells"]

#: What the parameter ``cells`` of a sanitiser takes.
CellsLike: TypeAlias = int | BaseEstimator

#: Fewer rows than this are too few to learn from.
_LEAST_ROWS = 60
#: Values of a wide table that are enough to learn from, and rows that it has to be in any case:
#: with 200 cells, a tree of 60 columns of categories takes about fifteen seconds.
_MOST_VALUES = 2_500_000
_ENOUGH_ROWS = 20_000
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
        Number of rows that they were learnt from; 0 for an estimator that was trained before.
    made_by : str
        What made them, in a few words.
    apart : bool
        Whether the rows that they were learnt from are not counted.
    complete : bool
        Whether every row has a cell, as with a tree.
    asked : int or None
        Number of cells that were asked for; None if an estimator made them. There are fewer if no
        more can be told apart with 30 rows each.
    given : bool
        Whether they were known before rows were counted. The rows that they were learnt from may
        be among those counted, or not.
    """

    n_cells: int
    n_rows: int
    made_by: str
    apart: bool
    complete: bool
    asked: int | None = None
    given: bool = False

    @property
    def learnt_from(self) -> str:
        """The rows that they were learnt from, in a few words."""
        return f"{self.n_rows:,} rows" if self.n_rows else "rows that are not known"

    @property
    def fewer(self) -> bool:
        """Whether there are fewer cells than were asked for."""
        return self.asked is not None and self.n_cells < self.asked

    @property
    def why_fewer(self) -> str:
        """Why there are fewer cells than were asked for, in a few words."""
        return (
            f"{self.asked:,} were asked for, but no more can be told apart with {LEAST_ROWS} rows "
            "each"
        )


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
    partition : Partition
        Puts rows into cells.
    values : tuple of ColumnValues
        How often each cell holds each value of the columns; empty if this is not known, as for
        cells from a file.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    summary: CellsSummary
    partition: Partition
    values: tuple[ColumnValues, ...] = ()
    _identity: UUID = field(default_factory=uuid4)

    def __eq__(self, other: object) -> bool:
        """Tell whether these are the same cells, perhaps as a copy from another process."""
        return isinstance(other, Cells) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns that a tree of cells reads as numbers."""
        features = self.partition.features if isinstance(self.partition, TreePartition) else ()
        found = [f.name for f in features if isinstance(f, NumberFeature) and f.of_numbers]
        return tuple(dict.fromkeys(found))

    def given(self) -> Cells:
        """Return the same cells, for rows of which they may have been learnt or not."""
        return replace(self, summary=replace(self.summary, given=True))

    def encode(self, columns: Sequence[Any]) -> Encoded:
        """Return the number of the cell of each row, and the names of the cells."""
        codes = np.empty(len(columns[0]), dtype=np.intp)
        for part in row_slices(codes.size, len(columns)):
            codes[part] = self.partition.codes([rows_of(column, part) for column in columns])
        return self.named(codes)

    def named(self, codes: NDArray[np.intp]) -> Encoded:
        """Return the numbers of cells with the names of the cells, one more for those below 0."""
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
        leaves = self.partition.leaves
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
        if not self.values:
            raise InvalidParameterError(
                "What these cells hold is not known: a saved file has only the typical rows of the "
                'outputs, which output="typical" releases.'
            )
        return [values.typical(weights) for values in self.values]

    def __repr__(self) -> str:
        how = self.summary
        fewer = f" ({how.asked} were asked for)" if how.fewer else ""
        return (
            f"Cells({how.n_cells} cells{fewer} of {', '.join(self.names)}, learnt from "
            f"{how.learnt_from} by {how.made_by})"
        )


def learn_cells(how: CellsLike, sample: Sample, *, apart: bool = False) -> Cells:
    """Learn cells from the rows of a table.

    Parameters
    ----------
    how : int or estimator
        At most so many cells of a decision tree, or an estimator of scikit-learn with ``apply`` or
        ``predict``.
    sample : Sample
        The rows to learn from. Cells are to predict its target; without one, its columns. Of a
        table with more than 25 columns a random choice of the rows is learnt from: 2.5 million
        values, but at least 20,000 rows.
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
    most = max(_MOST_VALUES // len(sample.columns), _ENOUGH_ROWS)
    partition = partition_of(how, _renumbered(sample.thinned(most)))
    labels = tuple(partition.labels)
    codes = partition.codes(sample.columns)
    values = [
        ColumnValues.count(c, codes, len(labels), least=LEAST_ROWS, weight=sample.weight)
        for c in sample.columns
    ]
    return Cells(
        names=tuple(sample.names),
        labels=labels,
        summary=CellsSummary(
            n_cells=len(labels),
            n_rows=partition.n_rows,
            made_by=partition.made_by,
            apart=apart,
            complete=partition.leaves is not None,
            asked=int(how) if isinstance(how, Integral) else None,
            given=not partition.n_rows,
        ),
        partition=partition,
        values=tuple(values),
    )


def _renumbered(sample: Sample) -> Sample:
    """Give sensitive values numbers in the order in which they appear, and classes without gaps.

    The order decides between equally good splits, so that cells would depend on other rows.
    """
    target = None if sample.target is None else pd.factorize(sample.target, sort=True)[0]
    return replace(sample, sensitive=pd.factorize(sample.sensitive)[0], target=target)
