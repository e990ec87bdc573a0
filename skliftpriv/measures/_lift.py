"""Leakage of every single output: the lift and measures based on it, vectorised over batches.

Every function takes a joint distribution P_SY of shape (..., n_sensitive, n_outputs) and
returns one value per output, shape (..., n_outputs). Pass ``p_s`` if the columns are only some
of the outputs, because the prior of S is then not the row sums. In this case the columns need
not be normalised: the lift of a column does not depend on its scale.

Symbols and outputs without mass never occur; their lift is set to 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from .._arrays import SUM_TOLERANCE, FloatArray, as_nonnegative
from ..exceptions import InvalidDistributionError, InvalidParameterError

__all__ = [
    "alpha_lift",
    "alpha_lift_inverse",
    "chi2_lift",
    "chi2_lift_inverse",
    "l1_lift",
    "l1_lift_inverse",
    "ldp_ratio",
    "lift",
    "log_lift",
    "max_lift",
    "min_lift",
]


def lift(joint: ArrayLike, *, p_s: ArrayLike | None = None) -> FloatArray:
    """Lift P(s|y) / P(s) of every pair of a sensitive symbol and an output.

    Parameters
    ----------
    joint : array-like of shape (..., n_sensitive, n_outputs)
        Joint distribution of S and Y, or some of its columns.
    p_s : array-like of shape (..., n_sensitive), optional
        Prior of S, by default the row sums of ``joint``.

    Returns
    -------
    ndarray of shape (..., n_sensitive, n_outputs)

    Examples
    --------
    >>> from skliftpriv import measures
    >>> measures.lift([[0.3, 0.1], [0.1, 0.5]]).round(3)
    array([[1.875, 0.417],
           [0.417, 1.389]])
    """
    return _lift_and_prior(joint, p_s)[0]


def log_lift(joint: ArrayLike, *, p_s: ArrayLike | None = None) -> FloatArray:
    """Natural logarithm of the lift; minus infinity where a pair never occurs."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(lift(joint, p_s=p_s)))


def min_lift(joint: ArrayLike, *, p_s: ArrayLike | None = None) -> FloatArray:
    """Smallest lift Psi(y) of each output (Zarrabian, Ding and Sadeghi 2023, eq. 2)."""
    return np.asarray(lift(joint, p_s=p_s).min(axis=-2))


def max_lift(joint: ArrayLike, *, p_s: ArrayLike | None = None) -> FloatArray:
    """Largest lift Lambda(y) of each output (Zarrabian, Ding and Sadeghi 2023, eq. 2)."""
    return np.asarray(lift(joint, p_s=p_s).max(axis=-2))


def ldp_ratio(joint: ArrayLike, *, p_s: ArrayLike | None = None) -> FloatArray:
    """Ratio Gamma(y) of the largest to the smallest P(y|s): exp(epsilon) of local DP."""
    return ratio(lift(joint, p_s=p_s))


def l1_lift(joint: ArrayLike, *, p_s: ArrayLike | None = None) -> FloatArray:
    """Mean of ``|lift - 1|`` under P_S for each output (Zarrabian et al. 2023, eq. 31)."""
    return mean_distance(*_lift_and_prior(joint, p_s), power=1)


def chi2_lift(joint: ArrayLike, *, p_s: ArrayLike | None = None) -> FloatArray:
    """Mean of (lift - 1)^2 under P_S for each output (Zarrabian et al. 2023, eq. 32)."""
    return mean_distance(*_lift_and_prior(joint, p_s), power=2)


def alpha_lift(joint: ArrayLike, alpha: float, *, p_s: ArrayLike | None = None) -> FloatArray:
    """Power mean of order alpha >= 1 of the lift under P_S (Zarrabian et al. 2023, eq. 33)."""
    return np.exp(log_power_mean(*_lift_and_prior(joint, p_s), check_order(alpha)))


def l1_lift_inverse(joint: ArrayLike, *, p_s: ArrayLike | None = None) -> FloatArray:
    """Mean of ``|1/lift - 1|`` under P_S for each output (Zarrabian et al. 2023, eq. 34)."""
    value, prior = _lift_and_prior(joint, p_s)
    return mean_distance(inverse(value), prior, power=1)


def chi2_lift_inverse(joint: ArrayLike, *, p_s: ArrayLike | None = None) -> FloatArray:
    """Mean of (1/lift - 1)^2 under P_S for each output (Zarrabian et al. 2023, eq. 35)."""
    value, prior = _lift_and_prior(joint, p_s)
    return mean_distance(inverse(value), prior, power=2)


def alpha_lift_inverse(
    joint: ArrayLike, alpha: float, *, p_s: ArrayLike | None = None
) -> FloatArray:
    """Power mean of order alpha >= 1 of 1/lift under P_S (Zarrabian et al. 2023, eq. 36)."""
    value, prior = _lift_and_prior(joint, p_s)
    return np.exp(log_power_mean(inverse(value), prior, check_order(alpha)))


# ---- kernels on lifts of shape (..., n_sensitive, n_outputs) and priors (..., n_sensitive)


def lift_of_columns(columns: FloatArray, p_s: FloatArray) -> FloatArray:
    """Lift of unnormalised columns with positive mass, unchecked: the inner loop of searches."""
    return columns / (columns.sum(axis=-2, keepdims=True) * p_s[..., :, None])


def inverse(value: FloatArray) -> FloatArray:
    """1/lift, infinite where the lift is 0."""
    with np.errstate(divide="ignore"):
        return 1.0 / value


def ratio(value: FloatArray) -> FloatArray:
    """Largest over smallest lift, infinite where the smallest is 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(value.max(axis=-2) / value.min(axis=-2))


def mean_distance(value: FloatArray, prior: FloatArray, power: int) -> FloatArray:
    """Mean over S of |value - 1| to the power 1 or 2."""
    distance = np.abs(value - 1.0) if power == 1 else (value - 1.0) ** 2
    weight = prior[..., :, None]
    # A symbol s without mass has lift 1 by convention and must not turn 0 * inf into NaN.
    return np.asarray(np.where(weight > 0, weight * distance, 0.0).sum(axis=-2))


def log_power_mean(value: FloatArray, prior: FloatArray, alpha: float) -> FloatArray:
    """Log of the power mean of order alpha over S, without overflow for large alpha."""
    with np.errstate(divide="ignore"):
        logs = np.log(value)
    if np.isinf(alpha):
        return np.asarray(logs.max(axis=-2))
    weight = np.broadcast_to(prior[..., :, None], logs.shape)
    return np.asarray(logsumexp(alpha * logs, b=weight, axis=-2) / alpha)


def check_order(alpha: float, *, above: float = 1.0) -> float:
    """Return the order alpha, or raise an error if it is below its smallest value."""
    if not alpha >= above:
        raise InvalidParameterError(f"The order alpha must be at least {above:g}, not {alpha!r}.")
    return float(alpha)


def _lift_and_prior(joint: ArrayLike, p_s: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    masses = check_joint(joint)
    p_y = masses.sum(axis=-2, keepdims=True)
    if p_s is None:
        sums = masses.sum(axis=-1)
        total = sums.sum(axis=-1, keepdims=True)
        prior = np.divide(sums, total, out=np.zeros_like(sums), where=total > 0)
    else:
        prior = as_nonnegative(p_s, "p_s")
        if prior.shape[-1] != masses.shape[-2]:
            raise InvalidDistributionError(
                f"p_s has {prior.shape[-1]} entries, but the joint has {masses.shape[-2]} rows."
            )
        total = prior.sum(axis=-1)
        if (np.abs(total - 1.0) > SUM_TOLERANCE).any():
            raise InvalidDistributionError(
                f"p_s must sum to 1, but it sums to {np.ravel(total)[0]:.12g}. "
                "Divide counts by their total first."
            )
    weight = prior[..., :, None]
    posterior = np.divide(masses, p_y, out=np.zeros_like(masses), where=p_y > 0)
    result = np.ones(np.broadcast_shapes(masses.shape, weight.shape))
    np.divide(posterior, weight, out=result, where=(weight > 0) & (p_y > 0))
    return result, prior


def check_joint(joint: ArrayLike) -> FloatArray:
    """Return a joint distribution as an array of at least two dimensions."""
    masses = as_nonnegative(joint, "The joint distribution")
    if masses.ndim < 2:
        raise InvalidDistributionError(
            f"A joint distribution must have at least two axes, but its shape is {masses.shape}."
        )
    return masses
