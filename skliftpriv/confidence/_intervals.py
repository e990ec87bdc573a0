"""Confidence intervals of probabilities, exact for any number of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainccinv, betaincinv

from .._arrays import FloatArray, as_nonnegative, exact_integers
from ..exceptions import InvalidDistributionError
from ..measures._range import Box

__all__ = [
    "RECHECKED",
    "WIDENED",
    "clopper_pearson",
    "exact_box",
    "number_of_intervals",
    "whole_counts",
]

#: Quantiles of the beta distribution are accurate to about 1e-13; intervals are widened by more.
WIDENED = 1e-10
#: And by half as much where a mechanism is certified again: that is as safe, and what was certified
#: for the wider intervals passes although other versions of SciPy differ in the last digits.
RECHECKED = WIDENED / 2
# Doubles represent every integer up to here.
_MOST_ROWS = 2**53


def clopper_pearson(
    successes: ArrayLike, trials: ArrayLike, error: float, widening: float = WIDENED
) -> tuple[FloatArray, FloatArray]:
    """Confidence interval of a probability (Clopper and Pearson 1934).

    The interval is exact: its coverage is at least 1 - error for every probability and every
    number of trials, with half of the error on each side.

    Parameters
    ----------
    successes, trials : array-like of float
        Number of successes and of trials.
    error : float
        Largest probability that the interval misses the true value.
    widening : float
        By what share the interval is widened, for rounding errors.

    Returns
    -------
    low, high : ndarray
    """
    k, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    # Parameters of a beta distribution must be positive, so the ends 0 and 1 are set explicitly.
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, error / 2), 0.0)
    high = np.where(k < n, betainccinv(k + 1, np.maximum(n - k, 1), error / 2), 1.0)
    # SciPy before 1.17 returns NaN for counts in the billions; Hoeffding's bound is valid there.
    rows = np.maximum(n, 1)
    reach = np.sqrt(np.log(2 / error) / (2 * rows))
    low = np.where(np.isnan(low), np.maximum(k / rows - reach, 0.0), low)
    high = np.where(np.isnan(high), np.minimum(k / rows + reach, 1.0), high)
    return low * (1 - widening), np.minimum(high * (1 + widening), 1.0)


def whole_counts(counts: ArrayLike) -> FloatArray:
    """Return a table of counts as an array, or raise an error if it does not hold counts."""
    table = as_nonnegative(counts, "The table of counts", ndim=2)
    if not np.array_equal(table, np.rint(table)):
        raise InvalidDistributionError(
            "A confidence set needs the number of rows in each cell, but the table contains "
            "numbers that are not whole, such as sums of sample weights. Fit without weights, "
            "or use confidence=None."
        )
    if table.sum() > _MOST_ROWS:
        raise InvalidDistributionError(
            f"The table of counts has {table.sum():.3g} rows, more than are counted exactly "
            "(2^53). Use a sample of the rows, or confidence=None."
        )
    if not table.any():
        raise InvalidDistributionError("The table of counts has no rows: all cells are 0.")
    return table


def number_of_intervals(n_s: int, n_x: int) -> int:
    """Count the intervals that share the error; two probabilities that sum to 1 need only one."""
    return n_s * (n_x if n_x > 2 else 1) + (n_s if n_s > 2 else 1)


def exact_box(box: Box) -> Box:
    """Write bounds as integers over a common power of two, the unit of the new box."""
    integers = exact_integers(np.stack([*box.low.ravel(), *box.high.ravel(), 1.0]))
    low, high = integers[:-1].reshape(2, *box.low.shape)
    return Box(low, high, integers[-1])
