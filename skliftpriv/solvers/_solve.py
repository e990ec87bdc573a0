"""The entry point: reduce the problem, choose a method, evaluate the solution."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from math import comb

import numpy as np
from scipy.sparse import csr_array

from .._limits import MOST_POSTERIOR_CELLS
from ..exceptions import InvalidParameterError, SkliftprivError
from ._blocks import Outputs, improve_in_blocks
from ._coarse import coarsened
from ._column_generation import generate_columns
from ._column_pool import ColumnPool
from ._couplings import CouplingPricer
from ._cutting_planes import solve_by_cutting_planes
from ._exact_pricing import Pricer, price_exactly
from ._image import FloatArray
from ._joint_descent import descend_together
from ._levels import LevelPricer
from ._outer_rows import bound_by_outer_rows
from ._pairs import PairPricer
from ._polish import polish
from ._presolve import ReducedProblem, expand, grouped_problem, reduce_problem
from ._problem import PosteriorProblem, PosteriorSolution
from ._state import SolverState
from ._vertices import solve_by_enumeration

_METHODS = ("auto", "column-generation", "vertices")
_FEW_CHOICES = {True: 1_200_000, False: 3_000_000}
"""For the identity: 17 symbols and 5 ranges, with about 3,000 vertices, found in 0.05 s.

For other images, whose bound is harder to find otherwise: 15 symbols and 6 ranges, with up to
about 20,000 vertices, found in seconds.
"""
_CHOICES_A_SECOND = 500_000
"""How many are looked through in a second if many vertices are degenerate."""
_COARSE_SHARE = 0.3
_COARSE_GAP = 1e-3
"""Share of the time for a coarser problem to start from, and when that is solved well enough."""
_MANY = 1000
"""Problems with more inputs are first solved in blocks."""
_BLOCK_SHARE = 0.5
"""Share of the time for blocks if the search for posteriors of all inputs follows."""


def solve(
    problem: PosteriorProblem,
    *,
    start: Callable[[float], Iterator[FloatArray | csr_array]] | None = None,
    method: str = "auto",
    gap: float = 1e-6,
    time_limit: float | None = None,
    verbose: bool | None = None,
    random_state: int = 0,
    certify: bool = True,
) -> PosteriorSolution:
    """Find posteriors that keep the most information, with a certified gap to the optimum.

    Parameters
    ----------
    problem : PosteriorProblem
        Distribution of the input, privacy rows, and what is to be kept.
    start : callable, optional
        Yields arrays of posteriors, dense or sparse, shape (k, n), of which the allowed ones are
        used; its argument is the number of seconds left. The solution keeps at least as much as
        the best mixture of them that averages to p, after any time limit. Nothing is taken from
        it if there is no search.
    method : {"auto", "column-generation", "vertices"}, default="auto"
        ``"vertices"`` enumerates all vertices with cddlib (GPL). It is for small
        problems only, and neither ``gap`` nor ``time_limit`` stops it. ``"column-generation"``
        (``"columns"``, its former name, is still accepted) generates posteriors as needed.
        ``"auto"`` prices all posteriors exactly where that is easy: all pairs if the rows reduce
        to one range (binary S), all levels of a binary target, all couplings if the mechanism
        sees an S with few values. It enumerates vertices if there are few and cddlib is
        installed. Otherwise it generates columns. With ``problem.separate`` the search generates
        columns, and the method applies to the bound.
    gap : float, default=1e-6
        Stop when the share that is kept is certified to be this close to the optimum.
    time_limit : float, optional
        Stop after about this many seconds with the best solution found and a valid bound.
        With ``problem.separate`` the bound is improved for at most five seconds.
    verbose : bool or None, default=None
        Show a progress line on standard error: always, never or, with None, in a terminal or a
        notebook once the work takes longer than three seconds.
    random_state : int, default=0
        Seed of the heuristic search; the optimum does not depend on it.
    certify : bool, default=True
        False to end when the heuristic search does, often with an upper bound of 1.

    Returns
    -------
    PosteriorSolution
        With more than about 2,200 inputs its posteriors are sparse. If rows tell that many apart,
        ``method`` is ignored: blocks of outputs are improved in turn.

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
    >>> solution.status, round(solution.kept, 4)
    ('optimal', 0.097)
    """
    method = "column-generation" if method == "columns" else method  # the former name
    _check_options(method, gap, time_limit)
    state = SolverState(problem.scale, gap, time_limit, verbose)
    first = iter(()) if start is None else start(state.left)
    if problem.separate is not None:
        search = partial(solve, method=method, verbose=False)
        dense = (_dense(part) for part in first)
        found = solve_by_cutting_planes(problem, dense, state, random_state, search)
        return _solution(problem, state, *polish(problem, *found))
    reduced = reduce_problem(problem)
    grouped = grouped_problem(problem, reduced)
    first = (reduced.grouped(part) for part in first)
    # Blocks alone, or first, or not at all.
    in_blocks = certify and reduced.utility.identity and reduced.polyhedral
    large = in_blocks and reduced.p.size**2 > MOST_POSTERIOR_CELLS
    many = in_blocks and reduced.p.size > _MANY and len(reduced.directions) > 1
    if large or many:
        limit = _BLOCK_SHARE * state.left
        inner = state if large else SolverState(problem.scale, gap, limit, verbose=False)
        search = partial(solve, gap=gap, verbose=False, certify=False)
        outputs = improve_in_blocks(grouped, reduced, first, inner, random_state, search)
        state.improve_bound(inner.bound)
        first = _started(outputs.posteriors, inner)
    if not large:
        dense = (_dense(part) for part in first)
        found = _dispatch(reduced, dense, state, method, random_state, certify)
        outputs = Outputs(*polish(grouped, *found))
    posteriors, weights = expand(reduced, *outputs)
    if problem.n_symbols**2 <= MOST_POSTERIOR_CELLS:
        posteriors = _dense(posteriors)
    order = np.argsort(-weights, kind="stable")
    return _solution(problem, state, posteriors[order], weights[order])


def _check_options(method: str, gap: float, time_limit: float | None) -> None:
    if method not in _METHODS:
        raise InvalidParameterError(f"method must be one of {_METHODS}, got {method!r}.")
    if not gap >= 0:
        raise InvalidParameterError(f"gap must be non-negative, got {gap!r}.")
    if time_limit is not None and not time_limit > 0:
        raise InvalidParameterError(f"time_limit must be positive or None, got {time_limit!r}.")


def _dense(posteriors: FloatArray | csr_array) -> FloatArray:
    return np.asarray(posteriors.toarray() if isinstance(posteriors, csr_array) else posteriors)


def _started(posteriors: csr_array, state: SolverState) -> Iterator[csr_array]:
    """Yield the posteriors of a first search, and then go on with an interrupt of it."""
    yield posteriors
    if state.interrupted:
        raise KeyboardInterrupt


def _dispatch(
    reduced: ReducedProblem,
    start: Iterator[FloatArray],
    state: SolverState,
    method: str,
    random_state: int,
    certify: bool = True,
) -> tuple[FloatArray, FloatArray]:
    if len(reduced.directions) == 0:  # the rows do not distinguish inputs: output them
        return np.eye(reduced.p.size), reduced.p
    if method == "vertices":
        if reduced.averages is not None:
            raise InvalidParameterError(
                'method="vertices" needs linear inequalities; averages of the lift have infinitely '
                'many extreme points: use method="auto".'
            )
        return solve_by_enumeration(reduced, state)
    easier = len(reduced.directions) == 1 or CouplingPricer.suits(reduced)
    if method == "auto" and not easier and _few_vertices(reduced, state.left):
        try:
            return solve_by_enumeration(reduced, state)
        except SkliftprivError:
            # cddlib is missing or failed by rounding; column generation finds the same optimum.
            pass
    pool = ColumnPool(reduced, state)
    try:
        prices = None
        for part in islice(start, 1):  # complete, whatever interrupts the rest
            pool.add(part, always=True)
        if not easier:
            pool.add(_coarse_posteriors(reduced, state, method, random_state), always=True)
            if state.interrupted:
                raise KeyboardInterrupt
            posteriors, prices = descend_together(reduced, state)
            pool.add(posteriors, always=True)
        for part in start:
            pool.add(part, always=True)
        if certify and not (reduced.polyhedral or reduced.utility.identity):
            search = partial(solve, method=method, random_state=random_state, verbose=False)
            with suppress(SkliftprivError):  # a linear program failed: without this bound
                bound_by_outer_rows(reduced, pool, state, search)
        pricer = _exact_pricer(reduced, state) if method == "auto" else None
        if pricer is None:
            generate_columns(reduced, pool, state, random_state, certify)
        else:
            price_exactly(pool, pricer, state, prices)
    except KeyboardInterrupt:
        state.interrupted = True
    return pool.best()


def _coarse_posteriors(
    reduced: ReducedProblem, state: SolverState, method: str, random_state: int
) -> FloatArray:
    """Return the posteriors of a good mechanism that does not tell similar inputs apart."""
    coarse = coarsened(reduced)
    if coarse is None:
        return np.zeros((0, reduced.p.size))
    limit = max(_COARSE_SHARE * state.left, 1e-3)
    inner = SolverState(state.scale, _COARSE_GAP, limit, verbose=False)
    found = expand(coarse, *_dispatch(coarse, iter(()), inner, method, random_state))
    state.interrupted = inner.interrupted
    return found[0]


def _exact_pricer(reduced: ReducedProblem, state: SolverState) -> Pricer | None:
    """Return what computes the best posterior for given prices, if it is easy to compute."""
    if len(reduced.directions) == 1:
        return PairPricer(reduced)
    if CouplingPricer.suits(reduced):
        try:
            return CouplingPricer(reduced, state)
        except SkliftprivError:
            return None  # too many vertices, or cddlib failed
    binary = reduced.utility.matrix is not None and len(reduced.utility.matrix) == 2
    if binary and reduced.convex:
        return LevelPricer(reduced, state)
    return None


def _few_vertices(reduced: ReducedProblem, seconds: float) -> bool:
    """Return whether enumeration takes only a fraction of a second, or of these seconds.

    A vertex with k nonzero symbols has k - 1 tight ranges, each at one of its two ends. This
    bounds the number of choices, of which about one in three hundred is a vertex.
    """
    n, r = reduced.p.size, len(reduced.directions)
    if reduced.averages is not None:
        return False
    choices = sum(comb(n, k) * comb(r, k - 1) * 2 ** (k - 1) for k in range(1, min(n, r + 1) + 1))
    return choices <= min(_FEW_CHOICES[reduced.utility.identity], _CHOICES_A_SECOND * seconds)


def _solution(
    problem: PosteriorProblem,
    state: SolverState,
    posteriors: FloatArray | csr_array,
    weights: FloatArray,
) -> PosteriorSolution:
    """Evaluate the final posteriors independently of the method that found them."""
    state.value = float(weights @ problem.utility.entropy(posteriors))
    kept = state.scale.kept(state.value)
    upper = max(kept, state.most_kept)
    state.report(last=True)
    return PosteriorSolution(
        posteriors=posteriors,
        weights=weights,
        p_x=problem.p_x,
        kept=kept,
        upper_bound=upper,
        status=state.status(upper - kept),
        seconds=state.seconds,
        n_columns=state.n_columns,
        n_nodes=state.n_nodes,
    )
