"""Subset merging: a finer watchdog that merges the high-risk symbols in small groups."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import ceil
from typing import Literal

import numpy as np

from .._arrays import FloatArray
from .._limits import MOST_PAIRS, POOL, refuse_beyond
from ..confidence import Over, checked_set
from ..distribution import JointDistribution
from ..exceptions import InvalidParameterError
from ..notions import Notion
from ._merging import (
    Indices,
    Mask,
    MergedColumns,
    canonical_order,
    labels_of,
    partition_result,
)
from ._range_merging import range_merging
from ._result import PartitionResult

__all__ = ["merged_groups", "subset_merging"]

# Up to this many high-risk symbols more than one order is tried.
_FEW = 1000


def subset_merging(
    joint: JointDistribution,
    notion: Notion,
    *,
    order: Literal["ignore", "preserve"] = "ignore",
    repair: bool = True,
    over: Over = None,
) -> PartitionResult:
    """Keep low-risk symbols unchanged and merge the others in groups that meet the notion.

    The algorithm is greedy (Zarrabian, Ding and Sadeghi 2023, Algorithm 1, with the corrections of
    docs/errata.md): a group starts from the riskiest remaining symbol and adds the symbol that
    lowers its risk most, until the group meets the notion. The cost grows with the square of the
    number of high-risk symbols.

    Zero cells make risks infinite, so several symbols can be the riskiest. Up to 1,000 high-risk
    symbols, some orders of these are tried, and the partition with the smallest loss is taken. The
    order of the columns of ``joint`` has no influence, except among equal columns.

    With ``order="preserve"`` only neighbours are merged. Of all partitions into ranges that meet
    the notion, the one that keeps most of X is found by dynamic programming; its cost grows with
    the square of the number of symbols.

    Parameters
    ----------
    joint : JointDistribution
        Distribution of the sensitive and the useful variable.
    notion : Notion
        Any of the six notions.
    order : {"ignore", "preserve"}, default="ignore"
        "preserve" merges neighbours in the order of ``joint.useful_labels``: numbers, dates or
        ordered categories. Groups are then ranges such as ``37 to 45``.

        .. versionadded:: 0.2
    repair : bool, default=True
        If the high-risk symbols alone cannot meet the budget, add low-risk symbols until it is
        met, in the way that loses less. False follows the paper exactly and warns if the budget
        is exceeded. The paper has no ranges, so ``order="preserve"`` refuses False; all of its
        ranges meet the budget.
    over : ConfidenceSet or list of JointDistribution, optional
        Meet the budget for every distribution in this set; by default for ``joint`` alone. A
        confidence set needs LIP, ALIP or LDP. Distributions of a list are covered besides
        ``joint``.

        .. versionchanged:: 0.2
            A list of distributions is accepted.

    Returns
    -------
    PartitionResult

    Examples
    --------
    >>> from skliftpriv import ALIP, datasets, mechanisms
    >>> joint = datasets.make_joint(5, 17, random_state=0)
    >>> result = mechanisms.subset_merging(joint, ALIP(0.5, 0.5))
    >>> round(result.nmi, 3)
    0.764
    >>> ranges = mechanisms.subset_merging(joint, ALIP(0.5, 0.5), order="preserve")
    >>> ranges.channel.outputs
    (0, '1 to 5', '6 to 9', '10 to 12', '13 to 14', '15 to 16')
    """
    if order not in ("ignore", "preserve"):
        raise InvalidParameterError(f'order must be "ignore" or "preserve", not {order!r}.')
    over = checked_set(over, joint)
    if order == "preserve":
        if not repair:
            raise InvalidParameterError(
                'repair=False follows the paper, which has no ranges: with order="preserve" all '
                "ranges meet the budget. Leave repair out."
            )
        return range_merging(joint, notion, over)
    merging = MergedColumns(joint, notion, over, canonical_order(joint))
    risky = merging.risky
    groups = _best_groups(merging, joint.shape[0], repair=repair)
    merged = np.zeros_like(risky)
    for group in groups:
        merged[group] = True
    return partition_result(
        joint,
        notion,
        [merging.positions(group) for group in groups],
        repair=repair,
        moved=labels_of(joint, merging.positions(merged & ~risky)),
        over=over,
    )


def merged_groups(joint: JointDistribution, notion: Notion, over: Over) -> list[Indices]:
    """Return the groups of subset merging as positions in the joint distribution.

    If there are too many high-risk symbols to search for partners among all of them, each part of
    them is searched.
    """
    merging = MergedColumns(joint, notion, over, canonical_order(joint))
    n_parts = ceil(int(merging.risky.sum()) ** 2 * joint.shape[0] / MOST_PAIRS)
    if n_parts > 1:
        groups = _groups_in_parts(merging, n_parts)
    else:
        groups = _best_groups(merging, joint.shape[0], repair=True)
    return [merging.positions(group) for group in groups]


def _groups_in_parts(merging: MergedColumns, n_parts: int) -> list[Indices]:
    """Return groups of high-risk symbols, found in parts that have some of every risk."""
    risky = merging.risky
    starts = _starts(merging, np.flatnonzero(risky))[0]
    groups: list[Indices] = []
    left: list[Indices] = []
    for k in range(n_parts):
        part = _private_groups(merging, starts[k::n_parts])
        left += [] if _private(merging, part) else [part.pop()]
        groups += part
    first = [*groups, np.concatenate(left)] if left else groups
    groups = _agglomerated(merging, first)
    return groups if _private(merging, groups) else _repaired(merging, risky, first)


def _best_groups(merging: MergedColumns, n_sensitive: int, *, repair: bool) -> list[Indices]:
    """Return the groups that lose least of those found from several orders."""
    risky = merging.risky
    n_risky = int(risky.sum())
    refuse_beyond(
        MOST_PAIRS,
        n_risky**2 * n_sensitive,
        f"{n_risky:,} values of X are high-risk, and the search for groups takes "
        f"{n_risky**2 * n_sensitive:,} comparisons",
        f"use WatchdogSanitizer, or {POOL}",
    )
    found = [
        _partition(merging, risky, starts, repair=repair)
        for starts in _starts(merging, np.flatnonzero(risky))
    ]
    if len(found) == 1:
        return found[0]
    return min(found, key=lambda tried: (not _private(merging, tried), merging.loss(tried)))


def _starts(merging: MergedColumns, risky: Indices) -> list[Indices]:
    """Orders in which symbols start a group, the riskiest first.

    Symbols with infinite risk are tied. Up to three are tried in every order. If there are more,
    six orders are tried: the fewest or the most zeros first, the largest or the smallest risk
    apart from the zeros first, and the rarest or the most common first.
    """
    risk = merging.risk(merging.columns[:, risky])
    infinite = np.isinf(risk)
    last = risky[~infinite][np.argsort(-risk[~infinite], kind="stable")]
    first = risky[infinite]
    if first.size <= 3:
        tried = [np.array(order, dtype=np.intp) for order in permutations(first)]
    else:
        zeros, others = merging.infinite_risk(merging.columns[:, first])
        keys = ((-others, zeros), (-others, -zeros), (-others,), (others,))
        tried = [*(first[np.lexsort(key)] for key in keys), first, first[::-1]]
    return [np.concatenate([order, last]) for order in tried[: None if risky.size <= _FEW else 1]]


def _partition(
    merging: MergedColumns, risky: Mask, starts: Indices, *, repair: bool
) -> list[Indices]:
    """Group the high-risk symbols; without repair the last group may not meet the notion."""
    first = _private_groups(merging, starts)
    groups = _agglomerated(merging, first)
    return _repaired(merging, risky, first) if repair and not _private(merging, groups) else groups


def _private(merging: MergedColumns, groups: Sequence[Indices]) -> bool:
    """Return whether the last group meets the notion; the others always do."""
    return not groups or merging.meets(merging.merged(groups[-1]))


def _private_groups(merging: MergedColumns, starts: Indices) -> list[Indices]:
    """Lines 4-11 of Algorithm 1; only the last group may not meet the notion."""
    pool = _Pool(merging.columns, np.sort(starts))
    groups = []
    for start in starts:
        if start not in pool:
            continue
        column, members = pool.take(pool.position(start)), [int(start)]
        while pool.size and not merging.meets(column):
            pick = merging.safest(pool.columns + column[:, None])
            members.append(pool.symbol(pick))
            column = column + pool.take(pick)
        groups.append(np.array(members, dtype=np.intp))
    return groups


def _agglomerated(merging: MergedColumns, groups: Sequence[Indices]) -> list[Indices]:
    """Lines 12-16 of Algorithm 1: join the last group with others until it meets the notion."""
    groups = list(groups)
    while len(groups) > 1 and not _private(merging, groups):
        last = groups.pop()
        others = np.column_stack([merging.merged(group) for group in groups])
        partner = groups.pop(merging.safest(others + merging.merged(last)[:, None]))
        groups.append(np.concatenate([last, partner]))
    return groups


def _repaired(merging: MergedColumns, risky: Mask, groups: Sequence[Indices]) -> list[Indices]:
    """Add low-risk symbols if the high-risk ones alone cannot meet the notion.

    They are added to the last group, if that suffices, or to the group of all high-risk symbols,
    whichever loses less.
    """
    everything = [np.flatnonzero(merging.extended(risky))]
    last: Mask = np.zeros_like(risky)
    last[groups[-1]] = True
    alone = np.flatnonzero(merging.extended(last, ~risky))
    apart = [*groups[:-1], alone]
    if not merging.meets(merging.merged(alone)) or merging.loss(apart) > merging.loss(everything):
        return everything
    return apart


class _Pool:
    """Columns that are not in a group yet, stored contiguously for a fast search."""

    def __init__(self, columns: FloatArray, symbols: Indices) -> None:
        self._columns = columns[:, symbols].copy()
        self._symbols = symbols.copy()
        self._position = {int(symbol): i for i, symbol in enumerate(symbols)}
        self.size = symbols.size

    @property
    def columns(self) -> FloatArray:
        return self._columns[:, : self.size]

    def __contains__(self, symbol: int) -> bool:
        return int(symbol) in self._position

    def position(self, symbol: int) -> int:
        return self._position[int(symbol)]

    def symbol(self, position: int) -> int:
        return int(self._symbols[position])

    def take(self, position: int) -> FloatArray:
        """Remove a column and return it; the last one moves to its place."""
        column = self._columns[:, position].copy()
        last = self.size - 1
        del self._position[self.symbol(position)]
        if position != last:
            self._columns[:, position] = self._columns[:, last]
            self._symbols[position] = self._symbols[last]
            self._position[self.symbol(last)] = position
        self.size = last
        return column
