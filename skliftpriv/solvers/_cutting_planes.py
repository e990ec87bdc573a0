"""Solver for problems with too many rows to list: rows are added when a posterior violates them.

Every posterior that the search returns has been checked with ``separate``, so the value is that
of allowed posteriors. The bound comes from the rows found so far: a problem with fewer rows allows
more, so its optimum is a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ._column_pool import ColumnPool
from ._image import FloatArray, clean
from ._lp import PolytopeLP, PolytopePoint
from ._pricing import descend, price_heuristically
from ._problem import FEASIBILITY, PosteriorProblem, PosteriorSolution
from ._state import SolverState

_VIOLATED = 0.1 * FEASIBILITY
"""A row, scaled to entries of at most 1, is added if a posterior exceeds it by more than this."""
_MOST_ROWS = 150
"""With more rows linear programs get slow; the rows that were unused for longest are dropped."""
_MOST_ROUNDS = 500
"""Most rounds of cuts for a linear program, far more than are needed in practice."""
_HALVINGS = 10
"""Bisection steps by which the first posteriors approach the boundary."""
_BOUND_SECONDS = 5.0
"""The bound is improved for at most this long after the search."""

Solve = Callable[..., PosteriorSolution]


class CutProblem:
    """A problem whose rows are found on demand."""

    def __init__(self, problem: PosteriorProblem) -> None:
        assert problem.separate is not None
        self._separate = problem.separate
        self.p, self.image, self.utility = problem.p_x, problem.image, problem.utility

    def sharpest_rows(self, v: FloatArray) -> FloatArray:
        """Return the rows that are tightest at a posterior, scaled to entries of at most 1."""
        rows = self._separate(v)
        return rows / np.abs(rows).max(axis=1, keepdims=True)

    def broken_rows(self, v: FloatArray) -> FloatArray:
        """Return those of the tightest rows that a posterior violates."""
        rows = self.sharpest_rows(v)
        return rows[rows @ v > _VIOLATED]

    def violation(self, posteriors: FloatArray) -> FloatArray:
        """Return the largest violation of a row by each posterior."""
        worst = [(self.broken_rows(v) @ v).max(initial=0.0) for v in posteriors]
        return np.array(worst)


class CutPolytope(PolytopeLP):
    """Minimise linear functions over a polytope whose rows are found on demand."""

    def __init__(self, problem: CutProblem) -> None:
        n = problem.p.size
        super().__init__(np.zeros((0, n)), np.zeros(0), np.zeros(0))
        self._problem = problem
        self.rows = np.zeros((0, n))
        self._last_used = np.zeros(0, dtype=int)

    def minimise(self, cost: FloatArray, box: Any = None) -> PolytopePoint | None:
        """Return the minimiser of ``cost @ v`` over all rows."""
        for _ in range(_MOST_ROUNDS):
            point = super().minimise(cost, box)
            if point is None:
                return None
            broken = self._problem.broken_rows(clean(point.v))
            if len(broken) == 0:
                break
            self.add(broken)
        return point

    def add(self, rows: FloatArray) -> None:
        """Add rows; if there are many, drop those that have not been tight for longest."""
        self._note_use()
        self.add_rows(rows)
        self.rows = np.vstack([self.rows, rows])
        self._last_used = np.append(self._last_used, np.full(len(rows), self.n_solves))
        if len(self.rows) > _MOST_ROWS:
            dropped = np.sort(np.argsort(self._last_used, kind="stable")[: -_MOST_ROWS // 2])
            self.remove_rows(dropped + 1)  # row 0 is sum v = 1
            self.rows = np.delete(self.rows, dropped, axis=0)
            self._last_used = np.delete(self._last_used, dropped)

    def _note_use(self) -> None:
        self._last_used[self.row_duals()[1:] != 0] = self.n_solves


def solve_by_cutting_planes(
    problem: PosteriorProblem,
    start: Iterator[FloatArray],
    state: SolverState,
    random_state: int,
    solve_rows: Solve,
) -> tuple[FloatArray, FloatArray]:
    """Search the allowed posteriors, then bound the optimum by the rows found.

    Parameters
    ----------
    problem : PosteriorProblem
        With ``separate``.
    start : iterator of ndarray of shape (k, n)
        Posteriors to begin with.
    state : SolverState
        Clock; receives value and bound.
    random_state : int
        Seed of the search.
    solve_rows : callable
        Solver of problems whose rows are listed, for the bound.

    Returns
    -------
    posteriors, weights : ndarray of shape (k, n), (k,)
        The best solution found.
    """
    cuts = CutProblem(problem)
    pool = ColumnPool(cuts, state)
    try:
        for part in start:
            pool.add(part, always=True)
        pool.add(_rays(cuts), always=True)
        lp = CutPolytope(cuts)
        pool.add(_favourites(lp, cuts.p, state), always=True)
        price_heuristically(pool, lp, state, np.random.default_rng(random_state))
        _bound(cuts, pool, lp, state, solve_rows)
    except KeyboardInterrupt:
        state.interrupted = True
    return pool.best()


def _rays(problem: CutProblem) -> FloatArray:
    """For each symbol, an allowed posterior close to the boundary on the line from p to it.

    They need no linear program, and a mixture of them is p, so there is a mechanism from the start.
    """
    corners = np.eye(problem.p.size)
    return np.array([_towards(problem, corner) for corner in corners])


def _towards(problem: CutProblem, corner: FloatArray) -> FloatArray:
    """Find the boundary between p and a corner by bisection."""
    if not len(problem.broken_rows(corner)):
        return corner
    inside, outside = problem.p, corner
    for _ in range(_HALVINGS):
        middle = 0.5 * (inside + outside)
        if len(problem.broken_rows(middle)):
            outside = middle
        else:
            inside = middle
    return inside


def _favourites(lp: CutPolytope, p: FloatArray, state: SolverState) -> FloatArray:
    """For each symbol, the posterior with its largest entry."""
    found = [p]
    for cost in -np.eye(p.size):
        if state.out_of_time:
            break
        point = lp.minimise(cost)
        assert point is not None  # p is inside
        found.append(clean(point.v))
    return np.array(found)


def _bound(
    problem: CutProblem, pool: ColumnPool, lp: CutPolytope, state: SolverState, solve_rows: Solve
) -> None:
    """Bound the optimum by the rows found, and improve the solution by what they allow."""

    def respond(posteriors: FloatArray) -> tuple[FloatArray, bool]:
        broken = np.vstack([problem.broken_rows(v) for v in posteriors])
        found = [
            descend(lp, pool.utility, pool.prices, pool.utility.slopes(v))[0] for v in posteriors
        ]
        return broken, len(pool.add(np.array(found))) > 0

    rows = np.vstack([lp.rows, *(problem.sharpest_rows(v) for v in pool.best()[0])])
    relaxed = PosteriorProblem(problem.p, rows, image=problem.image)
    bound_by_rows(relaxed, state, min(state.left, _BOUND_SECONDS), solve_rows, respond)


def bound_by_rows(
    problem: PosteriorProblem,
    state: SolverState,
    seconds: float,
    solve_rows: Solve,
    respond: Callable[[FloatArray], tuple[FloatArray, bool]],
) -> None:
    """Solve a problem with fewer rows, add rows that its solution violates, repeat.

    Parameters
    ----------
    problem : PosteriorProblem
        With the first rows. It allows more, so that its optimum is a bound.
    state : SolverState
        Clock; receives the bound.
    seconds : float
        How long this may take.
    solve_rows : callable
        Solver of problems whose rows are listed.
    respond : callable
        Gets the posteriors of a solution; returns rows that they violate, and whether they
        improved what was found. This ends if neither happens.
    """
    end = state.seconds + seconds
    while not state.closed and state.seconds < end:
        relaxed = solve_rows(
            problem,
            gap=0.5 * state.gap_nats / max(state.scale.information, 1e-300),
            time_limit=max(end - state.seconds, 1e-3),
        )
        if relaxed.status == "interrupted":
            raise KeyboardInterrupt
        state.n_nodes += relaxed.n_nodes
        state.improve_bound(state.scale.constant - relaxed.upper_bound * state.scale.information)
        state.report()
        broken, better = respond(relaxed.posteriors)
        if not len(broken) and not better:
            break
        problem = replace(problem, rows=np.vstack([problem.rows, broken]))
