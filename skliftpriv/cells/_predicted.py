"""Estimators of scikit-learn other than trees as partitions of rows, by what they predict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._limits import MOST_OWN_CELLS, refuse_beyond
from ..exceptions import InvalidParameterError
from ..frames import row_slices, rows_of
from ._features import features_matrix
from ._sample import LEAST_ROWS, Codes, Sample
from ._scaled import ScaledColumns

__all__ = ["PredictedPartition"]

#: Numbers that an estimator of the user is fitted to at most: 160 MB.
_MOST_NUMBERS = 20_000_000
#: Share of rows whose prediction may change with the other rows, by rounding.
_MOST_UNSTEADY = 0.01
#: Rows that are also predicted one by one, of which one may change.
_SINGLE_ROWS = 5


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
        frozen = isinstance(estimator, FrozenEstimator)  # what it knows was learnt before
        estimator = estimator.estimator if frozen else estimator
        self._raw = isinstance(estimator, Pipeline)
        if not self._raw:
            self._features = sample.features()
            matrix = features_matrix(self._features, sample.columns)
            self._scaled = ScaledColumns(self._features, matrix)
            sample = sample.thinned(max(_MOST_NUMBERS // self._scaled.n_columns, LEAST_ROWS))
        self.n_rows = 0 if frozen else sample.n_rows
        self.made_by = type(estimator[-1] if self._raw else estimator).__name__
        table = self._table(sample.columns)
        self._estimator = estimator if frozen else _fitted(clone(estimator), table, sample)
        found = self._predicted(table)
        if not self._steady(table, found):
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

    def _steady(self, table: Any, found: NDArray[Any]) -> bool:
        """Tell whether parts of the rows, and single ones, are predicted as all of them were."""
        n = len(found)
        for half in (slice(0, n // 2), slice(n // 2, n)):
            if (self._predicted(table[half]) != found[half]).mean() > _MOST_UNSTEADY:
                return False
        some = np.linspace(0, n - 1, _SINGLE_ROWS).astype(int)
        alone = [self._predicted(table[i : i + 1])[0] != found[i] for i in some]
        return sum(alone) <= 1

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


def _fitted(estimator: Any, table: Any, sample: Sample) -> Any:
    """Fit an estimator of the user to the rows, and to the target if there is one."""
    weight = {}
    if sample.weight is not None and has_fit_parameter(estimator, "sample_weight"):
        weight["sample_weight"] = sample.weight
    try:
        return estimator.fit(table, *([] if sample.target is None else [sample.target]), **weight)
    except TypeError as error:
        raise InvalidParameterError(
            f"cells={type(estimator).__name__} cannot be fitted: {error}. If it needs a target "
            "y, call fit(X, y)."
        ) from error


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
