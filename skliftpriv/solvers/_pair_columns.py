"""Mixtures of two inputs that are allowed, in closed form: the first posteriors of a search.

Most outputs of a good mechanism stand for two to four inputs. Those of two are found without a
linear program: v = t e_x + (1 - t) e_z is allowed for t in an interval, and the end where the
entry of x is largest is a vertex.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from ._column_pool import WORTH_A_COLUMN, ColumnPool
from ._image import FloatArray, IntArray, plogp
from ._presolve import ReducedProblem
from ._state import SolverState

_CELLS = 100_000
"""Pairs that are looked at at a time."""
_NARROW = 1e-7
"""Where t has less room than this, rounding errors could make a pair miss the budget."""
_PARTNERS = 60
"""Partners of each input that are kept: half of them with the largest share, half at random."""
_FIRST = 4
"""Partners of each input that are tried before there are prices."""
_ADDED = 3
"""Pairs of each input that are added at a time."""
_WORTHWHILE = 1e-3
"""A round is worthwhile if it lowers the objective by more than this share."""


def largest_shares(reduced: ReducedProblem, inputs: IntArray) -> FloatArray:
    """Return the largest t for which t e_x + (1 - t) e_z is allowed; -1 if there is none.

    Parameters
    ----------
    reduced : ReducedProblem
        The polytope.
    inputs : ndarray of shape (b,)
        The inputs x.

    Returns
    -------
    shares : ndarray of shape (b, n)
        For each x, one for each z; -1 also for z = x.
    """
    low, high = np.zeros((inputs.size, reduced.p.size)), np.ones((inputs.size, reduced.p.size))
    for direction, lo, hi in zip(reduced.directions, reduced.lo, reduced.hi, strict=True):
        difference = direction[inputs][:, None] - direction
        same = difference == 0
        difference[same] = 1.0
        one, two = (lo - direction) / difference, (hi - direction) / difference
        if same.any():  # the mixture does not change this row: t is free, or there is none
            free = (lo <= direction) & (direction <= hi)
            one[same], two[same] = 0.0, np.broadcast_to(np.where(free, 1.0, -1.0), same.shape)[same]
        np.maximum(low, np.minimum(one, two), out=low)
        np.minimum(high, np.maximum(one, two), out=high)
    high[np.arange(inputs.size), inputs] = -1.0
    return np.where(high - low > _NARROW, high, -1.0)


def price_pairs(
    reduced: ReducedProblem, pool: ColumnPool, state: SolverState, rng: np.random.Generator
) -> None:
    """Add allowed pairs until they hardly improve the solution.

    Parameters
    ----------
    reduced : ReducedProblem
        The polytope; the image must be the identity.
    pool : ColumnPool
        Receives the pairs.
    state : SolverState
        Clock.
    rng : Generator
        Chooses among many partners.
    """
    x, z, share, rank = _partners(reduced, state, rng)
    cost = plogp(share) + plogp(1.0 - share)
    chosen = rank < _FIRST
    while chosen.any() and not state.finished:
        before = pool.objective
        pool.add(_columns(x[chosen], z[chosen], share[chosen], reduced.p.size), always=True)
        if before - pool.objective <= _WORTHWHILE * abs(pool.objective):
            break
        reduced_cost = cost - share * pool.prices[x] - (1.0 - share) * pool.prices[z]
        order = np.lexsort((reduced_cost, x))
        place = np.empty(x.size, dtype=np.intp)
        place[order] = np.arange(x.size) - np.searchsorted(x[order], x[order])
        chosen = (place < _ADDED) & (reduced_cost < WORTH_A_COLUMN)


def _partners(
    reduced: ReducedProblem, state: SolverState, rng: np.random.Generator
) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    """Return pairs x, z, the largest share of x, and the rank of z among the partners of x."""
    n = reduced.p.size
    parts = []
    for inputs in np.array_split(np.arange(n), max(1, n * n // _CELLS)):
        if state.out_of_time:
            break
        shares = largest_shares(reduced, inputs)
        best = np.argsort(-shares, axis=1, kind="stable")[:, : _PARTNERS // 2]
        others = np.tile(rng.permutation(n)[: _PARTNERS // 2], (inputs.size, 1))
        z = np.hstack([best, others])
        again = (others[:, :, None] == best[:, None, :]).any(axis=2)
        t = np.take_along_axis(shares, z, axis=1)
        t[:, best.shape[1] :][again] = -1.0
        row, rank = np.nonzero(t > 0)
        parts.append((inputs[row], z[row, rank], t[row, rank], rank))
    if not parts:
        parts.append((np.zeros(0, int), np.zeros(0, int), np.zeros(0), np.zeros(0, int)))
    x, z, share, rank = (np.concatenate(column) for column in zip(*parts, strict=True))
    return x, z, share, rank


def _columns(x: IntArray, z: IntArray, share: FloatArray, n: int) -> csr_array:
    """Return pairs as sparse posteriors."""
    entries = np.column_stack([share, 1.0 - share]).ravel()
    starts = np.arange(0, 2 * x.size + 1, 2)
    found = csr_array((entries, np.column_stack([x, z]).ravel(), starts), (x.size, n))
    found.eliminate_zeros()
    return found
