"""The splits of a fitted decision tree, without what it counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Splits"]


@dataclass(frozen=True, eq=False)
class Splits:
    """Nodes of a binary tree: which way a row goes at each, and nothing about the rows seen.

    A tree of scikit-learn also holds how often each sensitive value and class occurred at every
    node. That is not needed to put rows into leaves, and must not go where rows are released.

    Attributes
    ----------
    children_left, children_right : ndarray of int, shape (n_nodes,)
        The next nodes; -1 at a leaf.
    feature : ndarray of int, shape (n_nodes,)
        The column that a node splits.
    threshold : ndarray of float, shape (n_nodes,)
        Rows up to this number go left.
    missing_go_to_left : ndarray of bool, shape (n_nodes,)
        Whether rows without a number (NaN) go left.
    """

    children_left: NDArray[np.intp]
    children_right: NDArray[np.intp]
    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    missing_go_to_left: NDArray[np.bool_]

    @classmethod
    def of(cls, tree: Any) -> Self:
        """Copy the splits of the ``tree_`` of a decision tree of scikit-learn."""
        return cls(
            np.array(tree.children_left, dtype=np.intp),
            np.array(tree.children_right, dtype=np.intp),
            np.array(tree.feature, dtype=np.intp),
            np.array(tree.threshold, dtype=np.float64),
            np.array(tree.missing_go_to_left, dtype=bool),
        )

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return self.feature.size

    def apply(self, matrix: NDArray[np.float32]) -> NDArray[np.intp]:
        """Return the leaf of each row, as ``apply`` of the tree does."""
        node = np.zeros(len(matrix), dtype=np.intp)
        if self.children_left[0] < 0:
            return node
        flat, width = np.ascontiguousarray(matrix).ravel(), matrix.shape[1]
        # Rows that are still on their way, one level of the tree at a time.
        rows = np.arange(len(matrix))
        here = node.copy()
        while rows.size:
            value = flat.take(rows * width + self.feature.take(here))
            left = value <= self.threshold.take(here)
            gaps = np.isnan(value)
            if gaps.any():
                left[gaps] = self.missing_go_to_left[here[gaps]]
            here = np.where(left, self.children_left.take(here), self.children_right.take(here))
            inner = self.children_left.take(here) >= 0
            node[rows[~inner]] = here[~inner]
            rows, here = rows[inner], here[inner]
        return node
