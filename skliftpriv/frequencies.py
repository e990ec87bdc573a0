"""Estimate how often each useful symbol occurred from a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from ._arrays import FloatArray, Label, as_nonnegative
from ._limits import MOST_INVERTED, POOL, refuse_beyond
from .channel import Channel
from .exceptions import InvalidParameterError

FrequencyMethod: TypeAlias = Literal["least_squares", "ibu"]

__all__ = ["FrequencyEstimate", "estimate_frequencies", "estimate_unary_frequencies"]

# Weight of the prior where the release carries no information; far below any sampling error.
_RIDGE = 1e-6
# IBU stops when no frequency changes by more than this.
_IBU_TOLERANCE = 1e-9
_IBU_STEPS = 10_000


@dataclass(frozen=True)
class FrequencyEstimate:
    """De-biased frequencies of the useful symbols.

    Attributes
    ----------
    symbols : tuple of labels
        The useful symbols.
    estimate : ndarray
        Estimated frequencies, non-negative and summing to 1.
    standard_error : ndarray
        Standard error of each; infinite where the release does not distinguish a symbol from
        others, so that the estimate depends on the prior.
    n_rows : int
        Number of released rows.
    """

    symbols: tuple[Label, ...]
    estimate: FloatArray
    standard_error: FloatArray
    n_rows: int


def estimate_frequencies(
    counts: FloatArray,
    channel: Channel,
    prior: FloatArray,
    method: FrequencyMethod = "least_squares",
) -> FrequencyEstimate:
    r"""Estimate P_X from counts of the outputs of a known channel.

    Parameters
    ----------
    counts : ndarray of shape (n_outputs,)
        How often each output was released.
    channel : Channel
        P(Y|X).
    prior : ndarray of shape (n_inputs,)
        P_X as known at fit: the starting point, and the shares of symbols that the channel merges.
    method : {"least_squares", "ibu"}, default="least_squares"
        "least_squares" inverts the channel subject to non-negativity. "ibu" is the iterative
        Bayesian update p_x <- sum_y q_y P(x|y), which converges to the maximum likelihood.

    Returns
    -------
    FrequencyEstimate
    """
    observed = as_nonnegative(counts, "The counts of outputs", ndim=1)
    start = as_nonnegative(prior, "The prior", ndim=1)
    if (start.size, observed.size) != channel.sparse.shape:
        raise InvalidParameterError(
            f"There are {observed.size} counts and {start.size} prior probabilities, but the "
            f"channel has {len(channel.outputs)} outputs and {len(channel.inputs)} inputs."
        )
    refuse_beyond(
        MOST_INVERTED,
        start.size,
        f"frequencies of {start.size:,} values are estimated by inverting the channel",
        f"{POOL}",
    )
    n_rows = observed.sum()
    if n_rows == 0:
        raise InvalidParameterError("There are no released rows to estimate frequencies from.")
    shares = observed / n_rows
    if method == "least_squares":
        estimate = _least_squares(shares, channel, start)
    elif method == "ibu":
        estimate = _iterative_bayesian_update(shares, channel.sparse, start)
    else:
        raise InvalidParameterError(f'method must be "least_squares" or "ibu", not {method!r}.')
    error = _standard_error(channel, channel.p_y(estimate), float(n_rows))
    return FrequencyEstimate(channel.inputs, estimate, error, int(n_rows))


def _least_squares(shares: FloatArray, channel: Channel, prior: FloatArray) -> FloatArray:
    system = np.vstack([channel.matrix.T, _RIDGE * np.eye(prior.size)])
    solution, _ = nnls(system, np.concatenate([shares, _RIDGE * prior]))
    return np.asarray(solution / solution.sum())


def _iterative_bayesian_update(
    shares: FloatArray, likelihood: Any, prior: FloatArray
) -> FloatArray:
    """Maximise the likelihood of P_X.

    ``likelihood`` has a row per symbol and a column per output; columns may have any scale.
    """
    estimate = prior.copy()
    for _ in range(_IBU_STEPS):
        mean = np.asarray(estimate @ likelihood)
        ratio = np.divide(shares, mean, out=np.zeros_like(shares), where=mean > 0)
        updated = estimate * np.asarray(likelihood @ ratio)
        updated /= updated.sum()
        moved = np.abs(updated - estimate).max()
        estimate = updated
        if moved < _IBU_TOLERANCE:
            break
    return estimate


def _standard_error(channel: Channel, p_y: FloatArray, n_rows: float) -> FloatArray:
    """Return standard errors of the inverted channel under multinomial sampling."""
    forward = channel.matrix.T
    inverse = np.linalg.pinv(forward)
    mean = inverse @ p_y
    variance = (inverse**2 @ p_y - mean**2) / n_rows
    identified = np.isclose(np.einsum("xy,yx->x", inverse, forward), 1.0, atol=1e-6)
    return np.where(identified, np.sqrt(np.maximum(variance, 0.0)), np.inf)


def estimate_unary_frequencies(
    bits: NDArray[np.bool_],
    symbols: tuple[Label, ...],
    noise: float,
    prior: FloatArray,
    method: FrequencyMethod = "least_squares",
) -> FrequencyEstimate:
    """Estimate P_X from the bits of unary encoding.

    (share of 1-bits - noise) / (1/2 - noise) is unbiased (Wang et al. 2017); least squares
    projects it onto the nearest distribution. The iterative Bayesian update uses all bits of a
    row together.

    Parameters
    ----------
    bits : ndarray of bool, shape (n_rows, n_symbols)
        The released bits.
    symbols : tuple of labels
        The useful symbols.
    noise : float
        Probability of a 1-bit for a symbol that is not the true one.
    prior : ndarray of shape (n_symbols,)
        P_X as known at fit: the starting point, and the estimate if the bits are pure noise.
    method : {"least_squares", "ibu"}, default="least_squares"
        As in :func:`estimate_frequencies`.
    """
    n_rows = bits.shape[0]
    if bits.ndim != 2 or bits.shape[1] != len(symbols):
        raise InvalidParameterError(
            f"There must be one bit for each of the {len(symbols)} symbols, but the bits have "
            f"shape {bits.shape}."
        )
    if n_rows == 0:
        raise InvalidParameterError("There are no released rows to estimate frequencies from.")
    start = np.array(prior, dtype=float)
    signal = 0.5 - noise
    if signal <= 0:
        return FrequencyEstimate(symbols, start, np.full(len(symbols), np.inf), n_rows)
    if method == "least_squares":
        estimate = _nearest_distribution((bits.mean(axis=0) - noise) / signal)
    elif method == "ibu":
        rows, counts = np.unique(bits, axis=0, return_counts=True)
        # P(bits | x) is proportional to noise, or to 1 - noise where the bit of x is 1.
        likelihood = np.where(rows.T, 1 - noise, noise)
        estimate = _iterative_bayesian_update(counts / n_rows, likelihood, start)
    else:
        raise InvalidParameterError(f'method must be "least_squares" or "ibu", not {method!r}.')
    # Use the expected share: the observed one is 0 for a rare symbol without noise.
    expected = noise + signal * estimate
    error = np.sqrt(expected * (1 - expected) / n_rows) / signal
    return FrequencyEstimate(symbols, estimate, error, n_rows)


def _nearest_distribution(values: FloatArray) -> FloatArray:
    """Project onto the simplex: subtract one number from all values and clip at 0."""
    falling = np.sort(values)[::-1]
    excess = (falling.cumsum() - 1) / np.arange(1, values.size + 1)
    return np.maximum(values - excess[falling > excess][-1], 0.0)
