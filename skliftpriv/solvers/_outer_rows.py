"""The bound for an image and averages of the lift, from linear inequalities around what is allowed.

Boxes of an image with many parts, such as X for mechanisms that see S, bound little. A polytope
that contains all that the averages allow has an optimum that the methods for linear inequalities
prove, and it is a bound. Where its solution leaves what is allowed, gradients of the averages cut
it off; mixed with p until they are allowed, its posteriors are good ones to begin with. Of averages
of functions that are not convex this bounds the convex hull, up to their envelopes.
"""

from __future__ import annotations

import numpy as np

from ._column_pool import ColumnPool
from ._cutting_planes import Solve, bound_by_rows
from ._image import FloatArray
from ._lift_lp import LiftLP
from ._presolve import ReducedProblem
from ._problem import PosteriorProblem
from ._state import SolverState

_SHARE = 0.5
"""Share of the time that is left."""
_ROUNDS, _LESS = 4, 0.9
"""This ends if so many rounds lower the gap by less than a tenth."""


def bound_by_outer_rows(
    reduced: ReducedProblem, pool: ColumnPool, state: SolverState, solve_rows: Solve
) -> None:
    """Bound the optimum by polytopes around what is allowed, and add their posteriors to a pool.

    Parameters
    ----------
    reduced : ReducedProblem
        With averages and an image.
    pool : ColumnPool
        Receives posteriors.
    state : SolverState
        Clock; receives the bound.
    solve_rows : callable
        Solver of problems whose rows are listed.
    """
    averages, p = reduced.averages, reduced.p
    assert averages is not None
    lp = LiftLP(averages, reduced.lo, reduced.hi)
    gaps = [state.value - state.bound]

    def respond(posteriors: FloatArray) -> tuple[FloatArray, bool]:
        pool.add(averages.pulled(posteriors, p), always=True)
        gaps.append(state.value - state.bound)
        if len(gaps) > _ROUNDS and gaps[-1] > _LESS * gaps[-1 - _ROUNDS]:
            return np.zeros((0, p.size)), False
        return np.vstack([lp.rows_against(v) for v in posteriors]), False

    rows = np.vstack([averages.lift - reduced.hi[:, None], reduced.lo[:, None] - averages.lift])
    relaxed = PosteriorProblem(p, rows, image=reduced.utility.matrix)
    bound_by_rows(relaxed, state, _SHARE * state.left, solve_rows, respond)
