"""Closed lists of values as JSON; pooled values are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._arrays import Label
from .._limits import MOST_TABLE_CELLS
from ..estimators import (
    Categories,
    Guarantee,
    Layout,
    PublicValues,
    Release,
    ValueLists,
    ValuesSummary,
    sensitive_names,
    value_lists,
)
from ..exceptions import SavedFileError
from ..frames import SymbolOrder
from ._labels import read_labels, write_labels
from ._mechanism import Sampled
from ._reader import Node, distinct

__all__ = ["SavedValues", "read_values", "write_values"]


def write_values(release: Release, guarantee: Guarantee, categories: Categories | None) -> Any:
    """Write the lists of values; None if no column has one and values need no smallest count.

    Those of S are not in ``release``, unless the mechanism looks at S.
    """
    if release.encoder.members:
        raise SavedFileError(
            f"{release.who} pools {len(release.encoder.members):,} rare values (min_count), and "
            "the file would have to list them, which may identify people: merge rare values before "
            "fit and leave out min_count, or pickle the sanitiser for those who may see them."
        )
    if guarantee.values is None:
        return None
    useful, sensitive = (
        [None if column is None else write_labels(column) for column in lists.columns]
        for lists in value_lists(categories, release.layout)
    )
    return {"useful": useful, "sensitive": sensitive, "min_count": guarantee.values.min_count}


@dataclass(frozen=True)
class SavedValues:
    """What a file says about values.

    Attributes
    ----------
    useful, sensitive : ValueLists
        Closed lists.
    min_count : int or None
        All values have at least so many rows.
    """

    useful: ValueLists
    sensitive: ValueLists
    min_count: int | None = None

    @property
    def lists(self) -> tuple[ValueLists, ValueLists]:
        """The lists of useful and of sensitive columns."""
        return self.useful, self.sensitive

    def categories(self, layout: Layout) -> dict[str | int, list[Label]] | None:
        """Return the parameter of the sanitiser that was saved."""
        useful = self.useful.named(layout.useful_names)
        named = useful | self.sensitive.named(sensitive_names(layout))
        return {name: list(values) for name, values in named.items()} or None

    def summary(
        self, layout: Layout, sampled: Sampled, n_sensitive: int, order: SymbolOrder | None
    ) -> ValuesSummary | None:
        """Return what the guarantee says about values."""
        new = self.sensitive.size - n_sensitive if self.sensitive.closed else 0
        unseen = self.useful.n_unseen(sampled.inputs, order), new
        return ValuesSummary.of(self.lists, layout, unseen, min_count=self.min_count)

    def of_rows(self, rows: Any, node: Node) -> PublicValues:
        """Apply them to counted rows, which hold listed values only, each often enough."""
        values = PublicValues(rows, self.categories(rows.layout), self.min_count)
        if values.members:
            raise node.wrong("counts of values with at least values.min_count rows each")
        return values


def read_values(
    node: Node, layout: Layout, sampled: Sampled, sensitive: list[Label] | None, n_sensitive: int
) -> SavedValues:
    """Read lists of values, which hold all inputs of the mechanism.

    Parameters
    ----------
    node : Node
        What :func:`write_values` wrote.
    layout : Layout
        The columns.
    sampled : Sampled
        What is sampled.
    sensitive : list of labels or None
        The sensitive values, if the mechanism sees them.
    n_sensitive : int
        Their number.
    """
    if node.is_null():
        return SavedValues(ValueLists(()), ValueLists(()))
    useful, others, least = node.fields("useful", "sensitive", "min_count")
    found = SavedValues(
        _read_lists(useful, len(layout.useful), sampled.inputs),
        _read_lists(others, len(sensitive_names(layout)), sensitive or ()),
        None if least.is_null() else least.whole(1, 2**53),
    )
    if found.sensitive.closed and found.sensitive.size < n_sensitive:
        raise others.wrong(f"lists of at least {n_sensitive:,} values")
    return found


def _read_lists(node: Node, n_columns: int, seen: Any) -> ValueLists:
    columns: list[tuple[Label, ...] | None] = []
    for one in node.items(n_columns):
        if one.is_null():
            columns.append(None)
            continue
        values = read_labels(one)
        distinct(values, one)
        if not 0 < len(values) <= MOST_TABLE_CELLS or any(isinstance(v, tuple) for v in values):
            raise one.wrong("a list of single values")
        columns.append(tuple(values))
    lists = ValueLists(columns)
    if any(columns) and any(lists.strange(symbol) is not None for symbol in seen):
        raise node.wrong("lists that hold all values of the mechanism")
    return lists
