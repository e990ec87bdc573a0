"""A channel is rounded to integers, and these are checked, and mended where they fail."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._arrays import FloatArray, Label
from ..channel import Channel
from ..confidence import Distributions
from ..notions import Notion
from ._exact import certify, certify_over
from ._mend import Check, Mend, mend_for, mixed_until_met
from ._weights import TOTAL, Weights, quantize


@dataclass(frozen=True)
class CertifiedChannel:
    """A channel as it is sampled, with the result of its exact check.

    Attributes
    ----------
    channel : Channel
        The weights as probabilities, without outputs that never occur.
    weights : csr_array of int64, shape (n_inputs, n_outputs)
        The weights that are sampled: output y has probability weights[x, y] / 2^62 for input x.
    satisfied : bool
        Whether the weights meet the notion, decided without rounding.
    violations : tuple of labels
        Outputs that do not meet it.
    mixed : float
        Share of a constant channel that had to be mixed in; usually 0.
    """

    channel: Channel
    weights: Weights
    satisfied: bool
    violations: tuple[Label, ...]
    mixed: float


def certified_for(
    masses: FloatArray,
    channel: Channel,
    notion: Notion,
    *,
    over: Distributions | None = None,
    enforce: bool = True,
) -> CertifiedChannel:
    """Turn a channel into integer weights that are certified to meet a notion.

    Parameters
    ----------
    masses : ndarray of shape (n_sensitive, n_inputs)
        The joint distribution, up to scale; taken as exact.
    channel : Channel
        The channel that a mechanism built; it may exceed the budget by rounding.
    notion : Notion
        The notion with its budget.
    over : ConfidenceSet or JointList, optional
        Certify the weights for every distribution in this set instead.
    enforce : bool, default=True
        Mix in a constant channel until the notion is met. If False, only check.

    Returns
    -------
    CertifiedChannel
    """

    def check(weights: Weights) -> NDArray[np.bool_]:
        if over is None:
            return certify(masses, weights, notion)
        return certify_over(over, weights, notion)

    p_x = masses.sum(axis=0) / masses.sum()
    return certified_by(channel, p_x, check, enforce=enforce, mend=mend_for(masses, notion, over))


def certified_by(
    channel: Channel,
    p_x: FloatArray,
    check: Check,
    *,
    enforce: bool = True,
    mend: Mend | None = None,
) -> CertifiedChannel:
    """Turn a channel into integer weights that pass a given check.

    Parameters
    ----------
    channel : Channel
        The channel that a mechanism built.
    p_x : ndarray of shape (n_inputs,)
        Distribution of the input.
    check : callable
        Returns for integer weights, without rounding, which outputs pass. A constant channel must
        pass.
    enforce : bool, default=True
        Mix in a constant channel until the check passes. If False, only check.
    mend : callable, optional
        Makes weights pass: (weights, p_x, check) -> (weights, share of a constant channel that
        was mixed in). The default mixes in roughly the smallest share that passes; it assumes
        that a larger share never makes a check fail.

    Returns
    -------
    CertifiedChannel
    """
    weights = quantize(channel)
    used = np.unique(weights.indices)
    weights = weights[:, used]
    met = check(weights)
    mixed = 0.0
    if enforce and not met.all():
        weights, mixed = (mend or mixed_until_met)(weights, p_x, check)
        kept = np.unique(weights.indices)
        used, weights = used[kept], weights[:, kept]
        met = check(weights)
    outputs = [channel.outputs[y] for y in used]
    return CertifiedChannel(
        channel=Channel(weights / TOTAL, channel.inputs, outputs),
        weights=weights,
        satisfied=bool(met.all()),
        violations=tuple(y for y, ok in zip(outputs, met, strict=True) if not ok),
        mixed=mixed,
    )
