"""A good mechanism with few outputs, all of which are improved together.

H(U v) is concave in v, so it lies below its linearisation c_k.v at any v_k, and for the masses
w_k = q_k v_k of a few outputs the linear program

    min sum_k c_k.w_k  s.t.  A w_k <= 0,  sum_k w_k = p,  w >= 0,

where A v <= 0 are the privacy rows, bounds from above what they cost. Its solution, linearised
again, costs less than the last one. If what is kept is an image of few parts, such as a target,
a few dozen outputs keep nearly as much as all that column generation finds, in a fraction of the
time: its first prices are far off, and a mechanism of the columns found so far keeps little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_diag, csr_array, eye_array, hstack

from ._coarse import shares, similar
from ._image import FloatArray, clean
from ._presolve import ReducedProblem
from ._state import SolverState

_OUTPUTS = (8, 16, 32)
"""Numbers of outputs. Few are there early, in case that time is up before more are."""
_ROUNDS = 2
"""Linear programs for each of them; further ones gain little."""
_SHARE = 0.3
"""Share of the time that is left which a linear program may take."""
_MOST_ENTRIES = 2_000_000
"""Larger linear programs take too long."""
_MOST_PARTS = 100
"""Few outputs keep little of an image with more parts."""
_NO_MASS = 1e-9
_TOLERANCE = 1e-10


class Descent(NamedTuple):
    """Posteriors that average to p with some weights, and the last prices of the inputs."""

    posteriors: FloatArray
    prices: FloatArray | None


def descend_together(reduced: ReducedProblem, state: SolverState) -> Descent:
    """Find posteriors of a good mechanism with few outputs.

    Parameters
    ----------
    reduced : ReducedProblem
        The polytope, and what is kept.
    state : SolverState
        The clock.

    Returns
    -------
    Descent
        Without posteriors and prices if there is no time for any, if the image has many parts, or
        if what is allowed is not a polytope.
    """
    image, none = reduced.utility.matrix, np.zeros((0, reduced.p.size))
    if image is None or len(image) > _MOST_PARTS or not reduced.polyhedral:
        return Descent(none, None)
    below, above = np.isfinite(reduced.hi), np.isfinite(reduced.lo)
    rows = np.vstack(
        [
            reduced.directions[below] - reduced.hi[below, None],
            reduced.lo[above, None] - reduced.directions[above],
        ]
    )
    kinds = np.sqrt(image.T)
    n_kinds = len(np.unique(kinds, axis=0))
    found, prices = [none], None
    for count in _OUTPUTS:
        if count * rows.size > _MOST_ENTRIES:
            break
        # Outputs that tell inputs with different images apart, and one that tells nothing, so that
        # there is a solution. They need not be allowed.
        groups = similar(kinds, min(count, n_kinds))
        outputs = np.vstack([shares(reduced.p, groups).T.toarray(), reduced.p])
        for _ in range(_ROUNDS):
            if state.out_of_time:
                break
            limit = _SHARE * state.left
            solution = _solved(rows, reduced.p, reduced.utility.slopes(outputs), limit)
            if solution is None:
                break
            outputs, prices = solution
            found.append(_allowed(reduced, outputs))
    return Descent(np.vstack(found), prices)


def _solved(
    rows: FloatArray, p: FloatArray, costs: FloatArray, seconds: float
) -> tuple[FloatArray, FloatArray] | None:
    """Return the outputs with mass and the multipliers of p; None if time is up."""
    count, n = costs.shape
    solution = linprog(
        costs.ravel(),
        A_ub=block_diag([csr_array(rows)] * count, format="csr"),
        b_ub=np.zeros(count * len(rows)),
        A_eq=csr_array(hstack([eye_array(n)] * count)),
        b_eq=p * n,  # around 1, far above the tolerances
        method="highs-ds",
        options={
            "time_limit": seconds,
            "primal_feasibility_tolerance": _TOLERANCE,
            "dual_feasibility_tolerance": _TOLERANCE,
        },
    )
    if solution.status != 0:
        return None
    masses = np.maximum(solution.x, 0.0).reshape(count, n)
    return clean(masses[masses.sum(axis=1) > _NO_MASS]), solution.eqlin.marginals


def _allowed(reduced: ReducedProblem, posteriors: FloatArray) -> FloatArray:
    """Mix in as little of p as undoes rounding errors; all of them still average to p."""
    at_p = reduced.directions @ reduced.p
    slack = float(np.minimum(reduced.hi - at_p, at_p - reduced.lo).min())
    excess = max(float(reduced.violation(posteriors).max(initial=0.0)), 0.0)
    share = excess / (excess + slack) if slack > 0 else 0.0
    return (1.0 - share) * posteriors + share * reduced.p
