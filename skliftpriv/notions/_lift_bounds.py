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
from ._polyhedral import ALIP, LDP, LIP
from ._sides import MAX_LIFT, MIN_LIFT, RATIO

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
    them.

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
            f"{notion} does not bound the lift of a single output; use one of the six notions."
        )
    prior = as_nonnegative(p_s, "p_s", ndim=1)
    prior = np.sort(prior[prior > 0]) / prior.sum()
    if prior.size < 2:
        return 1.0, 1.0
    rarest, second = (float(p) for p in prior[:2])

    # A bound on the lift itself holds whatever the prior is.
    band = notion.budget
    most = min(-math.log(rarest), band.get(MAX_LIFT, band.get(RATIO, _FARTHEST)))
    least = min(_FARTHEST, band.get(MIN_LIFT, band.get(RATIO, _FARTHEST)))
    low_rest = second if isinstance(notion, L1Lift) else 1 - rarest

    def allowed(z: float, taking: float) -> bool:
        return _allowed(notion, *_extreme(math.exp(z), rarest, taking))

    largest = _farthest(lambda z: allowed(z, 1 - rarest), most)
    smallest = _farthest(lambda z: allowed(-z, low_rest), least)
    return math.exp(-smallest * _OUTWARD), math.exp(largest * _OUTWARD)


def _farthest(allowed: Callable[[float], bool], limit: float) -> float:
    """End of the interval of log-lifts that are allowed, found by halving, on the far side."""
    low, high = 0.0, limit
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if allowed(middle) else (low, middle)
    return high


def _allowed(notion: Notion, prior: FloatArray, lift: FloatArray) -> bool:
    """Tell whether a lift vector is within the budget; if in doubt, it is."""
    with np.errstate(over="ignore", divide="ignore"):
        levels = notion.levels(lift[:, None], prior)
    return all(
        levels[side][0] <= bound * (1 + 1e-13) + 1e-14 for side, bound in notion.budget.items()
    )


# The rarest symbol, of prior p, has the lift m. With which lifts of the others is the notion met
# most easily? Where its levels are convex, with equal ones: the rest of the mean. So it is for
# m > 1, where the others are below 1 and |1/l - 1| and its square are convex too. For m < 1 they
# are concave above 1 and 3/2, and it can pay to leave the excess p (1 - m) to one symbol. With
# |1/l - 1| it always does, best to the rarest of the others. With the square it would take a
# symbol whose prior q is below the excess, for q / (q + excess)^2 falls in q from there on; but
# the excess is below p <= q. By the same comparisons no symbol but the rarest can go farther.


def _extreme(m: float, p: float, taking: float) -> tuple[FloatArray, FloatArray]:
    """Prior and lifts: m at p, what the mean needs at ``taking``, and 1 at the others."""
    prior, lift = [p, taking], [m, 1 + p * (1 - m) / taking]
    if p + taking < 1:
        prior.append(1 - p - taking)
        lift.append(1.0)
    return np.array(prior), np.array(lift)
