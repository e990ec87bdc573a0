"""Certify a mechanism again: what another process sampled meets its budget, or does not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._arrays import Label
from ..certificate import TOTAL, CertifiedChannel, Weights, certify, certify_over
from ..channel import Channel
from ..confidence import ConfidenceSet
from ..distribution import JointDistribution
from ..notions import LDP, SRLIP, Notion
from ._pairs import pair_labels, pair_masses
from ._result import check_set
from ._side_channel import attribute_codes
from ._side_check import SideChannelCheck, refuse_many_terms
from ._unary_encoding import refuse_many_sets
from ._unary_sets import WorstSets

__all__ = ["recertified", "unary_recertified"]


def recertified(
    joint: JointDistribution,
    notion: Notion,
    weights: Weights,
    outputs: Sequence[Label],
    *,
    over: ConfidenceSet | None = None,
    sees_sensitive: bool = False,
) -> CertifiedChannel:
    """Check in exact arithmetic whether integer weights meet a notion; they are not changed.

    .. versionadded:: 0.2

    Parameters
    ----------
    joint : JointDistribution
        Distribution of S and X.
    notion : Notion
        The notion with its budget.
    weights : csr_array of int64, shape (n_inputs, n_outputs)
        Rows sum to 2^62; every output must occur.
    outputs : sequence of labels
        Names of the outputs.
    over : ConfidenceSet, optional
        Check for every distribution in this set instead.
    sees_sensitive : bool, default=False
        Whether the inputs are all pairs (s, x), x varying fastest, rather than x.

    Returns
    -------
    CertifiedChannel

    Examples
    --------
    >>> from skliftpriv import LIP, datasets, mechanisms
    >>> joint = datasets.make_joint(3, 5, random_state=0)
    >>> certified = mechanisms.watchdog(joint, LIP(0.5)).certified
    >>> found = mechanisms.recertified(
    ...     joint, LIP(0.5), certified.weights, certified.channel.outputs
    ... )
    >>> found.satisfied
    True
    """
    check_set(over, joint)
    inputs = pair_labels(joint) if sees_sensitive else joint.useful_labels
    channel = Channel(weights / TOTAL, inputs, outputs)
    if isinstance(notion, SRLIP):
        attributes = attribute_codes(joint)
        refuse_many_terms(joint, attributes, weights.shape[1])
        met = SideChannelCheck(joint.masses, attributes, notion)(weights)
    elif over is not None:
        within = over.given_both() if sees_sensitive else over
        met = certify_over(within, weights, notion)
    else:
        masses = pair_masses(joint) if sees_sensitive else joint.masses
        met = certify(masses, weights, notion)
    return CertifiedChannel(
        channel=channel,
        weights=weights,
        satisfied=bool(np.all(met)),
        violations=tuple(y for y, ok in zip(channel.outputs, met, strict=True) if not ok),
        mixed=0.0,
    )


def unary_recertified(joint: JointDistribution, notion: Notion, noise_weight: int) -> bool:
    """Check in exact arithmetic whether unary encoding with this noise meets a notion.

    .. versionadded:: 0.2

    Parameters
    ----------
    joint : JointDistribution
        Distribution of S and X.
    notion : LIP, ALIP or LDP
        The notion with its budget.
    noise_weight : int
        The bit of another symbol is 1 with probability noise_weight / 2^62.
    """
    pairs = isinstance(notion, LDP)
    refuse_many_sets(*joint.shape, pairs=pairs)
    return WorstSets(joint, pairs=pairs).exactly_met(notion, noise_weight)
