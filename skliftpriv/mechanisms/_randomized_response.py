"""Generalised randomised response."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._arrays import Label
from ..channel import Channel
from ..confidence import Over, checked_set
from ..distribution import JointDistribution
from ..notions import Notion
from ._tuned_protocol import (
    MixedLift,
    ProtocolResult,
    largest_alpha,
    refuse_noise,
    require_lift_notion,
    status_of,
)

__all__ = ["generalized_randomized_response"]


def generalized_randomized_response(
    joint: JointDistribution, notion: Notion, *, over: Over = None
) -> ProtocolResult:
    r"""Output the true symbol with one probability and every other symbol with a smaller one.

    .. math:: P(y|x) = e^{\alpha 1\{x=y\}} / (e^\alpha + |X| - 1)

    with the largest alpha for which Y meets the budget with respect to S
    (Lopuhaa-Zwakenberg, Tong and Skoric 2020, eq. 28 and 29).

    Parameters
    ----------
    joint : JointDistribution
        Distribution of the sensitive and the useful variable.
    notion : LIP, ALIP or LDP
        The budget.
    over : ConfidenceSet or list of JointDistribution, optional
        Meet the budget for every distribution in this set; by default for ``joint`` alone. Those of
        a list are covered besides ``joint``.

        .. versionchanged:: 0.2
            A list of distributions is accepted.

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
    over = checked_set(over, joint)
    # Eq. 29: P(y|s) is (e^alpha - 1) P(x=y|s) + 1, up to scale.
    lift = MixedLift(joint, notion, over, weight=np.expm1, otherwise=1.0)
    alpha = largest_alpha(lift, notion)
    return ProtocolResult.of(
        joint,
        notion,
        _response_channel(joint.useful_labels, alpha),
        over=over,
        alpha=alpha,
        status=status_of(alpha),
    )


def _response_channel(labels: Sequence[Label], alpha: float) -> Channel:
    size, noise = len(labels), np.exp(-alpha)
    if noise == 0:
        return Channel.identity(labels)
    refuse_noise(size**2, f"{size:,} values of X")
    matrix = np.full((size, size), noise)
    np.fill_diagonal(matrix, 1.0)
    return Channel(matrix / (1 + (size - 1) * noise), labels, labels)
