"""Merging of neighbours: the best partition of ordered symbols into ranges that meet a notion."""

from __future__ import annotations

import numpy as np

from .._arrays import FloatArray
from .._limits import MOST_RANGE_CELLS, refuse_beyond
from ..channel import Channel
from ..confidence import Over
from ..distribution import JointDistribution
from ..notions import Notion
from ._merging import Indices, Mask, MergedColumns, labels_of
from ._result import PartitionResult

__all__ = ["best_ranges", "range_merging"]


def range_merging(joint: JointDistribution, notion: Notion, over: Over) -> PartitionResult:
    """Merge neighbours in the order of ``joint.useful_labels``, and certify the channel.

    The outputs are the ranges in their order, so that the number of an output is an ordered code.
    """
    merging = MergedColumns(joint, notion, over)
    ranges = best_ranges(merging)
    merged: Mask = np.zeros(joint.shape[1], dtype=bool)
    for each in ranges:
        merged[each] = each.size > 1
    groups = [labels_of(joint, each) for each in ranges]
    return PartitionResult.of(
        joint,
        notion,
        Channel.merging(groups, joint.useful_labels, ordered=True),
        over=over,
        low_risk=labels_of(joint, ~merged),
        high_risk=labels_of(joint, merged),
        partition=tuple(group for group in groups if len(group) > 1),
        moved=labels_of(joint, merged & ~merging.risky),
        status="best ranges",
        ordered=True,
    )


def best_ranges(merging: MergedColumns) -> list[Indices]:
    r"""Split symbols, in their order, into the ranges that keep most.

    Of all partitions into ranges that meet the notion, one with the smallest H(X|Y) is found. Up
    to a constant H(X|Y) is the sum of :math:`P(r) \log P(r)` over the ranges r. So the best
    partition of the first j symbols is the best one of the first i, for some i, followed by the
    range from i to j: dynamic programming over all pairs i < j. All symbols together have lift 1,
    so there always is a partition.

    Parameters
    ----------
    merging : MergedColumns
        The columns of the symbols, in their order.

    Returns
    -------
    list of ndarray of int
        Numbers of the symbols in each range.
    """
    n_rows, n_symbols = merging.columns.shape
    cells = n_rows * n_symbols * (n_symbols + 1) // 2
    refuse_beyond(
        MOST_RANGE_CELLS,
        cells,
        f"the ranges of {n_symbols:,} values of X have {cells:,} cells",
        "round the values of X before fit, such as dates to months",
    )
    cost = np.zeros(n_symbols + 1)
    start = np.zeros(n_symbols + 1, dtype=np.intp)
    for stop in range(1, n_symbols + 1):
        costs = cost[:stop] + _range_costs(merging, stop)
        start[stop] = stop - 1 - np.argmin(costs[::-1])  # in a tie, the shortest range
        cost[stop] = costs[start[stop]]
    return _traced(start)


def _range_costs(merging: MergedColumns, stop: int) -> FloatArray:
    """P(r) log P(r) of each range that ends at ``stop``, by its start; inf if it is not private."""
    # Sums from the last symbol, unlike differences of sums from the first, keep empty cells at 0.
    columns = np.cumsum(merging.columns[:, :stop][:, ::-1], axis=1)[:, ::-1]
    p = np.cumsum(merging.p_x[:stop][::-1])[::-1]
    private = merging.private(columns)
    if stop == merging.p_x.size:
        private[0] = True  # everything merged, which rounding may deny at a budget of 0
    return np.where(private, p * np.log(p), np.inf)


def _traced(start: Indices) -> list[Indices]:
    """List the ranges, given the start of the last range of every number of symbols."""
    ranges, stop = [], start.size - 1
    while stop:
        ranges.append(np.arange(start[stop], stop))
        stop = int(start[stop])
    return ranges[::-1]
