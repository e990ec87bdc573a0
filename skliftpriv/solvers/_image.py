"""What is to be kept of the input: its linear image, whose entropy an output costs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import entr

from .._arrays import FloatArray

IntArray = npt.NDArray[np.intp]

_FLOOR = 1e-4
"""Smaller entries are linearised at this value: the slope of -t log t at 0 is infinite."""
_SPARSE = 0.1
"""Share of entries other than 0 up to which U is multiplied as a sparse matrix."""
_NOTHING = 1e-12
"""Information below this, relative to the entropy, is due to rounding."""


def plogp(t: FloatArray) -> FloatArray:
    """Return -t log t elementwise; negative values, which linear programs may leave, count as 0."""
    return np.asarray(entr(np.maximum(t, 0.0)))


def entropy(v: FloatArray) -> FloatArray:
    """Return the natural-log entropy along the last axis."""
    return plogp(v).sum(axis=-1)


def clean(v: FloatArray) -> FloatArray:
    """Set rounding errors in posteriors to 0 and rescale them to sum 1."""
    v = np.where(v > 1e-12, v, 0.0)
    return np.asarray(v / v.sum(axis=-1, keepdims=True))


def first_rows(rows: FloatArray | csr_array) -> IntArray:
    """Return for each row the number of the first one that is equal to it, as 0, 1, 2, ..."""
    known: dict[bytes, int] = {}  # far faster than np.unique on thousands of long rows
    keys: Iterable[bytes] = (row.tobytes() for row in rows)
    if isinstance(rows, csr_array):
        rows = csr_array(rows.sorted_indices())  # a copy: others may share the indices
        parts = (slice(*ends) for ends in pairwise(rows.indptr))
        keys = (rows.indices[part].tobytes() + rows.data[part].tobytes() for part in parts)
    return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.intp)


def sums_of_groups(array: FloatArray, group_of: IntArray, axis: int) -> FloatArray:
    """Add up the rows (axis 0) or columns (axis 1) of each group; no group is empty."""
    order = np.argsort(group_of, kind="stable")
    first = np.flatnonzero(np.diff(group_of[order], prepend=-1))
    return np.asarray(np.add.reduceat(np.take(array, order, axis=axis), first, axis=axis))


class Image:
    """The linear image u = U v of a posterior v whose entropy an output costs.

    Parameters
    ----------
    matrix : ndarray of shape (k, n) or None
        U, with columns that are distributions; None for the identity.
    """

    def __init__(self, matrix: FloatArray | None = None) -> None:
        self.matrix = matrix

    @property
    def identity(self) -> bool:
        """Whether the image of a posterior is the posterior itself."""
        return self.matrix is None

    @cached_property
    def symbols(self) -> IntArray | None:
        """The only part that each input is mapped to, or None if some have several.

        The identity maps every input to itself.
        """
        if self.matrix is None or not np.all((self.matrix == 0) | (self.matrix == 1)):
            return None
        return self.matrix.argmax(axis=0)

    @property
    def n_mixed(self) -> int:
        """Number of parts that an input can be mapped to at once."""
        return 1 if self.matrix is None or self.symbols is not None else len(self.matrix)

    @cached_property
    def _sparse(self) -> csr_array | None:
        """U as a sparse matrix if most of its entries are 0, as for pairs (s, x)."""
        if self.matrix is None or np.count_nonzero(self.matrix) > _SPARSE * self.matrix.size:
            return None
        return csr_array(self.matrix)

    def of(self, v: FloatArray) -> FloatArray:
        """Return the images of posteriors, one per row."""
        if self.matrix is None:
            return v
        if self._sparse is not None:
            return np.ascontiguousarray((self._sparse @ v.T).T)
        return v @ self.matrix.T

    def pulled_back(self, cost: FloatArray) -> FloatArray:
        """Turn linear functions of the image into linear functions of the posterior."""
        return cost if self.matrix is None else cost @ self.matrix

    def entropy(self, v: FloatArray | csr_array) -> FloatArray:
        """Return the entropies of the images of posteriors, which may be sparse."""
        if isinstance(v, csr_array) and self.identity:
            return np.asarray(csr_array((plogp(v.data), v.indices, v.indptr), v.shape).sum(axis=1))
        return entropy(self.of(v))

    def slopes(self, v: FloatArray, floor: float = _FLOOR) -> FloatArray:
        """Return the slopes of H(U v) at v, up to a constant that sum v = 1 makes irrelevant.

        Those of parts below ``floor`` are taken there, because the slope at 0 is infinite.
        """
        return self.pulled_back(-np.log(np.maximum(self.of(v), floor)))


class Scale(NamedTuple):
    """From the conditional entropy of a solution to the share of information that it keeps."""

    constant: float  # the conditional entropy of a constant output, in nats
    everything: float  # that of an output that reveals the input

    @property
    def information(self) -> float:
        """What the input tells about what is to be kept, in nats."""
        return max(self.constant - self.everything, 0.0)

    def kept(self, conditional_entropy: float) -> float:
        """Return the share that is kept; 1 if there is nothing to keep."""
        if self.information <= _NOTHING * max(1.0, self.constant):
            return 1.0
        return float(min(1.0, max(0.0, (self.constant - conditional_entropy) / self.information)))
