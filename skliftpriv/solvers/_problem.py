"""The optimisation problem behind every optimal mechanism, and its solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import entr

from ..exceptions import InfeasibleError, InvalidDistributionError, InvalidParameterError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
Status = Literal["optimal", "gap_reached", "time_limit", "interrupted"]

FEASIBILITY = 1e-9
"""Largest accepted violation of a row by a returned posterior."""


def plogp(t: FloatArray) -> FloatArray:
    """Return -t log t elementwise; negative values, which linear programs may leave, count as 0."""
    return np.asarray(entr(np.maximum(t, 0.0)))


def entropy(v: FloatArray) -> FloatArray:
    """Return the natural-log entropy along the last axis."""
    return plogp(v).sum(axis=-1)


@dataclass(frozen=True)
class PosteriorProblem:
    r"""Choose posteriors that keep the most information under linear privacy rows.

    .. math::
        \min_{q, v} \sum_y q_y H(v_y)
        \quad\text{s.t.}\quad \sum_y q_y v_y = p_X,\; q \ge 0,\; v_y \in P,

    with :math:`P = \{v \ge 0, 1^\top v = 1, A v \le 0\}`. Then
    :math:`I(X;Y) = H(X) - \sum_y q_y H(v_y)`.

    Parameters
    ----------
    p_x : array-like of shape (n,)
        Positive probabilities of the useful symbols, summing to 1.
    rows : array-like of shape (m, n)
        The matrix A. ``m = 0`` is allowed and means no constraint.
    separate : callable, optional
        Returns further rows on demand if there are too many to list: for a posterior v, rows of A
        that are tightest at v. p_x must meet all of them, and v is allowed if it meets these.

    Examples
    --------
    >>> from . import PosteriorProblem
    >>> PosteriorProblem([0.5, 0.5], [[1.0, -1.0]]).n_symbols
    2
    """

    p_x: FloatArray
    rows: FloatArray
    separate: Callable[[FloatArray], FloatArray] | None = None

    def __post_init__(self) -> None:
        p_x = np.array(self.p_x, dtype=float)
        rows = np.array(self.rows, dtype=float)
        if p_x.ndim != 1 or p_x.size == 0:
            raise InvalidDistributionError("p_x must be a non-empty one-dimensional array.")
        if not np.all(np.isfinite(p_x)) or np.any(p_x <= 0) or abs(p_x.sum() - 1) > 1e-9:
            raise InvalidDistributionError(
                "p_x must be positive and sum to 1; drop symbols of probability zero first."
            )
        if rows.size == 0:
            rows = np.zeros((0, p_x.size))
        if rows.ndim != 2 or rows.shape[1] != p_x.size:
            raise InvalidParameterError(f"rows must have shape (m, {p_x.size}), got {rows.shape}.")
        if not np.all(np.isfinite(rows)):
            raise InvalidParameterError("rows must be finite; leave out rows that do not bind.")
        worst = float((rows @ p_x).max(initial=0.0))
        if worst > FEASIBILITY * max(1.0, float(np.abs(rows).max(initial=0.0))):
            raise InfeasibleError(
                f"p_x violates a row by {worst:.3g}, so not even a constant output is allowed. "
                "Check that the rows were built from the same joint distribution as p_x."
            )
        p_x = p_x / p_x.sum()
        for name, value in (("p_x", p_x), ("rows", rows)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def n_symbols(self) -> int:
        """Number of useful symbols n."""
        return int(self.p_x.size)

    @property
    def entropy(self) -> float:
        """H(X) in nats."""
        return float(entropy(self.p_x))


@dataclass(frozen=True)
class PosteriorSolution:
    """Posteriors, their weights, and a bound of their distance to the optimum.

    Attributes
    ----------
    posteriors : ndarray of shape (k, n)
        ``posteriors[y] = P(X = . | Y = y)``.
    weights : ndarray of shape (k,)
        ``weights[y] = P(Y = y)``.
    p_x : ndarray of shape (n,)
        The input distribution; equals ``weights @ posteriors``.
    nmi : float
        I(X;Y) / H(X); 1 if H(X) = 0.
    upper_bound : float
        No feasible mechanism has a larger NMI (up to floating point).
    status : {"optimal", "gap_reached", "time_limit", "interrupted"}
        ``"optimal"`` if the gap is at rounding level, ``"gap_reached"`` if it is below
        the requested one, otherwise the reason for stopping. ``"time_limit"`` is also the
        status in the rare case that rounding leaves nothing to refine.
    seconds : float
        Wall time.
    n_columns, n_nodes : int
        Number of posteriors evaluated and of boxes bounded.
    """

    posteriors: FloatArray
    weights: FloatArray
    p_x: FloatArray
    nmi: float
    upper_bound: float
    status: Status
    seconds: float = 0.0
    n_columns: int = 0
    n_nodes: int = 0

    @property
    def gap(self) -> float:
        """Certified distance to the optimum, ``upper_bound - nmi`` (never negative)."""
        return max(0.0, self.upper_bound - self.nmi)

    @property
    def channel_matrix(self) -> FloatArray:
        """P(Y|X) of shape (n, k): rows x, columns y, each row summing to 1."""
        matrix = (self.weights[:, None] * self.posteriors / self.p_x).T
        return matrix / matrix.sum(axis=1, keepdims=True)
