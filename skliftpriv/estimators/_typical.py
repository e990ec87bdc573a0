"""Typical rows: what the columns of X usually hold given the output."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._arrays import FloatArray, Label
from ..cells import Cells, ColumnValues
from ..channel import Channel
from ..labels import as_parts

__all__ = ["typical_rows"]


def typical_rows(
    channel: Channel, p_x: FloatArray, cells: Cells | None, pool: Label = None
) -> list[tuple[Label, ...]]:
    """Return a row for every output, with the typical value of each column given the output.

    Parameters
    ----------
    channel : Channel
        P(Y|X).
    p_x : ndarray
        Distribution of X.
    cells : Cells or None
        What X consists of; None if its symbols are values of the columns.
    pool : label, optional
        A symbol that stands for rare values, none of which is typical: the average row stands in.

    Returns
    -------
    list of tuples
        Medians of numbers and the most common of other values.
    """
    posterior = channel.posterior(p_x)
    if cells is None:
        valued = np.array([pool is None or x != pool for x in channel.inputs])
        inputs = [x for x, known in zip(channel.inputs, valued, strict=True) if known]
        average = p_x[valued] / p_x[valued].sum()
        weights = posterior[:, valued] + posterior[:, ~valued].sum(axis=1)[:, None] * average
        columns = [
            _values_of(part).typical(weights) for part in zip(*map(as_parts, inputs), strict=True)
        ]
    else:
        place: dict[Label, int] = {label: i for i, label in enumerate(cells.labels)}
        known = np.array([label in place for label in channel.inputs])
        weights = np.zeros((len(posterior), len(cells.labels)))
        weights[:, [place[x] for x in channel.inputs if x in place]] = posterior[:, known]
        # Of cells that no row to learn from had, no values are known: the average row stands in.
        average = np.zeros(len(cells.labels))
        average[[place[x] for x in channel.inputs if x in place]] = p_x[known] / p_x[known].sum()
        columns = cells.typical(weights + posterior[:, ~known].sum(axis=1)[:, None] * average)
    return list(zip(*columns, strict=True))


def _values_of(symbols: Sequence[Label]) -> ColumnValues:
    """Describe a column in which every symbol of X has one value."""
    column = np.empty(len(symbols), dtype=object)
    column[:] = symbols
    return ColumnValues.count(column, np.arange(len(symbols)), len(symbols))
