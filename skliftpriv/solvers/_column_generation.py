"""Column generation with a certified bound, for problems of any size."""

from __future__ import annotations

import numpy as np

from ._bound import BoundImprover
from ._column_pool import ColumnPool
from ._pair_columns import price_pairs
from ._planes import PlaneImprover
from ._presolve import ReducedProblem
from ._pricing import first_columns, price_heuristically
from ._state import SolverState


def generate_columns(
    reduced: ReducedProblem, pool: ColumnPool, state: SolverState, random_state: int, certify: bool
) -> None:
    """Find good posteriors heuristically, then bound the optimum and improve them.

    Parameters
    ----------
    reduced : ReducedProblem
        Output of :func:`reduce_problem`.
    pool : ColumnPool
        Receives the posteriors.
    state : SolverState
        Clock; receives value and bound.
    random_state : int
        Seed of the search.
    certify : bool
        Whether to bound the optimum.
    """
    rng = np.random.default_rng(random_state)
    if reduced.utility.identity and reduced.polyhedral:
        price_pairs(reduced, pool, state, rng)
    lp = reduced.oracle()
    found, largest = first_columns(reduced, lp, state)
    pool.add(found, always=True)
    price_heuristically(pool, lp, state, rng)
    if not certify:
        return
    if not state.finished and PlaneImprover.suits(reduced):
        PlaneImprover(state, reduced, pool, lp).run()
    if not state.finished:
        BoundImprover(state, reduced, pool, lp, largest).run()
