"""Count the cells of lazy frames: rows are put into cells where they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..cells import Cells
from ..exceptions import InvalidParameterError
from ..frames import ColumnType, ContingencyTable, LazyTable, Table, encode_rows
from ._counting import Counts
from ._layout import Layout
from ._target import TargetCounts, TargetReader

__all__ = ["counted_in_cells", "refuse_beside"]


def refuse_beside(**given: Any) -> None:
    """Refuse what cannot be used with a lazy frame."""
    for name, value in given.items():
        if value is None:
            continue
        how = f"collect it, or a random sample of its rows, or leave out {name}="
        if name in ("y", "target"):
            how = (
                "count a column of X by CountedRows.of(X, ..., target='name'), and fit to these "
                "counts"
            )
        if name == "cells":
            how = (
                "collect a random sample of its rows, learn cells from them by "
                "CountedRows.of(sample, ..., cells=...), count X in the same cells by "
                "CountedRows.of(X, ..., cells=learnt.cells), and fit to these counts"
            )
        raise InvalidParameterError(f"{name}= needs rows in memory, but X is a lazy frame: {how}.")


@dataclass(frozen=True)
class _InCells:
    """Puts parts of a table into cells, wherever they are.

    Attributes
    ----------
    cells : Cells
        The cells.
    layout : Layout
        Which columns are sensitive, and which ones the cells are made of.
    name : str
        The column that says in which cell a row is, -1 for one that is in none.
    target : str or None
        A column that is kept.
    """

    cells: Cells
    layout: Layout
    name: str
    target: str | None

    def __call__(self, part: Any) -> Any:
        table = Table(part, allow_empty=True)
        codes, _ = self.cells.encode(self.layout.useful_columns(table))
        codes = np.where(codes < len(self.cells.labels), codes, -1)
        kept = {name: table.column(name) for name in self.layout.sensitive_names}
        if self.target is not None:
            kept[self.target] = table.column(self.target)
        return table.build({**kept, self.name: codes.astype(np.int64)})


def counted_in_cells(
    lazy: LazyTable, layout: Layout, cells: Cells, target: str | None = None
) -> tuple[Counts, tuple[ColumnType, ...]]:
    """Count pairs of S and a cell in a lazy frame; only the counts are collected.

    Parameters
    ----------
    lazy : LazyTable
        The rows.
    layout : Layout
        Which columns are counted.
    cells : Cells
        What X is reduced to. What they hold of each value stays here.
    target : str, optional
        The column of a target.

    Returns
    -------
    counts : Counts
        How often each pair occurs, and each value of the target with it.
    types : tuple of ColumnType
        The types of the useful columns.
    """
    names = [*layout.sensitive_names, *([] if target is None else [target])]
    cell = "cell"
    while cell in {name.casefold() for name in names}:  # SQL does not tell cases
        cell += "_"
    function = _InCells(replace(cells, values=()), layout, cell, target)
    frame = LazyTable.of(lazy.mapped([*names, *layout.useful_names], function))
    assert frame is not None
    table, numbers = frame.counted([*names, cell])
    weight = numbers.to_numpy().astype(float)
    x = cells.named(table.column(cell).to_numpy().astype(np.intp))
    s = encode_rows([table.column(name) for name in layout.sensitive_names])
    found = ContingencyTable.of_codes(s, x, weight)
    whole = ContingencyTable(
        found.counts, found.sensitive, found.useful, int(weight.sum()), order=found.order
    )
    y = None
    if target is not None:
        reader = TargetReader(table.column(target), weight.size, numbers=weight)
        y = TargetCounts.count(reader.at(slice(0, weight.size)), s, x, weight)
    typed = layout.useful_columns(lazy.typed(layout.useful_names))
    return Counts(whole, y, cells), tuple(ColumnType.of(column) for column in typed)
