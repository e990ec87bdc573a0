"""Counting once for many sanitisers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..frames import ContingencyTable, Table
from ._base import LiftSanitizer
from ._layout import Layout

__all__ = ["CountedRows", "shared_counts"]


@dataclass(frozen=True)
class CountedRows:
    """Rows that are counted already, and so need not be held: for files larger than memory.

    Attributes
    ----------
    counts : ContingencyTable
        Pairs of S and X.
    layout : Layout
        The columns that they were counted in.
    """

    counts: ContingencyTable
    layout: Layout


def shared_counts(
    sanitizers: Iterable[LiftSanitizer], X: Any, sensitive_features: Any = None
) -> list[tuple[ContingencyTable, Layout]]:
    """Count the pairs of S and X for several sanitisers, once for those with the same columns.

    Parameters
    ----------
    sanitizers : iterable of sanitisers
        Their parameters ``sensitive`` and ``useful`` say which columns are counted.
    X : table or CountedRows
        Rows with these columns, or what a caller has counted in them.
    sensitive_features : array-like of shape (n_rows,), optional
        The sensitive values, when they are not a column of X.

    Returns
    -------
    list of (ContingencyTable, Layout)
        One per sanitiser; those with the same columns get the same table.
    """
    if isinstance(X, CountedRows):
        return [(X.counts, X.layout) for _ in sanitizers]
    table = Table(X)
    counted: dict[Layout, ContingencyTable] = {}
    layouts = []
    for sanitizer in sanitizers:
        given = sensitive_features is not None
        layout = Layout.of(table, sanitizer.sensitive, sanitizer.useful, given)
        if layout not in counted:
            s_columns = sanitizer._sensitive_columns(table, layout, sensitive_features)
            counted[layout] = sanitizer._count(table, layout, s_columns)
        layouts.append(layout)
    return [(counted[layout], layout) for layout in layouts]
