"""Counts that several sanitisers share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from ..cells import CellsLike
from ..exceptions import InvalidParameterError
from ..frames import ColumnKey, Table
from ._counted_rows import CountedRows, counted_columns
from ._counting import CountingPlan
from ._layout import ColumnKeys, Layout
from ._once import Kept
from ._records import RecordColumn

__all__ = ["shared_counts"]


class _HasColumns(Protocol):
    sensitive: ColumnKeys | None
    useful: ColumnKeys | None
    cells: CellsLike | None
    confidence: float | None
    record_id: ColumnKey | None
    groups: ColumnKey | None


def shared_counts(
    sanitizers: Iterable[_HasColumns], X: Any, sensitive_features: Any = None, y: Any = None
) -> list[CountedRows]:
    """Count the pairs of S and X for several sanitisers, once per choice of columns and cells.

    Parameters
    ----------
    sanitizers : iterable of sanitisers
        Their parameters ``sensitive``, ``useful``, ``cells`` and ``groups`` choose what is counted.
    X : table or CountedRows
        Rows with these columns, or counts of them.
    sensitive_features : array-like of shape (n_rows,), optional
        The sensitive values, when they are not a column of X.
    y : array-like of shape (n_rows,), optional
        The target, for sanitisers that keep one.

    Returns
    -------
    list of CountedRows
        One per sanitiser; those with the same columns and cells share one.
    """
    if isinstance(X, CountedRows):
        if sensitive_features is not None or y is not None:
            raise InvalidParameterError(
                "sensitive_features and y go with rows, and X is CountedRows: leave them out, and "
                "pass y as target= to CountedRows.of."
            )
        return [
            X.checked(each.sensitive, each.useful, each.cells, each.groups) for each in sanitizers
        ]
    table = Table(X)
    known: list[tuple[tuple[Any, ...], CountedRows]] = []
    rows = []
    for each in sanitizers:
        beside = {"record_id": each.record_id, "groups": each.groups}
        given = sensitive_features is not None
        layout = Layout.of(table, each.sensitive, each.useful, given, beside)
        apart = each.cells is not None and each.confidence is not None
        key = (layout, each.cells, apart, each.groups)
        found = next((counted for other, counted in known if other == key), None)
        if found is None:
            columns = (
                layout.sensitive_columns(table, sensitive_features),
                layout.useful_columns(table),
            )
            kept = Kept(columns, y)
            if each.groups is not None:
                kept = kept.once(RecordColumn.of(layout, "groups", each.groups), table, layout)
            plan = CountingPlan(each.cells, apart)
            found = counted_columns(
                kept.columns, layout, y=kept.target, plan=plan, groups=kept.groups
            )
            known.append((key, found))
        rows.append(found)
    return rows
