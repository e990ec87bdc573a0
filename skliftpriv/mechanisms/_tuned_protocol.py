"""Protocols with one parameter alpha, tuned to protect S rather than X.

For each protocol the lift of the output is known in closed form as a function of alpha, and it
moves away from 1 as alpha grows. The largest alpha within the budget is a root.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from .._arrays import FloatArray
from .._limits import MERGE, MOST_CHANNEL_CELLS, POOL, refuse_beyond
from ..confidence import Cases, JointList, Over, checked_set, worst_of
from ..distribution import JointDistribution
from ..exceptions import UnsupportedNotionError
from ..notions import Notion
from ._result import ChannelResult

__all__ = [
    "MixedLift",
    "ProtocolResult",
    "largest_alpha",
    "refuse_noise",
    "require_lift_notion",
    "status_of",
]

# Noise of e^-36 is about a thousand of the 2^62 parts that are sampled; less is rounded too much.
_LARGEST_ALPHA = 36.0
# Replaces the infinite level of a lift of 0, because a root finder needs a number.
_LARGEST_EXCESS = 1e3
_ROOT_TOLERANCE = 1e-13


@dataclass(frozen=True, kw_only=True, repr=False)
class ProtocolResult(ChannelResult):
    """An explicit protocol and its parameter.

    Attributes
    ----------
    alpha : float
        The largest parameter within the budget; infinite if no noise is needed.
    """

    alpha: float


class MixedLift:
    """Lifts of protocols with P(y|s) = weight(alpha) P(x=y|s) + otherwise(s, y), up to scale.

    Over a confidence set these are the worst lifts.

    Parameters
    ----------
    joint : JointDistribution
        Distribution of the sensitive and the useful variable.
    notion : Notion
        The notion, which defines the worst lift.
    over : ConfidenceSet, list of JointDistribution or None
        The possible distributions; None for ``joint`` alone.
    weight : callable
        Weight of the true x as a function of alpha.
    otherwise : float or ndarray of shape (n_sensitive, n_useful)
        Weight of y apart from the true x.
    """

    def __init__(
        self,
        joint: JointDistribution,
        notion: Notion,
        over: Over,
        *,
        weight: Callable[[float], float],
        otherwise: float | FloatArray,
    ) -> None:
        self._members = checked_set(over, joint) or JointList.of(joint)
        self._notion, self._weight, self._otherwise = notion, weight, otherwise

    def __call__(self, alpha: float) -> Cases:
        mixed = (1.0, 0.0) if np.isinf(alpha) else (self._weight(alpha), self._otherwise)
        return self._members.mixed_lifts(self._notion, *mixed)


def refuse_noise(cells: int, what: str) -> None:
    """Raise an error if a channel without zeros would be too large."""
    refuse_beyond(
        MOST_CHANNEL_CELLS,
        cells,
        f"a channel that may turn any of {what} into any other has {cells:,} cells",
        f"{MERGE}, or {POOL}",
    )


def largest_alpha(lifts: Callable[[float], Cases], notion: Notion) -> float:
    """Find the largest alpha in [0, 36] or inf whose lifts meet a notion, rounded toward privacy.

    Parameters
    ----------
    lifts : callable
        Lifts of the outputs for a given alpha, shape (n_sensitive, n_outputs), and the prior of S,
        for every case; their distance from 1 must grow with alpha. If even alpha = 0 exceeds the
        budget, 0 is returned.
    notion : Notion
        The budget.
    """
    budget = notion.safe_budget

    def excess(alpha: float) -> float:
        levels = worst_of(notion, lifts(alpha))
        return min(max(levels[side] - bound for side, bound in budget.items()), _LARGEST_EXCESS)

    if excess(np.inf) <= 0:
        return np.inf
    if excess(0.0) > 0:
        return 0.0
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
    """Raise an error for notions other than LIP, ALIP and LDP."""
    if not notion.polyhedral:
        raise UnsupportedNotionError(
            f"{who} needs a notion that is a set of linear inequalities on an output, such as "
            f"LIP, ALIP or LDP, not {notion}."
        )


def status_of(alpha: float) -> str:
    """Describe the tuned protocol in a word or two."""
    return "no noise needed" if np.isinf(alpha) else "tuned"
