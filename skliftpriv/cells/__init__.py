"""Whole tables as cells: a partition of the rows that keeps what a model needs."""

from ._cells import Cells, CellsLike, CellsSummary, learn_cells
from ._choice import RowChoice, learning_rows
from ._partitions import Sample
from ._typical import ColumnValues

__all__ = [
    "Cells",
    "CellsLike",
    "CellsSummary",
    "ColumnValues",
    "RowChoice",
    "Sample",
    "learn_cells",
    "learning_rows",
]
