"""Certify a mechanism again: what another process sampled meets its budget, or does not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._arrays import Label
from ..certificate import (
    TOTAL,
    CertifiedChannel,
    Weights,
    certify,
    certify_over,
    worst_levels_over,
)
from ..channel import Channel
from ..confidence import ConfidenceSet, Distributions, JointList, Over, checked_set
from ..distribution import JointDistribution
from ..notions import LDP, SRLIP, Notion
from ._pairs import pair_labels, pair_masses, refuse_many_pairs
from ._side_channel import attribute_codes
from ._side_check import refuse_many_terms
from ._side_members import SideMembers, side_members
from ._unary_encoding import needs_no_noise, refuse_many_programs, refuse_many_sets
from ._unary_sets import WorstSets, unary_levels
from ._unary_worst import WorstFractions

__all__ = ["recertified", "unary_levels_again", "unary_recertified", "worst_levels_again"]


def recertified(
    joint: JointDistribution,
    notion: Notion,
    weights: Weights,
    outputs: Sequence[Label],
    *,
    over: Over = None,
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
    over : ConfidenceSet or list of JointDistribution, optional
        Check for every distribution in this set instead; those of a list besides ``joint``.
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
    within = _within(over, joint, sees_sensitive)
    inputs = pair_labels(joint) if sees_sensitive else joint.useful_labels
    channel = Channel(weights / TOTAL, inputs, outputs)
    if isinstance(notion, SRLIP):
        met = _side_members(within, joint, notion, weights).check(weights)
    elif within is not None:
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


def worst_levels_again(
    joint: JointDistribution,
    notion: Notion,
    weights: Weights,
    *,
    over: Over = None,
    sees_sensitive: bool = False,
) -> dict[str, float]:
    """Compute the levels of a report again: for a joint, or the worst over a set.

    .. versionadded:: 0.2

    Parameters
    ----------
    joint, notion, weights, over, sees_sensitive
        As in :func:`recertified`.
    """
    within = _within(JointList.of(joint) if over is None else over, joint, sees_sensitive)
    assert within is not None
    if isinstance(notion, SRLIP):
        return _side_members(within, joint, notion, weights).worst_levels(weights)
    return worst_levels_over(within, weights, notion)


def _within(over: Over, joint: JointDistribution, sees_sensitive: bool) -> Distributions | None:
    members = checked_set(over, joint)
    if members is None or not sees_sensitive:
        return members
    refuse_many_pairs(joint)
    return members.given_both()


def _side_members(
    within: Distributions | None, joint: JointDistribution, notion: SRLIP, weights: Weights
) -> SideMembers:
    attributes = attribute_codes(joint)
    refuse_many_terms(joint, attributes, weights.shape[1])
    return side_members(within or JointList.of(joint), attributes, notion)


def unary_recertified(
    joint: JointDistribution, notion: Notion, noise_weight: int, *, over: Over = None
) -> bool:
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
    over : ConfidenceSet or list of JointDistribution, optional
        Check for every distribution in this set instead; those of a list besides ``joint``.
    """
    pairs = isinstance(notion, LDP)
    refuse_many_sets(*joint.shape, pairs=pairs)
    members = checked_set(over, joint) or JointList.of(joint)
    if isinstance(members, JointList):
        each = (WorstSets(masses, pairs=pairs) for masses in members.masses)
        return all(sets.exactly_met(notion, noise_weight) for sets in each)
    refuse_many_programs(members, notion)
    if noise_weight == 0:
        return needs_no_noise(members, notion)
    return WorstFractions(members, notion).proves(noise_weight)


def unary_levels_again(
    joint: JointDistribution,
    notion: Notion,
    noise_weight: int,
    *,
    over: ConfidenceSet | None = None,
) -> dict[str, float]:
    """Compute the levels of unary encoding again: for a joint, or the worst of a confidence set.

    .. versionadded:: 0.2

    Parameters
    ----------
    joint, notion, noise_weight, over
        As in :func:`unary_recertified`.
    """
    if over is not None:
        return WorstFractions(over, notion).worst_levels(noise_weight)
    sets = WorstSets(joint.masses, pairs=isinstance(notion, LDP))
    return unary_levels(joint, notion, sets, noise_weight)
