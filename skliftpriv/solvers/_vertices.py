"""Enumeration of all vertices of the polytope, for small problems and as a reference."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import SkliftprivError
from ._image import FloatArray
from ._lp import MasterLP
from ._presolve import ReducedProblem
from ._pricing import clean, descend, random_slopes
from ._problem import FEASIBILITY
from ._state import SolverState

_CDD_TOLERANCE = 1e-7
"""cddlib treats smaller numbers as zero."""
_CHECKS = 3
"""Searches per symbol for vertices that cddlib may have lost."""


def _import_cdd() -> Any:
    """Import cddlib on demand, because it is under the GPL."""
    try:
        import cdd
    except ImportError as error:
        raise SkliftprivError(
            'method="vertices" needs cddlib. Install pycddlib-standalone (GPL), or use '
            'method="column-generation", which finds the same optimum without it.'
        ) from error
    return cdd


def enumerate_vertices(reduced: ReducedProblem) -> FloatArray:
    """Return all vertices of the polytope of allowed group posteriors.

    Parameters
    ----------
    reduced : ReducedProblem
        Output of :func:`reduce_problem`.

    Returns
    -------
    vertices : ndarray of shape (k, g)

    Raises
    ------
    SkliftprivError
        If cddlib is missing or fails because of rounding.
    """
    cdd = _import_cdd()
    n = reduced.p.size
    if len(reduced.directions) == 0:
        return np.eye(n)
    # cddlib cannot distinguish narrow ranges from equations.
    narrow = reduced.hi - reduced.lo < 10 * _CDD_TOLERANCE
    below, above = np.isfinite(reduced.lo) & ~narrow, np.isfinite(reduced.hi) & ~narrow
    ones = np.ones(n)
    equations = [np.append(-1.0, ones)]
    for d, lo, hi in zip(
        reduced.directions[narrow], reduced.lo[narrow], reduced.hi[narrow], strict=True
    ):
        equations.append(np.append(-0.5 * (lo + hi), d))
    inequalities = np.vstack(
        [
            np.column_stack([-reduced.lo[below], reduced.directions[below]]),
            np.column_stack([reduced.hi[above], -reduced.directions[above]]),
            np.column_stack([np.zeros(n), np.eye(n)]),
        ]
    )
    table = np.vstack([np.array(equations), inequalities])
    matrix = cdd.matrix_from_array(
        table.tolist(), lin_set=set(range(len(equations))), rep_type=cdd.RepType.INEQUALITY
    )
    try:
        generators = cdd.copy_generators(cdd.polyhedron_from_matrix(matrix)).array
    except (RuntimeError, ValueError) as error:
        raise SkliftprivError(
            f"cddlib failed for {n} symbols and {len(reduced.lo)} rows ({error}); "
            'use method="column-generation".'
        ) from error
    found = np.array(generators, dtype=float).reshape(-1, n + 1)
    found = found[found[:, 0] > 0.5, 1:]
    if len(found) == 0:
        raise SkliftprivError(
            'cddlib found no vertex because of rounding; use method="column-generation".'
        )
    return _accurate(reduced, clean(np.maximum(found, 0.0)))


def _accurate(reduced: ReducedProblem, vertices: FloatArray) -> FloatArray:
    """Recompute inaccurate vertices of cddlib from their tight rows.

    Vertices that then still violate a row are artefacts and dropped.
    """
    bad = np.flatnonzero(reduced.violation(vertices) > 1e-11)
    for k in bad:
        v = vertices[k]
        support = v > 1e-7
        value = reduced.directions @ v
        at_lo = np.abs(value - reduced.lo) < _CDD_TOLERANCE
        at_hi = ~at_lo & (np.abs(value - reduced.hi) < _CDD_TOLERANCE)
        tight = at_lo | at_hi
        lhs = np.vstack([np.ones(int(support.sum())), reduced.directions[tight][:, support]])
        rhs = np.append(1.0, np.where(at_lo, reduced.lo, reduced.hi)[tight])
        exact = np.zeros_like(v)
        exact[support] = np.linalg.lstsq(lhs, rhs, rcond=None)[0]
        vertices[k] = np.maximum(exact, 0.0) / np.maximum(exact, 0.0).sum()
    return vertices[reduced.violation(vertices) <= 0.5 * FEASIBILITY]


def _check_complete(reduced: ReducedProblem, prices: FloatArray) -> None:
    """Raise an error if a cheap search finds a vertex that cddlib lost to rounding.

    cddlib works with an absolute tolerance, so it can lose vertices for budgets near zero. The
    solution would then be wrongly reported as optimal.
    """
    lp = reduced.polytope()
    n = reduced.p.size
    rng = np.random.default_rng(0)
    for x in np.tile(np.arange(n), _CHECKS):
        _, reduced_cost = descend(
            lp, reduced.utility, prices, random_slopes(rng, reduced.utility, n, x)
        )
        if reduced_cost < -1e-7:
            raise SkliftprivError(
                "cddlib lost vertices to rounding, because the polytope is almost flat; "
                'use method="column-generation".'
            )


def solve_by_enumeration(
    reduced: ReducedProblem, state: SolverState
) -> tuple[FloatArray, FloatArray]:
    """Solve one linear program over all vertices.

    Parameters
    ----------
    reduced : ReducedProblem
        Output of :func:`reduce_problem`.
    state : SolverState
        Receives value and bound.

    Returns
    -------
    posteriors, weights : ndarray of shape (k, g), (k,)
    """
    vertices = enumerate_vertices(reduced)
    if not len(vertices):
        raise SkliftprivError(
            'The vertices of cddlib violate the budget by rounding; use method="column-generation".'
        )
    # With p itself the program is feasible even if the vertices are rounded.
    columns = np.vstack([vertices, reduced.p])
    master = MasterLP(reduced.p)
    master.add(columns, reduced.utility.entropy(columns))
    point = master.solve()
    _check_complete(reduced, point.prices)
    state.n_columns = len(columns)
    state.value = point.objective
    worst = float((reduced.utility.entropy(vertices) - vertices @ point.prices).min())
    state.improve_bound(point.objective + min(0.0, worst))
    return columns[point.weights > 0], point.weights[point.weights > 0]
