"""Column generation with certificates: the solver for problems of any size."""

from __future__ import annotations

import numpy as np

from ._certify import Certifier
from ._presolve import ReducedProblem
from ._problem import FloatArray
from ._run import Run
from ._search import ColumnPool, first_columns, search


def solve_columns(
    reduced: ReducedProblem, run: Run, random_state: int
) -> tuple[FloatArray, FloatArray]:
    """Search cheaply for good posteriors, then certify and improve them.

    Parameters
    ----------
    reduced : ReducedProblem
        Output of :func:`reduce_problem`.
    run : Run
        Clock; receives value and bound.
    random_state : int
        Seed of the search.

    Returns
    -------
    posteriors, weights : ndarray of shape (k, g), (k,)
        The best found until the run was finished or interrupted.
    """
    pool = ColumnPool(reduced, run)
    try:
        lp = reduced.polytope()
        found, largest = first_columns(reduced, lp, run)
        pool.add(found, always=True)
        search(pool, lp, run, np.random.default_rng(random_state))
        if not run.finished:
            Certifier(run, reduced, pool, lp, largest).work()
    except KeyboardInterrupt:
        run.interrupted = True
    return pool.best()
