"""Cells of a tree as JSON."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import (
    CategoryFeature,
    Cells,
    CellsSummary,
    Feature,
    Grid,
    NumberFeature,
    Splits,
    TreePartition,
)
from ..exceptions import SavedFileError
from ..labels import NumberedLabel
from ._labels import read_labels, write_labels
from ._reader import Node, distinct

__all__ = ["read_cells", "write_cells"]

_MOST_NODES = 1 << 20
#: Nodes on the paths to all leaves, which are held one by one.
_MOST_STEPS = 20_000_000


def write_cells(cells: Cells, settled: Cells) -> Any:
    """Write the cells of a tree.

    Parameters
    ----------
    cells : Cells
        As they were learnt.
    settled : Cells
        The same, with leaves that have no rows put together with others.
    """
    tree = cells.partition
    if not isinstance(tree, TreePartition):
        raise SavedFileError(
            f"The cells were made by {cells.summary.made_by}, and what it learnt is code that a "
            "file of data cannot hold: use cells of a decision tree (an int, or a tree of "
            "scikit-learn), or pickle the sanitiser."
        )
    splits = tree.splits
    place = {label: i for i, label in enumerate(cells.labels)}
    return {
        "labels": list(cells.labels),
        "settled": [place[label] for label in settled.labels],
        "summary": asdict(cells.summary),
        "features": [_write_feature(feature) for feature in tree.features],
        "columns": list(tree.places),
        "tree": {
            "left": splits.children_left.tolist(),
            "right": splits.children_right.tolist(),
            "feature": splits.feature.tolist(),
            "threshold": splits.threshold.tolist(),
            "missing_left": splits.missing_go_to_left.tolist(),
        },
    }


def read_cells(node: Node, names: list[str]) -> tuple[Cells, Cells]:
    """Read cells of the columns with these names, as learnt and settled."""
    labels, settled, summary, features, columns, tree = node.fields(
        "labels", "settled", "summary", "features", "columns", "tree"
    )
    read = [_read_feature(one) for one in features.items(most=10_000)]
    places = columns.integers(0, len(names) - 1, len(read)).tolist()
    for feature, place in zip(read, places, strict=True):
        if feature.name != names[place]:
            raise features.wrong("features of the useful columns")
    how = _read_summary(summary)
    partition = TreePartition(read, places, _read_tree(tree, len(read)), how.made_by, how.n_rows)
    n_cells = len(partition.leaves.paths)
    found = [NumberedLabel(text) for text in labels.texts(n_cells)]
    distinct(found, labels)
    if how.n_cells != n_cells or not how.complete:
        raise summary.wrong(f"that of {n_cells:,} cells, with one for every row")
    cells = Cells(tuple(names), tuple(found), how, partition)
    nearest = settled.integers(0, n_cells - 1, n_cells).tolist()
    return cells, replace(cells, labels=tuple(found[i] for i in nearest))


def _write_feature(feature: Feature) -> Any:
    if isinstance(feature, NumberFeature):
        return {"kind": "number", **asdict(feature)}
    assert isinstance(feature, CategoryFeature)
    order = write_labels(feature.order)
    return {"kind": "category", **asdict(replace(feature, order=())), "order": order}


def _read_feature(node: Node) -> Feature:
    kind = node.members().get("kind", node).choice(["number", "category"])
    if kind == "number":
        _, name, gaps, grid = node.fields("kind", "name", "gaps", "grid")
        return NumberFeature(name.text(), gaps.flag(), _read_grid(grid))
    _, name, gaps, order, fixed = node.fields("kind", "name", "gaps", "order", "fixed")
    labels = read_labels(order)
    distinct(labels, order)
    return CategoryFeature(name.text(), gaps.flag(), tuple(labels), fixed.flag())


def _read_grid(node: Node) -> Grid | None:
    if node.is_null():
        return None
    origin, step, kind = node.fields("origin", "step", "kind")
    width = step.number()
    if width <= 0:
        raise step.wrong("a positive number")
    return Grid(origin.number(), width, kind.choice(list(Grid.KINDS)))


def _read_summary(node: Node) -> CellsSummary:
    n_cells, n_rows, made_by, apart, complete, asked, given = node.fields(
        "n_cells", "n_rows", "made_by", "apart", "complete", "asked", "given"
    )
    return CellsSummary(
        n_cells.whole(1, _MOST_NODES),
        n_rows.whole(0, 2**53),
        made_by.text(1_000),
        apart.flag(),
        complete.flag(),
        None if asked.is_null() else asked.whole(1, 2**53),
        given.flag(),
    )


def _read_tree(node: Node, n_features: int) -> Splits:
    lefts, rights, features, thresholds, gaps = node.fields(
        "left", "right", "feature", "threshold", "missing_left"
    )
    n = len(lefts.items(most=_MOST_NODES))
    left, right = (side.integers(-1, n - 1, n) for side in (lefts, rights))
    inner = left >= 0
    here = np.arange(n)
    # Children come after their parent, so that no path is a circle, and each has one parent.
    children = np.concatenate([left[inner], right[inner]])
    in_order = (left[inner] > here[inner]).all() and (right[inner] > here[inner]).all()
    if (
        not n
        or not in_order
        or ((right >= 0) != inner).any()
        or not np.array_equal(np.sort(children), np.arange(1, n))
    ):
        raise node.wrong("a binary tree with each node behind its parent")
    if _steps(left, right) > _MOST_STEPS:
        raise node.wrong(f"a tree with at most {_MOST_STEPS:,} nodes on the paths to its leaves")
    feature = features.integers(-2, n_features - 1, n)
    if (feature[inner] < 0).any():
        raise features.wrong("the feature of each split")
    return Splits(
        left.astype(np.intp),
        right.astype(np.intp),
        feature.astype(np.intp),
        thresholds.numbers(n),
        gaps.flags(n),
    )


def _steps(left: NDArray[np.int64], right: NDArray[np.int64]) -> int:
    """Return the number of nodes on the paths to all leaves."""
    depth = [1] * left.size
    total = 0
    for node, (one, other) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        if one < 0:
            total += depth[node]
        else:
            depth[one] = depth[other] = depth[node] + 1
    return total
