"""The promise, checked: a channel becomes integers, and the integers are judged without rounding.

A channel that a solver returns in floating point usually exceeds its bound by some 1e-14. So it
is rounded to integer weights first, the lifts of these integers are computed exactly as rational
numbers, and where they miss the budget the channel is mixed with a touch of a constant one until
they meet it. The integers that pass are the ones that are sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from ._arrays import FloatArray, Label, exact_integers
from .channel import Channel
from .confidence import ConfidenceSet
from .notions import Notion

__all__ = [
    "TOTAL",
    "CertifiedChannel",
    "certify",
    "certify_over",
    "quantize",
    "release",
    "release_checked",
]

#: Every row of integer weights sums to this; 62 bits leave room for sums in 64-bit integers.
TOTAL_BITS = 62
TOTAL = 2**TOTAL_BITS

# Shares above 2^-20 cost utility, so they are found to one part in 64.
_COARSE_SHIFT = 20
_PART_BITS = 6

#: Sparse integer weights, rows inputs, columns outputs.
Weights: TypeAlias = csr_array
#: Tells which outputs of integer weights keep a promise.
Check: TypeAlias = Callable[[Weights], NDArray[np.bool_]]


@dataclass(frozen=True)
class CertifiedChannel:
    """A channel as it is sampled, with the verdict of exact arithmetic on it.

    Attributes
    ----------
    channel : Channel
        The weights as probabilities, without outputs that never occur.
    weights : csr_array of int64, shape (n_inputs, n_outputs)
        What is sampled: output y has probability weights[x, y] / 2^62 for input x.
    satisfied : bool
        Whether the weights meet the notion, decided without rounding.
    violations : tuple of labels
        Outputs that break it.
    mixed : float
        Share of a constant channel that had to be mixed in; 0 for most.
    """

    channel: Channel
    weights: Weights
    satisfied: bool
    violations: tuple[Label, ...]
    mixed: float


def quantize(channel: Channel) -> Weights:
    """Round the rows of a channel to integers that sum to 2^62.

    Zeros stay zero and equal rows stay equal; what is left over goes to the largest entry.
    """
    sparse = channel.sparse
    data = np.floor(sparse.data * float(TOTAL)).astype(np.int64)
    weights = csr_array((data, sparse.indices, sparse.indptr), shape=sparse.shape, copy=True)
    _fill_up(weights)
    weights.eliminate_zeros()
    return weights


def _fill_up(weights: Weights) -> None:
    """Make every row sum to 2^62 by changing its largest entry, the first of equals."""
    starts = weights.indptr[:-1]
    row_of = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    largest = np.maximum.reduceat(weights.data, starts)
    ties = np.flatnonzero(weights.data == largest[row_of])
    _, first = np.unique(row_of[ties], return_index=True)
    weights.data[ties[first]] += TOTAL - np.add.reduceat(weights.data, starts)


def certify(masses: FloatArray, weights: Weights, notion: Notion) -> NDArray[np.bool_]:
    """Tell for each output of integer weights, without rounding, whether it meets a notion.

    Parameters
    ----------
    masses : ndarray of shape (n_sensitive, n_inputs)
        The joint distribution for which the promise is made, up to scale; taken as exact.
    weights : csr_array of int64, shape (n_inputs, n_outputs)
        Rows sum to 2^62; every output must occur.
    notion : Notion
        The promise.

    Returns
    -------
    ndarray of bool, shape (n_outputs,)
    """
    lifts, p_s, p_y = exact_lifts(masses, weights)
    return notion.all_exactly_met(lifts, p_s, p_y)


def certify_over(over: ConfidenceSet, weights: Weights, notion: Notion) -> NDArray[np.bool_]:
    """Tell for each output whether it meets a notion for every distribution of a set.

    Parameters
    ----------
    over : ConfidenceSet
        The distributions for which the promise is made; their bounds are taken as exact.
    weights : csr_array of int64, shape (n_inputs, n_outputs)
        Rows sum to 2^62; every output must occur.
    notion : LIP, ALIP or LDP
        The promise.

    Returns
    -------
    ndarray of bool, shape (n_outputs,)
    """
    return notion.all_exactly_met(over.worst_lift(csc_array(weights), notion), (), ())


def exact_lifts(
    masses: FloatArray, weights: Weights
) -> tuple[np.ndarray, Sequence[Fraction], Sequence[Fraction]]:
    """Lifts of integer weights as fractions, shape (n_sensitive, n_outputs), with P_S and P_Y."""
    integers = exact_integers(masses)
    total = integers.sum()
    of_s = integers.sum(axis=1)
    released = _released(integers, weights)
    of_y = released.sum(axis=0)
    lifts = np.empty(released.shape, dtype=object)
    for s, y in np.ndindex(*released.shape):
        lifts[s, y] = Fraction(released[s, y] * total, of_s[s] * of_y[y])
    p_s = [Fraction(value, total) for value in of_s]
    p_y = [Fraction(value, total * TOTAL) for value in of_y]
    return lifts, p_s, p_y


def _released(masses: np.ndarray, weights: Weights) -> np.ndarray:
    """Matrix product masses @ weights in whole numbers of any size.

    Mixed channels have a common part in every row; taking it out leaves few entries to multiply.
    """
    columns = csc_array(weights)
    common = np.minimum.reduceat(columns.data, columns.indptr[:-1])
    counts = np.diff(columns.indptr)
    common[counts < weights.shape[0]] = 0
    result = np.multiply.outer(masses.sum(axis=1), common.astype(object))
    columns.data -= np.repeat(common, counts)
    columns.eliminate_zeros()
    outputs = np.flatnonzero(np.diff(columns.indptr))
    if outputs.size:
        products = masses[:, columns.indices] * columns.data.astype(object)
        result[:, outputs] += np.add.reduceat(products, columns.indptr[outputs], axis=1)
    return result


def release(
    masses: FloatArray,
    channel: Channel,
    notion: Notion,
    *,
    over: ConfidenceSet | None = None,
    enforce: bool = True,
) -> CertifiedChannel:
    """Turn a channel into integers that certifiably meet a notion.

    Parameters
    ----------
    masses : ndarray of shape (n_sensitive, n_inputs)
        The joint distribution for which the promise is made, up to scale; taken as exact.
    channel : Channel
        What a mechanism built; it may exceed the budget by rounding.
    notion : Notion
        The promise.
    over : ConfidenceSet, optional
        Make the promise for every distribution of this set instead.
    enforce : bool, default=True
        Mix in a constant channel until the promise holds. If False, only judge.

    Returns
    -------
    CertifiedChannel
    """

    def check(weights: Weights) -> NDArray[np.bool_]:
        if over is None:
            return certify(masses, weights, notion)
        return certify_over(over, weights, notion)

    p_x = masses.sum(axis=0) / masses.sum()
    return release_checked(channel, p_x, check, enforce=enforce, monotone=notion.mixing_helps)


def release_checked(
    channel: Channel,
    p_x: FloatArray,
    check: Check,
    *,
    enforce: bool = True,
    monotone: bool = True,
) -> CertifiedChannel:
    """Turn a channel into integers that pass a check of their own.

    Parameters
    ----------
    channel : Channel
        What a mechanism built.
    p_x : ndarray of shape (n_inputs,)
        Distribution of the input.
    check : callable
        Tells for integer weights, without rounding, which outputs keep the promise. A constant
        channel must pass.
    enforce : bool, default=True
        Mix in a constant channel until the check passes. If False, only judge.
    monotone : bool, default=True
        Whether more of a constant channel never makes a promise worse, as with all bounds on
        lifts or on averages of them. If False, as with (epsilon, delta), shares are tried from
        the smallest on instead of by halving.

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
        search = _mixed_until_met if monotone else _first_mixture_that_meets
        weights, mixed = search(weights, p_x, check)
        met = np.ones_like(met)
    outputs = [channel.outputs[y] for y in used]
    return CertifiedChannel(
        channel=Channel(weights / TOTAL, channel.inputs, outputs),
        weights=weights,
        satisfied=bool(met.all()),
        violations=tuple(y for y, ok in zip(outputs, met, strict=True) if not ok),
        mixed=mixed,
    )


def _mixed_until_met(weights: Weights, p_x: FloatArray, check: Check) -> tuple[Weights, float]:
    """Mix in about the smallest share of a constant channel with which the check passes.

    Mixing with share d moves each lift l to (1 - d) l + d. Where only their distance from 1
    counts more is always safer, and a share of 1 leaves lifts of exactly 1. First the power of
    two is found, then, where it matters, a closer multiple of its 64th part.
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


def _first_mixture_that_meets(
    weights: Weights, p_x: FloatArray, check: Check
) -> tuple[Weights, float]:
    """Mix in the smallest share that passes, of the powers of 2 and the multiples of 1/64.

    With delta, more can be worse: mixing gives a mass to pairs that never occurred, and their
    lift, though no longer 0, may still be outside the band.
    """
    powers = [(shift, 1) for shift in range(TOTAL_BITS - 10, _PART_BITS, -1)]
    multiples = [(_PART_BITS, parts) for parts in range(1, 1 << _PART_BITS)]
    for shift, parts in powers + multiples:
        candidate = _mixed(weights, p_x, shift, parts)
        if check(candidate).all():
            return candidate, parts * 2.0**-shift
    return _mixed(weights, p_x, 0), 1.0


def _mixed(weights: Weights, p_x: FloatArray, shift: int, parts: int = 1) -> Weights:
    """Give ``parts`` times 2^-shift of every row to one distribution, that of the output."""
    amount = (TOTAL >> shift) * parts
    p_y = p_x @ (weights / TOTAL)
    constant = np.floor(p_y / p_y.sum() * amount).astype(np.int64)
    constant[constant.argmax()] += amount - constant.sum()
    kept = weights.toarray()
    kept -= (kept >> shift) * parts
    mixed = csr_array(kept + constant)
    _fill_up(mixed)
    return mixed
