"""Perfect privacy: integer weights whose outputs are independent of S.

With a budget of 0 every lift must be exactly 1, and mixing a channel with a constant one only
brings lifts closer to 1. The weights of an output are independent of S if their mean given s is the
same number for every s. Rounded weights miss this by little, and small integers that are added to
the weights of a few inputs, the helpers, make it exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, gcd

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.optimize import linprog
from scipy.sparse import csc_array, csr_array
from scipy.sparse.csgraph import connected_components

from ._arrays import FloatArray, exact_integers, exact_product
from ._lattice import Lattice, TooManyStepsError

__all__ = ["independent_weights"]

# This many steps with large integers take a few seconds; what needs more is given up.
_MOST_STEPS = 3_000_000
# There are enough helpers for corrections of about this many bits, of the 62 of a weight.
_CORRECTION_BITS = 36
# With larger corrections a constant is the cheapest lift.
_SMALL_REACH = 2**40
# At least this share of every weight is held back for what is added to a row.
_SPARE = 2.0**-30
# How often a larger share is tried if rows have no room for what is added.
_ATTEMPTS = 10
# Inputs with a smaller probability for every s are rare.
_RARE = 1e-9
# Inputs are lifted at most this many times as much as helpers.
_MOST_LIFT = 8.0


def independent_weights(masses: FloatArray, weights: csr_array, total: int) -> csr_array:
    """Return weights close to the given ones whose outputs are exactly independent of S.

    Parameters
    ----------
    masses : ndarray of shape (n_sensitive, n_inputs)
        Joint distribution up to scale, taken as exact.
    weights : csr_array of int64, shape (n_inputs, n_outputs)
        Weights that are almost independent of S; rows sum to ``total``.
    total : int
        Sum of every row.

    Returns
    -------
    csr_array of int64
        Weights of the same shape. Outputs that cannot be made independent, because corrections
        would be as large as their weights or take too long, are merged into another one; in the
        worst case the result is constant.
    """
    p_x = masses.sum(axis=0) / masses.sum()
    try:
        solved = _solved(_Correction(masses), weights, total)
    except TooManyStepsError:
        solved = csr_array(weights.shape, dtype=np.int64)
    # A constant minus independent columns is independent, and so is its sum with one of them.
    left = total - solved.sum(axis=1)
    place = (np.arange(left.size), np.full(left.size, (p_x @ solved).argmax()))
    result = csr_array(solved + csr_array((left, place), shape=weights.shape))
    result.eliminate_zeros()
    return result


def _solved(correction: _Correction, weights: csr_array, total: int) -> csr_array:
    """Return independent columns, zero where impossible; rows sum to at most ``total``."""
    outputs = correction.affordable(weights)
    share = _SPARE
    for _ in range(_ATTEMPTS):
        near = weights[:, outputs]
        near.data -= near.data // int(1 / share)
        found, kept = correction.applied_to(near, total)
        # Sums in 64-bit integers might overflow; those of doubles have an error below 2^-40.
        lacking = (found @ np.ones(found.shape[1])).max() - (1 - 2.0**-40) * total
        if lacking <= 0:
            found = found.tocoo()
            place = (found.row, outputs[kept][found.col])
            return csr_array((found.data, place), shape=weights.shape)
        share = min(1.5 * share + 1.25 * lacking / total, 0.5)
    return csr_array(weights.shape, dtype=np.int64)


class _Correction:
    """What makes weights that are almost independent of S exactly independent."""

    def __init__(self, masses: FloatArray) -> None:
        self._p_x = masses.sum(axis=0) / masses.sum()
        most = (masses / masses.sum(axis=1, keepdims=True)).max(axis=0)
        # Rare inputs get each output as often as all inputs do, so that other inputs need not
        # make up for them.
        self._rare = np.flatnonzero((most > 0) & (most < _RARE))
        self._parts = _parts(np.where(most < _RARE, 0.0, masses))
        helpers = [part.inputs[part.helpers] for part in self._parts]
        self._changed = np.concatenate([*helpers, self._rare])
        self._lifting, constant = _lifting(self._parts, self._p_x.size)
        self._lifting[self._rare] = constant

    def affordable(self, weights: csr_array) -> NDArray[np.intp]:
        """Return the most frequent outputs, as many as can be corrected in a few seconds."""
        most_rows = max(part.masses.shape[0] for part in self._parts)
        steps = most_rows * np.bincount(weights.indices, minlength=weights.shape[1])
        steps += sum(part.helpers.size**2 for part in self._parts)
        frequent = np.argsort(-(self._p_x @ weights), kind="stable")
        return np.sort(frequent[np.cumsum(steps[frequent]) <= _MOST_STEPS])

    def applied_to(self, near: csr_array, total: int) -> tuple[csr_array, NDArray[np.intp]]:
        """Return exactly independent columns, and which of the given ones they are."""
        means = np.rint(self._p_x @ near).astype(np.int64)
        parts = [part.corrections(csc_array(near[part.inputs]), means) for part in self._parts]
        changes = np.vstack([*parts, means - near[self._rare].toarray()])
        corrected = near[self._changed].toarray() + changes
        # Between -total / 2 and 3 total / 2 no sum below exceeds 64 bits.
        small = np.flatnonzero((abs(corrected - total // 2) < total).all(axis=0) & (means > 0))
        exact = near[:, small] + self._placed(changes[:, small].astype(np.int64))
        # Multiples of the lifting keep columns independent and make them non-negative.
        least = (corrected[:, small] // self._lifting[self._changed, None]).min(axis=0)
        times = -least.clip(max=0).astype(np.int64)
        kept = self._worthwhile(times, means[small], total)
        lifts = csr_array(self._lifting[:, None]) @ csr_array(times[None, kept])
        return exact[:, kept] + lifts, small[kept]

    def _placed(self, changes: NDArray[np.int64]) -> csr_array:
        """Return changes of a few inputs as changes of all."""
        rows, outputs = np.nonzero(changes)
        place = (self._changed[rows], outputs)
        shape = (self._p_x.size, changes.shape[1])
        return csr_array((changes[rows, outputs], place), shape=shape)

    def _worthwhile(
        self, times: NDArray[np.int64], means: NDArray[np.int64], total: int
    ) -> NDArray[np.intp]:
        """Return outputs that still tell more than half of what they told, after their lift."""
        shares = times * (self._p_x @ self._lifting) / means
        order = np.argsort(shares, kind="stable")
        fits = np.cumsum(times[order] * float(self._lifting.max())) <= total / 4
        return np.sort(order[fits & (shares[order] < 0.5)])


@dataclass(frozen=True)
class _Part:
    """Values of S whose inputs occur with none of the others.

    Attributes
    ----------
    inputs : ndarray of int
        The inputs.
    given_s : ndarray of shape (n_sensitive, n_inputs)
        Distribution of the input given S.
    masses : ndarray of int, shape (n_sensitive, n_inputs)
        The same without rounding, each row up to a factor.
    helpers : ndarray of int
        Positions in ``inputs`` of the inputs whose weights are changed.
    lattice : Lattice
        Columns of ``masses`` of the helpers; all columns are integer combinations of them.
    """

    inputs: NDArray[np.intp]
    given_s: FloatArray
    masses: np.ndarray
    helpers: NDArray[np.intp]
    lattice: Lattice

    def corrections(self, weights: csc_array, means: NDArray[np.int64]) -> np.ndarray:
        """Integers to add to the weights of helpers so that outputs have these means for all s."""
        wanted = np.multiply.outer(self.masses.sum(axis=1), means.astype(object))
        return self.lattice.coefficients(wanted - exact_product(self.masses, weights))

    def sparse_lift(self) -> FloatArray:
        """Weights with the same mean 1 for all s, positive for helpers and 0 for most others."""
        n_s, n_x = self.given_s.shape
        constant = np.ones(n_x)
        if self.helpers.size == n_x or self.lattice.reach > _SMALL_REACH:
            return constant
        least = np.zeros(n_x + 1)
        least[self.helpers] = 1
        found = linprog(
            c=np.eye(n_x + 1)[n_x],  # the last variable is the mean
            A_eq=np.column_stack([self.given_s, -np.ones(n_s)]),
            b_eq=np.zeros(n_s),
            bounds=np.column_stack([least, np.full(n_x + 1, _MOST_LIFT)]),
        )
        return found.x[:-1].clip(min=0) / found.x[-1] if found.success else constant


def _parts(masses: FloatArray) -> list[_Part]:
    """Split S into parts whose inputs are disjoint; inputs without mass are in none."""
    occurs = csr_array(masses > 0, dtype=np.int64)
    n_parts, part_of_s = connected_components(occurs @ occurs.T, directed=False)
    part_of_x = np.where(masses.any(axis=0), part_of_s[masses.argmax(axis=0)], -1)
    parts: list[_Part] = []
    steps = _MOST_STEPS
    for number in range(n_parts):
        inputs = np.flatnonzero(part_of_x == number)
        part, steps = _part(masses[np.ix_(part_of_s == number, inputs)], inputs, steps)
        parts.append(part)
    return parts


def _part(masses: FloatArray, inputs: NDArray[np.intp], steps: int) -> tuple[_Part, int]:
    """Choose frequent inputs as helpers, as many as small corrections need.

    Also return how many of the given steps are left.
    """
    n_s = masses.shape[0]
    integers = exact_integers(masses)
    integers //= np.array([gcd(*row) for row in integers.tolist()], dtype=object)[:, None]
    given_s = masses / masses.sum(axis=1, keepdims=True)
    _, independent = qr(given_s, mode="r", pivoting=True)
    frequent = np.argsort(-given_s.sum(axis=0), kind="stable")
    order = np.array(list(dict.fromkeys([*independent[:n_s], *frequent])))
    bits = sum(number.bit_length() for number in integers.max(axis=1))
    lattice = Lattice(n_s, steps)
    helpers = order[:0]
    more = order[: n_s + ceil(bits / _CORRECTION_BITS) + 1]
    while more.size:
        lattice.add(integers[:, more].T)
        helpers = np.concatenate([helpers, more])
        more = order[~lattice.contains(integers[:, order])][:n_s]
    return _Part(inputs, given_s, integers, helpers, lattice), steps - lattice.steps


def _lifting(parts: list[_Part], n_inputs: int) -> tuple[NDArray[np.int64], int]:
    """Integer weights of an independent output, positive for helpers, and their mean given s."""
    lifts = [part.sparse_lift() for part in parts]
    # Rounded lifts must stay positive when they are corrected; constants need no correction.
    sparse = [part for part, lift in zip(parts, lifts, strict=True) if (lift != 1).any()]
    size = 1 + max((4 * part.lattice.reach for part in sparse), default=0)
    result = np.zeros(n_inputs, dtype=np.int64)
    for part, lift in zip(parts, lifts, strict=True):
        weights = np.rint(size * lift).astype(np.int64)
        changes = part.corrections(csc_array(weights[:, None]), np.array([size]))[:, 0]
        if (abs(changes) < weights[part.helpers]).all():
            weights[part.helpers] += changes.astype(np.int64)
        else:
            weights[:] = size
        result[part.inputs] = weights
    return result, size
