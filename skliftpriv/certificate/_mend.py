"""Mending: integer weights that do not meet a budget are changed until they do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._arrays import FloatArray
from .._independence import independent_weights
from .._limits import MOST_CHANNEL_CELLS, POOL, refuse_beyond
from ..confidence import Distributions
from ..notions import Notion
from ._weights import TOTAL, TOTAL_BITS, Weights, fill_up

# Shares above 2^-20 cost utility, so they are found to one part in 64.
_COARSE_SHIFT = 20
_PART_BITS = 6

# Budgets up to this are so close to 0 that outputs may as well be independent of S, if mixing takes
# more than the given share.
_SMALL_BUDGET, _COSTLY = 1e-4, 2.0**-14

#: Return which outputs of integer weights pass.
Check: TypeAlias = Callable[[Weights], NDArray[np.bool_]]
#: Make integer weights pass a check; also return the share of a constant channel mixed in.
Mend: TypeAlias = Callable[[Weights, FloatArray, Check], tuple[Weights, float]]


def mend_for(masses: FloatArray, notion: Notion, over: Distributions | None) -> Mend:
    """Choose how weights that do not meet a notion are made to meet it."""
    if notion.perfect and over is None:
        # Mixing gives lifts of exactly 1 only if the result is constant.
        return lambda weights, p_x, check: (independent_weights(masses, weights, TOTAL), 0.0)
    if not notion.mixing_helps:
        return first_mixture_that_meets
    if over is None and min(notion.budget.values()) <= _SMALL_BUDGET:
        return partial(_mixed_or_independent, masses)
    return mixed_until_met


def _mixed_or_independent(
    masses: FloatArray, weights: Weights, p_x: FloatArray, check: Check
) -> tuple[Weights, float]:
    """Mix in a constant channel, or make outputs independent of S where that changes them less.

    Lifts of rare sensitive symbols may exceed a budget near 0 by many times the budget.
    """
    mixed, share = mixed_until_met(weights, p_x, check)
    if share <= _COSTLY:
        return mixed, share
    independent = independent_weights(masses, weights, TOTAL)
    change = [p_x @ abs(other - weights).sum(axis=1) for other in (mixed, independent)]
    return (independent, 0.0) if change[1] < change[0] else (mixed, share)


def mixed_until_met(weights: Weights, p_x: FloatArray, check: Check) -> tuple[Weights, float]:
    """Mix in roughly the smallest share of a constant channel that makes the check pass.

    Mixing in a share d moves each lift l to (1 - d) l + d. If only the distance of lifts from 1
    matters, a larger share is always safer, and a share of 1 gives lifts of exactly 1. First the
    power of two is found, then, if the share is large enough to cost utility, the smallest
    multiple of its 64th part that passes. All outputs are checked each time: mixing rounds, so that
    one that passed before may fail.
    """
    enough, too_little = 0, TOTAL_BITS - 9
    best = _mixed(weights, p_x, enough)
    while too_little - enough > 1:
        shift = (enough + too_little) // 2
        candidate = _mixed(weights, p_x, shift)
        if check(candidate).all():
            enough, best = shift, candidate
        else:
            too_little = shift
    parts = 1 << _PART_BITS
    if enough < _COARSE_SHIFT:
        below = parts // 2
        while parts - below > 1:
            middle = (parts + below) // 2
            candidate = _mixed(weights, p_x, enough + _PART_BITS, middle)
            if check(candidate).all():
                parts, best = middle, candidate
            else:
                below = middle
    return best, parts * 2.0 ** -(enough + _PART_BITS)


def first_mixture_that_meets(
    weights: Weights, p_x: FloatArray, check: Check
) -> tuple[Weights, float]:
    """Mix in the smallest share that passes among the powers of 2 and the multiples of 1/64.

    With delta, a larger share can be worse: mixing gives mass to pairs that never occurred, and
    their lift, though no longer 0, may still be outside the band.
    """
    powers = [(shift, 1) for shift in range(TOTAL_BITS - 10, _PART_BITS, -1)]
    multiples = [(_PART_BITS, parts) for parts in range(1, 1 << _PART_BITS)]
    for shift, parts in powers + multiples:
        candidate = _mixed(weights, p_x, shift, parts)
        if check(candidate).all():
            return candidate, parts * 2.0**-shift
    return _mixed(weights, p_x, 0), 1.0


def _mixed(weights: Weights, p_x: FloatArray, shift: int, parts: int = 1) -> Weights:
    """Replace a share ``parts`` / 2^shift of every row by the distribution of the output."""
    n_inputs, n_outputs = weights.shape
    refuse_beyond(
        MOST_CHANNEL_CELLS,
        n_inputs * n_outputs,
        "the channel exceeds the budget by rounding; mixed with a constant one it would have "
        f"{n_inputs * n_outputs:,} cells",
        f"change epsilon a little, or {POOL}",
    )
    amount = (TOTAL >> shift) * parts
    p_y = p_x @ (weights / TOTAL)
    constant = np.floor(p_y / p_y.sum() * amount).astype(np.int64)
    constant[constant.argmax()] += amount - constant.sum()
    kept = weights.toarray()
    kept -= (kept >> shift) * parts
    mixed = csr_array(kept + constant)
    fill_up(mixed)
    return mixed
