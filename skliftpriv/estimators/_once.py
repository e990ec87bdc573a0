"""Rows of one person count once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..frames import Table, as_columns, rows_of
from ._layout import Layout
from ._records import RecordColumn

__all__ = ["Kept"]


@dataclass(frozen=True)
class Kept:
    """Columns that are counted.

    Attributes
    ----------
    columns : pair of lists of columns
        S and X.
    target : array-like or None
        The target.
    weight : ndarray or None
        Weights of the rows.
    groups : str or None
        The column whose values stand for persons, if every person has one row.
    """

    columns: tuple[list[Any], list[Any]]
    target: Any = None
    weight: np.ndarray | None = None
    groups: str | None = None

    def once(self, records: RecordColumn, table: Table, layout: Layout) -> Kept:
        """Keep one row of every person; refuse persons whose rows differ.

        Parameters
        ----------
        records : RecordColumn
            Says which rows belong to one person.
        table, layout
            The rows, and which columns they have.
        """
        sensitive, useful = self.columns
        s_names = layout.sensitive_names or ["sensitive_features"] * len(sensitive)
        named = [
            *zip(s_names, sensitive, strict=True),
            *zip(layout.useful_names, useful, strict=True),
        ]
        target = [] if self.target is None else as_columns(self.target, "y")
        # A target of another length is refused where it is counted.
        target = target if len(target) == 1 and len(target[0]) == table.n_rows else []
        named += [("y", column) for column in target]
        if self.weight is not None:
            named.append(("sample_weight", self.weight))
        rows = records.first_rows(table, layout, named)
        return Kept(
            ([rows_of(c, rows) for c in sensitive], [rows_of(c, rows) for c in useful]),
            rows_of(target[0], rows) if target else self.target,
            None if self.weight is None else self.weight[rows],
            records.name,
        )
