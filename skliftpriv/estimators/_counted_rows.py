"""Rows that are counted already: what a fit needs of a table, however large it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..exceptions import InvalidParameterError
from ..frames import ContingencyTable, Table, as_columns, checked_weight
from ._layout import ColumnKeys, Layout

__all__ = ["CountedRows", "shared_counts"]


@dataclass(frozen=True)
class CountedRows:
    """Rows that are counted already, and so need not be held: from a database, or file by file.

    All that a sanitiser needs to know of a table is how often each pair of values of S and X
    occurs. Counted rows take the place of the table X in ``fit`` and ``partial_fit`` of every
    sanitiser, in :func:`~skliftpriv.model_selection.tradeoff_curve` and in
    :func:`~skliftpriv.metrics.audit_counts`. The counts of several parts add up with ``+``.

    Attributes
    ----------
    counts : ContingencyTable
        How often each pair of S and X occurs.
    layout : Layout
        Which columns they were counted in.
    beside : tuple of str
        What was seen to be released with the rows, such as their index, although nothing
        protects it.

    Examples
    --------
    A table that was counted in SQL by ``SELECT income, race, COUNT(*) AS n FROM people GROUP BY
    income, race``:

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
            The rows, or one row for each combination of values together with ``counts``.
        sensitive, useful : str, int, list or None
            Columns of S and X, as the parameters of a sanitiser.
        counts : str, int or array-like of shape (n_rows,), optional
            How many rows each row of X stands for: a column of X, or the numbers themselves.
        sensitive_features : array-like of shape (n_rows,), optional
            The sensitive values, when they are not a column of X.

        Returns
        -------
        CountedRows
        """
        table = Table(X, allow_empty=True)
        numbers = None
        if isinstance(counts, str | int):
            place = table.position(counts, "counts")
            numbers = as_columns(table.column(place), "counts")[0]
            table = table.without(place)
        elif counts is not None:
            numbers = as_columns(counts, "counts")[0]
        layout = Layout.of(table, sensitive, useful, sensitive_features is not None)
        s_columns = layout.sensitive_columns(table, sensitive_features)
        return cls(_counted(table, layout, s_columns, numbers), layout)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.counts.n_rows

    def __add__(self, other: CountedRows) -> CountedRows:
        if self.layout != other.layout:
            raise InvalidParameterError(
                "Rows add up only if they were counted in the same columns: "
                f"{', '.join(self.layout.names)}, not {', '.join(other.layout.names)}."
            )
        beside = tuple(dict.fromkeys((*self.beside, *other.beside)))
        return CountedRows(self.counts + other.counts, self.layout, beside)

    def checked(self, sensitive: ColumnKeys | None, useful: ColumnKeys | None) -> CountedRows:
        """Refuse columns that are not those that were counted; None stands for these."""
        for title, keys, names in (
            ("sensitive", sensitive, self.layout.sensitive_names),
            ("useful", useful, self.layout.useful_names),
        ):
            if keys is not None and self.layout.named_by(keys) != names:
                raise InvalidParameterError(
                    f"{title}={keys!r}, but the rows were counted with {', '.join(names)}: count "
                    "them again, or leave the parameter out."
                )
        return self


def _counted(table: Table, layout: Layout, s_columns: list[Any], numbers: Any) -> ContingencyTable:
    weight = checked_weight(numbers, table.n_rows, "counts")
    counts = ContingencyTable.count(s_columns, layout.useful_columns(table), weight)
    if weight is None:
        return counts
    if (weight != np.floor(weight)).any():
        raise InvalidParameterError(
            "counts must be whole numbers of rows; weights are for sample_weight of fit."
        )
    n_rows = int(weight.sum())
    return ContingencyTable(counts.counts, counts.sensitive, counts.useful, n_rows)


class _HasColumns(Protocol):
    sensitive: ColumnKeys | None
    useful: ColumnKeys | None


def shared_counts(
    sanitizers: Iterable[_HasColumns], X: Any, sensitive_features: Any = None
) -> list[CountedRows]:
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
    list of CountedRows
        One per sanitiser; those with the same columns share one.
    """
    if isinstance(X, CountedRows):
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
