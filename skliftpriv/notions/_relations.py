"""What a budget in one notion implies in the others.

Several bounds printed by Zarrabian, Ding and Sadeghi (2023, Propositions 1, 3 and 5) are false
because they take |lift - 1| <= max-lift - 1; docs/errata.md has counterexamples. The functions
here give the corrected ones, rounded outward.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from ..exceptions import UnsupportedNotionError
from ._base import Notion, finite_exp
from ._polyhedral import ALIP, LDP, LIP
from ._sides import MAX_LIFT, MIN_LIFT

__all__ = ["ImpliedBounds", "implied_bounds", "lift_band"]


@dataclass(frozen=True)
class ImpliedBounds:
    """Upper bounds that follow from exp(-lower) <= lift <= exp(upper) for every output."""

    ldp: float
    mutual_information: float
    total_variation: float
    chi2_divergence: float
    sibson_mutual_information: float
    arimoto_mutual_information: float
    maximal_leakage: float
    min_entropy_leakage: float
    l1_lift: float
    chi2_lift: float
    alpha_lift: float
    l1_lift_inverse: float
    chi2_lift_inverse: float
    alpha_lift_inverse: float

    def to_dict(self) -> dict[str, float]:
        """Return the bounds by name."""
        return asdict(self)


def lift_band(notion: Notion) -> ALIP:
    """Return the ALIP budget that a notion on the lift implies.

    epsilon-LIP is (epsilon, epsilon)-ALIP, and epsilon-LDP implies it
    (Lopuhaa-Zwakenberg, Tong and Skoric 2020, Lemma 1).
    """
    if isinstance(notion, LDP):
        return ALIP(notion.epsilon, notion.epsilon)
    if isinstance(notion, LIP | ALIP):
        return ALIP(notion.budget[MIN_LIFT], notion.budget[MAX_LIFT])
    raise UnsupportedNotionError(
        f"{notion} bounds averages of the lift; use implied_lift_bounds with the prior of S."
    )


def implied_bounds(notion: Notion) -> ImpliedBounds:
    """Bound every other leakage measure by a LIP, ALIP or LDP budget.

    The bounds on ``ldp`` and on the l1-, chi2- and alpha-lifts, their inverses and their means
    are the smallest that hold for every prior of S when LIP or ALIP is known. LDP is taken as
    the LIP that it implies, so there only ``ldp`` is that sharp.

    Parameters
    ----------
    notion : LIP, ALIP or LDP
        The budget that holds.

    Returns
    -------
    ImpliedBounds
        Sibson and Arimoto bounds hold for every order in [1, inf]: both measures are at most
        maximal leakage, which tightens the factor alpha / (alpha - 1) of the papers to 1. The
        bounds on the alpha-lift and its inverse hold for every order too and are those of infinity.

    Examples
    --------
    >>> from skliftpriv.notions import LIP, implied_bounds
    >>> bounds = implied_bounds(LIP(0.5))
    >>> bounds.ldp
    1.0
    >>> round(bounds.total_variation, 4)
    0.2449
    """
    band = lift_band(notion)
    largest, smallest = finite_exp(band.upper), 1 / finite_exp(band.lower)
    # Near 1 the difference of two doubles would lose the digits of a small budget.
    up = math.expm1(band.upper) if band.upper < 1 else largest - 1
    down = -math.expm1(-band.lower)
    l1 = _outward(2 * _mean_product(up, down))
    chi2 = _outward(up * down)
    ldp = notion.epsilon if isinstance(notion, LDP) else band.lower + band.upper
    return ImpliedBounds(
        ldp=ldp,
        mutual_information=band.upper,
        total_variation=l1 / 2,
        chi2_divergence=chi2,
        sibson_mutual_information=band.upper,
        arimoto_mutual_information=band.upper,
        maximal_leakage=band.upper,
        min_entropy_leakage=band.upper,
        l1_lift=l1,
        chi2_lift=chi2,
        alpha_lift=_outward(largest),
        l1_lift_inverse=_outward(_l1_inverse(up, down, smallest)),
        chi2_lift_inverse=_outward(_chi2_inverse(up, down, smallest)),
        alpha_lift_inverse=_outward(1 / smallest),
    )


# The extreme lifts are two-valued: a = exp(-lower) = 1 - down with probability
# up / (up + down), and t = 1 + up with the rest, so that the mean is 1. The distance of the
# lift from 1 is convex, so t is as large as it may be. That of its inverse is concave from
# some point on, and where a > 1/2 a smaller t can be worse.


def _mean_product(up: float, down: float) -> float:
    """Harmonic sum of both: the mean distance from 1 on each side of a two-valued lift."""
    return 0.0 if up == 0 or down == 0 else 1 / (1 / up + 1 / down)


def _l1_inverse(up: float, down: float, smallest: float) -> float:
    if smallest > 0.5:
        # Zero of the derivative of the mean below with respect to t.
        root = smallest * (1 + math.sqrt(2 * down)) / (2 * smallest - 1)
        up = min(up, root - 1)
    return _mean_product(up, down) * (1 / smallest + 1 / (1 + up))


def _chi2_inverse(up: float, down: float, smallest: float) -> float:
    if smallest > 0.5:
        # The same here is a cubic in t with one root above 1.
        cubic = [(1 - 2 * smallest) / smallest**2, 4, -3 - 2 * smallest, 2 * smallest]
        roots = np.roots(cubic)
        up = min(up, float(roots.real.max()) - 1)
    return _mean_product(up, down) * (down / smallest**2 + up / (1 + up) ** 2)


def _outward(bound: float) -> float:
    """Round a bound up by more than the error of its formula."""
    return float(bound * (1 + 1e-12))
