"""The entry point: reduce the problem, choose a method, evaluate the solution."""

from __future__ import annotations

from functools import partial
from math import comb

import numpy as np

from ..exceptions import InvalidParameterError, SkliftprivError
from ._column_generation import solve_by_column_generation
from ._cutting_planes import solve_by_cutting_planes
from ._pairs import solve_by_pairs
from ._polish import polish
from ._presolve import ReducedProblem, expand, reduce_problem
from ._problem import FloatArray, PosteriorProblem, PosteriorSolution, entropy
from ._state import SolverState
from ._vertices import solve_by_enumeration

_METHODS = ("auto", "column-generation", "vertices")
_FEW_CHOICES = 1_200_000
"""About 17 symbols and 5 ranges, with about 3,000 vertices, found in 0.05 s."""


def solve(
    problem: PosteriorProblem,
    *,
    method: str = "auto",
    gap: float = 1e-6,
    time_limit: float | None = None,
    verbose: bool | None = None,
    random_state: int = 0,
) -> PosteriorSolution:
    """Find posteriors that keep the most information, with a certified gap to the optimum.

    Parameters
    ----------
    problem : PosteriorProblem
        Distribution of X and privacy rows.
    method : {"auto", "column-generation", "vertices"}, default="auto"
        ``"vertices"`` enumerates all vertices with cddlib (GPL). It is for small
        problems only, and neither ``gap`` nor ``time_limit`` stops it. ``"column-generation"``
        (``"columns"``, its former name, is still accepted) generates posteriors as needed.
        ``"auto"`` prices all pairs exactly if the rows reduce to one range (binary S),
        enumerates vertices if there are few and cddlib is installed, and otherwise generates
        columns. With ``problem.separate`` the search generates columns, and the method applies
        to the bound.
    gap : float, default=1e-6
        Stop when the NMI is certified to be this close to the optimum.
    time_limit : float, optional
        Stop after about this many seconds with the best solution found and a valid bound.
        With ``problem.separate`` the bound is improved for at most five seconds.
    verbose : bool or None, default=None
        Show a progress line on standard error: always, never or, with None, in a terminal or a
        notebook once the work takes longer than three seconds.
    random_state : int, default=0
        Seed of the heuristic search; the optimum does not depend on it.

    Returns
    -------
    PosteriorSolution

    Notes
    -----
    A keyboard interrupt ends the run with status ``"interrupted"`` and the best solution
    so far. Enumeration has no solution before it ends, so it raises the interrupt.

    Examples
    --------
    >>> import numpy as np
    >>> from skliftpriv.solvers import PosteriorProblem, solve
    >>> lift = np.array([[1.5, 0.5], [0.5, 1.5]])
    >>> rows = np.vstack([lift - np.exp(0.2), np.exp(-0.2) - lift])
    >>> solution = solve(PosteriorProblem([0.5, 0.5], rows))
    >>> solution.status, round(solution.nmi, 4)
    ('optimal', 0.097)
    """
    method = "column-generation" if method == "columns" else method  # the former name
    if method not in _METHODS:
        raise InvalidParameterError(f"method must be one of {_METHODS}, got {method!r}.")
    if not gap >= 0:
        raise InvalidParameterError(f"gap must be non-negative, got {gap!r}.")
    if time_limit is not None and not time_limit > 0:
        raise InvalidParameterError(f"time_limit must be positive or None, got {time_limit!r}.")
    state = SolverState(problem.entropy, gap, time_limit, verbose)
    if problem.separate is not None:
        posteriors, weights = solve_by_cutting_planes(
            problem, state, random_state, partial(solve, method=method, verbose=False)
        )
    else:
        reduced = reduce_problem(problem)
        posteriors, weights = expand(reduced, *_dispatch(reduced, state, method, random_state))
    posteriors, weights = polish(problem, posteriors, weights)
    return _solution(problem, state, posteriors, weights)


def _dispatch(
    reduced: ReducedProblem, state: SolverState, method: str, random_state: int
) -> tuple[FloatArray, FloatArray]:
    if reduced.p.size == 1:  # the rows do not distinguish symbols: all of X may be output
        state.value = 0.0
        return np.ones((1, 1)), np.ones(1)
    if method == "vertices":
        return solve_by_enumeration(reduced, state)
    if method == "auto" and len(reduced.directions) == 1:
        return solve_by_pairs(reduced, state)
    if method == "auto" and _few_vertices(reduced):
        try:
            return solve_by_enumeration(reduced, state)
        except SkliftprivError:
            # cddlib is missing or failed by rounding; column generation finds the same optimum.
            pass
    return solve_by_column_generation(reduced, state, random_state)


def _few_vertices(reduced: ReducedProblem) -> bool:
    """Return whether enumeration takes only a fraction of a second.

    A vertex with k nonzero symbols has k - 1 tight ranges, each at one of its two ends. This
    bounds the number of choices, of which about one in three hundred is a vertex.
    """
    n, r = reduced.p.size, len(reduced.directions)
    choices = sum(comb(n, k) * comb(r, k - 1) * 2 ** (k - 1) for k in range(1, min(n, r + 1) + 1))
    return choices <= _FEW_CHOICES


def _solution(
    problem: PosteriorProblem, state: SolverState, posteriors: FloatArray, weights: FloatArray
) -> PosteriorSolution:
    """Evaluate the final posteriors independently of the method that found them."""
    h_x = problem.entropy
    state.value = float(weights @ entropy(posteriors))
    nmi = 1.0 if h_x == 0 else min(1.0, max(0.0, 1.0 - state.value / h_x))
    upper = 1.0 if h_x == 0 else min(1.0, max(nmi, 1.0 - state.bound / h_x))
    state.report(last=True)
    return PosteriorSolution(
        posteriors=posteriors,
        weights=weights,
        p_x=problem.p_x,
        nmi=nmi,
        upper_bound=upper,
        status=state.status(upper - nmi),
        seconds=state.seconds,
        n_columns=state.n_columns,
        n_nodes=state.n_nodes,
    )
