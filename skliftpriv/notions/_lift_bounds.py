"""How far single lifts can go within the budget of a notion, given the prior of S."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import FloatArray, as_nonnegative
from ..exceptions import UnsupportedNotionError
from ._averaged import AlphaLift, Chi2Lift, L1Lift
from ._base import Notion
from ._polyhedral import ALIP, LDP, LIP, MAX_LIFT, MIN_LIFT, RATIO

__all__ = ["implied_lift_bounds"]

# exp(-746) is 0 in doubles.
_FARTHEST = 746.0
# More than the error of what is computed here.
_OUTWARD = 1 + 1e-12


def implied_lift_bounds(notion: Notion, p_s: ArrayLike) -> tuple[float, float]:
    """Smallest and largest lift that a notion still allows, given the prior of S.

    (Zarrabian, Ding and Sadeghi 2023, Propositions 4 and 6, for averaged notions.) The rarest
    sensitive symbol is the least protected: an average over S hardly sees it. An l1-lift of at
    most t, for instance, keeps the lift of s between 1 - t / (2 P(s)) and 1 + t / (2 P(s)).

    The bounds are sharp: a lift vector with mean 1 meets both sides of the budget and attains
    them. The one exception is the smallest lift of :class:`Chi2Lift` with three or more
    sensitive symbols: there the sharp bound of each side of the budget is found, and the
    stricter one is returned.

    Parameters
    ----------
    notion : Notion
        The budget that holds, of any of the six notions.
    p_s : array-like of shape (n_sensitive,)
        Prior of S.

    Returns
    -------
    (min_lift, max_lift) : tuple of float
        Rounded outward.

    Examples
    --------
    >>> from skliftpriv.notions import LIP, L1Lift, implied_lift_bounds
    >>> [round(bound, 3) for bound in implied_lift_bounds(L1Lift(0.2, 0.2), [0.2, 0.3, 0.5])]
    [0.565, 1.554]
    >>> [round(bound, 3) for bound in implied_lift_bounds(LIP(0.5), [0.2, 0.3, 0.5])]
    [0.607, 1.649]
    """
    if not isinstance(notion, LIP | ALIP | LDP | L1Lift | Chi2Lift | AlphaLift):
        raise UnsupportedNotionError(
            f"{notion} bounds no lift of a single output; use one of the six notions."
        )
    prior = as_nonnegative(p_s, "p_s", ndim=1)
    prior = np.sort(prior[prior > 0]) / prior.sum()
    if prior.size < 2:
        return 1.0, 1.0
    rarest, second = (float(p) for p in prior[:2])

    def up(z: float) -> bool:
        return _allowed(notion, *_equal_rest(math.exp(z), rarest))

    def down(p: float, q: float, limit: float) -> float:
        return _farthest(lambda z: _allowed(notion, *_best_rest(notion, math.exp(-z), p, q)), limit)

    # A bound on the lift itself holds whatever the prior is.
    band = notion.budget
    most = min(-math.log(rarest), band.get(MAX_LIFT, band.get(RATIO, _FARTHEST)))
    least = min(_FARTHEST, band.get(MIN_LIFT, band.get(RATIO, _FARTHEST)))
    largest = _farthest(up, most)
    # The rarest symbol is hit hardest, but may do more harm as the one that takes the excess.
    smallest = max(down(rarest, second, least), down(second, rarest, least))
    return math.exp(-smallest * _OUTWARD), math.exp(largest * _OUTWARD)


def _farthest(allowed: Callable[[float], bool], limit: float) -> float:
    """End of the interval of log-lifts that are allowed, found by halving, on the far side."""
    low, high = 0.0, limit
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if allowed(middle) else (low, middle)
    return high


def _allowed(notion: Notion, prior: FloatArray, lifts: FloatArray) -> bool:
    """Tell whether each side of the budget is met by some of the lift vectors, in doubt yes."""
    if not (lifts >= 0).all():
        return False
    with np.errstate(over="ignore", divide="ignore"):
        levels = notion.levels(lifts, prior)
    return all(
        levels[side].min() <= bound * (1 + 1e-13) + 1e-14 for side, bound in notion.budget.items()
    )


# One symbol of prior p has the lift m. What do the others have, with which the notion is met most
# easily? Where its levels are convex, all the same: the rest of the mean. So it is for m > 1, where
# the others are below 1 and the levels of their inverses are convex too. For the same reason the
# rarest symbol can go farthest. Only for m < 1 the inverses of l1 and chi2 differ: |1/l - 1| is
# concave above l = 1, and its square above 3/2, so that it pays to leave the excess to one symbol.


def _equal_rest(m: float, p: float) -> tuple[FloatArray, FloatArray]:
    """Prior and lifts when all others have the same lift."""
    return np.array([p, 1 - p]), np.array([[m], [(1 - p * m) / (1 - p)]])


def _best_rest(notion: Notion, m: float, p: float, q: float) -> tuple[FloatArray, FloatArray]:
    """Prior and lift vectors, by columns, of which one is the best for each side of the budget.

    ``q`` is the prior of the rarest of the others: the rarer, the cheaper is its excess.
    """
    if not isinstance(notion, L1Lift | Chi2Lift):
        return _equal_rest(m, p)
    excess, others = p * (1 - m), max(1 - p - q, 0.0)
    if isinstance(notion, L1Lift):
        common = np.ones(1)  # one symbol takes all of the excess, which costs the l1-lift nothing
    else:
        # Equal derivatives of (1/l - 1)^2 at the lifts x > y: with r = x / y that is
        # y = 1 + 1 / (r (r + 1)), and the mean gives a cubic in r. Or all are equal.
        roots = np.roots([q, -excess, -excess, others])
        ratios = roots.real[(np.abs(roots.imag) < 1e-9) & (roots.real > 1)]
        common = 1 + np.append(1 / (ratios * (ratios + 1)), excess / (1 - p))
    single = 1 + (excess - others * (common - 1)) / q
    return np.array([p, q, others]), np.vstack([np.full_like(common, m), single, common])
