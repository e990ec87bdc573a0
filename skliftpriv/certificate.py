"""Certification: a channel is rounded to integers, and these are checked in exact arithmetic.

A channel that a solver returns in floating point usually exceeds its bound by about 1e-14. It is
therefore rounded to integer weights, and the lifts of these integers are computed exactly as
rational numbers. If they exceed the budget, the channel is mixed with a small share of a constant
channel until they meet it. The integers that pass are the ones that are sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, vstack

from ._arrays import FloatArray, Label, exact_integers, exact_product
from ._independence import independent_weights
from ._limits import MOST_CHANNEL_CELLS, MOST_FRACTIONS, POOL, refuse_beyond
from .channel import Channel
from .confidence import ConfidenceSet, Distributions, JointList
from .notions import Notion

__all__ = [
    "TOTAL",
    "CertifiedChannel",
    "certify",
    "certify_over",
    "worst_levels_over",
    "drawn_weights",
    "quantize",
    "certified_for",
    "certified_by",
    "mixed_until_met",
]

#: Every row of integer weights sums to this; 62 bits leave room for sums in 64-bit integers.
TOTAL_BITS = 62
TOTAL = 2**TOTAL_BITS

# Shares above 2^-20 cost utility, so they are found to one part in 64.
_COARSE_SHIFT = 20
_PART_BITS = 6

# Budgets up to this are so close to 0 that outputs may as well be independent of S, if mixing takes
# more than the given share.
_SMALL_BUDGET, _COSTLY = 1e-4, 2.0**-14

# Half the distance from 1 to the next double: the relative error of one operation.
_ROUNDING = 2.0**-53
# Smaller masses, relative to the largest, may have lost digits to underflow.
_TINIEST = 1e-250

#: Sparse integer weights, rows inputs, columns outputs.
Weights: TypeAlias = csr_array
#: Return which outputs of integer weights pass.
Check: TypeAlias = Callable[[Weights], NDArray[np.bool_]]
#: Make integer weights pass a check; also return the share of a constant channel mixed in.
Mend: TypeAlias = Callable[[Weights, FloatArray, Check], tuple[Weights, float]]


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


def quantize(channel: Channel) -> Weights:
    """Round the rows of a channel to integers that sum to 2^62.

    Zeros stay zero and equal rows stay equal; the remainder goes to the largest entry of a row.
    """
    sparse = channel.sparse
    data = np.floor(sparse.data * float(TOTAL)).astype(np.int64)
    weights = csr_array((data, sparse.indices, sparse.indptr), shape=sparse.shape, copy=True)
    _fill_up(weights)
    weights.eliminate_zeros()
    return weights


def _fill_up(weights: Weights) -> None:
    """Make every row sum to 2^62 by changing its largest entry (the first one in a tie)."""
    starts = weights.indptr[:-1]
    row_of = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    largest = np.maximum.reduceat(weights.data, starts)
    ties = np.flatnonzero(weights.data == largest[row_of])
    _, first = np.unique(row_of[ties], return_index=True)
    weights.data[ties[first]] += TOTAL - np.add.reduceat(weights.data, starts)


def certify(masses: FloatArray, weights: Weights, notion: Notion) -> NDArray[np.bool_]:
    """Check without rounding which outputs of integer weights meet a notion.

    Parameters
    ----------
    masses : ndarray of shape (n_sensitive, n_inputs)
        The joint distribution, up to scale; taken as exact.
    weights : csr_array of int64, shape (n_inputs, n_outputs)
        Rows sum to 2^62; every output must occur.
    notion : Notion
        The notion with its budget.

    Returns
    -------
    ndarray of bool, shape (n_outputs,)
    """
    met = _surely_met(masses, weights, notion)
    doubtful = np.flatnonzero(~met)
    if doubtful.size:
        of_sy, of_s = _exact_masses(masses, weights[:, doubtful])
        # Outputs with the same masses have the same lifts, and rare symbols often share masses.
        place: dict[tuple[int, ...], int] = {}
        kind = np.array([place.setdefault(tuple(c), len(place)) for c in of_sy.T])
        kinds = np.array(list(place), dtype=object).T
        refuse_beyond(
            MOST_FRACTIONS,
            kinds.size,
            f"{kinds.size:,} lifts must be compared without rounding",
            f"pool rare sensitive values, {POOL}, or use WatchdogSanitizer with notion 'lip', "
            "'alip' or 'ldp'",
        )
        lifts, p_s, p_y = _fractions(kinds, of_s)
        shares = np.array(p_y, dtype=object) * np.bincount(kind).astype(object)
        met[doubtful] = notion.all_exactly_met(lifts, p_s, shares)[kind]
    return met


def _surely_met(masses: FloatArray, weights: Weights, notion: Notion) -> NDArray[np.bool_]:
    """Return which outputs meet a notion by more than the error of floating-point arithmetic.

    A sum of n non-negative doubles has a relative error of at most n 2^-53 (to first order) in any
    order of summation. So ``error`` bounds the relative error of a lift and the absolute error of
    its logarithm, which is compared with the budget. Only polyhedral notions are decided.
    """
    n_s, n_x = masses.shape
    none = np.zeros(weights.shape[1], dtype=bool)
    if not notion.polyhedral:
        return none
    error = 16 * (n_s + n_x + 16) * _ROUNDING
    scaled = masses / masses.max()
    of_sy = scaled @ (weights / TOTAL)
    of_s, of_y = scaled.sum(axis=1), of_sy.sum(axis=0)
    safe = (of_sy > _TINIEST).all(axis=0)
    if not (of_s > _TINIEST).all():
        return none
    lift = of_sy / of_y.clip(_TINIEST) / (of_s / scaled.sum())[:, None]
    levels = notion.levels(lift, of_s / scaled.sum())
    for side, bound in notion.budget.items():
        safe &= levels[side] <= bound - error * max(1.0, bound)
    return np.asarray(safe)


def certify_over(over: Distributions, weights: Weights, notion: Notion) -> NDArray[np.bool_]:
    """Check without rounding which outputs meet a notion for every distribution in a set.

    Parameters
    ----------
    over : ConfidenceSet or JointList
        The distributions; their bounds or masses are taken as exact.
    weights : csr_array of int64, shape (n_inputs, n_outputs)
        Rows sum to 2^62; every output must occur.
    notion : Notion
        The notion with its budget; LIP, ALIP or LDP for a confidence set.

    Returns
    -------
    ndarray of bool, shape (n_outputs,)
    """
    if isinstance(over, JointList):
        met = [_certify_where_possible(masses, weights, notion) for masses in over.masses]
        return np.logical_and.reduce(met)
    return notion.all_exactly_met(over.worst_lift(_with_draws(over, weights), notion), (), ())


def worst_levels_over(over: Distributions, weights: Weights, notion: Notion) -> dict[str, float]:
    """Largest level of each side of a notion over a set of distributions."""
    if isinstance(over, JointList):
        return over.worst_levels(weights, notion)
    return over.worst_levels(_with_draws(over, weights), notion)


def _certify_where_possible(
    masses: FloatArray, weights: Weights, notion: Notion
) -> NDArray[np.bool_]:
    """Check the outputs that occur for a distribution which may lack some symbols."""
    s, x = masses.any(axis=1), masses.any(axis=0)
    if s.all() and x.all():
        return certify(masses, weights, notion)
    met = np.ones(weights.shape[1], dtype=bool)
    possible = weights[x]
    occur = np.unique(possible.indices)
    met[occur] = certify(masses[np.ix_(s, x)], possible[:, occur], notion)
    return met


def _with_draws(over: ConfidenceSet, weights: Weights) -> csc_array:
    """Add the row of the symbols without rows, whose output is a draw, if there are any."""
    if not over.unseen_labels:
        return csc_array(weights)
    return csc_array(vstack([weights, drawn_weights(weights, over.estimate.sum(axis=0))]))


def drawn_weights(weights: Weights, p: FloatArray) -> Weights:
    """Integer weights of a draw from the distribution of the output.

    Parameters
    ----------
    weights : csr_array of int64, shape (n_inputs, n_outputs)
        P(Y|input); rows sum to 2^62.
    p : ndarray of shape (n_inputs,)
        Distribution of the inputs.

    Returns
    -------
    csr_array of int64, shape (1, n_outputs)
    """
    first = weights[[0]]
    equal = csr_array(np.ones((weights.shape[0], 1), dtype=np.int64)) @ first
    if weights.nnz == equal.nnz and (weights != equal).nnz == 0:
        return first  # of a constant channel without rounding, as a budget of 0 needs it
    p_y = p @ (weights / TOTAL)
    return quantize(Channel((p_y / p_y.sum())[None, :]))


def exact_lifts(
    masses: FloatArray, weights: Weights
) -> tuple[np.ndarray, Sequence[Fraction], Sequence[Fraction]]:
    """Lifts of integer weights as fractions, shape (n_sensitive, n_outputs), with P_S and P_Y."""
    return _fractions(*_exact_masses(masses, weights))


def _exact_masses(masses: FloatArray, weights: Weights) -> tuple[np.ndarray, np.ndarray]:
    """Masses of (s, y) and of s as integers, the former times 2^62."""
    integers = exact_integers(masses)
    of_s = integers.sum(axis=1)
    common, rest = without_common(weights)
    of_sy = np.multiply.outer(of_s, common.astype(object)) + exact_product(integers, rest)
    return of_sy, of_s


def _fractions(
    of_sy: np.ndarray, of_s: np.ndarray
) -> tuple[np.ndarray, Sequence[Fraction], Sequence[Fraction]]:
    total = of_s.sum()
    of_y = of_sy.sum(axis=0)
    lifts = np.empty(of_sy.shape, dtype=object)
    for s, y in np.ndindex(*of_sy.shape):
        lifts[s, y] = Fraction(of_sy[s, y] * total, of_s[s] * of_y[y])
    p_s = [Fraction(value, total) for value in of_s]
    p_y = [Fraction(value, total * TOTAL) for value in of_y]
    return lifts, p_s, p_y


def without_common(weights: csr_array | csc_array) -> tuple[NDArray[np.int64], csc_array]:
    """Split off the part of every column that all its rows share, and return both parts.

    Mixed channels have such a part in every column; without it few entries are left to multiply.
    """
    columns = csc_array(weights, copy=True)
    common = np.minimum.reduceat(columns.data, columns.indptr[:-1])
    counts = np.diff(columns.indptr)
    common[counts < columns.shape[0]] = 0
    columns.data -= np.repeat(common, counts)
    columns.eliminate_zeros()
    return common, columns


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
    return certified_by(channel, p_x, check, enforce=enforce, mend=_mend_for(masses, notion, over))


def _mend_for(masses: FloatArray, notion: Notion, over: Distributions | None) -> Mend:
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


def mixed_until_met(weights: Weights, p_x: FloatArray, check: Check) -> tuple[Weights, float]:
    """Mix in roughly the smallest share of a constant channel that makes the check pass.

    Mixing in a share d moves each lift l to (1 - d) l + d. If only the distance of lifts from 1
    matters, a larger share is always safer, and a share of 1 gives lifts of exactly 1. First the
    power of two is found, then, if the share is large enough to cost utility, the smallest
    multiple of its 64th part that passes.
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
    _fill_up(mixed)
    return mixed
