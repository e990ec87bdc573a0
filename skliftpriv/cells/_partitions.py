"""Estimators of scikit-learn as partitions of rows: trees by leaves, others by predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline
from sklearn.tree import BaseDecisionTree, DecisionTreeClassifier, DecisionTreeRegressor

from .._arrays import FloatArray
from ..exceptions import InvalidParameterError
from ._features import CategoryFeature, Feature, feature_of, features_matrix
from ._rules import Leaves, leaves_of
from ._scaled import ScaledColumns

__all__ = ["LEAST_ROWS", "Partition", "Sample", "partition_of"]

Codes = NDArray[np.intp]

#: Rows of a leaf, and of a category that is not counted among other values.
LEAST_ROWS = 30
#: Directions in which the columns differ most, that a tree without a target predicts.
_DIRECTIONS = 16
#: Sensitive values and classes that a tree tells apart; the others count as one.
_COMMON = 20


class Partition(Protocol):
    """Puts rows into cells."""

    @property
    def labels(self) -> list[str]:
        """Names of the cells."""

    @property
    def made_by(self) -> str:
        """What made the partition, in a few words."""

    @property
    def leaves(self) -> Leaves | None:
        """The leaves of a tree; None for other partitions, which may leave out rows."""

    def codes(self, columns: Sequence[Any]) -> Codes:
        """Return the cell of each row; -1 for one that was not seen."""


@dataclass(frozen=True)
class Sample:
    """Rows to learn cells from.

    Attributes
    ----------
    names : sequence of str
        Names of the columns.
    columns : sequence of columns
        The rows.
    sensitive : ndarray of int
        The sensitive value of each row.
    target : ndarray of int or None
        The class of each row, if there is a target.
    """

    names: Sequence[str]
    columns: Sequence[Any]
    sensitive: Codes
    target: Codes | None

    def features(self) -> tuple[Feature, ...]:
        """Learn how the columns are written as numbers."""
        pairs = zip(self.names, self.columns, strict=True)
        return tuple(feature_of(name, column, LEAST_ROWS) for name, column in pairs)


class TreePartition:
    """The leaves of a decision tree on ordered features.

    Parameters
    ----------
    tree : BaseDecisionTree or int
        A tree to be fitted, which is cloned; or the largest number of leaves. The package's own
        tree predicts the sensitive value, too: a mechanism has to mix cells until the release says
        little about S, and loses less if cells differ in what they say about it. Its categories
        have two orders, by what they say about S and about the rest.
    sample : Sample
        What to learn from. Without a target a tree predicts the columns themselves.
    """

    def __init__(self, tree: BaseDecisionTree | int, sample: Sample) -> None:
        plain = sample.features()
        matrix = features_matrix(plain, sample.columns)
        goal, spans = _goal(sample, plain, matrix)
        own = not isinstance(tree, BaseDecisionTree)
        beside = [_indicators(sample.sensitive)] if own else []
        self._features: list[Feature] = []
        self._places: list[int] = []  # the column of each feature
        for place, feature in enumerate(plain):
            if not isinstance(feature, CategoryFeature):
                orders: list[Feature] = [feature]
            else:
                codes = matrix[:, place]
                found = [feature.ordered_by(codes, goal, spans[place])]
                found += [feature.ordered_by(codes, sensitive) for sensitive in beside]
                orders = list(dict.fromkeys(found))
            self._features += orders
            self._places += [place] * len(orders)
        outcome: Any = sample.target
        if outcome is None:
            outcome = _directions(np.hstack([goal, *beside]))
        elif own:
            outcome = np.column_stack([outcome, pooled(sample.sensitive)])
        fitted = _own_tree(tree, sample.target) if own else clone(tree)
        self._tree = fitted.fit(self._matrix(sample.columns), outcome)
        self.leaves = leaves_of(self._tree.tree_, self._features)
        whole = "the columns" if sample.target is None else "the target"
        named = f"a tree that predicts {whole} and the sensitive value"
        self.made_by = named if own else type(tree).__name__

    def _matrix(self, columns: Sequence[Any]) -> NDArray[np.float32]:
        return features_matrix(self._features, [columns[place] for place in self._places])

    @property
    def labels(self) -> list[str]:
        """Rules of the leaves."""
        return self.leaves.rules

    def codes(self, columns: Sequence[Any]) -> Codes:
        """Return the leaf of each row."""
        if not len(columns[0]):
            return np.zeros(0, dtype=np.intp)
        return self.leaves.number[self._tree.apply(self._matrix(columns))]


class PredictedPartition:
    """What any other estimator predicts, such as the clusters of k-means.

    A pipeline gets the columns as a pandas frame. Other estimators get numbers on one scale, see
    :class:`ScaledColumns`.

    Parameters
    ----------
    estimator : estimator with ``apply`` or ``predict``
        To be fitted; it is cloned.
    sample : Sample
        What to learn from.
    """

    leaves = None

    def __init__(self, estimator: Any, sample: Sample) -> None:
        self._names = tuple(sample.names)
        self._raw = isinstance(estimator, Pipeline)
        if not self._raw:
            self._features = sample.features()
            matrix = features_matrix(self._features, sample.columns)
            self._scaled = ScaledColumns(self._features, matrix)
        self.made_by = type(estimator[-1] if self._raw else estimator).__name__
        table = self._table(sample.columns)
        self._estimator = clone(estimator)
        try:
            self._estimator.fit(table, *([] if sample.target is None else [sample.target]))
        except TypeError as error:
            raise InvalidParameterError(
                f"cells={type(estimator).__name__} cannot be fitted: {error}. If it needs a target "
                "y, call fit(X, y)."
            ) from error
        self._values = np.unique(self._predicted(table))

    @property
    def labels(self) -> list[str]:
        """Numbers of the cells."""
        return [f"cell {value}" for value in self._values]

    def codes(self, columns: Sequence[Any]) -> Codes:
        """Return the cell of each row; -1 for one that was not seen."""
        if not len(columns[0]):
            return np.zeros(0, dtype=np.intp)
        found = self._predicted(self._table(columns))
        place = np.minimum(np.searchsorted(self._values, found), self._values.size - 1)
        return np.where(self._values[place] == found, place, -1)

    def _table(self, columns: Sequence[Any]) -> Any:
        if self._raw:
            return pd.DataFrame(
                {
                    name: column.to_pandas() if isinstance(column, nw.Series) else column
                    for name, column in zip(self._names, columns, strict=True)
                }
            )
        return np.hstack(self._scaled.blocks(features_matrix(self._features, columns)))

    def _predicted(self, table: Any) -> NDArray[Any]:
        estimator = self._estimator
        last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        if hasattr(last, "apply"):
            inputs = estimator[:-1].transform(table) if isinstance(estimator, Pipeline) else table
            found = np.asarray(last.apply(inputs))
        else:
            found = np.asarray(estimator.predict(table))
        return _checked(found, type(last).__name__, len(table))


def _checked(found: NDArray[Any], name: str, n_rows: int) -> NDArray[Any]:
    """Refuse predictions that are not one cell for each row."""
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim > 1:
        raise InvalidParameterError(
            f"cells={name} puts each row into {found.shape[1]} cells: use an estimator that puts "
            "it into one, such as a single tree."
        )
    if found.shape != (n_rows,):
        raise InvalidParameterError(
            f"cells={name} must predict a cell for each of {n_rows:,} rows, but it predicts an "
            f"array of shape {found.shape}."
        )
    if found.dtype.kind == "O":
        kinds = sorted({type(cell).__name__ for cell in found})
        if len(kinds) > 1 or kinds == ["NoneType"]:
            raise InvalidParameterError(
                f"cells={name} predicts cells of the types {', '.join(kinds)}: use an estimator "
                "that predicts numbers or text."
            )
    if found.dtype.kind == "f" and np.isnan(found).any():
        raise InvalidParameterError(
            f"cells={name} predicts missing values (NaN): use an estimator that puts every row "
            "into a cell."
        )
    return found


def partition_of(how: Any, sample: Sample) -> Partition:
    """Learn a partition of rows: at most so many leaves of a tree, or what an estimator finds."""
    if isinstance(how, BaseDecisionTree) or not hasattr(how, "fit"):
        if sample.target is None and isinstance(how, DecisionTreeClassifier):
            raise InvalidParameterError(
                f"cells={type(how).__name__} needs a target: call fit(X, y), or use a regression "
                "tree, which predicts the columns themselves if there is no y."
            )
        return TreePartition(how, sample)
    return PredictedPartition(how, sample)


def pooled(codes: Codes) -> Codes:
    """Return numbers for the most common values, and one number for all others."""
    counts = np.bincount(codes)
    common = np.argsort(-counts, kind="stable")[:_COMMON]
    place = np.full(counts.size, common.size, dtype=np.intp)
    place[common] = np.arange(common.size)
    return place[codes]


def _own_tree(n_leaves: int, target: Codes | None) -> BaseDecisionTree:
    options = {
        "max_leaf_nodes": n_leaves,
        "min_samples_leaf": LEAST_ROWS,
        "random_state": 0,  # decides between equal splits only
    }
    if target is None:
        return DecisionTreeRegressor(**options)
    return DecisionTreeClassifier(criterion="entropy", **options)


def _indicators(codes: Codes) -> FloatArray:
    """Return an indicator of each common value, scaled so that their total variance is 1."""
    places = pooled(codes)
    columns = (places[:, None] == np.arange(places.max() + 1)).astype(float)
    deviation = float(np.sqrt(columns.var(axis=0).sum()))
    return np.asarray((columns - columns.mean(axis=0)) / (deviation or 1.0))


def _goal(
    sample: Sample, features: Sequence[Feature], matrix: NDArray[np.float32]
) -> tuple[FloatArray, list[slice | None]]:
    """Return what columns are to predict, and which part of it each column itself is.

    That is the target or, without one, all other columns.
    """
    if sample.target is not None:
        return _indicators(sample.target), [None] * len(features)
    blocks = ScaledColumns(features, matrix).blocks(matrix)
    ends = np.cumsum([0, *(block.shape[1] for block in blocks)])
    return np.hstack(blocks), [slice(*pair) for pair in pairwise(ends)]


def _directions(outcomes: FloatArray) -> FloatArray:
    """Reduce outcomes to the directions in which they differ most."""
    if outcomes.shape[1] <= _DIRECTIONS:
        return outcomes
    return np.asarray(PCA(_DIRECTIONS, random_state=0).fit_transform(outcomes))
