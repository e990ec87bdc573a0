"""Count S, X and a target in columns, after X is reduced to cells if that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from .._arrays import Label
from ..cells import Cells, CellsLike, Sample, learn_cells, learning_rows
from ..frames import (
    ContingencyTable,
    Encoded,
    category_order,
    encode_rows,
    row_slices,
    rows_of,
)
from ._target import EncodedTarget, Rows, TargetCounts, TargetReader

__all__ = ["Counts", "CountingPlan", "count_columns"]


class CountingPlan(NamedTuple):
    """How columns are counted.

    Attributes
    ----------
    cells : int, estimator, Cells or None
        How X is reduced to cells, cells that are known already, or None for the values themselves.
    apart : bool
        Whether cells are learnt from a part of the rows, and the others counted.
    target : bool
        Whether the target is counted; otherwise cells are learnt to predict it, and no more.
    bins : TargetCounts or None
        Counts of earlier rows, whose bins of the target are used again.
    counted : bool
        Whether weights are numbers of rows, so that bins of the target count them.
    """

    cells: CellsLike | Cells | None = None
    apart: bool = False
    target: bool = True
    bins: TargetCounts | None = None
    counted: bool = False


@dataclass(frozen=True)
class Counts:
    """What was counted: pairs of S and X, the target with them, and the cells that X stands for."""

    pairs: ContingencyTable
    target: TargetCounts | None
    cells: Cells | None

    def __add__(self, other: Counts) -> Counts:
        target = None
        if self.target is not None and other.target is not None:
            target = self.target + other.target
        return Counts(self.pairs + other.pairs, target, self.cells)

    def expecting(self, sensitive: Sequence[Label]) -> Counts:
        """Return counts with these sensitive values, too, whether or not they have rows."""
        return replace(self, pairs=self.pairs.expecting(sensitive))


def count_columns(
    sensitive: list[Any],
    useful: list[Any],
    names: list[str],
    *,
    y: Any = None,
    weight: np.ndarray | None = None,
    plan: CountingPlan | None = None,
) -> Counts:
    """Count columns of S and X, and a target if there is one, or add up the weights of rows.

    Parameters
    ----------
    sensitive, useful : list of columns
        S and X.
    names : list of str
        Names of the columns of X.
    y : array-like, optional
        The target.
    weight : ndarray, optional
        Weight of each row.
    plan : CountingPlan, optional
        How to count; by default the values of all rows.
    """
    plan = plan or CountingPlan()
    n_rows = len(sensitive[0])
    cells = plan.cells
    learnt = None
    if cells is not None and not isinstance(cells, Cells):
        learnt = learning_rows(n_rows, apart=plan.apart, weight=weight)
    # Rows that are counted apart decide on nothing: neither on cells nor on bins.
    numbers = weight if plan.counted else None
    target = None if y is None else TargetReader(y, n_rows, plan.bins, learnt, numbers)
    left_out = None
    beside: list[Label] = []
    if learnt is not None:
        s, beside = encode_rows([rows_of(column, learnt) for column in sensitive])
        sample = Sample(
            names,
            [rows_of(column, learnt) for column in useful],
            s,
            None if target is None else target.at(learnt).ascending,
            None if weight is None or plan.apart else weight[learnt],
        )
        cells = learn_cells(cells, sample, apart=plan.apart)
        if plan.apart and weight is None:
            left_out = learnt
        elif plan.apart and weight is not None:
            weight = weight - np.bincount(learnt, minlength=n_rows)
    assert cells is None or isinstance(cells, Cells)

    def counted(rows: Rows) -> Counts:
        s, columns = (
            [rows_of(column, rows) for column in columns] for columns in (sensitive, useful)
        )
        return _counts(
            encode_rows(s),
            columns,
            cells,
            target=target.at(rows) if target is not None and plan.target else None,
            weight=None if weight is None else weight[rows],
        )

    # Tables of cells are small, so that parts of the rows can be counted one after the other.
    parts = [slice(0, n_rows)] if cells is None else row_slices(n_rows)
    return reduce(add, (counted(_without(part, left_out)) for part in parts)).expecting(beside)


def _without(part: slice, left_out: np.ndarray | None) -> Rows:
    """Return rows without those that are left out."""
    if left_out is None:
        return part
    return np.setdiff1d(np.arange(part.start, part.stop), left_out)


def _counts(
    s: Encoded,
    useful: list[Any],
    cells: Cells | None,
    *,
    target: EncodedTarget | None,
    weight: np.ndarray | None,
) -> Counts:
    x = encode_rows(useful) if cells is None else cells.encode(useful)
    order = category_order(useful) if cells is None else None
    return Counts(
        ContingencyTable.of_codes(s, x, weight, order=order),
        None if target is None else TargetCounts.count(target, s, x, weight),
        cells,
    )
