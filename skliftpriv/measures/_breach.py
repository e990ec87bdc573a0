"""Privacy breaches: (epsilon, delta)-log-lift and rho1-to-rho2 breaches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import Bounds, LinearConstraint, milp

from .._arrays import FloatArray, as_nonnegative
from ..exceptions import InvalidParameterError
from ._lift import check_joint, lift, log_lift

__all__ = [
    "BreachBounds",
    "breach_probability",
    "downward_breach",
    "largest_posterior",
    "sufficient_bounds",
    "upward_breach",
]


# Three times 0.1 exceeds 0.3 in doubles, which must not exclude a property from the search.
_PRIOR_TOLERANCE = 1e-12


def breach_probability(
    joint: ArrayLike, lower: float, upper: float | None = None, *, p_s: ArrayLike | None = None
) -> FloatArray:
    """Probability, per output, that the log-lift lies outside [-lower, upper].

    The sum over the outputs is the total breach probability, the delta of
    (epsilon, delta)-log-lift (Sadeghi, Ding and Rakotoarivelo 2020, eq. 10 and 11).

    Parameters
    ----------
    joint : array-like of shape (..., n_sensitive, n_outputs)
        Joint distribution of S and Y, or some of its columns.
    lower, upper : float
        Bounds of the log-lift. ``upper`` is ``lower`` by default.
    p_s : array-like of shape (..., n_sensitive), optional
        Prior of S, by default the row sums of ``joint``.

    Returns
    -------
    ndarray of shape (..., n_outputs)
    """
    upper = lower if upper is None else upper
    for name, bound in (("lower", lower), ("upper", upper)):
        if not bound >= 0:
            raise InvalidParameterError(f"{name} must be at least 0, not {bound!r}.")
    masses = check_joint(joint)
    if p_s is None:
        # The joint is complete, so counts can be normalised.
        total = masses.sum(axis=(-2, -1), keepdims=True)
        masses = np.divide(masses, total, out=np.zeros_like(masses), where=total > 0)
    logs = log_lift(masses, p_s=p_s)
    return np.asarray(np.where((logs < -lower) | (logs > upper), masses, 0.0).sum(axis=-2))


class BreachBounds(NamedTuple):
    """Bounds that rule out every rho1-to-rho2 breach, upward and downward."""

    min_lift: float
    max_lift: float
    ldp: float


def sufficient_bounds(rho1: float, rho2: float) -> BreachBounds:
    """Bounds on the lift, and on epsilon-LDP, that prevent rho1-to-rho2 privacy breaches.

    A mechanism has no such breach if its lifts lie in [min_lift, max_lift] or if it is ldp-LDP
    (Zarrabian, Ding and Sadeghi 2023, Proposition A1; Evfimievski et al. 2003).

    Parameters
    ----------
    rho1, rho2 : float
        A property that holds with probability at most rho1 must not become more probable
        than rho2; 0 < rho1 < rho2 < 1.
    """
    _check_rhos(rho1, rho2)
    return BreachBounds(
        min_lift=(1 - rho2) / (1 - rho1),
        max_lift=rho2 / rho1,
        ldp=float(np.log(rho2 / rho1 * (1 - rho1) / (1 - rho2))),
    )


def largest_posterior(joint: ArrayLike, prior_at_most: float) -> FloatArray:
    """Largest P(Q | Y=y) over all properties Q of S with P(Q) <= prior_at_most, per output.

    A property is a set of sensitive symbols, so this is a knapsack problem for every output. It
    is solved exactly.

    Parameters
    ----------
    joint : array-like of shape (n_sensitive, n_outputs)
        Joint distribution of S and Y.
    prior_at_most : float
        Largest prior probability of the property.

    Returns
    -------
    ndarray of shape (n_outputs,)
    """
    masses = as_nonnegative(joint, "The joint distribution", ndim=2)
    p = masses / masses.sum()
    p_s = p.sum(axis=1)
    posteriors = lift(p) * p_s[:, None]
    if p_s.size <= 12:
        members = (np.arange(2**p_s.size)[:, None] >> np.arange(p_s.size)) & 1
        allowed = members[members @ p_s <= prior_at_most + _PRIOR_TOLERANCE]
        return np.asarray((allowed @ posteriors).max(axis=0))
    return np.array([_knapsack(posterior, p_s, prior_at_most) for posterior in posteriors.T])


def upward_breach(joint: ArrayLike, rho1: float, rho2: float) -> FloatArray:
    """Return for each output whether some property of prior <= rho1 has a posterior > rho2."""
    _check_rhos(rho1, rho2)
    return np.asarray(largest_posterior(joint, rho1) > rho2)


def downward_breach(joint: ArrayLike, rho1: float, rho2: float) -> FloatArray:
    """Return for each output whether some property of prior >= rho2 has a posterior < rho1.

    Equivalently, its complement, of prior <= 1 - rho2, has a posterior > 1 - rho1.
    """
    _check_rhos(rho1, rho2)
    return np.asarray(largest_posterior(joint, 1 - rho2) > 1 - rho1)


def _knapsack(values: FloatArray, weights: FloatArray, capacity: float) -> float:
    # The solver stops within 1e-6 of the optimum and of the constraint for any requested gap;
    # after scaling this is 1e-12.
    scale = 1e6
    limit = scale * (capacity + _PRIOR_TOLERANCE)
    result = milp(
        -scale * values,
        constraints=LinearConstraint(scale * weights[None, :], -np.inf, limit),
        integrality=np.ones(values.size),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0.0},
    )
    return float(values @ np.round(result.x))


def _check_rhos(rho1: float, rho2: float) -> None:
    if not 0 < rho1 < rho2 < 1:
        raise InvalidParameterError(
            f"rho1 and rho2 must satisfy 0 < rho1 < rho2 < 1, not rho1={rho1!r} and rho2={rho2!r}."
        )
