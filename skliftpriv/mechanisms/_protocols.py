"""Explicit protocols with one parameter alpha, tuned so that S rather than X is protected.

For each protocol the lift of the released value is known in closed form as a function of alpha,
and it moves away from 1 as alpha grows. The largest alpha within the budget is a root.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from .._arrays import FloatArray
from ..channel import Channel
from ..distribution import JointDistribution
from ..exceptions import UnsupportedNotionError
from ..notions import Notion
from ..report import worst_levels
from ._result import MechanismResult

__all__ = [
    "ProtocolResult",
    "generalized_randomized_response",
    "largest_alpha",
    "require_lift_notion",
]

# Noise of e^-36 is some thousand of the 2^62 parts that are sampled; less could not be drawn.
_LARGEST_ALPHA = 36.0
# Stands for the infinite level of a lift of 0: a root finder needs a number.
_LARGEST_EXCESS = 1e3
_ROOT_TOLERANCE = 1e-13


@dataclass(frozen=True, kw_only=True)
class ProtocolResult(MechanismResult):
    """An explicit protocol and its parameter.

    Attributes
    ----------
    alpha : float
        The largest parameter within the budget; infinite when even the protocol without noise
        is.
    """

    alpha: float


def generalized_randomized_response(joint: JointDistribution, notion: Notion) -> ProtocolResult:
    r"""Release the true symbol with one probability and every other one with a smaller one.

    .. math:: P(y|x) = e^{\alpha 1\{x=y\}} / (e^\alpha + |X| - 1)

    with the largest alpha for which Y meets the budget with respect to S
    (Lopuhaa-Zwakenberg, Tong and Skoric 2020, eq. 28 and 29).

    Parameters
    ----------
    joint : JointDistribution
        Distribution of the sensitive and the useful variable.
    notion : LIP, ALIP or LDP
        The budget.

    Returns
    -------
    ProtocolResult

    Examples
    --------
    >>> from skliftpriv import LIP, datasets, mechanisms
    >>> joint = datasets.make_joint(5, 17, random_state=0)
    >>> result = mechanisms.generalized_randomized_response(joint, LIP(0.5))
    >>> round(result.alpha, 3), round(result.report.max_log_lift, 3)
    (2.416, 0.5)
    """
    require_lift_notion(notion, "Generalised randomised response")
    given_s = joint.matrix / joint.p_s[:, None]

    def lift(alpha: float) -> FloatArray:
        # Eq. 29: (1 + k P(x|s)) / (1 + k P(x)) with k = e^alpha - 1.
        if np.isinf(alpha):
            return joint.lift
        k = np.expm1(alpha)
        return (1 + k * given_s) / (1 + k * joint.p_x)

    alpha = largest_alpha(lift, joint.p_s, notion)
    channel = Channel(
        _response_matrix(joint.shape[1], alpha), joint.useful_labels, joint.useful_labels
    )
    return ProtocolResult.of(joint, notion, channel, alpha=alpha, status=status_of(alpha))


def _response_matrix(size: int, alpha: float) -> FloatArray:
    noise = np.exp(-alpha)
    matrix = np.full((size, size), noise)
    np.fill_diagonal(matrix, 1.0)
    return matrix / (1 + (size - 1) * noise)


def largest_alpha(lift: Callable[[float], FloatArray], p_s: FloatArray, notion: Notion) -> float:
    """Find the largest alpha in [0, 36] or inf whose lifts meet a notion, rounded toward privacy.

    Parameters
    ----------
    lift : callable
        Lifts of the outputs for a given alpha, shape (n_sensitive, n_outputs); their distance
        from 1 must grow with alpha.
    p_s : ndarray of shape (n_sensitive,)
        Prior of S.
    notion : Notion
        The budget.
    """
    budget = notion.safe_budget

    def excess(alpha: float) -> float:
        levels = worst_levels(notion, lift(alpha), p_s)
        return min(max(levels[side] - bound for side, bound in budget.items()), _LARGEST_EXCESS)

    if excess(np.inf) <= 0:
        return np.inf
    high = 1.0
    while excess(high) <= 0:
        if high >= _LARGEST_ALPHA:
            return _LARGEST_ALPHA
        high = min(2 * high, _LARGEST_ALPHA)
    root = brentq(excess, 0.0, high, xtol=_ROOT_TOLERANCE, rtol=4 * np.finfo(float).eps)
    step = _ROOT_TOLERANCE
    while root > 0 and excess(root) > 0:
        root, step = max(root - step, 0.0), 2 * step
    return float(root)


def require_lift_notion(notion: Notion, who: str) -> None:
    """Refuse notions whose level is not monotone in alpha or not given in closed form."""
    if not notion.polyhedral:
        raise UnsupportedNotionError(
            f"{who} can be tuned to LIP, ALIP or LDP, but not to {notion}."
        )


def status_of(alpha: float) -> str:
    """Say in a word how the protocol came out."""
    return "no noise needed" if np.isinf(alpha) else "tuned"
