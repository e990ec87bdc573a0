"""What the leaves of a tree have in common, as readable rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..labels import NumberedLabel
from ._features import CategoryFeature, Feature, NumberFeature
from ._splits import Splits

__all__ = ["Leaves", "leaves_of"]


@dataclass(frozen=True)
class _Range:
    """Values of one feature: above ``low``, up to ``high``; ``gaps`` if NaN is among them."""

    low: float = -np.inf
    high: float = np.inf
    gaps: bool = True


@dataclass(frozen=True)
class Leaves:
    """The leaves of a tree, from left to right.

    Attributes
    ----------
    number : ndarray of shape (n_nodes,)
        Number of the leaf at each node, -1 where there is none.
    rules : list of str
        Their numbers and rules.
    paths : list of tuples of int
        The nodes from the root to each leaf.
    """

    number: NDArray[np.intp]
    rules: list[str]
    paths: list[tuple[int, ...]]

    def nearest(self, rows: NDArray[Any]) -> NDArray[np.intp]:
        """Return for each leaf the leaf itself if it has rows, or else its nearest relative.

        That is the leaf with most rows among those that share the longest part of its path.
        """
        full = np.flatnonzero(rows > 0)
        found = np.arange(len(self.paths))
        for leaf in np.flatnonzero(rows <= 0):
            shared = [_shared(self.paths[leaf], self.paths[other]) for other in full]
            closest = full[np.array(shared) == max(shared)]
            found[leaf] = closest[np.argmax(rows[closest])]
        return found


def _shared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return sum(a == b for a, b in zip(one, other, strict=False))


def leaves_of(tree: Splits, features: Sequence[Feature]) -> Leaves:
    """Read the leaves of a fitted tree.

    Parameters
    ----------
    tree : Splits
        Of columns of numbers.
    features : sequence of Feature
        What the columns are.
    """
    write = _Rules(tree, features)
    number = np.full(tree.node_count, -1, dtype=np.intp)
    rules: list[str] = []
    paths: list[tuple[int, ...]] = []
    stack: list[tuple[int, dict[int, _Range], tuple[int, ...]]] = [(0, {}, (0,))]
    while stack:
        node, ranges, path = stack.pop()
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left < 0:
            number[node] = len(rules)
            rules.append(write.rule(ranges))
            paths.append(path)
            continue
        feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
        gaps_left = bool(tree.missing_go_to_left[node])
        now = ranges.get(feature, _Range())
        below = replace(now, high=min(now.high, threshold), gaps=now.gaps and gaps_left)
        above = replace(now, low=max(now.low, threshold), gaps=now.gaps and not gaps_left)
        # The left child is read first, so it is put on the stack last.
        stack.append((right, {**ranges, feature: above}, (*path, right)))
        stack.append((left, {**ranges, feature: below}, (*path, left)))
    # Numbers keep long rules apart where they are cut off, and in the order of the tree.
    width = len(str(len(rules)))
    named: list[str] = [NumberedLabel(f"#{i + 1:0{width}d} {rule}") for i, rule in enumerate(rules)]
    return Leaves(number, named, paths)


class _Rules:
    """Writes the conditions of leaves."""

    def __init__(self, tree: Splits, features: Sequence[Feature]) -> None:
        self._features = features
        inner = tree.children_left >= 0
        self._digits = [
            feature.digits(tree.threshold[inner & (tree.feature == i)].tolist())
            if isinstance(feature, NumberFeature)
            else 0
            for i, feature in enumerate(features)
        ]

    def rule(self, ranges: dict[int, _Range]) -> str:
        """Write the conditions of a leaf, one per column, in the order in which the tree splits."""
        columns: dict[str, list[int]] = {}
        for i in ranges:
            columns.setdefault(self._features[i].name, []).append(i)
        return ", ".join(self._condition(each, ranges) for each in columns.values()) or "all rows"

    def _condition(self, places: list[int], ranges: dict[int, _Range]) -> str:
        """Write what one column must hold; categories may be split in several orders."""
        feature, found = self._features[places[0]], ranges[places[0]]
        gaps = feature.gaps and all(ranges[i].gaps for i in places)
        if isinstance(feature, NumberFeature):
            return feature.condition(found.low, found.high, gaps, self._digits[places[0]])
        assert isinstance(feature, CategoryFeature)
        parts = ((self._features[i], ranges[i]) for i in places)
        sets = [f.inside(r.low, r.high) for f, r in parts if isinstance(f, CategoryFeature)]
        return feature.condition(set.intersection(*sets), gaps)
