"""Exact checks: which outputs of integer weights meet a notion, decided without rounding."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, vstack

from .._arrays import FloatArray, exact_integers, exact_product
from .._limits import MOST_FRACTIONS, POOL, refuse_beyond
from ..confidence import ConfidenceSet, Distributions, JointList
from ..notions import Notion
from ._weights import TOTAL, Weights, drawn_weights, without_common

# Half the distance from 1 to the next double: the relative error of one operation.
_ROUNDING = 2.0**-53
# Smaller masses, relative to the largest, may have lost digits to underflow.
_TINIEST = 1e-250


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
