"""Integer weights: the rows of a channel as whole numbers that sum to 2^62."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from .._arrays import FloatArray
from ..channel import Channel

#: Every row of integer weights sums to this; 62 bits leave room for sums in 64-bit integers.
TOTAL_BITS = 62
TOTAL = 2**TOTAL_BITS

#: Sparse integer weights, rows inputs, columns outputs.
Weights: TypeAlias = csr_array


def quantize(channel: Channel) -> Weights:
    """Round the rows of a channel to integers that sum to 2^62.

    Zeros stay zero and equal rows stay equal; the remainder goes to the largest entry of a row.
    """
    sparse = channel.sparse
    data = np.floor(sparse.data * float(TOTAL)).astype(np.int64)
    weights = csr_array((data, sparse.indices, sparse.indptr), shape=sparse.shape, copy=True)
    fill_up(weights)
    weights.eliminate_zeros()
    return weights


def fill_up(weights: Weights) -> None:
    """Make every row sum to 2^62 by changing its largest entry (the first one in a tie)."""
    starts = weights.indptr[:-1]
    row_of = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    largest = np.maximum.reduceat(weights.data, starts)
    ties = np.flatnonzero(weights.data == largest[row_of])
    _, first = np.unique(row_of[ties], return_index=True)
    weights.data[ties[first]] += TOTAL - np.add.reduceat(weights.data, starts)


def drawn_weights(weights: Weights, p: FloatArray) -> Weights:
    """Integer weights of a draw from the distribution of the output.

    Parameters
    ----------
    weights : csr_array of int64, shape (n_inputs, n_outputs)
        P(Y|input); rows sum to 2^62.
    p : ndarray of shape (n_inputs,)
        Distribution of the inputs.

    Returns
    -------
    csr_array of int64, shape (1, n_outputs)
    """
    first = weights[[0]]
    equal = csr_array(np.ones((weights.shape[0], 1), dtype=np.int64)) @ first
    if weights.nnz == equal.nnz and (weights != equal).nnz == 0:
        return first  # of a constant channel without rounding, as a budget of 0 needs it
    p_y = p @ (weights / TOTAL)
    return quantize(Channel((p_y / p_y.sum())[None, :]))


def without_common(weights: csr_array | csc_array) -> tuple[NDArray[np.int64], csc_array]:
    """Split off the part of every column that all its rows share, and return both parts.

    Mixed channels have such a part in every column; without it few entries are left to multiply.
    """
    columns = csc_array(weights, copy=True)
    common = np.minimum.reduceat(columns.data, columns.indptr[:-1])
    counts = np.diff(columns.indptr)
    common[counts < columns.shape[0]] = 0
    columns.data -= np.repeat(common, counts)
    columns.eliminate_zeros()
    return common, columns
