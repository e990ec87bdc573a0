"""Counts of rows, which are all that ``fit`` needs of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..exceptions import InvalidParameterError
from ..frames import ContingencyTable, Table, as_columns, checked_weight, concerns
from ._layout import ColumnKeys, Layout

__all__ = ["CountedRows", "shared_counts"]


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

    @classmethod
    def of(
        cls,
        X: Any,
        sensitive: ColumnKeys | None,
        useful: ColumnKeys | None = None,
        *,
        counts: Any = None,
        sensitive_features: Any = None,
    ) -> CountedRows:
        """Count the rows of a table.

        Parameters
        ----------
        X : pandas or polars DataFrame, pyarrow Table, or array-like of shape (n_rows, n_columns)
            The rows, or one row per combination of values if ``counts`` is given.
        sensitive, useful : str, int, list or None
            Sensitive and useful columns, like the parameters of a sanitiser.
        counts : str, int or array-like of shape (n_rows,), optional
            Number of rows that each row of X stands for: a column of X, or the numbers.
        sensitive_features : array-like of shape (n_rows,), optional
            The sensitive values, when they are not a column of X.

        Returns
        -------
        CountedRows
        """
        table = Table(X, allow_empty=True)
        layout = Layout.of(table, sensitive, useful, sensitive_features is not None)
        s_columns = layout.sensitive_columns(table, sensitive_features)
        if counts is None:
            # The index is of interest only where rows are released.
            beside = tuple(concerns(table, s_columns, index=False))
            return cls(_counted(table, layout, s_columns, None), layout, beside)
        if not isinstance(counts, str | int | np.integer):
            table.check_order(counts, "counts")
            return cls(_counted(table, layout, s_columns, _single(counts)), layout)
        place = table.position(counts if isinstance(counts, str) else int(counts), "counts")
        if place in layout.sensitive or (useful is not None and place in layout.useful):
            raise InvalidParameterError(f"counts={counts!r} is a sensitive or useful column, too.")
        numbers = _single(table.column(place))
        kept = replace(layout, useful=tuple(i for i in layout.useful if i != place))
        if not kept.useful:
            raise InvalidParameterError("No useful column is left beside the counts: name one.")
        return cls(_counted(table, kept, s_columns, numbers), layout.without(place))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.counts.n_rows

    def __repr__(self) -> str:
        n_s, n_x = self.counts.counts.shape
        sensitive, useful = self.layout.sensitive_name, ", ".join(self.layout.useful_names)
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
        beside = tuple(dict.fromkeys((*self.beside, *other.beside)))
        return CountedRows(self.counts + other.counts, self.layout, beside)

    def checked(self, sensitive: ColumnKeys | None, useful: ColumnKeys | None) -> CountedRows:
        """Refuse columns other than the counted ones; None stands for these."""
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


def _counted(table: Table, layout: Layout, s_columns: list[Any], numbers: Any) -> ContingencyTable:
    weight = checked_weight(numbers, table.n_rows, "counts")
    counts = ContingencyTable.count(s_columns, layout.useful_columns(table), weight)
    if weight is None:
        return counts
    if (weight != np.floor(weight)).any():
        raise InvalidParameterError(
            "counts must be whole numbers; pass other weights as sample_weight to fit."
        )
    n_rows = int(weight.sum())
    return ContingencyTable(counts.counts, counts.sensitive, counts.useful, n_rows)


def _single(counts: Any) -> Any:
    columns = as_columns(counts, "counts")
    if len(columns) > 1:
        raise InvalidParameterError(f"counts has {len(columns)} columns: pass one number per row.")
    return columns[0]


class _HasColumns(Protocol):
    sensitive: ColumnKeys | None
    useful: ColumnKeys | None


def shared_counts(
    sanitizers: Iterable[_HasColumns], X: Any, sensitive_features: Any = None
) -> list[CountedRows]:
    """Count the pairs of S and X for several sanitisers, once per choice of columns.

    Parameters
    ----------
    sanitizers : iterable of sanitisers
        Their parameters ``sensitive`` and ``useful`` choose the columns.
    X : table or CountedRows
        Rows with these columns, or counts of them.
    sensitive_features : array-like of shape (n_rows,), optional
        The sensitive values, when they are not a column of X.

    Returns
    -------
    list of CountedRows
        One per sanitiser; those with the same columns share one.
    """
    if isinstance(X, CountedRows):
        if sensitive_features is not None:
            raise InvalidParameterError(
                "sensitive_features goes with rows, and X is CountedRows: leave it out."
            )
        return [X.checked(each.sensitive, each.useful) for each in sanitizers]
    table = Table(X)
    counted: dict[Layout, CountedRows] = {}
    rows = []
    for each in sanitizers:
        layout = Layout.of(table, each.sensitive, each.useful, sensitive_features is not None)
        if layout not in counted:
            s_columns = layout.sensitive_columns(table, sensitive_features)
            counted[layout] = CountedRows(_counted(table, layout, s_columns, None), layout)
        rows.append(counted[layout])
    return rows
