"""Whole tables as cells: a partition of the rows that keeps what a model needs."""

from ._cells import Cells, CellsLike, CellsSummary, learn_cells
from ._choice import RowChoice, learning_rows
from ._features import CategoryFeature, Feature, NumberFeature
from ._grid import Grid
from ._partitions import TreePartition
from ._sample import Sample
from ._splits import Splits
from ._typical import ColumnValues

__all__ = [
    "CategoryFeature",
    "Cells",
    "CellsLike",
    "CellsSummary",
    "ColumnValues",
    "Feature",
    "Grid",
    "NumberFeature",
    "RowChoice",
    "Sample",
    "Splits",
    "TreePartition",
    "learn_cells",
    "learning_rows",
]
