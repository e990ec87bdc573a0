"""Conditional Reporting: a protocol that also takes S as input and masks it instead of X."""

from __future__ import annotations

import numpy as np
from scipy.sparse import eye_array, vstack

from .._arrays import FloatArray
from ..channel import Channel
from ..confidence import Cases, Distributions, Over, checked_set
from ..distribution import JointDistribution
from ..notions import Notion
from ._pairs import pair_labels, refuse_many_pairs
from ._tuned_protocol import (
    MixedLift,
    ProtocolResult,
    largest_alpha,
    refuse_noise,
    require_lift_notion,
    status_of,
)

__all__ = ["ConditionalResult", "conditional_reporting"]

# With noise that outweighs everything else by this factor, the output is constant up to rounding.
_MOST_NOISE = 1e6


class ConditionalResult(ProtocolResult):
    """Conditional Reporting fitted to a joint distribution.

    ``conditional`` is certified and sampled; ``channel`` is its marginal P(Y|X).
    """


def conditional_reporting(
    joint: JointDistribution, notion: Notion, *, over: Over = None
) -> ConditionalResult:
    r"""Report the true x if a masked S equals s, otherwise a draw given the masked S.

    S is masked by randomised response with parameter alpha. If the mask equals s, the output is
    the true x, otherwise a value drawn from P(X | mask):

    .. math::
        P(y|x,s) = \frac{e^\alpha 1\{x=y\} + \sum_{s' \ne s} P(y|s')}{e^\alpha + |S| - 1}

    with the largest alpha for which Y meets the budget (Lopuhaa-Zwakenberg, Tong and Skoric
    2020, Algorithm 1 and eq. 33; the Kronecker delta is missing in their eq. 46).

    Parameters
    ----------
    joint : JointDistribution
        Distribution of the sensitive and the useful variable.
    notion : LIP, ALIP or LDP
        The budget.
    over : ConfidenceSet or list of JointDistribution, optional
        Meet the budget for every distribution in this set; by default for ``joint`` alone. Those of
        a list are covered besides ``joint``. Values drawn in place of x follow the estimated
        distribution and thus depend on s; if even alpha = 0 exceeds the budget, draws that do not
        depend on the row are mixed in.

        .. versionchanged:: 0.2
            A list of distributions is accepted.

    Returns
    -------
    ConditionalResult

    Examples
    --------
    >>> from skliftpriv import LIP, datasets, mechanisms
    >>> joint = datasets.make_joint(5, 17, random_state=0)
    >>> result = mechanisms.conditional_reporting(joint, LIP(0.5))
    >>> result.report.satisfied, round(result.nmi, 3)
    (True, 0.259)
    """
    require_lift_notion(notion, "Conditional Reporting")
    refuse_many_pairs(joint)
    over = checked_set(over, joint)
    given_s = joint.matrix / joint.p_s[:, None]
    # Eq. 33: P(y|s) is e^alpha P(x=y|s) + sum_{s' != s} P(y|s'), up to scale. The P(y|s') are
    # those of the estimate for every true distribution.
    others = given_s.sum(axis=0) - given_s
    lift = MixedLift(joint, notion, over, weight=np.exp, otherwise=others)
    alpha = largest_alpha(lift, notion)
    noise = np.zeros(joint.shape[1])
    if alpha == 0 and over is not None:
        noise = _least_noise(joint, notion, over, others)
    channel = _conditional_channel(joint, others, alpha, noise)
    return ConditionalResult.of(
        joint,
        notion,
        channel,
        over=over,
        sees_sensitive=True,
        status="mixed with a constant" if noise.any() else status_of(alpha),
        alpha=alpha,
    )


def _least_noise(
    joint: JointDistribution, notion: Notion, over: Distributions, others: FloatArray
) -> FloatArray:
    """Weights of noise, the same for every row, with which alpha = 0 meets the notion.

    The weight of y is proportional to the largest P(x=y|s) that the set allows for any s. A draw
    from P_Y would hardly ever give a rare symbol, and rare symbols limit the noise.
    """
    shares = over.largest_given_s.max(axis=0)

    def noise(less: float) -> FloatArray:
        return _MOST_NOISE * np.exp(-less) * shares

    def lift(less: float) -> Cases:
        mixed = MixedLift(joint, notion, over, weight=np.exp, otherwise=others + noise(less))
        return mixed(0.0)

    return noise(largest_alpha(lift, notion))


def _conditional_channel(
    joint: JointDistribution, others: FloatArray, alpha: float, noise: FloatArray
) -> Channel:
    """Channel whose inputs are all pairs (s, x)."""
    n_s, n_x = joint.shape
    pairs = pair_labels(joint)
    masked = np.exp(-alpha)
    drawn = masked * others + noise
    if not drawn.any():
        return Channel(vstack([eye_array(n_x)] * n_s), pairs, joint.useful_labels)
    refuse_noise(n_s * n_x**2, f"{n_s * n_x:,} pairs of values of S and X")
    matrix = (np.eye(n_x)[None, :, :] + drawn[:, None, :]) / (1 + drawn.sum(axis=1))[:, None, None]
    return Channel(matrix.reshape(n_s * n_x, n_x), pairs, joint.useful_labels)
