"""Count S, X and a target in columns, after X is reduced to cells if that is asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cells import Cells, CellsLike, Sample, learn_cells, learning_rows
from ..frames import ContingencyTable, category_order, encode_rows, rows_of
from ._target import EncodedTarget, TargetCounts

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
    """

    cells: CellsLike | Cells | None = None
    apart: bool = False
    target: bool = True
    bins: TargetCounts | None = None


class Counts(NamedTuple):
    """What was counted: pairs of S and X, the target with them, and the cells that X stands for."""

    pairs: ContingencyTable
    target: TargetCounts | None
    cells: Cells | None


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
    s = encode_rows(sensitive)
    how, learnt, rows = plan.cells, np.zeros(0, dtype=np.intp), None
    if how is not None and not isinstance(how, Cells):
        learnt, rows = learning_rows(s[0].size, apart=plan.apart)
    # Rows that are counted apart decide on nothing: neither on bins nor on the order of codes.
    bins_of = None if rows is None else learnt
    target = None if y is None else EncodedTarget.of(y, s[0].size, plan.bins, bins_of)
    if how is None or isinstance(how, Cells):
        cells = how
    else:
        sample = Sample(
            names,
            [rows_of(column, learnt) for column in useful],
            s[0][learnt],
            None if target is None else target.ascending[learnt],
        )
        cells = learn_cells(how, sample, apart=plan.apart)
    if rows is not None:
        s = (s[0][rows], s[1])
        useful = [rows_of(column, rows) for column in useful]
        weight = None if weight is None else weight[rows]
        target = None if target is None else target.at(rows)
    x = encode_rows(useful) if cells is None else cells.encode(useful)
    counted = None
    if target is not None and plan.target:
        counted = TargetCounts.count(target, s, x, weight)
    order = category_order(useful) if cells is None else None
    return Counts(ContingencyTable.of_codes(s, x, weight, order=order), counted, cells)
