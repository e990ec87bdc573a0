"""The only module that calls HiGHS: three linear programs that are solved repeatedly."""

from __future__ import annotations

from typing import Any, NamedTuple

import highspy
import numpy as np
from scipy.sparse import csr_array

from ..exceptions import SkliftprivError
from ._image import FloatArray, IntArray

_TOLERANCE = 1e-10
_FALLBACK_TOLERANCES = (1e-10, 1e-9, 1e-8, 1e-7)
_OPTIONS: dict[str, bool | int | float | str] = {
    "output_flag": False,
    "presolve": "off",  # warm starts survive only without presolve
    "solver": "simplex",
    "threads": 1,
    "simplex_scale_strategy": 0,  # entries are scaled by the presolve of this package
    "primal_feasibility_tolerance": _TOLERANCE,
    "dual_feasibility_tolerance": _TOLERANCE,
}


_Status = highspy.HighsModelStatus


_DUAL, _PRIMAL = 1, 4
"""Strategies of the simplex method."""


def _highs(**options: bool | int | float | str) -> highspy.Highs:
    solver = highspy.Highs()
    for name, value in (_OPTIONS | options).items():
        solver.setOptionValue(name, value)
    return solver


def _dense(
    matrix: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    cost: FloatArray,
    **options: bool | int | float | str,
) -> highspy.Highs:
    """Return a solver of {lower <= A x <= upper, 0 <= x <= 1} with a dense matrix A."""
    m, n = matrix.shape
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = n, m
    model.col_cost_ = cost
    model.col_lower_, model.col_upper_ = np.zeros(n), np.ones(n)
    model.row_lower_, model.row_upper_ = lower, upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.arange(n + 1, dtype=np.int32) * m
    model.a_matrix_.index_ = np.tile(np.arange(m, dtype=np.int32), n)
    model.a_matrix_.value_ = matrix.T.ravel()
    solver = _highs(**options)
    solver.passModel(model)
    return solver


def _run(solver: highspy.Highs, may_be_empty: bool) -> highspy.HighsModelStatus:
    """Run HiGHS; if it fails, discard the basis and try again with wider tolerances.

    Problems that contain p_x are feasible, so "infeasible" is also a failure for them.
    """
    fine = (_Status.kOptimal, _Status.kInfeasible) if may_be_empty else (_Status.kOptimal,)
    solver.run()
    status = solver.getModelStatus()
    for tolerance in _FALLBACK_TOLERANCES:
        if status in fine:
            break
        solver.clearSolver()
        solver.setOptionValue("primal_feasibility_tolerance", tolerance)
        solver.setOptionValue("dual_feasibility_tolerance", tolerance)
        solver.run()
        status = solver.getModelStatus()
        solver.setOptionValue("primal_feasibility_tolerance", _TOLERANCE)
        solver.setOptionValue("dual_feasibility_tolerance", _TOLERANCE)
    return status


class PolytopePoint(NamedTuple):
    """A minimiser over the polytope, with its duals."""

    v: FloatArray
    row_duals: FloatArray
    sum_dual: float


class PolytopeLP:
    """Minimise linear functions over {lo <= D v <= hi, sum v = 1, l <= v <= u}.

    The basis is kept between calls, so a call with similar costs or bounds takes only a few
    simplex steps.
    """

    #: Whether minimisers may be other points than vertices of a polytope.
    curved: bool = False

    def __init__(
        self, directions: FloatArray, lo: FloatArray, hi: FloatArray, *, dual: bool = True
    ) -> None:
        n = directions.shape[1]
        matrix = np.vstack([directions, np.ones(n)])
        lower, upper = np.append(lo, 1.0), np.append(hi, 1.0)
        self._strategy = _DUAL if dual else _PRIMAL
        options = {
            "simplex_strategy": self._strategy,
            "primal_simplex_bound_perturbation_multiplier": 0.0,
        }
        self._solver = _dense(matrix, lower, upper, np.zeros(n), **options)
        self._columns = np.arange(n, dtype=np.int32)
        self._free = (np.zeros(n), np.ones(n))
        self._boxed = False
        self.n_solves = 0

    def minimise(
        self, cost: FloatArray, box: tuple[FloatArray, FloatArray] | None = None
    ) -> PolytopePoint | None:
        """Return the minimiser of ``cost @ v``, or None if the box misses the polytope."""
        n = self._columns.size
        if box is not None or self._boxed:
            lower, upper = self._free if box is None else box
            self._solver.changeColsBounds(n, self._columns, lower, upper)
            self._boxed = box is not None
        self._solver.changeColsCost(n, self._columns, cost)
        self.n_solves += 1
        status = _run(self._solver, may_be_empty=box is not None)
        if status == _Status.kInfeasible:
            return None
        if status != _Status.kOptimal:
            raise SkliftprivError(f"HiGHS failed with {status}; change the budget slightly.")
        solution = self._solver.getSolution()
        duals = np.array(solution.row_dual)
        return PolytopePoint(np.array(solution.col_value), duals[:-1], float(duals[-1]))

    def follow(self, cost: FloatArray, v: FloatArray) -> PolytopePoint | None:
        """Return a point at least as good as v: the minimiser, wherever v is."""
        return self.minimise(cost)

    def add_rows(self, directions: FloatArray, upper: FloatArray | None = None) -> None:
        """Append rows ``d @ v <= upper``, by default 0, after the row of sum v = 1."""
        count, n = directions.shape
        self._solver.addRows(
            count,
            np.full(count, -highspy.kHighsInf),
            np.zeros(count) if upper is None else upper,
            directions.size,
            np.arange(count, dtype=np.int32) * n,
            np.tile(self._columns, count),
            directions.ravel(),
        )

    def change_rows(self, index: IntArray, lower: FloatArray, upper: FloatArray) -> None:
        """Change the ends of rows."""
        for row, lo, hi in zip(index.tolist(), lower.tolist(), upper.tolist(), strict=True):
            self._solver.changeRowBounds(row, lo, hi)

    def row_duals(self) -> FloatArray:
        """Return the duals of all rows at the last solution."""
        return np.array(self._solver.getSolution().row_dual)

    def remove_rows(self, index: IntArray) -> None:
        """Delete rows by position; later rows move up."""
        self._solver.deleteRows(index.size, np.asarray(index, dtype=np.int32))

    def infeasibility_ray(self) -> FloatArray:
        """Return row multipliers that prove the last box empty; zeros if unknown."""
        return self._ray()[:-1]

    def _ray(self) -> FloatArray:
        solver: Any = self._solver  # the type stubs lack rays
        _, known, ray = solver.getDualRay()
        if not known:  # only the dual simplex leaves one
            solver.setOptionValue("simplex_strategy", _DUAL)
            solver.run()
            _, known, ray = solver.getDualRay()
            solver.setOptionValue("simplex_strategy", self._strategy)
        n_rows = solver.getNumRow()
        return np.array(ray, dtype=float)[:n_rows] if known else np.zeros(n_rows)


class ImagePoint(NamedTuple):
    """A posterior of the highest price among those with an image, and the multipliers."""

    v: FloatArray
    row_duals: FloatArray
    slopes: FloatArray  # of the highest price, as a function of the image


class ImageLP:
    """Maximise prices over {lo <= D v <= hi, sum v = 1, v >= 0, U v = u} for changing images u.

    No u is infeasible: U v may differ from u, at a cost per unit, which bounds the slopes.
    """

    def __init__(
        self, directions: FloatArray, lo: FloatArray, hi: FloatArray, image: FloatArray
    ) -> None:
        (m, n), free = directions.shape, len(image) - 1  # the last part follows from sum u = 1
        self._rows = np.arange(m, m + free, dtype=np.int32)
        self._columns = np.arange(n + 2 * free, dtype=np.int32)
        unit, zeros = np.eye(free), np.zeros((m, 2 * free))
        matrix = np.block(
            [
                [directions, zeros],
                [image[:-1], unit, -unit],
                [np.ones((1, n)), np.zeros((1, 2 * free))],
            ]
        )
        lower, upper = (np.concatenate([end, np.zeros(free), [1.0]]) for end in (lo, hi))
        self._solver = _dense(matrix, lower, upper, np.zeros(n + 2 * free))

    def set_prices(self, prices: FloatArray, steepest: float) -> None:
        """Set the price of each symbol, and what a unit of difference from u costs."""
        others = self._columns.size - prices.size
        cost = np.append(-prices, np.full(others, steepest))
        self._solver.changeColsCost(cost.size, self._columns, cost)

    def highest(self, image: FloatArray) -> ImagePoint:
        """Return a posterior of the highest price for one image."""
        for row, part in zip(self._rows, image[:-1], strict=True):
            self._solver.changeRowBounds(row, part, part)
        status = _run(self._solver, may_be_empty=False)
        if status != _Status.kOptimal:
            raise SkliftprivError(f"HiGHS failed with {status}; change the budget slightly.")
        solution = self._solver.getSolution()
        duals = np.array(solution.row_dual)
        m, n = self._rows[0], self._columns.size - 2 * self._rows.size
        slopes = np.append(-duals[self._rows], 0.0)
        return ImagePoint(np.array(solution.col_value)[:n], duals[:m], slopes)


class MasterPoint(NamedTuple):
    """Optimal weights of the known posteriors and the price of each symbol."""

    weights: FloatArray
    prices: FloatArray
    objective: float


class MasterLP:
    """Minimise the expected cost of known posteriors that average to p_x."""

    def __init__(self, p_x: FloatArray) -> None:
        # Rows are scaled to a right-hand side around 1, far above the tolerances.
        self._p_x = p_x
        self._scale = float(p_x.size)
        self._solver = _highs()
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = 0, p_x.size
        model.row_lower_ = model.row_upper_ = p_x * self._scale
        model.a_matrix_.start_ = np.zeros(1, dtype=np.int32)
        self._solver.passModel(model)
        self.n_columns = 0

    def add(self, posteriors: FloatArray | csr_array, costs: FloatArray) -> None:
        """Append one column per row of ``posteriors``."""
        count = posteriors.shape[0]
        if count == 0:
            return
        rows = csr_array(posteriors)
        self._solver.addCols(
            count,
            np.asarray(costs, dtype=float),
            np.zeros(count),
            np.full(count, highspy.kHighsInf),
            rows.nnz,
            rows.indptr[:-1].astype(np.int32),
            rows.indices.astype(np.int32),
            rows.data,
        )
        self.n_columns += count

    def set_costs(self, columns: IntArray, costs: FloatArray) -> None:
        """Replace the costs of some columns."""
        index = np.asarray(columns, dtype=np.int32)
        self._solver.changeColsCost(index.size, index, np.asarray(costs, dtype=float))

    def forbid(self, count: int) -> None:
        """Fix the weights of the first ``count`` columns to zero."""
        index = np.arange(count, dtype=np.int32)
        self._solver.changeColsBounds(count, index, np.zeros(count), np.zeros(count))

    def solve(self) -> MasterPoint:
        """Solve from the last basis."""
        status = _run(self._solver, may_be_empty=False)
        if status != _Status.kOptimal:
            raise SkliftprivError(f"HiGHS failed with {status}; change the budget slightly.")
        solution = self._solver.getSolution()
        weights = np.maximum(np.array(solution.col_value), 0.0) / self._scale
        prices = np.array(solution.row_dual)
        return MasterPoint(weights, prices, float(prices @ self._p_x))
