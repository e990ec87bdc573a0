"""Columns on one scale: standardised numbers and indicators of categories."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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
    """

    def __init__(self, features: Sequence[Feature], matrix: NDArray[np.float32]) -> None:
        self._indicators = [
            min(len(feature.order), _INDICATED) if isinstance(feature, CategoryFeature) else 0
            for feature in features
        ]
        blocks = [self._plain(matrix, place) for place in range(len(features))]
        self._centres = [np.nan_to_num(np.nansum(b, axis=0) / _known(b)) for b in blocks]
        self._scales = [
            float(np.sqrt(np.nansum((block - centre) ** 2) / len(block))) or 1.0
            for block, centre in zip(blocks, self._centres, strict=True)
        ]

    def blocks(self, matrix: NDArray[np.float32]) -> list[FloatArray]:
        """Return the scaled columns of each feature."""
        return [
            np.nan_to_num((self._plain(matrix, place) - centre) / scale)
            for place, (centre, scale) in enumerate(zip(self._centres, self._scales, strict=True))
        ]

    def _plain(self, matrix: NDArray[np.float32], place: int) -> FloatArray:
        values = matrix[:, place, None].astype(float)
        n_indicators = self._indicators[place]
        return (values == np.arange(n_indicators)).astype(float) if n_indicators else values


def _known(block: FloatArray) -> FloatArray:
    """Return how many values of each column are known, at least one."""
    return np.maximum((~np.isnan(block)).sum(axis=0), 1)
