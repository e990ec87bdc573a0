"""Estimators of scikit-learn as partitions of rows: trees by leaves, others by predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline
from sklearn.tree import BaseDecisionTree, DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import has_fit_parameter

from .._arrays import FloatArray
from .._limits import MOST_OWN_CELLS, refuse_beyond
from ..exceptions import InvalidParameterError
from ..frames import row_slices, rows_of
from ._features import CategoryFeature, Feature, Outcomes, feature_of, features_matrix
from ._rules import Leaves, leaves_of
from ._scaled import ScaledColumns
from ._splits import Splits

__all__ = ["LEAST_ROWS", "Partition", "Sample", "TreePartition", "partition_of"]

Codes = NDArray[np.intp]

#: Rows of a leaf, and of a category that is not counted among other values.
LEAST_ROWS = 30
#: Directions in which the columns differ most, that a tree without a target predicts.
_DIRECTIONS = 16
#: Numbers that an estimator of the user is fitted to at most: 160 MB.
_MOST_NUMBERS = 20_000_000
#: Share of rows whose prediction may change with the other rows, by rounding.
_MOST_UNSTEADY = 0.01
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
        """Number of rows that it was learnt from."""

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
    weight : ndarray or None
        The weight of each row, if they differ.
    """

    names: Sequence[str]
    columns: Sequence[Any]
    sensitive: Codes
    target: Codes | None
    weight: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.sensitive.size

    def thinned(self, most: int) -> Sample:
        """Return so many of the rows at most, chosen at random."""
        if self.n_rows <= most:
            return self
        rows = np.sort(np.random.default_rng(0).choice(self.n_rows, most, replace=False))
        return replace(
            self,
            columns=[rows_of(column, rows) for column in self.columns],
            sensitive=self.sensitive[rows],
            target=None if self.target is None else self.target[rows],
            weight=None if self.weight is None else self.weight[rows],
        )

    def features(self) -> tuple[Feature, ...]:
        """Learn how the columns are written as numbers."""
        pairs = zip(self.names, self.columns, strict=True)
        return tuple(feature_of(name, column, LEAST_ROWS) for name, column in pairs)


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


class PredictedPartition:
    """What any other estimator predicts, such as the clusters of k-means.

    A pipeline gets the columns as a pandas frame. Other estimators get numbers on one scale, see
    :class:`ScaledColumns`, and of a table with more than 200 such columns fewer rows.

    Parameters
    ----------
    estimator : estimator with ``apply``, ``predict`` or ``transform``
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
            sample = sample.thinned(max(_MOST_NUMBERS // self._scaled.n_columns, LEAST_ROWS))
        self.n_rows = sample.n_rows
        self.made_by = type(estimator[-1] if self._raw else estimator).__name__
        table = self._table(sample.columns)
        self._estimator = clone(estimator)
        weight = {}
        if sample.weight is not None and has_fit_parameter(self._estimator, "sample_weight"):
            weight["sample_weight"] = sample.weight
        try:
            self._estimator.fit(
                table, *([] if sample.target is None else [sample.target]), **weight
            )
        except TypeError as error:
            raise InvalidParameterError(
                f"cells={type(estimator).__name__} cannot be fitted: {error}. If it needs a target "
                "y, call fit(X, y)."
            ) from error
        found = self._predicted(table)
        some = found[: len(found) // 2]
        if (self._predicted(table[: some.size]) != some).mean() > _MOST_UNSTEADY:
            raise InvalidParameterError(
                f"cells={type(estimator).__name__} puts rows into other cells when it predicts "
                "fewer of them, or again: the cell of a row must depend on this row only."
            )
        self._values = np.unique(found)
        refuse_beyond(
            MOST_OWN_CELLS,
            self._values.size,
            f"the {type(estimator).__name__} of cells= makes {self._values.size:,} cells",
            "use an estimator with fewer clusters, bins or different predictions",
        )

    @property
    def labels(self) -> list[str]:
        """Numbers of the cells."""
        return [f"cell {value}" for value in self._values]

    def codes(self, columns: Sequence[Any]) -> Codes:
        """Return the cell of each row; -1 for one that was not seen."""
        if not len(columns[0]):
            return np.zeros(0, dtype=np.intp)
        n_columns = len(columns) if self._raw else self._scaled.n_columns
        found = np.concatenate(
            [
                self._predicted(self._table([rows_of(column, part) for column in columns]))
                for part in row_slices(len(columns[0]), n_columns)
            ]
        )
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
        return self._scaled.dense(features_matrix(self._features, columns))

    def _predicted(self, table: Any) -> NDArray[Any]:
        estimator = self._estimator
        last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        if hasattr(last, "apply"):
            inputs = estimator[:-1].transform(table) if isinstance(estimator, Pipeline) else table
            found = np.asarray(last.apply(inputs))
        elif hasattr(estimator, "predict"):
            found = np.asarray(estimator.predict(table))
        else:
            found = _in_bins(estimator.transform(table), type(last).__name__)
        return _checked(found, type(last).__name__, len(table))


def _in_bins(found: Any, name: str) -> NDArray[Any]:
    """Name the combination of bins that a discretiser puts each row into."""
    bins = np.asarray(found.toarray() if issparse(found) else found)
    if bins.ndim != 2 or bins.dtype.kind not in "biuf" or (bins != np.floor(bins)).any():
        raise InvalidParameterError(
            f"cells={name} must put rows into bins with numbers, as "
            "KBinsDiscretizer(encode='ordinal') does, or predict their cells."
        )
    return np.array([" ".join(map(str, row)) for row in bins.astype(int).tolist()])


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
    if pd.isna(found).any():
        raise InvalidParameterError(
            f"cells={name} predicts missing values: use an estimator that puts every row into a "
            "cell."
        )
    if found.dtype.kind == "O":
        kinds = sorted({type(cell).__name__ for cell in found})
        if len(kinds) > 1:
            raise InvalidParameterError(
                f"cells={name} predicts cells of the types {', '.join(kinds)}: use an estimator "
                "that predicts numbers or text."
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
