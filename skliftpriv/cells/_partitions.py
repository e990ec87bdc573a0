"""Partitions of rows: the leaves of decision trees, or what other estimators predict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.tree import BaseDecisionTree, DecisionTreeClassifier, DecisionTreeRegressor

from .._arrays import FloatArray
from ..exceptions import InvalidParameterError
from ._features import CategoryFeature, Feature, Outcomes, features_matrix
from ._predicted import PredictedPartition
from ._rules import Leaves, leaves_of
from ._sample import LEAST_ROWS, Codes, Sample
from ._scaled import ScaledColumns
from ._splits import Splits

__all__ = ["Partition", "TreePartition", "partition_of"]

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
    def n_rows(self) -> int:
        """Number of rows that it was learnt from; 0 if it was known before."""

    @property
    def leaves(self) -> Leaves | None:
        """The leaves of a tree; None for other partitions, which may leave out rows."""

    def codes(self, columns: Sequence[Any]) -> Codes:
        """Return the cell of each row; -1 for one that was not seen."""


class TreePartition:
    """The leaves of a decision tree on ordered features.

    Parameters
    ----------
    features : sequence of Feature
        What the tree splits.
    places : sequence of int
        The column of each feature; one of categories may have two orders.
    splits : Splits
        The nodes of the tree.
    made_by : str
        What made it, in a few words.
    n_rows : int
        Number of rows that it was learnt from.
    """

    def __init__(
        self,
        features: Sequence[Feature],
        places: Sequence[int],
        splits: Splits,
        made_by: str,
        n_rows: int,
    ) -> None:
        self.features = tuple(features)
        self.places = tuple(places)
        self.splits = splits
        self.made_by = made_by
        self.n_rows = n_rows
        self.leaves = leaves_of(splits, self.features)

    @classmethod
    def learn(cls, tree: BaseDecisionTree | int, sample: Sample) -> Self:
        """Learn a tree.

        Parameters
        ----------
        tree : BaseDecisionTree or int
            A tree to be fitted, which is cloned; or the largest number of leaves. The package's
            own tree predicts the sensitive value, too: a mechanism has to mix cells until the
            release says little about S, and loses less if cells differ in what they say about it.
            Its categories have two orders, by what they say about S and about the rest.
        sample : Sample
            What to learn from. Without a target a tree predicts the columns themselves.
        """
        plain = sample.features()
        matrix = features_matrix(plain, sample.columns)
        goal, spans = _goal(sample, plain, matrix)
        own = not isinstance(tree, BaseDecisionTree)
        beside = [_indicators(sample.sensitive)] if own else []
        features: list[Feature] = []
        places: list[int] = []
        for place, feature in enumerate(plain):
            if not isinstance(feature, CategoryFeature):
                orders: list[Feature] = [feature]
            else:
                codes = matrix[:, place]
                found = [feature.ordered_by(codes, goal, spans[place])]
                found += [feature.ordered_by(codes, sensitive) for sensitive in beside]
                orders = list(dict.fromkeys(found))
            features += orders
            places += [place] * len(orders)
        outcome: Any = sample.target
        if outcome is None:
            outcome = _directions(hstack([goal, *map(csr_array, beside)]))
        elif own:
            outcome = np.column_stack([outcome, pooled(sample.sensitive)])
        fitted = _own_tree(tree, sample.target) if own else clone(tree)
        inputs = features_matrix(features, [sample.columns[place] for place in places])
        splits = Splits.of(fitted.fit(inputs, outcome, sample_weight=sample.weight).tree_)
        whole = "the columns" if sample.target is None else "the target"
        named = f"a tree that predicts {whole} and the sensitive value"
        made_by = named if own else type(tree).__name__
        return cls(features, places, splits, made_by, sample.n_rows)

    def _matrix(self, columns: Sequence[Any]) -> NDArray[np.float32]:
        return features_matrix(self.features, [columns[place] for place in self.places])

    @property
    def labels(self) -> list[str]:
        """Rules of the leaves."""
        return self.leaves.rules

    def codes(self, columns: Sequence[Any]) -> Codes:
        """Return the leaf of each row."""
        if not len(columns[0]):
            return np.zeros(0, dtype=np.intp)
        return self.leaves.number[self.splits.apply(self._matrix(columns))]


def partition_of(how: Any, sample: Sample) -> Partition:
    """Learn a partition of rows: at most so many leaves of a tree, or what an estimator finds."""
    if isinstance(how, BaseDecisionTree) or not hasattr(how, "fit"):
        if sample.target is None and isinstance(how, DecisionTreeClassifier):
            raise InvalidParameterError(
                f"cells={type(how).__name__} needs a target: call fit(X, y), or use a regression "
                "tree, which predicts the columns themselves if there is no y."
            )
        return TreePartition.learn(how, sample)
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
) -> tuple[Outcomes, Sequence[slice | None]]:
    """Return what columns are to predict, and which part of it each column itself is.

    That is the target or, without one, all other columns.
    """
    if sample.target is not None:
        return _indicators(sample.target), [None] * len(features)
    scaled = ScaledColumns(features, matrix)
    return scaled.sparse(matrix), scaled.spans


def _directions(outcomes: csr_array) -> FloatArray:
    """Reduce outcomes to the directions in which they differ most."""
    if outcomes.shape[1] <= _DIRECTIONS:
        return np.asarray(outcomes.toarray())
    # This solver does not make the outcomes dense, of which wide tables have thousands.
    return np.asarray(PCA(_DIRECTIONS, svd_solver="arpack", random_state=0).fit_transform(outcomes))
