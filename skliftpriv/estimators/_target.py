"""Counts of a target, the y of ``fit(X, y)``, with S and X."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._arrays import FloatArray, Label
from .._limits import MOST_TABLE_CELLS, MOST_TARGETS, refuse_beyond
from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError
from ..frames import (
    ContingencyTable,
    Encoded,
    as_columns,
    encode_rows,
    paired,
    ranked,
    row_slices,
    rows_of,
)

__all__ = ["EncodedTarget", "Rows", "TargetCounts", "TargetReader"]

#: Some of the rows of a table.
Rows: TypeAlias = np.ndarray | slice

#: Numbers with more distinct values than this are binned.
_MOST_NUMBERS = 20
#: Bins have about the same number of rows.
_BINS = 10


class EncodedTarget(NamedTuple):
    """A target as numbers of its values or bins.

    Attributes
    ----------
    codes : ndarray of int
        The number of the value of each row.
    values : list of labels
        The values, or the names of the bins.
    edges : tuple of float or None
        Inner edges of the bins, if there are bins.
    """

    codes: np.ndarray
    values: list[Label]
    edges: tuple[float, ...] | None

    @property
    def ascending(self) -> np.ndarray:
        """Codes that ascend with the values, as those of bins do."""
        return self.codes if self.edges is not None else ranked((self.codes, self.values))


class TargetReader:
    """Encodes the y of ``fit`` part by part.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Text, booleans or numbers. Numbers with more than 20 distinct values are put into ten bins
        with about the same number of rows; other values may be at most 100.
    n_rows : int
        How many rows there are.
    known : TargetCounts, optional
        Counts of earlier rows, whose bins are used again.
    rows : ndarray of int, optional
        Rows that decide on the bins; by default all.
    numbers : ndarray, optional
        How many rows each row stands for; by default one.
    """

    def __init__(
        self,
        y: Any,
        n_rows: int,
        known: TargetCounts | None = None,
        rows: np.ndarray | None = None,
        numbers: np.ndarray | None = None,
    ) -> None:
        if isinstance(y, str):
            raise InvalidParameterError(
                f"y={y!r} is a single text: pass the values of the target, such as X[{y!r}]."
            )
        columns = as_columns(y, "y")
        if len(columns) != 1:
            raise InvalidParameterError(f"y has {len(columns)} columns: pass one target.")
        if len(columns[0]) != n_rows:
            raise InvalidParameterError(f"y has {len(columns[0])} values, and X has {n_rows} rows.")
        self._column = columns[0]
        self._numbers = np.ones(n_rows) if numbers is None else numbers
        if known is None:
            decide = slice(0, n_rows) if rows is None else rows
            self._edges = _edges(*self._encoded(decide), self._numbers[decide])
        else:
            self._edges = known.edges

    def at(self, rows: Rows) -> EncodedTarget:
        """Encode the target of some of the rows."""
        codes, values = self._encoded(rows)
        if self._edges is not None:
            codes, values = _binned(codes, values, self._edges)
        _refuse_many(values, 1)
        return EncodedTarget(codes, values, self._edges)

    def _encoded(self, rows: Rows) -> Encoded:
        codes, values = encode_rows([rows_of(self._column, rows)])
        if None in values:
            missing = sum(map(self._n_missing, row_slices(len(self._column))))
            raise InvalidParameterError(
                f"y is missing in {missing:,.0f} of {self._numbers.sum():,.0f} rows: leave these "
                "rows out, or fill them."
            )
        return codes, values

    def _n_missing(self, rows: slice) -> float:
        codes, values = encode_rows([rows_of(self._column, rows)])
        gaps = codes == values.index(None) if None in values else np.zeros_like(codes, dtype=bool)
        return float(self._numbers[rows][gaps].sum())


@dataclass(frozen=True)
class TargetCounts:
    """How often each value of a target T occurs with each pair of S and X.

    .. versionadded:: 0.2

    Attributes
    ----------
    table : ContingencyTable
        Rows are values of T, and columns are pairs (s, x).
    edges : tuple of float or None
        Inner edges of the bins of a target that is a number with many values; None for a target
        that is counted value by value.
    """

    table: ContingencyTable
    edges: tuple[float, ...] | None = None

    @classmethod
    def count(
        cls,
        target: EncodedTarget,
        sensitive: Encoded,
        useful: Encoded,
        weight: np.ndarray | None,
    ) -> TargetCounts:
        """Count the rows of a target, or add up their weights.

        Parameters
        ----------
        target : EncodedTarget
            The target.
        sensitive, useful : tuple of codes and symbols
            S and X of the same rows.
        weight : ndarray or None
            Weight of each row.
        """
        pairs = paired(sensitive, useful)
        _refuse_many(target.values, len(pairs[1]))
        counts = ContingencyTable.of_codes((target.codes, target.values), pairs, weight)
        return cls(counts, target.edges)

    def __add__(self, other: TargetCounts) -> TargetCounts:
        if self.edges != other.edges:
            raise InvalidParameterError(
                "The target was binned differently in two parts: count both with the same bins, "
                "or bin y before."
            )
        values, pairs = (
            {*one, *two}
            for one, two in (
                (self.table.sensitive, other.table.sensitive),
                (self.table.useful, other.table.useful),
            )
        )
        _refuse_many(values, len(pairs))
        return TargetCounts(self.table + other.table, self.edges)

    def relabelled(self, names: Mapping[Label, Label]) -> TargetCounts:
        """Return the counts with new names for values of X, adding up those with the same name."""
        place: dict[Label, int] = {}
        codes = []
        for pair in self.table.useful:
            assert isinstance(pair, tuple)
            s, x = pair
            codes.append(place.setdefault((s, names.get(x, x)), len(place)))
        counts = np.zeros((len(self.table.sensitive), len(place)))
        np.add.at(counts.T, codes, self.table.counts.T)
        table = ContingencyTable(
            counts,
            self.table.sensitive,
            list(place),
            self.table.n_rows,
            weighted=self.table.weighted,
        )
        return TargetCounts(table, self.edges)

    def given(self, joint: JointDistribution, *, sensitive: bool) -> FloatArray:
        """Return P(T|X) or, with ``sensitive``, P(T|S,X).

        A pair (s, x) without rows has the P(T|x) of its x.
        """
        s_of = {label: i for i, label in enumerate(joint.sensitive_labels)}
        x_of = {label: i for i, label in enumerate(joint.useful_labels)}
        counts = np.zeros((len(self.table.sensitive), *joint.shape))
        for column, pair in zip(self.table.counts.T, self.table.useful, strict=True):
            assert isinstance(pair, tuple)
            s, x = pair
            if s in s_of and x in x_of:
                counts[:, s_of[s], x_of[x]] = column
        of_x = counts.sum(axis=1)
        given_x = of_x / of_x.sum(axis=0)
        if not sensitive:
            return np.asarray(given_x)
        rows = counts.sum(axis=0)
        return np.where(rows > 0, counts / np.where(rows > 0, rows, 1.0), given_x[:, None, :])


def _refuse_many(values: Collection[Label], n_pairs: int) -> None:
    """Raise an error if a target has too many values, or too many with the pairs of S and X."""
    n = len(values)
    refuse_beyond(
        MOST_TARGETS,
        n,
        f"the target y has {n:,} different values, such as {next(iter(values), None)!r}",
        "pass a target with few values rather than names or numbers of records: pool rare values, "
        "put dates into bins, or convert numbers that are text (numbers are put into ten bins if "
        "the first rows have more than 20 different ones)",
    )
    refuse_beyond(
        MOST_TABLE_CELLS,
        n * n_pairs,
        f"the table of {n:,} values of the target y and {n_pairs:,} pairs of a sensitive and a "
        f"useful value has {n * n_pairs:,} cells",
        "pool rare values of y or of the two columns before fit, or put rows into cells (cells=)",
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _edges(codes: np.ndarray, values: list[Any], numbers: np.ndarray) -> tuple[float, ...] | None:
    """Return inner edges of bins with about as many rows each, or None if there are few values."""
    n_rows = np.bincount(codes, weights=numbers, minlength=len(values))
    if (n_rows > 0).sum() <= _MOST_NUMBERS or not all(map(_is_number, values)):
        return None
    ascending = np.argsort(np.array(values, dtype=float))
    # The least value up to which there are so many tenths of the rows; whole numbers are exact.
    up_to = np.cumsum(n_rows[ascending])
    inner = ascending[np.searchsorted(_BINS * up_to, np.arange(1, _BINS) * up_to[-1])]
    return tuple(float(values[place]) for place in dict.fromkeys(inner.tolist()))


def _binned(codes: np.ndarray, values: list[Any], edges: tuple[float, ...]) -> Encoded:
    """Put values into bins, named by their ends; a bin includes its upper end."""
    if not all(map(_is_number, values)):
        strange = next(value for value in values if not _is_number(value))
        raise InvalidParameterError(
            f"y holds {strange!r}, but the first rows had numbers, which were binned."
        )
    names: list[Label] = [
        f"({low!r}, {high!r}]" for low, high in pairwise([-np.inf, *edges, np.inf])
    ]
    bin_of = np.searchsorted(np.array(edges), np.array(values, dtype=float))
    return bin_of[codes], names
