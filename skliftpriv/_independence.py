"""Perfect privacy: integer weights whose outputs are independent of S.

With a budget of 0 every lift must be exactly 1. Mixing a channel with a constant one only brings
lifts closer to 1, so the columns of the weights are solved for in rational numbers instead. Column
w is independent of S if sum_x P(x|s) w_x is the same for every s.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

import numpy as np
from scipy.sparse import csc_array, csr_array

from ._arrays import FloatArray, exact_integers

__all__ = ["independent_weights"]

# Smaller shares of an output are due to rounding.
_NOISE = 1e-9
# Fractions are slow: this many steps take a few seconds; further outputs are not solved for.
_MOST_STEPS = 3_000_000
# A share of 2^-20 of every free weight is held back for what exact solutions add to a row.
_SPARE_BITS = 20


def independent_weights(masses: FloatArray, weights: csr_array, total: int) -> csr_array:
    """Return weights close to the given ones whose outputs are exactly independent of S.

    Parameters
    ----------
    masses : ndarray of shape (n_sensitive, n_inputs)
        Joint distribution up to scale, taken as exact.
    weights : csr_array of int64, shape (n_inputs, n_outputs)
        Weights that are almost independent of S; rows sum to ``total``.
    total : int
        Sum of every row.

    Returns
    -------
    csr_array of int64
        Weights of the same shape. Mass that could not be placed exactly, because denominators
        exceed ``total`` or it would take too long, goes to one output; in the worst case the
        result is constant.
    """
    rows = _difference_rows(exact_integers(masses))
    columns = csc_array(weights)
    solved = np.zeros(weights.shape, dtype=object)
    steps = 0
    for y in range(weights.shape[1]):
        entries = slice(columns.indptr[y], columns.indptr[y + 1])
        inputs, values = columns.indices[entries], columns.data[entries]
        if not values.size:
            continue
        main = values > _NOISE * values.max()
        steps += len(rows) ** 2 * int(main.sum())
        if steps > _MOST_STEPS:
            break
        solved[inputs[main], y] = _solved(rows[:, inputs[main]], values[main])
    left = total - solved.sum(axis=1)
    while left.min() < 0:  # a row sums to more than total: drop its largest output
        y = int(np.argmax(solved[int(np.argmin(left))]))
        left += solved[:, y]
        solved[:, y] = 0
    # A constant minus independent columns is independent, and so is its sum with one of them.
    solved[:, int(solved.sum(axis=0).argmax())] += left
    return csr_array(solved.astype(np.int64))


def _difference_rows(masses: np.ndarray) -> np.ndarray:
    """Rows r with r.w = 0 iff w has the same mean under P(X|s) for all s, in lowest terms."""
    of_s = masses.sum(axis=1)
    rows = masses[1:] * of_s[0] - masses[:1] * of_s[1:, None]
    divisors = np.array([gcd(*map(int, row)) or 1 for row in rows], dtype=object)
    return np.asarray(rows // divisors[:, None])


def _solved(rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return integers slightly below ``values`` with rows @ result = 0, or zeros."""
    reduced, pivots = _echelon(rows)
    free = [j for j in range(values.size) if j not in pivots]
    result = np.zeros(values.size, dtype=object)
    if not free:
        return result
    denominator = lcm(*(entry.denominator for row in reduced for entry in row))
    for j in free:
        value = int(values[j])
        value -= value >> _SPARE_BITS
        result[j] = value // denominator * denominator
    for row, pivot in zip(reduced, pivots, strict=True):
        result[pivot] = int(-sum((row[j] * result[j] for j in free), Fraction(0)))
    if min(result) < 0:
        return np.zeros(values.size, dtype=object)
    return result


def _echelon(rows: np.ndarray) -> tuple[list[list[Fraction]], list[int]]:
    """Reduced row echelon form without rounding, and the column of each row's leading 1."""
    matrix = [[Fraction(int(entry)) for entry in row] for row in rows]
    pivots: list[int] = []
    for j in range(rows.shape[1]):
        k = len(pivots)
        below = next((i for i in range(k, len(matrix)) if matrix[i][j]), None)
        if below is None:
            continue
        matrix[k], matrix[below] = matrix[below], matrix[k]
        lead = matrix[k][j]
        matrix[k] = [entry / lead for entry in matrix[k]]
        for i, row in enumerate(matrix):
            if i != k and row[j]:
                factor = row[j]
                matrix[i] = [a - factor * b for a, b in zip(row, matrix[k], strict=True)]
        pivots.append(j)
    return matrix[: len(pivots)], pivots
