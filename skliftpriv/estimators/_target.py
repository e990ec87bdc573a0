"""Counts of a target, the y of ``fit(X, y)``, with S and X."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .._arrays import FloatArray, Label
from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError
from ..frames import ContingencyTable, Encoded, as_columns, encode_rows, paired

__all__ = ["TargetCounts"]

#: Numbers with more distinct values than this are binned.
_MOST_NUMBERS = 20
#: Bins have about the same number of rows.
_BINS = 10


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
        y: Any,
        sensitive: Encoded,
        useful: Encoded,
        weight: np.ndarray | None,
        known: TargetCounts | None = None,
    ) -> TargetCounts:
        """Count the rows of a target, or add up their weights.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            Text, booleans or numbers. Numbers with more than 20 distinct values are put into ten
            bins with about the same number of rows.
        sensitive, useful : tuple of codes and symbols
            S and X of the same rows.
        weight : ndarray or None
            Weight of each row.
        known : TargetCounts, optional
            Counts of earlier rows, whose bins are used again.
        """
        codes, values = _encoded(y, sensitive[0].size)
        edges = _edges(codes, values) if known is None else known.edges
        if edges is not None:
            codes, values = _binned(codes, values, edges)
        pairs = paired(sensitive, useful)
        return cls(ContingencyTable.of_codes((codes, values), pairs, weight), edges)

    def __add__(self, other: TargetCounts) -> TargetCounts:
        if self.edges != other.edges:
            raise InvalidParameterError(
                "The target was binned differently in two parts: count both with the same bins, "
                "or bin y before."
            )
        return TargetCounts(self.table + other.table, self.edges)

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


def _encoded(y: Any, n_rows: int) -> Encoded:
    columns = as_columns(y, "y")
    if len(columns) != 1:
        raise InvalidParameterError(f"y has {len(columns)} columns: pass one target.")
    if len(columns[0]) != n_rows:
        raise InvalidParameterError(f"y has {len(columns[0])} values, and X has {n_rows} rows.")
    codes, values = encode_rows(columns)
    if None in values:
        missing = int((codes == values.index(None)).sum())
        raise InvalidParameterError(
            f"y is missing in {missing:,} of {n_rows:,} rows: leave these rows out, or fill them."
        )
    return codes, values


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _edges(codes: np.ndarray, values: list[Any]) -> tuple[float, ...] | None:
    """Return inner edges of bins with about as many rows each, or None if there are few values."""
    if len(values) <= _MOST_NUMBERS or not all(map(_is_number, values)):
        return None
    numbers = np.array(values, dtype=float)[codes]
    inner = np.quantile(numbers, np.arange(1, _BINS) / _BINS, method="inverted_cdf")
    return tuple(float(edge) for edge in np.unique(inner))


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
