"""The optimisation problem behind every optimal mechanism, and its solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from ..exceptions import InfeasibleError, InvalidDistributionError, InvalidParameterError
from ._averages import Averages
from ._image import FloatArray, Image, Scale, entropy

Status = Literal[
    "optimal", "gap_reached", "time_limit", "memory_limit", "no_progress", "interrupted"
]

FEASIBILITY = 1e-9
"""Largest accepted violation of a row by a returned posterior."""


@dataclass(frozen=True)
class PosteriorProblem:
    r"""Choose posteriors that keep the most information under linear privacy rows.

    An input of a mechanism has the distribution p, and each output y is a posterior v_y over the
    inputs, with weight q_y:

    .. math::
        \min_{q, v} \sum_y q_y H(U v_y)
        \quad\text{s.t.}\quad \sum_y q_y v_y = p,\; q \ge 0,\; v_y \in P,

    with :math:`P = \{v \ge 0, 1^\top v = 1, A v \le 0\}`. The information that the output has
    about what is to be kept is :math:`H(U p) - \sum_y q_y H(U v_y)`. The matrix U says what that
    is:

    ================================  =======================  =================
    what is kept                      inputs                   U
    ================================  =======================  =================
    X                                 x                        identity
    a target T                        x                        P(T|X)
    X, by a mechanism that sees S     pairs (s, x)             sums over s
    T, by a mechanism that sees S     pairs (s, x)             P(T|S,X)
    ================================  =======================  =================

    H(U v) is concave in v, so an optimum uses only vertices of P, whatever U is.

    Parameters
    ----------
    p_x : array-like of shape (n,)
        Positive probabilities of the inputs, summing to 1.
    rows : array-like of shape (m, n)
        The matrix A. ``m = 0`` is allowed and means no constraint.
    separate : callable, optional
        Returns further rows on demand if there are too many to list: for a posterior v, rows of A
        that are tightest at v. p_x must meet all of them, and v is allowed if it meets these.
    image : array-like of shape (k, n), optional
        The matrix U; its columns are distributions. None for the identity.
    averages : Averages, optional
        Further conditions: averages of functions of the lift that are bounded. They take the
        place of rows, of which there are none then.

    Examples
    --------
    >>> from . import PosteriorProblem
    >>> PosteriorProblem([0.5, 0.5], [[1.0, -1.0]]).n_symbols
    2
    """

    p_x: FloatArray
    rows: FloatArray
    separate: Callable[[FloatArray], FloatArray] | None = None
    image: FloatArray | None = None
    averages: Averages | None = None

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
        if self.averages is not None:
            self._check_averages(self.averages, rows, p_x / p_x.sum())
        image = None if self.image is None else _distributions(self.image, p_x.size)
        for name, value in (("p_x", p_x / p_x.sum()), ("rows", rows), ("image", image)):
            if value is not None:
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    def _check_averages(self, averages: Averages, rows: FloatArray, p_x: FloatArray) -> None:
        if len(rows) or self.separate is not None:
            raise InvalidParameterError("Give either rows or averages.")
        if averages.lift.shape != (averages.weights.size, p_x.size):
            raise InvalidParameterError(
                f"averages must have lifts of shape ({averages.weights.size}, {p_x.size}), got "
                f"{averages.lift.shape}."
            )
        if averages.excess(p_x[None])[0] > FEASIBILITY:
            raise InfeasibleError("p_x exceeds an average, so not even a constant is allowed.")

    @property
    def n_symbols(self) -> int:
        """Number of inputs n."""
        return int(self.p_x.size)

    @property
    def utility(self) -> Image:
        """What an output costs, as a function of its posterior."""
        return Image(self.image)

    @property
    def scale(self) -> Scale:
        """The conditional entropies between which every solution lies."""
        alone = 0.0 if self.image is None else float(entropy(self.image.T) @ self.p_x)
        return Scale(float(self.utility.entropy(self.p_x)), alone)


def _distributions(image: FloatArray, n: int) -> FloatArray:
    """Check that the columns of U are distributions, and make their sums exact."""
    matrix = np.array(image, dtype=float)
    if matrix.ndim != 2 or matrix.shape[1] != n or matrix.shape[0] == 0:
        raise InvalidParameterError(f"image must have shape (k, {n}), got {matrix.shape}.")
    if not np.all(np.isfinite(matrix)) or np.any(matrix < 0):
        raise InvalidParameterError("image must contain probabilities: numbers from 0 to 1.")
    if np.abs(matrix.sum(axis=0) - 1).max() > 1e-9:
        raise InvalidParameterError("The columns of image must sum to 1.")
    return matrix / matrix.sum(axis=0)


@dataclass(frozen=True)
class PosteriorSolution:
    """Posteriors, their weights, and a bound of their distance to the optimum.

    Attributes
    ----------
    posteriors : ndarray or csr_array of shape (k, n)
        ``posteriors[y] = P(X = . | Y = y)``; sparse if there are thousands of inputs.
    weights : ndarray of shape (k,)
        ``weights[y] = P(Y = y)``.
    p_x : ndarray of shape (n,)
        The input distribution; equals ``weights @ posteriors``.
    kept : float
        Share of the information that is kept, I(X;Y) / H(X) if U is the identity; 1 if there is
        none.
    upper_bound : float
        No feasible mechanism keeps a larger share (up to floating point).
    status : str
        ``"optimal"`` if the gap is at rounding level, ``"gap_reached"`` if it is below
        the requested one, otherwise the reason for stopping. ``"memory_limit"`` means that the
        boxes of branch and bound fill the 256 MB that they may take, and ``"no_progress"`` that
        nothing was left to refine: because of rounding errors, which is rare, because a search in
        blocks found nothing better, or because a bound for a confidence set took long enough.
        The others are ``"time_limit"`` and ``"interrupted"``.
    seconds : float
        Wall time.
    n_columns, n_nodes : int
        Number of posteriors evaluated and of boxes bounded.
    """

    posteriors: FloatArray | csr_array
    weights: FloatArray
    p_x: FloatArray
    kept: float
    upper_bound: float
    status: Status
    seconds: float = 0.0
    n_columns: int = 0
    n_nodes: int = 0

    @property
    def gap(self) -> float:
        """Certified distance to the optimum, ``upper_bound - kept`` (never negative)."""
        return max(0.0, self.upper_bound - self.kept)

    @property
    def channel_matrix(self) -> FloatArray:
        """P(Y|X) of shape (n, k): rows x, columns y, each row summing to 1."""
        v = self.posteriors.toarray() if isinstance(self.posteriors, csr_array) else self.posteriors
        matrix = (self.weights[:, None] * v / self.p_x).T
        return matrix / matrix.sum(axis=1, keepdims=True)
