"""What the outputs of a mechanism are called in the released columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from .._arrays import FloatArray, Label
from ..channel import Channel
from ..frames import sort_symbols
from ..labels import as_parts, group_label, symbol_text

__all__ = ["OutputLabels", "as_number_array"]

_NAMED = 1e-9
"""Symbols whose share of an output is below this times the largest share are not named."""


class OutputLabels:
    """A row of labels for each output, one label per released column.

    Parameters
    ----------
    channel : Channel
        P(Y|X).
    p_x : ndarray
        Distribution of X.
    one_column : bool
        Whether there is one released column, whatever the number of useful ones.
    pool : label, optional
        The symbol of X that stands for rare values, which is not a value of the columns.
    """

    def __init__(
        self, channel: Channel, p_x: FloatArray, *, one_column: bool, pool: Label = None
    ) -> None:
        self._channel = channel
        self._p_x = p_x
        self._one_column = one_column
        self._pool = pool

    @cached_property
    def valued(self) -> list[bool]:
        """Tell for each released column whether its labels are all values of the useful column."""
        inputs = [x for x in self._channel.inputs if self._pool is None or x != self._pool]
        values = [set(part) for part in zip(*map(as_parts, inputs), strict=True)]
        labels = [set(part) for part in zip(*self.as_rows(as_text=False), strict=True)]
        if len(values) != len(labels):
            return [False] * len(labels)
        return [found <= known for found, known in zip(labels, values, strict=True)]

    def typed_rows(self, typed: Sequence[bool]) -> list[tuple[Label, ...]]:
        """Return the labels of the outputs: values in ``typed`` columns, text in others."""
        texts, values = self.as_rows(as_text=True), self.as_rows(as_text=False)
        return [
            tuple(v if keep else t for t, v, keep in zip(text, value, typed, strict=True))
            for text, value in zip(texts, values, strict=True)
        ]

    def as_rows(self, as_text: bool) -> list[tuple[Label, ...]]:
        """Return the labels of each output, one per released column."""
        symbols = set(self._channel.inputs)
        rows = [self._label_row(y) for y in range(len(self._channel.outputs))]
        # Joint symbols written in one column also have made-up names.
        made_up = [
            output not in symbols or as_parts(output) != row
            for output, row in zip(self._channel.outputs, rows, strict=True)
        ]
        if as_text:
            texts = [tuple(_as_text(part) for part in row) for row in rows]
            made_up = [
                new or text != row for new, text, row in zip(made_up, texts, rows, strict=True)
            ]
            rows = texts
        return _distinct_rows(rows, made_up)

    def _label_row(self, y: int) -> tuple[Label, ...]:
        output = self._channel.outputs[y]
        if self._one_column:
            return (symbol_text(output) if isinstance(output, tuple) else output,)
        if isinstance(output, tuple):
            return output
        columns = self._by_output
        entries = slice(columns.indptr[y], columns.indptr[y + 1])
        members = columns.indices[entries]
        masses = columns.data[entries] * self._p_x[members]
        # The certificate may have mixed a little of every symbol into every output.
        members = members[masses > _NAMED * masses.max()]
        parts = zip(*(self._channel.inputs[x] for x in members), strict=True)
        return tuple(group_label(sort_symbols(set(part))) for part in parts)

    @cached_property
    def _by_output(self) -> Any:
        return self._channel.sparse.tocsc()

    @cached_property
    def numbers(self) -> list[tuple[Label, ...]] | None:
        """A different input symbol for each output, if all are numbers, else None.

        An array of numbers cannot hold names such as "{1, 2}", so each output is represented by
        one of its symbols, as by the super-symbols of the papers.
        """
        rows = [as_parts(symbol) for symbol in self._channel.inputs]
        if not all(part is None or isinstance(part, Real) for row in rows for part in row):
            return None
        if self._one_column and len(rows[0]) > 1:
            return None
        if len(self._channel.outputs) > len(rows):  # where S is seen; the matching drops some
            return None
        joint = csr_array(diags_array(self._p_x) @ self._channel.sparse)
        try:
            outputs, inputs = min_weight_full_bipartite_matching(joint.T.tocsr(), maximize=True)
        except ValueError:
            return None  # there is no matching
        return [rows[x] for x in inputs[np.argsort(outputs)]]


def _as_text(label: Label) -> Label:
    return None if label is None else str(label)


def as_number_array(rows: Sequence[tuple[Label, ...]], dtype: np.dtype) -> np.ndarray:
    """Write rows of numbers, None as NaN, in the given type or one that holds them all."""
    if any(part is None for row in rows for part in row) and dtype.kind != "f":
        dtype = np.dtype(float)
    values = [[np.nan if part is None else part for part in row] for row in rows]
    try:
        cast = np.array(values, dtype=dtype)
    except OverflowError:
        return np.array(values)
    exact = all(
        found == part or part is None
        for found_row, row in zip(cast.tolist(), rows, strict=True)
        for found, part in zip(found_row, row, strict=True)
    )
    return cast if exact else np.array(values)


def _distinct_rows(
    rows: Sequence[tuple[Label, ...]], made_up: Sequence[bool]
) -> list[tuple[Label, ...]]:
    """Make rows of labels distinct by numbering made-up rows that are already taken.

    Like :func:`skliftpriv.labels.distinct`, with the number in the first column.
    """
    taken = {row for row, new in zip(rows, made_up, strict=True) if not new}
    result = []
    for row, new in zip(rows, made_up, strict=True):
        name, number = row, 1
        while new and name in taken:
            number += 1
            name = (f"{symbol_text(row[0])} ({number})", *row[1:])
        taken.add(name)
        result.append(name)
    return result
