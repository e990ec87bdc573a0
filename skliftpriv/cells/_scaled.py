"""Columns on one scale: standardised numbers and indicators of categories."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from .._arrays import FloatArray
from ._features import CategoryFeature, Feature

__all__ = ["ScaledColumns"]

#: Categories of a column that have an indicator; the others together have none.
_INDICATED = 20


class ScaledColumns:
    """Writes features on one scale, on which every column has a total variance of 1.

    A number is standardised, with its mean for a missing value. The most common categories of a
    column have an indicator each.

    Parameters
    ----------
    features : sequence of Feature
        What the columns are, categories with the most common first.
    matrix : ndarray of shape (n_rows, n_features)
        The rows that the scales are learnt from.

    Attributes
    ----------
    spans : list of slice
        The scaled columns of each feature.
    """

    def __init__(self, features: Sequence[Feature], matrix: NDArray[np.float32]) -> None:
        self._indicators = [
            min(len(feature.order), _INDICATED) if isinstance(feature, CategoryFeature) else 0
            for feature in features
        ]
        places = range(len(features))
        self._scales = [_scale(matrix[:, i].astype(float), self._indicators[i]) for i in places]
        self._centre = np.concatenate([scale.centre for scale in self._scales])
        ends = np.cumsum([0, *(scale.centre.size for scale in self._scales)])
        self.spans = [slice(*map(int, pair)) for pair in pairwise(ends)]

    @property
    def n_columns(self) -> int:
        """Number of scaled columns."""
        return self._centre.size

    def sparse(self, matrix: NDArray[np.float32]) -> csr_array:
        """Return the scaled columns; those of indicators are not centred, so that most are 0."""
        blocks = [self._block(matrix, place) for place in range(len(self._indicators))]
        return csr_array(hstack(blocks))

    def dense(self, matrix: NDArray[np.float32]) -> FloatArray:
        """Return the scaled columns, all of them centred."""
        return np.asarray(self.sparse(matrix).toarray() - self._centre)

    def _block(self, matrix: NDArray[np.float32], place: int) -> csr_array:
        values, n_indicators = matrix[:, place].astype(float), self._indicators[place]
        shift, scale, _ = self._scales[place]
        if not n_indicators:
            return csr_array(np.nan_to_num((values - shift) / scale)[:, None])
        rows = np.flatnonzero(values < n_indicators)  # NaN stands for rare and new values
        entries = np.full(rows.size, 1 / scale)
        shape = (len(values), n_indicators)
        return csr_array((entries, (rows, values[rows].astype(np.intp))), shape=shape)


class _Scale(NamedTuple):
    """What is subtracted from a feature, by what it is divided, and means after that."""

    shift: float
    divisor: float
    centre: FloatArray


def _scale(values: FloatArray, n_indicators: int) -> _Scale:
    if n_indicators:
        common = values[values < n_indicators].astype(np.intp)
        shares = np.bincount(common, minlength=n_indicators) / len(values)
        divisor = float(np.sqrt((shares * (1 - shares)).sum())) or 1.0
        return _Scale(0.0, divisor, shares / divisor)
    known = values[~np.isnan(values)]
    mean = float(known.sum() / max(known.size, 1))
    deviation = float(np.sqrt(((known - mean) ** 2).sum() / len(values)))
    return _Scale(mean, deviation or 1.0, np.zeros(1))
