"""Levels of merged symbols, which the watchdog and subset merging share."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import FloatArray, Label
from ..channel import Channel
from ..confidence import Cases, JointList, Over, checked_set, levels_of
from ..distribution import JointDistribution
from ..exceptions import BudgetWarning
from ..measures import entropy
from ..notions import Notion
from ._result import PartitionResult

Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]

# Cells that a greedy search reads, in about a second, before it adds the rest in one step.
_MOST_SEARCHED = 100_000_000


class MergedColumns:
    """Check merged symbols against a notion, for joint distributions or a confidence set.

    The lift of a merged set of symbols is the lift of the sum of their columns
    (Sadeghi, Ding and Rakotoarivelo 2020, eq. 2); columns of several distributions are stacked.
    Over a confidence set the columns are the bounds of P(x|s), which also add up: P(A|s) is at
    most the sum of the upper bounds in A, and at most 1 minus the sum of the lower bounds
    outside, and one of the two is attained.

    ``order`` numbers the symbols. With :func:`canonical_order` sums and ties do not depend on
    the order of the columns of the table.
    """

    def __init__(
        self,
        joint: JointDistribution,
        notion: Notion,
        over: Over = None,
        order: Indices | None = None,
    ) -> None:
        self._order = np.arange(joint.shape[1]) if order is None else order
        matrix = np.ascontiguousarray(joint.masses[:, self._order])
        matrix = matrix / matrix.sum()
        self.p_s, self.p_x = matrix.sum(axis=1), matrix.sum(axis=0)
        self.notion = notion
        self._members = checked_set(over, joint) or JointList.of(joint)
        self.columns: FloatArray = self._members.columns(self._order)
        self._totals = self.columns.sum(axis=1, keepdims=True)

    @property
    def risky(self) -> Mask:
        """Symbols that do not meet the notion on their own."""
        return ~self.private(self.columns)

    def merged(self, members: Indices | Mask) -> FloatArray:
        """Column of a merged set of symbols."""
        return np.asarray(self.columns[:, members].sum(axis=1))

    def private(self, columns: FloatArray) -> Mask:
        """Tell which of several columns meet the notion."""
        met = [self.notion.meets(lift, p_s) for lift, p_s in self._lifts(columns)]
        return np.asarray(np.logical_and.reduce(met))

    def meets(self, column: FloatArray) -> bool:
        """Return whether a merged column meets the notion."""
        return bool(self.private(column[:, None])[0])

    def levels(self, column: FloatArray) -> dict[str, float]:
        """Level of every side of the notion for a merged column."""
        levels = levels_of(self.notion, self._lifts(column[:, None]))
        return {side: float(level[0]) for side, level in levels.items()}

    def safest(self, columns: FloatArray) -> int:
        """Position of the column with the least risk (the first one in a tie).

        Zero cells make risks infinite. If all risks are, the column with the fewest zero lifts is
        taken; in a tie, the one with the least risk apart from the zeros.
        """
        risk = self.risk(columns)
        pick = int(np.argmin(risk))
        if np.isfinite(risk[pick]):
            return pick
        zeros, others = self.infinite_risk(columns)
        return int(np.lexsort((others, zeros))[0])

    def risk(self, columns: FloatArray) -> FloatArray:
        """Risk omega of each column, the largest over several distributions."""
        cases = self._lifts(columns)
        return np.maximum.reduce([self.notion.risk(lift, p_s) for lift, p_s in cases])

    def infinite_risk(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the number of zero lifts of each column, and its risk if they were 1."""
        cases = [(lift == 0, lift, p_s) for lift, p_s in self._lifts(columns)]
        risks = [self.notion.risk(np.where(zero, 1.0, lift), p_s) for zero, lift, p_s in cases]
        return sum(zero.sum(axis=0) for zero, *_ in cases), np.maximum.reduce(risks)

    def positions(self, members: Indices | Mask) -> Indices:
        """Positions of symbols in the joint distribution, in ascending order."""
        return np.sort(self._order[members])

    def _lifts(self, columns: FloatArray) -> Cases:
        return self._members.lifts(self.notion, columns, self._totals)

    def loss(self, groups: Sequence[Indices]) -> float:
        """H(X|Y) if each group is merged and all other symbols are kept."""
        parts = (self.p_x[group] for group in groups)
        return sum(float(part.sum() * entropy(part / part.sum())) for part in parts)

    def extended(self, members: Mask, candidates: Mask | None = None) -> Mask:
        """Add symbols to a merged set until the set meets the notion.

        While no single symbol suffices, the one that lowers the risk most is added. Of those that
        suffice, the rarest is added, which costs the least information. All symbols together have
        lift 1, so the notion is met in the end, unless only some symbols are ``candidates``. If
        the search takes long, the others are added in an order that is fixed in one step.
        """
        members = members.copy()
        column = self.merged(members)
        outside = np.flatnonzero(~members if candidates is None else candidates & ~members)
        searched = 0
        while outside.size and not self.meets(column):
            searched += outside.size * column.size
            if searched > _MOST_SEARCHED:
                members[self._enough(column, outside)] = True
                break
            unions = self.columns[:, outside] + column[:, None]
            enough = np.flatnonzero(self.private(unions))
            if enough.size:
                pick = int(enough[np.argmin(self.p_x[outside[enough]])])
            else:
                pick = self.safest(unions)
            column = unions[:, pick]
            members[outside[pick]] = True
            outside = np.delete(outside, pick)
        return members

    def _enough(self, column: FloatArray, outside: Indices) -> Indices:
        """Symbols to add, in the order of their risk, until the notion is met; or all of them."""
        order = outside[np.argsort(self.risk(self.columns[:, outside] + column[:, None]))]
        unions = column[:, None] + self.columns[:, order].cumsum(axis=1)
        met = np.flatnonzero(self.private(unions))
        return order[: met[0] + 1] if met.size else order


def canonical_order(joint: JointDistribution) -> Indices:
    """Order of the useful symbols that depends only on their columns, the rarest first."""
    masses = np.ascontiguousarray(joint.masses)
    return np.lexsort((*masses[::-1], masses.sum(axis=0)))


def labels_of(joint: JointDistribution, members: Indices | Mask) -> tuple[Label, ...]:
    """Labels of the useful symbols that are members."""
    positions = np.flatnonzero(members) if members.dtype == bool else members
    return tuple(joint.useful_labels[i] for i in positions)


def partition_result(
    joint: JointDistribution,
    notion: Notion,
    groups: Sequence[Indices],
    *,
    repair: bool,
    moved: tuple[Label, ...],
    over: Over = None,
    channel: Channel | None = None,
    **known: Any,
) -> PartitionResult:
    """Certify the channel that merges each group and keeps all other symbols unchanged."""
    high = np.zeros(joint.shape[1], dtype=bool)
    for group in groups:
        high[group] = True
    partition = tuple(labels_of(joint, np.sort(group)) for group in groups)
    if channel is None:
        singles = [(label,) for label in labels_of(joint, ~high)]
        channel = Channel.merging([*singles, *partition], joint.useful_labels)
    result = PartitionResult.of(
        joint,
        notion,
        channel,
        over=over,
        enforce=repair,
        low_risk=labels_of(joint, ~high),
        high_risk=labels_of(joint, high),
        partition=partition,
        moved=moved,
        status="repaired" if moved else "as published",
        **known,
    )
    if result.report.satisfied:
        return result
    warnings.warn(
        f"The mechanism as published exceeds its budget: {notion} is not met by "
        f"{', '.join(map(repr, result.certified.violations[:3]))}. "
        "Use repair=True to extend the randomised set until the budget is met.",
        BudgetWarning,
        stacklevel=3,
    )
    return result
