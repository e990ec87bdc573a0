"""Counts of rows, which are all that ``fit`` needs of a table."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._arrays import Label
from ..cells import Cells, CellsLike
from ..exceptions import InvalidParameterError
from ..frames import (
    ColumnKey,
    ColumnType,
    ContingencyTable,
    LazyTable,
    Table,
    as_columns,
    checked_weight,
    concerns,
)
from ._counting import CountingPlan, count_columns
from ._layout import ColumnKeys, Layout
from ._lazy_cells import counted_in_cells, refuse_beside
from ._once import Kept
from ._records import RecordColumn
from ._target import TargetCounts
from ._target_among import target_warnings

__all__ = ["CountedRows", "counted_columns", "counted_lazily", "refuse_beside"]


@dataclass(frozen=True, repr=False)
class CountedRows:
    """Rows that are already counted, for example by a database or file by file.

    A sanitiser only needs to know how often each pair of values of S and X occurs. Pass counted
    rows instead of the table X to ``fit`` and ``partial_fit`` of any sanitiser and to
    :func:`~skliftpriv.model_selection.tradeoff_curve`, or to
    :func:`~skliftpriv.metrics.audit_counts`. Add the counts of several parts with ``+``.

    .. versionadded:: 0.2

    Attributes
    ----------
    counts : ContingencyTable
        How often each pair of S and X occurs.
    layout : Layout
        Which columns were counted.
    beside : tuple of str
        What is released with the rows without protection, such as their index.
    target : TargetCounts or None
        How often each value of a target occurs with each pair.
    cells : Cells or None
        What X was reduced to before it was counted.
    types : tuple of ColumnType
        Types of the useful columns; empty if they are not known.
    groups : str or None
        The column whose values stand for persons, each of whom was counted once.
    pool : label or None
        The symbol of X that stands for several rare values, if a sanitiser pooled them.

    Examples
    --------
    A table counted in SQL by ``SELECT income, race, COUNT(*) AS n FROM people GROUP BY income,
    race``:

    >>> import pandas as pd
    >>> from skliftpriv import CountedRows, SubsetMergingSanitizer
    >>> people = pd.DataFrame(
    ...     {
    ...         "income": ["high", "high", "low", "low"],
    ...         "race": ["A", "B", "A", "B"],
    ...         "n": [300, 20, 800, 180],
    ...     }
    ... )
    >>> rows = CountedRows.of(people, "income", "race", counts="n")
    >>> rows.n_rows
    1300
    >>> SubsetMergingSanitizer("income", "race", epsilon=0.5).fit(rows).guarantee_.n_rows
    1300
    """

    counts: ContingencyTable
    layout: Layout
    beside: tuple[str, ...] = ()
    target: TargetCounts | None = None
    cells: Cells | None = None
    types: tuple[ColumnType, ...] = ()
    groups: str | None = None
    pool: Label = None

    @classmethod
    def of(
        cls,
        X: Any,
        sensitive: ColumnKeys | None,
        useful: ColumnKeys | None = None,
        *,
        counts: Any = None,
        target: Any = None,
        sensitive_features: Any = None,
        cells: CellsLike | Cells | None = None,
        apart: bool = False,
        groups: ColumnKey | None = None,
    ) -> CountedRows:
        """Count the rows of a table.

        Parameters
        ----------
        X : pandas or polars DataFrame, pyarrow Table, lazy frame, or array-like
            The rows, of shape (n_rows, n_columns), or one row per combination of values if
            ``counts`` is given. A lazy frame is counted by its library, with none of the
            parameters below but ``cells`` of other rows, and ``target`` as the name of a column.
        sensitive, useful : str, int, list or None
            Sensitive and useful columns, like the parameters of a sanitiser.
        counts : str, int or array-like of shape (n_rows,), optional
            Number of rows that each row of X stands for: a column of X, or the numbers.
        target : str, int or array-like of shape (n_rows,), optional
            What is to be kept by ``ORRSanitizer(utility="target")``: a column of X, which is then
            not useful unless ``useful`` names it, or the values. At most 100 different ones, apart
            from numbers, which are put into bins.
        sensitive_features : array-like of shape (n_rows,), optional
            The sensitive values, when they are not a column of X.
        cells : int, estimator, Cells or None, default=None
            Like the parameter of a sanitiser, with ``target`` as y; or the ``cells`` of other rows,
            to count these rows in the same cells. Not with ``counts``.
        apart : bool, default=False
            Whether cells are learnt from a third of the rows, at most 100,000, and only the
            others counted, as a sanitiser with ``confidence`` needs it.
        groups : str or int, optional
            Like the parameter of a sanitiser: the column that says which rows belong to one person,
            who is counted once. Not with ``counts``.

        Returns
        -------
        CountedRows
        """
        if isinstance(cells, Cells):
            cells = cells.given()
        lazy = LazyTable.of(X)
        if lazy is not None:
            refuse_beside(
                counts=counts,
                target=None if isinstance(target, str | int | np.integer) else target,
                sensitive_features=sensitive_features,
                cells=None if isinstance(cells, Cells) else cells,
                groups=groups,
            )
            names = Table(lazy.empty, allow_empty=True)
            layout = Layout.of(names, sensitive, useful, False)
            _, kept = _beside(names, layout, target, "target", useful)
            counted = counted_lazily(
                lazy,
                kept,
                cells if isinstance(cells, Cells) else None,
                None if target is None else layout.named_by(target)[0],
            )
            return replace(counted, layout=_without(layout, names, target))
        table = Table(X, allow_empty=True)
        given = sensitive_features is not None
        layout = Layout.of(table, sensitive, useful, given, {"groups": groups})
        s_columns = layout.sensitive_columns(table, sensitive_features)
        numbers, kept = _beside(table, layout, counts, "counts", useful)
        y, kept = _beside(table, kept, target, "target", useful)
        if not kept.useful:
            raise InvalidParameterError("No useful column is left beside the counts: name one.")
        for warning in target_warnings(kept.useful_names, kept.useful_columns(table), y):
            warnings.warn(warning, stacklevel=2)
        plan = CountingPlan(cells, apart)
        if counts is not None:
            for name, value in (("cells", cells), ("groups", groups)):
                if value is not None:
                    raise InvalidParameterError(
                        f"{name}= needs rows, not counts: leave out {name}= or counts=."
                    )
            counted = _counted(table, kept, s_columns, _single(numbers), y)
            return replace(counted, layout=_without(layout, table, counts, target))
        # The index is of interest only where rows are released.
        beside = tuple(concerns(table, s_columns, index=False))
        rows = Kept((s_columns, kept.useful_columns(table)), y)
        if groups is not None:
            rows = rows.once(RecordColumn.of(layout, "groups", groups), table, kept)
        counted = counted_columns(rows.columns, kept, y=rows.target, plan=plan, groups=rows.groups)
        return replace(counted, layout=_without(layout, table, target), beside=beside)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.counts.n_rows

    def expecting(self, sensitive: Sequence[Label]) -> CountedRows:
        """Return the rows with sensitive values that there may be, whether or not they have rows.

        With ``confidence`` a sanitiser refuses those without: nothing is known about them.
        """
        return replace(self, counts=self.counts.expecting(sensitive))

    def __repr__(self) -> str:
        n_s, n_x = self.counts.counts.shape
        sensitive, useful = self.layout.sensitive_name, ", ".join(self.layout.useful_names)
        if self.cells is not None:
            useful = f"cells of {useful}"
        return f"CountedRows({self.n_rows:,} rows, {sensitive} ({n_s}) x {useful} ({n_x}))"

    def __add__(self, other: CountedRows) -> CountedRows:
        if self.layout != other.layout:
            one, two = (
                f"{each.sensitive_name} with {', '.join(each.useful_names)} of a table of "
                f"{', '.join(each.names)}"
                for each in (self.layout, other.layout)
            )
            raise InvalidParameterError(
                f"Rows can be added only if counted in the same columns: {one}; not {two}."
            )
        if self.cells != other.cells:
            raise InvalidParameterError(
                "Rows can be added only if counted in the same cells: count the first part with "
                "cells=, and the others with cells=first.cells."
            )
        if (self.target is None) != (other.target is None):
            raise InvalidParameterError(
                "Only some of the rows were counted with a target: count all of them with y."
            )
        if self.groups is not None or other.groups is not None:
            raise InvalidParameterError(
                f"Rows counted by groups={self.groups or other.groups!r} cannot be added: persons "
                "who are in both parts would be counted twice. Count all rows at once."
            )
        beside = tuple(dict.fromkeys((*self.beside, *other.beside)))
        target = None
        if self.target is not None and other.target is not None:
            target = self.target + other.target
        counts = self.counts + other.counts
        return replace(self, counts=counts, beside=beside, target=target)

    def checked(
        self,
        sensitive: ColumnKeys | None,
        useful: ColumnKeys | None,
        cells: CellsLike | None = None,
        groups: ColumnKey | None = None,
    ) -> CountedRows:
        """Refuse columns other than the counted ones; None stands for these."""
        named = None if groups is None else RecordColumn.of(self.layout, "groups", groups).name
        if named != self.groups:
            raise InvalidParameterError(
                f"groups={groups!r}, but the rows were counted by groups={self.groups!r}: use the "
                "same in CountedRows.of and in the sanitiser."
            )
        if cells is not None and self.cells is None:
            raise InvalidParameterError(
                f"cells={cells!r}, but the rows were counted without cells: pass the parameter to "
                "CountedRows.of as well."
            )
        for title, keys, names in (
            ("sensitive", sensitive, self.layout.sensitive_names),
            ("useful", useful, self.layout.useful_names),
        ):
            if keys is not None and self.layout.named_by(keys) != names:
                listed = ", ".join(names) or "sensitive_features"
                raise InvalidParameterError(
                    f"{title}={keys!r}, but the rows were counted by {listed}: count them again, "
                    "or leave the parameter out."
                )
        return self


def counted_columns(
    columns: tuple[list[Any], list[Any]],
    layout: Layout,
    *,
    y: Any = None,
    weight: np.ndarray | None = None,
    plan: CountingPlan | None = None,
    groups: str | None = None,
) -> CountedRows:
    """Count columns of S and X, and a target if there is one, or add up the weights of rows.

    Parameters
    ----------
    columns : pair of lists of columns
        S and X.
    layout : Layout
        Which columns they are.
    y : array-like, optional
        The target.
    weight : ndarray, optional
        Weight of each row.
    plan : CountingPlan, optional
        How to count: values or cells.
    groups : str, optional
        What was counted once each, if not rows.
    """
    counts = count_columns(*columns, layout.useful_names, y=y, weight=weight, plan=plan)
    types = tuple(ColumnType.of(column) for column in columns[1])
    return CountedRows(
        counts.pairs,
        layout,
        target=counts.target,
        cells=counts.cells,
        types=types,
        groups=groups,
    )


def _counted(
    table: Table,
    layout: Layout,
    s_columns: list[Any],
    numbers: Any,
    y: Any = None,
) -> CountedRows:
    """Count the rows of a table that each stand for a number of rows."""
    weight = checked_weight(numbers, table.n_rows, "counts")
    columns = (s_columns, layout.useful_columns(table))
    plan = CountingPlan(counted=True)
    rows = counted_columns(columns, layout, y=y, weight=weight, plan=plan)
    assert weight is not None
    if (weight != np.floor(weight)).any():
        raise InvalidParameterError(
            "counts must be whole numbers; pass other weights as sample_weight to fit."
        )
    found = rows.counts
    whole = ContingencyTable(
        found.counts, found.sensitive, found.useful, int(weight.sum()), order=found.order
    )
    return replace(rows, counts=whole)


def counted_lazily(
    lazy: LazyTable, layout: Layout, cells: Cells | None = None, target: str | None = None
) -> CountedRows:
    """Count the rows of a lazy frame by one group-by; only the counts are collected.

    Parameters
    ----------
    lazy : LazyTable
        The rows.
    layout : Layout
        Which columns are counted.
    cells : Cells, optional
        What X is reduced to, where the rows are.
    target : str, optional
        The column of a target.
    """
    if cells is not None:
        counts, types = counted_in_cells(lazy, layout, cells, target)
        return CountedRows(counts.pairs, layout, target=counts.target, cells=cells, types=types)
    also = [] if target is None else [target]
    table, numbers = lazy.counted([*layout.sensitive_names, *layout.useful_names, *also])
    y = None if target is None else table.column(target)
    for warning in target_warnings(layout.useful_names, layout.useful_columns(table), y):
        warnings.warn(warning, stacklevel=3)
    return _counted(table, layout, layout.sensitive_columns(table), numbers, y)


def _beside(
    table: Table, layout: Layout, key: Any, name: str, useful: ColumnKeys | None
) -> tuple[Any, Layout]:
    """Return values that are given or in a column, and the layout without that column."""
    if key is None or not isinstance(key, str | int | np.integer):
        table.check_order(key, name)
        return key, layout
    place = table.position(key if isinstance(key, str) else int(key), name)
    if place in layout.sensitive or (useful is not None and place in layout.useful):
        raise InvalidParameterError(f"{name}={key!r} is a sensitive or useful column, too.")
    kept = replace(layout, useful=tuple(i for i in layout.useful if i != place))
    return table.column(place), kept


def _without(layout: Layout, table: Table, *keys: Any) -> Layout:
    """Return the layout of the table without columns that are neither sensitive nor useful."""
    places = [
        table.position(key if isinstance(key, str) else int(key), "column")
        for key in keys
        if isinstance(key, str | int | np.integer)
    ]
    for place in sorted(places, reverse=True):
        layout = layout.without(place)
    return layout


def _single(counts: Any) -> Any:
    columns = as_columns(counts, "counts")
    if len(columns) > 1:
        raise InvalidParameterError(f"counts has {len(columns)} columns: pass one number per row.")
    return columns[0]
