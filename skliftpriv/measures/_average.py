"""Leakage and utility averaged over the outputs: information measures of a joint distribution.

Every function takes a joint distribution of shape (..., n_rows, n_columns) and returns an array
of shape (...). For leakage the rows are sensitive symbols, for utility useful ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, rel_entr, xlogy

from .._arrays import FloatArray, as_nonnegative
from ._lift import check_joint, check_order, chi2_lift, l1_lift

__all__ = [
    "arimoto_mutual_information",
    "chi2_divergence",
    "entropy",
    "maximal_leakage",
    "min_entropy_leakage",
    "mutual_information",
    "nmi",
    "nmil",
    "sibson_mutual_information",
    "total_variation",
]


def entropy(probabilities: ArrayLike) -> FloatArray:
    """Shannon entropy in nats over the last axis."""
    return np.asarray(entr(as_nonnegative(probabilities, "The distribution")).sum(axis=-1))


def mutual_information(joint: ArrayLike) -> FloatArray:
    """Mutual information in nats between the row and the column variable."""
    p, p_row, p_column = _with_marginals(joint)
    # Conditioning on the rows first avoids underflow of the product of two tiny margins.
    given_row = _divide(p, p_row[..., :, None])
    divergence = rel_entr(given_row, p_column[..., None, :]).sum(axis=-1)
    # A relative entropy is non-negative; rounding may leave -1e-17.
    return np.maximum((p_row * divergence).sum(axis=-1), 0.0)


def nmi(joint: ArrayLike) -> FloatArray:
    """Normalised mutual information I(X;Y) / H(X) of rows X and columns Y.

    It is 1 for a constant X.
    """
    p, p_row, _ = _with_marginals(joint)
    total = entropy(p_row)
    kept = mutual_information(p)
    # Not "total > 0": the entropy of a margin that sums to 1 - 1e-16 is not quite 0.
    varies = (p_row > 0).sum(axis=-1) > 1
    share = np.divide(kept, total, out=np.ones_like(total), where=varies & (total > 0))
    return np.minimum(share, 1.0)


def nmil(joint: ArrayLike) -> FloatArray:
    """Normalised mutual information loss 1 - NMI (Sadeghi, Ding and Rakotoarivelo 2020, eq. 9)."""
    return np.asarray(1.0 - nmi(joint))


def total_variation(joint: ArrayLike) -> FloatArray:
    """Mean total variation distance between P(S|Y) and P(S): half the mean l1-lift."""
    p, _, p_column = _with_marginals(joint)
    return np.asarray(0.5 * (p_column * l1_lift(p)).sum(axis=-1))


def chi2_divergence(joint: ArrayLike) -> FloatArray:
    """Mean chi2-lift: the chi-square divergence of the joint from the product of its margins."""
    p, _, p_column = _with_marginals(joint)
    return np.asarray((p_column * chi2_lift(p)).sum(axis=-1))


def sibson_mutual_information(joint: ArrayLike, alpha: float) -> FloatArray:
    """Sibson's mutual information of order alpha in [1, inf].

    Order 1 is mutual information and order infinity is maximal leakage (Zarrabian, Ding and
    Sadeghi 2022, eq. 13-17). Orders close to these limits do not lose precision.
    """
    check_order(alpha)
    p, p_row, p_column = _with_marginals(joint)
    if alpha == 1:
        return mutual_information(p)
    posterior = _divide(p, p_column[..., None, :])
    ratio = _divide(posterior, p_row[..., :, None])
    if np.isinf(alpha):
        return np.log((p_column * ratio.max(axis=-2)).sum(axis=-1))
    # sum_s P(s) l^alpha = 1 + sum_s P(s|y) (l^(alpha-1) - 1)
    growth = _log_moment(posterior, ratio, alpha, axis=-2)
    return _outer_mean(p_column, growth, alpha)


def arimoto_mutual_information(joint: ArrayLike, alpha: float) -> FloatArray:
    """Arimoto's mutual information of order alpha in [1, inf], also known as alpha-leakage.

    Order 1 is mutual information and order infinity is min-entropy leakage
    (Zarrabian, Ding and Sadeghi 2022, eq. 11 and 16).
    """
    check_order(alpha)
    p, p_row, p_column = _with_marginals(joint)
    if alpha == 1:
        return mutual_information(p)
    if np.isinf(alpha):
        return np.log(p.max(axis=-2).sum(axis=-1) / p_row.max(axis=-1))
    posterior = _divide(p, p_column[..., None, :])
    prior_growth = _log_moment(p_row, p_row, alpha, axis=-1)
    growth = _log_moment(posterior, posterior, alpha, axis=-2) - prior_growth[..., None]
    return _outer_mean(p_column, growth, alpha)


def maximal_leakage(joint: ArrayLike) -> FloatArray:
    """Maximal leakage: log of the mean max-lift, Sibson's order infinity."""
    return sibson_mutual_information(joint, np.inf)


def min_entropy_leakage(joint: ArrayLike) -> FloatArray:
    """Min-entropy leakage: how much the best single guess of S improves, in nats."""
    return arimoto_mutual_information(joint, np.inf)


def _with_marginals(joint: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    masses = check_joint(joint)
    total = masses.sum(axis=(-2, -1), keepdims=True)
    p = _divide(masses, total)
    return p, p.sum(axis=-1), p.sum(axis=-2)


def _divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Quotient, or 0 where the denominator (and hence the numerator) is 0."""
    zeros = np.zeros(np.broadcast_shapes(numerator.shape, denominator.shape))
    return np.divide(numerator, denominator, out=zeros, where=denominator > 0)


def _log_moment(weight: FloatArray, base: FloatArray, alpha: float, axis: int) -> FloatArray:
    """Log of sum weight * base^(alpha-1) for weights that sum to 1, exact near alpha = 1."""
    power = xlogy(alpha - 1.0, base)
    largest = np.where(weight > 0, power, -np.inf).max(axis=axis, keepdims=True)
    return _log_mean_exp(weight, power, largest, axis)


def _outer_mean(p_column: FloatArray, growth: FloatArray, alpha: float) -> FloatArray:
    """alpha/(alpha-1) log sum_y P(y) exp(growth_y / alpha), exact near alpha = 1."""
    scaled = growth / alpha
    largest = np.where(p_column > 0, scaled, -np.inf).max(axis=-1, keepdims=True)
    result = alpha / (alpha - 1.0) * _log_mean_exp(p_column, scaled, largest, -1)
    return np.maximum(result, 0.0)


def _log_mean_exp(
    weight: FloatArray, power: FloatArray, largest: FloatArray, axis: int
) -> FloatArray:
    """Log of sum weight * exp(power) for weights that sum to 1; 0 where all weights are 0.

    Far from power = 0 the largest power is factored out to avoid overflow. Near 0 the sum is
    close to 1 and only expm1 keeps its digits; far from 0 this form would lose them if nearly all
    weight is on vanishing terms.
    """
    far = np.abs(largest) > 1.0
    shift = np.where(far & np.isfinite(largest), largest, 0.0)
    occurs = weight > 0
    exponent = np.where(occurs, power - shift, -np.inf)
    near_log = np.log1p(np.where(occurs, weight * np.expm1(exponent), 0.0).sum(axis=axis))
    with np.errstate(divide="ignore"):
        far_log = np.log((weight * np.exp(exponent)).sum(axis=axis))
    result = np.where(np.squeeze(far, axis=axis), far_log, near_log) + np.squeeze(shift, axis=axis)
    return np.asarray(np.where(occurs.any(axis=axis), result, 0.0))
