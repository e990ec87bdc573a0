"""Public values: closed lists of the values of columns, and one symbol for rare ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from .._arrays import Label
from .._limits import MOST_INTERVALS, refuse_beyond
from ..confidence import ConfidenceSet
from ..exceptions import InvalidParameterError
from ..frames import ContingencyTable, SymbolOrder
from ..labels import as_parts
from ._counted_rows import CountedRows
from ._layout import Layout
from ._value_lists import Categories, ValueLists, check_listed, sensitive_names, value_lists

__all__ = ["PublicValues", "ValuesSummary"]

#: What rare values are released as.
_POOL = "other values"


@dataclass(frozen=True)
class ValuesSummary:
    """What is known about values before the rows are seen, and which of them are rare.

    .. versionadded:: 0.2

    Attributes
    ----------
    listed : tuple of str
        Columns whose values are listed by ``categories``.
    useful_closed, sensitive_closed : bool
        Whether the values of all useful columns, and of all sensitive ones, are listed.
    useful_unseen, sensitive_unseen : int
        Number of listed values (or combinations of values) without rows at ``fit``; of useful ones
        only those that have no place in an order that is preserved.
    min_count : int or None
        Values with fewer rows are pooled.
    pooled : int
        Number of values that are released as one.
    """

    listed: tuple[str, ...] = ()
    useful_closed: bool = False
    sensitive_closed: bool = False
    useful_unseen: int = 0
    sensitive_unseen: int = 0
    min_count: int | None = None
    pooled: int = 0

    def draws(self, *, sees_sensitive: bool) -> bool:
        """Tell whether there are listed values that are replaced by a draw."""
        return bool(self.useful_unseen or (sees_sensitive and self.sensitive_unseen))

    @classmethod
    def of(
        cls,
        lists: tuple[ValueLists, ValueLists],
        layout: Layout,
        unseen: tuple[int, int],
        *,
        min_count: int | None,
        pooled: int = 0,
    ) -> Self | None:
        """Sum up lists of useful and sensitive columns; None without any and without min_count."""
        useful, sensitive = lists
        names = useful.named(layout.useful_names), sensitive.named(sensitive_names(layout))
        listed = (*names[0], *names[1])
        if not listed and min_count is None:
            return None
        return cls(
            listed=listed,
            useful_closed=useful.closed,
            sensitive_closed=sensitive.closed,
            useful_unseen=unseen[0],
            sensitive_unseen=unseen[1],
            min_count=min_count,
            pooled=pooled,
        )


class PublicValues:
    """Counted rows with their closed lists, and with rare values of X as one symbol.

    Parameters
    ----------
    rows : CountedRows
        Counts of all values.
    categories : dict or None
        The parameter of the sanitiser.
    min_count : int or None
        The parameter of the sanitiser.

    Attributes
    ----------
    rows : CountedRows
        The same rows, in which rare values are one symbol.
    members : dict
        The rare values, and what they are released as.
    useful, sensitive : ValueLists
        The closed lists.
    """

    def __init__(
        self, rows: CountedRows, categories: Categories | None, min_count: int | None
    ) -> None:
        _refuse_cells(rows, categories, min_count)
        self._counted = rows
        self.useful, self.sensitive = value_lists(categories, rows.layout)
        names = rows.layout.useful_names, sensitive_names(rows.layout)
        symbols = rows.counts.useful, rows.counts.sensitive
        for lists, of, found in zip((self.useful, self.sensitive), names, symbols, strict=True):
            check_listed(lists, of, found)
        self._min_count = min_count
        rare = np.zeros(0, dtype=np.intp) if min_count is None else _rare(rows, min_count)
        self.rows = rows
        self.members: dict[Label, Label] = {}
        if rare.size:
            pool = _pool_label(rows)
            self.members = {rows.counts.useful[i]: pool for i in rare}
            self.rows = _pooled(rows, rare, pool, self.members)

    def summary(self, order: SymbolOrder | None = None) -> ValuesSummary | None:
        """Return what the guarantee says about values; None if neither parameter is set.

        Parameters
        ----------
        order : SymbolOrder, optional
            Places values of X that were not seen.
        """
        seen = self._counted.counts.without_zeros()
        return ValuesSummary.of(
            (self.useful, self.sensitive),
            self._counted.layout,
            (self.useful.n_unseen(seen.useful, order), self.sensitive.n_unseen(seen.sensitive)),
            min_count=self._min_count,
            pooled=len(self.members),
        )

    def confidence_set(self, confidence: float | None) -> ConfidenceSet | None:
        """Return the confidence set of the rows, or None without a confidence.

        Its intervals are those of all values, listed ones without rows included; afterwards rare
        values are merged, so that which ones are rare may depend on the rows.
        """
        if confidence is None:
            return None
        counts = self._counted.counts
        over = ConfidenceSet.from_counts(
            *self._with_unseen(counts), confidence=confidence, drawn=self.useful.closed
        )
        if not self.members:
            return over
        seen = {self.rows.pool, *over.useful_labels}
        labels = [x for x in self.rows.counts.useful if x in seen]
        place = {label: i for i, label in enumerate(labels)}
        codes = [place[self.members.get(x, x)] for x in over.useful_labels]
        return over.merged(codes, labels)

    def _with_unseen(self, counts: ContingencyTable) -> tuple[np.ndarray, list[Label], list[Label]]:
        """Add listed values without rows to a table, as empty rows and columns."""
        n_s, n_x = (
            max(lists.size if lists.closed else 0, len(seen))
            for lists, seen in ((self.sensitive, counts.sensitive), (self.useful, counts.useful))
        )
        if self.useful.closed or self.sensitive.closed:
            what = f"the listed values have {n_s * n_x:,} pairs with a confidence interval each"
            refuse_beyond(MOST_INTERVALS, n_s * n_x, what, "list fewer values in categories")
        s, x = (
            [*seen, *(lists.unseen(seen) if lists.closed else ())]
            for lists, seen in ((self.sensitive, counts.sensitive), (self.useful, counts.useful))
        )
        table = np.zeros((len(s), len(x)))
        table[: len(counts.sensitive), : len(counts.useful)] = counts.counts
        return table, s, x


def _refuse_cells(rows: CountedRows, categories: Categories | None, min_count: int | None) -> None:
    if rows.cells is None:
        return
    if min_count is not None:
        raise InvalidParameterError(
            f"min_count={min_count} is for values, but the rows are reduced to cells, which have "
            "a smallest number of rows of their own, such as min_samples_leaf of a tree: leave "
            "out min_count= or cells=."
        )
    useful = {*rows.layout.useful_names, *rows.layout.useful}
    named = [key for key in categories or () if key in useful]
    if named:
        raise InvalidParameterError(
            f"categories lists values of {named[0]!r}, but the useful columns are reduced to "
            "cells, which have a place for every row: list values of sensitive columns only."
        )


def _rare(rows: CountedRows, min_count: int) -> np.ndarray:
    """Positions of the values of X with few rows.

    The next rarest values follow until all of them together have ``min_count`` rows: a pool of
    one rare value would be that value under another name.
    """
    totals = rows.counts.counts.sum(axis=0)
    order = np.argsort(totals, kind="stable")
    order = order[totals[order] > 0]
    n_rare = int((totals[order] < min_count).sum())
    if n_rare == 0:
        return np.zeros(0, dtype=np.intp)
    enough = int(np.searchsorted(np.cumsum(totals[order]), min_count)) + 1
    n_pooled = max(n_rare, enough, 2)
    if n_pooled >= order.size:
        raise InvalidParameterError(
            f"min_count={min_count} pools all {order.size:,} values of "
            f"{', '.join(rows.layout.useful_names)}, so that nothing is left to release: lower it."
        )
    return order[:n_pooled]


def _pool_label(rows: CountedRows) -> Label:
    """Name the pooled symbol, without the values in it, unlike any value of the columns."""
    n = len(rows.layout.useful)
    parts = {part for x in rows.counts.useful for part in (as_parts(x) if n > 1 else (x,))}
    name, number = _POOL, 1
    while name in parts:
        number += 1
        name = f"{_POOL} ({number})"
    return (name,) * n if n > 1 else name


def _pooled(
    rows: CountedRows, rare: np.ndarray, pool: Label, members: Mapping[Label, Label]
) -> CountedRows:
    """Return the rows with one symbol, the last one, for rare values."""
    counts = rows.counts
    kept = np.delete(np.arange(len(counts.useful)), rare)
    table = np.column_stack([counts.counts[:, kept], counts.counts[:, rare].sum(axis=1)])
    pooled = ContingencyTable(
        table,
        counts.sensitive,
        [*(counts.useful[i] for i in kept), pool],
        counts.n_rows,
        weighted=counts.weighted,
        order=counts.order,
    )
    target = None if rows.target is None else rows.target.relabelled(members)
    return replace(rows, counts=pooled, target=target, pool=pool)
